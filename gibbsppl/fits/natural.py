"""Natural parameters as the functions of conditionals return them: arrays, in tuples and dicts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gibbsppl.runtime.types import Floats


def combined(function: Callable[..., Any], first: Any, *others: Any) -> Any:
    """A function of the arrays that calls of one conditional's function have returned.

    >>> combined(lambda a, b: a + b, ({"x": 1.0}, 2.0), ({"x": 3.0}, 4.0))
    ({'x': 4.0}, 6.0)
    """
    if isinstance(first, dict):
        return {n: combined(function, x, *(o[n] for o in others)) for n, x in first.items()}
    if isinstance(first, tuple | list):
        each = (combined(function, *x) for x in zip(first, *others, strict=True))
        return type(first)(each)
    return function(first, *others)


def numbers(given: Any) -> list[Floats]:
    """All arrays of what a conditional's function returns, in order; of labels the log weights.

    >>> numbers(({"x": 1.0}, 2.0))
    [array(1.), array(2.)]
    """
    if isinstance(given, dict):
        return [x for part in given.values() for x in numbers(part)]
    if isinstance(given, tuple | list):
        return [x for part in given for x in numbers(part)]
    return [np.asarray(given, dtype=float)]


def gap(ours: Sequence[Floats], theirs: Sequence[Floats]) -> float:
    """The largest difference, in units of an array's largest number; infinite for other shapes.

    >>> gap([np.array([1.0, 4.0])], [np.array([2.0, 4.0])])
    0.25
    """
    if len(ours) != len(theirs):
        return np.inf
    return max(map(_gap, ours, theirs), default=0.0)


def _gap(ours: Any, theirs: Any) -> float:
    try:
        ours, theirs = np.broadcast_arrays(ours, theirs)
    except ValueError:
        return np.inf
    if not np.array_equal(np.isfinite(ours), np.isfinite(theirs)):
        return np.inf
    finite = np.isfinite(theirs)
    size = max(1.0, float(np.abs(theirs).max(initial=0.0, where=finite)))
    return float(np.abs(ours - theirs).max(initial=0.0, where=finite)) / size
