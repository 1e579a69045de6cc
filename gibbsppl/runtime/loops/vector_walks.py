"""Random-walk steps of a vector, whose log density the caller evaluates where it is asked to.

The steps of vectors of `gibbsppl.runtime.walks`, with the same random numbers::

    work = vector_walk_work()
    vector_walk_start(work)
    while vector_walk_next(rng, work, now, ..., factor, tried):
        work[1] = ...  # the log density at ``tried``

In the end ``tried`` is the vector after the step, and the covariance of steps has been learnt.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, inf, isfinite, isnan

import numpy as np

from gibbsppl.errors import RunError
from gibbsppl.runtime.types import Floats, Generator
from gibbsppl.runtime.walks import VECTOR

from . import kernel
from .copies import copied
from .elementary import exp_of
from .matrices import factorised
from .walks import NO_DENSITY, from_line, log_slope, scale_learnt, to_line

APART: Mapping[str, str] = {}

# Numbers: the log density that was asked for, that at the current value; what the slope of the map
# adds to the ratio; whether the step was taken, the log of the scale and whether steps have a shape
# after it; what comes next.
FOUND, NOW, SLOPE, TAKEN, LOG_SCALE, SHAPED, STAGE = 1, 2, 3, 4, 5, 6, 7
SIZE = 8

# Stages: nothing is asked yet; then what the log density that is asked for is of.
STARTED, CURRENT, PROPOSED = 0.0, 1.0, 2.0


@kernel
def vector_walk_work() -> Floats:
    """The array that a step works in; it may be used for any number of steps, one by one."""
    return np.zeros(SIZE)


@kernel
def vector_walk_start(work: Floats) -> None:
    """Begin a step."""
    work[STAGE] = STARTED


@kernel
def vector_walk_next(  # noqa: PLR0913, PLR0917  (what is known of the walk)
    rng: Generator,
    work: Floats,
    now: Floats,
    lower: Floats,
    upper: Floats,
    known: float,
    log_scale: float,
    is_shaped: float,
    target: float,
    adapting: float,
    moves: int,
    mean: Floats,
    covariance: Floats,
    factor: Floats,
    line: Floats,
    tried: Floats,
) -> bool:
    """Whether a log density is asked for, at ``tried``; if not, it is the vector after the step.

    ``known`` is the log density at the current vector, if it is a number; ``line`` becomes the
    vector on the line without bounds.
    """
    if work[STAGE] == STARTED:
        work[STAGE] = CURRENT
        copied(now, tried)
        if isnan(known):
            return True
        work[FOUND] = known
    if work[STAGE] == CURRENT:
        work[NOW] = work[FOUND]
        if not work[NOW] > -inf:
            raise RunError(NO_DENSITY)
        _propose(rng, work, now, lower, upper, log_scale, factor, line, tried)
        work[STAGE] = PROPOSED
        return True
    probability = _decide(rng, work)
    if work[TAKEN] == 0:
        copied(now, tried)
        for i in range(len(now)):
            line[i] = to_line(now[i], lower[i], upper[i])
    work[LOG_SCALE] = log_scale
    work[SHAPED] = is_shaped
    if adapting != 0:
        work[LOG_SCALE] = scale_learnt(log_scale, moves, probability, target)
        _learn_shape(work, moves, line, mean, covariance, factor)
    return False


@kernel
def vector_walk_taken(work: Floats) -> float:
    """1.0 if the last step was taken, else 0.0."""
    return float(work[TAKEN])


@kernel
def vector_walk_density(work: Floats) -> float:
    """The log density at the vector after the last step."""
    return float(work[NOW])


@kernel
def vector_walk_scale(work: Floats) -> float:
    """The log of the scale after the last step."""
    return float(work[LOG_SCALE])


@kernel
def vector_walk_shaped(work: Floats) -> float:
    """1.0 if steps have a shape that was learnt, else 0.0."""
    return float(work[SHAPED])


@kernel
def _propose(  # noqa: PLR0913, PLR0917
    rng: Generator,
    work: Floats,
    now: Floats,
    lower: Floats,
    upper: Floats,
    log_scale: float,
    factor: Floats,
    line: Floats,
    tried: Floats,
) -> None:
    """A step on the line without bounds that the bounds of each element are mapped to."""
    z = np.empty(len(now))
    for i in range(len(now)):
        z[i] = rng.standard_normal()
    scale, slope = exp_of(log_scale), 0.0
    for i in range(len(now)):
        step = 0.0
        for j in range(i + 1):
            step += factor[i, j] * z[j]
        u = to_line(now[i], lower[i], upper[i])
        v = u + scale * step
        line[i] = v
        tried[i] = from_line(v, lower[i], upper[i])
        slope += log_slope(v, lower[i], upper[i]) - log_slope(u, lower[i], upper[i])
    work[SLOPE] = slope


@kernel
def _decide(rng: Generator, work: Floats) -> float:
    """Take the step or not, by the log density at its end; the probability of taking it."""
    ratio = work[FOUND] - work[NOW] + work[SLOPE]
    # (at a pole it would stay)
    ratio = ratio if ratio < inf else -inf
    taken = -rng.standard_exponential() < ratio
    work[TAKEN] = taken
    if taken:
        work[NOW] = work[FOUND]
    return exp(min(ratio, 0.0))


@kernel
def _learn_shape(
    work: Floats, moves: int, line: Floats, mean: Floats, covariance: Floats, factor: Floats
) -> None:
    """Update the covariance of the draws, and now and then the factor of steps."""
    size = len(line)
    away, weight = np.empty(size), min(1.0, 2.0 / (moves + 1))
    for i in range(size):
        away[i] = line[i] - mean[i]
        mean[i] += weight * away[i]
    for i in range(size):
        for j in range(size):
            new = (1 - weight) * (away[i] * away[j]) - covariance[i, j]
            covariance[i, j] += weight * new
    if moves % max(1, size // 10) or moves < 2 * size:
        return
    for i in range(size):
        for j in range(size):
            if not isfinite(covariance[i, j]) or not covariance[i, i] > 0:
                return
    shape = moves * covariance
    for i in range(size):
        shape[i, i] += size * covariance[i, i]
    shape /= moves + size
    if not factorised(shape):
        return
    root = np.sqrt(VECTOR / size)
    for i in range(size):
        for j in range(i + 1):
            factor[i, j] = root * shape[i, j]
    if work[SHAPED] == 0:
        work[LOG_SCALE] = 0.0  # (the scale was for steps of another shape)
        work[SHAPED] = 1.0
