"""Intervals, the rules to add, multiply and raise them, and the values that functions take.

Comes in: what numbers keep between. Goes out: what their sums, products, powers and functions keep
between.

>>> times((Fraction(-1), Fraction(2)), (ZERO, INF))
(-inf, inf)
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Literal

from gibbsppl.algebra.intervals import ABOVE_ZERO, BELOW_ZERO, INF, ONE, ZERO, End, Interval

Sign = Literal["positive", "nonnegative", "zero", "nonpositive", "negative", "unknown"]

NONNEGATIVE = ("positive", "nonnegative", "zero")
NONPOSITIVE = ("negative", "nonpositive", "zero")
OPPOSITE: Mapping[Sign, Sign] = {
    "positive": "negative",
    "nonnegative": "nonpositive",
    "nonpositive": "nonnegative",
    "negative": "positive",
}

LINE: Interval = (-INF, INF)

# Beyond this exponent only the sign of a power is worked out.
LARGEST_POWER = 64


def of_repeated_product(body: Interval) -> Interval:
    """The product of some number of values, which may be none."""
    lower, upper = body
    if lower < 0:
        return LINE
    return (ONE if lower >= 1 else ZERO), (ONE if upper <= 1 else INF)


def of_integer_power(base: Interval, n: int) -> Interval:
    """A value raised to a whole number."""
    if n < 0:
        return _reciprocal(of_integer_power(base, -n), even=n % 2 == 0)
    if n > LARGEST_POWER:
        return ABOVE_ZERO if n % 2 == 0 or base[0] >= 0 else (BELOW_ZERO if base[1] <= 0 else LINE)
    ends = sorted((_raised(base[0], n), _raised(base[1], n)))
    return (ZERO, ends[1]) if n % 2 == 0 and base[0] < 0 < base[1] else (ends[0], ends[1])


def _raised(end: End, n: int) -> End:
    return end**n if n else ONE


def _reciprocal(interval: Interval, *, even: bool) -> Interval:
    lower, upper = interval
    if lower >= 0:
        return _inverse(upper, INF), _inverse(lower, INF)
    if upper <= 0:
        return _inverse(upper, -INF), _inverse(lower, -INF)
    return ABOVE_ZERO if even else LINE


def _inverse(end: End, at_zero: float) -> End:
    return at_zero if end == 0 else (ZERO if abs(end) == INF else 1 / end)


def plus(a: Interval, b: Interval) -> Interval:
    """The sum of two values."""
    lower = -INF if -INF in (a[0], b[0]) else a[0] + b[0]
    upper = INF if INF in (a[1], b[1]) else a[1] + b[1]
    return lower, upper


def times(a: Interval, b: Interval) -> Interval:
    """The product of two values."""
    ends = [_product(s, t) for s in a for t in b]
    return min(ends), max(ends)


def _product(s: End, t: End) -> End:
    """The product of two ends: infinite ones go by signs, since no float holds some fractions."""
    if s == 0 or t == 0:
        return ZERO
    if abs(s) == INF or abs(t) == INF:
        return INF if (s > 0) == (t > 0) else -INF
    return s * t


def of_loggamma(argument: Interval) -> Interval:
    """A value of loggamma, convex with zeros at 1 and 2, and a minimum of -0.1215 between them."""
    lower, upper = argument
    if lower < 0:
        return LINE
    outside = lower >= 2 or upper <= 1
    return (ZERO if outside else Fraction(-1, 8)), (ZERO if lower >= 1 and upper <= 2 else INF)
