"""The functions of the runtime in arbitrary precision: each from its definition, none from SciPy.

A row is a function of mpmath numbers, and the arguments to compare it at. Arguments that are not
floats are none: what is compared is the value at the floats themselves.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from itertools import product

import mpmath
from mpmath import mp, mpf

from gibbsppl.runtime import log_chi


@dataclass(frozen=True)
class Exact:
    """A function in arbitrary precision, with arguments ordinary and extreme."""

    value: Callable[..., mpf]
    at: Iterable[tuple[float, ...]]
    digits: int = 50

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", tuple(self.at))


HUGE, TINY = 1e300, 1e-300
LINE = (-HUGE, -1e10, -800.0, -30.0, -1.0, -1e-9, -TINY, 0.0, TINY, 1e-9, 0.3, 1.0, 40.0, 800.0,
        1e10, HUGE)  # fmt: skip
POSITIVE = (TINY, 1e-20, 1e-9, 0.3, 1 - 2.0**-53, 1.0, 1 + 2.0**-52, 2.0, 2 + 2.0**-51, 40.0,
            170.5, 1e10, HUGE)  # fmt: skip
UNIT = (TINY, 1e-20, 1e-9, 0.3, 0.5, 0.97, 1 - 2.0**-53)
SHAPES = (1e-9, 0.5, 3.7, 200.0)


def of_one(points):
    return [(x,) for x in points]


def log_of(p, rest):
    """``log p``, from ``rest = 1 - p`` where p is nearly 1."""
    return mpmath.log1p(-rest) if p > 0.999 else mpmath.log(p)


def expit(x):
    return 1 / (1 + mpmath.exp(-x)) if x > -1000 else mpmath.exp(x)


def normal_cdf(x):
    return mpmath.erfc(-x / mpmath.sqrt(2)) / 2


def log_normal_cdf(x):
    if x < -1e8:  # (erfc's own asymptotic series: its next term is below 1e-64)
        series = 1 - 1 / x**2 + 3 / x**4 - 15 / x**6
        return -(x**2) / 2 - mpmath.log(-x) - mpmath.log(2 * mp.pi) / 2 + mpmath.log(series)
    if x > 1e8:  # (what is above is too small for a float)
        return mpf(0)
    return log_of(normal_cdf(x), normal_cdf(-x))


def log_gamma_tail(lower):
    def value(a, x):
        below, above = (
            mpmath.gammainc(a, 0, x, regularized=True),
            mpmath.gammainc(a, x, mpmath.inf, regularized=True),
        )
        return log_of(below, above) if lower else log_of(above, below)

    return value


def log_beta_i(a, b, x):
    below = mpmath.betainc(a, b, 0, x, regularized=True)
    return log_of(below, mpmath.betainc(b, a, 0, 1 - x, regularized=True))


def log_beta_i_1p(a, b, y):
    return log_beta_i(a, b, 1 + y)


def log_gamma_p_of_exp(a, u):
    """For so small an exponential its first term: the next one is that often smaller."""
    if u < -150:
        return a * u - mpmath.loggamma(a + 1)
    return log_gamma_tail(lower=True)(a, mpmath.exp(u))


def passages(z, d):
    """The two tails of a first passage."""
    w = z + d
    reflected = mpmath.exp((w**2 - z**2) / 2 + log_normal_cdf(-w))
    return mpmath.exp(log_normal_cdf(z)) + reflected, mpmath.exp(log_normal_cdf(-z)) - reflected


def log_passage_p(z, d):
    return log_of(*passages(z, d))


def log_passage_q(z, d):
    return log_of(*reversed(passages(z, d)))


def log_fox_wright(a, z):
    """From the parabolic cylinder function: DLMF 12.5.1."""
    cylinder = mpmath.log(mpmath.pcfd(-a, -z / mpmath.sqrt(2)))
    return (1 - a / 2) * mpmath.log(2) + mpmath.loggamma(a) + z**2 / 8 + cylinder


def by_first(value):
    """The derivative by the first argument: half of the digits are left."""

    def slope(first, *rest):
        step = (abs(first) or mpf(1)) * mpf(10) ** (-mp.dps // 3)
        return (value(first + step, *rest) - value(first - step, *rest)) / (2 * step)

    return slope


def log_polya_gamma(b, x):
    """The alternating series of Polson, Scott and Windle (2013), with the digits that it needs.

    Terms cancel: right of the bulk they are larger than their sum by a factor of about
    ``exp(pi**2 x / 2)``.
    """
    digits, left = mp.dps, -mp.inf
    while left < mp.dps:
        digits *= 2
        with mpmath.workdps(digits):
            total, largest, size, n = mpf(0), mpf(0), mpf(1), 0
            rising = mpf(1)  # gamma(n + b) / gamma(b) / n!
            while size > largest * mpf(10) ** -digits:
                size = rising * (2 * n + b) * mpmath.exp(-n * (n + b) / (2 * x))
                total += -size if n % 2 else size
                largest = max(largest, size)
                rising *= (n + b) / (n + 1)
                n += 1
            left = digits - mpmath.log10(largest / abs(total)) if total else -mp.inf
    scale = (b - 1) * mpmath.log(2) - mpmath.log(2 * mp.pi * x**3) / 2 - b**2 / (8 * x)
    return scale + mpmath.log(total)


def log_polya_gamma_inverted(b, x):
    """The same by inverting the Laplace transform ``cosh(sqrt(t / 2))**-b``: no term is large.

    The contour is ``t = (w + i y)**2 - pi**2 / 2``, with w near the saddle point. The steps of the
    trapezoid rule are halved until nothing changes; nan if it still does.
    """
    wanted = mp.dps
    with mpmath.workdps(wanted + 30):
        pole = mp.pi**2 / 2
        w = mpmath.sqrt(_saddle_of_polya_gamma(b, x, pole))

        def exponent(y):
            t = mpmath.mpc(w, y) ** 2 - pole
            s = mpmath.sqrt(t / 2)
            return t * x - b * (s + mpmath.log1p(mpmath.exp(-2 * s)) - mpmath.log(2))

        def height(y):
            return (mpmath.mpc(w, y) * mpmath.exp(exponent(y) - top)).real

        top = exponent(0).real
        last = mpmath.sqrt((wanted + 10) * mpmath.log(10) / x)
        count, total, found = 32, height(0) / 2, mpf(0)
        total += mpmath.fsum(height(k * last / count) for k in range(1, count + 1))
        for _ in range(8):
            count *= 2
            total += mpmath.fsum(height(k * last / count) for k in range(1, count, 2))
            found, before = total * last / count * 2 / mp.pi, found
            if abs(found - before) <= abs(found) * mpf(10) ** -wanted:
                return top + mpmath.log(found)
    return mp.nan


def _saddle_of_polya_gamma(b, x, pole):
    """About the ``v = t + pi**2 / 2`` at which the integrand is least: bisected."""
    low, high = 1 / (2 * x), pole + 2 * (b + 1) / x + (b / x) ** 2
    for _ in range(60):
        v = mpmath.sqrt(low * high)
        s = mpmath.sqrt((v - pole) / 2)
        low, high = (v, high) if (b * mpmath.tanh(s) / (4 * s) + 1 / v).real > x else (low, v)
    return low


@cache
def stirling_row(n):
    """``|s(n, l)|`` for l = 0..n, as whole numbers."""
    row = [1]
    for m in range(n):
        row = [m * a + b for a, b in zip([*row, 0], [0, *row], strict=True)]
    return row


def log_stirling(n, l):
    return mpmath.log(stirling_row(int(n))[int(l)])


def log_chi_ratio(u):
    """The density of the log of a chi-squared number by that of ten normals, from the constants."""
    each = zip(log_chi.SHARES, log_chi.MEANS, log_chi.VARIANCES, strict=True)
    near = sum(
        mpf(p) / mpmath.sqrt(mpf(v)) * mpmath.exp(-((u - mpf(m)) ** 2) / (2 * mpf(v)))
        for p, m, v in each
    )
    return (u - mpmath.exp(u)) / 2 - mpmath.log(near)


def log_one_minus_exp(x):
    return mpmath.log(-mpmath.expm1(x)) if x > -1 else mpmath.log1p(-mpmath.exp(x))


def log_add_exp(x, y):
    return max(x, y) + mpmath.log1p(mpmath.exp(min(x, y) - max(x, y)))


def log_mass(l, u):
    """Of the normal distribution between two bounds."""
    if l > 0:  # (from the tail in which both are small)
        l, u = -u, -l
    return mpmath.log(normal_cdf(u) - normal_cdf(l))


def xlogy(c, x):
    return mpf(0) if c == 0 else c * mpmath.log(x)


ORDERED = [(a, b) for a, b in product(LINE, LINE) if a != b]

PASSAGES = [
    *product((0.0, 0.3, 16.0, 1e4), (1e-70, 0.7, 1e4)),
    *((-z, 2 * z + d) for z in (1e-9, 4.0, 1e4) for d in (0.0, 2.0)),
]

FUNCTIONS = {
    "exp": Exact(mpmath.exp, of_one(x for x in LINE if abs(x) < 700)),
    "log": Exact(mpmath.log, of_one(POSITIVE)),
    "abs": Exact(abs, of_one(LINE)),
    "sqrt": Exact(mpmath.sqrt, of_one(POSITIVE)),
    "reciprocal": Exact(lambda x: 1 / x, of_one(x for x in LINE if x != 0)),
    "loggamma": Exact(mpmath.loggamma, of_one(POSITIVE)),
    "cos": Exact(mpmath.cos, of_one(LINE), 400),
    "sin": Exact(mpmath.sin, of_one(LINE), 400),
    "arctan": Exact(mpmath.atan, of_one(LINE)),
    "expit": Exact(expit, of_one(x for x in LINE if x > -700)),
    "softplus": Exact(lambda x: log_add_exp(x, mpf(0)), of_one(x for x in LINE if x > -700)),
    "normal_cdf": Exact(normal_cdf, of_one((-37.0, -30.0, -1.0, -TINY, 0.0, 1e-9, 0.3, 5.0, 40.0))),
    "normal_log_cdf": Exact(
        log_normal_cdf, of_one((-1e150, -1e10, -1e4, -40.0, -1.0, 0.0, 0.3, 5.0, 37.0))
    ),
    "where": Exact(lambda c, a, b: a if c else b, [(1.0, 2.0, HUGE), (0.0, 2.0, HUGE)]),
    "minimum": Exact(min, ORDERED),
    "maximum": Exact(max, ORDERED),
    "at_most": Exact(lambda a, b: mpf(a <= b), product(LINE, LINE)),
    "below": Exact(lambda a, b: mpf(a < b), product(LINE, LINE)),
    "equals": Exact(lambda a, b: mpf(a == b), product(LINE, LINE)),
    "log_gamma_p": Exact(
        log_gamma_tail(lower=True), product(SHAPES, (TINY, 1e-9, 0.3, 4.0, 150.0, 900.0))
    ),
    "log_gamma_q": Exact(
        log_gamma_tail(lower=False), product(SHAPES, (1e-9, 0.3, 4.0, 150.0, 900.0))
    ),
    "log_gamma_u": Exact(
        lambda a, x: x + log_gamma_tail(lower=False)(a, x),
        product(SHAPES, (1e-9, 0.3, 4.0, 150.0, 900.0, 1e6, 1e17, 1e60)),
        150,
    ),
    "log_beta_i": Exact(log_beta_i, product((1e-3, 0.5, 3.7, 90.0), (0.3, 1.0, 40.0), UNIT)),
    "log_beta_i_1p": Exact(
        log_beta_i_1p, product((0.5, 3.7, 40.0), (1e-3, 1.0, 3.7), (-0.7, -1e-9, -1e-30)), 100
    ),
    "log_gamma_p_of_exp": Exact(log_gamma_p_of_exp, product(SHAPES, (-HUGE, -800.0, -3.0, 5.0))),
    "digamma": Exact(mpmath.digamma, of_one((TINY, 1e-9, 0.3, 1.0, 2.5, 9.9, 40.0, 1e10, HUGE))),
    "log_beta": Exact(
        lambda a, b: mpmath.loggamma(a) + mpmath.loggamma(b) - mpmath.loggamma(a + b),
        product((1e-20, 0.3, 2.0, 40.0, 1e10, 1e30), (1e-30, 0.5, 3.0, 1e10, 1e30)),
        120,
    ),
    "log_rising": Exact(
        lambda a, m: mpmath.loggamma(a + m) - mpmath.loggamma(a),
        [
            *product((1e-20, 0.3, 2.0, 40.0, 1e10, 1e30), (1e-30, 1e-9, 0.5, 3.0, 1e10)),
            *((a, -m) for a in (1e-9, 0.3, 2.0, 40.0, 1e30) for m in (a / 3, a * 1e-9)),
        ],
        120,
    ),
    "log_passage_p": Exact(log_passage_p, PASSAGES, 150),
    "log_passage_q": Exact(log_passage_q, PASSAGES, 150),
    "log_bessel_i": Exact(
        lambda v, x: mpmath.log(mpmath.besseli(v, x)),
        product((0.0, 0.5, 7.0, 60.0), (TINY, 1e-9, 0.3, 40.0, 2e5)),
    ),
    "log_bessel_k": Exact(
        lambda v, x: mpmath.log(mpmath.besselk(v, x)),
        [*product((0.25, 0.5, 7.5), (TINY, 0.3, 40.0, 2e5)), (0.0, 0.3), (7.0, 40.0), (60.0, 40.0)],
    ),
    "log_bessel_k_by_order": Exact(
        by_first(lambda v, x: mpmath.log(mpmath.besselk(v, x))),
        [*product((-7.5, 1e-10, 1.0, 60.0), (TINY, 0.3, 40.0)), (0.0, 0.3), (0.5, 1e5)],
        120,
    ),
    "log_fox_wright": Exact(log_fox_wright, product((1e-6, 0.5, 3.0, 60.0), (-30.0, 0.0, 8.0))),
    "log_fox_wright_by_shape": Exact(
        by_first(log_fox_wright), product((1e-6, 0.5, 60.0), (-30.0, 0.0, 8.0)), 100
    ),
    "log_polya_gamma": Exact(
        log_polya_gamma,
        [
            *product((1e-3, 0.5, 1.0, 7.5, 60.0, 1e3), (1e-4, 0.02, 0.3, 4.0, 40.0)),
            *((0.0123, 245.28480881816924), (1e3, 300.0), (1e-3, 1e-6), (1e3, 0.1)),
        ],
    ),
    "log_stirling": Exact(
        log_stirling, [(n, l) for n in (1.0, 5.0, 40.0, 300.0) for l in (1.0, n // 2 + 1, n)]
    ),
    "log_chi_ratio": Exact(
        log_chi_ratio, of_one((-1e9, -700.0, -40.0, -25.3, 3.5, 5.0, 300.0)), 4000
    ),
    "log_mass": Exact(
        log_mass, [(-1.0, 2.0), (-50.0, -49.0), (36.0, 39.0), (3.0, 3.0001), (-1e-9, 1e-9)]
    ),
    "xlogy": Exact(xlogy, [(0.0, 0.0), *product((-HUGE, -2.0, TINY, 1.0), (TINY, 0.3, 40.0))]),
    "weighted": Exact(
        lambda w, x: mpf(0) if w == 0 else w * x,
        [(0.0, float("inf")), *product((-HUGE, -2.0, 1.0), (-40.0, 0.0, TINY, 0.3))],
    ),
    "log1p": Exact(mpmath.log1p, of_one((-1 + 2.0**-53, -0.5, -1e-9, *POSITIVE)), 400),
    "xlog1py": Exact(
        lambda c, x: mpf(0) if c == 0 else c * mpmath.log1p(x),
        [(0.0, -1.0), *product((-HUGE, -2.0, 1.0), (-0.5, -1e-9, TINY, 0.3, 40.0))],
        400,
    ),
    "log_one_minus_exp": Exact(
        log_one_minus_exp, of_one((-700.0, -40.0, -1.0, -0.69, -1e-9, -TINY))
    ),
    "log_cloglog": Exact(
        lambda x: x if x < -1000 else log_one_minus_exp(-mpmath.exp(x)),
        of_one((-HUGE, -744.7, -700.0, -40.0, -39.9, -1.0, 0.0, 5.0)),
    ),
    "log_add_exp": Exact(log_add_exp, [(1e3, -1e3), (-1e3, -1e3), (0.0, -40.0), (-2e5, -1e5)]),
}  # fmt: skip
