"""The elements of draws that are known worst: by R-hat and effective sample sizes.

Comes in: arrays of draws by name, with labels. Goes out: the worst elements, the worst first. Of
arrays with very many elements all are compared by the cheap R-hat first.

>>> rng = np.random.default_rng(1)
>>> stuck = rng.normal(size=(2, 100, 3)) + [[[0.0, 0.0, 0.0]], [[0.0, 9.0, 0.0]]]
>>> [e.label for e in worst_elements({"x": stuck}, lambda name, at: f"{name}{list(at)}", 1)]
['x[1]']
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from gibbsppl.output.arrays import Array
from gibbsppl.output.diagnostics import ess_bulk, ess_tail, r_hat, split_r_hat

MOST_MEASURED = 500

Place = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Element:
    """The draws of one element, with axes (chain, draw), and how far they can be trusted."""

    label: str
    draws: Array
    r_hat: float
    ess_bulk: float
    ess_tail: float

    @property
    def badness(self) -> tuple[float, float]:
        """The order of elements: R-hat to the hundredth, then the share that is effective.

        Draws without diagnostics (all equal, or not finite) come first if they are not finite.
        """
        if not np.isfinite(self.draws).all():
            return np.inf, 0.0
        high = 0.0 if np.isnan(self.r_hat) else round(max(self.r_hat, 1.0), 2)
        return high, -min(self.ess_bulk, self.ess_tail) / self.draws.size

    def __str__(self) -> str:
        sizes = f"ESS {self.ess_bulk:,.0f} (bulk), {self.ess_tail:,.0f} (tail)"
        return f"{self.label}:  R-hat {self.r_hat:.3f},  {sizes}"


def worst_elements(
    values: Mapping[str, Array], label: Callable[[str, Place], str], count: int
) -> list[Element]:
    """The worst elements of arrays with axes (chain, draw, ...), at most so many."""
    found: list[Element] = []
    for name, array in values.items():
        flat = array.reshape(*array.shape[:2], -1)
        chosen = np.arange(flat.shape[2])
        if len(chosen) > MOST_MEASURED:
            chosen = np.argsort(-np.nan_to_num(split_r_hat(flat), nan=np.inf))[:MOST_MEASURED]
        own = flat[..., chosen]
        measured = zip(chosen, r_hat(own), ess_bulk(own), ess_tail(own), strict=True)
        for n, *numbers in measured:
            place = tuple(map(int, np.unravel_index(int(n), array.shape[2:])))
            found.append(Element(label(name, place), flat[..., n], *map(float, numbers)))
    return sorted(found, key=lambda e: e.badness, reverse=True)[:count]
