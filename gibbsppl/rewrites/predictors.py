"""Coefficients drawn once more with a group's linear predictors held fixed, the group moving along.

Where ``theta[i]`` is added to ``a + b * x[i]`` in a likelihood that is not normal (a count, a
proportion), a, b and theta are known from the sum alone, and hold one another fast when drawn one
by one. With ``eta[i] = theta[i] + a + b * x[i]`` held fixed a and b are the coefficients of a
normal regression of eta, and drawn jointly (A. Gelfand, S. Sahu and B. Carlin, 1995, "Efficient
parametrisations for normal linear mixed models", Biometrika 82; with the draws in the other
coordinates this is interweaving).

Comes in: a graph, a group. Goes out: a graph with eta in place of theta, and the quadratic log
density of the coefficients in it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import sympy as sp

from gibbsppl.algebra.expressions import Dim, Expr, Leaf, dims_of, leaves_of, mentions, substitute
from gibbsppl.algebra.ranges import size_of
from gibbsppl.derive.conditionals import conditional_of
from gibbsppl.derive.quadratic import Quadratic, is_quadratic, quadratic_of
from gibbsppl.model.evaluation import Sizes, Values
from gibbsppl.model.graph import Graph, Statement, expressions_read_by
from gibbsppl.model.stand_ins import StandIn
from gibbsppl.rewrites.recentring import shifted_by


def predictor_of(graph: Graph, group: Statement) -> Expr | None:
    """The sum added to each element of a group by all of its readers, at the group's dims.

    The terms that hold latent variables and do not differ among the readers of an element; None if
    the group is read in another way, or alone.
    """
    name = group.target.array.name
    latent = set(graph.drawn) - {name}
    found: Expr | None = None
    for factor in graph.factors:
        if factor.name == group.name:
            continue
        for expr in expressions_read_by(factor):
            for total in _sums_with(expr, name):
                terms = _terms(total, group, latent, graph.sizes)
                if terms is None or (found is not None and terms != found):
                    return None
                found = terms
    return found


def _sums_with(expr: Expr, name: str) -> Iterator[Expr]:
    """The innermost expressions around each element of an array: a sum, or something else."""
    if isinstance(expr, Leaf) and expr.array.name == name:
        yield expr
        return
    for arg in expr.args:
        if not (isinstance(arg, sp.Expr) and mentions(arg, (name,))):
            continue
        if isinstance(arg, Leaf) and arg.array.name == name:
            yield expr
        else:
            yield from _sums_with(arg, name)


def _terms(total: Expr, group: Statement, latent: Collection[str], sizes: Sizes) -> Expr | None:
    """The terms of a sum beside an element of the group, at the dims of the group.

    None where the dims of the sum are shorter: there are no such terms for the other elements.
    """
    name = group.target.array.name
    if not isinstance(total, sp.Add):
        return None
    own = [t for t in total.args if mentions(t, (name,))]
    if len(own) != 1 or not isinstance(own[0], Leaf):
        return None
    indices, dims = own[0].own_dims, group.target.own_dims
    if not all(isinstance(i, Dim) for i in indices) or len(set(indices)) < len(indices):
        return None
    if any(size_of(i, sizes) != size_of(d, sizes) for i, d in zip(indices, dims, strict=True)):
        return None
    kept = [t for t in total.args if mentions(t, latent) and dims_of(t) <= set(indices)]
    names = {i: d for i, d in zip(indices, dims, strict=True) if i != d}
    return substitute(sp.Add(*kept), names) if kept else None


def coefficients(
    graph: Graph, group: Statement, name: str, data: Values
) -> tuple[Graph, StandIn, Quadratic] | None:
    """The graph with predictors in place of a group, and the coefficients drawn jointly in it.

    Terms with variables that are not normal given the rest, being read elsewhere too, are left out.
    """
    several = len(graph.statements_of(group.target.array.name)) > 1
    predictor = None if several else predictor_of(graph, group)
    while predictor is not None and predictor != 0:
        made = shifted_by(graph, group, name, predictor)
        if made is None:
            return None
        read = {x.array.name for x in leaves_of(predictor)}
        own = [s for s in made.graph.statements if s.target.array.name in read]
        other = {s.target.array.name for s in own if not _is_normal(made.graph, s, data)}
        if not other:
            quadratic = quadratic_of(made.graph, own, data) if own else None
            return None if quadratic is None else (made.graph, made.stand_in, quadratic)
        predictor = sp.Add(*(t for t in sp.Add.make_args(predictor) if not mentions(t, other)))
    return None


def _is_normal(graph: Graph, statement: Statement, data: Values) -> bool:
    """Whether all elements are drawn, from a log density that is quadratic in them."""
    return statement.known == 0 and is_quadratic(conditional_of(graph, statement, data))
