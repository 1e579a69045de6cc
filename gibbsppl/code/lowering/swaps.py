"""Swaps of labels as statements: the log density is that of the whole array."""

from __future__ import annotations

from math import nan

from gibbsppl.code.arrays.expressions import ZERO, Element, Number, Position
from gibbsppl.code.arrays.statements import Add, Argument, Density, Draw, Let, Store
from gibbsppl.code.lowering.densities import density_of_all
from gibbsppl.code.lowering.draws import local_for
from gibbsppl.code.lowering.selections import place_in_one, selection_at_once
from gibbsppl.code.lowering.workshop import Workshop
from gibbsppl.pieces.dependence import bounds_of
from gibbsppl.runtime.joint import drawn
from gibbsppl.runtime.tuning import ACCEPTED, ADAPTS, PROPOSED, SCALE, TARGET, field_of, moves_of
from gibbsppl.schedule.kinds import DensityDraw


def lower_swaps(w: Workshop, step: DensityDraw, proposals: int) -> None:
    """So many swaps of the labels that a step draws, one after the other."""
    chosen, statement = selection_at_once(w, step), step.statement
    array = step.variables[0]
    shape = tuple(map(w.size, w.dims(array)))
    known = None if statement.mask is None else w.data[statement.mask]
    count = int(drawn(shape, [tuple(map(bounds_of, step.region))], known).sum())
    span = w.own_dim(f"{array}_label", count)
    here, place = chosen.element(array, w.dims(array)), (place_in_one(chosen.over),)
    now, tried = (local_for(w, f"{array}_{n}", (span,), "float").array for n in ("before", "tried"))
    known_density, taken, made = map(w.fresh, ("log_density_known", "is_taken", "is_made"))
    accepted = w.tuning(field_of(step.name, ACCEPTED))
    proposed = w.tuning(field_of(step.name, PROPOSED), kind="int")
    w.tuning(field_of(step.name, SCALE))
    w.tuning(field_of(step.name, TARGET))
    w.tuning(field_of(step.name, ADAPTS), kind="int")
    w.tuning(moves_of(step.name), kind="int")
    w.add(Let(known_density, (), Number(nan)))
    vector = (Position(span.dim),)
    back = Store(here, Element(tried, place), tuple(chosen.over))
    arguments = (
        Argument(Element(now, vector), (span,), as_is=True),
        Argument(Element(known_density)),
    )
    targets = (Element(tried, vector), *map(Element, (taken, known_density, made)))
    density = Density(tried, density_of_all(w, step), (back,))
    with w.inside(w.own_dim(f"{array}_swap", proposals)):
        w.add(
            Store(Element(now, place), here, tuple(chosen.over)),
            Let(taken, (), ZERO),
            Let(made, (), ZERO),
            Draw(targets, "swap", arguments, own=(span,), density=density, note=step.name),
            back,
            Add(accepted.array, (), Element(taken), ()),
            Add(proposed.array, (), Element(made), ()),
        )
    w.walks[step.name] = ()
