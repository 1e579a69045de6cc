"""The requirements of a start, and the distance of values from them.

Comes in: a graph and values. Goes out: for each requirement how far it is from being met, at every
position; for many values at once, too. A value is between its bounds, a parameter on its support,
an inequality of a potential holds: all of these are gaps that must not be above zero. What has no
gap, the density itself, is positive or not.

>>> from gibbsppl.algebra.expressions import Array, Dim
>>> i = Dim("i")
>>> x, d = Array("x")[i], Array("d")[i]
>>> above = Potential("above", sp.log(AtMost(d, x)), (Range(i, 0, 2),))
>>> graph = Graph("g", {i: 2}, {}, (), (above,))
>>> (gap, density) = requirements_of(graph)
>>> gap.gap
d[i] - x[i]
>>> values = {"d": np.array([1.0, 5.0]), "x": np.array([2.0, 2.0])}
>>> outside(graph, gap, values)
array([0., 3.])
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import (
    Expr,
    Leaf,
    Over,
    dims_of,
    leaves_of,
    mentions,
    renamed_apart,
)
from gibbsppl.algebra.functions import AtMost, Below, Equals
from gibbsppl.algebra.ranges import Range, ranges_of, size_of
from gibbsppl.algebra.supports import Support
from gibbsppl.model.along_draws import DRAW, at_draws, densities_along
from gibbsppl.model.density import event_dims, log_density
from gibbsppl.model.evaluation import Floats, Sizes, Values, evaluate
from gibbsppl.model.graph import Graph, Potential, Statement, expressions_read_by
from gibbsppl.model.operations import Bools

# So many elements of what is tried at a time.
MOST_AT_ONCE = 1_000_000


@dataclass(frozen=True, slots=True)
class Requirement:
    """A ``gap`` not above zero where ``counts`` is 1; without a gap, a positive density."""

    factor: Statement | Potential
    gap: Expr | None = None
    counts: Expr = sp.S.One

    @property
    def said(self) -> tuple[Expr, ...]:
        """The expressions that say whether it is met."""
        return expressions_read_by(self.factor) if self.gap is None else (self.gap,)

    @property
    def size(self) -> int:
        """At how many positions it has to be met."""
        return math.prod(map(len, self.factor.over))

    def leaves(self, arrays: Collection[str]) -> set[Leaf]:
        """The elements of some arrays that a requirement reads."""
        return {leaf for e in self.said for leaf in leaves_of(e, arrays)}

    def mentions(self, arrays: Collection[str]) -> bool:
        """Whether it depends on any of some arrays."""
        return any(mentions(e, arrays) for e in self.said)


def requirements_of(graph: Graph) -> tuple[Requirement, ...]:
    """All that the factors of a graph require, the gaps of each before its density."""
    factors: tuple[Statement | Potential, ...] = (*graph.statements, *graph.potentials)
    return tuple(r for f in factors for r in (*_gaps(f, graph), Requirement(f)))


def requirements_of_observed(graph: Graph, free: Collection[str]) -> tuple[Requirement, ...]:
    """Observed values between bounds that read free arrays."""
    observed = (s for s in graph.statements if s.known != 0 and not s.family.event)
    return tuple(
        replace(r, counts=r.counts * s.known)
        for s in observed
        for r in _of_target(s)
        if any(leaf.array != s.target.array for leaf in r.leaves(free))
    )


def _gaps(factor: Statement | Potential, graph: Graph) -> Iterator[Requirement]:
    if isinstance(factor, Potential):
        for term in sp.Add.make_args(factor.log_density):
            yield from _of_term(factor, term, graph)
        return
    yield from _of_target(factor)
    for name, argument in factor.arguments:
        parameter = factor.family.parameters[name]
        if parameter.event == 0:
            for gap in _between(argument, parameter.support):
                yield Requirement(factor, gap)


def _of_target(statement: Statement) -> Iterator[Requirement]:
    """A value on its support, where this is an interval, or counts of their sum."""
    full = statement.family.support(statement.event, **dict(statement.arguments))
    seen = 1 - sp.Add(*(c.where for c in statement.censored))
    value: Expr = statement.target
    if statement.support.kind == "counts":
        value = Over(value, event_dims(statement)[0])
        full = Support("integer", full.upper, full.upper)
    for support in dict.fromkeys((full, full.narrowed(statement.lower, statement.upper))):
        if support.kind in ("real", "integer"):
            for gap in _between(value, support):
                yield Requirement(statement, gap, seen)


def _between(value: Expr, support: Support) -> Iterator[Expr]:
    """The gaps of a value and the ends of its support, where there are any."""
    ends = ((support.lower - value, support.lower), (value - support.upper, support.upper))
    yield from (gap for gap, end in ends if end not in (sp.oo, -sp.oo))


def _of_term(potential: Potential, term: Expr, graph: Graph) -> Iterator[Requirement]:
    """The gaps of a term of a log density, of all positions of one that is a sum."""
    apart = renamed_apart(term, {r.dim for r in potential.over})
    if isinstance(apart, Over):
        over = (*potential.over, *ranges_of(apart, graph.sizes))
        yield from _of_term(replace(potential, over=over), apart.body, graph)
    for gap in _of_indicators(term):
        yield Requirement(replace(potential, log_density=term), gap)


def _of_indicators(log_of: Expr) -> Iterator[Expr]:
    """The gaps of the inequalities whose product a log density is the log of."""
    for factor in sp.Mul.make_args(log_of.args[0]) if isinstance(log_of, sp.log) else ():
        match factor:
            case AtMost() | Below():
                yield factor.args[0] - factor.args[1]
            case Equals():
                yield factor.args[0] - factor.args[1]
                yield factor.args[1] - factor.args[0]


def outside(graph: Graph, requirement: Requirement, values: Values) -> Floats:
    """The distance from a requirement, by position; infinite where it is undefined.

    A density has no distance: it is 1 where it is not positive.
    """
    factor, sizes = requirement.factor, graph.sizes
    if requirement.gap is None:
        return np.where(np.isfinite(log_density(factor, values, sizes)), 0.0, 1.0)
    return _distance(requirement.gap, requirement.counts, factor.over, values, sizes)


def _distance(
    gap: Expr, counts: Expr, over: Sequence[Range], values: Values, sizes: Sizes
) -> Floats:
    """How far a gap is above zero, where it counts; infinite where it is undefined."""
    found, where = (evaluate(e, over, values, sizes) for e in (gap, counts))
    far = np.where(np.isnan(found), np.inf, np.maximum(found, 0.0))
    return np.broadcast_to(np.where(where != 0, far, 0.0), tuple(map(len, over)))


def least_amiss(
    graph: Graph, requirements: Sequence[Requirement], values: Values, stacked: Values
) -> int:
    """The position along the first axis of the values nearest to meeting requirements.

    The fewest distances are undefined there, their Euclidean norm is the least, and the fewest
    densities are zero: the first that differs says it. The first of several that are as good.
    """
    tries = min(map(len, stacked.values()))
    largest = max((r.size for r in requirements), default=1)
    step = max(1, MOST_AT_ONCE // largest)
    parts = [slice(start, min(start + step, tries)) for start in range(0, tries, step)]
    amiss = np.hstack(
        [_amiss(graph, requirements, values, {n: x[p] for n, x in stacked.items()}) for p in parts]
    )
    return int(np.lexsort(amiss[::-1])[0])


def _amiss(
    graph: Graph, requirements: Sequence[Requirement], values: Values, stacked: Values
) -> Floats:
    """For each try, the undefined gaps, the norm of all distances, the factors of density zero."""
    tries = min(map(len, stacked.values()))
    along = {n: np.moveaxis(x, 0, -1) for n, x in stacked.items()}
    sizes = {**graph.sizes, DRAW: tries}
    undefined, norm, impossible = np.zeros((3, tries))
    for requirement in requirements:
        factor, gap = requirement.factor, requirement.gap
        if gap is None:
            found = densities_along(factor, values, along, graph.sizes, tries).reshape(-1, tries)
            impossible += (~np.isfinite(found)).sum(0)
            continue
        over = (*factor.over, Range(DRAW, 0, tries))
        own, counts = (at_draws(e, frozenset(along)) for e in (gap, requirement.counts))
        far = _distance(own, counts, over, {**values, **along}, sizes).reshape(-1, tries)
        finite = np.where(np.isinf(far), 0.0, far)
        undefined += np.isinf(far).sum(0)
        size = finite.max(0, initial=np.finfo(float).tiny)
        norm = np.hypot(norm, size * np.sqrt(((finite / size) ** 2).sum(0)))
    return np.stack([undefined, norm, impossible])


def concerned(
    graph: Graph, requirements: Sequence[Requirement], values: Values, free: Values
) -> dict[str, Bools]:
    """The free elements that an unmet requirement reads, by array.

    Where gaps are open these alone are looked at, and not what else densities read.
    """
    found: dict[str, Bools] = {}
    far = [(r, outside(graph, r, values) > 0) for r in requirements]
    unmet = [(r, where) for r, where in far if where.any()]
    gaps = [(r, where) for r, where in unmet if r.gap is not None]
    for requirement, where in gaps or unmet:
        for leaf in sorted(requirement.leaves(free), key=str):
            name, over = leaf.array.name, requirement.factor.over
            read = _read(graph, leaf, over, where, values) & free[name]
            if read.any():
                found[name] = read | found.get(name, False)
    return found


def _read(graph: Graph, leaf: Leaf, over: Sequence[Range], where: Bools, values: Values) -> Bools:
    """The elements of its array that a leaf reads at some positions."""
    found = np.zeros(np.shape(values[leaf.array.name]), dtype=bool)
    inner = sorted(dims_of(leaf) - {r.dim for r in over}, key=str)
    every = (*over, *(Range(d, 0, size_of(d, graph.sizes)) for d in inner))
    shape = tuple(map(len, every))
    here = np.broadcast_to(np.reshape(where, (*where.shape, *(1,) * len(inner))), shape)
    read = (np.rint(evaluate(i, every, values, graph.sizes)) for i in leaf.indices)
    at = [np.broadcast_to(i, shape)[here].astype(int) for i in read]
    # (a sum over a part of a dim reads nothing at its other positions)
    inside = np.ones(int(here.sum()), dtype=bool)
    for axis, i in enumerate(at):
        inside &= (i >= 0) & (i < found.shape[axis])
    found[tuple(i[inside] for i in at)] = True
    return found
