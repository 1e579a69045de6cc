"""The deviance against SciPy's densities, and the penalty against what algebra gives."""

import numpy as np
import pytest
from scipy import stats

import gibbsppl as gp
from gibbsppl.output.diagnostics import mcse_sd


def regression(n=30, p=3, seed=1):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p))
    y = x @ np.arange(1, p + 1) + rng.normal(size=n)
    with gp.Model(coords={"i": n, "p": p}) as model:
        b = gp.Normal("b", 0, tau=1e-6, dims="p")
        gp.Normal(
            "y", gp.sum(gp.Data("x", x, dims=("i", "p")) * b, "p"), tau=1, dims="i", observed=y
        )
    return model, x, y


def test_the_deviance_is_that_of_the_density_with_its_constants():
    model, x, y = regression()
    sampler = gp.compile(model)
    draws = sampler.deviance(sampler.sample(20, warmup=20, chains=3, seed=1, progress=False))

    expected = -2 * stats.norm.logpdf(y, draws["b"] @ x.T, 1).sum(axis=-1)
    np.testing.assert_allclose(draws["deviance"], expected, rtol=1e-12)


def test_the_penalty_of_a_regression_is_the_number_of_its_coefficients():
    model, *_ = regression(p=4)
    sampler = gp.compile(model)
    draws = sampler.deviance(sampler.sample(4000, seed=1, progress=False))
    found, of_each = sampler.dic(draws), draws["deviance"]

    assert abs(found.penalty - 4) < 4 * found.error
    assert found.dic == found.mean + found.penalty
    # (of half the variance, by the delta method)
    assert abs(found.half_variance - 4) < 4 * of_each.std() * mcse_sd(of_each)


def test_only_what_is_observed_counts():
    y = np.ma.masked_invalid([1.0, np.nan, 2.0])
    with gp.Model(coords={"i": 3}) as model:
        mu = gp.Normal("mu", 0, sigma=1)
        gp.Normal("y", mu, sigma=1, dims="i", observed=y)
    sampler = gp.compile(model)
    draws = sampler.deviance(sampler.sample(20, warmup=20, seed=1, progress=False))

    expected = -2 * sum(stats.norm.logpdf(v, draws["mu"], 1) for v in (1.0, 2.0))
    np.testing.assert_allclose(draws["deviance"], expected, rtol=1e-12)


def test_series_are_replicated_given_what_was_before():
    rng = np.random.default_rng(1)
    y = np.cumsum(rng.normal(size=40))
    with gp.Model(coords={"t": 40}) as model:
        phi = gp.Normal("phi", 0, sigma=10)
        x = gp.Array("y", dims="t", observed=y)
        x[0] = gp.Normal(0, sigma=1)
        x[1:] = gp.Normal(phi * x.lag("t", 1), sigma=1)
    sampler = gp.compile(model)
    found = sampler.dic(sampler.sample(2000, seed=1, progress=False))
    assert abs(found.penalty - 1) < 4 * found.error


def test_counts_truncation_and_labels():
    with gp.Model(coords={"i": 4, "k": 2}) as model:
        rate = gp.Gamma("rate", 1, rate=1, dims="k")
        half = gp.Data("half", [0.5, 0.5], dims="k")
        z = gp.Categorical("z", half, dims="i")
        gp.Poisson("y", rate[z], dims="i", observed=[1, 2, 9, 8])
    sampler = gp.compile(model)
    draws = sampler.deviance(sampler.sample(50, warmup=20, chains=2, seed=1, progress=False))
    rates = np.take_along_axis(draws["rate"], draws["z"], axis=-1)
    expected = -2 * stats.poisson.logpmf([1, 2, 9, 8], rates).sum(axis=-1)
    np.testing.assert_allclose(draws["deviance"], expected, rtol=1e-10)


def test_one_chain_has_no_penalty_and_missing_draws_are_named():
    sampler = gp.compile(regression()[0])
    with pytest.raises(gp.RunError, match="dic: found one chain, expected at least two"):
        sampler.dic(sampler.sample(10, warmup=20, chains=1, seed=1, progress=False))
    others = gp.Draws({"c": np.zeros((2, 10))})
    with pytest.raises(gp.RunError, match="b: the observations depend on it"):
        sampler.deviance(others)


def test_without_observations_there_is_none():
    with gp.Model(name="prior") as model:
        gp.Normal("x", 0, sigma=1)
    sampler = gp.compile(model)
    with pytest.raises(gp.RunError, match="prior: found no observations"):
        sampler.deviance(sampler.sample(10, warmup=20, seed=1, progress=False))


def test_it_prints():
    text = str(
        gp.compile(regression()[0]).dic(gp.Draws({"b": np.zeros((2, 10, 3))}, {"b": ("p",)}))
    )
    assert text.splitlines()[1].startswith("penalty (pD)        0, with Monte Carlo error")
