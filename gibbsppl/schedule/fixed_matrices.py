"""Precision matrices that are one or two fixed matrices, each times a number of the state.

Comes in: the coefficients of a quadratic log density. Goes out: `FixedMatrices`, if ``A`` and ``B``
of ``s*A + t*B`` are data alone: both are then diagonalised once (a pencil), and a draw factorises
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import sympy as sp
from sympy import Add, Mul

from gibbsppl.algebra.expressions import Expr, dims_of
from gibbsppl.derive.contractions import Contribution, IsData
from gibbsppl.model.graph import PLAIN
from gibbsppl.schedule.parameters import NaturalParameter, Pair

# Two symmetric matrices have a common diagonal form, more of them as a rule have none.
MOST_MATRICES = 2


@dataclass(frozen=True, slots=True)
class FixedMatrices:
    """Numbers of the state, and for each the coefficients of data that it multiplies.

    ``squares`` and ``pairs`` have for each scale the parameters that a joint draw has.
    """

    scales: tuple[Expr, ...]
    squares: tuple[tuple[NaturalParameter, ...], ...]
    pairs: tuple[tuple[NaturalParameter, ...], ...]

    @property
    def told(self) -> str:
        """The numbers of the state in words."""
        return " and ".join(PLAIN.text(s) for s in self.scales)


def fixed_matrices_of(
    squares: Sequence[NaturalParameter], pairs: Sequence[Pair], is_data: IsData
) -> FixedMatrices | None:
    """The pencil of a precision matrix; None unless it is ``s*A`` or ``s*A + t*B``.

    >>> from gibbsppl.derive.contractions import data_only
    >>> from gibbsppl.algebra.expressions import Array, Dim
    >>> from gibbsppl.algebra.ranges import Range
    >>> k, t = Dim("k"), Array("t")[()]
    >>> found = Contribution("x", -t / 2, (Range(k, 0, 3),))
    >>> square = NaturalParameter(Array("x")[k] ** 2, (k,), (found,))
    >>> fixed_matrices_of((square,), (), data_only({"x", "t"})).scales
    (t,)
    """
    of_pairs = [p.parameter for p in pairs]
    terms = [t for p in (*squares, *of_pairs) for c in p.contributions for t in _terms(c, is_data)]
    scales = tuple(dict.fromkeys(scale for scale, _ in terms))
    if not 1 <= len(scales) <= MOST_MATRICES or any(dims_of(s) for s in scales):
        return None
    return FixedMatrices(
        scales,
        tuple(tuple(_at(p, s, is_data) for p in squares) for s in scales),
        tuple(tuple(_at(p, s, is_data) for p in of_pairs) for s in scales),
    )


def _terms(contribution: Contribution, is_data: IsData) -> Iterator[tuple[Expr, Expr]]:
    """The terms of a contribution, each as a factor of the state and a factor of data."""
    for term in Add.make_args(sp.expand_mul(contribution.value, deep=False)):
        factors = Mul.make_args(term)
        fixed = [f for f in factors if is_data(f)]
        yield Mul(*(f for f in factors if f not in fixed)), Mul(*fixed)


def _at(parameter: NaturalParameter, scale: Expr, is_data: IsData) -> NaturalParameter:
    """The part of a parameter that a scale multiplies."""
    kept = []
    for c in parameter.contributions:
        value = Add(*(fixed for s, fixed in _terms(c, is_data) if s == scale))
        if value != 0:
            kept.append(replace(c, value=value))
    return replace(parameter, contributions=tuple(kept))
