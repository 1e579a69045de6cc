"""The elimination of a sparse matrix: its order and the places of all entries of its factor.

They follow from the places of the entries alone, and are found once; loops then factorise all
matrices with these entries (`gibbsppl.runtime.loops.sparse`). The order is the one of SuperLU, by
which the program in NumPy factorises (minimum degree; J. W. H. Liu, 1985, ACM Transactions on
Mathematical Software 11), so that both draw from the same random numbers.

>>> from gibbsppl.runtime.factors import sparse_of
>>> star = elimination_of(sparse_of(4, np.zeros(3, dtype=np.intp), np.arange(1, 4)))
>>> star.size, int(np.argsort(star.rank)[-1]) in (0, 3)
(7, True)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gibbsppl.runtime.factors import Sparse
from gibbsppl.runtime.types import Ints


@dataclass(frozen=True, slots=True, eq=False)
class Elimination:
    """The places of the entries of a factor, by columns in the order of elimination.

    ``rank`` is the place of each row in that order. Column k is stored from ``starts[k]`` on, from
    the diagonal down, in ``rows``. The entries left of the diagonal in row k are at
    ``links[left[k]:left[k + 1]]``, and their columns end at ``ends`` of the same places.
    """

    rank: Ints
    starts: Ints
    rows: Ints
    left: Ints
    links: Ints
    ends: Ints

    @property
    def size(self) -> int:
        """The number of entries of the factor."""
        return len(self.rows)

    @property
    def tables(self) -> tuple[Ints, ...]:
        """The tables that a kernel reads, in the order of its arguments."""
        return (self.starts, self.rows, self.left, self.links, self.ends)

    def reordered(self, ranks: Ints) -> Ints:
        """The ranks of elements, those inside in the order of elimination."""
        found = np.arange(len(ranks))
        found[: len(self.rank)] = self.rank
        return found[ranks]

    def slots(self, row: Ints, column: Ints) -> tuple[Ints, Ints]:
        """The places of entries on or below the diagonal, in the order of elimination."""
        n = len(self.rank)
        keys = np.repeat(np.arange(n), np.diff(self.starts)) * n + self.rows
        return np.searchsorted(keys, column * n + row), np.arange(len(row))


def elimination_of(pattern: Sparse) -> Elimination:
    """The elimination of matrices with entries at some places.

    That of one such matrix, in whose factor no entry vanishes: off its diagonal it is negative, and
    so is the factor.
    """
    n = pattern.order
    columns = np.repeat(np.arange(n), np.diff(pattern.starts))
    is_diagonal = pattern.keys % max(n, 1) == columns
    # (on the diagonal little more than the number of neighbours: far ones do not fade away)
    degree = np.diff(pattern.starts) - 1.0
    values = np.where(is_diagonal, degree[columns] + 1.0 / max(n, 1), -1.0)
    lu = pattern.eliminated(values)
    factor = lu.L
    kept = factor.data != 0
    column = np.repeat(np.arange(n), np.diff(factor.indptr))[kept]
    keys = np.sort(column * n + factor.indices[kept])
    column, rows = np.divmod(keys, max(n, 1))
    starts = np.searchsorted(keys, np.arange(n + 1) * n)
    beside = np.flatnonzero(rows > column)
    links = beside[np.argsort(rows[beside], kind="stable")]
    left = np.concatenate([[0], np.cumsum(np.bincount(rows[beside], minlength=n))])
    rank = np.asarray(lu.perm_r, dtype=np.intp)
    return Elimination(rank, starts, rows, left, links, starts[column[links] + 1])
