"""Importance and rejection sampling from the prior: against known answers, and what is refused."""

import numpy as np
import pytest
from scipy import stats

import gibbsppl as gp
from gibbsppl.errors import ModelError, RunError
from gibbsppl.model.forward import prior_predictive
from gibbsppl.predict import baselines
from gibbsppl.predict.prior import prior_draws
from gibbsppl.predict.weighted import Weighted

LEVEL = 1e-6
FAR = stats.norm.isf(LEVEL / 2)


def coin(heads=7):
    with gp.Model(name="coin") as model:
        p = gp.Beta("p", 2, 1)
        gp.Binomial("heads", 10, p, observed=heads)
    return model


def normal(y=(1.5, 0.2, 2.0)):
    with gp.Model(name="normal", coords={"i": len(y)}) as model:
        mu = gp.Normal("mu", 1, sigma=2)
        gp.Normal("y", mu, sigma=1, dims="i", observed=np.asarray(y))
    return model


def labels():
    """Two labels and a constraint on them: few states, enumerated elsewhere."""
    with gp.Model(name="labels", coords={"k": 3, "i": 2}) as model:
        p = gp.Data("p", [0.2, 0.3, 0.5], dims="k")
        z = gp.Categorical("z", p, dims="i", event="k")
        gp.Poisson("y", gp.exp(0.5 * z), dims="i", observed=[1, 3])
        gp.Constraint("order", z.lag("i") <= z)
    return model


def chain(observed=None):
    """Elements that read the ones before, of which some may be observed."""
    told = {} if observed is None else {"observed": observed, "missing": np.nan}
    with gp.Model(name="chain", coords={"t": 5}) as model:
        rho = gp.Uniform("rho", -1, 1)
        tau = gp.Gamma("tau", 3, rate=2)
        x = gp.Array("x", dims="t", **told)
        x[0] = gp.Normal(0, tau=tau)
        x[1:] = gp.Normal(rho * x.lag("t"), tau=tau)
        gp.Normal("y", x, sigma=1, dims="t", observed=[0.3, 1.0, -0.5, 0.0, 2.0])
    return model


# ---- draws of the prior ----------------------------------------------------------------------


def test_draws_at_once_have_the_distribution_of_draws_one_by_one():
    model, rng = chain(), np.random.default_rng(1)
    at_once = prior_draws(rng, model.graph, model.data, 4000)
    one_by_one = prior_predictive(rng, model.graph, model.data, draws=400)

    for name in ("rho", "tau", "x"):
        assert at_once[name].shape == (4000, *one_by_one[name].shape[1:])
        pairs = (a.reshape(len(a), -1).T for a in (at_once[name], one_by_one[name]))
        for ours, theirs in zip(*pairs, strict=True):
            assert stats.ks_2samp(ours, theirs).pvalue > LEVEL
    lagged = (d["x"][:, 1] * d["x"][:, 2] for d in (at_once, one_by_one))
    assert stats.ks_2samp(*lagged).pvalue > LEVEL


def test_draws_in_chunks_are_of_all_draws(monkeypatch):
    monkeypatch.setattr("gibbsppl.predict.prior.draws_at_once", lambda _: 300)
    model = chain()
    found = prior_draws(np.random.default_rng(1), model.graph, model.data, 1000)

    assert {a.shape[0] for a in found.values()} == {1000}
    assert len(np.unique(found["rho"])) == 1000


# ---- importance sampling ---------------------------------------------------------------------


def test_means_and_evidence_are_those_of_a_conjugate_model():
    found = gp.baselines.importance(coin(), draws=40_000, seed=2)
    exact = stats.beta(9, 4)
    log_evidence = stats.betabinom(10, 2, 1).logpmf(7)

    assert abs(found.mean("p") - exact.mean()) < FAR * found.standard_error("p")
    assert found.sd("p") == pytest.approx(exact.std(), rel=0.05)
    assert abs(found.log_evidence - log_evidence) < FAR * found.log_evidence_error
    for q in (0.025, 0.5, 0.975):
        assert found.quantile("p", q) == pytest.approx(exact.ppf(q), abs=0.02)


def test_errors_are_as_large_as_means_are_apart():
    """Of many runs: the spread of what they find is what they say, within its own error."""
    runs = [gp.baselines.importance(normal(), draws=500, seed=s) for s in range(200)]
    means = np.array([(r.mean("mu"), r.log_evidence) for r in runs])
    told = np.array([(r.standard_error("mu"), r.log_evidence_error) for r in runs])
    ratio = means.var(axis=0, ddof=1) / (told**2).mean(axis=0)

    low, high = (stats.chi2(199).ppf(q) / 199 for q in (LEVEL, 1 - LEVEL))
    assert ((low < ratio) & (ratio < high)).all()


def test_labels_have_the_posterior_of_all_states():
    found = gp.baselines.importance(labels(), draws=20_000, seed=3)
    states = gp.compile(labels()).transition_matrix()
    exact = sum(p * s["z"] for s, p in zip(states.states, states.posterior, strict=True))

    assert found["z"].dtype.kind == "i"
    assert (np.abs(found.mean("z") - exact) < FAR * found.standard_error("z")).all()


def test_what_is_observed_in_part_is_weighed_there_alone():
    seen = np.array([0.5, np.nan, -0.2, np.nan, np.nan])
    found = gp.baselines.importance(chain(seen), draws=3000, seed=4)
    sampler = gp.compile(chain(seen))
    rows = range(0, 3000, 500)
    # the joint density is the weight times the density of what was drawn
    for k in rows:
        rho, tau, x = (found[n][k] for n in ("rho", "tau", "x"))
        prior = np.log(0.5) + stats.gamma(3, scale=0.5).logpdf(tau)
        steps = stats.norm(rho * x[:-1], tau**-0.5).logpdf(x[1:])
        drawn = prior + steps[[0, 2, 3]].sum()  # (the second, the fourth and the fifth element)
        joint = sampler.log_density({n: found[n][k] for n in ("rho", "tau", "x")})
        assert found.log_weights[k] == pytest.approx(joint - drawn, rel=1e-10)
    assert (found["x"][:, [0, 2]] == [0.5, -0.2]).all()


def test_effective_draws_and_weights_are_those_of_the_formula():
    logs = np.log([1.0, 2.0, 5.0])
    two = Weighted({"x": np.array([1.0, 4.0, 2.0])}, logs)
    far = Weighted({"x": np.array([1.0, 4.0, 2.0])}, logs - 1e6)

    for found in (two, far):
        assert found.effective_draws == pytest.approx(64 / 30)
        np.testing.assert_allclose(found.weights, [1 / 8, 2 / 8, 5 / 8])
        assert [found.quantile("x", q) for q in (0, 0.1, 0.2, 0.7, 0.8, 1)] == [
            1, 1, 2, 2, 4, 4,
        ]  # fmt: skip
    assert two.log_evidence == pytest.approx(np.log(8 / 3))
    assert far.log_evidence == pytest.approx(np.log(8 / 3) - 1e6)


@pytest.mark.parametrize(
    ("logs", "message"),
    [
        ([-np.inf, -np.inf], "of which one is positive at least"),
        ([np.nan, 0.0], "expected the log of the weight of each draw"),
        ([np.inf, 0.0], "expected the log of the weight of each draw"),
        ([], "expected the log of the weight of each draw"),
        ([0.0, 0.0, 0.0], r"x: found the shape \(2,\), expected 3 draws first"),
    ],
)
def test_weights_are_checked(logs, message):
    with pytest.raises(RunError, match=message):
        Weighted({"x": np.array([1.0, 2.0])}, np.array(logs))


def test_likelihoods_too_small_for_numbers_keep_their_ratios():
    near, far = normal(), normal(np.array([1.5, 0.2, 2.0]) + 1e4)
    found = gp.baselines.importance(far, draws=500, seed=1)

    assert np.isfinite(found.log_evidence)
    assert found.log_evidence < -1e7
    assert found.effective_draws >= 1
    assert "Few draws have most of the weight" in str(found)
    assert "Few draws" not in str(gp.baselines.importance(near, draws=5000, seed=1))


def test_resampled_draws_are_the_posterior():
    found = gp.baselines.importance(coin(), draws=40_000, seed=2)
    draws = found.resampled(2000, seed=1)

    assert draws["p"].shape == (1, 2000)
    gap = draws["p"].mean() - 9 / 13
    assert abs(gap) < FAR * np.hypot(found.standard_error("p"), found.sd("p") / 2000**0.5)
    assert np.array_equal(draws["p"], found.resampled(2000, seed=1)["p"])


def test_elements_are_shown_by_their_labels():
    with gp.Model(coords={"town": ["a", "b"]}) as model:
        rate = gp.Gamma("rate", 2, rate=1, dims="town")
        gp.Poisson("y", rate, dims="town", observed=[1, 2])
    found = gp.baselines.importance(model, draws=1000, seed=1)

    assert "rate[a]" in str(found)
    assert "rate[b]" in found.summary("rate")
    assert "rate[b]" not in found.summary(max_rows=1)
    assert found.resampled(5, seed=1).coords["town"].tolist() == ["a", "b"]


# ---- rejection sampling ----------------------------------------------------------------------


def test_accepted_draws_are_of_the_posterior():
    best = stats.binom(10, 0.7).logpmf(7)
    found = gp.baselines.rejection(coin(), proposals=20_000, log_maximum=best, seed=1)
    weighted = gp.baselines.importance(coin(), draws=100_000, seed=5)

    assert stats.kstest(found.draws["p"][0], stats.beta(9, 4).cdf).pvalue > LEVEL
    assert found.exceeded == 0
    assert not found.is_found
    error = np.hypot(found.log_evidence_error, weighted.log_evidence_error)
    assert abs(found.log_evidence - weighted.log_evidence) < FAR * error
    assert "not proved" not in str(found)


def test_a_bound_that_was_found_is_said_to_be_so():
    found = gp.baselines.rejection(coin(), proposals=5000, seed=1)

    assert found.is_found
    assert found.log_maximum == pytest.approx(stats.binom(10, 0.7).logpmf(7), abs=1e-4)
    assert "the largest of the proposals' own" in str(found)
    assert "found, not proved" in str(found)


def test_a_bound_that_is_too_small_is_reported():
    best = stats.binom(10, 0.7).logpmf(7)
    found = gp.baselines.rejection(coin(), proposals=5000, log_maximum=best - 1, seed=1)

    assert found.exceeded > 1000
    assert found.excess == pytest.approx(1, abs=1e-4)
    assert "The bound is too small" in str(found)
    assert stats.kstest(found.draws["p"][0], stats.beta(9, 4).cdf).pvalue < LEVEL


def test_labels_are_accepted_by_their_posterior():
    found = gp.baselines.rejection(labels(), proposals=20_000, seed=3)
    states = gp.compile(labels()).transition_matrix()
    counts = [(found.draws["z"][0] == s["z"]).all(axis=1).sum() for s in states.states]
    possible = states.posterior > 0

    assert (np.array(counts)[~possible] == 0).all()
    expected = found.accepted * states.posterior[possible]
    assert stats.chisquare(np.array(counts)[possible], expected).pvalue > LEVEL


def test_seeds_make_the_same_draws():
    for make in (gp.baselines.importance, gp.baselines.rejection):
        one, two, other = (make(coin(), seed=s) for s in (1, 1, 2))
        p = [f["p"] if isinstance(f, Weighted) else f.draws["p"] for f in (one, two, other)]
        assert np.array_equal(p[0], p[1])
        assert p[0].shape != p[2].shape or not np.array_equal(p[0], p[2])


# ---- planted bugs and refusals ---------------------------------------------------------------


def likelihood_left_out(graph, data, values):
    del graph, data
    return np.zeros(len(next(iter(values.values()))))


def doubled(graph, data, values, own=baselines._log_likelihood):
    return 2 * own(graph, data, values)


@pytest.mark.parametrize("wrong", [likelihood_left_out, doubled])
def test_planted_bugs_are_caught(wrong, monkeypatch):
    monkeypatch.setattr(baselines, "_log_likelihood", wrong)
    for test in (
        test_means_and_evidence_are_those_of_a_conjugate_model,
        test_accepted_draws_are_of_the_posterior,
    ):
        with pytest.raises(AssertionError):
            test()


def test_what_cannot_be_simulated_or_weighed_is_refused():
    with gp.Model(name="flat") as flat:
        mu = gp.Flat("mu")
        gp.Normal("y", mu, sigma=1, observed=1.0)
    with pytest.raises(ModelError, match=r"mu: .* cannot be simulated"):
        gp.baselines.importance(flat, draws=10)
    with gp.Model(name="prior") as prior:
        gp.Normal("mu", 0, sigma=1)
    with pytest.raises(RunError, match="prior: found no observations and no potentials"):
        gp.baselines.importance(prior)
    with gp.Model(name="known") as known:
        gp.Normal("y", 0, sigma=1, observed=1.0)
    with pytest.raises(RunError, match="known: found no latent variable"):
        gp.baselines.importance(known)
    with gp.Model(name="never") as never:
        p = gp.Beta("p", 1, 1)
        gp.Constraint("c", p > 2)
    with pytest.raises(RunError, match="none of 50 draws of the prior has a positive likelihood"):
        gp.baselines.importance(never, draws=50)
    with pytest.raises(RunError, match=r"none of 20 proposals was accepted; raise proposals="):
        gp.baselines.rejection(coin(), proposals=20, log_maximum=1e6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gp.baselines.importance(coin(), draws=0), "found draws=0, expected a whole"),
        (lambda: gp.baselines.importance(3), "found model=3, expected a gp.Model"),
        (lambda: gp.baselines.rejection(coin(), proposals="a"), "found proposals='a'"),
        (lambda: gp.baselines.rejection(coin(), log_maximum=np.nan), "found log_maximum=nan"),
        (lambda: gp.baselines.importance(coin(), draws=10**12), "GiB"),
        (lambda: gp.baselines.importance(coin(), draws=9, seed=1).mean("q"), "no variable 'q'"),
        (lambda: gp.baselines.importance(coin(), draws=9, seed=1).quantile("p", 2), "found 2,"),
        (lambda: gp.baselines.importance(coin(), draws=9, seed=1).resampled(0), "draws=0"),
    ],
)
def test_arguments_are_checked(call, message):
    with pytest.raises(RunError, match=message):
        call()
