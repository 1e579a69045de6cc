"""Pictures of draws: the worst elements first, ranks that tell whether chains agree."""

import sys

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.output.diagnostics import ess_bulk, r_hat
from gibbsppl.output.draws import Draws
from gibbsppl.output.plots import plot_of, rank_counts, rank_error
from gibbsppl.output.worst import MOST_MEASURED, Element, worst_elements

pytest.importorskip("matplotlib")


def element(draws):
    return Element("x", draws, float(r_hat(draws)), float(ess_bulk(draws)), float("nan"))


def walk(rng, shape, keep):
    noise = rng.normal(size=shape)
    for n in range(1, shape[1]):
        noise[:, n] = keep * noise[:, n - 1] + np.sqrt(1 - keep**2) * noise[:, n]
    return noise


def some_draws():
    rng = np.random.default_rng(3)
    values = {"a": rng.normal(size=(4, 500)), "b": rng.normal(size=(4, 500, 5))}
    values["b"][..., 3] = walk(rng, (4, 500), 0.95)
    values["b"][2, :, 1] += 2
    return Draws(values, {"b": ("k",)}, {"k": np.array(list("vwxyz"))})


def test_the_worst_elements_come_first():
    shown = some_draws().plot(rows=3)

    assert [e.label for e in shown.elements[:2]] == ["b[w]", "b[y]"]
    assert len(shown.figure.axes) == 6
    assert repr(shown).startswith("<Traces and ranks of b[w], b[y], ")
    assert [e.label for e in some_draws().plot("a").elements] == ["a"]


def test_draws_that_are_not_finite_are_worst_and_have_no_ranks():
    values = {"x": np.random.default_rng(1).normal(size=(2, 40, 3)), "c": np.ones((2, 40))}
    values["x"][1, 3, 2] = np.inf
    shown = Draws(values, {"x": ("k",)}).plot(rows=4)

    assert shown.elements[0].label == "x[2]"
    assert rank_counts(shown.elements[0].draws) is None
    assert rank_counts(values["c"]) is None
    assert len(shown._repr_png_()) > 1000


def test_of_very_many_elements_the_worst_is_found():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(2, 60, MOST_MEASURED + 300))
    values[1, :, 700] += 3
    (worst,) = worst_elements({"x": values}, lambda name, at: f"{name}{list(at)}", 1)

    assert worst.label == "x[700]"


@pytest.mark.parametrize("keep", [0.0, 0.8])
def test_ranks_of_chains_that_agree_are_mostly_in_the_band(keep):
    """Counts are nearly normal, so that 95 % are inside; of 40 pictures the share is within its
    Monte Carlo error, four standard deviations, for counts as dependent as those of one chain."""
    rng = np.random.default_rng(5)
    inside = []
    for _ in range(40):
        draws = walk(rng, (4, 600), keep)
        counts = rank_counts(draws)
        error = rank_error(element(draws), counts.shape[1])
        inside.append(np.mean(np.abs(counts - 600 / counts.shape[1]) <= 2 * error))
    spread = np.std(inside) / np.sqrt(len(inside))

    # (the error is that of the worst range: bulk draws are less tied at their middle)
    assert np.mean(inside) >= 0.954 - 4 * spread


def test_ranks_of_chains_that_disagree_are_not():
    """An error by all draws together would grow with the disagreement, and hide it."""
    draws = some_draws()["b"][..., 1]
    counts = rank_counts(draws)
    expected, error = 500 / counts.shape[1], rank_error(element(draws), counts.shape[1])

    assert (np.abs(counts - expected) > 2 * error).mean() > 0.5


def test_counts_of_ranks_add_up_and_equal_draws_share_theirs():
    rng = np.random.default_rng(2)
    for draws in (rng.normal(size=(3, 200)), rng.poisson(1.0, size=(3, 200))):
        counts = rank_counts(draws)

        np.testing.assert_allclose(counts.sum(axis=1), 200, rtol=1e-12)
        np.testing.assert_allclose(counts.sum(axis=0), 600 / counts.shape[1], rtol=1e-12)


def test_one_chain_is_compared_by_its_halves():
    rng = np.random.default_rng(4)
    made = plot_of([element(rng.normal(size=(1, 101)))], "one")

    assert made.figure.axes[1].get_title("left") == "ranks of the halves of the chain"


def test_pictures_are_saved_by_their_ending(tmp_path):
    made = some_draws().plot(rows=1)

    assert made.save(tmp_path / "draws.png").stat().st_size > 1000
    with pytest.raises(gp.RunError, match=r"expected one that ends in one of .*\.png"):
        made.save(tmp_path / "draws.txt")


def test_what_is_missing_or_does_not_fit_is_told(monkeypatch):
    with pytest.raises(gp.RunError, match="found no variable 'c'"):
        some_draws().plot("c")
    with pytest.raises(gp.RunError, match="rows=0"):
        some_draws().plot(rows=0)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(gp.RunError, match="found no matplotlib"):
        some_draws().plot()
