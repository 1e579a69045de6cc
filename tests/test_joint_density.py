"""The log joint density in public: against SciPy, at draws as at values, and what is refused."""

import numpy as np
import pytest
from scipy import stats

import gibbsppl as gp
import models
from gibbsppl.errors import RunError
from gibbsppl.model.density import log_joint
from gibbsppl.predict import joint_density

Y = np.array([0.3, -1.2, 2.0])


def mixture():
    with gp.Model(coords={"k": 2, "i": 3}, name="mixture") as model:
        p = gp.Data("p", [0.3, 0.7], dims="k")
        mu = gp.Normal("mu", 0, sigma=2, dims="k")
        sigma = gp.HalfNormal("sigma", sigma=1)
        z = gp.Categorical("z", p, dims="i", event="k")
        gp.Normal("y", mu[z], sigma=sigma, dims="i", observed=Y)
    return gp.compile(model)


def by_scipy(mu, sigma, z):
    z = np.asarray(z)
    found = stats.norm(0, 2).logpdf(mu).sum() + stats.halfnorm.logpdf(sigma)
    found += np.log(np.array([0.3, 0.7]))[z].sum()
    return found + stats.norm(np.asarray(mu)[z], sigma).logpdf(Y).sum()


def test_the_density_is_that_of_scipy():
    sampler = mixture()
    for mu, sigma, z in (([0.1, 2.0], 0.5, [0, 0, 1]), ([-3, 1e3], 40.0, [1, 0, 1])):
        found = sampler.log_density({"mu": mu, "sigma": sigma, "z": z})
        assert isinstance(found, float)
        assert found == pytest.approx(by_scipy(mu, sigma, z), rel=1e-13)


def test_draws_have_the_density_of_each_one():
    sampler = mixture()
    draws = sampler.sample(5, warmup=5, chains=2, seed=1, progress=False)
    found = sampler.log_density(draws)

    assert found.shape == (2, 5)
    for at in np.ndindex(2, 5):
        values = {n: draws[n][at] for n in ("mu", "sigma", "z")}
        assert found[at] == sampler.log_density(values) == pytest.approx(by_scipy(**values))


@pytest.mark.parametrize(
    "name",
    [
        *("rats", "pumps", "hidden_markov", "ising", "capture_recapture", "ordered_probit"),
        pytest.param("lda", marks=pytest.mark.slow),
    ],
)
def test_models_have_the_density_of_the_plain_interpreter(name):
    """With auxiliary variables, potentials, missing data, chains: in pieces, as at once."""
    sampler = gp.compile(getattr(models, name).model())
    drawn = sampler.graph.drawn
    draws = sampler.sample(3, warmup=2, chains=2, seed=1, keep=drawn, progress=False)
    found = sampler.log_density(draws)

    rows = [{n: draws.at(n, k) for n in drawn} for k in range(6)]
    expected = [log_joint(sampler.graph, {**sampler.data, **row}) for row in rows]
    np.testing.assert_allclose(found.ravel(), expected, rtol=1e-12)
    assert np.isfinite(found).all()


def test_draws_in_chunks_have_the_same_density(monkeypatch):
    sampler = mixture()
    draws = sampler.sample(7, warmup=5, chains=2, seed=1, progress=False)
    whole = sampler.log_density(draws)
    monkeypatch.setattr(joint_density, "draws_at_once", lambda _: 3)

    np.testing.assert_array_equal(sampler.log_density(draws), whole)


@pytest.mark.parametrize(
    "changed",
    [
        {"sigma": -1.0},
        {"sigma": 0.0},
        {"z": [0, 1, 2]},
        {"z": [0, -1, 1]},
        {"z": [0, 0.5, 1]},
        {"z": [0, 10**9, 1]},
        {"mu": [np.inf, 0.0]},
    ],
    ids=str,
)
def test_outside_of_the_support_there_is_no_density(changed):
    values = {"mu": [0.0, 1.0], "sigma": 1.0, "z": [0, 0, 1], **changed}
    assert mixture().log_density(values) == -np.inf


def test_draws_outside_of_the_support_are_told_one_by_one():
    sampler = mixture()
    draws = sampler.sample(4, warmup=5, chains=1, seed=1, progress=False)
    draws.values["z"][0, 2, 1] = 2
    draws.values["sigma"][0, 0] = -1

    assert np.isneginf(sampler.log_density(draws)).tolist() == [[True, False, True, False]]


def test_terms_of_both_infinities_are_no_density():
    """A density that is infinite at a point where another one is zero."""
    with gp.Model() as model:
        p = gp.Beta("p", 0.5, 0.5)
        gp.Binomial("y", 3, p, observed=3)
    sampler = gp.compile(model)

    assert sampler.log_density({"p": 0.0}) == -np.inf
    assert sampler.log_density({"p": 1e-300}) == pytest.approx(
        stats.beta.logpdf(1e-300, 0.5, 0.5) + 3 * np.log(1e-300)
    )


def test_observed_elements_are_left_out_or_the_same():
    with gp.Model(coords={"i": 3}) as model:
        x = gp.Normal("x", 0, sigma=1, dims="i", observed=[0.5, np.nan, np.nan], missing=np.nan)
        gp.Normal("y", x, sigma=1, dims="i", observed=Y)
    sampler = gp.compile(model)
    x = np.array([0.5, 1.0, 2.0])
    expected = stats.norm.logpdf(x).sum() + stats.norm(x, 1).logpdf(Y).sum()

    assert sampler.log_density({"x": x}) == pytest.approx(expected)
    assert sampler.log_density({"x": [np.nan, 1.0, 2.0]}) == pytest.approx(expected)
    for values, message in (
        ([0.4, 1.0, 2.0], "x differs from the data where it is observed"),
        ([0.5, np.nan, 2.0], r"x has no value at \(1,\)"),
    ):
        with pytest.raises(RunError, match=message):
            sampler.log_density({"x": values})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"mu": [0, 1], "sigma": 1.0}, "log_density: found no value of z, expected one of each"),
        ({"mu": [0, 1], "sgima": 1.0}, "'sgima' is not a variable to be drawn.*Did you mean"),
        ({"mu": [0, 1, 2], "sigma": 1, "z": [0, 0, 1]}, r"mu has shape \(3,\), expected \(2,\)"),
        ({"mu": ["a", 1], "sigma": 1, "z": [0, 0, 1]}, "expected real numbers"),
        ({"mu": [0, 1], "sigma": np.nan, "z": [0, 0, 1]}, "sigma has no value, expected a number"),
        (3.0, "log_density: found values=3.0, expected a dict from the names"),
    ],
)
def test_what_has_no_density_is_refused(values, message):
    with pytest.raises(RunError, match=message):
        mixture().log_density(values)


def test_draws_of_another_model_or_without_a_variable_are_refused():
    sampler = mixture()
    draws = sampler.sample(4, warmup=5, chains=1, seed=1, keep=["mu", "sigma"], progress=False)
    with pytest.raises(RunError, match=r"z is not among the draws .*name it in keep="):
        sampler.log_density(draws)
    mu, sigma, z = np.zeros((1, 2, 3)), np.ones((1, 2)), np.zeros((1, 2, 3))
    other = gp.Draws({"mu": mu, "sigma": sigma, "z": z}, {"mu": ("j",), "z": ("j",)})
    with pytest.raises(RunError, match=r"mu has draws of shape \(3,\), expected \(2,\)"):
        sampler.log_density(other)


@pytest.mark.parametrize("planted", ["a factor left out", "constants left out"])
def test_planted_bugs_are_caught(planted, monkeypatch):
    own = joint_density.total_along

    def wrong(factor, *rest):
        found = own(factor, *rest)
        if planted == "a factor left out":
            return found * (factor.name != "sigma")
        return found - own(factor, *rest).max()

    monkeypatch.setattr(joint_density, "total_along", wrong)
    with pytest.raises(AssertionError):
        test_the_density_is_that_of_scipy()


def test_elements_known_to_the_model_need_no_value():
    with gp.Model(coords={"k": 3}) as model:
        b = gp.Array("b", dims="k")
        b[0] = 0.0
        b[1:] = gp.Normal(0, sigma=1)
        gp.Normal("y", b, sigma=1, dims="k", observed=Y)
    sampler = gp.compile(model)
    expected = stats.norm.logpdf([1.0, 2.0]).sum() + stats.norm([0, 1, 2], 1).logpdf(Y).sum()

    for first in (np.nan, 0.0):
        found = sampler.log_density({"b": [first, 1.0, 2.0]})
        assert found == pytest.approx(expected, rel=1e-13)
    with pytest.raises(RunError, match=r"b is 5 at \(0,\), where the model says 0; give NaN"):
        sampler.log_density({"b": [5.0, 1.0, 2.0]})
