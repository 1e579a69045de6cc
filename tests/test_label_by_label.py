"""Labels that a rule has added, and that are drawn one by one, are proved by putting each in."""

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp
from rewrites.examples_models import admixture
from scipy import stats

import gibbsppl as gp
from gibbsppl.checks.graphs import graph_rows
from gibbsppl.checks.label_by_label import log_probability_of_labels
from gibbsppl.checks.states import found_states


def of_labels(shape, dims, **observed):
    with gp.Model(coords={"i": shape, "k": 3}) as built:
        p = gp.Data("p", [0.2, 0.5, 0.3], dims="k")
        z = gp.Categorical("z", p, dims=dims, event="k")
        gp.Normal("y", z * 1.5, sigma=0.7, dims=dims, observed=observed["y"])
    return gp.compile(built)


def log_probability(sampler, values):
    statement = sampler.graph.statement("z")
    return log_probability_of_labels(sampler.graph, statement, {**sampler.data, **values})


@pytest.mark.parametrize(("y", "z"), [([0.1, 2.0, 7.0], [0, 2, 1]), (1.1, 1)])
def test_the_log_probability_of_labels_is_that_of_each(y, z):
    sampler = of_labels(3, "i" if np.ndim(y) else (), y=y)
    weights = np.array([0.2, 0.5, 0.3]) * stats.norm.pdf(
        np.atleast_1d(y)[:, None], 1.5 * np.arange(3), 0.7
    )
    own = np.take_along_axis(weights, np.atleast_1d(z)[:, None], axis=1)[:, 0]

    found = log_probability(sampler, {"z": np.array(z)})
    assert found == pytest.approx(np.log(own / weights.sum(axis=1)).sum(), rel=1e-12)


def tied(limit):
    with gp.Model(coords={"i": 2, "k": 2}) as built:
        z = gp.Categorical("z", gp.Data("p", [0.2, 0.8], dims="k"), dims="i", event="k")
        gp.Constraint("same", limit(z.at("i", 0), z.at("i", 1)))
    return gp.compile(built)


@pytest.mark.parametrize("z", [[0, 0], [1, 1]])
def test_labels_that_must_be_the_same_have_no_log_probability_of_each(z):
    """Given the other one, each of them has one possible label."""
    assert log_probability(tied(lambda a, b: (a <= b) * (b <= a)), {"z": np.array(z)}) is None


def test_labels_that_exclude_one_another_have_no_log_probability_of_each():
    assert log_probability(tied(lambda a, b: a + b < 2), {"z": np.array([0, 0])}) is None


def test_labels_that_are_impossible_somewhere_have_no_probability_there():
    y, below, z = np.array([1.9, 0.3, 1.1]), np.tri(3), np.array([0, 1, 1])
    with gp.Model(coords={"i": 3, "k": 3}) as built:
        p = gp.Data("p", below / below.sum(axis=1, keepdims=True), dims=("i", "k"))
        labels = gp.Categorical("z", p, dims="i", event="k")
        gp.Normal("y", labels * 1.5, sigma=0.7, dims="i", observed=y)
    weights = below * stats.norm.pdf(y[:, None], 1.5 * np.arange(3), 0.7)
    own = weights[np.arange(3), z] / weights.sum(axis=1)

    found = log_probability(gp.compile(built), {"z": z})
    assert found == pytest.approx(np.log(own).sum(), rel=1e-12)


def test_shares_of_partial_sums_are_proved_with_their_rates_integrated_out():
    with gp.Model(coords={"t": 3}) as built:
        r = gp.Gamma("r", shape=2.0, rate=1.0, dims="t")
        gp.Exponential("y", rate=gp.cumsum(r, "t"), dims="t", observed=np.array([0.3, 1.0, 0.7]))

    assert gp.compile(built, collapse=("r",)).verify().proved


def test_labels_that_see_one_another_have_no_log_probability_of_each():
    with gp.Model(coords={"i": 3, "k": 2}) as built:
        z = gp.Categorical("z", gp.Data("p", [0.2, 0.8], dims="k"), dims="i", event="k")
        gp.Normal("y", z.sum("i"), sigma=0.7, observed=0.4)

    assert log_probability(gp.compile(built), {"z": np.array([0, 1, 1])}) is None


def test_too_many_labels_have_none_either():
    sampler = of_labels(400, "i", y=np.zeros(400))

    assert log_probability(sampler, {"z": np.zeros(400, int)}) is None


@pytest.mark.parametrize("lost", ["", "phi", "y_split"])
def test_a_factor_that_is_lost_with_labels_drawn_one_by_one_is_seen(lost):
    sampler = gp.compile(admixture(), collapse=("theta", "phi"))
    schedule, parts = sampler.schedule, (sampler.program, sampler.data)
    graphs = tuple(without(g, lost) for g in schedule.graphs)
    rewrites = tuple(replace(r, graph=without(r.graph, lost)) for r in schedule.rewrites)
    found = next(found_states(np.random.default_rng(1), sampler.graph, *parts))
    planted = replace(schedule, graphs=graphs, rewrites=rewrites)
    rows = graph_rows(sampler.graph, planted, *parts, found.compared)

    gaps = [r.discrepancy / r.size for r in rows if "y_split added" in r.changes]
    assert len(gaps) == 1
    assert (gaps[0] > 1e-3) == bool(lost)


def without(graph, lost):
    """A graph in which the density of a factor is one."""
    statements = tuple(
        replace(s, family=replace(s.family, log_density=lambda *_, **__: sp.S.Zero))
        if s.name == lost
        else s
        for s in graph.statements
    )
    return replace(graph, statements=statements)
