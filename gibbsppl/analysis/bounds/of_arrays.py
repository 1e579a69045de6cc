"""The known bounds of the elements of an array: the range of data, or the support."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import Expr, Leaf
from gibbsppl.algebra.ranges import counted
from gibbsppl.model.asked import answer
from gibbsppl.model.evaluation import Sizes, Values, evaluate
from gibbsppl.model.graph import Constant, Graph, Statement

# What is known of the elements of a leaf: two ends, which may be expressions, or nothing.
Bound = Expr | Fraction | float
Bounds = Callable[[Leaf], tuple[Bound, Bound] | None]


def known_bounds(graph: Graph, data: Values) -> Bounds:
    """The bounds of the elements of each array: the range of data, or the support.

    Elements that are fixed numbers count too, unless another position is read. A support with
    random bounds is as wide as its family's. Numbers are exact.

    >>> from gibbsppl.algebra.expressions import Array, Dim
    >>> of = known_bounds(Graph("g", {Dim("i"): 2}, {}, ()), {"x": np.array([0.5, 2.0])})
    >>> of(Array("x")[Dim("i")])
    (1/2, 2)
    """

    @cache
    def of(name: str, read: tuple[int | None, ...]) -> tuple[Expr, Expr] | None:
        if name in data and name not in graph.drawn:
            seen = answer(data, _range_of, name)
            if seen is None:
                return None
            if seen:
                return _exact(seen[0]), _exact(seen[1])
        own = [s for s in graph.statements_of(name) if _may_be_at(s, read)]
        ends = [_ends_of_support(s, graph.sizes) for s in own]
        constants = (c for c in graph.constants if c.target.array.name == name)
        ends += [_ends_of_constant(c, graph, data) for c in constants if _may_be_at(c, read)]
        return (min(a for a, _ in ends), max(b for _, b in ends)) if ends else None

    return lambda leaf: of(
        leaf.array.name, tuple(int(i) if i.is_Integer else None for i in leaf.indices)
    )


def _may_be_at(region: Statement | Constant, read: tuple[int | None, ...]) -> bool:
    """Whether a region may have the element that is read: at these positions, or at any."""
    ranges: Mapping[Expr, range] = {r.dim: range(r.start, r.stop) for r in region.over}
    # (an array that is read without indices is read at all positions)
    return all(
        i is None or (i == at if at.is_Integer else at not in ranges or i in ranges[at])
        for at, i in zip(region.target.indices, read, strict=False)
    )


def _range_of(data: Values, name: str) -> tuple[()] | tuple[float, float] | None:
    """The least and the greatest value of an array; nothing of an empty one, None if infinite."""
    values = np.asarray(data[name], dtype=float)
    if not values.size:
        return ()
    seen = float(values.min()), float(values.max())
    return seen if np.isfinite(seen).all() else None


def _exact(value: float) -> Expr:
    """A number as it is: a float of SymPy's would be taken for a rounded one."""
    return sp.Rational(Fraction(value))


def _ends_of_support(statement: Statement, sizes: Sizes) -> tuple[Expr, Expr]:
    full = statement.family.support(statement.event, **dict(statement.arguments))
    narrow = statement.support
    lower = _number(narrow.lower, _number(full.lower, -sp.oo, sizes), sizes)
    upper = _number(narrow.upper, _number(full.upper, sp.oo, sizes), sizes)
    return lower, upper


def _ends_of_constant(constant: Constant, graph: Graph, data: Values) -> tuple[Expr, Expr]:
    """The least and the greatest of the known values of a region."""
    values = np.asarray(evaluate(constant.value, constant.over, data, graph.sizes), dtype=float)
    if not values.size or not np.isfinite(values).all():
        return -sp.oo, sp.oo
    return _exact(float(values.min())), _exact(float(values.max()))


def _number(bound: Expr | float, otherwise: Expr, sizes: Sizes) -> Expr:
    end = counted(sp.sympify(bound), sizes)
    return end if end.is_number else otherwise
