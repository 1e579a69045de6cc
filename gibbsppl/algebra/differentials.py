"""Differentials: how an expression changes with small steps of its arrays, to first order.

Comes in: an expression, and the names of the arrays that take a step. Goes out: what is linear in
the steps. A sum stays a sum, so that the cost of a gradient is that of the expression.

>>> from gibbsppl.algebra.expressions import Dim
>>> x, b, k = Array("x"), Array("b"), Dim("k")
>>> differential(-sp.exp(Over(x[k] * b[k], k)), {"b": "h"})
-exp(sum(b[k]*x[k], k))*sum(h[k]*x[k], k)
"""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp
from sympy import Add, Mul

from gibbsppl.algebra.calculus import NoDerivative, by_argument
from gibbsppl.algebra.copies import copies_of, copy_of
from gibbsppl.algebra.expressions import (
    Array,
    Binder,
    Dim,
    Expr,
    Extreme,
    Greatest,
    InverseEntry,
    Leaf,
    LogDet,
    Over,
    Times,
    mentions,
    substitute,
)
from gibbsppl.algebra.functions import (
    INDICATORS,
    AtMost,
    Below,
    Equals,
    Maximum,
    Minimum,
    Where,
)


def differential(expr: Expr, steps: Mapping[str, str]) -> Expr:
    """The terms of degree one in the steps; `NoDerivative` where a function has none.

    ``steps`` has the name of the array of steps for each array that takes one. Where a condition
    changes with the arrays, it is the differential of the case that holds.
    """
    if not mentions(expr, steps):
        return sp.S.Zero
    match expr:
        case Leaf():
            if expr.array.name not in steps or any(mentions(i, steps) for i in expr.indices):
                raise NoDerivative(str(expr))
            return Leaf(Array(steps[expr.array.name]), *expr.indices)
        case sp.Add():
            return Add(*(differential(a, steps) for a in expr.args))
        case sp.Mul():
            parts = expr.args
            each = enumerate(parts)
            return Add(*(Mul(*parts[:j], differential(p, steps), *parts[j + 1 :]) for j, p in each))
        case Binder():
            return _of_binder(expr, steps)
        case Where():
            condition, *cases = expr.args
            return Where(condition, *(differential(c, steps) for c in cases))
        case sp.Pow():
            base, power = expr.args
            own = power * base ** (power - 1) * differential(base, steps)
            return own + expr * sp.log(base) * differential(power, steps)
    return _of_function(expr, steps)


def _of_binder(expr: Binder, steps: Mapping[str, str]) -> Expr:
    """The differential of a sum, a product, an extreme, a determinant or an inverse."""
    if any(mentions(a, steps) for a in expr.args[1:]):
        raise NoDerivative(str(expr))
    slope, dim, ends = differential(expr.body, steps), expr.bound[0], expr.args[2:]
    match expr:
        case Over():
            return Over(slope, dim, *ends)
        case Times() if expr.body.is_positive:
            return expr * Over(slope / expr.body, dim, *ends)
        case Times():
            return Over(slope * _others(expr), dim, *ends)
        case Extreme():
            is_there = _is_extreme(expr)
            return Over(slope * is_there, dim, *ends) / Over(is_there, dim, *ends)
        case LogDet():
            return _summed(_inverse(expr, *expr.bound) * slope, expr.bound)
        case InverseEntry():
            copies = copies_of(expr.bound, expr.atoms(Dim))
            i, j = copies.values()
            row, column = expr.args[3:]
            product = _inverse(expr, row, i) * substitute(slope, copies) * _inverse(expr, j, column)
            return -_summed(product, (i, j))
    raise NoDerivative(type(expr).__name__)


def _others(expr: Times) -> Expr:
    """The product of what is at all other positions: one of them may be zero."""
    (dim,) = expr.bound
    copy = copy_of(dim, expr.atoms(Dim))
    body = substitute(expr.body, {dim: copy})
    return Times(Where(Equals(copy, dim), sp.S.One, body), copy, *expr.args[2:])


def _is_extreme(expr: Extreme) -> Expr:
    """Whether a position has the extreme value: nothing is beyond it, whatever it is rounded to."""
    own = expr.body
    dims = copies_of(expr.bound, expr.atoms(Dim))
    whole = expr.func(substitute(own, dims), *dims.values(), *expr.args[1 + expr.binds :])
    return AtMost(whole, own) if isinstance(expr, Greatest) else AtMost(own, whole)


def _inverse(expr: LogDet | InverseEntry, row: Expr, column: Expr) -> Expr:
    """An entry of the inverse of a matrix, whose dims are not those of entries."""
    copies = copies_of(expr.bound, {*expr.atoms(Dim), *row.free_symbols, *column.free_symbols})
    return InverseEntry(substitute(expr.body, copies), *copies.values(), row, column)


def _summed(expr: Expr, dims: tuple[Dim, ...]) -> Expr:
    for dim in reversed(dims):
        expr = Over(expr, dim)
    return expr


def _of_function(expr: Expr, steps: Mapping[str, str]) -> Expr:
    """The differential of a function, whose row says its derivatives by its arguments.

    An indicator is flat wherever it has a slope.
    """
    if isinstance(expr, INDICATORS):
        return sp.S.Zero
    if isinstance(expr, (Minimum, Maximum)):
        return _of_extreme(expr, steps)
    terms = []
    for place, argument in enumerate(expr.args):
        if mentions(argument, steps):
            slope = by_argument(expr, place)(*expr.args)
            terms.append(slope * differential(argument, steps))
    return Add(*terms)


def _of_extreme(expr: Expr, steps: Mapping[str, str]) -> Expr:
    """The differential of the smaller or larger of numbers: of the one that is."""
    *earlier, last = expr.args
    if not earlier:
        return differential(last, steps)
    rest = expr.func(*earlier) if len(earlier) > 1 else earlier[0]
    is_first = Below(rest, last) if isinstance(expr, Minimum) else Below(last, rest)
    return Where(is_first, differential(rest, steps), differential(last, steps))
