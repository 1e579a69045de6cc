"""Draws of one Pólya-Gamma number: the algorithms of `gibbsppl.runtime.polya_gamma` on numbers.

The log density is there for the few candidates that bounds do not decide.

>>> import numpy as np
>>> float(round(polya_gamma(np.random.default_rng(1), -0.5, 1e6), -3))
231000.0
"""

from __future__ import annotations

import cmath
from collections.abc import Mapping
from math import atan2, exp, expm1, floor, inf, lgamma, log, log1p, pi, sin, sqrt, tan, tanh

import numpy as np
from scipy.special import zeta

from gibbsppl.runtime.draws import TINY
from gibbsppl.runtime.polya_gamma import (
    END,
    LEAST,
    LEVY,
    NODES,
    NORMAL,
    POLE,
    SMALL,
    SPLIT,
    STEP,
    SUMMED,
    SURE,
)
from gibbsppl.runtime.types import Generator

from . import kernel
from .powers import powers
from .rejection import inverse_gaussian
from .truncated import beyond

APART: Mapping[str, str] = {
    "polya_gamma": "whole arrays are drawn in rounds, and have normal tails by their quantiles",
}

LOG_2 = log(2.0)
FIRST = -log(2 * pi) / 2
# Means of draws of the smallest b are between this and one over it, by far.
NEAR = 1e-100
ROUNDING = 1e-17
NUMBER_OF_NODES = len(NODES)
# Where the normal number begins of which 1 / N**2 is left of the split.
FROM = 1.0 / sqrt(SPLIT)

# The log of gamma(1 + b) is -b (EULER - b (SERIES[0] - b (SERIES[1] - ...))).
EULER = float(np.euler_gamma)
SERIES = tuple(float(zeta(k)) / k for k in range(2, 18))


@kernel
def polya_gamma(rng: Generator, eta_1: float, b: float) -> float:
    """A draw with log density ``eta_1 x + log_polya_gamma(b, x)``, ``eta_1 <= 0``; 0 where b is 0.

    It is PG(b, c), ``c = sqrt(-2 eta_1)``. For b up to 1e10 it is exact; beyond, it is Normal.
    """
    if not (-inf < eta_1 <= 0.0 and 0.0 <= b < inf):
        raise ValueError("a draw of a Polya-Gamma number needs eta_1 <= 0 and b >= 0")
    if b == 0.0:
        return 0.0
    kept = max(float(b), LEAST)
    if kept > NORMAL:
        mean, variance = mean_and_variance(END - eta_1 / 4.0)
        x = kept / 4.0 * (mean + sqrt(variance) / sqrt(kept) * rng.standard_normal())
    elif sqrt(-2.0 * eta_1) > log(kept + 2.0) + 3.0:
        x = _by_first_term(rng, eta_1, kept)
    elif kept <= SUMMED and kept == floor(kept):
        z, x = sqrt(-eta_1 / 2.0), 0.0
        for _ in range(int(kept)):
            x += _one(rng, z)
        x /= 4.0
    else:
        x = _by_saddle(rng, eta_1, kept)
    return max(x, TINY)


@kernel
def log_polya_gamma(b: float, x: float) -> float:
    """The log density of PG(b, 0) at x; ``-inf`` where x is not positive, or b is 0."""
    if np.isnan(b + x) or b < 0.0:
        return np.nan
    if not (b > 0.0 and 0.0 < x < np.inf):
        return -np.inf
    # The next term of the series over the first one: (b + 2) exp(-(b + 1) / (2 x)).
    if (b + 1.0) / x > 2.0 * (np.log(b + 2.0) + 40.0):
        return _log_first_term(b, x)
    return _log_inverted(b, x)


@kernel
def _one(rng: Generator, z: float) -> float:
    """A draw of J*(1, z), from the first terms of the series on both sides of the split.

    Right of it an exponential tail; left of it 1 / N**2 of a Normal tail, thinned by the tilt, or
    for a large tilt an inverse Gaussian variable, taken if it is left of the split.
    """
    rate = END + z * z / 2.0
    ratio = exp(max(z, LEVY) - rate * SPLIT) * (pi / 4) / rate
    while True:
        right = rng.random() * (1.0 + ratio) < ratio
        level = rng.random()
        if right:
            x = SPLIT + rng.standard_exponential() / rate
        elif z < LEVY:
            root = FROM + beyond(rng, FROM)
            x = 1.0 / (root * root)
            level *= exp(z * z * x / 2.0)
        else:
            x = inverse_gaussian(rng, z * z / -2.0, -0.5)
            if x > SPLIT:
                level = inf
        if level <= SURE or (level <= 1.0 and level <= _alternating(x)):
            return x


@kernel
def _alternating(x: float) -> float:
    """The density of J*(1, 0) over its first term; terms after the fourth are below rounding."""
    r = exp(-pi * pi * x if x > SPLIT else -4.0 / x)
    cube = r * r * r
    return 1.0 - 3.0 * r + 5.0 * cube - 7.0 * cube * cube


@kernel
def _by_first_term(rng: Generator, eta_1: float, b: float) -> float:
    """A draw by rejection from the first term of the series, tilted: an inverse Gaussian."""
    while True:
        x = inverse_gaussian(rng, eta_1, -b * b / 8.0)
        if _in_density(-rng.standard_exponential(), b, x):
            return x


@kernel
def _in_density(level: float, b: float, x: float) -> bool:
    """Whether a level, the log of a number over the first term, is at most the log density.

    The density is computed only where the first term, and this less the second, do not decide.
    """
    second = (b + 2.0) * exp(-(b + 1.0) / x / 2.0)  # over the first; the rest alternates
    if second < ROUNDING:
        return level <= 0.0
    if second < 0.5 and level <= log1p(-second):
        return True
    return level <= 0.0 and level <= _log_inverted(b, x) - _log_first_term(b, x)


@kernel
def _by_saddle(rng: Generator, eta_1: float, b: float) -> float:
    """A draw by rejection from a bound on the saddle point approximation of the density.

    Windle, Polson and Scott (2014, arXiv 1405.0506): inverse Gaussian candidates below the mode,
    and Gamma ones above it. With ``y = 4 x / b`` the approximation is
    ``sqrt(b / (2 pi K'')) exp(b (K(u) - u y))``, u such that K'(u) = y. The density is between it
    and it times Stirling's approximation of gamma(b) over gamma(b).
    """
    z = sqrt(-eta_1 / 2.0)
    mode, at_mode = mean_and_variance(END + z * z / 2.0)
    least = _log_stirling(b)
    share = _gamma_beyond(b) if b < SMALL else 1.0
    left = 1.0 / (1.0 + share * exp(-least) / sqrt(mode))
    of = (b, z, mode, at_mode, least)
    while True:
        low = rng.random() < left
        if low:
            y = inverse_gaussian(rng, b / (mode * mode) / -2.0, b / -2.0)
        elif b < SMALL:
            y = mode * powers(rng, b, (1.0, 0.0, 1.0), log(b), b, inf) / b
        else:
            y = mode * rng.standard_gamma(b) / b
        if low == (y < mode) and _in_saddle(rng, y, low, of):
            return b / 4.0 * y


@kernel
def _in_saddle(
    rng: Generator, y: float, low: bool, of: tuple[float, float, float, float, float]
) -> bool:
    """Whether a uniform level below the bound is below the density."""
    b, z, mode, at_mode, least = of
    if not NEAR < y < 1.0 / NEAR:
        return False
    height = LOG_2 - z - log1p(exp(-2.0 * z))  # -log cosh(z)
    exponent, variance = _saddle_exponent(y)
    ratio = y / mode
    bound = -((ratio - 1.0) * (ratio - 1.0)) / (2.0 * y) if low else log(ratio) - (ratio - 1.0)
    drop = exponent - z * z / 2.0 * y - height - bound
    power = ratio * ratio * ratio if low else ratio * ratio
    log_ratio = b * drop + log(at_mode / variance * power) / 2.0
    level = -rng.standard_exponential() - log_ratio  # over the approximation
    if level <= least:
        return True
    if not level <= 0.0:
        return False
    x = b * y / 4.0
    log_scale = log(8.0 / pi) - log(variance) - log(b)
    log_saddle = log_scale / 2.0 + b * exponent
    return _in_density(level + log_saddle - _log_first_term(b, x), b, x)


@kernel
def _saddle_exponent(y: float) -> tuple[float, float]:
    """``K(u) - u y`` and ``K''(u)``, at the u with ``K'(u) = y``.

    Newton's method on 1 / y, from within 1 % of ``END - u``; the exponent is stationary there.
    """
    v = 0.5 / y / y + 1.0 / (y + 0.2974 + 0.513 / (1.0 + 6.8 * y))
    for _ in range(3):
        mean, variance = mean_and_variance(v)
        v += (mean / y - 1.0) * mean / variance
    _, variance = mean_and_variance(v)
    u = END - v
    angle = sqrt(2.0 * abs(u))
    if u > 0.0:
        return -log(sin(2.0 * v / (pi / 2.0 + angle))) - u * y, variance
    return LOG_2 - angle - log1p(exp(-2.0 * angle)) - u * y, variance


@kernel
def mean_and_variance(v: float) -> tuple[float, float]:
    """``K'(u)`` and ``K''(u)`` at ``u = END - v``: moments of J*(1), tilted."""
    u = END - v
    angle = max(sqrt(2.0 * abs(u)), 1e-100)
    tangent = 1.0 / tan(2.0 * v / (pi / 2.0 + angle)) if u > 0.0 else tanh(angle)
    mean = tangent / angle
    if abs(u) < 1e-3:  # by the series of -log cos, as the other is a difference
        return mean, 2 / 3 + u * (16 / 15 + u * (136 / 105 + u * (3968 / 2835)))
    square = tangent * tangent if u > 0.0 else -tangent * tangent
    return mean, (1.0 + square - mean) / (2.0 * u)


@kernel
def _log_stirling(b: float) -> float:
    """The log of Stirling's approximation of gamma(b) over gamma(b)."""
    if b > 20.0:
        square = 1.0 / (b * b)
        return -(1.0 - square * (1 / 30 - square * (1 / 105 - square / 140))) / (12.0 * b)
    return b * log(b) - b - log(b / (2 * pi)) / 2.0 - lgamma(b)


@kernel
def _gamma_beyond(b: float) -> float:
    """The probability that a Gamma number of a small shape b is above b, to all digits.

    One less ``b**b exp(-b) / gamma(1 + b) * (1 + b / (b + 1) (1 + b / (b + 2) (1 + ..)))``.
    """
    more = 0.0
    for k in range(12, 0, -1):
        more = b / (b + k) * (1.0 + more)
    log_gamma = 0.0
    for k in range(len(SERIES) - 1, -1, -1):
        log_gamma = b * (SERIES[k] - log_gamma)
    log_gamma = -b * (EULER - log_gamma)
    return -expm1(b * log(b) - b - log_gamma + log1p(more))


# The log density.


@kernel
def _log_first_term(b: float, x: float) -> float:
    """The log of the first term of the alternating series for the density: an upper bound of it."""
    constant = (b - 1.0) * LOG_2 + FIRST
    return constant + log(b) - 1.5 * log(x) - b * (b / x) / 8.0


@kernel
def _log_inverted(b: float, x: float) -> float:
    """The log density by inverting the Laplace transform ``exp(-b L)``, ``L = log cosh(s)``.

    As in `gibbsppl.runtime.polya_gamma`, where the contour is explained.
    """
    v = _saddle(b, x)
    w, total, height = sqrt(v), 0.0, 0.0
    first = 0j
    for k in range(NUMBER_OF_NODES):
        y = k * STEP / sqrt(x)
        away = complex(-y * y, 2.0 * w * y)
        log_cosh, slope = _log_cosh(v - POLE + away, v + away)
        if k == 0:
            first = log_cosh
            height = (v - POLE) * x - b * log_cosh.real
        fall = away * x - b * (log_cosh - first)
        term = (complex(w, y) * slope * cmath.exp(fall)).real
        total += term * (2 * STEP / pi if k > 0 else STEP / pi)
    return height + log(b) - 1.5 * log(x) + log(total)


@kernel
def _saddle(b: float, x: float) -> float:
    """About the t + POLE > 0 of least ``exp(t x) L' exp(-b L)``: where ``b L' + 1 / v = x``.

    Newton's method on 1 / x, which is concave in v, from below.
    """
    v = max((b + 1.0) / x, (b / x) * (b / x) / 8.0)
    for _ in range(8):
        mean, variance = mean_and_variance(v / 4.0)
        there = b * mean / 4.0 + 1.0 / v
        v += (there / x - 1.0) * there / (b * variance / 16.0 + 1.0 / (v * v))
    return v


@kernel
def _log_cosh(t: complex, v: complex) -> tuple[complex, complex]:
    """``log cosh(s)`` and its derivative ``tanh(s) / (4 s)``, ``s = sqrt(t / 2)``; v is t + POLE.

    Analytic but for the cut, and exact to rounding next to t = 0 and to the pole.
    """
    s = cmath.sqrt(t / 2.0)
    if abs(t) < 0.5:
        r = s if s != 0.0 else complex(TINY, 0.0)
        half = cmath.sinh(r / 2.0)
        more = 2.0 * half * half  # cosh(s) - 1
        real = log1p(more.real * (2.0 + more.real) + more.imag * more.imag) / 2.0
        return complex(real, atan2(more.imag, 1.0 + more.real)), cmath.tanh(r) / (4.0 * r)
    if abs(v) < 1.0:
        angle = cmath.sqrt(POLE - v) / sqrt(2.0)  # s is i times this
        gap = v / 2.0 / (pi / 2.0 + angle)  # pi / 2 - angle
        return cmath.log(cmath.sin(gap)), 1.0 / cmath.tan(gap) / (4.0 * angle)
    decay = cmath.exp(-2.0 * s)
    value = s + cmath.log(1.0 + decay) - LOG_2
    return value, (1.0 - decay) / (1.0 + decay) / (4.0 * s)
