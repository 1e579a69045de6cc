"""The next points at which to evaluate log-concave densities, for all elements at once, by column.

The search for the first points looks around the mode, at distances of the order of the width.
"""

from __future__ import annotations

import numpy as np

from gibbsppl.errors import RunError
from gibbsppl.runtime.chords import (
    APART,
    BLOCK,
    FARTHEST,
    IMPROPER,
    PARABOLAS,
    STEPS,
    Points,
    at,
    falling_tails,
    fullest_interval,
    hull_of,
)
from gibbsppl.runtime.types import Floats

# While a search goes on without a look at the hull, its points may be as near as these.
BESIDE = 0.2


def blindly_sought(points: Points, done: int, step: Floats) -> Floats:
    """A point beside the known points, or around a parabola's mode; else a known point."""
    choices = [_few(points, step)] if points.number.min() < 3 else []
    if points.number.max() > 2:
        choices.append(_apart(points, 4.0 ** (done + 1), BESIDE))
    return first_of(*choices, points.x[1])


def sought(points: Points, done: int, step: Floats) -> Floats:
    """A point that makes the hull better, nan where a draw from it is as good as any."""
    growth = min(4.0 ** (done + 1), 1e100)
    if done < PARABOLAS or done % 3 == 0:
        refined = _apart(points, growth)
    else:
        refined = _split(points, leave_ends=done % 3 == 1)
    found = first_of(_farther(points, growth), refined)
    if points.number.min() < 3:
        found = np.where(points.number > 2, found, _few(points, step))
    if np.any(np.abs(found) > FARTHEST):
        raise RunError(IMPROPER)
    return found


def first_of(*choices: Floats) -> Floats:
    """The first of some choices that is a number."""
    found = choices[-1]
    for choice in choices[-2::-1]:
        found = np.where(np.isnan(choice), found, choice)
    return found


def _few(points: Points, step: Floats) -> Floats:
    """A further point for elements with fewer than three points; NaN elsewhere.

    The first is a step away.
    """
    (first, last), number = points.outer(), points.number
    room = np.stack([first - points.x[0], points.x[-1] - last])
    step = np.where(number > 1, last - first, step)
    step = np.where(step < room / 2, step, room / 8)
    possible = room > 64 * np.spacing(np.abs(np.stack([first, last])))
    right = possible[1] & ((number == 1) | ~possible[0])
    beside = np.where(right, last + step[1], first - step[0])
    if not possible.any(0).all():
        none = ~possible.any(0) & (last - first < 64 * np.spacing(np.abs(last)))
        beside = np.where(none, _of_few_floats(points), beside)
    return np.where(number > 2, np.nan, beside)


def _of_few_floats(points: Points) -> Floats:
    """A float between the ends that is no known point; NaN if there is none."""
    (lower, upper), new = (points.x[0], points.x[-1]), []
    ends = np.nextafter(lower, np.inf), np.nextafter(upper, -np.inf)
    for x in (lower + (upper - lower) / 2, *ends):
        known = ((points.x == x) & (points.log_density > -np.inf)).any(0)
        new.append(np.where((lower < x) & (x < upper) & ~known, x, np.nan))
    return first_of(*new)


def _farther(points: Points, growth: float) -> Floats:
    """A point far out, for elements with a chord that does not fall towards an infinite end."""
    first, last = points.outer()
    mode, sd = _parabola(points)
    falls = falling_tails(points)
    least, most = ((last - first) * step for step in (max(1.0, growth / 4**5), growth))
    up = np.clip(first_of(mode + sd, last), last + least, last + most)
    down = np.clip(first_of(mode - sd, first), first - most, first - least)
    return np.where(~falls[1], up, np.where(~falls[0], down, np.nan))


def _around_highest(points: Points) -> tuple[Floats, ...]:
    """The positions, then the heights, of the highest inner point and its two neighbours."""
    x, f = points.x, points.log_density
    if len(x) == 5:
        return x[1], x[2], x[3], f[1], f[2], f[3]
    i = np.clip(f.argmax(0), 2, np.maximum(points.number - 1, 2))
    i = np.minimum(i, len(x) - 2)
    return tuple(at(rows, k) for rows in (x, f) for k in (i - 1, i, i + 1))


def _parabola(points: Points) -> tuple[Floats, Floats]:
    """Mode and standard deviation of the normal density through the points around the highest.

    Beyond a bound, the bound and the scale of the exponential density that falls from there.
    """
    x0, x1, x2, f0, f1, f2 = _around_highest(points)
    before, after = x1 - x0, x2 - x1
    rise, fall = (f1 - f0) / before, (f2 - f1) / after
    span, bend = before + after, np.fmax(2 * (rise - fall), 0)
    slope = rise * (after / span) + fall * (before / span)
    lower, upper = points.x[0], points.x[-1]
    # (their ratio, the precision, would overflow at scales below 1e-154)
    mode = first_of(np.minimum(np.maximum(x1 + slope / bend * span, lower), upper), x1)
    at_mode = slope - bend * ((mode - x1) / span)
    sd = np.fmin(np.sqrt(span) / np.sqrt(bend), 1 / np.abs(at_mode))
    return mode, np.fmin(sd, (upper - lower) / 4)


def _apart(points: Points, growth: float, nearest: float = APART) -> Floats:
    """A point near the mode or a standard deviation from it, if all others are far from there."""
    first, last = points.outer()
    mode, sd = _parabola(points)
    span = growth * (last - first)
    low = first - np.minimum(_outwards(first - points.x[0], last - first), span)
    high = last + np.minimum(_outwards(points.x[-1] - last, last - first), span)
    sd = np.minimum(sd, span)
    known = np.where(points.log_density > -np.inf, points.x, np.inf)[1:-1]
    farthest, best = nearest * sd, np.full(sd.shape, np.nan)
    for step in STEPS:
        ideal = np.fmin(np.fmax(mode + step * sd, low), high)
        distance = np.abs(known - ideal).min(0)
        best = np.where(distance > farthest, ideal, best)
        farthest = np.fmax(distance, farthest)
    return best


def _split(points: Points, leave_ends: bool) -> Floats:
    """A point in the interval where the hull has most mass, nearer to its higher end.

    There is none beyond the points if ends are left, nor where the interval is infinite.
    """
    x, f, k = points.x, points.log_density, np.zeros(points.number.shape, dtype=np.intp)
    for block in points.blocks(BLOCK):
        k[block] = fullest_interval(hull_of(points.only(block)))
    a, b, left = at(x, k), at(x, k + 1), at(f, k) > at(f, k + 1)
    before, after = at(x, np.maximum(k - 1, 0)), at(x, np.minimum(k + 2, len(x) - 1))
    step = _outwards(b - a, np.where(left, a - before, after - b))
    possible = np.isfinite(b - a)
    if leave_ends:
        possible &= (k > 0) & (k < points.number)
    return np.where(possible, np.where(left, a + step, b - step), np.nan)


def _outwards(room: Floats, span: Floats) -> Floats:
    """How far to go from a point to the next: the half, or much less if it is very far."""
    far = (room > 4 * span) & (span > 0)
    return np.where(far, np.sqrt(room) * np.sqrt(span), room / 2) if far.any() else room / 2
