"""Whether entries along a dim are shares: never negative, their sum one, whatever is drawn.

Of an array drawn on the simplex they are; of anything else the sum is told at a random point
(`gibbsppl.algebra.residues`), and the signs by the bounds of each entry. Answers are certain or
missing: what is not shown is not said.

>>> import gibbsppl as gp
>>> from gibbsppl.algebra.expressions import Dim
>>> with gp.Model(coords={"k": 2}) as model:
...     x = gp.Normal("x", mu=0, tau=1)
...     first = gp.Data("first", [1, 0], dims="k")
>>> shares, others = (gp.where(first, 1 - gp.expit(x), e).expr for e in (gp.expit(x), x))
>>> [are_shares(e, Dim("k"), (), model.graph, model.data) for e in (shares, others)]
[True, False]
"""

from __future__ import annotations

from contextlib import suppress
from itertools import product
from math import prod

import sympy as sp

from gibbsppl.algebra.expressions import Dim, Expr, Leaf, Over, arrays_in, dims_of, leaves_of
from gibbsppl.algebra.ranges import Range, size_of
from gibbsppl.algebra.residues import Residues, unknown
from gibbsppl.analysis.bounds import ends_of
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph

# Sums that are not one wherever they are taken are looked at one by one, if no more than this.
MOST_SUMS = 10_000


def are_shares(expr: Expr, dim: Dim, over: tuple[Range, ...], graph: Graph, data: Values) -> bool:
    """Whether entries along a dim are shares at all positions of ranges."""
    if runs_over_shares(expr, dim, graph):
        return True
    if not _are_one(Over(expr, dim), over, graph, data):
        return False
    lower, _ = ends_of(expr, (*over, Range(dim, 0, size_of(dim, graph.sizes))), graph, data)
    return bool((lower >= 0).all())


def runs_over_shares(expr: Expr, dim: Dim, graph: Graph) -> bool:
    """Whether an expression runs over all entries of a vector drawn on the simplex."""
    if not isinstance(expr, Leaf):
        return False
    axis = _axis_of_shares(expr.array.name, graph)
    is_along = axis is not None and expr.indices[axis] == dim
    return is_along and sum(dim in dims_of(i) for i in expr.indices) == 1


def _axis_of_shares(name: str, graph: Graph) -> int | None:
    """The axis along which an array is vectors drawn on the simplex; None of any other array."""
    own = graph.statements_of(name)
    if any(s.support.kind != "simplex" for s in own):
        return None
    if any(c.target.array.name == name for c in graph.constants):
        return None
    axes = {s.target.indices.index(s.event[0]) for s in own}
    return axes.pop() if len(axes) == 1 else None


def _are_one(total: Expr, over: tuple[Range, ...], graph: Graph, data: Values) -> bool:
    """Whether a sum is one, whatever is drawn: wherever it is taken, or else at each position.

    (Equal numbers in different tables are seen at known positions alone.)
    """
    numbers = {n: v for n, v in data.items() if n not in graph.random}
    axes = {n: _axis_of_shares(n, graph) for n in arrays_in(total).intersection(graph.random)}
    shares = {
        n: (axis, size_of(graph.variables[n].dims[axis], graph.sizes))
        for n, axis in axes.items()
        if axis is not None
    }
    residues = Residues(numbers, graph.sizes, shares)
    anywhere = {r.dim: unknown("position", r.dim.name) for r in over}
    drawn = {leaf: sp.Dummy() for leaf in leaves_of(total, graph.random)}
    told = [r for r in over if r.dim in dims_of(total.xreplace(drawn))]
    with suppress(ZeroDivisionError):
        if residues.of(total, anywhere) == 1:
            return True
        places = product(*(range(r.start, r.stop) for r in told))
        return prod(map(len, told)) <= MOST_SUMS and all(
            residues.of(total, {**anywhere, **dict(zip((r.dim for r in told), at, strict=True))})
            == 1
            for at in places
        )
    return False
