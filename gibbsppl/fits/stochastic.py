"""Stochastic variational inference: updates by a part of the data at a time.

M. D. Hoffman, D. M. Blei, C. Wang and J. Paisley (2013), "Stochastic variational inference",
Journal of Machine Learning Research 14, 1303-1347. In each step the factors of the local variables
of a minibatch are fitted, given the moments of the global ones. The natural parameters of a global
factor are its prior's plus a sum over all data, estimated by that over the minibatch times ``N /
B``; they go a step of size ``(t + DELAY) ** -FORGET`` towards this, along the natural gradient.

Comes in: the sampler whose conditionals are read by their means, one that draws, the data by
positions. Goes out: the natural parameters of the global factors, and estimates of the bound. What
the prior alone gives is what the generated function returns without any data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from gibbsppl.algebra.copies import root_of
from gibbsppl.algebra.ranges import size_of
from gibbsppl.code.program import Constants, Program, State, load
from gibbsppl.code.source import write_numpy
from gibbsppl.errors import RunError
from gibbsppl.fits.approximation import Approximation, unchanging
from gibbsppl.fits.fitting import rises_no_more
from gibbsppl.fits.minibatches import Minibatches, resized
from gibbsppl.fits.natural import Averaged, combined, numbers
from gibbsppl.fits.points import moments_at, moments_of
from gibbsppl.fits.starting import Search, starts_of
from gibbsppl.model.evaluation import Floats, Values
from gibbsppl.run.chains import Chain
from gibbsppl.run.progress import reporting
from gibbsppl.run.sampling import seed_sequence
from gibbsppl.runtime.types import Ints
from gibbsppl.schedule.moments import Moment
from gibbsppl.schedule.steps import Step
from gibbsppl.schedule.sweeps import Schedule

# Step sizes, as by default in scikit-learn's LatentDirichletAllocation.
DELAY, FORGET = 10.0, 0.7
# The local factors of a minibatch are fitted until their moments change by less, on average, or for
# so many sweeps (these, too).
STILL, MOST_LOCAL_SWEEPS = 1e-3, 100
# Natural parameters of parts of the data add up to those of the whole, but for rounding.
ADDITIVE = 1e-8

# A start is a draw for so many positions, at least: local factors start from the mean over these.
MANY = 500
TIED = "is not that of each position alone"
IN_TURN = "is of elements that are updated one after the other"

Given = Callable[[State, Constants], Any]


@dataclass(slots=True, eq=False)
class FromPart:
    """The natural parameters of a global factor, as a minibatch says what all data would.

    ``nothing`` is a state and constants without any data.
    """

    of: Given
    scale: float
    nothing: tuple[State, Constants]

    def __call__(self, state: State, constants: Constants) -> Any:
        """The prior's, and ``scale`` times what the minibatch adds."""
        empty, none = self.nothing
        seen, prior = self.of(state, constants), self.of({**state, **empty}, none)
        return combined(lambda p, b: p + self.scale * (b - p), prior, seen)


class Constants3(NamedTuple):
    """The constants of each of the `Programs`, which compute their own."""

    whole: Constants
    local: Constants
    shared: Constants


class Programs(NamedTuple):
    """The programs of all factors, with the bound, of the local ones, and of the global ones."""

    whole: Program
    local: Program
    shared: Program

    def prepared(self, data: Values, sizes: Mapping[str, int]) -> Constants3:
        """The constants of a part of the data."""
        found = []
        for program in self:
            own = {n: size for n, size in sizes.items() if n in program.sizes}
            found.append(program.prepare(data, own) if own else program.prepare(data))
        return Constants3(*found)


@dataclass(slots=True, eq=False)
class Stochastic:
    """A fit by minibatches: its programs, and where it has come to.

    ``starts``: where local moments start from, the same at each position.
    """

    data: Minibatches
    programs: Programs
    starts: Mapping[Moment, Floats]
    state: State
    rng: np.random.Generator
    nothing: tuple[State, Constants3]
    scale: float
    parts: Mapping[str, FromPart]
    averaged: Mapping[str, Averaged]

    @classmethod
    def of(cls, read: Any, data: Minibatches, size: int, chain: Chain) -> Stochastic:
        """A fit by so many positions at a time, from a chain with moments for some positions."""
        schedule, state = read.schedule, chain.state
        places = {True: list[int](), False: list[int]()}
        for j, step in enumerate(schedule.steps):
            places[is_local(step, data)].append(j)
        if not places[False]:
            raise RunError(
                f"batch: all variables of {read.graph.name} belong to positions of "
                f"{data.dim.name}; fit it without batch=."
            )
        for step in (schedule.steps[j] for j in places[False]):
            if step.is_from_current:
                raise _refused(data, step.name, IN_TURN)
        both = (load(write_numpy(schedule.only(places[k]))) for k in (True, False))
        programs = Programs(read.program, *both)
        names = {d.name for d in data.local}
        moments = [m for m in moments_of(schedule) if names & {root_of(d) for d in m.dims}]
        for m in moments:
            if sum(root_of(d) in names for d in m.dims) > 1:
                raise _refused(data, m.of[0], TIED)
        none, sizes = data.part(np.zeros(0, dtype=np.intp))
        empty: State = {m.name: np.zeros(_shape(m, data, sizes)) for m in moments}
        ours = schedule.only(places[True])
        empty |= {m.name: 0.0 for m in moments_of(ours) if not m.dims}  # (entropies)
        constants = programs.prepared(none, sizes)
        scale = data.graph.sizes[data.dim] / size
        given, nothing = programs.shared.given_rest, (empty, constants.shared)
        parts = {n: FromPart(f, scale, nothing) for n, f in given.items()}
        averaged = {n: Averaged(p) for n, p in parts.items()}
        programs = programs._replace(shared=programs.shared.giving(averaged))
        starts = {m: _middle(m, state[m.name], data) for m in moments}
        nothing_of_all = (empty, constants)
        return cls(
            data, programs, starts, state, chain.rng, nothing_of_all, scale, parts, averaged
        )

    def step(self, chosen: Ints, size: float) -> float:
        """A step of a size by the data of some positions: an estimate of the bound after it."""
        constants = self._begun(chosen, self.state)
        for _ in range(MOST_LOCAL_SWEEPS):
            before = {m.name: np.array(self.state[m.name]) for m in self.starts}
            self.programs.local.sweep(self.rng, self.state, constants.local)
            if all(np.abs(self.state[n] - x).mean() < STILL for n, x in before.items() if x.size):
                break
        for average in self.averaged.values():
            average.begin(size)
        self.programs.shared.sweep(self.rng, self.state, constants.shared)
        return self._bound(constants.whole)

    def begin(self, chosen: Ints) -> None:
        """Put global factors to what a state, of the data of some positions, says of them."""
        part, sizes = self.data.part(chosen)
        for part_of in self.parts.values():
            part_of.scale = self.data.graph.sizes[self.data.dim] / len(chosen)
        constants = self.programs.prepared(part, sizes)
        self.programs.shared.sweep(self.rng, self.state, constants.shared)
        for part_of in self.parts.values():
            part_of.scale = self.scale

    def _begun(self, chosen: Ints, state: State) -> Constants3:
        """The constants of the data of some positions; local moments are put to their start."""
        part, sizes = self.data.part(chosen)
        for m, x in self.starts.items():
            state[m.name] = np.broadcast_to(x, _shape(m, self.data, sizes)).copy()
        return self.programs.prepared(part, sizes)

    def check_apart(self, chosen: Ints) -> None:
        """Raise where positions depend on one another, or parts of the data do not add up."""
        parts = (chosen, chosen[: len(chosen) // 2], chosen[len(chosen) // 2 :])
        states = [dict(self.state) for _ in parts]
        every = [self._begun(p, s) for p, s in zip(parts, states, strict=True)]
        for state, constants in zip(states, every, strict=True):
            self.programs.local.sweep(self.rng, state, constants.local)
        places = [self.data.places(p) for p in parts]
        for m in self.starts:
            for state, own in zip(states[1:], places[1:], strict=True):
                whole = np.asarray(states[0][m.name])
                for axis, d in enumerate(m.dims):
                    if d in own:
                        whole = whole.take(np.searchsorted(places[0][d], own[d]), axis=axis)
                if not _are_equal(whole, state[m.name]):
                    raise _refused(self.data, m.of[0], TIED)
        empty, none = self.nothing
        states.append({**self.state, **empty})
        every.append(none)
        for name, part_of in self.parts.items():
            found = [part_of.of(s, c.shared) for s, c in zip(states, every, strict=True)]
            try:
                added = combined(lambda a, b, p: a + b - p, *found[1:])
            except TypeError:
                why = "has no natural parameters that add up"
                raise _refused(self.data, name, why) from None
            if not all(map(_are_equal, numbers(found[0]), numbers(added))):
                raise _refused(self.data, name, "is no sum over positions")

    def _bound(self, constants: Constants) -> float:
        """The bound of all data, were those of the others as those of the minibatch."""
        bound = self.programs.whole.bound
        assert bound is not None
        empty, none = self.nothing
        alone = float(bound({**self.state, **empty}, none.whole))
        return alone + self.scale * (float(bound(self.state, constants)) - alone)


def _refused(data: Minibatches, name: str, why: str) -> RunError:
    return RunError(
        f"batch: the factor of {name} {why}: positions of {data.dim.name} cannot be taken some at "
        "a time; fit it without batch=."
    )


def is_local(step: Step, data: Minibatches) -> bool:
    """Whether a step is that of local variables; a step of local and of global ones is refused."""
    graph = data.graph
    local = {s.target.array.name: any(r.dim in data.local for r in s.over) for s in step.statements}
    if len(set(local.values())) > 1:
        names = {k: ", ".join(n for n, is_so in local.items() if is_so == k) for k in (True, False)}
        raise RunError(
            f"batch: {names[True]} (local to {data.dim.name}) and {names[False]} (not) are one "
            f"factor of q of {graph.name}; take them apart by blocks= of compile."
        )
    return any(local.values())


def _shape(moment: Moment, data: Minibatches, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """The shape of an array of moments, of a part of the data."""
    own = {d: sizes.get(d.name, n) for d, n in data.graph.sizes.items()}
    return tuple(size_of(d, own) for d in moment.dims)


def _middle(moment: Moment, value: Floats, data: Minibatches) -> Floats:
    """The mean over local positions, which all start from there."""
    axes = tuple(a for a, d in enumerate(moment.dims) if d in data.local)
    return np.asarray(np.mean(value, axis=axes, keepdims=True))


def minibatches(count: int, size: int, rng: np.random.Generator) -> Iterator[Ints]:
    """Positions, so many at a time, in pass after pass, each in another order.

    A pass leaves out what is too few for one more.
    """
    while True:
        order = rng.permutation(count)
        for k in range(0, count - size + 1, size):
            yield np.sort(order[k : k + size])


def _are_equal(one: Any, other: Any) -> bool:
    """Whether arrays are equal but for rounding."""
    size = 1 + max((float(np.abs(x).max(initial=0.0)) for x in (one, other)), default=0.0)
    return bool((np.abs(np.asarray(one) - other) <= ADDITIVE * size).all())


def start_of(read: Any, start: Any, data: Minibatches, first: Ints, search: Search) -> Chain:
    """A chain that starts from a draw for a first minibatch, with its moments."""
    part, sizes = data.part(first)
    made = start.of_graph(resized(start.graph, sizes), part, start.coords, start.settings)
    (chain,) = starts_of(made, search, beyond=False)
    schedule: Schedule = replace(read.schedule, graph=resized(read.schedule.graph, sizes))
    chain.state |= moments_at(schedule, {**made.derivation.known, **chain.state})
    return chain


def fitted_by_parts(
    read: Any, start: Any, batch: Mapping[str, int], search: Search
) -> Approximation:
    """The approximation of the global variables, by minibatches of so many positions of a dim.

    A pass takes each position once, but those left over where ``N`` is no multiple of ``B``.
    """
    if len(batch) != 1:
        raise RunError(f"batch: found {dict(batch)!r}, expected one dim and how many positions.")
    ((name, size),) = batch.items()
    data = Minibatches.of(read.graph, read.data, name)
    count = read.graph.sizes[data.dim]
    if not 1 < size <= count:
        raise RunError(f"batch: found {size} positions of {name}, expected 2 to {count}.")
    rng = np.random.default_rng(seed_sequence(search.seed))
    parts, each = minibatches(count, size, rng), count // size
    many = np.sort(rng.permutation(count)[: max(size, MANY)])
    chain = start_of(read, start, data, many, replace(search, starts=1, seed=rng))
    fit, trace = Stochastic.of(read, data, size, chain), list[float]()
    fit.begin(many)
    fit.check_apart(next(parts))
    converged = False
    told = reporting(search.sweeps, "passes", wanted=search.progress)
    with np.errstate(all="ignore"), told as report:
        for k in range(search.sweeps):
            for _ in range(each):
                trace.append(fit.step(next(parts), (len(trace) + DELAY) ** -FORGET))
            if report is not None:
                report(k + 1, f"bound about {np.mean(trace[-each:]):.6g}")
            if not np.isfinite(trace[-1]):
                raise RunError(f"batch: the bound is {trace[-1]}; use larger minibatches.")
            converged = rises_no_more(np.array(trace).reshape(k + 1, each))
            if converged:
                break
    natural = {n: a.now for n, a in fit.averaged.items()}
    shared = fit.programs.shared.giving(unchanging(natural))
    schedule = read.schedule.only(
        [j for j, s in enumerate(read.schedule.steps) if not is_local(s, data)]
    )
    state = {n: x for n, x in fit.state.items() if n not in fit.nothing[0]}
    own = (schedule, shared, fit.nothing[1].shared, read.derivation.known)
    return Approximation(*own, state, np.array(trace), converged, read, natural, each)
