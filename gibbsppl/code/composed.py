"""Steps by a kernel that is made of others, as source text.

In order, they are the lines of each; a mixture is a choice by a number that is drawn, as in
``match runtime.chosen_part(rng, (0.9, 0.1))``.
"""

from __future__ import annotations

from collections.abc import Callable

from gibbsppl.code.lines import indented
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
