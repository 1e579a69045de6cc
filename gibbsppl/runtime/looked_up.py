"""Sums by group of rows of a table that an index looks up: never are all rows copied at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gibbsppl.runtime.in_parts import InParts, in_parts
from gibbsppl.runtime.types import Floats, Integers, Values

# So many numbers of a table are looked up at once: they stay in the cache of a processor.
AT_ONCE = 1 << 17


class _ByGroup(NamedTuple):
    """Values in order of their groups: a sparse table of weights, the rows looked up, starts."""

    table: Any
    rows: Any
    starts: list[int]


def _by_group(size: int, groups: Integers, rows: Integers, width: int, weights: Values) -> _ByGroup:
    # It takes long to import, and few models come here.
    from scipy.sparse import csr_array  # noqa: PLC0415

    order = np.argsort(groups, kind="stable")
    values = np.broadcast_to(np.asarray(weights, dtype=np.float64), len(order))[order]
    starts = np.searchsorted(np.asarray(groups)[order], np.arange(size + 1)).tolist()
    table = csr_array((values, np.asarray(rows)[order], starts), shape=(size, width))
    return _ByGroup(table, table.indices, starts)  # (indices in the smallest type, once)


class LookedUp:
    """For each of n values the group that it belongs to, the row that it looks up, and a weight.

    >>> looked = LookedUp(np.array([2, 0, 2]), 3, np.array([1, 1, 0]), 2, np.array([1.0, 2.0, 3.0]))
    >>> looked.sum(np.array([[1.0], [5.0]]))
    array([[10.],
           [ 0.],
           [ 8.]])
    """

    __slots__ = ("_given", "_made", "size")

    def __init__(
        self, groups: Integers, size: int, rows: Integers, width: int, weights: Values = 1.0
    ) -> None:
        self.size = size
        self._given = (groups, rows, width, weights)
        self._made: _ByGroup | None = None

    @property
    def _by_group(self) -> _ByGroup:
        """The values in order of their groups, sorted when a sum is first asked for."""
        if self._made is None:
            self._made = _by_group(self.size, *self._given)
        return self._made

    def sum(self, table: Floats) -> Floats:
        """The sums by group of the weights times the rows: (width, K) to (size, K)."""
        return np.asarray(self._by_group.table @ table)

    def outer(self, table: Floats) -> Floats | InParts:
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
        _, all_rows, starts = self._by_group

        def sums(begin: int, end: int) -> Floats:
            found = np.empty((end - begin, entries, entries))
            done = begin
            while done < end:
                first, stop = starts[done], done + 1
                while stop < end and (starts[stop + 1] - first) * entries <= AT_ONCE:
                    stop += 1
                rows = table.take(all_rows[first : starts[stop]], axis=0)
                for n in range(done, stop):
                    own = rows[starts[n] - first : starts[n + 1] - first]
                    np.dot(own.T, own, out=found[n - begin])
                done = stop
            return found

        return in_parts((self.size, entries, entries), sums)
