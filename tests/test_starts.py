"""A start is found for vague priors on the scale of an exponential, and for structural zeros."""

import numpy as np
import pytest
from vague_programs import PROGRAMS

import gibbsppl as gp
from gibbsppl.density import log_density, log_joint
from gibbsppl.errors import StartError
from gibbsppl.evaluation import largest_power
from gibbsppl.initial import LEAST, initial_state
from gibbsppl.pilot import ATTEMPTS, widest
from models.bugs import CASES, MORE

EVERY = {**CASES, **MORE}
CLASSIC = ("kidney", "salm", "orange", "schools", "biops")
QUICK = ("years", "biops")
SOME = ("salm_1", "biops")


def sampler_of(name, seed=1):
    text, simulated = PROGRAMS[name]
    data = simulated(np.random.default_rng(seed))
    return gp.compile(gp.read_bugs(text, data, name=name))


@pytest.mark.parametrize(
    "name", [n if n in CLASSIC else pytest.param(n, marks=pytest.mark.slow) for n in PROGRAMS]
)
def test_a_start_is_found_and_all_conditionals_hold_there(name):
    sampler = sampler_of(name)
    chains, _ = sampler.initial_states(2, seed=1)

    for chain in chains:
        assert np.isfinite(log_joint(sampler.schedule.whole, {**sampler.data, **chain.state}))
    assert sampler.verify(1).proved


@pytest.mark.parametrize(
    "name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in PROGRAMS]
)
def test_chains_go_on_from_there(name):
    draws = sampler_of(name).sample(100, warmup=100, chains=2, seed=3, progress=False)

    for variable in draws:
        assert np.isfinite(draws[variable]).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("seed", range(2, 6))
def test_whatever_the_data_and_the_seed(name, seed):
    sampler = sampler_of(name, seed)
    sampler.initial_states(2, seed=seed)

    assert sampler.verify(seed).proved


@pytest.mark.parametrize(
    "name", [n if n in SOME else pytest.param(n, marks=pytest.mark.slow) for n in EVERY]
)
def test_classic_examples_have_starts(name):
    case = EVERY[name]
    sampler = gp.compile(gp.read_bugs(case.model, case.data, name=name))
    chains, _ = sampler.initial_states(2, seed=2)

    for chain in chains:
        assert np.isfinite(log_joint(sampler.schedule.whole, {**sampler.data, **chain.state}))


def test_starts_are_where_no_density_is_zero_as_a_number_and_apart():
    sampler = sampler_of("years")
    graph, data = sampler.graph, sampler.data
    found = []
    for seed in range(8):
        state, _ = initial_state(np.random.default_rng(seed), graph, data)
        values = {**data, **state}
        assert min(log_density(f, values, graph.sizes).min() for f in graph.factors) > LEAST
        found.append([state["a"], state["b"]])

    assert (np.std(found, axis=0) > [0.1, 1e-5]).all()


def test_only_what_has_to_be_is_near_its_centre():
    """The coefficient of a covariate in the thousands; not the other."""
    with gp.Model() as model:
        year = gp.Data("year", [1990.0, 2000.0, 2010.0], dims="i")
        dose = gp.Data("dose", [-1.0, 0.0, 1.0], dims="i")
        a, b = gp.Normal("a", 0, tau=1e-6), gp.Normal("b", 0, tau=1e-6)
        gp.Poisson("y", gp.exp(a * year + b * dose), dims="i", observed=[2, 5, 3])
    starts = [
        initial_state(np.random.default_rng(s), model.graph, model.data)[0] for s in range(20)
    ]

    assert np.abs([s["a"] for s in starts]).max() < 0.1
    assert np.abs([s["b"] for s in starts]).max() > 0.3


def test_a_log_of_an_exponential_is_its_exponent():
    """Neither the rate nor its reciprocal is a number."""
    with gp.Model() as model:
        a = gp.Normal("a", 0, tau=1)
        gp.Poisson("y", 3 * gp.exp(a * 1000), observed=2)
    value = log_joint(model.graph, {**model.data, "a": -1.0})

    expected = 2 * (np.log(3) - 1000) - np.log(2) - 0.5 - 0.5 * np.log(2 * np.pi)
    assert value == pytest.approx(expected, rel=1e-14)


def test_the_largest_power_is_seen_inside_of_what_is_small():
    with gp.Model() as model:
        a = gp.Normal("a", 0, tau=1)
        gp.Normal("y", 1 / (1 + gp.exp(a)), tau=1, observed=0.5)
    (factor,) = (f for f in model.graph.factors if f.name == "y")
    at = [
        largest_power(factor.log_density, (), {**model.data, "a": v}, {}) for v in (0.0, 400, 800)
    ]

    assert at == [pytest.approx(1.0), pytest.approx(np.exp(400)), np.inf]


def test_attempts_have_less_and_less_spread():
    tried = []

    def attempt(spread, settle):
        tried.append((spread, settle))
        raise StartError("too far out")

    with pytest.raises(StartError, match="too far out"):
        widest(attempt)
    assert tried == list(ATTEMPTS)


def test_what_overflows_at_the_start_is_told_as_such():
    """The posterior is proper: it is where the chains would start that is not."""
    sampler = sampler_of("schools")

    with pytest.raises(StartError, match=r"values that were found for a start.*init="):
        sampler.initial_states(1, seed=1, init={"phi": 8.0, "theta": 0.0})


def test_a_bound_that_is_a_function_of_a_variable_is_moved_past_what_is_seen():
    """A potential, which has no order of draws, tells nothing of it."""
    with gp.Model(coords={"k": 2}) as model:
        x = gp.HalfCauchy("x", 1.0)
        y = gp.Pareto("y", shape=1.0, minimum=x / 2, observed=0.115)
        gp.Dirichlet(
            "shares", a=x * gp.Data("d", [1.68, 2.3], dims="k"), event="k", dims="k",
            observed=[0.9997, 0.0003],
        )  # fmt: skip
        gp.Potential("term", 2.3 * (1 - gp.exp(-y)))
    starts = [initial_state(np.random.default_rng(s), model.graph, model.data)[0] for s in range(5)]

    assert all(start["x"] / 2 < 0.115 for start in starts)


def bounded_by_a_sum():
    weights = gp.Data("weights", [[2.0, 1, 2, 1], [1, 1, 1, 1]], dims=("k", "i"))
    x = gp.Maxwell("x", tau=1.7, dims=("i", "k"))
    minimum = gp.sum(weights * x, "i") + 1
    gp.Pareto("y", shape=3.5, minimum=minimum, dims="k", observed=[1.2, 9.0])


def bounded_by_what_is_read_twice():
    x = gp.Beta("x", 1, 1, dims="k")
    gp.Pareto("y", shape=3.5, minimum=x**2 / (1 - x**2), dims="k", observed=[0.009, 1.2])


def bounded_by_a_sum_of_counts():
    n = gp.Poisson("n", 2, dims="i")
    gp.Binomial("y", n=gp.sum(n, "i") + 1, p=0.5, observed=31)


def bounded_by_a_sum_of_either_sign():
    x = gp.Normal("x", 0, sigma=1, dims="i")
    gp.Uniform("y", -1, gp.maximum(gp.sum(x, "i"), 0), observed=40.0)


@pytest.mark.parametrize(
    "declare",
    [
        bounded_by_a_sum, bounded_by_what_is_read_twice, bounded_by_a_sum_of_counts,
        bounded_by_a_sum_of_either_sign,
    ],
)  # fmt: skip
def test_what_is_observed_starts_between_its_bounds_whatever_they_read(declare):
    with gp.Model(coords={"i": 4, "k": 2}) as model:
        declare()
    for seed in range(3):
        start, _ = initial_state(np.random.default_rng(seed), model.graph, model.data)

        assert np.isfinite(log_joint(model.graph, {**model.data, **start}))


def test_what_the_user_gives_is_not_moved_to_where_the_data_allow_it():
    with gp.Model(coords={"i": 4, "k": 2}) as model:
        bounded_by_a_sum()

    with pytest.raises(StartError, match=r"found 1.2 at position k=0.*change the init of x"):
        initial_state(np.random.default_rng(1), model.graph, model.data, {"x": np.ones((4, 2))})
