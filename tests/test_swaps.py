"""Swaps of labels: proposals, exact matrices, loops, and what they are for."""

from itertools import product

import numpy as np
import pytest
from replays import beside
from scipy import stats
from test_loops_of_models import started

import gibbsppl as gp
from gibbsppl.errors import CompileError, RunError
from gibbsppl.runtime import swaps, walks
from gibbsppl.runtime.loops import swaps as swaps_in_loops
from models import spike_and_slab

LEVEL = 1e-6
ROWS, COLUMNS = 9, 4
RNG = np.random.default_rng(3)
X = RNG.normal(size=(ROWS, COLUMNS))
X[:, 1] = X[:, 0] + 0.01 * X[:, 1]  # (two columns that are nearly alike)
Y = 1.5 * X[:, 0] + 0.3 * RNG.normal(size=ROWS)


def gates(kernel=None):
    """Gates of a regression with known weights: one of two columns that are nearly alike."""
    with gp.Model(coords={"i": ROWS, "j": COLUMNS}, name="alike") as model:
        design = gp.Data("design", X, dims=("i", "j"))
        gate = gp.Bernoulli("gate", 0.3, dims="j")
        gp.Normal("y", design @ (1.5 * gate), tau=4, dims="i", observed=Y)
    return gp.compile(model, kernels={} if kernel is None else {"gate": kernel})


def three_labels(kernel):
    """Labels of three values that a potential ties."""
    with gp.Model(coords={"n": 4, "k": 3}, name="three labels") as model:
        place = gp.Data("place", [0.0, 1.0, 4.0], dims="k")
        z = gp.Categorical("z", gp.Data("p", [0.2, 0.3, 0.5], dims="k"), dims="n")
        weight = gp.Data("weight", [1.0, -0.5, 0.2, 0.7], dims="n")
        gp.Potential("near", -0.3 * ((place[z] * weight).sum("n") - 1.5) ** 2)
    return gp.compile(model, kernels={"z": kernel})


def partly_known(kernel):
    with gp.Model(coords={"i": ROWS, "j": COLUMNS}, name="partly known") as model:
        design = gp.Data("design", X, dims=("i", "j"))
        known = np.ma.masked_array([0, 0, 1, 0], [1, 1, 0, 1])
        gate = gp.Bernoulli("gate", 0.3, dims="j", observed=known)
        gp.Normal("y", design @ (1.5 * gate), tau=1, dims="i", observed=Y)
    return gp.compile(model, kernels={"gate": kernel})


def in_two_dims(kernel):
    with gp.Model(coords={"a": 2, "b": 3}, name="two dims") as model:
        weight = gp.Data("weight", X[:2, :3], dims=("a", "b"))
        z = gp.Bernoulli("z", 0.4, dims=("a", "b"))
        gp.Potential("near", -2 * ((z * weight).sum("a").sum("b") - 0.5) ** 2)
    return gp.compile(model, kernels={"z": kernel})


MODELS = (gates, three_labels, partly_known, in_two_dims)


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.__name__)
@pytest.mark.parametrize("proposals", [1, 3])
def test_swaps_after_the_default_draw_leave_the_posterior_as_it_is(model, proposals):
    sampler = model(gp.Swap(proposals))
    matrix = sampler.transition_matrix()

    assert matrix.passed
    assert matrix.is_irreducible
    assert sampler.verify().proved


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.__name__)
def test_swaps_in_loops_are_those_in_numpy(model):
    sampler = model(gp.Swap(3))
    state, rng = started(sampler)

    for _ in range(6):
        assert beside(sampler, state, rng).far == []


def test_a_regression_with_swaps_is_proved_and_compiled():
    model = spike_and_slab.model(x=X, y=Y, columns="abcd")
    sampler = gp.compile(model, kernels={"gate": gp.Swap(2)})

    assert sampler.verify().proved
    state, rng = started(sampler)
    assert all(beside(sampler, state, rng).far == [] for _ in range(4))
    draws = sampler.sample(50, warmup=10, chains=1, seed=1, progress=False)
    assert list(draws.summary().acceptance) == ["gate by 2 swaps"]


@pytest.mark.parametrize("labels", [[0, 1, 1, 0, 0], [0, 1, 2, 2], [3, 3, 1]])
def test_pairs_are_proposed_with_the_probability_that_the_matrix_has(labels):
    now, rng, swap = np.array(labels), np.random.default_rng(1), gp.Swap()
    count, seen = 4000, {}
    for _ in range(count):
        pair = list(swaps._pair(rng, now))
        new = now.copy()
        new[pair] = now[pair[::-1]]
        seen[tuple(new.tolist())] = seen.get(tuple(new.tolist()), 0) + 1
    every = product(sorted(set(labels)), repeat=now.size)
    expected = {new: np.exp(swap.log_proposal(np.array(new), now)) for new in every}
    expected = {new: p for new, p in expected.items() if p > 0}

    assert set(seen) == set(expected)
    assert sum(expected.values()) == pytest.approx(1)
    counts = [seen[new] for new in expected]
    assert stats.chisquare(counts, count * np.array([*expected.values()])).pvalue > LEVEL
    back = (swap.log_proposal(now, np.array(new)) for new in expected)
    assert list(back) == pytest.approx(list(np.log([*expected.values()])))


def test_where_all_labels_are_the_same_nothing_is_proposed():
    share = walks.Walk(np.zeros(()), 1.0)
    same = np.zeros(4, dtype=int)
    found = swaps.swap(np.random.default_rng(1), same, ..., pytest.fail, share, 5)

    assert found.tolist() == [0, 0, 0, 0]
    assert share.proposed == 0
    work, tried = swaps_in_loops.swap_work(), np.ones(4)
    swaps_in_loops.swap_start(work)
    assert not swaps_in_loops.swap_next(np.random.default_rng(1), work, same * 1.0, np.nan, tried)
    assert (tried.tolist(), swaps_in_loops.swap_made(work)) == ([0, 0, 0, 0], 0)


def test_labels_without_a_density_are_an_error():
    share = walks.Walk(np.zeros(()), 1.0)
    with pytest.raises(RunError, match="no finite log density"):
        swaps.swap(np.random.default_rng(1), np.arange(3), ..., lambda x: -np.inf * x[0], share)


def test_columns_that_are_nearly_alike_are_exchanged_sooner():
    def time(sampler):
        matrix = sampler.transition_matrix()
        return matrix.autocorrelation_time(lambda s: s["gate"][0])

    assert time(gates(gp.Swap(2))) < 0.5 * time(gates())


def test_a_cycle_has_the_parts_that_are_written():
    sampler = gates(gp.Cycle(gp.Swap(), gp.Exact(), symmetric=True))

    assert sampler.transition_matrix().passed
    assert [s.name for s in sampler.schedule.steps] == ["gate by swap", "gate by exact draw"]
    assert not gates(gp.Cycle(gp.Swap(), gp.Swap(2))).transition_matrix().is_irreducible


@pytest.mark.slow
def test_a_swap_that_is_always_accepted_is_seen(monkeypatch):
    sampler = gates(gp.Swap(2))
    assert sampler.check_kernel("gate", seed=1, replicates=300).passed
    monkeypatch.setattr(swaps, "is_accepted", lambda rng, log_ratio: (1.0, True))
    assert not sampler.check_kernel("gate", seed=1, replicates=300).passed


def test_a_matrix_of_fewer_swaps_than_are_made_is_another_one():
    one, three = (gates(gp.Swap(n)).transition_matrix().transition for n in (1, 3))
    assert np.abs(one - three).max() > 0.01


@pytest.mark.parametrize("count", [0, -1, 1.5, True, "many"])
def test_the_number_of_swaps_is_a_whole_number(count):
    with pytest.raises(CompileError, match="expected a whole number from 1 on"):
        gp.Swap(count)


def test_what_swaps_are_not_for_is_refused():
    with gp.Model(coords={"n": 3}) as model:
        z = gp.Bernoulli("z", 0.4, dims="n")
        mu = gp.Normal("mu", 0, tau=1)
        gp.Normal("y", mu + z, tau=1, dims="n", observed=[0.1, 0.2, 2.0])
        most = gp.Data("most", [1, 2, 3], dims="n")
        k = gp.Binomial("k", most, 0.4, dims="n")
        gp.Potential("few", -(k.sum("n") ** 2))
    for name, told in (
        ("z", "independent given the rest"),
        ("mu", "takes values in"),
        ("k", "between the same two numbers"),
    ):
        with pytest.raises(CompileError, match=told):
            gp.compile(model, kernels={name: gp.Swap()})
