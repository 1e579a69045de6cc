"""The choice of variables that are put to their joint mode by Newton steps.

Comes in: the steps of a schedule that are read by modes, and the terms of the objective. Goes out:
an `Ascent` for each block (`concave_blocks`) with a variable whose mode would be searched for
element by element.
"""

from __future__ import annotations

from collections.abc import Iterable

from gibbsppl.kernels.ascent import Ascent
from gibbsppl.planning.concave_blocks import Member, Objective, concave_blocks, is_searched_for
from gibbsppl.schedule.steps import Step


def ascents(objective: Objective[Ascent], steps: Iterable[Step]) -> tuple[Ascent, ...]:
    """The blocks of steps that are read by modes; steps that are in none are not mentioned."""
    found = ((s.statements, s.conditional) for s in steps)
    members = [Member(own, how, is_searched_for(how)) for own, how in found]
    return concave_blocks(objective, members)
