"""The Pólya-Gamma distribution: its log density, and the saddle point approximation of that.

PG(b, 0) has the Laplace transform ``cosh(sqrt(t / 2))**-b``, and PG(b, c) the density of PG(b, 0)
times ``exp(-c**2 x / 2)``, normalised: Polson, Scott and Windle (2013), Journal of the American
Statistical Association 108. Four times a PG(b, 2z) variable is J*(b, z), for which formulas are
shorter: its cumulant function at a tilt ``u`` is ``b K(u)``, ``K(u) = -log cos(sqrt(2 u))``, finite
below ``u = pi**2 / 8``.

>>> round(float(log_polya_gamma(1.0, 0.25)), 12)
0.604021334675
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from gibbsppl.runtime.draws import TINY
from gibbsppl.runtime.types import Floats, Numbers

# The tilt at which K is infinite, and the same point of the Laplace transform, at t = -POLE.
END = math.pi**2 / 8
POLE = 4 * END

# The trapezoid rule of the inversion, in units of 1 / sqrt(x): the integrand falls at least as
# exp(-node**2), and its nearest singularity is at least one unit away.
STEP = 1 / 8
NODES = np.arange(0.0, 6.5, STEP)
WEIGHTS = np.where(NODES > 0.0, 2 * STEP, STEP) / math.pi

Complexes = NDArray[np.complex128]

# Elements taken at once, as the inversion makes arrays of nodes.
AT_ONCE = 1000

# About 0 derivatives of K are those of its Taylor series, K' = sum of TANGENT[k] u**k.
ABOUT_0 = 0.02


def _coefficients(count: int) -> tuple[float, ...]:
    """Of ``K' = tan(s) / s``, ``s**2 = 2 u``, by ``1 - K' + 2 u K'**2 = 2 u K''``.

    >>> np.allclose(_coefficients(3), (1, 2 / 3, 8 / 15), rtol=1e-15)
    True
    """
    found = [1.0]
    for k in range(1, count):
        total = sum(a * b for a, b in zip(found, found[::-1], strict=True))
        found.append(2.0 * total / (2 * k + 1))
    return tuple(found)


TANGENT = _coefficients(10)


@np.errstate(all="ignore")
def log_polya_gamma(b: Numbers, x: Numbers) -> Numbers:
    """The log density of PG(b, 0) at x; ``-inf`` where x is not positive, or b is 0.

    >>> round(float(log_polya_gamma(1.0, 0.25)), 12)
    0.604021334675
    """
    b, x = np.broadcast_arrays(np.asarray(b, float), np.asarray(x, float))
    result = np.where(np.isnan(b + x) | (b < 0.0), np.nan, -np.inf)
    inside = (b > 0.0) & (x > 0.0) & (x < np.inf)
    # The next term of the series over the first one: (b + 2) exp(-(b + 1) / (2 x)).
    one_term = inside & ((b + 1.0) / x > 2.0 * (np.log(b + 2.0) + 40.0))
    result[one_term] = log_first_term(b[one_term], x[one_term])
    (rest,) = np.nonzero((inside & ~one_term).ravel())
    for start in range(0, rest.size, AT_ONCE):
        part = rest[start : start + AT_ONCE]
        result.flat[part] = _log_inverted(b.ravel()[part], x.ravel()[part])
    return result[()]


def log_first_term(b: Floats, x: Floats) -> Floats:
    """The log of the first term of the alternating series for the density: an upper bound of it.

    It is ``2**b`` times the density of the first passage to b / 2 of a Brownian motion.
    """
    constant = (b - 1.0) * math.log(2) - math.log(2 * math.pi) / 2
    return constant + np.log(b) - 1.5 * np.log(x) - b * (b / x) / 8.0


def _log_inverted(b: Floats, x: Floats) -> Floats:
    """The log density by inverting the Laplace transform ``exp(-b L)``, ``L = log cosh(s)``.

    By parts, ``x f(x) = b * (inverse transform of L' exp(-b L))``: nothing cancels for small b.
    The contour is a parabola about the cut below -POLE, ``t + POLE = (w + i y)**2``, that meets the
    real line near the saddle point.
    """
    v = _saddle(b, x)[:, None]
    w, y = np.sqrt(v), NODES / np.sqrt(x)[:, None]
    away = y * (2j * w - y)
    log_cosh, slope = _log_cosh((v - POLE) + away, v + away)
    fall = away * x[:, None] - b[:, None] * (log_cosh - log_cosh[:, :1])
    total = ((w + 1j * y) * slope * np.exp(fall)).real @ WEIGHTS
    height = (v[:, 0] - POLE) * x - b * log_cosh[:, 0].real
    value: Floats = height + np.log(b) - 1.5 * np.log(x) + np.log(total)
    return value


def _saddle(b: Floats, x: Floats) -> Floats:
    """About the t + POLE > 0 of least ``exp(t x) L' exp(-b L)``: where ``b L' + 1 / v = x``.

    Newton's method on 1 / x, which is concave in v, from below.
    """
    v = np.maximum((b + 1.0) / x, (b / x) ** 2 / 8.0)
    for _ in range(8):
        mean, variance = mean_and_variance(v / 4.0)
        there = b * mean / 4.0 + 1.0 / v
        v = v + (there / x - 1.0) * there / (b * variance / 16.0 + 1.0 / v**2)
    return v


def _log_cosh(t: Complexes, v: Complexes) -> tuple[Complexes, Complexes]:
    """``log cosh(s)`` and its derivative ``tanh(s) / (4 s)``, ``s = sqrt(t / 2)``; v is t + POLE.

    Analytic but for the cut, and exact to rounding next to t = 0 and to the pole.
    """
    s = np.sqrt(t / 2.0)
    decay = np.exp(-2.0 * s)
    value = s + np.log(1.0 + decay) - math.log(2)
    slope = (1.0 - decay) / (1.0 + decay) / (4.0 * s)
    small, near = np.abs(t) < 0.5, np.abs(v) < 1.0
    if small.any():
        r = np.where(s[small] == 0.0, TINY, s[small])
        more = 2.0 * np.sinh(r / 2.0) ** 2  # cosh(s) - 1
        real = np.log1p(more.real * (2.0 + more.real) + more.imag**2) / 2.0
        value[small] = real + 1j * np.arctan2(more.imag, 1.0 + more.real)
        slope[small] = np.tanh(r) / (4.0 * r)
    if near.any():
        angle = np.sqrt(POLE - v[near]) / math.sqrt(2)  # s is i times this
        gap = v[near] / 2.0 / (math.pi / 2.0 + angle)  # pi / 2 - angle
        value[near] = np.log(np.sin(gap))
        slope[near] = 1.0 / np.tan(gap) / (4.0 * angle)
    return value, slope  # type: ignore[return-value]  # complex, as t is


@np.errstate(all="ignore")
def mean_and_variance(v: Floats) -> tuple[Floats, Floats]:
    """``K'(u)`` and ``K''(u)`` at ``u = END - v``: moments of J*(1), tilted."""
    u = END - v
    angle = np.maximum(np.sqrt(2.0 * np.abs(u)), 1e-100)
    tangent = np.where(u > 0.0, 1.0 / np.tan(2.0 * v / (math.pi / 2.0 + angle)), np.tanh(angle))
    mean = tangent / angle
    square = np.where(u > 0.0, tangent**2, -(tangent**2))
    variance = (1.0 + square - mean) / (2.0 * u)
    # (by the series of -log cos where that is a difference)
    series = 2 / 3 + u * (16 / 15 + u * (136 / 105 + u * (3968 / 2835)))
    return mean, np.where(np.abs(u) < 1e-3, series, variance)


@np.errstate(all="ignore")
def tilted(z: Floats) -> tuple[Floats, Floats, Floats]:
    """K', K'' and the skewness ``K' K3 / K''**2``, K3 the third derivative, at -z**2 / 2.

    All digits of z up to `FAR`.
    """
    square, e = z * z, np.exp(-2.0 * z)
    mean = (1.0 - e) / (1.0 + e) / z
    variance = (mean - 4.0 * e / ((1.0 + e) * (1.0 + e))) / square
    third = (3.0 * variance - 2.0 * mean * mean) / square + 2.0 * mean * variance
    (small,) = np.nonzero(square < 2.0 * ABOUT_0)
    if small.size:
        series = derivatives_about_0(square[small] / -2.0)
        mean[small], variance[small], third[small], _ = series
    return mean, variance, mean * third / (variance * variance)


@np.errstate(all="ignore")
def correction(u: Floats, y: Floats, variance: Floats) -> Floats:
    """The coefficient of 1 / b in the log of the density over its saddle point approximation."""
    third = (2.0 * y * y - 3.0 * variance) / (2.0 * u) + 2.0 * y * variance
    fourth = (8.0 * y * variance - 5.0 * third) / (2.0 * u)
    fourth += 2.0 * (variance * variance + y * third)
    (small,) = np.nonzero(np.abs(u) < ABOUT_0)
    _, _, third[small], fourth[small] = derivatives_about_0(u[small])
    square = variance * variance
    value: Floats = fourth / square / 8.0 - 5.0 * third * third / (24.0 * square * variance)
    return value


def derivatives_about_0(u: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """The first four derivatives of K at u: a Taylor series and its derivatives."""
    first = second = third = fourth = np.zeros(u.shape)
    for coefficient in reversed(TANGENT):
        fourth = fourth * u + 3.0 * third
        third = third * u + 2.0 * second
        second = second * u + first
        first = first * u + coefficient
    return first, second, third, fourth


@np.errstate(all="ignore")
def saddle_exponent(y: Floats) -> tuple[Floats, Floats, Floats]:
    """``K(u) - u y``, ``K''(u)`` and u, at the u with ``K'(u) = y``.

    Newton's method on 1 / y, from within 1 % of ``END - u``; the exponent is stationary there.
    """
    v = 0.5 / y**2 + 1.0 / (y + 0.2974 + 0.513 / (1.0 + 6.8 * y))
    for _ in range(3):
        mean, variance = mean_and_variance(v)
        v = v + (mean / y - 1.0) * mean / variance
    mean, variance = mean_and_variance(v)
    u = END - v
    angle = np.sqrt(2.0 * np.abs(u))
    cosine = np.log(np.sin(2.0 * v / (math.pi / 2.0 + angle)))
    cosh = angle + np.log1p(np.exp(-2.0 * angle)) - math.log(2)
    return -np.where(u > 0.0, cosine, cosh) - u * y, variance, u
