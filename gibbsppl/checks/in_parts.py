"""Draws that are made part by part, against the draw of all elements.

Comes in: a step, the function of its conditional, and the parts. Goes out: whether a part would be
drawn from other natural parameters, log weights or log densities than all elements together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gibbsppl.checks.results import RELATIVE_TOLERANCE
from gibbsppl.model.evaluation import Floats
from gibbsppl.runtime.by_parts import ByParts
from gibbsppl.schedule.steps import Step


def parts_differ(
    step: Step,
    given_rest: Callable[[Any, Any], Any],
    state: dict[str, Any],
    constants: Mapping[str, Any],
    by: ByParts,
) -> bool:
    """Whether the conditional of some part is not that of all elements, but for rounding."""
    whole = _by_element(step, given_rest(state, constants), state[by.drawn])
    each = [
        _by_element(step, given_rest(own, read), own[by.drawn])
        for own, read in by.parts(state, constants)
    ]
    parts = [np.concatenate(found) for found in zip(*each, strict=True)]
    return not all(_are_alike(a, b) for a, b in zip(whole, parts, strict=True))


def _are_alike(one: Floats, other: Floats) -> bool:
    """Whether numbers are the same but for rounding (sums of other lengths are added otherwise)."""
    if one.shape != other.shape:
        return False
    finite = np.isfinite(one) & np.isfinite(other)
    size = RELATIVE_TOLERANCE * (1.0 + np.max(np.abs(one[finite]), initial=0.0))
    same = np.array_equal(one[~finite], other[~finite], equal_nan=True)
    return same and bool((np.abs(one[finite] - other[finite]) <= size).all())


def _by_element(step: Step, given: Any, values: Any) -> list[Floats]:
    """What a conditional is given by, the elements along the first axes."""
    shape = np.shape(values)
    if step.labels is not None:
        logs = np.asarray(given)
        return [np.moveaxis(np.broadcast_to(logs, (len(logs), *shape)), 0, -1)]
    every = [given(np.asarray(values))] if callable(given) else given
    return [np.broadcast_to(np.asarray(e, dtype=float), shape) for e in every]
