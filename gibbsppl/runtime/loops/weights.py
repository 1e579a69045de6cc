"""Draws of labels and of counts from weights as they are, not from their logs.

The weights are products, which may underflow: their sum tells whether digits are lost, and then
they are made from logs.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gibbsppl.runtime.multinomials import LEAST_SUM
from gibbsppl.runtime.types import Array, Floats, Generator

from . import fetch, inlined, kernel

APART: Mapping[str, str] = {
    "shares_in": "as for `multinomial`",
    "shares_added": "as for `multinomial`",
}

# The kernels that draw by weights, for those that draw by their logs; those that read their sums.
OF_WEIGHTS: Mapping[str, str] = {"labels": "label_of_weights", "multinomial": "shares_in"}
WITH_SUMS = frozenset(("shares_in",))

# A unit costs a comparison or two for each label, a binomial draw for a label some ten units.
UNITS_PER_LABEL = 8


# Labels 0, 8, 16, ... are one lane, 1, 9, 17, ... the next: running sums go lane after lane.
LANES = 8


@inlined
def sums_by_lane(weights: Floats, ends: Floats) -> None:
    """Where each lane of weights, all of which are 0 or more, ends in their running sum.

    The sum of all is the last; it is 0 if products may have lost digits: what has underflowed does
    not matter beside a sum that is large enough. The lanes are added up beside one another: in a
    sum of one after the other each waits for the last.
    """
    size = len(weights)
    whole = size - size % 8
    a, b, c, d, e, f, g, h = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(0, whole, 8):
        a += weights[k]
        b += weights[k + 1]
        c += weights[k + 2]
        d += weights[k + 3]
        e += weights[k + 4]
        f += weights[k + 5]
        g += weights[k + 6]
        h += weights[k + 7]
    more = size - whole
    a += weights[whole] if more > 0 else 0.0
    b += weights[whole + 1] if more > 1 else 0.0
    c += weights[whole + 2] if more > 2 else 0.0
    d += weights[whole + 3] if more > 3 else 0.0
    e += weights[whole + 4] if more > 4 else 0.0
    f += weights[whole + 5] if more > 5 else 0.0
    g += weights[whole + 6] if more > 6 else 0.0
    ends[0] = a
    b += a
    ends[1] = b
    c += b
    ends[2] = c
    d += c
    ends[3] = d
    e += d
    ends[4] = e
    f += e
    ends[5] = f
    g += f
    ends[6] = g
    total = g + h
    ends[7] = total if LEAST_SUM <= total < np.inf else 0.0


@inlined
def label_in(rng: Generator, weights: Floats, ends: Floats) -> int:
    """The label drawn, of 0, 1, ..., with weights whose lanes end at known sums.

    Lanes and labels are counted, not searched for: no processor could guess where a search ends.
    All lanes are gone through up to the row before the last, which some lack.
    """
    size = len(weights)
    threshold = rng.random() * ends[7]
    lane = 0
    before = 0.0
    for k in range(7):
        lane += 1 if ends[k] <= threshold else 0
        before = ends[k] if ends[k] <= threshold else before
    lane = min(lane, size - 1)
    label = lane
    for k in range(0, size - 8, 8):
        before += weights[lane + k]
        label += 8 if before <= threshold else 0
    return label if label < size else label - 8


@inlined
def units_of(n: float, labels: int) -> int:
    """A total that is shared out unit by unit; -1 for a large one, and for what is no total."""
    return int(n) if 0 <= n <= UNITS_PER_LABEL * labels and n == np.floor(n) else -1


@kernel
def fetch_row(row: Array) -> None:
    """A row that is soon added to begins to come into the cache, eight numbers at a time.

    Rows of large tables are elsewhere: an addition would wait, and all that comes after it.
    """
    for k in range(0, len(row), 8):
        fetch(row, k)


@kernel
def shares_in(rng: Generator, weights: Floats, n: int, ends: Floats, out: Array) -> None:
    """Counts that share out n, with weights whose lanes end at known sums."""
    out[:] = 0
    shares_added(rng, weights, n, ends, out)


@kernel
def shares_added(rng: Generator, weights: Floats, n: int, ends: Floats, *outs: Array) -> None:
    """Counts that share out n, with weights whose lanes end at known sums, added to some arrays."""
    if n < 0:
        raise ValueError("a total of a draw of counts is negative")
    if n != np.floor(n):
        raise ValueError("a count or a bound of a draw is not a whole number")
    left = int(n)
    units = units_of(n, len(weights))
    if units >= 0:
        for _ in range(units):
            label = label_in(rng, weights, ends)
            for out in outs:
                out[label] += 1
        return
    behind = np.empty(len(weights))
    total = 0.0
    for k in range(len(weights) - 1, -1, -1):
        total += weights[k]
        behind[k] = total
    for k in range(len(weights)):
        # (a label with nothing but zeros behind it takes all)
        drawn = rng.binomial(left, weights[k] / behind[k])
        left -= drawn
        for out in outs:
            out[k] += drawn
        if left == 0:
            return
