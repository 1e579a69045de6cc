"""Labels that enter in every way, enumerated: the sweep leaves the exact posterior as it is."""

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.checks.enumeration import enumerate_sweep
from gibbsppl.initial import initial_state


def data(name, values, dims):
    return gp.Data(name, np.asarray(values, float), dims=dims)


def several_children_and_a_nested_index():
    with gp.Model(coords={"k": 3, "g": 2, "n": 4}) as m:
        z = gp.Categorical("z", data("w", [0.2, 0.3, 0.5], "k"), dims="g", event="k")
        group = gp.Index("group", [0, 1, 1, 0], of="g", dims="n")
        theta = data("theta", [-1, 0, 2], "k")
        gp.Normal("y", theta[z[group]], tau=1, dims="n", observed=[-1, 0.5, 2, -0.5])
        gp.Poisson("c", gp.exp(theta[z]), dims="g", observed=[0, 3])
    return m


def the_greater_of_two():
    with gp.Model() as m:
        a, b = gp.DiscreteUniform("a", 0, 2), gp.DiscreteUniform("b", 0, 3)
        gp.Poisson("y", gp.maximum(a, b) + 0.5, observed=2)
        gp.Poisson("x", gp.minimum(a, b) + 0.5, observed=0)
    return m


def a_comparison_of_unknowns():
    with gp.Model() as m:
        a, b = gp.DiscreteUniform("a", 0, 2), gp.DiscreteUniform("b", 0, 3)
        gp.Bernoulli("y", 0.2 + 0.5 * gp.step(a - b), observed=1)
        gp.Bernoulli("x", 0.2 + 0.5 * (a < b), observed=0)
    return m


def a_change_point():
    with gp.Model(coords={"t": 4}) as m:
        time = data("time", range(4), "t")
        change = gp.DiscreteUniform("change", 0, 3)
        rate = gp.where(gp.step(time - change), 3.0, 1.0)
        gp.Poisson("y", rate, dims="t", observed=[1, 0, 4, 2])
    return m


def the_label_of_a_label():
    with gp.Model(coords={"k": 3, "i": 2, "n": 4}) as m:
        u = gp.Categorical("u", data("w", [0.2, 0.3, 0.5], "k"), dims="i", event="k")
        v = gp.Categorical("v", data("q", [0.5, 0.5], "i"), dims="n", event="i")
        theta = data("theta", [-1, 0, 2], "k")
        gp.Normal("y", theta[u[v]], tau=1, dims="n", observed=[-1, 0, 2, 0])
    return m


def labels_in_order():
    with gp.Model(coords={"i": 3}) as m:
        z = gp.Bernoulli("z", 0.4, dims="i")
        gp.Constraint("order", z.lag("i", 1) <= z)
    return m


def a_product_of_two():
    with gp.Model(coords={"i": 2}) as m:
        z, w = gp.Bernoulli("z", 0.4), gp.Bernoulli("w", 0.6)
        gp.Bernoulli("y", 0.1 + 0.8 * z * w, dims="i", observed=[1, 0])
    return m


def gates_of_a_probability():
    """A zero of the log density at a label: 0 * log(0) is 0 where nothing was seen."""
    with gp.Model(coords={"i": 3}) as m:
        z = gp.Bernoulli("z", 0.4, dims="i")
        gp.Binomial("y", 3, 0.3 * z, dims="i", observed=[0, 1, 0])
    return m


def a_thinned_count_of_few():
    with gp.Model(coords={"i": 2}) as m:
        n = gp.Binomial("n", 3, 0.6, dims="i")
        gp.Binomial("y", n, 0.5, dims="i", observed=[0, 2])
    return m


def one_label_of_children_in_groups():
    """The index of a child is none of the label: its sum is over all of them."""
    with gp.Model(coords={"g": 2}) as m:
        z, u = gp.Bernoulli("z", 0.4), gp.DiscreteUniform("u", 1, 3, dims="g")
        group = gp.Index("group", [0, 1, 1], of="g", dims="n")
        gp.Gamma("y", 1 + z, rate=u[group], dims="n", observed=[0.3, 1.0, 2.0])
    return m


MODELS = (
    one_label_of_children_in_groups,
    several_children_and_a_nested_index,
    the_greater_of_two,
    a_comparison_of_unknowns,
    a_change_point,
    the_label_of_a_label,
    labels_in_order,
    a_product_of_two,
    gates_of_a_probability,
    a_thinned_count_of_few,
)


@pytest.mark.parametrize("model", MODELS, ids=lambda f: f.__name__)
def test_a_sweep_leaves_the_posterior_of_labels_invariant(model):
    sampler = gp.compile(model(), exact=True)
    start, _ = initial_state(
        np.random.default_rng(1),
        sampler.graph,
        sampler.data,
        mend=sampler.program.mended_by(np.random.default_rng(2), sampler.constants),
    )
    found = enumerate_sweep(
        sampler.graph, sampler.program, sampler.schedule.steps, sampler.data, start
    )

    assert sampler.verify().proved
    assert found.passed


def test_only_what_depends_on_the_label_is_evaluated():
    """The term of a child that the label is not in is no part of its weights."""
    with gp.Model(coords={"n": 4}) as m:
        z = gp.Bernoulli("z", 0.4, dims="n")
        mu = gp.Normal("mu", 0, tau=1)
        gp.Normal("y", mu + z, tau=2, dims="n", observed=[0.0, 1.0, 0.0, 2.0])
        gp.Normal("x", mu, tau=2, dims="n", observed=[5.0, 6.0, 7.0, 8.0])
    sampler = gp.compile(m)
    step = sampler.schedule.step("z")

    assert step.kind == "finite"
    assert {c.factor for c in step.weights.contributions} == {"z", "y"}
