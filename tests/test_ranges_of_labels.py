"""Labels whose range differs by element: drawn from one axis of labels, each from its own."""

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.algebra.expressions import mentions
from gibbsppl.model.graph import Graph, expressions_read_by

TOTALS = np.array([4, 2, 3, 2, 0])

# Densities that do not mention the variable where it is positive, and others.
DISTRIBUTIONS = {
    "uniform": lambda n: gp.DiscreteUniform("x", lower=0, upper=n, dims="i"),
    "uniform from below": lambda n: gp.DiscreteUniform("x", lower=-n, upper=n, dims="i"),
    "uniform below zero": lambda n: gp.DiscreteUniform("x", lower=-9, upper=n - 8, dims="i"),
    "flat beta-binomial": lambda n: gp.BetaBinomial("x", n=n, alpha=1, beta=1, dims="i"),
    "beta-binomial": lambda n: gp.BetaBinomial("x", n=n, alpha=2, beta=1, dims="i"),
    "binomial": lambda n: gp.Binomial("x", n=n, p=0.4, dims="i"),
    "truncated": lambda n: gp.Poisson("x", rate=2.0, upper=n, dims="i"),
}
FLAT = ("uniform", "uniform from below", "uniform below zero", "flat beta-binomial")


def sampler(distribution, **settings):
    with gp.Model(coords={"i": len(TOTALS)}, name="counts") as model:
        x = DISTRIBUTIONS[distribution](gp.Data("totals", TOTALS, dims="i"))
        mean = gp.Normal("mean", 0, sigma=3)
        gp.Normal("y", x + mean, sigma=2.0, dims="i", observed=TOTALS + 1.0)
    return gp.compile(model, **settings)


@pytest.mark.parametrize("settings", [{}, {"kernels": {"x": gp.Slice()}}], ids=["labels", "slices"])
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_labels_are_drawn_from_the_range_of_their_element(distribution, settings):
    drawn = sampler(distribution, **settings)
    x = drawn.sample(200, warmup=10, chains=2, seed=1)["x"]

    assert drawn.verify(seed=1).passed
    lowest = {"uniform from below": -TOTALS, "uniform below zero": -9}.get(distribution, 0)
    highest = TOTALS - 8 if distribution == "uniform below zero" else TOTALS
    assert ((x >= lowest) & (x <= highest)).all()
    assert (x.max(axis=(0, 1)) == highest).all()


@pytest.mark.parametrize("distribution", FLAT)
def test_labels_beyond_the_range_of_their_element_are_seen(distribution, monkeypatch):
    def mentioning(graph, array):
        names = (str(array),)
        return tuple(
            f for f in graph.factors if any(mentions(e, names) for e in expressions_read_by(f))
        )

    monkeypatch.setattr(Graph, "factors_of", mentioning)
    found = sampler(distribution).verify(seed=1)

    assert [r.step for r in found.rows if not r.passed][:1] == ["x"], str(found)
