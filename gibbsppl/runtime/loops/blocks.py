"""Labels of a block of elements, drawn from a table of log weights by label and element.

Each loop goes over the elements of the block, which a processor takes several of at once; so do
exponentials, for which there is a polynomial. The random numbers are those of one element after
the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import factorial, inf, log

import numpy as np

from gibbsppl.runtime.types import Floats, Generator, Integers

from . import kernel, power_of_two

APART: Mapping[str, str] = {}

# The logarithm of 2 in two parts, the first with few digits: products with whole numbers are exact.
LOG_2_HIGH = 6.93145751953125e-1
LOG_2_LOW = log(2.0) - LOG_2_HIGH
PER_LOG_2 = 1.0 / log(2.0)
# Below this an exponential counts for nothing beside 1, and has a normal number.
LEAST = -708.0

C2, C3, C4, C5, C6, C7, C8, C9, C10, C11, C12, C13 = (1.0 / factorial(n) for n in range(2, 14))


@kernel
def exp_not_above_1(x: float) -> float:
    """The exponential of a number that is not positive; that of `LEAST` below it, or 0 at -inf.

    The argument is reduced to at most half of the logarithm of 2, where the Taylor series has all
    digits after fourteen terms.
    """
    y = max(LEAST, x)
    n = np.floor(y * PER_LOG_2 + 0.5)
    r = (y - n * LOG_2_HIGH) - n * LOG_2_LOW
    high = C8 + r * (C9 + r * (C10 + r * (C11 + r * (C12 + r * C13))))
    middle = C4 + r * (C5 + r * (C6 + r * (C7 + r * high)))
    low = 1.0 + r * (1.0 + r * (C2 + r * (C3 + r * middle)))
    return low * power_of_two(n) if x > -inf else 0.0


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
    for k in range(size):
        for i in range(count):
            weights[k, i] = exp_not_above_1(weights[k, i] - largest[i])
    for k in range(1, size):
        for i in range(count):
            weights[k, i] += weights[k - 1, i]
    for i in range(count):
        level = rng.random() * weights[size - 1, i]
        label = 0
        for k in range(size - 1):
            label += 1 if weights[k, i] <= level else 0
        out[i] = label
