"""Normal draws whose precision is a sum of fixed matrices, each times a scale, diagonalised once.

As `gibbsppl.runtime.pencils`, whose tables `gibbsppl.runtime.joint_tables` has.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gibbsppl.runtime.pencils import EPSILON, LEAST
from gibbsppl.runtime.types import Floats, Generator, Ints

from . import kernel
from .joint import arranged, placed
from .matrices import backward, cholesky, forward

APART: Mapping[str, str] = {}


@kernel
def pencil(  # noqa: PLR0913, PLR0917
    rng: Generator,
    linear: Floats,
    scales: Floats,
    matrices: Floats,
    rows: Floats,
    diagonals: Floats,
    order: Ints,
    out: Floats,
) -> None:
    """A draw whose precision is a sum of fixed matrices, each times a scale, into ``out``.

    ``matrices[p, block]`` are fixed; ``rows[block]`` make all of them diagonal, as ``diagonals[p,
    block]`` are. The coefficients ``linear`` are overwritten.
    """
    x, z = arranged(rng, linear, order)
    diagonal = scaled_diagonals(scales, diagonals)
    factors = factors_of(scales, matrices, diagonal)
    solve_scaled(rows, diagonal, factors, x, z)
    placed(x, order, out)


@kernel
def solve_scaled(rows: Floats, diagonal: Floats, factors: Floats, x: Floats, z: Floats) -> None:
    """Draws of all blocks, in place of their coefficients: by factors where there are some."""
    count, size = diagonal.shape
    for block in range(count):
        own = x[block * size : (block + 1) * size]
        noise = z[block * size : (block + 1) * size]
        if len(factors):
            forward(factors[block], own)
            for i in range(size):
                own[i] += noise[i]
            backward(factors[block], own)
        else:
            _along_rows(rows[block], diagonal[block], own, noise)


@kernel
def _along_rows(rows: Floats, diagonal: Floats, x: Floats, z: Floats) -> None:
    """A draw of one block, where rows make its precision diagonal, in place of its coefficients."""
    size = len(x)
    for i in range(size):
        total = 0.0
        for j in range(size):
            total += rows[i, j] * x[j]
        z[i] = (total + z[i] * np.sqrt(diagonal[i])) / diagonal[i]
    x[:] = 0.0
    for i in range(size):
        for j in range(size):
            x[j] += z[i] * rows[i, j]


@kernel
def pencil_apart(  # noqa: PLR0913, PLR0917
    rng: Generator,
    linear: Floats,
    scales: Floats,
    matrices: Floats,
    rows: Floats,
    diagonals: Floats,
    order: Ints,
    mean: Floats,
    noise: Floats,
) -> None:
    """The mean of elements whose precision is a sum of scaled matrices, and a draw less it."""
    x, z = arranged(rng, linear, order)
    diagonal = scaled_diagonals(scales, diagonals)
    factors = factors_of(scales, matrices, diagonal)
    away = np.zeros(len(order))
    solve_scaled(rows, diagonal, factors, away, z)
    placed(away, order, noise)
    z[:] = 0.0
    solve_scaled(rows, diagonal, factors, x, z)
    placed(x, order, mean)


@kernel
def scaled_diagonals(scales: Floats, diagonals: Floats) -> Floats:
    """The diagonal form of the precision, by block."""
    parts, count, size = diagonals.shape
    found = np.empty((count, size))
    for block in range(count):
        for i in range(size):
            total = 0.0
            for part in range(parts):
                total += scales[part] * diagonals[part, block, i]
            if not total > 0.0:
                raise ValueError("a precision matrix is not positive definite")
            found[block, i] = total
    return found


@kernel
def _has_common_rows(diagonal: Floats) -> bool:
    """Whether in all blocks elements are near enough in size for the rows that fit all scales."""
    for block in diagonal:
        least, most = np.inf, 0.0
        for x in block:
            least, most = min(least, x), max(most, x)
        if not least > EPSILON * most:
            return False
    return True


@kernel
def factors_of(scales: Floats, matrices: Floats, diagonal: Floats) -> Floats:
    """The Cholesky factors of all blocks; none where one is ill-conditioned in any units.

    Then only the rows know the directions nearly common to all elements; nor where rows do.
    """
    parts, count, size, _ = matrices.shape
    none = np.empty((0, size, size))
    if _has_common_rows(diagonal):
        return none
    found = np.zeros((count, size, size))
    units = np.empty(size)
    for block in range(count):
        total = found[block]
        for part in range(parts):
            for i in range(size):
                for j in range(size):
                    total[i, j] += scales[part] * matrices[part, block, i, j]
        for i in range(size):
            if not total[i, i] > 0.0:
                return none
            units[i] = np.sqrt(total[i, i])
        for i in range(size):
            for j in range(size):
                total[i, j] /= units[i] * units[j]
        if not np.linalg.eigvalsh(total)[0] > size * LEAST:
            return none
        cholesky(total)
        for i in range(size):
            for j in range(i + 1):
                total[i, j] *= units[i]
    return found
