"""What the rows of functions say, against their references in arbitrary precision.

A reference (``references/exact_functions``) knows nothing of the package. Each fact of a row is
looked at where the reference has numbers, extreme ones too.
"""

import ast
import itertools
import math

import mpmath
import numpy as np
import pytest
import sympy as sp
from mpmath import mpf
from references.exact_functions import FUNCTIONS as REFERENCES

from gibbsppl.algebra import functions
from gibbsppl.algebra.differentials import differential
from gibbsppl.algebra.expressions import Array
from gibbsppl.algebra.functions import (
    FUNCTIONS,
    ROWS,
    LogMass,
    LogPhi,
    complement_of,
    in_full,
    log_of,
)
from gibbsppl.algebra.notation import Notation
from gibbsppl.bugs.parse import parse
from gibbsppl.model.evaluation import evaluate

OF_ONE = {row.of.__name__: row for row in ROWS if len(next(iter(REFERENCES[row.numpy].at))) == 1}
HAVING = {
    fact: [name for name, row in OF_ONE.items() if getattr(row, fact) is not None]
    for fact in ("derivative", "inverse", "log", "in_full")
}
X = Array("x")[()]
EPS = np.finfo(float).eps
# A composition of some dozens of operations, each of which rounds its arguments and its result.
OPERATIONS = 64


def exactly(row, *arguments):
    reference = REFERENCES[row.numpy]
    with mpmath.workdps(reference.digits):
        return reference.value(*map(mpf, arguments))


def points(row, most=40.0):
    """Where the reference of a function of one argument is looked at, of moderate size."""
    return [x for (x,) in REFERENCES[row.numpy].at if 1e-9 <= abs(x) <= most]


def value(expr, x):
    with np.errstate(all="ignore"):
        return float(evaluate(expr, (), {"x": float(x)}, {}))


def is_near(found, expected, moved=0.0):
    """Whether a value is an exact one, to the rounding of its argument and of itself."""
    return abs(mpf(found) - expected) <= OPERATIONS * EPS * (abs(expected) + moved) + 1e-300


def wrong_derivatives(row, derivative):
    function, expr = REFERENCES[row.numpy].value, derivative(X)
    wrong = []
    for x in points(row):
        with mpmath.workdps(200):
            slope, beside = (mpmath.diff(function, mpf(x) * (1 + r)) for r in (0, mpf(2) ** -40))
            # (exponents as large as a square are rounded, too)
            moved = abs(beside - slope) * 2**40 + abs(slope) * x**2
        if not is_near(value(expr, x), slope, moved):
            wrong.append(x)
    return wrong


@pytest.mark.parametrize("name", HAVING["derivative"])
def test_a_derivative_is_one(name):
    row = OF_ONE[name]
    assert len(points(row)) > 3
    assert wrong_derivatives(row, row.derivative) == []
    assert wrong_derivatives(row, lambda x: row.derivative(x) * (1 + sp.Rational(1, 10**9))) != []


# Derivatives of functions of two arguments by each, and where they are looked at.
ORDERS = (0.3, 2.6, 7.3), (0.01, 0.7, 3.0, 20.0)
SHAPES = (0.2, 1.0, 6.0), (-4.0, -0.3, 0.1, 2.5)
POSITIVE = (0.3, 1.0, 7.3), (0.01, 0.7, 3.0, 20.0)
REAL = (-3.0, -0.3, 0.4, 2.6), (0.2, 1.0, 4.0)
OF_SEVERAL = {
    "LogBesselI": ORDERS,
    "LogBesselK": ORDERS,
    "LogFoxWright": SHAPES,
    **dict.fromkeys(("LogBeta", "LogRising", "LogGammaP", "LogGammaQ", "LogGammaU"), POSITIVE),
    **dict.fromkeys(("Weighted", "XLogY"), REAL),
    # (the first is minus half the second at least)
    **dict.fromkeys(("LogPassageP", "LogPassageQ"), ((-0.1, 0.4, 2.6), (0.2, 1.0, 4.0))),
    "LogBetaI": ((0.3, 4.0), (0.7, 3.0), (0.02, 0.4, 0.9)),
}
# (the mass of an interval is computed from one of its tails, and changes with its bounds)
TIED = {"LogMass"}
BY_PLACE = [
    (row, place)
    for row in ROWS if row.of.__name__ not in {*OF_ONE, *TIED}
    for places in [len(next(iter(REFERENCES[row.numpy].at)))]
    for place in (*row.by_earlier, *([places - 1] if row.derivative else []))
]  # fmt: skip


def wrong_by_place(row, place, derivative):
    """The points at which an expression is not the derivative of a reference at a place."""
    names, wrong, ranges = ("a", "b", "c"), [], OF_SEVERAL[row.of.__name__]
    expr = derivative(*(Array(n)[()] for n in names[: len(ranges)]))
    for at in itertools.product(*ranges):
        with mpmath.workdps(50):
            order = tuple(int(j == place) for j in range(len(at)))
            slope = mpmath.diff(REFERENCES[row.numpy].value, tuple(map(mpf, at)), order)
            # (differences of logs, and a ratio of the arguments that may cancel)
            moved = sum(map(abs, at)) + abs(exactly(row, *at)) + abs(at[0] / at[1])
        found = float(evaluate(expr, (), dict(zip(names, at, strict=False)), {}))
        if not is_near(found, slope, moved * (1 + abs(slope))):
            wrong.append(at)
    return wrong


@pytest.mark.parametrize(
    ("row", "place"), BY_PLACE, ids=[f"{row.of.__name__}-{place}" for row, place in BY_PLACE]
)
def test_derivatives_by_each_of_several_arguments_are_theirs(row, place):
    derivative = row.by_earlier.get(place, row.derivative)
    spoilt = 1 + sp.Rational(1, 10**8)
    assert wrong_by_place(row, place, derivative) == []
    assert wrong_by_place(row, place, lambda *of: derivative(*of) * spoilt) != []


def slope_of_mass(x, spoilt=1):
    """The derivative of the log of the mass between two bounds that move, by its row."""
    lower, upper = X**2 - 40, X**2 - 39
    tails = (LogPhi(lower), LogPhi(upper), LogPhi(-lower), LogPhi(-upper))
    slope = spoilt * differential(LogMass(*tails), {"x": "h"})
    return value(slope.xreplace({Array("h")[()]: sp.S.One}), x)


@pytest.mark.parametrize("x", [5.9, 6.2, 6.3, 6.6, 7.0])
def test_the_mass_of_an_interval_changes_with_its_bounds(x):
    """In either tail and about the middle."""
    with mpmath.workdps(400):
        mass = lambda x: mpmath.log(mpmath.ncdf(40 - x**2) - mpmath.ncdf(39 - x**2))  # noqa: E731
        slope = mpmath.diff(mass, mpf(x))
    # (exponents as large as half the square of a bound are rounded)
    moved = (1 + 40**2) * abs(slope)
    assert is_near(slope_of_mass(x), slope, moved)
    assert not is_near(slope_of_mass(x, 1 + sp.Rational(1, 10**6)), slope, moved)


@pytest.mark.parametrize("name", HAVING["inverse"])
def test_an_inverse_undoes_its_function(name):
    row = OF_ONE[name]
    found = []
    for x in points(row):
        y = exactly(row, x)
        lower, upper = (float(e) for e in row.between)
        if not lower < float(y) < upper or float(y) in (0.0, 1.0):
            continue
        back = value(row.inverse(X), y)
        # (what a float of y can tell of x, from the slope there)
        told = abs(y) / abs(mpf(value(row.derivative(X), x)))
        found.append(abs(back - x) <= OPERATIONS * EPS * (abs(x) + float(told)))
    assert len(found) > 2
    assert all(found)


@pytest.mark.parametrize("name", HAVING["log"])
def test_a_log_is_that_of_the_function_and_of_its_complement(name):
    row = OF_ONE[name]
    for x in points(row, 700.0):
        with mpmath.workdps(400):
            y = exactly(row, x)
            assert is_near(value(log_of(row.of(X)), x), mpmath.log(y), abs(x) ** 2)
            rest = REFERENCES[row.numpy].value(-mpf(x)) if row.symmetric else None
            if rest:
                assert is_near(value(log_of(1 - row.of(X)), x), mpmath.log(rest), abs(x) ** 2)
                assert is_near(value(complement_of(row.of(X)), x), rest, rest * abs(x) ** 2)
    assert (complement_of(row.of(X)) is None) != row.symmetric


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.of.__name__)
def test_values_are_where_the_row_says(row):
    lower, upper = row.between
    values = [exactly(row, *at) for at in REFERENCES[row.numpy].at]
    values = [v for v in values if not mpmath.isnan(v)]

    assert all(mpf(float(lower)) <= v <= mpf(float(upper)) for v in values)
    if row.at is not None:
        at, there = row.at
        assert exactly(row, float(at)) == mpf(float(there))
    if row.fades:
        assert all(v != 0 for v in values)
        assert min(abs(exactly(row, sign * 700.0)) for sign in (1, -1)) < 1e-100


@pytest.mark.parametrize("name", [n for n, row in OF_ONE.items() if row.increasing])
def test_what_is_increasing_never_falls(name):
    row = OF_ONE[name]
    at = sorted(x for (x,) in REFERENCES[row.numpy].at)
    values = [exactly(row, x) for x in at]

    assert values == sorted(values)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.of.__name__)
def test_what_a_function_stands_for_is_it(row):
    if row.in_full is None:
        return
    names = [Array(n)[()] for n in "ab"][: len(next(iter(REFERENCES[row.numpy].at)))]
    expr, full = row.of(*names), row.in_full(*names)
    assert not full.has(row.of)
    assert in_full(expr) == (expr if row.text else full)
    for at in ((0.7, 1.3), (2.5, 0.4)):
        values = {str(n): v for n, v in zip(names, at, strict=False)}
        one, other = (float(evaluate(e, (), values, {})) for e in (expr, full))
        assert one == pytest.approx(other, rel=1e-12)


@pytest.mark.parametrize("name", [n for n, row in OF_ONE.items() if row.loop])
def test_the_text_of_loops_computes_the_function(name):
    row = OF_ONE[name]
    found = 0
    for x in (v for v in points(row) if v > 0 or name in {"exp", "Softplus"}):
        value = eval(row.loop.format("x"), {"math": math, "x": x})  # noqa: S307  (of our own row)
        # (near its zeros a logarithm moves as its argument does, by the size of that)
        assert is_near(value, exactly(row, x), 1 + abs(x) * abs(exactly(row, x)))
        found += 1
    assert found > 5


def test_texts_are_of_their_languages():
    for row in ROWS:
        written = row.printed("x") if not row.relation else "x"
        assert Notation({}).text(X) in written
        if row.loop:
            ast.parse(row.loop.format("x"))
        if row.latex:
            assert row.latex.format("x").count("{") == row.latex.format("x").count("}")
        if row.bugs and row.of in (f.of for f in OF_ONE.values()):
            parse(f"model {{ y <- {row.bugs}(x) }}")


def test_each_function_has_one_row():
    assert len(FUNCTIONS) == len(ROWS)
    declared = {f for f in vars(functions).values() if isinstance(f, type)
                and issubclass(f, sp.Function) and f.__module__ == functions.__name__}
    assert declared <= set(FUNCTIONS)
