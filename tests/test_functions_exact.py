"""Every function that the interpreter and generated code share, against arbitrary precision.

The two sides of the ratio check call the same functions, so that a wrong one would cancel there:
here each is compared with its definition. A function without a row fails.
"""

import sys

import mpmath
import numpy as np
import pytest
import sympy as sp
from mpmath import mpf
from references import exact_functions
from references.exact_functions import FUNCTIONS, log_normal_cdf

from gibbsppl.algebra.expressions import Array
from gibbsppl.algebra.functions import ROWS, Expit, Phi
from gibbsppl.model.evaluation import evaluate
from gibbsppl.runtime import functions

EPS = sys.float_info.epsilon
# A composition of some dozens of operations, each of which rounds its arguments and its result.
OPERATIONS = 64
# What the interpreter calls besides the functions of expressions.
OF_THE_INTERPRETER = ("log_one_minus_exp", "log_cloglog")
# Written by the back end alone: logs of sums of exponentials, roots, one over what may be 0.
OF_THE_BACK_END = ("log_add_exp", "sqrt", "reciprocal")


def condition(value, arguments):
    """How far a value moves when its arguments do, each by its own size."""
    step = mpf(2) ** -80
    at = value(*arguments)
    moved = (
        [a * (1 + step) if k == j else a for k, a in enumerate(arguments)]
        for j in range(len(arguments))
    )
    return sum(abs(value(*m) - at) / step for m in moved)


def normal_mass(l, u):
    """``log_mass``, called as a truncated normal calls it."""
    log_cdf = functions.normal_log_cdf
    return functions.log_mass(log_cdf(l), log_cdf(u), log_cdf(-l), log_cdf(-u))


def conditions_of_mass(l, u):
    """The logs that a mass is the difference of are rounded, those of the smaller tail."""
    pairs = [(log_normal_cdf(a), log_normal_cdf(b)) for a, b in ((l, u), (-u, -l))]
    low, high = min(pairs)
    share = mpmath.exp(low - high) if low < high else mpf(0)
    return (abs(high) + abs(low) * share) / (1 - share)


DISCRETE = ("where", "at_most", "below", "equals", "log_stirling")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_is_its_definition(name):
    row = FUNCTIONS[name]
    called = normal_mass if name == "log_mass" else getattr(functions, name)
    wrong = []
    for arguments in row.at:
        with mpmath.workdps(row.digits):
            exact = [mpf(a) for a in arguments]
            expected = row.value(*exact)
            moved = mpf(0) if name in DISCRETE or 0 in exact[:1] else condition(row.value, exact)
            if name == "log_mass":
                moved = conditions_of_mass(*exact)
            tolerance = OPERATIONS * EPS * (abs(expected) + moved) + sys.float_info.min
            with np.errstate(over="ignore", under="ignore"):
                found = mpf(float(called(*map(float, arguments))))
            if not abs(found - expected) <= tolerance:
                wrong.append((arguments, float(found), float(expected), float(tolerance)))
    assert wrong == []


def test_both_references_of_the_polya_gamma_density_agree_with_it_far_out():
    """The series cancels to the right; the inversion does not, and reaches what it cannot."""
    far = [(1e-12, 250.0), (0.0123, 245.28480881816924), (1.0, 1e-4), (60.0, 250.0), (1e3, 100.0)]
    beyond = [(b, x) for b in (1e-3, 1.0, 1e3, 1e6) for x in (b / 40, b / 4, 1e4, 1e8)]
    with mpmath.workdps(20):
        inverted = [exact_functions.log_polya_gamma_inverted(mpf(b), mpf(x)) for b, x in far]
        series = [exact_functions.log_polya_gamma(mpf(b), mpf(x)) for b, x in far]
        there = [exact_functions.log_polya_gamma_inverted(mpf(b), mpf(x)) for b, x in beyond]
    found = functions.log_polya_gamma(*np.array([*far, *beyond]).T)

    assert all(mpmath.almosteq(*pair, rel_eps=1e-17) for pair in zip(inverted, series, strict=True))
    # (with 1e-16 of each of a large shape's cumulants, which cancel in the bulk)
    shapes = np.array([b for b, _ in (*far, *beyond)])
    expected = np.array([float(v) for v in (*series, *there)])
    rounding = OPERATIONS * EPS * (1 + np.abs(expected)) + EPS * shapes
    np.testing.assert_array_less(np.abs(found - expected), rounding)


def test_every_function_has_a_row():
    called = {n for r in ROWS for n in (r.numpy, r.near_one, r.of_exponential) if n}

    assert set(FUNCTIONS) == {*called, *OF_THE_INTERPRETER, *OF_THE_BACK_END}


def test_functions_take_arrays():
    for name, row in FUNCTIONS.items():
        points = list(row.at)[:3] * 2
        if name == "log_mass":
            continue
        called = getattr(functions, name)
        with np.errstate(all="ignore"):
            at_once = called(*np.array(points).T)
            one_by_one = [float(called(*p)) for p in points]
        np.testing.assert_allclose(at_once, one_by_one, rtol=1e-12, err_msg=name)


def test_a_wrong_function_is_caught(monkeypatch):
    for name, wrong in (
        ("log_gamma_q", functions.log_gamma_p),
        ("loggamma", lambda x: np.log(x) * 1.0),
        ("softplus", lambda x: np.log1p(np.exp(np.minimum(x, 700.0)))),
        ("log_stirling", lambda n, l: functions.loggamma(n) + 0 * l),
    ):
        monkeypatch.setattr(functions, name, wrong)
        with pytest.raises(AssertionError):
            test_a_function_is_its_definition(name)
        monkeypatch.undo()


TAILS = {
    "Phi": (Phi, log_normal_cdf),
    "one minus Phi": (lambda x: 1 - Phi(x), lambda x: log_normal_cdf(-x)),
    "Expit": (Expit, lambda x: -mpmath.log1p(mpmath.exp(-x))),
    "one minus Expit": (lambda x: 1 - Expit(x), lambda x: -mpmath.log1p(mpmath.exp(x))),
    "a power": (lambda x: 3 * Phi(x) ** 2 * sp.exp(x),
                lambda x: mpmath.log(3) + 2 * log_normal_cdf(x) + x),
}  # fmt: skip


@pytest.mark.parametrize("x", [-1e5, -107.0, -3.0, 0.5, 40.0, 1e5])
@pytest.mark.parametrize("name", TAILS)
def test_the_log_of_a_tail_is_a_number_where_the_tail_is_none(name, x):
    """Logs of tails, as of probabilities that were written as what they lack to 1."""
    formula, exact = TAILS[name]
    expr = sp.log(formula(Array("x")[()]))
    found = float(evaluate(expr, (), {"x": x}, {}))

    with mpmath.workdps(50):
        wanted = exact(mpf(x))
    assert found == pytest.approx(float(wanted), rel=OPERATIONS * EPS, abs=1e-300)
