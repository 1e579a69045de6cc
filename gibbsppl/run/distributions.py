"""Distributions of many numbers, of which no draw is kept: markers of quantiles, or counts.

Comes in: draws, block by block, with axes (draw, element). Goes out: a few numbers for each
element. One draw after the other is counted, so that where a block ends changes nothing.

>>> markers = Markers.of(1)
>>> for x in range(1001):
...     markers.add(np.array([[float(x)]]), x)
>>> markers.heights.round()
array([[   0.,   25.,   50.,  100.,  275.,  500.,  725.,  899.,  950.,
             975., 1000.]])
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np

from gibbsppl.errors import RunError
from gibbsppl.runtime.loops import markers as plain
from gibbsppl.runtime.types import Array, Floats

# The quantiles that are told. Halfway between any two of them, and the ends, stand markers, too;
# and, beyond what is usual, as far inside of the outer ones as these are from the ends. (Of 4
# chains of 1,000 draws, squared errors of the 5 % quantile, for those of exact ones, are 1.2 with
# these and 2.0 without, of normal draws; 1.7 and 3.3 next to a pole of the density.)
PROBABILITIES = (0.05, 0.5, 0.95)
# Elements that NumPy looks at together: their markers stay in the cache of the processor.
AT_ONCE = 8192


def _shares() -> Floats:
    """The shares of draws below each marker.

    >>> _shares().round(3).tolist()
    [0.0, 0.025, 0.05, 0.1, 0.275, 0.5, 0.725, 0.9, 0.95, 0.975, 1.0]
    """
    found = [0.0, *PROBABILITIES, 1.0]
    inside = (2 * PROBABILITIES[0], 2 * PROBABILITIES[-1] - 1)
    return np.array(sorted([*found, *inside, *((a + b) / 2 for a, b in pairwise(found))]))


SHARES = _shares()
# Each with a height and a place. Whole numbers of as many values take no more room, if counted.
MARKERS = len(SHARES)
MOST_VALUES = 2 * MARKERS


@dataclass(slots=True)
class Markers:
    """The markers of each element, with axes (element, marker): their heights, and their places.

    Draws are the heights themselves, until there is one for each marker.
    """

    heights: Floats
    places: Floats

    @classmethod
    def of(cls, size: int) -> Markers:
        """Markers of so many elements."""
        places = np.tile(np.arange(1.0, MARKERS + 1), (size, 1))
        return cls(np.full((size, MARKERS), np.inf), places)

    @property
    def nbytes(self) -> int:
        """The bytes of all arrays."""
        return self.heights.nbytes + self.places.nbytes

    def add(self, draws: Array, before: int, *, compiled: bool = False) -> None:
        """Tell of draws, after so many others; by compiled loops, or by NumPy: alike."""
        first = max(0, min(MARKERS - before, len(draws)))
        if first:
            self.heights[:, before : before + first] = draws[:first].T
        if before < MARKERS <= before + first:
            self.heights.sort(axis=1)
        if first == len(draws):
            return
        rest, count = np.ascontiguousarray(draws[first:], dtype=float), before + first
        if compiled:
            # (Numba is loaded beside such loops)
            loops: Any = import_module("gibbsppl.runtime.compiled.markers")
            loops.told(self.heights, self.places, SHARES, rest, count)
            return
        for start in range(0, len(self.heights), AT_ONCE):
            own = slice(start, start + AT_ONCE)
            heights, places = (np.array(a[own].T, order="C") for a in (self.heights, self.places))
            for k, x in enumerate(rest[:, own]):
                plain.one_more(heights, places, SHARES, x, count + k + 1)
            self.heights[own], self.places[own] = heights.T, places.T

    def marked(self, count: int) -> tuple[Floats, Floats]:
        """Heights, and the shares of draws up to each, of so many draws."""
        if count == 1:  # (all draws are at one point)
            return np.repeat(self.heights[:, :1], 2, axis=1), np.array([[0.0, 1.0]])
        heights = self.heights if count >= MARKERS else np.sort(self.heights[:, :count], axis=1)
        return heights, (self.places[:, :count] - 1) / (count - 1)


@dataclass(slots=True)
class Counts:
    """How often each element had each of a few whole numbers, the first of them ``lower``."""

    lower: int
    counts: Any

    @classmethod
    def of(cls, size: int, values: range) -> Counts:
        """Counts of so many elements."""
        return cls(values.start, np.zeros((size, len(values)), np.int64))

    @property
    def nbytes(self) -> int:
        """The bytes of all arrays."""
        return int(self.counts.nbytes)

    def add(self, draws: Array, before: int, *, compiled: bool = False) -> None:
        """Tell of draws, whatever there was before, and whoever counts."""
        del before, compiled
        elements, places = np.arange(len(self.counts)), draws.astype(np.intp) - self.lower
        if (wrong := (places < 0) | (places >= self.counts.shape[1])).any():
            last = self.lower + self.counts.shape[1] - 1
            raise RunError(
                f"monitor: found the value {draws[wrong][0]}, expected whole numbers from "
                f"{self.lower} to {last}, between which the model has it; please report the model."
            )
        for x in places:
            self.counts[elements, x] += 1
