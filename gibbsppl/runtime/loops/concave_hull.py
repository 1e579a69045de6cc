"""Hulls of lines above one concave function, piece by piece, and draws from them.

As in `gibbsppl.runtime.concave_one`; the layout of the array is that of `concave_points`.
"""

from __future__ import annotations

from math import exp, expm1, inf, log1p

import numpy as np

from gibbsppl.runtime.chords import FLAT, RAISED, ROUNDING
from gibbsppl.runtime.types import Floats, Generator

from . import kernel
from .concave_points import (
    CHORDS,
    ERROR,
    FLATTER,
    HIGHEST,
    LOWER,
    MASS,
    NUMBER,
    OF_PIECE,
    PIECE,
    PIECES,
    RELATIVE,
    STEEP,
    UPPER,
    X,
    at,
    highest_of,
)

# A piece is a line above the log density, from its higher end downwards: the interval (0 is below
# the first point), the place of the higher end and the height there, the direction of the fall (1
# or -1), its slope (at least 0), the width, and the integral of the exponential.
INTERVAL, HIGHER_END, TOP, DIRECTION, SLOPE, WIDTH, WEIGHT = range(OF_PIECE)


@kernel
def make_hull(work: Floats, f: int) -> None:
    """Put the hull above three points or more, made of extended chords, into the array."""
    _measure(work, f)
    n = int(work[NUMBER])
    lower, upper, x, last = at(work, LOWER), at(work, UPPER), at(work, X), at(work, X + n - 1)
    work[PIECES] = 0.0
    _put_line(work, 0, x, _above(work, 0), -1.0, -at(work, FLATTER), x - lower)
    for i in range(n - 1):
        _put_between(work, i)
    top, rise = _above(work, n - 1), at(work, STEEP + n - 2)
    _put_line(work, n, last, top, 1.0, rise, upper - last)
    peak = _peak_of(work)
    _weigh(work, peak)
    chords = 0.0
    for i in range(n - 1):
        a, b = at(work, RELATIVE + i), at(work, RELATIVE + i + 1)
        gap = at(work, X + i + 1) - at(work, X + i)
        chords += _mass_of(max(a, b) - peak, abs(b - a) / gap, gap)
    work[CHORDS] = chords


@kernel
def _measure(work: Floats, f: int) -> None:
    """Heights relative to the highest, their errors, and bounds on the slopes between them."""
    n, highest = int(work[NUMBER]), highest_of(work, f)
    work[HIGHEST] = highest
    for i in range(n):
        v = at(work, f + i)
        work[RELATIVE + i] = v - highest
        work[ERROR + i] = error_of(v, highest)
    for i in range(n - 1):
        gap = at(work, X + i + 1) - at(work, X + i)
        rise = at(work, RELATIVE + i + 1) - at(work, RELATIVE + i)
        slack = at(work, ERROR + i) + at(work, ERROR + i + 1)
        work[STEEP + i] = (rise + slack) / gap
        work[FLATTER + i] = (rise - slack) / gap


@kernel
def error_of(log_density: float, highest: float) -> float:
    """A bound on the rounding error of a log density, relative to the highest."""
    return min(ROUNDING * (1 + abs(highest)), RAISED) + ROUNDING * (highest - log_density)


@kernel
def _above(work: Floats, i: int) -> float:
    """The relative height of a point, raised by its error."""
    return at(work, RELATIVE + i) + at(work, ERROR + i)


@kernel
def _put_between(work: Floats, i: int) -> None:
    """Add the hull between two points: lines that extend the chord before and the chord after."""
    x0, x1, f0, f1 = at(work, X + i), at(work, X + i + 1), _above(work, i), _above(work, i + 1)
    gap = x1 - x0
    left = at(work, STEEP + i - 1) if i > 0 else inf
    right = at(work, FLATTER + i + 1) if i + 2 < int(work[NUMBER]) else -inf
    if left == inf:
        _put_line(work, i + 1, x1, f1, -1.0, -right, gap)
        return
    if right == -inf:
        _put_line(work, i + 1, x0, f0, 1.0, left, gap)
        return
    near = (f1 - f0 - right * gap) / (left - right) if left > right else gap / 2
    near = min(max(near, 0.0), gap)
    far = gap - near
    # from the higher point: the rise from a very low one has no digits left
    meeting = f0 + left * near if f0 > f1 else f1 - right * far
    if near > 0:
        _put_line_to(work, i + 1, x0, f0, 1.0, left, near, meeting)
    if far > 0:
        _put_line_to(work, i + 1, x1, f1, -1.0, -right, far, meeting)


@kernel
def _put_line(
    work: Floats,
    interval: int,
    x: float,
    height: float,
    direction: float,
    rise: float,
    width: float,
) -> None:
    """Add the line that starts at a point in some direction."""
    end = height + rise * width if rise > 0 else height
    _put_line_to(work, interval, x, height, direction, rise, width, end)


@kernel
def _put_line_to(  # noqa: PLR0913, PLR0917  (a record of numbers)
    work: Floats,
    interval: int,
    x: float,
    height: float,
    direction: float,
    rise: float,
    width: float,
    end: float,
) -> None:
    """The same, with the height where it ends."""
    k = PIECE + OF_PIECE * int(work[PIECES])
    work[PIECES] += 1
    work[k + INTERVAL] = interval
    work[k + WIDTH] = width
    if rise <= 0:
        work[k + HIGHER_END] = x
        work[k + TOP] = height
        work[k + DIRECTION] = direction
        work[k + SLOPE] = -rise
    else:
        work[k + HIGHER_END] = x + direction * width
        work[k + TOP] = max(end, height)
        work[k + DIRECTION] = -direction
        work[k + SLOPE] = rise


@kernel
def _peak_of(work: Floats) -> float:
    """The height of the hull's highest point."""
    peak = at(work, PIECE + TOP)
    for i in range(1, int(work[PIECES])):
        peak = max(peak, at(work, PIECE + OF_PIECE * i + TOP))
    return peak


@kernel
def _weigh(work: Floats, peak: float) -> None:
    """The integrals of all pieces, divided by that of the peak, and their sum."""
    total = 0.0
    for i in range(int(work[PIECES])):
        k = PIECE + OF_PIECE * i
        mass = _mass_of(at(work, k + TOP) - peak, at(work, k + SLOPE), at(work, k + WIDTH))
        work[k + WEIGHT] = mass
        total += mass
    work[MASS] = total


@kernel
def _mass_of(height: float, slope: float, width: float) -> float:
    """The integral of ``exp(height - slope * t)`` over ``0 < t < width``."""
    fall = slope * width
    if fall < FLAT:
        return exp(height) * width * (1 - fall / 2)
    return exp(height) * -expm1(-fall) / slope


@kernel
def fullest_interval(work: Floats) -> int:
    """The interval of the heaviest piece: 0 below the first point, 1 from there to the next."""
    best, most = PIECE, at(work, PIECE + WEIGHT)
    for i in range(1, int(work[PIECES])):
        k = PIECE + OF_PIECE * i
        if at(work, k + WEIGHT) > most:
            best, most = k, at(work, k + WEIGHT)
    return int(work[best + INTERVAL])


@kernel
def drawn_from(rng: Generator, work: Floats) -> tuple[float, float]:
    """A draw from the density whose logarithm is the hull, and the hull there.

    Between floats that are next to one another, the hull is given as -inf.
    """
    piece, u = _drawn_piece(rng, work), rng.random()
    slope, width = at(work, piece + SLOPE), at(work, piece + WIDTH)
    fall = slope * width
    below = u * width if fall < FLAT else -log1p(u * expm1(-fall)) / slope
    x = at(work, piece + HIGHER_END) + at(work, piece + DIRECTION) * below
    lower, upper = at(work, LOWER), at(work, UPPER)
    x = min(max(x, lower), upper)
    k, n = int(work[piece + INTERVAL]), int(work[NUMBER])
    left = at(work, X + k - 1) if k > 0 else lower
    right = at(work, X + k) if k < n else upper
    if float(np.nextafter(left, right)) >= right:
        return min(max(x, at(work, X)), at(work, X + n - 1)), -inf
    return x, at(work, HIGHEST) + at(work, piece + TOP) - slope * below


@kernel
def _drawn_piece(rng: Generator, work: Floats) -> int:
    """Where the numbers of a piece begin that is drawn by its weight."""
    rest, i, last = rng.random() * at(work, MASS), 0, int(work[PIECES]) - 1
    while i < last and rest >= at(work, PIECE + OF_PIECE * i + WEIGHT):
        rest -= at(work, PIECE + OF_PIECE * i + WEIGHT)
        i += 1
    return PIECE + OF_PIECE * i
