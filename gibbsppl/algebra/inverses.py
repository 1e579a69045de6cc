"""Monotone functions undone: the value of one part of an expression, from that of the whole.

Comes in: an expression that is made of one part by sums, products, powers and functions of the
language that have an inverse (`functions`). Goes out: what that part is where the whole has a
value, and whether the whole rises with it.

>>> from gibbsppl.algebra.expressions import Array
>>> from gibbsppl.algebra.functions import Expit
>>> x, b = Array("x")[()], Array("b", positive=True)[()]
>>> undone(2 - b * sp.exp(x), x, sp.Symbol("y"))
(log(-(y - 2)/b), False)
>>> undone(Expit(x), x, sp.Integer(2), clipped=True), undone(x**2, x, b)
((oo, True), None)
"""

from __future__ import annotations

import math

import sympy as sp

from gibbsppl.algebra.expressions import Expr
from gibbsppl.algebra.functions import FUNCTIONS, Maximum, Minimum


def undone(
    of: Expr, part: Expr, value: Expr, *, clipped: bool = False
) -> tuple[Expr, bool | None] | None:
    """What a part is where an expression has a value; whether it rises with it (None: unknown).

    None if it cannot be solved for. ``clipped``: a value that the expression cannot have stands for
    the nearest that it can: of a bound that is beyond all values the part has an infinite one.
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
        elif of.is_Pow and of.base is held[0] and of.base.is_positive and of.exp.is_number:
            value = (Maximum(value, sp.S.Zero) if clipped else value) ** (1 / of.exp)
            rises = None if rises is None else rises == bool(of.exp.is_positive)
        elif (row := FUNCTIONS.get(of.func)) is not None and row.inverse and row.increasing:
            value = row.inverse(_clipped(value, row.between) if clipped else value)
        else:
            return None
        (of,) = held
    return value, rises


def _clipped(value: Expr, between: tuple[object, object]) -> Expr:
    """The value, no less and no more than two ends."""
    lower, upper = (sp.sympify(e) for e in between)
    if not math.isinf(float(lower)):
        value = Maximum(value, lower)
    return value if math.isinf(float(upper)) else Minimum(value, upper)
