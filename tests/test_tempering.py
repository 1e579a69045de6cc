"""Powers of the likelihood: tempered graphs against the declared model, ladders, swaps, runs."""

import math
import re
from dataclasses import replace
from functools import cache
from importlib import import_module
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse, special, stats

import gibbsppl as gp
from gibbsppl.checks.verification import verify
from gibbsppl.code.log_densities import observed
from gibbsppl.errors import CompileError, RunError
from gibbsppl.initial.search import initial_state
from gibbsppl.model.density import log_joint, log_terms
from gibbsppl.output.diagnostics import mcse_mean
from gibbsppl.run.chains import Chain
from gibbsppl.run.choice import asked_for
from gibbsppl.run.engines import Interpreted
from gibbsppl.sampler import compiled
from gibbsppl.tempering import annealing
from gibbsppl.tempering import rungs as rungs_of
from gibbsppl.tempering.engine import along
from gibbsppl.tempering.graph import tempered
from gibbsppl.tempering.ladder import between, first, moved, steps_of
from gibbsppl.tempering.rungs import Rungs
from gibbsppl.tempering.sampling import hot as hot_of
from models import NAMES as ALL_NAMES
from models import hidden_markov, ising, lda, pumps, seeds

POWERS = (2.0, 0.03)


def missing():
    """Values of which some are missing, and a prediction."""
    y = np.ma.masked_invalid([1.0, 2.0, np.nan, 3.0, np.nan])
    with gp.Model(coords={"i": 5}, name="missing") as m:
        mu = gp.Normal("mu", 0, sigma=3)
        tau = gp.Gamma("tau", 2, rate=2)
        gp.Normal("y", mu, tau=tau, dims="i", observed=y)
        gp.Normal("new", mu, tau=tau)
    return m


def ordered():
    """Levels in order, by a constraint; outcomes of events, by the ones trick."""
    with gp.Model(coords={"k": 3}, name="ordered") as m:
        level = gp.Normal("level", 0, sigma=2, dims="k")
        gp.Constraint("rising", level.lag("k", 1) < level)
        gp.Bernoulli("one", gp.equals(level < 3, 1), dims="k", observed=[1, 1, 1])
        gp.Normal("y", level, sigma=1, dims="k", observed=[0.5, 1.0, 0.8])
    return m


def two_modes(points=120):
    """A mixture with known weights: two labellings, of masses 0.874 and 0.126."""
    rng = np.random.default_rng(0)
    rng.normal(1, 1.5, size=30)
    lower, upper = (rng.normal(m, 0.5, n) for m, n in ((-3, 57), (3, 63)))
    with gp.Model(coords={"k": 2, "i": points}, name="mixture") as m:
        weight = gp.Data("w", [0.42, 0.58], dims="k")
        mu = gp.Normal("mu", 0, sigma=4, dims="k")
        z = gp.Categorical("z", weight, dims="i")
        gp.Normal("y", mu[z], sigma=0.5, dims="i", observed=np.concatenate([lower, upper]))
    return m


def mass_in_order(y):
    """The posterior probability that the first mean is the lower one, by sums on two grids."""

    def mass(*centres):
        grids = [np.linspace(c - 0.6, c + 0.6, 121) for c in centres]
        weights = zip(grids, (0.42, 0.58), strict=True)
        first, second = (np.log(w) + stats.norm.logpdf(y[:, None], g, 0.5) for g, w in weights)
        each = np.logaddexp(first[:, :, None], second[:, None, :]).sum(0)
        return special.logsumexp(each + np.add.outer(*(stats.norm.logpdf(g, 0, 4) for g in grids)))

    return special.expit(mass(-3, 3) - mass(3, -3))


def topics():
    """Collapsed topics: counts that a scan keeps up to date, those of words to the power."""
    return lda.model(corpus=lda.bars(None, 4, 6, 2), topics=3, alpha=0.5, eta=0.3)


def labels_in_part():
    """A mixture some of whose labels are known."""
    known = np.ma.masked_array([0, 1, 0, 1], [0, 0, 1, 1])
    with gp.Model(coords={"k": 2, "i": 4}, name="labels") as m:
        w = gp.Dirichlet("w", 1, dims="k", event="k")
        mu = gp.Normal("mu", 0, sigma=3, dims="k")
        z = gp.Categorical("z", w, dims="i", observed=known)
        gp.Normal("y", mu[z], sigma=1, dims="i", observed=[-1.0, 1.5, 0.8, 2.0])
    return m


SETTINGS = {"topics": {"collapse": ("theta", "phi")}}
MODELS = {
    "topics": topics,
    "pumps": pumps.model,
    "seeds": seeds.model,
    "hidden_markov": hidden_markov.model,
    "ising": lambda: ising.model(3, 3),
    "missing": missing,
    "ordered": ordered,
    "labels": labels_in_part,
}


@cache
def heated_model(name):
    return heated(MODELS[name](), **SETTINGS.get(name, {}))


def heated(model, **settings):
    """The sampler of a model, the tempered graph, and its sampler."""
    sampler = gp.compile(model, **settings)
    hot = tempered(sampler.graph, sampler.data)
    return sampler, hot, compiled(hot.graph, hot.data, sampler.coords, sampler.settings)


# ---- the graph -------------------------------------------------------------------------------


def tempered_and_wanted(sampler, graph, hot, power):
    """The log density of the tempered graph at a state, and what it should be, term by term."""
    rng = np.random.default_rng(3)
    state, _ = initial_state(rng, sampler.graph, sampler.data)
    values = {**hot.data, **state, hot.power: power}
    terms = log_terms(sampler.graph, {**sampler.data, **state})
    seen = {f.name for f in (*observed(sampler.graph), *sampler.graph.potentials)}
    kept = sum(t for n, t in terms.items() if n not in seen)
    return log_joint(graph, values), kept + power * sum(terms[n] for n in seen), values


@pytest.mark.parametrize("name", [n for n in MODELS if n not in ("missing", "labels")])
def test_data_and_potentials_count_as_often_as_the_power_says(name):
    sampler, hot, heat = heated_model(name)

    for power in POWERS:
        found, wanted, values = tempered_and_wanted(sampler, hot.graph, hot, power)
        assert found == pytest.approx(wanted, rel=1e-12)

    told = heat.program.deterministics(values, heat.constants)[hot.log_likelihood]
    seen = [f.name for f in (*observed(sampler.graph), *sampler.graph.potentials)]
    terms = log_terms(sampler.graph, values)
    assert float(told) == pytest.approx(sum(terms[n] for n in seen), rel=1e-12)


def test_a_factor_that_is_left_out_is_seen():
    sampler, hot, _ = heated_model("ordered")
    spoilt = replace(hot.graph, potentials=hot.graph.potentials[1:])

    found, wanted, _ = tempered_and_wanted(sampler, spoilt, hot, 0.3)

    assert found != pytest.approx(wanted, rel=1e-12)


def test_of_values_that_are_missing_in_part_the_observed_ones_count():
    sampler, hot, heat = heated_model("missing")
    values = {**hot.data, "mu": 0.3, "tau": 2.0, "new": 0.1, "y": np.array([1, 2, 0.7, 3, -1.0])}
    seen, unseen = (stats.norm.logpdf(values["y"][k], 0.3, 2**-0.5) for k in ([0, 1, 3], [2, 4]))
    prior = stats.norm.logpdf(0.3, 0, 3) + stats.gamma.logpdf(2.0, 2, scale=0.5)
    wanted = prior + 0.3 * seen.sum() + unseen.sum() + stats.norm.logpdf(0.1, 0.3, 2**-0.5)

    assert log_joint(hot.graph, {**values, hot.power: 0.3}) == pytest.approx(wanted, rel=1e-12)
    told = heat.program.deterministics(values, heat.constants)
    assert float(told[hot.log_likelihood]) == pytest.approx(seen.sum(), rel=1e-12)
    assert hot.observations == 5
    assert sampler.graph.drawn == ("mu", "tau", "y", "new")


@pytest.mark.parametrize("name", [n for n in MODELS if n not in ALL_NAMES or n == "seeds"])
def test_every_step_draws_from_its_conditional_at_a_power(name):
    _, hot, heat = heated_model(name)
    schedule = heat.schedule

    data = {**heat.data, hot.power: 0.3}
    fixed = (heat.graph, heat.program, schedule.steps, data)
    found = verify(*fixed, graphs=schedule.graphs, schedule=schedule)

    assert (found.passed, found.proved) == (True, True), found


def test_a_conditional_that_forgets_the_power_is_seen():
    _, hot, heat = heated_model("pumps")
    source = heat.source.replace("power * ", "", 1)
    assert source != heat.source
    schedule, program = heat.schedule, gp.code.program.load(source)

    found = [
        verify(heat.graph, program, schedule.steps, {**heat.data, hot.power: power})
        for power in (1.0, 0.3)
    ]

    assert [f.passed for f in found] == [True, False]


def test_nothing_that_is_computed_once_has_the_power():
    for name in MODELS:
        _, hot, heat = heated_model(name)
        prepare = heat.source[heat.source.index("def prepare") :]
        prepare = prepare[: prepare.index("\n\n\n")]
        assert hot.power not in prepare, name


def test_a_power_is_no_count_to_be_shared_out():
    with gp.Model(coords={"i": 3, "k": 2}, name="shared") as m:
        rate = gp.Gamma("rate", 1, rate=1, dims=("i", "k"))
        gp.Poisson("y", rate.sum("k"), dims="i", observed=[2, 0, 5])
    sampler = gp.compile(m)
    assert sampler.schedule.auxiliary == ("y_split",)

    _, _, heat = heated(m)
    assert heat.schedule.auxiliary == ()
    asked = gp.compile(m, rewrites={"share out": True})
    with pytest.raises(CompileError, match=r"at powers of the likelihood: .*share out"):
        asked.sample(10, temper=True, progress=False)


def test_of_a_sparse_array_all_cells_count():
    counts = np.array([[2, 0, 0], [0, 0, 1], [0, 3, 0], [0, 0, 0]])
    state = {"a": np.array([0.5, 1.0, 2.0, 0.1]), "power": 0.3}
    found = []
    for observed_ in (counts, sparse.csr_array(counts)):
        with gp.Model(coords={"i": 4, "j": 3}, name="cells") as m:
            a = gp.Gamma("a", 1, rate=1, dims="i")
            gp.Poisson("y", a, dims=("i", "j"), observed=observed_)
        _, hot, heat = heated(m)
        told = heat.program.deterministics(state, heat.constants)[hot.log_likelihood]
        found.append((float(told), log_joint(hot.graph, {**hot.data, **state})))

    wanted = stats.poisson.logpmf(counts, state["a"][:, None]).sum()
    assert [told for told, _ in found] == pytest.approx([wanted, wanted], rel=1e-12)
    assert [joint for _, joint in found] == pytest.approx(
        [0.3 * wanted - state["a"].sum()] * 2, rel=1e-12
    )


def test_what_cannot_be_tempered_is_refused_by_name():
    with gp.Model(name="prior") as prior:
        gp.Normal("mu", 0, sigma=1)
    half = np.ma.masked_invalid([[1.0, np.nan], [0.3, 0.2]])
    with gp.Model(coords={"i": 2, "k": 2}, name="vectors") as vectors:
        one = gp.Data("one", np.eye(2), dims=("k", "k'"))
        tau = gp.Wishart("tau", 3, V=one, dims=("k", "k'"))
        gp.MvNormal("y", 0, tau=tau, dims=("i", "k"), event="k", observed=half)

    with pytest.raises(RunError, match="prior: nothing is observed"):
        gp.compile(prior).sample(10, temper=True, progress=False)
    with pytest.raises(RunError, match="y: some values of MvNormal are missing"):
        gp.compile(vectors).sample(10, temper=True, progress=False)
    read = gp.compile(pumps.model(), by={"theta": "mean"})
    with pytest.raises(RunError, match=r"theta is no draw.*compile the model without by="):
        read.sample(10, temper=True, progress=False)
    near = gp.compile(topics(), collapse=("theta", "phi"), approximate=True)
    with pytest.raises(RunError, match="labels are drawn approximately"):
        near.evidence(progress=False)
    with pytest.raises(RunError, match="temper: found 1, expected True, or a number of powers"):
        gp.compile(pumps.model()).sample(10, temper=1, progress=False)


# ---- ladders ---------------------------------------------------------------------------------


def test_powers_move_to_where_all_steps_of_the_barrier_are_equal():
    def barrier(power):
        return 3 * power**0.2

    powers = np.linspace(0, 1, 9)
    for _ in range(40):
        powers = moved(powers, np.diff(barrier(powers)), 8)

    assert np.diff(barrier(powers)) == pytest.approx(3 / 8, rel=0.02)
    assert (steps_of(3.0), steps_of(0.0)) == (6, 1)


def test_the_first_ladder_begins_where_the_prior_tells_something():
    assert first(np.array([-50.0, -40.0, -30.0, -20.0, -10.0]), 3) == pytest.approx(
        [0.0, 0.05, math.sqrt(0.05), 1.0]
    )
    assert first(np.array([-np.inf, -np.inf, np.nan, -3.0]), 3) is None


# ---- swaps -----------------------------------------------------------------------------------


def swap_rate(low, high, powers=(0.2, 1.0)):
    """The probability of a swap of two rungs with these log likelihoods."""
    start = Chain({"x": 0.0}, np.random.default_rng(1))
    pair = Rungs.of(start, np.array(powers), "power", ("x",))
    pair.swap(start.rng, np.array([low, high]))
    return pair.seen.swap_rates[0]


@pytest.mark.parametrize(("low", "high"), [(-3.0, -1.0), (-1.0, -3.0), (-1e4, -2.0), (0.0, 0.0)])
def test_swaps_leave_the_product_of_all_powers_as_it_is(low, high):
    log_odds = (0.2 * high + 1.0 * low) - (0.2 * low + 1.0 * high)

    assert swap_rate(low, high) == pytest.approx(
        min(1.0, math.exp(min(0.0, log_odds))), rel=1e-12
    )
    # (there and back, in balance)
    there, back = np.log([swap_rate(low, high) or 1e-300, swap_rate(high, low) or 1e-300])
    assert there - back == pytest.approx(max(log_odds, -690.8), rel=1e-3)


def test_states_of_likelihood_zero_are_not_swapped_up():
    assert swap_rate(-np.inf, -3.0) == swap_rate(np.nan, -3.0) == 0.0


def test_rungs_keep_their_tuning_and_their_power():
    start = Chain({"x": 0.0, "w": 1.0}, np.random.default_rng(1))
    pair = Rungs.of(start, np.array([0.2, 1.0]), "power", ("x",))
    for k, chain in enumerate(pair.chains):
        chain.state |= {"x": float(k), "~x": f"tuning {k}"}
    pair.swap(start.rng, np.array([0.0, -100.0]))

    assert [c.state for c in pair.chains] == [
        {"x": 1.0, "~x": "tuning 0", "power": 0.2},
        {"x": 0.0, "~x": "tuning 1", "power": 1.0},
    ]
    assert pair.seen.replicas == [1, 0]


def test_round_trips_are_counted():
    seen, trips = rungs_of.Seen.of(3), []
    for replicas in ([0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1], [0, 1, 2], [1, 2, 0], [1, 0, 2]):
        seen.replicas = replicas
        seen.pass_by()
        trips.append(seen.trips)

    # (2 comes back in the fifth sweep, 0 in the sixth; then 2 has not been down since)
    assert trips == [0, 0, 0, 0, 1, 2, 2]


def test_rungs_share_no_array():
    start = Chain({"x": np.zeros(3)}, np.random.default_rng(1))
    own = Rungs.of(start, np.array([0.2, 0.6, 1.0]), "power", ("x",))
    own.chains[0].state["x"][:] = 1.0
    own.move(np.array([0.2, 0.3, 0.5, 1.0]), start.rng)
    own.chains[1].state["x"][:] = 2.0

    assert [c.state["x"][0] for c in own.chains] == [1.0, 2.0, 0.0, 0.0]
    assert (start.state["x"] == 0).all()


# ---- runs ------------------------------------------------------------------------------------


def test_tempered_chains_go_from_mode_to_mode_with_the_right_masses():
    sampler = gp.compile(two_modes())
    exact = mass_in_order(sampler.data["y"])
    assert exact == pytest.approx(0.874, abs=5e-4)
    settings = {"warmup": 500, "seed": 5, "progress": False, "backend": "numpy"}
    settings["keep"] = ["mu"]

    plain = sampler.sample(500, chains=1, **settings)["mu"]
    draws = sampler.sample(1200, chains=1, temper=True, **settings)
    is_first = plain[..., 0] < plain[..., 1]
    crossed = (draws["mu"][..., 0] < draws["mu"][..., 1]).astype(float)

    assert is_first.all() or not is_first.any()
    assert (np.abs(np.diff(crossed, axis=1)).sum(axis=1) > 10).all()
    assert abs(crossed.mean() - exact) < 4 * mcse_mean(crossed)
    rates = [np.array(r.split(), float) for r in draws.attributes["swap_rates"].splitlines()]
    assert all(len(r) > 5 and (r > 0.2).all() and (r < 0.8).all() for r in rates)
    powers = [np.array(r.split(), float) for r in draws.attributes["powers"].splitlines()]
    assert all(p[0] == 0 and p[-1] == 1 and (np.diff(p) > 0).all() for p in powers)
    assert re.search("Tempered, chain 0: .* powers from 0 to 1.*round trips", str(draws.summary()))
    assert draws.sample_stats["log_likelihood"].shape == (1, 1200)


@pytest.mark.slow
def test_masses_of_modes_are_right_to_a_tenth_of_an_error():
    sampler = gp.compile(two_modes())
    draws = sampler.sample(25_000, chains=4, seed=1, temper=True, progress=False, keep=["mu"])
    crossed = (draws["mu"][..., 0] < draws["mu"][..., 1]).astype(float)
    error = float(mcse_mean(crossed))

    assert error < 0.01
    assert abs(crossed.mean() - mass_in_order(sampler.data["y"])) < 4 * error


def plain_model():
    with gp.Model(coords={"i": 4}, name="plain") as m:
        mu = gp.Normal("mu", 0, sigma=10)
        tau = gp.Gamma("tau", 2, rate=2)
        gp.Normal("y", mu, tau=tau, dims="i", observed=[1.0, 2.0, 0.5, 1.7])
        gp.Deterministic("twice", 2 * mu)
    return m


def test_the_same_seed_makes_the_same_tempered_chains_on_both_back_ends():
    sampler = gp.compile(plain_model())
    settings = {"draws": 30, "warmup": 40, "chains": 1, "seed": 2, "progress": False, "temper": 4}

    backends = ("numpy", "numpy", "compiled")
    numpy, again, loops = (sampler.sample(backend=b, **settings) for b in backends)

    assert np.array_equal(again["mu"], numpy["mu"])
    assert numpy.attributes["powers"] == loops.attributes["powers"]
    for name in ("mu", "tau", "twice"):
        assert loops[name] == pytest.approx(numpy[name], rel=1e-9)


def test_powers_that_rise_lead_to_where_the_density_is_highest():
    with gp.Model(name="coin") as m:
        p = gp.Beta("p", 2, 3)
        gp.Binomial("y", 20, p, observed=13)
    hot = hot_of(gp.compile(m), compiled)
    (chain,), _ = hot.model.initial_states(1, seed=1)
    engine = Interpreted.of(hot.sampler.program, hot.sampler.prepared)
    powers = between(0.1, 50, last=1e8)
    last = [told[hot.graph.log_likelihood] for told in along(engine, chain, powers, "power")][-1]

    assert chain.state["p"] == pytest.approx(13 / 20, abs=1e-3)
    assert last == pytest.approx(stats.binom.logpmf(13, 20, 13 / 20), abs=1e-6)
    assert chain.state["power"] == pytest.approx(1e8)


def test_a_prior_that_is_improper_is_tempered_down_to_one_observation():
    with gp.Model(coords={"i": 20}, name="flat") as m:
        mu = gp.Flat("mu")
        gp.Normal("y", mu, sigma=1, dims="i", observed=np.linspace(-1, 1, 20))
    draws = gp.compile(m).sample(200, warmup=50, chains=2, seed=1, temper=3, progress=False)

    assert draws.attributes["powers"].splitlines()[0].startswith("0.047619 ")
    assert abs(draws["mu"].mean()) < 4 * mcse_mean(draws["mu"])


def test_what_is_kept_and_thinned_is_as_in_any_run():
    sampler = gp.compile(missing())
    draws = sampler.sample(
        20, warmup=20, chains=1, thin=2, seed=1, temper=3, keep=["y", "new"], progress=False
    )

    assert list(draws) == ["y", "new"]
    assert (draws["y"][..., [0, 1, 3]] == [1, 2, 3]).all()
    steps = [b - a for a, b in pairwise(draws["new"][0])]
    assert all(s != 0 for s in steps)


@pytest.mark.slow
@pytest.mark.parametrize("power", [1.0, 0.3, 0.02])
@pytest.mark.parametrize("name", [n for n in ALL_NAMES if n != "bivariate_gaussian"])
def test_every_model_has_its_conditionals_at_all_powers(name, power):
    _, hot, heat = heated(import_module(f"models.{name}").model())
    schedule = heat.schedule
    fixed = (heat.graph, heat.program, schedule.steps, {**heat.data, hot.power: power})
    found = verify(*fixed, graphs=schedule.graphs, schedule=schedule)

    assert (found.passed, found.proved) == (True, True), found


# ---- the check on the user's own model -------------------------------------------------------


@pytest.mark.parametrize("model", [missing, ordered, pumps.model])
def test_the_density_at_a_power_is_looked_at_where_chains_start(model):
    sampler = gp.compile(model())
    made = hot_of(sampler, compiled)
    (chain,), _ = sampler.initial_states(1, 1)
    made.check(chain)


@pytest.mark.parametrize("lost", ["y.observed", "a half"])
def test_a_factor_that_is_lost_is_seen(lost, monkeypatch):
    from gibbsppl.tempering import sampling

    def spoilt(graph, data, **how):
        found = tempered(graph, data, **how)
        left = [p for p in found.graph.potentials if p.name != lost]
        if lost == "a half":
            left = [replace(p, log_density=p.log_density / 2) for p in left]
        assert tuple(left) != found.graph.potentials
        return replace(found, graph=replace(found.graph, potentials=tuple(left)))

    monkeypatch.setattr(sampling, "tempered", spoilt)
    with pytest.raises(RunError, match="at the power 1/2 the log density is"):
        gp.compile(missing()).sample(5, warmup=5, chains=1, temper=3, seed=1, progress=False)


# ---- annealing -------------------------------------------------------------------------------


COUPLING = 1.2


def picture(size=8):
    """A noisy picture in patches."""
    rng = np.random.default_rng(4)
    truth = np.indices((size, size)).sum(axis=0) // 4 % 2
    return truth + rng.normal(0, 1.0, (size, size))


def patches(y):
    """The labels of a picture, of which neighbours tend to be alike: a density of many modes."""
    with gp.Model(coords={"row": len(y), "col": len(y)}, name="patches") as model:
        z = gp.Bernoulli("z", 0.5, dims=("row", "col"))
        for axis in ("row", "col"):
            other = z.lag(axis)
            gp.Potential(f"along {axis}", COUPLING * (z * other + (1 - z) * (1 - other)))
        gp.Normal("y", z, sigma=1.0, dims=("row", "col"), observed=y)
    return model


def likeliest(y):
    """The likeliest labels of a picture, exactly: a minimum cut.

    D. M. Greig, B. T. Porteous and A. H. Seheult (1989), "Exact maximum a posteriori estimation for
    binary images", Journal of the Royal Statistical Society B 51.
    """
    graph, size = nx.DiGraph(), len(y)
    for r, c in np.ndindex(y.shape):
        odds = float(y[r, c] - 0.5)  # the log density of 1 less that of 0
        ends = ("one", (r, c)) if odds > 0 else ((r, c), "zero")
        graph.add_edge(*ends, capacity=abs(odds))
        for other in ((r + 1, c), (r, c + 1)):
            if max(other) < size:
                graph.add_edge((r, c), other, capacity=COUPLING)
                graph.add_edge(other, (r, c), capacity=COUPLING)
    _, (ones, _) = nx.minimum_cut(graph, "one", "zero")
    return np.array([[(r, c) in ones for c in range(size)] for r in range(size)], dtype=float)


@pytest.mark.slow
def test_annealing_comes_to_the_likeliest_labels_and_climbing_does_not():
    y = picture()
    sampler = gp.compile(patches(y))
    exact = likeliest(y)
    top = log_joint(sampler.graph, {**sampler.data, "z": exact})
    how = {"by": {"z": "mode"}, "seed": 1, "starts": 3, "progress": False}
    climbed = sampler.maximise(**how)
    annealed = sampler.maximise(anneal=True, warmup=2000, **how)

    assert climbed.value < top - 1.0
    assert_allclose(annealed.value, top, rtol=1e-12)
    assert np.array_equal(annealed.values["z"], exact)


@pytest.mark.parametrize("lost", ["mu.more", "tau.more"])
def test_a_latent_variable_that_is_to_no_power_is_seen(lost, monkeypatch):
    from gibbsppl.tempering import sampling

    def spoilt(graph, data, **how):
        found = tempered(graph, data, **how)
        left = tuple(p for p in found.graph.potentials if p.name != lost)
        assert left != found.graph.potentials
        return replace(found, graph=replace(found.graph, potentials=left))

    with gp.Model(name="noise") as model:
        mu, tau = gp.Normal("mu", 0, tau=0.01), gp.Gamma("tau", 2, rate=1)
        gp.Normal("y", mu, tau=tau, dims="i", observed=[1.2, 0.7, 2.1, 1.6])
    gp.compile(model).maximise(anneal=True, seed=1, progress=False)
    monkeypatch.setattr(sampling, "tempered", spoilt)
    with pytest.raises(RunError, match="at the power 2 the log density is"):
        gp.compile(model).maximise(anneal=True, seed=1, progress=False)


def test_values_at_the_last_power_are_of_the_density_to_that_power():
    y = np.array([1.2, 0.7, 2.1, 1.6])
    with gp.Model(name="noise") as model:
        mu, tau = gp.Normal("mu", 0, tau=0.01), gp.Gamma("tau", 2, rate=1)
        gp.Normal("y", mu, tau=tau, dims="i", observed=y)
    sampler = gp.compile(model)
    starts = sampler.initial_states(40, 2)[0]
    found = sampler.annealed(starts, 40, asked_for("numpy"), beyond=True)

    grid = {"mu": np.linspace(0.5, 2.3, 801)[:, None], "tau": np.linspace(0.7, 4.0, 801)[None]}
    each = ((y[:, None, None] - grid["mu"]) ** 2).sum(axis=0)
    density = -0.005 * grid["mu"] ** 2 + 3 * np.log(grid["tau"]) - grid["tau"] * (1 + each / 2)
    weight = np.exp(annealing.LAST * (density - density.max()))
    for axis, name in enumerate(("mu", "tau")):
        mass = np.cumsum(weight.sum(axis=1 - axis))
        told = np.array([c.state[name] for c in found])
        below = np.interp(told, grid[name].ravel(), mass / mass[-1])
        # (normal scores: a spread that is too large, or too small, is seen first in their squares)
        squares = (special.ndtri(below) ** 2).sum()
        assert 1e-3 < stats.chi2.cdf(squares, len(told)) < 1 - 1e-3, name
        assert stats.kstest(below, "uniform").pvalue > 1e-3, name


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"anneal": True, "init": {"mu": 0.0}}, "anneal: found init="),
        ({"anneal": True, "warmup": 2}, "anneal: found 2"),
    ],
)
def test_annealing_says_what_it_needs(how, told):
    with pytest.raises(RunError, match=told):
        gp.compile(missing()).maximise(seed=1, progress=False, **how)
