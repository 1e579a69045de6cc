"""What is derived from a graph: edges, blankets, notation; compared with element by element."""

import itertools

import networkx as nx
import numpy as np
import pytest

import gibbsppl.language as gp
from gibbsppl.algebra.expressions import Array, Dim, Over, leaves_of
from gibbsppl.errors import ModelError
from gibbsppl.model.graph import expressions_read_by
from gibbsppl.model.graph_views import Blanket, blanket, dag, offset_of, reads_of


def growth():
    with gp.Model(coords={"rat": 3}) as model:
        mu, tau = gp.Normal("mu", 0, tau=1), gp.Gamma("tau", 1, rate=1)
        a = gp.Normal("a", mu, tau=tau, dims="rat")
        b = gp.Normal("b", 0, tau=1, dims="rat")
        sigma = gp.Deterministic("sigma", 1 / gp.sqrt(tau))
        gp.Normal("y", a + b, sigma=sigma, dims="rat", observed=np.ones(3))
    return model.graph


def chain():
    with gp.Model(coords={"t": 5}) as model:
        tau = gp.Gamma("tau", 1, rate=1)
        x = gp.Array("x", dims="t")
        x[0] = gp.Normal(0, sigma=1)
        x[1:3] = gp.Normal(x.lag("t"), tau=tau)
        x[3:] = gp.Normal(x.lag("t", 2), sigma=1)
    return model.graph


def topics():
    with gp.Model(coords={"topic": 2, "word": 3}) as model:
        theta = gp.Dirichlet("theta", 1, dims="topic")
        phi = gp.Dirichlet("phi", 1, dims=("topic", "word"), event="word")
        z = gp.Categorical("z", theta)
        gp.Categorical("w", phi[z], observed=1)
    return model.graph


def lattice():
    with gp.Model(coords={"row": 3}) as model:
        s = gp.Bernoulli("s", 0.5, dims="row")
        strength = gp.Normal("strength", 0, sigma=1)
        gp.Potential("coupling", strength * s * s.lag("row"))
    return model.graph


EDGES = {
    growth: {("mu", "a"), ("tau", "a"), ("a", "y"), ("b", "y"), ("tau", "y")},
    chain: {
        ("tau", "x[1:3]"),
        ("x[0]", "x[1:3]"),
        ("x[1:3]", "x[1:3]"),
        ("x[1:3]", "x[3:]"),
    },
    topics: {("theta", "z"), ("z", "w"), ("phi", "w")},
    lattice: {("s", "coupling"), ("strength", "coupling")},
}


@pytest.mark.parametrize("graph", EDGES, ids=lambda g: g.__name__)
def test_edges_are_read_from_the_expressions(graph):
    assert set(dag(graph()).edges) == EDGES[graph]


def test_nodes_say_what_they_are():
    assert dict(dag(growth()).nodes(data="kind"))["y"] == "observed"
    assert dict(dag(lattice()).nodes(data="kind")) == {
        "s": "latent",
        "strength": "latent",
        "coupling": "potential",
    }


BLANKETS = {
    (growth, "a"): Blanket(("mu", "tau"), ("y",), ("tau", "b")),
    (growth, "tau"): Blanket((), ("a", "y"), ("mu", "b")),
    (growth, "mu"): Blanket((), ("a",), ("tau",)),
    (chain, "x[1:3]"): Blanket(("tau", "x[0]"), ("x[3:]",), ()),
    (chain, "x[0]"): Blanket((), ("x[1:3]",), ("tau",)),
    (topics, "z"): Blanket(("theta",), ("w",), ("phi",)),
    (lattice, "s"): Blanket((), ("coupling",), ("strength",)),
}


@pytest.mark.parametrize(("graph", "name"), BLANKETS, ids=lambda v: getattr(v, "__name__", v))
def test_blankets(graph, name):
    assert blanket(graph(), name) == BLANKETS[graph, name]


@pytest.mark.parametrize("graph", [growth, topics, lattice], ids=lambda g: g.__name__)
def test_a_blanket_is_what_the_factors_of_a_variable_mention(graph):
    built = graph()
    for statement in built.statements:
        found = blanket(built, statement.name)
        factors = built.factors_of(statement.name)
        mentioned = {leaf.array.name for f in factors for leaf in leaves_of(f.log_density)}
        expected = mentioned | {f.name for f in factors} - {statement.name}

        inside = {*found.parents, *found.children, *found.co_parents}
        assert inside == expected & {f.name for f in built.factors} - {statement.name}


@pytest.mark.parametrize("graph", [growth, chain, topics, lattice], ids=lambda g: g.__name__)
def test_the_network_has_what_factors_mention(graph):
    built = graph()
    for name in built.random:
        mentioning = [
            f for f in built.factors
            if name in {leaf.array.name for e in expressions_read_by(f) for leaf in leaves_of(e)}
            or f in built.statements_of(name)
        ]
        assert list(built.factors_of(name)) == mentioning
    assert built.network is built.network
    assert built.factors_of("nothing") == ()


def test_what_a_flat_density_does_not_mention_is_its_own():
    with gp.Model(coords={"i": 2}) as model:
        gp.Uniform("x", 0, 1, dims="i")
    assert [f.name for f in model.graph.factors_of("x")] == ["x"]


def test_models_show_their_graph():
    with gp.Model() as model:
        mu, tau = gp.Normal("mu", 0, sigma=1), gp.Gamma("tau", 1, rate=1)
        gp.Normal("y", mu, tau=tau, observed=0.5)

    assert nx.is_directed_acyclic_graph(model.dag())
    assert set(model.dag().edges) == {("mu", "y"), ("tau", "y")}
    assert model.blanket("mu") == Blanket((), ("y",), ("tau",))
    assert str(model.blanket("y")) == "parents: mu, tau\nchildren: none\nco-parents: none"
    with pytest.raises(ModelError, match=r"blanket\('mean'\): found no variable of that name"):
        model.blanket("mean")


def test_edges_of_regions_agree_with_single_elements():
    """An edge between regions is an edge between some of their elements, for all small chains."""
    n = 5
    for lag, split in itertools.product((1, 2), (2, 3)):
        with gp.Model(coords={"t": n}) as model:
            x = gp.Array("x", dims="t")
            x[:2] = gp.Normal(0, sigma=1)
            if split > 2:
                x[2:split] = gp.Normal(1, sigma=1)
            x[split:] = gp.Normal(x.lag("t", lag), sigma=1)
        ranges = ((s.name, r) for s in model.graph.statements for r in s.over)
        owner = {t: name for name, r in ranges for t in range(r.start, r.stop)}
        expected = {(owner[t - lag], owner[t]) for t in range(split, n)}

        assert set(dag(model.graph).edges) == expected


def test_reads_in_full_what_a_binder_binds():
    x, t = Array("x"), Dim("t")
    expr = x[t - 1] + Over(x[t], t)
    found = {(str(r.leaf), r.intervals) for r in reads_of(expr, {t: (2, 3)}, {t: 5})}

    assert found == {("x[t - 1]", ((1, 2),)), ("x[t]", ((0, 4),))}


def test_reads_what_a_sum_over_a_part_of_a_dim_reads():
    x, t = Array("x"), Dim("t")
    found = [r.intervals for r in reads_of(Over(x[t + 1], t, 0, 4), {t: (2, 3)}, {t: 5})]

    assert found == [((1, 4),)]


def test_offsets_are_those_of_the_dim_alone():
    t, u = Dim("t"), Dim("u")

    assert [offset_of(i, t) for i in (t, t + 2, u + 1, Array("g")[t])] == [0, 2, None, None]


def test_the_dag_of_a_model_without_lags_is_acyclic():
    assert nx.is_directed_acyclic_graph(dag(growth()))
    assert not nx.is_directed_acyclic_graph(dag(chain()))


PRINTED = {
    chain: """\
tau ~ Gamma(shape=1, rate=1)
x[0] ~ Normal(mu=0, tau=1)
x[t] ~ Normal(mu=x[t - 1], tau=tau), t = 1..2
x[t] ~ Normal(mu=x[t - 2], tau=1), t = 3..4""",
    topics: """\
theta[topic] ~ Dirichlet(a=1) over topic
phi[topic, word] ~ Dirichlet(a=1) over word
z ~ Categorical(p=theta[topic])
w ~ Categorical(p=phi[z, word]), observed""",
    lattice: """\
s[row] ~ Bernoulli(p=0.5)
strength ~ Normal(mu=0, tau=1)
log density += sum(strength*s[row - 1]*s[row], row), row = 1..2""",
}


@pytest.mark.parametrize("graph", PRINTED, ids=lambda g: g.__name__)
def test_a_graph_prints_as_mathematics(graph):
    assert str(graph()) == PRINTED[graph]
