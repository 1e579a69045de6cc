"""The log probability of an interval, as an expression of distribution functions.

Comes in: a family with its parameters, and two bounds, ``None`` for no bound. Goes out: a log
probability, from the tail in which both bounds are where there are two. Where they are so near to
one another that the difference has no digits, it is the density in the middle times the width.

>>> from gibbsppl.algebra.expressions import Array
>>> from gibbsppl.families import FAMILIES
>>> rate, b = (Array(n, positive=True)[()] for n in ("rate", "b"))
>>> log_mass(Given(FAMILIES["Exponential"], (), {"rate": rate}), b, None)
-b*rate
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import sympy as sp
from numpy.typing import NDArray
from sympy import log, sqrt

from gibbsppl.algebra.bounds import Side, parted
from gibbsppl.algebra.expressions import Dim, Expr
from gibbsppl.algebra.functions import Below, LogMass, Maximum, Minimum, Softplus, Where
from gibbsppl.algebra.supports import Support
from gibbsppl.families import Family
from gibbsppl.families.rows import Formula

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Given:
    """A family with its event dims and its parameters by name."""

    family: Family
    event: tuple[Dim, ...]
    arguments: Mapping[str, Expr]

    @property
    def support(self) -> Support:
        """Where values are, whatever the bounds."""
        return self.family.support(self.event, **self.arguments)


def log_mass(given: Given, lower: Expr | None, upper: Expr | None) -> Expr:
    """The log probability of the interval between two bounds."""
    cdf, sf = given.family.log_cdf, given.family.log_sf
    if cdf is None or sf is None:
        return sp.S.Zero
    if lower is not None and given.support.is_discrete:
        lower = lower - 1  # P(X >= l) is P(X > l - 1)
    if lower is None:
        return sp.S.Zero if upper is None else _tail(given, cdf, "upper", upper, sp.S.Zero)
    if upper is None:
        return _tail(given, sf, "lower", lower, sp.S.Zero)
    return LogMass(
        _tail(given, cdf, "lower", lower, -sp.oo),
        _tail(given, cdf, "upper", upper, sp.S.Zero),
        _tail(given, sf, "lower", lower, sp.S.Zero),
        _tail(given, sf, "upper", upper, -sp.oo),
        *of_narrow(given, lower, upper),
    )


def _tail(given: Given, log_tail: Formula, side: Side, bound: Expr, at_end: Expr) -> Expr:
    """The log probability on one side of a bound; ``at_end`` where the support ends there.

    (What is computed as the end is may be beyond it by the last digit, which has no probability.)
    """
    tail = log_tail(bound, **given.arguments)
    own, extreme = sp.sympify(getattr(given.support, side)), EXTREMES[side]
    bounds = parted(bound, extreme)
    if own.is_number or own not in bounds or given.support.is_discrete:
        return tail
    others = [b for b in bounds if b != own]
    if not others:
        return at_end
    inside = extreme(*others) if len(others) > 1 else others[0]
    is_inside = Below(own, inside) if side == "lower" else Below(inside, own)
    return Where(is_inside, tail, at_end)


def of_narrow(given: Given, lower: Expr, upper: Expr) -> tuple[Expr, ...]:
    """The log of the density in the middle times the width, for narrow intervals.

    None where an interval ends with the support, or has single points: it has more than any share.
    """
    support = given.support
    if support.is_discrete or lower == support.lower or upper == support.upper:
        return ()
    centre, log_width = _scale_of(support).middle(lower, upper)
    return (given.family.log_density(centre, given.event, **given.arguments) + log_width,)


def middle(support: Support, lower: Expr, upper: Expr) -> Expr:
    """The middle of an interval, on the scale on which log densities of a support change little.

    >>> from gibbsppl.algebra.supports import POSITIVE
    >>> middle(POSITIVE, sp.Integer(1), sp.Integer(4))
    2
    """
    return _scale_of(support).middle(lower, upper)[0]


@dataclass(frozen=True, slots=True)
class Scale:
    """A scale of values on which log densities are concave, and change little in narrow intervals.

    ``middle`` has the middle of an interval on it, and the log of its width on the scale of values;
    ``between`` the numbers at shares of intervals.
    """

    middle: Callable[[Expr, Expr], tuple[Expr, Expr]]
    between: Callable[[Floats, Floats, Floats | float], Floats]


def _middle_of_odds(lower: Expr, upper: Expr) -> tuple[Expr, Expr]:
    odds = sqrt(lower / (1 - lower)) * sqrt(upper / (1 - upper))
    # (the difference of log odds, with its digits)
    difference = Softplus(log(upper - lower) - log(lower) - log(1 - upper))
    return odds / (1 + odds), log(difference) + log(odds) - 2 * log(1 + odds)


def _middle_of_logs(lower: Expr, upper: Expr) -> tuple[Expr, Expr]:
    middle = sqrt(lower) * sqrt(upper)
    return middle, log(Softplus(log(upper - lower) - log(lower))) + log(middle)


def _between_odds(lower: Floats, upper: Floats, share: Floats | float) -> Floats:
    low, high = (np.log(x) - np.log1p(-x) for x in (lower, upper))
    found: Floats = 1 / (1 + np.exp(-(low + share * (high - low))))
    return found


LOG_ODDS = Scale(_middle_of_odds, _between_odds)
LOGS = Scale(
    _middle_of_logs,
    lambda lower, upper, share: lower * np.exp(share * (np.log(upper) - np.log(lower))),
)
PLAIN = Scale(
    lambda lower, upper: ((lower + upper) / 2, log(upper - lower)),
    lambda lower, upper, share: lower + share * (upper - lower),
)


def _scale_of(support: Support) -> Scale:
    """The scale that a support is made for."""
    if not sp.sympify(support.lower).is_nonnegative:
        return PLAIN
    return LOG_ODDS if support.upper == 1 else LOGS


def from_flat(
    support: Support, lower: Floats, upper: Floats, share: Floats | float
) -> Floats:
    """The numbers at shares of narrow intervals, by which values are drawn from them.

    >>> from gibbsppl.algebra.supports import POSITIVE
    >>> from_flat(POSITIVE, np.array([1.0]), np.array([4.0]), 0.5)
    array([2.])
    """
    with np.errstate(all="ignore"):  # (what ends with the support is none of them)
        return np.clip(_scale_of(support).between(lower, upper, share), lower, upper)


EXTREMES: Mapping[Side, type[sp.Function]] = {"lower": Maximum, "upper": Minimum}
