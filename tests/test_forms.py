"""Every form of the zoo: derived as expected, proved, run; some compared with loops."""

import numpy as np
import pytest
from forms import FORMS, compiled, form_named
from forms.discrete import ising_pairs
from forms.form import words_of
from test_catalogue import ROWS

import gibbsppl as gp
from gibbsppl.checks.enumeration import enumerate_sweep
from gibbsppl.checks.geweke import geweke
from gibbsppl.initial.search import initial_state
from gibbsppl.schedule.deferral import arrays_read

NAMES = [f.name for f in FORMS]

# Of a line of the catalogue one spelling is proved and run each day, all of them by the slow tests:
# `test_catalogue` compares the parameters of each spelling with those stated.
SPELLED_AGAIN = {name for row in ROWS for name in list(row.forms)[1:]}
PROVED = [pytest.param(n, marks=pytest.mark.slow) if n in SPELLED_AGAIN else n for n in NAMES]


@pytest.fixture(scope="module", params=NAMES)
def name(request):
    """Each form in turn: all tests of one follow one another, in the process that compiled it."""
    return request.param


@pytest.fixture(scope="module")
def sampler(name):
    return compiled(name)


def test_names_of_forms_are_unique():
    assert len(set(NAMES)) == len(NAMES)


def test_the_steps_are_those_that_the_algebra_allows(sampler, name):
    assert words_of(sampler.schedule) == dict(form_named(name).steps)


class Told(dict):
    """A state that tells which of its arrays have been read."""

    def __init__(self, values):
        super().__init__(values)
        self.read = set()

    def __getitem__(self, name):
        self.read.add(name)
        return super().__getitem__(name)


def test_what_a_step_reads_is_known(sampler):
    rng = np.random.default_rng(3)
    start, _ = initial_state(rng, sampler.graph, sampler.data)
    sampler.program.augment(rng, start, sampler.constants)
    latent = {s.target.array.name for s in sampler.graph.latent}
    for step, known in zip(sampler.schedule.steps, arrays_read(sampler.schedule), strict=True):
        state = Told(start)
        sampler.program.given_rest[step.name](state, sampler.constants)

        assert state.read & latent <= known | set(sampler.schedule.drawn_by(step))


@pytest.mark.parametrize("name", PROVED, indirect=True, scope="module")
def test_every_conditional_agrees_with_the_joint_density(sampler):
    found = sampler.verify()

    assert found.passed, f"\n{found}"


@pytest.mark.parametrize("name", PROVED, indirect=True, scope="module")
def test_a_short_run_stays_inside_the_support(sampler):
    draws = sampler.sample(15, warmup=5, chains=2, seed=3, progress=False)
    latent = {s.target.array.name for s in sampler.graph.latent}

    assert latent <= set(draws.values)
    assert {n for n, v in draws.values.items() if not np.isfinite(v).all()} == set()


# ---- natural parameters against loops --------------------------------------------------------


def given(name, step, seed=5):
    """The natural parameters that a step computes, with the state and the data that it saw."""
    sampler = form_named(name).compiled()
    rng = np.random.default_rng(seed)
    state, _ = initial_state(rng, sampler.graph, sampler.data)
    eta = sampler.program.given_rest[step](dict(state), sampler.program.prepare(sampler.data))
    return eta, {**sampler.data, **state}


def test_gathered_means_sum_over_the_rows_of_each_group():
    eta, v = given("long_table", "b")
    expected_1, expected_2 = np.zeros(5), np.full(5, -0.05)
    for n, g in enumerate(v["group"]):
        expected_1[g] += v["tau"] * v["x"][n] * (v["y"][n] - v["a"][g])
        expected_2[g] -= v["tau"] * v["x"][n] ** 2 / 2

    np.testing.assert_allclose(eta[0], expected_1, rtol=1e-12)
    np.testing.assert_allclose(eta[1], expected_2, rtol=1e-12)


def test_a_group_without_data_keeps_its_prior():
    (eta_1, eta_2), _ = given("group_without_data", "theta")

    assert (eta_1[2], eta_2[2]) == (2.0, -1.0)


def test_nested_indices_reach_the_outer_group():
    eta, v = given("nested", "shift")
    expected_1, expected_2 = np.zeros(2), np.full(2, -0.5)
    for n, school in enumerate(v["school_of"]):
        region = v["region_of"][school]
        expected_1[region] += 2 * (v["y"][n] - v["theta"][school])
        expected_2[region] -= 1

    np.testing.assert_allclose(eta[0], expected_1, rtol=1e-12)
    np.testing.assert_allclose(eta[1], expected_2, rtol=1e-12)


def test_rows_of_a_factorisation_sum_outer_products():
    (eta_1, eta_2), v = given("factorisation", "U")
    expected_1, expected_2 = np.zeros((6, 2)), np.zeros((6, 2, 2)) - np.eye(2) / 2
    for n, (i, j) in enumerate(zip(v["user_of"], v["item_of"], strict=True)):
        expected_1[i] += 2 * v["r"][n] * v["V"][j]
        expected_2[i] -= np.outer(v["V"][j], v["V"][j])

    np.testing.assert_allclose(eta_1, expected_1, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(eta_2, expected_2, rtol=1e-12, atol=1e-12)


def test_topics_count_their_words():
    (eta,), v = given("topics", "phi")
    expected = np.full((2, 5), -0.5)
    for z, word in zip(np.asarray(v["z"], int), v["word"], strict=True):
        expected[z, word] += 1

    np.testing.assert_allclose(eta, expected, rtol=1e-12)


def test_topics_weigh_a_label_by_document_and_word():
    weights, v = given("topics", "z")
    expected = np.empty((2, 24))
    for n in range(24):
        for k in range(2):
            expected[k, n] = np.log(v["theta"][v["doc_of"][n], k]) + np.log(
                v["phi"][k, v["word"][n]]
            )

    found = np.asarray(weights)
    np.testing.assert_allclose(found - found[0], expected - expected[0], rtol=1e-9, atol=1e-12)


def test_the_joint_draw_of_a_running_sum_holds_every_pair_of_steps():
    (eta_1, eta_2), v = given("running_sum", "step")
    size = len(v["y"])
    summed = np.tril(np.ones((size, size)))

    np.testing.assert_allclose(eta_1, 4 * summed.T @ v["y"], rtol=1e-12)
    np.testing.assert_allclose(
        eta_2, -2 * summed.T @ summed - v["tau"] / 2 * np.eye(size), rtol=1e-12
    )


# ---- small discrete models by their transition matrix ----------------------------------------


def potts_ring():
    with gp.Model(coords={"site": 4, "colour": 3}) as m:
        flat = gp.Data("flat", [0.2, 0.3, 0.5], dims="colour")
        other = gp.Index("other", [1, 2, 3, 0], of="site", dims="site")
        z = gp.Categorical("z", flat, dims="site", event="colour")
        gp.Potential("same", 0.7 * gp.equals(z, z[other]))
    return m


def hidden_states():
    with gp.Model(coords={"t": 4, "state": 3}) as m:
        P = gp.Data(
            "P", [[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.3, 0.3, 0.4]], dims=("state", "state'")
        )
        first = gp.Data("first", [0.2, 0.3, 0.5], dims="state")
        mean = gp.Data("mean", [-1.0, 0.0, 2.0], dims="state")
        z = gp.Array("z", dims="t", event="state")
        z[0] = gp.Categorical(first)
        z[1:] = gp.Categorical(P[z.lag("t", 1)])
        gp.Normal("y", mean[z], tau=1, dims="t", observed=[0.3, -0.5, 1.9, 1.0])
    return m


def labels_of_labels():
    with gp.Model(coords={"a": 2, "b": 3, "n": 2}) as m:
        w = gp.Data("w", [0.4, 0.6], dims="a")
        P = gp.Data("P", [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]], dims=("a", "b"))
        mean = gp.Data("mean", [-1.0, 0.0, 2.0], dims="b")
        u = gp.Categorical("u", w, dims="n")
        v = gp.Categorical("v", P[u], dims="n", event="b")
        gp.Normal("y", mean[v], tau=1, dims="n", observed=[0.3, -0.5])
    return m


def gates_in_a_sum():
    with gp.Model(coords={"p": 3, "n": 2}) as m:
        design = gp.Data("X", [[1.0, -0.5, 0.3], [0.2, 0.7, -1.0]], dims=("n", "p"))
        gate = gp.Bernoulli("gate", 0.4, dims="p")
        gp.Normal("y", design @ gate, tau=2, dims="n", observed=[0.8, -0.3])
    return m


def counts_of_three():
    with gp.Model(coords={"n": 2}) as m:
        k = gp.Binomial("k", 3, 0.4, dims="n")
        gp.Poisson("y", rate=k + 0.5, dims="n", observed=[2, 0])
    return m


SMALL = (ising_pairs, potts_ring, hidden_states, labels_of_labels, gates_in_a_sum, counts_of_three)


@pytest.mark.parametrize("build", SMALL, ids=lambda f: f.__name__)
def test_a_sweep_of_labels_leaves_the_exact_posterior_invariant(build):
    sampler = gp.compile(build())
    start, _ = initial_state(np.random.default_rng(1), sampler.graph, sampler.data)
    found = enumerate_sweep(
        sampler.graph, sampler.program, sampler.schedule.steps, sampler.data, start
    )

    assert found.passed, str(found)
    assert not np.allclose(found.transition, np.eye(len(found.states)))


# ---- whole sweeps by simulation --------------------------------------------------------------

QUICK = ("group_without_data", "small_binomial", "gates")
SLOW = (
    "unknown_shape", "mixture", "random_walk", "hidden_markov", "wishart", "regression",
    "factorisation", "missing_in_a_table", "unknown_counts", "beta_hierarchy", "running_sum",
    "volatility", "truncated_prior",
)  # fmt: skip


def passes_geweke(name, replicates):
    sampler = form_named(name).compiled()
    rng = np.random.default_rng(11)
    return geweke(
        rng, sampler.graph, sampler.data, sampler.program, replicates=replicates, sweeps=2
    )


@pytest.mark.parametrize("name", QUICK)
def test_sweeps_leave_the_joint_distribution_as_it_is(name):
    found = passes_geweke(name, 300)

    assert found.passed, f"\n{found}"


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_sweeps_of_larger_forms_leave_the_joint_distribution_as_it_is(name):
    found = passes_geweke(name, 1000)

    assert found.passed, f"\n{found}"
