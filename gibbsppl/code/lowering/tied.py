"""Slice moves of values with tied entries as statements: each entry moves along a line."""

from __future__ import annotations

from dataclasses import dataclass

from gibbsppl.code.arrays.expressions import (
    ONE,
    TWO,
    ZERO,
    Element,
    Expr,
    Position,
    Size,
    Span,
    total,
)
from gibbsppl.code.arrays.statements import Argument, Choice, Density, Draw, Let, Statement
from gibbsppl.code.lowering.densities import CANDIDATE, density_of_all
from gibbsppl.code.lowering.selections import Selection
from gibbsppl.code.lowering.workshop import Workshop
from gibbsppl.model.density import event_dims
from gibbsppl.schedule.kinds import DensityDraw


@dataclass(frozen=True, slots=True)
class LearntWidth:
    """The width of a move or draw, how far it goes, and what is learnt from that."""

    width: Element
    distance: str
    learnt: Statement


def lower_tied(
    w: Workshop, step: DensityDraw, chosen: Selection, line: str, learnt: LearntWidth
) -> None:
    """A move of each entry chosen along a line, whose kernels have that name."""
    array, event = step.variables[0], event_dims(step.statement)
    entry = chosen.element(array, w.dims(array)).indices
    own = tuple(Span(w.fresh(d.name), ZERO, Size(d.name)) for d in event)
    whole = Element(array, (*entry[: -len(own)], *(Position(s.dim) for s in own)))
    with w.inside(*chosen.over):
        other = entry[-1]
        places = (entry[-len(own)], other)
        if len(own) == 1:
            drawn = w.fresh("partner")
            w.add(Let(drawn, (), ZERO, type="int"))
            w.add(Draw((Element(drawn),), "partner", (Argument(other), Argument(own[0].stop))))
            places = (other, Element(drawn))
        w.add(*_moved(w, step, line, whole, own, places, learnt))


def _moved(
    w: Workshop,
    step: DensityDraw,
    line: str,
    whole: Element,
    own: tuple[Span, ...],
    places: tuple[Expr, Expr],
    learnt: LearntWidth,
) -> list[Statement]:
    """The move of one entry together with others of its value."""
    array = step.variables[0]
    before, ends, drawn, slope = (
        w.fresh(n) for n in (f"{array}_before", "line_ends", "on_line", "line_slope")
    )
    candidate, three = w.fresh(CANDIDATE), w.own_dim("line_end", 3)
    kept = Element(before, tuple(Position(s.dim) for s in own))
    value = Argument(kept, own, as_is=True)
    entries = tuple(map(Argument, places))
    low, high = (Element(ends, (n,)) for n in (ONE, TWO))

    def along(t: Expr) -> Statement:
        called = (value, *entries, Argument(t))
        return Draw((whole,), f"{line}_at", called, own=own, is_random=False)

    bend = (Argument(whole, own, as_is=True), *entries, Argument(Element(candidate)))
    body = (
        along(Element(candidate)),
        Let(slope, (), ZERO),
        Draw((Element(slope),), f"{line}_slope", bend, is_random=False),
    )
    density = Density(candidate, total([density_of_all(w, step), Element(slope)]), body)
    kernel = "slice_whole" if step.statement.support.is_discrete else "slice"
    arguments = tuple(map(Argument, (ZERO, low, high, learnt.width)))
    targets = (Element(drawn), Element(learnt.distance))
    told = Element(ends, (Position(three.dim),))
    move = (
        Let(drawn, (), ZERO, is_empty=True),
        Draw(targets, kernel, arguments, density=density, note=step.name),
        along(Element(drawn)),
        learnt.learnt,
    )
    return [
        Let(before, own, whole),
        Let(ends, (three,), ZERO),
        Let(learnt.distance, (), ZERO),
        Draw((told,), f"{line}_ends", (value, *entries), own=(three,), is_random=False),
        Choice(Element(ends, (ZERO,)), ((), move)),
    ]
