"""Labels along a chain, drawn together: the draw itself, and what is derived for it."""

from dataclasses import fields, replace
from itertools import product

import numpy as np
import pytest
from scipy import stats

import gibbsppl as gp
from gibbsppl import runtime
from gibbsppl.checks.enumeration import enumerate_sweep
from gibbsppl.checks.verification import verify
from gibbsppl.code.program import load
from gibbsppl.errors import CompileError, RunError
from gibbsppl.kernels.label_chains import ChainDraw
from gibbsppl.model.density import log_joint
from gibbsppl.runtime import filters, label_chains
from gibbsppl.schedule.densities import log_terms_of
from gibbsppl.schedule.staleness import check_fresh

NO_STEPS = np.zeros((2, 2, 0))

# The probability that a test of draws fails though they are right.
LEVEL = 1e-3

IMPOSSIBLE = -np.inf


def logs(values):
    with np.errstate(divide="ignore"):
        return np.log(np.asarray(values, float))


def some(seed, size, count):
    """Log weights and log transitions, without structure."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(size, count)), logs(rng.dirichlet(np.ones(size), size))


def by_position(seed, size, count):
    """Log transitions that differ from position to position, some of them impossible."""
    rng = np.random.default_rng(seed)
    found = rng.normal(size=(size, size, count - 1))
    found[0, 1, ::2] = IMPOSSIBLE
    return rng.normal(size=(size, count)), found


def one_label_each(size, count):
    weights = np.full((size, count), IMPOSSIBLE)
    weights[np.arange(count) % size, np.arange(count)] = -3.0
    return weights, some(1, size, count)[1]


def hopeless(weight, size, count):
    """All but one label next to impossible, a different one each time, but the way is barred."""
    weights = np.full((size, count), weight)
    weights[np.arange(count) % size, np.arange(count)] = 0.0
    barred = np.zeros((size, size))
    barred[np.arange(size), (np.arange(size) + 1) % size] = IMPOSSIBLE
    return weights, barred


SINGLE_PATH = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
LEFT_TO_RIGHT = np.array([[0.6, 0.4, 0.0], [0.0, 0.9, 0.1], [0.0, 0.0, 1.0]])

CASES = {
    "plain": some(1, 3, 5),
    "two labels": some(2, 2, 8),
    "one position": some(3, 4, 1),
    "two positions": some(4, 3, 2),
    "one label": some(5, 1, 6),
    "by position": by_position(6, 3, 5),
    "weights that underflow": (np.array([[0.0, -1e300, 0.0, -800.0], [-1e300, 0.0, -1e4, 0.0]]),
                               some(7, 2, 4)[1]),
    "transitions that underflow": (some(8, 2, 6)[0], np.array([[0.0, -900.0], [-1e300, 0.0]])),
    "one label each": one_label_each(3, 5),
    "a single path": (some(9, 3, 5)[0], logs(SINGLE_PATH)),
    "left to right": (some(10, 3, 5)[0], logs(LEFT_TO_RIGHT)),
    "next to impossible": hopeless(-1e300, 3, 5),
    "the worst only": hopeless(-750.0, 3, 5),
    "huge and tiny": (np.array([[1e300, 1e300, 0.0], [1e300, -1e300, -5.0]]), some(11, 2, 3)[1]),
}  # fmt: skip

# The ways to filter: as logs or products, whole or in blocks.
WAYS = ["as it comes", "in blocks", "as logs", "as logs, in blocks", "one by one"]


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    if "blocks" in request.param:
        monkeypatch.setattr(filters, "SHORTEST_IN_BLOCKS", 2)
    if "logs" in request.param:
        monkeypatch.setattr(label_chains, "products", lambda logs: None)
    if request.param == "one by one":
        monkeypatch.setattr(filters, "MOST_IN_BLOCKS", 0)
    return request.param


def exactly(log_weights, log_transitions):
    """All sequences of labels and their probabilities, by enumeration."""
    size, count = log_weights.shape
    log_weights = log_weights - log_weights.max(axis=0)
    paths = np.array(list(product(range(size), repeat=count)))
    total = log_weights[paths, np.arange(count)].sum(axis=1)
    for t in range(count - 1):
        pairs = log_transitions if log_transitions.ndim == 2 else log_transitions[..., t]
        total = total + pairs[paths[:, t], paths[:, t + 1]]
    weights = np.exp(total - total.max())
    return paths, weights / weights.sum()


def drawn_with(log_weights, log_transitions, paths):
    """The probabilities of sequences that the way forwards and back gives, multiplied up."""
    steps, filtered = label_chains._arranged("z", log_weights, log_transitions, 0, None).filtered()
    found = np.ones(len(paths))
    last = steps.linear(filtered[-1])[0]
    found *= (last / last.sum())[paths[:, -1]]
    for t in range(len(filtered) - 1):
        pairs = np.stack(steps.pairs(filtered[t], steps.after(t)))[:, 0]
        total = pairs.sum(axis=0)
        share = pairs / np.where(total > 0, total, 1.0)
        found *= share[paths[:, t], paths[:, t + 1]]
    return found


def rounding(size, count):
    """What is lost to sums of as many products as there are labels, at each place, both ways."""
    return 2 * np.finfo(float).eps * size * count


@pytest.mark.parametrize("case", CASES)
def test_sequences_have_their_exact_probabilities(case, way):
    paths, probabilities = exactly(*CASES[case])
    lost = rounding(*CASES[case][0].shape)
    np.testing.assert_allclose(drawn_with(*CASES[case], paths), probabilities, atol=lost)


@pytest.mark.parametrize("case", CASES)
def test_labels_have_their_exact_probabilities(case, way):
    paths, probabilities = exactly(*CASES[case])
    size = len(CASES[case][0])
    expected = [[probabilities[column == k].sum() for column in paths.T] for k in range(size)]
    found = runtime.smoothed(*CASES[case], name="z")
    np.testing.assert_allclose(found, expected, atol=rounding(*CASES[case][0].shape))


def far_from_exact(draw, case, draws=4000):
    """The p-value of the draws of many sequences at once, against the enumerated posterior."""
    log_weights, log_transitions = CASES[case]
    size, count = log_weights.shape
    many = np.repeat(log_weights[:, None], draws, axis=1)
    if log_transitions.ndim > 2:
        log_transitions = log_transitions[:, :, None]
    labels = draw(np.random.default_rng(1), many, log_transitions)
    assert labels.shape == (draws, count)
    paths, probabilities = exactly(*CASES[case])
    counts = np.bincount(labels @ size ** np.arange(count)[::-1], minlength=len(paths))
    assert not counts[probabilities == 0].any()
    common = draws * probabilities >= 5
    rare = ~common & (probabilities > 0)
    observed = [*counts[common], *([counts[rare].sum()] if rare.any() else [])]
    expected = [*probabilities[common], *([probabilities[rare].sum()] if rare.any() else [])]
    if len(observed) == 1:
        return 1.0
    return stats.chisquare(observed, draws * np.array(expected)).pvalue


def together(rng, log_weights, log_transitions):
    return runtime.chain(rng, log_weights, log_transitions, name="z", axis=1)


@pytest.mark.parametrize("case", ["plain", "two labels", "by position", "left to right"])
def test_draws_of_many_sequences_have_the_exact_frequencies(case, way):
    assert far_from_exact(together, case) > LEVEL / 20


def test_the_test_of_frequencies_sees_wrong_draws():
    def other_way_round(rng, log_weights, log_transitions):
        return runtime.chain(rng, log_weights, log_transitions.T, name="z", axis=1)

    def independent(rng, log_weights, log_transitions):
        flat = np.zeros_like(log_transitions)
        return runtime.chain(rng, log_weights, flat, name="z", axis=1)

    assert far_from_exact(other_way_round, "plain") < LEVEL
    assert far_from_exact(independent, "plain") < LEVEL


@pytest.mark.parametrize("case", ["plain", "two labels", "by position"])
def test_draws_of_one_sequence_at_a_time_have_the_exact_frequencies(case, way):
    def one_at_a_time(rng, many, log_transitions):
        pairs = log_transitions[:, :, 0] if log_transitions.ndim > 2 else log_transitions
        return np.array([runtime.chain(rng, w, pairs, name="z") for w in many.swapaxes(0, 1)])

    assert far_from_exact(one_at_a_time, case, draws=600) > LEVEL / 15


@pytest.mark.parametrize("form", ["dense", "zeros", "by position", "far apart"])
def test_long_sequences_are_the_same_in_blocks_and_as_logs(form, monkeypatch):
    size, count = 3, 500
    rng = np.random.default_rng(2)
    log_weights = rng.normal(size=(size, count)) * (300 if form == "far apart" else 2)
    transitions = rng.dirichlet(np.ones(size), size)
    if form == "zeros":
        transitions = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.3, 0.0, 0.7]])
    log_transitions = logs(transitions)
    if form == "by position":
        log_transitions = log_transitions[..., None] + rng.normal(size=(size, size, count - 1))

    def found():
        same = runtime.chain(np.random.default_rng(3), log_weights, log_transitions, name="z")
        return same, runtime.smoothed(log_weights, log_transitions, name="z")

    labels, shares = found()
    steps, _ = label_chains._arranged("z", log_weights, log_transitions, 0, None).filtered()
    assert not steps.logs
    monkeypatch.setattr(filters, "SHORTEST_IN_BLOCKS", 10**9)
    whole, whole_shares = found()
    monkeypatch.setattr(label_chains, "products", lambda logs: None)
    as_logs, logs_shares = found()

    assert (labels == whole).all()
    assert (labels == as_logs).all()
    # Logs as large as these lose as many digits as they have before the point.
    lost = rounding(size, count) * max(1.0, np.abs(log_weights).max())
    np.testing.assert_allclose(shares, whole_shares, atol=lost)
    np.testing.assert_allclose(shares, logs_shares, atol=lost)


def anything(rng):
    """Log weights and log transitions of any size and shape, some of them impossible."""
    size, count, sequences = rng.integers(1, 6), rng.integers(1, 200), rng.integers(1, 4)
    log_weights = rng.normal(size=(size, count, sequences)) * 10.0 ** rng.integers(-1, 4)
    log_transitions = rng.normal(size=(size, size)) * 10.0 ** rng.uniform(-1, 2.5)
    if rng.random() < 0.5:
        full = (size, size, count - 1, rng.choice([1, sequences]))
        log_transitions = log_transitions[:, :, None, None] + rng.normal(size=full)
    if rng.random() < 0.5:
        impossible = rng.random(log_transitions.shape) < 0.3
        log_transitions = np.where(impossible, IMPOSSIBLE, log_transitions)
    if rng.random() < 0.3:
        log_weights = np.where(rng.random(log_weights.shape) < 0.2, IMPOSSIBLE, log_weights)
    return log_weights, log_transitions


def test_products_and_logs_say_the_same_of_anything(monkeypatch):
    rng = np.random.default_rng(0)
    cases = [anything(rng) for _ in range(150)]

    def found(log_weights, log_transitions):
        try:
            return runtime.smoothed(log_weights, log_transitions, name="z"), ""
        except RunError as error:
            return np.zeros(0), str(error)

    as_they_come = [found(*case) for case in cases]
    monkeypatch.setattr(label_chains, "products", lambda logs: None)
    as_logs = [found(*case) for case in cases]
    assert [told for _, told in as_they_come] == [told for _, told in as_logs]
    assert {bool(told) for _, told in as_logs} == {True, False}
    for case, (one, _), (other, _) in zip(cases, as_they_come, as_logs, strict=True):
        # Logs lose the digits that they have before the point.
        largest = max(np.abs(x[np.isfinite(x)]).max(initial=1.0) for x in case)
        lost = rounding(*case[0].shape[:2]) * largest
        np.testing.assert_allclose(one, other, atol=lost)


def test_products_are_given_up_where_they_would_lose_a_way():
    # State 1 leads to 2 alone; 2 looks hopeless at first, and is all that is possible later.
    transitions = logs([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]])
    log_weights = np.zeros((3, 100))
    log_weights[2, :50], log_weights[:2, 60:] = -800.0, -1e5
    steps, _ = label_chains._arranged("z", log_weights, transitions, 0, None).filtered()
    assert steps.logs
    assert filters.products(filters.Filter(log_weights.T[:, None], transitions)) is not None

    labels = runtime.chain(np.random.default_rng(1), log_weights, transitions, name="z")
    assert (labels[60:] == 2).all()


@pytest.mark.parametrize("now", [[0, 0, 2, 0, 1], [0, 0, 2, 1, 1]])
def test_known_labels_stay_and_the_others_are_given_them(now):
    log_weights, log_transitions = CASES["plain"]
    known = np.array([False, False, True, False, True])
    place = {"name": "z", "now": np.array(now), "known": known}
    paths, probabilities = exactly(log_weights, log_transitions)
    agrees = (paths[:, known] == np.array(now)[known]).all(axis=1)
    expected = np.where(agrees, probabilities, 0.0) / probabilities[agrees].sum()

    shares = runtime.smoothed(log_weights, log_transitions, **place)
    mean = [[expected[column == k].sum() for column in paths.T] for k in range(3)]
    np.testing.assert_allclose(shares, mean, atol=rounding(*log_weights.shape))
    rng = np.random.default_rng(1)
    for _ in range(20):
        drawn = runtime.chain(rng, log_weights, log_transitions, **place)
        assert (drawn[known] == np.array(now)[known]).all()


def test_labels_may_start_anywhere_and_have_any_axis():
    log_weights, log_transitions = some(1, 2, 6)
    both = np.stack([log_weights, log_weights[:, ::-1]], axis=-1)
    labels = runtime.chain(
        np.random.default_rng(1), both, log_transitions, name="z", axis=0, lower=-3
    )
    assert labels.shape == (6, 2)
    assert set(np.unique(labels)) == {-3, -2}


def test_what_is_impossible_is_an_error_that_names_the_place():
    never = logs([[1.0, 0.0], [0.0, 1.0]])
    weights = logs([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    rng = np.random.default_rng(1)
    with pytest.raises(RunError, match=r"z: no labels are possible: up to z\[2\] every sequence"):
        runtime.chain(rng, weights, never, name="z")
    with pytest.raises(RunError, match=r"z: no labels are possible: up to z\[1\]"):
        runtime.chain(rng, np.zeros((2, 3)), np.full((2, 2), IMPOSSIBLE), name="z")
    both = np.stack([np.zeros((2, 4)), weights], axis=1)
    with pytest.raises(RunError, match=r"up to z\[1, 2\] every sequence"):
        runtime.chain(rng, both, never, name="z", axis=1)
    with pytest.raises(RunError, match=r"z\[1\]: all labels have probability zero"):
        runtime.chain(rng, logs([[1.0, 0.0], [1.0, 0.0]]), never, name="z")
    with pytest.raises(RunError, match=r"z\[0\]: .* or a weight is not a number"):
        runtime.chain(rng, np.array([[np.nan, 0.0], [0.0, 0.0]]), never, name="z")
    with pytest.raises(RunError, match="z: a transition is not a number"):
        runtime.chain(rng, np.zeros((2, 2)), np.array([[np.nan, 0.0], [0.0, 0.0]]), name="z")
    known = {"known": np.array([True, True]), "now": np.array([0, 1])}
    with pytest.raises(RunError, match=r"up to z\[1\] every sequence"):
        runtime.chain(rng, np.zeros((2, 2)), never, name="z", **known)


# Models

Y = (0.3, -0.5, 1.9, 1.0)
ROWS = ((0.7, 0.2, 0.1), (0.1, 0.6, 0.3), (0.3, 0.3, 0.4))
MEANS = (-1.0, 0.0, 2.0)


def markov(rows=ROWS, y=Y, observed=None, start=None):
    """States with known rows of probabilities, seen through noise."""
    size = len(rows)
    with gp.Model(coords={"t": len(y), "state": size}) as model:
        P = gp.Data("P", rows, dims=("state", "state'"))
        first = gp.Data("first", np.arange(1, size + 1) / sum(range(size + 1)), dims="state'")
        mean = gp.Data("mean", MEANS[:size], dims="state")
        z = gp.Array("z", dims="t", event="state", observed=observed)
        z[0] = gp.Categorical(first)
        to = P[z.lag("t", 1)]
        if start is not None:
            to = gp.where(gp.Data("start", start, dims="t"), first, to)
        z[1:] = gp.Categorical(to)
        gp.Normal("y", mean[z], tau=1, dims="t", observed=y)
    return model


def masked(values):
    return np.ma.masked_array([0 if v is None else v for v in values], [v is None for v in values])


def several_sequences():
    labels = np.ma.masked_array([[0, 0, 2], [1, 0, 0]], [[True, True, False], [False, True, True]])
    with gp.Model(coords={"sequence": 2, "t": 3, "state": 3}) as model:
        P = gp.Data("P", [[0.5, 0.5, 0], [0.2, 0.3, 0.5], [0, 0.1, 0.9]], dims=("state", "state'"))
        z = gp.Array("z", dims=("sequence", "t"), event="state", observed=labels)
        z[:, 0] = gp.Categorical(gp.Data("first", [0.2, 0.3, 0.5], dims="state"))
        z[:, 1:] = gp.Categorical(P[z.lag("t", 1)])
        mean = gp.Data("mean", MEANS, dims="state")
        seen = np.ma.masked_array([Y[:3], Y[1:]], [[False, True, False], [False, False, False]])
        gp.Normal("y", mean[z], tau=1, dims=("sequence", "t"), observed=seen)
    return model


def covariates():
    with gp.Model(coords={"t": 5}) as model:
        x = gp.Data("x", [0.0, 1.0, -0.5, 2.0, 0.3], dims="t")
        z = gp.Array("z", dims="t")
        z[0] = gp.Bernoulli(0.4)
        z[1:] = gp.Bernoulli(gp.expit(x + 2 * z.lag("t", 1) - 1))
        gp.Normal("y", 2 * z - 1, tau=1, dims="t", observed=(*Y, 0.2))
    return model


def switching():
    """The mean and the coefficient of an autoregression switch; the first state is known."""
    with gp.Model(coords={"t": 4, "state": 3}) as model:
        P = gp.Data("P", ROWS, dims=("state", "state'"))
        mean = gp.Data("mean", MEANS, dims="state")
        phi = gp.Data("phi", (0.5, 0, 1), dims="state")
        z = gp.Array("z", dims="t", event="state")
        z[0] = 1
        z[1:] = gp.Categorical(P[z.lag("t", 1)])
        y = gp.Array("y", dims="t", observed=Y)
        y[0] = gp.Normal(0, tau=1)
        before = y.lag("t", 1) - mean[z.lag("t", 1)]
        y[1:] = gp.Normal(mean[z] + phi[z] * before, tau=2)
    return model


def ising():
    with gp.Model(coords={"site": 6}) as model:
        field = gp.Data("field", [0.1, 0.2, -0.3, 0.4, 0.0, 0.6], dims="site")
        z = gp.Bernoulli("z", gp.expit(field), dims="site")
        gp.Potential("coupling", 0.7 * (2 * z - 1) * (2 * z.lag("site", 1) - 1))
    return model


def potts():
    with gp.Model(coords={"site": 4, "colour": 3}) as model:
        p = gp.Data("p", [0.2, 0.3, 0.5], dims="colour")
        z = gp.Categorical("z", p, dims="site", event="colour")
        gp.Potential("coupling", 0.7 * gp.equals(z, z.lag("site", 1)))
    return model


def columns():
    with gp.Model(coords={"a": 3, "b": 2}) as model:
        z = gp.DiscreteUniform("z", 2, 4, dims=("a", "b"))
        place = gp.Index("place", [0, 2, 2], of="a", dims="n")
        gp.Potential("coupling", 0.1 * z * z.lag("a", 1))
        gp.Normal("y", z.at("b", 0)[place], tau=1, dims="n", observed=(2.0, 3.5, 4.0))
    return model


def rising():
    with gp.Model(coords={"t": 5}) as model:
        z = gp.DiscreteUniform("z", 0, 2, dims="t")
        gp.Constraint("rising", z.lag("t", 1) <= z)
    return model


def two_chains():
    with gp.Model(coords={"t": 3, "state": 2}) as model:
        P = gp.Data("P", [[0.9, 0.1], [0.4, 0.6]], dims=("state", "state'"))
        labels = []
        for name in ("u", "v"):
            z = gp.Array(name, dims="t", event="state")
            z[0] = gp.Categorical(0.5)
            z[1:] = gp.Categorical(P[z.lag("t", 1)])
            labels.append(z)
        mean, shift = (gp.Data(n, [-1.0, 1.0], dims="state") for n in ("mean", "shift"))
        gp.Normal("y", mean[labels[0]] + 2 * shift[labels[1]], tau=1, dims="t", observed=Y[:3])
    return model


CHAINS = {
    "states": markov,
    "transitions that never happen": lambda: markov([[0.5, 0.5, 0], [0, 0.5, 0.5], [0, 0, 1]]),
    "labels partly known": lambda: markov(observed=masked([None, 2, None, None])),
    "one after another": lambda: markov(
        [[0.5, 0.5], [0, 1]], (*Y, 2.0, -1.0), start=[1, 0, 1, 0, 0, 1]
    ),
    "several sequences": several_sequences,
    "covariates": covariates,
    "switching": switching,
    "ising": ising,
    "potts": potts,
    "columns": columns,
    "rising": rising,
    "two chains": two_chains,
}  # fmt: skip


def enumerated(sampler, seed=1):
    start = sampler.initial_states(1, seed)[0][0].state
    return enumerate_sweep(
        sampler.graph, sampler.program, sampler.schedule.steps, sampler.data, start
    )


@pytest.fixture(scope="module")
def samplers():
    return {name: gp.compile(build()) for name, build in CHAINS.items()}


ENUMERABLE = [name for name in CHAINS if name != "several sequences"]


@pytest.mark.parametrize("name", CHAINS)
def test_labels_that_see_their_own_lag_are_drawn_together(name, samplers):
    steps = samplers[name].schedule.steps
    assert {s.kind for s in steps if s.name != "y"} == {"chain"}
    assert samplers[name].verify().proved
    axis = "a" if name == "columns" else "site" if name in ("ising", "potts") else "t"
    assert f"jointly along {axis}" in str(samplers[name])


@pytest.mark.parametrize("name", ENUMERABLE)
def test_a_sweep_leaves_the_posterior_of_a_chain_as_it_is(name, samplers):
    assert enumerated(samplers[name]).passed


@pytest.mark.parametrize("name", ENUMERABLE)
def test_probabilities_of_labels_are_those_of_the_posterior(name, samplers):
    sampler = samplers[name]
    if len(sampler.schedule.steps) > 1:
        pytest.skip("the conditional is given another chain")
    found = enumerated(sampler)
    draws = sampler.sample(draws=2, warmup=0, chains=1, seed=1, progress=False)
    shares = sampler.conditional_probabilities(draws, "z")["z"][0, 0]
    values = np.array([state["z"] for state in found.states])
    labels = range(int(values.min()), int(values.min()) + shares.shape[-1])
    expected = [np.tensordot(found.posterior, values == k, 1) for k in labels]
    lost = rounding(len(labels), values[0].size)
    np.testing.assert_allclose(shares, np.stack(expected, axis=-1), atol=lost)


def test_checks_see_planted_bugs():
    with gp.Model(coords={"t": 4, "state": 3}) as model:
        P = gp.Dirichlet("P", 1, dims=("state", "state'"), event="state'")
        first = gp.Dirichlet("first", 1, dims="state", event="state")
        mean = gp.Normal("mean", 0, tau=1, dims="state")
        z = gp.Array("z", dims="t", event="state")
        z[0] = gp.Categorical(first)
        z[1:] = gp.Categorical(P[z.lag("t", 1)])
        gp.Normal("y", mean[z], tau=1, dims="t", observed=Y)
    sampler = gp.compile(model)
    bugs = {
        "transitions the other way round": ("log(P)", "log(P).T"),
        "the first state left out": ("log_weights[:, 0] += log(first)", "pass"),
        "noise of another size": (")**2 / 2  # from y", ")**2  # from y"),
    }
    steps, graphs = sampler.schedule.steps, sampler.schedule.graphs
    for old, new in bugs.values():
        assert old in sampler.source
        wrong = load(sampler.source.replace(old, new, 1))
        rows = verify(sampler.graph, wrong, steps, sampler.data, graphs=graphs).rows
        assert {r.step for r in rows if not r.passed} >= {"z"}, old


def test_enumeration_sees_a_planted_bug():
    sampler = gp.compile(ising())
    steps = sampler.schedule.steps
    old = "1.4 * arange"
    assert old in sampler.source
    wrong = load(sampler.source.replace(old, "1.3 * arange", 1))
    start = {"z": np.zeros(6, dtype=int)}
    assert not enumerate_sweep(sampler.graph, wrong, steps, sampler.data, start).passed


def lattice():
    with gp.Model(coords={"a": 3, "b": 3}) as model:
        z = gp.Bernoulli("z", 0.3, dims=("a", "b"))
        gp.Potential("down", 0.7 * z * z.lag("a", 1))
        gp.Potential("right", 0.3 * z * z.lag("b", 1))
    return model


def second_order():
    with gp.Model(coords={"t": 5}) as model:
        z = gp.Bernoulli("z", 0.3, dims="t")
        gp.Potential("near", 0.7 * z * z.lag("t", 1))
        gp.Potential("far", 0.3 * z * z.lag("t", 2))
    return model


def three_at_once():
    with gp.Model(coords={"t": 5}) as model:
        z = gp.Bernoulli("z", 0.3, dims="t")
        gp.Potential("triple", 0.7 * z * z.lag("t", 1) * z.lag("t", 2))
    return model


def total_seen():
    with gp.Model(coords={"t": 5}) as model:
        z = gp.Bernoulli("z", 0.3, dims="t")
        gp.Potential("near", 0.7 * z * z.lag("t", 1))
        gp.Normal("y", z.sum("t"), tau=1, observed=2.0)
    return model


def sum_of_products():
    """A sum of products with a sum over the same dimension."""
    with gp.Model(coords={"a": 3, "b": 2}) as model:
        z = gp.DiscreteUniform("z", 0, 1, dims=("a", "b"))
        gp.Potential("coupling", 0.4 * z * z.lag("a", 1))
        gp.Potential("squared", 0.3 * (z * z.sum("b")).sum("b"))
    return model


OTHERWISE = [lattice, second_order, three_at_once, total_seen, sum_of_products]


@pytest.mark.parametrize("build", OTHERWISE)
def test_labels_tied_in_other_ways_are_left_as_they_are(build):
    sampler = gp.compile(build())
    assert {s.kind for s in sampler.schedule.steps} <= {"finite", "exact"}
    assert "jointly" not in str(sampler)
    assert enumerated(sampler).passed


def test_labels_are_drawn_one_by_one_where_that_is_asked_for():
    sampler = gp.compile(markov(), blocks={"z": "elements"})
    assert [s.name for s in sampler.schedule.steps] == ["z[1:]", "z[0]"]
    assert enumerated(sampler).passed


@pytest.mark.parametrize("name", ["P", "mean"])
def test_parameters_can_be_integrated_out_of_a_chain(name):
    with gp.Model(coords={"t": 5, "state": 2}) as model:
        P = gp.Dirichlet("P", 1, dims=("state", "state'"), event="state'")
        mean = gp.Normal("mean", 0, tau=1, dims="state")
        z = gp.Array("z", dims="t", event="state")
        z[0] = gp.Categorical(0.5)
        z[1:] = gp.Categorical(P[z.lag("t", 1)])
        gp.Normal("y", mean[z], tau=1, dims="t", observed=(*Y, 0.5))
    sampler = gp.compile(model, collapse=(name,))
    assert {s.kind for s in sampler.schedule.steps if "z" in s.variables} == {"scan"}
    assert sampler.verify().proved


class Again(ChainDraw):
    """One more draw of a chain, under a name of its own."""

    name = "z, again"


def test_a_schedule_knows_what_a_chain_reads():
    with gp.Model(coords={"t": 4, "state": 2}) as model:
        P = gp.Dirichlet("P", 1, dims=("state", "state'"), event="state'")
        z = gp.Array("z", dims="t", event="state")
        z[0] = gp.Categorical(0.5)
        z[1:] = gp.Categorical(P[z.lag("t", 1)])
        gp.Normal("y", 2 * z, tau=1, dims="t", observed=Y)
    schedule = gp.compile(model).schedule
    chain, rows = schedule.step("z"), schedule.step("P")
    # The same sweep, as if the rows were integrated out of one more draw before the chain's.
    without = replace(
        schedule.graph, statements=tuple(s for s in schedule.graph.statements if s.name != "P")
    )
    before = Again(*(getattr(chain, f.name) for f in fields(chain)))
    steps, graphs = (before, chain, rows), (without, schedule.graph, schedule.graph)
    with pytest.raises(CompileError, match="z: its draw reads P, which is stale"):
        check_fresh(replace(schedule, steps=steps, graphs=graphs))


def test_transitions_that_are_the_same_everywhere_are_one_table():
    sampler = gp.compile(markov())
    _, log_transitions = sampler.program.given_rest["z"](
        sampler.initial_states(1, 1)[0][0].state, sampler.constants
    )
    assert np.shape(log_transitions) == (3, 3)


def test_the_derivation_shows_both_functions_and_the_recursion():
    told = gp.compile(markov()).explain("z")
    assert "log(P[previous label, label])" in told
    assert "forward filtering, backward sampling" in told
    assert "runtime.chain(rng, *z_given_rest(s, c)" in told


def test_observed_labels_have_no_chain_to_be_drawn():
    sampler = gp.compile(markov(observed=masked([0, None, 1, None])))
    draws = sampler.sample(draws=50, warmup=0, chains=1, seed=1, progress=False)
    assert (draws["z"][..., [0, 2]] == [0, 1]).all()
    assert len(np.unique(draws["z"][..., 1])) > 1


def test_data_that_no_labels_can_have_are_named():
    sampler = gp.compile(markov([[1.0, 0.0], [0.0, 1.0]], observed=masked([0, None, 1, None])))
    with pytest.raises(RunError, match=r"^z\[1:\]: no start of .* impossible under"):
        sampler.sample(draws=5, warmup=0, chains=1, seed=1, progress=False)


def test_what_is_said_of_a_chain_is_the_joint_density_up_to_a_constant():
    sampler = gp.compile(ising())
    step = sampler.schedule.steps[0]
    given = sampler.program.given_rest["z"]({"z": np.zeros(6, dtype=int)}, sampler.constants)
    def gap(labels):
        values = {**sampler.data, "z": np.array(labels)}
        terms = log_terms_of(step, given, values, sampler.graph.sizes)
        return log_joint(sampler.graph, values) - terms.sum(), np.abs(terms).sum()

    every, sizes = np.transpose([gap(labels) for labels in product((0, 1), repeat=6)])
    lost = 2 * 6 * np.finfo(float).eps * (np.abs(every) + sizes).max()
    np.testing.assert_allclose(every, every[0], atol=lost)


@pytest.mark.parametrize("rates", [(0.5, 0.5), (0.2, 0.2)])
def test_labels_that_no_two_transitions_tell_apart_have_a_chain(rates):
    values = np.ma.masked_array([[0, 0, 0], [1, 1, 0]], mask=[[1, 1, 0], [0, 0, 1]])
    with gp.Model(coords={"i": 2, "t": 3}) as model:
        x = gp.Array("x", dims=("i", "t"), observed=values)
        x[:, 0] = gp.Bernoulli(p=0.8)
        x[:, 1:] = gp.Bernoulli(p=gp.where(x.lag("t", 1), *rates))
    sampler = gp.compile(model)
    draws = sampler.sample(draws=500, warmup=1, chains=1, seed=1, progress=False)

    assert sampler.verify().proved
    assert stats.binomtest(int(draws["x"][0, :, 1, 2].sum()), 500, rates[0]).pvalue > 1e-3


def test_a_matrix_that_a_chain_chooses_the_scales_of_is_read_whole():
    """The places of the transitions have a dim of their own, and the rows of the matrix another."""
    with gp.Model(coords={"j": 3, "t": 4}) as built:
        p = gp.Dirichlet("p", 2.0, dims=("j", "j'"), event="j'")
        z = gp.Array("z", dims="t", event="j")
        z[0] = gp.Categorical(gp.Data("first", [0.1, 0.6, 0.3], dims="j"))
        z[1:4] = gp.Categorical(p.at("j", z.lag("t", 1)))
        scale = p.at("j", z).at("j'", z)
        gp.HuangWand("s", nu=2.0, scale=scale, dims=("t", "t'"), event=("t", "t'"))
    sampler = gp.compile(built)

    assert [s.kind for s in sampler.schedule.steps if s.name == "z"] == ["chain"]
    assert sampler.verify().proved


def test_a_chain_of_one_label_has_no_transitions():
    rng = np.random.default_rng(1)
    with np.errstate(divide="ignore"):
        log_weights = np.log([[0.0, 1.0], [1.0, 0.0]])
        one = label_chains.chain(rng, log_weights[:, :1], NO_STEPS, name="z")
        two = label_chains.chain(rng, log_weights[:, None], NO_STEPS[..., None], name="z")

    assert one.tolist() == [1]
    assert two.tolist() == [[1, 0]]
