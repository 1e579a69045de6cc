"""Random models against a reference that knows nothing of gibbsppl, at fixed seeds.

More seeds: ``python tests/against_reference/run.py exact 0 3000``. The reference itself is tested
by planting bugs in gibbsppl, which it must find.
"""

from dataclasses import replace

import numpy as np
import pytest
from against_reference import bugs, exact, generator, sampled
from against_reference.elements import LostError, by_quantiles
from against_reference.generator import model
from against_reference.models import Known, Model, Part, Variable
from against_reference.run import one
from against_reference.scalars import REAL, log_modified
from against_reference.table import ROWS
from against_reference.trees import At, Lag, Number, Read, call
from against_reference.vectors import VECTOR_ROWS
from scipy import integrate

import gibbsppl as gp
from gibbsppl.algebra.functions import Where
from gibbsppl.families import FAMILIES
from gibbsppl.language import tensors
from gibbsppl.rewrites import rows

EXACT = (
    2, 8, 9, 10, 14, 21, 24, 26, 27, 28, 30, 31, 34, 35, 37, 38, 44, 45, 46, 47, 48, 49, 51,
    52, 53, 57, 60, 61, 63, 64, 65, 66, 67, 69, 71, 501, 503, 504, 508, 514, 516, 521,
    522, 524, 525, 530, 532, 533, 535, 538, 541, 555, 562, 601, 604, 605, 606, 610, 611, 614,
)
IN_BUGS = (0, 3, 4, 5, 6, 1_000_209)
SAMPLED = (3, 5, 7, 15, 21, 23, 39, 59)


@pytest.mark.parametrize("seed", EXACT)
def test_a_random_model_has_the_density_of_the_reference_and_is_verified(seed):
    exact.check(model(seed))


@pytest.mark.parametrize("seed", IN_BUGS)
def test_a_random_program_has_the_density_of_the_reference_and_is_verified(seed):
    exact.check(model(seed, "exact-bugs"))


@pytest.mark.parametrize("seed", SAMPLED)
def test_draws_of_a_random_model_are_as_an_importance_sample(seed):
    sampled.check(model(seed, "sampled"))


@pytest.mark.slow
@pytest.mark.parametrize("level", ["exact", "exact-bugs"])
@pytest.mark.parametrize("start", range(1_000_000, 1_000_300, 20))
def test_no_random_model_shows_a_finding(level, start):
    reports = [one((level, seed)) for seed in range(start, start + 20)]
    assert [r for r in reports if r["result"] == "finding"] == []


@pytest.mark.slow
@pytest.mark.parametrize("level", ["sampled", "sampled-bugs"])
@pytest.mark.parametrize("start", range(1_000_000, 1_000_050, 10))
def test_no_draws_of_a_random_model_show_a_finding(level, start):
    reports = [one((level, seed)) for seed in range(start, start + 10)]
    assert [r for r in reports if r["result"] == "finding"] == []


# ---- the reference itself ----------------------------------------------------------------------


def test_the_reference_has_every_family():
    assert {*ROWS, *VECTOR_ROWS, "Categorical"} == set(FAMILIES)


def test_infinite_densities_agree_with_the_same_infinity_alone():
    inf, found = float("inf"), (1.0, 1 + 1e-12, 1.1, float("inf"), -float("inf"), float("nan"))

    assert [exact.agree(f, 1.0, 2.0) for f in found] == [True, True, False, False, False, False]
    assert [exact.agree(f, inf, inf) for f in found] == [False] * 3 + [True] + [False] * 2
    assert [exact.agree(f, -inf, inf) for f in found] == [False] * 4 + [True] + [False]


NUMBERS = {"real": 0.3, "positive": 1.7, "unit": 0.4, "count": 6.0}


@pytest.mark.parametrize("name", [n for n, r in ROWS.items() if r.proper and n != "PolyaGamma"])
def test_a_density_of_the_reference_sums_or_integrates_to_one(name):
    row = ROWS[name]
    numbers = {n: np.array([NUMBERS[k]]) for n, k in row.parameters.items()}
    if name in ("Uniform", "DiscreteUniform"):
        numbers = {"lower": np.array([-1.0]), "upper": np.array([3.0])}
    if name == "Hypergeometric":
        numbers = {"N": np.array([12.0]), "D": np.array([5.0]), "n": np.array([4.0])}
    law = row.law(**numbers)

    def density(x):
        with np.errstate(all="ignore"):
            return float(np.exp(law.logpdf(np.array([float(x)])))[0])

    if row.whole:
        total = sum(map(density, range(-2, 200)))
    else:
        low, high = (float(np.ravel(b)[0]) for b in row.support(**numbers))
        middle = 0.5 * (low + high) if np.isfinite(high - low) else max(low, 0.0) + 1.0
        parts = ((low, middle), (middle, high))
        total = sum(integrate.quad(density, *p, limit=200)[0] for p in parts)
    assert total == pytest.approx(1.0, abs=1e-6)


def test_the_polya_gamma_density_integrates_to_one():
    nodes, weights = np.polynomial.legendre.leggauss(60)
    law = ROWS["PolyaGamma"].law(b=np.array([1.7]), c=np.array([0.3]))
    exactly = np.exp(law.logpdf(2 + 2 * nodes))  # (between 0 and 4)
    assert (2 * weights * exactly).sum() == pytest.approx(1.0, abs=1e-6)
    quickly = np.exp(law.logpdf(np.concatenate([2 + 2 * nodes, 2 + 2 * nodes])))[:60]
    np.testing.assert_allclose(quickly, exactly, rtol=1e-6)


def test_the_polya_gamma_density_is_known_far_out_or_is_said_not_to_be():
    found = ROWS["PolyaGamma"].law(b=np.array([1.0]), c=np.array([0.0])).logpdf
    last = np.log(2 * np.pi) - np.pi**2 * 245 / 2  # (the first term of the other theta series)

    assert found(np.array([245.0])) == pytest.approx(last, rel=1e-12)
    assert np.isnan(found(np.full(600, 245.0))).all()


@pytest.mark.parametrize(("name", "lower", "upper", "numbers"), [
    ("Normal", 2.5, np.inf, {"mu": 0.3, "tau": 1.7}),
    ("Normal", -np.inf, -2.0, {"mu": 0.3, "tau": 1.7}),
    ("Gamma", 0.2, 0.3, {"shape": 2.0, "rate": 1.0}),
    ("Poisson", 6.0, np.inf, {"rate": 1.3}),
    ("NegativeBinomial", 1.0, 3.0, {"n": 1.7, "p": 0.9}),
])
def test_draws_by_quantiles_are_the_draws_that_rejection_leaves(name, lower, upper, numbers):
    rng, row, size = np.random.default_rng(1), ROWS[name], 2000
    law = row.law(**{n: np.array([v]) for n, v in numbers.items()})
    drawn = by_quantiles(rng, law, np.full(size, lower), np.full(size, upper), whole=row.whole)
    other = law.rvs(rng, 400_000)
    kept = other[(other >= lower) & (other <= upper)]
    for cut in np.unique(np.quantile(kept, [0.2, 0.5, 0.8])):
        share, n = (kept <= cut).mean(), min(len(kept), size)
        assert abs((drawn <= cut).mean() - share) < 6 * np.sqrt(share * (1 - share) / n) + 1e-9


def test_the_weight_of_values_rounded_to_where_no_law_is_is_not_known():
    chain = of([variable("x", "Beta", a=0.002, b=1.0),
                variable("y", "Exponential", ("t",), scale=X),
                variable("z", "Normal", ("t",), seen=True, mu=0.0, sigma=Read("y", ("t",)))],
               {"x": 0.5, "y": [0.3, 0.5, 0.2, 0.9], "z": [0.1, 1.2, -0.3, 0.8]})
    rounded = ROWS["Beta"].law(a=0.002, b=1.0).rvs(np.random.default_rng(1), 1000) == 0
    with np.errstate(all="ignore"):
        drawn, weights = chain.simulated(np.random.default_rng(1), 1000, chain.values)

    assert 0 < rounded.sum() < 1000
    assert np.isnan(weights[rounded]).all()
    assert np.isfinite(weights).any()
    assert (drawn["x"] > 0).all()


def test_nothing_is_said_where_the_reference_overflows():
    of_rates = of([variable("x", "InverseGamma", shape=0.5, scale=2.0),
                   variable("y", "Normal", seen=True, mu=call("exp", X), sigma=1.0)],
                  {"x": 1.0, "y": 0.0})
    with pytest.raises(sampled.SkippedError, match="not known"):
        sampled.importance_sample(of_rates, np.random.default_rng(1), 3000)


def test_a_state_that_leaves_no_probability_between_bounds_is_lost():
    """A draw by quantiles would go on beyond all bounds: no number below 6 has a probability."""
    below = Part("Poisson", {"rate": call("exp", X)}, upper=Number(6.0))
    rate = of([variable("x", "Normal", mu=8.0, sigma=4.0), Variable("y", (), "count", (below,))],
              {"x": 1.0, "y": 2.0})
    with np.errstate(all="ignore"):
        drawn, weights = rate.simulated(np.random.default_rng(1), 500)

    assert ((drawn["y"] >= 0) & (drawn["y"] <= 6)).all()
    assert 0 < np.isnan(weights).sum() < 500


def test_a_model_without_latent_variables_is_not_sampled():
    known = Variable("k", ("i",), "real", (Part("Normal", {}, (0,), (1,), number=0.7),),
                     mask=np.zeros(2, bool), regions=True)
    seen = of([known, variable("x", "Normal", seen=True, mu=0.0, sigma=1.0)], {"x": 1.0, "k": 0.7})

    assert seen.latent == ()
    with pytest.raises(sampled.SkippedError, match="no latent"):
        sampled.check(replace(seen, items=seen.items[1:]))


def test_where_every_state_is_lost_none_is_drawn():
    lost = of([variable("x", "Beta", a=1e-9, b=1.0), variable("y", "Exponential", scale=X)],
              {"x": 0.5, "y": 1.0})
    with pytest.raises(LostError):
        lost.simulated(np.random.default_rng(1), 3)

    assert (exact.states_of(lost)["x"] == 0.5).all()
    with pytest.raises(sampled.SkippedError):
        sampled.importance_sample(lost, np.random.default_rng(1), 3)


@pytest.mark.parametrize(("index", "text"), [
    (1, "x[2, 1:4]"),
    (Read("other", ("j",)), "x[other[j], 1:4]"),
    (Read("other", ("t",)), "part1[1:4]"),
])
def test_a_vector_in_a_program_is_a_range_of_one_axis(index, text):
    writer = bugs.Writer(of([], {}))
    assert writer.vector(At(Read("x", ("i", "t")), "i", index), {"j": "j"}, ("t",)) == text


def of(items, values, **words):
    """A description by hand."""
    sizes = {"i": 2, "t": 4}
    arrays = {n: np.array(v) for n, v in values.items()}
    return Model(0, sizes, tuple(items), values=arrays, **words)


def variable(name, family, dims=(), *, seen=False, **written):
    numbers = {n: w if hasattr(w, "dims") else Number(w) for n, w in written.items()}
    shape = tuple({"i": 2, "t": 4}[d] for d in dims)
    return Variable(name, dims, ROWS[family].kind, (Part(family, numbers),),
                    mask=np.ones(shape, bool) if seen else None)


X = Read("x", ())


def extreme():
    return of([variable("x", "Normal", mu=0.0, sigma=1.0),
               variable("y", "Gumbel", ("t",), seen=True, mu=X, scale=2.0)],
              {"x": 0.4, "y": [0.1, 1.2, -0.3, 0.8]})


def gated(trials=4):
    flag = Known("d", ("t",), np.array([1, 0, 1, 0]))
    p = call("where", Read("d", ("t",)), call("expit", X), Read("p", ()))
    return of([flag, variable("x", "StudentT", nu=4.0, mu=0.0, sigma=1.0),
               variable("p", "Beta", a=1.0, b=1.0),
               variable("y", "Binomial", ("t",), seen=True, n=Number(trials), p=p)],
              {"x": 0.4, "p": 0.6, "y": [1, 3, 2, 4]})


def series():
    t = Read("x", ("t",))
    first = Part("Normal", {"mu": Number(0.0), "sigma": Number(1.0)}, (0,), (2,), along=0)
    mu = call("-", call("*", 1.2, Lag(t, "t")), call("*", 0.3, Lag(t, "t", 2)))
    rest = Part("Normal", {"mu": mu, "sigma": Number(1.0)}, (2,), (4,), along=0)
    return of([Variable("x", ("t",), REAL, (first, rest), regions=True),
               variable("y", "Normal", ("t",), seen=True, mu=t, sigma=1.0)],
              {"x": [0.4, 0.2, 0.7, 1.0], "y": [0.1, 1.2, -0.3, 0.8]})


@pytest.mark.parametrize("described", [extreme, gated, series])
def test_without_a_bug_nothing_is_found(described):
    exact.check(described())


def test_an_improper_posterior_is_refused_and_no_finding():
    rate = call("exp", Read("x", ("i",)))
    improper = of([variable("x", "Flat", ("i",)),
                   variable("y", "Poisson", ("i",), seen=True, rate=rate)],
                  {"x": [0.0, 0.0], "y": [0, 3]})
    with pytest.raises(exact.RefusedError, match="improper"):
        exact.check(improper)


@pytest.mark.parametrize(("prior", "family", "parameters", "is_improper"), [
    ("Flat", "Gompertz", {"rate": 1.0, "shape": call("exp", X)}, True),
    ("Flat", "Gompertz", {"rate": call("exp", X), "shape": 1.0}, False),
    ("Flat", "Normal", {"mu": X, "sigma": 1.0}, False),
    ("Flat", "Normal", {"mu": call("*", 0.01, X), "sigma": 0.1}, False),
    ("Flat", "StudentT", {"nu": 1.0, "mu": X, "sigma": 1.0}, False),
    ("HalfFlat", "StudentT", {"nu": X, "mu": 0.0, "sigma": 1.0}, True),
    ("HalfFlat", "Exponential", {"rate": X}, False)])
def test_a_posterior_without_an_integral_is_seen(prior, family, parameters, is_improper):
    made = of([variable("x", prior), variable("y", family, ("i",), seen=True, **parameters)],
              {"x": 0.3, "y": [0.4, 0.2, 0.7, 1.0]})
    assert exact.has_no_integral(made) == is_improper


def test_priors_that_numbers_cannot_hold_are_seen():
    def drawn_with(scale):
        return of([variable("x", "Normal", mu=0.0, sigma=scale),
                   variable("z", "Gamma", shape=call("exp", X), rate=1.0),
                   variable("y", "Exponential", seen=True, rate=Read("z", ()))],
                  {"x": 0.3, "z": 0.7, "y": 1.0})
    assert exact.exceeds_numbers(drawn_with(300.0))
    assert not exact.exceeds_numbers(drawn_with(0.5))


@pytest.mark.parametrize("c", [-0.5, -30.0, -4000.0])
def test_the_normaliser_of_a_modified_half_normal_keeps_its_digits_below_zero(c):
    a, b = 1.5, 2.0
    mass, _ = integrate.quad(lambda t: t**(a - 1) * np.exp(-b * (t / c) ** 2 - t), 0, 60)
    assert log_modified(a, b, c) == pytest.approx(np.log(mass) - a * np.log(-c), rel=1e-7)


def test_no_random_model_has_an_improper_prior_that_nothing_observed_sees():
    flat, seen = variable("x", "Flat"), variable("y", "Normal", seen=True, mu=X, sigma=1.0)
    assert generator._is_left_improper(of([flat], {}))
    assert generator._is_left_improper(of([flat, variable("z", "Normal", mu=X, sigma=1.0)], {}))
    assert not generator._is_left_improper(of([flat, seen], {}))


def test_a_wrong_normaliser_is_found(monkeypatch):
    right = FAMILIES["Gumbel"].log_density
    wrong = replace(FAMILIES["Gumbel"], log_density=lambda x, event, mu, scale: (
        right(x, event, mu=mu, scale=scale) + scale / 10**6))
    monkeypatch.setattr(gp.language, "Gumbel", gp.language.constructor(wrong), raising=False)
    with pytest.raises(exact.FindingError, match="density"):
        exact.check(extreme())


def test_a_choice_without_its_other_branch_is_found(monkeypatch):
    functions = __import__("gibbsppl.language.functions", fromlist=["Where"])
    monkeypatch.setattr(functions, "Where", lambda c, a, b: Where(c, a, a))
    with pytest.raises(exact.FindingError, match="density"):
        exact.check(gated())


def test_a_lag_shifted_by_one_is_found(monkeypatch):
    right = tensors.Tensor.lag
    monkeypatch.setattr(tensors.Tensor, "lag", lambda self, dim, steps=1: right(self, dim, 1))
    with pytest.raises(exact.FindingError, match="density"):
        exact.check(series())


def without_the_rest(right):
    """Gates opened as if none but the terms of targets were asked for."""

    def opened(expr, targets, binary, *, whole):
        assert whole
        return right(expr, targets, binary)

    return opened


def test_gates_that_a_rewrite_opens_without_the_rest_are_found(monkeypatch):
    monkeypatch.setattr(rows, "opened", without_the_rest(rows.opened))
    # (another number: readings of the same model may be kept)
    asked = replace(gated(5), settings={"rewrites": '{"Polya-Gamma": True}'})
    with pytest.raises(exact.FindingError, match="verify"):
        exact.check(asked)


@pytest.mark.slow
def test_the_same_gates_are_found_by_draws(monkeypatch):
    monkeypatch.setattr(rows, "opened", without_the_rest(rows.opened))
    # (another number: readings of the same model may be kept)
    asked = replace(gated(5), settings={"rewrites": '{"Polya-Gamma": True}'})
    with pytest.raises(exact.FindingError, match="quantiles"):
        sampled.check(asked)


def test_vectors_and_labels_that_nothing_sees_are_proper():
    simplex = Part("Dirichlet", {"a": Number(1.0)})
    label = Part("Categorical", {"p": Read("w", ("i",))})
    made = of([Variable("w", ("i",), "simplex", (simplex,), event=("i",)),
               Variable("z", ("t",), "label", (label,), of="i")], {})
    assert not generator._is_left_improper(made)
    assert generator._is_left_improper(of([variable("x", "Flat")], {}))


def test_an_error_while_a_model_is_made_is_a_finding(monkeypatch):
    monkeypatch.setattr(generator, "_described", lambda *_: 1 / 0)
    found = one(("exact", 0))
    assert found["result"] == "finding"
    assert "ZeroDivisionError" in found["kind"]
