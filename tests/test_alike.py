"""Sums over rows of which many are alike: over those that differ, each as often as it occurs."""

import numpy as np
import pytest
from replays import beside

import gibbsppl as gp
from gibbsppl.code.arrays import alike
from gibbsppl.code.arrays.sweeps import spans_in
from gibbsppl.runtime.position_tables import LOOKED_AT, number_that_differ, rows_alike

ROWS, RNG = 60, np.random.default_rng(1)
COUNTS, DOSES = RNG.poisson(2.0, ROWS), RNG.integers(3, size=ROWS) / 2.0


def size_of_counts(counts=COUNTS):
    """The size of a negative binomial: what it adds to a log density is a sum over counts."""
    with gp.Model(coords={"n": ROWS}) as m:
        size = gp.Gamma("size", 2, rate=1)
        gp.NegativeBinomial("y", size, 0.4, dims="n", observed=counts)
    return m


def size_by_table():
    """A matrix of counts, all of one size."""
    with gp.Model(coords={"i": 6, "j": ROWS // 6}) as m:
        size = gp.Gamma("size", 2, rate=1)
        gp.NegativeBinomial("y", size, 0.4, dims=("j", "i"), observed=COUNTS.reshape(-1, 6))
    return m


def doses():
    """Two columns of data, of which few pairs occur; levels are read by an index."""
    with gp.Model(coords={"n": ROWS, "g": 2}) as m:
        level = gp.Normal("level", 0, tau=1, dims="g")
        of = gp.Index("of", np.arange(ROWS) % 2, of="g", dims="n")
        slope = gp.Normal("slope", 0, tau=1)
        dose = gp.Data("dose", DOSES, dims="n")
        gp.Poisson("y", gp.exp(level[of] + slope * dose), dims="n", observed=COUNTS)
    return m


def all_differ():
    """Rows of which each has its own dose."""
    with gp.Model(coords={"n": ROWS}) as m:
        slope = gp.Normal("slope", 0, tau=1)
        dose = gp.Data("dose", np.linspace(0, 1, ROWS), dims="n")
        gp.Poisson("y", gp.exp(slope * dose), dims="n", observed=COUNTS)
    return m


ALIKE = {size_of_counts: len({*COUNTS}), size_by_table: len({*COUNTS}), doses: 6}


def sampler(model):
    return gp.compile(model(), blocks=False)


def far(made):
    (chain,), _ = made.initial_states(1, 7)
    found = (beside(made, chain.state, chain.rng, made.loops()).far for _ in range(3))
    return next(filter(None, found), [])


@pytest.mark.parametrize("model", ALIKE)
def test_rows_that_differ_are_summed_over(model):
    loops = sampler(model).loops()
    dims = [d for d in spans_in(loops.sweep_value.statements) if d.endswith("_different")]

    assert {loops.all_sizes[d] for d in dims} == {ALIKE[model]}
    assert not {"n", "i", "j"} & {*spans_in(loops.sweep_value.statements)}


@pytest.mark.parametrize("model", ALIKE)
def test_sweeps_in_loops_are_those_in_numpy(model):
    assert far(sampler(model)) == []


def test_rows_are_summed_over_where_most_of_them_differ():
    loops = sampler(all_differ).loops()

    assert "n" in spans_in(loops.sweep_value.statements)
    assert not [d for d in loops.all_sizes if d.endswith("_different")]


def test_operations_are_those_of_rows_that_differ():
    few, many = (
        gp.compile(size_of_counts(counts)).costs().operations
        for counts in (COUNTS, np.arange(ROWS))
    )

    assert few < many * len({*COUNTS}) / ROWS * 2


def test_rows_that_count_once_would_be_found(monkeypatch):
    true = alike.product
    monkeypatch.setattr(alike, "product", lambda factors: true(factors[1:]))

    assert far(sampler(size_of_counts)) != []


# ---- the rows ----------------------------------------------------------------------------------


def test_rows_are_pairs_of_what_columns_have_at_a_position():
    times, one, other = rows_alike(((0, 1), (1,)), np.array([[1, 2], [1, 2], [2, 2]]), [5.0, 6.0])

    assert sorted(zip(times, one, other, strict=True)) == [(1, 2, 5.0), (2, 1, 5.0), (3, 2, 6.0)]


def test_axes_may_stand_in_any_order():
    values = np.array([[1, 2, 3], [4, 5, 6]])
    times, one, other = rows_alike(((1, 0), (0, 1)), values, values.T)

    assert (one == other).all()
    assert (times == 1).all()


@pytest.mark.parametrize("size", [1, 2, 10 * LOOKED_AT])
def test_some_rows_tell_of_all_where_all_differ(size):
    values = np.arange(size, dtype=float)

    assert number_that_differ(((0,),), [values], 0.5) is None
    assert number_that_differ(((0,),), [values // 2], 1.0) == max(size // 2, 1)


def test_no_rows_are_none_that_differ():
    assert number_that_differ(((0,),), [np.empty(0)], 0.5) is None


def test_missing_values_are_alike():
    times, values = rows_alike(((0,),), np.array([np.nan, 1.0, np.nan]))

    assert sorted(times) == [1, 2]
    assert np.isnan(values).sum() == 1
