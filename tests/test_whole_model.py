"""The graphs that steps draw in are the declared model: proved of the user's model by `verify`."""

from functools import partial

import numpy as np
import pytest
from scipy import stats

import gibbsppl as gp
from gibbsppl.checks import graphs, normalised
from gibbsppl.checks.quadrature import ACCURACY, log_integrals
from gibbsppl.checks.results import Row
from gibbsppl.rewrites import leaves, observed, rows
from models import horseshoe, spike_and_slab

GATE = np.array([1, 0, 1, 0])
COUNTS = np.array([1, 2, 0, 3])
OUTCOMES = np.array([1, 0, 1, 0])
REALS = np.array([0.3, -1.0, 2.0, 0.4])
SIZES = {"i": 4, "k": 2}


def reals():
    return gp.Normal("a", 0, sigma=1, dims="k").sum("k"), gp.Normal("mu", 0, sigma=2)


def rates():
    return gp.Gamma("e", 2, rate=1, dims="k").sum("k"), gp.Gamma("lam", 2, rate=1)


def logit_or_probability(gate):
    a, _ = reals()
    p = gp.Beta("p", 2, 2)
    gp.Binomial("y", 4, gp.where(gate, gp.expit(a), p), dims="i", observed=COUNTS)


def logit_plus_probability(gate):
    a, _ = reals()
    p = gp.Beta("p", 2, 2)
    gp.Binomial("y", 4, gate * gp.expit(a) + (1 - gate) * p, dims="i", observed=COUNTS)


def either_logit(gate):
    a, mu = reals()
    gp.Binomial("y", 4, gp.where(gate, gp.expit(a), gp.expit(mu)), dims="i", observed=COUNTS)


def student(gate):
    a, mu = reals()
    gp.StudentT("y", 3, mu=gp.where(gate, mu, a), sigma=1, dims="i", observed=REALS)


def student_of_either_scale(gate):
    lam = gp.Gamma("lam", 2, rate=1)
    mu = gp.Normal("mu", 0, sigma=2)
    gp.StudentT("y", 3, mu=mu, sigma=gp.where(gate, 1.0, lam), dims="i", observed=REALS)


def cauchy(gate):
    a, mu = reals()
    gp.Cauchy("y", gp.where(gate, mu, a), 1, dims="i", observed=REALS)


def laplace(gate):
    a, mu = reals()
    gp.Laplace("y", gp.where(gate, mu, a), scale=1, dims="i", observed=REALS)


def poisson(gate):
    e, lam = rates()
    gp.Poisson("y", gp.where(gate, e, lam), dims="i", observed=COUNTS)


def poisson_plus(gate):
    e, lam = rates()
    gp.Poisson("y", gate * e + lam, dims="i", observed=COUNTS)


def complementary_log_log(gate):
    e, _ = rates()
    p = gp.Beta("p", 2, 2)
    gp.Bernoulli("y", gp.where(gate, 1 - gp.exp(-e), p), dims="i", observed=OUTCOMES)


def negative_binomial(gate):
    e, lam = rates()
    gp.NegativeBinomial("y", mu=gp.where(gate, e, lam), alpha=3, dims="i", observed=COUNTS)


def negative_binomial_logit(gate):
    a, _ = reals()
    p = gp.Beta("p", 2, 2)
    gp.NegativeBinomial("y", 3, gp.where(gate, gp.expit(a), p), dims="i", observed=COUNTS)


def interval_probit(gate):
    _, mu = reals()
    p = gp.Beta("p", 2, 2)
    between = gp.Phi(mu + 1) - gp.Phi(mu - 1)
    gp.Bernoulli("y", gp.where(gate, between, p), dims="i", observed=OUTCOMES)


def zero_inflated(gate):
    e, lam = rates()
    p = gp.Beta("p", 2, 2)
    gp.ZeroInflatedPoisson("y", p, gp.where(gate, e, lam), dims="i", observed=COUNTS)


def rates_that_may_be_zero(gate):
    e, _ = rates()
    seen = np.where(GATE, COUNTS, 0)
    gp.Poisson("y", gp.where(gate, e, 0), dims="i", observed=seen)


CHOICES = (
    logit_or_probability,
    logit_plus_probability,
    either_logit,
    student,
    student_of_either_scale,
    cauchy,
    laplace,
    poisson,
    poisson_plus,
    complementary_log_log,
    negative_binomial,
    negative_binomial_logit,
    interval_probit,
    zero_inflated,
    rates_that_may_be_zero,
)


def by_data():
    return gp.Data("D", GATE, dims="i")


def by_labels():
    return gp.Bernoulli("z", 0.4, dims="i")


def model(choice, gate):
    with gp.Model(coords=SIZES) as built:
        choice(gate())
    return built


def names(functions):
    return [f.__name__ for f in functions]


@pytest.mark.parametrize("gate", [by_data, by_labels])
@pytest.mark.parametrize("choice", CHOICES, ids=names(CHOICES))
def test_a_choice_between_two_terms_loses_neither(choice, gate):
    sampler = gp.compile(model(choice, gate), exact=True)  # (proposals need no rewrite)

    assert sampler.schedule.rewrites
    assert sampler.verify().proved, sampler.verify()


LOST = (logit_or_probability, student, poisson, complementary_log_log, negative_binomial)


@pytest.mark.parametrize("choice", LOST, ids=names(LOST))
def test_a_rewrite_that_loses_the_other_branch_is_seen(choice, monkeypatch):
    """Gates were opened with terms of the variable in the way alone."""
    opened = rows.opened

    def without_others(*of, whole):
        assert whole
        return opened(*of)

    monkeypatch.setattr(rows, "opened", without_others)
    monkeypatch.setattr(rows, "readings_of", last_of(rows.readings_of))
    sampler = gp.compile(model(choice, by_data))
    found = sampler.verify()

    assert not found.passed
    assert {r.kind for r in found.rows if not r.passed} == {"graph"}


def last_of(readings):
    """The reading with gates out, whatever the rule asks for."""
    return lambda *of: [list(readings(*of))[-1]] * 2


# ---- what a missing value's placeholder must not say -------------------------------------------


def below_a_bound(y):
    v = gp.Gamma("v", 1, rate=2)
    gp.Uniform("y", 0, v, dims="i", observed=y)


def above_a_bound(y):
    v = gp.Normal("v", 0, sigma=1)
    gp.Uniform("y", v, 5, dims="i", observed=y)


def of_unknown_trials(y):
    n = gp.Poisson("v", 3)
    gp.Binomial("y", n, 0.4, dims="i", observed=np.ma.masked_array(np.zeros(4, int), y.mask))


def of_unknown_trials_each(y):
    n = gp.Poisson("v", 3, dims="i")
    values = np.ma.masked_array(np.array([0, 1, 0, 5]), y.mask)
    gp.Binomial("y", n, 0.4, dims="i", observed=values)


def of_few_trials(y):
    n = gp.DiscreteUniform("v", 0, 4)
    gp.Binomial("y", n, 0.4, dims="i", observed=np.ma.masked_array(np.zeros(4, int), y.mask))


MASKED = np.ma.masked_array([0.1, 0.2, 0.3, 9.0], mask=[False, False, False, True])
IMPUTED_LAST = (below_a_bound, of_unknown_trials, of_few_trials)
BOUNDED = (below_a_bound, above_a_bound, of_unknown_trials, of_unknown_trials_each, of_few_trials)


def bounded(choice):
    with gp.Model(coords={"i": 4}) as built:
        choice(MASKED)
    return built


@pytest.mark.parametrize("choice", BOUNDED, ids=names(BOUNDED))
def test_a_missing_value_bounds_nothing(choice):
    sampler = gp.compile(bounded(choice))

    assert sampler.schedule.leaves == (("y",) if choice in IMPUTED_LAST else ())
    assert all(sampler.verify(seed).proved for seed in range(3))


def test_the_bound_of_observed_values_is_theirs():
    draws = gp.compile(bounded(below_a_bound)).sample(
        2000, chains=1, warmup=100, seed=1, progress=False
    )
    # (a Gamma(1 - 3, 2) density above 0.3)
    v = np.linspace(0.3, 12, 400_001)
    weights = v**-3 * np.exp(-2 * v)
    below = (weights * (v < 0.5)).sum() / weights.sum()

    assert draws["v"].min() > 0.3
    assert stats.binomtest(int((draws["v"] < 0.5).sum()), 2000, below).pvalue > 1e-3


@pytest.mark.parametrize("choice", IMPUTED_LAST, ids=names(IMPUTED_LAST))
def test_a_placeholder_that_bounds_a_parameter_is_seen(choice, monkeypatch):
    """Random supports were treated as known ones are: with a number for what is not seen."""
    monkeypatch.setattr(leaves, "_has_random_support", lambda *_: False)
    with np.errstate(all="ignore"):
        sampler = gp.compile(bounded(choice))

    assert not all(sampler.verify(seed).passed for seed in range(3))


# ---- what else can be lost on the way ----------------------------------------------------------


def test_a_lost_term_of_an_observed_part_is_seen(monkeypatch):
    """Of what is missing nothing is told; here nothing is told of the first value either."""
    stated = observed.Observed.stated

    def forgetful(self, statements, graph, known, limits):
        first = np.arange(known.size).reshape(known.shape) == 0
        return stated(self, statements, graph, known & ~first, limits)

    monkeypatch.setattr(observed.Observed, "stated", forgetful)
    with gp.Model(coords={"i": 4}) as built:
        mu = gp.Normal("mu", 0, sigma=1)
        gp.Normal("y", mu, sigma=1, dims="i", observed=MASKED)

    assert not gp.compile(built).verify().passed


def test_arrays_taken_apart_are_the_model():
    with gp.Model(coords=SIZES) as built:
        e, lam = rates()
        z = gp.Bernoulli("z", 0.4, dims="i")
        gp.Poisson("y", z * e + lam, dims="i", observed=COUNTS)
    found = gp.compile(built).verify()

    assert "e taken apart" in [r.step for r in found.rows]
    assert found.proved


# ---- normalised conditionals -------------------------------------------------------------------


@pytest.mark.parametrize(
    "of",
    [
        stats.norm(100, 0.01),
        stats.cauchy(3, 2),
        stats.gamma(0.1),
        stats.beta(0.1, 300),
        stats.gamma(2000),
        stats.lognorm(3),
        stats.uniform(2, 3),
    ],
    ids=lambda of: of.dist.name,
)
def test_integrals_of_densities_are_one(of):
    start = np.array([of.ppf(0.9)])
    lower, upper = (np.array([float(end)]) for end in of.support())

    found = log_integrals(of.logpdf, start, lower, upper)[0]
    assert abs(found) < ACCURACY


def test_mass_between_bounds_is_that_of_a_tail():
    found = log_integrals(stats.norm.logpdf, np.array([5.5]), np.array([5.0]), np.array([np.inf]))

    assert found == pytest.approx(stats.norm.logsf(5.0), abs=ACCURACY)


def test_some_elements_of_a_normal_vector_have_their_density_given_the_others():
    precision = np.array([[2.0, 0.3, -0.7], [0.3, 1.5, 0.2], [-0.7, 0.2, 3.0]])
    x, some = np.array([0.4, -1.0, 2.0]), np.array([True, False, True])
    whole = stats.multivariate_normal(np.zeros(3), np.linalg.inv(precision))
    others = stats.norm(0, np.linalg.inv(precision)[1, 1] ** 0.5)

    found = normalised.log_normal_of_some(precision, x, some).sum()
    assert found == pytest.approx(whole.logpdf(x) - others.logpdf(x[1]), rel=1e-13)


def test_many_elements_drawn_jointly_with_others_are_proved():
    with gp.Model(coords={"g": 40}) as built:
        tau = gp.Gamma("tau", 2, rate=1)
        mu = gp.Normal("mu", 0, tau=0.1)
        theta = gp.Normal("theta", mu, tau=4 * tau, dims="g")
        gp.Normal("y", theta, tau=tau, dims="g", observed=np.linspace(-1, 1, 40))
    together = {("theta", "mu"): "together"}
    sampler = gp.compile(built, collapse=("theta",), blocks=together, interweave=False)

    assert sampler.verify().proved


def regression_of(columns):
    """A design, and outcomes that a few of its columns explain."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2 * columns, columns))
    return x, x[:, :5].sum(axis=1) + rng.standard_normal(2 * columns), range(columns)


COEFFICIENTS_INTEGRATED_OUT = {
    "horseshoe": (horseshoe.model, ("beta",)),
    "spike and slab": (spike_and_slab.model, ("beta",)),
    "spike and slab, noise too": (partial(spike_and_slab.model, tied=True), ("beta", "tau")),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", COEFFICIENTS_INTEGRATED_OUT)
def test_regressions_on_a_hundred_columns_are_proved(name):
    declared, gone = COEFFICIENTS_INTEGRATED_OUT[name]

    assert gp.compile(declared(*regression_of(100)), collapse=gone).verify().proved


def test_what_cannot_be_normalised_is_not_proved(monkeypatch):
    monkeypatch.setattr(normalised.Normaliser, "of_row", lambda _: None)
    found = gp.compile(model(student, by_data)).verify()

    assert found.passed
    assert not found.proved
    assert "not proved" in str(found)


@pytest.mark.parametrize("sign", [1, -1])
def test_sums_of_three_normal_probabilities_are_no_interval(sign):
    """``1 - Phi(a) + Phi(b)`` has two terms of one coefficient."""
    with gp.Model(coords={"i": 4}) as built:
        a = gp.Normal("a", 0, sigma=1)
        b = a - 1 if sign > 0 else a + 1
        p = 1 - gp.Phi(gp.maximum(a, b)) + gp.Phi(gp.minimum(a, b))
        gp.Bernoulli("y", p, dims="i", observed=OUTCOMES)

    assert gp.compile(built).verify().proved


def test_an_infinite_tolerance_proves_nothing():
    row = Row("y integrated out", "graph", "-", np.inf, np.inf)

    assert not row.passed
    assert not row.proved


def test_missing_entries_of_lines_at_one_position_are_proved():
    """Each line fills one position of an axis, and draws some of its entries."""
    seen = np.ma.masked_array([[0.0, 1.0], [2.0, 3.0]], mask=[[False, True], [True, False]])
    with gp.Model(coords={"i": 2, "t": 2}) as model:
        gp.Bernoulli("z", 0.3)
        y = gp.Array("y", dims=("i", "t"), observed=seen)
        y[:, 0] = gp.Normal(0, sigma=1)
        y[:, 1] = gp.Normal(1, sigma=2)

    assert gp.compile(model).verify().proved


def test_a_label_of_one_element_only_is_proved():
    """The log probability of the label is 0, and the shared term does not depend on it."""
    with gp.Model(coords={"k": 1}) as m:
        total = gp.sum(gp.Gamma("x", 2, rate=1, dims="k"), "k")
        gp.Bernoulli("z", total / (1 + total), observed=1)
        gp.Normal("u", total, sigma=1, observed=0.3)
    sampler = gp.compile(m)

    assert any(r.rule.name == "share out" for r in sampler.schedule.rewrites)
    assert sampler.verify().proved


def guesses():
    """Answers that may be guessed: a probability is a sum of shares, 1 but for rounding far out."""
    with gp.Model(coords={"p": 6, "q": 2}) as model:
        ability, guess = gp.Normal("ability", 0, sigma=1, dims="p"), gp.Beta("c", 5, 17, dims="q")
        seen = [[1, 0], [1, 1], [0, 1], [1, 0], [0, 0], [1, 1]]
        chance = guess + (1 - guess) * gp.expit(ability)
        gp.Bernoulli("y", chance, dims=("p", "q"), observed=np.array(seen))
    return model


def test_a_probability_that_rounds_above_one_is_no_other_support(monkeypatch):
    sampler = gp.compile(guesses())
    assert [r.rule.name for r in sampler.schedule.rewrites] == ["share out"]
    assert all(sampler.verify(seed=seed).proved for seed in range(3))

    monkeypatch.setattr(graphs, "RELATIVE_TOLERANCE", 0.0)  # (the roundings are there)
    assert not all(sampler.verify(seed=seed).passed for seed in range(3))
