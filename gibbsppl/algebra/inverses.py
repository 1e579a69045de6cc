"""Monotone functions undone: the value of one part of an expression, from that of the whole.

Comes in: an expression that is made of one part by sums, products, powers and functions of the
language that have an inverse (`functions`). Goes out: the value of the part where the whole has a
given value, and whether the whole rises with the part.

>>> from gibbsppl.algebra.expressions import Array
>>> from gibbsppl.algebra.functions import Expit
>>> x, b = Array("x")[()], Array("b", positive=True)[()]
>>> solve_for(2 - b * sp.exp(x), x, sp.Symbol("y"))
(log(-(y - 2)/b), False)
>>> solve_for(Expit(x), x, sp.Integer(2), clipped=True), solve_for(x**2, x, b)
((oo, True), None)
"""

from __future__ import annotations

import sympy as sp

from gibbsppl.algebra.expressions import Expr
from gibbsppl.algebra.function_rows import Function
from gibbsppl.algebra.functions import FUNCTIONS, Maximum, Minimum


def solve_for(
    of: Expr, part: Expr, value: Expr, *, clipped: bool = False
) -> tuple[Expr, bool | None] | None:
    """The value of a part, solved from the value of the expression; whether both rise together.

    None instead of a pair if the part cannot be solved for, instead of the second if unknown.
    ``clipped``: a value that the expression cannot have is replaced by the nearest possible one,
    so that a bound beyond all values of the expression is an infinite bound of the part.
    """
    rises: bool | None = True
    while of != part:
        held = [a for a in of.args if a.has(part)]
        if len(held) != 1:
            return None
        rest = of.func(*(a for a in of.args if a is not held[0])) if of.is_Add or of.is_Mul else of
        if of.is_Add:
            value = value - rest
        elif of.is_Mul:
            value = value / rest
            turns = rest.is_negative if rest.is_positive or rest.is_negative else None
            rises = None if turns is None or rises is None else rises != turns
        elif isinstance(of, sp.Pow) and _is_root_of(of, held[0]):
            value = _root(value, of.exp) if clipped else value ** (1 / of.exp)
            rises = None if rises is None else rises == bool(of.exp.is_positive)
        elif (row := FUNCTIONS.get(of.func)) is not None and row.inverse and row.increasing:
            value = _inverse(row, value) if clipped else row.inverse(value)
        else:
            return None
        (of,) = held
    return value, rises


def _is_root_of(power: sp.Pow, base: Expr) -> bool:
    """Whether a power of a positive base rises or falls with it: an exponent has a sign."""
    exponent = power.exp
    has_sign = exponent.is_number or exponent.is_positive or exponent.is_negative
    return bool(power.base is base and base.is_positive and has_sign)


def _inverse(row: Function, value: Expr) -> Expr:
    """The inverse of a function, infinite for values beyond the two ends of its range."""
    assert row.inverse is not None
    lower, upper = (sp.sympify(e) for e in row.between)
    if value.is_number:
        return -sp.oo if value <= lower else sp.oo if value >= upper else row.inverse(value)
    if not lower.is_infinite:
        value = Maximum(value, lower)
    return row.inverse(value if upper.is_infinite else Minimum(value, upper))


def _root(value: Expr, exponent: Expr) -> Expr:
    """The positive base of a power, infinite where no power is as small, or as large."""
    if value.is_number and value <= 0 and exponent.is_negative:
        return sp.oo
    return Maximum(value, sp.S.Zero) ** (1 / exponent)
