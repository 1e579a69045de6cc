"""Monotone functions undone: back to the part that they are of, and which way they go."""

import itertools

import numpy as np
import pytest
import sympy as sp

from gibbsppl.algebra.expressions import Array
from gibbsppl.algebra.functions import FUNCTIONS, Expit, Softplus
from gibbsppl.algebra.inverses import solve_for
from gibbsppl.model.evaluation import evaluate

X, B = Array("x")[()], Array("b", positive=True)[()]
Y = Array("y")[()]

# Each takes values near one to such values.
OUTER = {
    "a sum": lambda e: 3 - e,
    "a multiple": lambda e: e / B + 1,
    "exp": lambda e: sp.exp(-e / 2),
    "expit": Expit,
    "softplus": Softplus,
    "a power": lambda e: (1 + sp.exp(e)) ** sp.Rational(-3, 2),
}


def value(expr, **at):
    return float(evaluate(expr, (), {"b": 1.7, **at}, {}))


@pytest.mark.parametrize("names", [*itertools.product(OUTER, repeat=2)], ids=" of ".join)
def test_what_is_undone_is_the_part_again(names):
    outer, inner = names
    of = OUTER[outer](OUTER[inner](X))
    found = solve_for(of, X, Y)
    points = np.array([-0.7, 0.2, 1.1])
    values = [value(of, x=x) for x in points]

    assert found is not None
    expr, rises = found
    assert [value(expr, y=y) for y in values] == pytest.approx(points, rel=1e-9)
    assert rises == (values[0] < values[-1])


@pytest.mark.parametrize("function", [f for f, row in FUNCTIONS.items() if row.inverse])
def test_a_bound_that_no_value_reaches_is_infinite(function):
    lower, upper = (float(e) for e in FUNCTIONS[function].between)
    for end, beyond in ((lower, lower - 1), (upper, upper + 1)):
        if np.isinf(end):
            continue
        expr, _ = solve_for(function(X), X, Y, clipped=True)
        assert value(expr, y=beyond) == (-np.inf if end == lower else np.inf)
        number = sp.Rational(beyond)
        assert solve_for(function(X), X, number, clipped=True)[0] == (
            -sp.oo if end == lower else sp.oo
        )


@pytest.mark.parametrize("exponent", [B, -B])
def test_a_power_is_undone_where_its_exponent_has_a_sign(exponent):
    base = Array("base", positive=True)[()]
    expr, rises = solve_for(base**exponent, base, Y, clipped=True)
    values = [value(base**exponent, base=at) for at in (0.3, 1.0, 2.5)]

    assert [value(expr, y=v) for v in values] == pytest.approx([0.3, 1.0, 2.5], rel=1e-12)
    assert rises == (values[0] < values[-1])
    assert value(expr, y=-1.0) == (0 if rises else np.inf)
    assert solve_for(base**X, base, Y) is None


@pytest.mark.parametrize("of", [X**2, X + sp.exp(X), sp.cos(X), sp.Abs(X)])
def test_what_is_not_monotone_is_not_undone(of):
    assert solve_for(of, X, Y) is None


def test_a_multiple_of_unknown_sign_goes_neither_way():
    a = Array("a")[()]
    assert solve_for(a * X, X, Y) == (Y / a, None)
