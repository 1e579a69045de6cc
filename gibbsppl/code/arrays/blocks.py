"""Draws of labels by blocks of elements: what each block needs stays in the cache of a processor.

The weights of a block are a table by label and element, so that exponentials are computed for many
elements at once; the random numbers are those of one element after the other. What sums read of the
elements of a block, as vectors, is copied with the elements side by side.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from gibbsppl.code.arrays.expressions import (
    ONE,
    ZERO,
    Apply,
    Element,
    Expr,
    Number,
    Position,
    Reduce,
    Span,
    at,
    mapped,
    negative,
    product,
    total,
)
from gibbsppl.code.arrays.naming import Names
from gibbsppl.code.arrays.statements import Argument, Draw, Let, Loop, Statement, Store
from gibbsppl.code.arrays.sweeps import Sweep, mentions, names_in, spans_in

# The kernel that draws one element, and the one that draws a block; how many elements this has.
OF_ONE, OF_BLOCK, SIZE = "labels", "labels_of_block", Number(128, stays=True)


def in_blocks(sweep: Sweep) -> Sweep:
    """The sweep with independent labels drawn block by block."""
    work = _Blocks(sweep, Names({*sweep.arrays, *names_in(sweep.every), *spans_in(sweep.every)}))
    statements = tuple(work.block(s) or s for s in sweep.statements)
    return replace(sweep, statements=statements, lanes=sweep.lanes | frozenset(work.lanes))


@dataclass(slots=True)
class _Blocks:
    """The work on a sweep: names, and the dims of the elements of blocks."""

    sweep: Sweep
    names: Names
    lanes: list[str] = field(default_factory=list)

    def block(self, s: Statement) -> Loop | None:
        """The loop over blocks of a draw; None for other statements."""
        names = self.names
        if not isinstance(s, Draw) or s.kernel != OF_ONE or len(s.over) != 1 or s.own:
            return None
        (weights,), (target,), (span,) = s.arguments, s.targets, s.over
        if mentions(weights.value, [target.array]) or span.start != ZERO:
            return None
        block, lane = names.fresh(f"{span.dim} block"), names.fresh(f"{span.dim} in block")
        drawn = names.fresh(f"{target.array}_in_block")
        first = product([Position(block), SIZE])
        here: dict[str, Expr] = {span.dim: total([first, Position(lane)])}
        count = Apply("smaller", (SIZE, total([span.stop, negative(first)])))
        lanes = Span(lane, ZERO, count)
        room = Span(lane, ZERO, SIZE)
        blocks = Span(block, ZERO, Apply("//", (total([span.stop, SIZE, negative(ONE)]), SIZE)))
        own = (*weights.own, lanes)
        out = Element(drawn, (Position(lane),))
        self.lanes.append(lane)
        value, copies = self.beside(at(weights.value, here), here[span.dim], lanes)
        arguments = (Argument(value, own), Argument(count))
        made = at(target, here)
        assert isinstance(made, Element)
        return Loop(
            (blocks,),
            (
                *copies,
                Let(drawn, (room,), ZERO, type="int", is_empty=True),
                Draw((out,), OF_BLOCK, arguments, own=(room,), note=s.note),
                Store(made, out, (lanes,)),
            ),
            s.note,
        )

    def beside(self, value: Expr, place: Expr, lanes: Span) -> tuple[Expr, list[Let]]:
        """A value, and copies of what sums in it read of vectors: elements of a block come last."""
        copies: dict[str, Let] = {}

        def of_block(e: Expr) -> Expr | None:
            array = self.sweep.arrays.get(e.array) if isinstance(e, Element) else None
            if not isinstance(e, Element) or array is None or array.type != "float":
                return None
            first, rest, dims = e.indices[:1], e.indices[1:], array.dims[1:]
            if first != (place,) or not rest or not all(isinstance(i, Position) for i in rest):
                return None
            if e.array not in copies:
                own, here = tuple(map(Span.whole, dims)), tuple(map(Position, dims))
                name = self.names.fresh(f"{e.array}_in_block")
                copies[e.array] = Let(name, (*own, lanes), Element(e.array, (place, *here)))
            return Element(copies[e.array].name, (*rest, Position(lanes.dim)))

        def in_sums(e: Expr) -> Expr | None:
            return mapped(e, of_block) if isinstance(e, Reduce) else None

        return mapped(value, in_sums), list(copies.values())

