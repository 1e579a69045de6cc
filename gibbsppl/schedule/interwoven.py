"""Which of the locations and scales that could be drawn once more a sweep draws."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gibbsppl.evaluation import Sizes, Values, evaluate
from gibbsppl.expressions import Expr
from gibbsppl.graph import Range
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


def interwoven_by_name(model: Rewritten, steps: Sequence[Step]) -> dict[str, Interwoven]:
    """What is interwoven, by the name of its step."""
    names = {s.name for s in steps}
    found = {i.derived.statement.name: i for i in model.interwoven}
    return {name: i for name, i in found.items() if name in names}


def taken_apart(changes: Iterable[Recentred], values: Values, sizes: Sizes) -> dict[str, Any]:
    """The values of all arrays, with those of the arrays that stand for others."""
    found = dict(values)
    for r in changes:
        found[r.name] = at_dims(r, r.forward, found, sizes)
    return found


def put_together(changes: Sequence[Recentred], values: Values, sizes: Sizes) -> dict[str, Any]:
    """The values of all arrays, those that others stand for computed from these."""
    found = dict(values)
    for r in reversed(changes):
        found[r.of] = at_dims(r, r.backward, found, sizes)
    return found


def at_dims(change: Recentred, value: Expr, values: Values, sizes: Sizes) -> Any:
    """A function of the elements of an array that stands for another, for all of them."""
    over = tuple(Range(d, 0, sizes[d]) for d in change.dims)
    return np.broadcast_to(evaluate(value, over, values, sizes), tuple(map(len, over))).copy()
