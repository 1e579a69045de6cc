"""The largest and the smallest value over a dim: in the language, in bounds, and in BUGS."""

import numpy as np
import pytest
from scipy import stats

import gibbsppl as gp
from gibbsppl.errors import ModelError
from gibbsppl.model.density import log_joint

Y = np.array([1.0, 1.4, 1.9, 2.2])
W = np.array([-0.3, 0.2, -0.9, 0.4])


def of_extremes():
    """A density, a bound and a deterministic that read extremes of a latent array."""
    with gp.Model(coords={"k": 3, "i": 4}) as model:
        theta = gp.Normal("theta", 0, sigma=1, dims="k")
        gp.Uniform("y", theta.max("k"), 5, dims="i", observed=Y)
        gp.Normal("w", theta.min("k"), sigma=1, dims="i", observed=W)
        gp.Deterministic("span", theta.max("k") - theta.min("k"))
    return model


def log_density(theta):
    """The log density of `of_extremes`, by SciPy."""
    bound = stats.uniform.logpdf(Y, theta.max(), 5 - theta.max()).sum()
    return stats.norm.logpdf(theta).sum() + bound + stats.norm.logpdf(W, theta.min()).sum()


def test_extremes_are_what_numpy_says():
    sampler = gp.compile(of_extremes())
    assert sampler.verify().proved
    draws = sampler.sample(50, chains=1, warmup=20, seed=3, progress=False)
    theta = draws["theta"]
    assert (draws["span"] == np.ptp(theta, axis=-1)).all()
    assert (theta.max(axis=-1) <= Y.min()).all()


@pytest.mark.parametrize("theta", [np.array([0.1, -1.0, 0.9]), np.array([-2.0, -2.0, -3.0])])
def test_the_density_of_extremes_is_scipys(theta):
    model = of_extremes()
    values = {**model.data, "theta": theta}
    expected = log_density(theta)
    assert log_joint(model.graph, values) == pytest.approx(expected, rel=1e-12)


def test_an_extreme_over_several_dims_is_that_of_all():
    with gp.Model(coords={"k": 2, "j": 3}) as model:
        a = gp.Normal("a", 0, sigma=1, dims=("k", "j"))
        gp.Deterministic("most", a.max(("k", "j")))
        gp.Deterministic("least", a.min("j"))
    draws = gp.compile(model).sample(20, chains=1, seed=1, progress=False)
    assert (draws["most"] == draws["a"].max(axis=(-2, -1))).all()
    assert (draws["least"] == draws["a"].min(axis=-1)).all()


def test_a_bound_by_an_extreme_is_one_by_each_element():
    with gp.Model(coords={"k": 3}) as model:
        a = gp.Exponential("a", rate=1, dims="k")
        gp.Uniform("low", 0, a.min("k"))
        gp.Exponential("high", rate=1, lower=a.max("k"))
    sampler = gp.compile(model)
    assert sampler.verify().proved
    kinds = {row.step: row.kind for row in sampler.verify().rows}
    assert kinds["low"] == kinds["high"] == "exact"
    draws = sampler.sample(200, chains=1, seed=1, progress=False)
    assert (draws["low"] <= draws["a"].min(axis=-1)).all()
    assert (draws["high"] >= draws["a"].max(axis=-1)).all()


def test_a_comparison_of_extremes_is_a_constraint():
    with gp.Model(coords={"k": 3}) as model:
        a = gp.Normal("a", 0, sigma=1, dims="k")
        gp.Constraint("ends", (a < 1).min("k"))
    draws = gp.compile(model).sample(50, chains=1, seed=1, progress=False)
    assert (draws["a"] < 1).all()


def test_an_extreme_over_no_dim_of_the_tensor_is_refused():
    with gp.Model(coords={"k": 3, "j": 2}):
        a = gp.Normal("a", 0, sigma=1, dims="k")
        with pytest.raises(ModelError, match="'j'"):
            a.max("j")


def test_what_equals_its_own_extreme_does():
    # (powers of arrays and of numbers differ in their last digit)
    text = """
    model {
      a ~ dnorm(0, 1)
      for (j in 1:5) {
        p[j] <- pow(s[j], exp(a))
        d[j] <- abs(p[j] - 0.2)
        best[j] <- equals(d[j], min(d[]))
        most[j] <- equals(max(p[1:5]), p[j])
      }
      y ~ dnorm(a, 1)
    }
    """
    data = {"s": [0.05, 0.1, 0.2, 0.35, 0.5], "y": 0.3}
    draws = gp.compile(gp.read_bugs(text, data)).sample(seed=1, progress=False)
    assert (draws["best"].sum(axis=-1) == 1).all()
    assert (draws["most"] == [0, 0, 0, 0, 1]).all()
