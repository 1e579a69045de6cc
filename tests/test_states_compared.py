"""Densities are compared where they keep their digits and nothing overflows, or rows say so."""

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.checks.ratio import ratio_check
from gibbsppl.checks.states import states
from gibbsppl.checks.wander import wandered
from gibbsppl.density import log_density
from gibbsppl.initial import LEAST, overflows


def compiled(declare):
    with gp.Model(coords={"i": 3}) as model:
        declare()
    return gp.compile(model)


def vague():
    """From a start without room sweeps go on too."""
    time = gp.Data("time", [10.0, 50, 90], dims="i")
    a, b = gp.Normal("a", 0, tau=1e-4), gp.Normal("b", 0, tau=1e-4)
    gp.Gamma("y", shape=2, rate=gp.exp(a + b * time), dims="i", observed=[2, 5, 3])


def saturated():
    """The mean is zero wherever the exponential overflows."""
    a = gp.Normal("a", 0, sigma=1000)
    gp.Normal("y", 1 / (1 + gp.exp(a)), tau=1, observed=0.0)


def steep():
    """A change of one has a log density of less than -1e80."""
    gp.Poisson("y", gp.exp(200 * gp.Normal("a", 0, sigma=1)), observed=1)


def overflowing_everywhere():
    a = gp.Normal("a", 400, sigma=1e-3)
    gp.Normal("y", 0, tau=gp.exp(a), observed=0.0)


def without_digits_anywhere():
    x = gp.Normal("x", 0, sigma=1e-8)
    gp.Normal("y", x, sigma=1e-8, observed=1.0)


def test_a_start_is_settled_where_there_is_room():
    sampler = compiled(vague)
    graph, data = sampler.graph, sampler.data
    for seed in (3, 4):
        found = states(np.random.default_rng(seed), graph, sampler.program, data)

        assert len(found.compared) == 2
        values = {**data, **found.start}
        assert min(log_density(f, values, graph.sizes).min() for f in graph.factors) > LEAST
        assert not overflows(graph.factors, values, graph.sizes)


def test_walks_do_not_go_where_a_power_overflows():
    sampler = compiled(saturated)
    graph, data = sampler.graph, sampler.data
    ends = [
        float(wandered(np.random.default_rng(s), graph, data, {"a": np.array(100.0)})["a"])
        for s in range(30)
    ]

    assert max(ends) > 150
    assert max(ends) < np.log(np.finfo(float).max) / 2


def test_changes_are_so_small_that_digits_are_kept():
    sampler = compiled(steep)
    steps, parts = sampler.schedule.steps, (sampler.data, {"a": np.array(0.0)})
    for seed in range(20):
        rng = np.random.default_rng(seed)
        (row,) = ratio_check(rng, sampler.graph, sampler.program, steps, *parts)

        assert row.proved
        assert row.tolerance < 1


@pytest.mark.parametrize("declare", [overflowing_everywhere, without_digits_anywhere])
def test_where_no_state_can_be_compared_nothing_is_proved_and_every_row_says_so(declare):
    sampler = compiled(declare)
    found = sampler.verify(1)

    assert found.passed
    assert {s.name for s in sampler.schedule.steps} < {r.step for r in found.rows}
    assert not any(r.proved for r in found.rows)
    assert "not proved" in str(found)
