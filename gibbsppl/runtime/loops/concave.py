"""Exact draws from one log-concave density, which the caller evaluates where it is asked to.

Adaptive rejection after Gilks (1992, Bayesian Statistics 4, 641-649), as in
`gibbsppl.runtime.concave`. No function is passed to a kernel: compiled once, it serves all models::

    work = concave_work()
    concave_start(work, x, lower, upper, width)
    while concave_next(rng, work):
        work[1] = ...  # the log density at work[0]
    x = work[0]
    width = width_learnt(width, draws, concave_distance(work))  # (in warm-up)

What is not a number, or as good as -inf, counts as -inf.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import copysign, inf, isnan, ldexp

import numpy as np

from gibbsppl.errors import RunError
from gibbsppl.runtime.chords import FARTHEST, IMPROPER, KNOWN, LOWEST, NONE_ACCEPTED, ROUNDS
from gibbsppl.runtime.types import Floats, Generator

from . import kernel
from .concave_four import (
    CANDIDATES,
    IS_ASKED,
    NO_HULL,
    below_four,
    keep_highest,
    next_of_four,
    put_in,
)
from .concave_hull import drawn_from, make_hull
from .concave_points import (
    ASKED,
    CANDIDATE,
    CHORDS,
    DISTANCE,
    DONE,
    FOUND,
    HEIGHT,
    IN_UNITS,
    LEVEL,
    LOWER,
    MASS,
    NUMBER,
    SCALE,
    SIDE,
    SIZE,
    STAGE,
    START,
    STEP,
    UPPER,
    F,
    at,
    chord_at,
    spacing,
    take_in,
    unit_of,
)
from .concave_search import apart, farther, few, one_of, refined

APART: Mapping[str, str] = {
    "concave_next": "many elements of an array are drawn together, in rounds",
}

# With fewer points than these, the search goes on without a look at the hull.
BLIND = 4

# Stages: nothing is asked yet; a first point is searched for; a candidate waits for its density.
# Before that, where a scale is known: one of the first four points, and a candidate below these.
STARTED, SEARCHING, TRYING, FOUR, BELOW = 0.0, 1.0, 2.0, 3.0, 4.0

NO_START = "no finite log density at the start."
INFINITE = "the log density is infinite."


@kernel
def concave_work() -> Floats:
    """The array that a draw works in; it may be used for any number of draws, one by one."""
    return np.empty(SIZE)


@kernel
def concave_start(work: Floats, x: float, lower: float, upper: float, width: float) -> None:
    """Begin a draw between the bounds, independent of the start ``x`` and of the width.

    It takes fewest rounds if the start is a draw from a density like this one, and the width three
    times the mean distance of such draws, as it is learnt; a width of 0 is one that is not known.
    """
    work[START] = x
    work[LOWER] = lower
    work[UPPER] = upper
    work[SCALE] = width / 3
    work[STAGE] = STARTED
    work[NUMBER] = 0.0
    work[DONE] = 0.0


@kernel
def concave_next(rng: Generator, work: Floats) -> bool:
    """Whether a log density is asked for, at ``work[0]``; if not, the draw is there."""
    if _is_asked(rng, work):
        return True
    work[DISTANCE] = abs(at(work, ASKED) - at(work, START))
    return False


@kernel
def _is_asked(rng: Generator, work: Floats) -> bool:
    """The same, after the log density that was asked for."""
    stage = work[STAGE]
    if stage == STARTED:
        return _first_asked(work)
    x, found = at(work, ASKED), _found(work)
    if stage == SEARCHING:
        if found == -inf:
            return _further_asked(work)
        put_in(work, x, found)
        work[STAGE] = FOUR if work[SCALE] > 0 else TRYING
    elif stage == FOUR:
        if found > -inf:
            put_in(work, x, found)
        else:
            take_in(work, x, found)
            work[STAGE] = TRYING
    else:
        level, height = at(work, LEVEL), at(work, HEIGHT)
        if stage == BELOW:
            work[CANDIDATE] += 1
        # (above the hull: to see that it is not concave)
        if (found < level and (stage == TRYING or work[CANDIDATE] == CANDIDATES)) or found > height:
            take_in(work, x, found)
        if found >= level:
            return False
        work[DONE] += 1
    return _next_asked(rng, work)


@kernel
def _next_asked(rng: Generator, work: Floats) -> bool:
    """Whether the log density at the next place is asked for; if not, that is the draw."""
    if work[STAGE] == FOUR and work[NUMBER] < 4:
        place = next_of_four(work)
        if not isnan(place):
            work[ASKED] = place
            return True
        if work[NUMBER] == 3:
            keep_highest(work)
        work[STAGE] = TRYING
    if work[STAGE] == FOUR:
        work[STAGE] = BELOW
        work[CANDIDATE] = 0.0
    if work[STAGE] == BELOW and work[CANDIDATE] < CANDIDATES:
        next_one = below_four(rng, work)
        if next_one != NO_HULL:
            return next_one == IS_ASKED
    work[STAGE] = TRYING
    return _candidate_asked(rng, work)


@kernel
def concave_distance(work: Floats) -> float:
    """How far the draw is from the start, for what is learnt about widths."""
    return at(work, DISTANCE)


@kernel
def _found(work: Floats) -> float:
    """The log density that was asked for."""
    found = at(work, FOUND)
    if found == inf:
        raise RunError(INFINITE)
    return found if found > LOWEST else -inf


@kernel
def _first_asked(work: Floats) -> bool:
    """True: the log density at the start is asked for."""
    start = at(work, START)
    if not at(work, LOWER) <= start <= at(work, UPPER):
        raise RunError(NO_START)
    work[ASKED] = start
    work[STEP] = spacing(start)
    work[SIDE] = LOWER
    work[STAGE] = SEARCHING
    return True


@kernel
def _further_asked(work: Floats) -> bool:
    """True: the log density further out is asked for, each time twice as far on both sides."""
    start, step, end = at(work, START), at(work, STEP), at(work, int(work[SIDE]))
    if work[SIDE] == LOWER:
        if not step < FARTHEST:
            raise RunError(NO_START)
        work[SIDE] = UPPER
    else:
        work[SIDE] = LOWER
        work[STEP] = 2 * step
    room = abs(end - start)
    # (beyond the half of a finite room, what is left of it is halved)
    away = step if step < room / 2 else room - room * (room / (4 * step))
    work[ASKED] = start + copysign(away, end - start)
    return True


@kernel
def _candidate_asked(rng: Generator, work: Floats) -> bool:
    """Whether the log density of the next candidate is asked for; if not, it is the draw."""
    if work[DONE] >= ROUNDS:
        raise RunError(NONE_ACCEPTED)
    x, height, unit = _candidate(rng, work)
    level = height - unit * rng.standard_exponential()
    work[ASKED] = x
    work[HEIGHT] = height
    work[LEVEL] = level
    return not level <= chord_at(work, x)


@kernel
def _candidate(rng: Generator, work: Floats) -> tuple[float, float, float]:
    """The next point, the height of the hull there, and the unit of heights.

    The height is infinite if the point is not a draw from the hull.
    """
    done, f = int(work[DONE]), F
    unit = unit_of(work, done)
    if unit > 1:
        f = IN_UNITS
        for i in range(int(work[NUMBER])):
            work[IN_UNITS + i] = at(work, F + i) / unit
    x, height = _candidate_in_units(rng, work, f, done)
    return x, height * unit, unit


@kernel
def _candidate_in_units(
    rng: Generator, work: Floats, f: int, done: int
) -> tuple[float, float]:
    """The next point, and the height of the hull there, in the units of heights at ``f``."""
    growth, n = min(ldexp(1.0, 2 * min(done, 200) + 2), 1e100), int(work[NUMBER])
    if n < 3:
        x = few(work)
        return (one_of(rng, work, f), -inf) if isnan(x) else (x, inf)
    x = farther(work, f, growth)
    if isnan(x) and n < BLIND:
        x = apart(work, f, growth)
    if isnan(x):
        make_hull(work, f)
        if at(work, CHORDS) <= KNOWN * at(work, MASS):
            x = refined(work, f, done, growth)
        if isnan(x):
            return drawn_from(rng, work)
    if abs(x) > FARTHEST:
        raise RunError(IMPROPER)
    return x, inf
