"""Draws from log densities that are concave on some scale, by rejection below a hull of lines.

All arrays have one axis, the elements, each with its own parameters. A log density is measured from
its mode between the bounds, where no digits are lost: ``fall(z, *parameters)`` is 0 at ``z = 0``.
A hull of lines above it makes the draws exact, and three tries are enough on average (Devroye 1986,
Non-Uniform Random Variate Generation, chapter VII).

>>> import numpy as np
>>> one = np.ones(3)
>>> z = quadratic(np.random.default_rng(1), -1e9 * one, 0.5 * one, 0 * one, np.inf * one)
>>> bool((z < 1e-7).all())  # a Normal, a thousand million standard deviations from its mean
True
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gibbsppl.runtime.draws import HUGE, TINY
from gibbsppl.runtime.types import Flags, Floats, Generator, Numbers

Fall = Callable[..., Floats]
Try = Callable[..., tuple[Floats, Flags]]

# A line falls from ``start`` towards one side, over a width.
# Its start, its side (1 or -1), its width, the height at the start, and the slope.
Line = tuple[Numbers, Numbers, Numbers, Numbers, Numbers]

# The exponent of a line that is flat to rounding.
FLAT = 1e-16
STEEPEST = 1e300


@np.errstate(all="ignore")
def quadratic(rng: Generator, slope: Floats, k: Floats, left: Floats, right: Floats) -> Floats:
    """Draws with log density ``slope z - k z**2``, highest at 0."""

    def fall(z: Floats, slope: Floats, k: Floats) -> Floats:
        return slope * z - k * z * z

    reach = 1.0 / np.maximum(np.sqrt(k), np.abs(slope))
    return below(rng, fall, (slope, k), concave(fall, (slope, k), left, right, reach, reach))


@dataclass(frozen=True, slots=True)
class Centre:
    """The mode between bounds of x > 0, and the bounds on the scale ``log(x / value) - offset``."""

    value: Floats
    log: Floats
    offset: Floats
    free: Flags
    left: Floats
    right: Floats

    def slope(self, there: Floats) -> Floats:
        """The slope at the centre: that of the log density there, 0 at a mode inside."""
        return np.where(self.free, 0.0, there)


def centred(log_mode: Floats, lower: Floats, upper: Floats) -> Centre:
    """The mode between bounds; it may lie beyond the floating-point numbers."""
    free = (np.log(lower) < log_mode) & (log_mode < np.log(upper))
    mode = np.exp(log_mode)
    value = np.clip(np.clip(mode, lower, upper), TINY, HUGE)
    offset = np.where(free & (mode != value), log_mode - np.log(value), 0.0)
    left = np.minimum(log_ratio(lower, value) - offset, 0.0)
    right = np.maximum(log_ratio(upper, value) - offset, 0.0)
    return Centre(value, np.log(value) + offset, offset, free, left, right)


@np.errstate(all="ignore")
def powers(
    rng: Generator,
    p: Floats,
    rates: Sequence[int],
    coefficients: Sequence[Floats],
    log_mode: Floats,
    lower: Floats,
    upper: Floats,
) -> Floats:
    """Draws with log density ``(p - 1) log(x) - sum of coefficient * x**rate``, none negative."""
    at = centred(log_mode, lower, upper)
    pairs = [*zip(rates, coefficients, strict=True)]
    k = [np.minimum(np.exp(np.log(c) + r * at.log), STEEPEST) for r, c in pairs]
    slope = at.slope(p - sum(r * k_r for r, k_r in zip(rates, k, strict=True)))

    def fall(u: Floats, slope: Floats, *k: Floats) -> Floats:
        return slope * u - sum(times(k_r, excess(r * u)) for r, k_r in zip(rates, k, strict=True))

    reach = {}
    for side in (-1, 1):
        reach[side] = 1.0 / np.abs(slope)
        for r, k_r in zip(rates, k, strict=True):
            far = np.sqrt(2.0 / k_r) + 1.0 / k_r
            far = np.log1p(far) if r * side > 0 else far
            reach[side] = np.minimum(reach[side], far / abs(r))
    hull = concave(fall, (slope, *k), at.left, at.right, reach[-1], reach[1])
    return scaled(at.value, at.offset + below(rng, fall, (slope, *k), hull))


@np.errstate(all="ignore")
def rising_powers(
    rng: Generator, eta_1: Floats, A: Floats, B: Floats, lower: Floats, upper: Floats
) -> Floats:
    """Draws with log density ``eta_1 log(x) + A x - B x**2``, ``A > 0`` and ``B >= 0``."""

    def one(*values: Floats) -> Floats:
        return concave_powers(rng, *values)

    def other(*values: Floats) -> Floats:
        return bent_powers(rng, *values)

    return split(eta_1 >= 0.0, one, other, eta_1, A, B, lower, upper)


def concave_powers(
    rng: Generator, eta_1: Floats, A: Floats, B: Floats, lower: Floats, upper: Floats
) -> Floats:
    """The same for ``eta_1 >= 0``, where the log density is concave in x."""
    upper = np.minimum(upper, HUGE)
    mode = np.where(B > 0.0, (A / 2 + np.hypot(A / 2, np.sqrt(2 * B * eta_1))) / (2 * B), np.inf)
    c = np.clip(mode, lower, upper)
    slope = np.where(c == mode, 0.0, eta_1 + A * c - 2.0 * B * c * c)

    def fall(w: Floats, slope: Floats, eta_1: Floats, k: Floats) -> Floats:
        return slope * w - times(eta_1, excess(np.log1p(w))) - k * w * w

    parameters = (slope, eta_1, B * c * c)
    reach = 1.0 / np.maximum(np.sqrt(eta_1 / 2 + B * c * c), np.abs(slope))
    hull = concave(fall, parameters, (lower - c) / c, (upper - c) / c, reach, reach)
    return c + c * below(rng, fall, parameters, hull)


def bent_powers(
    rng: Generator, eta_1: Floats, A: Floats, B: Floats, lower: Floats, upper: Floats
) -> Floats:
    """The same for any ``eta_1``: in log x, convex below ``A / (4 B)`` and concave above."""
    p = eta_1 + 1.0
    bend = np.where(B > 0.0, A / (4 * B), np.inf)
    discriminant = 1.0 + 8.0 * p * B / A / A
    mode = np.where(B > 0.0, bend * (1.0 + np.sqrt(np.maximum(discriminant, 0.0))), np.inf)
    c = np.clip(mode, lower, upper)
    free = (c == mode) & (discriminant >= 0.0)
    slope = np.where(free, 0.0, p + A * c - 2.0 * B * c * c)

    def fall(u: Floats, slope: Floats, k_1: Floats, k_2: Floats) -> Floats:
        return slope * u + k_1 * excess(u) - times(k_2, excess(2.0 * u))

    parameters = (slope, A * c, B * c * c)
    left, right = log_ratio(lower, c), log_ratio(upper, c)
    bend = log_ratio(np.clip(bend, lower, upper), c)
    curvature = 4.0 * B * c * c - A * c
    reach = 1.0 / np.maximum(np.sqrt(np.maximum(curvature, 1.0)), np.abs(slope))
    # Where A x < 1, the line of slope p is close.
    start = np.where(left == -np.inf, np.minimum(-np.log(A * c), bend), left)
    hull = [
        *concave(fall, parameters, bend, right, reach, reach),
        *chords(fall, parameters, start, bend),
        (start, -1.0, start - left, fall(start, *parameters), p),
    ]
    return scaled(c, below(rng, fall, parameters, hull))


@np.errstate(all="ignore")
def logistic(
    rng: Generator, a: Floats, b: Floats, c: Floats, d: Floats, left: Floats, right: Floats
) -> Floats:
    """Draws of u, log density ``a log(x) + b log(1 - x)`` at ``logit(x) = logit(c) + u``.

    c is the mode between the bounds, or one of the bounds where the log density is convex, and
    ``d = 1 - c``.
    """

    def fall(u: Floats, slope: Floats, n: Floats, q: Floats, side: Floats) -> Floats:
        w = side * u
        far = w + np.log(q + (1.0 - q) * np.exp(-np.maximum(w, 700.0)))
        return slope * u - n * (
            np.where(w > 700.0, far, np.log1p(q * np.expm1(np.minimum(w, 700.0)))) - q * w
        )

    def concave_part(left: Floats, right: Floats, *rest: Floats) -> Floats:
        slope, n, q, side = parameters = rest[:4]
        h = 1.0 / n
        y = np.expm1(np.minimum(h, 600.0)) / q
        steep = np.where(h < 600.0, np.log1p(y + np.sqrt(2.0 * y)), h - np.log(q))
        slow = np.sqrt(2.0 * h / q) + h / q
        most = 1.0 / np.abs(slope)
        reach = [np.minimum(np.where(up, steep, slow), most) for up in (side < 0.0, side > 0.0)]
        return below(rng, fall, parameters, concave(fall, parameters, left, right, *reach))

    def convex_part(left: Floats, right: Floats, *rest: Floats) -> Floats:
        *parameters, a, b, zero = rest
        # Beyond the log odds where -n log(1 + odds) = 1, the lines of slope a and -b are close.
        close = np.log(np.expm1(-1.0 / parameters[1]))
        start = np.where(left == -np.inf, np.minimum(close - zero, right), left)
        end = np.where(right == np.inf, np.maximum(-close - zero, left), right)
        hull = [
            *chords(fall, parameters, start, end),
            (start, -1.0, start - left, fall(start, *parameters), a),
            (end, 1.0, right - end, fall(end, *parameters), b),
        ]
        return below(rng, fall, parameters, hull)

    slope = a * d - b * c
    n, q, side = a + b, np.minimum(c, d), np.where(c <= d, 1.0, -1.0)
    zero = np.log(c) - np.log(d)
    return split(n < 0.0, convex_part, concave_part, left, right, slope, n, q, side, a, b, zero)


def concave(
    fall: Fall,
    parameters: Sequence[Floats],
    left: Floats,
    right: Floats,
    reach_left: Floats,
    reach_right: Floats,
) -> list[Line]:
    """A hull of a concave log density that is highest at 0, where it is 0.

    To each side, the tangent at 0 up to where the density has fallen to about 1 / e, and from there
    on the chord from 0, extended.
    """
    slope = parameters[0]
    hull: list[Line] = []
    for side, bound, reach in ((-1.0, -left, reach_left), (1.0, right, reach_right)):
        near = fallen_by_one(fall, parameters, side, bound, reach)
        value = fall(side * near, *parameters)
        hull.append((0.0, side, near, 0.0, np.maximum(-side * slope, 0.0)))
        hull.append((side * near, side, bound - near, value, -value / near))
    return hull


def fallen_by_one(
    fall: Fall, parameters: Sequence[Floats], side: float, bound: Floats, reach: Floats
) -> Floats:
    """A distance over which the log density falls by 1, but not by half of that distance."""
    t = np.minimum(reach, bound)
    while (short := (t < bound) & (fall(side * t, *parameters) > -1.0)).any():
        t = np.where(short, np.minimum(2.0 * t, bound), t)
    while (long := fall(0.5 * side * t, *parameters) < -1.0).any():
        t = np.where(long, 0.5 * t, t)
    return t


def chords(
    fall: Fall, parameters: Sequence[Floats], left: Floats, right: Floats
) -> list[Line]:
    """A hull of a convex log density between finite ends: chords that grow from both ends."""
    parts = 0.25 ** np.arange(20, 0, -1.0)[:, None] * (right - left)
    ends = np.stack([left, *(left + parts), *(right - parts[::-1]), right])
    values = fall(ends, *parameters)
    width, rise = np.diff(ends, axis=0), np.diff(values, axis=0)
    up = rise > 0.0
    start, height = np.where(up, ends[1:], ends[:-1]), np.where(up, values[1:], values[:-1])
    return [*zip(start, np.where(up, -1.0, 1.0), width, height, np.abs(rise) / width, strict=True)]


def below(
    rng: Generator, fall: Fall, parameters: Sequence[Floats], hull: Sequence[Line]
) -> Floats:
    """Draws from a log density, by rejection from the lines of its hull."""
    lines = np.empty((5, len(hull), parameters[0].size))
    for j, line in enumerate(hull):
        for i, value in enumerate(line):
            lines[i, j] = value
    start, side, width, height, slope = lines
    slope = np.where(width > 0.0, slope, 0.0)
    log_mass = np.where(width > 0.0, height + np.log(extent(slope, width)), -np.inf)
    top = log_mass.max(0)
    require(np.isfinite(top), "a finite integral", *parameters)
    cumulative = np.cumsum(np.exp(log_mass - top), axis=0)
    z, left = np.empty(top.shape), np.arange(top.size)
    while left.size:
        u = rng.random(left.size) * cumulative[-1, left]
        at = (np.take(cumulative, left, axis=1) <= u).sum(0), left
        distance = along_line(rng, slope[at], width[at])
        candidate = start[at] + side[at] * distance
        level = height[at] - slope[at] * distance - rng.standard_exponential(left.size)
        accepted = fall(candidate, *(p[left] for p in parameters)) >= level
        z[left[accepted]] = candidate[accepted]
        left = left[~accepted]
    return z


def along_line(rng: Generator, slope: Floats, width: Floats) -> Floats:
    """Draws of a distance with log density ``-slope * distance``, up to a width."""
    u, drop = rng.random(slope.shape), slope * width
    with np.errstate(all="ignore"):
        return np.where(drop > FLAT, -np.log1p(u * np.expm1(-drop)) / slope, u * width)


def extent(slope: Floats, width: Floats) -> Floats:
    """The integral of ``exp(-slope * distance)`` over a width."""
    drop = slope * width
    return np.where(drop > FLAT, -np.expm1(-drop) / slope, width)


def split(
    case: Flags,
    one: Callable[..., Floats],
    other: Callable[..., Floats],
    *values: Floats,
) -> Floats:
    """``one`` of the values where the case holds, ``other`` elsewhere."""
    x = np.empty(case.shape)
    for at, function in ((case, one), (~case, other)):
        if at.any():
            x[at] = function(*(v[at] for v in values))
    return x


def rejected(attempt: Try, rng: Generator, *parameters: Floats) -> Floats:
    """The first accepted value of each element: ``attempt`` gives values and which to accept."""
    x, accepted = attempt(rng, *parameters)
    (left,) = np.nonzero(~accepted)
    while left.size:
        again, accepted = attempt(rng, *(p[left] for p in parameters))
        x[left[accepted]] = again[accepted]
        left = left[~accepted]
    return x


def require(proper: Flags | np.bool_, what: str, *found: Floats) -> None:
    """Raise an error that shows the first element that is not proper."""
    if not proper.all():
        first = int(np.argmin(proper))
        shown = ", ".join(str(float(f[first])) for f in found)
        raise ValueError(f"a truncated or special draw needs {what}; found {shown}")


def scaled(centre: Floats, u: Floats) -> Floats:
    """``centre * exp(u)``, also where ``exp(u)`` alone would overflow."""
    half = np.exp(0.5 * u)
    return np.minimum(centre * half * half, HUGE)


def log_ratio(x: Floats, centre: Floats) -> Floats:
    """``log(x / centre)``, to all digits where it is small."""
    ratio = (x - centre) / centre
    return np.where(np.abs(ratio) < 0.5, np.log1p(ratio), np.log(x) - np.log(centre))


def logit(x: Floats) -> Floats:
    """The log odds of x."""
    return np.log(x) - np.log1p(-x)


def logit_gap(x: Floats, c: Floats, d: Floats) -> Floats:
    """``logit(x) - logit(c)``, ``d = 1 - c``, to all digits where it is small."""
    gap = x - c
    near = np.log1p(gap / c) - np.log1p(-gap / d)
    return np.where(np.abs(gap) < 0.5 * np.minimum(c, d), near, logit(x) - np.log(c) + np.log(d))


def excess(u: Floats) -> Floats:
    """``exp(u) - 1 - u``, to all digits."""
    value = np.expm1(u) - u
    small = np.abs(u) < 1e-2
    if small.any():
        t = u[small]
        value[small] = 0.5 * t * t * (1 + t / 3 * (1 + t / 4 * (1 + t / 5 * (1 + t / 6))))
    return value


def times(k: Floats, value: Floats) -> Floats:
    """The product, where 0 times infinity is 0."""
    return np.where(k == 0.0, 0.0, k * value)
