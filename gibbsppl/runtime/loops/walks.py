"""Random-walk steps of one number, whose log density the caller evaluates where it is asked to.

The steps of single elements of `gibbsppl.runtime.walks`, with the same random numbers::

    work = walk_work()
    walk_start(work, x, lower, upper, log_scale)
    while walk_next(rng, work):
        work[1] = ...  # the log density at work[0]
    x = work[0]
    log_scale = scale_learnt(log_scale, moves, walk_probability(work), target)  # (in warm-up)

Whole numbers begin with ``walk_whole_start`` instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, copysign, exp, inf, isfinite, isinf, log1p, nan

import numpy as np

from gibbsppl.errors import RunError
from gibbsppl.runtime.moves import NO_INTEGER
from gibbsppl.runtime.types import Floats, Generator
from gibbsppl.runtime.walks import POWER

from . import kernel
from .elementary import exp_of, log_of

APART: Mapping[str, str] = {
    "walk_next": "many elements of an array step together: first all steps, then who takes them",
}

# Numbers: the place of the log density asked for, or the value after the step; the log density.
ASKED, FOUND = 0, 1
# The value, its bounds, the log of the scale; the log density there; what the slope of the map
# adds to the ratio, the probability of the step, and whether it was taken.
BEFORE, LOWER, UPPER, LOG_SCALE, NOW, SLOPE, PROBABILITY, TAKEN = 2, 3, 4, 5, 6, 7, 8, 9
WHOLE, STAGE = 10, 11
SIZE = 12

# Stages: nothing is asked yet; then what the log density that is asked for is of.
STARTED, CURRENT, PROPOSED = 0.0, 1.0, 2.0

NO_DENSITY = "random walk: the current value has no finite log density."


@kernel
def walk_work() -> Floats:
    """The array that a step works in; it may be used for any number of steps, one by one."""
    return np.zeros(SIZE)


@kernel
def walk_start(work: Floats, x: float, lower: float, upper: float, log_scale: float) -> None:
    """Begin a step of a real number, on the line without bounds that the bounds are mapped to."""
    work[BEFORE] = x
    work[LOWER] = lower
    work[UPPER] = upper
    work[LOG_SCALE] = log_scale
    work[WHOLE] = False
    work[STAGE] = STARTED


@kernel
def walk_whole_start(
    work: Floats, x: float, lower: float, upper: float, log_scale: float
) -> None:
    """Begin a step of a whole number, reflected at bounds."""
    walk_start(work, x, lower, upper, log_scale)
    work[WHOLE] = True


@kernel
def walk_next(rng: Generator, work: Floats) -> bool:
    """Whether a log density is asked for, at ``work[0]``; if not, the value after the step is."""
    if work[STAGE] == STARTED:
        work[ASKED] = work[BEFORE]
        work[STAGE] = CURRENT
        return True
    found = float(work[FOUND])
    if work[STAGE] == CURRENT:
        if not found > -inf:
            raise RunError(NO_DENSITY)
        work[NOW] = found
        work[STAGE] = PROPOSED
        if _is_proposed(rng, work):
            return True
        found = nan
    _decide(rng, work, found)
    return False


@kernel
def walk_probability(work: Floats) -> float:
    """The probability with which the last step was to be taken, for what is learnt about scales."""
    return float(work[PROBABILITY])


@kernel
def walk_taken(work: Floats) -> float:
    """1.0 if the last step was taken, else 0.0."""
    return float(work[TAKEN])


@kernel
def scale_learnt(log_scale: float, moves: int, probability: float, target: float) -> float:
    """The log of the scale after so many steps, nearer to where the target is taken."""
    return log_scale + float(moves) ** POWER * (probability - target)


@kernel
def _is_proposed(rng: Generator, work: Floats) -> bool:
    """Whether the step proposed leads to a number, at which the log density is asked for."""
    x, lower, upper = float(work[BEFORE]), float(work[LOWER]), float(work[UPPER])
    size = exp_of(float(work[LOG_SCALE])) * rng.standard_normal()
    if work[WHOLE]:
        if not abs(size) < NO_INTEGER:
            return False
        new = reflected(x + copysign(float(ceil(abs(size))), size), lower, upper)
        work[SLOPE] = 0.0
        work[ASKED] = new
        return abs(new) < NO_INTEGER
    u = to_line(x, lower, upper)
    v = u + size
    work[SLOPE] = log_slope(v, lower, upper) - log_slope(u, lower, upper)
    work[ASKED] = from_line(v, lower, upper)
    return True


@kernel
def _decide(rng: Generator, work: Floats, found: float) -> None:
    """Take the step or not, by the log density at its end."""
    ratio = found - float(work[NOW]) + float(work[SLOPE])
    # (at a pole it would stay)
    ratio = ratio if ratio < inf else -inf
    taken = -rng.standard_exponential() < ratio
    work[TAKEN] = taken
    work[PROBABILITY] = exp(min(ratio, 0.0))
    if not taken:
        work[ASKED] = work[BEFORE]


@kernel
def to_line(x: float, lower: float, upper: float) -> float:
    """A value on a line without bounds: the log of the distance from a bound, or the logit."""
    if isinf(lower) and isinf(upper):
        return x
    low = log_of(x - lower) if isfinite(lower) else 0.0
    high = log_of(upper - x) if isfinite(upper) else 0.0
    return low - high


@kernel
def from_line(u: float, lower: float, upper: float) -> float:
    """The value at which `to_line` is ``u``."""
    if isinf(lower):
        return u if isinf(upper) else upper - exp_of(-u)
    if isinf(upper):
        return lower + exp_of(u)
    small = exp(-abs(u))
    share = (upper - lower) * (small / (1.0 + small))
    return lower + share if u < 0 else upper - share


@kernel
def log_slope(u: float, lower: float, upper: float) -> float:
    """``log |dx/du|`` at a point of the line."""
    if isinf(lower):
        return 0.0 if isinf(upper) else -u
    if isinf(upper):
        return u
    return log_of(upper - lower) - abs(u) - 2 * log1p(exp(-abs(u)))


@kernel
def reflected(x: float, lower: float, upper: float) -> float:
    """A whole number, reflected half a step outside of a bound: steps stay symmetric."""
    if isfinite(lower) and isfinite(upper):
        period = 2 * (upper - lower + 1)
        turned = (x - lower) % period
        return lower + min(turned, period - 1 - turned)
    if isfinite(lower) and x < lower:
        return 2 * lower - 1 - x
    if isfinite(upper) and x > upper:
        return 2 * upper + 1 - x
    return x
