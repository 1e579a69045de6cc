"""Elliptical slice moves, whose log density the caller evaluates where it is asked to.

The move of `gibbsppl.runtime.elliptical`, with the same random numbers. The caller draws from the
normal part::

    work = elliptical_work()
    elliptical_start(work)
    while elliptical_next(rng, work, now, mean, noise, tried):
        work[1] = ...  # the log density at ``tried``, less that of the normal part

``noise`` is a draw of the normal part, less its mean. In the end ``tried`` is what is moved to. One
number is moved by ``ellipse_start(work, now, mean, noise)`` and ``ellipse_next(rng, work)``: what
is tried is ``work[0]``.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import cos, inf, pi, sin

import numpy as np

from gibbsppl.errors import RunError
from gibbsppl.runtime.elliptical import SHORTEST
from gibbsppl.runtime.types import Floats, Generator

from . import kernel
from .copies import copied

APART: Mapping[str, str] = {
    "ellipse_next": "independent elements of an array, each on an ellipse of its own, are moved "
    "together, in rounds",
}

# Numbers: what is tried, if it is one number; the log density that was asked for; the level of the
# slice, the angle, and the ends of the arc that is left; what comes next. Of one number: its
# current value, the mean and the noise.
ASKED, FOUND, LEVEL, ANGLE, LOW, HIGH, STAGE, BEFORE, MEAN, NOISE = range(10)
SIZE = 10

# Stages: nothing is asked yet; then what the log density that is asked for is of, or that nothing
# is left to try.
STARTED, CURRENT, TRIED, STAYS = 0.0, 1.0, 2.0, 3.0

NO_DENSITY = "elliptical slice: the current value has no finite log density."


@kernel
def elliptical_work() -> Floats:
    """The array that a move works in; it may be used for any number of moves, one by one."""
    return np.zeros(SIZE)


@kernel
def elliptical_start(work: Floats) -> None:
    """Begin a move."""
    work[STAGE] = STARTED


@kernel
def elliptical_next(
    rng: Generator, work: Floats, now: Floats, mean: Floats, noise: Floats, tried: Floats
) -> bool:
    """Whether a log density is asked for, at ``tried``; if not, it is the vector moved to."""
    if work[STAGE] == STARTED:
        work[STAGE] = CURRENT
        copied(now, tried)
        return True
    if not _goes_on(rng, work):
        if work[STAGE] == STAYS:
            copied(now, tried)
        return False
    c, s = cos(work[ANGLE]), sin(work[ANGLE])
    for i in range(now.size):
        tried[i] = mean[i] + (now[i] - mean[i]) * c + noise[i] * s
    return True


@kernel
def ellipse_start(work: Floats, now: float, mean: float, noise: float) -> None:
    """Begin a move of one number."""
    work[BEFORE] = now
    work[MEAN] = mean
    work[NOISE] = noise
    work[STAGE] = STARTED


@kernel
def ellipse_next(rng: Generator, work: Floats) -> bool:
    """Whether a log density is asked for, at ``work[0]``; if not, the number moved to is there."""
    now, mean = float(work[BEFORE]), float(work[MEAN])
    if work[STAGE] == STARTED:
        work[STAGE] = CURRENT
        work[ASKED] = now
        return True
    if not _goes_on(rng, work):
        if work[STAGE] == STAYS:
            work[ASKED] = now
        return False
    c, s = cos(work[ANGLE]), sin(work[ANGLE])
    work[ASKED] = mean + (now - mean) * c + work[NOISE] * s
    return True


@kernel
def _goes_on(rng: Generator, work: Floats) -> bool:
    """Whether there is an angle to try, by the log density that was found."""
    found = float(work[FOUND])
    if work[STAGE] == CURRENT:
        _begin(rng, work, found)
        return True
    if found >= work[LEVEL]:
        return False
    if _is_cut(rng, work):
        return True
    work[STAGE] = STAYS
    return False


@kernel
def _begin(rng: Generator, work: Floats, found: float) -> None:
    """The level of the slice, and a first angle."""
    level = found - rng.standard_exponential()
    if not level > -inf:
        raise RunError(NO_DENSITY)
    angle = rng.uniform(0.0, 2 * pi)
    work[LEVEL] = level
    work[ANGLE] = angle
    work[LOW] = angle - 2 * pi
    work[HIGH] = angle
    work[STAGE] = TRIED


@kernel
def _is_cut(rng: Generator, work: Floats) -> bool:
    """Whether an arc is left, cut at the angle tried, with a new angle in it.

    One that is too short holds the current value alone.
    """
    work[LOW if work[ANGLE] < 0 else HIGH] = work[ANGLE]
    low, high = float(work[LOW]), float(work[HIGH])
    if not high - low > SHORTEST:
        return False
    work[ANGLE] = rng.uniform(low, high)
    return True
