"""How many blocks of a step are not seen to have a positive definite precision, as a program.

Comes in: a schedule, a step that draws blocks from a family. Goes out: a `Sweep` without draws.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gibbsppl.code.arrays.sweeps import Sweep
from gibbsppl.code.lowering.blocks import count_tight
from gibbsppl.code.lowering.sweeps import arrays_of
from gibbsppl.code.lowering.workshop import Workshop
from gibbsppl.model.evaluation import Values
from gibbsppl.schedule.kinds import FamilyDraw
from gibbsppl.schedule.sweeps import Schedule


def tight_blocks_program(
    schedule: Schedule, step: FamilyDraw, data: Values, constants: Mapping[str, Any]
) -> Sweep:
    """The program of a step, with one output; ``constants`` are those of the program in NumPy."""
    w = Workshop.of(schedule, data, constants)
    output = w.fresh(f"{step.name}_tight")
    count_tight(w, step, output)
    statements = tuple(w.statements)
    return Sweep(
        schedule.graph.name,
        w.arrays | arrays_of(w, statements),
        (),
        monitors=statements,
        outputs=(output,),
        tables=(*w.tables.values(), *w.groups.tables),
        sizes=w.own_sizes,
    )
