"""The logs of Bessel functions and of Fox and Wright's against arbitrary-precision arithmetic."""

import mpmath
import numpy as np
import pytest
from scipy.special import digamma, gammaln

from gibbsppl.runtime import normalisers
from gibbsppl.runtime.normalisers import (
    log_bessel_i,
    log_bessel_k,
    log_bessel_k_by_order,
    log_fox_wright,
    log_fox_wright_by_shape,
)

ORDERS = (0.0, 0.3, 1.0, 2.5, 10.0, 49.9, 50.0, 51.0, 300.0)
ARGUMENTS = (1e-300, 1e-100, 1e-10, 0.01, 1.0, 7.0, 60.0, 1e3, 9e4, 1.1e5, 1e7)
# Sums of a few terms of the size of the largest one, each rounded.
ROUNDING = 1e-14


def exact(function, order, x):
    with mpmath.workdps(40):
        return float(mpmath.log(function(order, x)))


def close(found, expected):
    return abs(float(found) - expected) <= ROUNDING * max(1.0, abs(expected))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("x", ARGUMENTS)
def test_log_bessel_functions(order, x):
    assert close(log_bessel_i(order, x), exact(mpmath.besseli, order, x))
    assert close(log_bessel_k(order, x), exact(mpmath.besselk, order, x))
    assert log_bessel_k(-order, x) == log_bessel_k(order, x)


def test_log_bessel_functions_at_the_ends():
    assert log_bessel_i(0.0, 0.0) == 0.0
    assert log_bessel_i(2.0, 0.0) == -np.inf
    assert log_bessel_i(70.0, 0.0) == -np.inf
    assert log_bessel_k(2.0, 0.0) == np.inf
    assert close(log_bessel_i(-0.5, 2.0), exact(mpmath.besseli, -0.5, 2.0))
    for x in (1e10, 1e100):
        assert float(log_bessel_i(1.0, x)) == pytest.approx(x)
        assert float(log_bessel_k(60.0, x)) == pytest.approx(-x)
    assert log_bessel_k(np.ones((2, 1)), np.ones(3)).shape == (2, 3)
    assert log_bessel_i(np.ones(0), 1.0).shape == (0,)


def exact_by_order(order, x):
    """The derivative of log K by its order, to half of the digits."""
    with mpmath.workdps(80):
        order, step = mpmath.mpf(order), mpmath.mpf(order) * mpmath.mpf(10) ** -25
        sides = [mpmath.log(mpmath.besselk(order + s, x)) for s in (step, -step)]
        return float((sides[0] - sides[1]) / (2 * step))


@pytest.mark.parametrize("order", [1e-10, *ORDERS[1:], 999.7])
def test_the_derivative_by_order_has_all_digits(order):
    """It is small where the order is, and where the argument is large."""
    expected = np.array([exact_by_order(order, x) for x in ARGUMENTS])
    found = log_bessel_k_by_order(order, np.array(ARGUMENTS))

    assert (np.abs(found / expected - 1) <= ROUNDING).all()
    np.testing.assert_array_equal(log_bessel_k_by_order(-order, np.array(ARGUMENTS)), -found)


def test_the_derivative_by_order_at_the_ends():
    slope = log_bessel_k_by_order
    assert slope(0.0, 3.0) == slope(0.0, 0.0) == slope(2.0, np.inf) == 0.0
    assert slope(2.0, 0.0) == np.inf
    assert slope(-2.0, 0.0) == -np.inf
    assert np.isnan(slope(2.0, -1.0))
    assert float(slope(1e100, 1e-300)) == pytest.approx(np.log(2) + 400 * np.log(10))
    assert float(slope(1e12, 1e12)) == pytest.approx(np.arcsinh(1.0))
    assert slope(np.ones((2, 1)), np.ones(3)).shape == (2, 3)


def test_the_derivative_by_order_takes_arrays_in_parts(monkeypatch):
    order, x = np.linspace(-3, 30, 12).reshape(3, 4), np.array([1e-9, 0.2, 3.0, 800.0])
    whole = log_bessel_k_by_order(order, x)
    monkeypatch.setattr(normalisers, "AT_ONCE_K", 5)

    np.testing.assert_allclose(log_bessel_k_by_order(order, x), whole, rtol=ROUNDING)
    assert log_bessel_k_by_order(np.ones(0), 1.0).shape == (0,)


SHAPES = (1e-12, 1e-6, 1e-3, 0.05, 0.5, 1.0, 2.0, 7.5, 60.0, 900.0)
SLOPES = (-1e3, -30.0, -3.0, -0.1, 0.0, 1e-5, 0.7, 4.0, 8.0, 25.0, 300.0)


def exact_log_fox_wright(a, z):
    """From the parabolic cylinder function: DLMF 12.5.1."""
    with mpmath.workdps(40):
        a, z = mpmath.mpf(a), mpmath.mpf(z)
        cylinder = mpmath.log(mpmath.pcfd(-a, -z / mpmath.sqrt(2)))
        return float((1 - a / 2) * mpmath.log(2) + mpmath.loggamma(a) + z**2 / 8 + cylinder)


@pytest.mark.parametrize("a", SHAPES)
@pytest.mark.parametrize("z", SLOPES)
def test_log_fox_wright(a, z):
    assert close(log_fox_wright(a, z), exact_log_fox_wright(a, z))


def test_the_derivative_by_shape_at_extremes():
    """From limits: roots of a Gamma variable, one itself far below, a peak far above."""
    slope, a = log_fox_wright_by_shape, np.array([1e-12, 0.3, 2.0, 60.0])
    exact = [[digamma(a / 2) / 2, 0.0], [digamma(a) - np.log(1e100), -1e100]]
    for expected, z in (*exact, (np.full(4, np.log(1e100 / 2)), 1e100)):
        assert np.all(np.abs(slope(a, z) - expected) <= ROUNDING * np.abs(expected))
    assert close(slope(1e8, 0.0), digamma(5e7) / 2)
    assert slope(np.ones(0), 1.0).shape == (0,)


def test_log_fox_wright_at_extremes():
    assert close(log_fox_wright(1e8, 0.0), gammaln(5e7))
    assert close(log_fox_wright(2.0, -1e100), np.log(2) - 2 * np.log(1e100))
    assert float(log_fox_wright(3.0, 1e100)) == pytest.approx(1e200 / 4)


def test_log_fox_wright_takes_arrays_in_parts(monkeypatch):
    a, z = np.linspace(0.1, 9, 12).reshape(3, 4), np.linspace(-3, 3, 4)
    whole = log_fox_wright(a, z)
    monkeypatch.setattr(normalisers, "AT_ONCE", 5)

    assert whole.shape == (3, 4)
    np.testing.assert_array_equal(log_fox_wright(a, z), whole)
    assert log_fox_wright(np.ones(0), 1.0).shape == (0,)


def test_a_wrong_expansion_is_caught(monkeypatch):
    monkeypatch.setattr(normalisers, "DEBYE", normalisers.DEBYE[:3])
    assert not close(log_bessel_k(51.0, 7.0), exact(mpmath.besselk, 51.0, 7.0))
    monkeypatch.setattr(normalisers, "WIDEST", 1.0)
    assert not close(log_bessel_k_by_order(0.3, 0.7), exact_by_order(0.3, 0.7))
    monkeypatch.setattr(normalisers, "LARGE_ARGUMENT", 10.0)
    assert not close(log_bessel_i(10.0, 15.0), exact(mpmath.besseli, 10.0, 15.0))
    monkeypatch.setattr(normalisers, "STEP", 0.07)
    assert not close(log_fox_wright(2.0, 0.7), exact_log_fox_wright(2.0, 0.7))
    monkeypatch.setattr(normalisers, "STEP", 1 / 16)
    monkeypatch.setattr(normalisers, "NODES", np.arange(-36.0, 3.5, 0.7))
    assert not close(log_fox_wright_by_shape(2.0, 0.0), digamma(1.0) / 2)
