"""Exact draws from one log-concave density: the algorithm of ``concave`` on plain numbers.

The few points of one element are lists: arrays of such a size would cost more than the draw.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, pairwise
from math import copysign, exp, expm1, inf, isinf, log1p, nextafter, sqrt, ulp

import numpy as np

from gibbsppl.errors import RunError
from gibbsppl.runtime.chords import (
    APART,
    FARTHEST,
    FLAT,
    FLOATS,
    IMPROPER,
    KNOWN,
    LEVEL,
    NONE_ACCEPTED,
    NOT_CONCAVE,
    PARABOLAS,
    PATIENCE,
    RAISED,
    ROUNDING,
    ROUNDS,
    STEEPEST,
    STEPS,
    UNIT,
    further_out,
    no_start,
    not_concave,
)
from gibbsppl.runtime.types import Generator

# With fewer points than these, the search goes on without a look at the hull.
BLIND = 4


@dataclass(slots=True)
class Points:
    """The sorted points of one element with known log densities, and the ends of the support."""

    x: list[float]
    log_density: list[float]
    lower: float
    upper: float

    def take_in(self, x: float, log_density: float) -> None:
        """Insert a point with its log density; at -inf the support ends before the point."""
        place = bisect_left(self.x, x)
        if log_density == -inf or self._is_at_a_cliff(x, log_density, place):
            self._end_at(x, place)
        elif place == len(self.x) or self.x[place] != x:
            self.x.insert(place, x)
            self.log_density.insert(place, log_density)
            for middle in range(max(place - 1, 1), min(place + 2, len(self.x) - 1)):
                self._require_concave(middle)

    def _is_at_a_cliff(self, x: float, log_density: float, place: int) -> bool:
        """Whether a place beyond all points is too far down for slopes."""
        if 0 < place < len(self.x):
            return False
        near = 0 if place == 0 else -1
        return self.log_density[near] - log_density > STEEPEST * abs(x - self.x[near])

    def _end_at(self, x: float, place: int) -> None:
        if 0 < place < len(self.x):
            raise RunError(not_concave(x))
        if place:
            self.upper = min(x, self.upper)
        else:
            self.lower = max(x, self.lower)

    def _require_concave(self, i: int) -> None:
        """Raise an error if a point is below the chord of its neighbours."""
        (x0, x1, x2), (f0, f1, f2) = self.x[i - 1 : i + 2], self.log_density[i - 1 : i + 2]
        left, right = f0 * ((x2 - x1) / (x2 - x0)), f2 * ((x1 - x0) / (x2 - x0))
        below = left + right - f1
        if below > NOT_CONCAVE * (1 + abs(f1) + abs(left) + abs(right)):
            slope = max(abs((f1 - f0) / (x1 - x0)), abs((f2 - f1) / (x2 - x1)))
            if below <= FLOATS * ulp(x1) * slope:
                return
            raise RunError(not_concave(x1))


@dataclass(slots=True)
class Piece:
    """A line above the log density, from its higher end downwards."""

    interval: int  # 0 is below the first point
    x: float  # of the higher end
    top: float
    direction: float  # of the fall: 1 or -1
    slope: float  # of the fall: at least 0
    width: float


@dataclass(slots=True)
class Hull:
    """Lines above the log density, in order; heights are relative to the highest point."""

    pieces: list[Piece]
    mass: list[float]  # integrals of the exponential, divided by that of the peak
    chords: float  # the same for all chords below the log density
    highest: float


def log_concave_one(
    rng: Generator,
    log_density: Callable[[float], float],
    start: float,
    lower: float,
    upper: float,
) -> float:
    """One draw between the bounds; ``log_density`` returns neither nan nor inf."""
    points = _first_point(log_density, start, lower, upper)
    for done in range(ROUNDS):
        x, height, unit = candidate(rng, points, done)
        level = height - unit * rng.standard_exponential()
        if level <= _chord_at(points, x):
            return x
        found = log_density(x)
        # (above the hull: to see that it is not concave)
        if found < level or found > height:
            points.take_in(x, found)
        if found >= level:
            return x
    raise RunError(NONE_ACCEPTED)


def _first_point(
    log_density: Callable[[float], float], start: float, lower: float, upper: float
) -> Points:
    """The start, or a point further out where the log density is finite."""
    if lower <= start <= upper:
        for x in chain([start], further_out(*map(np.float64, (start, lower, upper)))):
            height = log_density(float(x))
            if height > -inf:
                return Points([float(x)], [height], lower, upper)
    raise RunError(no_start(start))


def candidate(rng: Generator, points: Points, done: int) -> tuple[float, float, float]:
    """The next point, the height of the hull there, and the unit of heights.

    The height is infinite if the point is not a draw from the hull.
    """
    unit = _unit(points, done)
    if unit > 1:
        heights = [f / unit for f in points.log_density]
        points = Points(points.x, heights, points.lower, points.upper)
    x, height = _candidate(rng, points, done)
    return x, height * unit, unit


def _unit(points: Points, done: int) -> float:
    """The least difference of height that can be known: 1, or more if heights are very large."""
    return max(1.0, UNIT * 2.0 ** (done // PATIENCE) * abs(max(points.log_density)))


def _candidate(rng: Generator, points: Points, done: int) -> tuple[float, float]:
    growth = min(4.0 ** (done + 1), 1e100)
    if len(points.x) < 3:
        x = _few(points)
        return (x, inf) if x is not None else (_one_of(rng, points), -inf)
    x = _farther(points, growth)
    if x is None and len(points.x) < BLIND:
        x = _apart(points, growth)
    if x is None:
        hull = _hull_of(points)
        if hull.chords <= KNOWN * sum(hull.mass):
            x = _refined(points, hull, done, growth)
        if x is None:
            return _drawn_from(rng, points, hull)
    if abs(x) > FARTHEST:
        raise RunError(IMPROPER)
    return x, inf


def _few(points: Points) -> float | None:
    """A further point beside fewer than three points; None if no float is left."""
    first, last = points.x[0], points.x[-1]
    left, right = first - points.lower, points.upper - last
    step = last - first if last > first else max(1.0, abs(first)) / 2
    possible = (left > 64 * ulp(first), right > 64 * ulp(last))
    if not any(possible) and last - first < 64 * ulp(last):
        return _of_few_floats(points)
    if possible[1] and (last == first or not possible[0]):
        return last + (step if step < right / 2 else right / 8)
    return first - (step if step < left / 2 else left / 8)


def _of_few_floats(points: Points) -> float | None:
    """A float between the ends that is no known point; None if there is none."""
    ends = nextafter(points.lower, inf), nextafter(points.upper, -inf)
    between = (points.lower + (points.upper - points.lower) / 2, *ends)
    new = [x for x in between if points.lower < x < points.upper and x not in points.x]
    return new[0] if new else None


def _one_of(rng: Generator, points: Points) -> float:
    """A draw from the points, for a support without other floats."""
    highest = max(points.log_density)
    weight = [exp(f - highest) for f in points.log_density]
    return points.x[int(rng.random() * sum(weight) > weight[0])]


def _farther(points: Points, growth: float) -> float | None:
    """A point far out, if the chord at an infinite end does not fall."""
    (first, last), (falls_left, falls_right) = (points.x[0], points.x[-1]), _tails(points)
    if falls_left and falls_right:
        return None
    mode, sd = _parabola(points)
    most, least = (last - first) * growth, (last - first) * max(1.0, growth / 4**5)
    if not falls_right:
        return min(max(mode + sd, last + least), last + most)
    return max(min(mode - sd, first - least), first - most)


def _tails(points: Points) -> tuple[bool, bool]:
    """Whether the hull has a finite integral beyond the first and beyond the last point."""
    x, f, highest = points.x, points.log_density, max(points.log_density)
    # in the same way as the hull, to the last digit
    error = [_error(v, highest) for v in (f[0], f[1], f[-2], f[-1])]
    first = (f[1] - highest) - (f[0] - highest) - (error[0] + error[1])
    last = (f[-1] - highest) - (f[-2] - highest) + (error[2] + error[3])
    return (
        not isinf(points.lower) or first / (x[1] - x[0]) > LEVEL,
        not isinf(points.upper) or last / (x[-1] - x[-2]) < -LEVEL,
    )


def _error(log_density: float, highest: float) -> float:
    """A bound on the rounding error of a log density, relative to the highest."""
    return min(ROUNDING * (1 + abs(highest)), RAISED) + ROUNDING * (highest - log_density)


def _parabola(points: Points) -> tuple[float, float]:
    """Mode and standard deviation of the normal density through the points around the highest.

    Beyond a bound, the bound and the scale of the exponential density that falls from there.
    """
    f = points.log_density
    i = min(max(f.index(max(f)), 1), len(f) - 2)
    (x0, x1, x2), (f0, f1, f2) = points.x[i - 1 : i + 2], f[i - 1 : i + 2]
    before, after = x1 - x0, x2 - x1
    rise, fall = (f1 - f0) / before, (f2 - f1) / after
    span, bend = before + after, max(2 * (rise - fall), 0.0)
    slope = rise * (after / span) + fall * (before / span)
    # (their ratio, the precision, would overflow at scales below 1e-154)
    mode = x1 + slope / bend * span if bend > 0 else copysign(inf, slope) if slope else x1
    mode = min(max(mode, points.lower), points.upper)
    at_mode = slope - bend * ((mode - x1) / span) if bend > 0 else slope
    sd = (points.upper - points.lower) / 4
    if bend > 0:
        sd = min(sd, sqrt(span) / sqrt(bend))
    return mode, min(sd, 1 / abs(at_mode)) if at_mode else sd


def _apart(points: Points, growth: float) -> float | None:
    """A point near the mode or a standard deviation from it, if all others are far from there."""
    first, last = points.x[0], points.x[-1]
    mode, sd = _parabola(points)
    span = growth * (last - first)
    low = first - min(_outwards(first - points.lower, last - first), span)
    high = last + min(_outwards(points.upper - last, last - first), span)
    sd = min(sd, span)
    distance, best = APART * sd, None
    for step in STEPS:
        near = min(max(mode + step * sd, low), high)
        free = min([abs(near - x) for x in points.x])
        if free > distance:
            distance, best = free, near
    return best


def _outwards(room: float, span: float) -> float:
    """How far to go from a point to the next: the half, or much less if it is very far."""
    return sqrt(room) * sqrt(span) if room > 4 * span > 0 else room / 2


def _refined(points: Points, hull: Hull, done: int, growth: float) -> float | None:
    """A point that makes the hull better; None where a draw from it is as good as any."""
    if done < PARABOLAS or done % 3 == 0:
        return _apart(points, growth)
    interval = hull.pieces[hull.mass.index(max(hull.mass))].interval
    if done % 3 == 1 and interval in (0, len(points.x)):
        return None
    return _split(points, interval)


def _split(points: Points, k: int) -> float | None:
    """A point in an interval, nearer to its higher end; None if it is infinite."""
    x = [points.lower, *points.x, points.upper]
    f = [-inf, *points.log_density, -inf]
    a, b, left = x[k], x[k + 1], f[k] > f[k + 1]
    if isinf(b - a):
        return None
    step = _outwards(b - a, a - x[k - 1] if left else x[k + 2] - b)
    return a + step if left else b - step


def _hull_of(points: Points) -> Hull:
    """The hull above three points or more, made of the chords extended to the left and right."""
    x, highest = points.x, max(points.log_density)
    f = [v - highest for v in points.log_density]
    error = [_error(v, highest) for v in points.log_density]
    gap = [b - a for a, b in pairwise(x)]
    rise = [b - a for a, b in pairwise(f)]
    slack = [a + b for a, b in pairwise(error)]
    steep = [(r + s) / g for r, s, g in zip(rise, slack, gap, strict=True)]
    flat = [(r - s) / g for r, s, g in zip(rise, slack, gap, strict=True)]
    above = [v + e for v, e in zip(f, error, strict=True)]
    pieces = [_line(0, x[0], above[0], -1.0, -flat[0], x[0] - points.lower)]
    for i, width in enumerate(gap):
        left = steep[i - 1] if i > 0 else inf
        right = flat[i + 1] if i + 1 < len(gap) else -inf
        pieces += _between(i, (x[i], above[i], left), (x[i + 1], above[i + 1], right), width)
    pieces.append(_line(len(x), x[-1], above[-1], 1.0, steep[-1], points.upper - x[-1]))
    peak = max([piece.top for piece in pieces])
    mass = [_mass_of(piece.top - peak, piece.slope, piece.width) for piece in pieces]
    chords = [
        _mass_of(max(a, b) - peak, abs(b - a) / g, g)
        for (a, b), g in zip(pairwise(f), gap, strict=True)
    ]
    return Hull(pieces, mass, sum(chords), highest)


End = tuple[float, float, float]


def _between(i: int, a: End, b: End, gap: float) -> list[Piece]:
    """The hull between two points: lines that extend the chord before and the chord after."""
    (x0, f0, left), (x1, f1, right) = a, b
    if left == inf:
        return [_line(i + 1, x1, f1, -1.0, -right, gap)]
    if right == -inf:
        return [_line(i + 1, x0, f0, 1.0, left, gap)]
    near = (f1 - f0 - right * gap) / (left - right) if left > right else gap / 2
    near = min(max(near, 0.0), gap)
    far = gap - near
    # from the higher point: the rise from a very low one has no digits left
    meeting = f0 + left * near if f0 > f1 else f1 - right * far
    lines = []
    if near > 0:
        lines.append(_line(i + 1, x0, f0, 1.0, left, near, meeting))
    if far > 0:
        lines.append(_line(i + 1, x1, f1, -1.0, -right, far, meeting))
    return lines


def _line(
    interval: int,
    x: float,
    height: float,
    direction: float,
    rise: float,
    width: float,
    end: float | None = None,
) -> Piece:
    """The line that starts at a point in some direction."""
    if rise <= 0:
        return Piece(interval, x, height, direction, -rise, width)
    end = height + rise * width if end is None else max(end, height)
    return Piece(interval, x + direction * width, end, -direction, rise, width)


def _mass_of(height: float, slope: float, width: float) -> float:
    """The integral of ``exp(height - slope * t)`` over ``0 < t < width``."""
    fall = slope * width
    if fall < FLAT:
        return exp(height) * width * (1 - fall / 2)
    return exp(height) * -expm1(-fall) / slope


def _drawn_from(rng: Generator, points: Points, hull: Hull) -> tuple[float, float]:
    """A draw from the density whose logarithm is the hull, and the hull there.

    Between floats that are next to one another, the hull is given as -inf.
    """
    rest, i = rng.random() * sum(hull.mass), 0
    while rest >= hull.mass[i] and i + 1 < len(hull.mass):
        rest -= hull.mass[i]
        i += 1
    piece, u = hull.pieces[i], rng.random()
    fall = piece.slope * piece.width
    below = u * piece.width if fall < FLAT else -log1p(u * expm1(-fall)) / piece.slope
    x = min(max(piece.x + piece.direction * below, points.lower), points.upper)
    k, known = piece.interval, points.x
    left = known[k - 1] if k > 0 else points.lower
    right = known[k] if k < len(known) else points.upper
    if nextafter(left, right) >= right:
        return min(max(x, known[0]), known[-1]), -inf
    return x, hull.highest + piece.top - piece.slope * below


def _chord_at(points: Points, x: float) -> float:
    """The chord below the log density, -inf outside of the points."""
    after = bisect_left(points.x, x)
    if not 0 < after < len(points.x):
        return -inf
    (a, b), (fa, fb) = points.x[after - 1 : after + 1], points.log_density[after - 1 : after + 1]
    left, right = fa * ((b - x) / (b - a)), fb * ((x - a) / (b - a))
    return left + right - ROUNDING * (1 + abs(left) + abs(right))
