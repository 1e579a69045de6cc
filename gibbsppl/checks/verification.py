"""Everything that is proved of a sampler: its steps, its graphs, and what its sweeps keep.

Comes in: a declared graph with its program and schedule. Goes out: one row for each comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gibbsppl.backends.program import Program
from gibbsppl.checks.graphs import graph_rows
from gibbsppl.checks.interweaving import gap_of_interwoven
from gibbsppl.checks.ratio import ratio_check
from gibbsppl.checks.results import RELATIVE_TOLERANCE, Row, Verification, row_badness
from gibbsppl.checks.wander import wandered
from gibbsppl.density import log_joint
from gibbsppl.errors import GibbspplError
from gibbsppl.evaluation import Values
from gibbsppl.graph import Graph
from gibbsppl.initial import initial_state
from gibbsppl.schedule.steps import Schedule, Step

SWEEPS = 10


def verify(
    graph: Graph,
    program: Program,
    steps: Sequence[Step],
    data: Values,
    seed: int = 0,
    *,
    graphs: Sequence[Graph] | None = None,
    schedule: Schedule | None = None,
) -> Verification:
    """The exact checks of every step and every graph, near a dispersed start and after sweeps.

    The tolerance is in proportion to the log densities, which can be huge at a start: the second
    state, near the posterior, is the one at which small mistakes show. Sweeps that raise, or that
    lead out of the support, are a row that failed. What sweeps keep up to date is compared with
    what it should be. ``graphs`` are those in which the steps draw, if auxiliary variables are
    integrated out of some; that each is the declared ``graph`` is checked if there is a
    ``schedule``.
    """
    with np.errstate(all="ignore"):  # (what comes of it is looked at)
        rng = np.random.default_rng(seed)
        rows = _rows(rng, graph, program, steps, data, graphs=graphs, schedule=schedule)
    return Verification(rows)


def _rows(
    rng: np.random.Generator,
    graph: Graph,
    program: Program,
    steps: Sequence[Step],
    data: Values,
    *,
    graphs: Sequence[Graph] | None,
    schedule: Schedule | None,
) -> tuple[Row, ...]:
    """All comparisons."""
    constants = program.prepare(data)
    start, _ = initial_state(rng, graph, data, mend=program.mended_by(rng, constants))
    start = _with_auxiliary(rng, graph, program, data, start)
    swept, sums = _after_sweeps(rng, graph, program, data, start)
    found = []
    for state in (start, *swept):
        own = ratio_check(rng, graph, program, steps, data, state, graphs=graphs, schedule=schedule)
        found.append([*own, *_moving_along(rng, schedule, program, data, state)])
    rows = (*(max(same, key=row_badness) for same in zip(*found, strict=True)), *sums)
    if schedule is not None:
        others = [_with_auxiliary(rng, graph, program, data, s) for s in swept]
        rows += _of_graphs(graph, schedule, program, data, (start, *swept, *others))
    return rows if swept else (*rows, Row("(sweeps)", "sweep", "-", np.inf, 0.0))


def _with_auxiliary(
    rng: np.random.Generator, graph: Graph, program: Program, data: Values, state: Values
) -> dict[str, Any]:
    """A state to which the model's own density leads, with auxiliary variables drawn anew."""
    own = {n: state[n] for n in graph.random if n in state}
    found = wandered(rng, graph, data, own)
    program.augment(rng, found, program.prepare(data))
    return found


def _of_graphs(
    graph: Graph, schedule: Schedule, program: Program, data: Values, states: Sequence[Values]
) -> tuple[Row, ...]:
    """For each graph in which steps draw, whether it is the model."""
    found = graph_rows(graph, schedule, program, data, states)
    return tuple(
        Row(name, "graph", "-", r.discrepancy, RELATIVE_TOLERANCE * r.size)
        for r in found
        for name in (", ".join(r.changes) or "(as declared)",)
    )


def _moving_along(
    rng: np.random.Generator,
    schedule: Schedule | None,
    program: Program,
    data: Values,
    state: Values,
) -> list[Row]:
    """For each step that is interwoven, what it draws and moves, against the joint density."""
    if schedule is None:
        return []
    rows = []
    for name, interwoven in schedule.interwoven.items():
        step = schedule.step(name)
        gap, size = gap_of_interwoven(rng, schedule, program, step, data, state)
        told = f"{name}, {interwoven.group} moved"
        rows.append(Row(told, "interwoven", "-", gap, RELATIVE_TOLERANCE * size))
    return rows


def _after_sweeps(
    rng: np.random.Generator, graph: Graph, program: Program, data: Values, start: Values
) -> tuple[tuple[dict[str, Any], ...], tuple[Row, ...]]:
    """The state that sweeps lead to, none if they fail or leave the support; the sums they keep."""
    state: dict[str, Any] = {name: np.array(value) for name, value in start.items()}
    constants = program.prepare(data)
    try:
        with np.errstate(all="ignore"):
            for _ in range(SWEEPS):
                program.sweep(rng, state, constants)
            if program.passing:  # (what holds for some draws alone may belong to none of the rest)
                program.augment(rng, state, constants)
    except (ArithmeticError, ValueError, GibbspplError):
        return (), ()
    sums = tuple(_kept_up(step, state, f(state, constants)) for step, f in program.kept.items())
    kept = {name: np.asarray(state[name]) for name in start}
    possible = all(np.isfinite(v).all() for v in kept.values())
    is_good = possible and np.isfinite(log_joint(graph, {**data, **kept}))
    return ((kept,) if is_good else ()), sums


def _kept_up(step: str, state: Values, anew: Values) -> Row:
    """How far what a scan keeps up to date is from what it should be."""
    gap = np.max([np.abs(state[name] - value).max(initial=0.0) for name, value in anew.items()])
    size = np.max([np.abs(value).max(initial=1.0) for value in anew.values()])
    return Row(f"{step} keeps", "sums", "-", float(gap), RELATIVE_TOLERANCE * float(size))


