"""The rows whose values are between two bounds."""

# Every formula of a row is called with the same arguments, needed or not.
# ruff: noqa: ARG005

from __future__ import annotations

import sympy as sp
from sympy import exp, log

from gibbsppl.algebra.expressions import Expr
from gibbsppl.algebra.functions import Below, LogGammaP, Maximum, Where
from gibbsppl.algebra.log_gamma import loggamma
from gibbsppl.algebra.supports import POSITIVE, REAL, UNIT, Support
from gibbsppl.families.rows import Family, Natural, Parameter, from_the_smaller, log_beta_tails

BETA = Family(
    name="Beta",
    about="The beta distribution of a probability; ``mu`` is the mean, ``kappa`` is ``a + b``.",
    parameters={"a": Parameter(POSITIVE), "b": Parameter(POSITIVE)},
    spellings={
        ("a", "b"): lambda a, b: {"a": a, "b": b},
        ("mu", "kappa"): lambda mu, kappa: {"a": mu * kappa, "b": (1 - mu) * kappa},
    },
    spelled={"mu": Parameter(UNIT), "kappa": Parameter(POSITIVE)},
    support=lambda event, **_: UNIT,
    log_density=lambda x, event, a, b: (
        loggamma(a + b) - loggamma(a) - loggamma(b) + (a - 1) * log(x) + (b - 1) * log(1 - x)
    ),
    simulate="simulate_beta",
    natural=Natural(
        statistics=lambda x, event: (log(x), log(1 - x)),
        draw="beta",
        domain=lambda eta_1, eta_2: (eta_1 + 1, eta_2 + 1),
        log_partition=lambda eta_1, eta_2: (
            loggamma(eta_1 + 1) + loggamma(eta_2 + 1) - loggamma(eta_1 + eta_2 + 2)
        ),
        truncated="truncated_beta",
    ),
    mean=lambda event, a, b: a / (a + b),
    variance=lambda event, a, b: a * b / ((a + b) ** 2 * (a + b + 1)),
    log_cdf=lambda x, a, b: log_beta_tails(a, b, x, 1 - x)[0],
    log_sf=lambda x, a, b: log_beta_tails(a, b, x, 1 - x)[1],
)


def _log_rest_of_power(x: Expr, a: Expr) -> Expr:
    """``log(1 - x**a)``, also where the power is near 1."""
    return LogGammaP(sp.S.One, -a * log(x))


def _log_kumaraswamy_cdf(x: Expr, a: Expr, b: Expr) -> Expr:
    """``log(1 - (1 - x**a)**b)``: of ``b x**a`` where both are so small that this is all."""
    log_power, log_first = a * log(x), a * log(x) + log(b)
    is_first = Below(Maximum(log_power, log_first), sp.Integer(-40))
    return Where(is_first, log_first, LogGammaP(sp.S.One, -b * _log_rest_of_power(x, a)))


def _kumaraswamy_moment(order: int, a: Expr, b: Expr) -> Expr:
    """``b beta(1 + r / a, b)``."""
    q = order / a
    return exp(loggamma(b + 1) + loggamma(1 + q) - loggamma(1 + q + b))


KUMARASWAMY = Family(  # -log(1 - x**a) is Exponential(b)
    name="Kumaraswamy",
    about="The Kumaraswamy distribution: ``P(x <= t) = 1 - (1 - t**a)**b``.",
    parameters={"a": Parameter(POSITIVE), "b": Parameter(POSITIVE)},
    support=lambda event, **_: UNIT,
    log_density=lambda x, event, a, b: (
        log(a) + log(b) + (a - 1) * log(x) + (b - 1) * _log_rest_of_power(x, a)
    ),
    simulate="simulate_kumaraswamy",
    mean=lambda event, a, b: _kumaraswamy_moment(1, a, b),
    variance=lambda event, a, b: (
        _kumaraswamy_moment(2, a, b) - _kumaraswamy_moment(1, a, b) ** 2
    ),
    log_cdf=_log_kumaraswamy_cdf,
    log_sf=lambda x, a, b: b * _log_rest_of_power(x, a),
)

UNIFORM = Family(
    name="Uniform",
    about="The uniform distribution between two bounds.",
    example={"lower": 0, "upper": 1},
    parameters={"lower": Parameter(), "upper": Parameter()},
    support=lambda event, lower, upper: Support("real", lower, upper),
    log_density=lambda x, event, lower, upper: -log(upper - lower),
    simulate="simulate_uniform",
    natural=Natural(
        statistics=lambda x, event, lower, upper: (),
        draw="uniform",
        domain=lambda lower, upper: (upper - lower, 1 / (upper - lower)),  # (and not infinite)
        log_partition=lambda lower, upper: log(upper - lower),
        known=("lower", "upper"),
        truncated="truncated_uniform",
        within=REAL,
    ),
    mean=lambda event, lower, upper: (lower + upper) / 2,
    variance=lambda event, lower, upper: (upper - lower) ** 2 / sp.Integer(12),
    log_cdf=lambda x, lower, upper: from_the_smaller(
        log(x - lower) - log(upper - lower), log(upper - x) - log(upper - lower)
    ),
    log_sf=lambda x, lower, upper: from_the_smaller(
        log(upper - x) - log(upper - lower), log(x - lower) - log(upper - lower)
    ),
)
