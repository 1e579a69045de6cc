"""Draws below the hull of four points, for concave functions of ordinary shape and size.

Most draws end here, with a hull that is kept in a few numbers and never made better. Where the
points do not enclose the mode, heights are large, or three candidates are rejected, the search
of `concave_search` and the hulls of `concave_hull` go on with the points that are known.
"""

from __future__ import annotations

from math import inf, nan, sqrt

from gibbsppl.runtime.chords import FLAT, KNOWN, ROUNDING, STEPS
from gibbsppl.runtime.types import Floats, Generator

from . import kernel
from .concave_points import (
    ASKED,
    HEIGHT,
    LEVEL,
    LOWER,
    NUMBER,
    SCALE,
    UPPER,
    F,
    X,
    at,
)
from .elementary import exp_of, log_of

# Of larger heights, the last digits that are lost count.
LARGE = 1e6
# A parabola is known to so many times the errors of heights.
DIGITS = 1e3
# So many candidates are drawn below one hull.
CANDIDATES = 3

# What a hull of four points leads to.
NO_HULL, IS_ASKED, IS_DRAWN = 0, 1, 2


@kernel
def next_of_four(work: Floats) -> float:
    """Where the next of the first four points is; nan if it would not be between the bounds."""
    n, first = int(work[NUMBER]), at(work, X)
    if n == 3:
        return _about_the_mode(work)
    last = at(work, X + n - 1)
    step = at(work, SCALE) if n == 1 else last - first
    rises = n == 1 or work[F + 1] > work[F]
    if n == 1 and not last + step < work[UPPER]:
        rises = False
    place = last + step if rises else first - step
    is_new = place > last if rises else place < first
    return place if is_new and at(work, LOWER) < place < at(work, UPPER) else nan


@kernel
def _about_the_mode(work: Floats) -> float:
    """The place of some standard deviations from the mode that is farthest from three points."""
    x0, x1, x2 = at(work, X), at(work, X + 1), at(work, X + 2)
    f0, f1, f2 = at(work, F), at(work, F + 1), at(work, F + 2)
    before, after = x1 - x0, x2 - x1
    rise, fall = (f1 - f0) / before, (f2 - f1) / after
    span = before + after
    # (the precision is that times 2 / span)
    bend = rise - fall
    if not bend * span > DIGITS * ROUNDING * (1 + abs(f0) + abs(f1) + abs(f2)) or not span < inf:
        return nan
    slope = (rise * after + fall * before) / span
    mode, sd = x1 + slope / bend * (span / 2), sqrt(span / 2 / bend)
    farthest, place = 0.0, nan
    for step in STEPS:
        near = mode + step * sd
        free = min(abs(near - x0), abs(near - x1), abs(near - x2))
        if free > farthest and at(work, LOWER) < near < at(work, UPPER):
            farthest, place = free, near
    return place


@kernel
def keep_highest(work: Floats) -> None:
    """Forget all points but the highest, and the scale: there is no parabola to be seen."""
    best = 0
    for i in range(1, int(work[NUMBER])):
        if work[F + i] > work[F + best]:
            best = i
    work[X] = work[X + best]
    work[F] = work[F + best]
    work[NUMBER] = 1.0
    work[SCALE] = 0.0


@kernel
def put_in(work: Floats, x: float, log_density: float) -> None:
    """Insert one of the first points with its log density."""
    i = int(work[NUMBER])
    work[NUMBER] = i + 1
    while i > 0 and x < work[X + i - 1]:
        work[X + i] = work[X + i - 1]
        work[F + i] = work[F + i - 1]
        i -= 1
    work[X + i] = x
    work[F + i] = log_density


@kernel
def below_four(rng: Generator, work: Floats) -> int:
    """A candidate below the hull of four points: asked for, or drawn, or that there is no hull."""
    x0, x1, x2, x3 = at(work, X), at(work, X + 1), at(work, X + 2), at(work, X + 3)
    f0, f1, f2, f3 = at(work, F), at(work, F + 1), at(work, F + 2), at(work, F + 3)
    highest = max(f0, f1, f2, f3)
    f0, f1, f2, f3 = f0 - highest, f1 - highest, f2 - highest, f3 - highest
    gap0, gap1, gap2 = x1 - x0, x2 - x1, x3 - x2
    rise0, rise1, rise2 = (f1 - f0) / gap0, (f2 - f1) / gap1, (f3 - f2) / gap2
    lower, upper = at(work, LOWER), at(work, UPPER)
    falls = (rise0 > 0 or lower > -inf) and (rise2 < 0 or upper < inf)
    if not (falls and rise0 > rise1 > rise2 and abs(highest) < LARGE):
        return NO_HULL
    # the chord in the middle at the outer points, the outer chords where they meet, and at the ends
    left, right = f1 - rise1 * gap0, f2 + rise1 * gap2
    meeting = x1 + min(max((f2 - f1 - rise2 * gap1) / (rise0 - rise2), 0.0), gap1)
    top = f1 + rise0 * (meeting - x1)
    e0, e1, e2, e3 = exp_of(f0), exp_of(f1), exp_of(f2), exp_of(f3)
    el, er, et = exp_of(left), exp_of(right), exp_of(top)
    below, above = _end_of(f0, -rise0, x0 - lower), _end_of(f3, rise2, upper - x3)
    a = _mass(below, e0, rise0, x0 - lower)
    b = a + _mass(el, e1, rise1, gap0)
    c = b + _mass(e1, et, rise0, meeting - x1)
    d = c + _mass(et, e2, rise2, x2 - meeting)
    e = d + _mass(e2, er, rise1, gap2)
    whole = e + _mass(e3, above, rise2, upper - x3)
    chords = sqrt(e0 * e1) * gap0 + sqrt(e1 * e2) * gap1 + sqrt(e2 * e3) * gap2
    if not KNOWN * whole < chords:
        return NO_HULL
    u, v = rng.random() * whole, rng.random()
    if u < a:
        x, low = _drawn(v, e0, below, x0, f0, rise0, lower), -inf
        height = f0 + rise0 * (x - x0)
    elif u < b:
        x = _drawn(v, e1, el, x1, f1, rise1, x0)
        height, low = f1 + rise1 * (x - x1), f1 + rise0 * (x - x1)
    elif u < d:
        if u < c:
            x = _drawn(v, e1, et, x1, f1, rise0, meeting)
            height = f1 + rise0 * (x - x1)
        else:
            x = _drawn(v, e2, et, x2, f2, rise2, meeting)
            height = f2 + rise2 * (x - x2)
        low = f1 + rise1 * (x - x1)
    elif u < e:
        x = _drawn(v, e2, er, x2, f2, rise1, x3)
        height, low = f2 + rise1 * (x - x2), f2 + rise2 * (x - x2)
    else:
        x, low = _drawn(v, e3, above, x3, f3, rise2, upper), -inf
        height = f3 + rise2 * (x - x3)
    level = height - rng.standard_exponential()
    work[ASKED] = x
    work[HEIGHT] = highest + height
    work[LEVEL] = highest + level
    return IS_DRAWN if level <= low else IS_ASKED


@kernel
def _end_of(height: float, rise: float, width: float) -> float:
    """The exponential of a line where it ends: 0 if it goes on for ever."""
    return exp_of(height + rise * width) if width < inf else 0.0


@kernel
def _mass(start: float, end: float, rise: float, width: float) -> float:
    """The integral of the exponential of a line, from what that is at both ends."""
    return (end - start) / rise if abs(rise * width) > FLAT else (start + end) / 2 * width


@kernel
def _drawn(
    v: float, start: float, end: float, x: float, height: float, rise: float, other: float
) -> float:
    """A draw by the exponential of a line, from where it starts, at ``x``, to its other end."""
    if abs(rise * (other - x)) > FLAT:
        place = x + (log_of(start + v * (end - start)) - height) / rise
    else:
        place = x + v * (other - x)
    return min(max(place, min(x, other)), max(x, other))
