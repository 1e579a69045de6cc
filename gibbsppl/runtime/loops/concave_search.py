"""The search for points of one concave function: around its mode, and far enough apart.

The layout of the array is that of `concave_points`. Log densities begin at ``f``: those found, or
the same in other units.
"""

from __future__ import annotations

from math import copysign, exp, inf, isinf, nan, sqrt

import numpy as np

from gibbsppl.runtime.chords import APART as FREE
from gibbsppl.runtime.chords import LEVEL as LEVEL_SLOPE
from gibbsppl.runtime.chords import PARABOLAS, STEPS
from gibbsppl.runtime.types import Floats, Generator

from . import kernel
from .concave_hull import error_of, fullest_interval
from .concave_points import LOWER, NUMBER, SCALE, UPPER, X, at, highest_of, spacing


@kernel
def few(work: Floats) -> float:
    """A further point beside fewer than three points; nan if no float is left."""
    first, last = at(work, X), at(work, X + int(work[NUMBER]) - 1)
    left, right = first - at(work, LOWER), at(work, UPPER) - last
    step = last - first if last > first else at(work, SCALE)
    step = step if step > 64 * spacing(first) else max(1.0, abs(first)) / 2
    below, above = left > 64 * spacing(first), right > 64 * spacing(last)
    if not (below or above) and last - first < 64 * spacing(last):
        return _of_few_floats(work)
    if above and (last == first or not below):
        return last + (step if step < right / 2 else right / 8)
    return first - (step if step < left / 2 else left / 8)


@kernel
def _of_few_floats(work: Floats) -> float:
    """A float between the ends that is no known point; nan if there is none."""
    lower, upper = at(work, LOWER), at(work, UPPER)
    x = lower + (upper - lower) / 2
    if _is_new(work, x):
        return x
    x = float(np.nextafter(lower, inf))
    if _is_new(work, x):
        return x
    x = float(np.nextafter(upper, -inf))
    return x if _is_new(work, x) else nan


@kernel
def _is_new(work: Floats, x: float) -> bool:
    """Whether a place is between the ends, and no known point."""
    known = not at(work, LOWER) < x < at(work, UPPER)
    for i in range(int(work[NUMBER])):
        known |= at(work, X + i) == x
    return not known


@kernel
def one_of(rng: Generator, work: Floats, f: int) -> float:
    """A draw from one point or two, for a support without other floats."""
    n = int(work[NUMBER])
    highest = highest_of(work, f, n)
    first = exp(at(work, f) - highest)
    weight = first + exp(at(work, f + 1) - highest) if n > 1 else first
    return at(work, X + 1) if rng.random() * weight > first else at(work, X)


@kernel
def farther(work: Floats, f: int, growth: float) -> float:
    """A point far out, if the chord at an infinite end does not fall; nan if both do."""
    falls_left, falls_right = _tails(work, f)
    if falls_left and falls_right:
        return nan
    first, last = at(work, X), at(work, X + int(work[NUMBER]) - 1)
    mode, sd = _parabola(work, f)
    most, least = (last - first) * growth, (last - first) * max(1.0, growth / 4**5)
    if not falls_right:
        return min(max(mode + sd, last + least), last + most)
    return max(min(mode - sd, first - least), first - most)


@kernel
def _tails(work: Floats, f: int) -> tuple[bool, bool]:
    """Whether the hull has a finite integral beyond the first and beyond the last point."""
    i = int(work[NUMBER]) - 1
    highest = highest_of(work, f, i + 1)
    f0, f1, f2, f3 = at(work, f), at(work, f + 1), at(work, f + i - 1), at(work, f + i)
    # in the same way as the hull, to the last digit
    first = (f1 - highest) - (f0 - highest) - (error_of(f0, highest) + error_of(f1, highest))
    last = (f3 - highest) - (f2 - highest) + (error_of(f2, highest) + error_of(f3, highest))
    return (
        not isinf(at(work, LOWER)) or first > LEVEL_SLOPE * (at(work, X + 1) - at(work, X)),
        not isinf(at(work, UPPER))
        or last < -LEVEL_SLOPE * (at(work, X + i) - at(work, X + i - 1)),
    )


@kernel
def _parabola(work: Floats, f: int) -> tuple[float, float]:
    """Mode and standard deviation of the normal density through the points around the highest.

    Beyond a bound, the bound and the scale of the exponential density that falls from there.
    """
    lower, upper, i = at(work, LOWER), at(work, UPPER), _middle(work, f)
    x1 = at(work, X + i)
    before, after = x1 - at(work, X + i - 1), at(work, X + i + 1) - x1
    rise = (at(work, f + i) - at(work, f + i - 1)) / before
    fall = (at(work, f + i + 1) - at(work, f + i)) / after
    span, bend = before + after, max(2 * (rise - fall), 0.0)
    slope = rise * (after / span) + fall * (before / span)
    mode, sd = x1, (upper - lower) / 4
    # (their ratio, the precision, would overflow at scales below 1e-154)
    if bend > 0:
        mode, sd = x1 + slope / bend * span, min(sd, sqrt(span) / sqrt(bend))
    elif slope != 0:
        mode = copysign(inf, slope)
    mode = min(max(mode, lower), upper)
    at_mode = slope - bend * ((mode - x1) / span) if bend > 0 else slope
    return mode, min(sd, 1 / abs(at_mode)) if at_mode != 0 else sd


@kernel
def _middle(work: Floats, f: int) -> int:
    """The position of the highest point, or of its neighbour if it is the first or the last."""
    n, highest = int(work[NUMBER]), 0
    for i in range(1, n):
        if at(work, f + i) > at(work, f + highest):
            highest = i
    return min(max(highest, 1), n - 2)


@kernel
def apart(work: Floats, f: int, growth: float) -> float:
    """A point near the mode or a standard deviation from it, if all others are far from there."""
    first, last = at(work, X), at(work, X + int(work[NUMBER]) - 1)
    mode, sd = _parabola(work, f)
    low = first - _outwards(first - at(work, LOWER), last - first, growth)
    high = last + _outwards(at(work, UPPER) - last, last - first, growth)
    sd = min(sd, growth * (last - first))
    distance, best = FREE * sd, nan
    for step in STEPS:
        near = min(max(mode + step * sd, low), high)
        free = _free(work, near)
        if free > distance:
            distance, best = free, near
    return best


@kernel
def _free(work: Floats, x: float) -> float:
    """The distance from a place to the nearest point."""
    free = abs(x - at(work, X))
    for i in range(1, int(work[NUMBER])):
        free = min(free, abs(x - at(work, X + i)))
    return free


@kernel
def _outwards(room: float, span: float, growth: float) -> float:
    """How far to go from a point to the next: the half, or much less if it is very far.

    At most so many times the span.
    """
    if not room > 4 * span > 0:
        return min(room / 2, growth * span)
    if room / growth >= growth * span:
        return growth * span
    return min(sqrt(room) * sqrt(span), growth * span)


@kernel
def refined(work: Floats, f: int, done: int, growth: float) -> float:
    """A point that makes the hull better; nan where a draw from it is as good as any."""
    if done < PARABOLAS or done % 3 == 0:
        return apart(work, f, growth)
    interval = fullest_interval(work)
    if done % 3 == 1 and interval in (0, int(work[NUMBER])):
        return nan
    return _split(work, f, interval)


@kernel
def _split(work: Floats, f: int, k: int) -> float:
    """A point in an interval, nearer to its higher end; nan if it is infinite."""
    n = int(work[NUMBER])
    a = _place(work, k)
    b = _place(work, k + 1)
    if isinf(b - a):
        return nan
    left = k > 0 and (k == n or at(work, f + k - 1) > at(work, f + k))
    step = _outwards(b - a, a - _place(work, k - 1) if left else _place(work, k + 2) - b, inf)
    return a + step if left else b - step


@kernel
def _place(work: Floats, k: int) -> float:
    """The lower end of the support, the points, and the upper end: one of these."""
    if k == 0:
        return at(work, LOWER)
    return at(work, X + k - 1) if k <= int(work[NUMBER]) else at(work, UPPER)
