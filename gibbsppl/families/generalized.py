"""The rows on the half line that hold a Gamma or an inverse Gamma and one statistic more.

``LogGammaP(1, z)`` is ``log(1 - exp(-z))``, with all its digits where ``z`` is small.
"""

# Every formula of a row is called with the same arguments, needed or not.
# ruff: noqa: ARG005

from __future__ import annotations

import sympy as sp
from sympy import Abs, Rational, exp, log, pi, sqrt

from gibbsppl.algebra.expressions import Expr
from gibbsppl.algebra.functions import (
    Below,
    Equals,
    Expit,
    LogBesselK,
    LogFoxWright,
    LogGammaP,
    LogPassageP,
    LogPassageQ,
    LogPolyaGamma,
    Maximum,
    Softplus,
    Where,
)
from gibbsppl.algebra.log_gamma import loggamma
from gibbsppl.algebra.supports import POSITIVE
from gibbsppl.families.rows import Family, Natural, Parameter, finite_where, log_beta_tails


def _log_bessel(p: Expr, a: Expr, b: Expr) -> Expr:
    """``log K_p(sqrt(a b))``; the product itself may underflow."""
    return LogBesselK(p, sqrt(a) * sqrt(b))


def _at_its_edges(a: Expr, b: Expr, gamma: Expr, inverse_gamma: Expr, inside: Expr) -> Expr:
    """One of three values: of a Gamma where ``b`` is 0, its inverse where ``a`` is, or inside."""
    at_zero = Where(Equals(a, sp.S.Zero), inverse_gamma, inside)
    return Where(Equals(b, sp.S.Zero), gamma, at_zero)


def _power_mean(order: int, p: Expr, a: Expr, b: Expr) -> Expr:
    """The mean of ``x**order``, where it is finite."""
    logs = _log_bessel(p + order, a, b) - _log_bessel(p, a, b)
    inside = exp(logs + order * (log(b) - log(a)) / 2)
    gamma = sp.Mul(*(2 * (p + n) / a for n in range(order)))
    rest = sp.Mul(*(2 * (-p - n) for n in range(1, order)))
    inverse_gamma = finite_where(-p - order, b**order / 2 / rest)
    return _at_its_edges(a, b, gamma, inverse_gamma, inside)


# Density proportional to x**(p - 1) exp(-(a x + b / x) / 2).
GENERALIZED_INVERSE_GAUSSIAN = Family(
    name="GeneralizedInverseGaussian",
    about=(
        "The generalised inverse Gaussian distribution: density proportional to ``x**(p - "
        "1)*exp(-(a*x + b/x)/2)``."
    ),
    parameters={"p": Parameter(), "a": Parameter(POSITIVE), "b": Parameter(POSITIVE)},
    support=lambda event, **_: POSITIVE,
    log_density=lambda x, event, p, a, b: (
        p * (log(a) - log(b)) / 2
        - log(2)
        - _log_bessel(p, a, b)
        + (p - 1) * log(x)
        - a * x / 2
        - b / x / 2
    ),
    simulate="simulate_generalized_inverse_gaussian",
    natural=Natural(
        statistics=lambda x, event: (log(x), x, 1 / x),
        draw="generalized_inverse_gaussian",
        domain=lambda eta_1, eta_2, eta_3: (
            Where(Equals(eta_2, sp.S.Zero), -eta_1 - 1, -eta_2),
            Where(Equals(eta_3, sp.S.Zero), eta_1 + 1, -eta_3),
        ),
        log_partition=lambda eta_1, eta_2, eta_3: _at_its_edges(
            eta_2,
            eta_3,
            loggamma(eta_1 + 1) - (eta_1 + 1) * log(-eta_2),
            loggamma(-eta_1 - 1) + (eta_1 + 1) * log(-eta_3),
            log(2)
            + _log_bessel(eta_1 + 1, -2 * eta_2, -2 * eta_3)
            + (eta_1 + 1) * (log(-eta_3) - log(-eta_2)) / 2,
        ),
        truncated="truncated_generalized_inverse_gaussian",
    ),
    mean=lambda event, p, a, b: _power_mean(1, p, a, b),
    variance=lambda event, p, a, b: _power_mean(2, p, a, b) - _power_mean(1, p, a, b) ** 2,
)


def _passage(x: Expr, mu: Expr, lam: Expr) -> tuple[Expr, Expr]:
    """The arguments of the distribution functions of a first passage."""
    root = sqrt(lam / x)
    return root * (x - mu) / mu, 2 * root


INVERSE_GAUSSIAN = Family(  # of mean mu and variance mu**3 / lam
    name="InverseGaussian",
    about="The inverse Gaussian (Wald) distribution.",
    parameters={"mu": Parameter(POSITIVE), "lam": Parameter(POSITIVE)},
    support=lambda event, **_: POSITIVE,
    log_density=lambda x, event, mu, lam: (
        log(lam) / 2
        - log(2 * pi) / 2
        - Rational(3, 2) * log(x)
        - lam * (x - mu) ** 2 / (2 * mu**2 * x)
    ),
    simulate="simulate_inverse_gaussian",
    natural=Natural(
        statistics=lambda x, event: (x, 1 / x),
        draw="inverse_gaussian",
        domain=lambda eta_1, eta_2: (-eta_1, -eta_2),
        log_partition=lambda eta_1, eta_2: (
            log(pi) / 2 - log(-eta_2) / 2 - 2 * sqrt(-eta_1) * sqrt(-eta_2)
        ),
        log_base=lambda x, event: -Rational(3, 2) * log(x),
    ),
    mean=lambda event, mu, lam: mu,
    variance=lambda event, mu, lam: mu**3 / lam,
    log_cdf=lambda x, mu, lam: LogPassageP(*_passage(x, mu, lam)),
    log_sf=lambda x, mu, lam: LogPassageQ(*_passage(x, mu, lam)),
)


def _log_ratio(order: int, a: Expr, b: Expr, c: Expr) -> Expr:
    """The log of the mean of ``x**order`` of a modified half-normal variable."""
    z = c / sqrt(b)
    return LogFoxWright(a + order, z) - LogFoxWright(a, z) - order * log(b) / 2


# Density proportional to x**(a - 1) exp(-b x**2 + c x): Sun, Kong and Pal 2021. Its normaliser is
# b**(-a / 2) / 2 times Fox and Wright's function of c / sqrt(b).
MODIFIED_HALF_NORMAL = Family(
    name="ModifiedHalfNormal",
    about=(
        "The modified half-normal distribution: density proportional to ``x**(a - 1)*exp(-b*x**2 + "
        "c*x)``."
    ),
    parameters={"a": Parameter(POSITIVE), "b": Parameter(POSITIVE), "c": Parameter()},
    support=lambda event, **_: POSITIVE,
    log_density=lambda x, event, a, b, c: (
        log(2)
        + a * log(b) / 2
        - LogFoxWright(a, c / sqrt(b))
        + (a - 1) * log(x)
        - b * x**2
        + c * x
    ),
    simulate="simulate_modified_half_normal",
    natural=Natural(
        statistics=lambda x, event: (log(x), x, x**2),
        draw="modified_half_normal",
        domain=lambda eta_1, eta_2, eta_3: (
            eta_1 + 1,
            Where(Equals(eta_3, sp.S.Zero), -eta_2, -eta_3),
        ),
        log_partition=lambda eta_1, eta_2, eta_3: (
            LogFoxWright(eta_1 + 1, eta_2 / sqrt(-eta_3))
            - log(2)
            - (eta_1 + 1) * log(-eta_3) / 2
        ),
        truncated="truncated_modified_half_normal",
    ),
    mean=lambda event, a, b, c: exp(_log_ratio(1, a, b, c)),
    variance=lambda event, a, b, c: (
        exp(_log_ratio(2, a, b, c)) - exp(2 * _log_ratio(1, a, b, c))
    ),
)

BETA_PRIME = Family(  # x / (1 + x) is Beta(a, b)
    name="BetaPrime",
    about="The beta prime distribution: that of the odds ``p/(1 - p)`` for p from Beta(a, b).",
    parameters={"a": Parameter(POSITIVE), "b": Parameter(POSITIVE)},
    support=lambda event, **_: POSITIVE,
    log_density=lambda x, event, a, b: (
        loggamma(a + b) - loggamma(a) - loggamma(b) + (a - 1) * log(x) - (a + b) * log(1 + x)
    ),
    simulate="simulate_beta_prime",
    natural=Natural(
        statistics=lambda x, event: (log(x), log(1 + x)),
        draw="beta_prime",
        domain=lambda eta_1, eta_2: (eta_1 + 1, -eta_1 - eta_2 - 1),
        log_partition=lambda eta_1, eta_2: (
            loggamma(eta_1 + 1) + loggamma(-eta_1 - eta_2 - 1) - loggamma(-eta_2)
        ),
        truncated="truncated_beta_prime",
    ),
    mean=lambda event, a, b: finite_where(b - 1, a),
    variance=lambda event, a, b: finite_where(
        b - 2, a * (a + b - 1) * finite_where(b - 1, sp.S.One) ** 2
    ),
    log_cdf=lambda x, a, b: log_beta_tails(a, b, x / (1 + x), 1 / (1 + x))[0],
    log_sf=lambda x, a, b: log_beta_tails(a, b, x / (1 + x), 1 / (1 + x))[1],
)


def _ratio_tails(x: Expr, nu_1: Expr, nu_2: Expr) -> tuple[Expr, Expr]:
    """The logs of P(X <= x) and P(X > x), from the shares of two in their sum."""
    total = nu_1 * x + nu_2
    return log_beta_tails(nu_1 / 2, nu_2 / 2, nu_1 * x / total, nu_2 / total)


def _ratio_variance(nu_1: Expr, nu_2: Expr) -> Expr:
    mean = finite_where(nu_2 - 2, nu_2, sp.S.One)
    return finite_where(nu_2 - 4, 2 * mean**2 * (nu_1 + nu_2 - 2) / nu_1)


FISHER_SNEDECOR = Family(  # the F distribution: nu_1 / nu_2 x is BetaPrime(nu_1 / 2, nu_2 / 2)
    name="FisherSnedecor",
    about="The F distribution, of ``nu_1`` and ``nu_2`` degrees of freedom.",
    parameters={"nu_1": Parameter(POSITIVE), "nu_2": Parameter(POSITIVE)},
    support=lambda event, **_: POSITIVE,
    log_density=lambda x, event, nu_1, nu_2: (
        loggamma((nu_1 + nu_2) / 2)
        - loggamma(nu_1 / 2)
        - loggamma(nu_2 / 2)
        - nu_1 / 2 * log(1 + nu_2 / (nu_1 * x))
        - nu_2 / 2 * log(1 + nu_1 * x / nu_2)
        - log(x)
    ),
    simulate="simulate_fisher_snedecor",
    mean=lambda event, nu_1, nu_2: finite_where(nu_2 - 2, nu_2),
    variance=lambda event, nu_1, nu_2: _ratio_variance(nu_1, nu_2),
    log_cdf=lambda x, nu_1, nu_2: _ratio_tails(x, nu_1, nu_2)[0],
    log_sf=lambda x, nu_1, nu_2: _ratio_tails(x, nu_1, nu_2)[1],
)


def _log_cosh(z: Expr) -> Expr:
    return Softplus(2 * z) - z - log(2)


def _polya_gamma_mean(b: Expr, c: Expr) -> Expr:
    """``b tanh(c / 2) / (2 c)``, at the size of c or at 1e-9 if that is larger."""
    size = Maximum(Abs(c), Rational(1, 10**9))
    return b * exp(LogGammaP(sp.S.One, size)) * Expit(size) / (2 * size)


def _polya_gamma_variance(b: Expr, c: Expr) -> Expr:
    """``b (sinh c - c) / (4 c**3 cosh(c / 2)**2)``, by its series where that is a difference."""
    square, size = c**2, Maximum(Abs(c), Rational(1, 10))
    less = square * (
        Rational(1, 120) - square * (Rational(17, 13440) - square * Rational(31, 181440))
    )
    tangent = exp(LogGammaP(sp.S.One, size)) * Expit(size)
    difference = 2 * tangent - size * (1 - tangent**2)
    near = Below(Abs(c), Rational(1, 10))
    return b * Where(near, Rational(1, 24) - less, difference / (4 * size**3))


# PG(b, c) of Polson, Scott and Windle 2013. Negative squares of c would be proper as well, above
# -pi**2, but no augmentation has them.
POLYA_GAMMA = Family(
    name="PolyaGamma",
    about="The Polya-Gamma distribution of Polson, Scott and Windle (2013).",
    parameters={"b": Parameter(POSITIVE), "c": Parameter()},
    support=lambda event, **_: POSITIVE,
    log_density=lambda x, event, b, c: b * _log_cosh(c / 2) - c**2 * x / 2 + LogPolyaGamma(b, x),
    simulate="simulate_polya_gamma",
    natural=Natural(
        statistics=lambda x, event, b: (x,),
        draw="polya_gamma",
        domain=lambda eta_1, b: (Where(Equals(eta_1, sp.S.Zero), sp.S.One, -eta_1), b),
        log_partition=lambda eta_1, b: -b * _log_cosh(sqrt(-eta_1 / 2)),
        log_base=lambda x, event, b: LogPolyaGamma(b, x),
        known=("b",),
    ),
    mean=lambda event, b, c: _polya_gamma_mean(b, c),
    variance=lambda event, b, c: _polya_gamma_variance(b, c),
)
