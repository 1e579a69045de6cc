"""Slice moves of one number, whose log density the caller evaluates where it is asked to.

The moves of `gibbsppl.runtime.moves`, with the random numbers of its moves of one number. No
function is passed to a kernel: compiled once, it serves all models::

    work = slice_work()
    slice_start(work, x, lower, upper, width)
    while slice_next(rng, work):
        work[1] = ...  # the log density at work[0]
    x = work[0]
    width = width_learnt(width, moves, slice_distance(work))  # (in warm-up)

Whole numbers begin with ``slice_whole_start(rng, work, ...)`` instead. What is infinite or not a
number is outside of the slice.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, log

import numpy as np

from gibbsppl.errors import RunError
from gibbsppl.runtime.moves import NO_INTEGER, STEPS_OUT, WIDEST
from gibbsppl.runtime.types import Floats, Generator

from . import kernel
from .elementary import exp_of

APART: Mapping[str, str] = {
    "slice_next": "many elements of an array are moved together: each stage of all, then the next",
}

# Numbers: the place of the log density asked for, or the value moved to; the log density there.
ASKED, FOUND = 0, 1
# On the scale of the move: the value, its bounds, the width, the ends of the interval, the place
# asked for; the level of the slice, what steps out are left, and how far the move went.
NOW, LOWER, UPPER, WIDTH, LEFT, RIGHT, TRIED = 2, 3, 4, 5, 6, 7, 8
LEVEL, STEPS_LEFT, STEPS_RIGHT, DISTANCE = 9, 10, 11, 12
# Whether logs are moved, whether whole numbers; the value before; what comes next.
LOGS, WHOLE, BEFORE, STAGE = 13, 14, 15, 16
SIZE = 17

# Stages: nothing is asked yet; then what the log density that is asked for is of.
STARTED, CURRENT, LEFT_END, RIGHT_END, CANDIDATE, MOVED = 0.0, 1.0, 2.0, 3.0, 4.0, 5.0

SMALLEST_WIDTH = float(np.finfo(float).tiny)

NO_DENSITY = "slice: the current value has no finite log density."


@kernel
def slice_work() -> Floats:
    """The array that a move works in; it may be used for any number of moves, one by one."""
    return np.zeros(SIZE)


@kernel
def slice_start(work: Floats, x: float, lower: float, upper: float, width: float) -> None:
    """Begin a move of a real number between the bounds: of its log, if these are 0 and inf."""
    x = float(x)
    logs = lower == 0 and upper == inf and x > 0
    work[LOGS] = logs
    work[WHOLE] = False
    work[BEFORE] = x
    work[NOW] = log(x) if logs else x
    work[LOWER] = -inf if logs else lower
    work[UPPER] = upper
    work[WIDTH] = width
    work[STAGE] = STARTED


@kernel
def slice_whole_start(
    rng: Generator, work: Floats, x: float, lower: float, upper: float, width: float
) -> None:
    """Begin a move of a whole number, as the floor of a real one."""
    real = x + rng.random()
    real = real if np.floor(real) == x else float(x)  # (rounded up, it would be of the next one)
    slice_start(work, real, lower, upper + 1.0, width)
    work[WHOLE] = True


@kernel
def slice_next(rng: Generator, work: Floats) -> bool:
    """Whether a log density is asked for, at ``work[0]``; if not, the value moved to is there."""
    found = 0.0
    if work[STAGE] == STARTED:
        work[TRIED] = work[NOW]
        work[STAGE] = CURRENT
    else:
        found = _found(work)
        _go_on(rng, work, found)
    while work[STAGE] != MOVED:
        if _is_asked(work):
            return True
        _go_on(rng, work, -inf)
    return False


@kernel
def slice_distance(work: Floats) -> float:
    """How far the last move went, for what is learnt about widths."""
    return float(work[DISTANCE])


@kernel
def width_learnt(value: float, moves: int, distance: float) -> float:
    """The typical width after so many moves, the last of which went so far.

    It is three times the mean distance.
    """
    mean = value / 3 + (distance - value / 3) / min(moves, 100)
    return max(3 * mean, SMALLEST_WIDTH)


@kernel
def _number(work: Floats, i: int) -> float:
    """The number at a place, one of Python's own: NumPy's warn where they overflow."""
    return float(work[i])


@kernel
def _found(work: Floats) -> float:
    """The log density that was asked for, on the scale of the move."""
    found = _number(work, FOUND)
    if work[LOGS]:
        found += _number(work, TRIED)
    return found if found < inf else -inf


@kernel
def _is_asked(work: Floats) -> bool:
    """Whether the log density is to be asked for at the place tried, not outside of all values."""
    x = _value(work, _number(work, TRIED))
    if work[LOGS] and not 0 < x < inf:
        return False
    if work[WHOLE]:
        # (rounded up to there, it would be a whole number beyond the bound)
        if x >= work[UPPER] or abs(x) >= NO_INTEGER:
            return False
        x = float(np.floor(x))
    work[ASKED] = x
    return True


@kernel
def _value(work: Floats, tried: float) -> float:
    """The real value of a number on the scale of the move."""
    return exp_of(tried) if work[LOGS] else tried


@kernel
def _go_on(rng: Generator, work: Floats, found: float) -> None:
    """Take in the log density at the place tried, and find the next place, or the end."""
    stage = work[STAGE]
    inside = found >= _number(work, LEVEL)
    if stage == CURRENT:
        _begin(rng, work, found)
        _step_left(work)
    elif stage == LEFT_END:
        if inside:
            work[LEFT] = _number(work, LEFT) - _number(work, WIDTH)
            work[STEPS_LEFT] -= 1
        else:
            work[STEPS_LEFT] = 0
        _step_left(work)
    elif stage == RIGHT_END:
        if inside:
            work[RIGHT] = _number(work, RIGHT) + _number(work, WIDTH)
            work[STEPS_RIGHT] -= 1
        else:
            work[STEPS_RIGHT] = 0
        _step_right(work)
    elif inside:
        _end(work, _number(work, TRIED))
        return
    else:
        side = LEFT if work[TRIED] < work[NOW] else RIGHT
        work[side] = work[TRIED]
    if work[STAGE] == CANDIDATE:
        _shrink(rng, work)


@kernel
def _begin(rng: Generator, work: Floats, found: float) -> None:
    """The level of the slice, and an interval of random width and place around the value."""
    level = found - rng.standard_exponential()
    width = _number(work, WIDTH) / rng.uniform(1 / WIDEST, 1.0)
    if not level > -inf:
        raise RunError(NO_DENSITY)
    left = _number(work, NOW) - width * rng.random()
    steps = int(STEPS_OUT * rng.random())
    work[LEVEL] = level
    work[WIDTH] = width
    work[LEFT] = left
    work[RIGHT] = left + width
    work[STEPS_LEFT] = steps
    work[STEPS_RIGHT] = STEPS_OUT - 1 - steps


@kernel
def _step_left(work: Floats) -> None:
    """Try the left end of the interval, if it may go further; else the right one."""
    if work[STEPS_LEFT] > 0 and work[LEFT] > work[LOWER]:
        work[TRIED] = work[LEFT]
        work[STAGE] = LEFT_END
    else:
        _step_right(work)


@kernel
def _step_right(work: Floats) -> None:
    """Try the right end of the interval, if it may go further; else the interval is known."""
    if work[STEPS_RIGHT] > 0 and work[RIGHT] < work[UPPER]:
        work[TRIED] = work[RIGHT]
        work[STAGE] = RIGHT_END
    else:
        work[LEFT] = max(_number(work, LEFT), _number(work, LOWER))
        work[RIGHT] = min(_number(work, RIGHT), _number(work, UPPER))
        work[STAGE] = CANDIDATE


@kernel
def _shrink(rng: Generator, work: Floats) -> None:
    """Try a place in the interval; one that has shrunk to nothing holds the value alone."""
    now, left, right = _number(work, NOW), _number(work, LEFT), _number(work, RIGHT)
    if right - left > 4 * float(np.spacing(abs(now))):
        work[TRIED] = left + (right - left) * rng.random()
    else:
        _end(work, now)


@kernel
def _end(work: Floats, new: float) -> None:
    """The move ends at a number on its scale."""
    now = _number(work, NOW)
    x = _number(work, BEFORE) if new == now else _value(work, new)
    work[DISTANCE] = abs(new - now)
    work[ASKED] = float(np.floor(x)) if work[WHOLE] else x
    work[STAGE] = MOVED
