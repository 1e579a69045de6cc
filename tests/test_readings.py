"""Conditionals read by their means and modes: moments, bounds, optima, what is refused."""

import importlib
from dataclasses import replace

import numpy as np
import pytest
import sympy as sp
from numpy.testing import assert_allclose
from scipy import special, stats

import gibbsppl as gp
import models
from gibbsppl.algebra.expressions import Array
from gibbsppl.code.program import load
from gibbsppl.derive.expectations import expectation
from gibbsppl.derive.moments import Symbols
from gibbsppl.errors import CompileError, RunError
from gibbsppl.families import FAMILIES
from gibbsppl.fits.points import moments_at, moments_of
from gibbsppl.model.density import log_joint
from gibbsppl.model.evaluation import evaluate
from models.bugs import MORE

NAMES = [m.__name__.removeprefix("models.") for m in models.ALL]
# What no bound is known of, and the reason.
REFUSED = {
    "pumps": "alpha has no closed form",
    "salm": "has no closed form",
    "ordered_probit": "cut",
    "negative_binomial": "alpha",
    "car_disease_mapping": "has no closed form",
    "neural_network": "weight has no closed form",
    "reuters": "",
}
READ = [n for n in NAMES if n not in REFUSED]
QUICK = ("gaussian", "rats", "gaussian_mixture", "hidden_markov", "matrix_factorisation", "ising",
         "spike_and_slab", "iris", "robust_regression", "bayesian_lasso", "beetles",
         "local_level", "pumps", "factorisation_machine")  # fmt: skip


def everyday(names):
    return [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in names]


def model_of(name):
    module = importlib.import_module(f"models.{name}")
    return module.model(corpus=module.bars()) if name == "lda" else module.model()


def read_and_drawn(model, how="mean"):
    """The sampler with all read by their means, the one that draws, and a state of the latter."""
    sampler = gp.compile(model)
    read = sampler.read_by(dict.fromkeys(sampler.graph.drawn, how))
    drawn = read.drawing()
    return read, drawn, drawn.initial_states(1, seed=3)[0][0].state


def at_point(read, state):
    return moments_at(read.schedule, {**read.derivation.known, **state})


def verified(model, how="mean"):
    """The rows of the checks of a sampler whose conditionals are all read by their means."""
    sampler = gp.compile(model)
    return sampler.read_by(dict.fromkeys(sampler.graph.drawn, how)).verify()


# ---- the checks on the user's own model ------------------------------------------------------


@pytest.mark.parametrize("name", everyday(READ))
def test_readings_are_verified(name):
    """At a point natural parameters are those of the Gibbs sweep; updates are the bound's best."""
    found = verified(model_of(name))

    assert found.proved
    for kind in ("by mean, at a point", "by mean, the bound"):
        own = [row for row in found.rows if row.kind == kind]
        assert own
        assert max(row.discrepancy for row in own) <= 1e-10


def test_a_term_that_is_lost_is_found(monkeypatch):
    from gibbsppl.expectation.expected import Expectation

    pieces, few = Expectation.pieces, np.array([1.2, 0.7, 4.1])

    def without_spread(*of, **labels):
        found = pieces(*of, **labels)
        return [p for p in found if "V_mu" not in str(p.coefficient)] or found

    assert verified(_near(few)).proved
    monkeypatch.setattr(Expectation, "pieces", without_spread)
    failed = {(row.step, row.kind) for row in verified(_near(few)).rows if not row.passed}
    assert ("tau", "by mean, the bound") in failed


@pytest.mark.parametrize("name", everyday([n for n in REFUSED if n != "reuters"]))
def test_what_has_no_expectation_is_refused_by_name(name):
    with pytest.raises(CompileError, match=r"cannot be read by its mean|has no bound") as refused:
        gp.compile(model_of(name)).variational(progress=False)
    assert any(part in str(refused.value) for part in REFUSED[name].split("|"))


def a_variance_between_bounds():
    v = gp.Gamma("v", 1, rate=1, lower=0.3)
    gp.Normal("y", 0, var=v, observed=1.7)


def a_rate_below_a_bound():
    rate = gp.Gamma("v", 1, rate=1, upper=0.9)
    gp.Laplace("y", gp.Normal("a", 0, sigma=1), rate=rate, observed=1.7)


@pytest.mark.parametrize("declare", [a_variance_between_bounds, a_rate_below_a_bound])
def test_what_is_truncated_without_a_formula_of_its_mass_is_refused(declare):
    with gp.Model() as model:
        declare()
    sampler = gp.compile(model, rewrites={"distance": True} if "a" in model.graph.drawn else True)

    with pytest.raises(CompileError, match=r"^v: it cannot be read by its mean: .* between bounds"):
        sampler.variational(progress=False)


def test_some_readings_beside_draws_are_verified():
    """Where some are draws there is no bound that rises."""
    found = gp.compile(model_of("gaussian"), by={"tau": "mean"}).verify()

    assert found.proved
    assert not any("bound" in row.kind for row in found.rows)


@pytest.mark.parametrize("how", ["mean", "mode"])
def test_what_is_drawn_without_auxiliary_variables_is_compared_as_it_is_read(how):
    """By draws the scale is a Gamma without the variances; readings are in one graph with them."""
    with gp.Model(coords={"i": 4}) as model:
        rate = gp.Gamma("rate", 2, rate=1)
        level = gp.Normal("level", 0, sigma=2)
        gp.Laplace("y", level, rate=rate, dims="i", observed=[0.3, 1.0, -0.2, 2.1])
    rules = {"distance": True}
    drawn = gp.compile(model, rewrites=rules)
    read = gp.compile(model, rewrites=rules, by={"rate": how})

    assert drawn.schedule.step("rate").owner == "Gamma"
    assert read.drawing().schedule.step("rate").owner == "ModifiedHalfNormal"
    assert read.verify().proved



def test_a_fit_is_verified():
    fit = gp.compile(model_of("gaussian")).variational(seed=1, progress=False)
    assert fit.verify().proved


@pytest.mark.slow
@pytest.mark.parametrize("name", ["horseshoe", "stacks"])
def test_a_fit_with_bessel_or_fox_and_wrights_functions_is_verified(name):
    program = MORE.get(name)
    model = gp.read_bugs(program.model, program.data) if program else model_of(name)
    fit = gp.compile(model).variational(seed=1, progress=False)

    assert fit.converged
    assert fit.verify().proved
    assert (np.diff(fit.trace) > 0).all()


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        ("-0.9  # from theta", "-0.8  # from theta", "by mean, at a point"),
        ("        + H_theta  # from H[theta[doc, topic]]\n", "", "by mean, the bound"),
        ('+ einsum("ab,ba->", E_log_phi', '+ 2 * einsum("ab,ba->", E_log_phi',
         "by mean, the bound"),
    ],
)  # fmt: skip
def test_wrong_readings_are_seen(right, wrong, told):
    sampler = gp.compile(model_of("lda"))
    read = sampler.read_by(dict.fromkeys(sampler.graph.drawn, "mean"))
    assert read.source.count(right) == 1
    spoilt = replace(read, program=load(read.source.replace(right, wrong)))

    failed = {row.kind for row in spoilt.verify().rows if not row.passed}
    assert told in failed


# ---- known answers ---------------------------------------------------------------------------


def normal(y, name="normal", tau=1.0):
    with gp.Model(name=name) as model:
        mu = gp.Normal("mu", 0, tau=0.01)
        gp.Normal("y", mu, tau=tau, dims="i", observed=y)
    return model


def test_of_one_factor_the_bound_is_the_log_evidence():
    y = np.array([1.2, 0.7, 2.1, 1.6])
    fit = gp.compile(normal(y)).variational(seed=1, progress=False)
    covariance = np.eye(4) + 100.0

    assert_allclose(fit.elbo, stats.multivariate_normal(np.zeros(4), covariance).logpdf(y))
    assert fit.converged
    assert_allclose(fit.mean("mu"), y.sum() / 4.01)
    assert_allclose(fit.sd("mu"), 4.01**-0.5)


def test_truncated_moments_are_those_of_the_integral():
    for lower, upper in ((0.0, 1.0), (1.0, 3.0), (5.0, 6.0)):
        with gp.Model() as model:
            gp.Normal("x", 0, tau=1, lower=lower, upper=upper)
        fit = gp.compile(model).variational(progress=False)
        exact = stats.truncnorm(lower, upper)
        assert_allclose(fit.mean("x"), exact.mean(), rtol=1e-9)
        assert_allclose(fit.sd("x"), exact.std(), rtol=1e-6)
        assert_allclose(fit.elbo, 0.0, atol=1e-12)


# Families whose normalisers are no elementary functions: also where these overflow, or vanish.
NORMALISED = [
    ("GeneralizedInverseGaussian", {"p": p, "a": a, "b": b})
    for p, a, b in ((0.5, 2.0, 3.0), (-1.5, 1e-6, 1e-6), (40.0, 1e3, 1e3), (0.0, 1e-9, 1e-9))
] + [
    ("ModifiedHalfNormal", {"a": a, "b": b, "c": c})
    for a, b, c in ((0.5, 2.0, -3.0), (30.0, 1.0, 100.0), (0.02, 1.0, 0.0), (2.0, 1e-8, -1.0))
]


@pytest.mark.parametrize(("family", "parameters"), NORMALISED)
def test_of_a_prior_alone_the_bound_is_that_of_nothing(family, parameters):
    """The entropy, and each statistic's mean, are those of the density."""
    with gp.Model(name="prior") as model:
        getattr(gp, family)("x", **parameters)
    fit = gp.compile(model).variational(progress=False)
    # (of the log density its largest term is rounded: a power of the ratio of two normalisers)
    size = max(map(abs, parameters.values())) * max(1.0, fit.mean("x"))
    assert_allclose(fit.elbo, 0.0, atol=1e-12 * max(1.0, size))


@pytest.mark.parametrize(("family", "parameters"), NORMALISED)
def test_the_mean_of_a_log_is_that_of_the_integral(family, parameters):
    row, names = FAMILIES[family], ("eta_1", "eta_2", "eta_3")
    of = Symbols(tuple(Array(n)[()] for n in names))
    natural = {
        "GeneralizedInverseGaussian": lambda p, a, b: (p - 1, -a / 2, -b / 2),
        "ModifiedHalfNormal": lambda a, b, c: (a - 1, c, -b),
    }[family](**parameters)
    found = evaluate(expectation(row, of, sp.log), (), dict(zip(names, natural, strict=True)), {})

    u = np.linspace(-4000.0, 120.0, 2_000_001)
    with np.errstate(over="ignore"):
        x = np.exp(u)
        tail = np.exp(-u) if family == "GeneralizedInverseGaussian" else x**2
        log_density = (natural[0] + 1) * u + natural[1] * x + natural[2] * tail
    weights = np.exp(log_density - log_density.max())
    assert_allclose(found, (weights * u).sum() / weights.sum(), rtol=1e-10)


@pytest.mark.parametrize("origin", [0.0, 1e8])
def test_data_far_from_zero_keep_their_digits(origin):
    rng = np.random.default_rng(1)
    y = 2.0 * rng.standard_normal(50)
    with gp.Model(name=f"far {origin}") as model:
        mu, tau = gp.Flat("mu"), gp.Gamma("tau", 1, rate=1)
        gp.Normal("y", mu, tau=tau, dims="i", observed=origin + y)
    fit = gp.compile(model).variational(seed=1, progress=False)
    near = gp.compile(_near(y)).variational(seed=1, progress=False)

    # (data of 1e8 have seven digits left behind the point)
    assert_allclose(fit.mean("tau"), near.mean("tau"), rtol=1e-7)
    assert_allclose(fit.mean("mu") - origin, near.mean("mu"), atol=1e-7)


def _near(y):
    with gp.Model(name="near") as model:
        mu, tau = gp.Flat("mu"), gp.Gamma("tau", 1, rate=1)
        gp.Normal("y", mu, tau=tau, dims="i", observed=y)
    return model


def test_a_mixture_is_that_of_coordinate_ascent_by_hand():
    read, _, state = read_and_drawn(model_of("gaussian_mixture"))
    moments, constants = at_point(read, state), read.constants
    y, told = np.asarray(read.data["velocity"]), {m.told: m.name for m in moments_of(read.schedule)}
    log_w, tau = np.log(state["weight"]), np.array(state["tau"])
    log_tau, mu, mu2 = np.log(tau), np.array(state["mu"]), np.array(state["mu"]) ** 2
    for _ in range(20):
        read.program.sweep(None, moments, constants)
        for step in read.schedule.steps:
            if step.name == "z":
                squares = y[:, None] ** 2 - 2 * y[:, None] * mu + mu2
                p = special.softmax(log_w + log_tau / 2 - tau / 2 * squares, axis=1)
            elif step.name == "weight":
                a = 1 + p.sum(0)
                log_w = special.digamma(a) - special.digamma(a.sum())
            elif step.name == "tau":
                shape = 3 + p.sum(0) / 2
                rate = 20 + (p * (y[:, None] ** 2 - 2 * y[:, None] * mu + mu2)).sum(0) / 2
                tau, log_tau = shape / rate, special.digamma(shape) - np.log(rate)
            else:
                precision = 0.01 + tau * p.sum(0)
                mu = (0.2 + tau * (p * y[:, None]).sum(0)) / precision
                mu2 = mu**2 + 1 / precision

    assert_allclose(moments[told["E[mu[component]]"]], mu, rtol=1e-10)
    assert_allclose(moments[told["E[tau[component]]"]], tau, rtol=1e-10)
    (labels,) = [n for t, n in told.items() if t.startswith("P[z")]
    assert_allclose(moments[labels], p, atol=1e-12)


def test_a_hidden_markov_chain_is_that_of_forwards_and_backwards_by_hand():
    read, _, state = read_and_drawn(model_of("hidden_markov"))
    moments, constants = at_point(read, state), read.constants
    y = np.asarray(read.data["counts"])
    log_p, rate = np.log(state["P"]), np.array(state["rate"])
    log_rate = np.log(rate)
    for _ in range(10):
        read.program.sweep(None, moments, constants)
        seen = np.exp(y[:, None] * log_rate - rate - (y[:, None] * log_rate - rate).max(1)[:, None])
        led = np.exp(log_p)
        forwards, backwards = np.zeros((len(y), 2)), np.ones((len(y), 2))
        forwards[0] = seen[0] / seen[0].sum()
        for t in range(1, len(y)):
            forwards[t] = (forwards[t - 1] @ led) * seen[t]
            forwards[t] /= forwards[t].sum()
        for t in range(len(y) - 2, -1, -1):
            backwards[t] = led @ (seen[t + 1] * backwards[t + 1])
            backwards[t] /= backwards[t].sum()
        labels = forwards * backwards
        labels /= labels.sum(1, keepdims=True)
        pairs = np.zeros((2, 2))
        for t in range(1, len(y)):
            both = forwards[t - 1][:, None] * led * (seen[t] * backwards[t])
            pairs += both / both.sum()
        a = 1 + pairs
        log_p = special.digamma(a) - special.digamma(a.sum(1, keepdims=True))
        shape, scale = 2 + (labels * y[:, None]).sum(0), 0.1 + labels.sum(0)
        rate, log_rate = shape / scale, special.digamma(shape) - np.log(scale)

    assert_allclose(moments["E_rate"], rate, rtol=1e-10)
    assert_allclose(moments["P_z"], labels, atol=1e-10)


def factorisation(Y):
    people, films = Y.shape
    with gp.Model(name="rows", coords={"k": 2, "i": people, "j": films}) as model:
        U = gp.Normal("U", 0, tau=1, dims=("i", "k"))
        V = gp.Normal("V", 0, tau=1, dims=("j", "k"))
        gp.Normal("Y", (U * V).sum("k"), tau=10, dims=("i", "j"), observed=Y)
    return model


def test_modes_of_a_factorisation_are_alternating_least_squares():
    rng = np.random.default_rng(2)
    Y = rng.standard_normal((7, 2)) @ rng.standard_normal((2, 5)) + rng.standard_normal((7, 5)) / 9
    start = {"U": rng.standard_normal((7, 2)), "V": rng.standard_normal((5, 2))}
    sampler = gp.compile(factorisation(Y))
    read = sampler.read_by({"U": "mode", "V": "mode"})
    state = {n: v.copy() for n, v in start.items()}
    U, V = (v.copy() for v in start.values())
    heights = []
    for _ in range(30):
        read.program.sweep(None, state, read.constants)
        heights.append(float(read.program.bound(state, read.constants)))
        for step in read.schedule.steps:
            if step.name == "U":
                U = np.linalg.solve(10 * V.T @ V + np.eye(2), 10 * V.T @ Y.T).T
            else:
                V = np.linalg.solve(10 * U.T @ U + np.eye(2), 10 * U.T @ Y).T

    assert_allclose(state["U"], U, atol=1e-12)
    assert_allclose(state["V"], V, atol=1e-12)
    assert (np.diff(heights) >= -1e-10).all()
    assert_allclose(heights[-1], log_joint(sampler.graph, {**sampler.data, **state}))


def test_em_of_a_mixture_is_the_one_by_hand():
    rng = np.random.default_rng(4)
    y = np.concatenate([rng.normal(-2, 1, 60), rng.normal(3, 1.5, 40)])
    with gp.Model(name="em", coords={"k": 2, "i": len(y)}) as model:
        w = gp.Dirichlet("w", 1, dims="k", event="k")
        mu, tau = gp.Flat("mu", dims="k"), gp.Gamma("tau", 1, rate=1e-9, dims="k")
        z = gp.Categorical("z", w, dims="i", event="k")
        gp.Normal("y", mu[z], tau=tau[z], dims="i", observed=y)
    init = {"w": [0.5, 0.5], "mu": [-1.0, 1.0], "tau": [1.0, 1.0]}
    best = gp.compile(model).maximise(init=init, seed=1, tolerance=1e-15, progress=False)
    p, m, t = np.array([0.5, 0.5]), np.array([-1.0, 1.0]), np.ones(2)
    for _ in range(2000):
        logs = np.log(p) + np.log(t) / 2 - t / 2 * (y[:, None] - m) ** 2
        r = special.softmax(logs, axis=1)
        p, m = r.mean(0), (r * y[:, None]).sum(0) / r.sum(0)
        t = r.sum(0) / ((r * (y[:, None] - m) ** 2).sum(0) + 2e-9)

    assert_allclose(best.values["mu"], m, rtol=1e-5)
    assert_allclose(best.values["tau"], t, rtol=1e-5)
    assert_allclose(best.values["w"], p, rtol=1e-5)
    assert best.probabilities("z").shape == (100, 2)
    assert (np.diff(best.trace) >= -1e-10 * np.abs(best.trace[1:])).all()


def test_the_likeliest_chain_is_the_best_of_all():
    from itertools import product

    from gibbsppl.runtime import likeliest_chain

    rng = np.random.default_rng(5)
    for _ in range(5):
        weights, moves = rng.normal(size=(3, 5)), rng.normal(size=(3, 3))
        every = [
            (weights[z, range(5)].sum() + moves[z[:-1], z[1:]].sum(), z)
            for z in product(range(3), repeat=5)
        ]
        assert tuple(likeliest_chain(weights, moves, name="z")) == max(every)[1]


# ---- some by draws: Monte Carlo EM -----------------------------------------------------------


def effects():
    """One-way random effects, whose variance components are points."""
    rng = np.random.default_rng(2)
    y = rng.normal(size=(12, 1)) * 2 + rng.normal(size=(12, 5))
    with gp.Model(coords={"group": 12, "rep": 5}, name="effects") as model:
        mu = gp.Normal("mu", 0, tau=1e-6)
        between, within = gp.Gamma("between", 1, rate=1e-8), gp.Gamma("within", 1, rate=1e-8)
        u = gp.Normal("u", mu, tau=between, dims="group")
        gp.Normal("y", u, tau=within, dims=("group", "rep"), observed=y)
    return model, y


def highest_likelihood(y):
    """The precisions of the highest restricted likelihood of one-way random effects, exactly."""
    n, r = y.shape
    means = y.mean(axis=1)
    within = ((y - means[:, None]) ** 2).sum() / (n * (r - 1))
    return {"between": 1 / (means.var(ddof=1) - within / r), "within": 1 / within}


def test_averages_over_draws_come_to_the_highest_likelihood():
    model, y = effects()
    sampler = gp.compile(model)
    exact = highest_likelihood(y)
    how = {"by": {"u": "draw", "mu": "draw"}, "progress": False}
    fits = [sampler.maximise(seed=s, draws=10, **how) for s in range(5)]
    assert all(f.converged for f in fits)
    for name, value in exact.items():
        found = np.array([f.values[name] for f in fits])
        assert abs(found.mean() - value) < 4 * found.std(ddof=1) / np.sqrt(len(found)), name


@pytest.mark.slow
def test_without_averages_a_fit_never_comes_to_rest(monkeypatch):
    from gibbsppl.fits.natural import Averaged

    model, _ = effects()
    how = {"by": {"u": "draw", "mu": "draw"}, "progress": False}
    fits = [gp.compile(model).maximise(seed=s, **how) for s in range(5)]
    monkeypatch.setattr(Averaged, "begin", lambda self, size: None)
    wild = [gp.compile(model).maximise(seed=s, **how) for s in range(5)]

    def spread(found):
        return np.std([f.values["within"] for f in found])

    assert spread(wild) > spread(fits)


@pytest.mark.slow
def test_more_draws_leave_less_error():
    sampler, how = gp.compile(effects()[0]), {"by": {"u": "draw", "mu": "draw"}, "progress": False}
    few, many = (
        np.std([sampler.maximise(seed=s, draws=n, **how).values["within"] for s in range(8)])
        for n in (1, 20)
    )
    assert many < few


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"draws": 5}, "draws: found 5, and nothing is drawn"),
        ({"by": {"u": "draw", "mu": "draw"}, "backend": "compiled"}, "found 'compiled'"),
    ],
)
def test_draws_are_refused_where_they_would_do_nothing(how, told):
    with pytest.raises(RunError, match=told):
        gp.compile(effects()[0]).maximise(seed=1, progress=False, **how)


def test_what_has_no_natural_parameters_is_not_averaged_over_draws():
    rng = np.random.default_rng(1)
    with gp.Model(coords={"group": 5, "rep": 4}, name="counts") as model:
        slope = gp.Normal("slope", 0, tau=1)
        tau = gp.Gamma("tau", 2, rate=1)
        u = gp.Normal("u", 0, tau=tau, dims="group")
        x = gp.Data("x", rng.normal(size=(5, 4)), dims=("group", "rep"))
        y = rng.poisson(1.0, size=(5, 4))
        gp.Poisson("y", gp.exp(u + slope * x), dims=("group", "rep"), observed=y)
    told = r"slope is to be read given averages .* moved from where it is"
    with pytest.raises(RunError, match=told):
        gp.compile(model).maximise(by={"u": "draw"}, seed=1, progress=False)


# ---- where fits start ------------------------------------------------------------------------


def test_draws_before_a_fit_lead_to_a_higher_bound():
    corpus = models.lda.bars(documents=60)
    sampler = gp.compile(models.lda.model(corpus=corpus, topics=6))
    how = {"progress": False, "tolerance": 1e-6}
    plain = [sampler.variational(seed=s, warmup=0, **how).elbo for s in range(3)]
    found = [sampler.variational(seed=s, **how).elbo for s in range(3)]

    assert min(found) > max(plain)


def test_values_that_are_given_are_where_a_fit_starts():
    with gp.Model(name="noise") as model:
        mu, tau = gp.Normal("mu", 0, tau=0.01), gp.Gamma("tau", 2, rate=1)
        gp.Normal("y", mu, tau=tau, dims="i", observed=[1.2, 0.7, 2.1, 1.6])
    sampler, init = gp.compile(model), {"mu": 3.0, "tau": 0.1}
    how = {"init": init, "sweeps": 1, "progress": False}
    first, other = (sampler.variational(seed=s, **how).elbo for s in (1, 2))
    moved = sampler.variational(seed=1, warmup=5, **how).elbo

    assert first == other != moved


def test_chains_start_beside_an_optimum():
    y = np.array([1.2, 0.7, 2.1, 1.6])
    with gp.Model(name="beside") as model:
        mu, tau = gp.Normal("mu", 0, tau=0.01), gp.Gamma("tau", 2, rate=1)
        gp.Normal("y", mu, tau=tau, dims="i", observed=y)
    sampler = gp.compile(model)
    best = sampler.maximise(seed=1, progress=False)
    starts = best.starts(400)
    found = {n: np.array([s[n] for s in starts]) for n in ("mu", "tau")}
    precision = 0.01 + 4 * best.values["tau"]
    mean = best.values["tau"] * y.sum() / precision

    assert stats.kstest(found["mu"], stats.norm(mean, precision**-0.5).cdf).pvalue > 1e-3
    assert len(set(found["tau"])) == 400
    draws = sampler.sample(5, warmup=0, chains=3, init=best, seed=1, progress=False)
    assert draws["mu"].shape == (3, 5)


@pytest.mark.parametrize("name", ["gaussian_mixture", "rats", "pumps", "robust_regression"])
def test_any_optimum_is_a_start(name):
    sampler = gp.compile(model_of(name))
    best = sampler.maximise(seed=1, progress=False)
    one, other = best.starts(2)

    assert set(one) == set(sampler.graph.drawn)
    assert all(np.shape(one[n]) == np.shape(other[n]) for n in one)
    assert any(np.any(one[n] != other[n]) for n in one)
    sampler.sample(3, warmup=1, chains=2, init=best, seed=1, progress=False)


def test_an_optimum_of_missing_data_is_a_start():
    with gp.Model(name="missing") as model:
        mu, tau = gp.Normal("mu", 0, tau=0.01), gp.Gamma("tau", 2, rate=1)
        gp.Normal("y", mu, tau=tau, dims="i", observed=[1.2, np.nan, 2.1, 1.6], missing=np.nan)
    sampler = gp.compile(model)
    best = sampler.maximise(seed=1, progress=False)
    draws = sampler.sample(3, warmup=1, chains=2, init=best, seed=1, progress=False)
    assert np.isfinite(draws["mu"]).all()


# ---- what a user does ------------------------------------------------------------------------


def test_a_fit_can_be_asked_and_drawn_from():
    y = np.array([1.2, 0.7, 2.1, 1.6])
    with gp.Model(name="asked") as model:
        mu, tau = gp.Normal("mu", 0, tau=0.01), gp.Gamma("tau", 2, rate=1)
        gp.Normal("y", mu, tau=tau, dims="i", observed=y)
        gp.Deterministic("sigma", tau**-0.5)
    sampler = gp.compile(model)
    fit = sampler.variational(seed=1, progress=False)
    factor = fit.factor("tau")
    draws = fit.sample(4000, chains=2, seed=1)
    error = fit.sd("tau") / np.sqrt(8000)

    assert str(factor).startswith("Gamma(shape=4, rate=")
    assert_allclose(fit.mean("tau"), factor.shape / factor.rate)
    assert abs(draws["tau"].mean() - fit.mean("tau")) < 4 * error
    assert draws["sigma"].shape == (2, 4000)
    assert sampler.predict(draws, new={}).mean.shape == (4,)
    assert "E[mu]" in fit.explain("tau")
    assert "def bound(s, c):" in fit.source
    assert "asked: bound" in str(fit)
    with pytest.raises(RunError, match="no latent variable"):
        fit.mean("nu")
    with pytest.raises(AttributeError, match="Gamma has no 'scale'"):
        _ = factor.scale


def test_a_mode_at_an_end_of_the_support_is_refused():
    with gp.Model(name="corner") as model:
        tau = gp.Gamma("tau", 0.1, rate=1)
        gp.Poisson("n", tau, observed=0)
    with pytest.raises(RunError, match="tau: the density is infinite, or largest, at an end"):
        gp.compile(model).maximise(progress=False)


def test_by_what_is_checked():
    sampler = gp.compile(normal([1.0, 2.0]))
    with pytest.raises(CompileError, match="one of 'draw', 'mode', 'mode of log', 'mean'"):
        gp.compile(normal([1.0, 2.0]), by={"mu": "median"})
    with pytest.raises(CompileError, match="by: found"):
        sampler.maximise(by={"nu": "mode"}, progress=False)


@pytest.mark.slow
def test_the_page_on_models_read_by_their_means_is_true():
    from readings_table import PAGE, page

    assert page() == PAGE.read_text("utf-8")
