"""Logs of integrals over a line, one for each element, by double exponential formulas.

The range is divided at a peak. On each side of it points lie doubly exponentially dense at both
ends, so that neither heavy tails nor densities that grow without bound at an end cost digits
(H. Takahasi and M. Mori, 1974, "Double exponential formulas for numerical integration",
Publications of the Research Institute for Mathematical Sciences 9).

>>> normal = lambda x: -(x**2) / 2
>>> at, ends = np.array([3.0]), (np.full(1, -np.inf), np.full(1, np.inf))
>>> np.round(log_integrals(normal, at, *ends) - np.log(2 * np.pi) / 2, 12) + 0.0
array([0.])
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gibbsppl.model.evaluation import Floats

LogDensity = Callable[[Floats], Floats]

# Of a step that is halved where it leads to no larger value and doubled where it does.
CLIMBS = 200
# Beyond this point of the line of the formula nothing is left in doubles.
FARTHEST = 6.5
COARSEST, FINEST = 2, 10
# Two rules, one of twice as many points, agree to this, relative to the integral.
ACCURACY = 1e-11


def log_integrals(log_density: LogDensity, x: Floats, lower: Floats, upper: Floats) -> Floats:
    """The logs of the integrals between two ends, from points inside; NaN where none is found.

    ``log_density`` takes and returns one number for each element.
    """
    with np.errstate(all="ignore"):
        peak, width = _peaks(log_density, x, lower, upper)
        coarse = np.full(peak.shape, np.nan)
        agree = np.zeros(peak.shape, dtype=bool)
        for level in range(COARSEST, FINEST):
            points = np.arange(-FARTHEST, FARTHEST, 0.5**level)
            ends = ((end, t) for end in (lower, upper) for t in points)
            terms = np.stack([_at(log_density, peak, width, end, t) for end, t in ends])
            fine: Floats = np.logaddexp.reduce(terms, axis=0) - level * np.log(2.0)
            agree = np.abs(fine - coarse) <= ACCURACY
            coarse = fine
            if agree.all():
                break
        return np.where(agree, coarse, np.nan)


def _peaks(
    log_density: LogDensity, x: Floats, lower: Floats, upper: Floats
) -> tuple[Floats, Floats]:
    """Points near the largest values, and a length at which they are seen to fall."""
    best, step = log_density(x), np.full(x.shape, 1.0) + np.abs(x)
    width = step
    for n in range(CLIMBS):
        to = x + (step if n % 2 else -step)
        there = np.where((lower < to) & (to < upper), log_density(to), -np.inf)
        better = there > best
        width = np.where((there < best - 1) & np.isfinite(there), np.abs(to - x), width)
        x, best = np.where(better, to, x), np.where(better, there, best)
        step = step * np.where(better, 2.0, 0.75)
    return x, width


def _at(
    log_density: LogDensity, peak: Floats, width: Floats, end: Floats, t: float
) -> Floats:
    """The log of the integrand at a point of the line of the formula."""
    swing, sign = np.pi * np.sinh(t), np.where(end < peak, -1.0, 1.0)
    reach = np.abs(end - peak)
    # ``u = reach / (1 + exp(-swing))``; to the end it is as far as ``reach / (1 + exp(swing))``.
    near, far = 1 / (1 + np.exp(-swing)), 1 / (1 + np.exp(swing))
    between = np.where(near < far, peak + sign * reach * near, end - sign * reach * far)
    onwards = peak + sign * width * np.exp(swing / 2)
    is_finite = np.isfinite(end)
    x = np.where(is_finite, between, onwards)
    log_slope = np.where(
        is_finite,
        np.log(reach) + np.log(near) + np.log(far) + np.log(np.pi * np.cosh(t)),
        np.log(width) + swing / 2 + np.log(np.pi / 2 * np.cosh(t)),
    )
    inside = np.where(is_finite, (x != end) & np.isfinite(log_slope), np.isfinite(x))
    # (a point that rounding puts at an end weighs nothing)
    found = np.asarray(log_density(np.where(inside, x, peak))) + log_slope
    return np.where(inside & ~np.isnan(found), found, -np.inf)
