"""From a graph to a schedule: chains, blocks and single draws of each stage, then their order.

Comes in: a graph, its data (for facts such as the range of a label), what the user asked for.
Goes out: a `Schedule`. Default order: variables with most elements first, as declared among equals,
so that what is nearest to the data moves before the scales that are judged by its residuals.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gibbsppl.derive.conditionals import Derived
from gibbsppl.derive.label_chains import ChainConditional
from gibbsppl.derive.quadratic import Quadratic
from gibbsppl.errors import ImproperError
from gibbsppl.kernels.defaults import maker_of
from gibbsppl.kernels.joint import joint_draw
from gibbsppl.kernels.modal import ModalMove
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.pieces.corrections import without_corrections
from gibbsppl.pieces.dependence import count_of
from gibbsppl.planning.by_colour import with_colours
from gibbsppl.planning.choices import steps_by_kernel, steps_moved_together
from gibbsppl.planning.control import Control
from gibbsppl.planning.corrected import corrected
from gibbsppl.planning.interweaving import free_by_interweaving, interwoven_by_name, wanted
from gibbsppl.planning.joint import joined
from gibbsppl.planning.label_chains import with_chains
from gibbsppl.planning.modal import Drawn, with_modal
from gibbsppl.planning.order import check_exact, controlled
from gibbsppl.planning.paths import with_paths
from gibbsppl.planning.step_names import called_by_parts
from gibbsppl.rewrites import Rewritten, rewritten
from gibbsppl.rewrites.collapsing import Scan
from gibbsppl.rewrites.stages import NonCentred
from gibbsppl.schedule.blocks import Blocks, check_names
from gibbsppl.schedule.composed import Composed
from gibbsppl.schedule.precisions import TooLarge
from gibbsppl.schedule.steps import Step
from gibbsppl.schedule.sweeps import Schedule


def plan(
    graph: Graph,
    data: Mapping[str, Any],
    *,
    elements: Collection[str] = (),
    exact: bool = False,
) -> Schedule:
    """The schedule of a sweep over all latent statements of a graph as it is.

    ``elements`` names variables to be drawn one element after the other; ``exact`` refuses any
    step that is not an exact draw.
    """
    check_names(graph, Blocks(frozenset(elements)))
    return planned(rewritten(graph, data, None, elements, rules=()), exact=exact)


def planned(model: Rewritten, *, exact: bool = False, control: Control | None = None) -> Schedule:
    """The schedule of a rewritten model: its stages in order, in each the largest first.

    ``control`` is what the user asks of order, scan, kernels and blocks; without it each statement
    is drawn by a step of its own.
    """
    control = control or Control(blocks=Blocks(joined=False))
    steps: list[Step] = []
    graphs: list[Graph] = []
    start = 0  # (of the stage before)
    composed: list[Composed] = []
    apart: dict[tuple[str, ...], TooLarge] = {}
    for n, stage in enumerate((*model.stages, *model.branches)):
        make = maker_of(stage.graph)
        own = [d for d in stage.derived if d.statement in stage.auxiliary]
        rest = [d for d in stage.derived if d.statement not in stage.auxiliary]
        drawn, large = _joined(stage.graph, rest, model, control)
        apart |= {b.arrays: b for b in large}
        anew = [d for d in drawn if not stage.anew or _names(d) & set(stage.anew)]
        others = [d for d in drawn if stage.anew and not _names(d) & set(stage.anew)]
        before, after = list[Step](), list[Step]()
        for found, into in ((others, before), ((*own, *anew), after)):
            for d in found:
                # (of a block the joint draw is a step as it is found)
                if isinstance(d, Step):
                    into.append(called_by_parts(d, stage.graph))
                    continue
                made, turn = steps_by_kernel(make, stage.graph, d, control, model)
                into.extend(made)
                composed += [turn] if isinstance(turn, Composed) else []
        # (what draws nothing anew comes before the stage that has integrated out what is)
        steps[start:start], graphs[start:start] = before, [stage.graph] * len(before)
        start = len(steps)
        steps += after
        graphs += [stage.graph] * len(after)
        for more in wanted(model, n, steps, control.kernels, exact=exact):
            step = _once_more(more, model.data)
            if step is not None:
                steps.append(step)
                graphs.append(more.graph)
    coloured, tables = with_colours(steps, graphs, model.data)
    schedule = Schedule(
        model.graph,
        coloured,
        tuple(graphs),
        model.rewrites,
        model.parts,
        _within_sweep(model),
        tables,
        interwoven=interwoven_by_name(model, steps),
        leaves=model.leaves,
        composed=tuple(composed),
        apart=tuple(apart.values()),
    )
    schedule = controlled(schedule, control)
    if exact:
        check_exact(schedule)
    return schedule


def _once_more(interwoven: NonCentred, data: Mapping[str, Any]) -> Step | None:
    """The step of a non-centred update; None if a joint draw would be too large, or improper.

    (Then the posterior is, of which the start of a run tells.)
    """
    if isinstance(interwoven.conditional, Quadratic):
        step = joint_draw(interwoven.graph, interwoven.conditional, data)
        return None if isinstance(step, TooLarge) else replace(step, called=interwoven.name)
    try:
        return maker_of(interwoven.graph)(interwoven.conditional)
    except ImproperError:
        return None


def _joined(
    graph: Graph, derived: Sequence[Derived | Scan], model: Rewritten, control: Control
) -> tuple[list[Drawn | Step], tuple[TooLarge, ...]]:
    """The conditionals of a stage, chains and blocks as one each, the largest first.

    And blocks that would be too large. Variables with a kernel of the user's, or to be drawn by
    element, are left out of both.
    """
    parts = {p.name for p in model.parts if p.of in control.kernels}
    blocks = control.blocks
    apart = blocks.elements | set(control.kernels) | parts
    chained = with_chains(graph, model.data, derived, apart) if blocks.joined else derived
    asked = replace(blocks, elements=apart)
    plain, free = without_corrections(graph), free_by_interweaving(model)
    drawn, large = joined(plain, chained, model.data, asked, free)
    # (what is drawn without others makes these stale: they have to be drawn, not moved)
    lacking = any(s.graph.marginals for s in (*model.stages, *model.branches))
    proposes = control.proposes and not lacking
    recentred = {n for i in model.interwoven if i.what != "scale" for n in i.variables}
    proposed: Sequence[Drawn | Step] = drawn
    if plain is not graph:
        proposed = corrected(graph, drawn, model)
    elif proposes:
        proposed, more = with_modal(graph, drawn, model.data, asked, recentred)
        large = (*large, *more)
    together = steps_moved_together(maker_of(graph), graph, proposed, control, model)
    if proposes and plain is graph:
        together = with_paths(maker_of(graph), graph, together, control, model.data)
    # (what is proposed beside all draws comes after these)
    drawn_in_turn = [d for d in together if not (isinstance(d, ModalMove) and d.last)]
    beside = [d for d in together if isinstance(d, ModalMove) and d.last]
    left = {s.name for d in derived for s in _statements(d)}
    left -= {s.name for d in drawn_in_turn for s in _statements(d)}
    assert not left, f"{sorted(left)}: drawn by no step"
    return [*sorted(drawn_in_turn, key=lambda d: -_size(graph, d)), *beside], large


def _within_sweep(model: Rewritten) -> frozenset[str]:
    """The auxiliary variables that the graph of some branch lacks."""
    names = {r.variable for r in model.rewrites}
    return frozenset(n for b in model.branches for n in names if n not in b.graph.variables)


def _statements(drawn: Drawn | Step) -> tuple[Statement, ...]:
    """The statements that are drawn by a step."""
    if isinstance(drawn, Step | ChainConditional):
        return drawn.statements
    return (drawn.statement,)


def _names(drawn: Drawn | Step) -> set[str]:
    """The arrays that are drawn by a step."""
    return {s.target.array.name for s in _statements(drawn)}


def _size(graph: Graph, drawn: Drawn | Step) -> int:
    """The number of elements that are drawn by a step."""
    return sum(count_of(graph, s) for s in _statements(drawn))
