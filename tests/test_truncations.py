"""Bounds are inside of the supports that they narrow, or are refused with the way to write them."""

import numpy as np
import pytest
from scipy import special, stats

import gibbsppl as gp
from gibbsppl import deriving
from gibbsppl.errors import ModelError
from gibbsppl.model.density import log_density, log_joint


def declared(declare):
    with gp.Model(coords={"i": 2}) as model:
        declare()
    return model


def of_a_random_end():
    a = gp.Gamma("a", 2, rate=1)
    gp.Pareto("y", shape=2, minimum=a, lower=0.2, observed=1.5)


def by_a_random_bound():
    bound = gp.Normal("bound", 0, sigma=1)
    gp.Gamma("y", 2, rate=1, lower=bound, observed=1.5)


def by_data():
    bound = gp.Data("bound", [0.5, -1.0], dims="i")
    rate = gp.Gamma("rate", 2, rate=1)
    gp.Gamma("y", 2, rate=rate, lower=bound, dims="i", observed=[1.5, 2.0])


def by_a_number():
    b = gp.Gamma("b", 2, rate=1)
    gp.Beta("y", 2, b, upper=1.5, observed=0.5)


def of_trials():
    trials = gp.Data("trials", [3, 9], dims="i")
    p = gp.Beta("p", 1, 1)
    gp.Binomial("y", trials, p, upper=5, dims="i", observed=[2, 4])


INSIDE_OF = "expected a bound inside of the support, whatever is drawn"
REFUSED = {
    of_a_random_end: "y: truncated or censored below at 0.2, which may be below a, the lower end "
    f"of Pareto; {INSIDE_OF}: write lower=gp.maximum(a, 0.2).",
    by_a_random_bound: "y: truncated or censored below at bound, which may be below 0, the lower "
    f"end of Gamma; {INSIDE_OF}: write lower=gp.maximum(0, bound).",
    by_data: "y: truncated or censored below at bound[i], which may be below 0, the lower end of "
    f"Gamma at position i=1; {INSIDE_OF}: write lower=gp.maximum(0, bound[i]).",
    by_a_number: "y: truncated or censored above at 1.5, which is above 1, the upper end of Beta; "
    f"{INSIDE_OF}: leave it out.",
    of_trials: "y: truncated or censored above at 5, which may be above trials[i], the upper end "
    f"of Binomial at position i=0; {INSIDE_OF}: write upper=gp.minimum(trials[i], 5).",
}


@pytest.mark.parametrize("declare", REFUSED, ids=lambda f: f.__name__)
def test_a_bound_outside_of_the_support_is_refused(declare):
    with pytest.raises(ModelError) as error:
        gp.compile(declared(declare))

    assert str(error.value) == REFUSED[declare]


def test_without_the_check_a_random_bound_would_be_cut_off_in_silence(monkeypatch):
    monkeypatch.setattr(deriving, "check_truncations", lambda *_: None)
    model = declared(by_a_random_bound)

    gp.compile(model)
    assert np.isnan(log_joint(model.graph, {**model.data, "bound": np.asarray(-1.0)}))


# ---- as the errors tell to write them --------------------------------------------------------


def the_larger_of_a_random_end_and_a_number():
    a = gp.Gamma("a", 2, rate=1)
    gp.Pareto("y", shape=2, minimum=a, lower=gp.maximum(a, 0.2), observed=1.5)


def the_larger_of_zero_and_a_random_bound():
    bound = gp.Normal("bound", 0, sigma=1)
    gp.Gamma("y", 2, rate=1, lower=gp.maximum(0, bound), observed=1.5)


def pareto(a):
    return stats.gamma(2).logpdf(a) + stats.pareto(2, scale=max(a, 0.2)).logpdf(1.5)


def gamma(bound):
    own = stats.gamma(2)
    return stats.norm.logpdf(bound) + own.logpdf(1.5) - own.logsf(bound)


@pytest.mark.parametrize(
    ("declare", "name", "reference", "values"),
    [
        (the_larger_of_a_random_end_and_a_number, "a", pareto, (0.1, 0.2, 0.5, 1.4)),
        (the_larger_of_zero_and_a_random_bound, "bound", gamma, (-2.0, 0.0, 0.5, 1.4)),
    ],
    ids=["end", "bound"],
)
def test_what_is_written_instead_has_the_density_of_the_truncated_distribution(
    declare, name, reference, values
):
    model = declared(declare)
    found = [log_joint(model.graph, {**model.data, name: np.asarray(v)}) for v in values]

    np.testing.assert_allclose(found, [reference(v) for v in values], rtol=1e-12)
    assert gp.compile(model).verify().proved


@pytest.mark.parametrize("observed", [1.5, None], ids=["observed", "drawn"])
def test_a_computed_end_is_not_beyond_the_bound_by_its_last_digit(observed):
    with gp.Model() as model:
        x = gp.Normal("x", 0, sigma=1)
        odds = gp.Phi(x) / (1 - gp.Phi(x))
        gp.Pareto("y", 3.5, odds, lower=gp.maximum(odds, 0.2), upper=3, observed=observed)

    for x in np.linspace(-1, 0.2, 50):
        odds = stats.norm.cdf(x) / stats.norm.sf(x)
        low = max(odds, 0.2)
        expected = stats.norm.logpdf(x) + stats.truncpareto(3.5, 3 / low, scale=low).logpdf(1.5)
        values = {**model.data, "x": np.asarray(x), "y": np.asarray(1.5)}
        assert log_joint(model.graph, values) == pytest.approx(expected, rel=1e-12)
    assert gp.compile(model).verify().passed


def test_draws_above_a_computed_end():
    with gp.Model(coords={"i": 2000}) as model:
        x = gp.Normal("x", 0.3, sigma=0.1, dims="i")
        odds = gp.Phi(x) / (1 - gp.Phi(x))
        gp.Pareto("y", 3.5, odds, lower=gp.maximum(odds, 0.2), upper=30, dims="i")

    found = gp.simulate(model, seed=1)
    low = np.exp(stats.norm.logcdf(found["x"]) - stats.norm.logsf(found["x"]))
    share = stats.truncpareto(3.5, 30 / low, scale=low).cdf(found["y"])
    assert stats.kstest(np.ravel(share), "uniform").pvalue > 1e-5


# ---- narrow intervals --------------------------------------------------------------------------

NARROW = {
    "Normal": (lambda s: {"mu": -0.5, "sigma": s}, (-1, 2), lambda y: y),
    "StudentT": (lambda s: {"nu": 1.5, "mu": -0.5, "sigma": s}, (-1, 2), lambda y: y),
    "Cauchy": (lambda s: {"mu": -0.5, "scale": s}, (-1, 2), lambda y: y),
    "Laplace": (lambda s: {"mu": -0.5, "scale": s}, (-1, 2), lambda y: y),
    "Logistic": (lambda s: {"mu": -0.5, "scale": s}, (-1, 2), lambda y: y),
    "Gumbel": (lambda s: {"mu": -0.5, "scale": s}, (-1, 2), lambda y: y),
    "LogNormal": (lambda s: {"mu": -0.5, "sigma": s}, (0.1, 2), np.log),
    "BurrXII": (lambda s: {"c": 1 / s, "k": 1, "scale": 1.5}, (0.1, 2), np.log),
    "Weibull": (lambda s: {"shape": 1 / s, "scale": 1.5}, (0.1, 2), np.log),
    "Beta": (lambda s: {"a": 1 / s, "b": 1 / s}, (0.1, 0.7), special.logit),
    "BetaPrime": (lambda s: {"a": 1 / s, "b": 1 / s}, (0.1, 2), np.log),
}


LOW, HIGH = [-1e40, 0.0, 1.0], [0.0, 1.0, 1e40]


@pytest.mark.parametrize("family", NARROW)
def test_an_interval_that_is_narrow_beside_the_scale_has_its_density(family):
    """On the scale of the family the density is flat: one over the width of the interval."""
    parameters, (lower, upper), forward = NARROW[family]
    with gp.Model() as model:
        x = gp.Normal("x", 0, sigma=100)
        bounds = {"lower": lower, "upper": upper}
        getattr(gp, family)("y", **parameters(gp.exp(x)), **bounds, observed=0.3)

    jacobian = {"log": 1 / 0.3, "logit": 1 / 0.21}.get(getattr(forward, "__name__", ""), 1.0)
    flat = np.log(jacobian / (forward(upper) - forward(lower)))
    found = []
    for x in np.linspace(14, 60, 93):
        values = {**model.data, "x": np.asarray(x)}
        found.append(log_joint(model.graph, values) - stats.norm.logpdf(x, scale=100))
    np.testing.assert_allclose(found, flat, rtol=0, atol=2e-6)


@pytest.mark.parametrize("family", ["StudentT", "LogNormal", "Beta"])
def test_draws_in_a_narrow_interval_are_flat_on_the_scale_of_the_family(family):
    parameters, (lower, upper), forward = NARROW[family]
    with gp.Model(coords={"i": 2000}) as model:
        bounds = {"lower": lower, "upper": upper, "dims": "i"}
        getattr(gp, family)("y", **parameters(1e25), **bounds)

    y = gp.simulate(model, seed=1)["y"]
    low, high = forward(lower), forward(upper)
    assert stats.kstest(np.ravel(forward(y)), stats.uniform(low, high - low).cdf).pvalue > 1e-5


def test_a_category_that_is_narrow_has_its_probability():
    with gp.Model(coords={"k": 3}) as model:
        b, x = gp.Normal("b", 0, sigma=1), gp.Normal("x", 0, sigma=100)
        low, high = (gp.Data(n, v, dims="k") for n, v in (("low", LOW), ("high", HIGH)))
        p = gp.Phi(b + high * gp.exp(-x)) - gp.Phi(b + low * gp.exp(-x))
        gp.Categorical("y", p, event="k", observed=1)

    for b, x in ((0.7, 20.0), (0.7, 50.0), (-30.0, 50.0)):
        values = {**model.data, "b": np.asarray(b), "x": np.asarray(x)}
        found = log_density(model.graph.statement("y"), values, model.graph.sizes)
        assert found == pytest.approx(stats.norm.logpdf(b) - x, abs=1e-6)


def test_a_truncated_value_of_a_wide_family_keeps_its_scale():
    """Where the mass of the interval underflowed, the density was infinite: slices stayed there."""
    with gp.Model() as model:
        x = gp.Laplace("x", 0, scale=1)
        gp.StudentT("y", nu=1, mu=-0.5, sigma=gp.exp(x), lower=-1, upper=2, observed=-0.1)
    sampler = gp.compile(model)

    assert all(sampler.verify(seed=k).passed for k in range(3))
    assert np.abs(sampler.sample(draws=500, chains=1, seed=1, progress=False)["x"]).max() < 60


# ---- what is inside --------------------------------------------------------------------------


def positive_bounds():
    low = gp.Gamma("low", 2, rate=1)
    high = gp.Pareto("high", shape=2, minimum=low)
    gp.Exponential("y", rate=1, lower=low, upper=high, observed=1.5)


def a_chain_of_bounds():
    x = gp.Array("x", dims="i")
    x[0] = gp.Beta(1, 1)
    x[1:] = gp.Beta(1, 1, lower=x.lag("i"))


def data_at_the_end():
    bound = gp.Data("bound", [0.0, 1.0], dims="i")
    rate = gp.Gamma("rate", 2, rate=1)
    gp.Exponential("y", rate=rate, lower=bound, dims="i", observed=[1.5, 2.0])


def the_real_line():
    bound = gp.Normal("bound", 0, sigma=1)
    gp.Normal("y", 0, sigma=1, upper=bound, observed=1.5)


def one_above_a_random_end():
    low = gp.Gamma("low", 2, rate=1)
    gp.Pareto("y", shape=2, minimum=low, lower=low + 1, observed=9.0)


INSIDE = (
    positive_bounds,
    a_chain_of_bounds,
    data_at_the_end,
    the_real_line,
    one_above_a_random_end,
)


@pytest.mark.parametrize("declare", INSIDE, ids=lambda f: f.__name__)
def test_bounds_that_are_inside_whatever_is_drawn_are_taken(declare):
    gp.compile(declared(declare))


def above_a_random_number():
    low = gp.Normal("low", 0, sigma=1)
    x = gp.Uniform("x", lower=low, upper=3)
    gp.Potential("p", -x)


def above_data():
    low = gp.Data("low", [-1.0, 1.0], dims="i")
    x = gp.Uniform("x", lower=low, upper=3, dims="i")
    gp.Potential("p", -(x**2))


def censored_below_zero():
    tau = gp.Gamma("tau", 2, rate=1)
    gp.Censored("x", gp.Normal(0, tau=tau), dims="i", observed=[-1.5, 0.5], event=[0, 0])


@pytest.mark.parametrize(
    "declare", [above_a_random_number, above_data, censored_below_zero], ids=lambda f: f.__name__
)
def test_no_family_of_positive_values_owns_what_may_be_negative(declare):
    sampler = gp.compile(declared(declare))
    (step,) = (s for s in sampler.schedule.steps if s.name.startswith("x"))
    assert step.family.name == "Normal"
    assert sampler.verify().passed


def test_bounds_that_data_keep_positive_truncate_families_of_positive_values():
    with gp.Model(coords={"i": 2}) as model:
        low = gp.Data("low", [0.5, 1.0], dims="i")
        x = gp.Uniform("x", lower=low, upper=3, dims="i")
        gp.Poisson("y", rate=x, dims="i", observed=[2, 3])
    sampler = gp.compile(model)
    assert sampler.schedule.step("x").family.name == "Gamma"
    assert sampler.verify().passed
