"""Conditionals that have no finite integral are errors that name the variable."""

import pytest

import gibbsppl as gp


def quadratic():
    x = gp.Normal("x", 0, sigma=1)
    gp.Potential("p", x**2)


def logarithmic():
    x = gp.Gamma("x", 1, rate=1)
    gp.Potential("p", -4 * gp.log(x))


def balanced():
    x = gp.Normal("x", 0, tau=2)
    gp.Potential("p", x**2)


@pytest.mark.parametrize("declare", [quadratic, logarithmic, balanced])
def test_terms_that_outweigh_the_prior(declare):
    with gp.Model() as model:
        declare()

    with pytest.raises(gp.CompileError, match=r"^x: the conditional .* no finite integral"):
        gp.compile(model)


def test_terms_that_the_prior_outweighs():
    with gp.Model() as model:
        x = gp.Normal("x", 0, tau=2)
        gp.Potential("p", 0.999 * x**2)

    assert gp.compile(model).verify().proved


def test_sweeps_that_fail_are_a_failed_check():
    """Which natural parameters come out depends on the data here: only a sweep tells."""
    with gp.Model() as model:
        strength = gp.Data("strength", 5.0)
        x = gp.Normal("x", 0, sigma=1)
        gp.Potential("p", strength * x**2)
    found = gp.compile(model).verify()

    assert not found.passed
    assert [row.step for row in found.rows if not row.passed] == ["(sweeps)"]
