"""Scales drawn with their locations integrated out, which are drawn right after: joint draws."""

from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
import sympy as sp
from replays import beside
from scipy import stats
from test_collapsing import gaps_of_the_product
from test_loops_of_moves import assert_compiled_is_plain

import gibbsppl as gp
from gibbsppl.checks import normalised
from gibbsppl.checks.geweke import geweke
from gibbsppl.code.arrays.sweeps import spans_in
from gibbsppl.errors import CompileError
from gibbsppl.rewrites import locations
from models import bayesian_matrix_factorisation

MEASURED = np.array([-1.0, 0.3, 0.9, 2.0, 1.4, 0.2])
OF = [0, 1, 1, 2, 0, 2]
X = np.array([[1.0, -0.5], [1.0, 0.2], [1.0, 1.5], [1.0, -1.1], [1.0, 0.4], [1.0, 2.0]])
PAIRS = np.array([[-1.0, 0.3], [0.2, 1.2], [1.5, -0.4], [0.9, 2.0]])
SQUARE = [[1.0, 0.2], [0.2, 0.7]]


def data(name, values, dims):
    return gp.Data(name, values, dims=dims)


def one_sample(y=MEASURED, strength=0.1):
    """A mean and the precision of the same observations."""
    with gp.Model(coords={"n": len(y)}, name="sample") as m:
        tau = gp.Gamma("tau", 2, rate=1)
        mu = gp.Normal("mu", 0, tau=strength * tau) if strength else gp.Flat("mu")
        gp.Normal("y", mu, tau=tau, dims="n", observed=y)
    return m


def variances():
    """The same with a variance, whose prior is that of its inverse."""
    with gp.Model(coords={"n": 6}) as m:
        v = gp.InverseGamma("v", 2, scale=1)
        mu = gp.Normal("mu", 0.3, var=10 * v)
        gp.Normal("y", mu, var=v, dims="n", observed=MEASURED)
    return m


def heavy_tails():
    """Locations whose squares auxiliary variables hold: their own factor has a normaliser alone."""
    with gp.Model(coords={"n": 6}) as m:
        c = gp.InverseGamma("c", 1.7, scale=2)
        gp.Cauchy("d", data("centre", MEASURED, "n"), scale=c, dims="n")
    return m


def deviations():
    """The same with a standard deviation, between bounds."""
    with gp.Model(coords={"n": 6}) as m:
        s = gp.Uniform("s", 0, 20)
        mu = gp.Normal("mu", 0.3, sigma=3 * s)
        gp.Normal("y", mu, sigma=s, dims="n", observed=MEASURED)
    return m


def groups():
    """A mean and a precision for each group."""
    with gp.Model(coords={"g": 3, "n": 6}) as m:
        tau = gp.Gamma("tau", 2, rate=1, dims="g")
        mu = gp.Normal("mu", 0.3, tau=0.1 * tau, dims="g")
        of = gp.Index("of", OF, of="g", dims="n")
        gp.Normal("y", mu[of], tau=tau[of], dims="n", observed=MEASURED)
    return m


def components():
    """The same, of groups that are not known."""
    with gp.Model(coords={"g": 2, "n": 6}) as m:
        w = gp.Dirichlet("w", 1, dims="g", event="g")
        tau = gp.Gamma("tau", 2, rate=1, dims="g")
        mu = gp.Normal("mu", 0.3, tau=0.1 * tau, dims="g")
        z = gp.Categorical("z", w, dims="n", event="g")
        gp.Normal("y", mu[z], tau=tau[z], dims="n", observed=MEASURED)
    return m


def regression():
    """Coefficients whose prior precision is in proportion to that of the noise: a ridge."""
    with gp.Model(coords={"n": 6, "p": 2}) as m:
        x, tau = data("x", X, ("n", "p")), gp.Gamma("tau", 2, rate=1)
        beta = gp.Normal("beta", 0, tau=0.1 * tau, dims="p")
        gp.Normal("y", x @ beta, tau=tau, dims="n", observed=MEASURED)
    return m


def with_information():
    """Coefficients whose prior precision is that of a part of the data (A. Zellner's g-prior)."""
    with gp.Model(coords={"n": 6, "p": 2}) as m:
        x, tau = data("x", X, ("n", "p")), gp.Gamma("tau", 2, rate=1)
        first, unit = data("first", [0.4, -0.2], "p"), data("unit", X.T @ X / 6, ("p", "p'"))
        beta = gp.MvNormal("beta", first, tau=tau * unit, dims="p")
        gp.Normal("y", x @ beta, tau=tau, dims="n", observed=MEASURED)
    return m


def level_and_slope():
    """Two locations that see one another."""
    with gp.Model(coords={"n": 6, "p": 1}) as m:
        x, tau = data("x", X[:, 1:], ("n", "p")), gp.Gamma("tau", 2, rate=1)
        level = gp.Normal("level", 0.5, tau=0.1 * tau)
        slope = gp.Normal("slope", 0, tau=0.2 * tau, dims="p")
        gp.Normal("y", level + x @ slope, tau=tau, dims="n", observed=MEASURED)
    return m


def of_groups_of_groups():
    """Two locations, one the mean of the other."""
    with gp.Model(coords={"g": 3, "n": 6}) as m:
        tau = gp.Gamma("tau", 2, rate=1)
        mu = gp.Normal("mu", 0.5, tau=0.1 * tau)
        theta = gp.Normal("theta", mu, tau=tau, dims="g")
        of = gp.Index("of", OF, of="g", dims="n")
        gp.Normal("y", theta[of], tau=3 * tau, dims="n", observed=MEASURED)
    return m


def beside_a_group():
    """A location that is drawn jointly with what it is the mean of."""
    with gp.Model(coords={"g": 3, "n": 6}) as m:
        tau = gp.Gamma("tau", 2, rate=1)
        mu = gp.Normal("mu", 0.5, tau=0.1 * tau)
        theta = gp.Normal("theta", mu, tau=tau, dims="g")
        of = gp.Index("of", OF, of="g", dims="n")
        gp.Normal("y", theta[of], tau=1.5, dims="n", observed=MEASURED)
    return m


def vectors():
    """A mean vector, and a precision matrix."""
    with gp.Model(coords={"n": 4, "d": 2}) as m:
        first = data("first", [0.4, -0.2], "d")
        precision = gp.Wishart("precision", 4, V=data("V", SQUARE, ("d", "d'")), dims=("d", "d'"))
        mu = gp.MvNormal("mu", first, tau=0.1 * precision, dims="d")
        gp.MvNormal("y", mu, tau=precision, dims=("n", "d"), event="d", observed=PAIRS)
    return m


def covariances():
    """A mean vector, and a covariance matrix."""
    with gp.Model(coords={"n": 4, "d": 2}) as m:
        first = data("first", [0.4, -0.2], "d")
        cov = gp.InverseWishart("cov", 4, S=data("S", SQUARE, ("d", "d'")), dims=("d", "d'"))
        mu = gp.MvNormal("mu", first, cov=10 * cov, dims="d")
        gp.MvNormal("y", mu, cov=cov, dims=("n", "d"), event="d", observed=PAIRS)
    return m


def factors():
    """Both sides of a factorisation have a mean vector and a precision matrix."""
    ratings = [0, 0, 1, 1, 2], [0, 1, 0, 1, 1], [1.0, 2.0, 0.5, 1.5, 3.0]
    names = (["a", "b", "c"], ["d", "e"])
    return bayesian_matrix_factorisation.model(ratings=ratings, names=names, level=1.5)


# The scales that are drawn first, and the locations that are integrated out of their draws.
CASES = {
    one_sample: ("tau", "mu"),
    variances: ("v", "mu"),
    deviations: ("s", "mu"),
    groups: ("tau", "mu"),
    components: ("tau", "mu"),
    regression: ("tau", "beta"),
    with_information: ("tau", "beta"),
    level_and_slope: ("tau", "level slope"),
    of_groups_of_groups: ("tau", "mu theta"),
    beside_a_group: ("tau", "mu"),
    vectors: ("precision", "mu"),
    covariances: ("cov", "mu"),
    factors: ("precision_U precision_V", "mean_U mean_V"),
}
# What is like another one, with other families.
SLOW = (variances, deviations, groups, with_information, covariances)
EVERY = pytest.mark.parametrize(
    "model",
    [pytest.param(m, marks=pytest.mark.slow) if m in SLOW else m for m in CASES],
    ids=lambda f: f.__name__,
)


@cache
def compiled(model):
    return gp.compile(model())


def without(sampler):
    """What is drawn with variables integrated out, and these."""
    schedule = sampler.schedule
    pairs = [
        (step.name, frozenset(schedule.graph.drawn) - set(graph.drawn))
        for step, graph in zip(schedule.steps, schedule.graphs, strict=True)
        if step.name not in schedule.interwoven
    ]
    first = [name for name, gone in pairs if gone]
    return " ".join(sorted(first)), " ".join(sorted({n for _, gone in pairs for n in gone}))


@EVERY
def test_scales_are_drawn_without_their_locations(model):
    assert without(compiled(model)) == CASES[model]


@EVERY
def test_what_is_left_times_what_is_drawn_after_is_the_joint_density(model):
    assert gaps_of_the_product(compiled(model)) <= 1


@EVERY
def test_draws_and_graphs_are_proved(model):
    assert compiled(model).verify().proved


def test_what_locations_leave_to_auxiliary_variables_is_not_lost():
    assert without(compiled(heavy_tails)) == ("c", "d")
    assert compiled(heavy_tails).verify().proved


@EVERY
def test_loops_draw_what_numpy_draws(model):
    sampler = compiled(model)
    (chain,), _ = sampler.initial_states(1, 7)
    for _ in range(3):
        assert beside(sampler, chain.state, chain.rng, sampler.loops()).far == []


@pytest.mark.parametrize(
    "model",
    [level_and_slope, *(pytest.param(m, marks=pytest.mark.slow) for m in (components, factors))],
    ids=lambda f: f.__name__,
)
def test_compiled_sweeps_are_plain_ones(model):
    pytest.importorskip("numba")
    assert_compiled_is_plain(compiled(model))


def many_rows():
    """Coefficients with scales of their own: their mean changes from sweep to sweep."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(60, 3))
    with gp.Model(coords={"n": 60, "k": 3}, name="many") as m:
        tau, own = gp.Gamma("tau", 2, rate=1), gp.Gamma("own", 2, rate=1, dims="k")
        beta = gp.Normal("beta", 0, tau=own * tau, dims="k")
        mean = data("x", x, ("n", "k")) @ beta
        gp.Normal("y", mean, tau=tau, dims="n", observed=x.sum(axis=1) + rng.normal(size=60))
    return m


def test_squares_about_a_mean_that_changes_do_not_read_the_rows():
    sampler = gp.compile(many_rows(), collapse=("beta",))
    (chain,), _ = sampler.initial_states(1, 7)
    loops = sampler.loops()

    assert without(sampler) == ("tau", "beta")
    assert "n" not in spans_in(loops.sweep_value.statements)
    assert beside(sampler, chain.state, chain.rng, loops).far == []


# ---- what the books say ------------------------------------------------------------------------


def given(sampler, name):
    """The natural parameters of a draw that reads nothing but data."""
    return sampler.program.given_rest[name]({}, sampler.constants)


def test_a_precision_loses_half_an_observation_and_sees_squares_about_the_mean():
    y, strength = MEASURED, 0.1
    mean = y.sum() / (len(y) + strength)
    rate = 1 + ((y - mean) ** 2).sum() / 2 + strength * mean**2 / 2

    assert given(compiled(one_sample), "tau") == pytest.approx((2 + len(y) / 2 - 1, -rate))


def test_a_ridge_is_that_of_the_books():
    precision = X.T @ X + 0.1 * np.eye(2)
    mean = np.linalg.solve(precision, X.T @ MEASURED)
    left = MEASURED @ MEASURED - mean @ precision @ mean

    expected = (2 + len(X) / 2 - 1, -1 - left / 2)
    assert given(compiled(regression), "tau") == pytest.approx(expected)


def test_a_precision_matrix_is_that_of_the_books():
    strength, first, n = 0.1, np.array([0.4, -0.2]), len(PAIRS)
    own = PAIRS - PAIRS.mean(axis=0)
    away = PAIRS.mean(axis=0) - first
    scale = np.linalg.inv(SQUARE) + own.T @ own
    scale += strength * n / (strength + n) * np.outer(away, away)
    log_det, trace = given(compiled(vectors), "precision")

    assert log_det == pytest.approx((4 + n - 2 - 1) / 2)  # (of nu + n, less the one of the mean)
    assert trace == pytest.approx(-scale / 2)


def t_of_one_sample(y, strength=0.1):
    """The posterior of the mean: Student's t."""
    n, (shape_less_one, rate) = len(y) + strength, given(gp.compile(one_sample(y)), "tau")
    shape = shape_less_one + 1
    return stats.t(2 * shape, y.sum() / n, np.sqrt(-rate / shape / n))


def test_draws_of_mean_and_precision_are_independent_and_from_the_posterior():
    """No draw depends on the one before: each autocorrelation is zero but for Monte Carlo error."""
    y, draws, level = MEASURED[:3], 4000, 1e-6
    found = gp.compile(one_sample(y)).sample(
        draws, warmup=1, chains=1, seed=5, progress=False, backend="numpy"
    )
    limit = stats.norm.isf(level / 8)
    for name in ("mu", "tau"):
        x = stats.norm.ppf(stats.rankdata(found[name][0]) / (draws + 1))
        lags = [np.corrcoef(x[k:], x[:-k])[0, 1] * np.sqrt(draws - k) for k in (1, 2)]
        assert np.abs(lags).max() < limit

    assert stats.kstest(found["mu"][0], t_of_one_sample(y).cdf).pvalue > level


def test_without_this_draws_depend_on_one_another():
    """The test sees it: of few observations each draw of a mean says much of the precision."""
    sampler = gp.compile(one_sample(MEASURED[:3]), rewrites={"locations": False})
    found = sampler.sample(4000, warmup=1, chains=1, seed=5, progress=False, backend="numpy")
    x = stats.norm.ppf(stats.rankdata(found["tau"][0]) / 4001)

    assert np.corrcoef(x[1:], x[:-1])[0, 1] * np.sqrt(3999) > stats.norm.isf(1e-6 / 8)


@pytest.mark.parametrize("level", [0.0, 1e4, 1e8, 1e12])
@pytest.mark.parametrize("backend", ["numpy", "loops"])
def test_squares_keep_their_digits_far_from_zero(level, backend):
    """Against exact arithmetic; each difference from the mean is rounded as the data are."""
    y = level + np.array([0.25, -0.5, 1.0, 2.0, -1.25])
    exact = [Fraction(v) for v in y]
    mean = sum(exact) / len(exact)
    squares = sum((v - mean) ** 2 for v in exact)
    sampler = gp.compile(one_sample(y, strength=0))
    (shape, rate), away = given(sampler, "tau"), np.abs([float(v - mean) for v in exact])
    if backend == "loops":
        rng = np.random.default_rng(1)
        (chain,), _ = sampler.initial_states(1, 1)
        program = sampler.loops()
        arrays = program.arrays_of(dict(chain.state))
        program.plain().sweep(program.arguments(rng, arrays))
        tau = float(arrays["tau"])
        rate = -np.random.default_rng(1).standard_gamma(shape + 1) / tau
    rounded = np.finfo(float).eps * np.abs(y)
    limit = (away * rounded + rounded**2).sum() + np.finfo(float).eps * float(squares) * len(y)

    assert abs(-rate - 1 - float(squares) / 2) <= 4 * limit


# ---- where nothing changes -----------------------------------------------------------------------


def semi():
    with gp.Model(coords={"n": 6}) as m:
        tau, mu = gp.Gamma("tau", 2, rate=1), gp.Normal("mu", 0, tau=0.1)
        gp.Normal("y", mu, tau=tau, dims="n", observed=MEASURED)
    return m


def two_scales():
    """The prior of the mean has a precision of its own."""
    with gp.Model(coords={"n": 6}) as m:
        tau, own = gp.Gamma("tau", 2, rate=1), gp.Gamma("own", 2, rate=1)
        mu = gp.Normal("mu", 0, tau=own)
        gp.Normal("y", mu, tau=tau, dims="n", observed=MEASURED)
    return m


@pytest.mark.parametrize("model", [semi, two_scales])
def test_a_prior_that_is_not_in_proportion_is_left_as_it_is(model):
    assert without(gp.compile(model())) == ("", "")
    with pytest.raises(CompileError, match=r"^rewrites\['locations'\]: no scale is drawn as well"):
        gp.compile(model(), rewrites={"locations": True})


@pytest.mark.parametrize(
    "asked",
    [
        {"rewrites": {"locations": False}},
        {"rewrites": False},
        {"kernels": {"tau": gp.Slice()}},
        {"kernels": {"mu": gp.RandomWalk()}},
        {"order": ("mu", "tau")},
    ],
    ids=str,
)
def test_what_a_user_asks_for_is_done(asked):
    assert without(gp.compile(one_sample(), **asked)) == ("", "")


@pytest.mark.parametrize("asked", [{"blocks": False}, {"blocks": {"slope": "alone"}}], ids=str)
def test_locations_that_may_not_be_drawn_jointly_are_not_integrated_out_together(asked):
    sampler = gp.compile(level_and_slope(), **asked)

    assert len(without(sampler)[1].split()) <= 1
    assert sampler.verify().proved


def test_what_is_drawn_jointly_stays_so():
    """Of locations that are tied to one another, and to what is none, one is integrated out."""
    with gp.Model(coords={"g": 3, "n": 6}) as m:
        tau = gp.Gamma("tau", 2, rate=1)
        level = gp.Normal("level", 0.5, tau=0.1 * tau)
        slope, u = gp.Normal("slope", 0, tau=0.2 * tau), gp.Normal("u", 0, tau=2, dims="g")
        of, x = gp.Index("of", OF, of="g", dims="n"), data("x", X[:, 1], "n")
        gp.Normal("y", level + x * slope + u[of], tau=tau, dims="n", observed=MEASURED)
    sampler = gp.compile(m, interweave=False)

    assert without(sampler) == ("tau", "level")
    assert {frozenset(s.variables) for s in sampler.schedule.steps} == {
        frozenset(("tau",)), frozenset(("level", "slope", "u")),
    }  # fmt: skip
    assert sampler.verify().proved


@pytest.mark.parametrize("scan", ["random", "symmetric"])
def test_a_scan_of_units_keeps_a_scale_and_its_location_together(scan):
    sampler = gp.compile(components(), scan=scan)
    units = [{sampler.schedule.steps[j].name for j in u} for u in sampler.schedule.units]

    assert {"tau", "mu"} in units
    assert sampler.verify().proved


def test_names_that_are_asked_for_are_collapsed_so():
    for model, (_, names) in CASES.items():
        if model not in (components, factors, *SLOW):
            assert without(gp.compile(model(), collapse=names.split())) == CASES[model]


# ---- planted bugs ----------------------------------------------------------------------------


def with_location(monkeypatch, change):
    true = locations._location
    monkeypatch.setattr(locations, "_location", lambda *given: change(true(*given)))


def no_normaliser(monkeypatch):
    """Half an observation is not taken off."""
    with_location(monkeypatch, lambda found: replace(found, normaliser=sp.S.Zero))


def another_mean(monkeypatch):
    with_location(monkeypatch, lambda found: replace(found, mean=2 * found.mean))


def a_term_forgotten(monkeypatch):
    true = locations._at
    monkeypatch.setattr(
        locations, "_at", lambda e, m: sp.S.Zero if "y[" in str(e) else true(e, m)
    )


PLANTED = (no_normaliser, another_mean, a_term_forgotten)


@pytest.mark.parametrize("model", [one_sample, vectors], ids=lambda f: f.__name__)
@pytest.mark.parametrize("bug", PLANTED, ids=lambda f: f.__name__)
def test_planted_bugs_are_caught(bug, model, monkeypatch):
    with monkeypatch.context() as planted:
        bug(planted)
        sampler = gp.compile(model())

    assert without(sampler) == CASES[model]
    assert not sampler.verify().passed


def test_a_location_before_its_scale_is_refused():
    with pytest.raises(CompileError, match="mu: it is stale at the end of a sweep"):
        gp.compile(one_sample(), collapse=("mu",), order=("mu", "tau"))


def test_a_wrong_density_of_what_is_drawn_jointly_with_others_is_seen(monkeypatch):
    """The graph without it is no longer that of the model."""
    sampler = gp.compile(beside_a_group(), interweave=False)
    true = normalised.log_normal_of_some

    def planted(precision, away, some):
        return true(precision, away, np.ones_like(some))

    assert sampler.verify().proved
    monkeypatch.setattr(normalised, "log_normal_of_some", planted)
    assert not sampler.verify().passed


# ---- sweeps ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [level_and_slope, *(pytest.param(m, marks=pytest.mark.slow) for m in (vectors, components))],
    ids=lambda f: f.__name__,
)
def test_sweeps_keep_the_joint_distribution(model):
    sampler = compiled(model)
    rng = np.random.default_rng(2)

    found = geweke(
        rng, sampler.graph, sampler.data, sampler.program, replicates=200, level=1e-4
    )
    assert found.passed


def test_words_say_what_is_integrated_out():
    sampler = compiled(one_sample)

    assert "tau  Gamma   mu integrated out  eta = (4, " in str(sampler)
    assert "y with mu at the mean" in sampler.explain("tau")
