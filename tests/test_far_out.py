"""Log densities far out, where terms cancel that are larger than all else by many digits."""

import numpy as np
import pytest
from scipy import integrate, special, stats

import gibbsppl as gp
from gibbsppl.code import moves
from gibbsppl.output.diagnostics import mcse_mean

FAMILY_WISE = 1e-6


def saturated(prior=lambda: gp.InverseGamma("x", 1.2, scale=2.0, dims="i"), outcomes=(1, 1, 0)):
    """A probability that goes to one: its log is a difference of what grows without end."""
    with gp.Model(coords={"i": len(outcomes)}) as m:
        gp.Bernoulli("y", gp.expit(prior()), dims="i", observed=list(outcomes))
    return gp.compile(m, rewrites=False)


def truncated_counts(exposure=lambda: 1, seen=(0, 2, 2, 2, 1)):
    """The tail that normalises counts up to six falls as the counts do."""
    with gp.Model(coords={"i": len(seen)}) as m:
        rate = gp.Frechet("x", shape=3.5, scale=1.7) * exposure()
        gp.Poisson("y", rate, upper=6, dims="i", observed=seen)
    return gp.compile(m)


def shared(covariate):
    """What all scores share says nothing, and is no part of the conditional."""
    with gp.Model(coords={"i": 3, "k": 2}) as m:
        x = gp.InverseGamma("x", 1.5, scale=2.0, dims="i")
        weight = gp.exp(covariate(x)) * gp.Data("d", [0.5, 0.7], dims="k")
        gp.Categorical("y", weight / gp.sum(weight, "k"), dims="i", event="k", observed=[0, 1, 0])
    return gp.compile(m)


def shares_below(outcome, levels):
    def density(x):
        return stats.invgamma(1.2, scale=2.0).pdf(x) * special.expit(x if outcome else -x)

    def mass(upper):
        return integrate.quad(density, 0, 5, limit=200)[0] * (upper > 5) + integrate.quad(
            density, 5 * (upper > 5), upper, limit=500)[0]

    total = mass(1e4) + integrate.quad(lambda u: density(np.exp(u)) * np.exp(u), np.log(1e4), 60)[0]
    return [mass(x) / total for x in levels]


def test_draws_do_not_run_away_to_the_end_of_numbers():
    draws = saturated().sample(3000, warmup=200, chains=2, seed=4, progress=False)["x"]

    assert draws.max() < 1e12
    levels = {1: np.array([0.7, 2.5, 10.0]), 0: np.array([0.6, 1.0, 2.0])}
    for outcome, own in ((1, draws[..., 0]), (0, draws[..., 2])):
        below = 1.0 * (own[..., None] < levels[outcome])
        gaps = below.mean(axis=(0, 1)) - shares_below(outcome, levels[outcome])
        scores = gaps / mcse_mean(below)
        assert np.abs(scores).max() < stats.norm.isf(FAMILY_WISE / 2 / 6)


EXPOSURES = {
    "one": (lambda: 1, np.ones(5)),
    "several": (lambda: gp.Data("e", [1.0, 2, 3, 0.5, 1], dims="i"), np.array([1.0, 2, 3, 0.5, 1])),
}


@pytest.mark.parametrize("name", EXPOSURES)
def test_a_tail_and_its_argument_leave_what_they_differ_by(name):
    exposure, e = EXPOSURES[name]
    sampler = truncated_counts(exposure)
    log_density = sampler.program.given_rest["x"]({}, sampler.constants)
    counts = np.arange(7)

    def exact(x):
        """With the masses as polynomials, of which no exponential is left."""
        rates = np.log(x) + np.log(e)
        masses = special.logsumexp(np.outer(rates, counts) - special.gammaln(counts + 1), axis=1)
        return 7 * np.log(x) - 4.5 * np.log(x) - (1.7 / x) ** 3.5 - masses.sum()

    for far in (1e3, 1e17, 1e30):
        found = log_density(np.array(far)) - log_density(np.array(2.0))
        assert found == pytest.approx(exact(far) - exact(2.0), rel=1e-12)
    draws = sampler.sample(500, warmup=200, chains=2, seed=1, progress=False)["x"]
    assert draws.max() < 20.0
    assert sampler.verify().proved


@pytest.mark.parametrize("prior", [
    lambda: gp.InverseGamma("x", 1.2, scale=2.0, dims="i"),
    lambda: gp.HalfCauchy("x", 1.0, dims="i"),
    lambda: gp.LogNormal("x", 0, sigma=30.0, dims="i"),
])  # fmt: skip
def test_a_sum_in_an_order_that_loses_what_is_small_is_seen(prior, monkeypatch):
    assert saturated(prior).verify().proved

    monkeypatch.setattr(moves, "growth", lambda *_, **__: 0.0)
    result = saturated(prior).verify()

    assert [r.step for r in result.rows if not r.passed] == ["x"]


def factors_of_degrees():
    """Degrees of freedom that are a product, one factor of which is drawn."""
    s = gp.Exponential("x", rate=1.0)
    gp.StudentT("y", nu=s * s * gp.Gamma("tau", 2.0, rate=1.0), mu=0, sigma=1, dims="i",
                observed=[0.3, 2.1, -1.0])


def degrees_and_scales():
    x = gp.InverseGamma("x", 1.5, scale=1.7, dims="i")
    gp.HalfStudentT("y", nu=x + x.at("i", 0), scale=x, dims="i", observed=[0.8, 4.0, 0.05])


def means_and_scales():
    """The mean of a truncated normal, and its standard deviation."""
    x = gp.Gamma("x", 1.5, rate=1.0, dims="i")
    gp.Normal("y", -0.8 * gp.sum(x, "i"), sigma=x.at("i", 0), lower=-1, upper=2, dims="k",
              observed=[-0.3, -0.9])


@pytest.mark.parametrize("declare", [factors_of_degrees, degrees_and_scales, means_and_scales])
def test_what_has_no_digits_is_not_drawn(declare, monkeypatch):
    def compiled():
        with gp.Model(coords={"i": 3, "k": 2}) as m:
            declare()
        return gp.compile(m)

    results = [compiled().verify(seed=n) for n in range(3)]
    assert all(r.proved for r in results), results

    monkeypatch.setattr(moves, "_may_cancel", lambda *_: False)
    results = [compiled().verify(seed=n) for n in range(3)]
    assert {r.step for result in results for r in result.rows if not r.passed} == {"x"}


@pytest.mark.parametrize("covariate", [
    lambda x: x,
    lambda x: 3 * x + gp.Data("c", [1.0, -2.0], dims="k"),
])  # fmt: skip
def test_what_all_terms_of_a_sum_share_cancels(covariate):
    sampler = shared(covariate)

    assert [s.kind for s in sampler.schedule.steps] == ["exact"]
    assert sampler.schedule.step("x").family.name == "InverseGamma"
    assert sampler.verify().proved


def test_what_differs_along_a_sum_is_no_constant_of_a_change():
    """Each score has a slope of its own: no one exponential of x says all of them."""
    with gp.Model(coords={"t": 2, "i": 3}) as m:
        x = gp.Normal("x", 0, sigma=1, dims="t")
        slope = gp.Data("slope", [[1.0, 2.0], [0.5, 3.0], [2.0, 1.0]], dims=("i", "t"))
        slope = gp.exp(slope)
        weight = gp.exp(slope * x)
        gp.Multinomial("y", n=5, p=weight / gp.sum(weight, "i"), dims=("t", "i"), event="i",
                       observed=[[2, 3, 0], [5, 0, 0]])
    sampler = gp.compile(m, rewrites=False)

    assert sampler.schedule.step("x").kind == "concave"
    assert sampler.verify().proved


# Near zero the degrees of freedom grow without end, so that their terms cancel; the sum of one
# element is as small as the element.
FEW_DEGREES = """model {
  for (k in 1:2) {
    y[k] ~ dweib(1.5, 1)
    x[k] ~ dt(2.3, 0.35, pow(sum(y[1:k]), -0.5))
  }
}"""


def test_terms_that_cancel_near_zero_inside_of_a_sum_keep_their_digits():
    sampler = gp.compile(gp.read_bugs(FEW_DEGREES, {"x": [1.4, -29.2]}))

    assert "with_digits" in sampler.source
    assert all(sampler.verify(seed=seed).passed for seed in range(3))
