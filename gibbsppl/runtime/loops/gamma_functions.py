"""The gamma function of a number and its relatives, complete and incomplete, in logs."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from scipy.special import zetac

from gibbsppl.runtime.incomplete import (
    EPS,
    FAR,
    FEW_LOST,
    LARGE,
    NEXT_TO,
    SECOND,
    STIRLING,
    STIRLING_SERIES,
    TINY,
)

from . import kernel
from .normal_functions import HALF_LOG_2_PI, log_one_minus_exp, normal_log_cdf

APART: Mapping[str, str] = {}

ONE_LESS_EULER = 1.0 - float(np.euler_gamma)
LOG_PI = math.log(math.pi)
LOG_HALF = math.log(0.5)
# The series of log(gamma(2 + a)) from a**2 on, for a up to one half: DLMF 5.7.3.
LOG_GAMMA_SERIES = tuple((-1) ** k * float(zetac(k)) / k for k in range(2, 27))

# The series of digamma in inverse even powers, ``B[2k] / (2k)``, from here on: DLMF 5.11.2.
FROM_SERIES = 10.0
DIGAMMA_SERIES = (
    1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12, -3617 / 8160,
)  # fmt: skip

# Up to here the upper incomplete gamma function has a series: DLMF 8.7.3.
LOW = 1.1
# The fraction takes fewer terms than this wherever it is used, and does not wait for ever.
MOST_TERMS = 100_000


@kernel
def loggamma(x: float) -> float:
    """``log(abs(gamma(x)))``; infinite at 0, -1, -2, ..."""
    if x > 0.0:
        return _log_gamma_above_0(x)
    if not np.isfinite(x):
        return x
    if x == np.floor(x):
        return np.inf
    sine = np.sin(np.pi * abs(x - np.floor(x + 0.5)))
    return LOG_PI - np.log(sine) - np.log(-x) - _log_gamma_above_0(-x)


@kernel
def digamma(x: float) -> float:
    """The derivative of ``log(gamma(x))``: Stirling's series (DLMF 5.11.2) beyond recurrences."""
    if x <= 0.0:
        if x == np.floor(x):
            return np.nan
        return digamma(1.0 - x) - np.pi / np.tan(np.pi * x)
    below = 0.0
    while x < FROM_SERIES:
        below += 1.0 / x
        x += 1.0
    inverse = 1.0 / (x * x)
    series = 0.0
    for k in range(len(DIGAMMA_SERIES) - 1, -1, -1):
        series = (series + DIGAMMA_SERIES[k]) * inverse
    return np.log(x) - 0.5 / x - series - below


@kernel
def _log_gamma_above_0(x: float) -> float:
    """The same of a positive number: Stirling's series, or by recurrence from near 2."""
    if x >= STIRLING:
        return (x - 0.5) * np.log(x) - x + HALF_LOG_2_PI + stirling_rest(x) if x < np.inf else x
    if x < 0.5:
        return _log_gamma_2p(x) - np.log1p(x) - np.log(x)
    if x < 1.5:
        return _log_gamma_2p(x - 1.0) - np.log1p(x - 1.0)
    product = 1.0
    while x > 2.5:
        x -= 1.0
        product *= x
    return _log_gamma_2p(x - 2.0) + np.log(product)


@kernel
def _log_gamma_2p(a: float) -> float:
    """``log(gamma(2 + a))`` for a up to one half."""
    total = 0.0
    for n in range(len(LOG_GAMMA_SERIES) - 1, -1, -1):
        total = total * a + LOG_GAMMA_SERIES[n]
    return a * (ONE_LESS_EULER + a * total)


@kernel
def stirling_rest(x: float) -> float:
    """``log(gamma(x))`` without Stirling's formula, for x from ``STIRLING`` on: DLMF 5.11.1."""
    y = 1.0 / x
    total = 0.0
    for n in range(len(STIRLING_SERIES) - 1, -1, -1):
        total = total * (y * y) + STIRLING_SERIES[n]
    return total * y


@kernel
def log_beta(a: float, b: float) -> float:
    """The log of the beta function, with all digits where one argument is large, one is not."""
    if np.isnan(a) or np.isnan(b):
        return np.nan
    return loggamma(min(a, b)) - log_rising(max(a, b), min(a, b))


@kernel
def log_rising(a: float, m: float) -> float:
    """``log(gamma(a + m)) - log(gamma(a))``, with all digits where these nearly cancel."""
    if np.isnan(a) or np.isnan(m):
        return np.nan
    low, step = min(a, a + m), abs(m)
    sign = 1.0 if m > 0.0 else -1.0
    if low >= STIRLING and low + step < np.inf:
        return sign * _log_rising_large(low, step)
    above, under = loggamma(a + m), loggamma(a)
    found = above - under
    largest = max(abs(above), abs(under), 1.0)
    if low > 0.0 and 0.0 < step < 1.0 and abs(found) < FEW_LOST * largest:
        return sign * _log_rising_close(low, step)
    return found


@kernel
def _log_rising_large(a: float, m: float) -> float:
    """The log of a rising factorial by Stirling's series at both ends, without cancellation."""
    share = m / a
    growth = np.log1p(share)
    slope = growth / share if share > 0.0 else 1.0
    x, y = 1.0 / (a + m), 1.0 / a
    at_square, slope_of_squares = 0.0, 0.0
    for n in range(len(STIRLING_SERIES) - 1, -1, -1):
        slope_of_squares = slope_of_squares * (x * x) + at_square
        at_square = at_square * (y * y) + STIRLING_SERIES[n]
    rest = at_square + (x * x + x * y) * slope_of_squares
    return m * (np.log(a + m) + (slope - 1.0)) - growth / 2 - m * x * y * rest


@kernel
def _log_rising_close(a: float, m: float) -> float:
    """From farther on, where it is large: each step back is a logarithm."""
    back = 0.0
    for n in range(int(STIRLING)):
        share = m / (a + n)
        back += np.log1p(share) if share < 0.5 else np.log((a + n + m) / (a + n))
    return _log_rising_large(a + STIRLING, m) - back


@kernel
def log_gamma_p(a: float, x: float) -> float:
    """The log of the lower regularised incomplete gamma function, also where that underflows."""
    return _log_gamma_tails(a, x)[0]


@kernel
def log_gamma_q(a: float, x: float) -> float:
    """The log of the upper regularised incomplete gamma function, also where that underflows."""
    return _log_gamma_tails(a, x)[1]


@kernel
def log_gamma_u(a: float, x: float) -> float:
    """``x + log_gamma_q(a, x)``, also where x takes all digits."""
    if not (a > 0.0 and 2.0 * a + FAR < x < np.inf):
        return x + log_gamma_q(a, x)
    head = a * np.log(x) - log_gamma_1p(a)
    if a >= STIRLING:
        head = a * np.log(x / a) + a - HALF_LOG_2_PI - 0.5 * np.log(a) - stirling_rest(a)
    return head + np.log(a) + _log_legendre(a, x)


@kernel
def _log_gamma_tails(a: float, x: float) -> tuple[float, float]:
    """The logs of both incomplete gamma functions."""
    if not (a >= 0.0 and x >= 0.0) or (a == 0.0 and x == 0.0) or (a == np.inf and x == np.inf):
        return np.nan, np.nan
    if x == 0.0 or a == np.inf:
        return -np.inf, 0.0
    if a == 0.0 or x == np.inf:
        return 0.0, -np.inf
    if a == 1.0:
        return log_one_minus_exp(-x), -x
    if a >= LARGE and abs(x - a) <= NEXT_TO * a:
        return _log_next_to(a, x)
    head = _log_gamma_head(a, x)
    if x > a + 1.0 and x > LOW:
        log_q = head + np.log(a) + _log_legendre(a, x)
        return log_one_minus_exp(log_q), log_q
    log_p = head + np.log(_series(a, x))
    if x <= LOW and log_p > LOG_HALF:
        q = _above(a, x)
        return np.log1p(-q), np.log(q) if q > 0.0 else -np.inf
    return log_p, log_one_minus_exp(log_p)


@kernel
def _series(a: float, x: float) -> float:
    """``1 + x / (a + 1) + x**2 / (a + 1) / (a + 2) + ...``: DLMF 8.11.4."""
    total = term = 1.0
    n = 0
    while term > EPS / 4 * total:
        n += 1
        term *= x / (a + n)
        total += term
    return total


@kernel
def _above(a: float, x: float) -> float:
    """The upper function of small arguments, with all digits where it is small: DLMF 8.7.3."""
    total, term, n = 0.0, 1.0, 0
    while abs(term) > EPS / 4:
        n += 1
        term *= -x / n
        total += term / (a + n)
    log = a * np.log(x) - log_gamma_1p(a)
    return -np.expm1(log) - a * np.exp(log) * total


@kernel
def _log_gamma_head(a: float, x: float) -> float:
    """``log(x**a exp(-x) / gamma(a + 1))``: for large a from how far x is from a."""
    if a < STIRLING:
        return a * np.log(x) - x - log_gamma_1p(a)
    return a * _log_less_line(x, a) - HALF_LOG_2_PI - 0.5 * np.log(a) - stirling_rest(a)


@kernel
def _log_less_line(x: float, y: float) -> float:
    """``log(x / y) - (x / y - 1)``, with all digits of what is near 0."""
    share = (x - y) / y
    return np.log(x / y) - share if abs(share) > 0.5 else less_line(share)


@kernel
def less_line(share: float) -> float:
    """``log(1 + share) - share`` of up to one half, with all digits of what is near 0."""
    # (log(1 + s) is twice the inverse hyperbolic tangent of s / (2 + s))
    r = share / (2.0 + share)
    total, power, k = 0.0, 1.0, 3
    while power > EPS / 4:
        total += power / k
        power *= r * r
        k += 2
    return 2.0 * r * r * r * total - r * share


@kernel
def log_gamma_1p(a: float) -> float:
    """``log(gamma(1 + a))`` of a positive number, with all digits of a small one."""
    return _log_gamma_2p(a) - np.log1p(a) if a <= 0.5 else _log_gamma_above_0(a + 1.0)


@kernel
def _log_legendre(a: float, x: float) -> float:
    """The log of Legendre's continued fraction, ``1 / (x + 1 - a + ..)``, by Lentz's method."""
    fraction, c, d, change, n = 1.0, 1.0, 0.0, 0.0, 0
    while abs(change - 1.0) > 2 * EPS and n < MOST_TERMS:
        n += 1
        r = n * ((a - n) / (x + (2 * n + 1 - a)) / (x + (2 * n - 1 - a)))
        c, d = 1.0 + r / c, 1.0 + r * d
        c = TINY if c == 0.0 else c
        d = 1.0 / (TINY if d == 0.0 else d)
        change = c * d
        fraction *= change
    return -np.log(x + 1.0 - a) - np.log(fraction)


@kernel
def _log_next_to(a: float, x: float) -> tuple[float, float]:
    """Both logs for a large shape next to x, by the expansion of N. M. Temme (1979)."""
    share = (x - a) / a
    exponent = a * _log_less_line(x, a)
    eta = np.copysign(np.sqrt(-2.0 * exponent / a), share)
    # eta / share is the root of 1 + share * rest; the first term is 1 / share - 1 / eta
    rest = 0.0
    for k in range(18, 0, -1):
        rest = -rest * share - 2.0 / (k + 2)
    root = np.sqrt(1.0 + share * rest)
    second = 0.0
    for n in range(len(SECOND) - 1, -1, -1):
        second = second * eta + SECOND[n]
    terms = rest / (root * (root + 1.0)) + second / a
    log_p, log_q = normal_log_cdf(eta * np.sqrt(a)), normal_log_cdf(-eta * np.sqrt(a))
    scale = exponent - HALF_LOG_2_PI - 0.5 * np.log(a)
    log_p += np.log1p(-np.exp(scale - log_p) * terms)
    log_q += np.log1p(np.exp(scale - log_q) * terms)
    return log_p, log_q
