"""Values as coordinates without bounds, and back: numbers, simplexes, positive definite matrices.

Comes in: a vector of the values of some arrays, and a table of what they are, with a row for each
run of numbers, each simplex and each matrix. Goes out: the vector of coordinates, the values at
coordinates, and the slopes of a log density by coordinates, of which those by values are known.

- A number has the coordinate of `gibbsppl.runtime.loops.walks`: itself, the log of its distance
  from a bound, or the logit.
- A simplex of k shares has k - 1: the contrasts of the logs of its shares, the mean of the first j
  less the next, in units in which these are orthonormal (isometric log-ratios: J. J. Egozcue and
  others, 2003, Mathematical Geology 35). All shares are alike in them.
- A positive definite matrix of p rows has p (p + 1) / 2: the entries of its lower Cholesky factor,
  row by row, those of the diagonal by their logs (J. C. Pinheiro and D. M. Bates, 1996, Statistics
  and Computing 6).
"""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, inf, log, sqrt, tanh

import numpy as np

from gibbsppl.runtime.types import Floats, Ints

from . import kernel
from .elementary import exp_of, log_of
from .matrices import factorised
from .walks import from_line, log_slope, to_line

APART: Mapping[str, str] = {}

# Columns of a table: what the values are; the places of their first value, and of their first
# coordinate; how many numbers, shares, or rows of a matrix there are.
KIND, VALUE, COORDINATE, SIZE = 0, 1, 2, 3
COLUMNS = 4
NUMBERS, SIMPLEX, MATRIX = 0, 1, 2


@kernel
def to_coordinates(table: Ints, x: Floats, lower: Floats, upper: Floats, u: Floats) -> bool:
    """Put the coordinates of values into ``u``; whether they have some: matrices must be definite.

    Bounds are those of numbers; simplexes and matrices have none besides what they are.
    """
    for r in range(len(table)):
        first, at, size = table[r, VALUE], table[r, COORDINATE], table[r, SIZE]
        if table[r, KIND] == NUMBERS:
            for i in range(size):
                u[at + i] = to_line(x[first + i], lower[first + i], upper[first + i])
        elif table[r, KIND] == SIMPLEX:
            logs = np.empty(size)
            for i in range(size):
                logs[i] = log_of(x[first + i])
            _contrasts(logs, u, at)
        elif not _matrix_to_coordinates(x, first, size, u, at):
            return False
    return True


@kernel
def from_coordinates(table: Ints, u: Floats, lower: Floats, upper: Floats, x: Floats) -> None:
    """Put the values that have coordinates into ``x``."""
    for r in range(len(table)):
        first, at, size = table[r, VALUE], table[r, COORDINATE], table[r, SIZE]
        if table[r, KIND] == NUMBERS:
            for i in range(size):
                x[first + i] = from_line(u[at + i], lower[first + i], upper[first + i])
        elif table[r, KIND] == SIMPLEX:
            logs = np.empty(size)
            _log_shares(u, at, logs)
            for i in range(size):
                x[first + i] = exp(logs[i])
        else:
            factor = np.empty((size, size))
            _factor(u, at, factor)
            for i in range(size):
                for j in range(i + 1):
                    entry = 0.0
                    for k in range(j + 1):
                        entry += factor[i, k] * factor[j, k]
                    x[first + i * size + j] = entry
                    x[first + j * size + i] = entry


@kernel
def slopes_by_coordinates(
    table: Ints,
    u: Floats,
    lower: Floats,
    upper: Floats,
    are_bounded: bool,
    gradient: Floats,
    slopes: Floats,
) -> float:
    """Put the slopes of the log density of coordinates into ``slopes``; the log of the Jacobian.

    ``gradient`` has the partial derivatives of the log density of values, whose density by
    coordinates is larger by the Jacobian.
    """
    found = 0.0
    for r in range(len(table)):
        first, at, size = table[r, VALUE], table[r, COORDINATE], table[r, SIZE]
        if table[r, KIND] == SIMPLEX:
            found += _slopes_of_shares(u, at, gradient, first, size, slopes)
        elif table[r, KIND] == MATRIX:
            found += _slopes_of_matrix(u, at, gradient, first, size, slopes)
        elif are_bounded:
            found += _slopes_of_numbers(
                u, at, lower, upper, gradient, first, size, slopes
            )
        else:
            for i in range(size):
                slopes[at + i] = gradient[first + i]
    return found


# Numbers


@kernel
def _slopes_of_numbers(  # noqa: PLR0913, PLR0917
    u: Floats,
    at: int,
    lower: Floats,
    upper: Floats,
    gradient: Floats,
    first: int,
    size: int,
    slopes: Floats,
) -> float:
    """The slopes of numbers, some of which have bounds; the log of the Jacobian."""
    found = 0.0
    for i in range(size):
        low, high = lower[first + i], upper[first + i]
        grown = log_slope(u[at + i], low, high)
        slope = gradient[first + i] * exp_of(grown)
        if low == -inf:
            slope += 0.0 if high == inf else -1.0
        else:
            slope += 1.0 if high == inf else -tanh(u[at + i] / 2)
        slopes[at + i] = slope
        found += grown
    return found


# Simplexes


@kernel
def _contrasts(values: Floats, u: Floats, at: int) -> None:
    """The mean of the first j values less the next, of each j, in units of equal length."""
    total = 0.0
    for j in range(1, len(values)):
        total += values[j - 1]
        u[at + j - 1] = sqrt(j / (j + 1.0)) * (total / j - values[j])


@kernel
def _log_shares(u: Floats, at: int, logs: Floats) -> None:
    """The logs of the shares whose logs have given contrasts."""
    size, above = len(logs), 0.0
    for j in range(size - 1, 0, -1):
        contrast = u[at + j - 1]
        logs[j] = above - sqrt(j / (j + 1.0)) * contrast
        above += contrast / sqrt(j * (j + 1.0))
    logs[0] = above
    most, total = -inf, 0.0
    for i in range(size):
        most = max(most, logs[i])
    for i in range(size):
        total += exp(logs[i] - most)
    for i in range(size):
        logs[i] -= most + log(total)


@kernel
def _slopes_of_shares(
    u: Floats, at: int, gradient: Floats, first: int, size: int, slopes: Floats
) -> float:
    """The slopes of a simplex; the log of the Jacobian, the product of all shares."""
    logs = np.empty(size)
    _log_shares(u, at, logs)
    found, mean = log(float(size)) / 2, 0.0
    for i in range(size):
        found += logs[i]
        mean += exp(logs[i]) * gradient[first + i]
    for i in range(size):
        logs[i] = exp(logs[i]) * (gradient[first + i] - mean - size)
    _contrasts(logs, slopes, at)
    return found


# Matrices


@kernel
def _matrix_to_coordinates(x: Floats, first: int, size: int, u: Floats, at: int) -> bool:
    """The entries of the factor of a matrix, row by row; whether there is one."""
    matrix = np.empty((size, size))
    for i in range(size):
        for j in range(size):
            matrix[i, j] = x[first + i * size + j]
    if not factorised(matrix):
        return False
    place = at
    for i in range(size):
        for j in range(i + 1):
            u[place] = log_of(matrix[i, i]) if i == j else matrix[i, j]
            place += 1
    return True


@kernel
def _factor(u: Floats, at: int, factor: Floats) -> None:
    """The lower Cholesky factor at coordinates, on and below the diagonal."""
    place = at
    for i in range(len(factor)):
        for j in range(i + 1):
            factor[i, j] = exp_of(u[place]) if i == j else u[place]
            place += 1


@kernel
def _slopes_of_matrix(
    u: Floats, at: int, gradient: Floats, first: int, size: int, slopes: Floats
) -> float:
    """The slopes of a matrix; the log of the Jacobian.

    Of ``S = L L'`` it is ``2**p`` times the product of ``L[i, i]**(p - i)``, counted from 0, once
    more each ``L[i, i]`` by its log.
    """
    factor = np.empty((size, size))
    _factor(u, at, factor)
    found, place = size * log(2.0), at
    for i in range(size):
        for j in range(i + 1):
            slope = 0.0
            for k in range(j, size):
                both = gradient[first + i * size + k] + gradient[first + k * size + i]
                slope += both * factor[k, j]
            slopes[place] = slope
            place += 1
        slopes[place - 1] = slopes[place - 1] * factor[i, i] + size - i + 1.0
        found += (size - i + 1.0) * u[place - 1]
    return found
