"""Locations at their means: integrated out of the draws of their scales, and drawn after these.

A log density ``q(x)`` that is quadratic in x is at its highest at the mean ``m`` of x given all
else, and there the integral over x is known,

    log integral exp(q(x)) dx = q(m) + A(0, eta_2),

``A`` the log partition function without a linear term: minus half the log determinant of the
precision. Where all terms of q, of the data and of the prior, are in proportion to one scale, no
mean has the scale, and what is left of x is a shape: of a Normal mean and a Gamma precision half an
observation less, and squares are about the mean (A. Gelman and others, 2013, "Bayesian Data
Analysis", sections 3.3, 3.6 and 14.8). Then scale and x are drawn together, given all else: the
scale without x, x given the scale. Squares about a mean keep their digits, as the difference of a
sum of squares and the square of a sum does not.

Comes in: a graph, its conditionals, maybe names of locations. Goes out: the graph without the
locations, their factors at the means, with the conditionals of the scales in it; no family is
named, a location is what is quadratic, and a scale what is in all of its coefficients.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import combinations
from math import prod

import sympy as sp

from gibbsppl.algebra.expressions import Array, Dim, Expr, leaves_of, mentions
from gibbsppl.algebra.identities import without_inverses
from gibbsppl.algebra.polynomials import factored
from gibbsppl.algebra.ranges import Range, bounded, fresh
from gibbsppl.derive.conditionals import Derived, conditional_of
from gibbsppl.derive.match_results import Conditional
from gibbsppl.derive.moments import Moments, plain
from gibbsppl.derive.quadratic import is_quadratic
from gibbsppl.errors import CompileError
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import (
    Factor,
    Graph,
    Maintained,
    Marginal,
    Potential,
    Scatter,
    Statement,
    Variable,
)
from gibbsppl.pieces.dependence import count_of
from gibbsppl.rewrites.applied import with_density
from gibbsppl.rewrites.collapsing import Scan
from gibbsppl.rewrites.integrals import (
    Open,
    closed_form,
    expand_logs_of,
    natural_parameters,
    without,
)
from gibbsppl.rewrites.means_by_rows import mean_by_rows
from gibbsppl.rewrites.quality import is_as_good
from gibbsppl.rewrites.search import Rewritten
from gibbsppl.rewrites.stages import Stage
from gibbsppl.runtime.layouts import MOST_WORK

# Locations are integrated out of the draws of scales if they are this share of what tells of these:
# of an autocorrelation of a tenth nothing is to be gained. (The coefficients of a horseshoe of 10
# columns and 442 rows: with them integrated out a sweep took 1.3 times as many operations, and was
# worth no more effective draws.)
LEAST_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Scales:
    """The graph without locations, the conditionals of scales in it, the names of locations."""

    graph: Graph
    derived: tuple[Derived, ...]
    locations: tuple[str, ...]

    def are_tied(self, graph: Graph) -> bool:
        """Whether a factor of the whole graph sees two of the locations."""
        densities = [f.log_density for f in graph.factors]
        pairs = combinations(self.locations, 2)
        return any(mentions(d, (a,)) and mentions(d, (b,)) for a, b in pairs for d in densities)


def scales_without_locations(
    graph: Graph,
    data: Values,
    before: Mapping[str, Derived],
    asked: Collection[str] = (),
    *,
    jointly: bool = True,
) -> Scales | None:
    """The scales that are drawn as well without their locations; None if there are none.

    ``before`` has the conditionals in the graph by the names of their statements; of variables
    that are not in it nothing is changed. ``asked``: these locations, all of them. Without
    ``jointly`` variables are drawn one by one: no two locations may then be tied.
    """
    work, good, locations = AtMeans(graph), set[str](), tuple[str, ...]()

    def tried(some: tuple[str, ...], scales: Collection[str]) -> tuple[AtMeans, set[str]] | None:
        if len(some) > 1 and not (jointly and _are_few(graph, some)):
            return None
        if not asked and (_would_part(graph, before, some) or _hold_little(graph, some, scales)):
            return None
        if (there := _without(work, data, some, scales)) is None:
            return None
        return (there, own) if (own := _as_good(there, data, before, scales)) else None

    for names, scales in _groups(graph, before, asked):
        most, found = names, tried(names, scales)
        if found is None and not asked and len(names) > 1:
            most = ()
            for name in names:
                if (more := tried((*most, name), scales)) is not None:
                    most, found = (*most, name), more
        if found is not None:
            work, own = found
            good |= own
            locations += most
    if not good:
        return None
    derived = (conditional_of(work.graph, work.graph.statement(n), data) for n in sorted(good))
    all_of = Scales(work.finished, tuple(derived), locations)
    may_be_tied = jointly and _are_few(graph, locations)
    return all_of if may_be_tied or not all_of.are_tied(graph) else None


def _would_part(graph: Graph, before: Mapping[str, Derived], names: Collection[str]) -> bool:
    """Whether locations are tied to one another, and to what else may be drawn with them."""
    quadratic = {array_of(d) for d in before.values() if is_quadratic(d)}
    seen = [{n for n in quadratic if mentions(f.log_density, (n,))} for f in graph.factors]
    own = [s for s in seen if s & set(names)]
    return any(len(s & set(names)) > 1 for s in own) and any(s - set(names) for s in own)


def _hold_little(graph: Graph, names: Collection[str], scales: Collection[str]) -> bool:
    """Whether locations are a small share of all that tells of their scales.

    Of draws given one another this share is how much of a scale the next one remembers.
    """
    told = sum(_elements(graph, f) for f in {f for n in scales for f in graph.factors_of(n)})
    own = sum(count_of(graph, s) for s in graph.latent if s.target.array.name in names)
    return own < LEAST_SHARE * told


def _elements(graph: Graph, factor: Factor) -> int:
    """The number of values that a factor tells of a scale."""
    return count_of(graph, factor) if isinstance(factor, Statement) else prod(map(len, factor.over))


def _are_few(graph: Graph, names: Collection[str]) -> bool:
    """Whether a joint draw of arrays is affordable, whatever ties their elements."""
    size = sum(prod(graph.sizes[d] for d in graph.variables[n].dims) for n in names)
    return size**3 <= MOST_WORK


def last_drawn(model: Rewritten) -> dict[str, Derived]:
    """The conditionals of the last stage, but for those of auxiliary variables, by name."""
    last = model.stages[-1]
    drawn = (d for d in last.derived if not isinstance(d, Scan))
    return {d.statement.name: d for d in drawn if d.statement not in last.auxiliary}


def with_scales(model: Rewritten, found: Scales) -> Rewritten:
    """The model with scales drawn without their locations, which come right after.

    They come with all that they are drawn with jointly; where they are tied to one another, with
    nothing else, so that they all are drawn before anything reads one of them.
    """
    *before, last = model.stages
    own = {s.name for s in last.auxiliary}
    scales = {d.statement.name for d in found.derived}
    auxiliary = tuple(d for d in last.derived if d.statement.name in own)
    rest = tuple(d for d in last.derived if d.statement.name not in scales | own)
    moved = tuple(d for d in rest if array_of(d) in found.locations)
    others = tuple(d for d in rest if d not in moved)
    is_tied = found.are_tied(last.graph)
    stages = (
        *before,
        replace(last, derived=(*auxiliary, *(others if is_tied else ()))),
        Stage(found.graph, found.derived),
        Stage(last.graph, moved if is_tied else (*moved, *others), anew=found.locations),
    )
    return replace(model, stages=stages)


def array_of(derived: Derived | Scan) -> str:
    """The name of the array that is drawn."""
    return str(derived.statement.target.array.name)


def _without(
    work: AtMeans, data: Values, names: tuple[str, ...], scales: Collection[str]
) -> AtMeans | None:
    """The graph with some locations at their means too, if these have no scale."""
    with contextlib.suppress(CompileError):
        return work.moved(data, names, scales)
    return None


def _as_good(
    work: AtMeans, data: Values, before: Mapping[str, Derived], scales: Collection[str]
) -> set[str]:
    """The names of the scales that are drawn as well with locations at their means."""
    own = (s for s in work.graph.latent if s.target.array.name in scales and s.name in before)
    return {s.name for s in own if is_as_good(conditional_of(work.graph, s, data), before[s.name])}


def _groups(
    graph: Graph, before: Mapping[str, Derived], asked: Collection[str]
) -> Iterator[tuple[tuple[str, ...], frozenset[str]]]:
    """Locations that share a scale, with all scales of theirs: vectors first, then large arrays.

    (Of these the elements are seen through what is left of others, not the other way round.)
    """
    found: dict[str, tuple[frozenset[str], tuple[bool, int]]] = {}
    for statement in graph.latent:
        name, derived = statement.target.array.name, before.get(statement.name)
        if asked and name not in asked:
            continue
        if isinstance(derived, Conditional) and is_quadratic(derived):
            scales = _scales_of(graph, derived, before)
            if scales:
                found[name] = scales, (not derived.own_event, -count_of(graph, statement))
    while found:
        first = next(iter(found))
        names, scales = {first}, found[first][0]
        while more := {n for n, (own, _) in found.items() if own & scales} - names:
            names |= more
            scales = scales.union(*(found[n][0] for n in more))
        yield tuple(sorted((n for n in found if n in names), key=lambda n: found[n][1])), scales
        found = {n: f for n, f in found.items() if n not in names}


def _scales_of(
    graph: Graph, location: Conditional, before: Mapping[str, Derived]
) -> frozenset[str]:
    """The variables, of other closed forms, that are in each coefficient of a location."""
    closed = {
        s.target.array.name
        for s in graph.latent
        if isinstance(d := before.get(s.name), Conditional) and not is_quadratic(d)
    }
    coefficients = [p.coefficient for pieces in location.pieces for p in pieces]
    read = [{x.array.name for x in leaves_of(c, closed)} for c in coefficients]
    return frozenset(reduce(set.intersection, read) if read else ())


@dataclass(frozen=True, slots=True)
class AtMeans:
    """A graph with locations at their means: arrays, which are variables of it meanwhile.

    ``about`` has the potentials that have come: what the factors that saw a location are now.
    """

    graph: Graph
    arrays: tuple[Maintained, ...] = ()
    about: Mapping[str, str] = field(default_factory=dict)

    @property
    def finished(self) -> Graph:
        """The graph, in which what reads an array is a marginal."""
        names = {a.name for a in self.arrays}
        left = [p for p in self.graph.potentials if p.name in self.about]
        marginals = (
            Marginal(p.name, self._read_by(density), density, p.over, self.about[p.name])
            for p in left
            for density in (p.log_density,)
        )
        return replace(
            self.graph,
            potentials=tuple(p for p in self.graph.potentials if p not in left),
            variables={n: v for n, v in self.graph.variables.items() if n not in names},
            marginals=tuple(marginals),
        )

    def _read_by(self, density: Expr) -> tuple[Maintained, ...]:
        """The arrays that an expression reads, directly or not, in order."""
        names = {x.array.name for x in leaves_of(density)}
        for array in reversed(self.arrays):
            if array.name in names:
                names |= {x.array.name for e in array.expressions for x in leaves_of(e)}
        return tuple(a for a in self.arrays if a.name in names)

    def moved(self, data: Values, names: Collection[str], scales: Collection[str]) -> AtMeans:
        """The graph with further locations at their means, integrated out one after the other.

        The mean of one may read those after it. Raises where one is not quadratic, or where a mean
        has a scale.
        """
        work, found = Open(self.graph), list[_Location]()
        for n, name in enumerate(names, 1):
            later = (*tuple(names)[n:], *scales)
            own = _location(work, closed_form(work, data, name), later, scales)
            few = mean_by_rows(work.graph, own.statement, data, scales)
            found.append(own if few is None else replace(own, mean=few.mean, reads=few.arrays))
            work = without(work, data, name, later)
            if few is not None:
                graph = replace(work.graph, sizes={**few.sizes, **work.graph.sizes})
                work = replace(work, graph=graph)
        means, arrays = dict[str, str](), list(work.arrays)
        for location in reversed(found):
            mean = location.at(fresh(f"{location.name}_mean", {*work.graph.variables}), means)
            arrays += location.read(means)
            means[location.name] = mean.name
            arrays.append(mean)
        return self._with_means(found, means, arrays, work.graph.sizes)

    def _with_means(
        self,
        found: Collection[_Location],
        means: Mapping[str, str],
        arrays: Collection[Maintained],
        sizes: Mapping[Dim, int],
    ) -> AtMeans:
        """The graph with means in place of locations, in their factors and all that sees these."""
        rest = replace(self.graph, sizes=dict(sizes))
        potentials = [Potential(f.name, f.normaliser, f.over) for f in found]
        about = {**self.about, **{n: f"with {n} integrated out" for n in means}}
        for factor in rest.factors:
            own = factor.target.array.name if isinstance(factor, Statement) else ""
            seen = [n for n in means if n == own or mentions(factor.log_density, (n,))]
            if not seen:
                continue
            called = factor.name if factor.name in about else f"{factor.name}_at_mean"
            about[called] = f"{factor.name} with {', '.join(seen)} at the mean"
            potentials.append(Potential(called, _at(factor.log_density, means), factor.over))
            rest = _without_terms(rest, factor)
        known = {a.name: Variable(a.name, a.axes, "random") for a in arrays}
        rest = replace(
            rest,
            statements=tuple(s for s in rest.statements if s.target.array.name not in means),
            potentials=(*rest.potentials, *potentials),
            variables={**rest.variables, **known},
        )
        return AtMeans(rest, (*self.arrays, *arrays), about)


def _without_terms(graph: Graph, factor: Factor) -> Graph:
    """The graph without the terms of a factor: of what is drawn the statement stays."""
    if isinstance(factor, Statement) and not factor.is_latent:
        return replace(graph, statements=tuple(s for s in graph.statements if s is not factor))
    return with_density(graph, factor, sp.S.Zero)


def _at(expr: Expr, means: Mapping[str, str]) -> Expr:
    """An expression with the elements of means in the place of those of locations."""
    return expr.xreplace({
        x: Array(means[x.array.name])[x.indices] for x in leaves_of(expr, means)
    })  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Location:
    """A location, its mean at its target, and the log partition function without a linear term.

    ``places`` are the positions of its elements; ``reads`` the arrays that the mean reads, where it
    is computed by these.
    """

    statement: Statement
    event: tuple[Dim, ...]
    places: tuple[Range, ...]
    mean: Expr
    normaliser: Expr
    reads: tuple[Maintained, ...] = ()

    @property
    def name(self) -> str:
        """The name of its array."""
        return str(self.statement.target.array.name)

    @property
    def over(self) -> tuple[Range, ...]:
        """The positions of vectors that are independent of one another."""
        return tuple(r for r in self.statement.over if r.dim not in self.event)

    def at(self, name: str, means: Mapping[str, str]) -> Maintained:
        """The array of its means, given those of the locations after it."""
        target = self.statement.target
        value = Scatter(name, target.indices, _at(self.mean, means), self.places)
        return Maintained(Array(name)[target.indices], (value,))


    def read(self, means: Mapping[str, str]) -> Iterator[Maintained]:
        """The arrays that the mean reads, given the means of the locations after it."""
        for array in self.reads:
            scatters = (replace(s, value=_at(s.value, means)) for s in array.scatters)
            yield replace(array, scatters=tuple(scatters))


def _location(
    work: Open, found: Conditional, later: Collection[str], scales: Collection[str]
) -> _Location:
    natural, event = found.family.natural, found.own_event
    assert natural is not None
    assert natural.log_partition is not None
    name = found.statement.target.array.name
    there, etas, arrays = natural_parameters(work, found, later)
    every: list[Maintained] = [*work.arrays, *arrays]
    inside = {*(a.name for a in every), *later}

    def apart(expr: Expr) -> Expr:
        return without_inverses(expand_logs_of(bounded(expr, there.graph.sizes), every, inside))

    etas = [factored(e) for e in etas]
    moments = plain(found.family, etas, event, {})
    mean = apart(moments.mean) if isinstance(moments, Moments) else None
    if not is_quadratic(found) or mean is None or mentions(mean, scales):
        raise CompileError(f"collapse: the mean of {name} is not free of {', '.join(scales)}.")
    own = {"event": event} if event else {}
    normaliser = natural.log_partition(0 * etas[0], *etas[1:], **own)
    ranges = tuple(Range(d, 0, there.graph.sizes[d]) for d in found.statement.target.own_dims)
    return _Location(found.statement, event, ranges, mean, apart(normaliser))
