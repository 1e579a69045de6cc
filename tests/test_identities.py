"""Identities: the same numbers on both sides, and nothing else is touched."""

import mpmath
import numpy as np
import pytest
import sympy as sp

import gibbsppl as gp
from gibbsppl.algebra.expressions import Array, Dim, Over
from gibbsppl.algebra.functions import Expit, LogGammaP
from gibbsppl.algebra.identities import LONGEST_PRODUCT, simplified
from gibbsppl.algebra.log_gamma import loggamma
from gibbsppl.model.evaluation import evaluate

K = Dim("k")
SIZES = {K: 3}
X, A, W = (Array(n, positive=True)[()] for n in "xaw")
V, R, E = (Array(n)[()] for n in "vre")
XK = Array("xs", positive=True)[K]
ROUNDING = 256 * np.finfo(float).eps

# Both sides.
REDUCED = {
    "a power of a power": (((X * W) ** (-1 / V)) ** (-V), W * X),
    "one more": (loggamma(W * X + 1) - loggamma(W * X), sp.log(W * X)),
    "three more": (
        loggamma(X + 3) - loggamma(X),
        sp.log(X) + sp.log(X + 1) + sp.log(X + 2),
    ),
    "a multiple": (3 * loggamma(X + 1) - 3 * loggamma(X), 3 * sp.log(X)),
    "a symbolic multiple": (A * loggamma(X + 1) - A * loggamma(X), A * sp.log(X)),
    "a negative multiple": (A * loggamma(X) - A * loggamma(X + 2), -A * sp.log(X * (X + 1))),
    "a shape by its mean": (loggamma(X / (1 - W) + 1) - loggamma(X / (1 - W)),
                            sp.log(X / (1 - W))),
    "two ratios": (
        loggamma(X + 1) - loggamma(X) + loggamma(W * X + 2) - loggamma(W * X),
        sp.log(X) + sp.log(W * X) + sp.log(W * X + 1),
    ),
    "a ratio among other terms": (
        V * sp.log(X) + loggamma(X + A) + loggamma(X + 1) - loggamma(X) - X,
        V * sp.log(X) + loggamma(X + A) + sp.log(X) - X,
    ),
    "an exponential of the target less a constant": (
        sp.exp(A * X + LogGammaP(1, A * X)) / A,
        sp.exp(A * X) / A - 1 / A,
    ),
    "a ratio in a sum": (Over(loggamma(XK + 1) - loggamma(XK), K), Over(sp.log(XK), K)),
    "a ratio in an exponential": (sp.exp(loggamma(X + 1) - loggamma(X)), X),
    "the longest product": (
        loggamma(X + LONGEST_PRODUCT) - loggamma(X),
        sp.Add(*(sp.log(X + i) for i in range(LONGEST_PRODUCT))),
    ),
}  # fmt: skip


def values(seed):
    rng = np.random.default_rng(seed)
    found = {n: 0.1 + 0.8 * rng.random() for n in "xwva"}
    return found | {"r": rng.normal(), "e": rng.normal(), "xs": rng.random(3) + 0.1}


def largest_gap(one, two):
    """How far two expressions are apart at random points, relative to their size."""
    pairs = [[float(evaluate(e, (), values(s), SIZES)) for e in (one, two)] for s in range(8)]
    return max(abs(a - b) / (1 + abs(a)) for a, b in pairs)


@pytest.mark.parametrize("name", REDUCED)
def test_both_sides_are_the_same_number(name):
    given, expected = REDUCED[name]
    found = simplified(given, {"x", "xs"})

    assert largest_gap(given, found) <= ROUNDING
    assert largest_gap(found, expected) <= ROUNDING


@pytest.mark.parametrize("name", REDUCED)
def test_what_cancels_is_gone(name):
    """Gamma functions and nested powers that the right side has none of."""
    given, expected = REDUCED[name]
    found = simplified(given, {"x", "xs"})

    assert found != given
    assert found.count(loggamma) == expected.count(loggamma)
    assert not any(p.is_Pow and p.base.is_Pow for p in found.atoms(sp.Pow))


def test_a_product_that_is_one_too_short_is_seen():
    wrong = sp.Add(*(sp.log(X + i) for i in range(1, 3)))

    assert largest_gap(REDUCED["three more"][0], wrong) > ROUNDING


LEFT = {
    "free of the target": loggamma(A + 1) - loggamma(A),
    "too long a product": loggamma(X + LONGEST_PRODUCT + 1) - loggamma(X),
    "a gap that is no whole number": loggamma(X + sp.Rational(1, 2)) - loggamma(X),
    "a gap that is a variable": loggamma(X + A) - loggamma(X),
    "multiples that differ": 2 * loggamma(X + 1) - loggamma(X),
    "a sum and no difference": loggamma(X + 1) + loggamma(X),
    "a square inside": (R**2) ** (1 / V),
    "the variable alone": X,
    "exponentials that cancel near zero": sp.exp(A * X + LogGammaP(1, A * X)) / X,
    "no gamma function": sp.log(X + 1) - sp.log(X),
}


@pytest.mark.parametrize("name", LEFT)
def test_what_is_not_covered_stays(name):
    assert simplified(LEFT[name], {"x", "r"}) == LEFT[name]


def test_ratios_of_counts_are_binomial_coefficients_and_stay():
    expr = loggamma(X + 1) - loggamma(X) + sp.log(X)

    assert simplified(expr, {"x"}, counts=True) == expr
    power = REDUCED["a power of a power"][0]
    assert simplified(power, {"x"}, counts=True) == W * X


def test_a_power_that_loses_the_sign_stays():
    expr = sp.sqrt(R**E)
    even = values(1) | {"r": -1.5, "e": 2.0}

    found = simplified(expr, {"r"})
    one, two = (float(evaluate(e, (), even, SIZES)) for e in (expr, found))
    assert one == pytest.approx(two, rel=ROUNDING, nan_ok=False)


def test_odds_of_a_logistic_function_are_an_exponential():
    x = Array("x")[()]
    odds = Expit(x) ** 2 * (1 - Expit(x)) ** -2

    assert simplified(odds, {"x"}) == sp.exp(2 * x)
    assert simplified(Expit(x) / Expit(-x), {"x"}) == sp.exp(x)
    assert simplified(Expit(x) * (1 - Expit(x)), {"x"}) == Expit(x) * (1 - Expit(x))


@pytest.mark.parametrize("upper", [np.inf, 3.0])
def test_a_small_shape_of_a_hazard_costs_no_digits(upper):
    """Gompertz values are exponential ones as their shape goes to zero."""
    y, rate = np.array([0.5, 1.5, 2.5]), 0.7
    with gp.Model(coords={"i": 3}) as model:
        u = gp.Flat("u")
        gp.Gompertz("y", shape=gp.exp(u), rate=rate, upper=upper, dims="i", observed=y)
    sampler = gp.compile(model)
    given = sampler.program.given_rest["u"]({"u": np.array(0.0)}, sampler.constants)
    mass = -np.expm1(-rate * upper)
    limit = (np.log(rate) - rate * y - np.log(mass)).sum()

    # (what does not depend on the shape is left out)
    left_out = limit - float(given(np.array(-700.0)))
    for shape in (-200.0, -80.0, -40.0):
        assert float(given(np.array(shape))) + left_out == pytest.approx(limit, rel=1e-13)
    with mpmath.workdps(60):
        shape = mpmath.exp(-3)
        *hazards, last = (rate * mpmath.expm1(shape * t) / shape for t in (*y, 3.0))
        log_mass = mpmath.log(-mpmath.expm1(-last)) if upper < np.inf else 0
        each = sum(shape * t - h for t, h in zip(y, hazards, strict=True))
        expected = float(3 * (mpmath.log(rate) - log_mass) + each)
    assert float(given(np.array(-3.0))) + left_out == pytest.approx(expected, rel=1e-12)


def log_of_a_share():
    share = gp.Beta("x", 2, 2)
    gp.StudentT("y", nu=-gp.log(share), mu=2.3, sigma=3.5, observed=6.4)


def negative_value():
    x = gp.Uniform("x", -5, -1)
    gp.StudentT("y", nu=-x, mu=2.3, sigma=3.5, observed=6.4)


def power_of_the_log_of_a_share():
    share = gp.Beta("x", 1, 2)
    gp.GeneralizedGamma(
        "y", shape=1.7, scale=-gp.log(share), power=0.5, dims="i", observed=[1.0, 2.0]
    )


def power_of_a_product_of_negative_values():
    x, a = gp.Uniform("x", -5, -1), gp.Data("a", [-1.0, -2.0], dims="i")
    gp.Normal("y", (a * x) ** 0.5, tau=1, dims="i", observed=[1.0, 2.0])


def log_of_a_product_of_negative_values():
    x, a = gp.Uniform("x", -5, -1), gp.Data("a", [-1.0, -2.0], dims="i")
    gp.Normal("y", gp.log(a * x), tau=1, dims="i", observed=[1.0, 2.0])


WITH_NEGATIVE_VALUES = (
    log_of_a_share,
    negative_value,
    power_of_the_log_of_a_share,
    power_of_a_product_of_negative_values,
    log_of_a_product_of_negative_values,
)


@pytest.mark.parametrize("declare", WITH_NEGATIVE_VALUES, ids=lambda f: f.__name__)
def test_logs_and_powers_of_negative_values_are_left_whole(declare):
    with gp.Model(coords={"i": 2}) as model:
        declare()
    assert gp.compile(model).verify().passed
