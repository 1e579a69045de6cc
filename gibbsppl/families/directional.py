"""The rows of directions: angles between -pi and pi, and unit vectors."""

# Every formula of a row is called with the same arguments, needed or not.
# ruff: noqa: ARG005

from __future__ import annotations

import sympy as sp
from sympy import Rational, cos, exp, log, pi, sin, sqrt

from gibbsppl.algebra.expressions import Dim, Expr, Over
from gibbsppl.algebra.functions import LogBesselI
from gibbsppl.algebra.supports import POSITIVE, SPHERE, Support
from gibbsppl.families.rows import Family, Natural, Parameter

HALF = Rational(1, 2)

VON_MISES = Family(
    name="VonMises",
    about="The von Mises distribution of an angle, in radians.",
    parameters={"mu": Parameter(), "kappa": Parameter(POSITIVE)},
    support=lambda event, **_: Support("real", -pi, pi),
    log_density=lambda x, event, mu, kappa: (
        kappa * (cos(mu) * cos(x) + sin(mu) * sin(x))
        - log(2 * pi)
        - LogBesselI(sp.S.Zero, kappa)
    ),
    simulate="simulate_von_mises",
    natural=Natural(
        statistics=lambda x, event: (cos(x), sin(x)),
        draw="von_mises",
        log_partition=lambda eta_1, eta_2: (
            log(2 * pi) + LogBesselI(sp.S.Zero, sqrt(eta_1**2 + eta_2**2))
        ),
        parameters=lambda eta_1, eta_2, event: {
            "mu": sp.atan2(eta_2, eta_1),
            "kappa": sqrt(eta_1**2 + eta_2**2),
        },
    ),
)


def _log_normaliser(kappa: Expr, k: Dim) -> Expr:
    """``log((2 pi)**(p / 2) I_v(kappa) / kappa**v)`` with ``v = p / 2 - 1``, p the dimension."""
    half = Over(HALF, k)
    return half * log(2 * pi) + LogBesselI(half - 1, kappa) - (half - 1) * log(kappa)


def _mean_length(eta: Expr, k: Dim) -> Expr:
    """``I_{v + 1}(kappa) / (I_v(kappa) kappa)``, v as above: the length of the mean over kappa.

    K. V. Mardia and P. E. Jupp (2000), Directional Statistics, section 9.3.
    """
    kappa, order = sqrt(Over(eta**2, k)), Over(HALF, k) - 1
    return exp(LogBesselI(order + 1, kappa) - LogBesselI(order, kappa)) / kappa


VON_MISES_FISHER = Family(
    name="VonMisesFisher",
    about="The von Mises-Fisher distribution of a direction: a vector of length 1.",
    parameters={"mu": Parameter(SPHERE, event=1), "kappa": Parameter(POSITIVE)},
    support=lambda event, **_: SPHERE,
    log_density=lambda x, event, mu, kappa: (
        Over(kappa * mu * x, event[0]) - _log_normaliser(kappa, event[0])
    ),
    simulate="simulate_von_mises_fisher",
    natural=Natural(
        statistics=lambda x, event: (x,),
        draw="von_mises_fisher",
        log_partition=lambda eta_1, event: _log_normaliser(
            sqrt(Over(eta_1**2, event[0])), event[0]
        ),
        parameters=lambda eta_1, event: {
            "mu": eta_1 / sqrt(Over(eta_1**2, event[0])),
            "kappa": sqrt(Over(eta_1**2, event[0])),
        },
        mean=lambda eta_1, event: _mean_length(eta_1, event[0]) * eta_1,
    ),
    event=1,
)
