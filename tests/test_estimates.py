"""Estimates of draws: quantiles, intervals, correlations, and summaries of what is latent."""

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.errors import RunError
from gibbsppl.output.draws import Draws
from gibbsppl.sampling.observations import observations

RNG = np.random.default_rng(23)
X = RNG.normal(size=(2, 200, 3))


def partial():
    """Draws of an array of which two elements are observed."""
    y = np.broadcast_to([5.0, 0.0, 7.0], X.shape).copy()
    y[..., 1] = X[..., 1]
    return Draws(
        {"x": X, "y": y},
        {"x": ("k",), "y": ("k",)},
        {"k": np.array(["a", "b", "c"])},
        observed_data={"y": (("k",), np.array([5.0, np.nan, 7.0]))},
    )


def test_quantiles_and_intervals_are_those_of_all_draws():
    flat = X.reshape(-1, 3)
    np.testing.assert_array_equal(partial().quantiles("x", 0.3), np.quantile(flat, 0.3, axis=0))
    found = partial().interval("x", 0.8)
    np.testing.assert_allclose(found, np.quantile(flat, [0.1, 0.9], axis=0), rtol=1e-12)
    with pytest.raises(RunError, match=r"found probs=\[0.5, 2\], expected numbers from 0 to 1"):
        partial().quantiles("x", [0.5, 2])
    with pytest.raises(RunError, match="found mass=90, expected a number from 0 to 1"):
        partial().interval("x", 90)


def test_a_summary_has_the_quantiles_that_are_asked_for():
    found = partial().summary("x", probs=[0.05, 0.25, 0.995])
    row = found["x[b]"]
    assert tuple(row)[:5] == ("mean", "sd", "5%", "25%", "99.5%")
    assert tuple(row)[5:] == ("mcse_mean", "ess_bulk", "ess_tail", "r_hat")
    assert row["99.5%"] == np.quantile(X[..., 1], 0.995)
    assert "99.5%" in str(found)
    assert "97.5%" not in str(found)
    with pytest.raises(RunError, match="found probs=95, expected numbers from 0 to 1"):
        partial().summary(probs=95)


def test_what_was_observed_is_no_parameter():
    found = partial().summary()
    assert list(found.rows) == ["x[a]", "x[b]", "x[c]", "y[b]"]
    assert found["y[b]"] == found["x[b]"]
    (block,) = partial().summary("y", max_rows=1).blocks
    assert (block.size, block.hidden) == (1, 0)


def test_a_summary_is_a_data_frame():
    found = partial().summary(probs=[0.5])
    table = found.to_dataframe()
    assert list(table.index) == list(found.rows)
    assert list(table.columns) == list(found["x[a]"])
    assert table.loc["x[c]", "50%"] == found["x[c]"]["50%"]


def test_observations_are_missing_where_they_are():
    masked = np.ma.masked_equal([[1, -1], [2, 3]], -1)
    with gp.Model(coords={"t": 3, "i": 2, "k": 2}) as model:
        gp.Poisson("n", 2, dims=("i", "k"), observed=masked)
        y = gp.Array("y", dims="t", observed=np.ma.masked_equal([9.0, 8.0, 7.0], 8.0))
        y[0] = gp.Normal(0, sigma=1)
        y[1:] = gp.Normal(y.lag("t", 1), sigma=1)
        gp.Poisson("whole", 2, dims="i", observed=[1, 2])
    found = observations(model.graph, model.data)
    np.testing.assert_array_equal(found["n"], [[1, np.nan], [2, 3]])
    np.testing.assert_array_equal(found["y"], [9, np.nan, 7])
    assert found["whole"].dtype.kind == "i"
    draws = gp.compile(model).sample(10, warmup=5, chains=1, seed=1, progress=False)
    np.testing.assert_array_equal(draws.observed_data["y"][1], [9, np.nan, 7])
    assert list(draws.summary("n").rows) == ["n[0, 1]"]


def test_correlated_pairs_come_first():
    z = X[..., 0] + 0.1 * RNG.normal(size=(2, 200))
    draws = Draws({"x": X, "z": z, "constant": np.ones((2, 200))}, {"x": ("k",)})
    found = draws.correlations(most=2)
    assert next(iter(found)) == ("x[0]", "z")
    assert found["z", "x[0]"] == pytest.approx(np.corrcoef(X[..., 0].ravel(), z.ravel())[0, 1])
    assert len(found) == 2
    assert len(draws.correlations("x", most=100)) == 3
    with pytest.raises(RunError, match=r"no pair \('z', 'constant'\).*most=100"):
        found["z", "constant"]
    large = Draws({"x": np.zeros((1, 4, 5001))}, {"x": ("k",)})
    with pytest.raises(RunError, match=r"found 5001 elements.*expected at most 5000"):
        large.correlations()


def test_correlations_are_of_draws_that_all_have():
    draws = Draws({"x": X[..., 0], "z": X[:, 3::4, 0]}, every={"z": 4})
    assert draws.correlations()["x", "z"] == pytest.approx(1.0)
