"""Draws of counts that share out a total, against the probabilities that they should have.

Every comparison is a p-value; each is held against the family-wise level divided by their number.
"""

import copy
import pickle
import re
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from references.monte_carlo import disagreements
from scipy import stats
from scipy.sparse import coo_array

import gibbsppl as gp
from gibbsppl import runtime
from gibbsppl.checks.verification import verify
from gibbsppl.code.numpy_text import reductions, tables
from gibbsppl.code.program import load
from gibbsppl.runtime import multinomials
from gibbsppl.runtime.multinomials import FEW, MANY, PIECE, SMALL_TOTAL
from gibbsppl.runtime.sparse_counts import Shares
from models import poisson_factorisation, reuters

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


@pytest.mark.parametrize("rows", [3, FEW])
def test_log_weights_that_are_one_number_are_the_same_for_all_labels(rows):
    rng, total = np.random.default_rng(4), np.arange(rows)[:, None]
    alone = runtime.multinomial(rng, 0.5, (rows, 1), n=total)
    np.testing.assert_array_equal(alone, total)
    shared = np.asarray(runtime.multinomial(rng, 0.5, (rows, 3), n=total))
    assert shared.shape == (rows, 3)
    np.testing.assert_array_equal(shared.sum(axis=-1), total[:, 0])


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


@pytest.mark.parametrize("total", [1, SMALL_TOTAL + 1])
@pytest.mark.parametrize("rows", [2, FEW])
def test_no_share_is_possible(rows, total):
    rng, nothing = np.random.default_rng(3), np.full((rows, 3), -np.inf)
    with pytest.raises(ValueError, match="probability zero"):
        runtime.multinomial(rng, nothing, (rows, 3), n=total)
    assert (runtime.multinomial(rng, nothing, (rows, 3), n=0) == 0).all()
    with pytest.raises(ValueError, match="no number"):
        runtime.multinomial(rng, np.full((rows, 3), np.nan), (rows, 3), n=total)
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


# ---- shares kept unit by unit ------------------------------------------------------------------


def crossed(rows, labels, totals, seed=8):
    """Shares with weights by user and by item; where each row is, and its probabilities."""
    rng = np.random.default_rng(seed)
    user, item = rng.integers(0, 5, rows), rng.integers(0, 4, rows)
    theta, phi = rng.uniform(1.0, 2.0, (5, labels)), rng.uniform(1.0, 2.0, (4, labels))
    tables = runtime.Rows(np.log(theta), user), runtime.Rows(np.log(phi), item)
    n = rng.choice(totals, rows)
    eta = runtime.SumOfRows((rows, labels), 0.0, *tables)
    drawn = runtime.multinomial(rng, eta, (rows, labels), n=n[:, None])
    weights = theta[:, None] * phi
    return drawn, n, user, item, weights / weights.sum(axis=-1, keepdims=True)


def sums_p_value(drawn, n, cell, share):
    """The sums of shares by cell, each of them multinomial, against their probabilities."""
    share = share.reshape(-1, share.shape[-1])
    found = runtime.sum_rows(runtime.Groups(cell, len(share)), drawn)
    expected = np.bincount(cell, n, len(share))[:, None] * share
    assert expected.min() >= 5.0
    freedom = len(share) * (share.shape[1] - 1)
    return stats.chi2.sf(((found - expected) ** 2 / expected).sum(), freedom)


@pytest.mark.parametrize("labels", [3, 20, 150])
@pytest.mark.parametrize("totals", [[1], [0, 1, 1, 2, 3], [0, 2, SMALL_TOTAL, 40]])
def test_sums_of_shares_have_their_law(labels, totals):
    drawn, n, user, item, share = crossed(40_000, labels, totals)
    assert isinstance(drawn, Shares)
    assert sums_p_value(drawn, n, user * 4 + item, share) > LEVEL
    # (two planted bugs: the rows of another item; labels numbered from one)
    assert sums_p_value(drawn, n, user * 4 + (item + 1) % 4, share) < LEVEL
    assert sums_p_value(drawn, n, user * 4 + item, np.roll(share, 1, axis=-1)) < LEVEL


def test_further_units_are_of_their_own_rows(monkeypatch):
    monkeypatch.setattr(multinomials, "_further", lambda n: np.sort(np.repeat(0, (n - 1).sum())))
    drawn, n, user, item, share = crossed(40_000, 3, [1, 2, 3])
    assert sums_p_value(drawn, n, user * 4 + item, share) < LEVEL


@pytest.mark.parametrize("size", [(40_000, 3), (500, 80, 4), (700, 150)])
def test_shares_are_read_as_the_array_that_they_are(size):
    rng = np.random.default_rng(9)
    n = rng.choice([0, 1, 2, 40], size[:-1])
    shares = runtime.multinomial(rng, rng.normal(size=size), size, n=n[..., None])
    table = np.asarray(shares)
    assert isinstance(shares, Shares)
    assert (table.shape, table.dtype, table.ndim) == (shares.shape, shares.dtype, shares.ndim)
    assert (table.size, len(table)) == (shares.size, len(shares))
    assert np.array_equal(table.sum(axis=-1), n)
    for axis in (None, *range(-1, table.ndim)):
        assert np.array_equal(shares.sum(axis=axis), table.sum(axis=axis))
    assert np.array_equal(shares.T, table.T)
    assert np.array_equal(shares[3:5], table[3:5])
    assert np.array_equal(2.0 * shares - shares, table)
    assert np.array_equal(shares.sum(axis=0, keepdims=True), table.sum(axis=0, keepdims=True))
    assert np.asarray(shares, dtype=float).dtype == np.float64
    for same in (copy.deepcopy(shares), pickle.loads(pickle.dumps(shares))):
        assert isinstance(same, Shares)
        assert np.array_equal(same, table)
    with pytest.raises(AttributeError):
        _ = shares.no_such_thing


@pytest.mark.parametrize("size", [(40_000, 3), (500, 80, 4), (700, 150)])
def test_sums_of_shares_are_those_of_the_array(size):
    rng = np.random.default_rng(10)
    n = rng.choice([0, 1, 2, 40], size[:-1])
    shares = runtime.multinomial(rng, rng.normal(size=size), size, n=n[..., None])
    groups = runtime.Groups(rng.choice([0, 1, 4], size[0]), 6)
    expected = groups.sum(np.asarray(shares, dtype=float))
    for found in (groups.sum(shares), runtime.sum_rows(groups, shares)):
        assert found.dtype == np.float64
        assert np.array_equal(found, expected)


def peak_of(function):
    """The most bytes held at once while a function runs."""
    tracemalloc.start()
    function()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_memory_does_not_grow_with_the_labels():
    rng, rows = np.random.default_rng(11), 100_000
    groups = runtime.Groups(rng.integers(0, 50, rows), 50)

    def drawn(labels):
        eta = runtime.SumOfRows(
            (rows, labels), 0.0, runtime.Rows(np.zeros((50, labels)), groups.index)
        )
        return runtime.sum_rows(groups, runtime.multinomial(rng, eta, (rows, labels), n=2))

    drawn(20)
    # A table of counts would have 40 columns more; pieces of weights are of one size.
    growth = peak_of(lambda: drawn(60)) - peak_of(lambda: drawn(20))
    assert growth < PIECE * 8
    assert rows * 40 * 8 > PIECE * 8


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
    assert sampler.verify().proved


def test_shares_can_be_kept(sampler):
    draws = sampler.sample(
        draws=2, warmup=2, chains=1, seed=1, progress=False, keep=["y_split", "theta"]
    )
    counts = sampler.data["y"][sampler.data["y"] > 0]
    kept = draws["y_split"][0]
    assert kept[0].size > MANY
    assert np.array_equal(kept.sum(axis=-1), [counts, counts])
    assert not np.array_equal(*kept)


@pytest.mark.parametrize(("right", "wrong"), [("Rows(log(theta)", "Rows(2 * log(theta)")])
def test_a_wrong_table_is_caught(sampler, right, wrong):
    assert right in sampler.source
    program = load(sampler.source.replace(right, wrong))
    schedule = sampler.schedule
    found = verify(sampler.graph, program, schedule.steps, sampler.data, 0, graphs=schedule.graphs)
    assert not found.passed


@pytest.fixture
def no_size_is_small(monkeypatch):
    """All that is done only where there is much of it is done."""
    for module, name in (
        *((tables, "MANY_VALUES"), (reductions, "MANY_VALUES"), (reductions, "MANY_COLUMNS")),
        *((multinomials, "MANY"), (multinomials, "FEW")),
    ):
        monkeypatch.setattr(module, name, 1)


def kept_by_units():
    """The model with a reference, observed as a sparse array."""
    counts, _ = reuters.table(poisson_factorisation.DOCUMENTS, poisson_factorisation.WORDS)
    sampler = gp.compile(poisson_factorisation.model(counts=coo_array(counts)))
    assert {"SumOfRows", "sum_rows"} <= set(re.findall(r"runtime\.(\w+)", sampler.source))
    return sampler


def differing_from_the_reference(sampler):
    draws = sampler.sample(draws=1000, warmup=200, chains=2, seed=1, progress=False)
    reference = poisson_factorisation.REFERENCE
    return disagreements(poisson_factorisation.quantities(draws), reference)


@pytest.mark.usefixtures("no_size_is_small")
def test_the_posterior_is_that_of_the_reference():
    assert differing_from_the_reference(kept_by_units()) == {}


@pytest.mark.usefixtures("no_size_is_small")
def test_a_sum_without_the_further_units_is_caught(monkeypatch):
    monkeypatch.setattr(multinomials, "_further", lambda totals: totals[:0])
    assert differing_from_the_reference(kept_by_units()) != {}


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


@pytest.mark.parametrize("n", [0.5, np.array([3.0, 2.5]), np.nan, np.inf, 1e300])
def test_a_total_that_is_no_whole_number_is_refused(n):
    with pytest.raises(ValueError, match="expected a whole number"):
        runtime.multinomial(np.random.default_rng(1), np.zeros((2, 3)), (2, 3), n=n)
    with pytest.raises(ValueError, match="expected a whole number"):
        runtime.binomial(np.random.default_rng(1), 0.0, (), n=np.ravel(n)[-1])


@pytest.mark.parametrize(
    ("dims", "n", "totals"),
    [
        ("k", [3, 9], [[3, 3], [9, 9]]),
        ("t", [3, 9], [[3, 9], [3, 9]]),
        (("k", "t"), [[1, 2], [3, 4]], [[1, 2], [3, 4]]),
        (("t", "k"), [[1, 2], [3, 4]], [[1, 3], [2, 4]]),
    ],
)
def test_totals_along_some_of_the_dims_are_those_of_their_rows(dims, n, totals):
    """With as many positions along both, totals of the wrong dim have a shape that fits too."""
    with gp.Model(coords={"j": 4, "k": 2, "t": 2}) as built:
        p = gp.Dirichlet("p", a=1, dims=("k", "t", "j"), event="j")
        n = gp.Data("n", n, dims=dims)
        gp.Multinomial("y", n=n, p=p, dims=("k", "t", "j"), event="j")
    sampler = gp.compile(built)
    drawn = sampler.sample(draws=5, warmup=0, chains=1, seed=1, progress=False)["y"]

    assert (np.asarray(drawn).sum(axis=-1) == totals).all()
    assert sampler.verify().proved


def test_totals_that_differ_along_the_last_axis_are_refused():
    def drawn(n):
        return runtime.multinomial(np.random.default_rng(1), np.zeros((2, 2)), (2, 2), n=n)

    with pytest.raises(ValueError, match="differ along the last axis: found 2 of them"):
        drawn([[3, 4], [5, 9]])
    assert (drawn([[3, 3], [5, 5]]).sum(axis=-1) == [3, 5]).all()
