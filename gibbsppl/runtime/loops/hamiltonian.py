"""Steps of Hamiltonian dynamics of a vector, and what is learnt of their size and shape in warm-up.

A point is a position, of coordinates without bounds (`gibbsppl.runtime.loops.unconstrained`), its
momentum, and the slopes of the log density there: rows of one array. A step is half of one of the
momentum, one of the position, and another half (R. M. Neal, 2011, "MCMC using Hamiltonian
dynamics"): it can be gone back, and leaves volumes as they are, whatever the slopes are, so that a
wrong slope makes moves worse, and never wrong.

Step sizes are learnt by dual averaging (M. D. Hoffman and A. Gelman, 2014, Journal of Machine
Learning Research 15), scales of positions in windows that double, as in Stan: from the spread of
positions, and of slopes, whose product is one where a scale is right.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, inf, isfinite, isinf, log, sqrt

from gibbsppl.errors import RunError
from gibbsppl.runtime.types import Floats, Generator

from . import kernel
from .elementary import exp_of

APART: Mapping[str, str] = {}

# Numbers of a move: the log density asked for; that at the point that was arrived at, less the
# kinetic energy; the same where the move began.
FOUND, ENERGY, START = 1, 2, 3
# The mean probability of accepting what was looked at, of so many points; whether the path
# diverged; what comes next; the direction of time, and the size of a step; whether it moved.
ACCEPT, POINTS, DIVERGED, STAGE, WAY, SIZE_OF_STEP, MOVED = 4, 5, 6, 7, 8, 9, 10
# The first of the numbers of each kind of move.
MORE = 11

# Rows: where a path is, its momentum, its slopes; where it began; what is drawn, and its slopes.
Q, P, G, Q_START, G_START, Q_DRAWN, G_DRAWN = 0, 1, 2, 3, 4, 5, 6
# The first of the rows of each kind of move.
ROWS = 7

# Stages: nothing is asked yet; then what the log density that is asked for is of: the vector before
# the move, a first step of which the size is sought, a point of a path; or no path can begin.
STARTED, CURRENT, SOUGHT, ON_PATH, STUCK = 0.0, 1.0, 2.0, 3.0, 4.0

# Numbers that are learnt: the log of the step now, its average; how far acceptance is from what is
# aimed at, on average, of so many moves; the log that steps are drawn to; whether a first step has
# been found, and in which direction it is sought.
LOG_STEP, AVERAGE, ERROR, COUNT, CENTRE, READY, SEEKS = 0, 1, 2, 3, 4, 5, 6
# How many moves have been made in this window, and how many it has.
INSIDE, LENGTH = 7, 8
LEARNT = 9

# Rows of what is learnt of each coordinate: sums of positions (the mean, and squares about it), of
# squares of slopes.
MEAN, SPREAD, SLOPES = 0, 1, 2
MOMENTS = 3

# A path on which the energy is wrong by so much has left what it should follow.
LARGEST_ERROR = 1000.0
# Dual averaging, as in the paper and in Stan.
SHRINKAGE, STABLE, FORGETTING = 0.05, 10.0, 0.75
# Moves before the first window, and in it, as in Stan; each window is twice as long as the last.
BEFORE, FIRST = 75.0, 25.0
# A window weighs against what was known before as so many moves, as in Stan.
PRIOR = 5.0
# The first step is doubled or halved until this share would be accepted, as in Stan.
SHARE = 0.8
# No double has more powers of two.
POWERS = 1000.0

NO_DENSITY = "gradient move: the current value has no finite log density."


@kernel
def step_now(learnt: Floats, adapting: float) -> float:
    """The size of a step: in warm-up the one that is tried now, then the average."""
    return exp_of(learnt[LOG_STEP] if adapting != 0 else learnt[AVERAGE])


@kernel
def begun(work: Floats, now: Floats, gradient: Floats, rows: Floats) -> bool:
    """Note the point at which a move begins, whose log density has been found.

    Whether a path can begin there: not at a bound, and next to one slopes may be too large for a
    number.
    """
    is_at_end = False
    for i in range(len(now)):
        is_at_end = is_at_end or isinf(now[i])
    if not is_at_end and not (work[FOUND] > -inf and work[FOUND] < inf):
        raise RunError(NO_DENSITY)
    for i in range(len(now)):
        rows[Q, i] = now[i]
    can_begin = put_slopes(work, gradient, rows) and not is_at_end
    for i in range(len(now)):
        rows[Q_START, i] = rows[Q, i]
        rows[G_START, i] = rows[G, i]
        rows[Q_DRAWN, i] = rows[Q, i]
        rows[G_DRAWN, i] = rows[G, i]
    work[START] = work[ENERGY]
    work[MOVED] = 0.0
    work[DIVERGED] = 0.0
    work[ACCEPT] = 0.0
    work[POINTS] = 0.0
    return can_begin


@kernel
def put_slopes(work: Floats, gradient: Floats, rows: Floats) -> bool:
    """Note the log density with its slopes; whether these are numbers."""
    is_finite = True
    for i in range(len(gradient)):
        rows[G, i] = gradient[i]
        is_finite = is_finite and isfinite(gradient[i])
    work[ENERGY] = work[FOUND]
    return is_finite


@kernel
def pushed(rng: Generator, scale: Floats, rows: Floats) -> float:
    """Draw the momentum of a path that begins; its kinetic energy."""
    energy = 0.0
    for i in range(len(scale)):
        z = rng.standard_normal()
        rows[P, i] = z / sqrt(scale[i])
        energy += z * z / 2
    return energy


@kernel
def gone(work: Floats, scale: Floats, rows: Floats, tried: Floats) -> None:
    """The first half of a step: where it leads to is asked for."""
    step = work[WAY] * work[SIZE_OF_STEP]
    for i in range(len(tried)):
        rows[P, i] += step / 2 * rows[G, i]
        rows[Q, i] += step * scale[i] * rows[P, i]
        tried[i] = rows[Q, i]


@kernel
def arrived(work: Floats, scale: Floats, gradient: Floats, rows: Floats) -> float:
    """The second half of a step; by how much the log of the joint density has changed.

    Minus infinity where a number is lost.
    """
    if not put_slopes(work, gradient, rows):
        return -inf
    step, kinetic = work[WAY] * work[SIZE_OF_STEP], 0.0
    for i in range(len(gradient)):
        rows[P, i] += step / 2 * rows[G, i]
        kinetic += scale[i] * rows[P, i] * rows[P, i] / 2
    work[ENERGY] -= kinetic
    change = work[ENERGY] - work[START]
    return change if change > -inf and change < inf else -inf


@kernel
def chosen(rows: Floats, work: Floats) -> None:
    """The point of the path is what is drawn."""
    work[MOVED] = 1.0
    for i in range(rows.shape[1]):
        rows[Q_DRAWN, i] = rows[Q, i]
        rows[G_DRAWN, i] = rows[G, i]


@kernel
def restarted(rows: Floats) -> None:
    """The path is where the move began."""
    for i in range(rows.shape[1]):
        rows[Q, i] = rows[Q_START, i]
        rows[G, i] = rows[G_START, i]


@kernel
def counted(work: Floats, change: float) -> None:
    """Take a point into the mean probability of accepting."""
    work[POINTS] += 1.0
    work[ACCEPT] += (exp(min(change, 0.0)) - work[ACCEPT]) / work[POINTS]


@kernel
def is_sought(learnt: Floats, adapting: float) -> bool:
    """Whether a first size of steps is sought (Hoffman and Gelman's algorithm 4)."""
    return adapting != 0 and learnt[READY] == 0


@kernel
def sought_on(learnt: Floats, change: float) -> bool:
    """Whether the first size of steps is still sought, after one step of the last size."""
    way = 1.0 if change > log(SHARE) else -1.0
    if learnt[SEEKS] == 0:
        learnt[SEEKS] = way
    if way == learnt[SEEKS] and abs(learnt[LOG_STEP]) < POWERS * log(2.0):
        learnt[LOG_STEP] += way * log(2.0)
        return True
    learnt[READY] = 1.0
    learnt[CENTRE] = learnt[LOG_STEP] + log(10.0)
    return False


@kernel
def learnt_from(
    work: Floats, learnt: Floats, target: float, scale: Floats, moments: Floats, rows: Floats
) -> None:
    """Learn from a move in warm-up: about the size of steps, and at ends of windows the scales."""
    learnt[COUNT] += 1.0
    count = learnt[COUNT]
    weight = 1.0 / (count + STABLE)
    learnt[ERROR] += weight * (target - work[ACCEPT] - learnt[ERROR])
    learnt[LOG_STEP] = learnt[CENTRE] - sqrt(count) / SHRINKAGE * learnt[ERROR]
    share = count**-FORGETTING
    learnt[AVERAGE] += share * (learnt[LOG_STEP] - learnt[AVERAGE])
    learnt[INSIDE] += 1.0
    if learnt[LENGTH] == 0:
        if learnt[INSIDE] < BEFORE:
            return
        learnt[INSIDE] = 0.0
        learnt[LENGTH] = FIRST
        return
    _taken_in(learnt[INSIDE], moments, rows)
    if learnt[INSIDE] < learnt[LENGTH]:
        return
    _rescaled(learnt[LENGTH], scale, moments)
    learnt[INSIDE] = 0.0
    learnt[LENGTH] *= 2.0
    # (how long warm-up lasts is not known: the size that was learnt is where the next begins)
    learnt[LOG_STEP] = learnt[AVERAGE]
    learnt[CENTRE] = learnt[AVERAGE]
    learnt[COUNT] = 0.0
    learnt[ERROR] = 0.0


@kernel
def _taken_in(count: float, moments: Floats, rows: Floats) -> None:
    """Take what has been drawn into the moments of a window."""
    for i in range(moments.shape[1]):
        away = rows[Q_DRAWN, i] - moments[MEAN, i]
        moments[MEAN, i] += away / count
        moments[SPREAD, i] += away * (rows[Q_DRAWN, i] - moments[MEAN, i])
        moments[SLOPES, i] += rows[G_DRAWN, i] * rows[G_DRAWN, i]


@kernel
def _rescaled(count: float, scale: Floats, moments: Floats) -> None:
    """The scales that a window has shown, mixed with those before; the moments begin anew."""
    for i in range(len(scale)):
        found = sqrt(moments[SPREAD, i] / moments[SLOPES, i]) if moments[SLOPES, i] > 0 else 0.0
        if found > 0 and found < inf:
            share = count / (count + PRIOR)
            scale[i] = exp(share * log(found) + (1.0 - share) * log(scale[i]))
        for k in range(MOMENTS):
            moments[k, i] = 0.0
