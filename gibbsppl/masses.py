"""The log probability of an interval, as an expression of distribution functions.

Comes in: a family with its parameters, and two bounds, ``None`` for no bound. Goes out: a log
probability, from the tail in which both bounds are where there are two.

>>> from gibbsppl.expressions import Array
>>> from gibbsppl.families import FAMILIES
>>> rate, b = (Array(n, positive=True)[()] for n in ("rate", "b"))
>>> log_mass(Given(FAMILIES["Exponential"], (), {"rate": rate}), b, None)
-b*rate
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import sympy as sp

from gibbsppl.bounds import Side, parted
from gibbsppl.expressions import Below, Dim, Expr, LogMass, Maximum, Minimum, Where
from gibbsppl.families import Family
from gibbsppl.families.rows import Formula
from gibbsppl.supports import Support


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
    if cdf is None or sf is None or (lower is None and upper is None):
        return sp.S.Zero
    if lower is not None and given.support.is_discrete:
        lower = lower - 1  # P(X >= l) is P(X > l - 1)
    if lower is None:
        return _tail(given, cdf, "upper", upper, sp.S.Zero)
    if upper is None:
        return _tail(given, sf, "lower", lower, sp.S.Zero)
    return LogMass(
        _tail(given, cdf, "lower", lower, -sp.oo),
        _tail(given, cdf, "upper", upper, sp.S.Zero),
        _tail(given, sf, "lower", lower, sp.S.Zero),
        _tail(given, sf, "upper", upper, -sp.oo),
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


EXTREMES: Mapping[Side, type[Expr]] = {"lower": Maximum, "upper": Minimum}
