"""R-hat, effective sample sizes and Monte Carlo errors, against ArviZ and against the truth."""

import logging
import warnings

import numpy as np
import pytest
from scipy import stats

from gibbsppl.output import diagnostics
from gibbsppl.output.summary import Summary, block_of

with warnings.catch_warnings():
    warnings.simplefilter("ignore", FutureWarning)
    import arviz

logging.getLogger("arviz").setLevel(logging.ERROR)
# (compiled, its standard deviations divide by another number)
arviz.utils.Numba.disable_numba()


def noise(rng, shape):
    return rng.normal(size=shape)


def walk(rng, shape):
    return rng.normal(size=shape).cumsum(axis=1)


def rounded(rng, shape):
    return rng.normal(size=shape).round()


def antithetic(rng, shape):
    signs = np.where(np.arange(shape[1]) % 2, -1.0, 1.0)
    return signs[:, None] * np.abs(rng.normal(size=shape)) + 0.1 * rng.normal(size=shape)


def rare(rng, shape):
    return rng.poisson(0.05, size=shape)


def heavy(rng, shape):
    return rng.standard_cauchy(size=shape)


def apart(rng, shape):
    return rng.normal(size=shape) + np.arange(shape[0])[:, None, None]


KINDS = (noise, walk, rounded, antithetic, rare, heavy, apart)
SIZES = ((4, 1000), (2, 101), (3, 10), (2, 7), (2, 6), (2, 5), (3, 4))


def arviz_elementwise(measure, draws):
    with np.errstate(all="ignore"):
        return np.array([measure(draws[..., k]) for k in range(draws.shape[2])], dtype=float)


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (diagnostics.r_hat, lambda x: arviz.rhat(x, method="rank")),
        (diagnostics.split_r_hat, lambda x: arviz.rhat(x, method="split")),
        (diagnostics.ess_bulk, lambda x: arviz.ess(x, method="bulk")),
        (diagnostics.ess_tail, lambda x: arviz.ess(x, method="tail")),
        (diagnostics.ess_mean, lambda x: arviz.ess(x, method="mean")),
        (diagnostics.mcse_mean, lambda x: arviz.mcse(x, method="mean")),
        (diagnostics.mcse_sd, lambda x: np.nan_to_num(arviz.mcse(x, method="sd"))),
        *(
            (
                lambda x, p=p: diagnostics.ess_quantile(x, p),
                lambda x, p=p: arviz.ess(x, method="quantile", prob=p),
            )
            for p in (0.025, 0.5)
        ),
        *(
            (
                lambda x, p=p: diagnostics.mcse_quantile(x, p),
                lambda x, p=p: arviz.mcse(x, method="quantile", prob=p),
            )
            for p in (0.025, 0.5, 0.975)
        ),
    ],
    ids=[
        *("r_hat", "split_r_hat", "ess_bulk", "ess_tail", "ess_mean", "mcse_mean", "mcse_sd"),
        *("ess_025", "ess_50", "mcse_025", "mcse_50", "mcse_975"),
    ],
)
def test_measures_agree_with_arviz(ours, theirs, kind, size):
    draws = kind(np.random.default_rng(1), (*size, 3))

    np.testing.assert_allclose(ours(draws), arviz_elementwise(theirs, draws), rtol=1e-9)


MEASURES = (
    diagnostics.r_hat,
    diagnostics.split_r_hat,
    diagnostics.ess_bulk,
    diagnostics.ess_tail,
    diagnostics.ess_mean,
    diagnostics.mcse_mean,
    diagnostics.mcse_sd,
)


def test_a_single_chain_is_compared_by_its_halves():
    chain = walk(np.random.default_rng(2), (1, 500, 3))
    halves = np.concatenate([chain[:, :250], chain[:, 250:]])

    np.testing.assert_allclose(
        diagnostics.split_r_hat(chain),
        arviz_elementwise(lambda x: arviz.rhat(x, method="identity"), halves),
    )
    np.testing.assert_array_less(1.01, diagnostics.r_hat(chain))


@pytest.mark.parametrize("measure", MEASURES)
def test_elements_are_measured_each_on_its_own_in_the_shape_of_the_variable(measure, monkeypatch):
    draws = walk(np.random.default_rng(3), (4, 50, 6))
    one_by_one = np.array([measure(draws[..., k]) for k in range(6)]).reshape(2, 3)

    np.testing.assert_array_equal(measure(draws.reshape(4, 50, 2, 3)), one_by_one)
    monkeypatch.setattr(diagnostics, "_NUMBERS_AT_ONCE", 4 * 50 * 4)  # four elements, then two
    np.testing.assert_array_equal(measure(draws.reshape(4, 50, 2, 3)), one_by_one)


@pytest.mark.parametrize("measure", MEASURES)
def test_draws_that_say_nothing_give_nan_without_a_warning(measure):
    draws = np.random.default_rng(4).normal(size=(2, 20, 3))
    draws[0, 3, 0], draws[1, 4, 1] = np.nan, np.inf

    np.testing.assert_array_equal(np.isnan(measure(draws)), [True, True, False])
    assert np.isnan(measure(draws[:, :3, 2]))


def test_draws_that_are_all_equal_are_known_exactly():
    equal = np.full((4, 24), 0.1)

    assert np.isnan(diagnostics.r_hat(equal))
    assert diagnostics.ess_bulk(equal) == diagnostics.ess_tail(equal) == 96
    assert diagnostics.mcse_mean(equal) < 1e-15
    assert diagnostics.mcse_sd(equal) < 1e-15


def test_the_unit_of_measurement_does_not_matter_however_small():
    draws = walk(np.random.default_rng(5), (4, 100, 2))

    for measure in (diagnostics.r_hat, diagnostics.ess_bulk, diagnostics.ess_tail):
        np.testing.assert_allclose(measure(draws * 2.0**-90), measure(draws), rtol=1e-9)


def test_the_columns_of_a_summary_are_the_measures():
    draws = walk(np.random.default_rng(6), (4, 80, 2, 2))
    columns = diagnostics.measures(draws)

    expected = {
        "mean": draws.mean(axis=(0, 1)),
        "sd": draws.std(axis=(0, 1), ddof=1),
        "2.5%": np.quantile(draws, 0.025, axis=(0, 1)),
        "50%": np.quantile(draws, 0.5, axis=(0, 1)),
        "97.5%": np.quantile(draws, 0.975, axis=(0, 1)),
        "mcse_mean": diagnostics.mcse_mean(draws),
        "ess_bulk": diagnostics.ess_bulk(draws),
        "ess_tail": diagnostics.ess_tail(draws),
        "r_hat": diagnostics.r_hat(draws),
    }
    assert list(columns) == list(expected)
    for name, column in columns.items():
        np.testing.assert_allclose(column, expected[name], rtol=1e-12)


@pytest.mark.parametrize("correlation", [0.6, -0.4])
def test_the_error_of_a_mean_and_of_a_median_is_the_one_stated(correlation):
    """The errors of 400 means, in units of the stated error, have variance 1 (chi-squared)."""
    rng, runs = np.random.default_rng(7), 400
    draws = np.empty((4, 500, runs))
    draws[:, 0] = rng.normal(size=(4, runs))
    for t in range(1, 500):
        fresh = rng.normal(size=(4, runs)) * np.sqrt(1 - correlation**2)
        draws[:, t] = correlation * draws[:, t - 1] + fresh

    errors = {
        "mean": draws.mean(axis=(0, 1)) / diagnostics.mcse_mean(draws),
        "median": np.median(draws, axis=(0, 1)) / diagnostics.mcse_quantile(draws, 0.5),
    }
    for z in errors.values():
        tail = stats.chi2(runs).cdf(np.sum(z**2))
        assert 1e-4 < tail < 1 - 1e-4


def test_chains_that_stay_at_different_numbers_have_an_infinite_r_hat():
    stuck = np.full((4, 200), 0.1)
    stuck[2:] = 0.7

    assert np.isinf(diagnostics.r_hat(stuck))
    assert np.isinf(diagnostics.split_r_hat(stuck))


def test_draws_of_two_numbers_as_far_from_the_median_have_an_r_hat():
    rng = np.random.default_rng(1)
    signs = rng.permuted(np.tile([-1.0, 1.0], (4, 100)), axis=1)

    assert diagnostics.r_hat(signs) < 1.01


@pytest.mark.parametrize(
    "measure", ["r_hat", "split_r_hat", "ess_bulk", "ess_tail", "ess_mean", "mcse_mean", "mcse_sd"]
)
@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_of_what_is_nowhere_finite_nothing_is_said(measure, wrong):
    found = getattr(diagnostics, measure)(np.full((2, 20, 3), wrong))

    np.testing.assert_array_equal(found, np.full(3, np.nan))


@pytest.mark.parametrize("shape", [(2, 20), (2, 20, 30)])
def test_a_summary_of_what_is_nowhere_finite_says_so(shape):
    block = block_of("x", np.full(shape, np.nan), lambda index: f"x{list(index)}", max_rows=3)

    assert "Draws that are not finite: x[" in repr(Summary((block,), *shape[:2]))


@pytest.mark.parametrize("value", [0.1, -1 / 3, 1e-300, 7e300])
def test_a_constant_has_itself_as_mean_and_no_spread(value):
    # (the sum of a thousand tenths is rounded)
    draws = np.full((3, 333, 2), value)
    draws[..., 1] = np.random.default_rng(1).normal(size=(3, 333))
    found = diagnostics.measures(draws)

    assert found["mean"][0] == value
    assert [found[c][0] for c in ("sd", "mcse_mean")] == [0.0, 0.0]
    assert diagnostics.mcse_mean(draws)[0] == diagnostics.mcse_sd(draws)[0] == 0.0
    assert found["sd"][1] == draws[..., 1].std(ddof=1)
