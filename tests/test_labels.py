"""Labels of dims: what is none is refused; others are told, saved and read back."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest

import gibbsppl as gp
from gibbsppl.language import coordinates

REFUSED = {
    "pandas' NA": (["a", pd.NA], "the missing label <NA> at position 1"),
    "a text that is missing": (
        pd.Series(["a", None], dtype="string"),
        "the missing label nan at position 1|the missing label <NA> at position 1",
    ),
    "a masked label": (np.ma.masked_equal([1, 2], 2), "the missing label None at position 1"),
    "sets": ([{1}, {2}], r"the label \{1\} at position 0, which can change"),
    "dicts": (np.array([{}, []], dtype=object), r"the label \{\} at position 0, which can change"),
    "arrays": (
        np.array([np.zeros(2), np.zeros(3)], dtype=object),
        r"the label array\(\[0., 0.\]\) at position 0, which can change",
    ),
    "spans of no unit": (np.array([1, 2], "m8"), "expected labels in a row"),
}


@pytest.mark.parametrize(("labels", "told"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_label_is_refused(labels, told):
    with pytest.raises(gp.ModelError, match=f"dimension 'i' has.* ({told})"):
        gp.Model(coords={"i": labels})


def test_more_positions_than_memory_are_refused(monkeypatch):
    def too_many(_):
        raise MemoryError

    monkeypatch.setattr(coordinates.np, "empty", too_many)
    with pytest.raises(gp.ModelError, match="'i' has more positions than there is memory"):
        gp.Model(coords={"i": 10**12})


SAVED = {
    "tuples": (pd.MultiIndex.from_tuples([(1, 2), (1, 3)]), ["(1, 2)", "(1, 3)"]),
    "dates": ([dt.date(2020, 1, 1), dt.date(9999, 1, 2)], ["2020-01-01", "9999-01-02"]),
    "far times": (np.array(["0001-01-01", "9999-01-02"], "M8[D]"), ["0001-01-01", "9999-01-02"]),
    "short times": (
        np.array([1, 2], "M8[as]"),
        [f"1970-01-01T00:00:00.00000000000000000{n}" for n in (1, 2)],
    ),
    "years": (np.array([1, 2], "m8[Y]"), ["1 years", "2 years"]),
    "five days": (np.array([1, 2], "m8[5D]"), ["5 days", "10 days"]),
}


@pytest.mark.parametrize(("labels", "read"), SAVED.values(), ids=SAVED)
def test_labels_that_no_file_has_are_saved_as_text(labels, read, tmp_path):
    with gp.Model(coords={"i": labels}) as model:
        gp.Normal("x", 0, sigma=1, dims="i")
    draws = gp.Draws({"x": np.zeros((1, 4, 2))}, {"x": ("i",)}, {"i": model.coords["i"]})
    draws.save(tmp_path / "draws.nc")

    assert gp.load_draws(tmp_path / "draws.nc").coords["i"].tolist() == read


def test_times_come_back_as_times(tmp_path):
    times = np.array(["1700-01-01", "2020-01-02"], "M8[D]")
    gp.Draws({"x": np.zeros((1, 4, 2))}, {"x": ("i",)}, {"i": times}).save(tmp_path / "draws.nc")

    assert (gp.load_draws(tmp_path / "draws.nc").coords["i"] == times).all()
