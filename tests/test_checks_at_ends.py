"""Checks where numbers end: rates that round to zero, densities without bound at an end."""

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.checks.verification import verify
from gibbsppl.code.program import load
from gibbsppl.schedule.densities import has_no_digits


def of_a_shape_and_scale():
    """A lifetime whose rate, ``scale**-shape``, is too small for a number far from its centre."""
    with gp.Model(coords={"k": 2}, name="lifetimes") as model:
        a = gp.Gamma("a", 0.5, rate=1)
        gp.Weibull("y", shape=a, scale=a, upper=a, dims="k", observed=[0.36, 0.02])
    return model


def of_a_share_near_one():
    """A censored share whose density grows without bound where it is one."""
    with gp.Model(coords={"i": 2}, name="shares") as model:
        b = gp.Gamma("b", 2, rate=3)
        share = gp.Beta(a=1.0, b=b)
        gp.Censored("y", share, dims="i", observed=[0.9, 0.2], event=np.array([0, 1]))
    return model


def of_a_heavy_tail():
    """A softmax of scores so far apart that a sum of exponentials is no number."""
    text = """model {
      mu[1] <- 1  mu[2] <- 1
      x[1:2] ~ dmt(mu[1:2], T[1:2, 1:2], 0.5)
      for (i in 1:2) { z[i] ~ dexp(1)  e[i] <- exp(2 * x[i]) }
      total ~ dgamma(sum(z[1:2]), sum(z[1:2]) / 0.5)
      for (i in 1:2) { p[i] <- e[i] / sum(e[1:2]) }
      y ~ dcat(p[1:2])
    }"""
    scale = np.array([[1.395, 0.018], [0.018, 1.308]])
    return gp.read_bugs(text, {"T": scale, "total": 0.8, "y": 1})


ALL = [of_a_shape_and_scale, of_a_share_near_one, of_a_heavy_tail]


@pytest.mark.parametrize("declare", ALL)
def test_what_is_right_passes_up_to_the_ends_of_numbers(declare):
    sampler = gp.compile(declare())

    assert all(sampler.verify(seed=seed).passed for seed in range(2))


def test_powers_that_are_no_numbers_keep_no_digits():
    with gp.Model(coords={"i": 3}, name="powers") as model:
        k = gp.Gamma("k", 2, rate=4)
        c = gp.Gamma("c", 400, rate=1)
        seen = np.ma.masked_array([1.06, 1.0, 0.99], mask=[0, 1, 0])
        gp.BurrXII("y", c=c, k=k, scale=1.0, dims="i", observed=seen)
    sampler = gp.compile(model)
    step, sizes = sampler.schedule.step("y"), sampler.graph.sizes
    assert "BetaPrime of y[i]**(-c)" in str(sampler)

    def lost(y, c):
        values = {**sampler.data, "y": np.array([1.06, y, 0.99]), "c": np.array(c)}
        return has_no_digits(step, values, sizes)

    assert not lost(0.5, 100.0)
    assert lost(0.1, 400.0)  # (too large)
    assert lost(10.0, 400.0)  # (too small)


@pytest.mark.parametrize(
    ("declare", "right", "wrong"),
    [
        (of_a_shape_and_scale, "at_most(y, a)", "at_most(0 * y, a)"),
        (of_a_share_near_one, "eta_1 = b - 1", "eta_1 = 0.9 * b - 1"),
        (of_a_heavy_tail, "eta_1 = -exp(2 * x).sum()", "eta_1 = -exp(2.01 * x).sum()"),
    ],
)
def test_what_is_wrong_there_does_not(declare, right, wrong):
    sampler = gp.compile(declare())
    assert right in sampler.source
    planted = load(sampler.source.replace(right, wrong))

    schedule = sampler.schedule
    own = sampler.graph, planted, schedule.steps, sampler.data, 1
    assert not verify(*own, graphs=schedule.graphs, schedule=schedule).passed
