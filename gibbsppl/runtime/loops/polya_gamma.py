"""Draws of one Pólya-Gamma number: the algorithms of `gibbsppl.runtime.polya_gamma` on numbers.

The log density is there for the few candidates that bounds do not decide.

>>> import numpy as np
>>> float(round(polya_gamma(np.random.default_rng(1), -0.5, 1e6), -3))
231000.0
"""

from __future__ import annotations

import cmath
from collections.abc import Mapping
from math import atan2, exp, floor, inf, log, log1p, pi, sin, sqrt, tan, tanh

import numpy as np

from gibbsppl.runtime.draws import TINY
from gibbsppl.runtime.polya_gamma import (
    BEND,
    BEYOND,
    CLOSE,
    FAR,
    LEAST,
    LEFT,
    LEVY,
    NEAR,
    NORMAL,
    ROUNDING,
    SECOND,
    SEEN,
    SPLIT,
    SUMMED,
    SURE,
    TERMS,
    TINIEST,
)
from gibbsppl.runtime.polya_gamma_density import ABOUT_0, END, NODES, POLE, STEP, TANGENT
from gibbsppl.runtime.types import Generator

from . import kernel
from .elementary import exp_of, log_of
from .rejection import inverse_gaussian

APART: Mapping[str, str] = {
    "polya_gamma": "whole arrays are drawn in rounds, and have normal tails by their quantiles",
}

LOG_2 = log(2.0)
FIRST = -log(2 * pi) / 2
NUMBER_OF_NODES = len(NODES)
# Where the normal number begins of which 1 / N**2 is left of the split, and the best rate of
# exponential candidates for it.
FROM = 1.0 / sqrt(SPLIT)
STEEP = (FROM + sqrt(FROM * FROM + 4.0)) / 2.0


@kernel
def polya_gamma(rng: Generator, eta_1: float, b: float) -> float:
    """A draw with log density ``eta_1 x + log_polya_gamma(b, x)``, ``eta_1 <= 0``; 0 where b is 0.

    It is PG(b, c), ``c = sqrt(-2 eta_1)``, exact to rounding; above 1e30 it is Normal.
    """
    if not (-inf < eta_1 <= 0.0 and 0.0 <= b < inf):
        raise ValueError("a draw of a Polya-Gamma number needs eta_1 <= 0 and b >= 0")
    if b == 0.0:
        return 0.0
    kept, z = max(float(b), LEAST), sqrt(-eta_1 / 2.0)
    if kept > NORMAL:
        mean, variance = mean_and_variance(END - eta_1 / 4.0)
        x = kept / 4.0 * (mean + sqrt(variance) / sqrt(kept) * rng.standard_normal())
    elif kept <= SUMMED and kept == floor(kept) and z <= NEAR:
        x = _sum(rng, z, int(kept))
    elif kept < 1.0 or z > (FAR if kept > SUMMED else NEAR):
        x = _by_first_term(rng, eta_1, kept)
    else:
        x = _by_saddle(rng, z, kept)
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
def _sum(rng: Generator, z: float, b: int) -> float:
    """A sum of b draws of PG(1, 2 z), a quarter of J*(1, z).

    Candidates are from the first terms of the series on both sides of the split. Right of it an
    exponential tail; left of it 1 / N**2 of a Normal tail, thinned by the tilt, or for a large tilt
    an inverse Gaussian variable, taken if it is left of the split.
    """
    half, rate = z * z / 2.0, END + z * z / 2.0
    ratio = exp(max(z, LEVY) - rate * SPLIT) * (pi / 4) / rate
    share, total, left = ratio / (1.0 + ratio), 0.0, b
    while left > 0:
        level = rng.random()
        if rng.random() < share:
            x = SPLIT + rng.standard_exponential() / rate
        elif z < LEVY:
            drawn = rng.standard_exponential()
            gap = (drawn - 1.0) / STEEP
            while 0.5 * gap * gap > rng.standard_exponential():
                drawn = rng.standard_exponential()
                gap = (drawn - 1.0) / STEEP
            root = FROM + drawn / STEEP
            x = 1.0 / (root * root)
            level *= exp(half * x)
        else:
            x = inverse_gaussian(rng, -half, -0.5)
            if x > SPLIT:
                level = inf
        if level <= SURE or (level <= 1.0 and level <= _alternating(x)):
            total += x
            left -= 1
    return total / 4.0


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
        if _in_density(rng.random(), b, x):
            return x


@kernel
def _in_density(level: float, b: float, x: float) -> bool:
    """Whether a level over the first term is at most the density.

    Partial sums of the series are in turn above and below it, from where terms become smaller. What
    these do not decide, within rounding, is decided by the density itself.
    """
    if level > 1.0 or (b < 1.0 and x > BEYOND and level > LEFT):
        return False
    term, total, slack = 1.0, 1.0, ROUNDING
    for k in range(TERMS):
        ratio = (k + b) / (k + 1.0) * (2 * k + 2 + b) / (2 * k + b)
        ratio *= exp(-(2 * k + 1 + b) / (2.0 * x))
        term *= -ratio
        after = total + term
        slack += ROUNDING * abs(term)
        if ratio < 1.0:
            if level <= min(total, after) - slack:
                return True
            if level > max(total, after) + slack:
                return False
        total = after
        if slack > SEEN:
            break
    return log_of(level) <= _log_inverted(b, x) - _log_first_term(b, x)


@kernel
def _by_saddle(rng: Generator, z: float, b: float) -> float:
    """A draw by rejection from a log-normal bound on the saddle point approximation of the density.

    As in `gibbsppl.runtime.polya_gamma`, where the bounds are explained.
    """
    mode, variance, skewness = _tilted(z)
    bent, turn = mode * mode / variance, 3.0 - skewness
    least = bent * sqrt(1.0 - turn * turn)
    slope, precision = 1.0 - skewness / 2.0, b * least - BEND
    sd = 1.0 / sqrt(precision)
    centre, off = slope / precision, 1.0 / (12.0 * b)
    while True:
        t, drop = centre + sd * rng.standard_normal(), rng.standard_exponential()
        half, away = t * t / 2.0, abs(t)
        if away < 1.0:
            above = b * bent * (1.0 + turn * t / 3.0) - b * least
            below = above + b * bent * half * (4 / 15 + away / 20) + BEND
            if drop >= half * below + off:
                break
            if drop < half * above:
                continue
        if _in_saddle(slope * t - half * precision - drop, t, b, z, mode, variance):
            break
    return b / 4.0 * mode * exp(t)


@kernel
def _in_saddle(
    level: float, t: float, b: float, z: float, mode: float, variance: float
) -> bool:
    """Whether a level, over what is at the mode, is at most the density at ``mode e**t``."""
    y = mode * exp(t)
    if not TINIEST < y < 1.0 / TINIEST:
        return False
    height = LOG_2 - z - log1p(exp(-2.0 * z))  # -log cosh(z)
    exponent, there, u = _saddle_exponent(y)
    level -= b * (exponent - z * z / 2.0 * y - height) + t + log(variance / there) / 2.0
    if level > 0.0:
        return False
    if level <= -1.0 / (12.0 * b):
        return True
    first, spread = _correction(u, y, there) / b, SECOND / (b * b)
    if level <= first - CLOSE:
        return True
    if level > first + spread + CLOSE:
        return False
    x = b * y / 4.0
    log_saddle = (log(8.0 / pi) - log(there) - log(b)) / 2.0 + b * exponent
    return _in_density(exp_of(level + log_saddle - _log_first_term(b, x)), b, x)


@kernel
def _tilted(z: float) -> tuple[float, float, float]:
    """K', K'' and the skewness ``K' K3 / K''**2``, K3 the third derivative, at -z**2 / 2."""
    square = z * z
    if square < 2.0 * ABOUT_0:
        mean, variance, third, _ = _derivatives_about_0(-square / 2.0)
    else:
        e = exp(-2.0 * z)
        mean = (1.0 - e) / (1.0 + e) / z
        variance = (mean - 4.0 * e / ((1.0 + e) * (1.0 + e))) / square
        third = (3.0 * variance - 2.0 * mean * mean) / square + 2.0 * mean * variance
    return mean, variance, mean * third / (variance * variance)


@kernel
def _correction(u: float, y: float, variance: float) -> float:
    """The coefficient of 1 / b in the log of the density over its saddle point approximation."""
    if abs(u) < ABOUT_0:
        _, _, third, fourth = _derivatives_about_0(u)
    else:
        third = (2.0 * y * y - 3.0 * variance) / (2.0 * u) + 2.0 * y * variance
        fourth = (8.0 * y * variance - 5.0 * third) / (2.0 * u) + 2.0 * (
            variance * variance + y * third
        )
    square = variance * variance
    return fourth / square / 8.0 - 5.0 * third * third / (24.0 * square * variance)


@kernel
def _derivatives_about_0(u: float) -> tuple[float, float, float, float]:
    """The first four derivatives of K at u, near 0: a Taylor series and its derivatives."""
    first = second = third = fourth = 0.0
    for k in range(len(TANGENT) - 1, -1, -1):
        fourth = fourth * u + 3.0 * third
        third = third * u + 2.0 * second
        second = second * u + first
        first = first * u + TANGENT[k]
    return first, second, third, fourth


@kernel
def _saddle_exponent(y: float) -> tuple[float, float, float]:
    """``K(u) - u y``, ``K''(u)`` and u, at the u with ``K'(u) = y``.

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
        return -log(sin(2.0 * v / (pi / 2.0 + angle))) - u * y, variance, u
    return LOG_2 - angle - log1p(exp(-2.0 * angle)) - u * y, variance, u


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
