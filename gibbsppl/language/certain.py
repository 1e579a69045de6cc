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

from gibbsppl.expressions import Expr, Leaf
from gibbsppl.language.model import Model
from gibbsppl.ranges import bounded
from gibbsppl.supports import Support


def is_certain(model: Model, expr: Expr, support: Support) -> bool:
    """Whether all values are in a support of single numbers; data were looked at before."""
    if all(leaf.array.name in model.known for leaf in expr.atoms(Leaf)):
        return True
    if support.kind not in ("real", "integer"):
        return False
    if support.is_discrete and not _is_whole(model, expr):
        return False
    return is_between(model, expr, support.lower, support.upper)


def is_between(model: Model, expr: Expr, lower: Expr, upper: Expr) -> bool:
    """Whether no value is outside of two numbers."""
    from gibbsppl.signs import interval_of  # noqa: PLC0415  (declaring a model needs no SciPy)

    found = interval_of(bounded(expr, model.sizes), lambda leaf: _ends(model, leaf))
    return bool(lower <= found[0] and found[1] <= upper)


def _is_whole(model: Model, expr: Expr) -> bool:
    if not isinstance(expr, Leaf):
        return False
    own = [s for s in model.declared.statements if s.target.array.name == expr.array.name]
    return bool(own) and all(s.support.is_discrete for s in own)


def _ends(model: Model, leaf: Leaf) -> tuple[Expr, Expr] | None:
    """The least and the greatest value that an array can have, if they are known."""
    name, declared = leaf.array.name, model.declared
    if name in model.known:
        values = declared.values[name]
        return _exact(values.min()), _exact(values.max())
    own = [s.support for s in declared.statements if s.target.array.name == name]
    if not own or any(c.target.array.name == name for c in declared.constants):
        return None
    lower, upper = (
        [bounded(sp.sympify(getattr(s, side)), model.sizes) for s in own]
        for side in ("lower", "upper")
    )
    return (
        min(a if a.is_number else -sp.oo for a in lower),
        max(b if b.is_number else sp.oo for b in upper),
    )


def _exact(value: np.ndarray) -> Expr:
    return sp.Rational(value.item()) if np.isfinite(value) else sp.sympify(value.item())
