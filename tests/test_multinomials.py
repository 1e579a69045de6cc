"""Draws of counts that share out a total, against the probabilities that they should have.

Every comparison is a p-value; each is held against the family-wise level divided by their number.
"""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import gibbsppl as gp
from gibbsppl import runtime
from gibbsppl.backends.program import load
from gibbsppl.checks.ratio import verify
from gibbsppl.runtime import multinomials
from gibbsppl.runtime.multinomials import FEW, SMALL_TOTAL

N = 5000
# Totals below, at and above where a total stops being small; weights of all sizes.
TOTALS = (1, 2, 5, SMALL_TOTAL, SMALL_TOTAL + 1, 300)
WEIGHTS = {
    "equal": [1.0, 1.0, 1.0],
    "uneven": [0.05, 0.6, 0.0, 0.3, 0.05],
    "two": [0.2, 0.8],
    "one": [2.0],
    "zeros at both ends": [0.0, 3.0, 1.0, 0.0],
    "tiny": [1e-300, 0.5, 1e-300, 0.5],
    "all tiny": [1e-300, 3e-300, 2e-300],
    "many": list(range(1, 151)),
}
CASES = [(name, total) for name in WEIGHTS for total in TOTALS]
LEVEL = 1e-4 / (6 * len(CASES))


def logs(weights):
    with np.errstate(divide="ignore"):
        return np.log(np.asarray(weights, float))


def as_array(weights, rows):
    """The log weights of all rows, as they are."""
    return np.tile(logs(weights), (rows, 1))


def as_rows(weights, rows):
    """The same from two tables, each weight far from 1 in both, the right ones at odd indices."""
    shift = np.linspace(-700.0, 700.0, len(weights))
    index = np.arange(rows) % 2 * 2 + 1
    first = np.stack([logs(weights) + (shift if at % 2 else 5.0 * at) for at in range(4)])
    second = np.stack([np.full(len(weights), 2.0) - (shift if at % 2 else 3.0) for at in range(4)])
    same = np.zeros(len(weights))
    return runtime.SumOfRows(
        (rows, len(weights)), same, runtime.Rows(first, index), runtime.Rows(second, index)
    )


def p_values(drawn, total, weights):
    """Sums over draws against their law, and the law of the first count that is possible."""
    chance = np.array(weights) / np.sum(weights)
    assert (drawn.sum(axis=1) == total).all()
    assert (drawn >= 0).all()
    assert (drawn[:, chance == 0.0] == 0).all()
    possible = chance * len(drawn) * total >= 5.0
    observed, expected = drawn.sum(axis=0)[possible], chance[possible] * len(drawn) * total
    if possible.sum() > 1:
        yield stats.chisquare(observed, expected * observed.sum() / expected.sum()).pvalue
    of = int(np.argmax(chance))
    law = stats.binom(total, chance[of])
    values = np.arange(total + 1)
    cells = np.bincount(drawn[:, of], minlength=total + 1)
    often = law.pmf(values) * len(drawn) >= 5.0
    found = np.append(cells[often], cells[~often].sum())
    wanted = np.append(law.pmf(values)[often], law.pmf(values)[~often].sum()) * len(drawn)
    found, wanted = found[wanted > 1e-6], wanted[wanted > 1e-6]
    if len(found) > 1:
        yield stats.chisquare(found, wanted * found.sum() / wanted.sum()).pvalue


@pytest.mark.parametrize("given", [as_array, as_rows])
@pytest.mark.parametrize(("name", "total"), CASES)
def test_shares_have_their_probabilities(given, name, total):
    rng = np.random.default_rng([CASES.index((name, total)), given is as_rows])
    weights = WEIGHTS[name]
    drawn = runtime.multinomial(rng, given(weights, N), (N, len(weights)), n=total)
    assert min(p_values(drawn, total, weights), default=1.0) > LEVEL


@pytest.mark.parametrize("total", [2, 300])
def test_wrong_probabilities_are_caught(total):
    rng = np.random.default_rng(1)
    drawn = runtime.multinomial(rng, as_array([1.0, 2.0, 3.0], N), (N, 3), n=total)
    assert min(p_values(drawn, total, [1.0, 2.0, 4.0])) < LEVEL


def test_units_that_share_one_uniform_are_caught(monkeypatch):
    class Same:
        def random(self, size):
            return np.resize(np.linspace(0.0, 1.0, 9973, endpoint=False), size)

    labels = multinomials._labels
    monkeypatch.setattr(multinomials, "_labels", lambda _rng, running: labels(Same(), running))
    rng = np.random.default_rng(1)
    drawn = runtime.multinomial(rng, as_array([1.0, 1.0], N), (N, 2), n=2)
    assert min(p_values(drawn, 2, [1.0, 1.0])) < LEVEL


def test_rows_of_different_totals_and_weights():
    rng = np.random.default_rng(2)
    totals = rng.choice([0, 1, 3, 40], size=(50, 400))
    weights = rng.gamma(0.3, size=(50, 400, 4))
    drawn = runtime.multinomial(rng, logs(weights), (50, 400, 4), n=totals[..., None])
    assert drawn.shape == (50, 400, 4)
    assert (drawn.sum(axis=-1) == totals).all()
    share = weights / weights.sum(axis=-1, keepdims=True)
    mean, variance = totals[..., None] * share, totals[..., None] * share * (1 - share)
    z = (drawn - mean).sum(axis=(0, 1)) / np.sqrt(variance.sum(axis=(0, 1)))
    assert 2 * stats.norm.sf(abs(z)).min() > LEVEL


@pytest.mark.parametrize("rows", [2, FEW])
def test_no_share_is_possible(rows):
    rng, nothing = np.random.default_rng(3), np.full((rows, 3), -np.inf)
    with pytest.raises(ValueError, match="probability zero"):
        runtime.multinomial(rng, nothing, (rows, 3), n=1)
    assert (runtime.multinomial(rng, nothing, (rows, 3), n=0) == 0).all()
    with pytest.raises(ValueError, match="no number"):
        runtime.multinomial(rng, np.full((rows, 3), np.nan), (rows, 3), n=1)
    with pytest.raises(ValueError, match="negative"):
        runtime.multinomial(rng, np.zeros((rows, 3)), (rows, 3), n=-1)


@pytest.mark.parametrize("kind", [float, int, np.int8, bool, np.float32])
@pytest.mark.parametrize("shape", [(500, 3), (500, 2, 4), (500, 1)])
def test_sums_of_rows(kind, shape):
    rng = np.random.default_rng(4)
    groups = runtime.Groups(rng.choice([0, 1, 4], shape[0]), 6)
    values = rng.integers(0, 2, shape).astype(kind)
    found = runtime.sum_rows(groups, values)
    assert found.dtype == np.float64
    assert np.array_equal(found, groups.sum(values.astype(float)))


def factorised(users, items, share=0.3):
    """A factorisation of counts, most of them zero, with a weight for each factor."""
    rng = np.random.default_rng(5)
    counts = rng.poisson(0.8, (users, items)) * (rng.random((users, items)) < share)
    coords = {"user": range(users), "item": range(items), "k": range(20)}
    with gp.Model(coords=coords, name="counts") as model:
        weight = gp.Gamma("weight", 1.0, rate=1.0, dims="k")
        theta = gp.Gamma("theta", 0.3, rate=1.0, dims=("user", "k"))
        phi = gp.Gamma("phi", 0.3, rate=1.0, dims=("k", "item"))
        rate = gp.sum(weight * theta * phi, "k")
        gp.Poisson("y", rate, dims=("user", "item"), observed=counts)
    return model


@pytest.fixture(scope="module")
def sampler():
    return gp.compile(factorised(300, 300))


def test_generated_code_reads_rows_of_tables(sampler):
    assert "runtime.SumOfRows" in sampler.source
    assert "runtime.sum_rows" in sampler.source
    assert sampler.verify().passed


@pytest.mark.parametrize(("right", "wrong"), [("Rows(log(theta)", "Rows(2 * log(theta)")])
def test_a_wrong_table_is_caught(sampler, right, wrong):
    assert right in sampler.source
    program = load(sampler.source.replace(right, wrong))
    schedule = sampler.schedule
    found = verify(sampler.graph, program, schedule.steps, sampler.data, 0, graphs=schedule.graphs)
    assert not found.passed


def test_units_by_hand_have_their_probabilities():
    sys.path.insert(0, str(Path(__file__).parent / "benchmarks"))
    import counts_by_hand

    constants = counts_by_hand.prepare(np.array([1]), np.array([0]), np.array([N]), (2, 1), 3)
    state = counts_by_hand.start(np.random.default_rng(6), constants)
    chance = (state["theta"][1] * state["phi"][0]) / (state["theta"][1] @ state["phi"][0])
    labels = counts_by_hand._labels(np.random.default_rng(7), state, constants)
    found = np.bincount(labels, minlength=3)
    assert stats.chisquare(found, chance * N).pvalue > LEVEL
    assert stats.chisquare(found, np.roll(chance, 1) * N).pvalue < LEVEL
