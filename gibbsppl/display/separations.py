"""Positions on a line that are near to what they are tied to, and never closer than they may be.

Comes in: ties, pulled at by springs, and separations. Goes out: positions. It is a least-distance
problem, whose dual is one of non-negative least squares (C. L. Lawson and R. J. Hanson, 1974,
Solving Least Squares Problems, chapter 23).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import nnls

# A spring that holds everything, much weaker than any tie, so that there is one solution.
HELD = 1e-3

Tie = tuple[int, int, float]
Separation = tuple[int, int, float]


def settled(
    count: int, ties: Sequence[Tie], apart: Sequence[Separation], unit: float = 100.0
) -> np.ndarray:
    """The positions: least sum of ``weight * (x[a] - x[b])**2`` with ``x[b] - x[a] >= gap``.

    ``apart`` must have no circles. ``unit`` is of the order of the gaps.

    >>> settled(3, [(0, 1, 1.0), (0, 2, 1.0)], [(1, 2, 10.0)]).round(6).tolist()
    [0.0, -5.0, 5.0]
    """
    matrix = HELD * np.eye(count)
    for a, b, weight in ties:
        matrix[[a, b], [a, b]] += weight
        matrix[[a, b], [b, a]] -= weight
    factor = cholesky(matrix, lower=True)
    if not apart:
        return np.zeros(count)
    rows = np.zeros((len(apart), count))
    gaps = np.array([gap for *_, gap in apart]) / unit
    for row, (a, b, _) in zip(rows, apart, strict=True):
        row[a] -= 1
        row[b] += 1
    # With x = inverse(factor').y, the smallest y for which G y >= gaps.
    distances = solve_triangular(factor, rows.T, lower=True)
    dual = np.vstack([distances, gaps])
    aim = np.zeros(count + 1)
    aim[-1] = 1
    found, _ = nnls(dual, aim, maxiter=50 * len(apart))
    rest = dual @ found - aim
    position = solve_triangular(factor, -rest[:-1] / rest[-1], trans=1, lower=True)
    return _kept_apart(position * unit, apart)


def _kept_apart(position: np.ndarray, apart: Sequence[Separation]) -> np.ndarray:
    """The positions, moved by what rounding has left of separations."""
    moved = position.copy()
    for _ in range(len(moved)):
        before = moved.copy()
        for a, b, gap in apart:
            moved[b] = max(moved[b], moved[a] + gap)
        if (before == moved).all():
            break
    return moved
