"""Exact draws from one log-concave density, which the caller evaluates where it is asked to.

The algorithm of `gibbsppl.runtime.concave_one`, with the same random numbers. No function is passed
to a kernel: compiled once, it serves all models::

    work = concave_work()
    concave_start(work, x, lower, upper)
    while concave_next(rng, work):
        work[1] = ...  # the log density at work[0]
    x = work[0]

What is not a number, or as good as -inf, counts as -inf.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import copysign, inf, isnan

import numpy as np

from gibbsppl.errors import RunError
from gibbsppl.runtime.chords import FARTHEST, IMPROPER, KNOWN, LOWEST, NONE_ACCEPTED, ROUNDS
from gibbsppl.runtime.types import Floats, Generator

from . import kernel
from .concave_hull import drawn_from, make_hull
from .concave_points import (
    ASKED,
    CHORDS,
    DONE,
    FOUND,
    HEIGHT,
    IN_UNITS,
    LEVEL,
    LOWER,
    MASS,
    NUMBER,
    SIDE,
    SIZE,
    STAGE,
    START,
    STEP,
    UPPER,
    F,
    X,
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
STARTED, SEARCHING, TRYING = 0.0, 1.0, 2.0

NO_START = "no finite log density at the start."
INFINITE = "the log density is infinite."


@kernel
def concave_work() -> Floats:
    """The array that a draw works in; it may be used for any number of draws, one by one."""
    return np.empty(SIZE)


@kernel
def concave_start(work: Floats, x: float, lower: float, upper: float) -> None:
    """Begin a draw between the bounds, independent of the start ``x``."""
    work[START] = x
    work[LOWER] = lower
    work[UPPER] = upper
    work[STAGE] = STARTED
    work[NUMBER] = 0.0
    work[DONE] = 0.0


@kernel
def concave_next(rng: Generator, work: Floats) -> bool:
    """Whether a log density is asked for, at ``work[0]``; if not, the draw is there."""
    stage = work[STAGE]
    if stage == STARTED:
        return _first_asked(work)
    x, found = at(work, ASKED), _found(work)
    if stage == SEARCHING:
        if found == -inf:
            return _further_asked(work)
        work[X] = x
        work[F] = found
        work[NUMBER] = 1.0
        work[STAGE] = TRYING
    else:
        level, height = at(work, LEVEL), at(work, HEIGHT)
        # (above the hull: to see that it is not concave)
        if found < level or found > height:
            take_in(work, x, found)
        if found >= level:
            return False
        work[DONE] += 1
    return _candidate_asked(rng, work)


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
    growth, n = min(4.0 ** (done + 1), 1e100), int(work[NUMBER])
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
