"""Numbers of trials and events of millions: known numbers of many digits are never written out."""

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
