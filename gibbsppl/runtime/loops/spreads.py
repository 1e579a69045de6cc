"""Vectors in units of a normal distribution and back, by the factor of a precision matrix.

``spread`` is ``L' x``, ``drawn`` is ``L'^-1 x``. What is ``filled`` is what the solvers of `joint`
and `sparse` leave behind: factors of what is inside the border, ``L^-1`` times what is beside it,
the factor of the corner. Columns of a band are divided by their diagonals, which are inverted.
"""

from __future__ import annotations

from collections.abc import Mapping

from gibbsppl.runtime.types import Floats, Ints

from . import kernel
from .joint import backward_band, backward_blocks, corner_of
from .matrices import backward
from .sparse import backward_sparse

APART: Mapping[str, str] = {}


@kernel
def spread_blocks(filled: Floats, counts: Ints, orders: Ints, border: int, x: Floats) -> None:
    """``L' x`` of blocks and a border, in place of x."""
    start = place = 0
    for g in range(len(counts)):
        size = orders[g]
        for _ in range(counts[g]):
            block = filled[place : place + size * size].reshape((size, size))
            for i in range(size):
                total = 0.0
                for j in range(i, size):
                    total += block[j, i] * x[start + j]
                x[start + i] = total
            start += size
            place += size * size
    _spread_border(filled, place, border, x)


@kernel
def spread_band(filled: Floats, width: int, border: int, x: Floats) -> None:
    """``L' x`` of a band and a border, in place of x."""
    inside = len(x) - border
    band = filled[: inside * (width + 1)].reshape((inside, width + 1))
    for i in range(inside):
        total = x[i]
        for d in range(1, min(width, inside - 1 - i) + 1):
            total += band[i, d] * x[i + d]
        x[i] = total / band[i, 0]
    _spread_border(filled, inside * (width + 1), border, x)


@kernel
def spread_sparse(filled: Floats, starts: Ints, rows: Ints, border: int, x: Floats) -> None:
    """``L' x`` of an inside that was eliminated and a border, in place of x."""
    inside = len(starts) - 1
    for i in range(inside):
        total = filled[starts[i]] * x[i]
        for p in range(starts[i] + 1, starts[i + 1]):
            total += filled[p] * x[rows[p]]
        x[i] = total
    _spread_border(filled, starts[inside], border, x)


@kernel
def _spread_border(filled: Floats, stored: int, border: int, x: Floats) -> None:
    """What the border adds to the inside, and its own part."""
    inside = len(x) - border
    side = filled[stored : stored + inside * border].reshape((inside, border))
    corner = corner_of(filled, stored + inside * border, border)
    for i in range(inside):
        for k in range(border):
            x[i] += side[i, k] * x[inside + k]
    for k in range(border):
        total = 0.0
        for j in range(k, border):
            total += corner[j, k] * x[inside + j]
        x[inside + k] = total


@kernel
def drawn_blocks(filled: Floats, counts: Ints, orders: Ints, border: int, x: Floats) -> None:
    """``L'^-1 x`` of blocks and a border, in place of x."""
    stored = 0
    for g in range(len(counts)):
        stored += counts[g] * orders[g] ** 2
    _drawn_border(filled, stored, border, x)
    backward_blocks(filled, counts, orders, x)


@kernel
def drawn_band(filled: Floats, width: int, border: int, x: Floats) -> None:
    """``L'^-1 x`` of a band and a border, in place of x."""
    inside = len(x) - border
    _drawn_border(filled, inside * (width + 1), border, x)
    backward_band(filled[: inside * (width + 1)].reshape((inside, width + 1)), x)


@kernel
def drawn_sparse(filled: Floats, starts: Ints, rows: Ints, border: int, x: Floats) -> None:
    """``L'^-1 x`` of an inside that was eliminated and a border, in place of x."""
    _drawn_border(filled, starts[len(starts) - 1], border, x)
    backward_sparse(filled, starts, rows, x)


@kernel
def _drawn_border(filled: Floats, stored: int, border: int, x: Floats) -> None:
    """The border's own part, which is taken from the inside."""
    inside = len(x) - border
    side = filled[stored : stored + inside * border].reshape((inside, border))
    backward(corner_of(filled, stored + inside * border, border), x[inside:])
    for i in range(inside):
        for k in range(border):
            x[i] -= side[i, k] * x[inside + k]
