"""Large data: what is kept of it beside the data themselves, and no tables of all by all."""

import tracemalloc

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.algebra.expressions import Array, Dim, Over
from gibbsppl.algebra.ranges import Range
from gibbsppl.initial import dispersed
from gibbsppl.initial.search import initial_state
from gibbsppl.model import evaluation
from gibbsppl.runtime import matrices, position_tables
from models import bayesian_matrix_factorisation

RATINGS, USERS, ITEMS, FACTORS = 60_000, 900, 400, 3
# Beside the data: a rating and an index in both orders, a place in each order is not kept.
MOST = 25


def factorisation(kind=np.int32):
    rng = np.random.default_rng(1)
    pairs = (rng.integers(n, size=RATINGS, dtype=kind) for n in (USERS, ITEMS))
    ratings = (*pairs, rng.normal(size=RATINGS))
    return bayesian_matrix_factorisation.model(
        ratings, (range(USERS), range(ITEMS)), FACTORS, 0.0, nu=FACTORS + 1
    )


def bytes_a_rating(sampler, dtype):
    """What loops keep of each rating, beside the data."""
    program = sampler.loops(dtype)
    data = {id(a) for a in sampler.data.values()}
    found = (a for a in program.constants if id(a) not in data and a.size >= RATINGS)
    return sum(a.nbytes for a in found) / RATINGS


@pytest.mark.parametrize(("dtype", "most"), [("float64", MOST), ("float32", MOST - 8)])
@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_ratings_are_kept_in_both_orders_and_nothing_else(dtype, most, kind):
    sampler = gp.compile(factorisation(kind), blocks=False)

    assert most - 9 < bytes_a_rating(sampler, dtype) <= most
    assert "made" not in vars(sampler.prepared)  # (sweeps in NumPy have tables of their own)


def test_long_indices_would_be_noticed(monkeypatch):
    monkeypatch.setattr(position_tables, "short", np.ascontiguousarray)

    assert bytes_a_rating(gp.compile(factorisation(np.int64), blocks=False), "float64") > MOST


def test_a_declaration_and_its_loops_take_memory_in_proportion_to_the_data():
    """At most as many numbers at once as two orders of the ratings and a sort of one index take."""
    tracemalloc.start()
    sampler = gp.compile(factorisation(), blocks=False)
    assert sampler.loops("float32").constants
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    (_, of_code) = code_alone()

    assert (most - of_code) / RATINGS < 16 + 16 + 24 + 16


def code_alone():
    """What the same takes for a few ratings."""
    tracemalloc.start()
    model = bayesian_matrix_factorisation.model(
        (np.array([0, 1]), np.array([1, 0]), np.zeros(2)), (range(2), range(2)), FACTORS, 0.0, nu=4
    )
    assert gp.compile(model, blocks=False).loops("float32").constants
    found = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return found


def test_an_index_of_four_bytes_stays_one():
    kinds = {k: gp.compile(factorisation(k)).data["judge_of"].dtype for k in (np.int32, np.int64)}

    assert kinds == {np.int32: np.int32, np.int64: np.int64}


def test_draws_in_numpy_are_the_same_for_indices_of_four_bytes():
    one, other = (
        gp.compile(factorisation(k)).sample(
            2, warmup=0, chains=1, seed=1, backend="numpy", progress=False
        )
        for k in (np.int32, np.int64)
    )

    assert all((one[n] == other[n]).all() for n in one)


def test_counted_labels_take_no_memory():
    with gp.Model(coords={"i": range(10**9), "k": range(1, 4)}) as model:
        pass

    assert model.size("i") == 10**9
    assert model.labels["i"] == range(10**9)
    assert model.labels["k"] == (1, 2, 3)


def test_an_expression_is_evaluated_part_after_part(monkeypatch):
    i, k, x, y, g = Dim("i"), Dim("k"), Array("x"), Array("y"), Array("g")
    rng = np.random.default_rng(1)
    values = {"x": rng.normal(size=(7, 3)), "y": rng.normal(size=3), "g": rng.integers(7, size=50)}
    sizes = {i: 50, k: 3, Dim("j"): 2}
    over = (Range(i, 0, 50), Range(Dim("j"), 0, 2))
    cases = Over(x[g[i], k] * y[k], k), Over(y[k], k), i * Dim("j")
    whole = [evaluation.evaluate(e, over, values, sizes) for e in cases]
    powers = [evaluation.largest_power(2**e, over, values, sizes) for e in cases]
    monkeypatch.setattr(evaluation, "PART", 12)

    for e, expected, power in zip(cases, whole, powers, strict=True):
        np.testing.assert_array_equal(evaluation.evaluate(e, over, values, sizes), expected)
        assert evaluation.largest_power(2**e, over, values, sizes) == power


def test_a_large_array_starts_part_after_part(monkeypatch):
    sampler = gp.compile(factorisation())
    monkeypatch.setattr(dispersed, "PART", 500)
    rng = np.random.default_rng(1)
    state, notes = initial_state(rng, sampler.graph, sampler.data, settle=False)

    assert state["U"].shape == (USERS, FACTORS)
    assert notes["U"] == "prior"
    assert np.isfinite(state["U"]).all()
    assert len(np.unique(state["U"])) == state["U"].size


def test_vectors_of_one_precision_are_drawn_as_those_of_as_many():
    rng = np.random.default_rng(1)
    root = rng.normal(size=(4, 4))
    Q, h = root @ root.T + np.eye(4), rng.normal(size=(5, 3, 4))
    one, other = (
        matrices.mvnormal_information(np.random.default_rng(2), h, q)
        for q in (Q[None, None], np.broadcast_to(Q, (5, 3, 4, 4)).copy())
    )

    np.testing.assert_allclose(one, other, rtol=1e-10)
