"""Factors of precision matrices: solutions, and noise whose covariance is the matrix itself.

With ``Q = A`` inside a border, ``A^-1 (h + noise)`` is a draw from ``N(A^-1 h, A^-1)``, since noise
has covariance ``A`` (G. Papandreou and A. Yuille, 2010, "Gaussian sampling by local
perturbations").
A matrix that is not positive definite raises ``numpy.linalg.LinAlgError``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any, Protocol

import numpy as np

from gibbsppl.runtime.layouts import Layout
from gibbsppl.runtime.types import Floats, Ints

# From this many systems on, substitution over the batch beats LAPACK's LU of each system.
MANY_SYSTEMS = 200


class Factor(Protocol):
    """A factorised positive definite matrix."""

    def solve(self, right: Floats) -> Floats:
        """The solutions for columns of right sides, of shape (order, columns)."""

    def noise(self, z: Floats) -> Floats:
        """Columns whose covariance is the matrix, from standard normal ones."""


class Storage(Protocol):
    """How the entries of a matrix are stored, and factorised."""

    @property
    def size(self) -> int:
        """The number of entries stored."""

    def slots(self, row: Ints, column: Ints) -> tuple[Ints, Ints]:
        """The places in storage, each with the number of its entry; some entries have two."""

    def factor(self, stored: Floats) -> Factor:
        """The factor of a matrix."""


def storage_of(layout: Layout, first: Ints, second: Ints) -> Storage:
    """The storage of the matrix inside the border, with some off-diagonal entries."""
    if layout.kind == "band":
        return Band(layout.groups[0].size, layout.width)
    if layout.kind == "sparse":
        return sparse_of(layout.groups[0].size, first, second)
    return BlockDiagonal(tuple((g.shape[0], g.shape[1]) for g in layout.groups))


@dataclass(frozen=True, slots=True)
class BlockDiagonal:
    """Dense blocks along the diagonal; ``shapes`` has number and order of those of one order."""

    shapes: tuple[tuple[int, int], ...]

    @property
    def size(self) -> int:
        """The number of entries stored."""
        return sum(count * order**2 for count, order in self.shapes)

    def slots(self, row: Ints, column: Ints) -> tuple[Ints, Ints]:
        """Both entries of a symmetric pair are stored."""
        apart = np.flatnonzero(row != column)
        entry = np.concatenate([np.arange(len(row)), apart])
        i = np.concatenate([row, column[apart]])
        j = np.concatenate([column, row[apart]])
        slot = np.zeros(len(i), dtype=np.intp)
        start = offset = 0
        for count, order in self.shapes:
            own = (i >= start) & (i < start + count * order)
            block, k = np.divmod(i[own] - start, max(order, 1))
            slot[own] = offset + (block * order + k) * order + (j[own] - start) % max(order, 1)
            start += count * order
            offset += count * order**2
        return slot, entry

    def factor(self, stored: Floats) -> Factor:
        """The Cholesky factors, one batch for each order."""
        if len(self.shapes) == 1:
            ((count, order),) = self.shapes
            return factor_of(stored.reshape(count, order, order))
        parts, offset = [], 0
        for count, order in self.shapes:
            end = offset + count * order**2
            matrices = stored[offset:end].reshape(count, order, order)
            parts.append(factor_of(matrices))
            offset = end
        return _Several(tuple(parts), self.shapes)


def factor_of(matrices: Floats) -> Factor:
    """The Cholesky factors of a batch of matrices."""
    count, order = matrices.shape[:2]
    if order == 1:
        return _Diagonal(_positive(matrices.ravel()))
    if count == 1:
        lower, failed = _lapack().dpotrf(matrices[0].T, lower=1)
        if failed:
            raise np.linalg.LinAlgError("Matrix is not positive definite")
        return _Dense(lower)
    return _Batch(matrices, np.asarray(np.linalg.cholesky(matrices)))


def _positive(diagonal: Floats) -> Floats:
    if not (diagonal > 0).all():
        raise np.linalg.LinAlgError("Matrix is not positive definite")
    return diagonal


@dataclass(frozen=True, slots=True)
class _Diagonal:
    values: Floats

    def solve(self, right: Floats) -> Floats:
        return right / self.values[:, None]

    def noise(self, z: Floats) -> Floats:
        return np.sqrt(self.values)[:, None] * z


@dataclass(frozen=True, slots=True)
class _Dense:
    lower: Floats

    def solve(self, right: Floats) -> Floats:
        return np.asarray(_lapack().dpotrs(self.lower, right, lower=1)[0])

    def noise(self, z: Floats) -> Floats:
        # (dpotrf clears what is above the diagonal. BLAS has a product for triangles, for which
        # OpenBLAS starts threads however small they are: milliseconds where cores are busy.)
        return np.asarray(self.lower @ z)


@dataclass(frozen=True, slots=True)
class _Batch:
    matrices: Floats
    lower: Floats

    def solve(self, right: Floats) -> Floats:
        count, order = self.matrices.shape[:2]
        columns = right.reshape(count, order, -1)
        if count < MANY_SYSTEMS:
            return np.asarray(np.linalg.solve(self.matrices, columns)).reshape(right.shape)
        return _substituted(self.lower, columns).reshape(right.shape)

    def noise(self, z: Floats) -> Floats:
        count, order = self.matrices.shape[:2]
        return (self.lower @ z.reshape(count, order, -1)).reshape(z.shape)


def _substituted(L: Floats, right: Floats) -> Floats:
    """``L'^-1 L^-1 right``, row by row for all systems at once."""
    x = np.empty(right.shape)
    order = L.shape[-1]
    for k in range(order):
        known = np.einsum("nl,nlr->nr", L[:, k, :k], x[:, :k])
        x[:, k] = (right[:, k] - known) / L[:, k, k, None]
    for k in reversed(range(order)):
        known = np.einsum("nl,nlr->nr", L[:, k + 1 :, k], x[:, k + 1 :])
        x[:, k] = (x[:, k] - known) / L[:, k, k, None]
    return x


@dataclass(frozen=True, slots=True)
class _Several:
    parts: tuple[Factor, ...]
    shapes: tuple[tuple[int, int], ...]

    def _split(self, rows: Floats) -> list[Floats]:
        ends = np.cumsum([count * order for count, order in self.shapes])
        return np.split(rows, ends[:-1])

    def solve(self, right: Floats) -> Floats:
        pairs = zip(self.parts, self._split(right), strict=True)
        return np.concatenate([part.solve(rows) for part, rows in pairs])

    def noise(self, z: Floats) -> Floats:
        pairs = zip(self.parts, self._split(z), strict=True)
        return np.concatenate([part.noise(rows) for part, rows in pairs])


@dataclass(frozen=True, slots=True)
class Band:
    """A band of a width below the diagonal."""

    order: int
    width: int

    @property
    def size(self) -> int:
        """The number of entries stored."""
        return self.order * (self.width + 1)

    def slots(self, row: Ints, column: Ints) -> tuple[Ints, Ints]:
        """The entry below the diagonal is stored, column by column."""
        low, high = np.minimum(row, column), np.maximum(row, column)
        return low * (self.width + 1) + high - low, np.arange(len(row))

    def factor(self, stored: Floats) -> Factor:
        """The Cholesky factor, which has the same band."""
        columns = stored.reshape(self.order, self.width + 1)
        found: _Tridiagonal | _Banded
        if self.width == 1 < self.order:
            diagonal, below, failed = _lapack().dpttrf(columns[:, 0], columns[:-1, 1])
            found = _Tridiagonal(diagonal, below)
        else:
            lower, failed = _lapack().dpbtrf(columns.T, lower=1)
            found = _Banded(lower)
        if failed:
            raise np.linalg.LinAlgError("Matrix is not positive definite")
        return found


@dataclass(frozen=True, slots=True)
class _Tridiagonal:
    """``L D L'`` with a unit diagonal in L: half to a third of the time that ``_Banded`` takes."""

    diagonal: Floats
    below: Floats

    def solve(self, right: Floats) -> Floats:
        return np.asarray(_lapack().dpttrs(self.diagonal, self.below, right)[0])

    def noise(self, z: Floats) -> Floats:
        found: Floats = np.sqrt(self.diagonal)[:, None] * z
        found[1:] += self.below[:, None] * found[:-1]
        return found


@dataclass(frozen=True, slots=True)
class _Banded:
    lower: Floats

    def solve(self, right: Floats) -> Floats:
        return np.asarray(_lapack().dpbtrs(self.lower, right, lower=1)[0])

    def noise(self, z: Floats) -> Floats:
        found: Floats = self.lower[0, :, None] * z
        for d in range(1, len(self.lower)):
            found[d:] += self.lower[d, :-d, None] * z[:-d]
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Sparse:
    """A sparse matrix by columns; ``keys`` are column times order plus row."""

    order: int
    keys: Ints
    starts: Ints

    @property
    def size(self) -> int:
        """The number of entries stored."""
        return len(self.keys)

    def slots(self, row: Ints, column: Ints) -> tuple[Ints, Ints]:
        """Both entries of a symmetric pair are stored."""
        apart = np.flatnonzero(row != column)
        entry = np.concatenate([np.arange(len(row)), apart])
        i = np.concatenate([row, column[apart]])
        j = np.concatenate([column, row[apart]])
        return np.searchsorted(self.keys, j * self.order + i), entry

    def factor(self, stored: Floats) -> Factor:
        """``P' L D L' P`` by SuperLU in symmetric mode: SciPy has no sparse Cholesky factor."""
        try:
            lu = self.eliminated(stored)
        except RuntimeError as error:  # (SuperLU's word for a singular matrix)
            raise np.linalg.LinAlgError("Matrix is not positive definite") from error
        if not np.array_equal(lu.perm_r, lu.perm_c):
            raise np.linalg.LinAlgError("Matrix is not positive definite")
        return _SparseFactor(lu, np.sqrt(_positive(lu.U.diagonal())))

    def eliminated(self, stored: Floats) -> Any:
        """A matrix as SuperLU eliminates it: in an order that follows from its places alone."""
        from scipy.sparse import csc_matrix  # noqa: PLC0415
        from scipy.sparse.linalg import splu  # noqa: PLC0415

        rows = self.keys % max(self.order, 1)
        return splu(
            csc_matrix((stored, rows, self.starts), shape=(self.order, self.order)),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )


def sparse_of(order: int, first: Ints, second: Ints) -> Sparse:
    """The storage of a diagonal and entries at positions off it."""
    diagonal = np.arange(order)
    i = np.concatenate([diagonal, first, second])
    j = np.concatenate([diagonal, second, first])
    keys = np.unique(j * order + i)
    return Sparse(order, keys, np.searchsorted(keys, np.arange(order + 1) * order))


@dataclass(frozen=True, slots=True, eq=False)
class _SparseFactor:
    lu: Any  # SciPy's, of SuperLU
    scale: Floats

    def solve(self, right: Floats) -> Floats:
        return np.asarray(self.lu.solve(right))

    def noise(self, z: Floats) -> Floats:
        return np.asarray((self.lu.L @ (self.scale[:, None] * z))[self.lu.perm_r])


@cache
def _lapack() -> ModuleType:
    """LAPACK; scipy.linalg takes long to import, so only here."""
    from scipy.linalg import lapack  # noqa: PLC0415

    return lapack
