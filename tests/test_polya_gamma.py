"""The Pólya-Gamma distribution: its density against identities, its draws against its density."""

from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

import numpy as np
import pytest
import sympy as sp
from mpmath import mp
from scipy import stats
from test_families import evaluate

import gibbsppl as gp
from gibbsppl.checkpoints import identity
from gibbsppl.families import FAMILIES
from gibbsppl.runtime import libraries
from gibbsppl.runtime.draws import TINY
from gibbsppl.runtime.functions import log_polya_gamma
from gibbsppl.runtime.polya_gamma import SPLIT, SUMMED, polya_gamma
from gibbsppl.runtime.polya_gamma_density import (
    correction,
    log_first_term,
    mean_and_variance,
    saddle_exponent,
    tilted,
)
from gibbsppl.runtime.simulation import simulate_polya_gamma
from gibbsppl.runtime.special import inverse_gaussian

module = import_module("gibbsppl.runtime.polya_gamma")  # the package has its function instead
density = import_module("gibbsppl.runtime.polya_gamma_density")

# Sums of thousands of positive terms, each rounded.
ROUNDING = 1e-12

SHAPES = (0.3, 0.5, 1.0, 1.7, 3.7, 10.0, 50.0)
TILTS = (0.0, 0.1, 1.0, 8.0, 100.0, 3000.0)

N = 20_000
DRAWN = (*((b, c) for b in (0.5, 1.0, 2.0, 3.7, 30.0) for c in (0.0, 1.0, 10.0, 1000.0)),)
DRAWN += ((1.0, 3.6), (8.0, 3.0), (0.01, 1.0), (0.05, 0.0), (9.0, 2.0), (300.0, 5.0), (2e4, 9.0))
# Two comparisons of each case, and those of the tests of arrays and of planted bugs.
LEVEL = 1e-4 / (2 * len(DRAWN) + 30)


@pytest.fixture(autouse=True)
def without_a_library(monkeypatch):
    """What is drawn here, wherever a library is installed."""
    monkeypatch.setattr(module, "module_of", lambda _: None)


def log_cosh(s):
    return np.logaddexp(s, -s) - np.log(2)


def moments_of(b, c):
    """Mean and variance; those of the row have other formulas."""
    z = np.asarray(c) / 2
    mean, variance = mean_and_variance(density.END + z**2 / 2)
    return b / 4 * mean, b / 16 * variance


@cache
def grid_of(b, c, points=6000):
    """Points evenly spaced in log(x) where the density has mass, and their log masses."""
    u = np.linspace(np.log(b * b) - 9, np.log(b + 40), 3000)
    mean, variance = moments_of(b, c)
    u = np.union1d(u, np.log(mean) + np.linspace(-1, 1, 2001) * 12 * np.sqrt(variance) / mean)
    logs = log_tilted(b, c, u)
    kept = np.flatnonzero(logs > logs.max() - 50)
    u = np.linspace(u[max(kept[0] - 1, 0)], u[min(kept[-1] + 1, u.size - 1)], points)
    return u, log_tilted(b, c, u) + np.log(u[1] - u[0])


def log_tilted(b, c, u):
    """The log density of log(x)."""
    return log_polya_gamma(b, np.exp(u)) - c * c / 2 * np.exp(u) + b * log_cosh(c / 2) + u


def expected(b, c, f):
    """By the trapezoid rule over log(x), exact to rounding: the integrand falls like exp(-exp)."""
    u, logs = grid_of(b, c)
    return float((np.exp(logs) * f(np.exp(u))).sum())


def cdf_of(b, c):
    u, logs = grid_of(b, c)
    masses = np.exp(logs)
    below = np.cumsum(masses) - masses / 2  # up to the point itself
    return lambda x: np.interp(np.log(x), u, np.minimum(below, 1))


def p_value(b, c, x):
    return stats.kstest(x, cdf_of(b, c)).pvalue


# The density.


@pytest.mark.parametrize("b", SHAPES)
@pytest.mark.parametrize("t", TILTS)
def test_the_laplace_transform_is_a_power_of_a_hyperbolic_cosine(b, t):
    """At t = 0: the density integrates to one."""
    found = expected(b, np.sqrt(2 * t), np.ones_like)  # the tilt by exp(-t x), normalised
    assert found == pytest.approx(1, abs=ROUNDING * (1 + b))


def test_a_small_shape_keeps_its_digits():
    for b in (1e-12, 1e-6, 1e-3):
        x = np.array([0.05, 0.3, 1.0])
        series = sum(np.exp(-((2 * k - 1) ** 2) * np.pi**2 * x / 2) for k in range(1, 12))
        # x f(x) / b is this series at b = 0, and changes by the order of b (log x + ..)
        ratio = x * np.exp(log_polya_gamma(b, x)) / b / series
        np.testing.assert_allclose(ratio, 1, rtol=5 * b + 1e-13)


@pytest.mark.parametrize("x", [1e-300, 1e-6, 1e-3, 0.02, 0.1, 0.16, 0.25, 1.0, 5.0, 100.0, 1e10])
def test_both_theta_series_at_b_1(x):
    n = np.arange(30)
    signs, odd = (-1.0) ** n, 2 * n + 1.0
    first = np.exp(-(odd**2 - 1) / (8 * x))
    if x < 0.16:
        log_density = np.log((signs * odd * first).sum()) - 1 / (8 * x) - 1.5 * np.log(x)
        log_density -= np.log(2 * np.pi) / 2
    else:
        later = np.exp(-(odd**2 - 1) * np.pi**2 * x / 2)
        log_density = np.log((signs * odd * later).sum()) + np.log(2 * np.pi) - np.pi**2 * x / 2
    assert float(log_polya_gamma(1.0, x)) == pytest.approx(log_density, rel=1e-14, abs=1e-14)


@pytest.mark.parametrize(("first", "second"), [(0.5, 0.5), (0.3, 1.4), (2.0, 3.0)])
def test_sums_of_variables_are_convolutions(first, second):
    for x in (0.1, 0.5, 2.0, 9.0):
        v = np.linspace(-18, 18, 4001)  # of the log odds of the share of the first
        share, rest = 1 / (1 + np.exp(-v)), 1 / (1 + np.exp(v))
        terms = log_polya_gamma(first, x * share) + log_polya_gamma(second, x * rest)
        total = (np.exp(terms) * x * share * rest).sum() * (v[1] - v[0])
        sum_of = float(np.exp(log_polya_gamma(first + second, x)))
        assert total == pytest.approx(sum_of, rel=1e-7)  # the ends of v cut 1e-8 of a root


def test_the_density_of_a_large_shape_is_nearly_normal():
    for b in (1e6, 1e9):
        mean, variance = moments_of(b, 0.0)
        z = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
        found = log_polya_gamma(b, mean + np.sqrt(variance) * z)
        normal = -(z**2) / 2 - np.log(2 * np.pi * variance) / 2
        skewness = (b / 60) / (b / 24) ** 1.5
        edgeworth = np.log1p(skewness / 6 * (z**3 - 3 * z))
        np.testing.assert_allclose(found, normal + edgeworth, atol=skewness**2 + 1e-16 * b)


@pytest.mark.parametrize(("a", "b"), [(0, 1), (1, 1), (3, 10), (2.5, 3.7), (0.2, 0.5)])
@pytest.mark.parametrize("psi", [-6.0, -0.3, 0.0, 1.0, 4.0])
def test_the_identity_of_the_augmentation(a, b, psi):
    """Theorem 1 of Polson, Scott and Windle (2013)."""
    kernel = expected(b, 0.0, lambda x: np.exp(-x * psi**2 / 2))
    likelihood = np.exp(a * psi) / (1 + np.exp(psi)) ** b
    augmented = 2.0**-b * np.exp((a - b / 2) * psi) * kernel
    assert augmented == pytest.approx(likelihood, rel=ROUNDING * (1 + b))


def test_the_density_outside_and_at_the_ends():
    x = np.array([-1.0, -0.0, 0.0, np.inf, -np.inf])
    np.testing.assert_array_equal(log_polya_gamma(2.0, x), -np.inf)
    assert log_polya_gamma(0.0, 1.0) == -np.inf
    assert np.isnan(log_polya_gamma([1.0, np.nan, -1.0], [np.nan, 1.0, 1.0])).all()
    assert log_polya_gamma(np.ones((2, 1)), np.ones(3)).shape == (2, 3)
    assert log_polya_gamma(np.ones(0), 1.0).shape == (0,)
    assert isinstance(log_polya_gamma(1.0, 1.0), float)


def test_the_density_of_arrays_whose_axes_are_turned():
    b, x = np.array([[1.0, 2.5], [0.3, 4.0], [7.0, 1.5]]), np.array([[0.1, 0.5, 2.0]])
    found = log_polya_gamma(np.ascontiguousarray(b.T), x)

    np.testing.assert_array_equal(log_polya_gamma(b.T, x), found)
    np.testing.assert_array_equal(log_polya_gamma(b.T[:, None], x)[:, 0], found)
    far = np.array([1e-300, 1e17, 1e300])
    assert np.isfinite(log_polya_gamma(1.0, far)).all()
    assert np.isfinite(log_polya_gamma(np.array([1e-300, 1e-3, 1e8]), 1.0)).all()


def test_arrays_are_taken_in_parts(monkeypatch):
    b, x = np.linspace(0.1, 9, 12).reshape(3, 4), np.linspace(0.01, 3, 4)
    whole = log_polya_gamma(b, x)
    monkeypatch.setattr(density, "AT_ONCE", 5)
    np.testing.assert_allclose(log_polya_gamma(b, x), whole, rtol=1e-14)


# What the samplers rely on.

EVERY_SHAPE = (1e-9, 1e-3, 0.1, 0.5, 1.0, 1.5, 3.7, 20.0, 300.0)
LINE = np.exp(np.linspace(-6, 5, 500))


@pytest.mark.parametrize("b", EVERY_SHAPE)
def test_the_density_is_between_its_first_term_and_that_less_the_second(b):
    x = LINE * min(b, 1)
    first = log_first_term(np.float64(b), x)
    log_ratio, rounding = log_polya_gamma(b, x) - first, 1e-14 + 1e-15 * np.abs(first)
    second = np.minimum((b + 2) * np.exp(-(b + 1) / x / 2), 0.999)
    used = second < 0.5
    assert used.sum() > 50
    assert (log_ratio <= rounding).all()
    assert (log_ratio >= np.log1p(-second) - rounding)[used].all()


def over_saddle(b, y):
    """The log of the density over its saddle point approximation, and its coefficient of 1 / b."""
    exponent, variance, u = saddle_exponent(y)
    log_saddle = np.log(8 / np.pi / variance / b) / 2 + b * exponent
    return log_polya_gamma(b, b * y / 4) - log_saddle, correction(u, y, variance)


@pytest.mark.parametrize("b", [b for b in EVERY_SHAPE if b >= 1] + [1.01, 2.0, 1e4])
def test_the_density_is_close_to_the_saddle_point_approximation(b):
    log_ratio, first = over_saddle(b, LINE)
    rounding = ROUNDING * (1 + b) + module.CLOSE
    assert (log_ratio <= rounding).all()
    assert (log_ratio >= first / b - rounding).all()
    assert (log_ratio <= first / b + module.SECOND / b**2 + rounding).all()
    assert ((first <= module.CLOSE) & (first >= -1 / 12 - module.CLOSE)).all()


def test_little_is_left_of_the_first_term_of_small_shapes_beyond_a_point():
    for b in (1e-9, 1e-3, 0.1, 0.5, 0.9, 0.999999):
        x = np.geomspace(module.BEYOND, 100, 50)
        assert (log_polya_gamma(b, x) - log_first_term(b, x) < np.log(module.LEFT)).all()


@pytest.mark.parametrize("b", [1e-9, 0.3, 0.9, 1.5, 3.7])
def test_partial_sums_decide_as_the_density_does(b):
    x = np.geomspace(0.01, 0.9 * module.BEYOND, 40)
    log_ratio = log_polya_gamma(b, x) - log_first_term(b, x)
    for change in (-1e-3, -1e-9, 1e-9, 1e-3):
        level, shape = np.exp(log_ratio) * (1 + change), np.full(x.shape, b)
        found = module._in_density(level, shape, x)
        seen = (level <= 1) & (np.abs(change) * level > 1e-12)
        np.testing.assert_array_equal(found[seen], change < 0)
        assert seen.sum() > 10 or change > 0


def derivatives(u):
    """K and its first four derivatives at u, in 50 digits, from those of the tangent."""
    s = mp.sqrt(2 * u)
    t, u2 = mp.re(mp.tan(s) / s), 2 * u
    second = (1 + u2 * t * t - t) / u2
    third = (2 * t * t + 2 * u2 * t * second - 3 * second) / u2
    fourth = (8 * t * second + 2 * u2 * (second**2 + t * third) - 5 * third) / u2
    return -mp.re(mp.log(mp.cos(s))), t, second, third, fourth


@cache
def along_the_line():
    """For many u: u, K'(u) and the next three derivatives, as numbers."""
    near = [density.END - mp.mpf(10) ** e for e in np.linspace(-8, -0.3, 120)]
    far = [-(mp.mpf(10) ** e) for e in np.linspace(-5, 6, 250)]
    with mp.workdps(50):
        rows = [[float(v) for v in (u, *derivatives(u)[1:])] for u in (*near, *far)]
    return np.array(rows).T


def test_the_bounds_of_the_log_normal_candidates_hold_on_the_whole_line():
    """Those of second derivatives in log(y), for every tilt."""
    u, y, second, third, fourth = along_the_line()
    skewness = y * third / second**2
    bend = skewness**2 - (skewness + y * y * fourth / second**3) / 2
    assert (bend > -1e-9).all()
    assert 0.999 * module.BEND < bend.max() < module.BEND
    largest = 0.0
    for z in (0.0, 0.1, 0.3, 1.0, 2.0, 5.0, 20.0):
        tilt = u + z * z / 2
        q = y * y / second + y * tilt
        slope = y * (3 * y / second - y * y * third / second**3 + tilt)
        twice = 4 / second - 5 * y * third / second**3
        bent = slope + y * y * (twice - y * y * (fourth / second**4 - 3 * third**2 / second**5))
        within = bent / q
        assert (within > 1 - 1e-6).all()
        largest = max(largest, within.max())
    assert 0.999 * module.MOST_BENT < largest < module.MOST_BENT


@pytest.mark.parametrize("t", np.linspace(-1, 1, 21))
def test_hyperbolic_functions_are_below_what_decides_in_their_place(t):
    """For every ratio of slope and value up to that of no tilt, the largest; see `_by_saddle`."""
    root = np.sqrt(module.MOST_BENT)
    for turn in np.linspace(0, 0.6, 7):
        drop = (np.cosh(root * t) - 1) / root**2 + turn * (np.sinh(root * t) - root * t) / root**3
        least = np.cosh(t) - 1 + turn * (np.sinh(t) - t)
        third = t * t / 2 * (1 + turn * t / 3)
        assert drop <= third + t * t / 2 * t * t / 2 * (4 / 15 + abs(t) / 20) + 1e-16
        assert least >= third - 1e-16


def test_moments_at_a_tilt_have_their_digits():
    z = np.array([0.0, 1e-9, 1e-3, 0.1, 0.1999, 0.2001, 0.5, 1.0, 3.0, 9.0, module.FAR])
    found = np.transpose(tilted(z))
    for at, row in zip(z, found, strict=True):
        with mp.workdps(120):
            _, t, second, third, fourth = derivatives(-(mp.mpf(max(at, 1e-12)) ** 2) / 2)
            exact = [float(v) for v in (t, second, t * third / second**2)]
            first = float(fourth / second**2 / 8 - 5 * third**2 / second**3 / 24)
        np.testing.assert_allclose(row, exact, rtol=1e-11)
        a = correction(np.array([-at * at / 2]), np.array([exact[0]]), np.array([exact[1]]))
        np.testing.assert_allclose(a, first, atol=module.CLOSE)


def test_the_saddle_point_is_found():
    exponent, variance, u = saddle_exponent(LINE)
    mean, again = mean_and_variance(density.END - u)
    np.testing.assert_allclose(mean, LINE, rtol=1e-12)
    np.testing.assert_allclose(again, variance, rtol=1e-11)
    for place in range(0, 500, 50):
        with mp.workdps(50):
            exact = derivatives(mp.mpf(u[place]))[0] - mp.mpf(u[place]) * LINE[place]
        assert exponent[place] == pytest.approx(float(exact), rel=1e-13, abs=1e-15)


# Draws.


def drawn(rng, b, c, size):
    return polya_gamma(rng, -c * c / 2, size, b=b)


@pytest.mark.parametrize(("b", "c"), DRAWN)
def test_draws_follow_the_distribution_function(b, c):
    x = drawn(np.random.default_rng(1), b, c, (N,))
    assert p_value(b, c, x) > LEVEL


LARGE = ((1e6, 0.0), (1e6, 1e8), (1e11, 2.0), (1e20, 90.0))


@pytest.mark.parametrize(("b", "c"), [*DRAWN, *LARGE, (1e-3, 0.0)])
def test_draws_have_the_moments(b, c):
    """The mean, by its standard error; for c = 1e8 at the limits b / (2 c) and b / (2 c**3)."""
    x = drawn(np.random.default_rng(2), b, c, (N,))
    mean, variance = moments_of(b, c)
    assert abs(x.mean() - mean) < stats.norm.isf(LEVEL / 2) * np.sqrt(variance / N)
    if b >= 1:  # then fourth moments can be estimated
        squares = (x - mean) ** 2
        error = squares.std() / np.sqrt(N)
        assert abs(squares.mean() - variance) < stats.norm.isf(LEVEL / 2) * error


def test_elements_have_their_own_parameters():
    b = np.array([0.3, 1.0, 2.0, 3.7, SUMMED + 1, 1.0])
    c = np.array([2.0, 0.0, 1.0, 30.0, 0.5, 50.0])
    x = polya_gamma(np.random.default_rng(3), -(c**2) / 2, (N, 6), b=b)
    for j in range(6):
        assert p_value(b[j], c[j], x[:, j]) > LEVEL


def test_simulation_takes_a_tilt_of_any_sign():
    for c in (-3.0, 3.0):
        x = simulate_polya_gamma(np.random.default_rng(4), 2.5, c, size=(N,))
        assert p_value(2.5, 3.0, x) > LEVEL


@pytest.mark.parametrize("c", [0.0, 1e-300, 1e-8, 1e3, 1e8, 1e150])
@pytest.mark.parametrize("b", [1e-300, 1e-30, 1e-3, 1.0, 7.0, 1e6, 1e15, 1e300])
def test_extreme_parameters(b, c):
    for size in ((), (50,)):
        x = drawn(np.random.default_rng(5), b, c, size)
        assert np.shape(x) == size
        assert np.isfinite(x).all()
        assert np.all(x >= TINY)
    if b >= 1e6:
        mean, variance = moments_of(b, c)
        error = np.sqrt(variance / 50) + 1e-15 * mean + TINY
        assert abs(x.mean() - mean) < stats.norm.isf(LEVEL / 2) * error


def test_groups_without_trials_are_0():
    x = polya_gamma(np.random.default_rng(6), -0.5, (3,), b=np.array([0, 2, 0]))
    assert x[0] == x[2] == 0.0
    assert x[1] > 0.0
    assert polya_gamma(np.random.default_rng(6), -50.0, (), b=0) == 0.0
    assert polya_gamma(np.random.default_rng(6), -0.5, (0,), b=1.0).shape == (0,)
    assert isinstance(polya_gamma(np.random.default_rng(6), -0.5, (), b=1.5), float)


@pytest.mark.parametrize(
    ("eta_1", "b"), [(0.5, 1.0), (np.nan, 1.0), (-1.0, -1.0), (-1.0, np.nan), (-1.0, np.inf)]
)
def test_improper_parameters_are_refused(eta_1, b):
    with pytest.raises(ValueError, match="needs eta_1 <= 0 and b >= 0"):
        polya_gamma(np.random.default_rng(7), eta_1, (2,), b=b)


def test_moments_of_the_row_have_their_digits_at_every_tilt():
    row = FAMILIES["PolyaGamma"]
    for c in (0.0, 1e-200, 1e-9, 1e-3, 0.0999, 0.1001, 1.0, 30.0, 1e4):
        for formula, exact in zip((row.mean, row.variance), moments_of(3.0, c), strict=True):
            found = formula((), b=3, c=sp.Float(c))
            assert float(evaluate(found, {})) == pytest.approx(float(exact), rel=1e-10)


# Planted bugs: the comparisons above must see them.


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("STEP", 0.5), ("POLE", density.POLE * 1.001), ("WEIGHTS", density.WEIGHTS[::-1].copy())],
)
def test_a_wrong_inversion_is_caught(monkeypatch, name, wrong):
    monkeypatch.setattr(density, name, wrong)
    if name == "STEP":
        monkeypatch.setattr(density, "NODES", wrong * np.arange(14))
        weights = np.where(np.arange(14) > 0, 2 * wrong, wrong) / np.pi
        monkeypatch.setattr(density, "WEIGHTS", weights)
    grid_of.cache_clear()
    found = expected(1.7, 0.0, np.ones_like)
    grid_of.cache_clear()
    assert abs(found - 1) > 10 * ROUNDING


@pytest.mark.parametrize(
    ("name", "wrong", "b", "c"),
    [
        ("LEVY", module.LEVY / 2, 1.0, 1.0),  # too many candidates on the right
        ("TAIL", module.TAIL / 2, 1.0, 0.0),
        ("_in_density", lambda level, b, x: level + 0 * b * x <= 1, 0.7, 0.0),
        ("BEYOND", 0.4, 0.5, 0.0),
        ("tilted", lambda z: (tilted(z)[0], 1.2 * tilted(z)[1], tilted(z)[2]), 300.0, 0.0),
        ("tilted", lambda z: tilted(1.02 * z), 300.0, 3.0),
        ("saddle_exponent", lambda y: saddle_exponent(1.05 * y), 1.5, 0.0),
        ("inverse_gaussian", lambda g, m, n, size: inverse_gaussian(g, m, 1.1 * n, size), 0.7, 0.0),
        ("inverse_gaussian", lambda g, m, n, size: inverse_gaussian(g, m, 1.1 * n, size), 1.5, 9.0),
    ],
)
def test_a_wrong_sampler_is_caught(monkeypatch, name, wrong, b, c):
    right = cdf_of(b, c)
    monkeypatch.setattr(module, name, wrong)
    x = drawn(np.random.default_rng(8), b, c, (4 * N,))
    assert stats.kstest(x, right).pvalue < LEVEL


def test_the_split_is_where_both_series_need_four_terms():
    """Later terms are below rounding on both sides."""
    assert 9 * np.exp(-40 / SPLIT) < 1e-16
    assert 9 * np.exp(-10 * np.pi**2 * SPLIT) < 1e-16


# ---- a library that is installed -----------------------------------------------------------------


class StandIn:
    """The library's function by draws of this package, and what it was called with."""

    def __init__(self):
        self.calls = []

    def random_polyagamma(self, h, z, *, random_state, method, disable_checks):
        self.calls.append((h.copy(), z.copy(), method, disable_checks))
        return random_state.gamma(h / 4 + z)  # (no Polya-Gamma numbers)


@pytest.fixture
def stand_in(monkeypatch):
    found = StandIn()
    monkeypatch.setattr(module, "module_of", lambda _: found)
    monkeypatch.setattr(libraries, "version", lambda _: "9.9")
    return found


def test_a_library_draws_where_its_row_says_so(stand_in):
    b = np.array([1.0, 0.7, 2.0, 1.0, 3.0, 1.0, 0.0])
    c = np.array([0.0, 1.0, 3.0, 4.1, 1.0, 2.0, 1.0])
    x = polya_gamma(np.random.default_rng(1), -c * c / 2, b.shape, b=b)
    ((h, z, *how),) = stand_in.calls
    np.testing.assert_array_equal(h, [1, 2, 1])
    np.testing.assert_allclose(z, [0, 3, 2], rtol=1e-15)
    assert how == ["devroye", True]
    rng, beside = np.random.default_rng(2), np.random.default_rng(2)
    alone = polya_gamma(rng, -c[[0, 2, 5]] ** 2 / 2, (3,), b=b[[0, 2, 5]])
    np.testing.assert_allclose(alone, beside.gamma(h / 4 + z), rtol=1e-14)
    assert x[-1] == 0
    assert (x[:-1] > 0).all()


def logit():
    with gp.Model(coords={"i": 30}, name="logit") as model:
        beta = gp.Normal("beta", 0, sigma=1)
        gp.Bernoulli("y", gp.expit(beta), dims="i", observed=np.arange(30) % 2)
    return model


def test_a_library_that_draws_is_told_and_seeds_repeat(stand_in):
    sampler = gp.compile(logit(), rewrites={"Polya-Gamma": True})
    told = "drawn in NumPy by polyagamma 9.9 where b is 1 or 2 and c at most 4"
    assert told in " ".join(str(sampler).split())
    run = {"draws": 20, "warmup": 5, "chains": 1, "seed": 3, "backend": "numpy", "progress": False}
    one, other = (sampler.sample(**run)["beta"] for _ in range(2))
    np.testing.assert_array_equal(one, other)
    assert stand_in.calls


def test_without_a_library_none_is_told(monkeypatch):
    monkeypatch.setattr(libraries, "version", lambda name: _version(name, None))
    assert libraries.library_of("polya_gamma") is None
    assert "polyagamma" not in str(gp.compile(logit(), rewrites={"Polya-Gamma": True}))


def test_a_run_is_not_gone_on_with_by_a_library_that_it_did_not_have(monkeypatch):
    monkeypatch.setattr(identity, "version", lambda name: _version(name, None))
    sampler = gp.compile(logit(), rewrites={"Polya-Gamma": True})
    own = identity.Identity.of("logit", "", {}, sampler.source)
    other = identity.Identity.of("logit", "", {}, "no such draws")
    assert own.versions["polyagamma"] == "none"
    assert "polyagamma" not in other.versions
    own.check_versions("run")

    monkeypatch.setattr(identity, "version", lambda name: _version(name, "9.9"))
    other.check_versions("run")
    told = "made by polyagamma none, and here is 9.9, which may draw otherwise; uninstall"
    with pytest.raises(gp.RunError, match=told):
        own.check_versions("run")


def _version(name, of_library):
    if name != "polyagamma":
        return version(name)
    if of_library is None:
        raise PackageNotFoundError(name)
    return of_library


@pytest.mark.parametrize(("b", "c"), [(1.0, 0.0), (1.0, 1.0), (1.0, 4.0), (2.0, 2.0)])
def test_the_library_draws_from_the_density(monkeypatch, b, c):
    package = pytest.importorskip("polyagamma")
    monkeypatch.setattr(module, "module_of", lambda _: package)
    x = drawn(np.random.default_rng(9), b, c, (4 * N,))
    assert stats.kstest(x, cdf_of(b, c)).pvalue > LEVEL
