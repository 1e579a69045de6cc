"""An index takes labels, and makes or checks the dim; gaps of all libraries are gaps."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xarray as xr

import gibbsppl as gp

GIVEN = ["Oslo", "Lund", "Oslo"]
KINDS = {
    "list": GIVEN,
    "numpy": np.array(GIVEN),
    "objects": np.array(GIVEN, dtype=object),
    "pandas": pd.Series(GIVEN),
    "pandas categorical": pd.Series(GIVEN, dtype="category"),
    "Categorical": pd.Categorical(GIVEN),
    "polars": pl.Series(GIVEN),
    "polars categorical": pl.Series(GIVEN, dtype=pl.Categorical),
    "xarray": xr.DataArray(GIVEN, dims="i"),
}
TOWNS = ["Bergen", "Oslo", "Lund"]


def pointing(values, coords=None, **more):
    with gp.Model(coords=coords) as made:
        gp.Index("town_of", values, of="town", dims="i", **more)
    return made


@pytest.mark.parametrize("values", KINDS.values(), ids=KINDS)
def test_labels_make_a_dim_or_are_looked_up_in_it(values):
    made, checked = pointing(values), pointing(values, {"town": TOWNS})

    assert made.coords["town"].tolist() == ["Lund", "Oslo"]
    assert made.data["town_of"].tolist() == [1, 0, 1]
    assert checked.data["town_of"].tolist() == [1, 2, 1]
    with pytest.raises(gp.ModelError, match=r"town_of: found the label 'Oslo' at entry 0.*town"):
        pointing(values, {"town": ["Lund", "Osla"]})


def test_the_nearest_label_is_named():
    with pytest.raises(gp.ModelError, match="Did you mean 'Lund'"):
        pointing(["Lnud"], {"town": TOWNS})


@pytest.mark.parametrize("kind", [pd.Categorical, lambda x, categories: pl.Series(
    x, dtype=pl.Enum(categories))], ids=["pandas", "polars"])  # fmt: skip
def test_categories_keep_their_order_and_those_without_entries(kind):
    made = pointing(kind(GIVEN, categories=TOWNS))

    assert made.coords["town"].tolist() == TOWNS
    assert made.data["town_of"].tolist() == [1, 2, 1]


LABELS = {
    "dates": np.array(["2024-02-01", "2024-01-01"], dtype="datetime64[D]"),
    "timestamps": pd.Series(pd.to_datetime(["2024-02-01", "2024-01-01"])),
    "pairs": [("b", 1), ("a", 2)],
    "numbers": pd.Categorical([20, 10]),
}


@pytest.mark.parametrize("values", LABELS.values(), ids=LABELS)
def test_labels_of_any_kind_are_sorted(values):
    assert pointing(values).data["town_of"].tolist() == [1, 0]


MISSING = {
    "None": ["a", None],
    "NA": pd.Series(["a", None], dtype="string"),
    "NaN": pd.Series(["a", np.nan], dtype=object),
    "no category": pd.Categorical(["a", None]),
    "null": pl.Series(["a", None]),
    "NaT": np.array(["2024-01-01", "NaT"], dtype="datetime64[D]"),
}


@pytest.mark.parametrize("values", MISSING.values(), ids=MISSING)
def test_missing_labels_are_refused(values):
    with pytest.raises(gp.ModelError, match="the label at entry 1 is missing"):
        pointing(values)


def test_numbers_are_positions_and_never_labels_in_silence():
    assert pointing([0.0, 2.0], {"town": [1, 2, 3]}).data["town_of"].tolist() == [0, 2]
    assert pointing([1, 0], {"town": [0, 1]}).data["town_of"].tolist() == [1, 0]
    with pytest.raises(gp.ModelError, match="all of which are labels of 'town'"):
        pointing([1, 2], {"town": [1, 2, 3]})


def test_labels_need_a_dim_with_labels():
    with pytest.raises(gp.ModelError, match="'town' was given by its size alone"):
        pointing(GIVEN, {"town": 2})


def test_entries_are_aligned_before_they_are_looked_up():
    made = pointing(pd.Series(GIVEN, index=[*"cab"]), {"i": [*"abc"]})

    assert made.data["town_of"].tolist() == [0, 1, 1]


def test_predictions_take_labels():
    with gp.Model() as made:
        town_of = gp.Index("town_of", [*"abab"], of="town", dims="i")
        theta = gp.Normal("theta", 0, sigma=1, dims="town")
        gp.Normal("y", theta[town_of], sigma=0.1, dims="i", observed=[1.0, 5.0, 1.0, 5.0])
    sampler = gp.compile(made)
    draws = sampler.sample(20, warmup=5, chains=1, seed=1, progress=False)

    by_label = sampler.predict(draws, {"town_of": ["b", "a", "a"]}).mean
    np.testing.assert_array_equal(by_label, sampler.predict(draws, {"town_of": [1, 0, 0]}).mean)
    assert by_label[0] > by_label[1] == by_label[2]
    assert draws.coords["town"].tolist() == ["a", "b"]
    with pytest.raises(gp.RunError, match=r"new\['town_of'\]: found the label 'c' at entry 1"):
        sampler.predict(draws, {"town_of": ["a", "c"]})


GAPS = {
    "None": [1, None, 3],
    "mask": np.ma.masked_equal([1, -9, 3], -9),
    "NA": pd.Series([1, None, 3], dtype="Int64"),
    "null": pl.Series([1, None, 3]),
    "null of floats": pl.Series([1.0, None, 3.0]),
    "objects": np.array([1, None, 3], dtype=object),
    "NaN of pandas": pd.Series([1, np.nan, 3]),
    "NaN of pandas among objects": pd.Series([1, np.nan, 3], dtype=object),
    "NaN of xarray": xr.DataArray([1.0, np.nan, 3.0], dims="i"),
}


@pytest.mark.parametrize("values", GAPS.values(), ids=GAPS)
def test_gaps_of_all_libraries_are_gaps(values):
    with gp.Model() as made:
        gp.Poisson("n", 2, dims="i", observed=values)
        with pytest.raises(gp.ModelError, match=r"the entry at position \(1,\) is missing"):
            gp.Data("x", values, dims="i")

    assert made.data["n.known"].tolist() == [1, 0, 1]
    assert made.data["n"].dtype.kind == "i"


def test_tables_of_polars_have_gaps_too():
    with gp.Model() as made:
        table = pl.DataFrame({"a": [1, None], "b": [3, 4]})
        gp.Poisson("n", 2, dims=("i", "j"), observed=table)

    assert made.data["n.known"].tolist() == [[1, 1], [0, 1]]


def test_nan_in_tables_of_pandas_is_a_gap_in_each_type_of_column():
    mixed = pd.DataFrame({"a": [1.0, np.nan], "b": pd.Series([None, 4], dtype="Int64")})
    with gp.Model() as made:
        for name, table in {"n": mixed, "k": mixed.astype(float)}.items():
            gp.Poisson(name, 2, dims=("i", "j"), observed=table)

    for name in ("n", "k"):
        assert made.data[f"{name}.known"].tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("kind", [list, np.array, pl.Series])
def test_nan_is_no_gap_where_gaps_have_another_mark(kind):
    with gp.Model(), pytest.raises(gp.ModelError, match=r"y: found nan at position \(1,\)"):
        gp.Normal("y", 0, sigma=1, dims="i", observed=kind([1.0, np.nan, 3.0]))


@pytest.mark.parametrize(
    "mask", [pd.Series([0, 1, 0], dtype="boolean"), pl.Series([False, True, False])]
)
def test_masks_come_from_all_libraries(mask):
    with gp.Model() as made:
        gp.Poisson("n", 2, dims="i", observed=pd.Series([1, -9, np.nan]), missing=mask)

    assert made.data["n.known"].tolist() == [1, 0, 0]


def test_a_mask_has_no_gaps_itself():
    mask = pd.Series([False, None, False], dtype="boolean")
    with gp.Model(), pytest.raises(gp.ModelError, match="missing= is itself missing"):
        gp.Poisson("n", 2, dims="i", observed=[1, 2, 3], missing=mask)


def test_all_rows_without_a_value_are_named():
    x = pd.Series([np.nan, 1.0, np.nan])
    with gp.Model(), pytest.raises(gp.ModelError, match=r"the 2 entries at positions \(0,\), \(2"):
        gp.Data("x", x, dims="i")


def test_predictions_take_nullable_columns_and_no_gaps():
    with gp.Model() as model:
        x = gp.Data("x", [0.0, 1.0], dims="i")
        gp.Normal("y", gp.Normal("b", 0, sigma=1) * x, sigma=1, dims="i", observed=[1.0, 2.0])
    sampler = gp.compile(model)
    draws = sampler.sample(5, warmup=0, chains=1, seed=1, progress=False)

    found = [
        sampler.predict(draws, new={"x": v}).mean
        for v in ([1.0, 3.0], pd.Series([1, 3], dtype="Int64"), pl.Series([1, 3]))
    ]

    assert all(np.array_equal(found[0], f) for f in found[1:])
    with pytest.raises(gp.RunError, match=r"the entry at position \(1,\) is missing"):
        sampler.predict(draws, new={"x": pd.Series([1, None], dtype="Int64")})


def test_nan_of_polars_is_no_null():
    with gp.Model(), pytest.raises(gp.ModelError, match="nan at position"):
        gp.Normal("y", 0, sigma=1, dims="i", observed=pl.Series([1.0, float("nan"), None]))


def test_neighbours_are_positions_whatever_labels_sites_have():
    with gp.Model(coords={"site": [1, 2, 3]}) as model:
        first, second = gp.Neighbours("border", [[1], [0, 2], [1]], of="site")

    found = {(int(i), int(j)) for i, j in zip(*(model.data[str(t.expr.array.name)]
             for t in (first, second)), strict=True)}  # fmt: skip
    assert found == {(0, 1), (1, 2)}
