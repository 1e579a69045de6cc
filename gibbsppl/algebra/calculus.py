"""Derivatives of expressions of arrays: through sums, determinants and inverses of matrices.

Comes in: an expression, and an array. Goes out: its derivative by one element of the array. The
derivatives of a function of the language, by each argument, are in its row.

>>> from gibbsppl.algebra.log_gamma import loggamma
>>> a, k, at = Array("a"), Dim("k"), Dim("l")
>>> total = Over(loggamma(a[k]), k) - loggamma(Over(a[k], k))
>>> derivative(total, a, (at,))
Digamma(a[l]) - Digamma(sum(a[k], k))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import sympy as sp
from sympy import Add, Mul

from gibbsppl.algebra.copies import copy_of
from gibbsppl.algebra.expressions import (
    Array,
    Binder,
    Dim,
    Expr,
    InverseEntry,
    Leaf,
    LogDet,
    Over,
    mentions,
    substitute,
)
from gibbsppl.algebra.functions import FUNCTIONS, Equals, Where


class NoDerivative(Exception):  # noqa: N818  (no error of a user's)
    """A function whose row has no derivative."""


def derivative(expr: Expr, array: Array, indices: Sequence[Expr]) -> Expr:
    """The derivative by the element of an array at indices, which the expression does not bind."""
    return _of(expr, array.name, tuple(indices))


def _of(expr: Expr, name: str, at: tuple[Expr, ...]) -> Expr:
    if not mentions(expr, (name,)):
        return sp.S.Zero
    if isinstance(expr, Leaf):
        if expr.array.name != name:
            raise NoDerivative(str(expr))
        return Mul(*(_same(i, j) for i, j in zip(expr.indices, at, strict=True)))
    if expr.is_Add:
        return Add(*(_of(a, name, at) for a in expr.args))
    if expr.is_Mul:
        parts = expr.args
        return Add(*(Mul(*parts[:j], _of(p, name, at), *parts[j + 1 :])
                     for j, p in enumerate(parts)))  # fmt: skip
    if isinstance(expr, sp.Pow):
        base, power = expr.args
        own = power * base ** (power - 1) * _of(base, name, at)
        return own + expr * sp.log(base) * _of(power, name, at)
    if isinstance(expr, Binder):
        return _of_binder(expr, name, at)
    if isinstance(expr, Where):  # (where the case changes, there is no derivative)
        condition, *cases = expr.args
        return Where(condition, *(_of(c, name, at) for c in cases))
    return _of_function(expr, name, at)


def _of_function(expr: Expr, name: str, at: tuple[Expr, ...]) -> Expr:
    """The derivative of a function, whose row says those by its arguments."""
    terms = []
    for place, argument in enumerate(expr.args):
        if mentions(argument, (name,)):
            by = by_argument(expr, place)
            terms.append(by(*expr.args) * _of(argument, name, at))
    return Add(*terms)


def by_argument(expr: Expr, place: int) -> Callable[..., Expr]:
    """The derivative of a function by the argument at a place."""
    row = FUNCTIONS.get(expr.func)
    if row is not None:
        by = row.by_earlier.get(place) if place < len(expr.args) - 1 else row.derivative
        if by is not None:
            return by
    raise NoDerivative(str(expr.func))


def _of_binder(expr: Binder, name: str, at: tuple[Expr, ...]) -> Expr:
    """The derivative of a sum, a log determinant or an entry of an inverse."""
    if not isinstance(expr, Over | LogDet | InverseEntry):
        raise NoDerivative(type(expr).__name__)
    copies = _apart(expr, at)
    inner = _of(substitute(expr.body, copies), name, at)
    if isinstance(expr, Over):
        return summed(inner, *copies.values(), *expr.args[2:])
    i, j = copies.values()
    if isinstance(expr, LogDet):
        return summed(summed(InverseEntry(expr.body, *expr.bound, i, j) * inner, j), i)
    row, column = expr.args[3:]
    left = InverseEntry(expr.body, *expr.bound, row, i)
    right = InverseEntry(expr.body, *expr.bound, j, column)
    return -summed(summed(left * inner * right, j), i)


def _apart(expr: Binder, at: tuple[Expr, ...]) -> dict[Dim, Dim]:
    """Names for the bound dims that the element does not have; of matrices none that they have."""
    taken = set[sp.Symbol]().union(*(i.free_symbols for i in at))
    if not isinstance(expr, Over):
        taken |= expr.atoms(Dim)
    found: dict[Dim, Dim] = {}
    for dim in expr.bound:
        copy = dim if dim not in taken else copy_of(dim, {*taken, *expr.atoms(Dim)})
        found[dim] = copy
        taken.add(copy)
    return found


def _same(index: Expr, at: Expr) -> Expr:
    return sp.S.One if index == at else Equals(index, at)


def summed(body: Expr, dim: Dim, *ends: Expr) -> Expr:
    """The sum over a dim: of what is zero but at one position, the value there."""
    if body.is_Add:
        return Add(*(summed(a, dim, *ends) for a in body.args))
    for factor in Mul.make_args(body):
        if isinstance(factor, Equals) and dim in factor.args and not ends:
            (other,) = (a for a in factor.args if a != dim)
            if dim not in other.free_symbols:
                return substitute(body / factor, {dim: other})
    return Over(body, dim, *ends)
