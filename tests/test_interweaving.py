"""Interweaving: locations and scales drawn once more with their groups standardised."""

import ast
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import sympy as sp
from scipy import stats
from updates_checked import failed

import gibbsppl as gp
from gibbsppl.algebra.expressions import Array
from gibbsppl.checks.geweke import geweke
from gibbsppl.code.program import load
from gibbsppl.code.source import write_numpy
from gibbsppl.errors import CompileError
from gibbsppl.families import FAMILIES
from gibbsppl.model.density import log_joint
from gibbsppl.model.evaluation import evaluate
from gibbsppl.model.forward import simulate
from gibbsppl.model.stand_ins import with_originals, with_stand_ins
from gibbsppl.output.diagnostics import ess_bulk, mcse_mean
from gibbsppl.planning import alternatives
from gibbsppl.planning.rules import RULES
from gibbsppl.rewrites.interweaving import FEW, MOST_READ
from gibbsppl.rewrites.recentring import is_recentrable, recentred
from gibbsppl.schedule.staleness import check_fresh
from models import bayesian_lasso, dyes, eight_schools, horseshoe, rats, seeds

LEVEL = 1e-3


def apart(model, **settings):
    """A sampler that draws locations and groups apart, unless it is told otherwise."""
    return gp.compile(model, **{"blocks": False, **settings})


Y = (0.3, -1.1, 0.7, 1.9)


# ---- models ----------------------------------------------------------------------------------


def groups(family=gp.Normal, scale="sigma", sees=gp.Normal, prior=None):
    """A group of any family with a location and a scale, seen with noise."""
    with gp.Model(coords={"g": 4}) as m:
        mu = gp.Normal("mu", 0, tau=1)
        sd = gp.Gamma("sd", 3, rate=2) if prior is None else prior("sd")
        more = {"nu": 5} if family is gp.StudentT else {}
        theta = family("theta", mu=mu, **{scale: sd}, **more, dims="g")
        sees("y", theta, 1, dims="g", observed=Y) if sees is gp.Cauchy else sees(
            "y", theta, tau=1, dims="g", observed=Y
        )
    return m


def through_an_index():
    """A group read through an index, with a scale for each of two kinds of its elements."""
    with gp.Model(coords={"i": 6, "g": 4, "kind": 2}) as m:
        of = gp.Index("of", [0, 1, 1, 2, 3, 3], of="g", dims="i")
        kind = gp.Index("kind_of", [0, 0, 1, 1], of="kind", dims="g")
        mu = gp.Normal("mu", 0, tau=1, dims="kind")
        tau = gp.Gamma("tau", 3, rate=2, dims="kind")
        theta = gp.Normal("theta", mu[kind], tau=tau[kind], dims="g")
        gp.Normal("y", theta[of], tau=1, dims="i", observed=[0.3, -1, 2, 0.1, 1, -0.4])
    return m


def nested():
    """A group whose elements are the locations of another group, of the same scale."""
    with gp.Model(coords={"g": 3, "h": 2}) as m:
        mu = gp.Normal("mu", 0, tau=1)
        sd = gp.Gamma("sd", 3, rate=2)
        a = gp.Normal("a", mu, sigma=sd, dims="g")
        b = gp.Normal("b", a, sigma=sd, dims=("g", "h"))
        gp.Normal("y", b, tau=1, dims=("g", "h"), observed=[[1, 0], [2, -1], [0, 1]])
    return m


def regression():
    """A group whose location is a regression, read in a sum."""
    with gp.Model(coords={"g": 4, "j": 2}) as m:
        x = gp.Data("x", [[1, 0.5], [1, -1], [1, 2], [1, 0.3]], dims=("g", "j"))
        b = gp.Normal("b", 0, tau=1, dims="j")
        sd = gp.Uniform("sd", 0, 3)
        theta = gp.Normal("theta", x @ b, sigma=sd, dims="g")
        gp.Normal("y", theta, tau=1, dims="g", observed=Y)
        gp.Normal("total", theta.sum("g"), tau=1, observed=1.0)
    return m


def counts():
    """A group in a rate: no closed form for anything but the location."""
    with gp.Model(coords={"g": 4}) as m:
        mu = gp.Normal("mu", 0, tau=1)
        tau = gp.Gamma("tau", 3, rate=2)
        theta = gp.Normal("theta", mu, tau=tau, dims="g")
        gp.Poisson("n", gp.exp(theta), dims="g", observed=[1, 0, 3, 2])
    return m


SMALL_SCHOOLS = {
    "effects": (1, 0, 3),
    "standard_errors": (1.5, 0.5, 1),
    "mean_precision": 0.5,
}
SCALE = {"shape": 3, "rate": 2}


def schools():
    return eight_schools.model(**SMALL_SCHOOLS, **SCALE)


def schools_of_uniform_sd():
    return eight_schools.model(**SMALL_SCHOOLS, sd_prior="uniform", sd_upper=3)


def plates():
    return seeds.model((1, 0, 2, 3), (2, 3, 2, 4), (0, 0, 1, 1), (0, 1, 0, 1), precision=1, **SCALE)


def batches():
    return dyes.model(np.ones((3, 2)), mean_precision=0.5, **SCALE)


MODELS = {
    "schools": (schools, ("mu", "tau")),
    "schools of uniform sd": (schools_of_uniform_sd, ("mu", "sd")),
    "Student-t": (lambda: groups(gp.StudentT), ("mu", "sd")),
    "Laplace": (lambda: groups(gp.Laplace, "scale"), ("mu", "sd")),
    "Cauchy": (lambda: groups(gp.Cauchy, "scale"), ("mu", "sd")),
    "through an index": (through_an_index, ("mu", "tau")),
    "nested": (nested, ("mu", "sd")),
    "regression": (regression, ("b", "sd")),
    "counts": (counts, ("mu", "tau")),
    "plates": (plates, ("tau",)),
    "batches": (batches, ("theta", "tau_between")),
}


@cache
def compiled(name):
    model, names = MODELS[name]
    return apart(model(), interweave=names)


# ---- facts of families -----------------------------------------------------------------------

LOCATION_SCALE = [n for n, row in FAMILIES.items() if row.location_scale is not None]


@pytest.mark.parametrize("name", LOCATION_SCALE)
def test_a_row_has_the_distribution_of_a_location_and_a_scale_times_its_standard_one(name):
    row = FAMILIES[name]
    values = dict(zip(row.parameters, map(sp.Rational, ("0.7", "1.3", "0.4")), strict=False))
    values |= {"mu": sp.Rational("0.3")} if "mu" in row.parameters else {}
    fact = row.location_scale
    location = values[fact.location] if fact.location else sp.S.Zero
    scale = fact.scale(**values)
    standard = values | fact.unit | ({fact.location: sp.S.Zero} if fact.location else {})
    x = Array("x", **({"real": True} if fact.location else {"positive": True}))[()]

    own = row.log_density(x, (), **values)
    of_standard = row.log_density((x - location) / scale, (), **standard) - sp.log(scale)
    for at in (0.2, 0.9, 3.7):
        found = [float(evaluate(e, (), {"x": at}, {})) for e in (own, of_standard)]
        assert found[0] == pytest.approx(found[1], rel=1e-12)


def test_families_of_real_values_and_of_positive_ones_are_among_them():
    assert {"Normal", "StudentT", "Laplace", "Gamma", "HalfCauchy"} <= set(LOCATION_SCALE)


# ---- the non-centred graph -------------------------------------------------------------------


@pytest.mark.parametrize("what", ["location", "scale"])
@pytest.mark.parametrize("name", MODELS)
def test_the_density_of_the_new_graph_is_the_old_one_times_the_jacobian(name, what):
    model = MODELS[name][0]()
    graph, rng = model.graph, np.random.default_rng(3)
    values = {**model.data, **simulate(rng, graph, model.data, observed=False)}
    for group in (s for s in graph.latent if is_recentrable(graph, s)):
        made = recentred(graph, group, "new", what)
        apart = with_stand_ins((made.stand_in,), values, graph.sizes)
        assert made.stand_in.of not in made.graph.variables
        back = with_originals((made.stand_in,), apart, graph.sizes)
        moved = {**apart, "new": apart["new"] + 1}
        other = with_originals((made.stand_in,), moved, graph.sizes)
        name_of = made.stand_in.of
        # (linear in the new array: its slope is a difference)
        slope = np.log(np.abs(other[name_of] - back[name_of])).sum()

        np.testing.assert_allclose(back[name_of], values[name_of], rtol=1e-12, atol=1e-12)
        found = log_joint(made.graph, apart)
        assert found == pytest.approx(log_joint(graph, values) + slope, rel=1e-9)


# ---- coefficients ----------------------------------------------------------------------------


def overdispersed(observe=None, offset=None, prior=None):
    """Counts with an effect of each beside a regression in it."""
    with gp.Model(coords={"i": 5}) as m:
        x = gp.Data("x", [-1.0, 0.5, 0.0, 2.0, 1.0], dims="i")
        a = gp.Normal("a", 0, tau=0.5)
        b = gp.Normal("b", 0, tau=1) if prior is None else prior("b")
        tau = gp.Gamma("tau", 3, rate=2)
        e = gp.Normal("e", offset or 0, tau=tau, dims="i")
        eta = a + b * x + e
        if observe is None:
            gp.Poisson("y", gp.exp(eta), dims="i", observed=[0, 2, 1, 5, 3])
        else:
            observe(a, b, x, e, eta)
    return m


def effects_of_groups():
    """Effects of groups of counts, each read by several."""
    with gp.Model(coords={"i": 6, "g": 3}) as m:
        g = gp.Index("g_of", [0, 0, 1, 1, 2, 2], of="g", dims="i")
        x = gp.Data("x", [-1.0, 0.5, 0.0, 2.0, 1.0, 0.1], dims="i")
        a, b = gp.Normal("a", 0, tau=0.5), gp.Normal("b", 0, tau=1)
        e = gp.Normal("e", 0, tau=2, dims="g")
        gp.Poisson("y", gp.exp(a + b * x + e[g]), dims="i", observed=[0, 2, 1, 5, 3, 0])
    return m


def coefficients_of(model, exact=True, **settings):
    """The coefficients interwoven where so few elements are not proposed at once."""
    return [
        i.variable
        for i in gp.compile(model, exact=exact, **settings).schedule.interwoven.values()
        if i.what == "coefficients"
    ]


def test_coefficients_are_drawn_jointly_with_predictors_held_fixed():
    sampler = gp.compile(overdispersed(), exact=True)
    assert coefficients_of(overdispersed()) == ["a, b"]
    assert sampler.verify().proved
    text = " ".join(str(sampler).split())
    assert re.search(r"with e_sum = [abex +*]+ held fixed, e moving along", text)
    assert "a, b" in text.rpartition("moving along")[2]
    assert "before the draw  e_sum[i] = " in sampler.explain("a, b with e")


@pytest.mark.parametrize(
    ("observe", "found"),
    [
        # read twice in the same way
        (
            lambda a, b, x, e, eta: [
                gp.Poisson("y", gp.exp(eta), dims="i", observed=[0, 2, 1, 5, 3]),
                gp.Bernoulli("z", logit_p=eta, dims="i", observed=[0, 1, 1, 0, 1]),
            ],
            ["a, b"],
        ),
        # with terms that are data
        (
            lambda a, b, x, e, eta: gp.Poisson(
                "y", gp.exp(eta + x**2), dims="i", observed=[0, 2, 1, 5, 3]
            ),
            ["a, b"],
        ),
        # read in two ways, times a number, and where a coefficient is read elsewhere as well
        (
            lambda a, b, x, e, eta: [
                gp.Poisson("y", gp.exp(eta), dims="i", observed=[0, 2, 1, 5, 3]),
                gp.Poisson("z", gp.exp(a + e), dims="i", observed=[0, 1, 1, 0, 1]),
            ],
            [],
        ),
        (
            lambda a, b, x, e, eta: gp.Poisson(
                "y", gp.exp(a + b * x + 2 * e), dims="i", observed=[0, 2, 1, 5, 3]
            ),
            [],
        ),
        (
            lambda a, b, x, e, eta: [
                gp.Poisson("y", gp.exp(eta), dims="i", observed=[0, 2, 1, 5, 3]),
                gp.Poisson("z", gp.exp(a), observed=3),
            ],
            ["b"],
        ),
        # a normal response: all is one joint draw
        (
            lambda a, b, x, e, eta: gp.Normal("y", eta, tau=1, dims="i", observed=(*Y, 0.5)),
            [],
        ),
    ],
)
def test_predictors_are_those_that_all_readers_share(observe, found):
    model = overdispersed(observe)
    assert coefficients_of(model) == found
    assert gp.compile(model).verify().proved


def test_coefficients_whose_priors_are_not_normal_are_left_alone():
    assert coefficients_of(overdispersed(prior=lambda n: gp.Laplace(n, 0, rate=1))) == ["a"]
    assert coefficients_of(overdispersed(prior=lambda n: gp.Normal(n, 0, tau=1, lower=0))) == ["a"]


def test_effects_that_are_read_through_an_index_are_left_alone():
    assert coefficients_of(effects_of_groups()) == []
    assert gp.compile(effects_of_groups()).verify().proved


def test_coefficients_are_asked_for_and_left_out_by_any_of_their_names():
    assert coefficients_of(overdispersed(), interweave=["b"]) == ["a, b"]
    assert coefficients_of(overdispersed(), exact=False, interweave=["tau"]) == []
    assert coefficients_of(overdispersed(), interweave=False) == []


def test_a_wrong_predictor_is_found():
    sampler = gp.compile(overdispersed(), exact=True)
    wrong, count = re.subn(
        r"(def e_of_e_sum(?:.*\n){3,6}?    return .*)", r"\1 + a", sampler.source
    )
    assert count == 1
    assert "a, b with e, e moved" in failed(sampler, wrong)


def test_coefficients_of_many_variables_are_nearly_independent_of_their_start():
    """One draw after the other holds them fast: a slope and an intercept far from the mean of x."""
    with gp.Model(coords={"i": 12}) as model:
        x = gp.Data("x", np.linspace(20, 30, 12), dims="i")
        a, b = gp.Normal("a", 0, sigma=100), gp.Normal("b", 0, sigma=100)
        e = gp.Normal("e", 0, tau=10, dims="i")
        y = np.random.default_rng(1).poisson(np.exp(0.15 * np.linspace(20, 30, 12)))
        gp.Poisson("y", gp.exp(a + b * x + e), dims="i", observed=y)
    settings = {"draws": 500, "chains": 2, "seed": 1, "progress": False}
    sizes = {
        how: float(ess_bulk(gp.compile(model, interweave=how, exact=True).sample(**settings)["b"]))
        for how in (True, False)
    }
    assert sizes[True] > 10 * sizes[False]


# ---- exactness -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_each_step_has_the_joint_density_with_the_jacobian(name):
    sampler = compiled(name)
    found = sampler.verify()

    assert set(MODELS[name][1]) == {i.variable for i in sampler.schedule.interwoven.values()}
    assert found.passed, f"\n{found}"
    moved = [r for r in found.rows if r.kind == "interwoven"]
    assert len(moved) == len(sampler.schedule.interwoven)


MOVED = {"mu_with_theta, theta moved", "tau_with_theta, theta moved"}
BUGS = {
    "the group is not put back": (r' {4}s\["theta"\] = theta_of.*\n', "", MOVED),
    "eta is not held fixed": (
        r'( {4}s\["log_tau"\] = runtime(?:.*\n){2})',
        r"\1    s['theta_eta'] = theta_eta_of_theta(s, c)\n",
        MOVED,
    ),
    "the scale is not put back": (r' {4}s\["tau"\] = tau_of.*\n', "", MOVED),
    "another scale": (r"mu \+ theta_eta / sqrt\(tau\)", "mu + theta_eta * sqrt(tau)", MOVED),
    "another location": (
        r"return sqrt\(tau\) \* \(theta - mu\)",
        "return sqrt(tau) * theta",
        MOVED,
    ),
    "something is left in the state": (r' {4}del s\["theta_eta"\]\n', "", MOVED),
    "the Jacobian of the logarithm is forgotten": (
        r"eta_(\d) = 3  # from tau_with_theta",
        r"eta_\1 = 2",
        {"tau_with_theta", "tau_with_theta, theta moved"},
    ),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_found(bug):
    pattern, wrong, steps = BUGS[bug]
    sampler = compiled("schools")
    source, count = re.subn(pattern, wrong, sampler.source)
    assert count == 1, sampler.source
    assert failed(sampler) == set()

    assert failed(sampler, source) == steps


def test_a_jacobian_that_is_forgotten_is_found_though_the_graph_agrees(monkeypatch):
    """A standard array of another precision: conditional and new graph agree, and are wrong."""
    fact = FAMILIES["Normal"].location_scale

    def kept(graph, statement, name, what):
        made = recentred(graph, statement, name, what)
        own = made.graph.statement(name)
        tau = dict(statement.arguments)["tau"]
        wrong = replace(own, arguments=(("mu", sp.S.Zero), ("tau", tau)))
        others = tuple(wrong if s is own else s for s in made.graph.statements)
        return replace(made, graph=replace(made.graph, statements=others))

    assert fact.unit == {"tau": 1}
    monkeypatch.setattr("gibbsppl.rewrites.interweaving.recentred", kept)
    sampler = apart(schools(), interweave="tau")

    assert failed(sampler) == {"tau_with_theta, theta moved"}


# ---- sweeps ----------------------------------------------------------------------------------

QUICK_REPLICATES, REPLICATES = 200, 1500


def joint(name, source=None, replicates=QUICK_REPLICATES):
    sampler = compiled(name)
    return geweke(
        np.random.default_rng(list(name.encode())),
        sampler.graph,
        sampler.data,
        load(source) if source else sampler.program,
        replicates=replicates,
        sweeps=3,
        level=LEVEL / len(MODELS),
    )


@pytest.mark.parametrize("name", ["schools of uniform sd"])
def test_few_replicates_are_as_they_were(name):
    found = joint(name)

    assert found.passed, f"\n{found}"


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_sweeps_leave_the_joint_distribution_as_it_is(name):
    found = joint(name, replicates=REPLICATES)

    assert found.passed, f"\n{found}"


SPOILT = {
    "schools": (r' {4}s\["theta"\] = theta_of.*\n', ""),
    "schools of uniform sd": (r"return \(theta - mu\) / sd", "return (theta - mu) / (1 + sd)"),
    "counts": (r' {4}s\["tau"\] = tau_of.*\n', r"    s['tau'] = 1.1 * tau_of_log_tau(s, c)\n"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SPOILT)
def test_the_joint_distribution_finds_a_planted_bug(name):
    source, count = re.subn(*SPOILT[name], compiled(name).source)
    assert count == 1, source

    assert not joint(name, source, replicates=REPLICATES).passed


def test_few_replicates_find_a_scale_that_is_half_too_large():
    source = compiled("schools").source
    wrong = re.sub(r"return exp\(log_tau\)", "return 1.5 * exp(log_tau)", source)

    assert not joint("schools", wrong).passed


def test_the_posterior_is_that_of_the_reference():
    sampler = apart(eight_schools.model())
    draws = sampler.sample(draws=4000, warmup=500, chains=2, seed=1, progress=False)
    found = eight_schools.quantities(draws)
    far = stats.norm.isf(LEVEL / len(found) / 2)
    for name, values in found.items():
        z = (float(values.mean()) - eight_schools.REFERENCE[name][0]) / float(mcse_mean(values))
        assert abs(z) < far, name


# ---- the plan --------------------------------------------------------------------------------


def variables(model, **settings):
    return [i.variable for i in apart(model, **settings).schedule.interwoven.values()]


def test_groups_that_are_seldom_read_are_interwoven():
    assert variables(eight_schools.model()) == ["mu", "tau"]
    assert variables(seeds.model()) == ["tau", "alpha"]


def test_scales_of_few_elements_are_interwoven_however_often_these_are_read():
    def few(elements):
        return dyes.model(np.zeros((elements, 2 * MOST_READ)), mean_precision=1, **SCALE)

    assert variables(few(FEW)) == ["theta", "tau_between"]
    assert variables(few(FEW + 1)) == []


def test_groups_that_are_often_read_are_not():
    assert variables(rats.model()) == []
    assert [i.group for i in apart(horseshoe.model()).schedule.interwoven.values()] == ["local"]


def test_the_number_of_times_that_a_group_is_read_decides():
    def seen(times):
        return dyes.model(np.zeros((FEW + 1, times)), mean_precision=1, **SCALE)

    assert variables(seen(MOST_READ)) == ["theta", "tau_between"]
    assert variables(seen(MOST_READ + 1)) == []
    assert variables(seen(MOST_READ + 1), interweave=["tau_between"]) == ["tau_between"]


def outcomes(times, *, informative):
    """Effects of 12 groups, of which outcomes of two say little, and measurements say much."""
    rng = np.random.default_rng(0)
    effect = rng.normal(0, 0.3, 12)
    with gp.Model(coords={"group": 12}) as model:
        spread = gp.HalfNormal("spread", sigma=1)
        theta = gp.Normal("theta", 0, sigma=spread, dims="group")
        if informative:
            y = effect[:, None] + rng.normal(0, 0.3, (12, times))
            gp.Normal("y", theta, sigma=0.3, dims=("group", "time"), observed=y)
        else:
            y = rng.random((12, times)) < 1 / (1 + np.exp(-effect[:, None]))
            p = gp.expit(theta)
            gp.Bernoulli("y", p, dims=("group", "time"), observed=y.astype(int))
    return model


def test_scales_that_theory_finds_slow_are_drawn_once_more(monkeypatch):
    """Planted: the number of readers alone decides."""
    often = 2 * MOST_READ
    slow = gp.compile(outcomes(often, informative=False))
    (choice,) = (c for c in slow.schedule.choices if c.made.what == "interwoven")

    assert choice.variables == ("spread", "theta")
    assert choice.made.settings["interweave"] == ("spread",)
    assert gp.compile(outcomes(often, informative=True)).schedule.interwoven == {}
    monkeypatch.setattr(alternatives, "often_read", lambda model: ())
    assert gp.compile(outcomes(often, informative=False)).schedule.interwoven == {}


@pytest.mark.slow
def test_slow_scales_gain_what_theory_says():
    model = outcomes(2 * MOST_READ, informative=False)
    ess = []
    for interweave in (True, False):
        sampler = gp.compile(model, interweave=interweave)
        draws = sampler.sample(20_000, seed=1, keep=["spread"], progress=False)
        ess.append(draws.summary()["spread"]["ess_bulk"])
    assert ess[0] > RULES["least gain"].value * ess[1]


def test_a_sum_reads_each_of_its_elements(monkeypatch):
    """By the number alone; of 11 coefficients of 5 values theory says that their scale is slow."""
    with gp.Model(coords={"i": MOST_READ + 1, "j": FEW + 1}) as m:
        x = gp.Data("x", np.ones((MOST_READ + 1, FEW + 1)), dims=("i", "j"))
        tau = gp.Gamma("tau", 3, rate=2)
        b = gp.Normal("b", 0, tau=tau, dims="j")
        gp.Normal("y", x @ b, tau=1, dims="i", observed=np.zeros(MOST_READ + 1))

    assert variables(m) == ["tau"]
    monkeypatch.setattr(alternatives, "often_read", lambda model: ())
    assert variables(m) == []


def test_it_can_be_switched_off_or_asked_for():
    model = eight_schools.model()

    assert variables(model, interweave=False) == []
    assert variables(model, interweave="tau") == ["tau"]
    assert variables(horseshoe.model(), interweave=["overall"]) == ["overall"]
    assert variables(bayesian_lasso.model(), interweave=["penalty"]) == ["penalty"]


@pytest.mark.parametrize("model", [horseshoe, bayesian_lasso])
def test_what_is_asked_for_in_a_regression_is_right(model):
    name = {"horseshoe": "overall", "bayesian_lasso": "penalty"}[model.__name__.split(".")[-1]]

    assert apart(model.model(), interweave=name).verify().proved


def test_an_exact_sampler_has_no_slices():
    sampler = apart(eight_schools.model(), exact=True)

    assert [i.variable for i in sampler.schedule.interwoven.values()] == ["mu"]


def test_what_cannot_be_interwoven_is_refused_by_name():
    model = eight_schools.model()
    with pytest.raises(CompileError, match=r"^interweave: found 'taus', expected latent variables"):
        apart(model, interweave="taus")
    with pytest.raises(CompileError, match=r"^interweave: theta is no location or scale of"):
        apart(model, interweave="theta")
    with pytest.raises(CompileError, match=r"^interweave: found 3, expected names"):
        apart(model, interweave=3)


def test_a_truncated_group_is_left_alone():
    with gp.Model(coords={"g": 4}) as m:
        tau = gp.Gamma("tau", 3, rate=2)
        theta = gp.Normal("theta", 0, tau=tau, dims="g", lower=-1)
        gp.Normal("y", theta, tau=1, dims="g", observed=Y)

    assert variables(m) == []


def test_a_group_with_missing_elements_is_left_alone():
    with gp.Model(coords={"g": 4}) as m:
        tau = gp.Gamma("tau", 3, rate=2)
        gp.Normal("y", 0, tau=tau, dims="g", observed=[1, 9, 0.5, 2], missing=9)

    assert variables(m) == []


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        (
            {"interweave": "mu", "blocks": {("mu", "theta"): "together"}},
            "it is drawn jointly with theta",
        ),
        ({"interweave": "tau", "kernels": {"theta": gp.Slice()}}, "kernels= says how theta is dr"),
        ({"interweave": "tau", "exact": True}, "it would be moved, which exact=True forbids"),
    ],
)
def test_what_is_asked_for_and_left_out_is_refused_with_the_reason(settings, why):
    name = settings["interweave"]
    message = rf"^interweave: found '{name}', .* with theta moving along: {why}"
    with pytest.raises(CompileError, match=message):
        gp.compile(eight_schools.model(), **settings)


# ---- a part of the steps ---------------------------------------------------------------------


@pytest.mark.parametrize("name", ["mu", "tau", "theta", "tau_with_theta"])
def test_the_kernel_of_one_step_is_checked_alone(name):
    assert compiled("schools").check_kernel(name, replicates=100, seed=1).passed


def test_a_second_draw_that_is_wrong_is_found_by_the_check_of_its_variable(monkeypatch):
    functions = {"tau": lambda values: float(values["tau"])}
    settings = {"replicates": 400, "sweeps": 8, "seed": 1, "functions": functions}
    assert compiled("schools").check_kernel("tau", **settings).passed

    def spoilt(schedule):
        return re.sub(r"return exp\(log_tau\)", "return 1.5 * exp(log_tau)", write_numpy(schedule))

    monkeypatch.setattr("gibbsppl.checks.one_step.write_numpy", spoilt)
    assert not compiled("schools").check_kernel("tau", **settings).passed


def steps(model, **settings):
    return [s.name for s in apart(model, **settings).schedule.steps]


def test_the_name_of_a_variable_stands_for_its_steps_that_are_not_named_themselves():
    model = eight_schools.model()

    assert steps(model, order="tau") == ["tau", "tau_with_theta", "theta", "mu", "mu_with_theta"]
    for order in (("tau_with_theta", "theta", "tau"), ("tau", "theta", "tau_with_theta")):
        assert steps(model, order=order) == [*order, "mu", "mu_with_theta"]
    with pytest.raises(CompileError, match=r"^order: 'tau' is named twice \(the second time"):
        apart(model, order=("tau", "tau_with_theta", "tau"))


@pytest.mark.parametrize(
    "order", [("tau", "mu"), ("mu_with_theta", "theta", "tau_with_theta", "mu", "tau")]
)
def test_interwoven_steps_are_right_wherever_they_stand(order):
    sampler = apart(schools(), interweave=("mu", "tau"), order=order)

    assert sampler.verify().proved


# ---- staleness -------------------------------------------------------------------------------


def test_a_step_that_moves_a_stale_group_is_refused():
    """The group drawn after the step that moves it along, its scale drawn without it before."""
    sampler = compiled("plates")
    schedule = sampler.schedule
    check_fresh(schedule)
    step = schedule.step("tau_with_effect")
    omega = schedule.graphs[-1]
    # In the graph with the auxiliary variables these are not stale, and so may be read.
    assert step.variables != schedule.changed_by(step)
    assert schedule.changed_by(step) == ("tau", "effect")
    assert "germinated_omega" in omega.variables
    late = replace(
        schedule,
        steps=(*schedule.steps[1:], step),
        graphs=(*schedule.graphs[1:], schedule.graph_of(step)),
    )
    with pytest.raises(CompileError, match=r"^germinated_omega: it is stale at the end of a sweep"):
        check_fresh(late)


# ---- what users see --------------------------------------------------------------------------


def test_the_schedule_shows_what_is_held_fixed():
    text = str(apart(eight_schools.model(sd_prior="uniform")))

    assert text.splitlines()[0].endswith("3 steps, all exact, and 2 interwoven")
    assert "  interwoven, with theta_eta = (theta - mu)/sd held fixed, theta moving along:" in text


def test_what_comes_after_interwoven_steps_is_told_apart_from_them():
    lines = str(apart(eight_schools.model(), order="mu_with_theta")).splitlines()
    heads = [n for n, line in enumerate(lines) if line.endswith(":")]

    assert lines[heads[0]].startswith("  interwoven, with theta_eta")
    assert lines[heads[1]] == "  with nothing held fixed:"
    assert lines[heads[2]] == lines[heads[0]]
    assert len(heads) == 3


def test_both_derivations_are_explained():
    text = apart(eight_schools.model()).explain("tau")

    assert "tau | rest: Gamma\n" in text
    assert "tau | rest: slice of log(tau), interwoven\n" in text
    assert "theta[school] = mu + theta_eta[school]/sqrt(tau)" in text
    assert text.count("def draw_mu_tau_with_theta") == 1


def test_draws_have_the_variables_of_the_model_alone():
    draws = compiled("schools").sample(draws=20, warmup=10, chains=1, seed=1, progress=False)

    assert set(draws) == {"theta", "mu", "tau", "sd"}


def test_a_comparison_tries_the_sampler_without():
    found = compiled("schools").compare(draws=50, warmup=10)

    assert "without interweaving" in {v.name for v in found.variants}


# ---- names -------------------------------------------------------------------------------------


def by_lines(*, both):
    """A group whose precisions are two statements of one array, or one of them is of the noise."""
    with gp.Model(coords={"i": 6, "j": 2}) as m:
        by = gp.Data("by", [0, 1, 0, 1, 1, 0], dims="i")
        tau = gp.Array("tau", dims="j")
        tau[0] = gp.Gamma(2, rate=1)
        tau[1] = gp.Gamma(3, rate=1)
        mu = gp.Normal("mu", 0, tau=0.1)
        own = gp.where(by, tau[0], tau[1]) if both else tau[1]
        d = gp.Normal("d", 0, tau=own, dims="i")
        gp.Normal("y", mu + d, tau=1 if both else tau[0], dims="i", observed=np.arange(6.0))
    return m


def defined(source):
    """The names of the functions and of the tables of a module, once for each time."""
    tree = ast.parse(source)
    return [n.name for n in tree.body if isinstance(n, ast.FunctionDef)] + [
        t.id for n in tree.body if isinstance(n, ast.Assign) for t in n.targets
    ]


@pytest.mark.parametrize("both", [False, True])
def test_precisions_given_line_by_line_have_functions_of_their_own(both):
    sampler = gp.compile(by_lines(both=both), interweave=["tau"])

    names = defined(sampler.source)
    assert sorted(set(names)) == sorted(names)
    assert sampler.verify().proved
    again = [s.name for s in sampler.schedule.steps if s.name in sampler.schedule.interwoven]
    assert len(again) == (2 if both else 1)
    draws = sampler.sample(20, warmup=20, chains=1, seed=1, progress=False)
    assert np.isfinite(draws["tau"]).all()


def test_functions_of_steps_have_names_that_no_variable_has():
    """Variables have the names of functions that are written for others."""
    with gp.Model(coords={"i": 6}) as m:
        tau = gp.Gamma("tau", 2, rate=1)
        d = gp.Normal("d", 0, tau=tau, dims="i")
        mean = d
        for name in ("draw_tau_with_d", "d_eta_of_d", "d_of_d_eta", "tau_with_d_given_rest"):
            mean = mean + gp.Normal(name, 0, tau=1)
        gp.Normal("y", mean, tau=1, dims="i", observed=np.arange(6.0))
    sampler = gp.compile(m, interweave=["tau"], blocks=False)

    assert sampler.schedule.interwoven
    names = defined(sampler.source)
    assert sorted(set(names)) == sorted(names)
    assert not set(names) & set(m.graph.drawn)
    assert sampler.verify().proved


def test_a_group_of_which_some_elements_are_not_read_is_not_shifted_by_the_terms_of_the_others():
    text = """model {
      for (t in 1:3) { u[t] ~ dnorm(0, tau) }
      tau ~ dgamma(2, 1)
      b ~ dnorm(0, 1)
      for (k in 1:2) { y[k] ~ dpois(exp(b * x[k] + u[k])) }
    }"""
    sampler = gp.compile(gp.read_bugs(text, {"x": [0.9, 2.6], "y": [1, 3]}))

    assert set(sampler.schedule.interwoven) == {"tau_with_u"}
    assert sampler.verify().proved
    sampler.sample(draws=5, warmup=5, seed=1, progress=False)


# ---- in place of a joint draw --------------------------------------------------------------------


def one_way(**more):
    with gp.Model(coords={"j": 6}, name="one way") as model:
        mu = gp.Normal("mu", 0, sigma=10)
        tau = gp.Gamma("tau", 2, rate=1)
        theta = gp.Normal("theta", mu, tau=tau, dims="j")
        gp.Normal("y", theta, sigma=1, dims="j", observed=[1.0, 0.2, -0.4, 2.0, 0.3, 1.1])
    return gp.compile(model, **more)


def test_a_location_that_is_interwoven_is_not_drawn_jointly_with_its_group():
    apart, joint = one_way(), one_way(interweave=False)

    assert {s.name for s in apart.schedule.steps} >= {"theta", "mu", "mu_with_theta"}
    assert not any(s.is_joint for s in apart.schedule.steps)
    assert [s.variables for s in joint.schedule.steps if s.is_joint] == [("theta", "mu")]
    asked = one_way(blocks={("mu", "theta"): "together"})
    assert apart.costs().operations < asked.costs().operations
    assert apart.verify().passed


def test_a_location_with_more_than_its_group_is_drawn_jointly_all_the_same():
    with gp.Model(coords={"j": 6}, name="slope besides") as model:
        mu, slope = gp.Normal("mu", 0, sigma=10), gp.Normal("slope", 0, sigma=10)
        theta = gp.Normal("theta", mu, tau=gp.Gamma("tau", 2, rate=1), dims="j")
        x = gp.Data("x", [1.0, 1.1, 0.8, 1.3, 0.9, 1.0], dims="j")
        gp.Normal("y", theta + slope * x, sigma=1, dims="j", observed=[1.0, 0.2, -0.4, 2.0, 0.3, 1])

    joint = [set(s.variables) for s in gp.compile(model).schedule.steps if s.is_joint]
    assert joint == [{"theta", "mu", "slope"}]
