"""Functions of the language at numbers alone: where a number stands, they stand for their value."""

# ruff: noqa: FBT003  (that numbers of Python are taken is what is tested)

import numpy as np
import pytest
import sympy as sp
from scipy.sparse import coo_array

import gibbsppl as gp
from gibbsppl.algebra import functions

# Each is two.
TWO = {
    "a gate of Python": lambda: gp.where(False, 1.0, 2.0),
    "a gate of NumPy": lambda: gp.where(np.bool_(True), 2, 3),
    "a product": lambda: gp.where(True, 1, 5) * 2,
    "a comparison": lambda: 1 + gp.step(3),
    "another": lambda: 2 * gp.equals(1, 1) - gp.equals(1, 2),
    "a share": lambda: 4 * gp.expit(0),
    "a probability": lambda: 4 * gp.Phi(0),
    "a smallest value": lambda: gp.minimum(gp.where(True, 2, 3), 7),
    "Python's own": lambda: True + gp.exp(0),
}

DECLARED = {
    "an upper end": lambda two, o: gp.Uniform("x", 0, two(), dims="i", observed=o),
    "a lower end": lambda two, o: gp.Uniform("x", 1 - two(), 3, dims="i", observed=o),
    "a truncation": lambda two, o: gp.Normal(
        "x", 0, sigma=two(), lower=-two(), upper=two(), dims="i", observed=o
    ),
    "a total": lambda two, o: gp.Binomial("x", two(), 0.5, dims="i", observed=np.ceil(o)),
    "labels": lambda two, o: gp.DiscreteUniform("x", two() - 2, two(), dims="i"),
    "a censored value": lambda two, o: gp.Censored(
        "x", gp.Normal(0, sigma=two()), upper=two(), dims="i", observed=o
    ),
    "a known element": lambda two, o: gp.Array("x", dims="i").__setitem__(slice(None), two()),
    "counts": lambda two, o: gp.Multinomial(
        "x", two(), gp.Data("p", [0.5, 0.5], dims="i"), dims="i", observed=[1, 1]
    ),
    "stored entries": lambda two, o: gp.Binomial(
        "x", two(), 0.5, dims=("j", "i"), observed=coo_array([[1, 0]])
    ),
}


@pytest.mark.parametrize("two", TWO.values(), ids=TWO)
@pytest.mark.parametrize("declare", DECLARED.values(), ids=DECLARED)
def test_a_function_of_numbers_is_declared_as_its_value(two, declare):
    observed = np.array([0.5, 1.5])

    def model(number):
        with gp.Model(coords={"i": 2}) as made:
            declare(number, observed)
            gp.Normal("other", 0, sigma=1)
        return made

    ours, plain = model(two), model(lambda: 2.0)
    assert repr(ours.graph.variables) == repr(plain.graph.variables)


@pytest.mark.parametrize("two", ["a gate of Python", "a comparison", "a probability"])
@pytest.mark.parametrize("declare", ["an upper end", "a truncation", "labels"])
def test_a_function_of_numbers_is_sampled_as_its_value(two, declare):
    masked = np.ma.masked_array([0.5, 1.5], [False, True])
    with gp.Model(coords={"i": 2}) as model:
        DECLARED[declare](TWO[two], masked)
    sampler = gp.compile(model)

    assert sampler.verify().proved
    drawn = sampler.sample(300, warmup=10, chains=1, seed=1, keep=["x"], progress=False)["x"]
    assert 1.5 < drawn.max() <= 2


NUMBERS = {"LogMass": (-0.5, -0.1, -0.9, -2.0), "Where": (1, 3, 4), "LogStirling": (5, 2)}


@pytest.mark.parametrize(
    "function", [f for f in functions.FUNCTIONS if f.__module__ == functions.__name__]
)
def test_every_function_has_a_value_that_can_be_compared(function):
    """SymPy asks for it wherever two bounds of a support meet."""
    for count in (1, 2, 3, 4):
        try:
            value = function(*NUMBERS.get(function.__name__, [sp.Rational(1, 2)] * count))
            found = float(value)
        except TypeError:
            continue
        assert value.is_comparable
        assert sp.Max(value, -sp.oo) == value
        assert sp.Max(value, found + 1) == found + 1
        break
    else:
        pytest.fail("no value at any number of arguments")
