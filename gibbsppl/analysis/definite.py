"""Entries of positive definite matrices, in expressions.

Comes in: an entry, the two dims along which it is read, and which arrays hold positive definite
matrices. Goes out: yes or no.

>>> from gibbsppl.algebra.expressions import Array
>>> k, j, A = Dim("k"), Dim("j"), Array("A")
>>> entries = A[k, j], InverseEntry(A[k, j], k, j, k, j)
>>> [is_definite(e, (k, j), lambda leaf: False) for e in entries]
[False, True]
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from gibbsppl.algebra.expressions import Dim, Expr, InverseEntry, Leaf

# Whether all matrices along the last two axes of the array of a leaf are positive definite.
OfArray = Callable[[Leaf], bool]


def is_definite(entry: Expr, pair: Collection[Dim], of_array: OfArray) -> bool:
    """Whether an entry along two dims, one of each axis, is that of a positive definite matrix.

    There are inverses of positive definite matrices alone: of others all entries are NaN.
    """
    match entry:
        case InverseEntry():
            return set(entry.args[3:]) == set(pair)
        case Leaf():
            return set(entry.indices[-2:]) == set(pair) and of_array(entry)
    return False
