"""Rates and precisions: a Gamma prior, and children whose log density holds ``log x`` and ``x``."""

from collections.abc import Callable
from typing import Any

import numpy as np

import gibbsppl as gp
from forms.catalogue_row import (
    COUNTS,
    EVENT,
    POSITIVE,
    WEIGHT,
    A,
    B,
    N,
    Row,
    Y,
    gamma,
    gamma_prior,
    total,
    weight,
)

K, V = 2.5, 1.5
LOGS = np.log(POSITIVE)
UNIT = POSITIVE / (1 + POSITIVE)
R = np.array([[1.0, 0.3], [0.3, 2.0]])
MATRIX = np.array([[2.0, -0.5], [-0.5, 1.5]])
VECTORS = np.stack([Y, LOGS], axis=1)


def on_positive(family: Any, **parameters: Any) -> Any:
    """Observed positive values."""
    return family("y", dims="n", observed=POSITIVE, **parameters)


def on_unit(family: Any, **parameters: Any) -> Any:
    """Observed values between 0 and 1."""
    return family("y", dims="n", observed=UNIT, **parameters)


def on_line(family: Any, **parameters: Any) -> Any:
    """Observed values around 0.5."""
    return family("y", 0.5, dims="n", observed=Y, **parameters)


def by_scale(family: Any, power: str, sign: int, **parameters: Any) -> Callable[[Any], Any]:
    """Positive values whose scale is a rate to a power that has a name: none of it is rounded."""

    def child(x: Any) -> Any:
        v = gp.Data("v", V)
        scale = (weight() * x) ** (sign / v)
        return on_positive(family, scale=scale, **{power: v}, **parameters)

    return child


def square(name: str, values: Any) -> Any:
    """A known square matrix."""
    return gp.Data(name, values, dims=("k", "k'"))


def censored(child: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Positive values of which some are known to be above what was seen."""
    return lambda x: gp.Censored("y", child(x), event=EVENT, dims="n", observed=POSITIVE)


def _rate(name: str, events: float, exposure: Any, **children: Callable[[Any], Any]) -> Row:
    """A Gamma prior updated by a number of events and by exposures."""
    return Row(name, gamma_prior, children, "Gamma", gamma(A + events, B + total(exposure)))


COUNTED = _rate(
    "rate_of_poisson",
    total(COUNTS),
    WEIGHT,
    rate=lambda x: gp.Poisson("y", rate=weight() * x, dims="n", observed=COUNTS),
    logs=lambda x: gp.Poisson(
        "y", rate=gp.exp(gp.log(x) + gp.log(weight())), dims="n", observed=COUNTS
    ),
    quotient=lambda x: gp.Poisson("y", rate=x / weight("per")**-1, dims="n", observed=COUNTS),
)

WAITED = (
    _rate(
        "rate_of_exponential",
        N,
        WEIGHT * POSITIVE,
        rate=lambda x: on_positive(gp.Exponential, rate=weight() * x),
        scale=lambda x: on_positive(gp.Exponential, scale=1 / (weight() * x)),
    ),
    _rate(
        "rate_of_gamma",
        N * K,
        WEIGHT * POSITIVE,
        rate=lambda x: on_positive(gp.Gamma, shape=K, rate=weight() * x),
        scale=lambda x: on_positive(gp.Gamma, shape=K, scale=1 / x / weight()),
        mean=lambda x: on_positive(gp.Gamma, shape=K, mu=K / (weight() * x)),
    ),
    _rate(
        "rate_of_weibull",
        N,
        WEIGHT * POSITIVE**V,
        rate=lambda x: on_positive(gp.Weibull, shape=V, rate=weight() * x),
        scale=by_scale(gp.Weibull, "shape", -1),
    ),
    _rate(
        "rate_by_a_rounded_power",
        N,
        POSITIVE**0.7,
        scale=lambda x: on_positive(gp.Weibull, shape=0.7, scale=x ** (-1 / 0.7)),
    ),
    _rate(
        "scale_of_inverse_gamma",
        N * K,
        WEIGHT / POSITIVE,
        scale=lambda x: on_positive(gp.InverseGamma, shape=K, scale=weight() * x),
        quotient=lambda x: on_positive(gp.InverseGamma, shape=K, scale=weight() / (1 / x)),
    ),
    _rate(
        "shape_of_pareto",
        N,
        WEIGHT * np.log(POSITIVE / 0.1),
        shape=lambda x: on_positive(gp.Pareto, shape=weight() * x, minimum=0.1),
        quotient=lambda x: on_positive(gp.Pareto, shape=1 / (1 / (weight() * x)), minimum=0.1),
    ),
    _rate(
        "shape_of_lomax",
        N,
        WEIGHT * np.log1p(POSITIVE / 2),
        shape=lambda x: on_positive(gp.Lomax, shape=weight() * x, scale=2),
    ),
    _rate(
        "shape_of_burr",
        N,
        WEIGHT * np.log1p(POSITIVE**V),
        k=lambda x: on_positive(gp.BurrXII, c=V, k=weight() * x),
    ),
    _rate(
        "scaled_shape_of_burr",
        N,
        np.log1p((POSITIVE / 2) ** V),
        k=lambda x: on_positive(gp.BurrXII, c=V, k=x, scale=2),
    ),
    _rate(
        "first_shape_of_beta",
        N,
        -WEIGHT * np.log(UNIT),
        a=lambda x: on_unit(gp.Beta, a=weight() * x, b=1),
        power=lambda x: on_unit(gp.Kumaraswamy, a=weight() * x, b=1),
    ),
    _rate(
        "second_shape_of_beta",
        N,
        -np.log1p(-UNIT),
        b=lambda x: on_unit(gp.Beta, a=1, b=x),
    ),
    _rate(
        "shape_of_kumaraswamy",
        N,
        -WEIGHT * np.log1p(-(UNIT**V)),
        b=lambda x: on_unit(gp.Kumaraswamy, a=V, b=weight() * x),
    ),
    _rate(
        "rate_of_gompertz",
        N,
        WEIGHT * np.expm1(V * POSITIVE) / V,
        rate=lambda x: on_positive(gp.Gompertz, shape=V, rate=weight() * x),
    ),
    _rate(
        "precision_of_rayleigh",
        N,
        WEIGHT * POSITIVE**2 / 2,
        precision=lambda x: on_positive(gp.Rayleigh, tau=weight() * x),
        sd=lambda x: on_positive(gp.Rayleigh, sigma=1 / gp.sqrt(weight() * x)),
    ),
    _rate(
        "precision_of_maxwell",
        1.5 * N,
        WEIGHT * POSITIVE**2 / 2,
        precision=lambda x: on_positive(gp.Maxwell, tau=weight() * x),
        sd=lambda x: on_positive(gp.Maxwell, sigma=(weight() * x) ** -0.5),
    ),
    _rate(
        "precision_of_half_normal",
        N / 2,
        WEIGHT * POSITIVE**2 / 2,
        precision=lambda x: on_positive(gp.HalfNormal, tau=weight() * x),
        sd=lambda x: on_positive(gp.HalfNormal, sigma=1 / gp.sqrt(weight() * x)),
    ),
    _rate(
        "precision_of_nakagami",
        N * K,
        K * POSITIVE**2,
        spread=lambda x: on_positive(gp.Nakagami, m=K, omega=1 / x),
    ),
    _rate(
        "rate_of_frechet",
        N,
        WEIGHT * POSITIVE**-V,
        rate=lambda x: on_positive(gp.Frechet, shape=V, rate=weight() * x),
        scale=by_scale(gp.Frechet, "shape", 1),
    ),
    _rate(
        "shape_of_inverse_gaussian",
        N / 2,
        WEIGHT * (POSITIVE - 2) ** 2 / (2 * 2**2 * POSITIVE),
        lam=lambda x: on_positive(gp.InverseGaussian, mu=2, lam=weight() * x),
    ),
    _rate(
        "rate_of_generalized_gamma",
        N * K,
        WEIGHT * POSITIVE**V,
        rate=lambda x: on_positive(gp.GeneralizedGamma, shape=K, rate=weight() * x, power=V),
        scale=by_scale(gp.GeneralizedGamma, "power", -1, shape=K),
    ),
)

SPREAD = (
    _rate(
        "precision_of_normal",
        N / 2,
        WEIGHT * (Y - 0.5) ** 2 / 2,
        precision=lambda x: on_line(gp.Normal, tau=weight() * x),
        variance=lambda x: on_line(gp.Normal, var=1 / (weight() * x)),
        sd=lambda x: on_line(gp.Normal, sigma=1 / gp.sqrt(weight() * x)),
        quotient=lambda x: on_line(gp.Normal, tau=weight() / (1 / x)),
    ),
    _rate(
        "precision_of_log_normal",
        N / 2,
        WEIGHT * (LOGS - 0.5) ** 2 / 2,
        precision=lambda x: on_positive(gp.LogNormal, mu=0.5, tau=weight() * x),
        variance=lambda x: on_positive(gp.LogNormal, mu=0.5, var=1 / weight() / x),
        sd=lambda x: on_positive(gp.LogNormal, mu=0.5, sigma=(weight() * x) ** -0.5),
    ),
    _rate(
        "rate_of_laplace",
        N,
        WEIGHT * np.abs(Y - 0.5),
        rate=lambda x: on_line(gp.Laplace, rate=weight() * x),
        scale=lambda x: on_line(gp.Laplace, scale=1 / (weight() * x)),
    ),
    _rate(
        "precision_of_vectors",
        N * 2 / 2,
        np.einsum("ni,ij,nj->n", VECTORS, R, VECTORS) / 2,
        precision=lambda x: gp.MvNormal(
            "y", 0, tau=x * square("R", R), dims=("n", "k"), event="k", observed=VECTORS
        ),
        covariance=lambda x: gp.MvNormal(
            "y",
            0,
            cov=square("S", np.linalg.inv(R)) / x,
            dims=("n", "k"),
            event="k",
            observed=VECTORS,
        ),
    ),
    _rate(
        "multiple_of_wishart_scale",
        5 * 2 / 2,
        np.trace(R @ MATRIX) / 2,
        inverse=lambda x: gp.Wishart(
            "y", 5, R=x * square("R", R), dims=("k", "k'"), event=("k", "k'"), observed=MATRIX
        ),
        scale=lambda x: gp.Wishart(
            "y",
            5,
            V=square("V", np.linalg.inv(R)) / x,
            dims=("k", "k'"),
            event=("k", "k'"),
            observed=MATRIX,
        ),
    ),
    _rate(
        "multiple_of_inverse_wishart_scale",
        5 * 2 / 2,
        np.trace(R @ np.linalg.inv(MATRIX)) / 2,
        scale=lambda x: gp.InverseWishart(
            "y", 5, x * square("S", R), dims=("k", "k'"), event=("k", "k'"), observed=MATRIX
        ),
    ),
)

# Hazard x h(y), survival exp(-x H(y)): the events are the deaths, the exposures the H(y).
DEATHS = total(EVENT)
SURVIVED = (
    _rate(
        "hazard_of_exponential",
        DEATHS,
        WEIGHT * POSITIVE,
        rate=censored(lambda x: gp.Exponential(rate=weight() * x)),
        scale=censored(lambda x: gp.Exponential(scale=1 / (weight() * x))),
    ),
    _rate(
        "hazard_of_weibull",
        DEATHS,
        WEIGHT * POSITIVE**2,
        rate=censored(lambda x: gp.Weibull(shape=2, rate=weight() * x)),
        scale=censored(lambda x: gp.Weibull(shape=2, scale=(weight() * x) ** -0.5)),
    ),
    _rate(
        "hazard_of_pareto",
        DEATHS,
        WEIGHT * np.log(POSITIVE / 0.1),
        shape=censored(lambda x: gp.Pareto(shape=weight() * x, minimum=0.1)),
    ),
    _rate(
        "hazard_of_lomax",
        DEATHS,
        WEIGHT * np.log1p(POSITIVE / 2),
        shape=censored(lambda x: gp.Lomax(shape=weight() * x, scale=2)),
    ),
    _rate(
        "hazard_of_burr",
        DEATHS,
        WEIGHT * np.log1p(POSITIVE**V),
        k=censored(lambda x: gp.BurrXII(c=V, k=weight() * x)),
    ),
    _rate(
        "hazard_of_gompertz",
        DEATHS,
        WEIGHT * np.expm1(V * POSITIVE) / V,
        rate=censored(lambda x: gp.Gompertz(shape=V, rate=weight() * x)),
    ),
    _rate(
        "hazard_of_rayleigh",
        DEATHS,
        WEIGHT * POSITIVE**2 / 2,
        precision=censored(lambda x: gp.Rayleigh(tau=weight() * x)),
        sd=censored(lambda x: gp.Rayleigh(sigma=1 / gp.sqrt(weight() * x))),
    ),
    _rate(
        "hazard_by_potentials",
        DEATHS,
        POSITIVE**V,
        terms=lambda x: gp.Potential(
            "survival",
            gp.Data("d", EVENT, dims="n") * gp.log(x) - x * gp.Data("H", POSITIVE**V, dims="n"),
        ),
    ),
)

PRIORS = (
    Row(
        "exponential_prior",
        lambda: gp.Exponential("x", rate=B),
        {"rate": lambda x: gp.Poisson("y", rate=weight() * x, dims="n", observed=COUNTS)},
        "Gamma",
        gamma(1 + total(COUNTS), B + total(WEIGHT)),
    ),
    Row(
        "erlang_prior",
        lambda: gp.Gamma("x", 3, scale=1 / B),
        {"rate": lambda x: on_positive(gp.Exponential, rate=x)},
        "Gamma",
        gamma(3 + N, B + total(POSITIVE)),
    ),
    Row(
        "chi_squared_prior",
        lambda: gp.ChiSquared("x", 5),
        {
            "precision": lambda x: on_line(gp.Normal, tau=x),
            "sd": lambda x: on_line(gp.Normal, sigma=x**-0.5),
        },
        "Gamma",
        gamma(5 / 2 + N / 2, 1 / 2 + total((Y - 0.5) ** 2) / 2),
    ),
    Row(
        "truncated_gamma_prior",
        lambda: gp.Gamma("x", A, rate=B, lower=0.2, upper=1.7),
        {
            "rate": lambda x: gp.Poisson("y", rate=weight() * x, dims="n", observed=COUNTS),
            "logs": lambda x: gp.Poisson(
                "y", rate=gp.exp(gp.log(weight()) + gp.log(x)), dims="n", observed=COUNTS
            ),
        },
        "truncated Gamma",
        lambda _: (A + total(COUNTS), B + total(WEIGHT), 0.2, 1.7),
    ),
    Row(
        "bounded_below_gamma_prior",
        lambda: gp.Gamma("x", A, rate=B, lower=0.4),
        {
            "precision": lambda x: on_line(gp.Normal, tau=x),
            "variance": lambda x: on_line(gp.Normal, var=1 / x),
        },
        "truncated Gamma",
        lambda _: (A + N / 2, B + total((Y - 0.5) ** 2) / 2, 0.4, np.inf),
    ),
    Row(
        "uniform_prior_of_rate",
        lambda: gp.Uniform("x", 0, 3),
        {"rate": lambda x: on_positive(gp.Exponential, rate=x)},
        "truncated Gamma",
        lambda _: (1 + N, total(POSITIVE), 0, 3),
    ),
    Row(
        "flat_prior_of_rate",
        lambda: gp.HalfFlat("x"),
        {"rate": lambda x: on_positive(gp.Exponential, rate=x)},
        "Gamma",
        gamma(1 + N, total(POSITIVE)),
    ),
)

ROWS = (COUNTED, *WAITED, *SPREAD, *SURVIVED, *PRIORS)
FORMS = tuple(form for row in ROWS for form in row.forms.values())
