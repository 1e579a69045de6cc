"""Marginal likelihoods against known ones: by stones, by integration along powers, by ordinates."""

import itertools
import re
from functools import cache

import numpy as np
import pytest
from scipy import integrate, special, stats

import gibbsppl as gp
from gibbsppl.checks.normalised import log_conditional
from gibbsppl.errors import RunError
from gibbsppl.run.chains import advance
from gibbsppl.runtime.label_chains import log_probabilities
from gibbsppl.tempering import chib, stones
from models import ising

POWERS = ("stepping stone", "thermodynamic")


def regression():
    """Two coefficients with a known variance: the data are normal."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(12, 2))
    y = X @ [1.0, -0.5] + 0.7 * rng.normal(size=12)
    with gp.Model(coords={"i": 12, "k": 2}, name="regression") as m:
        design = gp.Data("X", X, dims=("i", "k"))
        b = gp.Normal("b", 0, sigma=2, dims="k")
        gp.Normal("y", (design * b).sum("k"), sigma=0.7, dims="i", observed=y)
    cov = 0.49 * np.eye(12) + 4 * X @ X.T
    return m, stats.multivariate_normal.logpdf(y, np.zeros(12), cov)


def unknown_variance():
    """Two coefficients in units of an unknown scale: the data have a t distribution."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(12, 2))
    y = X @ [1.0, -0.5] + 0.7 * rng.normal(size=12)
    with gp.Model(coords={"i": 12, "k": 2}, name="scale") as m:
        design = gp.Data("X", X, dims=("i", "k"))
        tau = gp.Gamma("tau", 3, rate=2)
        b = gp.Normal("b", 0, tau=tau / 4, dims="k")
        gp.Normal("y", (design * b).sum("k"), tau=tau, dims="i", observed=y)
    shape = (2 / 3) * (np.eye(12) + 4 * X @ X.T)
    return m, stats.multivariate_t.logpdf(y, np.zeros(12), shape, df=6)


def coin():
    with gp.Model(name="coin") as m:
        p = gp.Beta("p", 2, 3)
        gp.Binomial("y", 20, p, observed=13)
    return m, stats.betabinom.logpmf(13, 20, 2, 3)


def counts():
    """One rate of several counts."""
    y = np.array([3, 0, 5, 2, 2])
    with gp.Model(coords={"i": 5}, name="counts") as m:
        rate = gp.Gamma("rate", 2, rate=1)
        gp.Poisson("y", rate, dims="i", observed=y)
    found = special.gammaln(2 + y.sum()) - (2 + y.sum()) * np.log(6) - special.gammaln(y + 1).sum()
    return m, found - special.gammaln(2)


def shares():
    y, prior = np.array([3, 1, 6]), np.array([1.0, 2.0, 0.5])
    with gp.Model(coords={"k": 3}, name="shares") as m:
        w = gp.Dirichlet("w", gp.Data("a", prior, dims="k"), dims="k", event="k")
        gp.Multinomial("y", 10, w, dims="k", event="k", observed=y)
    return m, stats.dirichlet_multinomial.logpmf(y, prior, 10)


def mixture():
    """Six points in two classes: all labellings summed up."""
    y = np.array([-1.2, -0.8, 0.3, 1.9, 2.2, 2.6])
    with gp.Model(coords={"k": 2, "i": 6}, name="mixture") as m:
        w = gp.Dirichlet("w", 1, dims="k", event="k")
        mu = gp.Normal("mu", 0, sigma=3, dims="k")
        z = gp.Categorical("z", w, dims="i")
        gp.Normal("y", mu[z], sigma=1, dims="i", observed=y)
    logs = []
    for z in map(np.array, itertools.product(range(2), repeat=6)):
        found = special.betaln(1 + (z == 0).sum(), 1 + (z == 1).sum())
        for own in (y[z == 0], y[z == 1]):
            if len(own):
                cov = np.eye(len(own)) + 9
                found += stats.multivariate_normal.logpdf(own, np.zeros(len(own)), cov)
        logs.append(found)
    return m, special.logsumexp(logs)


def lattice():
    """Spins tied by potentials, without data: all states summed up."""
    spins = (np.array(s).reshape(3, 3) for s in itertools.product((-1, 1), repeat=9))
    ties = [0.5 * ((s[1:] * s[:-1]).sum() + (s[:, 1:] * s[:, :-1]).sum()) for s in spins]
    model = ising.model(3, 3, coupling=0.5, periodic=False)
    return model, special.logsumexp(ties) - 9 * np.log(2)


def chain():
    """A hidden Markov chain with known transitions, filtered."""
    y = np.array([0.3, -1.2, -0.7, 1.4, 0.9, 1.1, -0.2, 0.8])
    stay = np.array([[0.8, 0.2], [0.3, 0.7]])
    with gp.Model(coords={"t": 8, "k": 2}, name="chain") as m:
        moves = gp.Data("moves", stay, dims=("k", "k'"))
        level = gp.Data("level", [-1.0, 1.0], dims="k")
        z = gp.Array("z", dims="t", event="k")
        z[0] = gp.Categorical(0.5)
        z[1:] = gp.Categorical(moves[z.lag("t", 1)])
        gp.Normal("y", level[z], sigma=1, dims="t", observed=y)
    ahead = np.log([0.5, 0.5])
    for value in y:
        now = ahead + stats.norm.logpdf(value, [-1, 1], 1)
        ahead = special.logsumexp(now[:, None] + np.log(stay), axis=0)
    return m, special.logsumexp(now)


KNOWN = {f.__name__: f for f in (regression, unknown_variance, coin, counts, shares, mixture,
                                 lattice, chain)}  # fmt: skip


@cache
def known(name):
    model, exact = KNOWN[name]()
    # (steps apart: a location and its scale drawn jointly leave nothing to average)
    return gp.compile(model, interweave=False, rewrites={"locations": False}), exact


def found(sampler, method, seed=1, **settings):
    how = {"draws": 150, "warmup": 100, "chains": 2, "progress": False, "backend": "numpy"}
    return sampler.evidence(method, seed=seed, **how | settings)


@pytest.mark.parametrize("name", KNOWN)
def test_by_stepping_stones_it_is_the_known_one_within_its_error(name):
    sampler, exact = known(name)
    evidence = found(sampler, "stepping stone", draws=60, warmup=30)

    assert abs(evidence.value - exact) < 4 * evidence.error
    assert evidence.error < 0.5


@pytest.mark.parametrize("name", ["coin", "shares", "lattice"])
def test_integrated_along_powers_it_is_the_known_one_within_its_error(name):
    sampler, exact = known(name)
    evidence = found(sampler, "thermodynamic", draws=80, warmup=60)

    assert abs(evidence.value - exact) < 4 * evidence.error
    assert evidence.error < 0.3


@pytest.mark.parametrize("name", ["regression", "coin", "counts", "shares", "chain"])
def test_of_one_block_the_ordinate_is_exact(name):
    sampler, exact = known(name)

    assert found(sampler, "chib").value == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("name", ["unknown_variance", "mixture"])
def test_ordinates_of_several_blocks_are_means_over_runs(name):
    sampler, exact = known(name)
    evidence = found(sampler, "chib", draws=150 if name == "mixture" else 80, warmup=50)

    assert 0 < abs(evidence.value - exact) < 4 * evidence.error


@pytest.mark.parametrize("name", ["coin", "unknown_variance", "chain"])
def test_the_bound_of_a_fit_is_below_it(name):
    sampler, exact = known(name)
    evidence = found(sampler, "bound")

    rounding = 1e-12 * abs(exact)
    assert evidence.value <= exact + rounding
    assert evidence.error == np.inf
    assert f"at least {evidence.value:.7g}" in str(evidence)
    # (one variable: q is the posterior)
    assert (exact - evidence.value < rounding) == (len(sampler.graph.drawn) == 1)


@pytest.mark.slow
@pytest.mark.parametrize("method", [*POWERS, "chib"])
@pytest.mark.parametrize("name", ["shares", "unknown_variance", "chain", "lattice"])
def test_errors_are_as_large_as_they_say(name, method):
    sampler, exact = known(name)
    if method == "chib" and name != "unknown_variance":
        return
    each = [found(sampler, method, seed=seed) for seed in range(40)]
    z = np.array([(e.value - exact) / e.error for e in each])

    # (of 40 normal numbers, at a level of 1e-4 for each)
    assert abs(z.mean()) < -stats.norm.ppf(5e-5) / 40**0.5
    assert (z**2).sum() < stats.chi2.ppf(1 - 1e-4, 40)


# ---- estimates -------------------------------------------------------------------------------


def told(rng, powers, draws=3000):
    """Log likelihoods at powers of a normal one with a normal prior, of which all is known.

    The log likelihood is minus half a square of a number that is normal with precision 1 + power.
    """
    x = rng.normal(size=(draws, len(powers))) / np.sqrt(1 + np.asarray(powers))
    return -(x**2) / 2


@pytest.mark.parametrize("estimate", [stones.stepping_stones, stones.thermodynamic])
def test_estimates_from_log_likelihoods_alone(estimate):
    powers = np.linspace(0, 1, 6)
    each = [estimate(powers, told(np.random.default_rng(seed), powers)) for seed in range(40)]
    z = np.array([(e.value + np.log(2) / 2) / e.error for e in each])

    assert (z**2).sum() < stats.chi2.ppf(1 - 1e-4, 40)
    # (errors are no larger than they need be, but for that of a rule)
    assert (z**2).sum() > stats.chi2.ppf(1e-4, 40) or estimate is stones.thermodynamic


def test_a_stone_that_is_left_out_is_seen():
    powers = np.linspace(0, 1, 6)
    logs = told(np.random.default_rng(1), powers)
    wrong = stones.stepping_stones(powers[1:], logs[:, 1:])

    assert abs(wrong.value + np.log(2) / 2) > 4 * wrong.error


def test_likelihoods_of_zero_are_counted_as_such():
    logs = np.zeros((100, 2))
    logs[::2, 0] = -np.inf
    logs[1::4, 0] = np.nan
    found = stones.stepping_stones(np.array([0.0, 1.0]), logs)

    assert found.value == pytest.approx(np.log(0.25))


def test_huge_and_tiny_likelihoods_are_no_matter():
    powers, rng = np.linspace(0, 1, 6), np.random.default_rng(1)
    logs = told(rng, powers)
    for shift in (-1e8, 1e8):
        moved = stones.stepping_stones(powers, logs + shift)
        plain = stones.stepping_stones(powers, logs)
        assert moved.value - shift == pytest.approx(plain.value, abs=1e-6)
        assert moved.error == pytest.approx(plain.error, rel=1e-6)


# ---- ordinates -------------------------------------------------------------------------------


def scalars():
    """A variable for each of several families, with changes of variable and bounds."""
    with gp.Model(name="scalars") as m:
        sigma = gp.Uniform("sigma", 0, 10)
        mu = gp.Normal("mu", 0, sigma=2, lower=0)
        nu = gp.Exponential("nu", rate=1)
        gp.Normal("y", mu, sigma=sigma, dims="i", observed=[1.0, 2.5, 0.3])
        gp.Poisson("count", nu, dims="i", observed=[2, 0, 1])
    return gp.compile(m, blocks=False, interweave=False)


@pytest.mark.parametrize("name", ["sigma", "mu", "nu"])
def test_conditionals_that_are_called_normalised_are(name):
    sampler = scalars()
    (chain,), _ = sampler.initial_states(1, 3)
    step = sampler.schedule.step(name)
    own = (sampler.schedule, sampler.program, sampler.data, sampler.constants)

    def density(x):
        return np.exp(log_conditional(*own, step, {**chain.state, name: x}).sum())

    top = 10 if name == "sigma" else np.inf
    total, _ = integrate.quad(density, 0, top, limit=200)
    assert total == pytest.approx(1, rel=1e-6)


def test_joint_draws_have_the_density_of_a_normal_vector():
    sampler, _ = known("unknown_variance")
    (chain,), _ = sampler.initial_states(1, 3)
    advance(sampler.program, sampler.constants, chain, 3)
    own = (sampler.schedule, sampler.program, sampler.data, sampler.constants)
    precision = chain.state["tau"] * (np.eye(2) / 4 + sampler.data["X"].T @ sampler.data["X"])
    mean = np.linalg.solve(precision, chain.state["tau"] * sampler.data["X"].T @ sampler.data["y"])
    wanted = stats.multivariate_normal.logpdf(chain.state["b"], mean, np.linalg.inv(precision))

    log_q = log_conditional(*own, sampler.schedule.step("b"), chain.state).sum()
    assert log_q == pytest.approx(wanted, rel=1e-10)


def test_blocks_of_several_arrays_have_their_density_too():
    with gp.Model(coords={"j": 3}, name="groups") as m:
        mu = gp.Normal("mu", 0, sigma=2)
        theta = gp.Normal("theta", mu, sigma=1, dims="j")
        gp.Normal("y", theta, sigma=0.5, dims="j", observed=[1.0, 0.2, -0.4])
    sampler = gp.compile(m, blocks={("mu", "theta"): "together"})
    (step,) = sampler.schedule.steps
    cov = 0.25 * np.eye(3) + np.eye(3) + 4
    exact = stats.multivariate_normal.logpdf([1.0, 0.2, -0.4], np.zeros(3), cov)

    assert step.kind == "joint"
    assert found(sampler, "chib").value == pytest.approx(exact, rel=1e-12)


def test_auxiliary_variables_are_no_part_of_it():
    x, y = np.array([-1.0, 0.3, 0.8, 2.0]), np.array([0, 1, 0, 1])
    with gp.Model(coords={"i": 4}, name="logit") as m:
        b = gp.Normal("b", 0, sigma=2)
        design = gp.Data("x", x, dims="i")
        gp.Bernoulli("y", gp.expit(b * design), dims="i", observed=y)
    sampler = gp.compile(m, rewrites={"Polya-Gamma": True})
    assert sampler.schedule.auxiliary

    def density(b):
        fits = stats.bernoulli.logpmf(y, special.expit(b * x)).sum()
        return np.exp(fits + stats.norm.logpdf(b, 0, 2))

    exact = np.log(integrate.quad(density, -30, 30, limit=200)[0])
    for method in ("stepping stone", "chib"):
        evidence = found(sampler, method, draws=60, warmup=30)
        assert abs(evidence.value - exact) < 4 * evidence.error


def test_paths_of_labels_have_probabilities_that_add_up_to_one():
    rng = np.random.default_rng(1)
    weights, moves = rng.normal(size=(2, 4)), rng.normal(size=(2, 2))
    paths = list(itertools.product((1, 2), repeat=4))
    logs = [log_probabilities(np.array(p), weights, moves, name="z", lower=1).sum() for p in paths]
    own = [
        sum(weights[k - 1, t] for t, k in enumerate(p))
        + sum(moves[a - 1, b - 1] for a, b in itertools.pairwise(p))
        for p in paths
    ]

    assert logs == pytest.approx(own - special.logsumexp(own), rel=1e-10)


def test_exchangeable_labels_are_warned_of():
    sampler, _ = known("mixture")
    (chain,), _ = sampler.initial_states(1, 3)

    assert [w.partition(".")[0] for w in chib.exchangeable(sampler, chain)] == [
        "the 2 positions along k can be exchanged"
    ]
    assert not [*chib.exchangeable(known("chain")[0], chain_start())]


def chain_start():
    (start,), _ = known("chain")[0].initial_states(1, 3)
    return start


# ---- what is refused, what is said -----------------------------------------------------------


def test_an_improper_prior_is_refused_by_name():
    with gp.Model(name="flat") as m:
        mu = gp.Flat("mu")
        gp.Normal("y", mu, sigma=1, observed=1.0)
    for method in (None, "thermodynamic", "chib"):
        with pytest.raises(RunError, match=r"flat: the evidence of a model with an improper.*mu"):
            found(gp.compile(m), method)


def test_methods_that_do_not_apply_are_refused_by_name():
    sampler, _ = known("lattice")
    with pytest.raises(RunError, match=r"Chib's method needs.*up.*use method='stepping stone'"):
        found(sampler, "chib")
    with pytest.raises(RunError, match=r"found method='chip'.*Did you mean 'chib'"):
        found(sampler, "chip")
    with pytest.raises(RunError, match="found draws=2, expected 4"):
        found(sampler, None, draws=2)


def test_a_model_without_latent_variables_has_its_likelihood():
    with gp.Model(name="known") as m:
        gp.Poisson("y", 2.5, observed=3)
    evidence = found(gp.compile(m), "stepping stone")

    assert evidence.value == pytest.approx(stats.poisson.logpmf(3, 2.5), rel=1e-12)
    assert evidence.error == pytest.approx(0, abs=1e-12)


def test_it_says_how_it_was_found():
    sampler, exact = known("coin")
    evidence = found(sampler, None)

    assert evidence.method == "stepping stones"
    lines = str(evidence).splitlines()
    assert re.fullmatch(r"log evidence -3\.0\d*, standard error 0\.0\d*", lines[0])
    assert lines[1].startswith("by stepping stones: the prior is proper and can be drawn")
    assert lines[2].startswith("2 chains, 150 draws at ")
    assert str(found(sampler, "chib")).startswith(f"log evidence {exact:.10f}")


def test_of_a_vague_prior_the_method_is_another_one():
    with gp.Model(coords={"i": 4}, name="vague") as m:
        mu = gp.Normal("mu", 0, sigma=1000)
        gp.Normal("y", mu, sigma=1, dims="i", observed=[1.0, 0.4, 0.8, 0.1])
    cov = np.eye(4) + 1e6
    exact = stats.multivariate_normal.logpdf([1.0, 0.4, 0.8, 0.1], np.zeros(4), cov)
    evidence = found(gp.compile(m), None)

    assert evidence.value == pytest.approx(exact, rel=1e-6)
    assert "by Chib's method: the prior is vague" in str(evidence)


def test_missing_values_and_potentials_are_integrated_too():
    y = np.ma.masked_invalid([1.0, np.nan, 0.5])
    with gp.Model(coords={"i": 3}, name="missing") as m:
        mu = gp.Normal("mu", 0, sigma=2)
        gp.Normal("y", mu, sigma=1, dims="i", observed=y)
        gp.Potential("pull", -(mu**2) / 2)
    # (an observation of 0 with sd 1, but for its constant)
    exact = stats.multivariate_normal.logpdf([1, 0.5, 0], np.zeros(3), np.eye(3) + 4)
    exact += np.log(2 * np.pi) / 2
    sampler = gp.compile(m)
    evidence = found(sampler, "stepping stone", draws=60, warmup=30)

    assert abs(evidence.value - exact) < 4 * evidence.error
    assert found(sampler, "chib", draws=40, warmup=10).value == pytest.approx(exact, rel=1e-10)
