"""Densities divided by tail probabilities: what the logs of these change by.

Comes in: the arguments of a log probability, and logs. Goes out: expressions, none of whose parts
is too large or too small where the log probability is not.

>>> x = sp.Symbol("x", positive=True)
>>> gamma_density(sp.Integer(1), x, sp.S.Zero)
exp(-x)
"""

from __future__ import annotations

import sympy as sp

from gibbsppl.algebra.expressions import Expr
from gibbsppl.algebra.log_gamma import loggamma


def normal_density(x: Expr, log_of: Expr | int = 0) -> Expr:
    """The standard normal density, divided by what something is the log of."""
    return sp.exp(-(x**2) / 2 - log_of) / sp.sqrt(2 * sp.pi)


def gamma_density(a: Expr, x: Expr, log_of: Expr) -> Expr:
    """The density of a gamma variable of scale one, divided by what something is the log of."""
    return sp.exp((a - 1) * sp.log(x) - x - loggamma(a) - log_of)


def beta_density(a: Expr, b: Expr, x: Expr, log_of: Expr) -> Expr:
    """The density of a beta variable by that at its scale, divided by what a log is of."""
    return sp.exp((a - 1) * sp.log(x) + (b - 1) * sp.log(1 - x) - log_of)


def crossing(z: Expr, d: Expr, log_tail: Expr) -> Expr:
    """The second term of a probability of passage, ``exp(dz + d**2/2)`` times a tail."""
    return sp.exp(d * z + d**2 / 2 + log_tail)
