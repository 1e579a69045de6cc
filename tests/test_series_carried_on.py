"""Series carried on after their last position, from draws made by hand: no sampler takes part."""

import numpy as np
import pytest
from scipy import stats

import gibbsppl as gp
from gibbsppl.errors import RunError
from gibbsppl.output.draws import Draws
from gibbsppl.predict.prediction import predicted
from gibbsppl.predict.simulated import simulated

RNG = np.random.default_rng(24)
COUNT, MORE, LEVEL = 2000, 4, 1e-6
TURN = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])


def shaped(coords=None, **values):
    """Draws as a run returns them: two chains, one after the other."""
    arrays = {n: np.reshape(v, (2, -1, *np.shape(v)[1:])) for n, v in values.items()}
    dims = {n: tuple(f"{n} {k}" for k in range(a.ndim - 2)) for n, a in arrays.items()}
    return Draws(arrays, dims, coords or {}, attributes={"seed": 1})


def predict(model, draws, new, name=None):
    return predicted(model.graph, model.data, draws, new, name)


def simulate(model, draws, new, names=None):
    return simulated(model.graph, model.data, draws, names, new)


def are_normal(residuals):
    return stats.kstest(np.ravel(residuals), "norm").pvalue > LEVEL


def scores(prediction, mean, sd):
    """The largest distance of a mean, as a multiple of the largest that chance explains."""
    score = np.abs(prediction.mean - mean) / (sd / np.sqrt(COUNT))
    return score.max() / stats.norm.isf(LEVEL / 2 / score.size)


def autoregression(observed=(0.0, 1.0, 2.0), **more):
    with gp.Model(coords={"time": [1990, 1992, 1994]}) as model:
        rho = gp.Normal("rho", 0, sigma=1)
        y = gp.Array("y", dims="time", observed=np.array(observed), **more)
        y[0] = gp.Normal(0, sigma=1)
        y[1:] = gp.Normal(rho * y.lag("time", 1), sigma=0.1)
    return model


def test_an_autoregression_goes_on_from_the_last_observation():
    draws = shaped({"time": np.array([1990, 1992, 1994])}, rho=RNG.normal(0.5, 0.1, COUNT))
    found = predict(autoregression(), draws, {"time": MORE})
    rho = draws.stacked("rho")[:, None]
    powers = rho ** np.arange(1, MORE + 1)
    spread = 0.01 * np.cumsum(rho ** (2 * np.arange(MORE)), axis=-1)
    variance = spread.mean(axis=0) + (2 * powers).var(axis=0)
    assert found.mean.shape == (MORE,)
    assert scores(found, 2 * powers.mean(axis=0), np.sqrt(variance)) < 1
    assert list(found.coords["time"]) == [1996, 1998, 2000, 2002]
    y = simulate(autoregression(), draws, {"time": MORE})
    assert list(y.coords["time"]) == [1996, 1998, 2000, 2002]
    before = np.concatenate([np.full((2, COUNT // 2, 1), 2.0), y["y"][..., :-1]], axis=-1)
    assert are_normal((y["y"] - draws["rho"][..., None] * before) / 0.1)


def test_a_series_that_ends_with_missing_values_goes_on_from_their_draws():
    model = autoregression((0.0, 1.0, -9.0), missing=-9.0)
    last = RNG.normal(100, 10, COUNT)
    y = np.stack([np.zeros(COUNT), np.ones(COUNT), last], axis=-1)
    draws = shaped(rho=np.full(COUNT, 0.5), y=y)
    found = simulate(model, draws, {"time": 1})["y"]
    assert are_normal((found[..., 0] - draws["y"][..., -1] / 2) / 0.1)
    with pytest.raises(RunError, match="y: y depends on it, but it is not among the draws"):
        simulate(model, draws.only(["rho"]), {"time": 1})


def level():
    """A local level of two series, in which a covariate is read too."""
    with gp.Model(coords={"n": 2, "t": 5}) as model:
        u = gp.Data("u", np.arange(5.0), dims="t")
        x = gp.Array("x", dims=("n", "t"))
        x[:, 0] = gp.Normal(0, sigma=1)
        x[:, 1:] = gp.Normal(x.lag("t", 1), sigma=2)
        gp.Normal("y", x + 10 * u, sigma=3, dims=("n", "t"), observed=np.zeros((2, 5)))
    return model


def test_a_local_level_goes_on_from_its_last_draws():
    draws = shaped(x=RNG.normal(0, 50, size=(COUNT, 2, 5)))
    u = np.array([7.0, 8.0, 9.0])
    found = predict(level(), draws, {"t": 3, "u": u})
    last = draws.stacked("x")[..., -1:]
    variance = last.var(axis=0) + 4 * np.arange(1, 4) + 9
    assert found.redrawn == ("x",)
    assert found.mean.shape == (2, 3)
    assert not found.simulated
    assert scores(found, last.mean(axis=0) + 10 * u, 2 * np.sqrt(np.arange(1, 4))) < 1
    y = simulate(level(), draws, {"u": u})["y"]  # (of another size, so that it is known to be new)
    total = (y - draws["x"][..., -1:] - 10 * u) / np.sqrt(4 * np.arange(1, 4) + 9)
    assert all(are_normal(total[..., k]) for k in range(3))
    np.testing.assert_allclose(
        found.variance, variance, rtol=stats.norm.isf(LEVEL) * np.sqrt(2 / COUNT)
    )


def test_a_hidden_chain_goes_on_from_its_last_label():
    with gp.Model(coords={"t": 4, "k": 3}) as model:
        P = gp.Data("P", TURN, dims=("k", "k'"))
        mu = gp.Normal("mu", 0, sigma=1, dims="k")
        z = gp.Array("z", dims="t", event="k")
        z[0] = gp.Categorical(1 / 3)
        z[1:] = gp.Categorical(P[z.lag("t", 1)])
        gp.Normal("y", mu[z], sigma=1, dims="t", observed=np.zeros(4))
    labels = RNG.integers(0, 3, size=(COUNT, 4))
    draws = shaped(z=labels, mu=np.tile([0.0, 100.0, 200.0], (COUNT, 1)))
    y = simulate(model, draws, {"t": 5})["y"]
    z = (draws["z"][..., -1:] + np.arange(1, 6)) % 3
    assert are_normal(y - 100 * z)
    assert predict(model, draws, {"t": 5}).redrawn == ("z",)
    with pytest.raises(RunError, match=r"z: y depends on it, .*name it in keep="):
        simulate(model, draws.only(["mu"]), {"t": 5})


def test_longer_lags_and_lags_of_data():
    with gp.Model(coords={"t": 4}) as model:
        u = gp.Data("u", [1.0, 2.0, 3.0, 4.0], dims="t")
        b = gp.Normal("b", 0, sigma=1)
        y = gp.Array("y", dims="t", observed=[1.0, 2.0, 30.0, 4.0])
        y[:2] = gp.Normal(0, sigma=1)
        y[2:] = gp.Normal(y.lag("t", 2) + b * u.lag("t", 1), sigma=1)
    draws = shaped(b=np.full(COUNT, 1000.0))
    y = simulate(model, draws, {"t": 3, "u": [5.0, 6.0, 7.0]})["y"]
    assert are_normal(y[..., 0] - 30 - 4000)
    assert are_normal(y[..., 1] - 4 - 5000)
    assert are_normal(y[..., 2] - y[..., 0] - 6000)


def without_order(kind):
    with gp.Model(coords={"t": 3, "n": 2}) as model:
        y = gp.Array("y", dims=("n", "t"), observed=np.zeros((2, 3)))
        if kind == "backwards":
            y[:, 2] = gp.Normal(0, sigma=1)
            y[:, :2] = gp.Normal(y.lag("t", -1), sigma=1)
        else:
            x = gp.Data("x", np.ones(3), dims="t")
            y[:, 0] = gp.Normal(0, sigma=1)
            y[:, 1:] = gp.Normal(y.lag("t", 1) + x.sum("t"), sigma=1)
    return model


def test_what_cannot_be_carried_on_is_told():
    draws = shaped(none=np.zeros(COUNT))
    with pytest.raises(RunError, match="y: found no statement of its last position along 't'"):
        simulate(without_order("backwards"), draws, {"t": 2})
    with pytest.raises(RunError, match="it reads a sum over 't'"):
        simulate(without_order("sum"), draws, {"t": 2, "x": [1.0, 1.0]})
    with pytest.raises(RunError, match=r"'t' have an order, .* those along 'n' are new too"):
        simulate(level(), shaped(x=np.zeros((COUNT, 2, 5))), {"t": 1, "n": 1, "u": [1.0]})
    with pytest.raises(RunError, match="needs u too; give all data along them"):
        simulate(level(), shaped(x=np.zeros((COUNT, 2, 5))), {"t": 2})


def test_a_series_carried_on_is_monitored():
    later = gp.predictive("y", new={"time": 2})
    sampler = gp.compile(autoregression())
    draws = sampler.sample(
        500, chains=2, seed=1, monitor={"later": later}, keep="rho", progress=False
    )
    found = predict(autoregression(), draws, {"time": 2})
    assert draws.monitored["later"].mean[0] == pytest.approx(found.mean[0], rel=1e-9)


def test_computed_quantities_are_carried_on_too():
    with gp.Model(coords={"t": 4}) as model:
        x = gp.Array("x", dims="t")
        x[0] = gp.Normal(0, sigma=1)
        x[1:] = gp.Normal(x.lag("t", 1), sigma=1)
        gp.Deterministic("double", 2 * x)
        gp.Normal("y", x, sigma=1, dims="t", observed=np.zeros(4))
    draws = shaped(x=RNG.normal(0, 50, size=(COUNT, 4)))
    found = simulate(model, draws, {"t": 2}, ["double", "y"])
    assert are_normal(found["y"] - found["double"] / 2)
    assert are_normal(found["double"][..., 0] / 2 - draws["x"][..., -1])
    assert are_normal(np.diff(found["double"] / 2, axis=-1))
