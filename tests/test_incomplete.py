"""Logs of incomplete gamma and beta functions far in their tails, against quadrature by mpmath.

At such arguments a power series may have as many terms as the largest of them; few are allowed.
"""

import sys
import time

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from gibbsppl.runtime import functions, incomplete

EPS = sys.float_info.epsilon
# A composition of some dozens of operations, each of which rounds its arguments and its result.
OPERATIONS = 64
DIGITS = 50
DECADES = (0, 1, 10, 60, 300)


def log_gamma_p(a, x):
    k = max(a - x, mpf(1))
    tail = mpmath.quad(lambda s: mpmath.exp(-a * s / k - x * mpmath.expm1(-s / k)) / k, DECADES)
    return a * mpmath.log(x) - x - mpmath.loggamma(a) + mpmath.log(tail)


def log_gamma_q(a, x):
    k = max(x - a, mpf(1))
    tail = mpmath.quad(lambda s: mpmath.exp(a * s / k - x * mpmath.expm1(s / k)) / k, DECADES)
    return a * mpmath.log(x) - x - mpmath.loggamma(a) + mpmath.log(tail)


def log_beta_i(a, b, x):
    k = max(a - b * x / (1 - x), mpf(1))

    def tail(s):
        rest = mpmath.log1p(-x * mpmath.exp(-s / k))
        return mpmath.exp(-a * s / k + b * (rest - mpmath.log1p(-x)) - rest) / k

    head = a * mpmath.log(x) + b * mpmath.log1p(-x) + mpmath.loggamma(a + b)
    log_tail = mpmath.log(mpmath.quad(tail, DECADES))
    return head - mpmath.loggamma(a) - mpmath.loggamma(b) + log_tail


def log_beta_i_near_1(a, b, x):
    """For b near 0, in the log of the distance from 1."""
    ends = [e for e in range(-40, 0, 4) if e > mpmath.log1p(-x)]
    slope = mpmath.quad(lambda v: (-mpmath.expm1(v)) ** (a - 1), [mpmath.log1p(-x), *ends, 0])
    return mpmath.log(b) + mpmath.log(slope)


def log_gamma_q_near_0(a, x):
    return mpmath.log(a) + mpmath.log(mpmath.e1(x))


FAR = [
    *((log_gamma_p, at) for at in ((200.0, 1e-3), (1e12, 1e12 - 4e7), (1e6, 9e5), (2.0, 1e-200))),
    *((log_gamma_q, at) for at in ((1.0, 1e3), (1e12, 1e12 + 4e7), (0.5, 800.0), (1e-3, 1e9))),
    *((log_gamma_q_near_0, at) for at in ((1e-310, 0.9), (1e-310, 1e-10), (1e-310, 1.5))),
    *((log_gamma_p, (a, a - k * a**0.5)) for a in (1e6, 1e8) for k in (5.0, 30.0)),
    (log_beta_i, (1e3, 1.0, 0.1)),
    (log_beta_i, (1e15, 3.0, 1 - 1e-12)),
    (log_beta_i, (1e18, 0.5, 1 - 1e-15)),
    (log_beta_i, (1e12, 1e12, 0.5 - 2e-5)),
    (log_beta_i, (200.0, 1e9, 1e-9)),
    (log_beta_i, (12.0, 1e5, 1e-65)),
    (log_beta_i, (1e9, 1e-70, 1 - 1e-6)),
    (log_beta_i_near_1, (2.0, 1e-310, 1 - 2.0**-53)),
    (log_beta_i_near_1, (1e6, 1e-310, 1 - 1e-9)),
    (log_beta_i_near_1, (40.0, 3e-310, 0.99)),
]


def condition(value, arguments):
    """How far a value moves when its arguments do, each by its own size."""
    step, at = mpf(2) ** -64, value(*arguments)
    moved = (
        [a * (1 - step) if k == j else a for k, a in enumerate(arguments)]
        for j in range(len(arguments))
    )
    return sum(abs(value(*m) - at) / step for m in moved)


@pytest.mark.parametrize(("reference", "at"), FAR)
def test_the_log_far_in_a_tail_is_that_of_the_integral(reference, at, monkeypatch):
    monkeypatch.setattr(incomplete, "MOST_TERMS", 60)
    name = reference.__name__.split("_near_")[0]
    with mpmath.workdps(DIGITS):
        exact = [mpf(a) for a in at]
        expected = reference(*exact)
        tolerance = OPERATIONS * EPS * (abs(expected) + condition(reference, exact))
        assert abs(mpf(float(getattr(functions, name)(*at))) - expected) <= tolerance


def test_both_tails_below_the_mean_of_a_large_shape_have_their_digits():
    """Of 1e5 to 1e8: SciPy's own series loses up to half of them there."""
    for a, k in ((1e5, 5), (3e5, 5), (9e5, 0.5), (2e6, 12), (1e8, 2), (1e8, 30), (1e9, 4000)):
        x = a - k * a**0.5
        with mpmath.workdps(DIGITS):
            log_p = log_gamma_p(mpf(a), mpf(x))
            expected = {"log_gamma_p": log_p, "log_gamma_q": mpmath.log1p(-mpmath.exp(log_p))}
            for name, value in expected.items():
                found = mpf(float(getattr(functions, name)(a, x)))
                assert abs(found - value) <= 1e-12 * abs(value) + mpf(10) ** -300, (name, a, k)


def test_many_tails_at_once_take_no_longer_than_the_slowest():
    generator = np.random.default_rng(1)
    x = generator.uniform(800.0, 5000.0, 20_000)
    start = time.process_time()
    found = functions.log_gamma_q(generator.uniform(0.1, 3.0, x.size), x)
    assert np.all(np.isfinite(found))
    assert time.process_time() - start < 5
