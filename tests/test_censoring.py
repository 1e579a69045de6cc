"""Censored observations: what is printed, the densities, the conditionals, simulation.

Statistical comparisons are p-values, each held against the family-wise level divided by their
number.
"""

import numpy as np
import pytest
from scipy import integrate, stats

import gibbsppl as gp
from gibbsppl.errors import ModelError
from gibbsppl.kernels.exact import ExactDraw
from gibbsppl.model.density import log_density, log_joint
from gibbsppl.model.forward import simulate

# An upper bound of the statistical comparisons made in this file.
COMPARISONS = 20
LEVEL = 1e-4 / COMPARISONS
N = 3000

TIMES = np.array([0.4, 1.3, 2.0, 0.1, 3.5])
EVENT = np.array([1, 0, 1, 1, 0])


def model_of(distribution, *, observed=TIMES, rate=2.0, **censoring):
    """One parameter ``r``, Gamma a priori, and censored values of the distribution given it."""
    with gp.Model() as model:
        r = gp.Gamma("r", 3, rate=rate)
        gp.Censored("t", distribution(r), dims="i", observed=observed, **censoring)
    return model


def terms_of(model, r):
    """The log density of each censored value, where ``r`` has that value."""
    return log_density(model.graph.statement("t"), {**model.data, "r": r}, model.graph.sizes)


def exponential(r):
    return gp.Exponential(rate=r)


def normal(r):
    return gp.Normal(r, sigma=2)


# ---- what is printed ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("censoring", "text"),
    [
        ({"event": EVENT}, "above t[i] where t.event[i] = 0"),
        ({"upper": 2}, "above 2"),
        ({"lower": 0.2}, "below 0.2"),
        ({"lower": 0.2, "upper": 2}, "below 0.2, censored above 2"),
        ({"event": EVENT, "upper": 4}, "below 4 where t.event[i] = 0"),
        ({"event": EVENT, "lower": 1, "upper": 4}, "between 1 and 4 where t.event[i] = 0"),
        ({"event": 0, "lower": 0, "upper": 4}, "between 0 and 4"),
    ],
)
def test_a_censored_statement_says_what_is_known(censoring, text):
    model = model_of(exponential, **censoring)

    line = f"t[i] ~ Exponential(rate=r), censored {text}, observed"
    assert str(model.graph.statement("t")) == line


def test_no_latent_value_is_added():
    model = model_of(exponential, event=EVENT)

    assert [s.name for s in model.graph.latent] == ["r"]


def test_an_event_may_be_data_of_the_model():
    with gp.Model() as model:
        died = gp.Data("died", EVENT, dims="patient")
        r = gp.Gamma("r", 1, rate=1)
        survival = gp.Weibull(shape=2, rate=r)
        gp.Censored("time", survival, event=died, dims="patient", observed=TIMES)

    assert "where died[patient] = 0" in str(model.graph)
    assert set(model.data) == {"died", "time"}


def test_values_beyond_a_detection_limit_are_at_it():
    model = model_of(exponential, lower=0.2, upper=2)

    np.testing.assert_array_equal(model.data["t"], [0.4, 1.3, 2.0, 0.2, 2.0])


# ---- densities ------------------------------------------------------------------------------


def test_right_censored_values_have_the_log_survival_function():
    law = stats.weibull_min(2, scale=1.7**-0.5)
    found = terms_of(model_of(lambda r: gp.Weibull(shape=2, rate=r), event=EVENT), 1.7)

    expected = np.where(EVENT == 1, law.logpdf(TIMES), law.logsf(TIMES))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_values_at_detection_limits_have_the_log_probability_beyond():
    law = stats.norm(0.7, 2)
    found = terms_of(model_of(normal, lower=0.2, upper=2), 0.7)

    inside = law.logpdf(TIMES)
    expected = np.where(TIMES >= 2, law.logsf(2), np.where(TIMES <= 0.2, law.logcdf(0.2), inside))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_interval_censored_values_have_the_log_probability_of_the_interval():
    law = stats.norm(0.7, 2)
    lower, upper = TIMES - 0.5, TIMES + np.arange(1, 6)
    found = terms_of(model_of(normal, event=EVENT, lower=lower, upper=upper), 0.7)

    interval = np.log(law.cdf(upper) - law.cdf(lower))
    expected = np.where(EVENT == 1, law.logpdf(TIMES), interval)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_left_censored_values_have_the_log_distribution_function():
    law = stats.expon(scale=1 / 0.7)
    found = terms_of(model_of(exponential, event=EVENT, upper=4), 0.7)

    expected = np.where(EVENT == 1, law.logpdf(TIMES), law.logcdf(4))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_late_entry_truncates_what_is_censored():
    law = stats.weibull_min(2, scale=1.7**-0.5)
    entry = np.array([0.1, 1.0, 0.0, 0.05, 3.0])

    def delayed(r):
        return gp.Weibull(shape=2, rate=r, lower=gp.Data("entry", entry, dims="i"))

    found = terms_of(model_of(delayed, event=EVENT), 1.7)

    expected = np.where(EVENT == 1, law.logpdf(TIMES), law.logsf(TIMES)) - law.logsf(entry)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("limits", [{"upper": 1.5}, {"lower": -1}, {"lower": -1, "upper": 1.5}])
@pytest.mark.parametrize("bounds", [{}, {"lower": -3.0}, {"lower": -3.0, "upper": 2.5}])
def test_density_and_probability_at_the_limits_add_up_to_one(limits, bounds):
    def density(value):
        one = model_of(lambda r: gp.Normal(r, sigma=2, **bounds), observed=[value], **limits)
        return float(np.exp(terms_of(one, 0.7)[0]))

    low, high = limits.get("lower", -np.inf), limits.get("upper", np.inf)
    inside = max(low, bounds.get("lower", -30)), min(high, bounds.get("upper", 30))
    total = integrate.quad(density, *inside, points=(0.7,))[0]
    total += sum(density(limit) for limit in limits.values())
    np.testing.assert_allclose(total, 1, rtol=1e-7)


def test_bounds_of_whole_numbers_are_included():
    counts = np.arange(1, 6)
    model = model_of(gp.Poisson, observed=np.arange(8), lower=1, upper=5)
    found = terms_of(model, 2.3)

    law = stats.poisson(2.3)
    expected = [law.cdf(1), *law.pmf([2, 3, 4]), law.sf(4)]
    np.testing.assert_array_equal(model.data["t"], [1, 1, 2, 3, 4, 5, 5, 5])
    assert model.data["t"].dtype.kind == "i"
    np.testing.assert_allclose(np.exp(found[counts]), expected, rtol=1e-12)
    np.testing.assert_allclose(sum(expected), 1, rtol=1e-12)


# ---- conditionals ---------------------------------------------------------------------------


def shifted(r):
    """A Lomax value, its scale of 2 added."""
    return gp.Pareto(shape=r, minimum=2)


D = EVENT.sum()

CONJUGATE = [
    pytest.param(exponential, TIMES, D, TIMES.sum(), id="exponential"),
    pytest.param(
        lambda r: gp.Weibull(shape=1.5, rate=r), TIMES, D, (TIMES**1.5).sum(), id="weibull"
    ),
    pytest.param(
        lambda r: gp.Pareto(shape=r, minimum=0.1), TIMES, D, np.log(TIMES / 0.1).sum(), id="pareto"
    ),
    pytest.param(shifted, 2 + TIMES, D, np.log1p(TIMES / 2).sum(), id="lomax"),
    pytest.param(
        lambda r: gp.Weibull(shape=2, rate=r, lower=0.05),
        TIMES,
        D,
        (TIMES**2 - 0.05**2).sum(),
        id="late entry",
    ),
    pytest.param(
        lambda r: gp.Weibull(shape=2, scale=r**-0.5), TIMES, D, (TIMES**2).sum(), id="by the scale"
    ),
]


@pytest.mark.parametrize(("distribution", "observed", "deaths", "exposure"), CONJUGATE)
def test_a_rate_of_right_censored_values_is_a_gamma_draw(distribution, observed, deaths, exposure):
    sampler = gp.compile(model_of(distribution, observed=observed, event=EVENT))
    (step,) = sampler.schedule.steps

    assert isinstance(step, ExactDraw)
    assert step.family.name == "Gamma"
    assert sampler.verify().proved
    program, data = sampler.program, sampler.data
    shape, rate = program.given_rest["r"]({"r": 1.0}, program.prepare(data))
    np.testing.assert_allclose([shape + 1, -rate], [3 + deaths, 2 + exposure], rtol=1e-12)


def test_an_upper_detection_limit_leaves_the_rate_a_gamma():
    sampler = gp.compile(model_of(exponential, upper=1.5))

    assert isinstance(sampler.schedule.steps[0], ExactDraw)
    assert sampler.verify().proved


@pytest.mark.parametrize(
    "censoring",
    [
        {"event": EVENT},
        {"lower": 0.2, "upper": 2},
        {"event": EVENT, "lower": TIMES - 1, "upper": TIMES + 1},
        {"event": EVENT, "upper": 4},
    ],
)
def test_what_is_not_conjugate_is_moved_and_verified(censoring):
    sampler = gp.compile(model_of(normal, **censoring), rewrites=False)

    assert not isinstance(sampler.schedule.steps[0], ExactDraw)
    assert sampler.verify().proved


def test_draws_of_a_rate_have_the_posterior():
    sampler = gp.compile(model_of(exponential, event=EVENT))
    draws = sampler.sample(draws=N, warmup=10, chains=1, seed=3, progress=False)

    posterior = stats.gamma(3 + D, scale=1 / (2 + TIMES.sum()))
    assert stats.kstest(draws["r"].ravel(), posterior.cdf).pvalue > LEVEL


# ---- simulation -----------------------------------------------------------------------------


def test_simulated_values_stop_at_the_limits():
    model = model_of(normal, observed=np.zeros(N), lower=-1, upper=1.5)
    found = simulate(np.random.default_rng(5), model.graph, model.data, given={"r": 0.7})["t"]

    law = stats.norm(0.7, 2)
    inside = found[(found > -1) & (found < 1.5)]
    mass = law.cdf(1.5) - law.cdf(-1)
    assert found.min() == -1
    assert found.max() == 1.5
    assert stats.binomtest(int((found == -1).sum()), N, law.cdf(-1)).pvalue > LEVEL
    assert stats.binomtest(int((found == 1.5).sum()), N, law.sf(1.5)).pvalue > LEVEL
    assert stats.kstest(inside, lambda x: (law.cdf(x) - law.cdf(-1)) / mass).pvalue > LEVEL


def test_simulated_values_have_a_density():
    model = model_of(exponential, upper=1.5)
    state = simulate(np.random.default_rng(5), model.graph, model.data)

    assert np.isfinite(log_joint(model.graph, {**model.data, **state}))


def test_limits_may_differ_between_values():
    limit = np.array([0.5, 1.0, 2.0, 0.05, 3.0])
    model = model_of(exponential, upper=limit, rate=1e-3)
    found = simulate(np.random.default_rng(5), model.graph, model.data, given={"r": 1e-9})["t"]

    np.testing.assert_array_equal(found, limit)


def test_values_known_by_their_events_alone_cannot_be_simulated():
    model = model_of(exponential, event=EVENT)

    with pytest.raises(ModelError, match="event= says which values were seen, but not when"):
        simulate(np.random.default_rng(5), model.graph, model.data)
