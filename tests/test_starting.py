"""Where chains start: the user's word for it, values, earlier draws, fits; in whichever process."""

from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.checks.results import RELATIVE_TOLERANCE
from gibbsppl.errors import RunError
from gibbsppl.initial.from_prior import prior_draw
from gibbsppl.model.density import log_joint
from gibbsppl.run.processes import fresh
from models import eight_schools, gaussian_mixture

WORDS = ("pilot", "prior", "optimum", "variational")


def hierarchy():
    """Groups around a mean, all with proper priors."""
    with gp.Model(coords={"group": 4, "i": 3}, name="groups") as model:
        mu = gp.Normal("mu", 0, sigma=5)
        tau = gp.Gamma("tau", 3, rate=3)
        a = gp.Normal("a", mu, tau=tau, dims="group")
        y = np.arange(1.0, 5.0)[:, None] + np.array([-0.4, 0.1, 0.3])
        gp.Normal("y", a, sigma=1, dims=("group", "i"), observed=y)
    return model


def ordered():
    """Two rates, one of them the larger by a potential."""
    with gp.Model(name="ordered") as model:
        low, high = gp.Normal("low", 0, sigma=1), gp.Normal("high", 0, sigma=1)
        gp.Potential("order", gp.log(low < high))
        gp.Normal("y", low + high, sigma=1, dims="i", observed=[0.1, 0.4])
    return model


def improper():
    """A regression without any prior of its slope."""
    with gp.Model(name="flat") as model:
        slope = gp.Flat("slope")
        tau = gp.Gamma("tau", 2, rate=2)
        x = gp.Data("x", [1.0, 2.0, 3.0], dims="i")
        gp.Normal("y", slope * x, tau=tau, dims="i", observed=[1.1, 2.3, 2.9])
    return model


def states(sampler, start, chains=3, **more):
    found, origins = sampler.initial_states(chains, 1, start=start, **more)
    return [c.state for c in found], origins


@pytest.mark.parametrize("start", WORDS)
@pytest.mark.parametrize("model", [hierarchy, gaussian_mixture.model])
def test_each_chain_has_a_start_of_its_own(model, start):
    """Of positive density; the same whatever the number of chains."""
    sampler = gp.compile(model())
    found, origins = states(sampler, start)
    alone, _ = states(sampler, start, chains=1)

    for name in sampler.graph.drawn:
        np.testing.assert_array_equal(found[0][name], alone[0][name])
    for state in found:
        assert np.isfinite(log_joint(sampler.graph, {**sampler.data, **state}))
    assert not np.array_equal(found[0]["mu"], found[1]["mu"])
    expected = {"prior"} if start in ("pilot", "prior") else {start}
    assert set(origins.values()) == expected


def test_a_start_at_the_prior_is_a_draw_of_it():
    """The quantiles of many are uniform: of the mean, and of the precision of what is around it."""
    from scipy.stats import gamma, kstest, norm

    model, rng = hierarchy(), np.random.default_rng(1)
    found = [prior_draw(rng, model.graph, model.data) for _ in range(400)]
    mu, tau, a = (np.array([s[n] for s in found]) for n in ("mu", "tau", "a"))
    standardised = (a - mu[:, None]) * np.sqrt(tau)[:, None]
    for quantiles in (norm.cdf(mu, 0, 5), gamma.cdf(tau, 3, scale=1 / 3), norm.cdf(standardised)):
        assert kstest(quantiles.ravel(), "uniform").pvalue > 1e-3


def test_starts_at_a_fit_are_where_the_posterior_is():
    """None is less probable than all draws of a run, as some at the prior are."""
    sampler = gp.compile(hierarchy())
    graph, data = sampler.graph, sampler.data
    draws = sampler.sample(100, chains=2, seed=3, progress=False)
    every = [{n: draws[n][c, k] for n in graph.drawn} for c in range(2) for k in range(100)]
    least = min(log_joint(graph, {**data, **state}) for state in every)

    def found(start, chains):
        return [log_joint(graph, {**data, **s}) for s in states(sampler, start, chains)[0]]

    assert min(found("prior", 6)) < least
    assert min(found("optimum", 2)) > least
    assert min(found("variational", 2)) > least


def test_an_improper_prior_has_no_draw_to_start_at():
    sampler = gp.compile(improper())
    with pytest.raises(RunError, match=r"slope: found start='prior', expected a proper.*init="):
        sampler.sample(5, seed=1, start="prior", progress=False)

    found, origins = states(sampler, "prior", init={"slope": 1.0})
    assert origins == {"slope": "given", "tau": "prior"}
    assert all(s["slope"] == 1.0 for s in found)
    for start in ("pilot", "optimum", "variational"):
        assert len(states(sampler, start)[0]) == 3


def test_a_draw_of_the_prior_may_be_impossible():
    """Every second draw is out of order: the error names the potential; pilots find a start."""
    sampler = gp.compile(ordered())
    with pytest.raises(RunError, match=r"order: found start='prior'.*low.*init="):
        states(sampler, "prior", chains=20)

    found, _ = states(sampler, "prior", chains=2, init={"low": -9.0})
    assert all(s["low"] == -9.0 for s in found)
    for state in states(sampler, "pilot", chains=20)[0]:
        assert state["low"] < state["high"]


def test_what_cannot_be_fitted_is_told():
    """By the argument, and the variable that is in the way."""
    with gp.Model(name="edge") as edge:
        p = gp.Beta("p", 0.5, 0.5)
        gp.Binomial("y", 4, p, observed=0)
    with pytest.raises(RunError, match=r"start: found 'optimum'.*p"):
        states(gp.compile(edge), "optimum")


def test_values_are_the_start_as_they_are():
    sampler = gp.compile(eight_schools.model())
    one = {"mu": 3.0, "tau": 0.5, "theta": np.arange(8.0)}
    found, origins = states(sampler, one)
    assert all(np.array_equal(s[n], x) for s in found for n, x in one.items())
    assert set(origins.values()) == {"given"}

    each, _ = states(sampler, [{"mu": 1.0}, {"mu": 2.0}, {"mu": 3.0}])
    assert [float(s["mu"]) for s in each] == [1.0, 2.0, 3.0]
    with pytest.raises(RunError, match=r"start: found 2 sets .* each of the 3"):
        states(sampler, [{"mu": 1.0}] * 2)
    with pytest.raises(RunError, match=r"start: theta has shape \(3,\), expected \(8,\)"):
        states(sampler, {"theta": [1.0, 2.0, 3.0]})
    with pytest.raises(RunError, match=r"start: 'mo' is not a variable to be drawn.*'mu'"):
        states(sampler, {"mo": 1.0})


def test_init_comes_before_start():
    """Element by element: what is NaN in one is taken from the other."""
    sampler = gp.compile(eight_schools.model())
    some = np.where(np.arange(8) < 2, 7.0, np.nan)
    found, origins = states(
        sampler, {"mu": 3.0, "theta": np.arange(8.0)}, init={"mu": 9.0, "theta": some}
    )
    for state in found:
        assert state["mu"] == 9.0
        assert state["theta"].tolist() == [7.0, 7.0, *np.arange(2.0, 8.0)]
    assert origins["mu"] == "given"


def test_earlier_draws_are_starts():
    """Evenly spread; what they have not is found by rule, and other variables are no matter."""
    sampler = gp.compile(eight_schools.model())
    draws = sampler.sample(30, chains=2, seed=2, progress=False)
    found, _ = states(sampler, draws)
    rows = [10, 30, 50]
    for name in ("mu", "tau", "theta"):
        np.testing.assert_array_equal([s[name] for s in found], draws.stacked(name)[rows])

    less, origins = states(sampler, draws.only(["mu"]))
    assert [s["mu"] for s in less] == draws.stacked("mu")[rows].tolist()
    assert origins["mu"] == "given" != origins["theta"]
    as_init, _ = states(sampler, "pilot", init=draws)
    np.testing.assert_array_equal([s["theta"] for s in as_init], [s["theta"] for s in found])
    with pytest.raises(RunError, match=r"start: found values of slope.*expected some of mu"):
        states(sampler, gp.compile(improper()).sample(4, seed=1, progress=False).only(["slope"]))


def test_a_fit_is_a_start_as_it_is_an_init():
    sampler = gp.compile(hierarchy())
    fit = sampler.variational(seed=1, progress=False)
    one, other = states(sampler, fit)[0], states(sampler, "pilot", init=fit)[0]
    for ours, theirs in zip(one, other, strict=True):
        np.testing.assert_array_equal(ours["a"], theirs["a"])


@pytest.mark.parametrize("other", ["priors", 3])
def test_other_words_are_refused(other):
    with pytest.raises(RunError, match=f"sample: found start={other!r}, expected 'pilot', 'prior"):
        gp.compile(hierarchy()).sample(5, start=other)


@pytest.mark.parametrize("start", ["pilot", "variational"])
def test_starts_are_the_same_in_other_processes(start):
    """Number by number, by one worker and by two, of which each makes its share."""
    sampler = gp.compile(gaussian_mixture.model())
    how = {"warmup": 3, "seed": 4, "start": start, "progress": False}
    here = sampler.sample(5, cores=1, **how)
    for workers in (1, 2):
        with ProcessPoolExecutor(workers, mp_context=fresh()) as executor:
            there = sampler.sample(5, executor=executor, **how)
        for name in here:
            np.testing.assert_array_equal(here[name], there[name])
        assert there.attributes["started_by_rule"] == here.attributes["started_by_rule"]


def test_the_seconds_of_starts_are_told(tmp_path):
    """Of all chains together, and read again from a file."""
    draws = gp.compile(hierarchy()).sample(5, seed=1, progress=False)
    seconds = draws.attributes["starting_seconds"]
    assert seconds > 0
    draws.save(tmp_path / "draws.nc")
    read = gp.load_draws(tmp_path / "draws.nc").attributes["starting_seconds"]
    assert abs(read - seconds) <= RELATIVE_TOLERANCE * seconds


def test_tempered_chains_have_starts_of_their_own():
    sampler = gp.compile(hierarchy())
    found = sampler.sample(5, warmup=5, seed=1, temper=3, start={"mu": 2.0}, progress=False)
    assert found.attributes["starting_seconds"] > 0


class Failing(Executor):
    """An executor that loses what is submitted, so many times."""

    def __init__(self, times):
        self.times = times

    def submit(self, function, /, *args, **kwargs):
        future = Future()
        self.times -= 1
        if self.times >= 0:
            future.set_exception(OSError("lost"))
        else:
            future.set_result(function(*args, **kwargs))
        return future


def test_a_start_that_is_lost_is_made_again():
    """By whom does not matter; after three times in one place the chain is named."""
    sampler = gp.compile(hierarchy())
    how = {"draws": 5, "warmup": 3, "seed": 4, "progress": False}
    here, there = sampler.sample(**how), sampler.sample(**how, executor=Failing(2))
    np.testing.assert_array_equal(here["a"], there["a"])
    with pytest.raises(RunError, match=r"chain \d has no start, because its executor has failed 3"):
        sampler.sample(**how, executor=Failing(1000))


def test_what_forbids_a_start_is_told_as_it_is_here():
    sampler = gp.compile(improper())
    with pytest.raises(RunError, match="slope: found start='prior', expected a proper"):
        sampler.sample(5, seed=1, start="prior", progress=False, executor=Failing(0))


def test_the_bar_says_that_chains_start(monkeypatch):
    told = []

    @contextmanager
    def bar(total, unit, *, wanted):
        assert wanted
        yield lambda done, doing: told.append((done, total, unit, doing))

    monkeypatch.setattr("gibbsppl.run.starting.reporting", bar)
    gp.compile(hierarchy()).sample(5, warmup=0, chains=3, seed=1)
    assert told == [(done, 3, "chains", "3 chains, starting") for done in range(4)]


@pytest.mark.parametrize("what", ["init", "start"])
def test_infinite_values_are_no_start(what):
    sampler = gp.compile(eight_schools.model())
    with pytest.raises(RunError, match=f"{what}: mu: found inf, expected finite numbers"):
        sampler.sample(5, progress=False, **{what: {"mu": np.inf}})
