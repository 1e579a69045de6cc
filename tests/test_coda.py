"""Files of the CODA format: what R's coda reads back."""

import shlex
from pathlib import Path

import numpy as np
import pytest

import gibbsppl as gp


def read_coda(prefix, chains):
    """The draws of files, by label, as R's ``read.coda`` reads them."""
    found = {}
    for line in Path(f"{prefix}index.txt").read_text(encoding="utf-8").splitlines():
        label, first, last = line.split()
        rows = [
            np.genfromtxt(f"{prefix}chain{k + 1}.txt", missing_values="NA")[
                int(first) - 1 : int(last)
            ]
            for k in range(chains)
        ]
        found[label] = np.stack(rows)
    return found


def test_draws_come_back_with_their_iterations(tmp_path):
    rng = np.random.default_rng(1)
    draws = gp.Draws(
        {"a": rng.normal(size=(2, 5)), "b": rng.normal(size=(2, 5, 2, 2)) * 1e-300},
        {"b": ("i", "j")},
        {"i": np.array([1, 2]), "j": np.array([1, 2])},
        attributes={"warmup": 100, "thin": 10},
    )
    files = draws.save_coda(tmp_path / "run-")
    assert [f.name for f in files] == ["run-index.txt", "run-chain1.txt", "run-chain2.txt"]
    found = read_coda(tmp_path / "run-", 2)

    assert list(found) == ["a", "b[1,1]", "b[1,2]", "b[2,1]", "b[2,2]"]
    np.testing.assert_array_equal(found["a"][0, :, 0], [110, 120, 130, 140, 150])
    np.testing.assert_array_equal(found["a"][..., 1], draws["a"])
    np.testing.assert_array_equal(found["b[2,1]"][..., 1], draws["b"][:, :, 1, 0])


def test_numbers_that_are_not_finite_are_written_as_r_has_them(tmp_path):
    draws = gp.Draws({"a": np.array([[np.nan, np.inf, -np.inf]])})
    draws.save_coda(tmp_path / "x")
    assert (tmp_path / "xchain1.txt").read_text().split() == ["1", "NA", "2", "Inf", "3", "-Inf"]


def test_a_missing_folder_is_named(tmp_path):
    draws = gp.Draws({"a": np.zeros((1, 3))})
    with pytest.raises(gp.RunError, match="found no directory"):
        draws.save_coda(tmp_path / "none" / "x")


def test_labels_that_are_written_alike_are_told_apart(tmp_path):
    labels = np.array([1, "1", "1 "], dtype=object)
    draws = gp.Draws({"x": np.arange(3.0).reshape(1, 1, 3)}, {"x": ("i",)}, {"i": labels})
    draws.save_coda(tmp_path / "x")

    index = (tmp_path / "xindex.txt").read_text().splitlines()
    assert index == ['"x[1] at 0" 1 1', '"x[1] at 1" 2 2', '"x[1 ]" 3 3']


def test_labels_that_a_table_would_cut_are_quoted(tmp_path):
    labels = np.array(["New York", 'q"', "a\nb", "#1", "\\"])
    values = {"x": np.zeros((1, 1, 5)), "a b": np.zeros((1, 1))}
    draws = gp.Draws(values, {"x": ("i",)}, {"i": labels})
    draws.save_coda(tmp_path / "x")

    index = (tmp_path / "xindex.txt").read_text().splitlines()
    assert [shlex.split(line)[0] for line in index] == [
        *("x[New York]", 'x[q"]', "x[a b]", "x[#1]", "x[\\]", "a b")
    ]

