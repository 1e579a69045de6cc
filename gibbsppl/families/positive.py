"""The rows whose values are positive (a Pareto: above its minimum).

``LogGammaP(1, z)`` is ``log(1 - exp(-z))``, with all its digits where ``z`` is small.
"""

# Every formula of a row is called with the same arguments, needed or not.
# ruff: noqa: ARG005

from __future__ import annotations

import sympy as sp
from sympy import Rational, atan, exp, log, pi, sqrt

from gibbsppl.algebra.expressions import Expr
from gibbsppl.algebra.functions import LogGammaP, LogGammaQ, LogPhi
from gibbsppl.algebra.log_gamma import loggamma
from gibbsppl.algebra.supports import POSITIVE, Support
from gibbsppl.families.rows import (
    Family,
    LocationScale,
    Natural,
    Parameter,
    finite_where,
    from_the_smaller,
    log_student_tails,
)

HALF = Rational(1, 2)

_OF_PRECISION = LocationScale(lambda tau, **_: 1 / sqrt(tau), {"tau": sp.S.One})
_OF_SCALE = LocationScale(lambda scale, **_: scale, {"scale": sp.S.One})
_OF_RATE = LocationScale(lambda rate, **_: 1 / rate, {"rate": sp.S.One})

GAMMA = Family(
    name="Gamma",
    about="The gamma distribution; ``mu`` is the mean, ``sigma`` the standard deviation.",
    parameters={"shape": Parameter(POSITIVE), "rate": Parameter(POSITIVE)},
    spellings={
        ("shape", "rate"): lambda shape, rate: {"shape": shape, "rate": rate},
        ("shape", "scale"): lambda shape, scale: {"shape": shape, "rate": 1 / scale},
        ("mu", "shape"): lambda mu, shape: {"shape": shape, "rate": shape / mu},
        ("mu", "sigma"): lambda mu, sigma: {"shape": mu**2 / sigma**2, "rate": mu / sigma**2},
    },
    spelled={
        "scale": Parameter(POSITIVE),
        "mu": Parameter(POSITIVE),
        "sigma": Parameter(POSITIVE),
    },
    support=lambda event, **_: POSITIVE,
    log_density=lambda x, event, shape, rate: (
        shape * log(rate) - loggamma(shape) + (shape - 1) * log(x) - rate * x
    ),
    simulate="simulate_gamma",
    natural=Natural(
        statistics=lambda x, event: (log(x), x),
        draw="gamma",
        domain=lambda eta_1, eta_2: (eta_1 + 1, -eta_2),
        log_partition=lambda eta_1, eta_2: loggamma(eta_1 + 1) - (eta_1 + 1) * log(-eta_2),
        truncated="truncated_gamma",
    ),
    mean=lambda event, shape, rate: shape / rate,
    variance=lambda event, shape, rate: shape / rate**2,
    log_cdf=lambda x, shape, rate: LogGammaP(shape, rate * x),
    log_sf=lambda x, shape, rate: LogGammaQ(shape, rate * x),
    location_scale=_OF_RATE,
)

INVERSE_GAMMA = Family(
    name="InverseGamma",
    about="The inverse gamma distribution: that of ``1/x`` for x from Gamma(shape, scale).",
    parameters={"shape": Parameter(POSITIVE), "scale": Parameter(POSITIVE)},
    support=lambda event, **_: POSITIVE,
    log_density=lambda x, event, shape, scale: (
        shape * log(scale) - loggamma(shape) - (shape + 1) * log(x) - scale / x
    ),
    simulate="simulate_inverse_gamma",
    natural=Natural(
        statistics=lambda x, event: (log(x), 1 / x),
        draw="inverse_gamma",
        domain=lambda eta_1, eta_2: (-eta_1 - 1, -eta_2),
        log_partition=lambda eta_1, eta_2: loggamma(-eta_1 - 1) + (eta_1 + 1) * log(-eta_2),
        truncated="truncated_inverse_gamma",
    ),
    mean=lambda event, shape, scale: finite_where(shape - 1, scale),
    variance=lambda event, shape, scale: finite_where(
        shape - 2, finite_where(shape - 1, scale) ** 2
    ),
    log_cdf=lambda x, shape, scale: LogGammaQ(shape, scale / x),
    log_sf=lambda x, shape, scale: LogGammaP(shape, scale / x),
    location_scale=_OF_SCALE,
)

EXPONENTIAL = Family(
    name="Exponential",
    about="The exponential distribution; ``scale`` is the mean.",
    parameters={"rate": Parameter(POSITIVE)},
    spellings={
        ("rate",): lambda rate: {"rate": rate},
        ("scale",): lambda scale: {"rate": 1 / scale},
    },
    spelled={"scale": Parameter(POSITIVE)},
    support=lambda event, **_: POSITIVE,
    log_density=lambda x, event, rate: log(rate) - rate * x,
    simulate="simulate_exponential",
    natural=Natural(
        statistics=lambda x, event: (x,),
        draw="exponential",
        domain=lambda eta_1: (-eta_1,),
        log_partition=lambda eta_1: -log(-eta_1),
        truncated="truncated_exponential",
    ),
    mean=lambda event, rate: 1 / rate,
    variance=lambda event, rate: rate**-2,
    log_cdf=lambda x, rate: LogGammaP(sp.S.One, rate * x),
    log_sf=lambda x, rate: -rate * x,
    location_scale=_OF_RATE,
)

CHI_SQUARED = Family(
    name="ChiSquared",
    about="The chi-squared distribution, of ``nu`` degrees of freedom.",
    parameters={"nu": Parameter(POSITIVE)},
    support=lambda event, **_: POSITIVE,
    log_density=lambda x, event, nu: (
        (nu / 2 - 1) * log(x) - x / 2 - loggamma(nu / 2) - nu / 2 * log(2)
    ),
    simulate="simulate_chi_squared",
    natural=Natural(
        statistics=lambda x, event: (log(x),),
        draw="chi_squared",
        domain=lambda eta_1: (eta_1 + 1,),
        log_partition=lambda eta_1: loggamma(eta_1 + 1) + (eta_1 + 1) * log(2),
        log_base=lambda x, event: -x / 2,
    ),
    mean=lambda event, nu: nu,
    variance=lambda event, nu: 2 * nu,
    log_cdf=lambda x, nu: LogGammaP(nu / 2, x / 2),
    log_sf=lambda x, nu: LogGammaQ(nu / 2, x / 2),
)

LOG_NORMAL = Family(
    name="LogNormal",
    about="The log-normal distribution: ``log(x)`` is from Normal(mu, tau).",
    parameters={"mu": Parameter(), "tau": Parameter(POSITIVE)},
    spellings={
        ("mu", "tau"): lambda mu, tau: {"mu": mu, "tau": tau},
        ("mu", "sigma"): lambda mu, sigma: {"mu": mu, "tau": sigma**-2},
        ("mu", "var"): lambda mu, var: {"mu": mu, "tau": 1 / var},
    },
    spelled={"sigma": Parameter(POSITIVE), "var": Parameter(POSITIVE)},
    support=lambda event, **_: POSITIVE,
    log_density=lambda x, event, mu, tau: (
        log(tau) / 2 - log(2 * pi) / 2 - log(x) - tau * (log(x) - mu) ** 2 / 2
    ),
    simulate="simulate_log_normal",
    natural=Natural(
        statistics=lambda x, event: (log(x), log(x) ** 2),
        draw="log_normal",
        domain=lambda eta_1, eta_2: (-eta_2,),
        log_partition=lambda eta_1, eta_2: -((eta_1 + 1) ** 2) / (4 * eta_2) + log(pi / -eta_2) / 2,
        truncated="truncated_log_normal",
    ),
    mean=lambda event, mu, tau: exp(mu + 1 / (2 * tau)),
    variance=lambda event, mu, tau: exp(2 * mu + 2 / tau + LogGammaP(sp.S.One, 1 / tau)),
    log_cdf=lambda x, mu, tau: LogPhi(sqrt(tau) * (log(x) - mu)),
    log_sf=lambda x, mu, tau: LogPhi(sqrt(tau) * (mu - log(x))),
)

WEIBULL = Family(  # the rate is the hazard's: the hazard is shape * rate * x**(shape - 1)
    name="Weibull",
    about="The Weibull distribution: ``P(x > t) = exp(-rate*t**shape)``, as in BUGS.",
    parameters={"shape": Parameter(POSITIVE), "rate": Parameter(POSITIVE)},
    spellings={
        ("shape", "rate"): lambda shape, rate: {"shape": shape, "rate": rate},
        ("shape", "scale"): lambda shape, scale: {"shape": shape, "rate": scale**-shape},
    },
    spelled={"scale": Parameter(POSITIVE)},
    support=lambda event, **_: POSITIVE,
    log_density=lambda x, event, shape, rate: (
        log(shape) + log(rate) + (shape - 1) * log(x) - rate * x**shape
    ),
    simulate="simulate_weibull",
    natural=Natural(
        statistics=lambda x, event, shape: (x**shape,),
        draw="weibull",
        domain=lambda eta_1, shape: (-eta_1,),
        log_partition=lambda eta_1, shape: -log(-eta_1) - log(shape),
        log_base=lambda x, event, shape: (shape - 1) * log(x),
        known=("shape",),
    ),
    mean=lambda event, shape, rate: exp(loggamma(1 + 1 / shape) - log(rate) / shape),
    variance=lambda event, shape, rate: (
        (exp(loggamma(1 + 2 / shape)) - exp(2 * loggamma(1 + 1 / shape))) * rate ** (-2 / shape)
    ),
    log_cdf=lambda x, shape, rate: LogGammaP(sp.S.One, rate * x**shape),
    log_sf=lambda x, shape, rate: -rate * x**shape,
)

PARETO = Family(
    name="Pareto",
    about="The Pareto distribution: ``P(x > t) = (minimum/t)**shape``.",
    parameters={"shape": Parameter(POSITIVE), "minimum": Parameter(POSITIVE)},
    support=lambda event, shape, minimum: Support("real", minimum),
    log_density=lambda x, event, shape, minimum: (
        log(shape) + shape * log(minimum) - (shape + 1) * log(x)
    ),
    simulate="simulate_pareto",
    natural=Natural(
        statistics=lambda x, event, minimum: (log(x),),
        draw="pareto",
        domain=lambda eta_1, minimum: (-eta_1 - 1,),
        log_partition=lambda eta_1, minimum: -log(-eta_1 - 1) + (eta_1 + 1) * log(minimum),
        known=("minimum",),
        truncated="truncated_power",
        within=POSITIVE,
    ),
    mean=lambda event, shape, minimum: finite_where(shape - 1, shape * minimum),
    variance=lambda event, shape, minimum: finite_where(
        shape - 2, shape * finite_where(shape - 1, minimum) ** 2
    ),
    log_cdf=lambda x, shape, minimum: LogGammaP(sp.S.One, shape * log(x / minimum)),
    log_sf=lambda x, shape, minimum: -shape * log(x / minimum),
)

HALF_NORMAL = Family(
    name="HalfNormal",
    about="The half-normal distribution: the size of a Normal(0, tau).",
    parameters={"tau": Parameter(POSITIVE)},
    spellings={
        ("tau",): lambda tau: {"tau": tau},
        ("sigma",): lambda sigma: {"tau": sigma**-2},
    },
    spelled={"sigma": Parameter(POSITIVE)},
    support=lambda event, **_: POSITIVE,
    log_density=lambda x, event, tau: log(tau) / 2 + log(2 / pi) / 2 - tau * x**2 / 2,
    simulate="simulate_half_normal",
    natural=Natural(
        statistics=lambda x, event: (x**2,),
        draw="half_normal",
        domain=lambda eta_1: (-eta_1,),
        log_partition=lambda eta_1: log(pi / -eta_1) / 2 - log(2),
        truncated="truncated_half_normal",
    ),
    mean=lambda event, tau: sqrt(2 / (pi * tau)),
    variance=lambda event, tau: (1 - 2 / pi) / tau,
    log_cdf=lambda x, tau: LogGammaP(HALF, tau * x**2 / 2),
    log_sf=lambda x, tau: LogGammaQ(HALF, tau * x**2 / 2),
    location_scale=_OF_PRECISION,
)

def _log_angle(x: Expr, scale: Expr) -> Expr:
    """The log of the part of a right angle that ``x / scale`` is the tangent of."""
    return log(2 / pi * atan(x / scale))


HALF_CAUCHY = Family(
    name="HalfCauchy",
    about="The half-Cauchy distribution: the size of a Cauchy(0, scale).",
    parameters={"scale": Parameter(POSITIVE)},
    support=lambda event, **_: POSITIVE,
    log_density=lambda x, event, scale: log(2 / pi) - log(scale) - log(1 + (x / scale) ** 2),
    simulate="simulate_half_cauchy",
    log_cdf=lambda x, scale: from_the_smaller(_log_angle(x, scale), _log_angle(scale, x)),
    log_sf=lambda x, scale: from_the_smaller(_log_angle(scale, x), _log_angle(x, scale)),
    location_scale=_OF_SCALE,
)


def _half_student_mean(nu: Expr, scale: Expr) -> Expr:
    ratio = exp(loggamma((nu + 1) / 2) - loggamma(nu / 2))
    return finite_where(nu - 1, 2 * scale * sqrt(nu / pi) * ratio)


HALF_STUDENT_T = Family(
    name="HalfStudentT",
    about="The half-t distribution: the size of a StudentT with location 0.",
    parameters={"nu": Parameter(POSITIVE), "scale": Parameter(POSITIVE)},
    support=lambda event, **_: POSITIVE,
    log_density=lambda x, event, nu, scale: (
        log(2)
        + loggamma((nu + 1) / 2)
        - loggamma(nu / 2)
        - log(scale)
        - log(nu) / 2
        - log(pi) / 2
        - (nu + 1) / 2 * log(1 + (x / scale) ** 2 / nu)
    ),
    simulate="simulate_half_student_t",
    mean=lambda event, nu, scale: _half_student_mean(nu, scale),
    variance=lambda event, nu, scale: finite_where(
        nu - 2, nu * scale**2 - (nu - 2) * _half_student_mean(nu, scale) ** 2
    ),
    log_cdf=lambda x, nu, scale: log_student_tails(x / scale, nu)[0],
    log_sf=lambda x, nu, scale: log_student_tails(x / scale, nu)[1],
    location_scale=_OF_SCALE,
)

HALF_FLAT = Family(  # improper: no distribution, for it has no total mass
    name="HalfFlat",
    about="The improper prior that is constant above 0.",
    parameters={},
    support=lambda event, **_: POSITIVE,
    log_density=lambda x, event: sp.S.Zero,
    simulate="simulate_half_flat",
)
