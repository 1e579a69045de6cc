"""Random values in their order, in programs: ``sort``, ``order``, ``rank``, ``ranked``."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import gibbsppl as gp
from gibbsppl.checks.reading import RELATIVE_TOLERANCE, gaps_of_reading
from gibbsppl.initial.search import initial_state
from gibbsppl.output.diagnostics import mcse_mean

Y = [-3.0, -2.5, 0.1, 0.3, 4.0, 4.4]
MIXTURE = """
model {
  for (k in 1:3) { m0[k] ~ dnorm(0, 0.01) }
  mu[1:3] <- sort(m0[1:3])
  for (i in 1:6) { y[i] ~ dnorm(mu[z[i]], 1); z[i] ~ dcat(w[]) }
}
"""
DATA = {"y": Y, "w": [0.3, 0.3, 0.4]}


def test_functions_of_order_are_numpys():
    text = """
    model {
      for (k in 1:4) { x[k] ~ dnorm(0, 1) }
      inorder <- sort(x)
      places <- order(x)
      ranks <- rank(x)
      second <- ranked(x[1:4], 2)
      last <- sort(x[2:4])
    }
    """
    sampler = gp.compile(gp.read_bugs(text, {}))
    assert sampler.verify().proved
    draws = sampler.sample(50, warmup=20, chains=1, seed=1, progress=False)
    x = draws["x"]
    assert (draws["inorder"] == np.sort(x)).all()
    assert (draws["places"] == np.argsort(x) + 1).all()
    assert (draws["ranks"] == stats.rankdata(x, axis=-1)).all()
    assert (draws["second"] == np.sort(x)[..., 1]).all()
    assert (draws["last"] == np.sort(x[..., 1:])).all()


def test_a_vector_that_is_read_in_its_order_is_drawn_in_it():
    sampler = gp.compile(gp.read_bugs(MIXTURE, DATA))
    assert "m0.ordered[k]  truncated Normal" in str(sampler)
    assert sampler.verify().proved
    drawn = sampler.sample(50, warmup=20, chains=1, seed=1, progress=False)["m0.ordered"]
    assert (np.diff(drawn) > 0).all()


@pytest.mark.parametrize("seed", range(5))
def test_a_model_without_the_order_is_not_the_program(seed):
    """States that are not in order are none of the program's, whose density of them is zero."""
    model = gp.read_bugs(MIXTURE, DATA)
    graph, data, rng = model.graph, model.data, np.random.default_rng(seed)
    states = [initial_state(rng, graph, data)[0]]

    gap, size = gaps_of_reading(rng, model.reading, graph, data, states)["density"]
    assert gap <= RELATIVE_TOLERANCE * size
    unordered = replace(graph, potentials=())
    assert gaps_of_reading(rng, model.reading, unordered, data, states)["density"][0] == np.inf


def test_a_vector_that_is_monitored_is_drawn_as_it_is():
    sampler = gp.compile(gp.read_bugs(MIXTURE, DATA, monitor=["m0"]))
    assert "m0" in sampler.graph.drawn
    assert sampler.verify().proved


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("dnorm(0, 0.01)", "dnorm(k, 0.01)"),
        ("y[i] ~", "x[i] <- m0[1]; y[i] ~"),
        ("sort(m0[1:3])", "sort(c(m0[1:2], 0))"),
        ("m0[k] ~ dnorm(0, 0.01)", "m0[k] ~ dnorm(0, 0.01); seen[k] ~ dnorm(m0[k], 1)"),
    ],
)
def test_a_vector_that_is_not_exchangeable_or_read_elsewhere_stays_as_it_is(old, new):
    text = MIXTURE.replace(old, new)
    assert text != MIXTURE
    assert "m0" in gp.compile(gp.read_bugs(text, DATA)).graph.drawn


def test_draws_are_those_of_the_prior_that_the_data_weigh():
    rng = np.random.default_rng(1)
    prior = np.sort(rng.normal(0, 10, (1_000_000, 3)))
    weights = np.ones(len(prior))
    for y in Y:
        weights *= np.exp(-((y - prior) ** 2) / 2) @ DATA["w"]
    weights /= weights.sum()
    draws = gp.compile(gp.read_bugs(MIXTURE, DATA)).sample(2000, seed=1, progress=False)
    for k in range(3):
        values, x = prior[:, k], draws["m0.ordered"][..., k]
        mean = weights @ values
        error = np.hypot(np.sqrt(weights**2 @ (values - mean) ** 2), float(mcse_mean(x)))
        assert abs(x.mean() - mean) < 5 * error


def test_initial_values_are_put_in_order():
    model = gp.read_bugs(MIXTURE, DATA)
    (found,) = gp.read_inits({"m0": [3.0, -1.0, 2.0]}, model).items()
    assert found[0] == "m0.ordered"
    assert found[1].tolist() == [-1.0, 2.0, 3.0]


def test_numbers_that_are_no_integers_are_counted_where_they_are_equal():
    text = """
    model {
      for (i in 1:4) { x[i] ~ dnorm(0, 1) }
      for (k in 1:3) {
        for (i in 1:4) { here[i, k] <- equals(step(x[i]) + step(x[i] - 1), k - 1) }
        count[k] <- sum(here[, k])
      }
    }
    """
    draws = gp.compile(gp.read_bugs(text, {})).sample(30, chains=1, seed=1, progress=False)
    levels = (draws["x"] >= 0).astype(int) + (draws["x"] >= 1)
    expected = (levels[..., None, :] == np.arange(3)[:, None]).sum(-1)
    assert (draws["count"] == expected).all()
