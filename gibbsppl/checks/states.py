"""The states at which densities are compared: near a dispersed start, and where sweeps lead."""

from __future__ import annotations

from typing import Any

import numpy as np

from gibbsppl.backends.program import Program
from gibbsppl.checks.wander import wandered
from gibbsppl.density import log_joint
from gibbsppl.errors import GibbspplError
from gibbsppl.evaluation import Values
from gibbsppl.graph import Graph
from gibbsppl.initial import initial_state
from gibbsppl.pilot import ATTEMPTS

SWEEPS = 10

State = dict[str, Any]
# A step that keeps sums up to date, how far these are from what they should be, and their size.
Kept = tuple[str, float, float]


def states(
    rng: np.random.Generator, graph: Graph, program: Program, data: Values
) -> tuple[State, tuple[State, ...], list[Kept]]:
    """A start, with as much spread as sweeps go on from, and the state that they lead to, if any.

    And what is wrong with the sums that these sweeps keep up to date.
    """
    for spread, settle in ATTEMPTS:
        start = augmented_start(rng, graph, program, data, spread=spread, settle=settle)
        swept, sums = _after_sweeps(rng, graph, program, data, start)
        if swept:
            break
    return start, swept, sums


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
    """The state that sweeps lead to, none if they fail or leave the support; the sums they keep."""
    state: State = {name: np.array(value) for name, value in start.items()}
    constants = program.prepare(data)
    try:
        with np.errstate(all="ignore"):
            for _ in range(SWEEPS):
                program.sweep(rng, state, constants)
            if program.passing:  # (what holds for some draws alone may belong to none of the rest)
                program.augment(rng, state, constants)
    except (ArithmeticError, ValueError, GibbspplError):
        return (), []
    sums = [(step, *_kept_up(state, f(state, constants))) for step, f in program.kept.items()]
    kept = {name: np.asarray(state[name]) for name in start}
    possible = all(np.isfinite(v).all() for v in kept.values())
    is_good = possible and np.isfinite(log_joint(graph, {**data, **kept}))
    return ((kept,) if is_good else ()), sums


def _kept_up(state: Values, anew: Values) -> tuple[float, float]:
    """How far what a scan keeps up to date is from what it should be, and the size of that."""
    gap = np.max([np.abs(state[name] - value).max(initial=0.0) for name, value in anew.items()])
    size = np.max([np.abs(value).max(initial=1.0) for value in anew.values()])
    return float(gap), float(size)
