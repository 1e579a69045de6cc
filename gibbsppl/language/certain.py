"""Whether an expression is certain to be in a range, by its form and by the supports of its leaves.

>>> from gibbsppl.language import Beta, Gamma
>>> from gibbsppl.supports import UNIT
>>> with Model() as model:
...     p, x = Beta("p", 1, 1), Gamma("x", 1, rate=1)
>>> is_certain(model, (p * (1 - p)).expr, UNIT), is_certain(model, (p * x).expr, UNIT)
(True, False)
"""

from __future__ import annotations

import numpy as np
import sympy as sp

from gibbsppl.expressions import Expit, Expr, Leaf, Over, Phi, Times, Where
from gibbsppl.language.model import Model
from gibbsppl.supports import Support


def is_certain(model: Model, expr: Expr, support: Support) -> bool:
    """Whether all values are in a support of single numbers; data were looked at before."""
    if all(leaf.array.name in model.known for leaf in expr.atoms(Leaf)):
        return True
    if support.kind not in ("real", "integer"):
        return False
    if support.is_discrete and not _is_whole(model, expr):
        return False
    above = support.lower == -sp.oo or _is_nonnegative(model, expr - support.lower)
    return above and (support.upper == sp.oo or _is_nonnegative(model, support.upper - expr))


def _is_whole(model: Model, expr: Expr) -> bool:
    if not isinstance(expr, Leaf):
        return False
    own = [s for s in model.declared.statements if s.target.array.name == expr.array.name]
    return bool(own) and all(s.support.is_discrete for s in own)


def _is_nonnegative(model: Model, expr: Expr) -> bool:
    if expr.is_nonnegative or (expr.is_Add and _at_most_one(model, 1 - expr)):
        return True
    match expr:
        case Leaf():
            return _least(model, expr) >= 0
        case sp.Mul() | sp.Add():
            return all(_is_nonnegative(model, a) for a in expr.args)
        case Over() | Times():
            return _is_nonnegative(model, expr.body)
        case Where():
            return all(_is_nonnegative(model, a) for a in expr.args[1:])
        case sp.Pow():
            even = expr.exp.is_Integer and expr.exp % 2 == 0
            return bool(even) or _is_nonnegative(model, expr.base)
    return isinstance(expr, (sp.exp, sp.Abs, Expit, Phi))


def _at_most_one(model: Model, expr: Expr) -> bool:
    """Whether an expression is known to be no more than one (sums are asked for no more)."""
    match expr:
        case sp.Mul():
            return all(_is_nonnegative(model, a) and _at_most_one(model, a) for a in expr.args)
        case Times():
            return _is_nonnegative(model, expr.body) and _at_most_one(model, expr.body)
        case Leaf():
            return -_least(model, expr, sign=-1) <= 1
        case Where():
            return all(_at_most_one(model, a) for a in expr.args[1:])
        case sp.exp():
            return _is_nonnegative(model, -expr.args[0])
        case sp.Pow():
            unit = _is_nonnegative(model, expr.base) and _at_most_one(model, expr.base)
            return unit and bool(expr.exp.is_nonnegative)
        case sp.Add():
            return bool((1 - expr).is_nonnegative)
    return isinstance(expr, (Expit, Phi)) or bool(expr.is_number and expr <= 1)


def _least(model: Model, leaf: Leaf, sign: int = 1) -> float:
    """The least value that an array can have (or minus the greatest, with a sign of -1)."""
    name, declared = leaf.array.name, model.declared
    if name in model.known:
        return float((sign * declared.values[name]).min())
    if any(c.target.array.name == name for c in declared.constants):
        return -np.inf
    own = [s.support for s in declared.statements if s.target.array.name == name]
    ends = [s.lower if sign > 0 else -sp.sympify(s.upper) for s in own]
    known = [float(e) if sp.sympify(e).is_number else -np.inf for e in ends]
    return min(known, default=-np.inf)
