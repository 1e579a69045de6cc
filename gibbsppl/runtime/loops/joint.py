"""Joint normal draws, from the stored entries of their precision matrix, in place.

`gibbsppl.runtime.joint_tables` has where the entries are stored and in which order the elements
are: those inside, then those of the border, which follow by its Schur complement. With ``Q = L L'``
a draw is ``L'^-1 (L^-1 h + z)``.

What is stored are the blocks, each by rows, or the band, by columns from the diagonal down; then
the rows beside the border, one for each element inside; then the corner, by rows. Of blocks and of
the corner the entries on and below the diagonal are read.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gibbsppl.runtime.types import Floats, Generator, Ints

from . import kernel
from .matrices import (
    backward,
    factorised,
    forward,
    forward_numbers,
    forward_pairs,
    forward_rows,
)

APART: Mapping[str, str] = {}


@kernel
def joint_blocks(  # noqa: PLR0913, PLR0917
    rng: Generator,
    filled: Floats,
    linear: Floats,
    counts: Ints,
    orders: Ints,
    border: int,
    order: Ints,
    out: Floats,
) -> None:
    """A draw of elements of which those inside the border are in blocks, into ``out``.

    There are ``counts[g]`` blocks of ``orders[g]`` elements. The entries ``filled`` are of the
    precision, ``linear`` has the coefficients of the elements; both are overwritten.
    """
    x, z = arranged(rng, linear, order)
    definite(solve_blocks(filled, counts, orders, border, x, z))
    placed(x, order, out)


@kernel
def solve_blocks(
    filled: Floats, counts: Ints, orders: Ints, border: int, x: Floats, z: Floats
) -> bool:
    """``L'^-1 (L^-1 x + z)`` of blocks and a border, in place of x; all else is overwritten.

    False where the matrix is not positive definite.
    """
    inside = len(x) - border
    stored = 0
    for g in range(len(counts)):
        stored += counts[g] * orders[g] ** 2
    side = filled[stored : stored + inside * border].reshape((inside, border))
    corner = corner_of(filled, stored + inside * border, border)
    if not _forward_blocks(filled, counts, orders, x, side):
        return False
    if border and not drawn_border(side, corner, x, z):
        return False
    for i in range(inside):
        x[i] += z[i]
    backward_blocks(filled, counts, orders, x)
    return True


@kernel
def _forward_blocks(filled: Floats, counts: Ints, orders: Ints, x: Floats, side: Floats) -> bool:
    """Blocks factorised, and ``L^-1`` times the coefficients and the rows beside the border."""
    start = place = 0
    for g in range(len(counts)):
        size = orders[g]
        end, last = start + counts[g] * size, place + counts[g] * size * size
        own, values, beside = filled[place:last], x[start:end], side[start:end]
        if size == 1:
            is_definite = forward_numbers(own, values, beside)
        elif size == 2:
            is_definite = forward_pairs(own, values, beside)
        else:
            is_definite = _forward_matrices(own, size, values, beside)
        if not is_definite:
            return False
        start, place = end, last
    return True


@kernel
def _forward_matrices(filled: Floats, size: int, x: Floats, side: Floats) -> bool:
    """Blocks of more elements."""
    for b in range(len(x) // size):
        block = filled[b * size * size : (b + 1) * size * size].reshape((size, size))
        if not factorised(block):
            return False
        forward(block, x[b * size : (b + 1) * size])
        if side.shape[1]:
            forward_rows(block, side[b * size : (b + 1) * size])
    return True


@kernel
def backward_blocks(filled: Floats, counts: Ints, orders: Ints, x: Floats) -> None:
    """``L'^-1 x``, in place of it."""
    start = place = 0
    for g in range(len(counts)):
        size = orders[g]
        end, last = start + counts[g] * size, place + counts[g] * size * size
        own, values = filled[place:last], x[start:end]
        if size == 1:
            for i in range(len(values)):
                values[i] /= own[i]
        elif size == 2:
            for i in range(len(values) // 2):
                values[2 * i + 1] /= own[4 * i + 3]
                known = own[4 * i + 2] * values[2 * i + 1]
                values[2 * i] = (values[2 * i] - known) / own[4 * i]
        else:
            for b in range(len(values) // size):
                block = own[b * size * size : (b + 1) * size * size].reshape((size, size))
                backward(block, values[b * size : (b + 1) * size])
        start, place = end, last


@kernel
def joint_band(
    rng: Generator,
    filled: Floats,
    linear: Floats,
    width: int,
    border: int,
    order: Ints,
    out: Floats,
) -> None:
    """A draw of elements of which those inside the border are in a band, into ``out``.

    The band has so many entries below the diagonal. The entries ``filled`` are of the precision,
    ``linear`` has the coefficients of the elements; both are overwritten.
    """
    x, z = arranged(rng, linear, order)
    definite(solve_band(filled, width, border, x, z))
    placed(x, order, out)


@kernel
def solve_band(filled: Floats, width: int, border: int, x: Floats, z: Floats) -> bool:
    """``L'^-1 (L^-1 x + z)`` of a band and a border, in place of x; all else is overwritten.

    False where the matrix is not positive definite.
    """
    inside = len(x) - border
    stored = inside * (width + 1)
    band = filled[:stored].reshape((inside, width + 1))
    side = filled[stored : stored + inside * border].reshape((inside, border))
    corner = corner_of(filled, stored + inside * border, border)
    if not _factorised_band(band):
        return False
    for i in range(inside):
        own, scale = x[i], band[i, 0]
        for d in range(1, min(width, inside - 1 - i) + 1):
            x[i + d] -= band[i, d] * own
            for k in range(border):
                side[i + d, k] -= band[i, d] * side[i, k]
        x[i] = own * scale
        for k in range(border):
            side[i, k] *= scale
    if border and not drawn_border(side, corner, x, z):
        return False
    for i in range(inside):
        x[i] += z[i]
    backward_band(band, x)
    return True


@kernel
def backward_band(band: Floats, x: Floats) -> None:
    """``L'^-1 x`` of a band, in place of it."""
    size, width = len(band), band.shape[1] - 1
    for i in range(size - 1, -1, -1):
        total = x[i] * band[i, 0]
        for d in range(1, min(width, size - 1 - i) + 1):
            total -= band[i, d] * x[i + d]
        x[i] = total


@kernel
def arranged(rng: Generator, linear: Floats, order: Ints) -> tuple[Floats, Floats]:
    """The coefficients in the order of factorisation, and a standard normal number for each."""
    x, z = np.empty(len(order)), np.empty(len(order))
    for i in range(len(order)):
        x[i] = linear[order[i]]
        z[i] = rng.standard_normal()
    return x, z


@kernel
def corner_of(filled: Floats, start: int, border: int) -> Floats:
    """The stored entries of the corner."""
    return filled[start : start + border * border].reshape((border, border))


@kernel
def placed(x: Floats, order: Ints, out: Floats) -> None:
    """Values in the order of factorisation, in the order of the elements, into ``out``."""
    for i in range(len(order)):
        out[order[i]] = x[i]


@kernel
def definite(is_definite: bool) -> None:
    """Raise an error where a precision matrix has no factor."""
    if not is_definite:
        raise ValueError("a precision matrix is not positive definite")


@kernel
def drawn_border(side: Floats, corner: Floats, x: Floats, z: Floats) -> bool:
    """The border drawn, at the end of ``x``, and taken from what is known of the inside.

    False where the matrix is not positive definite. ``side`` is ``L^-1`` times the entries beside
    the border, and ``x`` begins with ``L^-1 h``.
    """
    inside, border = side.shape
    last = x[inside:]
    if border == 1:
        _take_one(side, corner, x, last)
    elif border == 2:
        _take_two(side, corner, x, last)
    else:
        _take_all(side, corner, x, last)
    if not factorised(corner):
        return False
    forward(corner, last)
    for k in range(border):
        last[k] += z[inside + k]
    backward(corner, last)
    for i in range(inside):
        for k in range(border):
            x[i] -= side[i, k] * last[k]
    return True


@kernel
def _take_one(side: Floats, corner: Floats, x: Floats, last: Floats) -> None:
    """What the inside says taken from a border of one element, by sums that stay numbers."""
    known, square = 0.0, 0.0
    for i in range(len(side)):
        known += side[i, 0] * x[i]
        square += side[i, 0] * side[i, 0]
    last[0] -= known
    corner[0, 0] -= square


@kernel
def _take_two(side: Floats, corner: Floats, x: Floats, last: Floats) -> None:
    """The same of a border of two."""
    first, second, square, product, other = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(len(side)):
        one, two = side[i, 0], side[i, 1]
        first += one * x[i]
        second += two * x[i]
        square += one * one
        product += two * one
        other += two * two
    last[0] -= first
    last[1] -= second
    corner[0, 0] -= square
    corner[1, 0] -= product
    corner[1, 1] -= other


@kernel
def _take_all(side: Floats, corner: Floats, x: Floats, last: Floats) -> None:
    """The same of a border of several."""
    for i in range(len(side)):
        row = side[i]
        for k in range(len(last)):
            own = row[k]
            if own != 0.0:
                last[k] -= own * x[i]
                for other in range(k + 1):
                    corner[k, other] -= own * row[other]


@kernel
def _factorised_band(band: Floats) -> bool:
    """The Cholesky factor in place of a band by columns, each from the diagonal down.

    Columns are divided by the diagonal of the factor, of which the reciprocal is kept: so that one
    division alone waits for the column before, and no root.
    """
    size, width = len(band), band.shape[1] - 1
    for j in range(size):
        pivot = band[j, 0]
        if not pivot > 0.0:
            return False
        count = min(width, size - 1 - j)
        for d in range(1, count + 1):
            own = band[j, d] / pivot
            if own != 0.0:
                for other in range(d, count + 1):
                    band[j + d, other - d] -= own * band[j, other]
        for d in range(1, count + 1):
            band[j, d] /= pivot
        band[j, 0] = 1.0 / np.sqrt(pivot)
    return True
