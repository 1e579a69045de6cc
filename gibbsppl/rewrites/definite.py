"""Quadratic forms of positive definite matrices, which are never negative.

Comes in: an expression, and which arrays hold positive definite matrices. Goes out: the expression
with a nonnegative number in the place of each such form, so that its sign can be told.

>>> from gibbsppl.algebra.copies import primed
>>> from gibbsppl.algebra.expressions import Array
>>> k, x, A = Dim("k"), Array("x"), Array("A")
>>> form = Over(Over(A[k, primed(k)] * x[k] * x[primed(k)], primed(k)), k)
>>> forms_named(1 + form / 2, lambda leaf: leaf.array == A)
form/2 + 1
"""

from __future__ import annotations

from sympy import Mul

from gibbsppl.algebra.expressions import (
    Array,
    Dim,
    Expr,
    Over,
    dims_of,
    substitute,
)
from gibbsppl.algebra.polynomials import MOST_TERMS, cancelled, expanded_size, factored
from gibbsppl.analysis.definite import OfArray, is_definite

FORM = Array("form", nonnegative=True)[()]


def forms_named(expr: Expr, of_array: OfArray) -> Expr:
    """The expression with ``form`` for each ``sum(A[k, k'] v[k] v[k'], k', k)``, A definite."""
    forms = {o for o in expr.atoms(Over) if _is_form(o, of_array)}
    return expr.xreplace(dict.fromkeys(forms, FORM))


def _is_form(expr: Over, of_array: OfArray) -> bool:
    inner = expr.body
    if not isinstance(inner, Over) or len(expr.args) + len(inner.args) > 4:
        return False
    pair = (expr.bound[0], inner.bound[0])
    factors = Mul.make_args(inner.body)
    matrices = [f for f in factors if is_definite(f, pair, of_array)]
    rest = Mul(*(f for f in factors if f not in matrices))
    return len(matrices) == 1 and _is_square(rest, pair)


def _is_square(expr: Expr, pair: tuple[Dim, Dim]) -> bool:
    """Whether an expression is ``c v[k] v[k']`` with a ``c`` that is not negative."""
    if expanded_size(expr) > MOST_TERMS:
        return False
    factors = Mul.make_args(factored(expr))
    seen = [dims_of(f) & set(pair) for f in factors]
    if any(len(dims) == 2 for dims in seen):
        return False
    first, second = (
        Mul(*(f for f, dims in zip(factors, seen, strict=True) if d in dims)) for d in pair
    )
    rest = Mul(*(f for f, dims in zip(factors, seen, strict=True) if not dims))
    ratio = cancelled(substitute(first, {pair[0]: pair[1]}) / second)
    return bool((ratio * rest).is_nonnegative)
