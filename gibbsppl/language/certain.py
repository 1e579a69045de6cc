"""Whether an expression is certain to be in a range, by its form and the leaves' supports.

>>> from gibbsppl.language import Beta, Gamma
>>> from gibbsppl.algebra.supports import UNIT
>>> with Model() as model:
...     p, x = Beta("p", 1, 1), Gamma("x", 1, rate=1)
>>> is_certain(model, (p * (1 - p)).expr, UNIT), is_certain(model, (p * x).expr, UNIT)
(True, False)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import Expr, Leaf
from gibbsppl.algebra.ranges import bounded
from gibbsppl.algebra.supports import Support
from gibbsppl.language.model import Model

Told = Mapping[str, Sequence[Support]]
_NOTHING: Told = {}


def is_certain(model: Model, expr: Expr, support: Support) -> bool:
    """Whether all values are in a support of single numbers; data were looked at before."""
    if all(leaf.array.name in model.known for leaf in expr.atoms(Leaf)):
        return True
    if support.kind not in ("real", "integer"):
        return False
    if support.is_discrete and not _is_whole(model, expr):
        return False
    return is_between(model, expr, support.lower, support.upper)


def is_between(
    model: Model, expr: Expr, lower: Expr, upper: Expr, told: Told = _NOTHING
) -> bool:
    """Whether no value is outside of two numbers.

    ``told`` are the supports of arrays that have no statements yet.
    """
    from gibbsppl.analysis.bounds import interval_of  # noqa: PLC0415  (declaring a model needs no SciPy)

    found = interval_of(bounded(expr, model.sizes), lambda leaf: _ends(model, leaf, told))
    return bool(lower <= found[0] and found[1] <= upper)


def is_beyond(model: Model, supports: Sequence[Support], lower: Expr, upper: Expr) -> bool:
    """Whether supports have an end that is known to be outside of two numbers."""
    ends = [_numbers(model, support) for support in supports]
    return any((a is not None and a < lower) or (b is not None and b > upper) for a, b in ends)


def _is_whole(model: Model, expr: Expr) -> bool:
    if not isinstance(expr, Leaf):
        return False
    own = [s for s in model.declared.statements if s.target.array.name == expr.array.name]
    return bool(own) and all(s.support.is_discrete for s in own)


def _ends(model: Model, leaf: Leaf, told: Told) -> tuple[Expr, Expr] | None:
    """The least and the greatest value that an array can have, if they are known."""
    name, declared = leaf.array.name, model.declared
    if name in model.known:
        values = declared.values[name]
        return _exact(values.min()), _exact(values.max())
    own = told.get(name, ())
    if not own and not any(c.target.array.name == name for c in declared.constants):
        own = [s.support for s in declared.statements if s.target.array.name == name]
    if not own:
        return None
    lower, upper = zip(*(_numbers(model, support) for support in own), strict=True)
    return (
        min(-sp.oo if a is None else a for a in lower),
        max(sp.oo if b is None else b for b in upper),
    )


def _numbers(model: Model, support: Support) -> tuple[Expr | None, Expr | None]:
    """The ends of a support, where they are numbers."""
    ends = (bounded(sp.sympify(e), model.sizes) for e in (support.lower, support.upper))
    lower, upper = (e if e.is_number else None for e in ends)
    return lower, upper


def _exact(value: np.ndarray) -> Expr:
    return sp.Rational(value.item()) if np.isfinite(value) else sp.sympify(value.item())
