"""Posterior predictive draws against what is known of them, from draws made by hand."""

import numpy as np
import pytest
from scipy import stats

import gibbsppl as gp
from gibbsppl.errors import RunError
from gibbsppl.model import along_draws
from gibbsppl.output.draws import Draws
from gibbsppl.predict.simulated import simulated

RNG = np.random.default_rng(21)
COUNT = 2000
LEVEL = 1e-6


def shaped(**values):
    """Draws as a run returns them: two chains, one after the other."""
    arrays = {n: np.reshape(v, (2, -1, *np.shape(v)[1:])) for n, v in values.items()}
    dims = {n: tuple(f"{n} {k}" for k in range(a.ndim - 2)) for n, a in arrays.items()}
    return Draws(arrays, dims, attributes={"seed": 1})


def asked(model, draws, names=None, new=None, **options):
    return simulated(model.graph, model.data, draws, names, new, **options)


def are_normal(residuals):
    return stats.kstest(np.ravel(residuals), "norm").pvalue > LEVEL


def chained(rows=3):
    """Observations ``y`` of multiples of the observed ``x``."""
    with gp.Model(coords={"row": [f"r{k}" for k in range(rows)]}) as model:
        mu = gp.Normal("mu", 0, sigma=10)
        slope = gp.Normal("slope", 0, sigma=10)
        x = gp.Normal("x", mu, sigma=2, dims="row", observed=np.zeros(rows))
        gp.Normal("y", slope * x, sigma=3, dims="row", observed=np.zeros(rows))
    return model


CHAINED = shaped(mu=RNG.normal(0, 100, COUNT), slope=RNG.normal(0, 100, COUNT))


def test_each_draw_has_simulations_of_its_own(monkeypatch):
    monkeypatch.setattr(along_draws, "LARGEST", 2001)  # (so that draws are taken in parts)
    found = asked(chained(), CHAINED)
    assert list(found) == ["x", "y"]
    assert found["y"].shape == (2, COUNT // 2, 3)
    assert found.dims_of("y") == ("row",)
    mu, slope = (CHAINED[n][..., None] for n in ("mu", "slope"))
    assert are_normal((found["x"] - mu) / 2)
    assert are_normal((found["y"] - slope * found["x"]) / 3)


def test_variables_that_are_not_named_stay_as_they_were_observed():
    found = asked(chained(), CHAINED, "y")
    assert list(found) == ["y"]
    assert are_normal(found["y"] / 3)


def test_labels_of_old_positions_are_kept_and_new_ones_have_none():
    draws = Draws(CHAINED.values, coords={"row": np.array(["r0", "r1", "r2"])})
    assert list(asked(chained(), draws).coords["row"]) == ["r0", "r1", "r2"]
    found = asked(chained(), draws, new={"row": 2})
    assert found["x"].shape == (2, COUNT // 2, 2)
    assert not found.coords


def test_a_seed_and_that_of_the_draws():
    one, two = (asked(chained(), CHAINED)["y"] for _ in range(2))
    np.testing.assert_array_equal(one, two)
    assert (asked(chained(), CHAINED, seed=5)["y"] != one).all()


def test_whole_numbers_and_labels():
    with gp.Model(coords={"k": 3, "i": 50}) as model:
        p = gp.Dirichlet("p", 1, dims="k")
        z = gp.Categorical("z", p, dims="i", event="k", observed=np.zeros(50, int))
        gp.Poisson("n", 1 + z, dims="i", observed=np.ones(50, int))
    found = asked(model, shaped(p=np.tile([0.2, 0.0, 0.8], (COUNT, 1))))
    assert found["z"].dtype.kind == found["n"].dtype.kind == "i"
    counts = np.bincount(found["z"].ravel(), minlength=3)
    assert counts[1] == 0
    assert stats.binomtest(counts[2], counts.sum(), 0.8).pvalue > LEVEL
    mean, size = found["n"][found["z"] == 2].mean(), counts[2]
    assert abs(mean - 3) < stats.norm.isf(LEVEL) * np.sqrt(3 / size)


def test_series_follow_their_own_simulated_values():
    with gp.Model(coords={"t": 6}) as model:
        rho = gp.Normal("rho", 0, sigma=1)
        y = gp.Array("y", dims="t", observed=np.full(6, 1000.0))
        y[0] = gp.Normal(0, sigma=1)
        y[1:] = gp.Normal(rho * y.lag("t", 1), sigma=1)
    draws = shaped(rho=RNG.normal(size=COUNT))
    y = asked(model, draws)["y"]
    assert are_normal(y[..., 0])
    assert are_normal(y[..., 1:] - draws["rho"][..., None] * y[..., :-1])


def survival(**how):
    with gp.Model(coords={"i": 4}) as model:
        rate = gp.Gamma("rate", 1, rate=1)
        life = gp.Exponential(rate=rate)
        gp.Censored("t", life, dims="i", observed=[0.5, 1.0, 1.0, 0.2], **how)
    return model


def test_censored_values_are_as_they_would_be_seen_or_as_they_are():
    draws = shaped(rate=np.full(COUNT, 2.0))
    seen = asked(survival(upper=1.0), draws)["t"]
    assert seen.max() == 1.0
    beyond = (seen == 1.0).sum()
    assert stats.binomtest(int(beyond), seen.size, np.exp(-2)).pvalue > LEVEL
    whole = asked(survival(upper=1.0), draws, censored=False)["t"]
    assert stats.kstest(whole.ravel(), "expon", (0, 0.5)).pvalue > LEVEL
    known = survival(event=[1, 1, 0, 1])  # (which does not say when others would be censored)
    with pytest.raises(RunError, match="pass censored=False"):
        asked(known, draws)
    whole = asked(known, draws, censored=False)["t"]
    assert stats.kstest(whole.ravel(), "expon", (0, 0.5)).pvalue > LEVEL


def test_what_is_told_of_mistakes():
    with pytest.raises(RunError, match=r"found 'z', expected names of observed variables: x, y"):
        asked(chained(), CHAINED, "z")
    with pytest.raises(RunError, match=r"mu: x, y depends on it, but it is not among the draws"):
        asked(chained(), CHAINED.only(["slope"]))
    with pytest.raises(RunError, match=r"new: x, y does not depend on .*|neither data"):
        asked(chained(), CHAINED, new={"rows": 3})
    with pytest.raises(RunError, match=r"its simulations would take 46.9 KiB .* fewer draws"):
        asked(chained(), CHAINED, limit_bytes=1000)
    with gp.Model(name="empty") as model:
        gp.Normal("mu", 0, sigma=1)
    with pytest.raises(RunError, match="found no observed variable"):
        asked(model, CHAINED)


def lines():
    with gp.Model(coords={"i": 3}) as model:
        x = gp.Data("x", [1.0, 2.0, 3.0], dims="i")
        slope = gp.Normal("slope", 0, sigma=1)
        line = gp.Deterministic("line", slope * x)
        gp.Deterministic("total", line.sum("i"))
        gp.Normal("y", line, sigma=1, dims="i", observed=np.zeros(3))
    return model


def test_computed_quantities_at_new_data():
    draws = shaped(slope=RNG.normal(size=COUNT))
    x = np.array([5.0, 7.0])
    found = asked(lines(), draws, ["line", "total", "y"], {"x": x})
    slope = draws["slope"][..., None]
    np.testing.assert_allclose(found["line"], slope * x, rtol=1e-12)
    np.testing.assert_allclose(found["total"], 12 * draws["slope"], rtol=1e-12)
    assert are_normal(found["y"] - found["line"])
    with pytest.raises(RunError, match=r"or of computed ones: line, total. Did you mean 'line'"):
        asked(lines(), draws, "lines")


def test_a_quantity_that_is_computed_from_itself_has_no_new_positions():
    with gp.Model(coords={"t": 3}) as model:
        e = gp.Normal("e", 0, sigma=1, dims="t")
        h = gp.Array("h", dims="t")
        h[0] = e.at("t", 0)
        h[1:] = h.lag("t", 1) + e
        gp.Normal("y", h, sigma=1, dims="t", observed=np.zeros(3))
    draws = shaped(e=RNG.normal(size=(COUNT, 3)))
    np.testing.assert_allclose(
        asked(model, draws, "h")["h"], np.cumsum(draws["e"], axis=-1), rtol=1e-12
    )
    with pytest.raises(RunError, match="h: it is computed from its own elements"):
        asked(model, draws, "h", {"t": 2})
