"""Variables along a dimension whose size data tell that are declared later."""

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.errors import ModelError


def regression(first, coords=None):
    """A latent covariate, declared before or after the data that say how many there are."""
    seen, y = np.array([[0.1, 0.2], [1.0, 1.3], [2.2, 1.9]]), np.array([1.0, 2.0, 3.0])
    with gp.Model(coords=coords) as model:
        spread = gp.HalfNormal("spread", sigma=1)
        x = gp.Normal("x", 0, sigma=spread, dims="person")
        total = gp.Deterministic("total", x.sum("person"))
        gp.Normal("level", total, sigma=1)
        gp.Potential("pull", -(x**2))
        gp.Constraint("bounded", x > -3)
        if first:
            gp.Normal("seen", x, sigma=1, dims=("person", "time"), observed=seen)
        gp.Normal("y", 2 * x, sigma=1, dims="person", observed=y)
        if not first:
            gp.Normal("seen", x, sigma=1, dims=("person", "time"), observed=seen)
    return model


@pytest.mark.parametrize("first", [True, False])
def test_the_model_is_that_of_known_sizes(first):
    graph = regression(first).graph
    known = regression(first, coords={"person": 3}).graph

    assert {*map(str, graph.factors)} == {*map(str, known.factors)}
    assert graph.deterministics == known.deterministics
    assert {**graph.variables} == {**known.variables}
    assert {**graph.sizes} == {**known.sizes}


def test_labels_of_an_index_tell_the_size_too():
    with gp.Model() as model:
        effect = gp.Normal("effect", 0, sigma=1, dims="town")
        town = gp.Index("town_of", ["Oslo", "Lund", "Oslo"], of="town", dims="day")
        gp.Normal("rain", effect[town], sigma=1, dims="day", observed=[1.0, 2.0, 3.0])

    assert model.coords["town"].tolist() == ["Lund", "Oslo"]
    assert str(model.graph.statement("effect")) == "effect[town] ~ Normal(mu=0, tau=1)"


def test_labels_and_vectors_wait():
    with gp.Model() as model:
        share = gp.Dirichlet("share", 1, dims="kind")
        z = gp.Categorical("z", share, dims="i")
        cov = gp.HuangWand("cov", nu=2, scale=1, dims=("k", "k'"))
        x = gp.MvNormal("x", 0, cov=cov, dims=("i", "k"))
        size = gp.Data("size", [1.0, 2.0], dims="kind")
        gp.Normal("y", x + size[z], sigma=1, dims=("i", "k"), observed=np.ones((3, 2)))
    draws = gp.compile(model).sample(10, warmup=10, chains=1, seed=1, progress=False)

    assert {n: draws[n].shape[2:] for n in ("share", "z", "cov", "x")} == {
        "share": (2,), "z": (3,), "cov": (2, 2), "x": (3, 2),
    }  # fmt: skip


def test_what_reads_a_variable_that_waits_does_too():
    """Observed along another dimension, by a sum; sparse counts."""
    with gp.Model() as model:
        x = gp.Gamma("x", 1, rate=1, dims="person")
        gp.Normal("y", x.sum("person"), sigma=1, dims="i", observed=[1.0, 2.0])
        gp.Data("weight", [1.0, 2.0, 3.0], dims="person")

    assert [s.name for s in model.graph.statements] == ["x", "y"]
    assert model.data["y"].tolist() == [1.0, 2.0]


def never_told():
    gp.Normal("x", 0, sigma=1, dims="person")


def needed_at_once():
    gp.Normal("x", 0, sigma=1, dims="person").at("person", 0)


def declared_twice():
    gp.Normal("x", 0, sigma=1, dims="person")
    gp.Normal("x", 0, sigma=1, dims="person")


def wrong_when_it_is_told():
    x = gp.Normal("x", 0, sigma=1, dims="person")
    gp.Normal("z", x.lag("person", 1), sigma=1, dims="person")
    gp.Data("weight", [1.0, 2.0], dims="person")


def nearly_known():
    gp.Normal("x", 0, sigma=1, dims="rta")


def filled_by_regions():
    gp.Array("x", dims="time")


@pytest.mark.parametrize(
    ("declare", "said"),
    [
        (never_told, "x: no size of the dimension 'person' is known at the end of the model: add"),
        (needed_at_once, "no size of the dimension 'person' is known yet, and it is needed here"),
        (declared_twice, "x: declared twice"),
        (wrong_when_it_is_told, r"z: reads x\[person - 1\] at position -1"),
        (nearly_known, "x: unknown dimension 'rta'; known are rat: add it to the model's coords"),
        (filled_by_regions, "x: unknown dimension 'time'; known are rat: add .*, or declare data"),
    ],
)
def test_what_is_wrong_is_said(declare, said):
    def graph():
        with gp.Model(coords={"rat": 3}) as model:
            declare()
        return model.graph

    with pytest.raises(ModelError, match=said):
        graph()
