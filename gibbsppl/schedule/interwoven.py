"""Which of the locations and scales that could be drawn once more a sweep draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gibbsppl.matching import NotConjugate
from gibbsppl.rewrites import Rewritten
from gibbsppl.rewrites.recentring import Interwoven, Recentred
from gibbsppl.schedule.steps import Step


def wanted(
    model: Rewritten, stage: int, steps: Sequence[Step], *, exact: bool
) -> tuple[Interwoven, ...]:
    """What is interwoven at the end of a stage, after the steps made so far.

    A location that is drawn jointly with its group is none, as it is free of the group already;
    with ``exact`` moves are none.
    """
    here = (i for i in model.interwoven if i.stage == stage)
    kept = (i for i in here if not (exact and isinstance(i.derived, NotConjugate)))
    return tuple(i for i in kept if i.what == "scale" or not _are_joint(i, steps))


def _are_joint(interwoven: Interwoven, steps: Sequence[Step]) -> bool:
    both = {interwoven.variable, interwoven.group}
    return any(both <= set(s.variables) for s in steps)


def recentred_by_step(
    model: Rewritten, steps: Sequence[Step]
) -> Mapping[str, tuple[Recentred, ...]]:
    """The arrays that stand for others in the graph of a step, by its name."""
    names = {s.name for s in steps}
    found = {i.derived.statement.name: i.recentred for i in model.interwoven}
    return {name: changes for name, changes in found.items() if name in names}
