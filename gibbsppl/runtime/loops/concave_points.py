"""Points of one concave function in an array of numbers, sorted, and the array's layout.

They are kept here between two evaluations of the log density. Where no point is found, functions
return nan.
"""

from __future__ import annotations

from math import inf

import numpy as np

from gibbsppl.errors import RunError
from gibbsppl.runtime.chords import FLOATS, NOT_CONCAVE, PATIENCE, ROUNDING, ROUNDS, STEEPEST, UNIT
from gibbsppl.runtime.types import Floats

from . import kernel

# Numbers: the place of the log density asked for, or the draw; and the log density there.
ASKED, FOUND = 0, 1
# The ends of the support, and where the search for a first point starts and how far out it is.
LOWER, UPPER, START, STEP, SIDE = 2, 3, 4, 5, 6
# What comes next; how many points are known, how many rounds done; the candidate's level in the
# slice below the hull, and the hull there.
STAGE, NUMBER, DONE, LEVEL, HEIGHT = 7, 8, 9, 10, 11
# Of the hull: where its pieces end, the highest log density, the integrals of the chords and of it.
BEHIND, HIGHEST, CHORDS, MASS = 18, 13, 14, 15
# How wide the density is thought to be (0 if that is not known); candidates below four points.
SCALE, CANDIDATE = 16, 17
# How far the draw is from the start (where slices have it, too).
DISTANCE = 12
# Each round adds a point at most.
ROOM = ROUNDS + 4
# Points, log densities, and these in other units; heights above the highest, their exponentials.
X = 19
F, IN_UNITS, ABOVE, EXPONENTIAL = X + ROOM, X + 2 * ROOM, X + 3 * ROOM, X + 4 * ROOM
# Bounds on the slopes between points.
STEEP, FLATTER = X + 5 * ROOM, X + 6 * ROOM
# Pieces of the hull, so many numbers each.
PIECE, OF_PIECE = X + 7 * ROOM, 7
SIZE = PIECE + OF_PIECE * 2 * ROOM

NOT_CONCAVE_THERE = "the log density is not concave: a chord between two points is above it."


@kernel
def at(work: Floats, i: int) -> float:
    """The number at a place, one of Python's own: NumPy's warn where they overflow."""
    return float(work[i])


@kernel
def spacing(x: float) -> float:
    """The distance from a number to the next float."""
    return float(np.spacing(abs(x)))


@kernel
def highest_of(work: Floats, f: int, n: int) -> float:
    """The highest of so many log densities that begin at ``f``."""
    highest = at(work, f)
    for i in range(1, n):
        highest = max(highest, at(work, f + i))
    return highest


@kernel
def unit_of(work: Floats, done: int) -> float:
    """The least difference of height that can be known: 1, or more if heights are very large."""
    doubled = 1.0 if done < PATIENCE else 2.0 ** (done // PATIENCE)
    return max(1.0, UNIT * doubled * abs(highest_of(work, F, int(work[NUMBER]))))


@kernel
def after(work: Floats, x: float) -> int:
    """The position of the first point that is not below a place."""
    low, high = 0, int(work[NUMBER])
    while low < high:
        middle = (low + high) // 2
        if at(work, X + middle) < x:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def take_in(work: Floats, x: float, log_density: float) -> None:
    """Insert a point with its log density; at -inf the support ends before the point."""
    n, i = int(work[NUMBER]), after(work, x)
    if log_density == -inf or _is_at_a_cliff(work, x, log_density, i):
        _end_at(work, x, i)
    elif i == n or at(work, X + i) != x:
        for k in range(n, i, -1):
            work[X + k] = work[X + k - 1]
            work[F + k] = work[F + k - 1]
        work[X + i] = x
        work[F + i] = log_density
        work[NUMBER] = n + 1
        for middle in range(max(i - 1, 1), min(i + 2, n)):
            _require_concave(work, middle)


@kernel
def _is_at_a_cliff(work: Floats, x: float, log_density: float, i: int) -> bool:
    """Whether a place beyond all points is too far down for slopes."""
    n = int(work[NUMBER])
    if n == 0 or 0 < i < n:
        return False
    near = 0 if i == 0 else n - 1
    return at(work, F + near) - log_density > STEEPEST * abs(x - at(work, X + near))


@kernel
def _end_at(work: Floats, x: float, i: int) -> None:
    if 0 < i < int(work[NUMBER]):
        raise RunError(NOT_CONCAVE_THERE)
    if i > 0:
        work[UPPER] = min(x, at(work, UPPER))
    else:
        work[LOWER] = max(x, at(work, LOWER))


@kernel
def _require_concave(work: Floats, i: int) -> None:
    """Raise an error if a point is below the chord of its neighbours."""
    x0, x1, x2 = at(work, X + i - 1), at(work, X + i), at(work, X + i + 1)
    f0, f1, f2 = at(work, F + i - 1), at(work, F + i), at(work, F + i + 1)
    left, right = f0 * ((x2 - x1) / (x2 - x0)), f2 * ((x1 - x0) / (x2 - x0))
    below = left + right - f1
    if below > NOT_CONCAVE * (1 + abs(f1) + abs(left) + abs(right)):
        slope = max(abs((f1 - f0) / (x1 - x0)), abs((f2 - f1) / (x2 - x1)))
        if not below <= FLOATS * spacing(x1) * slope:
            raise RunError(NOT_CONCAVE_THERE)


@kernel
def chord_at(work: Floats, x: float) -> float:
    """The chord below the log density, -inf outside of the points."""
    i = after(work, x)
    if not 0 < i < int(work[NUMBER]):
        return -inf
    a, b, fa, fb = at(work, X + i - 1), at(work, X + i), at(work, F + i - 1), at(work, F + i)
    left, right = fa * ((b - x) / (b - a)), fb * ((x - a) / (b - a))
    return left + right - ROUNDING * (1 + abs(left) + abs(right))
