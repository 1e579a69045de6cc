"""How well models predict: against exact leave-one-out densities, SciPy and ArviZ."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from scipy import stats
from scipy.special import logsumexp

import gibbsppl as gp
from gibbsppl.errors import RunError
from gibbsppl.model import along_draws
from gibbsppl.output.draws import Draws
from gibbsppl.output.elpd import Points, leave_one_out, widely_applicable
from gibbsppl.output.psis import fitted_tail, highest_k, pareto_smoothed
from gibbsppl.predict.pointwise import log_likelihoods

with warnings.catch_warnings():
    warnings.simplefilter("ignore", FutureWarning)
    import arviz as az

RNG = np.random.default_rng(22)
LEVEL = 1e-6
SIGMAS = stats.norm.isf(LEVEL)
Y = RNG.normal(1.0, 2.0, size=20)
PRIOR, NOISE = 3.0, 2.0


def means(extra=0.0):
    """A mean of normal observations, one of which may be far out."""
    observed = np.array([*Y[:-1], Y[-1] + extra])
    with gp.Model(coords={"i": [f"row {k}" for k in range(len(Y))]}) as model:
        mu = gp.Normal("mu", 0, sigma=PRIOR)
        gp.Normal("y", mu, sigma=NOISE, dims="i", observed=observed)
    return model


def posterior(y):
    """The mean and the variance of the mean."""
    precision = 1 / PRIOR**2 + len(y) / NOISE**2
    return np.sum(y) / NOISE**2 / precision, 1 / precision


def independent(model, count=4000):
    """Independent draws of the posterior, with the labels and the data of the model."""
    y = model.data["y"]
    mean, variance = posterior(y)
    mu = RNG.normal(mean, np.sqrt(variance), size=(4, count // 4))
    coords = {"i": np.array([f"row {k}" for k in range(len(y))])}
    return Draws({"mu": mu}, coords=coords, observed_data={"y": (("i",), y)})


def with_log_likelihood(model, draws):
    found = log_likelihoods(model.graph, model.data, draws)
    return replace(draws, groups={"log_likelihood": found})


def left_out_exactly(y):
    """The log density of each observation given all others."""
    found = []
    for k in range(len(y)):
        mean, variance = posterior(np.delete(y, k))
        found.append(stats.norm(mean, np.sqrt(variance + NOISE**2)).logpdf(y[k]))
    return np.array(found)


def test_leave_one_out_of_a_conjugate_model():
    model = means()
    found = with_log_likelihood(model, independent(model)).loo()
    exact = left_out_exactly(model.data["y"])
    assert not found.bad
    scores = (found.pointwise["y"] - exact) / found.errors["y"]
    assert np.abs(scores).max() < stats.norm.isf(LEVEL / 2 / len(exact))
    assert abs(found.elpd - exact.sum()) < len(exact) ** 0.5 * SIGMAS * found.error
    assert found.se == pytest.approx(np.sqrt(len(exact)) * found.pointwise["y"].std(ddof=1))
    # (a posterior that did leave nothing out would be seen)
    fit = stats.norm(posterior(Y)[0], np.sqrt(posterior(Y)[1] + NOISE**2)).logpdf(Y)
    assert np.abs((fit - exact) / found.errors["y"]).max() > 10


def test_monte_carlo_errors_are_those_of_replications():
    model = means()
    exact = left_out_exactly(model.data["y"])
    found = [with_log_likelihood(model, independent(model, 400)).loo() for _ in range(40)]
    scores = np.array([(f.pointwise["y"] - exact) / f.errors["y"] for f in found])
    # The mean square of 40 scores of one observation; observations share the draws.
    square = (scores**2).mean(axis=0)
    assert stats.chi2(40).ppf(LEVEL) < 40 * square.mean() < stats.chi2(40).isf(LEVEL)


def test_an_influential_observation_is_named():
    model = means(extra=60.0)
    found = with_log_likelihood(model, independent(model)).loo()
    assert list(found.bad) == ["y[row 19]"]
    assert np.isnan(found.error)
    told = repr(found)
    assert "Pareto k is above 0.7 for 1 observation: y[row 19] (" in told
    assert "compile the model without them" in told


def test_log_likelihoods_are_those_of_scipy(monkeypatch):
    monkeypatch.setattr(along_draws, "LARGEST", 2001)  # (so that draws are taken in parts)
    model = means()
    draws = independent(model)
    found = log_likelihoods(model.graph, model.data, draws)
    exact = stats.norm(draws["mu"][..., None], NOISE).logpdf(Y)
    np.testing.assert_allclose(found["y"], exact, rtol=1e-12)
    assert found.dims_of("y") == ("i",)
    assert found.coords["i"][3] == "row 3"


def test_log_likelihoods_of_regions_vectors_and_what_is_missing():
    masked = np.ma.masked_invalid([[0.5, np.nan], [1.0, 2.0]])
    with gp.Model(coords={"t": 3, "g": ["a", "b"], "h": 2, "k": 2}) as model:
        mu = gp.Normal("mu", 0, sigma=1)
        y = gp.Array("y", dims="t", observed=[1.0, 2.0, 3.0])
        y[0] = gp.Normal(mu, sigma=2)
        y[1:] = gp.Normal(mu * y.lag("t", 1), sigma=3)
        gp.Normal("part", mu, sigma=1, dims=("g", "h"), observed=masked)
        cov = gp.Data("cov", [[2.0, 0.5], [0.5, 1.0]], dims=("k", "k'"))
        gp.MvNormal("v", mu, cov=cov, dims=("g", "k"), event="k", observed=[[1.0, 2.0], [3.0, 4.0]])
    mu = RNG.normal(size=(2, 3))
    draws = Draws(
        {"mu": mu, "part": np.tile(masked.filled(9.0), (2, 3, 1, 1))},
        {"part": ("g", "h")},
        {"g": np.array(["a", "b"])},
    )
    found = log_likelihoods(model.graph, model.data, draws)
    at = mu[..., None]
    series = [stats.norm(at, 2).logpdf([1.0]), stats.norm(at * [1.0, 2.0], 3).logpdf([2.0, 3.0])]
    np.testing.assert_allclose(found["y"], np.concatenate(series, axis=-1), rtol=1e-12)
    assert found.dims_of("part") == ("part_observed",)
    assert list(found.coords["part_observed"]) == ["a, 0", "b, 0", "b, 1"]
    np.testing.assert_allclose(found["part"], stats.norm(at, 1).logpdf([0.5, 1, 2]), rtol=1e-12)
    assert found.dims_of("v") == ("g",)
    joint = stats.multivariate_normal([0, 0], [[2.0, 0.5], [0.5, 1.0]])
    points = np.array([[1.0, 2.0], [3.0, 4.0]]) - mu[..., None, None]
    np.testing.assert_allclose(found["v"], joint.logpdf(points), rtol=1e-12)


def test_what_is_told_of_mistakes():
    model = means()
    draws = independent(model)
    with pytest.raises(RunError, match=r"draws = sampler.log_likelihood\(draws\)"):
        draws.loo()
    with pytest.raises(RunError, match="found 'mu', expected names of observed variables: y"):
        log_likelihoods(model.graph, model.data, draws, "mu")
    with pytest.raises(RunError, match="log likelihoods would take 625 KiB"):
        log_likelihoods(model.graph, model.data, draws, limit_bytes=1000)
    with pytest.raises(RunError, match="found 24 draws, expected at least 25"):
        with_log_likelihood(model, independent(model, 24)).waic()
    out = Draws({"mu": np.array([[0.0, np.inf, 0.0]])})
    with pytest.raises(RunError, match=r"y\[0\]: its log likelihood is .* in 1 draw, expected"):
        log_likelihoods(model.graph, model.data, out)
    masked = np.ma.masked_invalid([[0.5, np.nan], [1.0, 2.0]])
    with gp.Model(coords={"i": 2, "k": 2}) as partial:
        cov = gp.Data("cov", np.eye(2), dims=("k", "k'"))
        mu = gp.Normal("mu", 0, sigma=1)
        gp.MvNormal("v", mu, cov=cov, dims=("i", "k"), event="k", observed=masked)
    both = Draws({"mu": np.zeros((1, 2)), "v": np.zeros((1, 2, 2, 2))}, {"v": ("i", "k")})
    with pytest.raises(RunError, match="v: found vectors of which some entries are missing"):
        log_likelihoods(partial.graph, partial.data, both)


# Against ArviZ.


@pytest.mark.parametrize("efficiency", [0.3, 1.0, 1.5])
@pytest.mark.parametrize("draws", [50, 1000])
def test_smoothed_weights_are_those_of_arviz(draws, efficiency):
    tails = RNG.normal(size=draws), 3 * RNG.normal(size=draws), np.log(RNG.random(draws))
    for log_weights in tails:
        smoothed, k = pareto_smoothed(log_weights, efficiency)
        theirs, their_k = az.psislw(log_weights[None], efficiency)
        np.testing.assert_allclose(smoothed, theirs[0], rtol=1e-9)
        np.testing.assert_allclose(k, their_k[0], rtol=1e-9)


def test_weights_without_a_tail():
    for log_weights in (np.zeros(100), np.repeat([0.0, 1.0], 50)):
        smoothed, k = pareto_smoothed(log_weights)
        np.testing.assert_allclose(smoothed, log_weights - logsumexp(log_weights), rtol=1e-12)
        assert k == -np.inf
    assert pareto_smoothed(np.repeat([0.0, 1.0], [98, 2]))[1] == np.inf  # (two draws say nothing)


@pytest.mark.parametrize("k", [-0.5, 0.3, 0.9])
def test_the_shape_of_a_tail_is_found(k):
    shapes = []
    for _ in range(100):
        drawn = stats.genpareto(k, scale=2.0).rvs(400, random_state=RNG)
        found, scale = fitted_tail(np.sort(drawn))
        shapes.append((410 * found - 5) / 400)  # (without the prior)
        assert scale > 0
    error = np.std(shapes, ddof=1) / 10
    bias = 1 / 400  # (of the order of one over the length)
    assert abs(np.mean(shapes) - k) < SIGMAS * error + 5 * bias


def test_loo_and_waic_of_arviz():
    draws = with_log_likelihood(means(3.0), independent(means(3.0)))
    values = draws.groups["log_likelihood"]["y"]
    theirs = az.from_dict({"mu": draws["mu"]}, log_likelihood={"y": values})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # (of shapes and of variances)
        loo, waic = az.loo(theirs, pointwise=True, reff=1.0), az.waic(theirs, pointwise=True)
    ours = draws.loo()
    # (ArviZ has one efficiency of all observations: another length of the tail)
    noise = SIGMAS * ours.errors["y"].max()
    assert np.abs(ours.pointwise["y"] - loo.loo_i.to_numpy()).max() < noise
    np.testing.assert_allclose(ours.penalty, loo.p_loo, atol=len(Y) * noise)
    own, ratio = draws.waic(), values[..., 0].size / (values[..., 0].size - 1)
    fit = own.pointwise["y"] + own.penalties["y"]
    np.testing.assert_allclose(own.penalty, ratio * waic.p_waic, rtol=1e-9)
    np.testing.assert_allclose(fit - own.penalties["y"] / ratio, waic.waic_i, rtol=1e-9)


def test_waic_tells_where_it_is_too_high():
    values = {"y": RNG.normal(-1, [0.1, 2.0], size=(2, 500, 2))}
    found = widely_applicable(Points(values, {"y": ("day",)}, {"day": np.array(["Mo", "Tu"])}))
    assert list(found.bad) == ["y[Tu]"]
    assert "use loo()" in repr(found)


def test_the_limit_of_shapes():
    assert highest_k(2200) == pytest.approx(0.7, abs=1e-3)
    assert highest_k(100) == 0.5
    found = leave_one_out(Points({"y": RNG.normal(size=(1, 100, 2))}, {"y": ("i",)}, {}))
    assert found.limit == 0.5


# Several models.


def elpds(*levels, count=150, variable="y", seed=1):
    """Models that differ in the log density of observations, part of which they have in common."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=count)
    found = {}
    for k, level in enumerate(levels):
        own = level + common + rng.normal(size=count)
        values = {variable: own + rng.normal(0, 0.1, size=(2, 250, count))}
        found[f"model {k}"] = leave_one_out(Points(values, {variable: ("i",)}, {}))
    return found


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # (of pandas, by ArviZ)
def test_a_comparison_is_that_of_arviz():
    models = elpds(-2.0, -1.0, -1.2)
    found = gp.compare_models(models)
    given = {
        n: az.stats.stats_utils.ELPDData(
            {
                "elpd_loo": e.elpd, "se": e.se, "p_loo": e.penalty, "n_samples": e.draws,
                "n_data_points": e.count, "warning": False, "scale": "log", "good_k": 0.7,
                "loo_i": xr.DataArray(e.pointwise["y"]),
            }
        )
        for n, e in models.items()
    }
    theirs = az.compare(given, ic="loo", method="stacking")
    assert list(found) == list(theirs.index) == ["model 1", "model 2", "model 0"]
    table = found.to_dataframe()
    ratio = np.sqrt(150 / 149)  # (ArviZ divides by the number of terms)
    np.testing.assert_allclose(table["difference"], -theirs["elpd_diff"], rtol=1e-9)
    np.testing.assert_allclose(table["difference_se"], ratio * theirs["dse"], rtol=1e-9)
    points = np.array([models[n].all_points for n in found])

    def score(weights):
        return np.log(weights @ np.exp(points)).mean()

    assert score(table["weight"].to_numpy()) > score(theirs["weight"].to_numpy()) - 1e-6
    assert found.best == "model 1"
    assert found["model 0"].difference == pytest.approx(
        (models["model 0"].all_points - models["model 1"].all_points).sum()
    )


def test_a_comparison_says_what_it_cannot_tell():
    told = repr(gp.compare_models(elpds(-1.0, -1.0, count=20)))
    assert "Of fewer than 100 observations (20)" in told
    model = means(60.0)
    draws = with_log_likelihood(model, independent(model))
    told = repr(gp.compare_models({"one": draws, "again": draws}))
    assert "loo fails, so that elpd is too high: one (1), again (1)" in told
    assert "Differences below 4 are small" in told
    assert "waic" in repr(gp.compare_models({"one": draws}, method="waic"))


def test_models_of_other_observations_are_not_compared():
    with pytest.raises(RunError, match=r"other: found observations \{'z': \(150,\)\}, expected"):
        gp.compare_models({"one": elpds(1.0)["model 0"],
                           "other": elpds(1.0, variable="z")["model 0"]})
    one, other = (with_log_likelihood(m, independent(m)) for m in (means(), means(1.0)))
    with pytest.raises(RunError, match="other: found other values of y than in one, expected"):
        gp.compare_models({"one": one, "other": other})
    with pytest.raises(RunError, match=r"one: found what loo\(\) returns, expected waic\(\)"):
        gp.compare_models({"one": one.loo()}, method="waic")
    with pytest.raises(RunError, match=r"models=.*expected a dict from names of models"):
        gp.compare_models([one])
    with pytest.raises(RunError, match="method: found 'dic', expected 'loo' or 'waic'"):
        gp.compare_models({"one": one}, method="dic")
    with pytest.raises(RunError, match=r"found no model 'ona', only one.*Did you mean 'one'"):
        gp.compare_models({"one": one})["ona"]
