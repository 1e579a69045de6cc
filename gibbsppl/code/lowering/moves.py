"""Slice moves and random walks as statements, with the widths and scales learnt in warm-up."""

from __future__ import annotations

from math import log

from gibbsppl.algebra.ranges import Range
from gibbsppl.code.arrays.expressions import (
    ONE,
    ZERO,
    Apply,
    Element,
    Expr,
    Number,
    Position,
    Span,
    product,
    total,
)
from gibbsppl.code.arrays.statements import Add, Argument, Let, Store
from gibbsppl.code.lowering.densities import lower_by_density
from gibbsppl.code.lowering.selections import (
    Selection,
    length_of,
    selection,
    values_in_turn,
)
from gibbsppl.code.lowering.tied import Learnt, TiedMove, entry_spans, lower_tied
from gibbsppl.code.lowering.vector_walks import lower_vector_walk
from gibbsppl.code.lowering.workshop import Workshop
from gibbsppl.runtime.tuning import (
    ACCEPTED,
    ADAPTING,
    ADAPTS,
    PROPOSED,
    SCALE,
    TARGET,
    field_of,
    moves_of,
    width_of,
)
from gibbsppl.runtime.walks import ONE as ONE_ELEMENT
from gibbsppl.schedule.kinds import DensityDraw


def lower_concave(w: Workshop, step: DensityDraw) -> None:
    """A draw of each element by adaptive rejection."""
    chosen = selection(w, step)
    _lower_tuned(w, step, "concave", _learnt_width(w, step, chosen, start=0.0))


def lower_slice(w: Workshop, step: DensityDraw, line: str = "") -> None:
    """A slice move of each element; of tied entries along lines of a name."""
    if step.tied:
        rows, entry = values_in_turn(w, step), entry_spans(w, step)
        learnt = _learnt_width(w, step, _entries(w, step, rows, entry), start=1.0)
        lower_tied(w, TiedMove(step, "slice", line, rows, entry, learnt))
        return
    learnt = _learnt_width(w, step, selection(w, step), start=1.0)
    kernel = "slice_whole" if step.statement.support.is_discrete else "slice"
    _lower_tuned(w, step, kernel, learnt)


def _entries(
    w: Workshop, step: DensityDraw, rows: Selection, entry: tuple[Span, ...]
) -> Selection:
    """The entries of values, which are moved one after the other."""
    dims = (d.name for d in w.dims(step.variables[0])[-step.tied :])
    places = {d: Position(s.dim) for d, s in zip(dims, entry, strict=True)}
    return Selection((*entry, *rows.over), {**rows.at, **places}, one_by_one=True)


def _lower_tuned(w: Workshop, step: DensityDraw, kernel: str, learnt: Learnt) -> None:
    """A draw or a move of each element, with a width or a scale that is learnt."""
    before = tuple(Let(n, (), ZERO) for n in learnt.told)
    more, around = (Argument(learnt.tuned),), (before, learnt.after)
    lower_by_density(w, step, kernel, more=more, outputs=learnt.told, around=around)


def _learnt_width(w: Workshop, step: DensityDraw, chosen: Selection, start: float) -> Learnt:
    """The width of each element, and how it is learnt from distances in warm-up."""
    here = _by_element(w, step, chosen, width_of(step.name), start=start)
    adapting = w.tuning(ADAPTING, kind="int")
    count = w.tuning(moves_of(step.name), kind="int")
    w.add(Store(count, total([count, adapting])))
    distance = w.fresh("distance")
    learnt = Apply("width_learnt", (here, count, Element(distance)))
    return Learnt(here, (distance,), (_learnt(here, learnt, adapting),))


def lower_walk(
    w: Workshop, step: DensityDraw, scale: float | None, target: float | None, line: str = ""
) -> None:
    """A step of a random walk of each element, or of tied entries along lines of a name.

    The scale is learnt unless it is fixed.
    """
    if step.joint:
        lower_vector_walk(w, step, scale, target)
        return
    if step.tied:
        rows, entry = values_in_turn(w, step), entry_spans(w, step)
        learnt = _learnt_scale(w, step, _entries(w, step, rows, entry), scale, target)
        lower_tied(w, TiedMove(step, "walk", line, rows, entry, learnt))
    else:
        kernel = "walk_whole" if step.statement.support.is_discrete else "walk"
        _lower_tuned(w, step, kernel, _learnt_scale(w, step, selection(w, step), scale, target))
    w.walks[step.name] = ()


def _learnt_scale(
    w: Workshop, step: DensityDraw, chosen: Selection, scale: float | None, target: float | None
) -> Learnt:
    """The scale of each element, how it is learnt in warm-up, and what is counted."""
    here = _by_element(w, step, chosen, field_of(step.name, SCALE), log(scale or 1.0))
    is_adaptive = scale is None or target is not None
    adapting = w.tuning(field_of(step.name, ADAPTS), kind="int", start=float(is_adaptive))
    count = w.tuning(moves_of(step.name), kind="int")
    aim = w.tuning(field_of(step.name, TARGET), start=ONE_ELEMENT if target is None else target)
    w.add(Store(count, total([count, adapting])))
    taken, probability = w.fresh("is_taken"), w.fresh("probability")
    learnt = Apply("scale_learnt", (here, count, Element(probability), aim))
    counts = _counted(w, step, chosen, Element(taken))
    return Learnt(here, (taken, probability), (*counts, _learnt(here, learnt, adapting)))


def _by_element(
    w: Workshop, step: DensityDraw, chosen: Selection, name: str, start: float
) -> Element:
    """The element of a new part of the state that is of the element moved."""
    if chosen.one_by_one:
        dims = w.dims(step.variables[0])
        w.tuning(name, tuple(d.name for d in dims), start=start)
        return chosen.element(name, dims)
    over = {s.dim for s in chosen.over}
    moved = [p for p in step.region if isinstance(p, Range) and p.dim.name in over]
    parts = [p for p in moved if len(p) < w.size(p.dim)]
    own = {p.dim.name: w.own_dim(f"{p.dim.name}_moved", len(p)) for p in parts}
    axes = tuple(own.get(s.dim, s).dim for s in chosen.over)
    first = {p.dim.name: p.start for p in parts}
    w.tuning(name, axes, start=start)
    return Element(name, tuple(Position(s.dim, -first.get(s.dim, 0)) for s in chosen.over))


def _learnt(here: Element, learnt: Expr, adapting: Element) -> Store:
    """The statement by which a move learns, as long as warm-up lasts."""
    return Store(here, Apply("where", (Apply("equals", (adapting, ONE)), learnt, here)))


def _counted(w: Workshop, step: DensityDraw, chosen: Selection, taken: Element) -> list[Add]:
    """The steps of a walk that are taken: of elements that move together, their share."""
    accepted = w.tuning(field_of(step.name, ACCEPTED))
    proposed = w.tuning(field_of(step.name, PROPOSED), kind="int")
    if chosen.one_by_one or not chosen.over:
        return [Add(accepted.array, (), taken, ()), Add(proposed.array, (), ONE, ())]
    together = product([length_of(s) for s in chosen.over])
    any_ = Apply("where", (Apply("below", (Number(0), together)), ONE, ZERO))
    w.add(Add(proposed.array, (), any_, ()))
    return [Add(accepted.array, (), Apply("/", (taken, together)), ())]
