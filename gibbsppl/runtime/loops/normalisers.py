"""The logs of normalisers of numbers: Bessel functions and Fox and Wright's; their derivatives."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from gibbsppl.runtime.incomplete import EPS
from gibbsppl.runtime.normalisers import (
    DEBYE,
    LARGE_ARGUMENT,
    LARGE_ORDER,
    LOG_ROOT_2_PI,
    LOG_ROOT_HALF_PI,
    LOWEST,
    PEAKED,
    STEP,
    WIDEST,
)

from . import kernel
from .gamma_functions import loggamma

APART: Mapping[str, str] = {}

# Up to here the power series of I takes about as many terms; beyond, Hankel's expansion ends soon.
FEW_TERMS = 1000.0
# A sum this large is put into the exponent.
LARGEST = 1e250
# The expansion of large orders: the coefficients of its polynomials, padded to one length.
COUNT, LENGTH = len(DEBYE), max(len(p.coef) for p in DEBYE)
COEFFICIENTS = np.array([np.pad(p.coef, (0, LENGTH - len(p.coef))) for p in DEBYE])
# The nodes of `log_fox_wright`.
FIRST, NODES = -36.0, 632


@kernel
def log_bessel_i(order: float, x: float) -> float:
    """The log of the modified Bessel function I of an order above -1, at x >= 0."""
    if np.isnan(order) or np.isnan(x) or x < 0.0:
        return np.nan
    if x == 0.0:
        return 0.0 if order == 0.0 else -np.inf if order > 0.0 else np.inf
    if order >= LARGE_ORDER:
        return _log_of_large_order(order, x, 1.0)
    return _log_power_series(order, x) if x <= FEW_TERMS else _log_of_large_argument(order, x, 1.0)


@kernel
def log_bessel_k(order: float, x: float) -> float:
    """The log of the modified Bessel function K of any order, at x > 0."""
    if np.isnan(order) or np.isnan(x) or x < 0.0:
        return np.nan
    if x == 0.0:
        return np.inf
    order = abs(order)
    if order >= LARGE_ORDER:
        return _log_of_large_order(order, x, -1.0)
    if x > LARGE_ARGUMENT:
        return _log_of_large_argument(order, x, -1.0)
    return _log_cosh_integral(order, x)


@kernel
def _log_power_series(order: float, x: float) -> float:
    """The power series of I, all of whose terms are positive: DLMF 10.25.2."""
    half = 0.5 * x
    rest, term, exponent, k = 0.0, 1.0, 0.0, 0
    while k < half or term > 0.25 * EPS * rest:
        k += 1
        term *= half / k * (half / (order + k))
        rest += term
        if rest > LARGEST:
            exponent += np.log(rest)
            term /= rest
            rest = 1.0
        if term == 0.0:
            break
    log_sum = np.log1p(rest) if exponent == 0.0 else exponent + np.log(rest)
    power = 0.0 if order == 0.0 else order * np.log(half)
    return power - loggamma(order + 1.0) + log_sum


@kernel
def _log_of_large_argument(order: float, x: float, sign: float) -> float:
    """Hankel's expansion of I (sign 1) or K (sign -1) in 1 / x: DLMF 10.40.1 and 10.40.2."""
    term, total, k = 1.0, 1.0, 0
    while abs(term) > 0.25 * EPS * abs(total) and k < FEW_TERMS:
        k += 1
        term = -sign * term * ((2 * order) ** 2 - (2 * k - 1) ** 2) / (8 * k) / x
        total += term
    constant = -LOG_ROOT_2_PI if sign > 0.0 else LOG_ROOT_HALF_PI
    return constant - np.log(x) / 2 + sign * x + np.log(total)


@kernel
def _log_of_large_order(order: float, x: float, sign: float) -> float:
    """Debye's expansion of I (sign 1) or K (sign -1) in 1 / v: DLMF 10.41.3 and 10.41.4."""
    z = x / order
    root = math.hypot(1.0, z)
    exponent = root + np.log(z) - np.log1p(root)
    total = 0.0
    for n in range(COUNT - 1, -1, -1):
        own = 0.0
        for power in range(LENGTH - 1, -1, -1):
            own = own / root + COEFFICIENTS[n, power]
        total = total * (sign / order) + own
    constant = -LOG_ROOT_2_PI if sign > 0.0 else LOG_ROOT_HALF_PI
    return constant - np.log(order * root) / 2 + sign * order * exponent + np.log(total)


@kernel
def _log_cosh_integral(order: float, x: float) -> float:
    """The integral of ``exp(-x cosh(t)) cosh(v t)`` over t > 0 by the trapezoid rule: DLMF 10.32.9.

    The error falls as an exponential of the inverse of the step, in proportion to the width of the
    peak at ``sinh(t) == v / x``.
    """
    size = math.hypot(x, order)
    centre = math.asinh(order / x)
    step = min(WIDEST, 0.6 / np.sqrt(size)) if size > 0.0 else WIDEST
    height = order * centre - 2.0 * x * math.sinh(0.5 * centre) ** 2
    total, t, fall = 0.0, 0.0, 0.0
    while t <= centre or fall > LOWEST:
        fall = order * t - 2.0 * x * math.sinh(0.5 * t) ** 2 - height
        if fall > LOWEST:
            share = 0.5 * np.exp(fall) * (1.0 + np.exp(-2.0 * order * t))
            total += 0.5 * share if t == 0.0 else share
        t += step
    return height - x + np.log(total * step)


@kernel
def log_bessel_k_by_order(order: float, x: float) -> float:
    """The derivative of `log_bessel_k` by its order, at x > 0."""
    if np.isnan(order) or np.isnan(x) or x < 0.0:
        return np.nan
    if order == 0.0:
        return 0.0
    if x == 0.0:
        return np.copysign(np.inf, order)
    size = abs(order)
    ratio = size / x
    peak = math.asinh(ratio) if ratio < np.inf else np.log(2.0 * size) - np.log(x)
    mean = peak if math.hypot(size, x) >= PEAKED else _mean_of_cosh(size, x, peak)
    return np.copysign(mean, order)


@kernel
def _mean_of_cosh(order: float, x: float, peak: float) -> float:
    """The mean of t in `_log_cosh_integral`, from the peak on to both sides."""
    root = math.hypot(order, x)
    step = min(WIDEST, 0.6 / np.sqrt(root))
    above, below = (root + order) / 2, x * (x / (root + order)) / 2
    middle = np.floor(peak / step)
    total, mean = 0.0, 0.0
    for side in (-1.0, 1.0):
        k = middle if side < 0.0 else middle + 1.0
        fall = 0.0
        while fall > LOWEST and k >= 0.0:
            t = k * step
            fall = -above * _curved(t - peak) - below * _curved(peak - t)
            share = (0.5 if k == 0.0 else 1.0) * np.exp(fall)
            odd = -np.expm1(-2.0 * order * t)
            total += share * (2.0 - odd)
            mean += t * share * odd
            k += side
    return mean / total


@kernel
def log_fox_wright(a: float, z: float) -> float:
    """The log of the sum over k of ``gamma((a + k) / 2) z**k / k!``, for a > 1e-13 and any z."""
    centre, width, total, _ = _peaked(a, z)
    height = a * np.log(centre) + (z - centre) * centre + np.log(2 * width)
    return height + np.log(total * STEP)


@kernel
def log_fox_wright_by_shape(a: float, z: float) -> float:
    """The derivative of `log_fox_wright` by a: the mean of ``log x``."""
    centre, _, total, mean = _peaked(a, z)
    return np.log(centre) + mean / total


@kernel
def _peaked(a: float, z: float) -> tuple[float, float, float, float]:
    """Centre and width of the peak, and the sums over nodes of weights, and of these times d."""
    above = max(a, 1.0)
    root = math.hypot(z, np.sqrt(8 * above))
    centre = (root + z) / 4 if z > 0.0 else 2 * above / (root - z)
    width = 1 / np.sqrt(centre) / np.sqrt(root)
    beyond = np.log((2 * centre + max(z, 0.0) + 40) / centre)
    total, mean = 0.0, 0.0
    for n in range(NODES):
        node = FIRST + n * STEP
        d = min(width * math.sinh(node), beyond)
        weight = np.exp(_fall(d, a, above, z, centre)) * math.cosh(node)
        total += weight
        mean += weight * d
    return centre, width, total, mean


@kernel
def _fall(d: float, a: float, above: float, z: float, centre: float) -> float:
    """The log of the integrand at ``centre * exp(d)``, that at the centre taken off."""
    if abs(d) <= 1.0:
        return (a - above) * d + z * centre * _curved(d) - centre**2 * _curved(2 * d)
    return a * d + z * centre * np.expm1(d) - centre**2 * np.expm1(2 * d)


@kernel
def _curved(d: float) -> float:
    """``exp(d) - 1 - d``, by its series where d is small."""
    if abs(d) > 0.2:
        return np.expm1(d) - d
    series = 1.0
    for k in range(14, 2, -1):
        series = 1.0 + d / k * series
    return d * d / 2 * series
