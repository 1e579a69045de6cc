"""A start is found for vague priors on the scale of an exponential, and for structural zeros."""

import numpy as np
import pytest
from numpy.ma import masked_array
from scipy import stats
from scipy.sparse import coo_array
from vague_programs import PROGRAMS

import gibbsppl as gp
from gibbsppl.errors import StartError
from gibbsppl.initial import pilot, polyhedra, requirements
from gibbsppl.initial.feasible import free_in
from gibbsppl.initial.nearing import brought_nearer
from gibbsppl.initial.pilot import ATTEMPTS, widest
from gibbsppl.initial.polyhedra import inside_linear
from gibbsppl.initial.requirements import outside, requirements_of
from gibbsppl.initial.search import LEAST, data_scale, initial_state
from gibbsppl.initial.unitless import only_for, unitless_scales
from gibbsppl.model.density import log_density, log_joint
from gibbsppl.model.evaluation import largest_power
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
@pytest.mark.parametrize("seed", [*range(2, 6), 11])
def test_whatever_the_data_and_the_seed(name, seed):
    sampler = sampler_of(name, seed)
    sampler.initial_states(2, seed=seed)

    for again in range(seed, seed + 5):
        assert sampler.verify(again).proved, again


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


def bounded_by_missing_counts():
    counts = masked_array([0, 0, 19, 1], mask=[True, True, False, False])
    y = gp.NegativeBinomial("y", n=0.1, p=0.9, dims="i", observed=counts)
    gp.Hypergeometric("z", N=12, D=gp.minimum(y, 12), n=4, dims="i", observed=[4, 3, 4, 0])


def bounded_by_a_sum_of_missing_values():
    values = masked_array([0.6, 0, -0.4, -0.2], mask=[False, True, False, False])
    y = gp.StudentT("y", nu=3, mu=0.3, sigma=0.1, dims="i", observed=values)
    width = gp.exp(gp.cumsum(y, "i"))
    gp.Uniform("z", -width, width, dims="i", observed=[1.7, -15, -2.4, 1.2])


@pytest.mark.parametrize(
    "declare",
    [
        bounded_by_a_sum, bounded_by_what_is_read_twice, bounded_by_a_sum_of_counts,
        bounded_by_a_sum_of_either_sign, bounded_by_missing_counts,
        bounded_by_a_sum_of_missing_values,
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


def test_what_is_observed_is_not_moved_where_it_bounds_something():
    with gp.Model(coords={"i": 2}) as model:
        values = masked_array([1.0, 0], mask=[False, True])
        y = gp.Gamma("y", shape=2, rate=1, dims="i", observed=values)
        gp.Uniform("z", 0, y, dims="i", observed=[2.0, 3.0])

    with pytest.raises(StartError, match=r"found 2 at position i=0, .* = \(0, 1\)"):
        initial_state(np.random.default_rng(1), model.graph, model.data)


def bounded_along_a_chain():
    a = gp.Uniform("a", 0, 1)
    b = gp.Uniform("b", a, 2 * a)
    c = gp.Uniform("c", b, a + b)
    gp.Uniform("y", 0, a * b * c, observed=4.0)


def bounded_by_elements_before():
    x = gp.Array("x", dims="i")
    x[0] = gp.Exponential(rate=1)
    x[1:] = gp.Uniform(0, 2 * x.lag("i", 1))
    gp.Uniform("y", 0, x**2, dims="i", observed=[1.0, 80, 20, 700])


def thinned_twice():
    n = gp.Poisson("n", 3, dims="i")
    left = gp.Binomial("left", n=n, p=0.5, dims="i")
    gp.Binomial("y", n=left, p=0.5, dims="i", observed=[30, 0, 400, 7])


def totals_of_counts():
    n, m = gp.Poisson("n", 2, dims="i"), gp.Poisson("m", 2, dims="i")
    seen = [[3, 9], [10, 0], [1, 1], [0, 4]]
    p = gp.Data("p", [0.2, 0.8], dims="k")
    gp.Multinomial("y", n=n + m, p=p, dims=("i", "k"), event="k", observed=seen)


def shares_above_what_is_seen():
    w = gp.Dirichlet("w", a=1, dims="i", event="i")
    gp.Uniform("y", 0, w, dims="i", observed=[0.6, 0.2, 0.05, 0.05])


def parameters_undefined_at_zero():
    a, b = gp.Normal("a", 0, sigma=1, dims="i"), gp.Normal("b", 1, sigma=1)
    gp.Normal("y", gp.sqrt(a - b), tau=gp.log(a), dims="i", observed=[1.0, 2, 3, 4])


def probabilities_that_are_linear():
    slopes = gp.Normal("slopes", 0, sigma=1, dims="k")
    d = gp.Data("d", [[1, -3.0], [1, 3], [1, 0], [1, 1]], dims=("i", "k"))
    gp.Binomial("y", n=5, p=gp.sum(d * slopes, "k"), dims="i", observed=[1, 4, 2, 0])


def impossible_before_a_change():
    change, time = gp.Normal("change", 0, sigma=1), gp.Data("time", range(4), dims="i")
    gp.Poisson("y", gp.where(time > change, 0.0, 3.0), dims="i", observed=[1, 2, 3, 0])


def windows_by_label():
    theta = gp.Normal("theta", 0, sigma=1, dims="k")
    p = gp.Data("p", [0.5, 0.5], dims="k")
    at = theta.at("k", gp.Categorical("z", p=p, dims="i", event="k"))
    gp.Uniform("y", at - 1, at + 1, dims="i", observed=[1.0, 20, 1.5, 20.5])


def held_by_potentials():
    x = gp.Normal("x", 0, sigma=1, dims="i")
    gp.Potential("far", gp.log((gp.sum(x, "i") > 30) * (x.at("i", 0) * x.at("i", 1) <= -5)))


def counts_of_which_few_are_stored():
    beta = gp.Gamma("beta", 1, rate=1, dims="i")
    theta = gp.Gamma("theta", 1, rate=1, dims="k")
    gp.Constraint("apart", theta.at("k", 0) + 3 < theta.at("k", 1))
    counts = coo_array(([1, 2], ([2, 3], [0, 1])), shape=(4, 2))
    gp.Poisson("y", beta * theta, dims=("i", "k"), observed=counts)


def at_one_level(declare):
    """A model of which not all requirements are met where all elements are alike."""
    with gp.Model(coords={"i": 4, "k": 2}) as model:
        declare()
    graph = model.graph
    drawn = [graph.variables[n] for n in graph.drawn]
    level = {v.name: 0.0 if v.integer else 0.25 for v in drawn}
    shapes = {v.name: tuple(graph.sizes[d] for d in v.dims) for v in drawn}
    return graph, {**model.data, **{n: np.full(shapes[n], level[n]) for n in shapes}}


ALL_AMISS = (
    *(bounded_along_a_chain, bounded_by_elements_before, thinned_twice, totals_of_counts),
    *(shares_above_what_is_seen, parameters_undefined_at_zero, probabilities_that_are_linear),
    *(impossible_before_a_change, windows_by_label, held_by_potentials),
    counts_of_which_few_are_stored,
)


@pytest.mark.parametrize("declare", ALL_AMISS)
def test_what_is_tried_together_is_as_amiss_as_each_alone(declare):
    graph, values = at_one_level(declare)
    required, name = requirements_of(graph), graph.drawn[0]
    tried = np.stack([values[name] + add for add in (0, 1, 2)])
    found = requirements._amiss(graph, required, values, {name: tried})

    for k, one in enumerate(tried):
        far = [(r, outside(graph, r, {**values, name: one})) for r in required]
        gaps = np.concatenate([f.ravel() for r, f in far if r.gap is not None] or [np.zeros(1)])
        assert found[0, k] == np.isinf(gaps).sum()
        assert found[1, k] == pytest.approx(np.linalg.norm(gaps[np.isfinite(gaps)]))
        assert found[2, k] == sum(f.sum() for r, f in far if r.gap is None)


@pytest.mark.parametrize("declare", ALL_AMISS)
def test_a_search_finds_where_all_requirements_are_met(declare):
    (graph, values), rng = at_one_level(declare), np.random.default_rng(1)
    free = free_in(graph, values, {})

    found = brought_nearer(graph, requirements_of(graph), values, free, rng)

    assert log_joint(graph, values) == -np.inf
    assert np.isfinite(log_joint(graph, found))


def unit_vectors_with_a_large_entry():
    mu = gp.Data("mu", [0.0, 0, 0, 1], dims="i")
    u = gp.VonMisesFisher("u", mu=mu, kappa=30.0, dims=("k", "i"), event="i")
    gp.Uniform("y", 0, gp.exp(u.at("i", 0)), dims="k", observed=[2.6, 0.1])


def matrices_with_a_large_variance():
    scale = gp.Data("scale", np.eye(4), dims=("i", "i'"))
    s = gp.Wishart("s", 10, V=scale, dims=("k", "i", "i'"), event=("i", "i'"))
    gp.Uniform("y", 0, s.at("i", 1).at("i'", 1), dims="k", observed=[400.0, 0.001])


@pytest.mark.parametrize(
    "declare", [unit_vectors_with_a_large_entry, matrices_with_a_large_variance]
)
def test_values_whose_entries_are_tied_are_moved_as_they_can_be(declare):
    with gp.Model(coords={"i": 4, "k": 2}) as model:
        declare()
    sampler = gp.compile(model)

    for seed in range(3):
        (chain,), _ = sampler.initial_states(1, seed=seed)
        assert np.isfinite(log_joint(sampler.graph, {**sampler.data, **chain.state}))
    assert sampler.verify().passed


def test_a_start_is_searched_for_where_no_attempt_has_one():
    with gp.Model(coords={"i": 4}) as model:
        impossible_before_a_change()
    first, again = (
        initial_state(np.random.default_rng(3), model.graph, model.data)[0] for _ in range(2)
    )

    assert np.isfinite(log_joint(model.graph, {**model.data, **first}))
    assert all((first[n] == again[n]).all() for n in first)


def in_order():
    x = gp.Normal("x", 0, sigma=1, dims="many")
    gp.Potential("rising", gp.log(x.lag("many", 1) < x))


def phases():
    """Each phase has an end after its start, before the start of the next; events are inside."""
    start, end = (gp.Uniform(n, 0, 1e4, dims="k") for n in ("start", "end"))
    gp.Potential("long", gp.log(start < end))
    gp.Potential("after", gp.log(gp.maximum(end.lag("k", 1), 3.0) < start))
    phase = gp.Index("phase", [0, 0, 1, 1], of="k", dims="i")
    event = gp.Uniform("event", start.at("k", phase), end.at("k", phase), dims="i")
    gp.Normal("y", event, sigma=1.0, dims="i", observed=[90.0, 95.0, 30.0, 31.0])


def between_two_sums():
    x = gp.Uniform("x", 0, 1, dims="many")
    gp.Potential("sum", gp.log((gp.sum(x, "many") > 99.9) * (gp.sum(x, "many") < 99.95)))


def the_smaller_of_two():
    x, y = gp.Normal("x", 0, sigma=1), gp.Normal("y", 0, sigma=1)
    gp.Potential("least", gp.log(gp.minimum(x + y, 2 * x) > 40.0))


@pytest.mark.parametrize("declare", [in_order, phases, between_two_sums, the_smaller_of_two])
@pytest.mark.parametrize("seed", range(3))
def test_linear_requirements_are_met_at_once(declare, seed):
    with gp.Model(coords={"many": 100, "k": 2, "i": 4}) as model:
        declare()
    start, _ = initial_state(np.random.default_rng(seed), model.graph, model.data)

    assert np.isfinite(log_joint(model.graph, {**model.data, **start}))


def linear(declare, **init):
    with gp.Model(coords={"many": 5, "k": 2, "i": 4}) as model:
        declare()
    graph = model.graph
    values = {**model.data, **{n: np.asarray(v, dtype=float) for n, v in init.items()}}
    free = {n: np.ones(np.shape(values[n]), dtype=bool) for n in init}
    return graph, values, free


def test_values_that_meet_all_with_room_stay_and_what_is_not_free_does():
    graph, values, free = linear(in_order, x=[0.0, 1.0, 2.0, 3.0, 4.0])
    found = inside_linear(graph, requirements_of(graph), values, free)
    np.testing.assert_allclose(found["x"], values["x"], atol=1e-9)
    graph, values, free = linear(in_order, x=[0.0, 9.0, 2.0, 3.0, -4.0])
    free["x"][1] = False
    found = inside_linear(graph, requirements_of(graph), values, free)
    assert found["x"][:2].tolist() == [0.0, 9.0]
    assert (np.diff(found["x"]) > 0.5).all()


@pytest.mark.parametrize("scale", [1e-300, 1e-8, 1e8, 1e300])
def test_the_scale_of_values_does_not_matter(scale):
    x = scale * np.array([4.0, 1.0, 2.0, 1.5, -4.0])
    graph, values, free = linear(in_order, x=x)
    found = inside_linear(graph, requirements_of(graph), values, free)
    assert (np.diff(found["x"]) > scale / 10).all()


def test_what_is_given_out_of_order_does_not_stop_the_rest():
    graph, values, free = linear(in_order, x=[5.0, 4.0, 2.0, 3.0, 0.0])
    free["x"][:2] = False
    found = inside_linear(graph, requirements_of(graph), values, free)
    assert (np.diff(found["x"])[1:] > 0).all()


def test_what_is_impossible_stays():
    graph, values, free = linear(in_order, x=[0.0, 9.0, 2.0, 3.0, -4.0])
    free["x"][[1, 3]] = False
    assert inside_linear(graph, requirements_of(graph), values, free) is values


def test_a_gap_taken_with_the_wrong_sign_is_seen(monkeypatch):
    entries = polyhedra._entries
    monkeypatch.setattr(
        polyhedra, "_entries", lambda *given: (*entries(*given)[:2], -entries(*given)[2])
    )
    graph, values, free = linear(in_order, x=[4.0, 3.0, 2.0, 1.0, 0.0])
    found = inside_linear(graph, requirements_of(graph), values, free)
    assert not (np.diff(found["x"]) > 0).all()


def test_what_the_user_gives_is_not_moved_by_a_search():
    with gp.Model(coords={"i": 4}) as model:
        x = gp.Normal("x", 0, sigma=1, dims="i")
        gp.Uniform("y", 0, gp.sum(x, "i"), observed=100.0)
    init = {"x": np.array([1.0, 2.0, np.nan, np.nan])}
    start, _ = initial_state(np.random.default_rng(1), model.graph, model.data, init)

    np.testing.assert_array_equal(start["x"][:2], [1.0, 2.0])
    assert start["x"].sum() >= 100


def frailty():
    """Times of about a hundred, a covariate of about fifty, and an effect of each pair."""
    rng = np.random.default_rng(4)
    age, pair = rng.uniform(20, 80, size=(12, 2)), np.arange(12)
    with gp.Model(coords={"i": 12, "j": 2}) as model:
        x = gp.Data("x", age, dims=("i", "j"))
        a, b = gp.Normal("a", 0, tau=1e-4), gp.Normal("b", 0, tau=1e-4)
        tau = gp.Gamma("tau", shape=1e-3, rate=1e-3)
        u = gp.Normal("u", 0, tau=tau, dims="i")
        rate = gp.exp(a + b * x + u)
        times = 100 * rng.weibull(1.2, size=(12, 2)) * np.exp(0.3 * np.sin(pair))[:, None]
        gp.Weibull("y", shape=gp.Gamma("r", shape=1, rate=1e-3), rate=rate, dims=("i", "j"),
                   observed=times)  # fmt: skip
    return gp.compile(model)


def test_exponents_start_on_a_scale_of_one_and_coefficients_on_that_of_their_covariates():
    sampler = frailty()
    graph, data = sampler.graph, sampler.data
    scales = unitless_scales(graph, data)
    size = np.sqrt(np.mean(data["x"] ** 2))

    assert data_scale(graph, data) > 50
    assert scales == {"a": 1.0, "u": 1.0, "tau": 1.0, "b": pytest.approx(1 / size, rel=1e-12)}
    starts = [initial_state(np.random.default_rng(s), graph, data)[0] for s in range(50)]
    for name, scale in (("a", 1.0), ("b", 1 / size)):
        found = np.array([s[name] for s in starts]) / scale
        assert stats.kstest(found, stats.norm.cdf).pvalue > 1e-3


@pytest.mark.parametrize(
    ("values", "size"),
    [([2e200, -2e200, 2e200], 2e200), ([0.0, 0, 0], 1.0), ([1e-300, 1e-300, 1e-300], 1.0)],
)
def test_the_scale_of_a_coefficient_of_extreme_covariates(values, size):
    with gp.Model(coords={"i": 3}) as model:
        b = gp.Normal("b", 0, tau=1e-4)
        gp.Poisson("y", gp.exp(b * gp.Data("x", values, dims="i")), dims="i", observed=[1, 2, 0])

    assert unitless_scales(model.graph, model.data) == {"b": pytest.approx(1 / size, rel=1e-15)}


def test_scales_of_exponents_are_not_moved_by_orders_of_magnitude():
    """Effects that spread widely take up all that is observed: such a start would seem the best."""
    sampler = frailty()
    moved = {s.name for s in pilot._moved(sampler.graph, sampler.data)}

    assert "r" in moved
    assert "tau" not in moved


def a_map(limit):
    """Counts of regions, with an intercept between two limits and effects tied to neighbours'."""
    with gp.Model(coords={"region": 5}) as model:
        level = gp.Uniform("level", -limit, limit)
        tau = gp.Gamma("tau", 0.5, rate=0.0005)
        effect = gp.Normal("effect", 0, sigma=3, dims="region")
        gp.Potential("near", -tau * (effect - effect.lag("region", 1)) ** 2 / 2)
        gp.Poisson("n", gp.exp(level + effect), dims="region", observed=[0, 3, 4, 2, 0])
    return model


def test_exponents_between_far_limits_start_where_they_would_without():
    """From the ends of a range of logs, sweeps take up all that is observed, and do not return."""
    made = gp.compile(a_map(100))
    levels = [c.state["level"] for seed in range(8) for c in made.initial_states(4, seed=seed)[0]]
    assert max(map(abs, levels)) < 10

    assert "level" not in [s.name for s in pilot._moved(made.graph, made.data)]


def test_scales_of_what_is_tied_to_neighbours_are_those_of_exponents():
    graph = gp.compile(a_map(100)).graph
    assert only_for(graph, "tau", {"effect"})
    assert not only_for(graph, "tau", {"level"})


def test_what_is_read_as_an_exponent_and_elsewhere_has_the_unit_that_it_has_there():
    with gp.Model(coords={"i": 3}) as model:
        a, b = gp.Normal("a", 0, tau=1e-4), gp.Normal("b", 0, tau=1e-4)
        c = gp.Normal("c", b, sigma=2)
        gp.Normal("y", a, tau=gp.exp(a + c), dims="i", observed=[100.0, 120.0, 90.0])

    assert unitless_scales(model.graph, model.data) == {"b": 1.0, "c": 1.0}
