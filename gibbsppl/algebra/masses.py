"""Logs of the mass that a density has between two ends, read as such.

Comes in: ``log(F(b) - F(a))``, or a `LogMass` of the tails of F, and names of arrays that the ends
hold. Goes out: a `Mass`: the ends, and the log of the density, by the derivative of F.

>>> from gibbsppl.algebra.expressions import Array
>>> x, cut = Array("x")[()], Array("cut")
>>> found = mass_of(sp.log(sp.exp(-sp.exp(cut[0] - x)) - sp.exp(-sp.exp(cut[1] - x))), {"cut"})
>>> sorted(map(str, found.log_density.args)), found.lower, found.upper
(['-exp(·z)', '·z'], -x + cut[0], -x + cut[1])
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from itertools import starmap
from operator import eq

import sympy as sp
from sympy import Add, Mul

from gibbsppl.algebra.calculus import NoDerivative, derivative
from gibbsppl.algebra.expressions import Array, Binder, Expr, Leaf, mentions
from gibbsppl.algebra.functions import (
    FUNCTIONS,
    Expit,
    LogBetaI,
    LogGammaP,
    LogGammaQ,
    LogMass,
    LogPassageP,
    LogPassageQ,
    LogPhi,
    Phi,
    Softplus,
    log_of,
)

# Logs of the mass below or above an end, or between two.
LOG_MASSES = (LogBetaI, LogGammaP, LogGammaQ, LogMass, LogPassageP, LogPassageQ)
# Where the density is.
PLACE = Array("·z", real=True)[()]


@dataclass(frozen=True, slots=True)
class Mass:
    """The integral of a density between two ends: the log of the density at `PLACE`."""

    log_density: Expr
    lower: Expr
    upper: Expr

    def at(self, end: Expr) -> Expr:
        """The log of the density at an end."""
        return self.log_density.xreplace({PLACE: end})

    def slope_at(self, end: Expr) -> Expr:
        """The slope of the log of the density at an end."""
        return derivative(self.log_density, PLACE.array, ()).xreplace({PLACE: end})


def mass_of(expr: Expr, names: Collection[str]) -> Mass | None:
    """The mass that an expression is the log of, if arrays are in its ends alone."""
    is_log = isinstance(expr, sp.log)
    pair = _terms_of_difference(expr.args[0]) if is_log else expr.args[:2]
    if pair is None or not (is_log or isinstance(expr, LogMass)):
        return None
    # (a difference is written with what is taken away last, a mass begins with its lower end)
    function, upper, lower = _unified(*pair) if is_log else _unified(*pair[::-1])
    if function == PLACE or mentions(function, names):
        return None
    try:
        slope = derivative(function, PLACE.array, ())
        found = _signed_log(slope)
        if found is None:
            return None
        sign, log_slope = found
        density = log_slope if is_log else function + log_slope
        _ = derivative(density, PLACE.array, ())
    except NoDerivative:
        return None
    ends = (lower, upper) if sign > 0 else (upper, lower)
    return Mass(density, *ends)


def log_of_difference(of: Expr) -> Expr | None:
    """The log of ``F(a) - F(b)``, with its digits in both tails; None where F has no such form.

    >>> a, b = Array("a")[()], Array("b")[()]
    >>> print(log_of_difference(Expit(a) - Expit(b)))
    LogGammaP(1, a - b) - Softplus(-a) - Softplus(b)
    """
    pair = _terms_of_difference(of)
    if pair is None or {*map(type, pair)} not in [{f} for f in _LOGS_OF_DIFFERENCES]:
        return None
    return _LOGS_OF_DIFFERENCES[type(pair[0])](*(e.args[0] for e in pair))


def _of_logistic(upper: Expr, lower: Expr) -> Expr:
    """The difference is ``expit(a) expit(-b) (1 - exp(b - a))``.

    The last factor is constant if a and b are moved by the same amount.
    """
    return LogGammaP(sp.S.One, upper - lower) - Softplus(-upper) - Softplus(lower)


def _of_normal(upper: Expr, lower: Expr) -> Expr:
    """The mass in the tail in which both ends are; of a narrow interval the density at its middle.

    The log of that has no meaning where ends are in another order.
    """
    of_narrow = sp.log(upper - lower) - (upper + lower) ** 2 / 8 - sp.log(2 * sp.pi) / 2
    return LogMass(LogPhi(lower), LogPhi(upper), LogPhi(-lower), LogPhi(-upper), of_narrow)


_LOGS_OF_DIFFERENCES: Mapping[type[Expr], Callable[[Expr, Expr], Expr]] = {
    Expit: _of_logistic,
    Phi: _of_normal,
}


def written_out(expr: Expr) -> Expr | None:
    """A `LogMass` as the log of a difference, for readers; None where its tails have no names.

    >>> a, b = Array("a")[()], Array("b")[()]
    >>> print(written_out(log_of_difference(Phi(a) - Phi(b))))
    log(Phi(a) - Phi(b))
    """
    lower, upper = expr.args[:2]
    row = FUNCTIONS.get(upper.func)
    if row is None or row.in_full is None or lower.func != upper.func:
        return None
    ends = (row.in_full(*e.args) for e in (upper, lower))
    above, below = (e.args[0] if isinstance(e, sp.log) else sp.exp(e) for e in ends)
    return sp.log(above - below)


def _terms_of_difference(of: Expr) -> tuple[Expr, Expr] | None:
    """The two terms of a difference, without the sign of the second."""
    if not of.is_Add or len(of.args) != 2:
        return None
    first, second = sorted(of.args, key=lambda a: a.could_extract_minus_sign())
    return (first, -second) if second.could_extract_minus_sign() else None


def _unified(one: Expr, other: Expr) -> tuple[Expr, Expr, Expr]:
    """The function that two expressions are of two arguments, as large as these may be."""
    is_whole = one.is_Add or isinstance(one, Leaf | Binder)
    if is_whole or one.func != other.func or len(one.args) != len(other.args):
        return PLACE, one, other
    same = [*starmap(eq, zip(one.args, other.args, strict=True))]
    if same.count(False) != 1:
        return PLACE, one, other
    at = same.index(False)
    function, first, second = _unified(one.args[at], other.args[at])
    return one.func(*one.args[:at], function, *one.args[at + 1 :]), first, second


def _signed_log(expr: Expr) -> tuple[int, Expr] | None:
    """The sign of an expression, and the log of its size; None where these are not seen."""
    sign, terms = 1, list[Expr]()
    for part in Mul.make_args(expr):
        if isinstance(part, sp.exp):
            terms.append(part.args[0])
        elif part.is_negative:
            sign = -sign
            terms.append(sp.log(-part))
        elif (known := log_of(part)) is not None:
            terms.append(known)
        elif part.is_positive:
            terms.append(sp.log(part))
        else:
            return None
    return sign, Add(*terms)
