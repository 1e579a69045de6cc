"""Moves of a vector along paths of Hamiltonian dynamics: no-U-turn paths, and those of a length.

The vector is one of coordinates without bounds, of which the caller evaluates the log density and
its gradient where it is asked to::

    work = trajectory_work()
    trajectory_start(work)
    while nuts_next(rng, work, now, ..., gradient, rows, tried):
        work[1] = ...       # the log density at ``tried``
        gradient[:] = ...   # its gradient there

In the end ``tried`` is the vector after the move, and step sizes and scales have been learnt.

A no-U-turn path doubles, forwards or backwards in time, until it turns or diverges; one of its
points is drawn by their densities, the newer half being favoured (M. D. Hoffman and A. Gelman,
2014, Journal of Machine Learning Research 15; M. Betancourt, 2017, arXiv:1701.02434). Momenta
where halves of halves begin are kept, so that the tree is built without recursion.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, exp, inf, log1p

import numpy as np

from gibbsppl.runtime.types import Floats, Generator

from . import kernel
from .copies import copied
from .hamiltonian import (
    ACCEPT,
    CURRENT,
    DIVERGED,
    LARGEST_ERROR,
    MORE,
    MOVED,
    ON_PATH,
    POINTS,
    Q_DRAWN,
    ROWS,
    SIZE_OF_STEP,
    SOUGHT,
    STAGE,
    START,
    STARTED,
    STUCK,
    WAY,
    G,
    P,
    Q,
    arrived,
    begun,
    chosen,
    counted,
    gone,
    is_sought,
    learnt_from,
    pushed,
    restarted,
    sought_on,
    step_now,
)

APART: Mapping[str, str] = {}

# Numbers of a no-U-turn move: how often the path has doubled; how many points the new half has, and
# shall have; the logs of the weights of the path and of its new half. Of a path of a length: how
# many points it shall have.
DEPTH, LEAF, LEAVES, WEIGHT, NEWER = MORE, MORE + 1, MORE + 2, MORE + 3, MORE + 4
SIZE = MORE + 5

# Rows of a no-U-turn move: both ends of the path, of each position, momentum, slopes; the point
# drawn of the new half; sums of momenta over the path and its new half; then, for each depth, where
# a part of the new half begins: the momentum there, and the sum up to it.
ENDS = ROWS
Q_NEWER, G_NEWER = ROWS + 6, ROWS + 7
TOTAL, TOTAL_NEWER = ROWS + 8, ROWS + 9
PARTS = ROWS + 10

# A path of a length has so many points at most.
MOST_POINTS = 1024.0


@kernel
def trajectory_work() -> Floats:
    """The array that a move works in; it may be used for any number of moves, one by one."""
    return np.zeros(SIZE)


@kernel
def trajectory_start(work: Floats) -> None:
    """Begin a move."""
    work[STAGE] = STARTED


@kernel
def trajectory_accept(work: Floats) -> float:
    """The mean probability of accepting the points of the last path."""
    return float(work[ACCEPT])


@kernel
def trajectory_points(work: Floats) -> float:
    """The number of points of the last path besides the first: evaluations of the gradient."""
    return float(work[POINTS])


@kernel
def trajectory_diverged(work: Floats) -> float:
    """1.0 if the last path diverged, else 0.0."""
    return float(work[DIVERGED])


@kernel
def trajectory_moved(work: Floats) -> float:
    """1.0 if the vector is another after the last path, else 0.0."""
    return float(work[MOVED])


@kernel
def nuts_next(  # noqa: PLR0913, PLR0917  (what is known of the move)
    rng: Generator,
    work: Floats,
    now: Floats,
    target: float,
    adapting: float,
    depth: float,
    learnt: Floats,
    scale: Floats,
    moments: Floats,
    gradient: Floats,
    rows: Floats,
    tried: Floats,
) -> bool:
    """Whether a log density is asked for, at ``tried``; if not, it is the vector after the move.

    ``depth`` is how often a path doubles at most.
    """
    if work[STAGE] != ON_PATH:
        if _is_asked_first(rng, work, now, adapting, learnt, scale, gradient, rows, tried):
            return True
        if work[STAGE] == STUCK:
            return False
        _rooted(rng, work, scale, rows)
        _doubled(rng, work, rows)
        gone(work, scale, rows, tried)
        return True
    change = arrived(work, scale, gradient, rows)
    counted(work, change)
    is_over = True
    if change < -LARGEST_ERROR:
        work[DIVERGED] = 1.0
    elif not _grown(rng, work, change, scale, rows):
        is_over = False
        if work[LEAF] == work[LEAVES]:
            _joined(rng, work, rows)
            is_over = work[DEPTH] >= depth or _turns(
                rows, scale, ENDS + 1, ENDS + 4, TOTAL, -1, TOTAL
            )
            if not is_over:
                _doubled(rng, work, rows)
    if is_over:
        _ended(work, now, rows, tried)
        if adapting != 0:
            learnt_from(work, learnt, target, scale, moments, rows)
        return False
    gone(work, scale, rows, tried)
    return True


@kernel
def hmc_next(  # noqa: PLR0913, PLR0917
    rng: Generator,
    work: Floats,
    now: Floats,
    target: float,
    adapting: float,
    length: float,
    learnt: Floats,
    scale: Floats,
    moments: Floats,
    gradient: Floats,
    rows: Floats,
    tried: Floats,
) -> bool:
    """The same along a path of a ``length``, times a random number between a half and 3/2."""
    if work[STAGE] != ON_PATH:
        if _is_asked_first(rng, work, now, adapting, learnt, scale, gradient, rows, tried):
            return True
        if work[STAGE] == STUCK:
            return False
        work[START] -= pushed(rng, scale, rows)
        points = ceil(min(length * (0.5 + rng.random()) / work[SIZE_OF_STEP], MOST_POINTS))
        work[LEAVES] = max(1.0, float(points))
        work[LEAF] = 0.0
        work[WAY] = 1.0
        gone(work, scale, rows, tried)
        return True
    change = arrived(work, scale, gradient, rows)
    work[LEAF] += 1.0
    work[POINTS] += 1.0
    is_lost = change < -LARGEST_ERROR
    if not is_lost and work[LEAF] < work[LEAVES]:
        gone(work, scale, rows, tried)
        return True
    work[DIVERGED] = 1.0 if is_lost else 0.0
    work[ACCEPT] = exp(min(change, 0.0))
    if rng.random() < work[ACCEPT]:
        chosen(rows, work)
    _ended(work, now, rows, tried)
    if adapting != 0:
        learnt_from(work, learnt, target, scale, moments, rows)
    return False


@kernel
def _is_asked_first(  # noqa: PLR0913, PLR0917
    rng: Generator,
    work: Floats,
    now: Floats,
    adapting: float,
    learnt: Floats,
    scale: Floats,
    gradient: Floats,
    rows: Floats,
    tried: Floats,
) -> bool:
    """Whether a log density is asked for before a path begins: where it does, or of a first step.

    If not, the size of steps is known; or no path can begin.
    """
    if work[STAGE] == STARTED:
        work[STAGE] = CURRENT
        copied(now, tried)
        return True
    if work[STAGE] == CURRENT:
        if not begun(work, now, gradient, rows):
            work[STAGE] = STUCK
            work[DIVERGED] = 1.0
            copied(now, tried)
            return False
        seeks = is_sought(learnt, adapting)
    else:
        change = arrived(work, scale, gradient, rows)
        work[START] = work[MORE]  # (without the momentum of the step)
        restarted(rows)
        seeks = sought_on(learnt, change)
    work[SIZE_OF_STEP] = step_now(learnt, adapting)
    if seeks:
        work[MORE] = work[START]
        work[START] -= pushed(rng, scale, rows)
        work[WAY] = 1.0
        work[STAGE] = SOUGHT
        gone(work, scale, rows, tried)
        return True
    work[STAGE] = ON_PATH
    return False


@kernel
def _rooted(rng: Generator, work: Floats, scale: Floats, rows: Floats) -> None:
    """A path of one point, where the move begins."""
    work[START] -= pushed(rng, scale, rows)
    for i in range(len(scale)):
        for k in range(3):
            rows[ENDS + k, i] = rows[k, i]
            rows[ENDS + 3 + k, i] = rows[k, i]
        rows[TOTAL, i] = rows[P, i]
    work[DEPTH] = 0.0
    work[WEIGHT] = 0.0


@kernel
def _doubled(rng: Generator, work: Floats, rows: Floats) -> None:
    """Begin a new half of the path, at one of its ends."""
    is_forward = rng.random() < 0.5
    work[WAY] = 1.0 if is_forward else -1.0
    end = ENDS + 3 if is_forward else ENDS
    for i in range(rows.shape[1]):
        for k in range(3):
            rows[k, i] = rows[end + k, i]
        rows[TOTAL_NEWER, i] = 0.0
    work[LEAF] = 0.0
    work[LEAVES] = 2.0 ** work[DEPTH]
    work[NEWER] = -inf


@kernel
def _grown(rng: Generator, work: Floats, change: float, scale: Floats, rows: Floats) -> bool:
    """Take a point into the new half of the path; whether a part of that turns."""
    work[NEWER] = _log_sum(work[NEWER], change)
    is_drawn = rng.random() < exp(change - work[NEWER])
    for i in range(len(scale)):
        rows[TOTAL_NEWER, i] += rows[P, i]
        if is_drawn:
            rows[Q_NEWER, i] = rows[Q, i]
            rows[G_NEWER, i] = rows[G, i]
    leaf = int(work[LEAF])
    work[LEAF] += 1.0
    # (the part that begins here is kept at the number of ones among the leaf's higher bits)
    place, bits = 0, leaf >> 1
    while bits > 0:
        place += bits & 1
        bits >>= 1
    if leaf % 2 == 0:
        for i in range(len(scale)):
            rows[PARTS + 2 * place, i] = rows[P, i]
            rows[PARTS + 2 * place + 1, i] = rows[TOTAL_NEWER, i]
        return False
    # (as many parts end here as the leaf has ones at its end)
    while leaf & 1:
        first = PARTS + 2 * place
        if _turns(rows, scale, first, P, TOTAL_NEWER, first + 1, first):
            return True
        place -= 1
        leaf >>= 1
    return False


@kernel
def _turns(
    rows: Floats, scale: Floats, first: int, last: int, total: int, before: int, add: int
) -> bool:
    """Whether a path turns: an end of it moves against the sum of its momenta.

    The sum is a row, less what there was ``before`` (if that is a row) but for the row to ``add``;
    of the momenta of both ends half is taken, so that paths of many turns are seen to turn.
    """
    at_first, at_last = 0.0, 0.0
    for i in range(len(scale)):
        whole = rows[total, i]
        if before >= 0:
            whole += rows[add, i] - rows[before, i]
        whole -= (rows[first, i] + rows[last, i]) / 2
        at_first += scale[i] * rows[first, i] * whole
        at_last += scale[i] * rows[last, i] * whole
    return at_first <= 0 or at_last <= 0


@kernel
def _joined(rng: Generator, work: Floats, rows: Floats) -> None:
    """Join the new half to the path, of which the point may become the one that is drawn."""
    if rng.random() < exp(min(work[NEWER] - work[WEIGHT], 0.0)):
        work[MOVED] = 1.0
        for i in range(rows.shape[1]):
            rows[Q_DRAWN, i] = rows[Q_NEWER, i]
            rows[Q_DRAWN + 1, i] = rows[G_NEWER, i]
    work[WEIGHT] = _log_sum(work[WEIGHT], work[NEWER])
    work[DEPTH] += 1.0
    end = ENDS + 3 if work[WAY] > 0 else ENDS
    for i in range(rows.shape[1]):
        for k in range(3):
            rows[end + k, i] = rows[k, i]
        rows[TOTAL, i] += rows[TOTAL_NEWER, i]


@kernel
def _ended(work: Floats, now: Floats, rows: Floats, tried: Floats) -> None:
    """Put the vector after the move where it is looked for."""
    if work[MOVED] == 0:
        copied(now, tried)
        return
    for i in range(len(tried)):
        tried[i] = rows[Q_DRAWN, i]


@kernel
def _log_sum(a: float, b: float) -> float:
    """The log of the sum of two numbers whose logs are given."""
    more, less = max(a, b), min(a, b)
    return more if less == -inf else more + log1p(exp(less - more))
