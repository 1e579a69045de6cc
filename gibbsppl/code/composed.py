"""Steps by a kernel that is made of others, as source text and as statements.

In order, they are the lines of each; a mixture is a choice by a number that is drawn, as in
``match runtime.chosen_part(rng, (0.9, 0.1))``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gibbsppl.code.arrays.expressions import ZERO, Element, Position
from gibbsppl.code.arrays.statements import Argument, Choice, Draw, Let, Statement
from gibbsppl.code.lines import indented
from gibbsppl.code.lowering.workshop import Workshop
from gibbsppl.code.module import Module
from gibbsppl.schedule.composed import Turn
from gibbsppl.schedule.steps import Step


def lines_of_turn(
    module: Module, turn: Turn, drawn: Callable[[Module, Step], list[str]]
) -> list[str]:
    """The lines of one turn of a sweep; ``drawn`` has those of a step."""
    if isinstance(turn, str):
        return drawn(module, module.schedule.step(turn))
    parts = [lines_of_turn(module, p, drawn) for p in turn.parts]
    if not turn.weights:
        return [line for part in parts for line in part]
    lines = [f"match runtime.chosen_part(rng, {turn.shares!r}):"]
    for n, part in enumerate(parts):
        label = "_" if n == len(parts) - 1 else str(n)
        lines += indented([f"case {label}:", *indented(part)])
    return lines


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
