"""Draws of blocks as statements: of all elements along some axes of an array, as one vector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from gibbsppl.algebra.expressions import Dim
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
)
from gibbsppl.code.arrays.statements import Add, Argument, Draw, Let, Store
from gibbsppl.code.lowering.draws import drawn_into, local_for
from gibbsppl.code.lowering.maintained import with_maintained
from gibbsppl.code.lowering.parameters import parameter
from gibbsppl.code.lowering.selections import Selection, place_in_one
from gibbsppl.code.lowering.workshop import Workshop
from gibbsppl.errors import NotLoweredError
from gibbsppl.runtime.pencils import LEAST
from gibbsppl.schedule.kinds import FamilyDraw


def lower_block(w: Workshop, step: FamilyDraw) -> None:
    """A draw of a vector along some axes for each position of the others."""
    if step.bounds or step.draw_function is None:
        raise NotLoweredError(f"{step.name}: {step.how(w.graph)}.")
    block = _Block.of(w, step)
    with w.with_dims(block.partners), with_maintained(w, step.kept):
        found = [
            block.argument(w, parameter(w, p, f"{block.array}_eta_{j}"), p.axes)
            for j, p in enumerate(step.parameters, 1)
        ]
    target = block.chosen.element(block.array, w.dims(block.array))
    if step.alpha is not None:
        now = block.argument(w, target, block.dense, is_read=True)
        found += [now, Argument(Number(step.alpha))]
    own = block.one_axis(w, block.dense)
    if len(block.dense) == 1:
        drawn_into(w, step, block.chosen, step.draw_function, tuple(found), own)
        return
    over = block.chosen.over
    new = local_for(w, f"{block.array}_drawn", (*over, *own), "float")
    w.add(Draw((new,), step.draw_function, tuple(found), over, own, note=step.name))
    spans = tuple(map(w.span, block.dense))
    value = Element(new.array, (*new.indices[: len(over)], place_in_one(spans)))
    w.add(Store(target, value, (*over, *spans)))


def count_tight(w: Workshop, step: FamilyDraw, output: str) -> None:
    """How many blocks are not seen to have a precision matrix with room: by a lower bound."""
    block, squares = _Block.of(w, step), step.parameters[1]
    with w.with_dims(block.partners), with_maintained(w, step.kept):
        value = parameter(w, squares, f"{block.array}_squares")
        matrix = block.argument(w, value, squares.axes)
    over = block.chosen.over
    room = local_for(w, f"{block.array}_room", over, "float")
    w.add(Draw((room,), "certain_room", (matrix,), over, is_random=False, note=step.name))
    least = Number(LEAST * prod(w.size(d) for d in block.dense))
    is_seen = Apply("below", (least, room))
    w.add(Let(output, (), ZERO), Add(output, (), Apply("where", (is_seen, ZERO, ONE)), over))


@dataclass(frozen=True, slots=True)
class _Block:
    """The axes of an array that are drawn as one vector, and the elements of the others.

    ``partners`` are second axes of matrices along the same dims, with their sizes.
    """

    array: str
    dense: tuple[Dim, ...]
    chosen: Selection
    partners: Mapping[Dim, int]

    @classmethod
    def of(cls, w: Workshop, step: FamilyDraw) -> _Block:
        """The block of a step."""
        array = step.variables[0]
        dims = w.dims(array)
        dense = tuple(dims[a] for a in step.dense)
        places = dict(zip(dims, step.region, strict=True))
        batch = [dims[a] for a in step.batch]
        fixed: dict[str, Expr] = {
            d.name: Number(place) for d in batch if isinstance(place := places[d], int)
        }
        chosen = Selection(w.spans([places[d] for d in batch]), fixed)
        partners: dict[Dim, int] = {}
        for p in step.parameters:
            second = (a for a in p.axes if a not in dims)
            partners |= dict(zip(second, map(w.size, dense), strict=False))
        return cls(array, dense, chosen, partners)

    def argument(
        self, w: Workshop, value: Expr, axes: Sequence[Dim], *, is_read: bool = False
    ) -> Argument:
        """A vector or matrix as an argument: of several axes, in an array along flat ones."""
        own = tuple(a for a in axes if a in self.dense or a in self.partners)
        value = self.chosen.of(value)
        if len(self.dense) == 1:
            return Argument(value, tuple(map(w.span, own)), as_is=is_read)
        sides = [own[: len(self.dense)], own[len(self.dense) :]]
        spans = [tuple(map(w.span, side)) for side in sides if side]
        flats = tuple(f for side in sides if side for f in self.one_axis(w, side))
        over = self.chosen.over
        array = w.fresh(f"{self.array}_in_one")
        before = tuple(Position(s.dim) for s in over)
        w.add(Let(array, (*over, *flats), ZERO))
        target = Element(array, (*before, *map(place_in_one, spans)))
        w.add(Store(target, value, (*over, *(s for side in spans for s in side))))
        element = Element(array, (*before, *(Position(f.dim) for f in flats)))
        return Argument(element, flats, as_is=True)

    def one_axis(self, w: Workshop, dims: Sequence[Dim]) -> tuple[Span, ...]:
        """The positions along some axes as one."""
        spans = tuple(map(w.span, dims))
        if len(spans) == 1:
            return spans
        return (Span(w.fresh(f"{self.array}_entry"), ZERO, product([s.stop for s in spans])),)
