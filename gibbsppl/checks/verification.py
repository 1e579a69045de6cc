"""Everything that is proved of a sampler: its steps, its graphs, and what its sweeps keep.

Comes in: a declared graph with its program and schedule. Goes out: one row for each comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gibbsppl.backends.program import Program
from gibbsppl.bugs.reading import Reading
from gibbsppl.checks.draws_called import calls_against_steps
from gibbsppl.checks.graphs import graph_rows
from gibbsppl.checks.interweaving import gap_of_interwoven
from gibbsppl.checks.parameters import keeps_parameters_inside
from gibbsppl.checks.ratio import ratio_check
from gibbsppl.checks.reading import gaps_of_reading
from gibbsppl.checks.results import RELATIVE_TOLERANCE, Row, Verification, row_badness
from gibbsppl.checks.states import Found, augmented, states
from gibbsppl.domains import without_spellings
from gibbsppl.evaluation import Values
from gibbsppl.graph import Graph
from gibbsppl.schedule.steps import Schedule, Step


def verify(  # noqa: PLR0913  (settings, all named at the call)
    graph: Graph,
    program: Program,
    steps: Sequence[Step],
    data: Values,
    seed: int = 0,
    *,
    graphs: Sequence[Graph] | None = None,
    schedule: Schedule | None = None,
    reading: Reading | None = None,
) -> Verification:
    """The exact checks of every step and every graph, near a dispersed start and after sweeps.

    The tolerance is in proportion to the log densities, which can be huge at a start: the second
    state, near the posterior, is the one at which small mistakes show. Sweeps that raise, or that
    lead out of the support, are a row that failed; where densities cannot be compared at any state
    that was found, or not where sweeps lead, rows are not proved. What sweeps keep up to date is
    compared with what it should be. ``graphs`` are those in which the steps draw, if auxiliary
    variables are integrated out of some; that each is the declared ``graph`` is checked if there is
    a ``schedule``.
    """
    with np.errstate(all="ignore"):  # (what comes of it is looked at)
        rng, canonical = np.random.default_rng(seed), without_spellings(graph)
        rows, at = _rows(rng, canonical, program, steps, data, graphs=graphs, schedule=schedule)
        if not keeps_parameters_inside(rng, graph, [{**data, **s} for s in at]):
            rows += (Row("(parameters)", "support", "-", np.inf, 0.0),)
        if reading is not None:
            rows += _of_reading(rng, reading, graph, data, at)
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
) -> tuple[tuple[Row, ...], tuple[Values, ...]]:
    """All comparisons but those of a text, and the states that they are made at."""
    made = states(rng, graph, program, data)
    at = made.compared
    sums = [
        Row(f"{s} keeps", "sums", "-", g, RELATIVE_TOLERANCE * size) for s, g, size in made.sums
    ]
    found = [] if at else [_nothing_compared(steps)]
    for state in at:
        own = ratio_check(rng, graph, program, steps, data, state, graphs=graphs, schedule=schedule)
        found.append([*own, *_moving_along(rng, schedule, program, data, state)])
    rows = (*(max(same, key=row_badness) for same in zip(*found, strict=True)), *sums)
    if schedule is not None:
        called = (schedule, program, data, made.start)
        wrong = {} if made.lost else calls_against_steps(rng, *called)
        rows = tuple(_not_called_so(row, wrong.get(row.step, "")) for row in rows)
        others = [augmented(rng, graph, program, data, s) for s in at[1:] or at]
        of_graphs = _of_graphs(graph, schedule, program, data, (*at, *others))
        # (where sweeps lead, graphs may lose the digits that the model itself keeps)
        if at[1:] and any(r.discrepancy is None and r.tolerance >= 1.0 for r in of_graphs):
            near = augmented(rng, graph, program, data, at[0])
            of_graphs = _of_graphs(graph, schedule, program, data, (*at, *others, near))
        rows += of_graphs
    return (*rows, *_of_sweeps(made)), at


def _nothing_compared(steps: Sequence[Step]) -> list[Row]:
    """A row for each step that says that there is no state to compare at."""
    return [Row(s.name, s.kind, s.family.name if s.family else "-", None, 0.0) for s in steps]


def _of_sweeps(made: Found) -> tuple[Row, ...]:
    """A row where sweeps fail, or lead to where densities cannot be compared."""
    if made.is_seen_after_sweeps:
        return ()
    return (Row("(sweeps)", "sweep", "-", np.inf if made.lost else None, 0.0),)


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


def _not_called_so(row: Row, why: str) -> Row:
    """The row of a step, failed if the sweep does not call its draw with what the step says."""
    return replace(row, step=f"{row.step} ({why})", discrepancy=np.inf) if why else row


def _of_reading(
    rng: np.random.Generator,
    reading: Reading,
    graph: Graph,
    data: Values,
    states: Sequence[Values],
) -> tuple[Row, ...]:
    """Whether the model has the density of the text that it was read from."""
    if not states:
        return (Row("(program: density)", "reading", "-", None, 0.0),)
    gaps = gaps_of_reading(rng, reading, graph, data, states)
    return tuple(
        Row(f"(program: {what})", "reading", "-", gap, RELATIVE_TOLERANCE * size)
        for what, (gap, size) in gaps.items()
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
