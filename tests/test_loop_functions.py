"""Functions of numbers for loops, against those of arrays and against many digits."""

import importlib
import math

import mpmath
import numpy as np
import pytest
from kernels_called import Called

from gibbsppl.algebra.functions import FUNCTIONS
from gibbsppl.code.loop_text.expressions import kernels
from gibbsppl.runtime import functions as arrays
from gibbsppl.runtime import log_add_exp
from gibbsppl.runtime import remainder as runtime_remainder
from gibbsppl.runtime.loops import functions

EPSILON = np.finfo(float).eps

ANY = np.concatenate(
    [
        [-np.inf, -0.0, 0.0, np.inf, np.nan],
        *(sign * np.logspace(-300, 300, 61) for sign in (-1, 1)),
        np.linspace(-50.0, 50.0, 201),
    ]
)
NEAR_WHOLE = np.concatenate([n + np.logspace(-15, -1, 29) for n in (-1.0, 0.0, 1.0, 2.0, 16.0)])
ONE = (
    "abs",
    "arctan",
    "cos",
    "exp",
    "expit",
    "log",
    "log1p",
    "log_cloglog",
    "log_one_minus_exp",
    "loggamma",
    "normal_cdf",
    "normal_log_cdf",
    "reciprocal",
    "sin",
    "softplus",
    "sqrt",
)
TWO = (
    "at_most",
    "below",
    "equals",
    "maximum",
    "minimum",
    "weighted",
    "xlog1py",
    "xlogy",
)
# What an argument's rounding alone changes where a function crosses 0, in its absolute size.
OFF = dict.fromkeys(("loggamma", "log_beta", "log_rising", "log_gamma_u"), 4 * EPSILON)


def agree(name, found, expected, rtol=1e-13):
    # (the smallest numbers have fewer digits)
    atol = OFF.get(name, np.finfo(float).tiny)
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol, err_msg=name)


@pytest.mark.parametrize("name", ONE)
def test_functions_of_one_number_equal_those_of_arrays(name):
    x = np.concatenate([ANY, NEAR_WHOLE, -NEAR_WHOLE])
    if name in ("cos", "sin"):
        x = x[np.isfinite(x)]
    with np.errstate(all="ignore"):
        expected = getattr(arrays, name)(x)
        found = [getattr(functions, name)(value) for value in x]
        if name in ("log", "log1p", "reciprocal", "loggamma"):
            # (arithmetic of Python's own numbers must not raise at 0)
            own = [getattr(functions, name)(float(value)) for value in x]
            np.testing.assert_array_equal(found, own)
    agree(name, found, expected)


@pytest.mark.parametrize("name", TWO)
def test_functions_of_two_numbers_equal_those_of_arrays(name):
    every = ANY[::5]
    x, y = (a.ravel() for a in np.meshgrid(np.append(every, [0.0, np.nan]), every))
    with np.errstate(all="ignore"):
        expected = getattr(arrays, name)(x, y)
        found = [getattr(functions, name)(*pair) for pair in zip(x, y, strict=True)]
    agree(name, found, expected)


@pytest.mark.parametrize("name", ["log_beta", "log_rising"])
def test_logs_of_beta_functions_equal_those_of_arrays(name):
    positive = np.concatenate([np.logspace(-300, 300, 41), np.logspace(-3, 3, 41)])
    x, y = (a.ravel() for a in np.meshgrid(positive, positive))
    if name == "log_rising":
        x, y = np.append(x, x[x > 1.0]), np.append(y, -y[x > 1.0])
        ok = x + y > 0.0  # (elsewhere two logs cancel)
        x, y = x[ok], y[ok]
    with np.errstate(all="ignore"):
        expected = getattr(arrays, name)(x, y)
        found = np.array([getattr(functions, name)(*pair) for pair in zip(x, y, strict=True)])
    # (at 1e300 the difference of two logs of the array function has lost a digit)
    agree(name, found, expected, rtol=3e-13)


def test_logs_of_gamma_functions_have_their_digits():
    """Also next to 1 and 2, where they cross 0."""
    mpmath.mp.dps = 40
    x = np.concatenate([NEAR_WHOLE[NEAR_WHOLE > 0], np.linspace(0.01, 20.0, 200), [1e5, 1e300]])
    for value in x:
        exact = float(mpmath.loggamma(mpmath.mpf(float(value))))
        assert abs(functions.loggamma(value) - exact) <= 2e-15 * abs(exact), value


def test_logs_of_normal_tails_have_their_digits():
    mpmath.mp.dps = 40
    for x in (*np.linspace(-45.0, 10.0, 221), -1e3, -1e8, -1e150):
        exact = mpmath.log(mpmath.ncdf(mpmath.mpf(float(x)))) if x > -1e4 else -(x**2) / 2
        assert math.isclose(functions.normal_log_cdf(x), float(exact), rel_tol=1e-13), x


def test_logs_of_rising_factorials_have_their_digits():
    mpmath.mp.dps = 60
    for a in (1e-5, 0.3, 1.0, 7.7, 15.9, 16.0, 40.0, 1e6, 1e15):
        for m in (1e-12, 1e-3, 0.5, 0.999, 3.0, 200.0):
            exact = mpmath.loggamma(mpmath.mpf(a) + mpmath.mpf(m)) - mpmath.loggamma(mpmath.mpf(a))
            # (what is subtracted has at most so many digits more)
            most = max(abs(float(exact)), EPSILON * 20)
            assert abs(functions.log_rising(a, m) - float(exact)) < 1e-12 * most, (a, m)


@pytest.mark.parametrize("name", ["log_gamma_p", "log_gamma_q", "log_gamma_u"])
def test_logs_of_incomplete_gamma_functions_equal_those_of_arrays(name):
    """Of all sizes, and next to the mean, also of shapes where SciPy's series end too early."""
    rng = np.random.default_rng(2)
    a = 10.0 ** np.concatenate([rng.uniform(-8, 5, 300), rng.uniform(0, 9, 300)])
    a = np.append(a, [0.0, 1e-300, 1.0, 1.0, 1.0, -1.0, np.nan])
    x = np.append(10.0 ** rng.uniform(-8, 8, 300), np.zeros(300))
    x[300:] = np.maximum(a[300:600] + np.sqrt(a[300:600]) * rng.normal(0, 6, 300), 1e-3)
    x = np.append(x, [1.0, 2.0, 0.0, np.inf, 1e300, 1.0, 1.0])
    with np.errstate(all="ignore"):
        expected = getattr(arrays, name)(a, x)
        found = [getattr(functions, name)(*pair) for pair in zip(a, x, strict=True)]
        # (a log next to 0 is the other tail, which has fewer digits the farther out it is)
        off = 2e-14 * (5.0 + np.abs(np.log(np.abs(expected)))) * np.abs(expected)
        near = np.abs(found - expected) <= off + OFF.get(name, 0.0)
    assert (near | (found == expected) | (np.isnan(found) & np.isnan(expected))).all()


@pytest.mark.parametrize(
    "a", [pytest.param(2.3e4, marks=pytest.mark.slow), 999_999.0, 1e6,
          pytest.param(7.4e8, marks=pytest.mark.slow)]
)  # fmt: skip
@pytest.mark.parametrize("sds", [-9.0, -4.7, -0.3, 0.0, 0.01, 3.0, 6.0])
def test_logs_of_incomplete_gamma_functions_of_large_shapes_have_their_digits(a, sds):
    mpmath.mp.dps = 40
    x, sd = mpmath.mpf(a + sds * math.sqrt(a)), mpmath.sqrt(a)
    peak = (a - 1) * mpmath.log(a) - a - mpmath.loggamma(a)

    def mass(direction):
        ends = [x + direction * sd * k for k in (0, 0.25, 0.5, 1, 2, 4, 7, 10, 14, 20, 30)]
        of = mpmath.quad(lambda t: mpmath.exp((a - 1) * mpmath.log(t / a) - (t - a)), sorted(ends))
        return float(mpmath.log(of) + peak)

    for name, direction in (("log_gamma_p", -1), ("log_gamma_q", 1)):
        found, exact = getattr(functions, name)(a, float(x)), mass(direction)
        assert abs(found - exact) <= 1e-13 * max(abs(exact), 1e-2), name


def test_sums_of_exponentials_equal_those_of_arrays():
    every = ANY[::4]
    with np.errstate(all="ignore"):
        for x in every:
            found = [functions.log_add_exp(x, y) for y in every]
            agree("log_add_exp", found, log_add_exp(x, every))


def test_masses_equal_those_of_arrays():
    """From either tail; and where a difference leaves few digits, what is given instead."""
    rng = np.random.default_rng(1)
    l = np.concatenate([rng.normal(0, 10, 200), [-np.inf, 0.0, 3.0]])
    u = np.concatenate([l[:200] + rng.gamma(1.0, 2.0, 200), [0.5, 1e-12, 3.0]])
    given = [arrays.normal_log_cdf(x) for x in (l, u, -l, -u)]
    for of_narrow in (-np.inf, -20.0):
        with np.errstate(all="ignore"):
            expected = arrays.log_mass(*given, of_narrow)
            found = [functions.log_mass(*row, of_narrow) for row in zip(*given, strict=True)]
        agree("log_mass", found, expected)


def kernels_of(package, module):
    """The kernels of a module, plain or compiled."""
    plain = f"gibbsppl.runtime.loops.{module}"
    return Called(module) if package == "compiled" else importlib.import_module(plain)


def passages():
    """Arguments of the logs of first passages: of all sizes, near 0 and near one another."""
    rng = np.random.default_rng(3)
    z = np.append(rng.normal(size=600) * 10.0 ** rng.uniform(-3, 3, 600), [0.0, -1.0, 1.0, 9.0])
    w = np.maximum(-2.0 * z, 0.0) + 10.0 ** rng.uniform(-8, 8, z.size)
    return z, np.append(w[:-1], 1e200)


@pytest.mark.parametrize("name", ["log_passage_p", "log_passage_q"])
@pytest.mark.parametrize("kernels", ["loops", pytest.param("compiled", marks=pytest.mark.slow)])
def test_logs_of_first_passages_equal_those_of_arrays(name, kernels):
    if kernels == "compiled":
        pytest.importorskip("numba")
    of_one = kernels_of(kernels, "passage")
    z, d = passages()
    found = [getattr(of_one, name)(*map(float, pair)) for pair in zip(z, d, strict=True)]
    agree(name, found, getattr(arrays, name)(z, d))


def tables_of_customers():
    """Numbers of customers and of tables, also none, too many, and what is not whole."""
    n = np.repeat([1.0, 2.0, 5.0, 40.0, 300.0], 12)
    l = np.tile([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 17.0, 39.0, 40.0, 150.0, 299.0, 301.0], 5)
    return np.append(n, [0.0, 2.5, np.nan]), np.append(l, [0.0, 1.0, 1.0])


def polya_gammas():
    rng = np.random.default_rng(4)
    b, x = 10.0 ** rng.uniform(-3, 4, 200), 10.0 ** rng.uniform(-4, 4, 200)
    x[100:] = b[100:] / 4 * np.exp(rng.normal(size=100))
    return np.append(b, [0.0, 1.0, -1.0, np.nan]), np.append(x, [1.0, -1.0, 1.0, 1.0])


@pytest.mark.parametrize(
    ("module", "name", "arguments"),
    [
        ("stirling", "log_stirling", tables_of_customers),
        ("polya_gamma", "log_polya_gamma", polya_gammas),
    ],
)
@pytest.mark.parametrize("kernels", ["loops", pytest.param("compiled", marks=pytest.mark.slow)])
def test_logs_of_bases_equal_those_of_arrays(module, name, arguments, kernels):
    if kernels == "compiled":
        pytest.importorskip("numba")
    of_one = kernels_of(kernels, module)
    with np.errstate(all="ignore"):
        pairs = zip(*arguments(), strict=True)
        found = [getattr(of_one, name)(*map(float, pair)) for pair in pairs]
        agree(name, found, getattr(arrays, name)(*arguments()), rtol=1e-12)


def test_all_functions_of_the_language_have_kernels():
    own = {"Abs", "Where", "exp"}  # (written as Python has them)
    assert {f.__name__ for f, row in FUNCTIONS.items() if row.numpy not in kernels()} == own


def test_squares():
    assert functions.square(-3.0) == 9.0


def test_compiled_functions_equal_plain_ones_where_arguments_are_ordinary():
    pytest.importorskip("numba")
    compiled = Called("functions")

    for x in np.linspace(-5.0, 5.0, 21):
        for name in ("loggamma", "normal_log_cdf"):
            plain, other = (getattr(f, name)(x) for f in (functions, compiled))
            assert plain == other or math.isclose(plain, other, rel_tol=1e-14)
    assert math.isclose(compiled.loggamma(7), math.log(720.0), rel_tol=1e-15)


@pytest.mark.slow
def test_compiled_functions_equal_plain_ones():
    pytest.importorskip("numba")
    compiled = Called("functions")

    taken = {"abs", "exp", "sqrt"}  # NumPy's own
    with np.errstate(all="ignore"):
        for name in (*ONE, *TWO, "log_beta", "log_rising", "log_gamma_u", "log_add_exp"):
            if name in taken:
                continue
            for y in [-1e3, -2.5, -0.0, 0.5, 1.0, 17.0, 1e10] if name not in ONE else [()]:
                rest = () if name in ONE else (y,)
                found = [
                    [getattr(f, name)(float(x), *rest) for x in ANY] for f in (functions, compiled)
                ]
                agree(name, *found)
        for row in ((-1.0, -0.5, -0.4, -0.8), (-1.0, -1.0, -2.0, -2.0)):
            assert math.isclose(functions.log_mass(*row), compiled.log_mass(*row), rel_tol=1e-14)
        for name, rows in SPECIAL.items():
            for row in rows:
                found = [getattr(f, name)(*row) for f in (functions, compiled)]
                assert math.isclose(*found, rel_tol=1e-14), (name, row)


SPECIAL = {
    "log_beta_i": [(2.5, 30.0, 0.1), (1e-8, 60.0, 0.01), (1e5, 2e5, 0.33)],
    "log_beta_i_1p": [(2.5, 30.0, -0.9), (0.1, 0.2, -1e-50)],
    "log_gamma_p_of_exp": [(2.0, -3.0), (2.0, -1e10)],
    "log_bessel_i": [(1.5, 3.0), (60.0, 3.0), (0.0, 1e6)],
    "log_bessel_k": [(1.5, 3.0), (60.0, 3.0), (0.0, 1e6)],
    "log_bessel_k_by_order": [(1.5, 3.0), (-60.0, 3.0), (0.0, 1e6), (1e-9, 1e-300), (1e3, 1e5)],
    "log_fox_wright": [(2.0, 0.5), (0.01, -30.0)],
    "log_fox_wright_by_shape": [(2.0, 0.5), (0.01, -30.0)],
    "remainder": [(-1e-16, 2.0, 3), (0.2, 2.0, 3)],
}


def shapes(rng, count):
    """Shapes of beta distributions of all sizes, and values from them and far from their means."""
    a, b = 10.0 ** rng.uniform(-8, 5, count), 10.0 ** rng.uniform(-8, 5, count)
    near = rng.beta(np.maximum(a, 0.1), np.maximum(b, 0.1))
    return a, b, np.where(rng.random(count) < 0.3, 10.0 ** rng.uniform(-12, -0.01, count), near)


# The smallest numbers have fewer digits.
SMALLEST = float(np.finfo(float).tiny)


def assert_equal_to_arrays(name, *given, atol=SMALLEST):
    with np.errstate(all="ignore"):
        expected = getattr(arrays, name)(*given)
        found = [getattr(functions, name)(*own) for own in zip(*given, strict=True)]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=atol, err_msg=name)


def test_logs_of_incomplete_beta_functions_equal_those_of_arrays():
    rng = np.random.default_rng(3)
    a, b, x = shapes(rng, 600)
    ends = map(np.array, ([0.5, 2.0, 1.0, -1.0], [2.0, 0.5, 3.0, 1.0], [0.0, 1.0, 2.0, 0.5]))

    assert_equal_to_arrays("log_beta_i", a, b, x)
    assert_equal_to_arrays("log_beta_i", *ends)
    assert_equal_to_arrays("log_beta_i_1p", a, b, -(10.0 ** rng.uniform(-100, -0.01, 600)))
    assert_equal_to_arrays("log_gamma_p_of_exp", a, rng.uniform(-1000.0, 20.0, 600))


@pytest.mark.parametrize("case", [(1e8, 3e8, 0.25003), (1e8, 3e8, 0.2497), (1e7, 0.5, 0.9999999)])
def test_logs_of_incomplete_beta_functions_of_large_shapes_have_their_digits(case):
    mpmath.mp.dps = 50
    a, b, x = map(mpmath.mpf, case)
    sd = mpmath.sqrt(a * b / (a + b + 1)) / (a + b)
    exponent = lambda t: (a - 1) * mpmath.log(t) + (b - 1) * mpmath.log(1 - t)  # noqa: E731
    head = mpmath.loggamma(a + b) - mpmath.loggamma(a) - mpmath.loggamma(b)
    spots = [x - k * sd for k in (40, 20, 10, 5, 2, 1, 0.5, 0)]
    mass = mpmath.quad(lambda t: mpmath.exp(exponent(t) + head), spots)

    assert math.isclose(functions.log_beta_i(*case), float(mpmath.log(mass)), rel_tol=1e-11)


def test_logs_of_normalisers_equal_those_of_arrays():
    rng = np.random.default_rng(4)
    order, x = rng.uniform(-0.99, 120.0, 500), 10.0 ** rng.uniform(-8, 7, 500)
    tiny = 10.0 ** rng.uniform(-250, -8, 500)
    a, z = 10.0 ** rng.uniform(-12, 6, 40), rng.normal(size=40) * 10.0 ** rng.uniform(-3, 4, 40)

    assert_equal_to_arrays("log_bessel_i", order, x)
    assert_equal_to_arrays("log_bessel_i", np.zeros(500), x, atol=4 * EPSILON)
    assert_equal_to_arrays("log_bessel_k", order, x)
    assert_equal_to_arrays("log_bessel_k", np.zeros(500), x)
    assert_equal_to_arrays("log_bessel_k", order, tiny)
    assert_equal_to_arrays("log_fox_wright", a, z)
    assert_equal_to_arrays("log_fox_wright_by_shape", a, z)
    assert_equal_to_arrays("log_bessel_k_by_order", order, x)
    assert_equal_to_arrays("log_bessel_k_by_order", order[:50], tiny[:50])


def test_logs_of_bessel_functions_at_ends_equal_those_of_arrays():
    order, x = np.array([0.0, 1.0, 60.0, 0.5, np.nan]), np.array([0.0, 0.0, 0.0, np.nan, 1.0])

    assert_equal_to_arrays("log_bessel_i", order, x)
    assert_equal_to_arrays("log_bessel_k", order, x)
    far = [1e20, 1e20, -2.0, 1e-20], [1e-300, 1e20, np.inf, 1e30]
    for at in ((order, x), map(np.array, far)):
        assert_equal_to_arrays("log_bessel_k_by_order", *at)


@pytest.mark.parametrize(("left", "size", "terms"), [(-1e-16, 2.0, 3), (-0.1, 2.0, 3), (0.2, 1, 2)])
def test_what_is_left_of_a_whole_is_that_of_arrays(left, size, terms):
    assert functions.remainder(left, size, terms) == runtime_remainder(left, size, terms)
