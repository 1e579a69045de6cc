"""Labels whose probabilities are a choice: what a branch that is not chosen would be counts not."""

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.pieces import vanishing


def graded(first_outside):
    """Grades between cut points, which are equal where an item has no such grade; two missing."""
    y = np.ma.masked_array([0, 1, 2, 0, 1, 0], [0, 0, 0, 0, 1, 1])
    cuts = {"up": [[-0.5, 0.7, 0.7], [0.2, 0.2, 0.2]], "lo": [[-0.5, -0.5, 0.7], [0.2, 0.2, 0.2]]}
    with gp.Model(coords={"i": 6, "k": 3, "item": 2}) as model:
        a = gp.Normal("a", 0, tau=1)
        of = gp.Index("of", [0, 0, 0, 1, 1, 1], of="item", dims="i")
        up, lo = (gp.Data(n, v, dims=("item", "k")) for n, v in cuts.items())
        top = gp.Data("top", [[0, 0, 1], [0, 1, 0]], dims=("item", "k"))[of]
        first = gp.Data("first", [1, 0, 0], dims="k")
        below, above = gp.expit(up[of] - a), gp.expit(lo[of] - a)
        p = gp.where(top, 1 - above, gp.where(first, below, below - above))
        if first_outside:
            p = gp.where(first, below, gp.where(top, 1 - above, below - above))
        gp.Categorical("y", p, dims="i", event="k", observed=y)
    return model


def weights_of(first_outside):
    """The log weights of the grades of an item of two, where a is 0.3; the sampler."""
    sampler = gp.compile(graded(first_outside), rewrites=False)
    state = {"a": np.array(0.3), "y": np.array([0, 1, 2, 0, 1, 0])}
    return sampler.program.given_rest["y"](state, sampler.constants)[:, 4], sampler


@pytest.mark.parametrize("first_outside", [True, False])
def test_branches_that_are_not_chosen_have_no_weight(first_outside):
    found, sampler = weights_of(first_outside)
    share = 1 / (1 + np.exp(0.1))
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(found, np.log([share, 1 - share, 0]), rtol=1e-12)
    assert sampler.verify().proved
    draws = sampler.sample(20, warmup=2, chains=1, seed=1, progress=False, backend="numpy")
    assert set(np.unique(draws["y"][..., 4:])) == {0, 1}


def test_zero_times_the_log_of_no_mass_is_seen(monkeypatch):
    monkeypatch.setattr(vanishing, "LOG_MASSES", ())
    with np.errstate(all="ignore"):
        found, _ = weights_of(first_outside=True)
    assert np.isnan(found).any()
