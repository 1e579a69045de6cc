"""The logs of incomplete beta functions of numbers, from the tail in which they are small."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from gibbsppl.runtime.incomplete import EPS, STIRLING, TINY

from . import kernel
from .gamma_functions import (
    less_line,
    log_beta,
    log_gamma_1p,
    log_gamma_p,
    log_rising,
    stirling_rest,
)
from .normal_functions import HALF_LOG_2_PI, log_one_minus_exp

APART: Mapping[str, str] = {}

# The fraction takes about as many terms as the root of the larger shape; none waits for ever.
MOST_TERMS = 20_000
# The power series is for what is so near to an end, for the size of the shapes.
NEXT_TO = 0.7
LOG_TINY = math.log(TINY)


@kernel
def log_beta_i(a: float, b: float, x: float) -> float:
    """The log of the regularised incomplete beta function, also where that underflows."""
    return _log_lower_tail(a, b, x, 1.0 - x)


@kernel
def log_beta_i_1p(a: float, b: float, y: float) -> float:
    """``log_beta_i(a, b, 1 + y)``, with all digits of a small y."""
    return _log_lower_tail(a, b, 1.0 + y, -y)


@kernel
def log_gamma_p_of_exp(a: float, u: float) -> float:
    """``log_gamma_p(a, exp(u))``, also where the exponential underflows."""
    return a * u - log_gamma_1p(a) if u < LOG_TINY else log_gamma_p(a, np.exp(u))


@kernel
def _log_lower_tail(a: float, b: float, x: float, y: float) -> float:
    """The log of the mass below x, where y is ``1 - x``."""
    if not (a > 0.0 and b > 0.0 and x >= 0.0 and y >= 0.0):
        return np.nan
    if x == 0.0 or y == 0.0:
        return -np.inf if x == 0.0 else 0.0
    size = a + b + 1.0
    if size * x <= NEXT_TO:
        return min(_log_next_to_0(a, b, x), 0.0)
    if size * y <= NEXT_TO:
        return log_one_minus_exp(min(_log_next_to_0(b, a, y), 0.0))
    if b * x <= a * y:
        return min(_log_below_mean(a, b, x, y), 0.0)
    return log_one_minus_exp(min(_log_below_mean(b, a, y, x), 0.0))


@kernel
def _log_next_to_0(a: float, b: float, x: float) -> float:
    """``x**a / (a beta(a, b))`` times a power series: DLMF 8.17.7."""
    total, term, n = 0.0, 1.0, 0
    while abs(term) > 0.25 * EPS * abs(total) or n < 2:
        n += 1
        term *= (n - b) / n * x
        total += term / (a + n)
        if term == 0.0:
            break
    return a * np.log(x) - _log_shape(a, b) + np.log1p(a * total)


@kernel
def _log_shape(a: float, b: float) -> float:
    """``log(a beta(a, b))``, with all digits where a is small."""
    return log_gamma_1p(a) - log_rising(b, a) if a <= 1.0 else np.log(a) + log_beta(a, b)


@kernel
def _log_below_mean(a: float, b: float, x: float, y: float) -> float:
    """``x**a y**b / (a beta(a, b))`` over a continued fraction, which converges below the mean.

    A. R. DiDonato and A. H. Morris (1992, ACM Transactions on Mathematical Software 18, 360-373).
    """
    first = (a + b) * x / (a + 1.0)
    rest = first * (b - 1.0) * x / (a + 1.0) / _fraction(a, b, x, y)
    if first < 0.5:
        return _log_head(a, b, x, y) - np.log1p(rest - first)
    return _log_head(a, b, x, y) - np.log((a * y - b * x + 1.0) / (a + 1.0) + rest)


@kernel
def _log_head(a: float, b: float, x: float, y: float) -> float:
    """``log(x**a y**b / (a beta(a, b)))``: for large a and b from how far x is from the mean."""
    if min(a, b) < STIRLING:
        log_x = np.log1p(-y) if y < 0.5 else np.log(x)
        log_y = np.log1p(-x) if x < 0.5 else np.log(y)
        return a * log_x + b * log_y - _log_shape(a, b)
    n, gap = a + b, x * b - y * a
    peak = 0.5 * (np.log(b / n) - np.log(a)) - HALF_LOG_2_PI
    peak += stirling_rest(n) - stirling_rest(a) - stirling_rest(b)
    return a * _less_line(gap / a, x * n / a) + b * _less_line(-gap / b, y * n / b) + peak


@kernel
def _less_line(share: float, ratio: float) -> float:
    """``log(ratio) - share``, where the ratio is ``1 + share``."""
    return np.log(ratio) - share if abs(share) > 0.5 else less_line(share)


@kernel
def _fraction(a: float, b: float, x: float, y: float) -> float:
    """The part of the fraction from its second denominator on, by Lentz's method."""
    away = a * y - b * x + 1.0
    m = 1
    fraction = _denominator(a, b, x, away, m)
    c, d, change = fraction, 0.0, 0.0
    while abs(change - 1.0) > 2 * EPS and m < MOST_TERMS:
        m += 1
        place = a + 2 * m - 1.0
        top = (a + m - 1.0) / place * ((a + b + m - 1.0) / place) * m * (b - m) * x * x
        below = _denominator(a, b, x, away, m)
        c, d = below + top / c, below + top * d
        c = TINY if c == 0.0 else c
        d = 1.0 / (TINY if d == 0.0 else d)
        change = c * d
        fraction *= change
    return fraction


@kernel
def _denominator(a: float, b: float, x: float, away: float, m: int) -> float:
    """A denominator of the fraction."""
    own = m * ((b - m) * x / (a + 2 * m - 1.0))
    return m + own + (a + m) / (a + 2 * m + 1.0) * (away + m * (2.0 - x))
