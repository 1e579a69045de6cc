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
    "shape": ({"x": [1.0, 2.0]}, r"town_of has 'i' too, which gets 2 positions"),
    "axes": ({"x": [[1.0, 2.0, 3.0]]}, r"x: the array has 2 axes"),
    "two sizes": ({"x": [1.0] * 4, "n": [5] * 5}, r"found 5 positions along 'i', of which x has 4"),
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


def series(y, steps, ward_of, wards):
    """Autoregression by wards, of any size: regions, positions, lags, sums, a simplex by size."""
    with gp.Model(coords={"ward": wards, "t": steps}) as model:
        ward = gp.Index("ward_of", ward_of, of="ward", dims="row")
        level = gp.Normal("level", 0, sigma=2, dims="ward")
        x = gp.Array("x", dims="t")
        x[0], x[1:] = gp.Normal(0, sigma=3), gp.Normal(x.lag("t"), sigma=1)
        gp.Deterministic("levels", level.sum("ward"))
        gp.Deterministic("first", x.at("t", 0))
        gp.Normal("y", level[ward] + x.at("t", 0), sigma=1, dims="row", observed=y)
    return model


def test_dims_may_get_other_sizes():
    first = series([0.5, 1.0, None], 6, [0, 1, 1], ["a", "b"])
    expected = series([0.5, None, 2.0, 3.0, 1.0], 9, [0, 1, 2, 2, 0], ["c", "d", "e"])

    made = first.with_data(
        {"y": [0.5, None, 2.0, 3.0, 1.0], "ward_of": [0, 1, 2, 2, 0]},
        coords={"ward": ["c", "d", "e"], "t": 9},
    )

    assert made.graph == expected.graph
    assert made.data.keys() == expected.data.keys()
    for name, values in expected.data.items():
        np.testing.assert_array_equal(made.data[name], values, err_msg=name)
    for name, labels in expected.coords.items():
        np.testing.assert_array_equal(made.coords[name], labels, err_msg=name)
    draws = [
        gp.compile(m).sample(5, warmup=2, chains=1, seed=1, progress=False)
        for m in (made, expected)
    ]
    assert all(np.array_equal(draws[0][name], draws[1][name]) for name in draws[1])


def of_means():
    with gp.Model(coords={"t": 6}) as model:
        x = gp.Normal("x", 0, sigma=1, dims="t")
        gp.Normal("y", x.mean("t"), sigma=1, observed=0.5)
    return model


def at_the_end():
    with gp.Model(coords={"t": 6}) as model:
        x = gp.Normal("x", 0, sigma=1, dims="t")
        gp.Normal("y", x.at("t", -1), sigma=1, observed=0.5)
    return model


NOT_CARRIED = {
    "labels": (plain, {"town_of": [*"abc"]}, {"town": ["a", "b", "c"]}, None),
    "unknown dim": (plain, {}, {"place": 3}, "coords has 'place'"),
    "too few": (plain, {}, {"town": ["a"]}, r"town_of: found 1, .* below 1"),
    "mean": (of_means, {}, {"t": 8}, r"'t' gets 8 positions, and an expression .* of its 6"),
    "end": (at_the_end, {}, {"t": 8}, r"y: .*'t' at position 5 of 6, near its end"),
}


@pytest.mark.parametrize(("declared", "values", "coords", "told"), NOT_CARRIED.values(),
                         ids=NOT_CARRIED)  # fmt: skip
def test_sizes_that_do_not_fit_are_refused(declared, values, coords, told):
    if told is None:
        assert declared().with_data(values, coords=coords).data["town_of"].tolist() == [0, 1, 2]
        return
    with pytest.raises(gp.ModelError, match=told):
        declared().with_data(values, coords=coords)
