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
    extrapolation, or of rounding where this is more: by how much the function bends so near to 0
    that it is straight.

    >>> slope, error = derivative_of(lambda t: np.sin(1 + t), 1)
    >>> bool(abs(slope - np.cos(1)) <= error < 1e-11)
    True
    """
    now, table = function(0.0), list[list[tuple[float, float]]]()
    tiny = np.sqrt(np.finfo(float).eps) * np.arange(1, MOST)
    noise = max(abs((function(t) - now) + (function(-t) - now)) for t in tiny)
    noise = max(noise, float(np.spacing(abs(now))))
    best, error = np.nan, np.inf
    for n in range(MOST):
        size = FIRST / SHRINKING**n
        above, below = function(size), function(-size)
        first = (above - below) / 2 if order == 1 else (above - now) + (below - now)
        if not np.isfinite(first):  # (outside of where the function has values)
            table.clear()
            continue
        row = [(first / size**order, noise / size**order)]
        for k, (before, its_noise) in enumerate(table[-1] if table else (), 1):
            power, (last, own_noise) = SHRINKING ** (2 * k), row[-1]
            found = (power * last - before) / (power - 1)
            rounding = (power * own_noise + its_noise) / (power - 1)
            row.append((found, rounding))
            gap = max(abs(found - last), abs(found - before), rounding)
            if gap <= error:
                best, error = found, gap
        table.append(row)
    return best, error
