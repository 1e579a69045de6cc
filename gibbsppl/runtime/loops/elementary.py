"""Elementary functions of one number, with their limits where Python's own would raise.

`math` and not NumPy: NumPy's vector code and the C library, which Numba calls, differ in the last
digit, and `math` is the C library in either package. Of `math`, only what has no value raises.
"""

from __future__ import annotations

from math import exp, expm1, inf, log, log1p, nextafter

from gibbsppl.runtime.draws import HUGE, LOG_HUGE, TINY

from . import kernel


@kernel
def exp_of(x: float) -> float:
    """The exponential, infinite where it overflows."""
    return inf if x > LOG_HUGE else exp(x)


@kernel
def log_of(x: float) -> float:
    """The logarithm, that of 0 (or less) being minus infinity."""
    return -inf if x <= 0.0 else log(x)


@kernel
def expit(x: float) -> float:
    """The probability whose log odds are x."""
    return 1.0 / (1.0 + exp(-x)) if x > -LOG_HUGE else exp(x)


@kernel
def from_log(x: float) -> float:
    """``exp(x)``, between `TINY` and the largest number."""
    return at_least(exp(at_most(x, LOG_HUGE)), TINY)


@kernel
def at_least(x: float, least: float) -> float:
    """The larger of two numbers, or NaN if the first one is."""
    return least if x < least else x  # noqa: FURB136  # NaN


@kernel
def at_most(x: float, most: float) -> float:
    """The smaller of two numbers, or NaN if the first one is."""
    return most if x > most else x  # noqa: FURB136  # NaN


@kernel
def between(x: float, lower: float, upper: float) -> float:
    """The draw, strictly between the bounds and at least `TINY` above 0."""
    if lower < x < upper and (lower != 0.0 or x >= TINY):
        return x
    above = TINY if lower == 0.0 else nextafter(lower, inf)
    return at_most(at_least(x, above), nextafter(upper, -inf))


@kernel
def scaled(centre: float, u: float) -> float:
    """``centre * exp(u)``, also where ``exp(u)`` alone would overflow."""
    half = exp_of(0.5 * u)
    return at_most(centre * half * half, HUGE)


@kernel
def log_ratio(x: float, centre: float) -> float:
    """``log(x / centre)``, to all digits where it is small."""
    ratio = (x - centre) / centre
    return log1p(ratio) if abs(ratio) < 0.5 else log_of(x) - log_of(centre)


@kernel
def excess(u: float) -> float:
    """``exp(u) - 1 - u``, to all digits."""
    if abs(u) < 1e-2:
        return 0.5 * u * u * (1 + u / 3 * (1 + u / 4 * (1 + u / 5 * (1 + u / 6))))
    return expm1(u) - u if u < LOG_HUGE else inf
