"""Scales: standard deviations and variances under priors of their own, and their reciprocals."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import gibbsppl as gp
from forms.catalogue_row import POSITIVE, WEIGHT, A, B, N, Numbers, Row, Values, Y, total, weight
from forms.form import Form, numbers

K = 2.5
LOGS = np.log(POSITIVE)


def on_line(**parameters: Any) -> Any:
    """Observed values around 0.5."""
    return gp.Normal("y", 0.5, dims="n", observed=Y, **parameters)


def on_positive(family: Any, **parameters: Any) -> Any:
    """Observed positive values."""
    return family("y", dims="n", observed=POSITIVE, **parameters)


# Half a sum of squares: with the weights on the precisions, on a log scale, and without weights.
WEIGHTED = total(WEIGHT * (Y - 0.5) ** 2) / 2
LOGGED = total(WEIGHT * (LOGS - 0.5) ** 2) / 2

BY_VARIANCE: Mapping[str, Callable[[Any], Any]] = {
    "variance": lambda x: on_line(var=x / weight()),
    "sd": lambda x: on_line(sigma=gp.sqrt(x / weight())),
    "precision": lambda x: on_line(tau=weight() / x),
}
BY_SD: Mapping[str, Callable[[Any], Any]] = {
    "sd": lambda x: on_line(sigma=x / gp.sqrt(weight())),
    "variance": lambda x: on_line(var=x**2 / weight()),
    "precision": lambda x: on_line(tau=weight() * x**-2),
}
LOG_NORMAL_BY_VARIANCE: Mapping[str, Callable[[Any], Any]] = {
    "variance": lambda x: on_positive(gp.LogNormal, mu=0.5, var=x / weight()),
    "sd": lambda x: on_positive(gp.LogNormal, mu=0.5, sigma=(x / weight()) ** 0.5),
}
LOG_NORMAL_BY_SD: Mapping[str, Callable[[Any], Any]] = {
    "sd": lambda x: on_positive(gp.LogNormal, mu=0.5, sigma=x / weight() ** 0.5),
    "precision": lambda x: on_positive(gp.LogNormal, mu=0.5, tau=weight() / x**2),
}


def inverse_gamma_prior() -> Any:
    """The prior of most variances."""
    return gp.InverseGamma("x", A, B)


def constants(*values: Any) -> Callable[[Values], Numbers]:
    """Parameters that depend on data alone."""
    return lambda _: values


VARIANCES = (
    Row(
        "variance_of_normal",
        inverse_gamma_prior,
        BY_VARIANCE,
        "InverseGamma",
        constants(A + N / 2, B + WEIGHTED),
    ),
    Row(
        "variance_of_log_normal",
        inverse_gamma_prior,
        LOG_NORMAL_BY_VARIANCE,
        "InverseGamma",
        constants(A + N / 2, B + LOGGED),
    ),
    Row(
        "bounded_variance",
        lambda: gp.InverseGamma("x", A, B, upper=3),
        BY_VARIANCE,
        "truncated InverseGamma",
        constants(A + N / 2, B + WEIGHTED, 0, 3),
    ),
    Row(
        "uniform_variance",
        lambda: gp.Uniform("x", 0, 4),
        BY_VARIANCE,
        "truncated InverseGamma",
        constants(N / 2 - 1, WEIGHTED, 0, 4),
    ),
    Row(
        "gamma_prior_of_variance",
        lambda: gp.Gamma("x", A, rate=B),
        BY_VARIANCE,
        "GeneralizedInverseGaussian",
        constants(A - N / 2, 2 * B, 2 * WEIGHTED),
    ),
    Row(
        "exponential_prior_of_variance",
        lambda: gp.Exponential("x", rate=B),
        BY_VARIANCE,
        "GeneralizedInverseGaussian",
        constants(1 - N / 2, 2 * B, 2 * WEIGHTED),
    ),
    Row(
        "exponential_prior_of_log_normal_variance",
        lambda: gp.Exponential("x", scale=1 / B),
        LOG_NORMAL_BY_VARIANCE,
        "GeneralizedInverseGaussian",
        constants(1 - N / 2, 2 * B, 2 * LOGGED),
    ),
    Row(
        "inverse_gaussian_prior_of_variance",
        lambda: gp.InverseGaussian("x", mu=2, lam=3),
        BY_VARIANCE,
        "GeneralizedInverseGaussian",
        constants(-1 / 2 - N / 2, 3 / 4, 3 + 2 * WEIGHTED),
    ),
    Row(
        "scale_of_gamma",
        inverse_gamma_prior,
        {
            "scale": lambda x: on_positive(gp.Gamma, shape=K, scale=weight() * x),
            "rate": lambda x: on_positive(gp.Gamma, shape=K, rate=1 / (weight() * x)),
            "mean": lambda x: on_positive(gp.Gamma, shape=K, mu=K * weight() * x),
        },
        "InverseGamma",
        constants(A + N * K, B + total(POSITIVE / WEIGHT)),
    ),
    Row(
        "scale_of_exponential",
        inverse_gamma_prior,
        {
            "scale": lambda x: on_positive(gp.Exponential, scale=weight() * x),
            "rate": lambda x: on_positive(gp.Exponential, rate=1 / x / weight()),
        },
        "InverseGamma",
        constants(A + N, B + total(POSITIVE / WEIGHT)),
    ),
    Row(
        "scale_of_laplace",
        inverse_gamma_prior,
        {
            "scale": lambda x: gp.Laplace("y", 0.5, scale=x / weight(), dims="n", observed=Y),
            "rate": lambda x: gp.Laplace("y", 0.5, rate=weight() / x, dims="n", observed=Y),
        },
        "InverseGamma",
        constants(A + N, B + total(WEIGHT * np.abs(Y - 0.5))),
    ),
    Row(
        "inverse_gamma_prior_of_rate",
        inverse_gamma_prior,
        {
            "rate": lambda x: on_positive(gp.Gamma, shape=K, rate=weight() * x),
            "scale": lambda x: on_positive(gp.Gamma, shape=K, scale=1 / (weight() * x)),
        },
        "GeneralizedInverseGaussian",
        constants(N * K - A, 2 * total(WEIGHT * POSITIVE), 2 * B),
    ),
    Row(
        "inverse_gamma_prior_of_poisson_rate",
        inverse_gamma_prior,
        {
            "rate": lambda x: gp.Poisson("y", rate=weight() * x, dims="n", observed=[1] * N),
            "logs": lambda x: gp.Poisson(
                "y", rate=gp.exp(gp.log(weight() * x)), dims="n", observed=[1] * N
            ),
        },
        "GeneralizedInverseGaussian",
        constants(N - A, 2 * total(WEIGHT), 2 * B),
    ),
)

DEVIATIONS = (
    Row(
        "uniform_prior_of_sd",
        lambda: gp.Uniform("x", 0, 4),
        BY_SD,
        "truncated Gamma of 1/x**2",
        constants((N - 1) / 2, WEIGHTED, 1 / 16, np.inf),
    ),
    Row(
        "uniform_prior_of_sd_above_zero",
        lambda: gp.Uniform("x", 0.5, 4),
        BY_SD,
        "truncated Gamma of 1/x**2",
        constants((N - 1) / 2, WEIGHTED, 1 / 16, 4),
    ),
    Row(
        "uniform_prior_of_log_normal_sd",
        lambda: gp.Uniform("x", 0, 4),
        LOG_NORMAL_BY_SD,
        "truncated Gamma of 1/x**2",
        constants((N - 1) / 2, LOGGED, 1 / 16, np.inf),
    ),
    Row(
        "flat_prior_of_sd",
        lambda: gp.HalfFlat("x"),
        BY_SD,
        "Gamma of 1/x**2",
        constants((N - 1) / 2, WEIGHTED),
    ),
    Row(
        "half_normal_prior_of_sd",
        lambda: gp.HalfNormal("x", sigma=2),
        BY_SD,
        "GeneralizedInverseGaussian of 1/x**2",
        constants((N - 1) / 2, 2 * WEIGHTED, 1 / 4),
    ),
    Row(
        "half_normal_prior_of_log_normal_sd",
        lambda: gp.HalfNormal("x", tau=1 / 4),
        LOG_NORMAL_BY_SD,
        "GeneralizedInverseGaussian of 1/x**2",
        constants((N - 1) / 2, 2 * LOGGED, 1 / 4),
    ),
    Row(
        "rayleigh_prior_of_sd",
        lambda: gp.Rayleigh("x", sigma=2),
        BY_SD,
        "GeneralizedInverseGaussian of 1/x**2",
        constants((N - 2) / 2, 2 * WEIGHTED, 1 / 4),
    ),
    Row(
        "gamma_prior_of_root_precision",
        lambda: gp.Gamma("x", 3, rate=2),
        {
            "precision": lambda x: on_line(tau=weight() * x**2),
            "sd": lambda x: on_line(sigma=1 / (x * gp.sqrt(weight()))),
        },
        "ModifiedHalfNormal",
        constants(3 + N, WEIGHTED, -2),
    ),
    Row(
        "half_normal_prior_of_root_precision",
        lambda: gp.HalfNormal("x", tau=3),
        {
            "precision": lambda x: on_line(tau=weight() * x**2),
            "sd": lambda x: on_line(sigma=1 / (x * gp.sqrt(weight()))),
        },
        "Gamma of x**2",
        constants((N + 1) / 2, 3 / 2 + WEIGHTED),
    ),
)

# s with a prior s**(a - 1) exp(-b s**2), and Normal children of mean c s.
SLOPE = numbers(N, seed=31)
PULL, PRECISION = total(WEIGHT * SLOPE * Y), total(WEIGHT * SLOPE**2)


def scaled(x: Any, **parameters: Any) -> Any:
    """Observed values whose mean is a known multiple of ``x``."""
    return gp.Normal(
        "y", gp.Data("b", SLOPE, dims="n") * x, dims="n", observed=Y, **parameters
    )


SCALED: Mapping[str, Callable[[Any], Any]] = {
    "precision": lambda x: scaled(x, tau=weight()),
    "sd": lambda x: scaled(x, sigma=1 / gp.sqrt(weight())),
}

SCALED_MEANS = (
    Row(
        "rayleigh_prior_of_scale_in_mean",
        lambda: gp.Rayleigh("x", tau=3),
        SCALED,
        "ModifiedHalfNormal",
        constants(2, 3 / 2 + PRECISION / 2, PULL),
    ),
    Row(
        "maxwell_prior_of_scale_in_mean",
        lambda: gp.Maxwell("x", tau=3),
        SCALED,
        "ModifiedHalfNormal",
        constants(3, 3 / 2 + PRECISION / 2, PULL),
    ),
    Row(
        "gamma_prior_of_scale_in_mean",
        lambda: gp.Gamma("x", A, rate=B),
        SCALED,
        "ModifiedHalfNormal",
        constants(A, PRECISION / 2, PULL - B),
    ),
    Row(
        "root_of_gamma_in_mean",
        lambda: gp.Gamma("x", A, rate=B),
        {
            "root": lambda x: scaled(gp.sqrt(x), tau=weight()),
            "power": lambda x: scaled(x**0.5, var=1 / weight()),
        },
        "ModifiedHalfNormal of sqrt(x)",
        constants(2 * A, B + PRECISION / 2, PULL),
    ),
)

SQUARE = ("k", "k'")
R = np.array([[1.0, 0.3], [0.3, 2.0]])
VECTORS = numbers(8, 2, seed=32)
C = np.abs(numbers(8, seed=33)) + 0.3


def _scatter_model(declare: Callable[[Any, Any], Any]) -> gp.Model:
    with gp.Model(coords={"k": 2, "i": 8}) as m:
        declare(gp.Data("R", R, dims=SQUARE), gp.Data("c", C, dims="i"))
    return m


def _vectors(**parameters: Any) -> Any:
    return gp.MvNormal("y", 0.5, dims=("i", "k"), event="k", observed=VECTORS, **parameters)


def wishart_of_multiples() -> gp.Model:
    """A precision matrix, with a known multiple of it for each vector."""
    return _scatter_model(
        lambda R, c: _vectors(tau=c * gp.Wishart("x", 4, R=R, dims=SQUARE, event=SQUARE))
    )


def wishart_of_multiples_by_covariance() -> gp.Model:
    """The same by its scale."""

    def declare(scale: Any, c: Any) -> None:
        V = gp.Data("V", np.linalg.inv(R), dims=SQUARE)
        _vectors(tau=c * gp.Wishart("x", 4, V=V, dims=SQUARE, event=SQUARE))

    return _scatter_model(declare)


def inverse_wishart_of_multiples() -> gp.Model:
    """A covariance matrix, with a known multiple of it for each vector."""
    return _scatter_model(
        lambda R, c: _vectors(cov=gp.InverseWishart("x", 5, R, dims=SQUARE, event=SQUARE) / c)
    )


def exponential_prior_of_sd() -> gp.Model:
    """The statistics log s, s and s**-2, which no family has."""
    with gp.Model() as m:
        x = gp.Exponential("x", rate=B)
        gp.Normal("y", 0.5, sigma=x, dims="n", observed=Y)
    return m


ROWS = (*VARIANCES, *DEVIATIONS, *SCALED_MEANS)
MATRIX_FORMS = (
    Form(wishart_of_multiples, {"x": "Wishart"}),
    Form(wishart_of_multiples_by_covariance, {"x": "Wishart"}),
    Form(inverse_wishart_of_multiples, {"x": "InverseWishart"}),
)
FORMS = (
    *(form for row in ROWS for form in row.forms.values()),
    *MATRIX_FORMS,
    Form(exponential_prior_of_sd, {"x": "concave"}),
)
