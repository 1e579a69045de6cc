"""Joint normal draws by an elimination whose places are known, as those of `joint` otherwise.

`gibbsppl.runtime.eliminations` has the places: the entries of the factor are stored by columns,
each from the diagonal down; the entries of the precision are put where those of the factor are.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gibbsppl.runtime.types import Floats, Generator, Ints

from . import kernel
from .joint import arranged, corner_of, definite, drawn_border, placed

APART: Mapping[str, str] = {}


@kernel
def joint_sparse(  # noqa: PLR0913, PLR0917
    rng: Generator,
    filled: Floats,
    linear: Floats,
    starts: Ints,
    rows: Ints,
    left: Ints,
    links: Ints,
    ends: Ints,
    border: int,
    order: Ints,
    out: Floats,
) -> None:
    """A draw of elements of which those inside the border are eliminated one by one, into ``out``.

    The entries ``filled`` are of the precision, ``linear`` has the coefficients of the elements;
    both are overwritten.
    """
    x, z = arranged(rng, linear, order)
    definite(solve_sparse(filled, starts, rows, left, links, ends, border, x, z))
    placed(x, order, out)


@kernel
def joint_sparse_apart(  # noqa: PLR0913, PLR0917
    rng: Generator,
    filled: Floats,
    linear: Floats,
    starts: Ints,
    rows: Ints,
    left: Ints,
    links: Ints,
    ends: Ints,
    border: int,
    order: Ints,
    mean: Floats,
    noise: Floats,
) -> None:
    """The mean of such elements, and a draw less it."""
    x, z = arranged(rng, linear, order)
    away = np.zeros(len(order))
    definite(solve_sparse(filled.copy(), starts, rows, left, links, ends, border, away, z.copy()))
    placed(away, order, noise)
    z[:] = 0.0
    solve_sparse(filled, starts, rows, left, links, ends, border, x, z)
    placed(x, order, mean)


@kernel
def solve_sparse(  # noqa: PLR0913, PLR0917
    filled: Floats,
    starts: Ints,
    rows: Ints,
    left: Ints,
    links: Ints,
    ends: Ints,
    border: int,
    x: Floats,
    z: Floats,
) -> bool:
    """``L'^-1 (L^-1 x + z)`` of an inside and a border, in place of x; else all is overwritten.

    False where the matrix is not positive definite.
    """
    inside = len(starts) - 1
    stored = starts[inside]
    side = filled[stored : stored + inside * border].reshape((inside, border))
    corner = corner_of(filled, stored + inside * border, border)
    if not _factorised(filled, starts, rows, left, links, ends):
        return False
    for i in range(inside):
        pivot = filled[starts[i]]
        x[i] /= pivot
        for k in range(border):
            side[i, k] /= pivot
        for p in range(starts[i] + 1, starts[i + 1]):
            own = filled[p]
            x[rows[p]] -= own * x[i]
            for k in range(border):
                side[rows[p], k] -= own * side[i, k]
    if border and not drawn_border(side, corner, x, z):
        return False
    for i in range(inside):
        x[i] += z[i]
    backward_sparse(filled, starts, rows, x)
    return True


@kernel
def backward_sparse(filled: Floats, starts: Ints, rows: Ints, x: Floats) -> None:
    """``L'^-1 x`` of what was eliminated, in place of it."""
    for i in range(len(starts) - 2, -1, -1):
        total = x[i]
        for p in range(starts[i] + 1, starts[i + 1]):
            total -= filled[p] * x[rows[p]]
        x[i] = total / filled[starts[i]]


@kernel
def _factorised(
    filled: Floats, starts: Ints, rows: Ints, left: Ints, links: Ints, ends: Ints
) -> bool:
    """The factor in place of the entries, column by column: each less those left of it."""
    column = np.empty(len(starts) - 1)
    for j in range(len(starts) - 1):
        for p in range(starts[j], starts[j + 1]):
            column[rows[p]] = filled[p]
        for n in range(left[j], left[j + 1]):
            own = filled[links[n]]
            if own != 0.0:
                for p in range(links[n], ends[n]):
                    column[rows[p]] -= own * filled[p]
        if not column[j] > 0.0:
            return False
        pivot = np.sqrt(column[j])
        filled[starts[j]] = pivot
        for p in range(starts[j] + 1, starts[j + 1]):
            filled[p] = column[rows[p]] / pivot
    return True
