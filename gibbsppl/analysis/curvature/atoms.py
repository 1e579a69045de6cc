"""The table of functions of one argument: how each bends and where it goes.

A function of an inner one bends as its row says, if the inner one is affine or bends the same way
after the function has turned it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import sympy as sp
from sympy import Abs, Pow, exp, log

from gibbsppl.algebra.expressions import (
    Expit,
    LogBesselI,
    LogGammaP,
    LogGammaQ,
    LogPhi,
    Phi,
    Softplus,
)
from gibbsppl.algebra.log_gamma import loggamma
from gibbsppl.analysis.curvature.kinds import AFFINE, MIRRORED, REVERSED, Kind, Monotone
from gibbsppl.analysis.signs import INF


@dataclass(frozen=True, slots=True)
class Atom:
    """A function of one argument that lies between two ends: how it bends and where it goes."""

    function: Any
    kind: Kind
    monotone: Monotone
    lower: Fraction | float = -INF
    upper: Fraction | float = INF


# The first row that decides is taken.
ATOMS = (
    Atom(exp, "convex", "increasing"),
    Atom(log, "concave", "increasing"),
    Atom(Softplus, "convex", "increasing"),
    Atom(LogPhi, "concave", "increasing"),
    Atom(Abs, "convex", "increasing", lower=0),
    Atom(Abs, "convex", "decreasing", upper=0),
    Atom(Abs, "convex", "neither"),
    Atom(loggamma, "convex", "increasing", lower=Fraction(3, 2)),
    Atom(loggamma, "convex", "decreasing", lower=0, upper=Fraction(7, 5)),
    Atom(loggamma, "convex", "neither", lower=0),
    Atom(Expit, "convex", "increasing", upper=0),
    Atom(Expit, "concave", "increasing", lower=0),
    Atom(Phi, "convex", "increasing", upper=0),
    Atom(Phi, "concave", "increasing", lower=0),
    Atom(sp.atan, "convex", "increasing", upper=0),
    Atom(sp.atan, "concave", "increasing", lower=0),
)

# Of order 0 it is the log of the integral of exp(x cos(t)), a log partition function.
LOG_BESSEL = Atom(LogBesselI, "convex", "increasing", lower=0)

# The log of a distribution function or a tail on (0, oo), by what is known of its shape.
LOG_TAILS = (
    (LogGammaP, (0, INF), Atom(LogGammaP, "concave", "increasing", lower=0)),
    (LogGammaQ, (1, INF), Atom(LogGammaQ, "concave", "decreasing", lower=0)),
    (LogGammaQ, (0, 1), Atom(LogGammaQ, "convex", "decreasing", lower=0)),
)

# log(1 - exp(v)), and of v = -exp(w), the complementary log-log link, as a function of w: its slope
# there is t / (exp(t) - 1) at t = exp(w), which decreases.
LOG_ONE_MINUS_EXP = Atom(log, "concave", "decreasing", upper=0)
LOG_CLOGLOG = Atom(log, "concave", "increasing")

# Powers of a nonnegative argument, by the interval of the exponent.
POWERS = (
    ((1, INF), Atom(Pow, "convex", "increasing", lower=0)),
    ((-INF, 0), Atom(Pow, "convex", "decreasing", lower=0)),
    ((0, 1), Atom(Pow, "concave", "increasing", lower=0)),
)


def composition(row: Atom, inner: Kind) -> Kind:
    """The kind of a function of the row's kind, of an inner function of a kind."""
    if inner in AFFINE:
        return row.kind
    follows = {"increasing": row.kind, "decreasing": MIRRORED[row.kind]}.get(row.monotone)
    return row.kind if inner == follows else "unknown"


def at_negatives(row: Atom, *, even: bool) -> Atom:
    """The row of an integer power for negative arguments: of (-1)**n times that of -x."""
    if even:
        return replace(row, monotone=REVERSED[row.monotone], lower=-INF, upper=0)
    return replace(row, kind=MIRRORED[row.kind], lower=-INF, upper=0)
