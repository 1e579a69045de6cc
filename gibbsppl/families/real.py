"""The rows whose values are on the whole real line.

Normal and Student-t are written with a precision, Laplace with a rate, the others with a scale.
"""

# Every formula of a row is called with the same arguments, needed or not.
# ruff: noqa: ARG005

from __future__ import annotations

import sympy as sp
from sympy import Abs, Rational, atan, exp, log, pi, sqrt

from gibbsppl.algebra.expressions import Expr
from gibbsppl.algebra.functions import Below, LogGammaP, LogPhi, Maximum, Minimum, Softplus, Where
from gibbsppl.algebra.log_gamma import loggamma
from gibbsppl.algebra.supports import POSITIVE, REAL, UNIT
from gibbsppl.families.rows import (
    Family,
    LocationScale,
    Natural,
    Parameter,
    finite_where,
    log_student_tails,
)

_OF_PRECISION = LocationScale(lambda tau, **_: 1 / sqrt(tau), {"tau": sp.S.One}, "mu")
_OF_SCALE = LocationScale(lambda scale, **_: scale, {"scale": sp.S.One}, "mu")
_OF_RATE = LocationScale(lambda rate, **_: 1 / rate, {"rate": sp.S.One}, "mu")

NORMAL = Family(
    name="Normal",
    about=(
        "The normal (Gaussian) distribution, with the precision ``tau``, the standard deviation "
        "``sigma`` or the variance ``var``."
    ),
    parameters={"mu": Parameter(), "tau": Parameter(POSITIVE)},
    spellings={
        ("mu", "tau"): lambda mu, tau: {"mu": mu, "tau": tau},
        ("mu", "sigma"): lambda mu, sigma: {"mu": mu, "tau": sigma**-2},
        ("mu", "var"): lambda mu, var: {"mu": mu, "tau": 1 / var},
    },
    spelled={"sigma": Parameter(POSITIVE), "var": Parameter(POSITIVE)},
    support=lambda event, **_: REAL,
    log_density=lambda x, event, mu, tau: log(tau) / 2 - log(2 * pi) / 2 - tau * (x - mu) ** 2 / 2,
    simulate="simulate_normal",
    natural=Natural(
        statistics=lambda x, event: (x, x**2),
        draw="normal",
        domain=lambda eta_1, eta_2: (-eta_2,),
        log_partition=lambda eta_1, eta_2: -(eta_1**2) / (4 * eta_2) + log(pi / -eta_2) / 2,
        truncated="truncated_normal",
        over_relaxed="over_relaxed_normal",
    ),
    mean=lambda event, mu, tau: mu,
    variance=lambda event, mu, tau: 1 / tau,
    log_cdf=lambda x, mu, tau: LogPhi(sqrt(tau) * (x - mu)),
    log_sf=lambda x, mu, tau: LogPhi(sqrt(tau) * (mu - x)),
    location_scale=_OF_PRECISION,
)


def _log_student_cdf(z: Expr, nu: Expr) -> Expr:
    """The log of P(T <= z), from that of P(|T| > z)."""
    _, both = log_student_tails(z, nu)
    return Where(Below(z, sp.S.Zero), both - log(2), log(1 - exp(both) / 2))


STUDENT_T = Family(
    name="StudentT",
    about="The Student-t distribution, with ``nu`` degrees of freedom and a location.",
    parameters={"nu": Parameter(POSITIVE), "mu": Parameter(), "tau": Parameter(POSITIVE)},
    spellings={
        ("nu", "mu", "tau"): lambda nu, mu, tau: {"nu": nu, "mu": mu, "tau": tau},
        ("nu", "mu", "sigma"): lambda nu, mu, sigma: {"nu": nu, "mu": mu, "tau": sigma**-2},
    },
    spelled={"sigma": Parameter(POSITIVE)},
    support=lambda event, **_: REAL,
    log_density=lambda x, event, nu, mu, tau: (
        loggamma((nu + 1) / 2)
        - loggamma(nu / 2)
        + log(tau) / 2
        - log(nu) / 2
        - log(pi) / 2
        - (nu + 1) / 2 * log(1 + tau * (x - mu) ** 2 / nu)
    ),
    simulate="simulate_student_t",
    mean=lambda event, nu, mu, tau: Where(Below(sp.S.One, nu), mu, sp.nan),
    variance=lambda event, nu, mu, tau: finite_where(nu - 2, nu / tau),
    log_cdf=lambda x, nu, mu, tau: _log_student_cdf(sqrt(tau) * (x - mu), nu),
    log_sf=lambda x, nu, mu, tau: _log_student_cdf(sqrt(tau) * (mu - x), nu),
    location_scale=_OF_PRECISION,
)


def _log_cauchy_cdf(z: Expr) -> Expr:
    """The log of P(Z <= z) for the standard Cauchy distribution, from a tail that is small."""
    far = Below(sp.S.One, Abs(z))
    tail = log(Where(far, atan(1 / Where(far, Abs(z), sp.S.One)), pi / 2 - atan(Abs(z))) / pi)
    return Where(Below(z, sp.S.Zero), tail, LogGammaP(sp.S.One, -tail))


CAUCHY = Family(
    name="Cauchy",
    about="The Cauchy distribution.",
    parameters={"mu": Parameter(), "scale": Parameter(POSITIVE)},
    support=lambda event, **_: REAL,
    log_density=lambda x, event, mu, scale: (
        -log(pi) - log(scale) - log(1 + ((x - mu) / scale) ** 2)
    ),
    simulate="simulate_cauchy",
    log_cdf=lambda x, mu, scale: _log_cauchy_cdf((x - mu) / scale),
    log_sf=lambda x, mu, scale: _log_cauchy_cdf((mu - x) / scale),
    location_scale=_OF_SCALE,
)


def _log_laplace_cdf(z: Expr) -> Expr:
    """The log of P(Z <= z) for the standard Laplace distribution."""
    tail = exp(-Abs(z)) / 2
    return Where(Below(z, sp.S.Zero), -Abs(z) - log(2), log(1 - tail))


LAPLACE = Family(
    name="Laplace",
    about="The Laplace (double exponential) distribution.",
    parameters={"mu": Parameter(), "rate": Parameter(POSITIVE)},
    spellings={
        ("mu", "rate"): lambda mu, rate: {"mu": mu, "rate": rate},
        ("mu", "scale"): lambda mu, scale: {"mu": mu, "rate": 1 / scale},
    },
    spelled={"scale": Parameter(POSITIVE)},
    support=lambda event, **_: REAL,
    log_density=lambda x, event, mu, rate: log(rate) - log(2) - rate * Abs(x - mu),
    simulate="simulate_laplace",
    natural=Natural(
        statistics=lambda x, event, mu: (Abs(x - mu),),
        draw="laplace",
        domain=lambda eta_1, mu: (-eta_1,),
        log_partition=lambda eta_1, mu: log(2) - log(-eta_1),
        known=("mu",),
    ),
    mean=lambda event, mu, rate: mu,
    variance=lambda event, mu, rate: 2 / rate**2,
    log_cdf=lambda x, mu, rate: _log_laplace_cdf(rate * (x - mu)),
    log_sf=lambda x, mu, rate: _log_laplace_cdf(rate * (mu - x)),
    location_scale=_OF_RATE,
)



def _log_asymmetric_tails(z: Expr, q: Expr) -> tuple[Expr, Expr]:
    """The logs of P(Z <= z) and P(Z > z) for the standard asymmetric Laplace distribution."""
    left = log(q) + (1 - q) * Minimum(z, sp.S.Zero)
    right = LogGammaP(sp.S.One, -log(q)) - q * Maximum(z, sp.S.Zero)
    is_left = Below(z, sp.S.Zero)
    return (
        Where(is_left, left, LogGammaP(sp.S.One, -right)),
        Where(is_left, LogGammaP(sp.S.One, -left), right),
    )


# Density proportional to exp(-rate * check(x - mu)), the loss whose least value is the q-quantile,
# mu: Koenker and Machado (1999), Journal of the American Statistical Association 94.
ASYMMETRIC_LAPLACE = Family(
    name="AsymmetricLaplace",
    about=(
        "The asymmetric Laplace distribution of quantile regression: ``mu`` is its ``q``-quantile."
    ),
    parameters={"mu": Parameter(), "rate": Parameter(POSITIVE), "q": Parameter(UNIT)},
    spellings={
        ("mu", "rate", "q"): lambda mu, rate, q: {"mu": mu, "rate": rate, "q": q},
        ("mu", "scale", "q"): lambda mu, scale, q: {"mu": mu, "rate": 1 / scale, "q": q},
    },
    spelled={"scale": Parameter(POSITIVE)},
    support=lambda event, **_: REAL,
    log_density=lambda x, event, mu, rate, q: (
        log(q)
        + log(1 - q)
        + log(rate)
        - rate * (Abs(x - mu) / 2 + (q - Rational(1, 2)) * (x - mu))
    ),
    simulate="simulate_asymmetric_laplace",
    mean=lambda event, mu, rate, q: mu + (1 / q - 1 / (1 - q)) / rate,
    variance=lambda event, mu, rate, q: (q**-2 + (1 - q) ** -2) / rate**2,
    log_cdf=lambda x, mu, rate, q: _log_asymmetric_tails(rate * (x - mu), q)[0],
    log_sf=lambda x, mu, rate, q: _log_asymmetric_tails(rate * (x - mu), q)[1],
    location_scale=_OF_RATE,
)

LOGISTIC = Family(
    name="Logistic",
    about="The logistic distribution.",
    parameters={"mu": Parameter(), "scale": Parameter(POSITIVE)},
    support=lambda event, **_: REAL,
    log_density=lambda x, event, mu, scale: (
        (mu - x) / scale - 2 * Softplus((mu - x) / scale) - log(scale)
    ),
    simulate="simulate_logistic",
    mean=lambda event, mu, scale: mu,
    variance=lambda event, mu, scale: (pi * scale) ** 2 / 3,
    log_cdf=lambda x, mu, scale: -Softplus((mu - x) / scale),
    log_sf=lambda x, mu, scale: -Softplus((x - mu) / scale),
    location_scale=_OF_SCALE,
)

GUMBEL = Family(  # exp(-x / scale) is Exponential: the largest of many values
    name="Gumbel",
    about="The Gumbel distribution, of the greatest of many values.",
    parameters={"mu": Parameter(), "scale": Parameter(POSITIVE)},
    support=lambda event, **_: REAL,
    log_density=lambda x, event, mu, scale: (
        (mu - x) / scale - exp((mu - x) / scale) - log(scale)
    ),
    simulate="simulate_gumbel",
    mean=lambda event, mu, scale: mu + sp.EulerGamma * scale,
    variance=lambda event, mu, scale: (pi * scale) ** 2 / 6,
    log_cdf=lambda x, mu, scale: -exp((mu - x) / scale),
    log_sf=lambda x, mu, scale: LogGammaP(sp.S.One, exp((mu - x) / scale)),
    location_scale=_OF_SCALE,
)

FLAT = Family(  # improper: no distribution, for it has no total mass
    name="Flat",
    about="The improper prior that is constant on the real line.",
    parameters={},
    support=lambda event, **_: REAL,
    log_density=lambda x, event: sp.S.Zero,
    simulate="simulate_flat",
)
