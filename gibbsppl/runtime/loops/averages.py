"""Means, covariances and the entropy of a joint normal distribution, from its precision matrix.

What is stored and what kernels take is as in `joint` and `sparse`. With ``Q = L L'`` inside the
border the entries of ``Q^-1`` at the places of the factor follow from later ones, column by column
(K. Takahashi, J. Fagan and M.-S. Chin, 1973, "Formation of a sparse bus impedance matrix"), all
others are never formed. With a border whose Schur complement has the inverse ``S``, and ``W`` what
``Q^-1`` makes of the rows beside it, the inverse has ``Q^-1 + W S W'`` inside and ``-W S`` beside.

Covariances are asked for by the ``first`` and the ``second`` of two elements, as their numbers in
the order of factorisation (-1: a known one), and the ``slots`` of both in what is stored (-1: none,
as of elements of two blocks).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from gibbsppl.runtime.types import Floats, Ints

from . import kernel
from .joint import corner_of, definite, placed, solve_band, solve_blocks
from .matrices import backward_rows, inverse_of_factor
from .sparse import solve_sparse

# Twice the entropy of a standard normal number.
OF_STANDARD = 1.0 + math.log(2.0 * math.pi)

APART: Mapping[str, str] = {}


@kernel
def averaged_blocks(  # noqa: PLR0913, PLR0917
    filled: Floats,
    linear: Floats,
    counts: Ints,
    orders: Ints,
    border: int,
    order: Ints,
    first: Ints,
    second: Ints,
    slots: Ints,
    mean: Floats,
    covariances: Floats,
    entropy: Floats,
) -> None:
    """Means, covariances, and the entropy into ``entropy[0]``, where the inside is in blocks."""
    x = _in_order(linear, order)
    definite(solve_blocks(filled, counts, orders, border, x, np.zeros(len(x))))
    placed(x, order, mean)
    inside = len(x) - border
    logs = 0.0
    start = place = 0
    stored = 0
    for g in range(len(counts)):
        stored += counts[g] * orders[g] ** 2
    side = filled[stored : stored + inside * border].reshape((inside, border))
    for g in range(len(counts)):
        size = orders[g]
        for _ in range(counts[g]):
            block = filled[place : place + size * size].reshape((size, size))
            for i in range(size):
                logs += np.log(block[i, i])
            if len(first):
                if border:
                    backward_rows(block, side[start : start + size])
                inverse_of_factor(block.copy(), block)
            start += size
            place += size * size
    _covariances(
        filled, stored, logs, inside, border, first, second, slots, covariances, entropy
    )


@kernel
def averaged_band(  # noqa: PLR0913, PLR0917
    filled: Floats,
    linear: Floats,
    width: int,
    border: int,
    order: Ints,
    first: Ints,
    second: Ints,
    slots: Ints,
    mean: Floats,
    covariances: Floats,
    entropy: Floats,
) -> None:
    """The same, where the inside is in a band."""
    x = _in_order(linear, order)
    definite(solve_band(filled, width, border, x, np.zeros(len(x))))
    placed(x, order, mean)
    inside = len(x) - border
    stored = inside * (width + 1)
    band = filled[:stored].reshape((inside, width + 1))
    side = filled[stored : stored + inside * border].reshape((inside, border))
    logs = 0.0
    column = np.empty(width + 1)
    for j in range(inside - 1, -1, -1):
        # (columns of the factor are divided by its diagonal, of which there is the reciprocal)
        scale = band[j, 0]
        logs -= np.log(scale)
        count = min(width, inside - 1 - j)
        for k in range(border if len(first) else 0):
            total = side[j, k] * scale
            for d in range(1, count + 1):
                total -= band[j, d] * side[j + d, k]
            side[j, k] = total
        for d in range(1, count + 1):
            column[d] = band[j, d]
        for d in range(count if len(first) else 0, 0, -1):
            total = 0.0
            for e in range(1, count + 1):
                low, apart = (j + d, e - d) if e >= d else (j + e, d - e)
                total += column[e] * band[low, apart]
            band[j, d] = -total
        total = scale * scale
        for e in range(1, count + 1):
            total -= column[e] * band[j, e]
        band[j, 0] = total
    _covariances(
        filled, stored, logs, inside, border, first, second, slots, covariances, entropy
    )


@kernel
def averaged_sparse(  # noqa: PLR0913, PLR0917
    filled: Floats,
    linear: Floats,
    starts: Ints,
    rows: Ints,
    left: Ints,
    links: Ints,
    ends: Ints,
    border: int,
    order: Ints,
    first: Ints,
    second: Ints,
    slots: Ints,
    mean: Floats,
    covariances: Floats,
    entropy: Floats,
) -> None:
    """The same, where elements inside the border are eliminated one by one."""
    x = _in_order(linear, order)
    definite(solve_sparse(filled, starts, rows, left, links, ends, border, x, np.zeros(len(x))))
    placed(x, order, mean)
    inside = len(starts) - 1
    stored = starts[inside]
    side = filled[stored : stored + inside * border].reshape((inside, border))
    logs = 0.0
    column, found, is_own = np.zeros(inside), np.zeros(inside), np.zeros(inside)
    for j in range(inside - 1, -1, -1):
        pivot = filled[starts[j]]
        logs += np.log(pivot)
        if not len(first):
            continue
        for p in range(starts[j] + 1, starts[j + 1]):
            column[rows[p]], found[rows[p]], is_own[rows[p]] = filled[p], 0.0, 1.0
            for k in range(border):
                side[j, k] -= filled[p] * side[rows[p], k]
        for k in range(border):
            side[j, k] /= pivot
        for p in range(starts[j] + 1, starts[j + 1]):
            k = rows[p]
            found[k] += column[k] * filled[starts[k]]
            for q in range(starts[k] + 1, starts[k + 1]):
                i = rows[q]
                if is_own[i] > 0.0:
                    found[i] += column[k] * filled[q]
                    found[k] += column[i] * filled[q]
        total = 1.0 / pivot
        for p in range(starts[j] + 1, starts[j + 1]):
            i = rows[p]
            filled[p] = -found[i] / pivot
            total -= column[i] * filled[p]
            is_own[i] = 0.0
        filled[starts[j]] = total / pivot
    _covariances(
        filled, stored, logs, inside, border, first, second, slots, covariances, entropy
    )


@kernel
def _in_order(linear: Floats, order: Ints) -> Floats:
    """The coefficients in the order of factorisation."""
    x = np.empty(len(order))
    for i in range(len(order)):
        x[i] = linear[order[i]]
    return x


@kernel
def _covariances(  # noqa: PLR0913, PLR0917
    filled: Floats,
    stored: int,
    logs: float,
    inside: int,
    border: int,
    first: Ints,
    second: Ints,
    slots: Ints,
    covariances: Floats,
    entropy: Floats,
) -> None:
    """The covariances asked for, and the entropy.

    What is stored begins with entries of the inverse inside; then follow ``W`` and the factor of
    the corner. ``logs`` are those of the diagonal of the factor inside, added up.
    """
    side = filled[stored : stored + inside * border].reshape((inside, border))
    corner = corner_of(filled, stored + inside * border, border)
    outer, beside = np.zeros((border, border)), np.zeros((inside, border))
    if border:
        for k in range(border):
            logs += np.log(corner[k, k])
        inverse_of_factor(corner, outer)
        for i in range(inside if len(first) else 0):
            for k in range(border):
                for other in range(border):
                    beside[i, other] += side[i, k] * outer[k, other]
    entropy[0] = (inside + border) * OF_STANDARD / 2 - logs
    for p in range(len(first)):
        i, j = max(first[p], second[p]), min(first[p], second[p])
        if j < 0:
            covariances[p] = 0.0
        elif j >= inside:
            covariances[p] = outer[i - inside, j - inside]
        elif i >= inside:
            covariances[p] = -beside[j, i - inside]
        else:
            total = filled[slots[p]] if slots[p] >= 0 else 0.0
            for k in range(border):
                total += beside[i, k] * side[j, k]
            covariances[p] = total
