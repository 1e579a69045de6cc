"""Concave conditionals: certificates hold numerically, draws follow the joint density."""

from functools import cache

import numpy as np
import pytest
import sympy as sp
from forms import FORMS
from scipy import special, stats

import gibbsppl as gp
from gibbsppl.algebra.expressions import Array, Dim
from gibbsppl.analysis.bounds import known_bounds
from gibbsppl.analysis.curvature import Certificate
from gibbsppl.code.program import load
from gibbsppl.derive import concavity
from gibbsppl.derive.changes import LOGIT
from gibbsppl.derive.concavity import LogConcave, certified
from gibbsppl.derive.conditionals import conditional_of
from gibbsppl.derive.match_results import NotConjugate
from gibbsppl.initial.search import initial_state
from gibbsppl.kernels.adaptive_rejection import ConcaveDraw
from gibbsppl.model.density import log_joint, regions
from gibbsppl.model.evaluation import evaluate
from gibbsppl.model.forward import fill

# ---- what is known of arrays -----------------------------------------------------------------


def bounded_arrays():
    with gp.Model(coords={"i": 3}) as m:
        gp.Data("column", [-1.0, 4.0, 2.5], dims="i")
        gp.Gamma("rate", 2, rate=1, dims="i")
        gp.Beta("p", 1, 1, lower=0.25)
        low = gp.Normal("low", 0, tau=1)
        gp.Uniform("above", low, 7)
        gp.Poisson("seen", rate=2.0, dims="i", observed=[3, 0, 5])
        gp.Beta("partly", 1, 1, dims="i", observed=[0.5, np.nan, 0.6], missing=np.nan)
        two = gp.Array("two", dims="i")
        two[0] = gp.Uniform(-3, 1)
        two[1:] = gp.Uniform(0, 5)
    return m


KNOWN = {
    "column": (-1, 4),
    "rate": (0, sp.oo),
    "p": (sp.Rational(1, 4), 1),
    "low": (-sp.oo, sp.oo),
    "above": (-sp.oo, 7),
    "seen": (0, 5),
    "partly": (0, 1),
    "two": (-3, 5),
    "nowhere": None,
}


@pytest.mark.parametrize("name", KNOWN)
def test_what_is_known_of_an_array(name):
    """The range of data; of latent and of partly known arrays the support, where it is numbers."""
    model = bounded_arrays()
    found = known_bounds(model.graph, model.data)(Array(name)[()])

    assert found == KNOWN[name]


# ---- certificates against second differences -------------------------------------------------


@cache
def concave_steps():
    """All steps of all forms that are drawn by adaptive rejection: (sampler, step) by name."""
    found = {}
    for form in FORMS:
        sampler = form.compiled()
        for step in sampler.schedule.steps:
            if isinstance(step, ConcaveDraw):
                found[f"{form.name} {step.statement.name}"] = sampler, step
    return found


def on_its_scale(sampler, step, state):
    """The array as the step's log density reads it, where the step draws."""
    statement, change = step.statement, step.conditional.change
    name = statement.target.array.name
    if change is None:
        return np.asarray(state[name], dtype=float)
    over, sizes = regions(statement, sampler.graph.sizes), sampler.graph.sizes
    values = {**sampler.data, **state}
    u = evaluate(change.forward(statement.target), over, values, sizes)
    there = {**values, name: np.array(state[name], dtype=float)}
    fill(statement, np.broadcast_to(u, tuple(map(len, over))), there, sizes)
    return there[name]


def largest_bend(sampler, step, seed):
    """The largest second difference of the generated log density, in units of its size."""
    rng = np.random.default_rng(seed)
    mend = sampler.program.mended_by(rng, sampler.constants)
    state, _ = initial_state(rng, sampler.graph, sampler.data, mend=mend)
    log_density = sampler.program.given_rest[step.statement.name](state, sampler.constants)
    x = on_its_scale(sampler, step, state)
    return max(
        bend
        for h in (0.03, 0.3, 1.0, 3.0)
        for direction in directions(step, x)
        for bend in bends(log_density, x, h * direction, step.conditional.support)
    )


def directions(step, x):
    """All elements of a batch at once; one after the other where they depend on one another."""
    if not step.is_by_element:
        yield np.ones(x.shape)
        return
    for at in np.ndindex(x.shape):
        unit = np.zeros(x.shape)
        unit[at] = 1.0
        yield unit


def bends(log_density, x, step, support):
    """Second differences along a direction, where all three values are in the support."""
    with np.errstate(all="ignore"):
        below, here, above = (np.ravel(log_density(y)) for y in (x - step, x, x + step))
        size = 1 + np.abs(below) + np.abs(here) + np.abs(above)
        found = (below - 2 * here + above) / size
    lower, upper = (float(b) if b.is_number else b for b in (support.lower, support.upper))
    inside = ((x - np.abs(step) > lower) & (x + np.abs(step) < upper)) | (step == 0)
    kept = np.isfinite(found) & (np.ravel(inside) if found.size == x.size else inside.all())
    return found[kept] if kept.any() else [-np.inf]


# The terms of a log density cancel: each is evaluated to rounding, and there are few of them.
ROUNDING = 1e4 * np.finfo(float).eps


def test_certificates_hold_for_all_forms():
    bent = {
        name: max(largest_bend(sampler, step, seed) for seed in range(3))
        for name, (sampler, step) in concave_steps().items()
    }

    assert len(bent) > 10
    assert {name: bend for name, bend in bent.items() if bend > ROUNDING} == {}
    assert all(np.isfinite(bend) for bend in bent.values())


def student_location():
    """Two values far apart: two modes."""
    with gp.Model(coords={"i": 2}) as m:
        x = gp.Normal("x", 0, sigma=10)
        gp.StudentT("y", 3, x, sigma=0.1, dims="i", observed=[-3.0, 3.0])
    return m


def test_two_modes_have_no_certificate():
    model = student_location()
    found = conditional_of(model.graph, model.graph.statement("x"), model.data)

    assert isinstance(found, NotConjugate)
    assert certified(model.graph, found, model.data) is None


def test_a_false_certificate_is_seen(monkeypatch):
    model = student_location()
    signed = Certificate(("x",), ())
    monkeypatch.setattr(concavity, "log_concave", lambda *_: signed)
    sampler = gp.compile(model)
    (step,) = sampler.schedule.steps

    assert isinstance(step.conditional, LogConcave)
    assert max(largest_bend(sampler, step, seed) for seed in range(3)) > ROUNDING


def test_labels_and_shares_are_not_asked_for_a_certificate():
    with gp.Model(coords={"k": 3}) as m:
        share = gp.Dirichlet("share", gp.Data("a", np.ones(3), dims="k"), dims="k")
        gp.Potential("p", gp.sum(gp.sqrt(share), "k"))
    found = conditional_of(m.graph, m.graph.statement("share"), m.data)

    assert isinstance(found, NotConjugate)
    assert certified(m.graph, found, m.data) is None


# ---- draws against the joint density ---------------------------------------------------------


def scalar():
    with gp.Model(coords={"i": 4}) as m:
        x = gp.Normal("x", 0, sigma=2)
        gp.Bernoulli("y", logit_p=x, dims="i", observed=[1, 1, 0, 1])
    return m


def batch():
    with gp.Model(coords={"g": 3}) as m:
        x = gp.Laplace("x", 0, scale=1, dims="g")
        gp.Poisson("y", rate=gp.exp(x), dims="g", observed=[0, 2, 7])
    return m


def region():
    """All elements but the first, which is constant."""
    with gp.Model(coords={"g": 3}) as m:
        x = gp.Array("x", dims="g")
        x[0] = 4.0
        x[1:] = gp.Laplace(0, scale=1)
        gp.Poisson("y", rate=gp.exp(x), dims="g", observed=[3, 2, 7])
    return m


def missing():
    with gp.Model(coords={"g": 3}) as m:
        seen = np.array([0.5, np.nan, np.nan])
        x = gp.Logistic("x", 0, scale=1, dims="g", observed=seen, missing=np.nan)
        gp.Poisson("y", rate=gp.exp(x), dims="g", observed=[3, 2, 0])
    return m


def one_by_one():
    with gp.Model(coords={"i": 4, "g": 2}) as m:
        design = gp.Data("design", [[1, 0.5], [1, -1], [2, 1.0], [0.3, 0]], dims=("i", "g"))
        x = gp.Normal("x", 0, sigma=2, dims="g")
        logit = gp.sum(design * x, "g")
        gp.Bernoulli("y", logit_p=logit, dims="i", observed=[1, 0, 1, 0])
    return m


def after_a_log():
    with gp.Model(coords={"i": 3}) as m:
        x = gp.HalfCauchy("x", 2)
        gp.Normal("y", 0, sigma=x, dims="i", observed=[0.5, -1.0, 3.0])
    return m


def after_a_log_missing():
    with gp.Model(coords={"g": 3}) as m:
        seen = np.array([np.nan, 1.0, np.nan])
        x = gp.HalfCauchy("x", 2, dims="g", observed=seen, missing=np.nan)
        gp.Normal("y", 0, sigma=x, dims="g", observed=[0.5, -1.0, 3.0])
    return m


def after_a_log_with_bounds():
    with gp.Model(coords={"i": 3}) as m:
        x = gp.HalfCauchy("x", 2, lower=0.5, upper=1.5)
        gp.Normal("y", 0, sigma=x, dims="i", observed=[0.5, -1.0, 3.0])
    return m


def after_a_logit():
    """Rates that are odds: concave neither as they are nor in the log of the probability."""
    with gp.Model(coords={"i": 3}) as m:
        x = gp.Beta("x", 0.5, 0.5)
        gp.Exponential("y", rate=x / (1 - x), dims="i", observed=[0.5, 1.0, 0.3])
    return m


# Model, scale of the step, the element looked at, bounds of its values.
DRAWN = {
    "a scalar": (scalar, None, (), (-np.inf, np.inf)),
    "the first of a batch": (batch, None, (0,), (-np.inf, np.inf)),
    "the last of a batch": (batch, None, (2,), (-np.inf, np.inf)),
    "a region": (region, None, (1,), (-np.inf, np.inf)),
    "a missing value": (missing, None, (2,), (-np.inf, np.inf)),
    "one by one": (one_by_one, None, (0,), (-np.inf, np.inf)),
    "after a log": (after_a_log, "log", (), (0.0, np.inf)),
    "after a log, missing": (after_a_log_missing, "log", (2,), (0.0, np.inf)),
    "after a log, between bounds": (after_a_log_with_bounds, "log", (), (0.5, 1.5)),
}
N = 800
LEVEL = 1e-4 / (len(DRAWN) + 1)


def drawn(program, sampler, start, at):
    """The values of an element after one sweep each from the same start."""
    rng, found = np.random.default_rng(12), np.empty(N)
    for n in range(N):
        state = {name: np.array(value) for name, value in start.items()}
        program.sweep(rng, state, sampler.constants)
        found[n] = np.asarray(state["x"])[at]
    return found


def distribution(sampler, start, at, bounds):
    """The distribution function of one element given the start of all others, by integration."""
    t = np.linspace(-20, 20, 1601)
    lower, upper = bounds
    if np.isinf(lower):
        x, slope = t, np.ones_like(t)
    elif np.isinf(upper):
        x = lower + np.exp(t)
        slope = x - lower
    else:
        x = lower + (upper - lower) * special.expit(t)
        slope = (upper - lower) * special.expit(t) * special.expit(-t)
    log_densities = []
    for value in x:
        state = {name: np.array(v, dtype=float) for name, v in start.items()}
        state["x"][at] = value
        log_densities.append(log_joint(sampler.graph, {**sampler.data, **state}))
    f = np.array(log_densities) + np.log(slope)
    weight = np.exp(f - f.max())
    mass = np.concatenate([[0], np.cumsum(weight[1:] + weight[:-1])])
    return lambda v: np.interp(v, x, mass / mass[-1])


@pytest.mark.parametrize("name", DRAWN)
def test_draws_follow_the_joint_density(name):
    build, scale, at, bounds = DRAWN[name]
    sampler = gp.compile(build(), rewrites=False, exact=True)
    (step,) = sampler.schedule.steps
    start, _ = initial_state(np.random.default_rng(3), sampler.graph, sampler.data)
    change = step.conditional.change

    assert isinstance(step, ConcaveDraw)
    assert (change and change.transform.name) == scale
    assert sampler.verify().proved
    cdf = distribution(sampler, start, at, bounds)
    assert stats.kstest(drawn(sampler.program, sampler, start, at), cdf).pvalue > LEVEL


@pytest.fixture
def logit_sampler(monkeypatch):
    """Rates that are odds: no rule certifies that they are concave on the logit line."""
    right = concavity.log_concave

    def on_the_logit_line(pieces, arrays, *known):
        return right(pieces, arrays, *known) if arrays == ("x",) else Certificate(arrays, ())

    monkeypatch.setattr(concavity, "STRAIGHTENING", (LOGIT,))
    monkeypatch.setattr(concavity, "log_concave", on_the_logit_line)
    return gp.compile(after_a_logit())


def test_draws_after_a_logit_follow_the_joint_density(logit_sampler):
    start, _ = initial_state(np.random.default_rng(3), logit_sampler.graph, logit_sampler.data)
    cdf = distribution(logit_sampler, start, (), (0.0, 1.0))
    found = drawn(logit_sampler.program, logit_sampler, start, ())

    assert logit_sampler.schedule.steps[0].conditional.change.transform == LOGIT
    assert stats.kstest(found, cdf).pvalue > LEVEL


def test_the_check_knows_the_slope_of_a_logit(logit_sampler):
    assert logit_sampler.verify().proved


# What a function of the source says, and what it is changed to.
SPOILT = {
    "a forgotten Jacobian": ("after a log", "eta_2 = 1 - n_i", "eta_2 = -n_i"),
    "a bound too far": ("after a log, between bounds", "upper=", "upper=1 + "),
    "another way back": ("after a log", "= exp(u_x)", "= exp(u_x) + 1"),
    "another element": (
        "the first of a batch", 's["x"], width=width)', 's["x"], width=width)[::-1]',
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SPOILT)
def test_draws_from_a_spoilt_program_do_not(name):
    case, right, wrong = SPOILT[name]
    build, _, at, bounds = DRAWN[case]
    sampler = gp.compile(build(), rewrites=False, exact=True)
    start, _ = initial_state(np.random.default_rng(3), sampler.graph, sampler.data)

    assert right in sampler.source, sampler.source
    program = load(sampler.source.replace(right, wrong))
    cdf = distribution(sampler, start, at, bounds)
    assert stats.kstest(drawn(program, sampler, start, at), cdf).pvalue < LEVEL


# ---- starts that a sweep mends ----------------------------------------------------------------


def many_ones():
    """Counts that are zero of two kinds in three: a prior's draw of the labels allows none."""
    seen = np.array([0] * 10 + [1] * 40)
    with gp.Model(coords={"i": len(seen), "kind": 3}) as m:
        share = gp.Dirichlet("share", gp.Data("one", np.ones(3), dims="kind"), dims="kind")
        rate = gp.Gamma("rate", 2, rate=1)
        z = gp.Categorical("z", share, dims="i")
        gp.Poisson("y", rate=rate * gp.equals(z, 2), dims="i", observed=seen)
    return m


@pytest.mark.parametrize("seed", range(3))
def test_a_sweep_mends_a_start_without_density(seed):
    sampler = gp.compile(many_ones())
    draws = sampler.sample(20, warmup=20, chains=1, seed=seed, progress=False)

    assert (draws["z"][..., 10:] == 2).all()
    assert np.isfinite(draws["rate"]).all()


def test_a_start_has_density_without_a_sweep_too():
    sampler = gp.compile(many_ones())
    state, _ = initial_state(np.random.default_rng(1), sampler.graph, sampler.data)

    assert np.isfinite(log_joint(sampler.graph, {**sampler.data, **state}))


def test_data_of_one_sign_are_told_with_it():
    with gp.Model() as model:
        x = gp.Gamma("x", 2, rate=3)
        gp.Gamma("y", x, rate=x, dims="i", observed=[1.0, 2.0, 0.5])
    assert "- (y[i] - log(y[i]))*x  concave" in str(gp.compile(model).explain("x"))


def test_fixed_elements_are_among_what_is_known_of_an_array():
    with gp.Model(coords={"i": 3}) as m:
        b = gp.Array("b", dims="i")
        b[0] = -5
        b[1:] = gp.Gamma(1, rate=1)
        gp.Poisson("y", gp.exp(b), dims="i", observed=[0, 1, 2])

    bounds = known_bounds(m.graph, m.data)
    assert bounds(Array("b")[Dim("i")]) == (-5, sp.oo)
    assert bounds(Array("b")[sp.Integer(0)]) == (-5, -5)
    assert bounds(Array("b")[sp.Integer(1)]) == (0, sp.oo)


def test_statistics_are_read_where_their_data_are():
    """Two of four elements are seen, beside data that have two positions."""
    program = """model {
      b ~ ddexp(0, 1.5)
      for (t in 1:4) { u[t] ~ dnorm(0, 1)  z[t] ~ dpois(exp(u[t])) }
      for (k in 1:2) { y[k] ~ dbin(phi(d[k] * b + u[k]), 3) }
    }"""
    data = {"d": [-0.96, 1.22], "y": [0, 3], "z": [1, 0, 2, 1]}
    sampler = gp.compile(gp.read_bugs(program, data))
    draws = sampler.sample(draws=20, warmup=20, chains=1, seed=1, progress=False)

    assert {s.statement.name: s.kind for s in sampler.schedule.steps}["u"] == "concave"
    assert sampler.verify().proved
    assert draws["u"].shape == (1, 20, 4)
