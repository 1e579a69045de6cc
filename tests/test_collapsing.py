"""Variables integrated out: the integral that is left of them, and what cannot be integrated out."""

import math
from functools import cache
from itertools import permutations

import numpy as np
import pytest
from scipy.special import expit
from test_rewrites_driver import is_refused, ordered

import gibbsppl as gp
from gibbsppl.checks.ratio import RELATIVE_TOLERANCE
from gibbsppl.density import log_joint
from gibbsppl.errors import CompileError
from gibbsppl.initial import initial_state
from gibbsppl.rewrites import collapsing
from gibbsppl.schedule.staleness import check_fresh

MEASURED, COUNTED, SEEN = [-1.0, 0.3, 0.9, 2.0], [0, 1, 4, 6], [0, 1, 1, 0]
ANSWERED = [[1, 0, 0], [1, 1, 0], [0, 0, 1], [0, 1, 1]]
DOCUMENTS, WORDS = [0, 0, 0, 1, 1], [0, 1, 1, 2, 1]


def data(name, values, dims):
    return gp.Data(name, np.asarray(values, float), dims=dims)


def two(**sizes):
    """Two labels and four elements."""
    return gp.Model(coords={"k": 2, "n": 4} | sizes)


def weights(**hyper):
    return gp.Dirichlet("w", hyper.get("a", data("a", [0.7, 1.5], "k")), dims="k", event="k")


def labels(p=None, dims="n"):
    p = data("p_of_z", [0.3, 0.7], "k") if p is None else p
    return gp.Categorical("z", p, dims=dims, event="k")


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


def vectors():
    with two(j=3) as m:
        mu = gp.Normal("mu", 0, tau=0.4, dims=("k", "j"))
        gp.Normal("y", mu[labels()], tau=1.3, dims=("n", "j"), observed=np.eye(4, 3))
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


def labels_from_one():
    with gp.Model(coords={"n": 4}) as m:
        rate = gp.Gamma("rate", 2, rate=0.5, dims="n")
        z = gp.DiscreteUniform("z", 1, 4, dims="n")
        gp.Poisson("y", rate * z, dims="n", observed=COUNTED)
    return m


def labels_from_one_of_one_rate():
    with gp.Model(coords={"n": 4}) as m:
        rate = gp.Gamma("rate", 2, rate=0.5)
        z = gp.DiscreteUniform("z", 1, 4, dims="n")
        gp.Poisson("y", rate * z, dims="n", observed=COUNTED)
    return m


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


def a_value_that_is_missing():
    with two() as m:
        mu = gp.Normal("mu", 0, tau=0.4, dims="k")
        seen = [0.3, np.nan, 1.0, -0.5]
        gp.Normal("y", mu[labels()], tau=1.3, dims="n", observed=seen, missing=np.nan)
    return m


CASES = (
    *((topics, c) for c in (("theta",), ("phi",), ("theta", "phi"))),
    *((topics_of_a_table, c) for c in (("theta",), ("phi",), ("theta", "phi"))),
    *((normals, c) for c in (("w",), ("mu",), ("tau",), ("w", "mu"), ("w", "tau"))),
    *((counts, c) for c in (("rate",), ("w", "rate"))),
    *((answers, c) for c in (("p",), ("w", "p"))),
    *((words_by_group, c) for c in (("phi",), ("w", "phi"))),
    *((labels_of_labels, c) for c in (("w",), ("table",), ("w", "table"))),
    *((trials, c) for c in (("p",), ("w", "p"))),
    (vectors, ("mu",)),
    (labels_from_one, ("rate",)),
    (labels_from_one_of_one_rate, ("rate",)),
    (a_concentration, ("w",)),
    (a_mean_of_means, ("mu",)),
    (a_coin, ("q",)),
    (a_slope, ("b",)),
    (a_value_that_is_missing, ("mu",)),
)
NAMED = {f"{m.__name__}-{'-'.join(c)}": (m, c) for m, c in CASES}


@cache
def compiled(model, collapse):
    return gp.compile(model(), collapse=collapse)


def started(sampler, seed=1):
    """A dispersed start, and its labels drawn evenly."""
    rng = np.random.default_rng(seed)
    mend = sampler.program.mended_by(rng, sampler.constants)
    state = dict(initial_state(rng, sampler.graph, sampler.data, mend=mend)[0])
    for step in (s for s in sampler.schedule.steps if s.kind == "scan"):
        lower, size = step.conditional.lower, step.conditional.size
        name = step.variables[0]
        state[name] = rng.integers(lower, lower + size, size=np.shape(state[name]))
    return state


@pytest.mark.parametrize("case", NAMED)
def test_every_conditional_passes_the_ratio_check(case):
    sampler = compiled(*NAMED[case])

    assert "scan" in {s.kind for s in sampler.schedule.steps}
    assert sampler.verify().passed


# ---- the integral that is left ---------------------------------------------------------------

# Trapezoids on the whole line: on each of these scales the integrand is analytic and vanishes at
# both ends at least as fast as exp(-0.6 |u|), so that the error is far below rounding.
STEP = 0.25
GRID = np.arange(-80, 80, STEP)
SCALES = {
    "real": (GRID, np.zeros_like(GRID)),
    "positive": (np.exp(GRID / 2), GRID / 2 - math.log(2)),
    "unit": (expit(GRID), -np.logaddexp(0, GRID) - np.logaddexp(0, -GRID)),
}


def log_integral(log_density, start, kind):
    """The log integral over an array whose elements are independent of one another, by quadrature.

    Each element in turn, the others as they are in ``start``: the product of all, over the density
    at ``start`` to the number of elements but one. For ``kind`` "pair", rows of two shares.
    """
    rows, places = kind == "pair", range(start.size // (2 if kind == "pair" else 1))
    values, slopes = SCALES["unit" if rows else kind]
    total = 0.0
    for place in places:
        logs = []
        for value, slope in zip(values, slopes, strict=True):
            x = start.copy()
            if rows:
                x.reshape(-1, 2)[place] = value, expit(-math.log(value / (1 - value)))
            else:
                x.reshape(-1)[place] = value
            logs.append(log_density(x) + slope)
        total += np.logaddexp.reduce(logs) + math.log(STEP)
    return total - (len(places) - 1) * log_density(start)


INTEGRATED = (
    (a_coin, "q", "unit"),
    (answers, "p", "unit"),
    (counts, "rate", "positive"),
    (a_slope, "b", "real"),
    (normals, "mu", "real"),
    (normals, "tau", "positive"),
    (normals, "w", "pair"),
    (a_mean_of_means, "mu", "real"),
    (labels_from_one, "rate", "positive"),
    (a_concentration, "w", "pair"),
)


def gap_of_integrals(model, name, kind, seed=1):
    """How far the collapsed joint density is from the integral, in units of what rounding allows."""
    sampler = compiled(model, (name,))
    graph, after = sampler.schedule.graph, sampler.schedule.graphs[0]
    values = {**sampler.data, **started(sampler, seed)}
    integral = log_integral(
        lambda x: log_joint(graph, {**values, name: x}), np.asarray(values[name]), kind
    )
    found = log_joint(after, {n: v for n, v in values.items() if n != name})
    return abs(found - integral) / (RELATIVE_TOLERANCE * (1 + abs(found)))


# (close to 0 and 1 shares are not told from them: what rounds is left out)
@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize(("model", "name", "kind"), INTEGRATED)
def test_what_is_left_is_the_integral(model, name, kind):
    assert gap_of_integrals(model, name, kind) <= 1


def urn(a, drawn, kinds):
    """The log probability of draws from an urn, shares integrated out (Griffiths and Steyvers,
    2004, equations 2 and 3), by gamma functions in a loop.
    """
    n = [sum(1 for x in drawn if x == k) for k in range(kinds)]
    total = math.lgamma(kinds * a) - math.lgamma(kinds * a + len(drawn))
    for k in range(kinds):
        total += math.lgamma(a + n[k]) - math.lgamma(a)
    return total


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("model", [topics, topics_of_a_table], ids=lambda f: f.__name__)
def test_topics_are_draws_from_urns(model, seed):
    sampler = compiled(model, ("theta", "phi"))
    state = started(sampler, seed)
    z, word = np.asarray(state["z"]), np.asarray(sampler.data["word"])
    doc = np.asarray(sampler.data.get("doc_of", np.indices((2, 3))[0]))
    expected = sum(urn(0.7, z[doc == d], 2) for d in range(2))
    expected += sum(urn(0.4, word[z == k], 3) for k in range(2))
    found = log_joint(sampler.schedule.graphs[0], {**sampler.data, "z": z})

    assert found == pytest.approx(expected, rel=RELATIVE_TOLERANCE)


def test_the_integral_sees_a_parameter_that_is_wrong(monkeypatch):
    """One observation less is scattered onto what is left."""
    true = collapsing._marginal

    def planted(*args):
        marginal = true(*args)
        (name, (*scatters, last)), *others = marginal.parameters
        short = last.over[0].__class__(last.over[0].dim, 1, last.over[0].stop)
        less = (*scatters, collapsing.replace(last, over=(short, *last.over[1:])))
        return collapsing.replace(marginal, parameters=((name, less), *others))

    monkeypatch.setattr(collapsing, "_marginal", planted)
    compiled.cache_clear()
    gap = gap_of_integrals(normals, "mu", "real")
    compiled.cache_clear()

    assert gap > 1


# ---- the order of the draws ------------------------------------------------------------------


def test_a_schedule_that_reads_what_is_stale_is_refused():
    """z is drawn without w and mu: w and mu come after it, and tau reads mu."""
    schedule = compiled(normals, ("w", "mu")).schedule
    names = [s.statement.name for s in schedule.steps]
    verdicts = []
    for order in permutations(range(4)):
        at = {names[i]: place for place, i in enumerate(order)}
        wrong = at["w"] < at["z"] or at["mu"] < at["z"] or at["z"] < at["tau"] < at["mu"]
        verdicts.append(wrong)
        assert is_refused(ordered(schedule, order)) is wrong, [names[i] for i in order]

    check_fresh(schedule)
    assert set(verdicts) == {True, False}


def test_what_is_stale_is_named():
    schedule = compiled(normals, ("w", "mu")).schedule
    z, w, mu, tau = (
        [s.statement.name for s in schedule.steps].index(n) for n in ("z", "w", "mu", "tau")
    )

    with pytest.raises(CompileError, match=r"tau: its draw reads mu, which is stale: z was drawn"):
        check_fresh(ordered(schedule, (z, tau, mu, w)))
    with pytest.raises(CompileError, match=r"w: it is stale at the end of a sweep: z was drawn"):
        check_fresh(ordered(schedule, (w, z, mu, tau)))
    with pytest.raises(CompileError, match="tau.* is stale|mu.* is stale"):
        gp.compile(normals(), collapse=("mu", "tau"))
