"""Joint draws whose precision matrix is ``s*A + t*B``, with numbers ``s, t`` that change alone.

One matrix ``G`` makes both diagonal, once: ``G A G' = diag(a)``, ``G B G' = diag(b)``. Then
``(s*A + t*B)^-1 = G' diag(1 / (s*a + t*b)) G``: a draw is two products of a matrix with a vector.
(G. H. Golub and C. F. Van Loan, 2013, "Matrix computations", section 8.7.)

>>> from gibbsppl.runtime.joint import drawn
>>> joint = Joint({"x": drawn((2,), [((0, 2),)])}, [("x", (0,), "x", (1,))])
>>> pencil = Pencil(joint, [({"x": -0.5}, [0.0]), ({"x": -1.0}, [1.0])])
>>> pencil.precision((1.0, 3.0)).round(12)
array([[[ 7., -3.],
        [-3.,  7.]]])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gibbsppl.runtime.joint import Joint
from gibbsppl.runtime.types import Constants, Floats, Generator, Numbers, State

# Coefficients of x**2 for each array, and those of each pair.
Fixed = tuple[Mapping[str, Numbers], Sequence[Numbers]]
# Coefficients of x for each array, and what multiplies each fixed matrix.
Scaled = tuple[Mapping[str, Numbers], Sequence[Numbers]]

EPSILON = float(np.finfo(float).eps)
# The least eigenvalue, relative to the largest, of which rounding leaves a quarter of the digits.
LEAST = EPSILON**0.75


class Pencil:
    """One or two fixed precision matrices, diagonalised together; blocks of one size each.

    If no weighted sum of the two that was tried is positive definite, all draws raise
    ``numpy.linalg.LinAlgError``, as of any matrix that is not.
    """

    def __init__(self, joint: Joint, fixed: Sequence[Fixed]) -> None:
        self.joint = joint
        self.arrays = joint.arrays
        shape = (*joint.layout.groups[0].shape, -1)
        matrices = [_stored(joint, part).reshape(shape) for part in fixed]
        self.matrices = matrices
        found = _diagonalised(matrices)
        self.rows: Floats | None = None
        self.diagonals: tuple[Floats, ...] = ()
        if found is not None:
            self.rows, self.diagonals = found

    def scaled(self, scales: Sequence[Numbers]) -> Floats:
        """The diagonal form of the precision, block by block."""
        pairs = zip(scales, self.diagonals, strict=True)
        total: Any = sum(float(s) * d for s, d in pairs) if self.rows is not None else np.zeros(1)
        if not (total > 0).all():
            raise np.linalg.LinAlgError("Matrix is not positive definite")
        return np.asarray(total)

    def precision(self, scales: Sequence[Numbers]) -> Floats:
        """The precision matrices, block by block."""
        diagonal = self.scaled(scales)
        assert self.rows is not None
        if self._factor(scales, diagonal) is not None:
            return self._sum(scales)
        columns = np.linalg.inv(self.rows)
        return (columns * diagonal[:, None, :]) @ columns.swapaxes(1, 2)

    def draw(self, rng: Generator, state: State, given: Scaled) -> dict[str, Numbers]:
        """The arrays, all of them drawn."""
        diagonal = self.scaled(given[1])
        z = rng.standard_normal(diagonal.size).reshape(diagonal.shape)
        return self.joint.placed(state, self._solved(given, diagonal, z))

    def mean(self, state: State, given: Scaled) -> dict[str, Numbers]:
        """The arrays at their means."""
        diagonal = self.scaled(given[1])
        return self.joint.placed(state, self._solved(given, diagonal, np.zeros(diagonal.shape)))

    def normal(self, rng: Generator, state: State, given: Scaled) -> tuple[Floats, Floats]:
        """The mean of the elements drawn, and a draw less the mean."""
        del state
        diagonal = self.scaled(given[1])
        z = rng.standard_normal(diagonal.size).reshape(diagonal.shape)
        nothing: Scaled = dict.fromkeys(given[0], 0.0), given[1]
        mean = self._solved(given, diagonal, np.zeros(diagonal.shape))
        return mean, self._solved(nothing, diagonal, z)

    def _solved(self, given: Scaled, diagonal: Floats, z: Floats) -> Floats:
        """The elements drawn, as far from their means as standard normals say."""
        joint, rows = self.joint, self.rows
        assert rows is not None
        right = joint.flat(given[0])
        right = right if joint.in_order else right[joint.order]
        factor = self._factor(given[1], diagonal)
        if factor is not None:
            half = np.linalg.solve(factor, right.reshape(*diagonal.shape, 1)) + z[..., None]
            whole: Floats = np.linalg.solve(factor.swapaxes(1, 2), half)
            return self._back(whole)
        noise = z * np.sqrt(diagonal)
        if len(rows) == 1:  # (stacks of one matrix cost more than a matrix)
            found: Floats = ((rows[0] @ right + noise) / diagonal) @ rows[0]
            return found[0] if joint.in_order else self._back(found)
        along = ((rows @ right.reshape(*diagonal.shape, 1))[..., 0] + noise) / diagonal
        return self._back(along[:, None, :] @ rows)

    def _sum(self, scales: Sequence[Numbers]) -> Floats:
        total: Floats = sum(float(s) * m for s, m in zip(scales, self.matrices, strict=True))  # type: ignore[assignment]  # not the 0 of no terms
        return total

    def _factor(self, scales: Sequence[Numbers], diagonal: Floats) -> Floats | None:
        """The Cholesky factors, where elements are too far apart in size for common rows.

        None where the matrix is ill-conditioned even after scaling to a unit diagonal: then only
        the rows know the directions nearly common to all elements.
        """
        if (diagonal.min(axis=1) > EPSILON * diagonal.max(axis=1)).all():
            return None
        total = self._sum(scales)
        units = np.sqrt(total.diagonal(axis1=1, axis2=2))
        if not (units > 0).all():
            return None
        own = total / units[:, :, None] / units[:, None, :]
        if not np.linalg.eigvalsh(own).min() > own.shape[1] * LEAST:
            return None
        factor: Floats = units[:, :, None] * np.linalg.cholesky(own)
        return factor

    def _back(self, found: Floats) -> Floats:
        """Values in the order of the elements."""
        return found.ravel()[self.joint.rank]


def pencil_in(constants: Constants, step: str) -> Pencil:
    """The pencil of the joint draw of a step, by its name, among what a program computed once."""
    found = (c for c in constants.values() if isinstance(c, Pencil))
    return next(c for c in found if c.joint.called == step)


def _stored(joint: Joint, fixed: Fixed) -> Floats:
    squares, pairs = fixed
    own = {name: (0.0, value) for name, value in squares.items()}
    return joint.assembled(joint.zeros, (own, pairs))[1]


def _diagonalised(matrices: Sequence[Floats]) -> tuple[Floats, tuple[Floats, ...]] | None:
    """Rows that diagonalise all matrices, and the diagonals.

    Elements are scaled first, so that the sizes of covariates do not affect the condition number.
    """
    units = _units(matrices)
    matrices = [m * units[:, :, None] * units[:, None, :] for m in matrices]
    found = _lower(matrices)
    if found is None:
        return None
    lower, other = found
    # Another matrix about the positive definite one: L^-1 B L^-T = V diag V'.
    half = np.linalg.solve(lower, other)
    about = np.linalg.solve(lower, half.swapaxes(1, 2))
    _, vectors = np.linalg.eigh((about + about.swapaxes(1, 2)) / 2)
    rows = np.linalg.solve(lower.swapaxes(1, 2), vectors).swapaxes(1, 2)
    diagonals = tuple(((rows @ m) * rows).sum(axis=2) for m in matrices)
    return np.ascontiguousarray(rows * units[:, None, :]), diagonals


def _units(matrices: Sequence[Floats]) -> Floats:
    """Scales that give the sum of all matrices, each of size 1, a unit diagonal."""
    sizes = (np.abs(m).max(initial=0.0) or 1.0 for m in matrices)
    diagonals = (m.diagonal(axis1=1, axis2=2) / s for m, s in zip(matrices, sizes, strict=True))
    total = np.sum([*diagonals], axis=0)
    return np.asarray(1 / np.sqrt(np.where(total > 0, total, 1.0)))


def _lower(matrices: Sequence[Floats]) -> tuple[Floats, Floats] | None:
    """The Cholesky factors of the best conditioned of: the sum, the first, the second matrix.

    Then another matrix than the factorised one (of two).
    """
    sizes = [np.abs(m).max(initial=0.0) or 1.0 for m in matrices]
    scaled = [m / s for m, s in zip(matrices, sizes, strict=True)]
    candidates = [(sum(scaled[1:], scaled[0]), -1), *((m, -1 - n) for n, m in enumerate(scaled))]
    best, found = 0.0, None
    for matrix, other in candidates:
        values = np.linalg.eigvalsh(matrix)
        low, high = values.min(initial=np.inf), values.max(initial=0.0)
        order = matrix.shape[1]
        if low > max(best, order * LEAST) * high:
            best, found = low / high, (np.linalg.cholesky(matrix), matrices[other])
    return found
