"""The rows of lengths of normal vectors: the square of a value is a Gamma variable."""

# Every formula of a row is called with the same arguments, needed or not.
# ruff: noqa: ARG005

from __future__ import annotations

import sympy as sp
from sympy import Rational, exp, log, pi, sqrt

from gibbsppl.algebra.expressions import Expr
from gibbsppl.algebra.functions import LogGammaP, LogGammaQ
from gibbsppl.algebra.log_gamma import loggamma
from gibbsppl.algebra.supports import POSITIVE
from gibbsppl.families.rows import Family, Parameter

HALF = Rational(1, 2)

RAYLEIGH = Family(  # the length of 2 entries of precision tau
    name="Rayleigh",
    about="The Rayleigh distribution: the length of two Normal(0, tau).",
    parameters={"tau": Parameter(POSITIVE)},
    spellings={
        ("tau",): lambda tau: {"tau": tau},
        ("sigma",): lambda sigma: {"tau": sigma**-2},
    },
    spelled={"sigma": Parameter(POSITIVE)},
    support=lambda event, **_: POSITIVE,
    log_density=lambda x, event, tau: log(tau) + log(x) - tau * x**2 / 2,
    simulate="simulate_rayleigh",
    mean=lambda event, tau: sqrt(pi / (2 * tau)),
    variance=lambda event, tau: (2 - pi / 2) / tau,
    log_cdf=lambda x, tau: LogGammaP(sp.S.One, tau * x**2 / 2),
    log_sf=lambda x, tau: -tau * x**2 / 2,
)

MAXWELL = Family(  # the length of 3 entries of precision tau
    name="Maxwell",
    about="The Maxwell distribution: the length of three Normal(0, tau).",
    parameters={"tau": Parameter(POSITIVE)},
    spellings={
        ("tau",): lambda tau: {"tau": tau},
        ("sigma",): lambda sigma: {"tau": sigma**-2},
    },
    spelled={"sigma": Parameter(POSITIVE)},
    support=lambda event, **_: POSITIVE,
    log_density=lambda x, event, tau: (
        log(2 / pi) / 2 + 3 * log(tau) / 2 + 2 * log(x) - tau * x**2 / 2
    ),
    simulate="simulate_maxwell",
    mean=lambda event, tau: sqrt(8 / (pi * tau)),
    variance=lambda event, tau: (3 - 8 / pi) / tau,
    log_cdf=lambda x, tau: LogGammaP(Rational(3, 2), tau * x**2 / 2),
    log_sf=lambda x, tau: LogGammaQ(Rational(3, 2), tau * x**2 / 2),
)


def _mean_root(shape: Expr) -> Expr:
    """The mean of the root of a Gamma(shape, 1) variable."""
    return exp(loggamma(shape + HALF) - loggamma(shape))


CHI = Family(  # the length of nu entries of precision 1
    name="Chi",
    about="The chi distribution: the length of ``nu`` standard normals.",
    parameters={"nu": Parameter(POSITIVE)},
    support=lambda event, **_: POSITIVE,
    log_density=lambda x, event, nu: (
        (1 - nu / 2) * log(2) - loggamma(nu / 2) + (nu - 1) * log(x) - x**2 / 2
    ),
    simulate="simulate_chi",
    mean=lambda event, nu: sqrt(2) * _mean_root(nu / 2),
    variance=lambda event, nu: nu - 2 * _mean_root(nu / 2) ** 2,
    log_cdf=lambda x, nu: LogGammaP(nu / 2, x**2 / 2),
    log_sf=lambda x, nu: LogGammaQ(nu / 2, x**2 / 2),
)

NAKAGAMI = Family(  # the mean of the square is omega
    name="Nakagami",
    about="The Nakagami distribution: that of ``x`` where ``x**2`` is from Gamma(m, m/omega).",
    parameters={"m": Parameter(POSITIVE), "omega": Parameter(POSITIVE)},
    support=lambda event, **_: POSITIVE,
    log_density=lambda x, event, m, omega: (
        log(2)
        + m * log(m)
        - loggamma(m)
        - m * log(omega)
        + (2 * m - 1) * log(x)
        - m * x**2 / omega
    ),
    simulate="simulate_nakagami",
    mean=lambda event, m, omega: _mean_root(m) * sqrt(omega / m),
    variance=lambda event, m, omega: omega - _mean_root(m) ** 2 * omega / m,
    log_cdf=lambda x, m, omega: LogGammaP(m, m * x**2 / omega),
    log_sf=lambda x, m, omega: LogGammaQ(m, m * x**2 / omega),
)
