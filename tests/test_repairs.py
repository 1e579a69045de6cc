"""Why there is no closed form, and what would give it one: every repair is compiled and proved."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
import sympy as sp
from forms import form_named
from forms.form import codes, counts, numbers

import gibbsppl as gp
from gibbsppl.algebra.expressions import Array
from gibbsppl.algebra.supports import POSITIVE, REAL, UNIT
from gibbsppl.checks.verification import verify
from gibbsppl.code.program import load
from gibbsppl.code.source import write_numpy
from gibbsppl.explain import repairs as search
from gibbsppl.explain.repairs import repairs
from gibbsppl.explain.rescaling import rescaled, scale_of
from gibbsppl.model.density import log_terms
from gibbsppl.planning import plan

NONE_FOUND = "no repair was found (tried: another prior"


def doubly_truncated_child():
    with gp.Model() as m:
        mu = gp.Normal("mu", 0, tau=0.1)
        gp.Normal("y", mu, tau=1, lower=-1, upper=2, observed=0.3)
    return m


def coefficients_with_heavy_tails():
    with gp.Model(coords={"n": 8, "p": 2}) as m:
        X = gp.Data("X", numbers(8, 2), dims=("n", "p"))
        beta = gp.StudentT("beta", 4, 0, sigma=1, dims="p")
        gp.Normal("y", X @ beta, tau=2, dims="n", observed=numbers(8, seed=4))
    return m


def coin_with_another_prior():
    with gp.Model() as m:
        p = gp.Kumaraswamy("p", 2, 3)
        gp.Binomial("x", 10, p, observed=7)
    return m


def coin_with_a_truncated_normal_prior():
    with gp.Model() as m:
        p = gp.Normal("p", 0.5, sigma=0.2, lower=0, upper=1)
        gp.Binomial("x", 10, p, observed=7)
    return m


def scale_and_rate_in_one():
    with gp.Model(coords={"n": 5}) as m:
        lam = gp.Uniform("lam", 0, 10)
        gp.Poisson("counted", rate=lam, dims="n", observed=counts(3, 5))
        gp.Normal("measured", 0, sigma=lam, dims="n", observed=numbers(5))
    return m


def positive_count_with_a_binomial_child():
    with gp.Model() as m:
        k = gp.Poisson("k", rate=4, lower=1)
        gp.Binomial("y", k, 0.5, observed=0)
    return m


def rate_with_a_weibull_prior():
    with gp.Model(coords={"n": 5}) as m:
        rate = gp.Weibull("rate", 3, rate=1)
        gp.Poisson("y", rate=rate, dims="n", observed=counts(3, 5))
    return m


def precision_with_an_inverse_wishart_prior():
    with gp.Model(coords={"n": 6, "k": 2}) as m:
        mean = gp.Data("mean", np.zeros(2), dims="k")
        S = gp.Data("S", np.eye(2), dims=("k", "k'"))
        tau = gp.InverseWishart("tau", 4, S=S, dims=("k", "k'"))
        gp.MvNormal("y", mean, tau=tau, dims=("n", "k"), event="k", observed=numbers(6, 2))
    return m


def scales_of_groups():
    with gp.Model(coords={"n": 12, "g": 3}) as m:
        group = gp.Index("group", codes(12, 3), of="g", dims="n")
        mu = gp.Normal("mu", 0, tau=1)
        sd = gp.HalfStudentT("sd", 3, scale=2, dims="g")
        gp.Normal("y", mu, sigma=sd[group], dims="n", observed=numbers(12))
    return m


def shape_that_is_also_the_rate():
    with gp.Model(coords={"n": 5}) as m:
        a = gp.Gamma("a", 2, rate=1)
        gp.Gamma("y", a, rate=a, dims="n", observed=numbers(5) ** 2 + 0.1)
    return m


def means_with_heavy_tails():
    with gp.Model(coords={"g": 4, "n": 3}) as m:
        mu = gp.Normal("mu", 0, tau=0.1)
        precision = gp.Gamma("precision", 2, rate=1)
        theta = gp.StudentT("theta", 4, mu, tau=precision, dims="g")
        gp.Normal("y", theta, tau=1, dims=("g", "n"), observed=numbers(4, 3))
    return m


def rates_with_log_normal_priors():
    with gp.Model(coords={"g": 4}) as m:
        top = gp.Flat("top")
        mu = gp.Normal("mu", top, tau=1)
        rate = gp.LogNormal("rate", mu, sigma=1, dims="g")
        gp.Deterministic("typical", gp.exp(mu))
        gp.Poisson("y", rate=rate, dims="g", observed=counts(3, 4))
    return m


def scales_with_an_unknown_rate():
    with gp.Model(coords={"g": 4}) as m:
        rate = gp.Gamma("rate", 2, rate=1)
        sd = gp.Exponential("sd", rate=rate, dims="g")
        gp.Normal("y", 0, sigma=sd, dims="g", observed=numbers(4))
    return m


def pulled_to_a_point():
    with gp.Model() as m:
        x = gp.Logistic("x", 0, scale=1)
        gp.Potential("pull", -3 * gp.abs(x - 2))
    return m


def location_of_one_value():
    with gp.Model() as m:
        mu = gp.Logistic("mu", 0, scale=1)
        gp.Laplace("y", mu, rate=3, observed=2.0)
    return m


def form(name):
    return form_named(name).build


@dataclass(frozen=True, slots=True)
class Case:
    """A model, the variable without a closed form, and what must be said of it."""

    build: Callable[[], gp.Model]
    name: str
    said: tuple[str, ...]
    repaired: tuple[str, ...] = ()

    @property
    def sampler(self):
        return gp.compile(self.build(), rewrites=False)


def written(what, *lines):
    """The text of a repair: what to do, and the lines to write."""
    return "\n  ".join((what, *lines))


CASES = (
    Case(
        form("half_cauchy_sd"),
        "sd",
        ("nearest family: Gamma of 1/sd**2, were it not for log(sd**2 + 4) (from sd)",),
        (
            written(
                "give sd a HalfNormal prior (then GeneralizedInverseGaussian of 1/sd**2)",
                'sd = gp.HalfNormal("sd", tau=...)',
            ),
            written(
                "declare 1/sd**2 as the variable (then Gamma)",
                'tau = gp.Gamma("tau", shape=..., rate=...)',
                "sd = 1/gp.sqrt(tau)",
            ),
        ),
    ),
    Case(
        scales_of_groups,
        "sd",
        ("nearest family: Gamma of 1/sd[g]**2, were it not for",),
        (
            written(
                "give sd a HalfNormal prior (then GeneralizedInverseGaussian of 1/sd[g]**2)",
                'sd = gp.HalfNormal("sd", tau=..., dims="g")',
            ),
            written(
                "declare 1/sd[g]**2 as the variable (then Gamma)",
                'tau = gp.Gamma("tau", shape=..., rate=..., dims="g")',
                "sd = 1/gp.sqrt(tau)",
            ),
        ),
    ),
    Case(
        form("log_normal_prior_of_a_rate"),
        "rate",
        ("nearest family: LogNormal, were it not for rate (from x)",),
        (
            written(
                "give rate a Gamma prior (then Gamma)",
                'rate = gp.Gamma("rate", shape=..., rate=...)',
            ),
        ),
    ),
    Case(
        form("negative_binomial_with_a_mean"),
        "mean",
        ("nearest family: Gamma, were it not for log(mean + 3) (from b)",),
        (
            written(
                "declare 3/(mean + 3) as the variable (then Beta)",
                'p = gp.Beta("p", a=..., b=...)',
                "mean = 3/p - 3",
            ),
            written(
                "declare mean/3 as the variable (then BetaPrime)",
                'u_mean = gp.BetaPrime("u_mean", a=..., b=...)',
                "mean = 3*u_mean",
            ),
        ),
    ),
    Case(
        form("truncated_child"),
        "mu",
        ("nearest family: Normal, were it not for log(Phi(mu)) (from x)",),
        ("without lower= of x (then Normal)",),
    ),
    Case(
        doubly_truncated_child,
        "mu",
        ("nearest family: Normal, were it not for",),
        ("without lower= and upper= of y (then Normal)",),
    ),
    Case(
        form("precision_that_scales_the_mean"),
        "tau",
        ("nearest family: ModifiedHalfNormal, were it not for tau**3 (from y)",),
        (
            "if mu of y did not depend on tau (then Gamma)",
            "if tau of y did not depend on tau (then ModifiedHalfNormal)",
        ),
    ),
    Case(
        shape_that_is_also_the_rate,
        "a",
        ("(from y)",),
        ("if shape of y did not depend on a (then Gamma)",),
    ),
    Case(
        form("logistic_intercepts"),
        "a",
        ("nearest family: Normal, were it not for log(1 + exp(a[g])) (from y)",),
        (
            written(
                "declare expit(a[g]) as the variable (then Beta)",
                'p = gp.Beta("p", a=..., b=..., dims="g")',
                "a = gp.log(p/(1 - p))",
            ),
            written(
                "declare exp(a[g]) as the variable (then BetaPrime)",
                'u_a = gp.BetaPrime("u_a", a=..., b=..., dims="g")',
                "a = gp.log(u_a)",
            ),
        ),
    ),
    Case(
        form("poisson_regression"),
        "a",
        ("nearest family: Normal, were it not for exp(a) (from y)",),
        (
            written(
                "declare exp(a) as the variable (then Gamma)",
                'u_a = gp.Gamma("u_a", shape=..., rate=...)',
                "a = gp.log(u_a)",
            ),
        ),
    ),
    Case(
        coefficients_with_heavy_tails,
        "beta",
        ("nearest family: Normal, were it not for",),
        (
            written(
                "give beta a Normal prior (then MvNormal)",
                'beta = gp.Normal("beta", mu=..., tau=..., dims="p")',
            ),
        ),
    ),
    Case(
        form("regions_of_three_families"),
        "x[1:3]",
        ("nearest family: Normal, were it not for log(x[t]**2 + 4) (from x[1:3])",),
        (
            written(
                "give x[1:3] a Normal prior (then Normal)",
                "x[1:3] = gp.Normal(mu=..., tau=...)",
            ),
        ),
    ),
    Case(
        coin_with_another_prior,
        "p",
        ("nearest family: Beta, were it not for",),
        (written("give p a Beta prior (then Beta)", 'p = gp.Beta("p", a=..., b=...)'),),
    ),
    Case(
        coin_with_a_truncated_normal_prior,
        "p",
        ("were it not for",),
        (written("give p a Beta prior (then Beta)", 'p = gp.Beta("p", a=..., b=...)'),),
    ),
    Case(
        positive_count_with_a_binomial_child,
        "k",
        ("no family on {1..oo}",),
        ("without lower= of k (then Poisson of k - y)",),
    ),
    Case(
        rate_with_a_weibull_prior,
        "rate",
        ("were it not for",),
        (
            written(
                "give rate a Gamma prior (then Gamma)",
                'rate = gp.Gamma("rate", shape=..., rate=...)',
            ),
        ),
    ),
    Case(
        precision_with_an_inverse_wishart_prior,
        "tau",
        (),
        (
            written(
                "give tau a Wishart prior (then Wishart)",
                'tau = gp.Wishart("tau", nu=..., V=..., dims=("k", "k\'"))',
            ),
        ),
    ),
    Case(
        scale_and_rate_in_one,
        "lam",
        (
            "diagnosis, not a repair: without counted it would be truncated Gamma of 1/lam**2",
            "diagnosis, not a repair: without measured it would be truncated Gamma",
            NONE_FOUND,
        ),
    ),
    Case(
        means_with_heavy_tails,
        "theta",
        ("nearest family: Normal, were it not for",),
        (
            written(
                "give theta a Normal prior (then Normal)",
                'theta = gp.Normal("theta", mu=mu, tau=precision, dims="g")',
            ),
        ),
    ),
    Case(
        rates_with_log_normal_priors,
        "rate",
        ("nearest family: LogNormal, were it not for rate[g] (from y)",),
        (
            written(
                "give rate a Gamma prior, without mu, top (then Gamma)",
                'rate = gp.Gamma("rate", shape=..., rate=..., dims="g")',
            ),
        ),
    ),
    Case(
        scales_with_an_unknown_rate,
        "sd",
        ("nearest family: Gamma, were it not for 1/sd[g]**2 (from y)",),
        (
            written(
                "give sd a HalfNormal prior, without rate"
                " (then GeneralizedInverseGaussian of 1/sd[g]**2)",
                'sd = gp.HalfNormal("sd", tau=..., dims="g")',
            ),
            written(
                "declare 1/sd[g]**2 as the variable, without rate (then Gamma)",
                'tau = gp.Gamma("tau", shape=..., rate=..., dims="g")',
                "sd = 1/gp.sqrt(tau)",
            ),
        ),
    ),
    Case(
        pulled_to_a_point,
        "x",
        ("were it not for",),
        (written("give x a Laplace prior (then Laplace)", 'x = gp.Laplace("x", mu=2, rate=...)'),),
    ),
    Case(location_of_one_value, "mu", (NONE_FOUND,)),  # no prior that knows the observation
    Case(
        form("square_of_a_latent"),
        "x",
        ("nearest family: Normal, were it not for x**4 (from y)", NONE_FOUND),
    ),
    Case(
        form("laplace_location"),
        "mu",
        ("nearest family: Normal, were it not for abs(mu - x[n]) (from x)", NONE_FOUND),
    ),
    Case(
        form("logistic_regression"),
        "beta",
        ("nearest family: Normal, were it not for", "(from y)", NONE_FOUND),
    ),
    Case(
        form("pumps"),
        "alpha",
        ("nearest family: Exponential, were it not for loggamma(alpha)", NONE_FOUND),
    ),
    Case(form("volatility"), "h[1:]", ("were it not for exp(-h[t]) (from y)", NONE_FOUND)),
)

ids = [case.build.__name__ for case in CASES]
each_case = pytest.mark.parametrize("case", CASES, ids=ids)
REPAIRABLE = [case for case in CASES if case.repaired]
each_repairable = pytest.mark.parametrize("case", REPAIRABLE, ids=lambda c: c.build.__name__)


def refused(text):
    """The section that says why no family was recognised, as lines without their indent."""
    (section,) = [s for s in text.split("\n\n") if ". No family recognised" in s]
    return "\n".join(line.strip() for line in section.splitlines())


@pytest.mark.parametrize(
    "case", [c for c in CASES if c.said], ids=lambda c: c.build.__name__
)
def test_the_report_says_what_is_in_the_way_and_what_would_repair_it(case):
    told = refused(case.sampler.explain(case.name))

    assert [s for s in case.said if s not in told] == [], told
    for text in case.repaired:
        assert "\n".join(line.strip() for line in text.splitlines()) in told


@each_case
def test_the_repairs_found_are_those_of_the_table(case):
    model = case.build()
    found = repairs(model.graph, model.graph.statement(case.name), model.data)

    assert tuple(r.text for r in found) == case.repaired


@each_repairable
def test_the_sampler_of_every_repaired_model_agrees_with_its_joint_density(case):
    model = case.build()
    statement = model.graph.statement(case.name)
    for repair in repairs(model.graph, statement, model.data):
        schedule = plan(repair.graph, model.data)
        found = verify(repair.graph, load(write_numpy(schedule)), schedule.steps, model.data)

        before = {s.name for s in model.graph.latent}
        declared = {s.name for s in repair.graph.latent} - before
        (drawn,) = declared or {case.name}
        assert schedule.step(drawn).kind in ("exact", "block"), repair.text
        assert found.proved, f"{repair.text}\n{found}"


def test_the_schedule_shows_the_smallest_repair_of_a_fallback():
    shown = str(gp.compile(doubly_truncated_child(), rewrites=False))

    assert "\n    repair: without lower= and upper= of y (then Normal)\nsweep" in shown


def test_nothing_is_searched_for_until_it_is_asked_for(monkeypatch):
    def asked(*_):
        raise AssertionError

    monkeypatch.setattr(search._Search, "matched", asked)
    sampler = gp.compile(doubly_truncated_child(), rewrites=False)

    with pytest.raises(AssertionError):
        sampler.explain("mu")


def test_no_repair_is_proposed_that_has_not_been_tried(monkeypatch):
    model = doubly_truncated_child()
    statement = model.graph.statement("mu")
    refusal = search.conditional_of(model.graph, statement, model.data)
    monkeypatch.setattr(search, "conditional_of", lambda *_: refusal)

    assert list(search.proposed(model.graph, refusal, model.data)) == []


def test_a_variable_with_a_closed_form_needs_no_repair():
    model = form("uniform_prior_of_a_probability")()

    assert repairs(model.graph, model.graph.statement("p"), model.data) == ()


# ---- a function of the variable in its stead -------------------------------------------------


@pytest.mark.parametrize(
    ("name", "latent", "new", "values", "function"),
    [
        ("half_cauchy_sd", "sd", "tau", (0.5, 2.0, 7.0), lambda x: x**-2.0),
        ("negative_binomial_with_a_mean", "mean", "p", (0.2, 3.0), lambda x: 3 / (x + 3)),
        (
            "logistic_intercepts",
            "a",
            "p",
            ((-3.0, 0.1, 2.0), (0.0, 1.0, -1.0)),
            lambda x: 1 / (1 + np.exp(-x)),
        ),
    ],
)
def test_the_data_are_as_likely_under_the_new_variable(name, latent, new, values, function):
    model = form(name)()
    statement = model.graph.statement(latent)
    found = repairs(model.graph, statement, model.data)
    (graph,) = (r.graph for r in found if f"{new} = gp." in r.text)
    (child,) = (s.name for s in model.graph.statements if s.known == 1)
    for value in values:
        x = np.resize(value, tuple(model.graph.sizes[d] for d in statement.target.indices))
        before = log_terms(model.graph, {**model.data, latent: x})
        after = log_terms(graph, {**model.data, new: function(x)})

        np.testing.assert_allclose(after[child], before[child], rtol=1e-12)


def test_a_function_with_several_solutions_is_no_scale():
    x, y = Array("x")[()], Array("y")[()]

    assert scale_of("u", x**2, "x", REAL, POSITIVE) is None
    assert scale_of("u", x + y, "x", REAL, REAL) is None
    assert scale_of("u", x + x**2, "x", POSITIVE, POSITIVE) is None


def test_a_function_that_does_not_reach_its_whole_image_is_no_scale():
    x = Array("x", positive=True)[()]

    assert scale_of("p", 1 / (1 + x), "x", POSITIVE, UNIT) is not None
    assert scale_of("p", 1 / (2 + x), "x", POSITIVE, UNIT) is None


def test_what_is_derived_from_the_variable_follows_the_new_one():
    with gp.Model() as m:
        sd = gp.HalfCauchy("sd", 1)
        gp.Deterministic("variance", sd**2)
        gp.Normal("y", 0, sigma=sd, observed=2.0)
    statement = m.graph.statement("sd")
    sd = statement.target
    scale = scale_of("tau", sd**-2, "sd", POSITIVE, POSITIVE)
    draft = m.graph.statement("y")
    graph = rescaled(m.graph, statement, scale, draft)

    tau = scale.array[()]
    assert {d.name: d.value for d in graph.deterministics} == {
        "sd": 1 / sp.sqrt(tau),
        "variance": 1 / tau,
    }
    assert "sd" not in graph.variables
