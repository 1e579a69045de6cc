"""Arrays with labels are put in the order of the model's coords, or refused; at every entry."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import gibbsppl as gp

TOWNS = ["Bergen", "Oslo", "Tromsø"]
DAYS = [8, 15]
TABLE = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
FRAME = pd.DataFrame(TABLE, index=TOWNS, columns=DAYS)
NAMED = xr.DataArray(TABLE, dims=("town", "day"), coords={"town": TOWNS, "day": DAYS})
OTHER = ["Tromsø", "Bergen", "Oslo"]

PERMUTED = {
    "rows of a frame": FRAME.loc[OTHER],
    "columns of a frame": FRAME[[15, 8]],
    "rows and columns": FRAME.loc[OTHER, [15, 8]],
    "nullable": FRAME.convert_dtypes().loc[OTHER],
    "axes of xarray": NAMED.transpose("day", "town"),
    "labels of xarray": NAMED.sel(town=OTHER, day=[15, 8]),
    "both of xarray": NAMED.sel(town=OTHER).transpose("day", "town"),
    "labels along one dim": NAMED.drop_vars("day").sel(town=OTHER),
    "without labels": FRAME.reset_index(drop=True),
    "names alone": NAMED.drop_vars(["town", "day"]).transpose("day", "town"),
    "no names": xr.DataArray(TABLE),
}


def model(**more):
    return gp.Model(coords={"town": TOWNS, "day": DAYS, **more})


@pytest.mark.parametrize("values", PERMUTED.values(), ids=PERMUTED)
def test_arrays_are_put_in_the_order_of_the_coords(values):
    dims = ("town", "day")
    with model() as made:
        gp.Data("x", values, dims=dims)
        gp.Normal("y", 0, sigma=1, dims=dims, observed=values)
        gp.Array("z", dims=dims, observed=values)[:, :] = gp.Normal(0, sigma=1)
        gp.Censored("t", gp.Normal(0, sigma=1), dims=dims, observed=values, lower=values - 0.5)
        gp.Index("i", values - 1, of="k", dims=dims, size=6)

    for name in ("x", "y", "z", "t"):
        np.testing.assert_array_equal(made.data[name], TABLE)
    np.testing.assert_array_equal(made.data["t.lower"], TABLE - 0.5)
    np.testing.assert_array_equal(made.data["i"], TABLE - 1)


def test_masks_are_put_in_order_too():
    mask = pd.Series([True, False, False], index=OTHER)
    with model() as made:
        gp.Normal("y", 0, sigma=1, dims="town", observed=[1.0, 2.0, 3.0], missing=mask)

    np.testing.assert_array_equal(made.data["y.known"], [1, 1, 0])


def test_neighbours_are_put_in_order():
    border = pd.DataFrame([[0, 1, 0], [1, 0, 0], [0, 0, 0]], index=TOWNS, columns=TOWNS)
    lists = pd.Series([[1], [0], []], index=TOWNS)
    with model() as made:
        gp.Neighbours("a", matrix=border.loc[OTHER, OTHER], of="town")
        gp.Neighbours("b", lists.loc[OTHER], of="town")

    assert [made.data[n].tolist() for n in ("a_first", "a_second")] == [[0], [1]]
    assert [made.data[n].tolist() for n in ("b_first", "b_second")] == [[0], [1]]


REFUSED = {
    "other labels": pd.Series([1.0, 2.0, 3.0], index=["Bergen", "Oslo", "Bodø"]),
    "labels twice": pd.Series([1.0, 2.0, 3.0], index=["Bergen", "Oslo", "Oslo"]),
    "filtered": pd.Series([1.0, 2.0, 3.0], index=[3, 4, 7]),
    "fewer": pd.Series([1.0, 2.0], index=["Bergen", "Oslo"]),
    "other labels of xarray": xr.DataArray([1, 2, 3], dims="town", coords={"town": [*"abc"]}),
}


@pytest.mark.parametrize("values", REFUSED.values(), ids=REFUSED)
def test_other_labels_are_refused(values):
    with model(), pytest.raises(gp.ModelError, match=r"x: found the labels .*'town'.*'Oslo'"):
        gp.Data("x", values, dims="town")


def test_other_names_of_axes_are_refused():
    values = xr.DataArray([1, 2, 3], dims="city")

    with model(), pytest.raises(gp.ModelError, match=r"dims \(city\), expected \(town\)"):
        gp.Data("x", values, dims="town")


def test_labels_of_numbers_and_positions_are_not_told_apart_by_guess():
    values = pd.Series([1.0, 2.0, 3.0])

    with gp.Model(coords={"i": [2, 0, 1]}), pytest.raises(gp.ModelError, match="labels"):
        gp.Data("x", values, dims="i")


@pytest.mark.parametrize("labels", [[0, 1, 2], range(3), np.arange(3)])
def test_labels_that_count_from_0_are_labels_where_they_are_given(labels):
    """(Positions were taken as they came: a shuffled column beside a list, in silence.)"""
    shuffled = pd.Series([1.0, 2.0, 3.0], index=[2, 0, 1])
    with gp.Model(coords={"i": labels}) as made:
        gp.Data("x", shuffled, dims="i")
        gp.Data("plain", [1.0, 2.0, 3.0], dims="i")
        with pytest.raises(gp.ModelError, match="labels"):
            gp.Data("z", pd.Series([1.0, 2.0, 3.0], index=[3, 5, 9]), dims="i")
    with gp.Model(coords={"i": 3}) as sized:
        gp.Data("x", shuffled, dims="i")

    assert made.data["x"].tolist() == [2.0, 3.0, 1.0]
    assert sized.data["x"].tolist() == made.data["plain"].tolist() == [1.0, 2.0, 3.0]


DATES = pd.date_range("2024-01-30", periods=3)
OF_OTHER_KINDS = [DATES, pd.period_range("2024-01", periods=3, freq="M")]
OF_OTHER_KINDS += [pd.timedelta_range("1h", periods=3), pd.Index([0.5, 1.5, 2.5])]


@pytest.mark.parametrize(
    ("labels", "index"),
    [
        *((index, index) for index in OF_OTHER_KINDS),
        (DATES.to_numpy().astype("datetime64[D]"), DATES),
        (["2024-01-30", "2024-01-31", "2024-02-01"], DATES),
        ([0, 2, 5], pd.Index([0.0, 2.0, 5.0])),
    ],
)
def test_labels_are_times_and_numbers_too(labels, index):
    values = pd.Series([1.0, 2.0, 3.0], index=index).iloc[[2, 0, 1]]
    with gp.Model(coords={"day": labels}) as made:
        gp.Data("x", values, dims="day")
        made_of_others = pd.Series([1.0, 2.0, 3.0], index=[*"abc"])
        with pytest.raises(gp.ModelError, match="labels"):
            gp.Data("z", made_of_others, dims="day")

    assert made.data["x"].tolist() == [1.0, 2.0, 3.0]


class TestWithoutLabels:
    """A dim that has no labels in coords: arrays are compared with one another."""

    def test_a_sorted_column_beside_one_that_is_not(self):
        frame = pd.DataFrame({"x": [3.0, 1.0, 2.0], "y": [1.0, 2.0, 3.0]})

        with gp.Model():
            gp.Data("x", frame["x"], dims="row")
            with pytest.raises(gp.ModelError, match=r"y: found the labels \(1, 2, 0\) along 'row'"):
                gp.Normal(
                    "y", 0, sigma=1, dims="row", observed=frame.sort_values("x")["y"]
                )

    def test_rows_of_two_filters(self):
        frame = pd.DataFrame({"x": [3.0, 1.0, 2.0], "y": [1.0, 2.0, 3.0]})

        with gp.Model():
            gp.Data("x", frame["x"][frame["x"] > 1], dims="row")
            with pytest.raises(gp.ModelError, match=r"\(1, 2\) along 'row', expected .* \(0, 2\)"):
                gp.Data("y", frame["y"][frame["y"] > 1], dims="row")

    def test_columns_of_one_frame_however_sorted(self):
        frame = pd.DataFrame({"x": [3.0, 1.0, 2.0], "y": [1.0, 2.0, 3.0]}).sort_values("x")
        with gp.Model() as made:
            gp.Data("x", frame["x"], dims="row")
            gp.Normal("y", 0, sigma=1, dims="row", observed=frame["y"])
            gp.Data("z", frame["y"].to_numpy(), dims="row")
            gp.Data("wide", frame, dims=("row", "column"))
            with pytest.raises(gp.ModelError, match=r"\('u', 'v'\) along 'column', expected"):
                gp.Data("other", frame.rename(columns={"x": "u", "y": "v"}), dims=("row", "column"))

        assert made.coords["column"].tolist() == ["x", "y"]
        assert made.data["y"].tolist() == made.data["z"].tolist() == [2.0, 3.0, 1.0]

    def test_the_first_array_with_labels_gives_them_to_the_dim(self):
        with gp.Model() as made:
            gp.Data("x", pd.Series([1.0, 2.0, 3.0], index=TOWNS), dims="town")
            gp.Data("y", pd.Series([3.0, 1.0, 2.0], index=OTHER), dims="town")
            gp.Data("z", NAMED)
            gp.Normal("w", 0, sigma=1, observed=NAMED.sel(town=OTHER))

        assert made.data["y"].tolist() == made.data["x"].tolist()
        assert made.coords["town"].tolist() == TOWNS
        np.testing.assert_array_equal(made.data["z"], TABLE)
        np.testing.assert_array_equal(made.data["w"], TABLE)

    def test_rows_and_columns_of_a_square_matrix(self):
        covariance = pd.DataFrame(np.eye(2), index=["a", "b"], columns=["b", "a"])

        with gp.Model(), pytest.raises(gp.ModelError, match="labels"):
            gp.Data("s", covariance, dims=("k", "k'"))


@pytest.fixture(scope="module")
def rain():
    with model() as made:
        x = gp.Data("x", [1.0, 2.0, 4.0], dims="town")
        a, b = gp.Normal("a", 0, sigma=1, dims="town"), gp.Normal("b", 0, sigma=1)
        gp.Normal("y", a + b * x, sigma=1, dims="town", observed=[1.0, 2.0, 3.0])
    return gp.compile(made)


def test_initial_values_are_put_in_order(rain):
    init = {"a": pd.Series([3.0, 1.0, 2.0], index=OTHER)}
    states, _ = rain.initial_states(1, 1, init)

    assert states[0].state["a"].tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(gp.RunError, match="init: a: found the labels"):
        rain.initial_states(1, 1, {"a": REFUSED["other labels"]})


def test_new_data_of_the_model_s_own_positions_are_put_in_order(rain):
    draws = rain.sample(50, warmup=10, chains=1, seed=1, progress=False)
    values = pd.Series([6.0, 2.0, 4.0], index=OTHER)
    own = {"town": 0}

    found = rain.predict(draws, {"x": values, **own}).mean
    np.testing.assert_array_equal(found, rain.predict(draws, {"x": [2.0, 4.0, 6.0], **own}).mean)
    with pytest.raises(gp.RunError, match=r"new\['x'\]: found the labels"):
        rain.predict(draws, {"x": REFUSED["other labels"], **own})


def test_new_data_of_new_positions_are_labelled_alike():
    with gp.Model() as made:
        x, z = gp.Data("x", [1.0, 2.0], dims="i"), gp.Data("z", [1.0, 2.0], dims="i")
        b = gp.Normal("b", 0, sigma=1)
        gp.Normal("y", b * x + z, sigma=1, dims="i", observed=[1.0, 2.0])
    sampler = gp.compile(made)
    draws = sampler.sample(50, warmup=10, chains=1, seed=1, progress=False)
    new = pd.DataFrame({"x": [1.0, 2.0, 3.0], "z": [1.0, 2.0, 3.0]}, index=[*"abc"])

    assert sampler.predict(draws, dict(new)).mean.shape == (3,)
    with pytest.raises(gp.RunError, match="where new"):
        sampler.predict(draws, {"x": new["x"], "z": new["z"][::-1]})
