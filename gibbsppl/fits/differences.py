"""Derivatives by differences that are extrapolated to none, each with an estimate of its error."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

# The first difference, how much smaller each next one is, and how many there are.
FIRST, SHRINKING, MOST = 0.5, 1.4, 10


def derivative_of(function: Callable[[float], float], order: int) -> tuple[float, float]:
    """The first or second derivative at 0, and an estimate of its error.

    Differences on both sides have errors in even powers of their size, which smaller and smaller
    ones tell (C. J. F. Ridders, 1982, Advances in Engineering Software 4). The error is that of
    extrapolation, or of rounding where this is more.

    >>> slope, error = derivative_of(lambda t: np.sin(1 + t), 1)
    >>> bool(abs(slope - np.cos(1)) <= error < 1e-11)
    True
    """
    now, table = function(0.0), list[list[float]]()
    best, error = np.nan, np.inf
    for n in range(MOST):
        size = FIRST / SHRINKING**n
        above, below = function(size), function(-size)
        row = [(above - below) / (2 * size) if order == 1 else
               ((above - now) + (below - now)) / size**2]  # fmt: skip
        rounded = 4.0 * np.finfo(float).eps * max(map(abs, (above, now, below))) / size**order
        for k, before in enumerate(table[-1] if table else (), 1):
            power = SHRINKING ** (2 * k)
            row.append((power * row[-1] - before) / (power - 1))
            gap = max(abs(row[-1] - row[-2]), abs(row[-1] - before), rounded)
            if gap <= error:
                best, error = row[-1], gap
        table.append(row)
    return best, error
