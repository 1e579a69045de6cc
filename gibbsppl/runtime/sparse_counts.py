"""Counts that share out totals, kept unit by unit: most of a table of shares are zeros.

Where totals are small, a label for each unit takes less memory than a count for each label, and
sums over the table are counts of labels. The table converts to an array wherever one is needed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from gibbsppl.runtime.array_like import ArrayLike
from gibbsppl.runtime.types import Array, Floats, Integers, Wholes


@dataclass(frozen=True, slots=True, eq=False)
class Shares(ArrayLike):
    """An array of counts, labels along the last axis; the axes before it, flattened, are its rows.

    Unit ``i`` is one count, of ``row[i]`` and ``label[i]``. Rows of large totals have no units:
    they are ``large``, and their counts are the rows of ``counts``.

    >>> none, no_counts = np.zeros(0, int), np.zeros((0, 2), int)
    >>> shares = Shares((3, 2), np.array([0, 0, 2]), np.array([1, 1, 0]), none, no_counts)
    >>> shares + 0
    array([[0, 2],
           [0, 0],
           [1, 0]])
    >>> shares.sum(axis=0)
    array([1, 2])
    >>> shares.sum_by(np.array([1, 0, 1]), 2)
    array([[0., 0.],
           [1., 2.]])
    """

    shape: tuple[int, ...]
    row: Integers
    label: Integers
    large: Integers
    counts: Integers

    @property
    def dtype(self) -> np.dtype[np.int64]:
        """The type of the counts."""
        return np.dtype(np.int64)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Integers:
        table = self._units(self.row, math.prod(self.shape[:-1]))
        table[self.large] = self.counts
        return np.asarray(table.reshape(self.shape), dtype=dtype)

    def sum(self, axis: int | tuple[int, ...] | None = None, **settings: Any) -> Wholes:
        """The sum over axes, as of an array."""
        if self.ndim == 2 and axis == 0 and not settings:
            units = np.bincount(self.label, minlength=self.shape[1])
            return units + self.counts.sum(axis=0)
        return np.asarray(self).sum(axis=axis, **settings)

    def sum_by(self, index: Integers, size: int) -> Floats:
        """The sums by where the index puts each position along the first axis."""
        within = math.prod(self.shape[1:-1])

        def moved(row: Integers) -> Integers:
            if within == 1:
                return np.asarray(index.take(row), np.int64)
            first, rest = np.divmod(row, within)
            return np.asarray(index.take(first) * within + rest, np.int64)

        sums = self._units(moved(self.row), size * within).astype(np.float64)
        if len(self.large):
            sums += sum_by_row(moved(self.large), size * within, self.counts)
        return sums.reshape(size, *self.shape[1:])

    def _units(self, row: Integers, rows: int) -> Integers:
        """The units counted by row and label, were they in these rows."""
        count = self.shape[-1]
        at = row * count
        at += self.label
        return np.bincount(at, minlength=rows * count).reshape(rows, count)


def sum_by_row(index: Integers, size: int, table: Array) -> Floats:
    """The sums of the rows of a table by where the index puts them, as a sparse matrix product.

    >>> sum_by_row(np.array([2, 0, 2]), 3, np.array([[1.0], [2.0], [4.0]]))
    array([[2.],
           [0.],
           [5.]])
    """
    # It takes long to import, and few models come here.
    from scipy.sparse import csc_array  # noqa: PLC0415

    # (bytes and the like would overflow in their own type)
    wide = table.astype(np.result_type(table, np.int64), copy=False)
    count = len(index)
    ones, each = np.ones(count, wide.dtype), np.arange(count + 1)
    sums = csc_array((ones, index, each), shape=(size, count)) @ wide
    return np.asarray(sums, dtype=np.float64)
