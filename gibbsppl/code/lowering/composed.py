"""Steps by a kernel that is made of others, as statements: a choice of one, or all in order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gibbsppl.code.arrays.expressions import ZERO, Element, Position
from gibbsppl.code.arrays.statements import Argument, Choice, Draw, Let, Statement
from gibbsppl.code.lowering.workshop import Workshop
from gibbsppl.schedule.composed import Turn
from gibbsppl.schedule.steps import Step


def lower_turn(w: Workshop, turn: Turn, lower: Callable[[Workshop, Step], None]) -> None:
    """The statements of one turn of a sweep; ``lower`` adds those of a step."""
    if isinstance(turn, str):
        lower(w, w.schedule.step(turn))
        return
    if not turn.weights:
        for part in turn.parts:
            lower_turn(w, part, lower)
        return
    bodies: list[tuple[Statement, ...]] = []
    for part in turn.parts:
        with w.apart() as found:
            lower_turn(w, part, lower)
        bodies.append(tuple(found))
    ends = np.cumsum(turn.shares)
    parts = w.own_dim("part", len(ends))
    table = Element(w.given("ends", (parts.dim,), ends / ends[-1]), (Position(parts.dim),))
    chosen = w.fresh("chosen")
    w.add(Let(chosen, (), ZERO, type="int", is_empty=True))
    w.add(Draw((Element(chosen),), "chosen_part", (Argument(table, (parts,), as_is=True),)))
    w.add(Choice(Element(chosen), tuple(bodies)))
