"""Factors of positive definite matrices, in place, and what follows from them.

Rows are read from left to right. Of a symmetric matrix only the entries on and below the diagonal
are read.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gibbsppl.runtime.types import Floats, Ints

from . import kernel

APART: Mapping[str, str] = {}

# From so many columns on, a factor is found column by column.
LEAST_COLUMNS = 16
# An entry, a sum of thousands of products, is rounded by so much of the largest it may be.
ROUNDINGS = 4096 * float(np.finfo(float).eps)


@kernel
def cholesky(matrix: Floats) -> None:
    """The lower Cholesky factor in place of a matrix; entries above the diagonal stay."""
    if not factorised(matrix):
        raise ValueError("a precision matrix is not positive definite")


@kernel
def factorised(matrix: Floats) -> bool:
    """Whether a matrix is positive definite; its lower Cholesky factor in place of it, if so.

    Elements that are tied to no others, as weights are whose gates are shut, are left out of the
    matrix that is factorised.
    """
    size = len(matrix)
    if size < LEAST_COLUMNS:
        return _by_entries(matrix)
    tied = np.empty(size, np.int64)
    count = _tied(matrix, tied)
    if count == size:
        return _by_columns(matrix)
    for i in range(size):
        if not matrix[i, i] > 0.0:
            return False
    own = np.empty((count, count))
    for i in range(count):
        for j in range(i + 1):
            own[i, j] = matrix[tied[i], tied[j]]
    if not (_by_columns(own) if count >= LEAST_COLUMNS else _by_entries(own)):
        return False
    for i in range(size):
        matrix[i, i] = np.sqrt(matrix[i, i])
    for i in range(count):
        for j in range(i + 1):
            matrix[tied[i], tied[j]] = own[i, j]
    return True


@kernel
def _tied(matrix: Floats, tied: Ints) -> int:
    """The number of elements with entries off the diagonal, and (in a list) which these are.

    (A matrix without zeros is told by the first entry of each row.)
    """
    size = len(matrix)
    is_tied = np.zeros(size, np.bool_)
    for i in range(size):
        for j in range(i):
            if matrix[i, j] != 0.0:
                is_tied[i] = is_tied[j] = True
                break
    count = 0
    for i in range(size):
        count += is_tied[i]
    if count < size:
        for i in range(size):
            if is_tied[i]:
                for j in range(i):
                    is_tied[j] |= matrix[i, j] != 0.0
    count = 0
    for i in range(size):
        if is_tied[i]:
            tied[count] = i
            count += 1
    return count


@kernel
def _by_columns(matrix: Floats) -> bool:
    """The factor column by column, each less what four earlier ones take from it at a time.

    A column stands in a row of its own, from its last entry back to the diagonal: all loops then
    begin at the first entry of a row, and processors carry out several entries at a time.
    """
    size = len(matrix)
    last = size - 1
    columns = np.empty((size, size))
    for i in range(size):
        for j in range(i + 1):
            columns[j, last - i] = matrix[i, j]
    for i in range(size):
        whole = i - i % 4
        for k in range(0, whole, 4):
            a, b = columns[k, last - i], columns[k + 1, last - i]
            c, d = columns[k + 2, last - i], columns[k + 3, last - i]
            for t in range(size - i):
                columns[i, t] -= (
                    a * columns[k, t]
                    + b * columns[k + 1, t]
                    + c * columns[k + 2, t]
                    + d * columns[k + 3, t]
                )
        for k in range(whole, i):
            a = columns[k, last - i]
            for t in range(size - i):
                columns[i, t] -= a * columns[k, t]
        pivot = columns[i, last - i]
        if not pivot > 0.0:
            return False
        root = np.sqrt(pivot)
        for t in range(last - i):
            columns[i, t] /= root
        columns[i, last - i] = root
    for i in range(size):
        for j in range(i + 1):
            matrix[i, j] = columns[j, last - i]
    return True


@kernel
def _by_entries(matrix: Floats) -> bool:
    """The factor row by row, of a small matrix."""
    for i in range(len(matrix)):
        _left_of_diagonal(matrix, i)
        pivot = matrix[i, i]
        for k in range(i):
            pivot -= matrix[i, k] * matrix[i, k]
        if not pivot > 0.0:
            return False
        matrix[i, i] = np.sqrt(pivot)
    return True


@kernel
def _left_of_diagonal(matrix: Floats, i: int) -> None:
    """A row of the factor left of the diagonal, two entries at a time: two sums wait for less."""
    whole = i - i % 2
    for j in range(0, whole, 2):
        first, second = matrix[i, j], matrix[i, j + 1]
        for k in range(j):
            x = matrix[i, k]
            first -= x * matrix[j, k]
            second -= x * matrix[j + 1, k]
        first /= matrix[j, j]
        matrix[i, j] = first
        matrix[i, j + 1] = (second - first * matrix[j + 1, j]) / matrix[j + 1, j + 1]
    if whole < i:
        last = matrix[i, whole]
        for k in range(whole):
            last -= matrix[i, k] * matrix[whole, k]
        matrix[i, whole] = last / matrix[whole, whole]


@kernel
def forward(lower: Floats, right: Floats) -> None:
    """``L^-1 right``, in place of it."""
    for i in range(len(lower)):
        x = right[i]
        for j in range(i):
            x -= lower[i, j] * right[j]
        right[i] = x / lower[i, i]


@kernel
def backward(lower: Floats, right: Floats) -> None:
    """``L'^-1 right``, in place of it."""
    for i in range(len(lower) - 1, -1, -1):
        x = right[i] / lower[i, i]
        right[i] = x
        for j in range(i):
            right[j] -= lower[i, j] * x


@kernel
def forward_rows(lower: Floats, rows: Floats) -> None:
    """``L^-1 rows``, in place of a matrix."""
    count = rows.shape[1]
    if count == 1:
        forward(lower, rows.reshape(len(rows)))
        return
    for i in range(len(lower)):
        for j in range(i):
            for k in range(count):
                rows[i, k] -= lower[i, j] * rows[j, k]
        for k in range(count):
            rows[i, k] /= lower[i, i]


@kernel
def backward_rows(lower: Floats, rows: Floats) -> None:
    """``L'^-1 rows``, in place of a matrix."""
    count = rows.shape[1]
    for i in range(len(lower) - 1, -1, -1):
        for k in range(count):
            rows[i, k] /= lower[i, i]
        for j in range(i):
            for k in range(count):
                rows[j, k] -= lower[i, j] * rows[i, k]


@kernel
def certain_room(eta_2: Floats) -> float:
    """A lower bound of the least eigenvalue of ``-2 eta_2``, over the largest; 0 if none is known.

    In units that make the diagonal 1: eigenvalues add up to their number, and the least is more
    than 1 over the trace of the inverse. The matrix is overwritten.
    """
    size = len(eta_2)
    units = np.empty(size)
    for i in range(size):
        precision = -2.0 * eta_2[i, i]
        if not 0.0 < precision < np.inf:
            return 0.0
        units[i] = 1.0 / np.sqrt(precision)
    for i in range(size):
        for j in range(i + 1):
            eta_2[i, j] = -(eta_2[i, j] + eta_2[j, i]) * units[i] * units[j]
    if not factorised(eta_2):
        return 0.0
    return 1.0 / (_squares_of_inverse(eta_2) * size)


@kernel
def _squares_of_inverse(lower: Floats) -> float:
    """The sum of the squares of the entries of ``L^-1``."""
    size, total = len(lower), 0.0
    column = np.empty(size)
    for k in range(size):
        column[k] = 1.0 / lower[k, k]
        total += column[k] * column[k]
        for i in range(k + 1, size):
            x = 0.0
            for j in range(k, i):
                x -= lower[i, j] * column[j]
            column[i] = x / lower[i, i]
            total += column[i] * column[i]
    return total


@kernel
def logdet(matrix: Floats) -> float:
    """The log determinant of a positive definite matrix, which is overwritten; else NaN."""
    if not factorised(matrix):
        return np.nan
    total = 0.0
    for i in range(len(matrix)):
        total += np.log(matrix[i, i])
    return 2.0 * total


@kernel
def inverse(matrix: Floats, out: Floats) -> None:
    """The inverse of any matrix, which is overwritten, into ``out``; NaN for a singular one."""
    size = len(matrix)
    out[:] = 0.0
    for i in range(size):
        out[i, i] = 1.0
    for k in range(size):
        best = k
        for i in range(k + 1, size):
            if abs(matrix[i, k]) > abs(matrix[best, k]):
                best = i
        if not abs(matrix[best, k]) > 0.0:
            out[:] = np.nan
            return
        _exchange(matrix, out, k, best)
        _eliminate(matrix, out, k)
    for k in range(size - 1, -1, -1):
        for j in range(k + 1, size):
            for column in range(size):
                out[k, column] -= matrix[k, j] * out[j, column]
        for column in range(size):
            out[k, column] /= matrix[k, k]


@kernel
def solution(matrix: Floats, right: Floats, out: Floats) -> None:
    """What a matrix, which is overwritten, times ``out`` makes ``right`` of; NaN if it is singular.

    By the Cholesky factor of a matrix that is symmetric and positive definite, else by the inverse.
    """
    size = len(matrix)
    whole = matrix.copy()
    if _is_symmetric(matrix) and factorised(matrix):
        for i in range(size):
            out[i] = right[i]
        forward(matrix, out)
        backward(matrix, out)
        return
    inverse(whole, matrix)
    for i in range(size):
        out[i] = 0.0
        for j in range(size):
            out[i] += matrix[i, j] * right[j]


@kernel
def _is_symmetric(matrix: Floats) -> bool:
    """Whether a matrix is its own mirror image, but for rounding."""
    for i in range(len(matrix)):
        for j in range(i):
            # (no entry of a definite matrix is larger than the root)
            least = ROUNDINGS * np.sqrt(abs(matrix[i, i] * matrix[j, j]))
            if not abs(matrix[i, j] - matrix[j, i]) <= least:
                return False
    return True


@kernel
def _exchange(matrix: Floats, right: Floats, i: int, j: int) -> None:
    """Two rows exchanged, in place, in both sides of linear equations."""
    if i != j:
        for k in range(len(matrix)):
            matrix[i, k], matrix[j, k] = matrix[j, k], matrix[i, k]
            right[i, k], right[j, k] = right[j, k], right[i, k]


@kernel
def _eliminate(matrix: Floats, right: Floats, k: int) -> None:
    """Zeros below a pivot, in place: that multiple of its row is taken from each row."""
    size = len(matrix)
    for i in range(k + 1, size):
        share = matrix[i, k] / matrix[k, k]
        if share != 0.0:
            for j in range(k + 1, size):
                matrix[i, j] -= share * matrix[k, j]
            for j in range(size):
                right[i, j] -= share * right[k, j]


@kernel
def inverse_of_factor(lower: Floats, out: Floats) -> None:
    """The inverse of ``L L'``, into ``out``."""
    size = len(lower)
    out[:] = 0.0
    for i in range(size):
        out[i, i] = 1.0
    forward_rows(lower, out)
    backward_rows(lower, out)
    for i in range(size):
        for j in range(i):
            out[j, i] = out[i, j]


@kernel
def forward_numbers(filled: Floats, x: Floats, side: Floats) -> bool:
    """Blocks of one element: factors, and ``L^-1`` times what is beside them, in place of all.

    False where one is not positive definite.
    """
    for i in range(len(filled)):
        if not filled[i] > 0.0:
            return False
    for i in range(len(filled)):
        filled[i] = np.sqrt(filled[i])
        x[i] /= filled[i]
        for k in range(side.shape[1]):
            side[i, k] /= filled[i]
    return True


@kernel
def forward_pairs(filled: Floats, x: Floats, side: Floats) -> bool:
    """The same of blocks of two elements."""
    for i in range(len(filled) // 4):
        first = np.sqrt(filled[4 * i])
        below = filled[4 * i + 2] / first
        pivot = filled[4 * i + 3] - below * below
        if not (first > 0.0 and pivot > 0.0):
            return False
        second = np.sqrt(pivot)
        filled[4 * i], filled[4 * i + 2], filled[4 * i + 3] = first, below, second
        x[2 * i] /= first
        x[2 * i + 1] = (x[2 * i + 1] - below * x[2 * i]) / second
        for k in range(side.shape[1]):
            side[2 * i, k] /= first
            side[2 * i + 1, k] = (side[2 * i + 1, k] - below * side[2 * i, k]) / second
    return True
