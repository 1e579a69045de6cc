"""Draws of one number on an interval: those of `gibbsppl.runtime.truncated`, one at a time.

The bounds follow the natural parameters. A draw of the family itself is taken if it falls between
the bounds; else one is drawn below a hull of lines, which is exact however far in a tail the
interval is. Normals are by rejection from whatever is close to them between the bounds.

>>> import numpy as np
>>> float(round(truncated_normal(np.random.default_rng(1), 0.0, -0.5, 40.0, np.inf)))
40.0
"""

from __future__ import annotations

from collections.abc import Mapping
from math import copysign, exp, inf, log, log1p, sqrt

from gibbsppl.runtime.draws import HUGE, TINY
from gibbsppl.runtime.types import Generator

from . import kernel
from .draws import beta_of, gamma, normal, poisson_of
from .elementary import at_least, at_most, between, exp_of, log_of, log_ratio, scaled
from .falls import along_line
from .powers import (
    logistic,
    powers,
    quadratic,
    require_finite,
    require_interval,
    rising_powers,
    rising_quadratic,
)

_AGAIN = "whole arrays are drawn in rounds: plain draws first, then what fell outside the bounds"
APART: Mapping[str, str] = {
    "truncated_normal": _AGAIN,
    "truncated_half_normal": _AGAIN,
    "truncated_log_normal": _AGAIN,
    "truncated_gamma": _AGAIN,
    "truncated_inverse_gamma": _AGAIN,
    "truncated_beta": _AGAIN,
    "truncated_poisson": _AGAIN,
}

# Candidates that are tried for a count with an upper bound before all values are weighed.
TRIES = 8

# Of a standard normal: above this bound exponential candidates for a tail are better than normal
# ones, above the other one their rate may be the bound. Intervals of which the log density falls by
# less than the third, or that are not wider about the mode than the last, have even candidates.
TAIL, STEEP, EVEN, WIDE = 0.6, 3.0, 1.4, 2.4


@kernel
def truncated_uniform(rng: Generator, lower: float, upper: float) -> float:
    """A draw of equal density between two finite bounds."""
    require_interval(lower, upper)
    require_finite(-inf < lower and upper < inf)
    u = rng.random()
    return between(lower * (1.0 - u) + upper * u, lower, upper)


@kernel
def truncated_normal(
    rng: Generator, eta_1: float, eta_2: float, lower: float, upper: float
) -> float:
    """A draw with log density ``eta_1 x + eta_2 x**2``; between finite bounds, of any signs."""
    require_interval(lower, upper)
    require_finite(-inf < eta_1 + eta_2 < inf)
    if eta_2 > 0.0:
        width = upper - lower
        require_finite(width < inf)
        x = lower + rising_quadratic(rng, eta_1 + 2.0 * eta_2 * lower, eta_2, width)
        return between(x, lower, upper)
    if eta_2 < 0.0:
        variance = -0.5 / eta_2
        mean, sd = eta_1 * variance, sqrt(variance)
        if abs(mean) < HUGE and 0.0 < sd < inf:
            return between(_bell(rng, mean, sd, lower, upper), lower, upper)
        mean = -0.5 * eta_1 / eta_2
    else:
        mean = copysign(inf, eta_1) if eta_1 != 0.0 else float(lower)
    centre = min(max(mean, lower), upper)
    require_finite(-inf < centre < inf)
    slope = 0.0 if centre == mean and eta_2 < 0.0 else eta_1 + 2.0 * eta_2 * centre
    x = centre + quadratic(rng, slope, -eta_2, centre - lower, upper - centre)
    return between(x, lower, upper)


@kernel
def _bell(rng: Generator, mean: float, sd: float, lower: float, upper: float) -> float:
    """A normal draw between bounds; measured from the bound that is next to the mean, if beyond."""
    if lower >= mean:
        return lower + sd * _tail(rng, (lower - mean) / sd, (upper - lower) / sd)
    if upper <= mean:
        return upper - sd * _tail(rng, (mean - upper) / sd, (upper - lower) / sd)
    if upper - lower < WIDE * sd:
        near, width = (lower - mean) / sd, (upper - lower) / sd
        while True:
            z = near + width * rng.random()
            if rng.standard_exponential() >= 0.5 * z * z:
                return mean + sd * z
    while True:
        x = mean + sd * rng.standard_normal()
        if lower < x < upper:
            return x


@kernel
def _tail(rng: Generator, bound: float, width: float) -> float:
    """The distance of a standard normal draw from a bound of 0 or more, up to a width beyond it.

    Candidates are even on short intervals, else the normal number itself or exponential ones: C. P.
    Robert (1995), "Simulation of truncated normal variables", Statistics and Computing 5; the best
    rate r of these solves ``r = bound + 1 / r``.
    """
    bound = min(bound, HUGE)
    if width * (bound + 0.5 * width) < EVEN:
        while True:
            z = width * rng.random()
            if rng.standard_exponential() >= z * (bound + 0.5 * z):
                return z
    if bound < TAIL:
        while True:
            z = abs(rng.standard_normal()) - bound
            if 0.0 < z < width:
                return z
    rate = bound if bound > STEEP else 0.5 * (bound + sqrt(bound * bound + 4.0))
    slower = rate - bound
    while True:
        z = rng.standard_exponential() / rate
        # (the log density less that of the candidates, less its largest value)
        short = z - slower
        if 0.5 * short * short <= rng.standard_exponential() and z < width:
            return z


@kernel
def truncated_half_normal(rng: Generator, eta_1: float, lower: float, upper: float) -> float:
    """A draw with log density ``eta_1 x**2`` on x > 0."""
    return truncated_normal(rng, 0.0, eta_1, at_least(lower, 0.0), upper)


@kernel
def truncated_log_normal(
    rng: Generator, eta_1: float, eta_2: float, lower: float, upper: float
) -> float:
    """A draw with log density ``eta_1 log(x) + eta_2 log(x)**2``; between bounds, of any signs."""
    lower, slope = at_least(lower, 0.0), eta_1 + 1.0
    require_interval(lower, upper)
    require_finite(-inf < eta_1 + eta_2 < inf)
    if eta_2 < 0.0:
        u = normal(rng, slope, eta_2)
        x = exp_of(u)
        if not lower < x < upper:
            x = _bell_of_log(rng, slope, eta_2, lower, upper)
    elif eta_2 > 0.0 or (lower > 0.0 and upper < inf):
        require_finite(lower > 0.0 and upper < inf)
        width = log_ratio(upper, lower)
        x = scaled(lower, rising_quadratic(rng, slope + 2.0 * eta_2 * log(lower), eta_2, width))
    else:
        end = upper if slope > 0.0 else lower
        require_finite(slope != 0.0 and 0.0 < end < inf)
        x = scaled(end, -rng.standard_exponential() / slope)
    return between(x, lower, upper)


@kernel
def _bell_of_log(rng: Generator, slope: float, eta_2: float, lower: float, upper: float) -> float:
    """A draw of x, ``slope log(x) + eta_2 log(x)**2`` being the log density of its logarithm."""
    log_mode = -0.5 * slope / eta_2
    value, offset, free = lower, 0.0, False
    if log_mode >= log_of(upper):
        value = upper
    elif log_mode > log_of(lower):
        value = min(max(exp_of(log_mode), lower, TINY), upper, HUGE)
        offset, free = log_mode - log(value), True
    at = log(value) + offset
    there = 0.0 if free else slope + 2.0 * eta_2 * at
    left = at_least(offset - log_ratio(lower, value), 0.0)
    right = at_least(log_ratio(upper, value) - offset, 0.0)
    return scaled(value, offset + quadratic(rng, there, -eta_2, left, right))


@kernel
def truncated_exponential(rng: Generator, eta_1: float, lower: float, upper: float) -> float:
    """A draw with log density ``eta_1 x``, of any sign; ``-0.0`` is one too small for a number."""
    require_interval(lower, upper)
    slope = float(eta_1)
    if slope == 0.0 and copysign(1.0, slope) < 0.0:
        slope = -TINY
    rising = slope > 0.0 or (slope == 0.0 and lower == -inf)
    start = upper if rising else lower
    proper = -inf < start < inf and -inf < slope < inf
    require_finite(proper and (slope != 0.0 or upper - lower < inf))
    distance = along_line(rng, abs(slope), upper - lower)
    return between(start - distance if rising else start + distance, lower, upper)


@kernel
def truncated_power(rng: Generator, eta_1: float, lower: float, upper: float) -> float:
    """A draw with log density ``eta_1 log(x)`` on x > 0: Pareto, power function, log-uniform."""
    lower, slope = at_least(lower, 0.0), eta_1 + 1.0
    require_interval(lower, upper)
    rising = slope > 0.0
    start = upper if rising else lower
    require_finite(0.0 < start < inf and -inf < slope < inf)
    require_finite(slope != 0.0 or (lower > 0.0 and upper < inf))
    # (as in whole arrays, the gap is over the upper bound where that is finite)
    width = abs(log_ratio(lower, upper)) if upper < inf else inf
    distance = along_line(rng, abs(slope), width)
    return between(scaled(start, -distance if rising else distance), lower, upper)


@kernel
def truncated_gamma(
    rng: Generator, eta_1: float, eta_2: float, lower: float, upper: float
) -> float:
    """A draw with log density ``eta_1 log(x) + eta_2 x``; between bounds, of any signs."""
    lower = at_least(lower, 0.0)
    require_interval(lower, upper)
    proper = eta_2 < 0.0 or upper < inf or (eta_2 == 0.0 and eta_1 < -1.0)
    proper = proper and (eta_1 > -1.0 or lower > 0.0)
    require_finite(proper and -inf < eta_1 + eta_2 < inf)
    if eta_1 > -1.0 and eta_2 < 0.0:
        x = gamma(rng, eta_1, eta_2)
        if lower < x < upper:
            return between(x, lower, upper)
    if eta_2 > 0.0:
        x = rising_powers(rng, eta_1, eta_2, 0.0, lower, upper)
    else:
        p = eta_1 + 1.0
        log_mode = log(p) - log_of(-eta_2) if p > 0.0 else -inf
        x = powers(rng, p, (-eta_2, 0.0, 1.0), log_mode, lower, upper)
    return between(x, lower, upper)


@kernel
def truncated_inverse_gamma(
    rng: Generator, eta_1: float, eta_2: float, lower: float, upper: float
) -> float:
    """A draw with log density ``eta_1 log(x) + eta_2 / x``; between bounds, of any signs."""
    low = at_least(lower, 0.0)
    require_interval(low, upper)
    first, last = 1.0 / upper, 1.0 / low if low > 0.0 else inf
    inverted = truncated_gamma(rng, -eta_1 - 2.0, eta_2, first, last)
    return between(1.0 / inverted, low, upper)


@kernel
def truncated_beta(
    rng: Generator, eta_1: float, eta_2: float, lower: float, upper: float
) -> float:
    """A draw with log density ``eta_1 log(x) + eta_2 log(1 - x)``; between bounds, of any signs."""
    lower, upper = at_least(lower, 0.0), at_most(upper, 1.0)
    require_interval(lower, upper)
    a, b = eta_1 + 1.0, eta_2 + 1.0
    proper = (a > 0.0 or lower > 0.0) and (b > 0.0 or upper < 1.0)
    require_finite(proper and -inf < a + b < inf)
    if a > 0.0 and b > 0.0:
        x = beta_of(rng, a, b)
        if lower < x < upper:
            return between(x, lower, upper)
    return between(_cut_beta(rng, a, b, lower, upper), lower, upper)


@kernel
def _cut_beta(rng: Generator, a: float, b: float, lower: float, upper: float) -> float:
    """A draw of a Beta of any shapes between bounds, on the scale of the log odds."""
    mode = inf if a > 0.0 else -inf
    if a > 0.0 and b > 0.0:
        mode = log(a) - log(b)
    if _logit(lower) < mode < _logit(upper):
        c, d = a / (a + b), b / (a + b)
    else:
        c = upper if mode >= _logit(upper) else lower
        d = 1.0 - c
    c, d = at_least(c, TINY), at_least(d, TINY)
    u = logistic(rng, a, b, c, d, _logit_gap(lower, c, d), _logit_gap(upper, c, d))
    e = exp(-abs(u))
    return c * e / (d + c * e) if u <= 0.0 else c / (c + d * e)


@kernel
def _logit(x: float) -> float:
    """The log odds of x."""
    return log_of(x) - log1p(-x) if x < 1.0 else inf


@kernel
def _logit_gap(x: float, c: float, d: float) -> float:
    """``logit(x) - logit(c)``, ``d = 1 - c``, to all digits where it is small."""
    gap = x - c
    if abs(gap) < 0.5 * min(c, d):
        return log1p(gap / c) - log1p(-gap / d)
    return _logit(x) - log(c) + log(d)


@kernel
def truncated_poisson(rng: Generator, eta_1: float, lower: float, upper: float) -> int:
    """A Poisson count with log mean ``eta_1`` from ``lower`` to ``upper``.

    The first ``lower`` events of a process of that rate come before time 1, at a time that is a
    truncated Gamma; what is left of the time has a Poisson number of further ones.
    """
    low = at_least(float(lower), 0.0)
    if not low <= upper:
        raise ValueError("the lower bound of a count is above the upper one")
    mean = exp_of(eta_1)
    for _ in range(TRIES + 1):
        found = _poisson_from(rng, mean, low)
        if found <= upper:
            return found
    return _weighed(rng, eta_1, low, float(upper))


@kernel
def _poisson_from(rng: Generator, mean: float, low: float) -> int:
    """A Poisson count truncated to ``low`` or more."""
    if low == 0.0:
        return poisson_of(rng, mean)
    reached = truncated_gamma(rng, low - 1.0, -1.0, 0.0, at_least(mean, TINY))
    return int(low) + poisson_of(rng, at_least(mean - reached, 0.0))


@kernel
def _weighed(rng: Generator, eta_1: float, low: float, high: float) -> int:
    """A count from the weights of all possible values, from the larger end: the mean is above."""
    values, total, log_weight = int(high - low) + 1, 0.0, 0.0
    for k in range(values):
        total += exp_of(log_weight)
        log_weight += log_of(high - k) - eta_1
    left, log_weight = rng.random() * total, 0.0
    for k in range(values):
        left -= exp_of(log_weight)
        if left < 0.0:
            return int(high) - k
        log_weight += log_of(high - k) - eta_1
    return int(low)


