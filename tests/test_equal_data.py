"""Data of equal values under several names: what cancels for one name cancels for all."""

import numpy as np
import pytest

import gibbsppl as gp

FIRST, SECOND, THIRD = np.array([[5, 3, 2], [3, 2, 1], [1, 1, 0]])


def removal(left, seen=(FIRST, SECOND, THIRD)):
    """Three passes of removal sampling; ``left`` are those removed before the second and third."""
    with gp.Model(coords={"site": 3}) as m:
        rate, p = gp.Gamma("rate", 2, rate=0.1), gp.Beta("p", 1, 1)
        n = gp.Poisson("n", rate, dims="site")
        first = gp.Binomial("first", n, p, dims="site", observed=seen[0])
        before_second, before_third = left(first)
        second = gp.Binomial("second", n - before_second, p, dims="site", observed=seen[1])
        before_third = second + first if before_third is None else before_third
        gp.Binomial("third", n - before_third, p, dims="site", observed=seen[2])
    return m


def data(name, values):
    return gp.Data(name, values, dims="site")


TWO = np.full(3, 2)
SAME = {
    "the counts themselves": (lambda first: (first, None),),
    "copies": (lambda first: (data("a", FIRST), data("b", FIRST) + data("c", SECOND)),),
    "totals": (lambda first: (data("a", FIRST), data("b", FIRST + SECOND)),),
    "a total of a copy": (lambda first: (data("a", FIRST), data("a2", FIRST) + data("b", SECOND)),),
    "a number": (lambda first: (2, data("b", 2 + SECOND)), (TWO, SECOND, THIRD)),
    "a number seen": (lambda first: (data("a", FIRST), data("b", FIRST + 2)), (FIRST, TWO, THIRD)),
}


@pytest.mark.parametrize("left", SAME.values(), ids=SAME)
def test_removal_sampling_is_a_shifted_poisson(left):
    sampler = gp.compile(removal(*left))
    step = sampler.schedule.step("n")

    assert (step.kind, step.family.name) == ("exact", "Poisson")
    assert sampler.verify().proved


def test_data_that_differ_at_one_place_are_not_one():
    """(That all of them are counted out makes no cancellation: the move stays.)"""
    other = FIRST + SECOND - np.array([0, 0, 1])
    sampler = gp.compile(removal(lambda first: (data("a", FIRST), data("b", other))))

    assert sampler.schedule.step("n").kind == "move"
    assert sampler.verify().proved


@pytest.mark.parametrize("size", [1, 3])
def test_what_is_written_in_place_of_a_number_is_seen_there(size):
    """(Counts of 0 stand for a 0 beside ``x``, but not where ``x`` has no positions along "i".)"""
    with gp.Model(coords={"i": size}) as m:
        x = gp.HalfCauchy("x", scale=2.0)
        gp.ZeroInflatedNegativeBinomial(
            "y", psi=0.8, n=x, p=0.8, dims="i", observed=np.zeros(size, dtype=int)
        )
    assert gp.compile(m).verify().proved


def test_elements_before_are_compared_where_there_are_some():
    """Counts that depend on their own past: the first ones have none."""
    counts = np.array([[0, 1, 2], [2, 2, 0], [1, 4, 3], [2, 1, 1]])
    with gp.Model(coords={"k": 4, "t": 3}) as m:
        rate = gp.Gamma("rate", 2, rate=1)
        y = gp.Array("y", dims=("k", "t"), observed=counts)
        y[:, 0] = gp.Poisson(rate)
        y[:, 1:] = gp.Poisson(0.5 * y.lag("t", 1) + rate)

    assert gp.compile(m).verify().proved
