"""Labels of a block of elements, drawn from a table of log weights by label and element.

Each loop goes over the elements of the block, which a processor takes several of at once; so do
exponentials, for which there is a polynomial. The random numbers are those of one element after
the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import zip_longest
from math import factorial, inf, log

import numpy as np

from gibbsppl.runtime.types import Floats, Generator, Integers

from . import WHOLE, kernel, power_of_shifted

APART: Mapping[str, str] = {}

# The logarithm of 2 in two parts, the first with few digits: products with whole numbers are exact.
LOG_2_HIGH, LOG_2_LOW = 6.93145751953125e-1, 1.42860682030941723212e-6
PER_LOG_2 = 1.0 / log(2.0)
# Below this an exponential counts for nothing beside 1, and has a normal number.
LEAST = -708.0


def _chebyshev(degree: int) -> list[Fraction]:
    """The coefficients of a Chebyshev polynomial, of rising powers."""
    before, found = [Fraction(1)], [Fraction(0), Fraction(1)]
    for _ in range(degree - 1):
        twice = [Fraction(0), *(2 * c for c in found)]
        before, found = found, [a - b for a, b in zip_longest(twice, before, fillvalue=Fraction(0))]
    return found


def _economised(terms: int, kept: int, end: Fraction) -> tuple[float, ...]:
    """The Taylor series of the exponential, as a polynomial of fewer terms on both sides of 0.

    From the last power a Chebyshev polynomial is taken away, which is small up to an end: what is
    left has lower powers alone.
    """
    found = [Fraction(1, factorial(n)) for n in range(terms)]
    for n in range(terms - 1, kept - 1, -1):
        away = _chebyshev(n)
        scale = found.pop() / away[n]
        found = [f - scale * away[k] * end ** (n - k) for k, f in enumerate(found)]
    return tuple(map(float, found))


C = _economised(18, 12, Fraction(log(2.0)) / 2)


@kernel
def exp_not_above_1(x: float) -> float:
    """The exponential of a number that is not positive; that of `LEAST` below it, or 0 at -inf.

    The argument is reduced to at most half of the logarithm of 2, where a polynomial of degree 11
    has all digits. (Pairs of its terms wait for no others.)
    """
    y = max(LEAST, x)
    shifted = y * PER_LOG_2 + WHOLE
    n = shifted - WHOLE
    r = (y - n * LOG_2_HIGH) - n * LOG_2_LOW
    square = r * r
    fourth = square * square
    high = (C[8] + r * C[9]) + square * (C[10] + r * C[11])
    middle = (C[4] + r * C[5]) + square * (C[6] + r * C[7])
    low = (C[0] + r * C[1]) + square * (C[2] + r * C[3])
    found = (low + fourth * (middle + fourth * high)) * power_of_shifted(shifted)
    return found if x > -inf else 0.0


@kernel
def labels_of_block(rng: Generator, weights: Floats, count: int, out: Integers) -> None:
    """The labels of ``count`` elements into ``out``, from log weights ``weights[label, element]``.

    The weights are overwritten.
    """
    size = weights.shape[0]
    largest = np.empty(count)
    for i in range(count):
        largest[i] = weights[0, i]
    for k in range(1, size):
        for i in range(count):
            w = weights[k, i]
            largest[i] = w if w > largest[i] or w != w else largest[i]  # noqa: PLR0124  # NaN
    for i in range(count):
        if not -inf < largest[i] < inf:
            raise ValueError("the weights of a label are all zero, or one is no number")
    total = np.zeros(count)
    for k in range(size):
        for i in range(count):
            total[i] += exp_not_above_1(weights[k, i] - largest[i])
            weights[k, i] = total[i]
    for i in range(count):
        total[i] *= rng.random()
        out[i] = 0
    for k in range(size - 1):
        for i in range(count):
            out[i] += 1 if weights[k, i] <= total[i] else 0
