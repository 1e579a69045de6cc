"""The parts of steps by proposals about the mode that are the same however the precision is stored.

`modal` calls them; what its kernels work in is described here.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, inf, isfinite, isnan, log1p, sqrt

import numpy as np

from gibbsppl.runtime.ascents import EPS, GROWTH
from gibbsppl.runtime.ascents import SHARE as OF_RISE
from gibbsppl.runtime.modal import (
    CLOSE,
    FOUND_ANEW,
    FREEDOM,
    FREEDOM_BY_ELEMENT,
    HEIGHT,
    HELD,
    HELD_ON,
    LEAST_ACCEPTED,
    LEFT,
    MOST_POINTS,
    REMEMBERED,
    UNKNOWN,
)
from gibbsppl.runtime.types import Floats, Generator, Ints
from gibbsppl.runtime.walks import VECTOR

from . import kernel
from .copies import copied
from .joint import placed

APART: Mapping[str, str] = {}

# Numbers: the log density that was asked for; that where the last Newton step begins, what the step
# promises to add, and how much of it is made; points so far; the log density at the current vector;
# the square of what a proposal is stretched by, what it adds to the ratio; whether the step was
# taken, with which probability, whether it was that of a random walk; the share of accepted
# proposals; what comes next; whether a batch has just been made.
FOUND, RISING, RISE, PART, POINTS, NOW, STRETCH, PROPOSAL = range(1, 9)
TAKEN, PROBABILITY, WALKS, SHARE, STAGE, MADE = range(9, 15)
SIZE = 15

# Stages: nothing is asked yet; then what the log density that is asked for is of.
STARTED, SEARCHED, LAST_PART, CURRENT, PROPOSED, BATCHED = 0.0, 1.0, 2.0, 3.0, 4.0, 5.0
# What is to be done: ask for the log density at what is tried; make a Newton step; propose; ask for
# those of a batch, if it is new; take the next one of it, or not; end.
ASK, STEP, PROPOSE, KNOWN, TAKE, DONE = 0, 1, 2, 3, 4, 5
# What may be wanted instead of a log density at what is tried: the same to second order, those of
# a batch.
TO_SECOND_ORDER, OF_BATCH = 0, 1
# A Newton step that promises less is no step: its start is the mode, to rounding.
AT_MODE = 1e-16
# The least weight on the diagonal that is not lost.
LEAST_WEIGHT = 1e-290


@kernel
def task_of(  # noqa: PLR0913, PLR0917
    rng: Generator,
    work: Floats,
    now: Floats,
    base: Floats,
    step: Floats,
    linear: Floats,
    known: tuple[Floats, Floats, Floats],
    fixed: int,
    batches: bool,
    begins: bool,
    wanted: Ints,
    tried: Floats,
) -> int:
    """The next task, given what was asked for.

    ``known`` are the centre, the last vector, and what is placed. ``batches``: proposals come from
    these; ``begins``: what is proposed is taken.
    """
    centre, last, state = known
    wanted[OF_BATCH] = 0
    if isnan(work[FOUND]):
        work[FOUND] = -inf
    if work[STAGE] == BATCHED:
        return TAKE
    if work[STAGE] == SEARCHED:
        return _judged(work, base, step, linear, tried)
    if work[STAGE] == LAST_PART:
        return PROPOSE
    if work[STAGE] == CURRENT:
        work[NOW] = work[FOUND]
        if batches:
            state[HEIGHT] = work[FOUND]
            return KNOWN
        copied(base, tried)
        work[STAGE] = PROPOSED
        return ASK
    if work[STAGE] == PROPOSED:
        ratio = work[FOUND] - work[NOW] + work[PROPOSAL]
        # (at a pole it would stay)
        ratio = ratio if ratio < inf else -inf
        is_first = begins and isfinite(work[FOUND]) and work[WALKS] == 0.0
        work[TAKEN] = (-rng.standard_exponential() < ratio) or is_first
        work[PROBABILITY] = 1.0 if is_first else exp(min(ratio, 0.0))
        return DONE
    work[POINTS] = work[TAKEN] = work[PROBABILITY] = work[WALKS] = work[MADE] = 0.0
    if batches and state[LEFT] > 0.0 and are_equal(now, last):
        return TAKE
    if state[HELD] == UNKNOWN:
        copied(now, centre)
        state[HELD] = FOUND_ANEW
    if state[HELD] == HELD_ON and fixed:
        copied(centre, base)
        step[:] = work[RISE] = 0.0
        return PROPOSE
    copied(centre, tried)
    wanted[TO_SECOND_ORDER] = 1
    work[STAGE] = SEARCHED
    return ASK


@kernel
def is_beginning(adapting: int, moves: int, along: int) -> bool:
    """Whether a step is the first one of a warm-up, of all elements (`gibbsppl.runtime.modal`)."""
    return adapting != 0 and moves == 1 and along == 0


@kernel
def _judged(work: Floats, base: Floats, step: Floats, linear: Floats, tried: Floats) -> int:
    """The task where the log density is known at the end of a part of a Newton step."""
    height, is_higher = work[FOUND], work[POINTS] == 0.0
    if not is_higher and isfinite(height) and is_finite(linear[: len(base)]):
        part, before = work[PART], work[RISING]
        lost, slope = EPS * (1.0 + abs(before)), 0.0
        for i in range(len(base)):
            slope += linear[i] * step[i]
        is_higher = height >= before + OF_RISE * part * work[RISE] or -part * slope <= lost
    if is_higher:
        work[RISING] = height
        work[POINTS] += 1.0
        copied(tried, base)
        return STEP
    work[PART] /= 2.0
    if not _is_moved(work, base, step, tried):
        work[STAGE] = LAST_PART
    return ASK


@kernel
def _is_moved(work: Floats, base: Floats, step: Floats, tried: Floats) -> bool:
    """Whether a part of a Newton step leads anywhere; where it leads into ``tried``."""
    found = False
    for i in range(len(base)):
        tried[i] = base[i] + work[PART] * step[i]
        found = found or tried[i] != base[i]
    return found


@kernel
def after_newton(  # noqa: PLR0913, PLR0917
    work: Floats,
    base: Floats,
    step: Floats,
    linear: Floats,
    x: Floats,
    order: Ints,
    ready: bool,
    tried: Floats,
) -> int:
    """The task where a Newton step is known, in the order of factorisation."""
    step[:] = 0.0
    if ready:
        placed(x, order, step)
    rise = 0.0
    for i in range(len(base)):
        rise += linear[i] * step[i]
    if not isfinite(rise):
        return DONE
    work[RISE], work[PART] = rise, 1.0
    if rise <= CLOSE or work[POINTS] > MOST_POINTS or not _is_moved(work, base, step, tried):
        return PROPOSE
    return ASK


@kernel
def at_mode(
    work: Floats,
    base: Floats,
    step: Floats,
    centre: Floats,
    state: Floats,
    adapting: int,
    fixed: int,
) -> None:
    """The last Newton step made, and what is held on to."""
    for i in range(len(base)):
        base[i] += step[i]
    if adapting or fixed:
        copied(base, centre)
    state[HELD] = HELD_ON if fixed and work[RISE] <= AT_MODE else FOUND_ANEW


@kernel
def numbers(
    rng: Generator, work: Floats, size: int, share: float, border: int
) -> Floats:
    """Standard normal numbers for a proposal; of a ``border`` alone, if there is one."""
    whole, size = size, border or size
    work[WALKS] = share < LEAST_ACCEPTED and rng.uniform() < 0.5
    freedom = FREEDOM + FREEDOM_BY_ELEMENT * size
    if work[WALKS]:
        work[STRETCH] = VECTOR / size
    else:
        work[STRETCH] = freedom / (2.0 * rng.standard_gamma(freedom / 2.0))
    z = np.zeros(whole)
    for i in range(whole - size, whole):
        z[i] = rng.standard_normal()
    return z


@kernel
def combine(work: Floats, u: Floats, z: Floats, stays: int) -> None:
    """The vector that is proposed, in units of the approximation, in place of random numbers ``z``.

    ``u`` is the current vector; so many of its numbers stay.
    """
    walks, root = work[WALKS] != 0.0, sqrt(work[STRETCH])
    here = there = 0.0
    for i in range(stays):
        z[i] = u[i]
    for i in range(stays, len(u)):
        here += u[i] * u[i]
        there += work[STRETCH] * z[i] * z[i]
        z[i] = (u[i] if walks else 0.0) + root * z[i]
    size = len(u) - stays
    work[PROPOSAL] = (log_t(here, size) - log_t(there, size)) * (not walks)


@kernel
def log_t(length: float, size: int) -> float:
    """The log density of a multivariate t, up to a constant, by the squared length in its units."""
    freedom = FREEDOM + FREEDOM_BY_ELEMENT * size
    return -(freedom + size) / 2.0 * log1p(length / freedom)


@kernel
def proposed(  # noqa: PLR0913, PLR0917
    work: Floats,
    now: Floats,
    base: Floats,
    away: Floats,
    last: Floats,
    state: Floats,
    wanted: Ints,
    tried: Floats,
) -> int:
    """The proposal into ``base``, in place of the mode; what is asked for next."""
    for i in range(len(base)):
        base[i] += away[i]
    wanted[TO_SECOND_ORDER] = 0
    if state[HELD] == HELD_ON and are_equal(now, last):
        work[NOW] = state[HEIGHT]
        copied(base, tried)
        work[STAGE] = PROPOSED
    else:
        copied(now, tried)
        work[STAGE] = CURRENT
    return ASK


@kernel
def learn(  # noqa: PLR0913, PLR0917
    work: Floats,
    now: Floats,
    centre: Floats,
    last: Floats,
    state: Floats,
    share: float,
    adapting: int,
    moves: int,
    tried: Floats,
) -> None:
    """The end of a step: the vector, and the share of accepted proposals."""
    if work[TAKEN] == 0.0:
        copied(now, tried)
    # (a search that fails has not asked for the log density of the current vector)
    if work[STAGE] != SEARCHED and work[STAGE] != LAST_PART:
        copied(tried, last)
        state[HEIGHT] = work[FOUND] if work[TAKEN] else work[NOW]
    if adapting and work[STAGE] == SEARCHED:  # (no Newton step can be made from the centre)
        copied(now, centre)
    work[SHARE] = share
    if adapting and not work[WALKS]:
        work[SHARE] = share + (work[PROBABILITY] - share) / min(moves, REMEMBERED)


@kernel
def raised(filled: Floats, diagonal: Ints, more: float) -> Floats:
    """The entries, with more weight on the diagonal."""
    matrix = filled.copy()
    for place in diagonal:
        matrix[place] += more
    return matrix


@kernel
def more_weight(filled: Floats, diagonal: Ints, more: float) -> float:
    """The weight on the diagonal that is tried next."""
    largest = 0.0
    for place in diagonal:
        largest = max(largest, abs(filled[place]))
    return float(max(GROWTH * more, EPS * max(largest, LEAST_WEIGHT)))


@kernel
def arranged_slope(linear: Floats, order: Ints) -> Floats:
    """The coefficients in the order of factorisation."""
    x = np.empty(len(order))
    for i in range(len(order)):
        x[i] = linear[order[i]]
    return x


@kernel
def arrange_away(now: Floats, mode: Floats, order: Ints, x: Floats) -> None:
    """How far a vector is from the mode, in the order of factorisation, into ``x``."""
    for i in range(len(order)):
        x[i] = now[order[i]] - mode[order[i]]


@kernel
def are_equal(x: Floats, y: Floats) -> bool:
    """Whether two vectors have the same numbers."""
    for i in range(len(x)):  # noqa: SIM110  (Numba has no all)
        if x[i] != y[i]:
            return False
    return True


@kernel
def is_finite(x: Floats) -> bool:
    """Whether all numbers are finite."""
    for value in x:  # noqa: SIM110
        if not isfinite(value):
            return False
    return True
