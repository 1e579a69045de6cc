"""Precision matrices of many blocks, looked at in loops: no array of all of them is made.

Comes in: an engine of compiled sweeps. What loops see is enough, but not needed, for a positive
definite matrix with room for rounding: where they do not see it, all matrices are looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from gibbsppl.code.program import Constants
from gibbsppl.errors import NotLoweredError
from gibbsppl.initial.drawn_from import Derived, OfFamily
from gibbsppl.model.evaluation import Values
from gibbsppl.run.engines import Compiled

if TYPE_CHECKING:
    from gibbsppl.code.numbers_program import NumbersProgram

# Matrices of fewer numbers together are looked at as arrays, unless each of many data adds to one:
# so many numbers of these are added in about a second.
LARGE, MANY = 1 << 25, 1 << 30


@dataclass(frozen=True, slots=True, eq=False)
class Rooms:
    """The loops that look at the blocks of steps, made when they are first asked for."""

    engine: Compiled
    constants: Constants
    made: dict[str, NumbersProgram | None] = field(default_factory=dict)

    def in_all(self, derived: Derived, step: OfFamily, values: Values) -> bool:
        """Whether all blocks of a step are seen to have room."""
        if step.name not in self.made:
            self.made[step.name] = self._program(derived, step)
        program = self.made[step.name]
        return program is not None and program.numbers(values) == [0.0]

    def _program(self, derived: Derived, step: OfFamily) -> NumbersProgram | None:
        """The loops of a step; None where these are not worth it, or cannot be made."""
        sizes = [derived.looked_at.sizes[a] for a in step.axes]
        entries = prod(sizes[a] for a in step.dense)
        added = max(map(np.size, derived.known.values()), default=0) * entries**2
        if step.stand_ins or (prod(sizes) * entries < LARGE and added < MANY):
            return None
        from gibbsppl.code.loop_program import LoopProgram, for_loops  # noqa: PLC0415  (seldom)
        from gibbsppl.code.lowering.rooms import tight_blocks_program  # noqa: PLC0415
        from gibbsppl.code.numbers_program import NumbersProgram  # noqa: PLC0415
        from gibbsppl.schedule.kinds import FamilyDraw  # noqa: PLC0415

        schedule, loops = derived.schedule, self.engine.loops
        drawn = schedule.step(step.name)
        assert isinstance(drawn, FamilyDraw)
        known = {d.name: n for d, n in schedule.whole.sizes.items()}
        try:
            sweep = tight_blocks_program(schedule, drawn, derived.known, self.constants)
            sweep = for_loops(sweep, known, derived.known)
            made = LoopProgram.of(sweep, derived.known, schedule.whole.sizes)
            return NumbersProgram(made.beside(loops))
        except NotLoweredError:
            return None
