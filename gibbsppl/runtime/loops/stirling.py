"""Stirling numbers of the first kind, one by one, as `gibbsppl.runtime.stirling` has them in rows.

Of n coins with chances ``r / (r + i)``, i = 0 .. n - 1, as many as l show heads with probability
``|s(n, l)| r**l gamma(r) / gamma(r + n)``. With the r of which l are to be expected, this is
computed coin by coin, without any loss of digits; the cost is n l.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from . import kernel

APART: Mapping[str, str] = {}

# The number expected is as near to l as halving an interval of logs so often makes it.
HALVINGS = 30


@kernel
def log_stirling(n: float, l: float) -> float:
    """The log of ``|s(n, l)|``; minus infinity where there is none, NaN of what is not whole."""
    if not (n - np.floor(n) == 0.0 and l - np.floor(l) == 0.0):
        return math.nan
    if not 1.0 <= l <= n:
        return 0.0 if n == 0.0 and l == 0.0 else -math.inf
    if l == n:
        return 0.0
    count, heads = int(n), int(l)
    if heads == 1:
        return math.lgamma(n)
    r = _expecting(count, heads)
    scale = (count - heads) * math.log(r) if r > 1.0 else -(heads - 1) * math.log(r)
    for i in range(1, count):
        scale += math.log1p(i / r) if r > 1.0 else math.log(r + i)
    return math.log(_probability(count, heads, r)) + scale


@kernel
def _expecting(count: int, heads: int) -> float:
    """The r with which so many heads are to be expected."""
    # (of one more coin than heads it is less than the square of their number)
    low, high = -math.log(float(count)) - 1.0, 2.0 * math.log(float(count)) + 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        r, expected = math.exp(middle), 0.0
        for i in range(count):
            expected += r / (r + i)
        if expected < heads:
            low = middle
        else:
            high = middle
    return math.exp((low + high) / 2)


@kernel
def _probability(count: int, heads: int, r: float) -> float:
    """The probability of so many heads."""
    found = np.zeros(heads + 1)
    found[0] = 1.0
    for i in range(count):
        head, tail = r / (r + i), i / (r + i)
        for j in range(min(i + 1, heads), 0, -1):
            found[j] = found[j] * tail + found[j - 1] * head
        found[0] *= tail
    return float(found[heads])
