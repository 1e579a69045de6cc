"""Sums by group of rows of a table that an index looks up: never are all rows copied at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from gibbsppl.runtime.types import Floats, Integers, Values

# So many numbers of a table are looked up at once: they stay in the cache of a processor.
AT_ONCE = 1 << 17


class LookedUp:
    """For each of n values the group that it belongs to, the row that it looks up, and a weight.

    >>> looked = LookedUp(np.array([2, 0, 2]), 3, np.array([1, 1, 0]), 2, np.array([1.0, 2.0, 3.0]))
    >>> looked.sum(np.array([[1.0], [5.0]]))
    array([[10.],
           [ 0.],
           [ 8.]])
    """

    __slots__ = ("_rows", "_starts", "_table", "size")

    def __init__(
        self, groups: Integers, size: int, rows: Integers, width: int, weights: Values = 1.0
    ) -> None:
        # It takes long to import, and few models come here.
        from scipy.sparse import csr_array  # noqa: PLC0415

        order = np.argsort(groups, kind="stable")
        values = np.broadcast_to(np.asarray(weights, dtype=np.float64), len(order))[order]
        self.size = size
        self._starts = np.searchsorted(np.asarray(groups)[order], np.arange(size + 1)).tolist()
        looked = (values, np.asarray(rows)[order], self._starts)
        self._table: Any = csr_array(looked, shape=(size, width))
        self._rows = self._table.indices  # (in the smallest type, once)

    def sum(self, table: Floats) -> Floats:
        """The sums by group of the weights times the rows: (width, K) to (size, K)."""
        return np.asarray(self._table @ table)

    def outer(self, table: Floats) -> Floats:
        """The sums by group of the outer products of rows with themselves, without the weights.

        >>> looked = LookedUp(np.array([1, 0, 1]), 2, np.array([0, 1, 1]), 2)
        >>> looked.outer(np.eye(2))
        array([[[0., 0.],
                [0., 1.]],
        <BLANKLINE>
               [[1., 0.],
                [0., 1.]]])
        """
        entries = table.shape[1]
        sums = np.empty((self.size, entries, entries))
        starts, done = self._starts, 0
        while done < self.size:
            first, stop = starts[done], done + 1
            while stop < self.size and (starts[stop + 1] - first) * entries <= AT_ONCE:
                stop += 1
            found = table.take(self._rows[first : starts[stop]], axis=0)
            for n in range(done, stop):
                own = found[starts[n] - first : starts[n + 1] - first]
                np.dot(own.T, own, out=sums[n])
            done = stop
        return sums
