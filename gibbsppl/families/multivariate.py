"""The rows whose values are vectors and matrices, with their event dims written out.

A square matrix has the event dims ``k`` and ``k'``; a row is given ``k`` first.
"""

# Every formula of a row is called with the same arguments, needed or not.
# ruff: noqa: ARG005

from __future__ import annotations

import sympy as sp
from sympy import exp, log, pi

from gibbsppl.algebra.copies import primed
from gibbsppl.algebra.expressions import Dim, Expr, Over, substitute
from gibbsppl.algebra.log_gamma import loggamma
from gibbsppl.algebra.supports import NATURAL, POSITIVE, REAL, SIMPLEX, SPD, UNIT, VECTOR, Support
from gibbsppl.families.discrete import log_probability
from gibbsppl.families.rows import (
    Family,
    Natural,
    Parameter,
    at_primed,
    finite_where,
    inverse,
    inverse_diagonal,
    log_det,
)


def _share(a: Expr, k: Dim) -> Expr:
    return a / Over(a, k)


def _share_variance(a: Expr, k: Dim) -> Expr:
    return _share(a, k) * (1 - _share(a, k)) / (Over(a, k) + 1)


DIRICHLET = Family(
    name="Dirichlet",
    about="The Dirichlet distribution of a vector of probabilities.",
    parameters={"a": Parameter(POSITIVE, event=1)},
    support=lambda event, **_: SIMPLEX,
    log_density=lambda x, event, a: (
        loggamma(Over(a, event[0])) + Over((a - 1) * log(x) - loggamma(a), event[0])
    ),
    simulate="simulate_dirichlet",
    natural=Natural(
        statistics=lambda x, event: (log(x),),
        draw="dirichlet",
        domain=lambda eta_1: (eta_1 + 1,),
        log_partition=lambda eta_1, event: (
            Over(loggamma(eta_1 + 1), event[0]) - loggamma(Over(eta_1 + 1, event[0]))
        ),
        mean=lambda eta_1, event: _share(eta_1 + 1, event[0]),
        variance=lambda eta_1, event: _share_variance(eta_1 + 1, event[0]),
        mode=lambda eta_1, event: _share(eta_1, event[0]),
    ),
    event=1,
)


def _log_arrangements(x: Expr, n: Expr, k: Dim) -> Expr:
    return loggamma(n + 1) - Over(loggamma(x + 1), k)


MULTINOMIAL = Family(
    name="Multinomial",
    about="The multinomial distribution of the counts of ``n`` labels.",
    example={"n": 10, "p": (0.2, 0.3, 0.5)},
    parameters={"n": Parameter(NATURAL), "p": Parameter(UNIT, event=1)},
    support=lambda event, n, p: Support("counts", sp.S.Zero, n),
    log_density=lambda x, event, n, p: (
        _log_arrangements(x, n, event[0]) + Over(x * log_probability(p), event[0])
    ),
    simulate="simulate_multinomial",
    natural=Natural(
        statistics=lambda x, event, n: (x,),
        draw="multinomial",
        log_partition=lambda eta_1, event, n: n * log(Over(exp(eta_1), event[0])),
        log_base=lambda x, event, n: _log_arrangements(x, n, event[0]),
        known=("n",),
        mean=lambda eta_1, event, n: n * _share(exp(eta_1), event[0]),
        variance=lambda eta_1, event, n: (
            n * _share(exp(eta_1), event[0]) * (1 - _share(exp(eta_1), event[0]))
        ),
    ),
    event=1,
)


def _sum_over_entries(entry: Expr, k: Dim) -> Expr:
    """The sum over all entries of a matrix: with an entry ``A[k,k'] B[k,k']``, ``tr(A' B)``."""
    return Over(Over(entry, primed(k)), k)


def _quadratic(x: Expr, matrix: Expr, k: Dim) -> Expr:
    """``x' A x``."""
    return _sum_over_entries(matrix * x * at_primed(x, k), k)


MVNORMAL = Family(
    name="MvNormal",
    about=(
        "The multivariate normal (Gaussian) distribution; ``tau`` is the precision matrix, ``cov`` "
        "the covariance matrix."
    ),
    parameters={"mu": Parameter(REAL, event=1), "tau": Parameter(SPD, event=2)},
    spellings={
        ("mu", "tau"): lambda mu, tau, event: {"mu": mu, "tau": tau},
        ("mu", "cov"): lambda mu, cov, event: {"mu": mu, "tau": inverse(cov, event[0])},
    },
    spelled={"cov": Parameter(SPD, event=2)},
    support=lambda event, **_: VECTOR,
    log_density=lambda x, event, mu, tau: (
        log_det(tau, event[0]) / 2
        - Over(log(2 * pi) / 2, event[0])
        - _quadratic(x - mu, tau, event[0]) / 2
    ),
    simulate="simulate_mvnormal",
    natural=Natural(
        statistics=lambda x, event: (x, x * at_primed(x, event[0])),
        draw="mvnormal",
        over_relaxed="over_relaxed_mvnormal",
        log_partition=lambda eta_1, eta_2, event: (
            _quadratic(eta_1, inverse(-eta_2, event[0]), event[0]) / 4
            - log_det(-2 * eta_2, event[0]) / 2
            + Over(log(2 * pi) / 2, event[0])
        ),
        mean=lambda eta_1, eta_2, event: Over(
            inverse(-2 * eta_2, event[0]) * at_primed(eta_1, event[0]), primed(event[0])
        ),
        variance=lambda eta_1, eta_2, event: inverse_diagonal(-2 * eta_2, event[0]),
        mode=lambda eta_1, eta_2, event: Over(
            inverse(-2 * eta_2, event[0]) * at_primed(eta_1, event[0]), primed(event[0])
        ),
    ),
    event=1,
)


def _student_constants(nu: Expr, k: Dim) -> Expr:
    size = Over(sp.S.One, k)
    return loggamma((nu + size) / 2) - loggamma(nu / 2) - size * log(pi * nu) / 2


# MvNormal(mu, tau=w tau) where w is Gamma(nu / 2, nu / 2), integrated out.
MV_STUDENT_T = Family(
    name="MvStudentT",
    about="The multivariate Student-t distribution; ``scale`` is the inverse of ``tau``.",
    parameters={
        "nu": Parameter(POSITIVE),
        "mu": Parameter(REAL, event=1),
        "tau": Parameter(SPD, event=2),
    },
    spellings={
        ("nu", "mu", "tau"): lambda nu, mu, tau, event: {"nu": nu, "mu": mu, "tau": tau},
        ("nu", "mu", "scale"): lambda nu, mu, scale, event: {
            "nu": nu,
            "mu": mu,
            "tau": inverse(scale, event[0]),
        },
    },
    spelled={"scale": Parameter(SPD, event=2)},
    support=lambda event, **_: VECTOR,
    log_density=lambda x, event, nu, mu, tau: (
        _student_constants(nu, event[0])
        + log_det(tau, event[0]) / 2
        - (nu + Over(sp.S.One, event[0])) / 2 * log(1 + _quadratic(x - mu, tau, event[0]) / nu)
    ),
    simulate="simulate_mv_student_t",
    event=1,
)


def _log_multivariate_gamma(half_nu: Expr, k: Dim) -> Expr:
    """``log(pi) p (p - 1) / 4 + sum of loggamma(nu / 2 - j / 2)`` over the positions j < p."""
    return Over(loggamma(half_nu - k / 2) + log(pi) * k / 2, k)


def _log_wishart_partition(half_nu: Expr, eta_2: Expr, k: Dim) -> Expr:
    """The log of the integral of ``|X|^(nu/2 - (p+1)/2) exp(tr(eta_2 X))``."""
    return _log_multivariate_gamma(half_nu, k) - half_nu * log_det(-eta_2, k)


def _one_less(event: tuple[Dim, ...]) -> Expr:
    """``p - 1``: with fewer degrees of freedom a matrix of p rows has no density."""
    return Over(sp.S.One, event[0]) - 1


def _matrix_density(log_det_x: Expr, trace: Expr, log_det_scale: Expr, nu: Expr, k: Dim) -> Expr:
    """What the log densities of the Wishart and its inverse share: nu, constants and the trace."""
    size = Over(sp.S.One, k)
    return (
        log_det_x
        - trace / 2
        + nu * log_det_scale / 2
        - nu * size * log(2) / 2
        - _log_multivariate_gamma(nu / 2, k)
    )


def _square_and_diagonals(entry: Expr, diagonal: Expr, k: Dim) -> Expr:
    """``A_kl**2 + A_kk A_ll``, of which the variance of an entry of a Wishart is nu times."""
    return entry**2 + diagonal * at_primed(diagonal, k)


def _excess(eta_1: Expr, k: Dim) -> Expr:
    """``nu - p - 1`` of an inverse Wishart, which has a mean if that is positive."""
    return -2 * eta_1 - 2 * (Over(sp.S.One, k) + 1)


def _inverse_wishart_variance(S: Expr, excess: Expr, k: Dim) -> Expr:
    """``((e + 2) S_kl**2 + e S_kk S_ll) / ((e + 1) e**2 (e - 2))``, ``e = nu - p - 1``.

    D. von Rosen (1988), Scandinavian Journal of Statistics 15.
    """
    diagonal = substitute(S, {primed(k): k})
    numerator = (excess + 2) * S**2 + excess * diagonal * at_primed(diagonal, k)
    return finite_where(excess - 2, numerator / ((excess + 1) * excess**2), sp.nan)


# Density proportional to |X|^((nu-p-1)/2) exp(-tr(V^-1 X) / 2): the mean is nu V; R is V^-1.
WISHART = Family(
    name="Wishart",
    about=(
        "The Wishart distribution of a precision matrix, with the mean ``nu*V``; ``R`` is the "
        "inverse of ``V``, as in BUGS."
    ),
    example={"nu": 4},
    parameters={
        "nu": Parameter(POSITIVE, above=_one_less),
        "V": Parameter(SPD, event=2),
    },
    spellings={
        ("nu", "V"): lambda nu, V, event: {"nu": nu, "V": V},
        ("nu", "R"): lambda nu, R, event: {"nu": nu, "V": inverse(R, event[0])},
    },
    spelled={"R": Parameter(SPD, event=2)},
    support=lambda event, **_: SPD,
    log_density=lambda x, event, nu, V: _matrix_density(
        (nu - Over(sp.S.One, event[0]) - 1) / 2 * log_det(x, event[0]),
        _sum_over_entries(inverse(V, event[0]) * x, event[0]),
        -log_det(V, event[0]),
        nu,
        event[0],
    ),
    simulate="simulate_wishart",
    natural=Natural(
        statistics=lambda x, event: (log_det(x, event[0]), x),
        draw="wishart",
        log_partition=lambda eta_1, eta_2, event: _log_wishart_partition(
            eta_1 + (Over(sp.S.One, event[0]) + 1) / 2, eta_2, event[0]
        ),
        mean=lambda eta_1, eta_2, event: (
            (2 * eta_1 + Over(sp.S.One, event[0]) + 1) * inverse(-2 * eta_2, event[0])
        ),
        variance=lambda eta_1, eta_2, event: (
            (2 * eta_1 + Over(sp.S.One, event[0]) + 1)
            * _square_and_diagonals(
                inverse(-2 * eta_2, event[0]), inverse_diagonal(-2 * eta_2, event[0]), event[0]
            )
        ),
        mode=lambda eta_1, eta_2, event: eta_1 * inverse(-eta_2, event[0]),
    ),
    event=2,
)

# Density proportional to |X|^(-(nu+p+1)/2) exp(-tr(S X^-1) / 2): X^-1 ~ Wishart(nu, S^-1).
INVERSE_WISHART = Family(
    name="InverseWishart",
    about=(
        "The inverse Wishart distribution of a covariance matrix, with the mean ``S/(nu - k - 1)`` "
        "for k rows."
    ),
    example={"nu": 5},
    parameters={
        "nu": Parameter(POSITIVE, above=_one_less),
        "S": Parameter(SPD, event=2),
    },
    support=lambda event, **_: SPD,
    log_density=lambda x, event, nu, S: _matrix_density(
        -(nu + Over(sp.S.One, event[0]) + 1) / 2 * log_det(x, event[0]),
        _sum_over_entries(S * inverse(x, event[0]), event[0]),
        log_det(S, event[0]),
        nu,
        event[0],
    ),
    simulate="simulate_inverse_wishart",
    natural=Natural(
        statistics=lambda x, event: (log_det(x, event[0]), inverse(x, event[0])),
        draw="inverse_wishart",
        log_partition=lambda eta_1, eta_2, event: _log_wishart_partition(
            -eta_1 - (Over(sp.S.One, event[0]) + 1) / 2, eta_2, event[0]
        ),
        mean=lambda eta_1, eta_2, event: finite_where(
            _excess(eta_1, event[0]), -2 * eta_2, sp.nan
        ),
        variance=lambda eta_1, eta_2, event: _inverse_wishart_variance(
            -2 * eta_2, _excess(eta_1, event[0]), event[0]
        ),
        mode=lambda eta_1, eta_2, event: eta_2 / eta_1,
    ),
    event=2,
)


def _log_mixing_integral(x: Expr, nu: Expr, scale: Expr, k: Dim) -> Expr:
    """The log of the integral of HuangWand's mixture over one a_k, by the factors with this a_k.

    It is ``gamma(s) (nu (X^-1)_kk + 1 / scale_k^2)^-s / (scale_k gamma(1/2))``, s = (nu + p) / 2.
    """
    half, rate = (nu + Over(sp.S.One, k)) / 2, nu * inverse_diagonal(x, k) + scale**-2
    return loggamma(half) - log(pi) / 2 - log(scale) - half * log(rate)


def _log_huang_wand(x: Expr, nu: Expr, scale: Expr, k: Dim) -> Expr:
    size = Over(sp.S.One, k)
    df = nu + size - 1
    return (
        df * size * log(nu) / 2
        - _log_multivariate_gamma(df / 2, k)
        - (nu + 2 * size) / 2 * log_det(x, k)
        + Over(_log_mixing_integral(x, nu, scale, k), k)
    )


# InverseWishart(nu + p - 1, 2 nu diag(1 / a)) where a_k is InverseGamma(1/2, 1 / scale_k^2), the a
# integrated out: sds are half-t(nu, scale_k), and nu = 2 makes correlations uniform. Huang and Wand
# (2013), Bayesian Analysis 8.
HUANG_WAND = Family(
    name="HuangWand",
    about=(
        "The covariance matrix of Huang and Wand (2013): each standard deviation is half-t with "
        "``nu`` degrees of freedom and its own scale; with ``nu`` of 2 correlations are uniform."
    ),
    parameters={"nu": Parameter(POSITIVE), "scale": Parameter(POSITIVE, event=1)},
    support=lambda event, **_: SPD,
    log_density=lambda x, event, nu, scale: _log_huang_wand(x, nu, scale, event[0]),
    simulate="simulate_huang_wand",
    event=2,
)
