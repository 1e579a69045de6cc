"""The exact checks of a sampler: steps, graphs, calls, and sums kept up to date by sweeps.

Comes in: a declared graph with its program and schedule. Goes out: one row for each comparison.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from gibbsppl.analysis.domains import without_spellings
from gibbsppl.bugs.reading import Reading
from gibbsppl.checks.draws_called import calls_against_steps
from gibbsppl.checks.graphs import graph_rows
from gibbsppl.checks.in_loops import Loops, rows_in_loops
from gibbsppl.checks.interweaving import gap_of_interwoven
from gibbsppl.checks.parameters import keeps_parameters_inside
from gibbsppl.checks.ratio import ratio_check
from gibbsppl.checks.reading import NOTHING_TOLD, gaps_of_reading
from gibbsppl.checks.results import RELATIVE_TOLERANCE, Row, Verification, worst
from gibbsppl.checks.states import ComparedStates, augmented, found_states
from gibbsppl.code.program import Program
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph
from gibbsppl.schedule.steps import Step
from gibbsppl.schedule.sweeps import Schedule


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
    loops: Loops | None = None,
) -> Verification:
    """The exact checks of every step and every graph, near a dispersed start and after sweeps.

    The tolerance is in proportion to the log densities, which can be huge at a start: the second
    state, near the posterior, is the one at which small mistakes show. Where the digits of a
    comparison are lost at both, it is made again nearer to the centre. Sweeps that raise, or that
    lead out of the support, are a row that failed; where densities cannot be compared at any state
    that was found, or not where sweeps lead, rows are not proved. Sums that sweeps keep up to date
    are compared with recomputed ones. ``graphs`` are those in which the steps draw, if auxiliary
    variables are integrated out of some; with a ``schedule``, each of them is checked to be the
    declared ``graph``. ``loops`` are those of the sampler, compared with the program.
    """
    with np.errstate(all="ignore"):  # (what comes of it is looked at)
        rng, canonical = np.random.default_rng(seed), without_spellings(graph)
        check = _Check(canonical, program, steps, data, graphs, schedule, loops)
        rows, at = check.rows(rng)
        if not keeps_parameters_inside(rng, graph, [{**data, **s} for s in at]):
            rows += (Row("(parameters)", "support", "-", np.inf, 0.0),)
        if reading is not None:
            nearer = (made.compared for made in found_states(rng, canonical, program, data))
            rows += _of_reading(rng, reading, graph, data, chain([at], nearer))
    return Verification(rows)


@dataclass(frozen=True, slots=True)
class _Check:
    """All comparisons of a model and its sampler, except with a text that was read."""

    graph: Graph
    program: Program
    steps: Sequence[Step]
    data: Values
    graphs: Sequence[Graph] | None
    schedule: Schedule | None
    loops: Loops | None

    def rows(self, rng: np.random.Generator) -> tuple[tuple[Row, ...], tuple[Values, ...]]:
        """A row for each comparison, and the states compared at."""
        rows: tuple[Row, ...] = ()
        at: tuple[Values, ...] = ()
        rewrites = () if self.schedule is None else self.schedule.rewrites
        for made in found_states(rng, self.graph, self.program, self.data, rewrites):
            here = self._rows_of(rng, made)
            rows = _worst([rows, here]) if rows else here
            at = (*at, *made.compared)
            if not any(r.is_hidden for r in rows):
                break
        if self.schedule is not None and not made.lost:
            called = (self.schedule, self.program, self.data, made.start)
            wrong = calls_against_steps(rng, *called)
            rows = tuple(_not_called_so(row, wrong.get(row.step, "")) for row in rows)
        if self.loops is not None and not made.lost:
            swept = (self.loops, made.swept[-1], self.data)
            rows += rows_in_loops(rng, self.program, *swept, rows)
        return rows, at

    def _rows_of(self, rng: np.random.Generator, made: ComparedStates) -> tuple[Row, ...]:
        """The comparisons at a start and where sweeps lead."""
        at = made.compared
        of_steps = _worst([self._of_steps(rng, s) for s in at] or [_nothing_compared(self.steps)])
        sums = tuple(
            Row(f"{s} keeps", "sums", "-", g, RELATIVE_TOLERANCE * size) for s, g, size in made.sums
        )
        return (*of_steps, *sums, *self._of_graphs(rng, at), *_of_sweeps(made))

    def _of_steps(self, rng: np.random.Generator, state: Values) -> tuple[Row, ...]:
        """Each step against the graph that it draws in."""
        fixed = (self.graph, self.program, self.steps, self.data)
        graphs, schedule = self.graphs, self.schedule
        own = ratio_check(rng, *fixed, state, graphs=graphs, schedule=schedule)
        return (*own, *self._moving_along(rng, state))

    def _moving_along(self, rng: np.random.Generator, state: Values) -> Iterator[Row]:
        """For each non-centred update, drawn and moved variables against the joint density."""
        if self.schedule is None:
            return
        for name, interwoven in self.schedule.interwoven.items():
            fixed = (self.schedule, self.program, self.schedule.step(name), self.data)
            gap, size = gap_of_interwoven(rng, *fixed, state)
            told = f"{name}, {interwoven.group} moved"
            yield Row(told, "interwoven", "-", gap, RELATIVE_TOLERANCE * size)

    def _of_graphs(self, rng: np.random.Generator, at: tuple[Values, ...]) -> tuple[Row, ...]:
        """For each graph in which steps draw, whether it is the model."""
        if self.schedule is None:
            return ()
        graph, program, data = self.graph, self.program, self.data
        compared = (*at, *(augmented(rng, graph, program, data, s) for s in at[1:] or at))
        rows = _against_the_model(graph, self.schedule, program, data, compared)
        # (where sweeps lead, graphs may lose the digits that the model itself keeps)
        if at[1:] and any(r.is_hidden for r in rows):
            near = augmented(rng, graph, program, data, at[0])
            rows = _against_the_model(graph, self.schedule, program, data, (*compared, near))
        return rows


def _worst(found: Sequence[Sequence[Row]]) -> tuple[Row, ...]:
    """The decisive row of each comparison, of those made at several states."""
    return tuple(worst(same) for same in zip(*found, strict=True))


def _nothing_compared(steps: Sequence[Step]) -> list[Row]:
    """A row for each step, not proved: there is no state to compare at."""
    return [Row(s.name, s.kind, s.family.name if s.family else "-", None, 0.0) for s in steps]


def _of_sweeps(made: ComparedStates) -> tuple[Row, ...]:
    """A row where sweeps fail, or lead to where densities cannot be compared."""
    if made.is_seen_after_sweeps:
        return ()
    return (Row("(sweeps)", "sweep", "-", np.inf if made.lost else None, 0.0),)


def _against_the_model(
    graph: Graph, schedule: Schedule, program: Program, data: Values, states: Sequence[Values]
) -> tuple[Row, ...]:
    """For each graph in which steps draw, whether it is the model."""
    found = graph_rows(graph, schedule, program, data, states)
    return tuple(
        Row(name, "graph", "-", r.discrepancy, RELATIVE_TOLERANCE * r.size, r.is_hidden)
        for r in found
        for name in (", ".join(r.changes) or "(as declared)",)
    )


def _not_called_so(row: Row, why: str) -> Row:
    """The row of a step, failed if the sweep calls its draw with wrong arguments."""
    return replace(row, step=f"{row.step} ({why})", discrepancy=np.inf) if why else row


def _of_reading(
    rng: np.random.Generator,
    reading: Reading,
    graph: Graph,
    data: Values,
    found: Iterable[Sequence[Values]],
) -> tuple[Row, ...]:
    """Whether the model has the density of the text that it was read from.

    The program is evaluated as it stands. Where it has no number at the first states, such as the
    exponential of -1000, states nearer to the centre are compared.
    """
    gaps = None
    for states in filter(None, found):
        gaps = gaps_of_reading(rng, reading, graph, data, states)
        if gaps["density"] is not NOTHING_TOLD:
            break
    if gaps is None:
        return (Row("(program: density)", "reading", "-", None, 0.0),)
    return tuple(
        Row(f"(program: {what})", "reading", "-", gap, RELATIVE_TOLERANCE * size)
        for what, (gap, size) in gaps.items()
    )
