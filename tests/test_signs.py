"""Intervals and signs against values: what is claimed must hold wherever the bounds hold."""

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Abs, Rational, exp, log, oo, sqrt

import gibbsppl as gp
from gibbsppl.algebra.expressions import Array, Dim, Over, Times
from gibbsppl.algebra.functions import (
    AtMost,
    Equals,
    Expit,
    LogPhi,
    Maximum,
    Minimum,
    Phi,
    Softplus,
    Where,
)
from gibbsppl.algebra.log_gamma import loggamma
from gibbsppl.analysis.bounds import interval_of, sign_of
from gibbsppl.analysis.signs import derivatives, sign_by_coefficients, sign_of_second_derivative
from gibbsppl.analysis.signs.derivatives import _curve_of, slope
from gibbsppl.analysis.signs.samples import signs_taken
from gibbsppl.model.evaluation import evaluate

K = Dim("k")
SIZES = {K: 3}
x, c = Array("x")[()], Array("c")[()]
a, b = Array("a", positive=True)[()], Array("b", positive=True)[()]
y = Array("y", nonnegative=True)[()]
p, q = Array("p")[()], Array("q")[K]
n, m = Array("n")[()], Array("m")[()]

KNOWN = {p: (0, 1), q: (0, 1), n: (1, oo), m: (-3, -2)}
DRAWS = {
    "x": lambda rng: rng.normal(0, 2),
    "c": lambda rng: rng.normal(0, 2),
    "a": lambda rng: rng.exponential(),
    "b": lambda rng: rng.exponential(),
    "y": lambda rng: rng.poisson(1.0),
    "p": lambda rng: rng.uniform(),
    "q": lambda rng: rng.uniform(size=3),
    "n": lambda rng: 1 + rng.exponential(),
    "m": lambda rng: rng.uniform(-3, -2),
}


@pytest.mark.parametrize(
    ("expr", "sign"),
    [
        (a, "positive"),
        (y, "nonnegative"),
        (x, "unknown"),
        (-a * b, "negative"),
        (x**2 + a, "positive"),
        (x**2, "nonnegative"),
        (-(x**4), "nonpositive"),
        (x**3, "unknown"),
        (1 - p, "nonnegative"),
        (p - 2, "negative"),
        (p * (p - 1), "nonpositive"),
        (1 / m, "negative"),
        (m**-2, "positive"),
        (1 / x, "unknown"),
        (x**-2, "nonnegative"),
        (sqrt(a), "positive"),
        (n ** (-a), "positive"),
        (n**y - 1, "nonnegative"),
        (p**y - 1, "nonpositive"),
        (log(n), "nonnegative"),
        (log(p), "nonpositive"),
        (log(a), "unknown"),
        (log(sp.Integer(2)) - 1, "negative"),
        (exp(x) - 1, "unknown"),
        (exp(a) - 1, "nonnegative"),
        (Expit(x), "positive"),
        (1 - Expit(x), "nonnegative"),
        (Phi(a) - Rational(1, 2), "nonnegative"),
        (LogPhi(x), "negative"),
        (Softplus(x), "positive"),
        (-Softplus(x) * a, "negative"),
        (n - 1, "nonnegative"),
        (n + p, "positive"),
        (1 - AtMost(x, c), "nonnegative"),
        (Where(Equals(x, c), a, n), "positive"),
        (Where(Equals(x, c), a, -n), "unknown"),
        (Minimum(a, x), "unknown"),
        (Maximum(n, x), "positive"),
        (Abs(x), "nonnegative"),
        (Abs(m) - 1, "positive"),
        (Over(a, K), "positive"),
        (Over(-q, K), "nonpositive"),
        (Over(x, K), "unknown"),
        (Over(n, K, 0, 2) - 1, "positive"),
        (1 - Times(q, K), "nonnegative"),
        (loggamma(n + 1), "nonnegative"),
        (loggamma(p + 1), "nonpositive"),
        (loggamma(a), "unknown"),
        (K + 1, "positive"),
        (sp.Integer(0), "zero"),
        (sp.nan, "unknown"),
    ],
)
def test_signs(expr, sign):
    assert sign_of(expr, KNOWN.get) == sign


def test_decimals_are_added_exactly():
    exact = {x: (Rational("0.1"), Rational("0.1")), c: (Rational("0.2"), Rational("0.2"))}

    assert interval_of(x + c - Rational("0.3"), exact.get) == (0, 0)
    assert interval_of(x, {x: (0.1, 0.1)}.get)[0] <= Fraction(0.1)


def test_irrational_numbers_lie_inside_their_interval():
    for number in (sp.pi, sqrt(2), log(sp.Integer(7)), -sp.E):
        lower, upper = interval_of(number, {}.get)
        assert sp.Rational(lower) < number < sp.Rational(upper)


def test_bounds_may_be_expressions_and_never_run_in_a_circle():
    assert sign_of(x, {x: (p, oo), p: (0, 1)}.get) == "nonnegative"
    assert sign_of(x, {x: (a, oo)}.get) == "nonnegative"
    assert sign_of(x, {x: (c, oo), c: (-oo, x)}.get) == "unknown"


def test_a_bound_in_terms_of_another_array_tells_of_their_difference():
    below = {x: (0, c), c: (0, oo)}.get

    assert sign_of(c - x, below) == "nonnegative"
    assert sign_of(x - c - 1, below) == "negative"
    assert sign_of(c - 2 * x, below) == sign_of(c + x - 1, below) == "unknown"


def test_assumptions_and_bounds_are_both_used():
    assert interval_of(a, {a: (-3, 5)}.get) == (0, 5)
    assert interval_of(a, {a: (2, oo)}.get) == (2, math.inf)


# ---- random expressions ----------------------------------------------------------------------

NUMBERS = tuple(map(sp.Rational, ("-2", "-1/2", "1/3", "1", "2", "3")))
LEAVES = (x, c, a, b, y, p, n, m)
ONE_ARGUMENT = (exp, log, Abs, loggamma, sp.atan, sp.cos, Expit, Softplus, Phi, LogPhi)
EXPONENTS = (-2, -1, 2, 3, Rational(1, 2), Rational(-3, 2), y, c)


def larger(parts):
    return st.one_of(
        st.builds(lambda u, v: u + v, parts, parts),
        st.builds(lambda u, v: u - v, parts, parts),
        st.builds(lambda u, v: u * v, parts, parts),
        st.builds(lambda f, u: f(u), st.sampled_from(ONE_ARGUMENT), parts),
        st.builds(sp.Pow, parts, st.sampled_from(EXPONENTS)),
        st.builds(lambda f, u, v: f(u, v), st.sampled_from((Minimum, Maximum)), parts, parts),
        st.builds(lambda u, v, w: Where(AtMost(u, v), v, w), parts, parts, parts),
        st.builds(lambda u: Over(u * q, K), parts),
        st.builds(lambda u: Times(u + q, K), parts),
    )


EXPRESSIONS = st.recursive(st.sampled_from(LEAVES + NUMBERS), larger, max_leaves=5)


def violations(expr, interval, seed):
    """The values of an expression outside the interval claimed, and how many were finite."""
    lower, upper = (float(e) for e in interval)
    outside, count = [], 0
    for _ in range(20):
        rng = np.random.default_rng(seed := seed + 1)
        values = {name: draw(rng) for name, draw in DRAWS.items()}
        value = float(evaluate(expr, (), values, SIZES))
        rounding = 1e-9 * (1 + abs(value))
        if math.isfinite(value):
            count += 1
            outside += [value] * (not lower - rounding <= value <= upper + rounding)
    return outside, count


def is_real(expr):
    """Whether SymPy has left nothing complex or infinite in it (``loggamma(-1/2)`` is both)."""
    numbers = [e for e in sp.preorder_traversal(expr) if e.is_number and not e.is_Rational]
    no_parts = not expr.has(sp.re, sp.im, sp.arg, sp.AccumBounds)
    return no_parts and all(n.evalf(20).is_Float for n in numbers)


def test_numbers_that_are_not_real_are_known():
    assert not is_real(exp(loggamma(Rational(-1, 2))))
    assert not any(map(is_real, (sp.zoo, sp.nan, sp.oo, sp.I * x, sp.atan(sp.zoo))))
    assert is_real(sqrt(2) + loggamma(Rational(7, 2)) * x)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(EXPRESSIONS, st.integers(0, 10**6))
def test_values_keep_to_their_intervals(expr, seed):
    if is_real(expr):
        assert violations(expr, interval_of(expr, KNOWN.get), seed)[0] == []


def test_a_range_that_is_too_narrow_is_found():
    assert violations(Expit(x), (Fraction(1, 2), math.inf), 1)[0] != []


# ---- rational functions and second derivatives -----------------------------------------------


def test_signs_by_coefficients():
    s, t = sp.symbols("s t", positive=True)
    r = sp.Symbol("r", real=True)
    assert sign_by_coefficients(s**2 - 2 * s * t + t**2) == "nonnegative"
    assert sign_by_coefficients(-1 / s + 1 / (s + r**2)) == "nonpositive"
    assert sign_by_coefficients(s + r**2) == "positive"
    assert sign_by_coefficients(-s * t) == "negative"
    assert sign_by_coefficients(s * r) == "unknown"
    assert sign_by_coefficients(s - t) == "unknown"
    assert sign_by_coefficients(s - s) == "zero"


def test_signs_taken_are_those_of_values_and_never_of_rounding_errors():
    s, t = sp.symbols("s t", positive=True)
    r = sp.Symbol("r", real=True)
    trigamma = sp.polygamma(1, s)
    assert signs_taken(s - r**2) == signs_taken(r) == signs_taken(s - t) == {1, -1}
    assert signs_taken(sqrt(s) + r**2) == signs_taken(trigamma - 1 / s) == {1}
    assert signs_taken(1 / s + 1 / s**2 - trigamma) == {1}
    assert signs_taken(-1 / s) == {-1}
    cancelling = sp.Add((1 + s) ** 2, -1, -2 * s, -(s**2))
    assert signs_taken(cancelling) == signs_taken(s * cancelling) == set()
    assert signs_taken(sp.cos(s)) == set()


@pytest.mark.parametrize(
    "curve",
    [
        a**3 - 2 * a + 1,
        a * log(1 + a**2) * exp(-a / 2),
        loggamma(a + 2) - a * loggamma(2 * a),
        (1 + exp(2 * a)) ** Rational(-3, 2),
    ],
)
def test_slopes_are_derivatives(curve):
    second = slope(slope(curve, a), a)
    at = {a: Rational(7, 10)}

    assert abs(sp.N((second - sp.diff(curve, a, 2)).subs(at), 30)) < 1e-25
    assert abs(sp.N(second.subs(at), 30)) > 1e-3


@pytest.mark.parametrize(
    ("expr", "place", "sign"),
    [
        (a * log(a), a, "nonnegative"),
        (a * log(a) - loggamma(a), a, "nonpositive"),
        (loggamma(a) - a * log(a), a, "nonnegative"),
        (2 * a * log(a) - loggamma(a), a, "unknown"),
        (loggamma(a + b) - loggamma(a), a, "nonpositive"),
        (loggamma(a + b) - 2 * loggamma(a), a, "nonpositive"),
        (2 * loggamma(a + b) - loggamma(a), a, "unknown"),
        (loggamma(a) - loggamma(a + b), a, "nonnegative"),
        (x**-2, x, "unknown"),
        (log(x**2), x, "unknown"),
        (log(x**2 - 1), x, "unknown"),
        (log(1 + x**2), x, "unknown"),
        (log(x + c) + log(c - x), x, "nonpositive"),
        ((x - c) * (x + 2), x, "nonnegative"),
        (c * x**2, x, "unknown"),
        (p * log(p) + (1 - p) * log(1 - p), p, "nonnegative"),
        (1 / (1 + exp(x)), x, "unknown"),
        (sp.cos(x), x, "unknown"),
    ],
)
def test_signs_of_second_derivatives(expr, place, sign):
    assert sign_of_second_derivative(expr, place, KNOWN.get) == sign


def test_trigamma_keeps_to_the_bounds_used():
    from scipy.special import polygamma

    u = np.logspace(-4, 4, 400)
    assert np.all(polygamma(1, u) > 1 / u + 1 / (2 * u**2))
    assert np.all(polygamma(1, u) < 1 / u + 1 / u**2)


def test_a_trigamma_is_paired_with_another_one_once():
    with gp.Model() as model:
        alpha = gp.Gamma("alpha", shape=2.0, rate=1.0)
        gp.BetaBinomial("y", n=5, alpha=alpha, beta=alpha, observed=3)

    assert gp.compile(model).verify().proved


def test_the_same_curve_between_the_same_bounds_is_looked_at_once(monkeypatch):
    looked = []

    def taken(expr):
        looked.append(expr)
        return signs_taken(expr)

    monkeypatch.setattr(derivatives, "signs_taken", taken)
    x, c = Array("x", real=True)[()], Array("looked_at_once", real=True)[()]
    curve = c * exp(x)
    signs = [
        sign_of_second_derivative(curve, x, lambda leaf, ends=ends: ends if leaf == c else None)
        for ends in ((1, 2), (1, 2), (-2, -1))
    ]

    assert signs == ["nonnegative", "nonnegative", "nonpositive"]
    assert len(looked) == 2


def test_curves_that_are_alike_are_worked_out_once():
    """The parts of a curve are named in their order: a search meets the same one in many graphs."""
    a, b = Array("a", positive=True), Array("b", positive=True)
    i, j = Dim("i"), Dim("j")
    (one, _), (other, _) = (
        _curve_of(log(x[k] + 2) * y[k] - x[k] ** 2, x[k])
        for x, y, k in ((a, b, i), (b, a, j))
    )
    assert one == other
    assert one is not None
