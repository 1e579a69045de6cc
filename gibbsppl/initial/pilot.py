"""The choice among dispersed states: the best of several short runs, where a chain starts.

A sampler that moves one variable at a time can take very long to leave a start at which all is
explained as noise: scales learn to be wide because locations are off, and locations do not move
because scales are wide. Among starts whose scales are spread over orders of magnitude are some from
which the locations jump to the data; a few sweeps tell which.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, TypeVar

import numpy as np
import sympy as sp

from gibbsppl.code.log_densities import LogDensities, compiled_where_it_pays, observed
from gibbsppl.code.program import Constants, Program, State
from gibbsppl.errors import StartError
from gibbsppl.initial.agreement import says_no_more, unit_of
from gibbsppl.initial.saturation import scales_of_saturated
from gibbsppl.initial.search import initial_state
from gibbsppl.initial.unitless import only_for, unitless_scales
from gibbsppl.model.evaluation import Floats, Values
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.pieces.dependence import count_of, region_of, slices_of
from gibbsppl.run.chains import FAILURES, Chain
from gibbsppl.run.engines import Engine, Interpreted

# A scale is moved by a factor of exp(5), about 150: two such moves, one a round, cover what vague
# priors leave open (variances over nine orders of magnitude), and three sweeps suffice for
# locations to follow. Not more scales are tried in a round than the cost of a short warm-up allows.
SHIFT = 5.0
CANDIDATES = 24
SWEEPS = 3
ROUNDS = 2
# Labels may divide what is observed in ways that sweeps do not leave, which moving a scale does not
# change either, and three sweeps do not tell. So more states are drawn as the first one was, and
# from all there are more sweeps: of 132 chains of a mixture of 2,000 values, three components four
# standard deviations apart, 13 began in a lesser mode without these, and none with them. Not of
# more elements than are drawn in a tenth of a second.
OTHERS, SWEEPS_OF_LABELS = 4, 30
MOST_DRAWN = 20_000

# How much of the usual spread starts have, and whether they are settled where there is room: from
# one that is too far out, sweeps do not go on.
ATTEMPTS = ((1.0, False), (1.0, True), (1 / 16, True), (1 / 256, True), (1 / 4096, True))

Start = TypeVar("Start")


def widest(attempt: Callable[[float, bool], Start]) -> Start:
    """What an attempt makes with as much of the usual spread as it does not refuse.

    >>> def attempt(spread, settle):
    ...     if spread > 0.1:
    ...         raise StartError("too far out")
    ...     return spread, settle
    >>> widest(attempt)
    (0.0625, True)
    """
    for spread, settle in ATTEMPTS[:-1]:
        try:
            return attempt(spread, settle)
        except StartError:  # (nearer to the centre, there may be one)
            continue
    return attempt(*ATTEMPTS[-1])


@dataclass(frozen=True, slots=True)
class Pilots:
    """The needs of short runs: a graph with its data, a program, the engine of its sweeps.

    ``densities`` are the log densities of the graph, by default interpreted.
    """

    graph: Graph
    data: Values
    program: Program
    constants: Constants
    engine: Engine
    densities: LogDensities | None = None

    def with_loops(self, chains: int) -> Pilots:
        """The same with log densities in loops, where so many chains evaluate them often enough."""
        bounded = sum(_numeric_bounds(s) is not None for s in self.graph.latent)
        candidates = 1 + min(2 * bounded, CANDIDATES) + OTHERS * _has_labels(self.graph)
        evaluations = chains * (1 + ROUNDS * candidates)
        found = compiled_where_it_pays(self.graph, self.graph.factors, self.data, evaluations)
        return replace(self, densities=found)

    def start(
        self, rng: np.random.Generator, init: Values | None, check: Callable[[State], None]
    ) -> tuple[State, dict[str, str]]:
        """A start with auxiliary variables that passes a check, and the origin of each value.

        A start that fails, but might pass with less of the spread (a `StartError`), is made again;
        a start with values in ``init`` is tried once.
        """

        def attempt(spread: float, settle: bool) -> tuple[State, dict[str, str]]:
            state, notes, goes_on = _after_pilots(self, rng, init, spread=spread, settle=settle)
            self.program.augment(rng, state, self.constants)
            check(state)
            if not goes_on and spread > ATTEMPTS[-1][0]:  # (else the run will say what fails)
                raise StartError(
                    f"{self.graph.name}: no sweep goes on from the values found for a start."
                )
            return state, notes

        return attempt(*ATTEMPTS[1]) if init else widest(attempt)


def best_start(
    rng: np.random.Generator,
    graph: Graph,
    data: Values,
    program: Program,
    constants: Constants,
    init: Values | None = None,
) -> tuple[State, dict[str, str]]:
    """A start, with a note on the origin of each variable's value.

    From a state by the rule of `gibbsppl.initial.search`, a few sweeps are made: once as it is, and
    once for each scale (each variable with a bound, but for exponents and their scales) moved up or
    down by orders of magnitude; where labels are drawn, from some more states by the rule. The
    state at which the observations have the highest density is taken through the same once more,
    unless all these are in `agreement`, and the best state of all is the start. With values in
    ``init``, or without observations, the start is the state by the rule, and no sweep is made.
    """
    pilots = Pilots(graph, data, program, constants, Interpreted(program, constants))
    state, notes, _ = _after_pilots(pilots, rng, init)
    return state, notes


def _after_pilots(
    pilots: Pilots, rng: np.random.Generator, init: Values | None = None, **settings: Any
) -> tuple[State, dict[str, str], bool]:
    """The best start, its notes, and whether sweeps go on from a candidate, if any is tried."""
    graph, data, program = pilots.graph, pilots.data, pilots.program
    mend = program.mended_by(rng, pilots.constants)
    densities = pilots.densities or LogDensities(graph)
    start, notes = initial_state(rng, graph, data, init, mend=mend, densities=densities, **settings)
    if init or not observed(graph):
        return start, notes, True
    best, highest = start, -np.inf
    drawn = set(start).union(*program.step_variables.values())
    others: list[State] = []
    if _has_labels(graph):
        others = [
            initial_state(own, graph, data, init, mend=mend, densities=densities, **settings)[0]
            for own in rng.spawn(OTHERS)
        ]
    for _ in range(ROUNDS):
        candidates = [*_candidates(rng, graph, data, best, drawn), *others]
        others = []
        found = _fits_after_sweeps(pilots, densities, rng, candidates)
        if max(found) > highest:
            highest, best = max(found), candidates[found.index(max(found))]
        if says_no_more(found, unit_of(graph)):
            break
    return best, notes, highest > -np.inf


def _has_labels(graph: Graph) -> bool:
    """Whether labels are drawn, of no more elements than a start takes a short time for."""
    has_labels = any(s.support.is_finite for s in graph.latent)
    return has_labels and sum(count_of(graph, s) for s in graph.latent) <= MOST_DRAWN


def _fits_after_sweeps(
    pilots: Pilots, densities: LogDensities, rng: np.random.Generator, states: Sequence[State]
) -> list[float]:
    """The log density of the observations after a few sweeps from each state, made in place.

    It is -inf where these do not go on.
    """
    sweeps = SWEEPS_OF_LABELS if _has_labels(pilots.graph) else SWEEPS
    gone_on = [_goes_on(pilots, rng, s, sweeps) for s in states]
    found = iter(densities.of_observations(pilots.data, list(compress(states, gone_on))))
    return [next(found) if one else -np.inf for one in gone_on]


def _goes_on(pilots: Pilots, rng: np.random.Generator, state: State, sweeps: int) -> bool:
    """Whether a few sweeps go on from a state, made in place.

    Each candidate has a stream of its own: what is drawn from extreme ones, in whatever order,
    changes nothing of the others and of the run.
    """
    (own,) = rng.spawn(1)
    chain = Chain(state, own)
    try:
        with np.errstate(all="ignore"):
            while chain.sweep < sweeps - 1:
                pilots.engine.sweeps(chain, sweeps - 1 - chain.sweep)
            pilots.engine.sweeps(chain, 1, is_whole=True)
    except FAILURES:
        return False
    return True


def _candidates(
    rng: np.random.Generator, graph: Graph, data: Values, start: State, drawn: Collection[str]
) -> list[State]:
    """Copies of a state: unchanged, and with single scales moved.

    Arrays that sweeps keep up to date beside the drawn ones are left out: moves do not update them.
    """
    start = {n: x for n, x in start.items() if n in drawn or n.startswith("~")}
    bounds = {s.name: b for s in _moved(graph, data) if (b := _numeric_bounds(s)) is not None}
    moves = [(name, shift) for name in bounds for shift in (SHIFT, -SHIFT)]
    chosen = rng.permutation(len(moves))[:CANDIDATES]
    candidates = [copy.deepcopy(start)]
    for name, shift in (moves[i] for i in chosen):
        candidate, statement = copy.deepcopy(start), graph.statement(name)
        array = statement.target.array.name
        x = np.array(candidate[array], dtype=float)
        where = slices_of(region_of(graph, statement))
        x[where] = _scaled(x[where], *bounds[name], shift)
        candidate[array] = x[()]
        candidates.append(candidate)
    return candidates


def _moved(graph: Graph, data: Values) -> list[Statement]:
    """The latent statements but for those of exponents, of their scales alone, and of saturation.

    Exponents, and how far they spread, are not left open by orders of magnitude: from the ends of a
    range of logs, or widely spread, they take up all that is observed. Where all that is observed
    can be explained without a rest, the log density would choose the smallest noise there is, and
    chains would not come back from it.
    """
    unitless = unitless_scales(graph, data)
    left = unitless.keys() | scales_of_saturated(graph, data)
    return [
        s for s in graph.latent
        if (n := s.target.array.name) not in left and not only_for(graph, n, unitless)
    ]  # fmt: skip


def _numeric_bounds(statement: Statement) -> tuple[float, float] | None:
    """The bounds of a real variable, if they are numbers and at least one is finite."""
    support = statement.support
    bounds = sp.sympify(support.lower), sp.sympify(support.upper)
    if support.kind != "real" or statement.known != 0 or not all(b.is_number for b in bounds):
        return None
    lower, upper = map(float, bounds)
    return (lower, upper) if np.isfinite(lower) or np.isfinite(upper) else None


@np.errstate(over="ignore")
def _scaled(x: Floats, lower: float, upper: float, shift: float) -> Floats:
    """A value moved by a factor exp(shift) from its bound; between two bounds, close to one.

    What overflows is a candidate of density zero.
    """
    if np.isfinite(lower) and np.isfinite(upper):
        return np.full_like(x, lower + (upper - lower) / (1 + np.exp(-shift)), dtype=float)
    factor: float = np.exp(shift)
    return lower + (x - lower) * factor if np.isfinite(lower) else upper - (upper - x) * factor
