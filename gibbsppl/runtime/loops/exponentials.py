"""Exponentials, and logarithms of 1 plus these, by polynomials: no branches, no calls.

A processor computes several of them at once, where a loop goes over elements side by side; one
alone takes longer than one of the C library.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import zip_longest
from math import factorial, inf, log

from . import WHOLE, kernel, power_of_shifted

APART: Mapping[str, str] = {}

# The logarithm of 2 in two parts, the first with few digits: products with whole numbers are exact.
LOG_2_HIGH, LOG_2_LOW = 6.93145751953125e-1, 1.42860682030941723212e-6
PER_LOG_2 = 1.0 / log(2.0)
# Below this an exponential counts for nothing beside 1, and has a normal number.
LEAST = -708.0
# Below the first of these an exponential is rounded to 0, above the second it is infinite.
LOWEST, HIGHEST = -746.0, 710.0


def _chebyshev(degree: int) -> list[Fraction]:
    """The coefficients of a Chebyshev polynomial, of rising powers."""
    before, found = [Fraction(1)], [Fraction(0), Fraction(1)]
    for _ in range(degree - 1):
        twice = [Fraction(0), *(2 * c for c in found)]
        before, found = found, [a - b for a, b in zip_longest(twice, before, fillvalue=Fraction(0))]
    return found


def _economised(series: Iterable[Fraction], kept: int, end: Fraction) -> tuple[float, ...]:
    """A Taylor series as a polynomial of fewer terms on both sides of 0.

    From the last power a Chebyshev polynomial is taken away, which is small up to an end: what is
    left has lower powers alone.
    """
    found = list(series)
    for n in range(len(found) - 1, kept - 1, -1):
        away = _chebyshev(n)
        scale = found.pop() / away[n]
        found = [f - scale * away[k] * end ** (n - k) for k, f in enumerate(found)]
    return tuple(map(float, found))


C = _economised((Fraction(1, factorial(n)) for n in range(18)), 12, Fraction(log(2.0)) / 2)
# What of atanh(s) / s is above 1, by s**2: of an s of at most a third.
A = _economised((Fraction(1, 2 * n + 3) for n in range(22)), 13, Fraction(1, 9))


@kernel
def exp_not_above_1(x: float) -> float:
    """The exponential of a number that is not positive; that of `LEAST` below it, or 0 at -inf."""
    found = _exponential(max(LEAST, x))
    return found if x > -inf else 0.0


@kernel
def exp_of_size(x: float) -> float:
    """``exp(-abs(x))``; 0 where that is no normal number."""
    y = -abs(x)
    # (what is not a number stays so: it is not below anything)
    found = _exponential(max(y, LEAST))
    return found * (0.0 if y < LEAST else 1.0)


@kernel
def exp_in_lane(x: float) -> float:
    """The exponential; infinite, or 0, where it is beyond all numbers."""
    # (what is not a number stays so: it is not below or above anything)
    y = max(x, LOWEST)
    y = min(y, HIGHEST)
    n = (y * PER_LOG_2 + WHOLE) - WHOLE
    # (two to the power of all of it may be beyond all numbers where the exponential is not)
    shifted = 0.5 * n + WHOLE
    half = power_of_shifted(shifted)
    return _reduced(y, n) * half * power_of_shifted(n - (shifted - WHOLE) + WHOLE)


@kernel
def _exponential(y: float) -> float:
    """The exponential of a number from `LEAST` to 0."""
    shifted = y * PER_LOG_2 + WHOLE
    return _reduced(y, shifted - WHOLE) * power_of_shifted(shifted)


@kernel
def _reduced(y: float, n: float) -> float:
    """The exponential of what is left of a number without so many times the logarithm of 2.

    That is at most half of it, where a polynomial of degree 11 has all digits. (Pairs of its terms
    wait for no others.)
    """
    r = (y - n * LOG_2_HIGH) - n * LOG_2_LOW
    square = r * r
    fourth = square * square
    high = (C[8] + r * C[9]) + square * (C[10] + r * C[11])
    middle = (C[4] + r * C[5]) + square * (C[6] + r * C[7])
    low = (C[0] + r * C[1]) + square * (C[2] + r * C[3])
    return low + fourth * (middle + fourth * high)


@kernel
def log_one_plus(t: float) -> float:
    """``log(1 + t)`` of a number between 0 and 1, as ``2 atanh(t / (2 + t))``."""
    s = t / (2.0 + t)
    square = s * s
    fourth = square * square
    eighth = fourth * fourth
    high = (A[8] + square * A[9]) + fourth * (A[10] + square * A[11])
    middle = (A[4] + square * A[5]) + fourth * (A[6] + square * A[7])
    low = (A[0] + square * A[1]) + fourth * (A[2] + square * A[3])
    above = square * (low + eighth * (middle + eighth * (high + eighth * A[12])))
    twice = s + s
    return twice + twice * above


@kernel
def expit_in_lane(x: float) -> float:
    """``1 / (1 + exp(-x))``."""
    t = exp_of_size(x)
    return (t if x < 0.0 else 1.0) / (1.0 + t)


@kernel
def softplus_in_lane(x: float) -> float:
    """``log(1 + exp(x))``, finite for all finite x."""
    return max(x, 0.0) + log_one_plus(exp_of_size(x))
