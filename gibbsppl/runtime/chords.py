"""Points of concave functions, the chords below them, and the hulls above: a column each.

The chords of a concave function are below the function, their extensions above. All heights are
logs: draws are from the exponential of a hull, piece by piece.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeVar

import numpy as np

from gibbsppl.runtime.types import Flags, Floats, Generator, Ints

# A number, or an array.
Place = TypeVar("Place", np.float64, Floats)

# The relative rounding error of a log density: a few of its last digits.
ROUNDING = 64 * float(np.finfo(float).eps)

# Hulls are raised by no more than this for what all heights may be wrong by.
RAISED = 0.5

# Heights are measured in units of at least this share of their size: less cannot be known.
UNIT = 4 * float(np.finfo(float).eps)

# The unit is doubled after every so many rounds: noise may be larger than a few last digits.
PATIENCE = 50

# The relative error above which a log density counts as not concave: half its digits.
NOT_CONCAVE = float(np.sqrt(np.finfo(float).eps))

# By how many floats a place may be off through rounding of values computed from it.
FLOATS = 8

# A piece that falls by less is as good as flat.
FLAT = 1e-5

# A tail whose slope is smaller does not fall.
LEVEL = 1e-290

# The chords below the log density are to have this share of the hull's mass: then a draw from the
# hull is worth more than a point that a search proposes.
KNOWN = 0.3

# Searches propose points so many standard deviations away from the mode (at those of a normal
# density, the hull of four has 1.4 times its mass), at least 0.5 away from all others, or none; in
# the first rounds by a parabola through the highest points, later on by other ways as well.
STEPS = (-1.4, -0.4, 0.4, 1.4)
APART = 0.5
PARABOLAS = 5

# Hulls are made for so many elements together: their arrays stay near the processor.
BLOCK = 1024

FARTHEST = 1e300

# What is lower is outside of the support: slopes down to there overflow.
LOWEST = -1e250
# So are places to which the slope from the nearest point that is inside would overflow.
STEEPEST = 1e300
ROUNDS = 500

IMPROPER = "the log density does not fall in a tail: the conditional has no finite integral."
NONE_ACCEPTED = f"log-concave draw: none of {ROUNDS} candidates was accepted."


def no_start(x: float) -> str:
    """The message for a log density that is not finite at the start."""
    return f"no finite log density at the start, {x:.6g}."


def further_out(start: Place, lower: Place, upper: Place) -> Iterator[Place]:
    """Points on both sides of the start, each twice as far away as the last, up to the ends.

    >>> points = further_out(*map(np.array, (1.0, -1.0, 3.0)))
    >>> [round(2**52 * float(next(points) - 1)) for _ in range(6)]
    [-1, 1, -2, 2, -4, 4]
    """
    step = np.spacing(np.abs(start))
    while (step < FARTHEST).any():
        for end in (lower, upper):
            room = np.abs(end - start)
            # (beyond the half of a finite room, what is left of it is halved)
            away = np.where(step < room / 2, step, room - room * (room / (4 * step)))
            yield start + np.copysign(away, end - start)
        step = 2 * step


def not_concave(x: float) -> str:
    """The message for a point below the chord of its neighbours."""
    return f"the log density is not concave at {x:.6g}: its chords are above it."


@dataclass(frozen=True, slots=True)
class Points:
    """Points with known log densities: a column for each element, sorted along the first axis.

    The support's ends come first and last, with log density -inf; shorter columns repeat the upper
    end.
    """

    x: Floats
    log_density: Floats
    number: Ints  # of points, without the ends

    def only(self, elements: Ints) -> Points:
        """The columns of some elements, without superfluous rows."""
        number = self.number[elements]
        rows = number.max(initial=1) + 2
        x, log_density = (a[:rows].take(elements, 1) for a in (self.x, self.log_density))
        return Points(x, log_density, number)

    def blocks(self, size: int) -> Iterator[Ints]:
        """Elements with the same number of points, three or more: at most so many together."""
        for number in range(3, self.number.max(initial=0) + 1):
            same = np.flatnonzero(self.number == number)
            yield from (same[i : i + size] for i in range(0, same.size, size))

    def with_point(self, x: Floats, log_density: Floats, inside: Flags) -> Points:
        """The points, with ``x`` inserted in flagged columns and the end repeated in the others."""
        x = np.where(inside, x, self.x[-1])
        log_density = np.where(inside, log_density, -np.inf)
        merged = Points(
            np.empty((len(self.x) + 1, x.size)),
            np.empty((len(self.x) + 1, x.size)),
            self.number + inside,
        )
        merged.x[0], merged.log_density[0] = self.x[0], self.log_density[0]
        for row in range(1, len(self.x)):
            # (a point at the lower end has it on its left, one at the upper end on its right)
            here = inside & (x <= self.x[row])
            np.minimum(x, self.x[row], out=merged.x[row])
            x = np.maximum(x, self.x[row])
            exchanged = _exchanged(here, self.log_density[row], log_density)
            merged.log_density[row], log_density = exchanged
        merged.x[-1], merged.log_density[-1] = x, log_density
        return merged

    def in_units(self, unit: Floats) -> Points:
        """The points, with heights in other units."""
        return Points(self.x, self.log_density / unit, self.number)

    def within(self, lower: Floats, upper: Floats) -> Points:
        """The points, with nearer ends."""
        return Points(np.clip(self.x, lower, upper), self.log_density, self.number)

    def outer(self) -> tuple[Floats, Floats]:
        """The leftmost and the rightmost point of each element."""
        return self.x[1], at(self.x, self.number)


def units(points: Points, done: int) -> Floats:
    """The least differences of height that can be known: 1, or more if heights are very large."""
    doubled = 2.0 ** (done // PATIENCE)
    return np.asarray(np.fmax(1, UNIT * doubled * np.abs(points.log_density.max(0))))


def _errors(log_density: Floats) -> Floats:
    """Bounds on the rounding errors of log densities, relative to the highest of the column."""
    highest = log_density.max(0)
    common = np.fmin(ROUNDING * (1 + np.abs(highest)), RAISED)
    return np.asarray(common + ROUNDING * (highest - log_density))


def _exchanged(where: Flags, a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """The values, each in the place of the other where a flag is set.

    In bits: a choice between numbers, element by element, takes ten times as long.
    """
    bits_a, bits_b = a.view(np.int64), b.view(np.int64)
    difference = (bits_a ^ bits_b) & -where.astype(np.int64)
    return (bits_a ^ difference).view(np.float64), (bits_b ^ difference).view(np.float64)


def at(rows: Floats, row: Ints) -> Floats:
    """The value in one row of each column."""
    columns = rows.shape[1]
    return np.asarray(rows.ravel().take(row * columns + np.arange(columns)))


@dataclass(frozen=True, slots=True)
class Hull:
    """Pieces of a piecewise linear function above a concave one, from points outwards.

    ``[0]`` has the lines that extend chords beyond the right point, ``[1]`` the lines that extend
    chords beyond the left point. Heights are relative to the highest point.
    """

    slope: Floats  # away from the point
    width: Floats
    top: Floats  # the height of the higher end
    mass: Floats  # integrals of the exponential, divided by that of the peak
    chords: Floats  # the integral below the chords, or a little less


def hull_of(points: Points) -> Hull:
    """The hull above the points, made of the chords extended to the left and right.

    All elements have the same number of points, three or more. Where a chord does not fall towards
    an infinite end, masses are not finite.
    """
    x, known = points.x[1:-1], points.log_density[1:-1]
    f = known - known.max(0)
    error = _errors(known)
    gap, rise, slack = np.diff(x, axis=0), np.diff(f, axis=0), error[1:] + error[:-1]
    f += error
    slope = np.empty((2, *gap.shape))
    slope[0], slope[1] = rise + slack, slack - rise
    slope /= gap
    width = _widths(points, f, gap, slope)
    end = slope * width
    end[0] += f[1:]
    end[1] += f[:-1]
    # from the higher point: the rise from a very low one has no digits left
    end[0, :-2] = end[1, 2:] = np.where(f[1:-2] > f[2:-1], end[0, :-2], end[1, 2:])
    top = np.empty_like(end)
    np.fmax(f[1:], end[0], out=top[0])
    np.fmax(f[:-1], end[1], out=top[1])
    peak = np.fmax.reduce(top, (0, 1))
    e, end = np.exp(f - peak), np.exp(end - peak)
    below = np.sqrt(e[1:] * e[:-1]) * gap
    return Hull(slope, width, top, _masses(slope, width, e, end), below.sum(0))


def _widths(points: Points, f: Floats, gap: Floats, slope: Floats) -> Floats:
    """How far the lines go: to the next point, to where they meet, or to an end."""
    width = np.empty_like(slope)
    width[0, -2], width[0, -1] = gap[-1], points.x[-1] - points.x[-2]
    width[1, 0], width[1, 1] = points.x[1] - points.x[0], gap[0]
    left, right, between = slope[0, :-2], slope[1, 2:], gap[1:-1]
    near = (f[2:-1] - f[1:-2] + right * between) / (left + right)
    width[0, :-2] = np.fmin(np.fmax(near, 0), between)
    width[1, 2:] = between - width[0, :-2]
    return width


def _masses(slope: Floats, width: Floats, e: Floats, end: Floats) -> Floats:
    """The integrals of exponential functions from what they are at the points and at the ends."""
    rise = np.empty_like(end)
    np.subtract(end[0], e[1:], out=rise[0])
    np.subtract(end[1], e[:-1], out=rise[1])
    flat = np.abs(slope * width) < FLAT
    mass = rise / slope
    return np.where(flat, (end - rise / 2) * width, mass) if flat.any() else mass


def drawn_from(rng: Generator, points: Points, hull: Hull) -> tuple[Floats, Floats]:
    """A draw of each element from the density whose logarithm is the hull, and the hull there.

    For a draw between adjacent floats the hull is given as -inf: the log density has no separate
    values there.
    """
    half, columns = hull.mass.shape[1:]
    weight = list(accumulate(hull.mass.reshape(-1, columns)))
    level, piece = rng.random(columns) * weight[-1], np.zeros(columns, dtype=np.intp)
    for row in weight[:-1]:
        piece += row <= level
    of_pieces = (rows.reshape(-1, columns) for rows in (hull.slope, hull.width, hull.top))
    rise, width, top = (at(rows, piece) for rows in of_pieces)
    slope, u = np.abs(rise), rng.random(columns)
    fall = slope * width
    below = -np.log1p(u * np.expm1(-fall)) / slope
    flat = fall < FLAT
    if flat.any():
        below = np.where(flat, u * width, below)
    backwards = piece >= half
    away = np.where(rise > 0, width - below, below)
    x = at(points.x, piece + 2 - (half + 1) * backwards) + away * (1 - 2.0 * backwards)
    x = np.fmin(np.fmax(x, points.x[0]), points.x[-1])
    interval = np.where(backwards, piece - half, piece + 2)
    left, right = at(points.x, interval), at(points.x, interval + 1)
    height, beside = top - slope * below, np.nextafter(left, right) >= right
    if beside.any():
        x, height = np.where(beside, _inside(points, x), x), np.where(beside, -np.inf, height)
    return x, height


def one_of(rng: Generator, points: Points) -> Floats:
    """A draw from one point or two of each element, for supports without other floats."""
    first, last = points.outer()
    f = points.log_density
    odds = np.where(points.number > 1, np.exp(at(f, points.number) - f[1]), 0)
    return np.where(rng.random(first.size) * (1 + odds) > 1, last, first)


def _inside(points: Points, x: Floats) -> Floats:
    """The places, at most at the outer points: the ends of the support may be outside of it."""
    return np.asarray(np.fmin(np.fmax(x, points.outer()[0]), points.outer()[1]))


def fullest_interval(hull: Hull) -> Ints:
    """The interval of the heaviest piece: 0 below the first point, 1 from there to the next."""
    half, columns = hull.mass.shape[1:]
    piece = hull.mass.reshape(-1, columns).argmax(0)
    return np.asarray(np.where(piece < half, piece + 2, piece - half))


def falling_tails(points: Points) -> Flags:
    """Whether the hull has a finite integral beyond the first and beyond the last point."""
    x, f, n = points.x, points.log_density - points.log_density.max(0), points.number
    error = _errors(points.log_density)
    # in the same way as the hull, to the last digit
    first = (error[1] + error[2] - (f[2] - f[1])) / (x[2] - x[1])
    rise, slack = at(f, n) - at(f, n - 1), at(error, n) + at(error, n - 1)
    last = (rise + slack) / (at(x, n) - at(x, n - 1))
    ends = np.isfinite(x[0]), np.isfinite(x[-1])
    return np.stack([ends[0] | (first < -LEVEL), ends[1] | (last < -LEVEL)])
