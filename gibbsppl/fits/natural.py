"""Natural parameters as the functions of conditionals return them: arrays, in tuples and dicts.

Comes in: a function of conditionals, or what it has returned. Goes out: sums and averages of these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gibbsppl.code.program import Constants, State
from gibbsppl.runtime.types import Floats


@dataclass(slots=True, eq=False)
class Averaged:
    """A conditional whose natural parameters go a step towards an estimate, sweep by sweep.

    ``now`` is where they are, ``before`` where the last sweep left them.
    """

    estimate: Callable[[State, Constants], Any]
    size: float = 1.0
    now: Any = None
    before: Any = None

    def begin(self, size: float) -> None:
        """Begin a sweep, with a step of another size."""
        self.size, self.before = size, self.now

    def __call__(self, state: State, constants: Constants) -> Any:
        """The natural parameters after the step, from where the sweep began."""
        found = self.estimate(state, constants)
        if self.before is not None:
            found = combined(lambda a, b: a + self.size * (b - a), self.before, found)
        self.now = found
        return found


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

    Of a log density, which is a function, there are none.

    >>> numbers(({"x": 1.0}, 2.0))
    [array(1.), array(2.)]
    """
    if isinstance(given, dict):
        return [x for part in given.values() for x in numbers(part)]
    if isinstance(given, tuple | list):
        return [x for part in given for x in numbers(part)]
    return [] if callable(given) else [np.asarray(given, dtype=float)]


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
