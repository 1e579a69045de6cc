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
from typing import TYPE_CHECKING

import sympy as sp

from gibbsppl.algebra.expressions import Expr, Leaf
from gibbsppl.algebra.ranges import counted
from gibbsppl.algebra.supports import Support
from gibbsppl.language.model import Model
from gibbsppl.model.graph import Graph

if TYPE_CHECKING:
    from gibbsppl.analysis.bounds import Bound, Bounds

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
    from gibbsppl.analysis.bounds import interval_of  # noqa: PLC0415  (declaring needs no SciPy)

    found = interval_of(counted(expr, model.sizes), _bounds(model, told))
    return bool(lower <= found[0] and found[1] <= upper)


def may_be_beyond(
    model: Model, supports: Sequence[Support], lower: Expr, upper: Expr, told: Told = _NOTHING
) -> bool:
    """Whether supports have an end that may be outside of two numbers."""
    bounds = _bounds(model, told)
    ends = [_widest(model, s, bounds) for s in supports]
    return any(bool(a < lower or b > upper) for a, b in ends)


def _bounds(model: Model, told: Told) -> Bounds:
    """The bounds of the arrays declared so far, and of those that are told."""
    from gibbsppl.analysis.bounds import known_bounds  # noqa: PLC0415

    declared = model.declared
    so_far = Graph(
        model.name,
        model.sizes,
        declared.variables,
        tuple(declared.statements),
        constants=tuple(declared.constants),
    )
    known = known_bounds(so_far, model.known)

    def of(leaf: Leaf) -> tuple[Bound, Bound] | None:
        own = told.get(leaf.array.name, ())
        if not own:
            return known(leaf)
        lower, upper = zip(*(_widest(model, s, of) for s in own), strict=True)
        return min(lower), max(upper)

    return of


def _widest(model: Model, support: Support, bounds: Bounds) -> tuple[Bound, Bound]:
    """The least number that a support can begin at, and the greatest that it can end at."""
    from gibbsppl.analysis.bounds import interval_of  # noqa: PLC0415

    ends = (counted(sp.sympify(e), model.sizes) for e in (support.lower, support.upper))
    (least, _), (_, most) = (interval_of(e, bounds) for e in ends)
    return least, most


def _is_whole(model: Model, expr: Expr) -> bool:
    if not isinstance(expr, Leaf):
        return False
    own = [s for s in model.declared.statements if s.target.array.name == expr.array.name]
    return bool(own) and all(s.support.is_discrete for s in own)
