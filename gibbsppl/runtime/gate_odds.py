"""Draws of 0 or 1 whose log odds take few values: a table of these, and 16 random bits for each.

Log odds of a gate are often a known number plus another number times the count of neighbours that
are 1. The exponentials are then of a table, not of every element.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from gibbsppl.runtime.types import Flags, Floats, Generator, Ints, Numbers

# More different values than this are no table.
MOST_VALUES = 64


@dataclass(frozen=True, slots=True, eq=False)
class FewLogOdds:
    """Log odds ``table[index]``.

    >>> np.asarray(FewLogOdds(np.array([-1.0, 2.0]), np.array([1, 0, 1])))
    array([ 2., -1.,  2.])
    """

    table: Floats
    index: Ints

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Floats:
        return np.asarray(self.table[self.index], dtype=dtype or np.float64)


class KnownLogOdds:
    """What is known of log odds; a number times a count from 0 to ``most`` is to be added.

    >>> known = KnownLogOdds(np.array([0.5, 0.0]), 4)
    >>> count = known.start()
    >>> count += [3, 4]
    >>> np.asarray(known.log_odds(2.0, count))
    array([6.5, 8. ])
    """

    def __init__(self, known: Numbers, most: int) -> None:
        self.known = np.asarray(known, dtype=np.float64)
        values, place = np.unique(self.known, return_inverse=True)
        self.values = values if values.size <= MOST_VALUES else None
        self.most = most
        codes = place.reshape(self.known.shape) * (most + 1)
        self.codes = codes if self.values is not None else np.zeros_like(codes)

    def start(self) -> Ints:
        """An array to which counts are added."""
        return self.codes.copy()

    def log_odds(self, factor: float, count: Ints) -> Floats | FewLogOdds:
        """The log odds, ``count`` being the array of the start with counts added."""
        if self.values is None:
            return self.known + factor * count
        table = self.values[:, None] + factor * np.arange(self.most + 1)
        return FewLogOdds(table.ravel(), count)


def few_gates(rng: Generator, log_odds: FewLogOdds) -> Flags:
    """Draws of gates: 16 random bits decide, and where they do not, a uniform number.

    A gate is 1 where the bits are below ``floor(2**16 p)``; where equal, with the remaining
    probability. So the probability is p, to the last bit of a float.
    """
    with np.errstate(over="ignore"):
        scaled = 65536.0 / (1.0 + np.exp(-log_odds.table))
    whole = np.minimum(np.floor(scaled), 65535.0)
    index = log_odds.index.reshape(-1)
    bits = np.frombuffer(rng.bytes(2 * index.size), dtype=np.uint16)
    bounds = whole.astype(np.uint16).take(index)
    drawn: Flags = bits < bounds
    ties = np.flatnonzero(bits == bounds)
    drawn[ties] = rng.random(ties.size) < (scaled - whole)[index[ties]]
    return drawn.reshape(log_odds.index.shape)
