"""Stirling numbers of the first kind, one by one, as `gibbsppl.runtime.stirling` has them in rows.

And numbers of tables, whose log mass has them.

Of n coins with chances ``r / (r + i)``, i = 0 .. n - 1, as many as l show heads with probability
``|s(n, l)| r**l gamma(r) / gamma(r + n)``. With the r of which l are to be expected, this is
computed coin by coin, without any loss of digits; the cost is n l.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from gibbsppl.runtime.types import Generator

from . import kernel
from .draws import LARGEST_WHOLE
from .elementary import exp_of

APART: Mapping[str, str] = {}

# So many customers for a table are tossed for one by one: as dear as to jump to the next candidate.
TOSSED = 12.0
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


@kernel
def tables(rng: Generator, eta_1: float, n: float) -> int:
    """A draw of the number of tables of n customers, with log mass ``eta_1 l + log |s(n, l)|``.

    The customer after the first i opens a table with probability ``r / (r + i)``. The first ones
    are tossed for; later ones, few of whom open one, are candidates with probability
    ``1 - (1 - 1 / i)**r``, which is no less. After a customer i no candidate comes before j with
    probability ``(i / j)**r``, so that the next one is found by a single draw.
    """
    if not (n >= 0 and n < LARGEST_WHOLE):
        raise ValueError("a number of customers is negative or too large")
    if float(int(n)) != n or eta_1 != eta_1:  # noqa: PLR0124  # NaN
        raise ValueError("a number of customers is not whole, or log(alpha) is not a number")
    if n == 0:
        return 0
    r = exp_of(eta_1)
    found, i = 1, 0.0  # the first customer always opens one
    tossed = min(n - 1.0, max(TOSSED * r, 1.0))
    while i < tossed:
        i += 1.0
        if r == math.inf or rng.random() * (r + i) < r:
            found += 1
    while i < n - 1.0 and r > 0.0:
        jumped = i * exp_of(rng.standard_exponential() / r)
        if not jumped < n - 1.0:
            break
        i = math.floor(jumped) + 1.0
        if rng.random() * -math.expm1(r * math.log1p(-1.0 / i)) < r / (r + i):
            found += 1
    return found
