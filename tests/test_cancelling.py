"""Log densities that moves evaluate keep their digits where terms of them nearly cancel."""

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.model.density import log_joint


def degrees_of_freedom():
    x = gp.InverseGamma("x", shape=0.5, scale=1)
    gp.StudentT("y", nu=x, mu=2, sigma=1, dims="i", observed=[2.0, 3.1, 0.5])


def of_each():
    x = gp.InverseGamma("x", shape=0.5, scale=1, dims="i")
    gp.StudentT("y", nu=x, mu=2, sigma=1, dims="i", observed=[2.0, 3.1, 0.5])


def of_half():
    x = gp.InverseGamma("x", shape=0.5, scale=1)
    gp.HalfStudentT("y", nu=x, scale=2, dims="i", observed=[2.0, 3.1, 0.5])


def of_a_scale():
    x = gp.InverseGamma("x", shape=0.5, scale=1)
    gp.StudentT("y", nu=x, mu=2, sigma=1.5, dims="i", observed=[2.0, 3.1, 0.5])


def of_a_ratio():
    x = gp.InverseGamma("x", shape=0.5, scale=1)
    gp.FisherSnedecor("y", nu_1=x, nu_2=1.5, dims="i", observed=[2.0, 3.1, 0.5])


def of_sums():
    x = gp.InverseGamma("x", shape=0.5, scale=1, dims="i")
    total = gp.sum(x * gp.Data("weight", [0.1, 0.4, 0.2], dims="i"), "i")
    gp.FisherSnedecor("y", nu_1=total, nu_2=1.5, lower=0.2, observed=0.6)


OF_EACH = (of_each, of_sums)
DECLARED = [degrees_of_freedom, of_each, of_half, of_a_scale, of_a_ratio, of_sums]


@pytest.mark.parametrize("declare", DECLARED)
@pytest.mark.parametrize("far", [1e-300, 1e12, 1e20, 1e100, 2e305])
def test_the_log_density_of_a_move_keeps_its_digits_far_out(declare, far):
    """Degrees of freedom that are huge make a normal of a Student t: of x the prior is left."""
    with gp.Model(coords={"i": 3}) as model:
        declare()
    sampler = gp.compile(model)
    near = np.ones(3 if declare in OF_EACH else ())
    given = sampler.program.given_rest["x"]({"x": near}, sampler.constants)
    with np.errstate(all="ignore"):
        found = np.sum(given(near * far)) - np.sum(given(near))
    joint = [log_joint(model.graph, {**model.data, "x": near * v}) for v in (far, 1.0)]

    assert sampler.schedule.step("x").kind == "move"
    assert found == pytest.approx(joint[0] - joint[1], rel=1e-9)
