"""The non-centred graph: an array is replaced by a location and a scale times a standard array.

Comes in: a graph, and a statement of a location-scale family, ``theta ~ location + scale * eta``.
Goes out: the same density in other coordinates, with ``eta`` in place of ``theta``: what theta
stands in reads ``location + scale * eta``, and ``eta`` has location 0 and scale 1. The Jacobian of
the change is in its statement: the density of ``eta`` is that of ``theta`` times the scale.

Other statements may draw the rest of the array, each element given others (the states of an
autoregression). The whole array moves then, by the location and scale of the statement that reads
none of it: ``h[t] ~ mu + phi * (h[t - 1] - mu) + scale * noise`` has ``eta[t] ~ phi * eta[t - 1] +
noise`` (G. Kastner and S. Fruehwirth-Schnatter, 2014, "Ancillarity-sufficiency interweaving
strategy (ASIS) for boosting MCMC estimation of stochastic volatility models", Computational
Statistics and Data Analysis 76).

Where the rest are the steps of a walk from an element with a prior of its own, the steps are in
units of their scale, and that element stays as it is: ``x[t] ~ x[t - 1] + scale * noise`` has
``eta[t] = x[0] + (x[t] - x[0]) / scale ~ eta[t - 1] + noise``.

>>> from gibbsppl.families import FAMILIES
>>> from gibbsppl.algebra.expressions import Array, Dim
>>> from gibbsppl.model.graph import Graph, Statement, Variable
>>> from gibbsppl.algebra.ranges import Range
>>> j, mu, theta = Dim("j"), Array("mu")[()], Array("theta")
>>> tau = Array("tau", positive=True)[()]
>>> over, row = (Range(j, 0, 8),), FAMILIES["Normal"]
>>> own = Statement("theta", theta[j], over, (), row, (("mu", mu), ("tau", tau)))
>>> y = Statement("y", Array("y")[j], over, (), row, (("mu", theta[j]), ("tau", sp.S.One)))
>>> graph = Graph("groups", {j: 8}, {"theta": Variable("theta", (j,), "random")}, (own, y))
>>> print(recentred(graph, own, "theta_eta", "scale").graph)
theta_eta[j] ~ Normal(mu=0, tau=1)
y[j] ~ Normal(mu=mu + theta_eta[j]/sqrt(tau), tau=1)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

import sympy as sp

from gibbsppl.algebra.expressions import (
    Array,
    Dim,
    Expr,
    Leaf,
    array_of,
    dims_of,
    mentions,
    renamed_apart,
    substitute,
)
from gibbsppl.algebra.polynomials import multiplied_out
from gibbsppl.derive.changes import LOG, Change
from gibbsppl.model.graph import Factor, Graph, Statement, expressions_read_by
from gibbsppl.model.graph_changes import changed_potential, changed_statement
from gibbsppl.model.stand_ins import StandIn
from gibbsppl.rewrites.applied import density_row
from gibbsppl.rewrites.stages import What


@dataclass(frozen=True, slots=True, eq=False)
class Uncentred:
    """A graph in which an array stands for another one, and how the two are computed."""

    graph: Graph
    stand_in: StandIn

    def is_free_of(self, name: str) -> bool:
        """Whether the array is drawn whatever another one is.

        (Not of states that are no multiples of one scale: of an autoregression with another start.)
        """
        return not any(reads(s, name) for s in self.graph.statements_of(self.stand_in.name))


def is_recentrable(graph: Graph, statement: Statement) -> bool:
    """Whether an array is drawn by location-scale families, by this statement given none of it.

    And whole, as it is; the first such statement, if there are several.
    """
    name = statement.target.array.name
    own = graph.statements_of(name)
    first = next((s for s in own if not any(mentions(a, (name,)) for _, a in s.arguments)), None)
    plain = all(
        s.family.location_scale is not None and s.lower is None and s.upper is None for s in own
    )
    if statement is not first or not plain:
        return False
    return is_whole(graph, statement) if len(own) == 1 else _are_plain(graph, own)


def has_scale(graph: Graph, statement: Statement) -> bool:
    """Whether an array may move with the scale of this statement, its elements in units of it."""
    return is_recentrable(graph, statement) or anchor_of(graph, statement) is not None


def anchor_of(graph: Graph, statement: Statement) -> Leaf | None:
    """The elements from which the steps of walks are counted, that another statement draws.

    The first of a walk, ``x[0]``, or of several, ``x[k, 0]``; the last of one that goes backward.
    None where a statement does not draw steps, and all of them, from such elements.
    """
    name = statement.target.array.name
    every, indices = graph.statements_of(name), statement.target.indices
    others = [s for s in every if s.name != statement.name]
    if len(every) != 2 or len(others) != 1 or not _are_plain(graph, every):
        return None
    (first,) = others
    pairs = zip(indices, first.target.indices, strict=True)
    apart = [n for n, (own, other) in enumerate(pairs) if own != other]
    if len(apart) != 1 or len(set(_dims(indices))) < len(indices):
        return None
    along, place = indices[apart[0]], first.target.indices[apart[0]]
    location, scale = location_and_scale(statement)
    is_walk = mentions(location, (name,)) and not mentions(scale, (name,))
    is_first = not any(mentions(a, (name,)) for _, a in first.arguments)
    if not is_walk or not is_first or along in dims_of(scale):
        return None
    sizes = {d: n - (d == along) for d, n in graph.sizes.items()}
    whole = all(len(r) == sizes[r.dim] for s in every for r in s.over)
    steps = next(r for r in statement.over if r.dim == along)
    return first.target if whole and place in {steps.start - 1, steps.stop} else None


def _are_plain(graph: Graph, statements: Collection[Statement]) -> bool:
    """Whether statements draw an array by families with a location and a scale, all of it."""
    rows = [s.family.location_scale for s in statements]
    names = {s.target.array.name for s in statements}
    return (
        all(r and r.location is not None for r in rows)
        and all(s.lower is None and s.upper is None for s in statements)
        and all(s.known == 0 and not s.censored for s in statements)
        and not any(c.target.array.name in names for c in graph.constants)
    )


def is_whole(graph: Graph, statement: Statement) -> bool:
    """Whether a statement draws all elements of its array, none of which is known in part."""
    name = statement.target.array.name
    own = graph.statements_of(name)
    known = [c for c in graph.constants if c.target.array.name == name]
    whole = {r.dim for r in statement.over if len(r) == graph.sizes[r.dim]}
    return (
        statement.known == 0
        and (len(own), len(known)) == (1, 0)
        and not statement.censored
        and whole == set(statement.target.indices)
    )


def reads(factor: Factor, name: str) -> bool:
    """Whether a factor reads an array of a name."""
    return any(mentions(e, (name,)) for e in expressions_read_by(factor))


def location_and_scale(statement: Statement) -> tuple[Expr, Expr]:
    """The location and the scale of a statement of a location-scale family."""
    row, arguments = statement.family.location_scale, dict(statement.arguments)
    assert row is not None
    location = sp.S.Zero if row.location is None else arguments[row.location]
    return location, row.scale(**arguments)


def recentred(graph: Graph, statement: Statement, name: str, what: What) -> Uncentred | None:
    """The graph with ``name`` in place of the statement's array; None where that cannot be done.

    For a ``location`` to be drawn, the new array is the distance from it; for a ``scale``, that
    distance in units of the scale.
    """
    location, scale = location_and_scale(statement)
    if what != "scale":
        scale = sp.S.One
    array = statement.target.array
    every = graph.statements_of(array.name)
    # (the axes of an array of several statements are those of the one with most)
    old = array[max((s.target.indices for s in every), key=lambda at: len(_dims(at)))]
    if len(_dims(old.indices)) < len(old.indices):
        return None
    new = array_of(name, is_positive=bool(array.is_positive))
    own = old.own_dims
    if not is_recentrable(graph, statement):
        return _from_anchor(graph, statement, new, scale) if what == "scale" else None
    change = StandIn(name, old, own, (old - location) / scale, location + scale * new[own])
    made = {s.name: _in_units(s, new, location, scale, _Reader(change).read) for s in every}
    return standing(graph, made, change)


def _from_anchor(graph: Graph, statement: Statement, new: Array, scale: Expr) -> Uncentred | None:
    """The graph with the distances of walks from their anchors in units of the scale of steps.

    ``x[t] = x[0] + scale * (eta[t] - eta[0])``, where ``eta[0]`` is ``x[0]`` itself: the density of
    the steps alone has the scale as its Jacobian.
    """
    anchor, old = anchor_of(graph, statement), statement.target
    if anchor is None:
        return None
    here, start = new[old.indices], new[anchor.indices]
    forward, backward = anchor + (old - anchor) / scale, start + scale * (here - start)
    change = StandIn(new.name, old, old.own_dims, forward, backward)
    (first,) = (s for s in graph.statements_of(old.array.name) if s.name != statement.name)
    called = new.name + first.name.removeprefix(old.array.name)
    steps = _in_units(statement, new, start * (1 - scale), scale, _Reader(change).read)
    made = {first.name: replace(first, name=called, target=start), statement.name: steps}
    return standing(graph, made, change)


def _dims(indices: tuple[Expr, ...]) -> list[Expr]:
    return [i for i in indices if isinstance(i, Dim)]


def _in_units(
    statement: Statement, new: Array, location: Expr, scale: Expr, read: Callable[[Expr], Expr]
) -> Statement:
    """The statement of elements of a new array: of distances from a location, in units of a scale.

    ``read`` writes the old array as a function of the new one.
    """
    row, arguments = statement.family.location_scale, dict(statement.arguments)
    assert row is not None
    units = row.unit if row.scale(**arguments) == scale else row.in_units(scale, arguments)
    arguments = {n: read(a) for n, a in {**arguments, **units}.items()}
    if row.location is not None:
        arguments[row.location] = multiplied_out((arguments[row.location] - location) / scale)
    array = statement.target.array.name
    return replace(
        statement,
        name=new.name + statement.name.removeprefix(array),
        target=new[statement.target.indices],
        arguments=tuple(arguments.items()),
    )


def shifted_by(graph: Graph, statement: Statement, name: str, predictor: Expr) -> Uncentred | None:
    """The graph with the sum of a statement's array and a predictor in place of the array."""
    row = statement.family.location_scale
    assert row is not None
    if row.location is None:
        return None
    arguments = dict(statement.arguments)
    arguments[row.location] += predictor
    old = statement.target
    new = Array(name, real=True)[old.indices]
    own = replace(statement, name=name, target=new, arguments=tuple(arguments.items()))
    change = StandIn(name, old, old.own_dims, old + predictor, new - predictor)
    return standing(graph, {statement.name: own}, change)


def on_log_scale(graph: Graph, statement: Statement, name: str) -> Uncentred | None:
    """The graph with the logarithm of a statement's positive array in place of it."""
    old = statement.target
    new = Array(name, real=True)[old.indices]
    change = Change(LOG)
    support = change.mapped(statement.support)
    own = replace(
        statement,
        target=new,
        family=density_row(support),
        arguments=(("log", statement.log_density + change.log_jacobian(change.forward(old))),),
        lower=None,
        upper=None,
    )
    forward, backward = change.forward(old), change.backward(new)
    made = StandIn(name, old, old.own_dims, forward, backward)
    return standing(graph, {statement.name: own}, made)


def standing(graph: Graph, own: Mapping[str, Statement], change: StandIn) -> Uncentred | None:
    """The graph with other statements for an array, and expressions of the array rewritten.

    ``own`` has the new statements by the names of the old ones.
    """
    reader = _Reader(change)
    variable = graph.variables[change.of]
    variables = {n: v for n, v in graph.variables.items() if n != change.of}
    variables[change.name] = replace(variable, name=change.name)
    made = replace(
        graph,
        variables=variables,
        statements=tuple(reader.of_statement(own.get(s.name, s)) for s in graph.statements),
        potentials=tuple(changed_potential(p, reader.read) for p in graph.potentials),
        deterministics=tuple(replace(d, value=reader.read(d.value)) for d in graph.deterministics),
    )
    # (bounds that are set by the array are no arguments, and are not rewritten)
    is_left = any(reads(f, change.of) for f in made.factors)
    return None if is_left else Uncentred(made, change)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Rewrites expressions of an array in terms of the array in its place."""

    change: StandIn

    def of_statement(self, statement: Statement) -> Statement:
        """The statement with what it reads rewritten."""
        return changed_statement(statement, self.read)

    def read(self, expr: Expr, bound: frozenset[Dim] = frozenset()) -> Expr:
        """The expression; ``bound`` are the dims of the sums that it stands in."""
        expr = sp.sympify(expr)
        if not mentions(expr, (self.change.of,)):
            return expr
        if isinstance(expr, Leaf):
            indices = tuple(self.read(i, bound) for i in expr.indices)
            if expr.array.name != self.change.of:
                return expr.func(expr.array, *indices)
            return self._element(indices, bound)
        inside = bound | frozenset(getattr(expr, "bound", ()))
        return expr.func(
            *(self.read(a, inside) if isinstance(a, sp.Expr) else a for a in expr.args)
        )

    def _element(self, indices: tuple[Expr, ...], bound: frozenset[Dim]) -> Expr:
        """An element of the array in terms of the new array, its bound dims renamed apart."""
        dims = bound.union(*(i.atoms(Dim) for i in indices))
        apart = renamed_apart(self.change.backward, dims)
        at: Mapping[Expr, Expr] = {
            d: i for d, i in zip(self.change.dims, indices, strict=True) if d != i
        }
        return substitute(apart, at)
