"""The states at which densities are compared: near a dispersed start, and where sweeps lead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gibbsppl.algebra.expressions import leaves_of
from gibbsppl.checks.terms import is_comparable
from gibbsppl.checks.wander import wandered
from gibbsppl.code.program import Program, State
from gibbsppl.errors import GibbspplError
from gibbsppl.initial.pilot import ATTEMPTS
from gibbsppl.initial.search import initial_state, overflows
from gibbsppl.model.density import log_joint
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Factor, Graph
from gibbsppl.rewrites.applied import Rewrite

SWEEPS = 10

# A step with maintained sums, their gap to recomputed values, and their size.
Kept = tuple[str, float, float]


@dataclass(frozen=True, slots=True)
class ComparedStates:
    """A start, the state after sweeps, if any, and the gaps of the sums that sweeps maintain.

    ``compared`` are the states of the two at which the log density of the model keeps its digits.
    """

    start: State
    swept: tuple[State, ...]
    compared: tuple[State, ...]
    sums: Sequence[Kept]

    @property
    def lost(self) -> bool:
        """Whether sweeps fail, or leave the support."""
        return not self.swept

    @property
    def is_seen_after_sweeps(self) -> bool:
        """Whether densities can be compared where sweeps lead."""
        return any(s is c for s in self.swept for c in self.compared)


def found_states(
    rng: np.random.Generator,
    graph: Graph,
    program: Program,
    data: Values,
    rewrites: Sequence[Rewrite] = (),
) -> Iterator[ComparedStates]:
    """Starts and the states that sweeps lead to, each nearer to the centre than those before.

    At states that are compared no parameter of an auxiliary variable of ``rewrites`` overflows.
    Starts are settled where there is room. A start is left out if the density overflows or keeps
    no digits at the state after sweeps; if all starts are left out, the last one is given.
    """
    is_seen = False
    for spread in (spread for spread, settle in ATTEMPTS if settle):
        start = augmented_start(rng, graph, program, data, spread=spread, settle=True)
        swept, sums = _after_sweeps(rng, graph, program, data, start)
        both = ((s, {**data, **s}) for s in (start, *swept))
        compared = tuple(
            s for s, at in both if is_comparable(graph, at) and not _overflows(rewrites, at)
        )
        found = ComparedStates(start, swept, compared, sums)
        if found.is_seen_after_sweeps:
            is_seen = True
            yield found
    if not is_seen:
        yield found


def _overflows(rewrites: Sequence[Rewrite], values: Values) -> bool:
    """Whether powers overflow in what auxiliary variables are drawn from."""
    made = ((r.statement, r.graph) for r in rewrites)
    return any(
        overflows([f for f in graph.factors_of(own.target.array) if _is_of(f, values)], values,
                  graph.sizes)
        for own, graph in made
    )  # fmt: skip


def _is_of(factor: Factor, values: Values) -> bool:
    """Whether values have all arrays that a factor reads."""
    return all(x.array.name in values for x in leaves_of(factor.log_density))


def augmented_start(
    rng: np.random.Generator, graph: Graph, program: Program, data: Values, **settings: Any
) -> State:
    """A state near a dispersed start, with its auxiliary variables."""
    mend = program.mended_by(rng, program.prepare(data))
    start, _ = initial_state(rng, graph, data, mend=mend, **settings)
    return augmented(rng, graph, program, data, start)


def augmented(
    rng: np.random.Generator, graph: Graph, program: Program, data: Values, state: Values
) -> State:
    """A state to which the model's own density leads, with auxiliary variables drawn anew."""
    own = {n: state[n] for n in graph.random if n in state}
    found = wandered(rng, graph, data, own)
    program.augment(rng, found, program.prepare(data))
    return found


def _after_sweeps(
    rng: np.random.Generator, graph: Graph, program: Program, data: Values, start: Values
) -> tuple[tuple[State, ...], list[Kept]]:
    """The state after sweeps, none if out of the support or sweeps fail; the sums maintained.

    Sums are compared after each sweep: one that is out of date may be right again by chance.
    """
    state: State = {name: np.array(value) for name, value in start.items()}
    constants, sums = program.prepare(data), dict[str, Kept]()
    try:
        with np.errstate(all="ignore"):
            for _ in range(SWEEPS):
                program.sweep(rng, state, constants)
                for step, anew in program.kept.items():
                    found = (step, *_kept_up(state, anew(state, constants)))
                    sums[step] = max(sums.get(step, found), found, key=_relative_gap)
            # (what holds for some draws alone may belong to none of the rest)
            if program.within_sweep:
                program.augment(rng, state, constants)
    except (ArithmeticError, ValueError, GibbspplError):
        return (), [*sums.values()]
    kept = {name: np.asarray(state[name]) for name in start}
    possible = all(np.isfinite(v).all() for v in kept.values())
    is_good = possible and np.isfinite(log_joint(graph, {**data, **kept}))
    return ((kept,) if is_good else ()), [*sums.values()]


def _relative_gap(sums: Kept) -> float:
    """The gap in proportion to the size; infinite if it is not a number."""
    _, gap, size = sums
    return np.inf if np.isnan(gap) else gap / size


def _kept_up(state: Values, anew: Values) -> tuple[float, float]:
    """The largest gap between maintained arrays and recomputed ones, and the size of these.

    (A random scan may not have made them yet.)
    """
    made = {name: value for name, value in anew.items() if name in state}
    gaps = [np.abs(state[name] - value).max(initial=0.0) for name, value in made.items()]
    sizes = [np.abs(value).max(initial=1.0) for value in made.values()]
    return float(np.max(gaps, initial=0.0)), float(np.max(sizes, initial=1.0))
