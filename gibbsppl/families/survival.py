"""The rows of lifetimes.

Their cumulative hazard is a rate times a function of the rest (k times, a Lomax: shape times; of a
generalised Gamma and a Frechet a power of the value): a Gamma prior on that rate is conjugate.
``LogGammaP(1, z)`` is ``log(1 - exp(-z))``, with all its digits where ``z`` is small.
"""

# Every formula of a row is called with the same arguments, needed or not.
# ruff: noqa: ARG005

from __future__ import annotations

import sympy as sp
from sympy import exp, log

from gibbsppl.algebra.expressions import Expr
from gibbsppl.algebra.functions import Below, LogGammaP, LogGammaQ, LogRising, Softplus, Where
from gibbsppl.algebra.log_gamma import loggamma
from gibbsppl.algebra.supports import POSITIVE
from gibbsppl.families.rows import Family, Natural, Parameter, finite_where, log_beta_tails

LOMAX = Family(
    name="Lomax",
    about="The Lomax distribution (Pareto of type II): ``P(x > t) = (1 + t/scale)**-shape``.",
    parameters={"shape": Parameter(POSITIVE), "scale": Parameter(POSITIVE)},
    support=lambda event, **_: POSITIVE,
    log_density=lambda x, event, shape, scale: (
        log(shape) - log(scale) - (shape + 1) * log(1 + x / scale)
    ),
    simulate="simulate_lomax",
    mean=lambda event, shape, scale: finite_where(shape - 1, scale),
    variance=lambda event, shape, scale: finite_where(
        shape - 2, shape * finite_where(shape - 1, scale) ** 2
    ),
    log_cdf=lambda x, shape, scale: LogGammaP(sp.S.One, shape * Softplus(log(x) - log(scale))),
    log_sf=lambda x, shape, scale: -shape * Softplus(log(x) - log(scale)),
)


def _burr_moment(order: int, c: Expr, k: Expr, scale: Expr, otherwise: Expr) -> Expr:
    """``scale**r k beta(k - r / c, 1 + r / c)``, where ``k > r / c``."""
    q = order / c
    gammas = loggamma(k - q + 1) + loggamma(1 + q) - loggamma(k)
    return finite_where(k - q, scale**order * exp(gammas), otherwise)


def _burr_variance(c: Expr, k: Expr, scale: Expr) -> Expr:
    first, second = (_burr_moment(r, c, k, scale, sp.S.One) for r in (1, 2))
    return Where(Below(2 / c, k), second - first**2, sp.oo)


def _burr_hazard(x: Expr, c: Expr, scale: Expr) -> Expr:
    """``log(1 + (x / scale)**c)``, the cumulative hazard for k = 1."""
    return Softplus(c * (log(x) - log(scale)))


BURR_XII = Family(
    name="BurrXII",
    about="The Burr distribution of type XII: ``P(x > t) = (1 + (t/scale)**c)**-k``.",
    parameters={
        "c": Parameter(POSITIVE),
        "k": Parameter(POSITIVE),
        "scale": Parameter(POSITIVE),
    },
    defaults={"scale": sp.S.One},
    support=lambda event, **_: POSITIVE,
    log_density=lambda x, event, c, k, scale: (
        log(c)
        + log(k)
        - c * log(scale)
        + (c - 1) * log(x)
        - (k + 1) * _burr_hazard(x, c, scale)
    ),
    simulate="simulate_burr_xii",
    mean=lambda event, c, k, scale: _burr_moment(1, c, k, scale, sp.oo),
    variance=lambda event, c, k, scale: _burr_variance(c, k, scale),
    log_cdf=lambda x, c, k, scale: LogGammaP(sp.S.One, k * _burr_hazard(x, c, scale)),
    log_sf=lambda x, c, k, scale: -k * _burr_hazard(x, c, scale),
)


def _gompertz_hazard(x: Expr, shape: Expr) -> Expr:
    """``(exp(shape x) - 1) / shape``, the cumulative hazard for rate = 1."""
    return exp(shape * x + LogGammaP(sp.S.One, shape * x)) / shape


GOMPERTZ = Family(  # the hazard is rate * exp(shape * x)
    name="Gompertz",
    about="The Gompertz distribution of a lifetime: the hazard is ``rate*exp(shape*t)``.",
    parameters={"shape": Parameter(POSITIVE), "rate": Parameter(POSITIVE)},
    support=lambda event, **_: POSITIVE,
    log_density=lambda x, event, shape, rate: (
        log(rate) + shape * x - rate * _gompertz_hazard(x, shape)
    ),
    simulate="simulate_gompertz",
    log_cdf=lambda x, shape, rate: LogGammaP(sp.S.One, rate * _gompertz_hazard(x, shape)),
    log_sf=lambda x, shape, rate: -rate * _gompertz_hazard(x, shape),
)


def _frechet_moment(order: int, shape: Expr, rate: Expr, otherwise: Expr) -> Expr:
    """``gamma(1 - r / shape) rate**(r / shape)``, where ``shape > r``."""
    q = order / shape
    return finite_where(shape - order, shape * exp(loggamma(2 - q) + q * log(rate)), otherwise)


def _frechet_variance(shape: Expr, rate: Expr) -> Expr:
    first, second = (_frechet_moment(r, shape, rate, sp.S.One) for r in (1, 2))
    return Where(Below(sp.Integer(2), shape), second - first**2, sp.oo)


FRECHET = Family(  # 1 / x is Weibull(shape, rate)
    name="Frechet",
    about="The Frechet distribution: ``P(x <= t) = exp(-rate*t**-shape)``.",
    parameters={"shape": Parameter(POSITIVE), "rate": Parameter(POSITIVE)},
    spellings={
        ("shape", "rate"): lambda shape, rate: {"shape": shape, "rate": rate},
        ("shape", "scale"): lambda shape, scale: {"shape": shape, "rate": scale**shape},
    },
    spelled={"scale": Parameter(POSITIVE)},
    support=lambda event, **_: POSITIVE,
    log_density=lambda x, event, shape, rate: (
        log(shape) + log(rate) - (shape + 1) * log(x) - rate * x**-shape
    ),
    simulate="simulate_frechet",
    mean=lambda event, shape, rate: _frechet_moment(1, shape, rate, sp.oo),
    variance=lambda event, shape, rate: _frechet_variance(shape, rate),
    log_cdf=lambda x, shape, rate: -rate * x**-shape,
    log_sf=lambda x, shape, rate: LogGammaP(sp.S.One, rate * x**-shape),
)


def _power_moment(order: int, shape: Expr, rate: Expr, power: Expr) -> Expr:
    q = order / power
    return exp(loggamma(shape + q) - loggamma(shape) - q * log(rate))


GENERALIZED_GAMMA = Family(  # x**power is Gamma(shape, rate)
    name="GeneralizedGamma",
    about="The generalised gamma distribution: ``x**power`` is from Gamma(shape, rate).",
    parameters={
        "shape": Parameter(POSITIVE),
        "rate": Parameter(POSITIVE),
        "power": Parameter(POSITIVE),
    },
    spellings={
        ("shape", "rate", "power"): lambda shape, rate, power: {
            "shape": shape,
            "rate": rate,
            "power": power,
        },
        ("shape", "scale", "power"): lambda shape, scale, power: {
            "shape": shape,
            "rate": scale**-power,
            "power": power,
        },
    },
    spelled={"scale": Parameter(POSITIVE)},
    support=lambda event, **_: POSITIVE,
    log_density=lambda x, event, shape, rate, power: (
        log(power)
        + shape * log(rate)
        - loggamma(shape)
        + (shape * power - 1) * log(x)
        - rate * x**power
    ),
    simulate="simulate_generalized_gamma",
    mean=lambda event, shape, rate, power: _power_moment(1, shape, rate, power),
    variance=lambda event, shape, rate, power: (
        _power_moment(2, shape, rate, power) - _power_moment(1, shape, rate, power) ** 2
    ),
    log_cdf=lambda x, shape, rate, power: LogGammaP(shape, rate * x**power),
    log_sf=lambda x, shape, rate, power: LogGammaQ(shape, rate * x**power),
)

# Shares below the exponential of minus this are no numbers.
DEEP = sp.Integer(700)


def _log_share_tails(x: Expr, a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """The logs of P(Q <= exp(-x)) and P(Q > exp(-x)) of a Beta(a, b).

    Far out all digits of the first are those of ``exp(-a x) / (a beta(a, b))``.
    """
    is_deep = Below(DEEP, x)
    near = Where(is_deep, DEEP, x)
    below, above = log_beta_tails(a, b, exp(-near), exp(LogGammaP(sp.S.One, near)))
    log_deep = LogRising(b, a) - LogRising(sp.S.One, a) - a * x
    return (
        Where(is_deep, log_deep, below),
        Where(is_deep, LogGammaP(sp.S.One, -log_deep), above),
    )


BETA_EXPONENTIAL = Family(  # exp(-x) is Beta(a, b)
    name="BetaExponential",
    about="The beta exponential distribution: ``exp(-x)`` is from Beta(a, b).",
    parameters={"a": Parameter(POSITIVE), "b": Parameter(POSITIVE)},
    support=lambda event, **_: POSITIVE,
    log_density=lambda x, event, a, b: (
        loggamma(a + b) - loggamma(a) - loggamma(b) - a * x + (b - 1) * LogGammaP(sp.S.One, x)
    ),
    simulate="simulate_beta_exponential",
    natural=Natural(
        statistics=lambda x, event: (x, LogGammaP(sp.S.One, x)),
        draw="beta_exponential",
        domain=lambda eta_1, eta_2: (-eta_1, eta_2 + 1),
        log_partition=lambda eta_1, eta_2: (
            loggamma(-eta_1) + loggamma(eta_2 + 1) - loggamma(eta_2 - eta_1 + 1)
        ),
    ),
    log_cdf=lambda x, a, b: _log_share_tails(x, a, b)[1],
    log_sf=lambda x, a, b: _log_share_tails(x, a, b)[0],
)
