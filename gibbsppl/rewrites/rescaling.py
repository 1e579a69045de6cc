"""Arrays that move along as powers of a scale, so that their products with it are held fixed.

Where ``v`` and ``g[j]`` are seen by all others as the product ``v * g[j]`` alone (the overall and
the local scales of a horseshoe, say), v given g is as good as known, and g given v hardly moves it.
With ``g_scaled[j] = v * g[j]`` held fixed v is seen by priors alone, and is free of the data: a
move along an orbit of the group of scales (J. S. Liu and C. Sabatti, 2000, "Generalised Gibbs
sampler and multigrid Monte Carlo for Bayesian computation", Biometrika 87). With the draw given g
this is interweaving.

Comes in: a graph, a positive variable, the powers of it by which arrays are multiplied. Goes out:
the same density in other coordinates, Jacobians included.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import partial

import sympy as sp
from sympy import log

from gibbsppl.algebra.expressions import Expr, Leaf, array_of, leaves_of, mentions
from gibbsppl.algebra.functions import AtMost, Below, Where
from gibbsppl.algebra.polynomials import multiplied_out
from gibbsppl.algebra.supports import Support
from gibbsppl.model.graph import Factor, Graph, Statement
from gibbsppl.model.graph_changes import changed_potential
from gibbsppl.model.stand_ins import StandIn
from gibbsppl.rewrites.applied import density_row
from gibbsppl.rewrites.recentring import Uncentred, is_whole, reads, standing

Rescaled = tuple[Graph, tuple[StandIn, ...]]


def products(graph: Graph, scale: Statement) -> Iterator[tuple[Statement, Expr]]:
    """Yield arrays that may be seen in a product with a scale alone, with their powers of it.

    (`rescaled` tells whether they are.)
    """
    name = scale.target.array.name
    if scale.target.own_dims or not _is_positive(scale):
        return
    for group in graph.latent:
        if group is scale or not _is_free(graph, group) or reads(group, name):
            continue
        array = group.target.array.name
        readers = [f for f in graph.factors_of(array) if f is not group]
        powers = {p for f in readers for e in _read(f) for p in _powers_in(e, array, name)}
        yield from ((group, p) for p in sorted(powers - {sp.S.Zero}, key=str) if p.is_number)


def _is_positive(statement: Statement) -> bool:
    return statement.support.kind == "real" and statement.support.lower == 0


def _is_free(graph: Graph, statement: Statement) -> bool:
    """Whether a statement draws its whole array, of numbers between none but zero and infinity."""
    ends = (statement.support.lower, statement.support.upper)
    is_real = statement.support.kind == "real" and all(e in (0, sp.oo, -sp.oo) for e in ends)
    return is_real and is_whole(graph, statement)


def _read(factor: Factor) -> tuple[Expr, ...]:
    """The arguments of a statement, the log density of a potential."""
    if isinstance(factor, Statement):
        return tuple(sp.sympify(a) for _, a in factor.arguments)
    return (factor.log_density,)


def _powers_in(expr: Expr, group: str, scale: str) -> Iterator[Expr]:
    """Yield the powers of a scale that go with each element of an array: 1 of their product."""
    if not mentions(expr, (group,)) or isinstance(expr, sp.Add):
        for arg in expr.args if isinstance(expr, sp.Add) else ():
            yield from _powers_in(arg, group, scale)
        return
    exponents = {
        n: sum((e for b, e in _bases(expr) if isinstance(b, Leaf) and b.array.name == n), sp.S.Zero)
        for n in (group, scale)
    }
    if exponents[group] != 0:
        yield exponents[scale] / exponents[group]
    for base, _ in _bases(expr):
        if not isinstance(base, Leaf):
            for arg in base.args:
                if isinstance(arg, sp.Expr):
                    yield from _powers_in(arg, group, scale)


def _bases(expr: Expr) -> Iterator[tuple[Expr, Expr]]:
    """Yield the bases of a product with their exponents, powers of products taken apart."""
    for factor in sp.Mul.make_args(expr):
        base, exponent = factor.as_base_exp()
        if base.is_Mul:
            yield from ((b, e * exponent) for b, e in _bases(base))
        else:
            yield base, exponent


def rescaled(
    graph: Graph, scale: Leaf, powers: Mapping[str, Expr], names: Mapping[str, str]
) -> Rescaled | None:
    """The graph with arrays times powers of a scale in place of arrays; None if it has no such.

    ``names`` has the new names by the old ones. Nothing but the statements of these arrays, and of
    the scale, may read the scale then. Bounds have to move along.
    """
    bounded = _with_bounds_moved(graph, names) if len(names) > 1 else graph
    if bounded is None:
        return None
    graph, changes = bounded, list[StandIn]()
    for name, power in powers.items():
        (own,) = graph.statements_of(name)
        made = _one_rescaled(graph, own, names[name], scale**power)
        if made is None:
            return None
        graph = made.graph
        changes.append(made.stand_in)
    potentials = (changed_potential(p, partial(_divided, scale)) for p in graph.potentials)
    graph = replace(graph, potentials=tuple(potentials))
    kept = {*names.values(), scale.array.name}
    seen = (f for f in graph.factors_of(scale.array) if not _is_of(f, kept))
    return None if any(True for _ in seen) else (graph, tuple(changes))


def _with_bounds_moved(graph: Graph, names: Mapping[str, str]) -> Graph | None:
    """The graph with the new arrays in the bounds of all moved ones; None if bounds stay behind."""
    statements = []
    for s in graph.statements:
        if s.target.array.name in names:
            ends = (sp.sympify(s.support.lower), sp.sympify(s.support.upper))
            if not all(_moves_along(e, names) for e in ends):
                return None
            lower, upper = (_renamed(e, names) for e in ends)
            s = _stated(s, s.target, s.log_density, Support("real", lower, upper))  # noqa: PLW2901
        statements.append(s)
    return replace(graph, statements=tuple(statements))


def _moves_along(bound: Expr, names: Collection[str]) -> bool:
    """Whether a bound is in proportion to the arrays named: zero and infinity are, too."""
    if bound in (0, sp.oo, -sp.oo):
        return True
    if isinstance(bound, Leaf):
        return bound.array.name in names
    if isinstance(bound, Where):
        condition, *others = bound.args
        return not mentions(condition, names) and all(_moves_along(e, names) for e in others)
    if bound.is_Add:
        return all(_moves_along(e, names) for e in bound.args)
    moved = [a for a in bound.args if mentions(a, names)]
    return bound.is_Mul and len(moved) == 1 and _moves_along(moved[0], names)


def _renamed(expr: Expr, names: Mapping[str, str]) -> Expr:
    found = {
        x: array_of(names[x.array.name], is_positive=bool(x.array.is_positive))[x.indices]
        for x in leaves_of(expr, names)
    }
    return expr.xreplace(found)


def _divided(scale: Leaf, expr: Expr, *_: object) -> Expr:
    """The expression, inequalities divided by a scale that both sides are in proportion to."""
    return expr.replace(
        lambda e: isinstance(e, Below | AtMost) and mentions(e, (scale.array.name,)),
        lambda e: _if_free(e.func(*(multiplied_out(a / scale) for a in e.args)), e, scale),
    )


def _if_free(divided: Expr, expr: Expr, scale: Leaf) -> Expr:
    return expr if mentions(divided, (scale.array.name,)) else divided


def _one_rescaled(graph: Graph, own: Statement, name: str, by: Expr) -> Uncentred | None:
    old = own.target
    new = array_of(name, is_positive=bool(old.array.is_positive))[old.indices]
    made = _stated(own, new, own.log_density - log(by), own.support)
    change = StandIn(name, old, old.own_dims, old * by, new / by)
    return standing(graph, {own.name: made}, change)


def _stated(own: Statement, target: Leaf, density: Expr, support: Support) -> Statement:
    """The statement given by a log density and a support alone."""
    return replace(
        own,
        name=target.array.name,
        target=target,
        family=density_row(support, own.family.event),
        arguments=(("log", density),),
        lower=None,
        upper=None,
        spelled=(),
    )


def _is_of(factor: Factor, names: Collection[str]) -> bool:
    return isinstance(factor, Statement) and factor.target.array.name in names
