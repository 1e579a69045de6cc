"""Large numbers: those of many digits are never written out, those beyond all floats are refused.

Such are trials and events of millions, and products of numbers of the model.
"""

from math import lgamma

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from scipy import stats

import gibbsppl as gp
from gibbsppl.algebra.log_gamma import MOST, loggamma

SEEN = {"observed": [0, 3, 1], "dims": "i"}
OF_MILLIONS = {
    "binomial": lambda p, q: gp.Binomial("x", 1e7, p, **SEEN),
    "zeros or binomial": lambda p, q: gp.ZeroInflatedBinomial("x", q, 1e7, p, **SEEN),
    "zeros or binomial, known": lambda p, q: gp.ZeroInflatedBinomial("x", q, 1e7, 0.001, **SEEN),
    "zeros or counts": lambda p, q: gp.ZeroInflatedNegativeBinomial("x", q, 1e7, p, **SEEN),
    "counts": lambda p, q: gp.NegativeBinomial("x", 1e7, p, **SEEN),
    "beta-binomial": lambda p, q: gp.BetaBinomial("x", 1e7, p, q, **SEEN),
    "at least one": lambda p, q: gp.Bernoulli("x", 1 - (1 - p) ** 1e7, observed=1),
    "a shape": lambda p, q: gp.Gamma("x", 1e300, rate=p),
}


# Rounding of terms of this size hides a gap of one: nothing is proved there, nothing fails.
OF_NO_DIGITS = ("beta-binomial", "a shape")


@pytest.mark.parametrize("name", OF_MILLIONS)
def test_models_of_millions_are_compiled_at_once(name):
    with gp.Model() as model:
        p, q = gp.Beta("p", 1, 1), gp.Beta("q", 1, 1)
        OF_MILLIONS[name](p, q)
    told = gp.compile(model).verify()

    assert told.passed
    assert told.proved == (name not in OF_NO_DIGITS)


def test_the_trials_of_a_large_study_are_those_of_its_posterior():
    with gp.Model() as model:
        p = gp.Beta("p", 1, 1)
        gp.Binomial("x", 10_000_000, p, observed=4_000_000)
    draws = gp.compile(model).sample(1000, chains=1, warmup=10, seed=1, progress=False)["p"]

    of_beta = stats.beta(4_000_001, 6_000_001)
    assert stats.kstest(np.ravel(draws), of_beta.cdf).pvalue > 1e-3


@pytest.mark.parametrize("z", [MOST, MOST + 1, 1e7, 1e7 + 0.5, 1e300])
def test_the_log_of_a_gamma_function_has_its_value(z):
    assert float(loggamma(z)) == pytest.approx(lgamma(z), rel=1e-14)


OF_LARGE = {
    "alpha, beta": lambda b: gp.BetaBinomial("x", 5, gp.exp(b), gp.exp(b + 1), **SEEN),
    "beta": lambda b: gp.BetaBinomial("x", 5, 2e15, gp.exp(b), **SEEN),
    "each": lambda b: gp.BetaBinomial(
        "x", 5, gp.exp(b), gp.Data("beta", 2e15 * np.arange(1, 4), dims="i"), **SEEN
    ),
}


def beta_binomial(b, of):
    """The log density, to all digits."""
    alpha = {"beta": [mpf(2e15)] * 3}.get(of, [mpmath.exp(b)] * 3)
    betas = {"beta": [mpmath.exp(b)] * 3, "each": [mpf(2e15 * n) for n in (1, 2, 3)]}
    pairs = zip(alpha, betas.get(of, [mpmath.exp(b + 1)] * 3), SEEN["observed"], strict=True)
    return sum(
        mpmath.log(mpmath.beta(x + p, 5 - x + q)) - mpmath.log(mpmath.beta(p, q))
        for p, q, x in pairs
    )


@pytest.mark.parametrize("of", OF_LARGE)
def test_logs_of_gamma_functions_of_large_parameters_keep_their_difference(of):
    """Of exp(35) their logs are near 1e17, and a slice saw steps of 16."""
    with gp.Model(coords={"i": 3}) as model:
        b = gp.Normal("b", 35, sigma=10)
        OF_LARGE[of](b)
    sampler = gp.compile(model, rewrites=False)
    with mpmath.workdps(60):
        own = [beta_binomial(mpf(u), of) - mpf(u - 35) ** 2 / 200 for u in (35.0, 35.5, 34.0)]
        expected = [float(u - own[0]) for u in own]
    density = sampler.program.given_rest["b"]({"b": np.array(35.0)}, sampler.constants)
    found = np.array([np.sum(density(np.array(u))) for u in (35.0, 35.5, 34.0)])

    assert found - found[0] == pytest.approx(expected, rel=1e-12, abs=1e-12)


def of_a_slope():
    b = gp.Normal("b", 0, sigma=1)
    gp.Normal("y", b * 1e160, sigma=1, dims="i", observed=[1.0, 2.0])


def of_fractions():
    b = gp.Normal("b", 0, sigma=1)
    gp.Normal("y", b * 2e160 / 3, sigma=1, dims="i", observed=[1.0, 2.0])


def of_a_scale():
    b = gp.Normal("b", 0, sigma=1e-200)
    gp.Normal("y", b, sigma=1, dims="i", observed=[1.0, 2.0])


def of_a_wide_scale():
    gp.Cauchy("x", mu=0, scale=1e300)


def of_what_is_computed():
    b = gp.Normal("b", 0, sigma=1)
    gp.Deterministic("far", b * 1e200 * -1e200)


@pytest.mark.parametrize(
    ("declare", "name", "number"),
    [
        (of_a_slope, "b", "1.00e+320"),
        (of_fractions, "b", "4.44e+319"),
        (of_a_scale, "b", "5.00e+399"),
        (of_a_wide_scale, "x_weight", "1.00e+600"),
        (of_what_is_computed, "far", "1.00e+400"),
    ],
)
def test_numbers_beyond_all_floats_are_refused_by_name(declare, name, number):
    with gp.Model() as model:
        declare()
    with pytest.raises(gp.CompileError) as refused:
        gp.compile(model)

    assert str(refused.value).startswith(f"{name}: found the number {number}, ")
    assert "expected none beyond 1.8e+308" in str(refused.value)
    assert "in other units" in str(refused.value)


@pytest.mark.parametrize("large", [1e150, 1e-300])
def test_large_and_small_numbers_within_floats_are_taken(large):
    with gp.Model() as model:
        b = gp.Normal("b", 0, sigma=1)
        gp.Normal("y", b * large, sigma=1, dims="i", observed=[1.0, 2.0])
    draws = gp.compile(model).sample(4, warmup=0, chains=1, seed=1, progress=False)

    told = 3 * large / (1 + 2 * large**2)
    assert np.abs(draws["b"] - told).max() < 6 / np.sqrt(1 + 2 * large**2)


def test_numbers_beyond_all_floats_are_not_written_as_infinities():
    with gp.Model() as model:
        of_what_is_computed()
    with pytest.raises(gp.ModelError, match=r"^far: found the number 1\.00e\+400, "):
        gp.write_bugs(model)


def test_whole_numbers_of_many_digits_are_told_as_floats():
    with gp.Model() as model:
        b = gp.Normal("b", 1e300, tau=1e-20)
        gp.Normal("y", b * 1e23 + 2**60 + 1, tau=12345, observed=1.0)

    assert str(model.graph).splitlines() == [
        "b ~ Normal(mu=1e+300, tau=1e-20)",
        "y ~ Normal(mu=1e+23*b + 1152921504606846977, tau=12345), observed",
    ]


def test_precisions_whose_sum_is_beyond_all_floats_are_planned_for():
    """The information of augmented and of plain logits is averaged over some states."""
    with gp.Model() as model:
        a, b = gp.Normal("a", 0, tau=1e308), gp.Normal("b", 0, tau=1)
        x = gp.Data("x", [0.0, 1.0, 0.0], dims="i")
        gp.Binomial("r", 9, gp.expit(a * x + b), dims="i", observed=[3, 4, 5])

    assert gp.compile(model).schedule.steps
