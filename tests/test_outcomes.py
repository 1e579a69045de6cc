"""Observed outcomes of events are what they say: orders and shapes by the ones trick, exactly."""

import itertools

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.model.density import log_joint
from gibbsppl.pieces import outcomes
from gibbsppl.pieces.outcomes import with_outcomes

IN_ORDER = """model {
  for (i in 1:N) { y[i] ~ dnorm(a[g[i]], 1) }
  for (k in 1:K) { a[k] ~ dnorm(0, 0.01) }
  for (k in 1:(K - 1)) { s[k] <- step(a[k + 1] - a[k]) }
  one ~ dbern(prod(s[]))
}"""
BELOW_THE_NEXT = """model {
  for (i in 1:N) { y[i] ~ dnorm(a[g[i]], 1) }
  for (k in 1:K) { a[k] ~ dnorm(0, 0.01) }
  for (k in 1:(K - 1)) { ones[k] ~ dbern(step(a[k + 1] - a[k])) }
}"""


def ordered(text, groups, **observed):
    g = np.repeat(np.arange(1, groups + 1), 2)
    y = 0.3 * g + np.random.default_rng(1).normal(size=len(g))
    return gp.read_bugs(text, {"N": len(g), "K": groups, "g": g, "y": y, **observed})


@pytest.mark.parametrize("groups", [2, 12, 60])
@pytest.mark.parametrize("text", [IN_ORDER, BELOW_THE_NEXT], ids=["one", "ones"])
def test_an_order_that_is_observed_is_two_bounds_of_each(text, groups):
    observed = {"one": 1} if text == IN_ORDER else {"ones": np.ones(groups - 1)}
    sampler = gp.compile(ordered(text, groups, **observed))
    draws = sampler.sample(20, warmup=20, chains=2, seed=1, progress=False)

    assert "truncated Normal  " in str(sampler)
    assert ("in 2 colours" in str(sampler)) == (groups > 2)
    assert (np.diff(draws["a"], axis=-1) > 0).all()
    if groups < 60:
        assert sampler.verify().proved


def test_what_is_observed_not_to_be_in_order_is_no_bound():
    sampler = gp.compile(ordered(IN_ORDER, 3, one=0))
    draws = sampler.sample(500, warmup=100, chains=2, seed=1, progress=False)

    assert sampler.verify().proved
    assert not (np.diff(draws["a"], axis=-1) > 0).all(axis=-1).any()


def mixed(**settings):
    with gp.Model(coords={"i": 3}) as model:
        x = gp.Normal("x", 0, sigma=1, dims="i")
        gp.Bernoulli("seen", x > 0, dims="i", **settings)
    return model


def test_outcomes_that_differ_and_missing_ones_stay():
    for seen in ([1, 0, 1], np.ma.masked_equal([1, 9, 1], 9)):
        model = mixed(observed=seen)
        assert with_outcomes(model.graph, model.data) == model.graph
        assert gp.compile(model).verify().passed
    model = mixed(observed=[1, 1, 1])
    (said,) = with_outcomes(model.graph, model.data).potentials
    assert (said.name, said.of) == ("seen", "seen")
    assert gp.compile(model).verify().proved


def test_a_density_without_events_stays():
    with gp.Model(coords={"i": 3}) as model:
        p = gp.Beta("p", 1, 1)
        gp.Bernoulli("y", p, dims="i", observed=[1, 1, 1])
    assert with_outcomes(model.graph, model.data) == model.graph


def test_the_density_is_that_of_the_model():
    with gp.Model(coords={"i": 2}) as model:
        x, p = gp.Normal("x", 0, sigma=1, dims="i"), gp.Beta("p", 1, 2)
        gp.Binomial("y", 3, p * gp.where(x > 0, 1.0, 0.5), dims="i", observed=[2, 2])
    graph = with_outcomes(model.graph, model.data)
    assert not [s for s in graph.statements if s.name == "y"]
    for signs in itertools.product((-1.0, 1.0), repeat=2):
        values = {**model.data, "x": np.array(signs), "p": np.array(0.3)}
        assert log_joint(graph, values) == pytest.approx(log_joint(model.graph, values))
    assert gp.compile(model).verify().proved


def test_a_number_that_is_not_everywhere_is_found_by_verify(monkeypatch):
    class First:
        def __getattr__(self, name):
            return getattr(np, name)

        @staticmethod
        def unique(values):
            return np.ravel(values)[:1]

    monkeypatch.setattr(outcomes, "np", First())
    assert not gp.compile(mixed(observed=[1, 1, 0])).verify().passed
