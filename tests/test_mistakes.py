"""Two hundred mistakes: none is silent, none ends in an error of another library."""

import math
import operator

import numpy as np
import pandas as pd
import pytest
from mistakes import MISTAKES, lines

import gibbsppl as gp
from gibbsppl.elsewhere import PARAMETERS, ROWS
from gibbsppl.families import FAMILIES
from gibbsppl.language.distributions import spellings


@pytest.fixture(scope="module")
def made():
    with gp.Model(coords={"i": 2}) as model:
        theta = gp.Normal("theta", 0, sigma=1, dims="i")
        gp.Normal("y", theta, sigma=1, dims="i", observed=[1.0, 2.0])
    sampler = gp.compile(model)
    return sampler, sampler.sample(5, warmup=5, chains=2, seed=1, progress=False)


def said(line, sampler, draws):
    """What is said to a mistake."""
    with gp.Model(coords={"i": 3, "j": 3, "town": [*"abc"]}) as model:
        names = {
            "gp": gp, "np": np, "pd": pd, "math": math, "m": model, "s": sampler, "draws": draws,
            "x": gp.Normal("x", 0, sigma=1, dims="i"), "z": gp.Normal("z", 0, sigma=1),
            "w": gp.Normal("w", 0, sigma=1, dims=("i", "j")), "set_item": operator.setitem,
        }  # fmt: skip

        try:
            found = eval(line, names)  # noqa: S307  (lines of our own)
        except gp.GibbspplError as error:
            return str(error)
    raise AssertionError(f"{line}: silent, made {found!r}")


@pytest.mark.parametrize("theme", MISTAKES)
def test_what_is_said_to_mistakes_is_what_was_reviewed(theme, made, golden):
    told = [f"{line}\n    {' '.join(said(line, *made).split())}" for line in lines(theme)]

    golden(f"mistakes/{theme.replace(' ', '_')}.txt", "\n".join(told))


def test_there_are_two_hundred():
    every = [line for theme in MISTAKES for line in lines(theme)]

    assert len(every) == len(set(every)) >= 200


def test_no_row_of_the_tables_is_of_a_name_that_is_known():
    assert not [n for n in ROWS["gibbsppl"] if n in dir(gp)]
    assert not [n for n in ROWS["Tensor"] if n in dir(gp.Tensor)]
    assert not [n for n in ROWS["Model"] if n in dir(gp.Model)]
    assert not [n for n in ROWS["Sampler"] if n in dir(gp.Sampler)]
    assert not [n for n in ROWS["Draws"] if n in dir(gp.Draws)]


def test_parameters_are_told_as_some_distribution_has_them():
    known = {n for family in FAMILIES.values() for way in spellings(family) for n in way}

    assert not [n for names in PARAMETERS.values() for n in names if n not in known]
    assert all(n not in names for n, names in PARAMETERS.items())


def test_unknown_names_are_attribute_errors_too():
    assert not hasattr(gp, "Norml")
    with pytest.raises(AttributeError, match="Did you mean 'Normal'"):
        gp.Norml  # noqa: B018
