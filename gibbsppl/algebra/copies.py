"""Copies of dimensions: other names for the same positions, where a dimension is read twice.

>>> from gibbsppl.algebra.expressions import Dim
>>> copy_of(Dim("k"), {Dim("k")}), primed(Dim("k"))
(k₁, k')
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import sympy as sp

Dim = TypeVar("Dim", bound=sp.Symbol)

_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def copy_of(dim: Dim, taken: Iterable[sp.Symbol]) -> Dim:
    """The first copy of a dimension whose name is not taken: k₁, k₂, ..."""
    names = {str(t) for t in taken}
    root, n = root_of(dim), 1
    while (name := root + str(n).translate(_SUBSCRIPTS)) in names:
        n += 1
    return type(dim)(name)


def copies_of(dims: Iterable[Dim], taken: Iterable[sp.Symbol]) -> dict[Dim, Dim]:
    """A copy of each dimension; no two have one name.

    >>> from gibbsppl.algebra.expressions import Dim
    >>> copies_of((Dim("k₁"), Dim("k₂")), {Dim("k₁")})
    {k₁: k₂, k₂: k₃}
    """
    names = set(taken)
    copies: dict[Dim, Dim] = {}
    for dim in dims:
        copies[dim] = copy_of(dim, names)
        names.add(copies[dim])
    return copies


def root_of(dim: Dim) -> str:
    """The user's name of a dimension or of a copy of it.

    >>> from gibbsppl.algebra.expressions import Dim
    >>> root_of(Dim("k₁"))
    'k'
    """
    return dim.name.rstrip("₀₁₂₃₄₅₆₇₈₉")


def primed(dim: Dim) -> Dim:
    """The second dimension of a square matrix along ``dim``, of the same size.

    >>> from gibbsppl.algebra.expressions import Dim
    >>> primed(Dim("factor"))
    factor'
    """
    return type(dim)(dim.name + "'")
