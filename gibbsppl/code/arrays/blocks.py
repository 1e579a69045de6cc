"""Draws of labels by blocks of elements: what each block needs stays in the cache of a processor.

The weights of a block are a table by label and element, so that exponentials are computed for many
elements at once; the random numbers are those of one element after the other.
"""

from __future__ import annotations

from dataclasses import replace

from gibbsppl.code.arrays.expressions import (
    ONE,
    ZERO,
    Apply,
    Element,
    Expr,
    Number,
    Position,
    Span,
    at,
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
    names = Names({*sweep.arrays, *names_in(sweep.every), *spans_in(sweep.every)})
    return replace(sweep, statements=tuple(_block(s, names) or s for s in sweep.statements))


def _block(s: Statement, names: Names) -> Loop | None:
    """The loop over blocks of a draw; None for other statements."""
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
    arguments = (Argument(at(weights.value, here), own), Argument(count))
    made = at(target, here)
    assert isinstance(made, Element)
    return Loop(
        (blocks,),
        (
            Let(drawn, (room,), ZERO, type="int", is_empty=True),
            Draw((out,), OF_BLOCK, arguments, own=(room,), note=s.note),
            Store(made, out, (lanes,)),
        ),
        s.note,
    )
