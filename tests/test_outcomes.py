"""Observed outcomes of events are what they say: orders and shapes by the ones trick, exactly."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.model.density import log_joint
from gibbsppl.model.graph import Potential
from gibbsppl.pieces import outcomes
from gibbsppl.pieces.outcomes import with_outcomes
from gibbsppl.rewrites import driver

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
        gp.Binomial("y", 3, p * gp.where(x > 0, 1.0, 0.5), dims="i", observed=[3, 3])
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


# ---- where the support depends on what is drawn --------------------------------------------------


def ends_by_a_count():
    n, x = gp.Poisson("n", 10), gp.Normal("x", 0, sigma=1)
    gp.DiscreteUniform("y", 1, gp.where(x > 0, n, 2 * n), dims="i", observed=[5, 5])


def begins_at_a_choice():
    n, x = gp.Poisson("n", 6), gp.Normal("x", 0, sigma=1)
    gp.DiscreteUniform("y", gp.where(x > 0, 0, 2), n + 2, dims="i", observed=[1, 1])


def truncated_by_a_number_drawn():
    n, x = gp.Uniform("n", 0, 10), gp.Normal("x", 0, sigma=1)
    gp.Poisson("y", gp.where(x > 0, 3.0, 2.0), upper=n, dims="i", observed=[4, 4])


def of_so_many_drawn():
    n, x = gp.Poisson("n", 6), gp.Normal("x", 0, sigma=1)
    gp.BetaBinomial("y", n, gp.where(x > 0, 1.0, 2.0), 1.0, dims="i", observed=[4, 4])


WITH_ENDS = (ends_by_a_count, begins_at_a_choice, truncated_by_a_number_drawn, of_so_many_drawn)


def with_ends(declare):
    with gp.Model(coords={"i": 2}) as model:
        declare()
    return model


@pytest.mark.parametrize("declare", WITH_ENDS)
def test_an_observed_value_says_what_the_ends_of_its_support_are(declare):
    model = with_ends(declare)
    assert with_outcomes(model.graph, model.data) == model.graph
    sampler = gp.compile(model)
    assert sampler.verify().proved
    draws = sampler.sample(300, warmup=50, chains=2, seed=1, progress=False)
    for at in np.ndindex(2, 300):
        values = {**model.data, **{n: draws[n][at] for n in ("n", "x")}}
        assert np.isfinite(log_joint(model.graph, values))


@pytest.mark.parametrize("declare", WITH_ENDS)
def test_a_graph_with_a_density_where_the_model_has_none_is_found_by_verify(declare, monkeypatch):
    monkeypatch.setattr(driver, "with_outcomes", by_density_alone)
    sampler = gp.compile(with_ends(declare))
    assert sampler.schedule.graph != sampler.graph
    assert not sampler.verify().passed


def by_density_alone(graph, data):
    """The graph with what the density alone says of observed values, whatever its support."""
    seen = [s for s in graph.statements if s.known == 1]
    said = tuple(
        Potential(s.name, s.log_density.xreplace({s.target: int(data[s.name][0])}), s.over)
        for s in seen
    )
    left = tuple(s for s in graph.statements if s not in seen)
    return replace(graph, statements=left, potentials=(*graph.potentials, *said))


def test_what_says_as_much_of_any_outcome_stays():
    with gp.Model(coords={"i": 2}) as model:
        x, p = gp.Normal("x", 0, sigma=1), gp.Beta("p", 1, 2)
        gp.Binomial("y", 3, p * gp.where(x > 0, 1.0, 0.5), dims="i", observed=[2, 2])
    assert with_outcomes(model.graph, model.data) == model.graph


@pytest.mark.parametrize("q", ["dpois(z - 2)", "dbern((z - 2) / 2)"])
def test_labels_of_an_outcome_are_inside_of_its_domain(q):
    """A label of weight zero has no log of a negative number beside the log of zero."""
    text = f"""model {{ for (k in 1:4) {{ p[k] <- 0.25 }}; z ~ dcat(p[])
        for (i in 1:2) {{ y[i] ~ {q} }}; w ~ dnorm(z, 1) }}"""
    sampler = gp.compile(gp.read_bugs(text, {"y": [1, 1]}))
    draws = sampler.sample(100, warmup=10, chains=1, seed=1, progress=False)

    assert sampler.verify().proved
    assert set(np.unique(draws["z"])) == {3, 4}


# ---- what is the same data or other ones ---------------------------------------------------------


def test_a_step_is_checked_against_what_other_data_say():
    with gp.Model(coords={"i": 2}) as model:
        a, b = gp.Gamma("a", 2, rate=1), gp.Beta("b", 1, 1)
        gp.Poisson("y", gp.where(b < 0.5, a, 3 * a), dims="i", observed=[2, 2])
    sampler = gp.compile(model)
    assert sampler.schedule.graph != sampler.graph
    assert sampler.check_kernel("a", replicates=200, seed=1).passed


def test_an_indicator_of_data_makes_no_event():
    with gp.Model(coords={"i": 2}) as model:
        a, d = gp.Gamma("a", 2, rate=1), gp.Data("d", [0.0, 2.0], dims="i")
        gp.Poisson("y", a * gp.where(d > 1, 1.0, 3.0), dims="i", observed=[2, 2])
    assert with_outcomes(model.graph, model.data) == model.graph
