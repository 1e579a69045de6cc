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


def exponential():
    """(That values of ``exp(x)`` may be too small for numbers does not hide it.)"""
    x = gp.Flat("x")
    gp.Normal("y", mu=gp.exp(x), tau=3, observed=0.5)


@pytest.mark.parametrize("declare", [quadratic, logarithmic, balanced, exponential])
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


def square_between_bounds():
    x = gp.Uniform("x", -1, 2)
    gp.Potential("p", gp.Data("strength", 2.0) * x**2)


def square_of_a_positive_value():
    """A value that truncates another one: its log density rises up to what was seen."""
    r = gp.Gamma("r", 2, rate=1)
    gp.Rayleigh("y", tau=1.5, lower=r, observed=2.2)


def reciprocal_between_bounds():
    x = gp.Uniform("x", 0.5, 2)
    gp.Potential("p", 2 * x + 1 / x - 3 * gp.log(x))


@pytest.mark.parametrize(
    "declare", [square_between_bounds, square_of_a_positive_value, reciprocal_between_bounds]
)
def test_terms_that_outweigh_the_prior_between_bounds(declare):
    """Between finite bounds any natural parameters have a density."""
    with gp.Model() as model:
        declare()

    assert gp.compile(model).verify().proved


def flat_between_bounds():
    x = gp.HalfFlat("x", dims="i")
    gp.Uniform("y", 0, x[0], observed=0.5)


def constant_between_bounds():
    x = gp.Flat("x", dims="i")
    gp.Uniform("y", x[0], x[0] + 1, observed=0.5)


@pytest.mark.parametrize("declare", [flat_between_bounds, constant_between_bounds])
def test_elements_that_no_bound_narrows_are_named(declare):
    """Of an array whose other elements are between bounds."""
    with gp.Model(coords={"i": 2}) as model:
        declare()

    with pytest.raises(gp.RunError, match=r"^x: the posterior is improper"):
        gp.compile(model).initial_states(1, seed=1)
