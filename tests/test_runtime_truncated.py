"""Truncated draws against their distribution functions, integrated on a fine grid.

All cases of a family are drawn in one call, so that regimes meet element by element. Every
comparison is a p-value; each is held against the family-wise level divided by their number.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from gibbsppl import runtime
from gibbsppl.runtime import truncated
from gibbsppl.runtime.draws import BELOW_ONE, TINY
from gibbsppl.runtime.loops import truncated as loops
from gibbsppl.runtime.rejection import excess

N = 2000
COMPARISONS = 500
LEVEL = 1e-4 / COMPARISONS
INF = np.inf


# ---- distribution functions ------------------------------------------------------------------

# Where the tails of a log density that is followed here have certainly ended.
FAR = 1e10
# Below exp(-50) of the highest density there is nothing to be seen in N draws.
DEPTH = 50.0


def grid(left: float, right: float, points: int) -> Any:
    """Points that are even in the middle and closer and closer towards both ends."""
    parts = np.concatenate([np.linspace(0, 1, points), np.geomspace(1e-14, 0.5, points)])
    parts *= right - left
    return np.unique(np.concatenate([left + parts, right - parts]))


def cdf_of(log_density: Callable[[Any], Any], left: float, right: float) -> Callable[[Any], Any]:
    """The distribution function: between close points a log density is a line."""
    left, right = max(left, -FAR), min(right, FAR)
    around = np.geomspace(1e-6, FAR, 3000)
    around = np.concatenate([-around, around])
    with np.errstate(all="ignore"):
        for _ in range(12):
            within = around[(around > left) & (around < right)]
            z = np.unique(np.concatenate([grid(left, right, 300), within]))
            f = np.nan_to_num(log_density(z), nan=-INF, neginf=-INF)
            high = np.flatnonzero(f > f.max() - DEPTH)
            left, right = z[max(high[0] - 1, 0)], z[min(high[-1] + 1, z.size - 1)]
        z = grid(left, right, 20_000)
        f = np.maximum(np.nan_to_num(log_density(z), nan=-INF, neginf=-INF), -1e300)
    f -= f.max()
    rise = np.abs(np.diff(f))
    mean = np.where(rise > 1e-6, -np.expm1(-rise) / np.where(rise > 0, rise, 1), 1.0)
    mass = np.exp(np.maximum(f[:-1], f[1:])) * mean * np.diff(z)
    total = np.concatenate([[0.0], np.cumsum(mass)])
    return lambda v: np.interp(v, z, total / total[-1])


def p_value(uniform: Any) -> float:
    return float(stats.kstest(uniform, stats.uniform.cdf).pvalue)


def on_the_line(x: Any, log_density: Any, lower: float, upper: float) -> Any:
    """The distribution function at draws, on the scale of x, from the bound that is finite."""
    origin = next((b for b in (lower, upper) if np.isfinite(b)), 0.0)
    cdf = cdf_of(lambda z: log_density(origin + z), lower - origin, upper - origin)
    return cdf(x - origin)


def on_logs(x: Any, log_density: Any, lower: float, upper: float) -> Any:
    """The same on the scale of log x: ``log_density`` is that of v = log x."""
    origin = next((b for b in (lower, upper) if 0 < b < INF), 1.0)
    z = lambda b: np.log1p((b - origin) / origin) if 0.5 < b / origin < 2 else np.log(b / origin)  # noqa: E731
    with np.errstate(divide="ignore", over="ignore"):
        ends = z(lower), z(upper)
        cdf = cdf_of(lambda z: log_density(np.log(origin) + z), *ends)
        near = (x / origin > 0.5) & (x / origin < 2)
        at = np.where(near, np.log1p((x - origin) / origin), np.log(x) - np.log(origin))
    return spread(x, cdf(at))


def spread(x: Any, uniform: Any) -> Any:
    """Where a draw stands for all that is beyond the smallest or largest number: any of it."""
    u = np.random.default_rng(1).random(x.shape)
    uniform = np.where(x <= TINY, uniform * u, uniform)
    return np.where(x >= 1 / TINY, 1 - (1 - uniform) * u, uniform)


# ---- cases: natural parameters, then the bounds ----------------------------------------------

NORMAL = [
    (0.0, -0.5, -1.0, 2.0), (3.0, -0.5, -INF, INF), (0.0, -0.5, -8.0, 60.0),
    (0.0, -0.5, 5.0, INF), (0.0, -0.5, -INF, -5.0), (0.0, -0.5, 38.0, 41.0),
    (0.0, -0.5, 40.0, INF), (0.0, -0.5, -INF, -40.0), (0.0, -0.5, 1e4, INF),
    (0.0, -0.5, -INF, -1e7), (0.0, -0.5, 30.0, 30.0 + 1e-9), (0.0, -0.5, -1e-9, 1e-9),
    (0.0, -0.5, -30.001, -30.0), (1e6, -5e5, 1.05, INF), (0.0, -5e15, 1e-6, INF),
    (0.0, -5e-17, 1e10, INF), (2.0, 0.0, -1.0, 3.0), (-2.0, 0.0, 0.0, INF),
    (2.0, 0.0, -INF, 5.0), (0.0, 0.0, -1.0, 3.0), (1e-12, -1e-12, -1.0, 1.0),
    (-1e8, -0.5, 0.0, INF), (0.0, 0.5, -1.0, 2.0), (0.0, 0.5, -40.0, 40.0), (-3.0, 0.5, 0.0, 7.0),
    (0.0, 1e9, 1.0, 2.0), (0.0, 0.5, 30.0, 30.0 + 1e-9), (1.0, 1e-12, -1.0, 3.0),
    (0.0, -0.5, 0.0, INF), (0.0, -0.5, -INF, -0.4), (0.0, -0.5, 0.3, 2.0), (0.0, -0.5, 1.0, 1.7),
    (0.0, -0.5, -3.5, -2.0), (0.0, -0.5, -1.3, 0.2), (0.0, -0.5, 34.9, INF),
    (0.0, -0.5, 36.0, 36.02),
]  # fmt: skip
HALF_NORMAL = [(-0.5, 0.0, INF), (-0.5, 40.0, INF), (-0.5, 1.0, 1.0 + 1e-8), (-50.0, -INF, 0.5),
               (2.0, 0.0, 3.0)]
EXPONENTIAL = [
    (-2.0, 0.0, INF), (2.0, -INF, 3.0), (0.0, -1.0, 5.0), (-1e9, 1.0, 2.0), (1e9, 1.0, 2.0),
    (1e-20, 1.0, 2.0), (-3.0, 1.0, 1.0 + 1e-9),
]  # fmt: skip
POWER = [
    (-3.0, 2.0, INF), (-0.5, 0.0, 3.0), (-1.0, 1e-3, 1e3), (-1.0 + 1e-12, 1.0, 2.0),
    (1e8, 1.0, 2.0), (-1e8, 1.0, 2.0), (-1.0 + 1e-6, 0.0, 1.0), (-0.5, 1.0, 1.0 + 1e-10),
    (-1.5, 1e-300, INF),
]  # fmt: skip
LOG_NORMAL = [
    (0.0, -0.5, 0.0, 1.0), (0.0, -0.5, 1e17, INF), (-3.0, -2.0, 0.0, 1e-9),
    (1.0, -0.5, 3.0, 3.0 + 1e-9), (1e3, -0.5, 1.0, 2.0), (0.0, -1e-4, 1.0, 1e6),
    (0.0, 0.5, 0.1, 9.0), (-3.0, 2.0, 0.5, 9.0), (1.0, 0.5, 3.0, 3.0 + 1e-9), (1.0, 0.0, 1.0, 2.0),
]  # fmt: skip
GAMMA = [
    (2.0, -1.0, 0.0, INF), (2.0, -1.0, 0.0, 1.0), (2.0, -1.0, 60.0, INF), (2.0, -1.0, 0.0, 1e-9),
    (1e-6 - 1, -1.0, 0.0, 1.0), (1e-6 - 1, -1.0, 1e-300, INF), (1e-6 - 1, -1.0, 20.0, INF),
    (1e8, -1.0, 1e8 + 4e5, INF), (1e8, -1.0, 0.0, 1e8 - 4e5), (1e8, -1.0, 1e8, 1e8 + 1e-3),
    (1e8, -1e-200, 1.01e208, INF), (-4.0, -2.0, 0.5, INF), (-4.0, 0.0, 0.5, INF),
    (-1.0, 0.0, 0.5, 7.0), (-1.0, -1e-3, 0.5, INF), (-0.5, 0.0, 0.0, 2.0), (-1e6, -1.0, 1.0, INF),
    (-0.5, 3.0, 0.0, 2.0), (2.0, 5.0, 0.0, 10.0), (2.0, 1e9, 0.0, 10.0), (-5.0, 3.0, 0.1, 3.0),
    (-1e4, 1e4, 0.5, 2.0), (1e-6 - 1, 20.0, 0.0, 1.0), (-1e3, 1e9, 1.0, 2.0),
    (1e8, 1e8, 1.0, 1.0 + 1e-9), (-40.0, 7.0, 1e-3, 50.0), (-40.0, 7.0, 1.0, 16.9),
    (0.0, 1.0, 3.0, 4.0),
]  # fmt: skip
BETA = [
    (2.0, 3.0, 0.0, 1.0), (2.0, 3.0, 0.9, 1.0), (2.0, 3.0, 0.4, 0.4 + 1e-10),
    (1e-6 - 1, 1e-6 - 1, 0.0, 1.0), (1e-6 - 1, 1e-6 - 1, 0.1, 0.9), (1e-6 - 1, 5.0, 0.5, 1.0),
    (1e8, 1e8, 0.5 + 0.0015, 1.0), (1e8, 1e8, 0.0, 0.4985), (1e8, 1e8, 0.5, 0.5001),
    (-3.0, 2.0, 0.1, 1.0), (2.0, -3.0, 0.0, 0.9), (-3.0, -3.0, 0.1, 0.8), (-1.0, -1.0, 0.2, 0.9),
    (-0.5, -3.0, 0.0, 0.9), (-3.0, -0.5, 0.1, 1.0), (-1e3, -2e3, 0.3, 0.34),
    (-1e6, -1e6, 0.3, 0.7), (1.0, 1e8, 1e-6, 1.0), (-0.999, -1.5, 0.0, 0.999),
    (1e8, 1e-3 - 1, 0.0, 0.9), (5.0, -6.0, 0.2, 0.9), (0.0, 0.0, 0.3, 0.4),
    (-3.0, 1e-3 - 1, 0.1, 1.0), (1e-3 - 1, -3.0, 0.0, 0.9), (-1.6, -0.5, 0.1, 1.0),
]  # fmt: skip


def line(eta_1: float, eta_2: float) -> Any:
    return lambda x: eta_1 * x + eta_2 * x * x


def half(eta_1: float) -> Any:
    return line(0.0, eta_1)


def straight(eta_1: float) -> Any:
    return line(eta_1, 0.0)


def power(eta_1: float) -> Any:
    return lambda v: (eta_1 + 1) * v


def log_normal(eta_1: float, eta_2: float) -> Any:
    return lambda v: (eta_1 + 1) * v + eta_2 * v * v


def gamma(eta_1: float, eta_2: float) -> Any:
    return lambda v: (eta_1 + 1) * v + (eta_2 * np.exp(v) if eta_2 else 0.0)


def inverse_gamma(eta_1: float, eta_2: float) -> Any:
    return lambda v: (eta_1 + 1) * v + (eta_2 * np.exp(-v) if eta_2 else 0.0)


# By 1 / x a Gamma's cases are those of an inverse Gamma.
INVERSE_GAMMA = [
    (-e1 - 2.0, e2, 1.0 / upper, 1.0 / lower if lower else INF)
    for e1, e2, lower, upper in GAMMA
    if upper / max(lower, TINY) > 1 + 1e-6 and abs(e1) < 1e7
]

FAMILIES = {
    "normal": (NORMAL, line, on_the_line),
    "half_normal": (HALF_NORMAL, half, on_the_line),
    "exponential": (EXPONENTIAL, straight, on_the_line),
    "power": (POWER, power, on_logs),
    "log_normal": (LOG_NORMAL, log_normal, on_logs),
    "gamma": (GAMMA, gamma, on_logs),
    "inverse_gamma": (INVERSE_GAMMA, inverse_gamma, on_logs),
}


def drawn(family: str, cases: Any, size: tuple[int, ...]) -> Any:
    draw = getattr(runtime, f"truncated_{family}")
    return draw(np.random.default_rng(11), *np.transpose(cases), size=size)


def uniform_of(family: str, case: tuple[float, ...], x: Any) -> Any:
    _, log_density, scale = FAMILIES[family]
    *eta, lower, upper = case
    lower = max(lower, 0.0) if family == "half_normal" else lower
    return scale(x, log_density(*eta), lower, upper)


@pytest.mark.parametrize("family", FAMILIES)
def test_draws_follow_their_distribution_functions(family: str) -> None:
    cases = FAMILIES[family][0]
    x = drawn(family, cases, (N, len(cases)))
    p = {case: p_value(uniform_of(family, case, x[:, j])) for j, case in enumerate(cases)}
    assert {case: value for case, value in p.items() if not value > LEVEL} == {}
    lower, upper = np.transpose(cases)[-2:]
    assert ((x > lower) & (x < upper)).all()


# ---- one number, drawn without arrays ---------------------------------------------------------

PLAIN = [(family, case) for family in ("gamma", "inverse_gamma") for case in FAMILIES[family][0]]


def one_by_one(family: str, case: Any, size: tuple[int, ...], count: int) -> tuple[Any, Any]:
    """Draws of one number each, and the state in which they leave the generator."""
    draw, rng = getattr(runtime, f"truncated_{family}"), np.random.default_rng(15)
    x = [np.sum(draw(rng, *case, size=size)) for _ in range(count)]
    return np.array(x), rng.bit_generator.state


@pytest.mark.parametrize(("family", "case"), PLAIN)
def test_single_draws_follow_their_distribution_functions(family: str, case: Any) -> None:
    x, _ = one_by_one(family, case, (), N)
    assert p_value(uniform_of(family, case, x)) > LEVEL
    assert ((x > case[-2]) & (x < case[-1])).all()


@pytest.mark.parametrize(("family", "case"), PLAIN)
def test_single_draws_are_those_of_an_array_of_one(family: str, case: Any) -> None:
    """The same algorithm with the same random numbers: only roundings may differ."""
    (one, state), (array, expected) = (one_by_one(family, case, s, 50) for s in ((), (1,)))
    np.testing.assert_allclose(one, array, rtol=1e-12)
    assert state == expected


def logit(x: Any) -> Any:
    return np.log(x) - np.log1p(-x)


def beta_uniform(case: tuple[float, ...], x: Any) -> Any:
    """On the scale of log odds, from the lower bound where the interval is narrow."""
    a, b, lower, upper = case[0] + 1, case[1] + 1, *case[2:]
    if upper - lower < 1e-3:
        return on_the_line(x, lambda t: (a - 1) * np.log(t) + (b - 1) * np.log1p(-t), lower, upper)
    with np.errstate(divide="ignore"):
        ends = logit(lower), logit(upper)
    density = lambda z: -a * np.logaddexp(0, -z) - b * np.logaddexp(0, z)  # noqa: E731
    cdf = cdf_of(density, *ends)
    uniform = spread(x, cdf(logit(x)))
    above = 1 - (1 - uniform) * np.random.default_rng(2).random(x.shape)
    return np.where(x >= BELOW_ONE, above, uniform)


def test_beta_draws_follow_their_distribution_functions() -> None:
    x = drawn("beta", BETA, (N, len(BETA)))
    p = {case: p_value(beta_uniform(case, x[:, j])) for j, case in enumerate(BETA)}
    assert {case: value for case, value in p.items() if not value > LEVEL} == {}
    lower, upper = np.transpose(BETA)[-2:]
    assert ((x > lower) & (x < upper)).all()


def test_uniform_draws_follow_their_distribution_function() -> None:
    lower, upper = np.array([0.0, -3.0, 1.0, -1e308]), np.array([1e-300, 2.0, 1.0 + 1e-10, 1e308])
    x = runtime.truncated_uniform(np.random.default_rng(12), lower, upper, size=(N, 4))
    uniform = (x / 2 - lower / 2) / (upper / 2 - lower / 2)
    assert min(p_value(uniform[:, j]) for j in range(4)) > LEVEL
    assert ((x > lower) & (x < upper)).all()


# ---- the reference is right where SciPy is ---------------------------------------------------


def test_the_reference_agrees_with_scipy() -> None:
    t = np.linspace(0.05, 5, 50)
    cases = (
        (on_the_line(t, line(0.0, -0.5), 0.0, INF), stats.halfnorm.cdf(t)),
        (on_logs(t, gamma(-0.7, -1.0), 0.0, INF), stats.gamma(0.3).cdf(t)),
        (on_logs(t, gamma(1e-6 - 1, -1.0), 0.0, INF), stats.gamma(1e-6).cdf(t)),
        (on_logs(t, inverse_gamma(-3.0, -1.0), 0.0, INF), stats.invgamma(2.0).cdf(t)),
        (beta_uniform((1.0, 2.0, 0.0, 1.0), t / 6), stats.beta(2.0, 3.0).cdf(t / 6)),
        (on_the_line(t, line(0.0, -0.5), -1.0, 6.0), stats.truncnorm(-1.0, 6.0).cdf(t)),
    )
    for found, expected in cases:
        # The grid's cells are a ten-thousandth of the range: their curvature is 1e-6 of the mass.
        np.testing.assert_allclose(found, expected, atol=1e-6)


# ---- digits ----------------------------------------------------------------------------------


def test_the_excess_of_an_exponential_has_all_digits() -> None:
    u = np.concatenate([-np.geomspace(1e-300, 700, 400), np.geomspace(1e-300, 700, 400)])
    # Where u is small, by the series with as many terms as there are digits.
    terms = [1.0 / math.factorial(n) for n in range(12, 1, -1)]
    expected = np.where(np.abs(u) < 0.1, np.polyval([*terms, 0, 0], u), np.expm1(u) - u)
    # Next to where the series ends, the difference loses 2 / u roundings.
    np.testing.assert_allclose(excess(u), expected, rtol=200 * 2.0**-52)


# ---- shapes, errors --------------------------------------------------------------------------

ONE = {
    "uniform": (), "normal": (0.0, -0.5), "half_normal": (-0.5,), "exponential": (-1.0,),
    "power": (-0.5,), "log_normal": (0.0, -0.5), "gamma": (1.0, -1.0),
    "inverse_gamma": (-3.0, -1.0), "beta": (1.0, 1.0),
}  # fmt: skip


@pytest.mark.parametrize("family", ONE)
def test_single_values_and_empty_arrays(family: str) -> None:
    draw = getattr(runtime, f"truncated_{family}")
    rng = np.random.default_rng(13)
    for lower, upper in ((0.0, 0.9), (0.899, 0.9), (np.float64(0.1), 1)):
        one = draw(rng, *ONE[family], lower, upper, size=())
        assert isinstance(one, float)
        assert lower < one < upper
        assert draw(rng, *ONE[family], lower, upper, size=(0,)).shape == (0,)
        assert draw(rng, *ONE[family], lower, upper, size=(4, 2)).shape == (4, 2)


IMPROPER = [
    ("uniform", (0.0, INF)), ("uniform", (1.0, 1.0)), ("uniform", (1.0, 1.0 + 2**-52)),
    ("normal", (0.0, 0.5, 0.0, INF)), ("normal", (1.0, 0.0, 0.0, INF)),
    ("normal", (0.0, 0.0, 0.0, INF)), ("normal", (0.0, 0.0, -INF, 0.0)),
    ("normal", (0.0, -0.5, 2.0, 1.0)), ("normal", (np.nan, -0.5, 0.0, 1.0)),
    ("half_normal", (-0.5, -2.0, -1.0)), ("half_normal", (0.5, 0.0, INF)),
    ("exponential", (1.0, 0.0, INF)), ("exponential", (0.0, 0.0, INF)),
    ("exponential", (-1.0, -INF, 0.0)), ("exponential", (0.0, -INF, 0.0)),
    ("exponential", (np.nan, 0.0, 1.0)),
    ("power", (-1.0, 0.0, 1.0)), ("power", (-1.0, 1.0, INF)), ("power", (-2.0, 0.0, 1.0)),
    ("power", (0.0, 1.0, INF)), ("power", (np.nan, 1.0, 2.0)),
    ("log_normal", (0.0, 0.0, 1.0, INF)), ("log_normal", (0.0, 0.5, 0.0, 2.0)),
    ("gamma", (-1.0, -1.0, 0.0, 1.0)), ("gamma", (1.0, 0.0, 1.0, INF)),
    ("gamma", (1.0, 1.0, 1.0, INF)), ("gamma", (-1.0, 0.0, 1.0, INF)),
    ("gamma", (np.nan, -1.0, 1.0, 2.0)), ("gamma", (1.0, np.nan, 1.0, 2.0)),
    ("inverse_gamma", (-1.0, -1.0, 1.0, INF)), ("inverse_gamma", (-3.0, 1.0, 0.0, 1.0)),
    ("beta", (-1.0, 1.0, 0.0, 0.5)), ("beta", (1.0, -1.0, 0.5, 1.0)),
    ("beta", (1.0, 1.0, 1.0, 2.0)),
    ("beta", (np.nan, 1.0, 0.1, 0.2)),
]  # fmt: skip


@pytest.mark.parametrize("case", IMPROPER, ids=str)
def test_improper_parameters_raise_and_give_no_value(case: Any) -> None:
    family, arguments = case
    draw = getattr(runtime, f"truncated_{family}")
    for size in ((), (3,)):
        with pytest.raises(ValueError, match="found"):
            draw(np.random.default_rng(14), *arguments, size=size)


# ---- planted bugs: the comparisons above must see them ---------------------------------------


@pytest.mark.parametrize(
    ("family", "case", "bug"),
    [
        ("normal", (0.0, -0.5, 40.0, INF), (0.0, -0.7, 40.0, INF)),
        ("normal", (0.0, -0.5, 30.0, 30.1), (0.0, -0.6, 30.0, 30.1)),
        ("gamma", (1e8, -1.0, 1e8 + 4e5, INF), (1.002e8, -1.0, 1e8 + 4e5, INF)),
        ("gamma", (1e-6 - 1, -1.0, 20.0, INF), (9.0, -1.0, 20.0, INF)),
        ("gamma", (-40.0, 7.0, 1.0, 16.9), (-40.0, 6.0, 1.0, 16.9)),
        ("power", (-1.0, 1e-3, 1e3), (-1.05, 1e-3, 1e3)),
        ("log_normal", (1e3, -0.5, 1.0, 2.0), (1.2e3, -0.5, 1.0, 2.0)),
    ],
)
def test_planted_bugs_are_caught(family: str, case: Any, bug: Any) -> None:
    x = drawn(family, [bug], (N, 1))[:, 0]
    assert p_value(uniform_of(family, case, x)) < LEVEL


@pytest.mark.parametrize(("name", "case"), [("_try_even", NORMAL[10]), ("_try_beyond", NORMAL[6])])
def test_a_normal_of_which_all_candidates_are_accepted_is_caught(monkeypatch, name, case):
    every = getattr(truncated, name)

    def wrong(*given):
        z, accepted = every(*given)
        return z**0.9, accepted | ~accepted

    monkeypatch.setattr(truncated, name, wrong)
    x = runtime.truncated_normal(np.random.default_rng(8), *case, size=(N,))
    assert p_value(uniform_of("normal", case, x)) < LEVEL


@pytest.mark.parametrize(
    "case",
    [(1e300, -0.5, 0.0, 1.0), (0.0, -5e-324, 1.0, INF), (-1e-200, -1e300, 1.0, INF),
     (0.0, -1e-310, -1e308, -1e307), (1e308, -1e-308, 0.0, 5.0), (0.0, -0.5, 1e200, INF),
     (0.0, -0.5, 0.0, 1e-320), (1e155, -0.5, -INF, 5e-324)],
)  # fmt: skip
def test_normals_are_between_their_bounds_whatever_their_scale(case):
    x = runtime.truncated_normal(np.random.default_rng(9), *case, size=(20,))
    one = [loops.truncated_normal(np.random.default_rng(n), *case) for n in range(5)]
    assert ((x > case[2]) & (x < case[3])).all()
    assert all(case[2] < z < case[3] for z in one)


@pytest.mark.parametrize(("eta", "lower", "upper", "law"), [
    (-0.5, 0.0, 2.0, stats.powerlaw(0.5, scale=2.0)), (3.0, 0.0, 1e-200, stats.powerlaw(4.0)),
    (-3.0, 2.0, np.inf, stats.pareto(2.0, scale=2.0)),
])  # fmt: skip
def test_a_log_normal_without_a_square_is_a_power(eta, lower, upper, law):
    """Of elements that nothing quadratic reads, beside others."""
    rng = np.random.default_rng(8)
    x = runtime.truncated_log_normal(rng, np.full(4000, eta), np.zeros(4000), lower, upper, (4000,))

    assert stats.kstest(x / (1e-200 if upper == 1e-200 else 1.0), law.cdf).pvalue > 1e-3


@pytest.mark.parametrize(("eta", "lower", "upper"), [(-1.0, 0.0, 1.0), (-2.0, 0.0, 1.0),
                                                     (0.0, 1.0, np.inf)])  # fmt: skip
def test_a_power_without_a_finite_integral_is_refused(eta, lower, upper):
    rng = np.random.default_rng(8)
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="finite integral"):
        runtime.truncated_log_normal(rng, np.full(2, eta), np.zeros(2), lower, upper, (2,))


def test_a_rate_that_is_too_small_for_a_number_leaves_a_draw_that_is_one():
    """Of a time that nobody has seen end, where ``exp(log rate)`` has come to 0."""
    rng = np.random.default_rng(9)
    x = runtime.truncated_exponential(rng, np.array([-0.0, -1.0]), 44.5, np.inf, (2,))

    assert np.isfinite(x).all()
    assert x[0] > 1e300
    assert 44.5 < x[1] < 100
    with pytest.raises(ValueError, match="finite integral"):
        runtime.truncated_exponential(rng, np.zeros(2), 44.5, np.inf, (2,))
