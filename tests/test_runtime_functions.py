"""The functions of generated code against arbitrary-precision arithmetic, and sums by index."""

import mpmath
import numpy as np
import pytest

from gibbsppl import runtime
from gibbsppl.algebra.functions import ROWS
from gibbsppl.runtime import functions


def test_every_function_of_the_algebra_has_a_numeric_form() -> None:
    for row in ROWS:
        assert callable(getattr(functions, row.numpy))
        assert getattr(runtime, row.numpy) is getattr(functions, row.numpy)


def test_all_that_is_exported_exists() -> None:
    for name in runtime.__all__:
        assert hasattr(runtime, name)


def test_values() -> None:
    assert functions.log(np.array([0.0, 1.0])).tolist() == [-np.inf, 0.0]
    assert functions.softplus(np.array([-800.0, 0.0, 800.0])) == pytest.approx([0, np.log(2), 800])
    assert functions.softplus(-50.0) == pytest.approx(float(mpmath.exp(-50)), rel=1e-14)
    assert functions.expit(np.array([-800.0, 0.0, 800.0])).tolist() == [0.0, 0.5, 1.0]
    assert functions.abs(-2.0) == 2.0
    assert functions.arctan(1.0) == pytest.approx(np.pi / 4)
    assert functions.normal_cdf(0.0) == 0.5
    assert functions.normal_log_cdf(-40.0) == pytest.approx(float(mpmath.log(mpmath.ncdf(-40))))
    assert functions.loggamma(177.0) == pytest.approx(float(mpmath.loggamma(177)))
    assert functions.where(functions.below(1.0, 2.0), 3.0, 4.0) == 3.0


def test_indicators_are_numbers() -> None:
    a, b = np.array([1, 2, 3]), 2
    assert functions.at_most(a, b).tolist() == [1.0, 1.0, 0.0]
    assert functions.below(a, b).tolist() == [1.0, 0.0, 0.0]
    assert functions.equals(a, b).tolist() == [0.0, 1.0, 0.0]
    assert functions.at_most(1, 2) == 1.0
    assert functions.equals(a, b).dtype == float


GAMMA_POINTS = [
    (a, x)
    for a in (1e-3, 0.5, 1.0, 3.7, 200.0, 5000.0)
    for x in (1e-300, 1e-8, 0.3, 1.0, 20.0, 900.0, 6000.0)
]


def exact_log(p: mpmath.mpf, rest: mpmath.mpf) -> float:
    """``log p``, from ``rest = 1 - p`` where that is the smaller."""
    return float(mpmath.log1p(-rest) if p > 0.5 else mpmath.log(p))


@pytest.mark.parametrize(("a", "x"), GAMMA_POINTS)
def test_log_incomplete_gammas(a: float, x: float) -> None:
    with mpmath.workdps(50):
        lower = mpmath.gammainc(a, 0, x, regularized=True)
        upper = mpmath.gammainc(a, x, regularized=True)
        expected = exact_log(lower, upper), exact_log(upper, lower)
    # SciPy's incomplete gamma function has a relative error of about 1e-13 * a at large a
    assert functions.log_gamma_p(a, x) == pytest.approx(expected[0], rel=1e-11, abs=1e-300)
    assert functions.log_gamma_q(a, x) == pytest.approx(expected[1], rel=1e-11, abs=1e-300)


@pytest.mark.parametrize("a", [0.3, 2.0, 900.0])
@pytest.mark.parametrize("b", [0.3, 5.0, 400.0])
@pytest.mark.parametrize("x", [1e-200, 1e-5, 0.2, 0.5, 0.97])
def test_log_incomplete_beta(a: float, b: float, x: float) -> None:
    with mpmath.workdps(350):  # the smallest complement is 1e-275
        lower = mpmath.betainc(a, b, 0, x, regularized=True)
        upper = mpmath.betainc(a, b, x, 1, regularized=True)
        expected = exact_log(lower, upper)
    assert functions.log_beta_i(a, b, x) == pytest.approx(expected, rel=1e-10, abs=1e-300)


def test_log_probabilities_at_the_ends() -> None:
    assert functions.log_gamma_p(2.0, 0.0) == -np.inf
    assert functions.log_gamma_q(2.0, 0.0) == 0.0
    assert functions.log_gamma_p(2.0, np.inf) == 0.0
    assert functions.log_gamma_q(2.0, np.inf) == -np.inf
    assert functions.log_beta_i(2.0, 3.0, 0.0) == -np.inf
    assert functions.log_beta_i(2.0, 3.0, 1.0) == 0.0
    assert functions.log_gamma_p(np.ones((2, 1)), np.ones(3)).shape == (2, 3)


@pytest.mark.parametrize(("low", "high"), [(-1.0, 2.0), (-50.0, -49.0), (49.0, 50.0), (3.0, 3.001)])
def test_log_mass_uses_the_better_tail(low: float, high: float) -> None:
    with mpmath.workdps(800):
        expected = float(mpmath.log(mpmath.ncdf(high) - mpmath.ncdf(low)))
    log_cdf = functions.normal_log_cdf
    found = functions.log_mass(log_cdf(low), log_cdf(high), log_cdf(-low), log_cdf(-high))
    assert found == pytest.approx(expected, rel=1e-11)


def test_log_mass_at_the_ends() -> None:
    assert functions.log_mass(-np.inf, 0.0, 0.0, -np.inf) == 0.0
    assert functions.log_mass(-np.inf, -np.inf, 0.0, 0.0) == -np.inf
    assert functions.log_mass(-np.inf, np.log(0.2), 0.0, np.log(0.8)) == pytest.approx(np.log(0.2))


def test_matrix_functions_are_batched() -> None:
    rng = np.random.default_rng(1)
    root = rng.standard_normal((4, 3, 5))
    A = root @ root.swapaxes(-1, -2)
    for i in range(4):
        assert functions.logdet(A)[i] == pytest.approx(np.log(np.linalg.det(A[i])))
        np.testing.assert_allclose(functions.inverse(A)[i] @ A[i], np.eye(3), atol=1e-9)


def test_matrices_without_an_inverse_have_no_numbers_and_leave_others_theirs() -> None:
    singular, indefinite = np.ones((2, 2)), np.diag([1.0, -1.0])
    definite, twice_negative = np.diag([2.0, 4.0]), -np.eye(2)
    every = np.stack([definite, singular, indefinite, twice_negative])

    assert np.isnan(functions.inverse(singular)).all()
    assert np.isnan(functions.inverse(every)[1]).all()
    np.testing.assert_array_equal(functions.inverse(every)[0], np.diag([0.5, 0.25]))
    assert functions.logdet(every)[0] == pytest.approx(np.log(8))
    assert np.isnan(functions.logdet(every)[1:]).all()
    assert np.isnan(functions.logdet(indefinite))


# Sums by index.


@pytest.mark.parametrize("n", [0, 1, 50, 4000])
@pytest.mark.parametrize("trailing", [(), (1,), (3,), (2, 4)])
def test_sums_by_index_are_those_of_a_loop(n: int, trailing: tuple[int, ...]) -> None:
    rng = np.random.default_rng(2)
    index, values = rng.integers(0, 7, n), rng.standard_normal((n, *trailing))
    expected = np.zeros((9, *trailing))  # two groups are empty
    np.add.at(expected, index, values)
    groups = functions.Groups(index, 9)
    for found in (functions.segment_sum(values, index, 9), groups.sum(values)):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
        assert np.all(found[7:] == 0)
    assert groups.count.tolist() == [float((index == k).sum()) for k in range(9)]
    np.testing.assert_array_equal(functions.segment_sum(1.0, index, 9), groups.count)


@pytest.mark.parametrize("trailing", [(), (3,), (900,)])
def test_sums_by_several_indices(trailing: tuple[int, ...]) -> None:
    rng = np.random.default_rng(3)
    index = rng.integers(0, 4, (5, 6)), rng.integers(0, 3, (5, 6))
    values = rng.standard_normal((5, 6, *trailing))
    expected = np.zeros((4, 3, *trailing))
    np.add.at(expected, index, values)
    found = functions.segment_sum(values, index, (4, 3))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    counts = functions.segment_sum(2.0, index, (4, 3))
    assert counts.sum() == 60


def test_an_index_out_of_range_is_an_error() -> None:
    with pytest.raises(ValueError):
        functions.segment_sum(np.ones(2), np.array([0, 3]), 3)
    with pytest.raises(ValueError):
        functions.segment_sum(np.ones(2), (np.array([0, 3]), np.array([0, 0])), (3, 1))
