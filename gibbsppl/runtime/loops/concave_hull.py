"""Hulls of lines above one concave function, piece by piece, and draws from them.

The layout of the array is that of `concave_points`.
"""

from __future__ import annotations

from math import exp, expm1, inf, log1p, sqrt

from gibbsppl.runtime.chords import FLAT, RAISED, ROUNDING
from gibbsppl.runtime.types import Floats, Generator

from . import kernel
from .concave_points import (
    ABOVE,
    BEHIND,
    CHORDS,
    EXPONENTIAL,
    FLATTER,
    HIGHEST,
    LOWER,
    MASS,
    NUMBER,
    OF_PIECE,
    PIECE,
    STEEP,
    UPPER,
    X,
    at,
    highest_of,
)

# A piece is a line above the log density that starts at a point: the interval (0 is below the
# first point), the point's position, the direction (1 or -1), its rise, how far it goes, the
# height where it ends, and the integral of the exponential.
INTERVAL, POINT, DIRECTION, RISE, WIDTH, END, WEIGHT = range(OF_PIECE)


@kernel
def make_hull(work: Floats, f: int) -> None:
    """Put the hull above three points or more, made of extended chords, into the array."""
    n = int(work[NUMBER])
    _measure(work, f, n)
    width = at(work, X) - at(work, LOWER)
    k = _put_line(work, PIECE, 0, 0, -1.0, -at(work, FLATTER), width)
    k = _put_line(work, k, 1, 1, -1.0, -at(work, FLATTER + 1), at(work, X + 1) - at(work, X))
    for i in range(1, n - 2):
        k = _put_between(work, k, i)
    gap = at(work, X + n - 1) - at(work, X + n - 2)
    k = _put_line(work, k, n - 1, n - 2, 1.0, at(work, STEEP + n - 3), gap)
    width = at(work, UPPER) - at(work, X + n - 1)
    k = _put_line(work, k, n, n - 1, 1.0, at(work, STEEP + n - 2), width)
    work[BEHIND] = k
    _weigh(work, n, k)


@kernel
def _measure(work: Floats, f: int, n: int) -> None:
    """Heights above the highest, raised by their errors, and bounds on the slopes between them."""
    highest = highest_of(work, f, n)
    work[HIGHEST] = highest
    least = min(ROUNDING * (1 + abs(highest)), RAISED)
    x, height = at(work, X), at(work, f) - highest
    error = least - ROUNDING * height
    work[ABOVE] = height + error
    for i in range(1, n):
        x_before, before, error_before = x, height, error
        x, height = at(work, X + i), at(work, f + i) - highest
        error = least - ROUNDING * height
        rise, slack, gap = height - before, error_before + error, x - x_before
        work[STEEP + i - 1] = (rise + slack) / gap
        work[FLATTER + i - 1] = (rise - slack) / gap
        work[ABOVE + i] = height + error


@kernel
def error_of(log_density: float, highest: float) -> float:
    """A bound on the rounding error of a log density, relative to the highest."""
    return min(ROUNDING * (1 + abs(highest)), RAISED) + ROUNDING * (highest - log_density)


@kernel
def _put_between(work: Floats, k: int, i: int) -> int:
    """Add the hull between two points: lines that extend the chord before and the chord after."""
    gap = at(work, X + i + 1) - at(work, X + i)
    left, right = at(work, STEEP + i - 1), at(work, FLATTER + i + 1)
    f0, f1 = at(work, ABOVE + i), at(work, ABOVE + i + 1)
    near = (f1 - f0 - right * gap) / (left - right) if left > right else gap / 2
    near = min(max(near, 0.0), gap)
    far = gap - near
    # from the higher point: the rise from a very low one has no digits left
    meeting = f0 + left * near if f0 > f1 else f1 - right * far
    if near > 0:
        k = _put_line_to(work, k, i + 1, i, 1.0, left, near, meeting)
    if far > 0:
        k = _put_line_to(work, k, i + 1, i + 1, -1.0, -right, far, meeting)
    return k


@kernel
def _put_line(
    work: Floats, k: int, interval: int, point: int, direction: float, rise: float, width: float
) -> int:
    """Add the line that starts at a point in some direction; where the next one begins."""
    end = at(work, ABOVE + point) + rise * width if rise != 0 else at(work, ABOVE + point)
    return _put_line_to(work, k, interval, point, direction, rise, width, end)


@kernel
def _put_line_to(  # noqa: PLR0913, PLR0917  (a record of numbers)
    work: Floats,
    k: int,
    interval: int,
    point: int,
    direction: float,
    rise: float,
    width: float,
    end: float,
) -> int:
    """The same, with the height where it ends."""
    work[k + INTERVAL] = interval
    work[k + POINT] = point
    work[k + DIRECTION] = direction
    work[k + RISE] = rise
    work[k + WIDTH] = width
    work[k + END] = end
    return k + OF_PIECE


@kernel
def _peak_of(work: Floats, n: int, behind: int) -> float:
    """The height of the hull's highest point."""
    peak = at(work, ABOVE)
    for i in range(1, n):
        peak = max(peak, at(work, ABOVE + i))
    for k in range(PIECE, behind, OF_PIECE):
        peak = max(peak, at(work, k + END))
    return peak


@kernel
def _weigh(work: Floats, n: int, behind: int) -> None:
    """The integrals of all pieces, and their sum and that of the chords, relative to the peak."""
    peak, chords = _peak_of(work, n, behind), 0.0
    before = exp(at(work, ABOVE) - peak)
    work[EXPONENTIAL] = before
    for i in range(1, n):
        e = exp(at(work, ABOVE + i) - peak)
        work[EXPONENTIAL + i] = e
        chords += sqrt(before * e) * (at(work, X + i) - at(work, X + i - 1))
        before = e
    total, end, e = 0.0, -inf, 0.0
    for k in range(PIECE, behind, OF_PIECE):
        # (two lines that meet end at one height)
        if end != at(work, k + END):
            end = at(work, k + END)
            e = exp(end - peak)
        mass = _mass_of(work, k, e)
        work[k + WEIGHT] = mass
        total += mass
    work[CHORDS] = chords
    work[MASS] = total


@kernel
def _mass_of(work: Floats, k: int, end: float) -> float:
    """The integral of the exponential of a line, from what that is where the line ends."""
    start = at(work, EXPONENTIAL + int(work[k + POINT]))
    rise, width = at(work, k + RISE), at(work, k + WIDTH)
    if abs(rise * width) < FLAT:
        return (start + end) / 2 * width
    return (end - start) / rise


@kernel
def fullest_interval(work: Floats) -> int:
    """The interval of the heaviest piece: 0 below the first point, 1 from there to the next."""
    best, most = PIECE, at(work, PIECE + WEIGHT)
    for k in range(PIECE, int(work[BEHIND]), OF_PIECE):
        if at(work, k + WEIGHT) > most:
            best, most = k, at(work, k + WEIGHT)
    return int(work[best + INTERVAL])


@kernel
def drawn_from(rng: Generator, work: Floats) -> tuple[float, float]:
    """A draw from the density whose logarithm is the hull, and the hull there.

    Between floats that are next to one another, the hull is given as -inf.
    """
    piece, u = _drawn_piece(rng, work), rng.random()
    rise, width, point = at(work, piece + RISE), at(work, piece + WIDTH), int(work[piece + POINT])
    slope = abs(rise)
    fall = slope * width
    # (from the higher end downwards)
    below = u * width if fall < FLAT else -log1p(u * expm1(-fall)) / slope
    top = at(work, piece + END) if rise > 0 else at(work, ABOVE + point)
    away = width - below if rise > 0 else below
    lower, upper = at(work, LOWER), at(work, UPPER)
    x = min(max(at(work, X + point) + at(work, piece + DIRECTION) * away, lower), upper)
    k, n = int(work[piece + INTERVAL]), int(work[NUMBER])
    left = at(work, X + k - 1) if k > 0 else lower
    right = at(work, X + k) if k < n else upper
    if right < inf and left + (right - left) / 2 in (left, right):
        return min(max(x, at(work, X)), at(work, X + n - 1)), -inf
    return x, at(work, HIGHEST) + top - slope * below


@kernel
def _drawn_piece(rng: Generator, work: Floats) -> int:
    """Where the numbers of a piece begin that is drawn by its weight."""
    rest, k, last = rng.random() * at(work, MASS), PIECE, int(work[BEHIND]) - OF_PIECE
    while k < last and rest >= at(work, k + WEIGHT):
        rest -= at(work, k + WEIGHT)
        k += OF_PIECE
    return k
