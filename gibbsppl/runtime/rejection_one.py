"""Draws of one number from log densities of powers: the algorithms of ``rejection`` on numbers.

Arrays of one element would cost more than the draw. From the same state of the generator, a draw is
that of ``rejection``, up to rounding.

>>> import numpy as np
>>> x = powers_one(np.random.default_rng(1), 1e9, ((1, 1.0),), np.log(1e9), 0.0, np.inf)
>>> abs(x / 1e9 - 1) < 1e-3  # a Gamma of shape 1e9
True
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from math import expm1, hypot, inf, isfinite, log1p, sqrt

import numpy as np

from gibbsppl.runtime.draws import HUGE, LOG_HUGE, TINY
from gibbsppl.runtime.rejection import FLAT, STEEPEST, require
from gibbsppl.runtime.types import Generator, Numbers

Fall = Callable[[float], float]

# A line falls from ``start`` towards one side, over a width.
Line = tuple[float, float, float, float, float]  # start, side (1 or -1), width, height, slope


def powers_one(
    rng: Generator,
    p: float,
    terms: Sequence[tuple[int, float]],
    log_mode: float,
    lower: float,
    upper: float,
) -> float:
    """A draw with log density ``(p - 1) log(x) - sum of c * x**r``, no c negative.

    The terms are ``(r, c)``.
    """
    free = log_of(lower) < log_mode < log_of(upper)
    mode = exp_of(log_mode)
    value = min(max(mode, lower, TINY), upper, HUGE)
    offset = log_mode - math.log(value) if free and mode != value else 0.0
    at = math.log(value) + offset
    scales = [(r, min(exp_of(math.log(c) + r * at), STEEPEST)) for r, c in terms if c > 0.0]
    scales = [(r, k) for r, k in scales if k > 0.0]
    slope = 0.0 if free else p - sum([r * k for r, k in scales])

    def fall(u: float) -> float:
        height = slope * u
        for r, k in scales:
            height -= k * excess_one(r * u)
        return height

    left = max(offset - log_ratio_one(lower, value), 0.0)
    right = max(log_ratio_one(upper, value) - offset, 0.0)
    hull = one_side(fall, slope, -1, left, _reach(slope, scales, -1))
    hull += one_side(fall, slope, 1, right, _reach(slope, scales, 1))
    return scaled_one(value, offset + below_one(rng, fall, hull))


def _reach(slope: float, scales: Sequence[tuple[int, float]], side: int) -> float:
    """About where the log density of ``powers_one`` has fallen by 1, on one side."""
    reach = 1.0 / abs(slope) if slope else inf
    for r, k in scales:
        far = sqrt(2.0 / k) + 1.0 / k
        reach = min(reach, (log1p(far) if r * side > 0 else far) / abs(r))
    return reach


def rising_powers_one(
    rng: Generator, eta_1: float, A: float, B: float, lower: float, upper: float
) -> float:
    """A draw with log density ``eta_1 log(x) + A x - B x**2``, ``A > 0`` and ``B >= 0``."""
    draw = _concave_powers if eta_1 >= 0.0 else _bent_powers
    return draw(rng, eta_1, A, B, lower, upper)


def _concave_powers(
    rng: Generator, eta_1: float, A: float, B: float, lower: float, upper: float
) -> float:
    """The same for ``eta_1 >= 0``, where the log density is concave in x."""
    upper = min(upper, HUGE)
    mode = (A / 2 + hypot(A / 2, sqrt(2 * B * eta_1))) / (2 * B) if B > 0.0 else inf
    c = min(max(mode, lower, TINY), upper)
    k = B * c * c
    slope = 0.0 if c == mode else eta_1 + A * c - 2.0 * k

    def fall(w: float) -> float:
        height = slope * w - k * w * w
        if eta_1:
            height -= eta_1 * excess_one(log1p(w) if w > -1.0 else -inf)
        return height

    sharpest = max(sqrt(eta_1 / 2 + k), abs(slope))
    reach = 1.0 / sharpest if sharpest else inf
    hull = one_side(fall, slope, -1, (c - lower) / c, reach)
    hull += one_side(fall, slope, 1, (upper - c) / c, reach)
    return c + c * below_one(rng, fall, hull)


def _bent_powers(
    rng: Generator, eta_1: float, A: float, B: float, lower: float, upper: float
) -> float:
    """The same for any ``eta_1``: in log x, convex below ``A / (4 B)`` and concave above."""
    p = eta_1 + 1.0
    bend = A / (4 * B) if B > 0.0 else inf
    discriminant = 1.0 + 8.0 * p * B / A / A
    mode = bend * (1.0 + sqrt(max(discriminant, 0.0)))
    c = min(max(mode, lower, TINY), upper)
    k_1, k_2 = A * c, B * c * c
    slope = 0.0 if c == mode and discriminant >= 0.0 else p + k_1 - 2.0 * k_2

    def fall(u: float) -> float:
        height = slope * u + k_1 * excess_one(u)
        return height - k_2 * excess_one(2.0 * u) if k_2 else height

    left, right = log_ratio_one(lower, c), log_ratio_one(upper, c)
    bend = log_ratio_one(min(max(bend, lower), upper), c)
    reach = 1.0 / max(sqrt(max(4.0 * k_2 - k_1, 1.0)), abs(slope))
    # Where A x < 1, the line of slope p is close.
    start = min(-log_of(k_1), bend) if left == -inf else left
    hull = one_side(fall, slope, -1, -bend, reach) + one_side(fall, slope, 1, right, reach)
    hull += chords_one(fall, start, bend)
    if start > left:
        hull.append((start, -1, start - left, fall(start), p))
    return scaled_one(c, below_one(rng, fall, hull))


def chords_one(fall: Fall, left: float, right: float) -> list[Line]:
    """A hull of a convex log density between finite ends: chords that grow from both ends."""
    parts = [0.25**j * (right - left) for j in range(20, 0, -1)]
    ends = [left, *[left + t for t in parts], *[right - t for t in parts[::-1]], right]
    hull: list[Line] = []
    for (a, at_a), (b, at_b) in pairwise([(z, fall(z)) for z in ends]):
        if b > a and at_b > at_a:
            hull.append((b, -1, b - a, at_b, (at_b - at_a) / (b - a)))
        elif b > a:
            hull.append((a, 1, b - a, at_a, (at_a - at_b) / (b - a)))
    return hull


def one_side(fall: Fall, slope: float, side: int, bound: float, reach: float) -> list[Line]:
    """One side of the hull of a concave log density with its maximum, 0, at the point 0.

    The tangent at 0 up to where the density has fallen to about 1 / e, and from there on the chord
    from 0, extended.
    """
    near = min(reach, bound)
    while near < bound and fall(side * near) > -1.0:
        near = min(2.0 * near, bound)
    while fall(0.5 * side * near) < -1.0:
        near *= 0.5
    hull: list[Line] = []
    if near > 0.0:
        hull.append((0.0, side, near, 0.0, max(-side * slope, 0.0)))
    if near < bound:
        value = fall(side * near)
        hull.append((side * near, side, bound - near, value, -value / near if near else inf))
    return hull


def below_one(rng: Generator, fall: Fall, hull: Sequence[Line]) -> float:
    """A draw from a log density, by rejection from the lines of its hull."""
    log_mass = [height + log_of(_extent(slope, width)) for _, _, width, height, slope in hull]
    top = max(log_mass)
    running = list(accumulate([exp_of(m - top) for m in log_mass]))
    require_one(isfinite(running[-1]), "a finite integral", top)
    while True:
        at = bisect_right(running, rng.random() * running[-1])
        start, side, width, height, slope = hull[at]
        distance = _along_line(rng, slope, width)
        candidate = start + side * distance
        level = height - slope * distance - rng.standard_exponential()
        if fall(candidate) >= level:
            return candidate


def _along_line(rng: Generator, slope: float, width: float) -> float:
    """A distance with log density ``-slope * distance``, up to a width."""
    u, drop = rng.random(), slope * width
    return -log1p(u * expm1(-drop)) / slope if drop > FLAT else u * width


def _extent(slope: float, width: float) -> float:
    """The integral of ``exp(-slope * distance)`` over a width."""
    drop = slope * width
    return -expm1(-drop) / slope if drop > FLAT else width


def interval_one(lower: Numbers, upper: Numbers, least: float) -> tuple[float, float]:
    """The bounds as numbers, inside of the support."""
    low, high = max(float(lower), least), float(upper)
    require_one(math.nextafter(low, inf) < high, "numbers between lower and upper", low, high)
    return low, high


def between_one(x: float, lower: float, upper: float) -> float:
    """The draw, strictly between the bounds and at least ``TINY`` above 0."""
    above = TINY if lower == 0.0 else math.nextafter(lower, inf)
    return min(max(x, above), math.nextafter(upper, -inf))


def require_one(proper: bool, what: str, *found: float) -> None:
    """Raise an error that shows the values ``found``, unless ``proper``."""
    if not proper:
        require(np.array([False]), what, *(np.array([f]) for f in found))


def scaled_one(centre: float, u: float) -> float:
    """``centre * exp(u)``, also where ``exp(u)`` alone would overflow."""
    half = exp_of(0.5 * u)
    return min(centre * half * half, HUGE)


def log_ratio_one(x: float, centre: float) -> float:
    """``log(x / centre)``, to all digits where it is small."""
    ratio = (x - centre) / centre
    return log1p(ratio) if abs(ratio) < 0.5 else log_of(x) - math.log(centre)


def excess_one(u: float) -> float:
    """``exp(u) - 1 - u``, to all digits."""
    if abs(u) < 1e-2:
        return 0.5 * u * u * (1 + u / 3 * (1 + u / 4 * (1 + u / 5 * (1 + u / 6))))
    return expm1(u) - u if u < LOG_HUGE else inf


def exp_of(x: float) -> float:
    """The exponential, infinite where it overflows."""
    return inf if x > LOG_HUGE else math.exp(x)


def log_of(x: float) -> float:
    """The logarithm, that of 0 being minus infinity."""
    return math.log(x) if x > 0.0 else -inf
