"""Formulas of moments: against SciPy's, integrals over quantiles, and draws from the same rows."""

from functools import cache
from inspect import signature

import numpy as np
import pytest
import sympy as sp
import test_families as table
from scipy import integrate, stats

from gibbsppl import runtime
from gibbsppl.algebra.copies import primed
from gibbsppl.algebra.expressions import Array
from gibbsppl.algebra.ranges import Range
from gibbsppl.derive import moments as module
from gibbsppl.derive.changes import (
    COMPLEMENT,
    EXPONENTIAL,
    LOG,
    LOGIT,
    ODDS,
    POWER,
    PROBABILITY,
    SCALE,
    SHIFT,
    Change,
)
from gibbsppl.derive.moments import NoFormula, Symbols, moments, plain
from gibbsppl.families import FAMILIES
from gibbsppl.model.evaluation import evaluate

# No number here is made by more operations than this, each of which rounds once.
ROUNDING = 100 * np.finfo(float).eps
# How exact SciPy's moments are of what it has no formula for: it integrates.
INTEGRATED = signature(integrate.quad).parameters["epsrel"].default
# One in a million, for all z-scores of one comparison together.
FAMILY_WISE = 1e-6
DRAWS = 20_000
K = table.K


def formulas(family, count, known=(), bounds=False, change=None):
    etas = tuple(Array(f"eta_{j + 1}")[()] for j in range(count))
    ends = (Array("lower_end")[()], Array("upper_end")[()]) if bounds else None
    symbols = {n: Array(n)[()] for n in known}
    return moments(FAMILIES[family], Symbols(etas, (), symbols, ends, change))


def moment(case, what, bounds=None, change=None):
    """A moment by the formula at an example's parameters, and how far it may be off.

    That is how much it changes as natural parameters do that are as far off as they may be. A
    `NoFormula` where there is none.
    """
    eta, known = table.natural_values(case), case.row.natural.known
    found = formulas(case.family, len(eta), known, bounds is not None, change)
    if isinstance(found, NoFormula):
        return found

    def at(eta):
        values = {**case.parameters, **{f"eta_{j + 1}": e for j, e in enumerate(eta)}}
        if bounds is not None:
            values |= dict(zip(("lower_end", "upper_end"), bounds, strict=True))
        return float(evaluate(getattr(found, what), (), values, {}))

    moved = [[*eta[:j], eta[j] + d, *eta[j + 1 :]] for j, d in enumerate(fitted_to(case))]
    own = at(eta)
    return own, sum(abs(at(e) - own) for e in moved)


@cache
def fitted_to(case):
    """How far an example's natural parameters, fitted by least squares, may be from the true ones.

    Log densities at some points, ``design @ eta``, are right up to the residuals and to rounding of
    what adds up to them; ``|pinv(design)|`` times that is as much as eta can be off.
    """
    points = table.many_points(case, 20)
    design = np.array([[*table.statistics_at(case, x), 1.0] for x in points], float)
    eta, log_partition, residual = table.fitted(case)
    heights = np.abs(design) @ np.abs([*eta, log_partition])
    wrong = (residual + ROUNDING) * heights.max()
    return (np.abs(np.linalg.pinv(design)).sum(axis=1) * wrong)[:-1]


def by_quantiles(reference, at, bounds=None):
    """The mean between bounds: the integral of the value over the quantiles, and its error."""
    low, high = (0.0, 1.0) if bounds is None else map(float, reference.cdf(np.asarray(bounds)))
    found, error = integrate.quad(lambda q: at(reference.ppf(q)), low, high, limit=400)
    # (what is left of the mass between bounds is a difference)
    return found / (high - low), (error + ROUNDING * abs(found)) / (high - low)


def agrees(case, expected, error, bounds=None, change=None):
    found, off = moment(case, "mean", bounds, change)
    return abs(found - expected) <= error + off + ROUNDING * abs(expected)


# ---- a row's own -----------------------------------------------------------------------------

SCALARS = [e for e in table.EXPONENTIAL if e.row.event == 0 and e.row.mean is not None]


@table.cases(SCALARS)
def test_moments_of_natural_parameters_are_scipys(case):
    reference = table.reference_of(case)
    with np.errstate(all="ignore"):
        for what, known in (("mean", reference.mean()), ("variance", reference.var())):
            (number, off), expected = moment(case, what), float(known)
            assert np.isfinite(number) == np.isfinite(expected)
            if np.isfinite(number):
                assert number == pytest.approx(expected, rel=INTEGRATED, abs=off)


@pytest.mark.parametrize("eta", [-700.0, -1e-12, 800.0])
def test_log_odds_and_failures_far_out_keep_their_digits(eta):
    odds = FAMILIES["Bernoulli"].natural
    assert float(evaluate(odds.mean(sp.Float(eta), event=()), (), {}, {})) == pytest.approx(
        1.0 if eta > 700 else np.exp(eta) / (1 + np.exp(eta)), rel=ROUNDING, abs=0
    )
    if eta < 0:
        failures = FAMILIES["Geometric"].natural.mean(sp.Float(eta), event=())
        expected = np.exp(eta) / -np.expm1(eta)
        found = float(evaluate(failures, (), {}, {}))
        assert found == pytest.approx(expected, rel=ROUNDING, abs=0)


def test_a_row_without_a_mean_says_so():
    found = formulas("VonMises", 2)
    assert isinstance(found, NoFormula)
    assert "VonMises" in found.reason


# ---- events ----------------------------------------------------------------------------------

V = table.MATRIX
SHARES, MU = np.array([0.2, 0.5, 0.3]), np.array([1.0, -2.0, 0.5])
A = np.array([0.8, 2.0, 3.5])
DIRECTION = np.array([0.6, 0.0, -0.8])


def sphere_mean(kappa):
    """That of the cosine with the mean direction in three dimensions, by an integral."""
    top = integrate.quad(lambda c: c * np.exp(kappa * (c - 1)), -1, 1)[0]
    return top / integrate.quad(lambda c: np.exp(kappa * (c - 1)), -1, 1)[0]


def simplex_moment(order):
    """Of the first entry of three, by a double integral over the simplex, and its error."""
    density = stats.dirichlet(A + 1).pdf  # (bounded, at larger parameters: no singular edges)

    def at(y, x):
        return x**order * density(np.array([x, y, 1 - x - y]))

    return integrate.dblquad(at, 0, 1, 0, lambda x: 1 - x)


EVENTS = {
    "Dirichlet": ([A - 1], {}, stats.dirichlet(A).mean(), stats.dirichlet(A).var()),
    "Multinomial": ([np.log(SHARES) + 2], {"n": 6}, 6 * SHARES, 6 * SHARES * (1 - SHARES)),
    "MvNormal": ([V @ MU, -V / 2], {}, MU, np.diag(np.linalg.inv(V))),
    "Wishart": (
        [(4.5 - 4) / 2, -np.linalg.inv(V) / 2],
        {},
        stats.wishart(4.5, V).mean(),
        stats.wishart(4.5, V).var(),
    ),
    "InverseWishart": (
        [-(12.5 + 4) / 2, -V / 2],
        {},
        stats.invwishart(12.5, V).mean(),
        stats.invwishart(12.5, V).var(),
    ),
    "VonMisesFisher": ([4.0 * DIRECTION], {}, sphere_mean(4.0) * DIRECTION, None),
}


def event_moments(family):
    """Mean and variance of an event by the formulas, as arrays."""
    etas, known, *_ = EVENTS[family]
    row = FAMILIES[family]
    event = (K, primed(K))[: row.event]
    leaves = [Array(f"eta_{j + 1}")[(K, primed(K))[: np.ndim(e)]] for j, e in enumerate(etas)]
    found = plain(row, leaves, event, {n: Array(n)[()] for n in known})
    values = {**known, **{f"eta_{j + 1}": e for j, e in enumerate(etas)}}
    over = tuple(Range(d, 0, 3) for d in event)
    return [
        None if f is None else evaluate(f, over, values, {K: 3, primed(K): 3})
        for f in (found.mean, found.variance)
    ]


def event_draws(family, size=DRAWS):
    etas, known, *_ = EVENTS[family]
    row, rng = FAMILIES[family], np.random.default_rng(3)
    shape = (size, *(3,) * row.event)
    return getattr(runtime, row.natural.draw)(rng, *etas, shape, **known)


def test_every_event_row_with_natural_parameters_has_a_mean():
    rows = {n for n, r in FAMILIES.items() if r.event and r.natural is not None}
    assert rows == set(EVENTS)


@pytest.mark.parametrize("family", EVENTS)
def test_moments_of_events_are_scipys(family):
    expected = EVENTS[family][2:]
    for found, known in zip(event_moments(family), expected, strict=True):
        assert (found is None) == (known is None)
        if known is not None:
            np.testing.assert_allclose(found, known, rtol=ROUNDING * np.linalg.cond(V))


def score(draws, expected):
    """The largest z-score of an average, as a multiple of the largest that chance explains."""
    error = draws.std(axis=0) / len(draws) ** 0.5
    scores = np.abs((draws.mean(axis=0) - expected) / error)
    return scores.max() / stats.norm.isf(FAMILY_WISE / 2 / scores.size)


@pytest.mark.parametrize("family", EVENTS)
def test_moments_of_events_are_those_of_their_draws(family):
    mean, variance = event_moments(family)
    draws = event_draws(family)
    assert score(draws, mean) < 1
    if variance is not None:
        assert score((draws - mean) ** 2, variance) < 1
    # Planted: off by a tenth of a standard deviation.
    assert score(draws, mean + draws.std(axis=0) / 10) > 1


def test_moments_of_shares_are_integrals_over_the_simplex():
    a = A + 1
    (first, off), (second, off_second) = simplex_moment(1), simplex_moment(2)
    row, leaf = FAMILIES["Dirichlet"], Array("eta_1")[K]
    found = plain(row, [leaf], (K,), {})
    values, over = {"eta_1": a - 1}, (Range(K, 0, 3),)
    mean, variance = (evaluate(f, over, values, {K: 3})[0] for f in (found.mean, found.variance))
    assert mean == pytest.approx(first, rel=0, abs=off)
    assert variance == pytest.approx(second - first**2, rel=0, abs=off_second + 2 * first * off)


# ---- between bounds --------------------------------------------------------------------------

TRUNCATED = [e for e in table.EXPONENTIAL if e.row.natural.truncated is not None]
REFUSED = {"GeneralizedInverseGaussian", "ModifiedHalfNormal", "Poisson"}
QUANTILES = [(0.2, 0.7), (0.0, 0.6), (0.3, 1.0), (0.0, 1.0), (0.8, 0.9)]
BOUNDED = [e for e in TRUNCATED if e.family not in REFUSED]


def test_few_truncated_rows_have_no_formula_for_the_mean():
    without = {e.family for e in TRUNCATED if isinstance(moment(e, "mean", (1.0, 2.0)), NoFormula)}
    assert without == REFUSED


def is_close_between(case, quantiles):
    """Whether the mean between two quantiles is what the integral says."""
    reference = table.reference_of(case)
    bounds = tuple(float(b) for b in reference.ppf(np.array(quantiles)))
    if quantiles == (0.0, 1.0) and not np.isfinite(reference.mean()):
        return not np.isfinite(moment(case, "mean", bounds)[0])
    if not np.isfinite(reference.mean()) and quantiles[1] == 1.0:
        return not np.isfinite(moment(case, "mean", bounds)[0])
    return agrees(case, *by_quantiles(reference, lambda x: x, bounds), bounds)


@table.cases(BOUNDED)
@pytest.mark.parametrize("quantiles", QUANTILES, ids=str)
def test_mean_between_bounds_is_the_integral(case, quantiles):
    assert is_close_between(case, quantiles)


@pytest.mark.parametrize("family", ["Normal", "Gamma", "LogNormal"])
def test_a_mass_that_is_forgotten_is_seen(family, monkeypatch):
    case = next(e for e in BOUNDED if e.family == family)
    monkeypatch.setattr(module, "log_mass", lambda *_: module.LogMass(*[sp.S.Zero] * 4))
    monkeypatch.setattr(module, "_rounding_of_mass", lambda *_: sp.S.Zero)
    assert not is_close_between(case, (0.2, 0.7))


@table.cases(BOUNDED)
def test_mean_of_a_narrow_interval_is_its_middle(case):
    """It was no number: what the ends differ by has no digits."""
    low = float(table.reference_of(case).ppf(0.3))
    width = 1e-9 * abs(low)
    mean, _ = moment(case, "mean", (low, low + width))

    assert abs(mean - low - width / 2) <= 1e-6 * width + ROUNDING * abs(low)


def test_mass_of_a_narrow_interval_is_its_density_times_its_width():
    ends = Array("lower_end")[()], Array("upper_end")[()]
    etas = Array("eta_1")[()], Array("eta_2")[()]
    mass = module.log_mass(FAMILIES["Normal"], Symbols(etas, bounds=ends), etas)
    values = {"eta_1": 0.0, "eta_2": -0.5, "lower_end": 0.3, "upper_end": 0.3 + 2.0**-40}
    found = float(evaluate(mass, (), values, {}))

    assert found == pytest.approx(stats.norm.logpdf(0.3) - 40 * np.log(2), rel=1e-9)


@pytest.mark.parametrize("bounds", [(1.0, 1.0 + 1e-5), (5e4, np.inf)])
def test_what_rounding_would_spoil_is_no_number(bounds):
    case = next(e for e in BOUNDED if e.family == "Normal")
    assert np.isnan(moment(case, "mean", bounds)[0])


def test_mean_far_in_a_tail():
    """Of a normal variable above 8 sds: Mills' ratio, from the tail itself."""
    found = formulas("Normal", 2, bounds=True)
    values = {"eta_1": -8.0, "eta_2": -0.5, "lower_end": 0.0, "upper_end": np.inf}
    expected = -8 + np.exp(stats.norm.logpdf(8) - stats.norm.logsf(8))
    # (two numbers near 8 cancel)
    mean = float(evaluate(found.mean, (), values, {}))
    assert mean == pytest.approx(expected, rel=0, abs=8 * ROUNDING)


# ---- after a change of variable --------------------------------------------------------------

HALF = sp.Rational(1, 2)
CHANGES = [
    ("Gamma", Change(POWER, sp.Integer(-1))),
    ("Gamma", Change(POWER, sp.Integer(-2))),
    ("Gamma", Change(POWER, HALF)),
    ("InverseGamma", Change(POWER, sp.Integer(2))),
    ("Normal", Change(LOG)),
    ("Normal", Change(SCALE, sp.Integer(3))),
    ("Normal", Change(SHIFT, sp.Integer(2))),
    ("Beta", Change(COMPLEMENT, sp.Integer(1))),
    ("Beta", Change(PROBABILITY)),
    ("BetaPrime", Change(ODDS)),
]


CHANGED = [f"{family}-{c.transform.name}-{c.constant}" for family, c in CHANGES]


@pytest.mark.parametrize(("family", "change"), CHANGES, ids=CHANGED)
@pytest.mark.parametrize("quantiles", [None, (0.2, 0.7)], ids=str)
def test_mean_after_a_change_is_the_integral(family, change, quantiles):
    case = next(e for e in table.EXPONENTIAL if e.family == family)
    reference = table.reference_of(case)
    bounds = None if quantiles is None else tuple(reference.ppf(np.array(quantiles)))
    x = sp.Symbol("x", positive=family != "Normal" or None)
    undone = sp.lambdify(x, change.backward(x), "numpy")
    assert agrees(case, *by_quantiles(reference, undone, bounds), bounds, change)


def test_a_mean_that_is_infinite_after_a_change_is_so():
    gammas = [e for e in table.EXPONENTIAL if e.family == "Gamma"]
    case = next(e for e in gammas if e.parameters["shape"] < 1)
    assert moment(case, "mean", change=Change(POWER, sp.Integer(-1)))[0] == np.inf


@pytest.mark.parametrize(
    ("family", "change"),
    [("Gamma", Change(EXPONENTIAL, sp.S.One)), ("Normal", Change(LOGIT))],
    ids=["exp", "logit"],
)
def test_a_change_without_a_formula_says_so(family, change):
    case = next(e for e in table.EXPONENTIAL if e.family == family)
    found = moment(case, "mean", change=change)
    assert isinstance(found, NoFormula)
    assert family in found.reason
