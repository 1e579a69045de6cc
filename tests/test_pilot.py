"""Starts chosen by pilot runs."""

import numpy as np
import pytest
from scipy.stats import norm

import gibbsppl as gp
import models
from gibbsppl.checks.results import RELATIVE_TOLERANCE
from gibbsppl.code import log_densities
from gibbsppl.code.log_densities import LogDensities
from gibbsppl.initial import pilot, saturation
from gibbsppl.initial.agreement import says_no_more
from gibbsppl.initial.pilot import best_start
from gibbsppl.initial.search import initial_state
from models import eight_schools, rats


def parts(sampler):
    return sampler.graph, sampler.data, sampler.program, sampler.constants


@pytest.mark.parametrize("sd_prior", ["gamma", "uniform"])
def test_growth_curves_never_start_as_noise(sd_prior):
    """Where all is explained as noise, the log density of the weights is far below the best."""
    sampler = gp.compile(rats.model(sd_prior=sd_prior))
    graph, data, *_ = parts(sampler)
    near = {
        "a": data["weight"].mean(axis=1),
        "b": np.full(30, 6.2),
        **({"tau": 0.03} if sd_prior == "gamma" else {"sd": 6.0}),
    }
    as_noise = near | {"a": np.zeros(30), "b": np.zeros(30)}
    as_noise |= {"tau": 0.5e-4} if sd_prior == "gamma" else {"sd": 100.0}
    densities = LogDensities(graph)
    halfway = np.mean(densities.of_observations(data, [near, as_noise]))
    for seed in range(12):
        start, _ = best_start(np.random.default_rng(seed), *parts(sampler))
        assert densities.of_observations(data, [start])[0] > halfway


def test_a_second_round_is_made_where_candidates_disagree(monkeypatch):
    """Of three from schools, of which any will do; not of seven from growth, most of them noise."""
    made = []

    def counted(*given, of=pilot._goes_on):
        made[-1] += 1
        return of(*given)

    monkeypatch.setattr(pilot, "_goes_on", counted)
    for model, candidates, rounds in ((eight_schools.model(), 3, 1), (rats.model(), 7, 2)):
        sampler = gp.compile(model)
        for seed in range(6):
            made.append(0)
            best_start(np.random.default_rng(seed), *parts(sampler))
            assert made[-1] == candidates * rounds


@pytest.mark.parametrize(
    "name",
    [
        *("rats", "salm", "hidden_markov", "poisson_factorisation"),
        *("capture_recapture", "local_level", "iris"),
    ],
)
def test_candidates_together_have_the_densities_that_each_has_alone(name):
    """One that has no density, and one that is no number, change nothing of the others."""
    sampler = gp.compile(getattr(models, name).model())
    graph, data, *_ = parts(sampler)
    densities = LogDensities(graph)
    states = [best_start(np.random.default_rng(s), *parts(sampler))[0] for s in range(4)]
    real = next(n for n in graph.drawn if not graph.variables[n].integer)
    states[1] = {**states[1], real: np.full_like(states[1][real], np.nan)}
    factors = log_densities.observed(graph)
    alone = [[densities.of([f], {**data, **s})[f.name].total for f in factors] for s in states]
    found = densities.of_observations(data, states)

    expected = [sum(a) if np.isfinite(sum(a)) else -np.inf for a in alone]
    assert found == pytest.approx(expected, rel=1e-12)
    assert len({*found}) == len(found)


def test_a_candidate_without_sweeps_leaves_the_others_their_densities(monkeypatch):
    """The second of three does not go on; the best of the others is found at its place."""
    monkeypatch.setattr(pilot, "_goes_on", lambda pilots, rng, s, sweeps: s["mu"] != 1.0)
    with gp.Model() as model:
        mu = gp.Normal("mu", 0, sigma=10)
        gp.Normal("y", mu, sigma=1, observed=2.0)
    sampler = gp.compile(model)
    pilots = pilot.Pilots(sampler.graph, sampler.data, sampler.program, sampler.prepared, None)
    states = [{"mu": np.array(m)} for m in (0.0, 1.0, 2.0)]
    own = LogDensities(sampler.graph)
    found = pilot._fits_after_sweeps(pilots, own, np.random.default_rng(0), states)

    assert found == pytest.approx([norm.logpdf(2.0), -np.inf, norm.logpdf(0.0)])


def levels(**given):
    rng = np.random.default_rng(0)
    flow = np.cumsum(rng.normal(0, 0.3, 60)) + rng.normal(0, 0.5, 60)
    with gp.Model(coords={"t": 60}) as model:
        step = gp.HalfNormal("step", sigma=1)
        noise = gp.HalfNormal("noise", sigma=1)
        level = gp.Array("level", dims="t")
        level[0] = gp.Normal(0, sigma=2)
        level[1:] = gp.Normal(level.lag("t", 1), sigma=step)
        gp.Normal("flow", level, sigma=noise, dims="t", observed=flow, **given)
    return model


def noises_differ(sampler):
    """Whether chains from pilot runs and from the prior find another noise."""
    found = [
        sampler.sample(400, warmup=400, seed=1, start=start, keep=["noise"], progress=False)
        for start in ("pilot", "prior")
    ]
    rows = [draws.summary()["noise"] for draws in found]
    error = np.hypot(*(row["mcse_mean"] for row in rows))
    return abs(rows[0]["mean"] - rows[1]["mean"]) > 4 * error


def test_noise_is_not_moved_to_where_levels_explain_all(monkeypatch):
    """Planted: it is moved, and all chains start where they stay, at next to none."""
    sampler = gp.compile(levels())
    assert not noises_differ(sampler)
    monkeypatch.setattr(pilot, "scales_of_saturated", lambda graph, data: set())
    assert noises_differ(sampler)


def test_observations_that_leave_a_rest_hold_their_noise_up():
    """By what is drawn around: none of known noise, of few latent numbers, of two kinds of data."""
    assert scales_of(levels()) == {"noise"}
    assert scales_of(rats.model(sd_prior="uniform")) == set()
    assert scales_of(eight_schools.model()) == set()
    with gp.Model(coords={"i": 4}) as twice:
        noise = gp.HalfNormal("noise", sigma=1)
        level = gp.Normal("level", 0, sigma=1, dims="i")
        gp.Normal("x", level, sigma=noise, dims="i", observed=np.ones(4))
        gp.Normal("y", 0, sigma=noise, dims="i", observed=np.ones(4))
    assert scales_of(twice) == set()
    with gp.Model(coords={"i": 4}) as waits:
        shape = gp.Gamma("shape", 2, rate=1)
        rate = gp.Gamma("rate", 2, rate=1, dims="i")
        gp.Gamma("x", shape, rate=shape * rate, dims="i", observed=np.ones(4))
    assert scales_of(waits) == {"shape"}


def test_elements_that_were_not_observed_need_no_explanation():
    """Four levels and five values of which one is missing; of none missing, some rest is left."""
    seen = np.ma.masked_array(np.ones(5), [0, 0, 0, 0, 1])
    for observed, expected in ((seen, {"noise"}), (np.ones(5), set())):
        with gp.Model(coords={"k": 4}) as model:
            noise = gp.HalfNormal("noise", sigma=1)
            level = gp.Normal("level", 0, sigma=1, dims="k")
            of = gp.Index("of", [0, 1, 2, 3, 3], of="k", dims="i")
            gp.Normal("x", level[of], sigma=noise, dims="i", observed=observed)
        assert scales_of(model) == expected


def scales_of(model):
    return saturation.scales_of_saturated(model.graph, model.data)


def test_candidates_that_are_no_start_do_not_agree():
    assert not says_no_more([-np.inf, -np.inf], 1.0)
    assert not says_no_more([-np.inf, -3.0], 1.0)
    assert says_no_more([-3.0], 1.0)


def test_without_pilot_runs_some_would():
    sampler = gp.compile(rats.model(sd_prior="uniform"))
    graph, data, *_ = parts(sampler)
    fits = []
    for seed in range(6):
        start, _ = initial_state(np.random.default_rng(seed), graph, data)
        fits += LogDensities(graph).of_observations(data, [start])

    assert min(fits) < -1000


def test_values_that_are_given_are_the_start():
    sampler = gp.compile(rats.model())
    init = {"mu_a": np.array(250.0)}
    start, notes = best_start(np.random.default_rng(1), *parts(sampler), init)

    assert start["mu_a"] == 250.0
    assert notes["mu_a"] == "given"


def test_same_stream_same_start():
    sampler = gp.compile(rats.model())
    one, other = (best_start(np.random.default_rng(5), *parts(sampler))[0] for _ in range(2))

    for name in one:
        np.testing.assert_array_equal(one[name], other[name])


def test_what_sweeps_keep_up_to_date_is_right_at_the_start():
    """Scales that are moved from one round to the next are read by the form that is kept."""
    rng = np.random.default_rng(1)
    with gp.Model(coords={"row": 8, "feature": 4}) as model:
        x = gp.Data("x", rng.normal(size=(8, 4)), dims=("row", "feature"))
        level = gp.Normal("level", 0, sigma=1, lower=-1, upper=1)
        w = gp.Normal("w", 0, sigma=1, dims="feature")
        y = rng.normal(size=8)
        gp.Normal("y", level + (x * w).sum("feature"), sigma=1, dims="row", observed=y)
    sampler = gp.compile(model, blocks={"w": "elements"})
    (anew,) = sampler.program.kept.values()
    for seed in range(10, 20):  # (in half of them such a move is what the start is chosen for)
        start, _ = best_start(np.random.default_rng(seed), *parts(sampler))
        for name, value in anew(start, sampler.constants).items():
            np.testing.assert_allclose(start[name], value, atol=RELATIVE_TOLERANCE)


def test_a_model_without_observations_starts_at_its_prior():
    with gp.Model() as model:
        gp.Normal("x", 0, sigma=1)
    sampler = gp.compile(model)
    rng, same = np.random.default_rng(2), np.random.default_rng(2)

    assert best_start(rng, *parts(sampler)) == initial_state(same, *parts(sampler)[:2])


def clusters(size=300):
    """Three components, four standard deviations apart: labels may divide them in other ways."""
    rng = np.random.default_rng(7)
    y = 4.0 * rng.choice(3, size=size, p=[1 / 6, 1 / 3, 1 / 2]) + rng.standard_normal(size)
    with gp.Model(coords={"value": size, "component": 3}, name="clusters") as model:
        weight = gp.Dirichlet("weight", 1, dims="component", event="component")
        tau = gp.Gamma("tau", 2, rate=1, dims="component")
        mu = gp.Normal("mu", 4, tau=0.05, dims="component")
        z = gp.Categorical("z", weight, dims="value", event="component")
        gp.Normal("y", mu[z], tau=tau[z], dims="value", observed=y)
    return gp.compile(model)


def astray(sampler):
    """The number of chains that do not hold the three components, of twenty."""
    run = {"warmup": 50, "chains": 20, "seed": 1, "progress": False, "backend": "numpy"}
    means = np.sort(sampler.sample(50, **run)["mu"].mean(axis=1), axis=1)
    return int((np.abs(means - [0, 4, 8]) > 1).any(axis=1).sum())


def test_components_are_not_divided_in_a_lesser_way(monkeypatch):
    sampler = clusters()
    assert astray(sampler) == 0
    monkeypatch.setattr(pilot, "OTHERS", 0)
    monkeypatch.setattr(pilot, "SWEEPS_OF_LABELS", pilot.SWEEPS)
    assert astray(sampler) > 0
