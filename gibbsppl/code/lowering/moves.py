"""Slice moves as statements, with the widths that they learn in warm-up."""

from __future__ import annotations

from gibbsppl.code.arrays.expressions import ONE, ZERO, Apply, Element, Position, total
from gibbsppl.code.arrays.statements import Argument, Let, Store
from gibbsppl.code.lowering.densities import lower_by_density
from gibbsppl.code.lowering.selections import selection
from gibbsppl.code.lowering.workshop import Workshop
from gibbsppl.runtime.tuning import ADAPTING, moves_of, width_of
from gibbsppl.schedule.kinds import DensityDraw


def lower_slice(w: Workshop, step: DensityDraw) -> None:
    """A slice move of each element."""
    chosen = selection(w, step)
    dims = w.dims(step.variables[0])
    is_part = chosen.at and not chosen.one_by_one
    axes = tuple(s.dim for s in chosen.over) if is_part else tuple(d.name for d in dims)
    width, moves = width_of(step.name), moves_of(step.name)
    w.tuning(width, axes)
    w.tuning(moves, (), "int")
    w.tuning(ADAPTING, (), "int")
    adapting, count = Element(ADAPTING), Element(moves)
    w.add(Store(count, total([count, adapting])))
    here = (
        chosen.element(width, dims)
        if not is_part
        else Element(width, tuple(Position(s.dim) for s in chosen.over))
    )
    distance = w.fresh("distance")
    learnt = Apply("width_learnt", (here, count, Element(distance)))
    after = (Store(here, Apply("where", (Apply("equals", (adapting, ONE)), learnt, here))),)
    kernel = "slice_whole" if step.statement.support.is_discrete else "slice"
    before = (Let(distance, (), ZERO),)
    lower_by_density(
        w, step, kernel, more=(Argument(here),), outputs=(distance,), around=(before, after)
    )

