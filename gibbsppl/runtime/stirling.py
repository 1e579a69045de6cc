"""Stirling numbers of the first kind, and the numbers of tables that they count.

``|s(n, l)|`` is the number of ways to seat n customers at l round tables. In a Chinese restaurant
process the customer after the first i opens a table with probability ``alpha / (alpha + i)``; then
l tables are open with probability ``gamma(alpha) / gamma(alpha + n) |s(n, l)| alpha**l``
(Antoniak 1974, Annals of Statistics 2).

>>> import numpy as np
>>> np.exp(log_stirling(4.0, np.array([1.0, 2.0, 3.0, 4.0]))).round(9)
array([ 6., 11.,  6.,  1.])
"""

from __future__ import annotations

import math

import numpy as np

from gibbsppl.runtime.draws import whole
from gibbsppl.runtime.types import Floats, Generator, Integers, Numbers, Size, Values, Wholes

# So many numbers of rows are kept (64 MB); where more are asked for, they are computed anew.
MOST_KEPT = 2**23
# The passes from row to row can start at rows ``START * k**2``: rows up to N keep about
# ``N**1.5 / (3 sqrt(START))`` numbers for that, and a pass is about ``2 sqrt(START N)`` rows long.
START = 16
# So many uniform numbers are drawn at once.
AT_ONCE = 2**16


def log_stirling(n: Values, l: Values) -> Numbers:
    """The logs of the unsigned Stirling numbers of the first kind ``|s(n, l)|``.

    ``-inf`` where there are none, NaN where n or l is no whole number. The first call for a row n
    costs n**2 / 2 steps of the recurrence (20 ms for n = 4000, 5 s for n = 100,000), less where a
    row just below was asked for; the row is kept, 8 n bytes.

    >>> float(log_stirling(0.0, 0.0)), float(log_stirling(5.0, 6.0))
    (0.0, -inf)
    """
    n, l = np.broadcast_arrays(np.asarray(n, float), np.asarray(l, float))
    with np.errstate(invalid="ignore"):
        is_whole = (n - np.floor(n) == 0.0) & (l - np.floor(l) == 0.0)
    result = np.where(is_whole, np.where((n == 0.0) & (l == 0.0), 0.0, -math.inf), math.nan)
    there = is_whole & (l >= 1.0) & (l <= n)
    result[there] = _looked_up(n[there].astype(np.int64), l[there].astype(np.int64))
    return result[()]


def _looked_up(n: Integers, l: Integers) -> Floats:
    """The logs for ``1 <= l <= n``, row by row in rising order."""
    found = np.empty(n.size)
    order = np.argsort(n, kind="stable")
    rows, starts = np.unique(n[order], return_index=True)
    for row, part in zip(rows.tolist(), np.split(order, starts[1:]), strict=False):
        found[part] = _TABLE.row(row)[l[part] - 1]
    return found


class _Table:
    """The rows asked for so far. What a row holds does not hang on what was asked for before.

    A pass goes by the ratios ``r(n, l) = |s(n, l - 1)| / |s(n, l)|``: from
    ``|s(n + 1, l)| = n |s(n, l)| + |s(n, l - 1)|`` follows
    ``r(n + 1, l) = r(n, l) (n + r(n, l - 1)) / (n + r(n, l))``. They stay in the range of numbers,
    need no logs, and lose no digits: an error in one row is at most as large in the next.
    """

    def __init__(self) -> None:
        self._logs: dict[int, Floats] = {}
        self._kept = 0
        self._starts = {1: np.zeros(1)}
        self._last = 1, np.zeros(1)

    def row(self, n: int) -> Floats:
        """``log |s(n, l)|`` for l = 1..n."""
        if n not in self._logs:
            if self._kept + n > MOST_KEPT:
                self._logs, self._kept = {}, 0
            # |s(n, l)| is the product of the ratios of all larger l, for |s(n, n)| = 1
            falling = np.log(self._ratios(n)[:0:-1])
            self._logs[n] = np.append(np.cumsum(falling)[::-1], 0.0)
            self._kept += n
        return self._logs[n]

    def _ratios(self, n: int) -> Floats:
        """``r(n, l)`` for l = 1..n, from the nearest row below that is known."""
        at = max(k for k in self._starts if k <= n)
        known = self._starts[at]
        if at < self._last[0] <= n:
            at, known = self._last
        ratios, added = np.empty(n), np.empty(n)
        ratios[:at] = known
        for m in range(at, n):  # row m + 1 from row m
            if m % START == 0 and math.isqrt(m // START) ** 2 * START == m:
                self._starts.setdefault(m, ratios[:m].copy())
            np.add(ratios[:m], m, out=added[:m])
            ratios[1:m] *= added[: m - 1]
            ratios[1:m] /= added[1:m]
            ratios[m] = m * (m + 1) / 2
        self._last = n, ratios
        return ratios


_TABLE = _Table()


@np.errstate(over="ignore", invalid="ignore")
def tables(rng: Generator, eta_1: Numbers, size: Size, *, n: Values) -> Wholes:
    """Draws of the number of tables of n customers, with log mass ``eta_1 l + log |s(n, l)|``.

    A customer opens a table whatever the others did, so that l is a sum of n coins. All customers
    are tossed for, of many elements at once: the cost is that of as many uniform numbers.
    """
    customers = np.broadcast_to(np.asarray(n, float), size).ravel()
    eta = np.broadcast_to(np.asarray(eta_1, float), size).ravel()
    if np.isnan(eta).any() or not (customers >= 0.0).all():
        raise ValueError(f"no numbers of tables for n = {n}, log(alpha) = {eta_1}")
    order = np.argsort(-customers, kind="stable")
    count, weight = whole(customers[order]), np.exp(-eta[order])
    found = np.minimum(count, 1)  # the first customer always opens one
    first, left = 1, int(np.searchsorted(-count, -1))
    while left:
        most = int(count[0])
        seated = np.arange(first, min(first + max(AT_ONCE // left, 1), most))
        # u < alpha / (alpha + i), also where alpha is 0 or infinite to a computer
        odds = 1.0 + seated * weight[:left, None]
        opened = rng.random((left, seated.size)) * odds < 1.0
        found[:left] += (opened & (seated < count[:left, None])).sum(-1)
        first += seated.size
        left = int(np.searchsorted(-count, -first))
    result = np.empty_like(found)
    result[order] = found
    return result.reshape(size)[()]
