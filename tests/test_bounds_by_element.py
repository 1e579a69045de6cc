"""Ends with the data known, element by element: no value is beyond them, some are near to them."""

import math

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from test_signs import DRAWS, KNOWN, LEAVES, NUMBERS, K, a, c, is_real, larger, m, n, p, q, x, y

import gibbsppl as gp
from gibbsppl.algebra.expressions import Over, Times
from gibbsppl.algebra.functions import AtMost, Equals, Expit, Maximum, Minimum, Phi, Where
from gibbsppl.algebra.ranges import Range
from gibbsppl.analysis.bounds import ends_of
from gibbsppl.model.evaluation import evaluate

OVER = (Range(K, 0, 3),)
DATA = {"c": np.asarray(-0.7), "q": np.array([0.0, 0.4, 1.0])}


def graph():
    """Variables with the supports that draws of `test_signs` have; two arrays are data."""
    with gp.Model(coords={"k": 3}) as model:
        gp.Normal("x", 0, sigma=2)
        gp.Gamma("a", 1, rate=1)
        gp.Gamma("b", 1, rate=1)
        gp.Poisson("y", 1.0)
        gp.Beta("p", 1, 1)
        gp.Normal("n", 0, sigma=1, lower=1)
        gp.Normal("m", 0, sigma=1, lower=-3, upper=-2)
    return model.graph


GRAPH = graph()


def values_of(expr, seed):
    """Values of an expression at a draw of all variables, one for each element."""
    rng = np.random.default_rng(seed)
    drawn = {name: draw(rng) for name, draw in DRAWS.items()} | DATA
    return np.broadcast_to(evaluate(expr, OVER, drawn, GRAPH.sizes), 3)


def beyond(expr, ends, seed):
    """The finite values of an expression that are beyond its ends."""
    lower, upper = ends
    values = np.array([values_of(expr, seed + draw) for draw in range(20)])
    rounding = 1e-9 * (1 + np.where(np.isfinite(values), abs(values), 0))
    is_beyond = (values < lower - rounding) | (values > upper + rounding)
    return values[is_beyond & np.isfinite(values)].tolist()


def of(expr):
    """The ends of an expression, with the data known."""
    return ends_of(expr, OVER, GRAPH, DATA)


EXPRESSIONS = st.recursive(st.sampled_from((*LEAVES, q, *NUMBERS)), larger, max_leaves=5)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(EXPRESSIONS, st.integers(0, 10**6))
def test_no_value_is_beyond_the_ends(expr, seed):
    if is_real(expr):
        assert beyond(expr, of(expr), seed) == []


def test_ends_that_are_too_near_are_found():
    lower, upper = of(Expit(x))
    assert beyond(Expit(x), (lower + 0.5, upper), 1) != []
    assert beyond(Expit(x), (lower, upper - 0.5), 1) != []


@pytest.mark.parametrize(
    ("expr", "lower", "upper"),
    [
        (c, -0.7, -0.7),
        (q, [0, 0.4, 1], [0, 0.4, 1]),
        (p - q, [0, -0.4, -1], [1, 0.6, 0]),
        (q * m, [0, -1.2, -3], [0, -0.8, -2]),
        (a * q, 0, [0, math.inf, math.inf]),
        (-sp.exp(x), -math.inf, 0),
        (sp.exp(-n), 0, math.exp(-1)),
        (Phi(m + 2), Phi(sp.Integer(-1)).evalf(), 0.5),
        (sp.Abs(p - q), 0, [1, 0.6, 1]),
        (sp.Abs(m), 2, 3),
        (Minimum(p, q), 0, q),
        (Maximum(p, q), q, 1),
        (m**2, 4, 9),
        ((p - q) ** 2, 0, [1, 0.36, 1]),
        (m**-3, -1 / 8, -1 / 27),
        (1 / p, 1, math.inf),
        (sp.sqrt(n), 1, math.inf),
        (1 / (p - q), [1, -math.inf, -math.inf], [math.inf, math.inf, -1]),
        (Where(Equals(q, 0), p, m), [0, -3, -3], [1, -2, -2]),
        (Where(AtMost(x, 0), p, m), -3, 1),
        (AtMost(x, c), 0, 1),
        (sp.cos(x), -1, 1),
        (y + 1, 1, math.inf),
        (Over(p - q, K), -1.4, 1.6),
        (Times(p - q, K), -0.6, 0.6),
        (Times(n, K), 1, math.inf),
    ],
)
def test_ends_are_as_near_as_each_rule_can_tell(expr, lower, upper):
    found = of(expr)
    expected = (values_of(e, 0) if isinstance(e, sp.Basic) else e for e in (lower, upper))

    for end, known in zip(found, expected, strict=True):
        np.testing.assert_allclose(end, np.broadcast_to(known, 3).astype(float), rtol=1e-15)


def test_the_supports_are_those_that_exact_ends_are_checked_with():
    for leaf, known in KNOWN.items():
        if leaf.array.name not in DATA:
            lower, upper = of(leaf)
            assert (float(lower[0]), float(upper[0])) == tuple(map(float, known))
