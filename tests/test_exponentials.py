"""Exponentials by polynomials, and logarithms of 1 plus these, have all digits."""

import mpmath
import numpy as np
import pytest
from kernels_called import Called

from gibbsppl.runtime.loops import exponentials

# What rounding does: half a unit in the last place in each of the last three operations, and what
# that of the reduced argument comes to.
UNITS = 2.0

rng = np.random.default_rng(1)
NUMBERS = [0.0, -1e-300, -1e-17, exponentials.LEAST]
NUMBERS += [*(-rng.exponential(50.0, 2000)), *(-rng.random(2000))]
HALVES = [n + s for n in range(0, 1020, 17) for s in (0.4999, 0.5, 0.5001)]
NUMBERS += [-n / exponentials.PER_LOG_2 for n in HALVES]
SHARES = [0.0, 1e-300, 1e-17, 1.0, *rng.random(2000), *(10.0 ** rng.uniform(-12, 0, 1000))]
LOG_ODDS = [*NUMBERS, *(-x for x in NUMBERS), *rng.normal(size=2000)]
# Those of a quotient and its square, of the polynomial, and of two sums, of a logarithm; with the
# exponential's, of functions of log odds.
OF_LOGARITHM, OF_FUNCTIONS = 4.0, 6.0


def compiled(module):
    pytest.importorskip("numba")
    return Called(module)


def errors(function, exact, numbers):
    """The errors of a function, in units in the last place."""
    with mpmath.workdps(40):
        for x in map(float, numbers):
            known = exact(mpmath.mpf(x))
            unit = float(np.spacing(max(float(known), np.finfo(float).tiny)))
            yield x, float(abs(function(x) - known)) / unit


def far(function, exact, numbers, units):
    """The numbers of which a function has fewer digits."""
    return [x for x, error in errors(function, exact, numbers) if not error < units]


def test_the_exponential_has_all_digits():
    numbers = [x for x in NUMBERS if x >= exponentials.LEAST]
    assert far(exponentials.exp_not_above_1, mpmath.exp, numbers, UNITS) == []


def test_the_exponential_far_out_is_that_of_the_least_or_none():
    least = exponentials.exp_not_above_1(exponentials.LEAST)
    assert exponentials.exp_not_above_1(-np.inf) == 0.0
    assert exponentials.exp_not_above_1(-1e9) == least > 0.0


def test_the_exponential_of_any_number_has_all_digits():
    numbers = [*NUMBERS, *(-x for x in NUMBERS if x > -709)]
    assert far(exponentials.exp_in_lane, mpmath.exp, numbers, UNITS) == []


def test_the_exponential_at_the_ends():
    """Numbers that are smaller than normal ones have as many digits as there are."""
    smallest = np.nextafter(0.0, 1.0)
    for x in (-745.0, -744.0, -720.0, -708.5):
        assert abs(exponentials.exp_in_lane(x) - float(mpmath.exp(x))) <= 2 * smallest
    for x in (-746.0, -1e300, -np.inf):
        assert exponentials.exp_in_lane(x) == 0.0
    with np.errstate(over="ignore"):
        for x in (709.79, 710.0, 1e300, np.inf):
            assert exponentials.exp_in_lane(x) == np.inf
    assert exponentials.exp_in_lane(709.78) == pytest.approx(float(mpmath.exp(709.78)), rel=1e-13)
    assert np.isnan(exponentials.exp_in_lane(np.nan))


def test_the_logarithm_has_all_digits():
    assert far(exponentials.log_one_plus, mpmath.log1p, SHARES, OF_LOGARITHM) == []


@pytest.mark.parametrize(
    ("name", "exact"),
    [
        ("softplus", lambda x: mpmath.log1p(mpmath.exp(x))),
        ("expit", lambda x: 1 / (1 + mpmath.exp(-x))),
    ],
)
def test_functions_of_log_odds_have_all_digits(name, exact):
    numbers = [x for x in LOG_ODDS if x >= exponentials.LEAST]
    assert far(getattr(exponentials, f"{name}_in_lane"), exact, numbers, OF_FUNCTIONS) == []


def test_functions_of_log_odds_at_the_ends():
    tiny = 2 * np.finfo(float).tiny
    for x in (1e300, np.inf):
        assert exponentials.softplus_in_lane(-x) == pytest.approx(0, abs=tiny)
        assert exponentials.expit_in_lane(-x) == pytest.approx(0, abs=tiny)
        assert exponentials.softplus_in_lane(x) == x
        assert exponentials.expit_in_lane(x) == 1
    assert np.isnan(exponentials.softplus_in_lane(np.nan))
    assert np.isnan(exponentials.expit_in_lane(np.nan))


def test_a_polynomial_of_fewer_terms_is_seen(monkeypatch):
    monkeypatch.setattr(exponentials, "A", (*exponentials.A[:9], 0.0, 0.0, 0.0, 0.0))
    assert far(exponentials.log_one_plus, mpmath.log1p, SHARES, OF_LOGARITHM)


def test_what_is_compiled_is_that_of_plain_python():
    ours = compiled("exponentials")
    for x in (*NUMBERS, -np.inf, -1e9):
        assert ours.exp_not_above_1(float(x)) == exponentials.exp_not_above_1(float(x))
    for x in (*NUMBERS, *(-x for x in NUMBERS), 1e300, -1e300, np.inf, -np.inf):
        assert ours.exp_in_lane(float(x)) == exponentials.exp_in_lane(float(x))
    for x in SHARES:
        assert ours.log_one_plus(float(x)) == exponentials.log_one_plus(float(x))


def test_a_processor_computes_several_functions_of_log_odds_at_once():
    """The text of the compiled loop has vectors of numbers."""
    numba = pytest.importorskip("numba")
    from gibbsppl.runtime.compiled import exponentials as ours

    for function in (ours.softplus_in_lane, ours.expit_in_lane, ours.exp_in_lane):

        @numba.njit(error_model="numpy")
        def along(x, out, function=function):
            for n in range(len(x)):
                out[n] += function(x[n])

        along(np.zeros(64), np.zeros(64), function)
        (text,) = along.inspect_llvm().values()
        assert "x double>" in text
