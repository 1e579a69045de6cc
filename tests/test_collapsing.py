"""Variables integrated out: the integral that is left of them; what cannot be integrated out."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import sympy as sp
from scipy.special import expit

import gibbsppl as gp
from gibbsppl.algebra.expressions import leaves_of
from gibbsppl.algebra.functions import Equals
from gibbsppl.checks.graphs import graph_rows
from gibbsppl.checks.results import RELATIVE_TOLERANCE
from gibbsppl.errors import CompileError
from gibbsppl.initial.search import initial_state
from gibbsppl.model.density import log_joint
from gibbsppl.model.graph import Potential
from gibbsppl.rewrites import integrals, sums

MEASURED, COUNTED, SEEN = [-1.0, 0.3, 0.9, 2.0], [0, 1, 4, 6], [0, 1, 1, 0]
ANSWERED = [[1, 0, 0], [1, 1, 0], [0, 0, 1], [0, 1, 1]]
DOCUMENTS, WORDS = [0, 0, 0, 1, 1], [0, 1, 1, 2, 1]


def data(name, values, dims):
    return gp.Data(name, np.asarray(values, float), dims=dims)


def two(**sizes):
    """Two labels and four elements."""
    return gp.Model(coords={"k": 2, "n": 4} | sizes)


def weights(name="w", a=None):
    a = data("a", [0.7, 1.5], "k") if a is None else a
    return gp.Dirichlet(name, a, dims="k", event="k")


def labels(p=None, dims="n", **seen):
    p = data("p_of_z", [0.3, 0.7], "k") if p is None else p
    return gp.Categorical("z", p, dims=dims, event="k", **seen)


# ---- models ----------------------------------------------------------------------------------


def topics():
    with gp.Model(coords={"doc": 2, "k": 2, "vocab": 3, "n": 5}) as m:
        doc = gp.Index("doc_of", DOCUMENTS, of="doc", dims="n")
        theta = gp.Dirichlet("theta", 0.7, dims=("doc", "k"), event="k")
        phi = gp.Dirichlet("phi", 0.4, dims=("k", "vocab"), event="vocab")
        gp.Categorical("word", phi[labels(theta[doc])], dims="n", event="vocab", observed=WORDS)
    return m


def topics_of_a_table():
    """The labels have two dims."""
    with gp.Model(coords={"doc": 2, "i": 3, "k": 2, "vocab": 3}) as m:
        theta = gp.Dirichlet("theta", 0.7, dims=("doc", "k"), event="k")
        phi = gp.Dirichlet("phi", 0.4, dims=("k", "vocab"), event="vocab")
        z = labels(theta, dims=("doc", "i"))
        words = [[0, 1, 1], [2, 1, 0]]
        gp.Categorical("word", phi[z], dims=("doc", "i"), event="vocab", observed=words)
    return m


def normals():
    with two() as m:
        w = weights()
        mu = gp.Normal("mu", 0.3, tau=0.5, dims="k")
        tau = gp.Gamma("tau", 2, rate=1.5, dims="k")
        z = labels(w)
        gp.Normal("y", mu[z], tau=tau[z], dims="n", observed=MEASURED)
    return m


def counts():
    with two() as m:
        w = weights()
        rate = gp.Gamma("rate", 2, rate=0.5, dims="k")
        gp.Poisson("y", rate[labels(w)], dims="n", observed=COUNTED)
    return m


def answers():
    """A label touches one entry for each of the answers."""
    with two(j=3) as m:
        w = weights()
        p = gp.Beta("p", 0.8, 1.3, dims=("k", "j"))
        gp.Bernoulli("y", p[labels(w)], dims=("n", "j"), observed=ANSWERED)
    return m


def words_by_group():
    """The table of a word has the index of a group beside the label."""
    with gp.Model(coords={"k": 2, "g": 2, "v": 3, "n": 5}) as m:
        w = weights()
        phi = gp.Dirichlet("phi", 0.6, dims=("g", "k", "v"), event="v")
        group = gp.Index("group", [0, 1, 0, 1, 1], of="g", dims="n")
        word = [0, 1, 2, 2, 0]
        gp.Categorical("y", phi[group, labels(w)], dims="n", event="v", observed=word)
    return m


def labels_from_one(dims="n"):
    with gp.Model(coords={"n": 4}) as m:
        rate = gp.Gamma("rate", 2, rate=0.5, dims=dims)
        z = gp.DiscreteUniform("z", 1, 4, dims="n")
        gp.Poisson("y", rate * z, dims="n", observed=COUNTED)
    return m


def labels_from_one_of_one_rate():
    return labels_from_one(dims=())


def a_concentration():
    with two() as m:
        w = weights(a=gp.Gamma("a", 2, rate=1))
        gp.Normal("y", data("c", [0, 1], "k")[labels(w)], tau=1, dims="n", observed=MEASURED)
    return m


def a_mean_of_means():
    with two() as m:
        spread = gp.Gamma("spread", 2, rate=1)
        mu = gp.Normal("mu", gp.Normal("centre", 0, tau=1), tau=spread, dims="k")
        tau = gp.Gamma("tau", 2, rate=1)
        gp.Normal("y", mu[labels()], tau=tau, dims="n", observed=MEASURED)
    return m


def a_coin():
    """What is integrated out is one number."""
    with gp.Model(coords={"n": 4}) as m:
        z = gp.Bernoulli("z", gp.Beta("q", 0.8, 1.4), dims="n")
        gp.Normal("y", 2 * z - 0.5, tau=1, dims="n", observed=MEASURED)
    return m


def a_slope():
    with gp.Model(coords={"n": 4}) as m:
        z = gp.Bernoulli("z", 0.4, dims="n")
        gp.Normal("y", gp.Normal("b", 0.5, tau=0.5) * z, tau=1.3, dims="n", observed=MEASURED)
    return m


def labels_of_labels():
    """Two labels that the same table shows to one another."""
    with two(v=2) as m:
        w, table = weights(), gp.Dirichlet("table", 0.8, dims=("k", "v"), event="v")
        x = gp.Categorical("x", table[labels(w)], dims="n", event="v")
        gp.Normal("y", data("c", [0, 1], "v")[x], tau=1, dims="n", observed=MEASURED)
    return m


def trials():
    with two() as m:
        w, p = weights(), gp.Beta("p", 0.8, 1.3, dims="k")
        n = data("trials", [3, 5, 2, 4], "n")
        gp.Binomial("y", n, p[labels(w)], dims="n", observed=[1, 5, 0, 2])
    return m


def normals_and_precisions(dims="k"):
    """The precision of what is seen is in that of its mean: both can go."""
    with two() as m:
        w, tau = weights(), gp.Gamma("tau", 2, rate=1.5, dims=dims)
        mu = gp.Normal("mu", 0.3, tau=0.5 * tau, dims="k")
        z = labels(w)
        gp.Normal("y", mu[z], tau=tau[z] if dims else tau, dims="n", observed=MEASURED)
    return m


def normals_of_one_precision():
    return normals_and_precisions(dims=())


PAIRS = [[-1.0, 0.3], [0.2, 1.2], [1.5, -0.4], [0.9, 2.0]]
SCALE = [[1.0, 0.2], [0.2, 0.7]]


def vectors():
    """Vectors of which the precision is known."""
    with two(j=2) as m:
        precision, first = data("V", SCALE, ("j", "j'")), data("m", [0.3, -0.2], "j")
        mu = gp.MvNormal("mu", first, tau=precision, dims=("k", "j"), event="j")
        mean = mu[labels(weights())]
        gp.MvNormal("y", mean, tau=precision, dims=("n", "j"), event="j", observed=PAIRS)
    return m


def matrices():
    """Only the precision of vectors is unknown."""
    with two(j=2) as m:
        scale = data("V", SCALE, ("j", "j'"))
        tau = gp.Wishart("tau", 4, V=scale, dims=("k", "j", "j'"))[labels(weights())]
        gp.MvNormal("y", 0, tau=tau, dims=("n", "j"), event="j", observed=PAIRS)
    return m


def vectors_and_matrices():
    with two(j=2) as m:
        scale, first = data("V", SCALE, ("j", "j'")), data("m", [0.3, -0.2], "j")
        tau = gp.Wishart("tau", 4, V=scale, dims=("k", "j", "j'"))
        mu = gp.MvNormal("mu", first, tau=0.5 * tau, dims=("k", "j"), event="j")
        z = labels(weights())
        gp.MvNormal("y", mu[z], tau=tau[z], dims=("n", "j"), event="j", observed=PAIRS)
    return m


def vectors_and_covariances():
    with two(j=2) as m:
        scale, first = data("V", SCALE, ("j", "j'")), data("m", [0.3, -0.2], "j")
        cov = gp.InverseWishart("cov", 4, scale, dims=("k", "j", "j'"))
        mu = gp.MvNormal("mu", first, cov=2 * cov, dims=("k", "j"), event="j")
        z = labels(weights())
        gp.MvNormal("y", mu[z], cov=cov[z], dims=("n", "j"), event="j", observed=PAIRS)
    return m


def gates_of_weights(tied=True):
    """The gates of the weights of a regression, which are drawn jointly."""
    x = [[1.0, 0.4, -0.3], [0.2, -1.0, 0.5], [0.7, 0.1, 1.1], [-0.4, 0.9, 0.3]]
    with gp.Model(coords={"n": 4, "p": 3}) as m:
        design, tau = gp.Data("x", x, dims=("n", "p")), gp.Gamma("tau", 2, rate=1)
        z = gp.Bernoulli("z", 0.4, dims="p")
        b = gp.Normal("b", 0, tau=2 * tau if tied else 2, dims="p")
        gp.Normal("y", design @ (z * b), tau=tau, dims="n", observed=MEASURED)
    return m


def gates_of_loose_weights():
    return gates_of_weights(tied=False)


def sticks():
    """A label's weight is a product over pieces of a stick."""
    with two(b=1) as m:
        weight = gp.stick_breaking(gp.Beta("v", 1, 2, dims="b"), "b", into="k")
        mu = gp.Normal("mu", 0.2, tau=0.5, dims="k")
        gp.Normal("y", mu[labels(weight)], tau=1, dims="n", observed=MEASURED)
    return m


def a_change_point():
    """Both rates stand in one choice, and what is left of one is what the other one adds."""
    with gp.Model(coords={"n": 4}) as m:
        last = gp.DiscreteUniform("last", 0, 2)
        before, after = (gp.Gamma(name, 2, rate=1) for name in ("before", "after"))
        rate = gp.where(data("time", range(4), "n") <= last, before, after)
        gp.Poisson("y", rate, dims="n", observed=COUNTED)
    return m


def either_of_two():
    """The probability of a label is one number, which is drawn."""
    with gp.Model(coords={"n": 4}) as m:
        z = gp.Bernoulli("z", gp.Beta("q", 0.8, 1.4), dims="n")
        low, high = gp.Gamma("low", 2, rate=1), gp.Gamma("high", 3, rate=0.5)
        gp.Poisson("y", gp.where(z, high, low), dims="n", observed=COUNTED)
    return m


def one_label():
    with two() as m:
        mu = gp.Normal("mu", 0.2, tau=0.5, dims="k")
        z = gp.Categorical("z", data("p", [0.3, 0.7], "k"), event="k")
        gp.Normal("y", mu[z], tau=1, dims="n", observed=MEASURED)
    return m


def declared(declare):
    """A model of one function."""

    def model():
        with two(j=2) as m:
            declare()
        return m

    model.__name__ = declare.__name__
    return model


def group():
    return gp.Index("group", SEEN, of="j", dims="n")


def mean(**settings):
    return gp.Normal("mu", 0, tau=1, dims="k", **settings)


def mixture(mu=None, z=None, tau=1):
    """Normals whose means are shown by labels."""
    mu, z = mean() if mu is None else mu, labels() if z is None else z
    return gp.Normal("y", mu[z], tau=tau, dims="n", observed=MEASURED)


@declared
def two_words_of_a_label():
    phi, z = gp.Dirichlet("mu", 0.6, dims=("k", "j"), event="j"), labels()
    gp.Categorical("y", phi[z], dims="n", event="j", observed=SEEN)
    gp.Categorical("x", phi[z], dims="n", event="j", observed=SEEN[::-1])


@declared
def one_matrix():
    scale = data("V", np.eye(2), ("j", "j'"))
    precision = gp.Wishart("mu", 4, V=scale, dims=("j", "j'"))
    first = data("c", np.eye(2), ("k", "j"))[labels()]
    gp.MvNormal("y", first, tau=precision, dims=("n", "j"), event="j", observed=np.eye(4, 2))


@declared
def neighbours():
    z = gp.Bernoulli("z", gp.Beta("mu", 1, 1), dims="n")
    gp.Potential("neighbours", 0.5 * z * z.lag("n", 1))


@declared
def labels_known_in_part():
    mixture(z=labels(observed=[0, np.nan, np.nan, 1], missing=np.nan))


@declared
def labels_through_an_index():
    mixture(z=labels(dims="j")[group()])


@declared
def labels_of_groups():
    mixture(data("c", [0, 1], "k"), labels(weights("mu"), dims="j")[group()])


@declared
def several_children():
    gp.Normal("y", mean()[labels()], tau=1, dims=("n", "j"), observed=np.eye(4, 2))


def a_precision_by_label():
    """The label is in the normaliser of the prior of what is integrated out."""
    with two() as m:
        precision = data("precision", [0.2, 3.0], "k")
        b = gp.Normal("b", 0, tau=precision[labels()], dims="n")
        gp.Normal("y", b, tau=1, dims="n", observed=MEASURED)
    return m


@declared
def visits():
    """Of a site that is not occupied nothing is seen: the label is in a gate of the logs."""
    z = gp.Bernoulli("z", gp.Beta("w", 1, 1), dims="n")
    gp.Binomial("y", 6, gp.Beta("p", 2, 3) * z, dims="n", observed=[0, 0, 2, 4])


@declared
def a_rate_that_ends():
    time = gp.Data("time", [0, 1, 2, 3], dims="n")
    z = gp.DiscreteUniform("z", 2, 4)
    rate = gp.where(time < z, gp.Gamma("rate", 2, rate=1), 0)
    gp.Poisson("y", rate, dims="n", observed=[2, 1, 0, 0])


@declared
def labels_in_a_logit():
    z = labels(weights())
    gp.Normal("x", mean()[z], tau=1, dims="n", observed=MEASURED)
    slope = data("slope", [-0.5, 0.8], "k")[z] * gp.Normal("b", 0, tau=1)
    gp.Bernoulli("y", logit_p=slope, dims="n", observed=SEEN)


CASES = (
    *((topics, c) for c in (("theta",), ("phi",), ("theta", "phi"))),
    *((topics_of_a_table, c) for c in (("theta",), ("phi",), ("theta", "phi"))),
    *((normals, c) for c in (("w",), ("mu",), ("tau",), ("w", "mu"), ("w", "tau"))),
    *((counts, c) for c in (("rate",), ("w", "rate"))),
    *((answers, c) for c in (("p",), ("w", "p"))),
    *((words_by_group, c) for c in (("phi",), ("w", "phi"))),
    *((labels_of_labels, c) for c in (("w",), ("table",), ("w", "table"))),
    *((trials, c) for c in (("p",), ("w", "p"))),
    (labels_from_one, ("rate",)),
    (labels_from_one_of_one_rate, ("rate",)),
    (a_concentration, ("w",)),
    *((a_mean_of_means, c) for c in (("mu",), ("mu", "centre"))),
    (a_coin, ("q",)),
    (a_slope, ("b",)),
    *((normals_and_precisions, c) for c in (("mu",), ("mu", "tau"), ("tau", "w", "mu"))),
    *((normals_of_one_precision, c) for c in (("mu",), ("mu", "tau"))),
    *((vectors, c) for c in (("mu",), ("w", "mu"))),
    (matrices, ("tau",)),
    *((vectors_and_matrices, c) for c in (("mu",), ("tau",), ("mu", "tau"))),
    (vectors_and_covariances, ("mu", "cov")),
    *((gates_of_weights, c) for c in (("b",), ("b", "tau"))),
    (gates_of_loose_weights, ("b",)),
    *((sticks, c) for c in (("v",), ("mu",), ("v", "mu"))),
    *((a_change_point, c) for c in (("before",), ("before", "after"))),
    *((either_of_two, c) for c in (("high",), ("low", "high"))),
    (one_label, ("mu",)),
    (two_words_of_a_label, ("mu",)),
    (one_matrix, ("mu",)),
    (neighbours, ("mu",)),
    (labels_through_an_index, ("mu",)),
    (labels_of_groups, ("mu",)),
    (several_children, ("mu",)),
    (a_precision_by_label, ("b",)),
    *((visits, c) for c in (("p",), ("w", "p"))),
    (a_rate_that_ends, ("rate",)),
    (labels_in_a_logit, ("w", "mu")),
)

NAMED = {f"{m.__name__}-{'-'.join(c)}": (m, c) for m, c in CASES}
IDS = list(NAMED)


@cache
def compiled(model, collapse):
    return gp.compile(model(), collapse=collapse)


def started(sampler, seed=1):
    """A dispersed start, and its labels drawn evenly, as far as they are possible."""
    rng = np.random.default_rng(seed)
    mend = sampler.program.mended_by(rng, sampler.constants)
    state = dict(initial_state(rng, sampler.graph, sampler.data, mend=mend)[0])
    even = dict(state)
    for step in (s for s in sampler.schedule.steps if s.kind == "scan"):
        lower, size = step.conditional.lower, step.conditional.size
        name = step.variables[0]
        even[name] = rng.integers(lower, lower + size, size=np.shape(state[name]))
    possible = np.isfinite(log_joint(sampler.schedule.graph, {**sampler.data, **even}))
    return even if possible else state


# ---- the integral that is left ---------------------------------------------------------------

# Trapezoids: on each of these scales the integrand is analytic near the line and vanishes at both
# ends at least as fast as exp(-0.7 |u|), so that the error is below 1e-12.
STEP = 0.25
GRID = np.arange(-40, 40, STEP)
SCALES = {
    "real": (GRID / 2, np.zeros_like(GRID)),
    "positive": (np.exp(GRID / 2), GRID / 2),
    "unit": (expit(GRID), -np.logaddexp(0, GRID) - np.logaddexp(0, -GRID)),
}


def log_integral(log_density, start, kind):
    """The log integral over an array whose elements are independent of one another, by quadrature.

    Each element in turn, the others as they are in ``start``: the product of all, over the density
    at ``start`` to the number of elements but one. For ``kind`` "pair", rows of two shares.
    """
    values, slopes = SCALES["unit" if kind == "pair" else kind]
    total = 0.0
    rows = start.reshape(-1, 2 if kind == "pair" else 1)
    for row in range(len(rows)):
        logs = []
        for value, slope in zip(values, slopes, strict=True):
            x = rows.copy()
            x[row] = (value, 1 - value) if kind == "pair" else value
            logs.append(log_density(x.reshape(start.shape)) + slope)
        total += np.logaddexp.reduce(logs) + math.log(STEP)
    return total - (len(rows) - 1) * log_density(start)


INTEGRATED = (
    (a_coin, "q", "unit"),
    (a_slope, "b", "real"),
    (trials, "p", "unit"),
    (counts, "rate", "positive"),
    (normals, "mu", "real"),
    (normals, "tau", "positive"),
    (normals, "w", "pair"),
    (a_mean_of_means, "mu", "real"),
    (labels_from_one, "rate", "positive"),
    (a_concentration, "w", "pair"),
    (several_children, "mu", "real"),
    (sticks, "v", "unit"),
    pytest.param(answers, "p", "unit", marks=pytest.mark.slow),
)


def is_the_integral(model, name, kind, gone=()):
    """Whether the collapsed joint density changes with the labels as the integral does.

    (What the prior has besides the variable is left out: the same whatever the labels.) Of a graph
    from which variables in ``gone`` are integrated out before.
    """
    sampler = compiled(model, (*gone, name))
    graph, after = sampler.schedule.graph, sampler.schedule.graphs[0]
    if gone:
        graph = compiled(model, gone).schedule.graphs[0]
    values = {**sampler.data, **started(sampler)}
    sides = []
    scan = sampler.schedule.step("z").conditional
    for kinds in (1, scan.size):
        now = {**values, "z": scan.lower + np.arange(np.size(values["z"])) % kinds}
        integral = log_integral(lambda x, v=now: log_joint(graph, {**v, name: x}), now[name], kind)
        sides.append((integral, log_joint(after, {n: v for n, v in now.items() if n != name})))
    (integral, found), (other, there) = sides
    assert found != there
    return math.isclose(integral - other, found - there, abs_tol=RELATIVE_TOLERANCE * abs(found))


@pytest.mark.parametrize(("model", "name", "kind"), INTEGRATED)
def test_what_is_left_is_the_integral(model, name, kind):
    assert is_the_integral(model, name, kind)


@pytest.mark.parametrize("model", [normals_and_precisions, normals_of_one_precision])
def test_what_is_left_of_two_is_the_integral_of_what_is_left_of_one(model):
    assert is_the_integral(model, "tau", "positive", gone=("mu",))


def gaps_of_the_product(sampler, seeds=range(1, 6)):
    """How far the joint density is from what is left times the conditionals, at several states."""
    states = [started(sampler, seed) for seed in seeds]
    rows = graph_rows(sampler.graph, sampler.schedule, sampler.program, sampler.data, states)
    assert any("integrated out" in word for row in rows for word in row.changes)
    return max(row.discrepancy / (RELATIVE_TOLERANCE * row.size) for row in rows)


@pytest.mark.parametrize("case", IDS)
def test_what_is_left_times_what_is_drawn_again_is_the_joint_density(case):
    """At any values of all other variables (S. Chib, 1995, of a marginal likelihood)."""
    assert gaps_of_the_product(compiled(*NAMED[case])) <= 1


def test_the_product_sees_a_prior_that_is_left_out(monkeypatch):
    """The normaliser of the prior of a mean has the precision in it."""
    monkeypatch.setattr(
        integrals, "_prior", lambda _g, s, *_: Potential(f"{s.name}_p", sp.S.Zero, ())
    )
    sampler = gp.compile(normals_and_precisions(), collapse=("mu", "tau"))

    assert gaps_of_the_product(sampler) > 1


def urn(a, drawn, kinds):
    """The log integral over shares of all that they are in: of draws from an urn, up to what the
    prior has besides (Griffiths and Steyvers, 2004, equations 2 and 3), by gamma functions.
    """
    total = -math.lgamma(kinds * a + len(drawn))
    for k in range(kinds):
        total += math.lgamma(a + sum(1 for x in drawn if x == k))
    return total


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("model", [topics, topics_of_a_table], ids=lambda f: f.__name__)
def test_topics_are_draws_from_urns(model, seed):
    sampler = compiled(model, ("theta", "phi"))
    z, word = np.asarray(started(sampler, seed)["z"]), np.asarray(sampler.data["word"])
    doc = np.asarray(sampler.data.get("doc_of", np.indices((2, 3))[0]))
    expected = sum(urn(0.7, z[doc == d], 2) for d in range(2))
    expected += sum(urn(0.4, word[z == k], 3) for k in range(2))
    found = log_joint(sampler.schedule.graphs[0], {**sampler.data, "z": z})

    assert found == pytest.approx(expected, rel=RELATIVE_TOLERANCE)


def test_the_integral_sees_an_observation_that_is_left_out(monkeypatch):
    true = sums._merged

    def planted(scatters):
        *others, last = true(scatters)
        short = replace(last, value=last.value * (1 - Equals(last.over[0].dim, 0)))
        return (*others, short)

    monkeypatch.setattr(sums, "_merged", planted)
    compiled.cache_clear()
    seen = not is_the_integral(normals, "mu", "real")
    compiled.cache_clear()

    assert seen


# ---- what cannot be integrated out -----------------------------------------------------------


def test_what_is_no_latent_variable_is_refused():
    for name in ("nothing", "y"):
        with pytest.raises(CompileError, match=f"^collapse: found '{name}', expected latent .* mu"):
            gp.compile(normals(), collapse=(name,))


REFUSED = {
    "mu has no closed form": (
        lambda: mixture(mean(lower=0)),
        lambda: gp.Poisson("y", gp.exp(mean()[labels()]), dims="n", observed=COUNTED),
    ),
    "mu is an array that is known in part": (
        lambda: mixture(mean(observed=[0.3, np.nan], missing=np.nan)),
    ),
    "no label depends on mu": (lambda: (mixture(data("c", [0, 1], "k")), mean()),),
    "the range of z is not known before the draw": (
        lambda: gp.Normal(
            "y", gp.Normal("mu", 0, tau=1, dims="n")
            * gp.Binomial("z", gp.DiscreteUniform("size", 1, 3), 0.4, dims="n"),
            tau=1, dims="n", observed=MEASURED,
        ),
    ),
    "tau has no closed form whose integral is known, with mu integrated out": (
        lambda: mixture(tau=gp.Gamma("tau", 2, rate=1)),
    ),
}  # fmt: skip
CALLS = [(declare, message) for message, all_of in REFUSED.items() for declare in all_of]


def events_behind_outcomes():
    """Outcomes, of which one is missing, that are "yes" where any event has happened."""
    with gp.Model(coords={"j": 2, "k": 2, "t": 3}) as model:
        theta = gp.Gamma("theta", 1.5, rate=1.0, dims=("k", "t"))
        phi = gp.Gamma("phi", 1.0, rate=1.0, dims=("j", "t"))
        seen = np.ma.masked_array([[1, 1], [1, 0]], mask=[[0, 0], [0, 1]])
        rate = gp.sum(theta * phi, "t")
        gp.Bernoulli("y", p=1 - gp.exp(-rate), dims=("k", "j"), observed=seen)
    return model


def test_a_label_that_its_auxiliary_variable_pins_down_is_refused():
    with pytest.raises(CompileError, match=r"^collapse: y would be drawn given .* y_events"):
        gp.compile(events_behind_outcomes(), collapse="phi")


def outliers(label):
    """Outcomes of heavy tails, about the location of a group."""
    mu = gp.Normal("mu", 0, sigma=3, dims="k")
    gp.StudentT("y", nu=4, mu=mu[label], sigma=1, dims="i", observed=[0.1, 0.2, 9.0])


def possible_events(label):
    """Events that are possible in some groups only, by a probit."""
    b = gp.Normal("b", 0, sigma=1, dims="k")
    possible = gp.Data("possible", [1.0], dims="k")[label]
    gp.Bernoulli("y", possible * gp.Phi(b[label]), dims="i", observed=[1, 0, 1])


@pytest.mark.parametrize(
    ("declare", "rule"), [(outliers, "power of a sum"), (possible_events, "latent normal")]
)
def test_a_label_of_one_value_is_not_determined_by_an_auxiliary_variable(declare, rule):
    with gp.Model(coords={"i": 3, "k": 1}) as model:
        w = gp.Dirichlet("w", 1.0, dims="k", event="k")
        declare(gp.Categorical("z", w, dims="i", event="k"))
    sampler = gp.compile(model, collapse="w", rewrites={rule: True})

    assert sampler.verify().proved


def behind_utilities():
    """Groups that are seen of some and have effects on what is seen of all, by a probit."""
    with gp.Model(coords={"i": 4}) as model:
        b = gp.Normal("b", 0, sigma=1)
        seen = np.ma.masked_array([1, 0, 1, 0], mask=[0, 0, 0, 1])
        group = gp.Bernoulli("group", gp.Phi(b), dims="i", observed=seen)
        yes, no = gp.Beta("yes", 1, 1), gp.Beta("no", 1, 1)
        gp.Bernoulli("y", gp.where(group, yes, no), dims="i", observed=[1, 0, 1, 1])
    return model


def test_a_label_whose_utility_is_below_zero_or_above_is_refused():
    """The ranges of the utility touch at 0, a single number that it never is."""
    asked = {"collapse": ("yes", "no"), "rewrites": {"latent normal": True}}
    with pytest.raises(CompileError, match=r"^collapse: group .* group_utility"):
        gp.compile(behind_utilities(), **asked)
    sampler = gp.compile(behind_utilities(), **asked | {"rewrites": {"latent normal": False}})

    assert sampler.verify().proved
    draws = sampler.sample(200, seed=1, progress=False)
    assert 0 < draws["group"][..., 3].mean() < 1


def test_without_collapse_the_missing_outcome_changes():
    draws = gp.compile(events_behind_outcomes()).sample(200, seed=1, progress=False)
    missing = draws["y"][:, :, 1, 1]

    assert 0 < missing.mean() < 1


@pytest.mark.parametrize(("declare", "message"), CALLS)
def test_what_cannot_be_integrated_out_is_refused(declare, message):
    with two(j=2) as m:
        declare()
    latent = {s.target.array.name for s in m.graph.latent}

    with pytest.raises(CompileError, match=f"^collapse: .*{message}"):
        gp.compile(m, collapse=sorted(latent & {"mu", "tau"}))


def test_a_simplex_with_entries_that_are_zero_is_not_integrated_out():
    with gp.Model(coords={"i": 3, "j": 4}) as m:
        a = gp.Data("a", [0.9, 3.4, 0.0], dims="i")
        w = gp.Dirichlet("w", a=a, dims="i", event="i")
        seen = np.ma.masked_array([1, 0, 0, 0], [False, False, True, True])
        gp.Categorical("y", p=w, dims="j", event="i", observed=seen)

    assert gp.compile(m).verify().proved
    with pytest.raises(gp.CompileError, match="parameters of w are 0"):
        gp.compile(m, collapse=("w",))


def lifetimes():
    """Times of two groups, of which some are censored; all are in units of one scale."""
    with gp.Model(coords={"i": 6, "k": 2}) as model:
        died = gp.Data("died", [1, 0, 1, 0, 1, 0], dims="i")
        hazard = gp.Gamma("hazard", 2, rate=data("b", [1, 4], "k"), dims="k")
        time = gp.Exponential(rate=hazard[labels(dims="i")] * gp.Gamma("unit", 2, rate=1))
        gp.Censored("time", time, event=died, dims="i", observed=[1.0, 2.0, 0.5, 4.0, 0.2, 3.0])
    return model


def read_of_hazard(sampler):
    """The arrays that the draw of hazard reads."""
    step = next(s for s in sampler.schedule.steps if s.name == "hazard")
    found = step.expressions(sampler.schedule.graph_of(step))
    return {x.array.name for e in found for x in leaves_of(e)}


def test_what_is_integrated_out_is_drawn_given_the_auxiliary_variables_that_labels_were():
    """Though it has a closed form without these, which a sweep would prefer."""
    rules = {"hidden value": True}
    alone, without = (gp.compile(lifetimes(), rewrites=rules, collapse=c) for c in ((), "hazard"))

    assert ["time_hidden" in read_of_hazard(s) for s in (alone, without)] == [False, True]
    assert without.verify().passed
