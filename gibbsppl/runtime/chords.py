"""Points of concave functions, the chords below them, and the hulls above: a column each.

The chords of a concave function are below it, and above it where they are continued beyond their
ends. All heights are logs: what is drawn from is the exponential of a hull, piece by piece.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

# What a log density may be wrong by, of its size: a few of its last digits.
ROUNDING = 64 * float(np.finfo(float).eps)

# A piece that falls by less is as good as flat.
FLAT = 1e-5


@dataclass(frozen=True, slots=True)
class Points:
    """Where log densities are known: a column for each element, in order along the first axis.

    The support's ends come first and last, with log density -inf; columns with fewer points than
    others repeat the upper end.
    """

    x: Floats
    log_density: Floats
    number: NDArray[np.intp]  # of points, without the ends

    def only(self, elements: Flags) -> Points:
        """The columns of some elements, without the rows that they do not need."""
        number = self.number[elements]
        rows = number.max(initial=1) + 2
        return Points(self.x[:rows, elements], self.log_density[:rows, elements], number)

    def with_point(self, x: Floats, log_density: Floats, inside: Flags) -> Points:
        """The points, and one more in the columns that are flagged; the others get one more end."""
        end = self.x[-1]
        place = np.where(inside, (self.x < x).sum(0), len(self.x))
        # (a point at the lower end has it on its left, one at the upper end on its right)
        row = np.arange(len(self.x) + 1)[:, None]
        before, here = row < place, row == place
        return Points(
            _merged(self.x, np.where(inside, x, end), before, here),
            _merged(self.log_density, np.where(inside, log_density, -np.inf), before, here),
            self.number + inside,
        )

    def within(self, lower: Floats, upper: Floats) -> Points:
        """The points, with ends that are nearer."""
        return Points(np.clip(self.x, lower, upper), self.log_density, self.number)

    def outer(self) -> tuple[Floats, Floats]:
        """The leftmost and the rightmost point of each element."""
        return self.x[1], self.x[self.number, np.arange(self.number.size)]


def _merged(rows: Floats, one: Floats, before: Flags, here: Flags) -> Floats:
    """Rows with one more value in each column, where ``here`` says."""
    same = np.concatenate([rows, rows[-1:]])
    moved = np.concatenate([rows[:1], rows])
    return np.where(before, same, np.where(here, one, moved))


@dataclass(frozen=True, slots=True)
class Hull:
    """Pieces of a piecewise linear function above a concave one, from points outwards.

    There are two pieces between points that follow one another, and one at each end: all that
    start in their left point come first, then all that start in their right one. Heights are
    relative to the highest point.
    """

    x: Floats
    slope: Floats  # away from the point
    width: Floats
    top: Floats  # the height of the higher end
    mass: Floats  # integrals of the exponential, divided by that of the peak
    peak: Floats

    def only(self, elements: Flags) -> Hull:
        """The columns of some elements."""
        rows = (self.x, self.slope, self.width, self.top, self.mass, self.peak)
        return Hull(*(row[..., elements] for row in rows))


def hull_of(points: Points) -> Hull:
    """What the chords, continued to their left and right, leave above the points."""
    x, f = points.x, points.log_density - points.log_density.max(0)
    error = np.where(f > -np.inf, ROUNDING * (1 + np.abs(points.log_density)), 0)
    f = f + error
    gap = np.diff(x, axis=0)
    gap = np.where(gap > 0, gap, 0)
    rise = np.diff(f, axis=0) / gap
    slack = (error[1:] + error[:-1]) / gap
    chord = np.isfinite(rise)
    none = np.full((1, x.shape[1]), np.inf)
    left = np.concatenate([none, np.where(chord, rise + slack, np.inf)[:-1]])
    right = np.concatenate([np.where(chord, rise - slack, -np.inf)[1:], -none])
    # where they meet: at an end if there is but one
    share = np.clip((rise - right) / (left - right), 0, 1)
    share = np.where(np.isinf(left), 0, np.where(np.isinf(right), 1, share))
    near = np.where(share > 0, share * gap, 0)
    far = np.where((share < 1) & np.isfinite(right), (1 - share) * gap, 0)
    tops = _tops(f, np.where(near > 0, left * near, 0), np.where(far > 0, -right * far, 0))
    pieces = ((x[:-1], x[1:]), (left, -right), (near, far), tops)
    at, slope, width, top = (np.concatenate(p) for p in pieces)
    peak = np.where(width > 0, top, -np.inf).max(0)
    mass = mass_of(top - peak, np.abs(slope), width)
    return Hull(at, slope, width, top, np.where(np.isnan(mass), np.inf, mass), peak)


def _tops(f: Floats, left: Floats, right: Floats) -> tuple[Floats, Floats]:
    """The larger heights of the pieces, from those of the points and the rises away from them."""
    # from the higher point: the rise from a very low one has no digits left
    meeting = np.where(f[:-1] > f[1:], f[:-1] + left, f[1:] + right)
    both = (left != 0) & (right != 0)
    return (
        np.maximum(f[:-1], np.where(both, meeting, f[:-1] + left)),
        np.maximum(f[1:], np.where(both, meeting, f[1:] + right)),
    )


def mass_of(height: Floats, slope: Floats, width: Floats) -> Floats:
    """The integral of ``exp(height - slope * t)`` over ``0 < t < width``, for slopes above 0."""
    fall = slope * width
    length = np.where(fall < FLAT, width * (1 - fall / 2), -np.expm1(-fall) / slope)
    return np.where(width > 0, np.exp(height) * length, 0)


def drawn_from(rng: np.random.Generator, hull: Hull) -> tuple[Floats, Floats]:
    """A draw of each element from the density whose logarithm is the hull, and the hull there."""
    weight = hull.mass.cumsum(0)
    piece = (weight > rng.random(weight.shape[1]) * weight[-1]).argmax(0)
    at = piece, np.arange(piece.size)
    slope, width = np.abs(hull.slope[at]), hull.width[at]
    fall, u = slope * width, rng.random(piece.size)
    below = np.where(fall < FLAT, u * width, -np.log1p(u * np.expm1(-fall)) / slope)
    away = np.where(hull.slope[at] > 0, width - below, below)
    x = hull.x[at] + np.where(piece < len(weight) // 2, away, -away)
    return x, hull.top[at] - slope * below


def chord_at(points: Points, x: Floats) -> Floats:
    """The chord below the log density, -inf outside of the points."""
    after = (points.x < x).sum(0).clip(1, len(points.x) - 1)
    elements = np.arange(x.size)
    a, b = points.x[after - 1, elements], points.x[after, elements]
    left = points.log_density[after - 1, elements] * (b - x) / (b - a)
    right = points.log_density[after, elements] * (x - a) / (b - a)
    chord = left + right - ROUNDING * (1 + np.abs(left) + np.abs(right))
    return np.where(np.isnan(chord), -np.inf, chord)
