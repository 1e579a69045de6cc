"""Statistics of a variable in one chain, from draws that are not kept.

Comes in: draws, block by block, with axes (draw, *dims). Goes out: an `Accumulator`, one picklable
value. Each draw changes it by itself (B. P. Welford, 1962, Technometrics 4, 419-420), so that where
blocks end changes no bit. Means of a few batches of consecutive draws are there for the error of
the mean: when there are `BATCHES` of them, each two become one of twice the length.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gibbsppl.run.distributions import AT_ONCE, MOST_VALUES, Counts, Markers
from gibbsppl.runtime.types import Array, Floats

# Half as many at least are complete: enough for the error of a mean beside those of other chains,
# and less room than the markers of quantiles take.
BATCHES = 8
# Arrays of no more elements have a covariance matrix: products of all pairs then take no longer
# than the markers do.
MOST_WITH_COVARIANCE = 50


def batch_length(draws: int) -> int:
    """The length of the batches of so many draws: there are fewer than `BATCHES` of them.

    >>> [(n, batch_length(n)) for n in (1, 7, 8, 15, 16, 1000)]
    [(1, 1), (7, 1), (8, 2), (15, 2), (16, 4), (1000, 128)]
    """
    return 1 << max(0, (2 * draws // BATCHES).bit_length() - 1)


@dataclass(slots=True)
class Accumulator:
    """Sums over the draws of a variable, by element: moments, batches, the distribution.

    ``mean`` and ``squares``: the mean, and the squared deviations from it. ``batches``: means of
    complete batches, and of that under way last. ``products``: those of deviations of each two
    elements. ``noise``: the mean of variances that come with the draws.
    """

    shape: tuple[int, ...]
    mean: Floats
    squares: Floats
    batches: Floats
    spread: Markers | Counts
    products: Floats | None
    noise: Floats | None = None
    count: int = 0

    @classmethod
    def of(cls, shape: tuple[int, ...], values: range | None, *, noisy: bool) -> Accumulator:
        """One that has seen no draw; ``values``: all whole numbers that there can be."""
        size = math.prod(shape)
        counted = values is not None and len(values) <= MOST_VALUES
        small = size <= MOST_WITH_COVARIANCE
        return cls(
            shape,
            np.zeros(size),
            np.zeros(size),
            np.zeros((BATCHES + 1, size)),
            Counts.of(size, values) if counted and values is not None else Markers.of(size),
            np.zeros((size, size)) if small else None,
            np.zeros(size) if noisy else None,
        )

    @property
    def nbytes(self) -> int:
        """The bytes of all arrays."""
        own = (self.mean, self.squares, self.batches, self.products, self.noise, self.spread)
        return sum(a.nbytes for a in own if a is not None)

    def add(self, draws: Array, noise: Array | None = None, *, compiled: bool = False) -> None:
        """Tell of draws, each with the variances that come with it, if any do."""
        rows = draws.reshape(len(draws), -1)
        if rows.dtype.kind == "f" and not (finite := np.isfinite(rows)).all():
            rows = np.where(finite, rows, np.nan)  # (no statistic of it is a number)
        for start in range(0, rows.shape[1], AT_ONCE):
            self._add_moments(rows, slice(start, start + AT_ONCE))
        self.spread.add(rows, self.count, compiled=compiled)
        if noise is not None and self.noise is not None:
            for k, x in enumerate(noise.reshape(len(draws), -1)):
                self.noise += (x - self.noise) / (self.count + k + 1)
        self.count += len(draws)

    def _add_moments(self, draws: Array, own: slice) -> None:
        """The moments of some elements, and of their batches."""
        mean, squares, batches = self.mean[own], self.squares[own], self.batches[:, own]
        for count, row in enumerate(draws[:, own], self.count):
            x = row.astype(float)
            gap = x - mean
            mean += gap / (count + 1)
            rest = x - mean
            squares += gap * rest
            if self.products is not None:
                self.products += np.outer(gap, rest)
            _add_to_batches(batches, x, count)


def _add_to_batches(batches: Floats, x: Floats, before: int) -> None:
    """Batches after one more draw, in place."""
    length, under_way = batch_length(before), batches[-1]
    complete, already = divmod(before, length)
    under_way += (x - under_way) / (already + 1)
    if already + 1 == length:
        batches[complete], under_way[:] = under_way, 0.0
        if complete + 1 == BATCHES:
            batches[: BATCHES // 2] = batches[0:-1:2] / 2 + batches[1:-1:2] / 2
