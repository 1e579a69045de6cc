"""Kernels of draws of one number, against the draws of whole arrays and their distributions."""

import inspect
from contextlib import suppress

import numpy as np
import pytest
from kernels_called import Called
from scipy import stats

from gibbsppl.runtime import draws as arrays
from gibbsppl.runtime.draws import BELOW_ONE, HUGE, TINY
from gibbsppl.runtime.loops import draws

LEVEL = 1e-4 / 60
N = 50

rng = np.random.default_rng(7)
ETA, POSITIVE = rng.normal(size=N) * 3, rng.gamma(2.0, size=N) + 0.2
OTHER, WHOLE = rng.gamma(3.0, size=N) + 0.2, rng.integers(0, 40, N)

# Arguments before the size and after it, where random numbers come in the same order.
IN_ORDER = {
    "normal": ((ETA, -POSITIVE), ()),
    "gamma": ((POSITIVE - 1.0, -OTHER), ()),
    "gamma_of": ((POSITIVE, OTHER), ()),
    "inverse_gamma": ((-POSITIVE - 1.0, -OTHER), ()),
    "inverse_gamma_of": ((POSITIVE, OTHER), ()),
    "chi_squared": ((POSITIVE - 1.0,), ()),
    "exponential": ((-POSITIVE,), ()),
    "half_normal": ((-POSITIVE,), ()),
    "log_normal": ((ETA, -POSITIVE), ()),
    "laplace": ((-POSITIVE,), (ETA,)),
    "weibull": ((-POSITIVE,), (OTHER,)),
    "pareto": ((-POSITIVE - 1.0,), (OTHER,)),
    "pareto_of": ((POSITIVE, OTHER), ()),
    "beta": ((POSITIVE - 1.0, OTHER - 1.0), ()),
    "beta_of": ((POSITIVE, OTHER), ()),
    "uniform": ((), (ETA, ETA + POSITIVE)),
    "bernoulli": ((ETA,), ()),
    "binomial": ((ETA,), (WHOLE,)),
    "poisson": ((ETA,), ()),
    "geometric": ((-POSITIVE,), ()),
    "negative_binomial": ((-POSITIVE,), (OTHER,)),
    "discrete_uniform": ((), (WHOLE - 5, WHOLE * 3)),
}

# Extreme parameters: of each draw some arguments, and between which numbers it is.
EXTREME = [
    ("normal", (1.0, -1e300), -1e-100, 1e-100), ("normal", (0.0, -1e-300), -1e152, 1e152),
    ("gamma", (-1.0 + 1e-6, -1.0), TINY, 1e3), ("gamma", (-1.0 + 1e-6, -1e-300), TINY, 1e304),
    ("gamma", (1e300, -1.0), 0.9e300, 1.1e300), ("gamma", (1.0, -1e300), TINY, 1e-290),
    ("gamma_of", (1e-300, 1.0), TINY, TINY), ("inverse_gamma_of", (1e-300, 1.0), 1e308, HUGE),
    ("inverse_gamma", (-1.0 - 1e-6, -1.0), 1e-3, HUGE), ("inverse_gamma", (-3.0, -1e300), 1, HUGE),
    ("exponential", (-1e-300,), 1e290, 1e305), ("exponential", (-1e300,), TINY, 1e-290),
    ("half_normal", (-1e300,), TINY, 1e-140), ("log_normal", (0.0, -1e-300), TINY, HUGE),
    ("weibull", (-1.0, 1e-3), TINY, HUGE), ("pareto", (-1.0 - 1e-9, 1.0), 1.0, HUGE),
    ("pareto", (-1e300, 2.0), np.nextafter(2.0, 3.0), np.nextafter(2.0, 3.0)),
    ("beta", (1e-6 - 1, 1e-6 - 1), TINY, BELOW_ONE), ("beta", (1e300, 1.0), 0.999, BELOW_ONE),
    ("beta_exponential", (-1e-6, 0.0), TINY, HUGE), ("beta_exponential", (-1.0, 1e-6 - 1), TINY, 9),
    ("uniform", (1.0, 1.0 + 4e-16), np.nextafter(1, 2), np.nextafter(1, 2)),
    ("bernoulli", (-1e300,), 0, 0), ("bernoulli", (1e300,), 1, 1), ("bernoulli", (-np.inf,), 0, 0),
    ("binomial", (1e300, 7), 7, 7), ("binomial", (-1e300, 7.0), 0, 0), ("binomial", (0.0, 0), 0, 0),
    ("poisson", (-1e300,), 0, 0), ("poisson", (-np.inf,), 0, 0), ("poisson", (43.0,), 4e18, 5e18),
    ("geometric", (-1e300,), 0, 0), ("geometric", (-1e-12,), 1e8, 1e14),
    ("negative_binomial", (-1e300, 3.0), 0, 0), ("negative_binomial", (-1e-14, 3.0), 1e12, 2e15),
    ("negative_binomial", (-1e-17, 9.0), 1e16, 4e18),
    ("discrete_uniform", (3, 3), 3, 3), ("discrete_uniform", (-2.0, -1.0), -2, -1),
]  # fmt: skip

NAN, INF = np.nan, np.inf
OUTSIDE = [
    ("normal", (0.0, 0.0)), ("normal", (0.0, 1.0)), ("normal", (0.0, NAN)), ("gamma", (-1.0, -1.0)),
    ("gamma", (1.0, 0.0)), ("gamma", (NAN, -1.0)), ("gamma", (1.0, NAN)), ("gamma", (1.0, 1.0)),
    ("inverse_gamma", (0.0, -1.0)), ("inverse_gamma", (-3.0, 0.0)), ("inverse_gamma", (NAN, -1.0)),
    ("chi_squared", (-1.0,)), ("chi_squared", (NAN,)), ("exponential", (0.0,)),
    ("exponential", (NAN,)), ("half_normal", (0.0,)), ("half_normal", (1.0,)),
    ("log_normal", (0.0, 0.0)), ("laplace", (0.0, 1.0)), ("weibull", (0.0, 1.0)),
    ("weibull", (-1.0, 0.0)), ("pareto", (-1.0, 1.0)), ("pareto", (-2.0, 0.0)),
    ("beta", (-1.0, 0.0)), ("beta", (0.0, NAN)), ("beta", (NAN, 0.0)), ("beta", (0.0, -1.0)),
    ("beta_exponential", (0.0, 0.0)), ("beta_exponential", (-1.0, NAN)), ("uniform", (1.0, 0.0)),
    ("uniform", (0.0, INF)), ("uniform", (NAN, 1.0)), ("bernoulli", (NAN,)), ("binomial", (NAN, 3)),
    ("binomial", (0.0, -1)), ("binomial", (0.0, 0.5)), ("binomial", (0.0, NAN)),
    ("binomial", (0.0, 1e300)), ("poisson", (NAN,)), ("poisson", (50.0,)), ("poisson", (1e300,)),
    ("geometric", (0.0,)), ("geometric", (NAN,)), ("geometric", (-1e-300,)),
    ("negative_binomial", (0.0, 1.0)), ("negative_binomial", (-1.0, 0.0)),
    ("negative_binomial", (NAN, 1.0)), ("negative_binomial", (-1.0, NAN)),
    ("negative_binomial", (-1e-300, 1.0)), ("negative_binomial", (-1.0, 1e300)),
    ("discrete_uniform", (2, 1)), ("discrete_uniform", (0.5, 1.0)), ("discrete_uniform", (NAN, 1)),
    ("discrete_uniform", (0.0, 1e300)), ("gamma_of", (1e-3, -1.0)), ("log_gamma_of", (NAN,)),
]  # fmt: skip

WHOLE_NUMBERS = {"bernoulli", "binomial", "poisson", "geometric", "negative_binomial",
                 "discrete_uniform"}  # fmt: skip


def compiled_of(name):
    pytest.importorskip("numba")
    return getattr(Called("draws"), name)


def one_by_one(draw, arguments, seed=1):
    rng = np.random.default_rng(seed)
    with np.errstate(all="ignore"):
        return [draw(rng, *(a.item() for a in case)) for case in zip(*arguments, strict=True)]


@pytest.mark.parametrize("name", IN_ORDER)
def test_draws_one_by_one_are_those_of_whole_arrays(name):
    eta, known = IN_ORDER[name]
    expected = getattr(arrays, name)(np.random.default_rng(1), *eta, size=(N,)) if not known else (
        getattr(arrays, name)(np.random.default_rng(1), *eta, (N,), *known)
    )
    found = one_by_one(getattr(draws, name), (*eta, *known))
    np.testing.assert_allclose(found, expected, rtol=1e-14)


@pytest.mark.parametrize("name", draws.PARTED)
def test_a_draw_of_its_parameters_is_the_draw(name):
    row, (eta, _) = draws.PARTED[name], IN_ORDER[name]
    parts = [
        [getattr(draws, part.function)(*(eta[n][i] for n in part.arguments)) for i in range(N)]
        for part in row.parts
    ]
    arguments = (*(eta[n] for n in row.kept), *map(np.array, parts))
    found = one_by_one(getattr(draws, row.draw), arguments)

    np.testing.assert_array_equal(found, one_by_one(getattr(draws, name), eta))


@pytest.mark.parametrize("name", IN_ORDER)
def test_whole_numbers_are_integers_and_others_are_floats(name):
    eta, known = IN_ORDER[name]
    found = one_by_one(getattr(draws, name), (*eta, *known))
    assert {type(x) for x in found} <= ({int} if name in WHOLE_NUMBERS else {float})


@pytest.mark.slow
@pytest.mark.parametrize("name", IN_ORDER)
def test_compiled_draws_are_those_of_plain_python(name):
    arguments = sum(IN_ORDER[name], ())
    found = one_by_one(compiled_of(name), arguments)
    np.testing.assert_array_equal(found, one_by_one(getattr(draws, name), arguments))


@pytest.mark.parametrize("name", ["normal", "poisson"])
def test_a_compiled_draw_is_that_of_plain_python(name):
    arguments = sum(IN_ORDER[name], ())
    found = one_by_one(compiled_of(name), arguments)
    np.testing.assert_array_equal(found, one_by_one(getattr(draws, name), arguments))


def repeated(draw, case, n=5):
    return one_by_one(draw, [np.full(n, c) for c in case])


@pytest.mark.parametrize(("name", "case", "least", "most"), EXTREME, ids=str)
def test_extreme_parameters_keep_draws_inside_the_support(name, case, least, most):
    assert all(least <= x <= most for x in repeated(getattr(draws, name), case, 20))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "case", "_", "__"), EXTREME, ids=str)
def test_extreme_compiled_draws_are_those_of_plain_python(name, case, _, __):
    found, expected = (repeated(f, case) for f in (compiled_of(name), getattr(draws, name)))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("name", "case"), OUTSIDE, ids=str)
def test_parameters_outside_of_the_domain_raise(name, case):
    with pytest.raises(ValueError, match=r"\w"):
        repeated(getattr(draws, name), case)


@pytest.mark.parametrize(("name", "case"), OUTSIDE, ids=str)
def test_parameters_of_arrays_outside_of_the_domain_raise(name, case):
    """Or are seen to be outside afterwards: what is drawn is no number, or too large to count."""
    draw = getattr(arrays, name)
    signature = inspect.signature(draw)
    names = [n for n in signature.parameters if n not in ("rng", "size")]
    for size in ((), (3,)):
        given = {n: np.full(size, c) if size else c for n, c in zip(names, case, strict=True)}
        with suppress(ValueError, ArithmeticError), np.errstate(all="ignore"):
            found = draw(np.random.default_rng(1), size=size, **given)
            assert np.isnan(found).all() or (name in WHOLE_NUMBERS and np.all(found > 2**31))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "case"), OUTSIDE, ids=str)
def test_compiled_parameters_outside_of_the_domain_raise(name, case):
    with pytest.raises(ValueError, match=r"\w"):
        repeated(compiled_of(name), case)


# ---- random numbers in another order: the same distribution ----------------------------------

SMALL = [
    ("gamma_of", (0.03, 2.0), stats.gamma(0.03, scale=0.5)),
    ("inverse_gamma_of", (0.06, 2.0), stats.invgamma(0.06, scale=2.0)),
    ("beta_of", (0.06, 0.3), stats.beta(0.06, 0.3)),
    ("beta_of", (2.0, 0.09), stats.beta(2.0, 0.09)),
    ("chi_squared", (-0.95,), stats.chi2(0.1)),
]


@pytest.mark.parametrize(("name", "case", "law"), SMALL, ids=[f"{n}-{c}" for n, c, _ in SMALL])
def test_draws_of_small_shapes_have_their_distribution(name, case, law):
    x = np.array(repeated(getattr(draws, name), case, 4000))
    # (a draw at the smallest or the largest number stands for all that is beyond)
    u = np.random.default_rng(2).random(x.size)
    uniform = np.where(x <= TINY, law.cdf(TINY) * u, law.cdf(x))
    uniform = np.where((x >= HUGE) | (x == BELOW_ONE), 1 - law.sf(x) * u, uniform)
    assert stats.kstest(uniform, stats.uniform.cdf).pvalue > LEVEL


@pytest.mark.parametrize(("a", "b"), [(2.0, 3.0), (0.5, 0.05), (0.05, 2.0)])
def test_beta_exponential_draws_have_their_distribution(a, b):
    x = np.array(repeated(draws.beta_exponential, (-a, b - 1.0), 4000))
    rest = -np.expm1(-x)
    uniform = np.where(x < 1.0, stats.beta(b, a).cdf(rest), stats.beta(a, b).sf(np.exp(-x)))
    assert stats.kstest(uniform, stats.uniform.cdf).pvalue > LEVEL


def test_negative_binomial_draws_of_large_counts_have_their_distribution():
    x = np.array(repeated(draws.negative_binomial, (-1e-11, 3.0), 4000), dtype=float)
    assert stats.kstest(x * 1e-11, stats.gamma(3.0).cdf).pvalue > LEVEL
