"""Checks where numbers end: rates that round to zero, densities without bound at an end."""

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.checks.verification import verify
from gibbsppl.code.program import load


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


@pytest.mark.parametrize("declare", [of_a_shape_and_scale, of_a_share_near_one])
def test_what_is_right_passes_up_to_the_ends_of_numbers(declare):
    sampler = gp.compile(declare())

    assert all(sampler.verify(seed=seed).passed for seed in range(2))


@pytest.mark.parametrize(
    ("declare", "right", "wrong"),
    [
        (of_a_shape_and_scale, "at_most(y, a)", "at_most(0 * y, a)"),
        (of_a_share_near_one, "eta_1 = b - 1", "eta_1 = 0.9 * b - 1"),
    ],
)
def test_what_is_wrong_there_does_not(declare, right, wrong):
    sampler = gp.compile(declare())
    assert right in sampler.source
    planted = load(sampler.source.replace(right, wrong))

    found = verify(sampler.graph, planted, sampler.schedule.steps, sampler.data, 1)
    assert not found.passed
