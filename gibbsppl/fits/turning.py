"""Sweeps of a fit that turn from all positions of a dim to the distinct ones.

Comes in: a sampler whose conditionals are read by means and modes. Goes out: a chain some sweeps
further on, and the bounds. A fit starts on all positions. Once the sweeps made would have saved as
much as a second derivation takes, and positions that are alike have equal moments (as they have
after an update, wherever they have started), it goes on with one of each: the numbers are those of
a fit on all positions, but for rounding. At the end the state is spread over all positions, and
the bound and the natural parameters that the two programs find are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from math import prod
from typing import Any

import numpy as np

from gibbsppl.algebra.expressions import Dim
from gibbsppl.algebra.ranges import size_of
from gibbsppl.checks.results import RELATIVE_TOLERANCE
from gibbsppl.code.program import State, load
from gibbsppl.code.source import write_numpy
from gibbsppl.derive.labels import LABEL
from gibbsppl.errors import RunError
from gibbsppl.fits.distinct import Distinct, is_apart
from gibbsppl.fits.natural import gap, numbers
from gibbsppl.fits.points import moments_of
from gibbsppl.fits.sweeping import Sweeps
from gibbsppl.kernels.readings import ByMean
from gibbsppl.model.evaluation import Sizes
from gibbsppl.run.chains import Chain
from gibbsppl.run.choice import Asked
from gibbsppl.schedule.kinds import FamilyDraw, LabelDraw
from gibbsppl.schedule.moments import Moment
from gibbsppl.schedule.steps import Step
from gibbsppl.schedule.sweeps import Schedule

# So many numbers (moments, and positions of factors) take about as long as a derivation. Who asks
# for compiled loops has so many sweeps in mind, the first of which may be made in NumPy.
DERIVING, LONG, FIRST = 5_000_000, 100, 8


@dataclass(slots=True, eq=False)
class Turning:
    """The sweeps of a fit, of all positions, and of the distinct ones once these are worth it.

    ``dims`` are those whose positions may be alike, ``look`` the number of sweeps after which it
    is looked next whether a chain can turn; ``before`` is its state then, if it has.
    """

    read: Any
    asked: Asked
    whole: Sweeps
    dims: tuple[Dim, ...]
    distinct: Distinct | None = None
    few: Sweeps | None = None
    look: int = 1
    before: State | None = None

    @classmethod
    def of(cls, read: Any, asked: Asked) -> Turning:
        """The sweeps of a sampler whose conditionals are read otherwise."""
        return cls(read, asked, sweeps_of(read, asked), dims_apart(read))

    def bounds(self, chain: Chain, at_most: int) -> Sequence[float]:
        """Sweep a chain on, in place, as often as one call does: the bound after each sweep."""
        if self.before is None and self.dims and chain.sweep >= self.look:
            self.look = 2 * chain.sweep
            self._turn(chain)
        if self.before is not None and self.few is not None:
            return self.few.bounds(chain, at_most)
        # (loops of all positions are compiled where the distinct ones are no gain)
        waits = self.asked.backend == "compiled" and chain.sweep < FIRST and self._pays(self.dims)
        return self.whole.once(chain) if waits else self.whole.bounds(chain, at_most)

    def _pays(self, dims: Sequence[Dim], sizes: Sizes | None = None) -> bool:
        """Whether a derivation takes less than what sweeps would have saved, without some dims."""
        schedule = self.read.schedule
        none = {d: 0 if d in dims else n for d, n in schedule.graph.sizes.items()}
        made = self.whole.made + (0 if self.few is None else self.few.made)
        sweeps = max(made, LONG) if self.asked.backend == "compiled" else made
        saved = work(schedule, schedule.graph.sizes) - work(schedule, sizes or none)
        return bool(dims) and sweeps * saved >= DERIVING

    def _turn(self, chain: Chain) -> None:
        """Go over to the distinct positions, if that pays and the chain allows it."""
        read = self.read
        if self.distinct is None:
            if not self._pays(self.dims):
                return
            self.distinct = Distinct.of(read.graph, read.data, self.dims)
            self.dims = tuple(self.distinct.alike)
        sizes = {**read.schedule.graph.sizes, **self.distinct.sizes}
        if not self._pays(self.dims, sizes) or not self._are_equal(chain):
            return
        if self.few is None:
            self.few = few_of(read, self.distinct, self.asked)
            if self.few is None:
                self.dims = ()
                return
        self.before = chain.state
        own = {n: self.distinct.taken(x, self._along(n)) for n, x in chain.state.items()}
        for m in moments_of(self.few.schedule):
            if np.ndim(own[m.name]) < len(m.dims):  # (entropies of each)
                own[m.name] = np.zeros([size_of(d, sizes) for d in m.dims])
        chain.state = own

    def _along(self, name: str) -> tuple[Dim, ...]:
        """The dims of an array of the state."""
        variable = self.read.schedule.graph.variables.get(name)
        return () if variable is None else variable.dims

    def _are_equal(self, chain: Chain) -> bool:
        """Whether positions that are alike have equal moments."""
        assert self.distinct is not None
        for m in moments_of(self.read.schedule):
            if any(d in self.distinct.alike for d in m.dims):
                value = chain.state[m.name]
                back = self.distinct.spread(self.distinct.taken(value, m.dims), m.dims)
                if gap([value], [back]) > RELATIVE_TOLERANCE:
                    return False
        return True

    def spread(self, chain: Chain, bound: float) -> None:
        """Put a chain at all positions, after its last sweep; the next starts anew."""
        if self.before is not None:
            assert self.distinct is not None and self.few is not None  # noqa: PT018
            state, own = chain.state, dict(chain.state)
            moments = {m.name: m for m in moments_of(self.few.schedule)}
            for n, x in state.items():
                dims, own_dims = self._along(n), moments[n].dims if n in moments else ()
                if len(own_dims) > len(dims):
                    own[n] = self.distinct.total(x, own_dims)
                elif any(d in self.distinct.alike for d in dims):
                    # (what is read by its mean stays where it started)
                    own[n] = self.distinct.spread(x, dims) if n in moments else self.before[n]
            self._compare(state, own, bound)
            chain.state = own
        self.before, self.look = None, 1

    def _natural(self, value: Any, axes: tuple[Dim, ...]) -> Any:
        """A natural parameter of the distinct positions at all of them, where it is along these."""
        assert self.distinct is not None
        return self.distinct.spread(value, axes) if value.ndim == len(axes) else value

    def _compare(self, few: State, whole: State, bound: float) -> None:
        """Raise where the programs of all and of the distinct positions disagree."""
        assert self.distinct is not None and self.few is not None  # noqa: PT018
        read, made = self.read, self.few
        with np.errstate(all="ignore"):
            told = float(read.program.bound(whole, read.constants))
            found = {"the bound": gap([np.asarray(bound)], [np.asarray(told)])}
            for step in read.schedule.steps:
                of, own = read.program.given_rest.get(step.name), step.name
                if of is not None and step.refusal is None:
                    ours = numbers(made.program.given_rest[own](few, made.constants))
                    theirs = numbers(of(whole, read.constants))
                    found[own] = gap(list(map(self._natural, ours, axes_of(step))), theirs)
        for name, off in found.items():
            if not off <= RELATIVE_TOLERANCE:
                dims = ", ".join(d.name for d in self.distinct.alike)
                raise RunError(
                    f"{read.graph.name}: {name} of the distinct positions of {dims} is off by "
                    f"{off:.2g} of its size from that of all positions (the bounds are {bound} and "
                    f"{told}), expected the same: this is a fault of the fit; please report it."
                )


def sweeps_of(read: Any, asked: Asked) -> Sweeps:
    """The sweeps of a sampler."""
    own = (read.schedule, read.data, read.program, read.constants)
    return Sweeps(*own, asked, read.derivation.worth)


def few_of(read: Any, distinct: Distinct, asked: Asked) -> Sweeps | None:
    """The sweeps of the distinct positions, in the order of those of all; None if they differ."""
    made = distinct.sampler(read)
    names = [s.name for s in read.schedule.steps]
    places = {s.name: j for j, s in enumerate(made.schedule.steps)}
    if sorted(names) != sorted(places):
        return None
    schedule = made.schedule.only([places[n] for n in names])
    local = (s for s in schedule.steps if isinstance(s, ByMean) and distinct.is_local(s))
    are_local = all(not distinct.alike.keys().isdisjoint(m.dims) for s in local for m in s.moments)
    if not are_local or not _are_alike(read.schedule, schedule):
        return None
    program = load(write_numpy(schedule))
    constants = program.prepare(made.data)
    return Sweeps(schedule, made.data, program, constants, asked, made.derivation.worth)


def dims_apart(read: Any) -> tuple[Dim, ...]:
    """The dims whose positions nothing ties, and to which means of variables alone belong."""
    schedule, graphs = read.schedule, (read.graph, read.schedule.graph)
    steps = schedule.steps
    if any(s.instead_of is None or s.approximate or _has_forms(s) for s in steps):
        return ()
    other = {r.dim for s in schedule.steps if not _is_each(s) for t in s.statements for r in t.over}
    return tuple(d for d in schedule.graph.sizes
                 if d not in other and all(is_apart(g, d) for g in graphs))  # fmt: skip


def _has_forms(step: Step) -> bool:
    """Whether a step keeps sums of its own along data, which count each position once."""
    return bool(getattr(step.conditional, "forms", ()))


def _is_each(step: Step) -> bool:
    """Whether each element of a variable is read by its mean, apart from others."""
    draw = step.instead_of
    is_labels = isinstance(draw, LabelDraw) and draw.axis is None
    return step.by == "mean" and (is_labels or isinstance(draw, FamilyDraw))


def axes_of(step: Step) -> Iterator[tuple[Dim, ...]]:
    """The axes of the natural parameters of a step; of labels, these are along the first."""
    draw = step.instead_of
    if isinstance(draw, LabelDraw):
        yield (LABEL, *(r.dim for r in draw.statement.over))
    elif isinstance(draw, FamilyDraw):
        yield from (p.axes for p in draw.parameters)
        yield from (b.axes for b in draw.bounds)
    yield from repeat(())


def work(schedule: Schedule, sizes: Sizes) -> int:
    """The numbers of a sweep: moments, and positions of factors."""
    moments = (prod(size_of(d, sizes) for d in m.dims) for m in moments_of(schedule))
    factors = (prod(size_of(r.dim, sizes) for r in f.over) for f in schedule.graph.factors)
    return sum(moments) + sum(factors)


def _are_alike(one: Schedule, other: Schedule) -> bool:
    """Whether schedules have the same steps and moments; entropies may be of each element."""

    def told(schedule: Schedule) -> Iterator[tuple[object, ...]]:
        yield from ((s.name, s.by) for s in schedule.steps)
        yield from map(_told, moments_of(schedule))

    return list(told(one)) == list(told(other))


def _told(moment: Moment) -> tuple[object, ...]:
    return moment.name, moment.of, () if moment.what == "entropy" else moment.dims
