"""The same model with other data: as if declared with these, or refused."""

import numpy as np
import pytest

import gibbsppl as gp


def plain(y=(1.0, None, 3.0), x=(0.5, -1.0, 2.0), town_of="aba", n=(3, 3, 3), k=(1, 2, 3)):
    with gp.Model(coords={"town": ["a", "b"], "i": 3}) as model:
        of = gp.Index("town_of", [*town_of], of="town", dims="i")
        theta = gp.Normal("theta", 0, sigma=2, dims="town")
        b, p = gp.Normal("b", 0, sigma=1), gp.Beta("p", 1, 1)
        x = gp.Data("x", [*x], dims="i")
        gp.Normal("y", theta[of] + b * x, sigma=1, dims="i", observed=[*y])
        z = gp.Array("z", dims="i", observed=[*y])
        z[0], z[1:] = gp.Normal(0, sigma=1), gp.Normal(b, sigma=1)
        gp.Binomial("k", gp.Data("n", [*n], dims="i"), p, dims="i", observed=[*k])
    return model


ANEW = {"x": (1.5, 2.0, -2.0), "town_of": "bba", "n": (5, 6, 7), "k": (5, 0, 2)}
SEEN = {
    "other gaps": (None, 7.0, 8.0),
    "no gaps": (2.0, 7.0, 8.0),
    "none known": (None, None, None),
    "gaps elsewhere": (2.0, None, None),
}


@pytest.mark.parametrize("seen", SEEN.values(), ids=SEEN)
def test_data_are_those_of_a_model_declared_with_them(seen):
    first, expected = plain(), plain(y=seen, **ANEW)
    before = {n: v.copy() for n, v in first.data.items()}

    made = first.with_data({n: [*v] for n, v in {**ANEW, "y": seen, "z": seen}.items()})

    assert made.data.keys() == expected.data.keys()
    for name, values in expected.data.items():
        np.testing.assert_array_equal(made.data[name], values, err_msg=name)
    for name, values in before.items():
        np.testing.assert_array_equal(first.data[name], values, err_msg=name)
    assert str(made.graph) == str(expected.graph)
    assert made.graph.statements == expected.graph.statements
    assert made.graph.variables == expected.graph.variables


def test_what_is_observed_as_data_goes_with_them():
    with gp.Model() as model:
        d = gp.Data("d", [1.0, 2.0], dims="i")
        gp.Normal("y", 0, sigma=1, dims="i", observed=d)

    assert model.with_data({"d": [3.0, 4.0]}).data["y"].tolist() == [3.0, 4.0]


def test_samplers_of_other_data_are_those_of_the_model_declared_with_them():
    anew = {n: [*v] for n, v in ANEW.items()}
    made, expected = (
        gp.compile(m).sample(5, warmup=2, chains=1, seed=1, progress=False)
        for m in (plain().with_data(anew), plain(**ANEW))
    )

    assert all(np.array_equal(made[name], expected[name]) for name in expected)


def test_arrays_made_from_the_first_values_are_refused():
    with gp.Model() as model:
        d = gp.Data("d", [1.0, 2.0], dims="i")
        x = gp.Array("x", dims="i")
        x[0], x[1] = d.at("i", 0), gp.Normal(0, sigma=1)

    with pytest.raises(gp.ModelError, match="x was made from the first values"):
        model.with_data({"d": [3.0, 4.0]})


REFUSED = {
    "yy": ({"yy": [1.0]}, r"expected names of data.*Did you mean 'y'"),
    "theta": ({"theta": [1.0, 2.0]}, r"found 'theta'"),
    "shape": ({"x": [1.0, 2.0]}, r"x: found an array of shape \(2,\), expected \(3,\)"),
    "label": ({"town_of": [*"abc"]}, r"town_of: found the label 'c'"),
    "support": ({"k": [4, 0, 0]}, r"k: found 4"),
    "trials": ({"n": [2, 3, 2]}, r"k: found 3"),
    "sign": ({"n": [-1, 3, 3]}, r"n: found -1, where all its first values were above 0"),
    "no mapping": ([1.0], r"expected values by name"),
}


@pytest.mark.parametrize(("values", "told"), REFUSED.values(), ids=REFUSED)
def test_what_does_not_fit_is_refused(values, told):
    with pytest.raises(gp.ModelError, match=told):
        plain().with_data(values)
