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
from gibbsppl.algebra.expressions import Array, Expr, Leaf, Over, mentions
from gibbsppl.algebra.functions import INDICATORS, Where


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
        case Over():
            if any(mentions(a, steps) for a in expr.args[1:]):
                raise NoDerivative(str(expr))
            return expr.func(differential(expr.body, steps), *expr.args[1:])
        case Where():
            condition, *cases = expr.args
            return Where(condition, *(differential(c, steps) for c in cases))
        case sp.Pow():
            base, power = expr.args
            own = power * base ** (power - 1) * differential(base, steps)
            return own + expr * sp.log(base) * differential(power, steps)
    return _of_function(expr, steps)


def _of_function(expr: Expr, steps: Mapping[str, str]) -> Expr:
    """The differential of a function, whose row says its derivatives by its arguments.

    An indicator is flat wherever it has a slope.
    """
    if isinstance(expr, INDICATORS):
        return sp.S.Zero
    terms = []
    for place, argument in enumerate(expr.args):
        if mentions(argument, steps):
            slope = by_argument(expr, place)(*expr.args)
            terms.append(slope * differential(argument, steps))
    return Add(*terms)
