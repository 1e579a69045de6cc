"""The logs of incomplete gamma and beta functions, also where those underflow.

Far in a tail a continued fraction converges within some dozens of terms whatever the arguments are,
where a power series may need as many terms as the largest of them.

>>> float(log_gamma_q(1.0, 1000.0))
-1000.0
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import scipy

from gibbsppl.runtime.near_zero import log_one_minus_exp
from gibbsppl.runtime.types import Flags, Floats, Numbers

__all__ = [
    "log_beta",
    "log_beta_i",
    "log_beta_i_1p",
    "log_gamma_p",
    "log_gamma_p_of_exp",
    "log_gamma_q",
    "log_rising",
]

TINY = float(np.finfo(float).tiny)
EPS = float(np.finfo(float).eps)
# The terms of the series and of the continued fractions below are fewer: none waits for ever.
MOST_TERMS = 1000

# From here on the terms of Stirling's series below leave less than a rounding.
STIRLING = 16.0
# Above twice the mean and this the fraction of a tail converges at once, and x has its digits.
FAR = 30.0
STIRLING_SERIES = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)

# From this shape on a series below the mean may have more terms than SciPy's. From the next one on,
# and next to it, two terms of Temme's expansion have all digits; the second in powers of eta.
MANY = 1e5
LARGE = 1e6
NEXT_TO = 0.1
SECOND = (-1 / 540, -1 / 288, 1 / 378, -77 / 77760, 1 / 4860)

# A difference that is no smaller than this, in proportion to what is subtracted, has its digits.
FEW_LOST = 1 / 16

# The terms of the series of log(gamma(1 + a)) + log(1 + a) leave less than a rounding up to here.
CLOSE_TO_ONE = 0.25
LOG_GAMMA_TERMS = 20


def log_gamma_p(a: Numbers, x: Numbers) -> Numbers:
    """The log of the lower regularised incomplete gamma function, also where that underflows.

    >>> float(log_gamma_p(200.0, 1e-3))  # doctest: +ELLIPSIS
    -2244.78...
    """
    a, x = np.broadcast_arrays(np.asarray(a, float), x)
    tails = scipy.special.gammainc(a, x), scipy.special.gammaincc(a, x)
    found = np.asarray(_log_tail(*tails, _log_gamma_p_deep, a, x))
    large = _is_below_large(a, x)
    if large.any():
        found[large] = _log_gamma_p_large(a[large], x[large])
    return found[()]


def log_gamma_q(a: Numbers, x: Numbers) -> Numbers:
    """The log of the upper regularised incomplete gamma function, also where that underflows.

    >>> float(log_gamma_q(1.0, 1000.0))
    -1000.0
    """
    a, x = np.broadcast_arrays(np.asarray(a, float), x)
    tails = scipy.special.gammaincc(a, x), scipy.special.gammainc(a, x)
    found = np.asarray(_log_tail(*tails, _log_gamma_q_deep, a, x))
    large = _is_below_large(a, x)
    if large.any():
        found[large] = log_one_minus_exp(_log_gamma_p_large(a[large], x[large]))
    return found[()]


def log_gamma_u(a: Numbers, x: Numbers) -> Numbers:
    """``x + log_gamma_q(a, x)``, also where x takes all digits: about ``(a - 1) log(x)`` there.

    >>> round(float(log_gamma_u(3.0, 1e20) / np.log(1e40 / 2)), 12)
    1.0
    """
    a, x = np.broadcast_arrays(np.asarray(a, float), x)
    with np.errstate(over="ignore", invalid="ignore"):
        result = np.asarray(x + log_gamma_q(a, x))
    far = (x > 2 * a + FAR) & (x < math.inf)
    if far.any():
        result[far] = _log_gamma_u_above(a[far], x[far])
    return result[()]


def _log_gamma_u_above(a: Floats, x: Floats) -> Floats:
    """``x**a / gamma(a)`` times Legendre's continued fraction."""
    large = np.maximum(a, STIRLING)
    peak = -0.5 * np.log(2 * math.pi * large) - _stirling_rest(large)
    close = large * np.log(x / large) + large + peak
    head = np.where(a < STIRLING, a * np.log(x) - _log_gamma_1p(a), close)
    return head + np.log(a) + _log_legendre(a, x)


def log_beta_i(a: Numbers, b: Numbers, x: Numbers) -> Numbers:
    """The log of the regularised incomplete beta function, also where that underflows.

    >>> round(float(log_beta_i(1000.0, 1.0, 0.1) / np.log(0.1)), 9)
    1000.0
    """
    a, b, x = np.broadcast_arrays(np.asarray(a, float), b, x)
    tails = scipy.special.betainc(a, b, x), scipy.special.betaincc(a, b, x)
    return _log_tail(*tails, _log_beta_i_deep, a, b, x)


def log_beta_i_1p(a: Numbers, b: Numbers, y: Numbers) -> Numbers:
    """``log_beta_i(a, b, 1 + y)``, with all digits of a small y.

    >>> round(float(log_beta_i_1p(1.0, 1e-9, -1e-100)), 9)
    -15.284063321
    """
    a, b, y = np.broadcast_arrays(np.asarray(a, float), b, y)
    tails = scipy.special.betaincc(b, a, -y), scipy.special.betainc(b, a, -y)
    return _log_tail(*tails, _log_beta_i_deep, a, b, 1 + y)


def log_gamma_p_of_exp(a: Numbers, u: Numbers) -> Numbers:
    """``log_gamma_p(a, exp(u))``, also where the exponential underflows.

    >>> float(log_gamma_p_of_exp(2.0, -1e10) + np.log(2.0))
    -20000000000.0
    """
    a, u = np.broadcast_arrays(np.asarray(a, float), u)
    with np.errstate(over="ignore", under="ignore"):
        found = log_gamma_p(a, np.exp(u))
    return np.where(u < math.log(TINY), a * u - _log_gamma_1p(a), found)[()]


def _log_tail(p: Floats, rest: Floats, deep: Callable[..., Floats], *args: Floats) -> Floats:
    """``log p``; from ``1 - p`` where p is the larger, from ``deep(*args)`` where p underflows."""
    with np.errstate(divide="ignore"):
        result = np.where(p < 0.5, scipy.special.xlogy(1.0, p), np.log1p(-np.minimum(rest, 1.0)))
    lost = (p < TINY) & (args[-1] > 0) & (args[-1] < math.inf)
    if lost.any():
        result[lost] = deep(*(arg[lost] for arg in args))
    return result[()]


def _is_below_large(a: Floats, x: Floats) -> Flags:
    """Where SciPy's series ends too early: below the mean of a large shape."""
    return (a >= MANY) & (a < math.inf) & (x > 0) & (x < a)


def _log_gamma_p_large(a: Floats, x: Floats) -> Floats:
    """The log of P below a large shape, by a series, or next to a very large one by Temme's."""
    found = np.empty(np.shape(x))
    near = (a >= LARGE) & (a - x <= NEXT_TO * a)
    found[near] = _log_gamma_p_next_to(a[near], x[near])
    a, x = a[~near], x[~near]
    total, term, n = np.ones(x.shape), np.ones(x.shape), 0
    while (term > EPS / 4 * total).any():  # (DLMF 8.11.4)
        n += 1
        term *= x / (a + n)
        total += term
    found[~near] = _log_gamma_head(a, x) + np.log(total)
    return found


def _log_gamma_p_next_to(a: Floats, x: Floats) -> Floats:
    """The log of P for a very large shape next to x: N. M. Temme (1979), DLMF 8.12."""
    share = (x - a) / a
    exponent = a * _log_less_line(x, a)
    eta = np.copysign(np.sqrt(-2.0 * exponent / a), share)
    # eta / share is the root of 1 + share * rest; the first term is 1 / share - 1 / eta
    rest = np.zeros(x.shape)
    for k in range(18, 0, -1):
        rest = -rest * share - 2.0 / (k + 2)
    root = np.sqrt(1.0 + share * rest)
    terms = rest / (root * (root + 1.0)) + np.polynomial.polynomial.polyval(eta, SECOND) / a
    log_p = scipy.special.log_ndtr(eta * np.sqrt(a))
    scale = exponent - 0.5 * np.log(2 * math.pi * a)
    return np.asarray(log_p + np.log1p(-np.exp(scale - log_p) * terms))


def _log_gamma_p_deep(a: Floats, x: Floats) -> Floats:
    """``x**a exp(-x) / gamma(a + 1)`` times ``1 / (1 - x/(a+1 + x/(a+2 - (a+1) x/(a+3 + ..``."""

    def ratio(n: int) -> Floats:
        top = -(a + (n - 1) // 2) if n % 2 else n // 2
        return top * (x / (a + n)) / (a + n - 1)

    return _log_gamma_head(a, x) - np.log(_continued_fraction(ratio, x))


def _log_gamma_q_deep(a: Floats, x: Floats) -> Floats:
    """``x**a exp(-x) / gamma(a)`` times a continued fraction; its limit where a is near 0.

    Below x = 1, where the fraction is slow, the probability is at least in proportion to a: it only
    underflows with a, and is then a times the exponential integral.
    """
    result = np.empty(np.shape(x))
    low = x < 1
    result[low] = np.log(a[low]) + np.log(scipy.special.exp1(x[low]))
    result[~low] = _log_gamma_q_above(a[~low], x[~low])
    return result


def _log_gamma_q_above(a: Floats, x: Floats) -> Floats:
    """The log of Q(a, x) by the even part of Legendre's continued fraction."""
    return _log_gamma_head(a, x) + np.log(a) + _log_legendre(a, x)


def _log_legendre(a: Floats, x: Floats) -> Floats:
    """The log of the fraction, ``1 / (x + 1 - a + ..)``."""

    def ratio(n: int) -> Floats:
        return n * (a - n) / (x + (2 * n + 1 - a)) / (x + (2 * n - 1 - a))

    return -np.log(x + 1 - a) - np.log(_continued_fraction(ratio, x))


def _log_beta_i_deep(a: Floats, b: Floats, x: Floats) -> Floats:
    """``x**a (1-x)**b / (a beta(a, b))`` times a continued fraction; its limit where b is near 0.

    The fraction converges below the mean of the distribution. Above the mean the probability is at
    least in proportion to b: it only underflows with b, and is then b times the slope at b = 0.
    """
    result = np.empty(np.shape(x))
    above = x * (a + b + 2) > a + 1
    result[above] = np.log(b[above]) + np.log(_slope_at_0(a[above], x[above]))
    below = ~above
    result[below] = _log_beta_i_below(a[below], b[below], x[below])
    return result


def _log_beta_i_below(a: Floats, b: Floats, x: Floats) -> Floats:
    def ratio(n: int) -> Floats:
        m = n // 2
        top = -(a + m) * ((a + b + m) / (a + n)) if n % 2 else m * ((b - m) / (a + n))
        return top / (a + n - 1) * x

    return _log_beta_head(a, b, x) - np.log(a) - np.log(_continued_fraction(ratio, x))


def _log_gamma_head(a: Floats, x: Floats) -> Floats:
    """``log(x**a exp(-x) / gamma(a + 1))``: for large a from how far x is from a."""
    large = np.maximum(a, STIRLING)
    peak = -0.5 * np.log(2 * math.pi * large) - _stirling_rest(large)
    close = large * _log_less_line(x, large) + peak
    return np.where(a < STIRLING, a * np.log(x) - x - _log_gamma_1p(a), close)


def _log_gamma_1p(a: Floats) -> Floats:
    """``log(gamma(1 + a))``, with all digits of a small a: DLMF 5.7.3."""
    small = np.minimum(a, CLOSE_TO_ONE)
    series = np.polynomial.polynomial.polyval(small, _log_gamma_series()) - np.log1p(small)
    return np.where(a <= CLOSE_TO_ONE, series, scipy.special.gammaln(a + 1))


@lru_cache(maxsize=1)
def _log_gamma_series() -> tuple[float, ...]:
    """The coefficients of ``log(gamma(1 + a)) + log(1 + a)``."""
    zetas = ((-1) ** k * float(scipy.special.zetac(k)) / k for k in range(2, LOG_GAMMA_TERMS))
    return (0.0, 1 - np.euler_gamma, *zetas)


def _log_beta_head(a: Floats, b: Floats, x: Floats) -> Floats:
    """``log(x**a (1-x)**b / beta(a, b))``: for large a and b from how far x is from the mean."""
    n, gap = a + b, x * b - (1 - x) * a
    peak = 0.5 * (np.log(a) + np.log(b / n) - math.log(2 * math.pi))
    large_a, large_b = np.maximum(a, STIRLING), np.maximum(b, STIRLING)
    peak = peak + _stirling_rest(large_a + large_b)
    peak = peak - _stirling_rest(large_a) - _stirling_rest(large_b)
    close = a * _log_ratio(x * n, a, gap) + b * _log_ratio((1 - x) * n, b, -gap) + peak
    apart = a * np.log(x) + b * np.log1p(-x) - log_beta(a, b)
    return np.where(np.minimum(a, b) < STIRLING, apart, close)


def log_beta(a: Numbers, b: Numbers) -> Numbers:
    """The log of the beta function, with all digits where one argument is large, one is not.

    >>> round(float(log_beta(2.0, 1e30) + 2 * np.log(1e30)), 9)
    0.0
    """
    small = np.minimum(a, b)
    return scipy.special.gammaln(small) - log_rising(np.maximum(a, b), small)


def log_rising(a: Numbers, m: Numbers) -> Numbers:
    """``log(gamma(a + m)) - log(gamma(a))``, with all digits where these nearly cancel.

    >>> round(float(log_rising(1e30, 0.5)), 9), round(float(log_rising(3.0, -1e-20) * 1e20), 9)
    (34.538776395, -0.922784335)
    """
    a, m = np.asarray(a, float), np.asarray(m, float)
    with np.errstate(all="ignore"):
        above, below = scipy.special.gammaln(a + m), scipy.special.gammaln(a)
        result = np.asarray(above - below)
        largest = np.maximum(np.maximum(np.abs(above), np.abs(below)), 1.0)
        lost = (np.abs(result) < FEW_LOST * largest) & (m != 0)
        if not lost.any():
            return result[()]
        a, m = np.broadcast_arrays(a, m)
        inside = lost & (a > 0) & (a + m > 0) & np.isfinite(a + m)
        low, step = np.minimum(a, a + m), np.abs(m)
        large = inside & (low >= STIRLING)
        close = inside & ~large & (step < 1)
        for rows, function in ((large, _log_rising_large), (close, _log_rising_close)):
            if rows.any():
                result[rows] = np.sign(m[rows]) * function(low[rows], step[rows])
    return result[()]


def _log_rising_large(a: Floats, m: Floats) -> Floats:
    """The log of a rising factorial by Stirling's series at both ends, without cancellation."""
    share = m / a
    growth = np.log1p(share)
    slope = np.where(share > 0, growth / np.where(share > 0, share, 1.0), 1.0)
    x, y = 1 / (a + m), 1 / a
    at_square: Numbers = 0.0
    slope_of_squares: Numbers = 0.0
    for c in reversed(STIRLING_SERIES):
        slope_of_squares = slope_of_squares * (x * x) + at_square
        at_square = at_square * (y * y) + c
    # (x q(x^2) - y q(y^2), where q(x^2) is q(y^2) and its slope times the difference)
    rest = at_square + (x * x + x * y) * slope_of_squares
    return m * (np.log(a + m) + (slope - 1)) - growth / 2 - m * x * y * rest


def _log_rising_close(a: Floats, m: Floats) -> Floats:
    """From farther on, where it is large: each step back is a logarithm."""
    below = a + np.arange(STIRLING).reshape(-1, *np.ones(np.ndim(a), int))
    back = _log_ratio(below + m, below, m).sum(axis=0)
    return _log_rising_large(a + STIRLING, m) - back


def _log_ratio(x: Floats, y: Floats, gap: Floats) -> Floats:
    """``log(x / y)``, where ``gap`` is ``x - y``, with all digits of a small gap."""
    share = gap / y
    close = np.abs(share) < 0.5
    return np.where(close, np.log1p(np.where(close, share, 0.0)), np.log(x / y))


def _log_less_line(x: Floats, y: Floats) -> Floats:
    """``log(x / y) - (x / y - 1)``, with all digits of what is near 0."""
    share = (x - y) / y
    # (log(1 + s) is twice the inverse hyperbolic tangent of s / (2 + s))
    small = np.where(np.abs(share) <= 0.5, share, 0.0)
    r = small / (2.0 + small)
    total, power, k = np.zeros(r.shape), np.ones(r.shape), 3
    while (power > EPS / 4).any():
        total += power / k
        power *= r * r
        k += 2
    close = 2.0 * r * r * r * total - r * small
    return np.where(np.abs(share) <= 0.5, close, np.log(x / y) - share)


def _stirling_rest(x: Floats) -> Floats:
    """``log(gamma(x))`` without Stirling's formula, for x from ``STIRLING`` on: DLMF 5.11.1."""
    return np.polynomial.polynomial.polyval(1 / (x * x), STIRLING_SERIES) / x


def _slope_at_0(a: Floats, x: Floats) -> Floats:
    """The integral of ``t**(a-1) / (1-t)`` from 0 to x, for ``a (1 - x)`` below 1."""
    y = 1 - x
    total, term, n = -np.log(y) - np.euler_gamma - scipy.special.psi(a), np.ones_like(y), 0
    while n < MOST_TERMS and np.any(np.abs(term) > EPS / 4):
        n += 1
        term = term * y * (n - a) / n
        total = total - term / n
    return total


def _continued_fraction(ratio: Callable[[int], Floats], like: Floats) -> Floats:
    """``1 + r(1) / (1 + r(2) / (1 + ..))`` by Lentz's method, each until it stands still."""
    fraction, c, d = np.ones_like(like), np.ones_like(like), np.zeros_like(like)
    moves, n = np.ones(np.shape(like), bool), 0
    while n < MOST_TERMS and moves.any():
        n += 1
        r = ratio(n)
        c, d = 1 + r / c, 1 + r * d
        c, d = np.where(c == 0, TINY, c), 1 / np.where(d == 0, TINY, d)
        fraction = np.where(moves, fraction * (c * d), fraction)
        moves = moves & (np.abs(c * d - 1) > 2 * EPS)
    return fraction
