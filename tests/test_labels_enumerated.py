"""Labels that enter in every way, enumerated: the sweep leaves the exact posterior as it is."""

import numpy as np
import pytest
from scipy import stats

import gibbsppl as gp
from gibbsppl.checks.enumeration import enumerate_sweep
from gibbsppl.initial.search import initial_state


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


def shared_rates(read):
    """Labels that look up their rate, of which some are seen by more than the others."""
    with gp.Model(coords={"g": 2, "n": 3}) as m:
        at = gp.Index("at", [1, 0, 0], of="g", dims="n")
        z = gp.Bernoulli("z", data("rate", [0.3, 0.8], "g")[at], dims="n")
        read(z)
    return m


def one_of_them_seen():
    return shared_rates(lambda z: gp.Bernoulli("y", 0.1 + 0.8 * z.at("n", 2), observed=1))


def one_of_them_seen_through_a_rate():
    def read(z):
        index = gp.Index("seen", [2, 1], of="n", dims="s")
        spread = gp.Index("of_seen", [0, 0], of="g", dims="s")
        own = data("own", [0.3, 0.6], "g")
        gp.Bernoulli("y", 0.1 + own[spread] * z[index], dims="s", observed=[1, 0])

    return shared_rates(read)


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


def a_scale_within_a_scale():
    """Multi-scale occupancy: a label whose own probability is gated by another."""
    with gp.Model(coords={"i": 2, "j": 2}) as m:
        z = gp.Bernoulli("z", 0.6, dims="i")
        a = gp.Bernoulli("a", z * 0.5, dims=("i", "j"))
        gp.Binomial("y", 3, a * 0.4, dims=("i", "j"), observed=[[0, 2], [0, 0]])
    return m


def gates_one_behind_the_other():
    """Capture and recapture by elements."""
    with gp.Model() as m:
        alive = gp.Bernoulli("alive", 0.7)
        for t in range(3):
            alive = gp.Bernoulli(f"alive_{t}", alive * 0.8)
            gp.Bernoulli(f"y_{t}", alive * 0.5, observed=int(t == 1))
    return m


def a_chain_that_ends():
    with gp.Model(coords={"t": 5}) as m:
        z = gp.Array("z", dims="t")
        z[0] = gp.Bernoulli(0.7)
        z[1:] = gp.Bernoulli(z.lag("t", 1) * 0.6)
        gp.Bernoulli("y", z * 0.5, dims="t", observed=[0, 1, 0, 0, 0])
    return m


def a_chain_that_is_certain_to_go_on():
    with gp.Model(coords={"t": 4}) as m:
        z = gp.Array("z", dims="t")
        z[0] = gp.Bernoulli(0.3)
        before = z.lag("t", 1)
        z[1:] = gp.Bernoulli(before + 0.4 * (1 - before))
        gp.Bernoulli("y", 0.1 + z * 0.5, dims="t", observed=[0, 1, 0, 0])
    return m


def products_of_gates():
    with gp.Model(coords={"i": 3}) as m:
        z, w = gp.Bernoulli("z", 0.5, dims="i"), gp.Bernoulli("w", 0.4, dims="i")
        a = gp.Bernoulli("a", z * w * 0.5, dims="i")
        gp.Binomial("y", 2, a * w * 0.4, dims="i", observed=[0, 1, 0])
    return m


def a_gated_count():
    with gp.Model(coords={"i": 3}) as m:
        z = gp.Bernoulli("z", 0.5, dims="i")
        n = gp.Binomial("n", 2, z * 0.6, dims="i")
        gp.Binomial("y", n, 0.4, dims="i", observed=[0, 1, 0])
    return m


def a_gated_rate():
    with gp.Model(coords={"i": 3}) as m:
        z = gp.Bernoulli("z", 0.5, dims="i")
        w = gp.Bernoulli("w", z * 0.5, dims="i")
        gp.Poisson("y", w * 2.5, dims="i", observed=[0, 1, 0])
    return m


def both_ends_of_a_probability():
    """A share of 0, of a half or of 1: no count, any, all of them."""
    with gp.Model(coords={"i": 3}) as m:
        c = gp.DiscreteUniform("c", 0, 2, dims="i")
        b = gp.Binomial("b", 2, c / 2, dims="i")
        gp.Bernoulli("y", b / 2, dims="i", observed=[0, 1, 0])
    return m


def rows_with_zeros():
    with gp.Model(coords={"i": 3, "k": 3, "s": 2}) as m:
        P = data("P", [[1.0, 0.0, 0.0], [0.2, 0.5, 0.3]], ("s", "k"))
        z = gp.Categorical("z", data("w", [0.5, 0.5], "s"), dims="i", event="s")
        c = gp.Categorical("c", P[z], dims="i", event="k")
        gp.Bernoulli("y", 0.2 + 0.3 * c, dims="i", observed=[0, 1, 1])
    return m


def data_at_both_ends():
    with gp.Model(coords={"i": 3}) as m:
        p = data("p", [0.0, 0.5, 1.0], "i")
        a = gp.Bernoulli("a", p, dims="i")
        b = gp.Bernoulli("b", p * a, dims="i")
        gp.Bernoulli("y", 0.1 + 0.5 * a * b, dims="i", observed=[0, 1, 1])
    return m


def a_choice_between_gates():
    with gp.Model(coords={"i": 3}) as m:
        z, w = gp.Bernoulli("z", 0.5, dims="i"), gp.Bernoulli("w", 0.5, dims="i")
        a = gp.Bernoulli("a", gp.where(w, z * 0.5, 0.25), dims="i")
        gp.Bernoulli("y", a * 0.5, dims="i", observed=[0, 1, 0])
    return m


def a_label_with_more_values_than_what_it_is_compared_with():
    with gp.Model(coords={"short": 3, "long": 4, "n": 3}) as m:
        z = gp.Categorical("z", data("w", [0.1, 0.2, 0.3, 0.4], "long"), event="long")
        u = gp.Categorical("u", data("q", [0.5, 0.2, 0.3], "short"), dims="n", event="short")
        a = data("a", [0.5, -1, 2], "short")
        gp.Potential("tie", gp.equals(u, z) * a[u] * data("x", [1, -2, 0.5], "n"))
    return m


def marked_items():
    """A hypergeometric whose marked items may be more than all items: those labels weigh zero."""
    with gp.Model(coords={"i": 3}) as m:
        marked, items = gp.DiscreteUniform("marked", 0, 12), gp.DiscreteUniform("items", 4, 9)
        gp.Hypergeometric("y", items, marked, 3, dims="i", observed=[1, 2, 1])
    return m


def drawn_items():
    with gp.Model(coords={"i": 2}) as m:
        drawn = gp.DiscreteUniform("drawn", 0, 12, dims="i")
        marked = gp.Binomial("marked", 10, 0.4)
        gp.Hypergeometric("y", 9, marked, drawn, dims="i", observed=[1, 2])
    return m


def trials_below_a_count():
    """At a whole parameter of a beta-binomial, impossible numbers of trials are poles."""
    with gp.Model(coords={"i": 2}) as m:
        n = gp.DiscreteUniform("n", 0, 6)
        gp.BetaBinomial("y", n, 2, 3, dims="i", observed=[1, 3])
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
    a_scale_within_a_scale,
    gates_one_behind_the_other,
    a_chain_that_ends,
    a_chain_that_is_certain_to_go_on,
    products_of_gates,
    a_gated_count,
    a_gated_rate,
    both_ends_of_a_probability,
    rows_with_zeros,
    data_at_both_ends,
    a_choice_between_gates,
    a_label_with_more_values_than_what_it_is_compared_with,
    marked_items,
    drawn_items,
    trials_below_a_count,
    one_of_them_seen,
    one_of_them_seen_through_a_rate,
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
        z = gp.Binomial("z", 2, 0.4, dims="n")
        mu = gp.Normal("mu", 0, tau=1)
        gp.Normal("y", mu + z, tau=2, dims="n", observed=[0.0, 1.0, 0.0, 2.0])
        gp.Normal("x", mu, tau=2, dims="n", observed=[5.0, 6.0, 7.0, 8.0])
    sampler = gp.compile(m)
    step = sampler.schedule.step("z")

    assert step.kind == "finite"
    assert {c.factor for c in step.weights.contributions} == {"z", "y"}


def gated_counts_seen_twice():
    with gp.Model(coords={"i": 4, "j": 2}) as m:
        rate, p = gp.Gamma("rate", 2, rate=1), gp.Beta("p", 2, 2)
        z = gp.Bernoulli("z", 0.6, dims="i")
        n = gp.Poisson("n", rate * z, dims="i")
        seen = np.array([[0, 0], [2, 1], [0, 0], [3, 2]])
        gp.Binomial("y", n, p, dims=("i", "j"), observed=seen)
    return m


def a_gated_negative_binomial():
    with gp.Model(coords={"i": 4}) as m:
        p = gp.Beta("p", 2, 2)
        z, w = gp.Bernoulli("z", 0.6, dims="i"), gp.Bernoulli("w", 0.6, dims="i")
        a = gp.Binomial("a", 5, z * p, dims="i")
        b = gp.NegativeBinomial("b", 2, 1 - w * p, dims="i")
        gp.Binomial("y", a + b, 0.4, dims="i", observed=[0, 1, 0, 3])
    return m


@pytest.mark.parametrize(
    "model", [gated_counts_seen_twice, a_gated_negative_binomial], ids=lambda f: f.__name__
)
def test_counts_without_an_end_have_gates_too(model):
    sampler = gp.compile(model())

    assert {s.kind for s in sampler.schedule.steps} >= {"finite", "move"}
    for seed in range(5):
        assert sampler.verify(seed=seed).passed


def test_a_label_is_excluded_where_an_index_meets_it_alone():
    with gp.Model(coords={"i": 2, "t": 2}) as model:
        z = gp.DiscreteUniform("z", lower=0, upper=2, dims=("i", "t"))
        at = gp.Index("at", [0, 1], of="i", dims="t")
        gp.Binomial("y", n=z.at("i", at), p=0.5, dims="t", observed=[1, 1])
    sampler = gp.compile(model)
    draws = sampler.sample(draws=1000, warmup=1, chains=1, seed=1, progress=False)["z"][0]

    assert sampler.verify().proved
    # (one of one or one of two, each of probability a half; elsewhere all three labels are alike)
    assert stats.binomtest(int((draws[:, 0, 0] == 2).sum()), 1000, 1 / 2).pvalue > 1e-3
    assert (draws[:, 0, 0] > 0).all()
    assert stats.binomtest(int((draws[:, 1, 0] == 2).sum()), 1000, 1 / 3).pvalue > 1e-3


def test_labels_may_read_a_table_along_some_of_their_dims_alone():
    with gp.Model(coords={"i": 2, "j": 3, "k": 4, "t": 2}) as model:
        p = gp.Dirichlet("p", 0.5, dims=("k", "t"), event="t")
        at = gp.Index("at", [3, 1, 0], of="k", dims="j")
        gp.Categorical("z", p.at("k", at), dims=("i", "j"), event="t")

    assert gp.compile(model).verify().proved


def test_labels_that_are_compared_with_one_another():
    """A probability that is the larger one where two labels are equal, below another one."""
    program = """model {
      alpha ~ dunif(0, 1)
      beta ~ dunif(0, alpha)
      for (i in 1:3) {
        x[i] ~ dbern(0.5)
        for (j in 1:2) {
          theta[i, j] <- alpha * equals(x[i], z[j]) + beta * (1 - equals(x[i], z[j]))
          y[i, j] ~ dbern(theta[i, j])
        }
      }
      for (j in 1:2) { z[j] ~ dbern(0.5) }
    }"""
    sampler = gp.compile(gp.read_bugs(program, {"y": [[1, 0], [0, 1], [1, 1]]}))

    assert sampler.verify().proved
