"""Draws of one number from log densities of powers, by rejection below a hull of lines.

The algorithms of `gibbsppl.runtime.rejection` and `convex` on numbers; from the same state of the
generator a draw is that of `rejection_one`, up to rounding. Bounds are those of `interval`.
"""

from __future__ import annotations

from math import expm1, inf, log, log1p, nextafter, sqrt

import numpy as np

from gibbsppl.runtime.draws import HUGE, TINY
from gibbsppl.runtime.rejection import STEEPEST
from gibbsppl.runtime.types import Generator

from . import kernel
from .elementary import at_least, at_most, exp_of, log_of, log_ratio, scaled
from .falls import (
    LOGISTIC,
    OF_ALL,
    POWERS,
    QUADRATIC,
    SHIFTED,
    Fall,
    add_chords,
    add_line,
    add_side,
    below,
    concave,
    fall,
)

# The coefficients a, b and the exponent r of a x and b x**r; and three more numbers of a draw.
Terms = tuple[float, float, float]


@kernel
def require_interval(lower: float, upper: float) -> None:
    """Raise an error unless there are numbers between the bounds."""
    if lower < 0.5 * lower + 0.5 * upper < upper:
        return
    if not nextafter(lower, inf) < upper:
        raise ValueError("a truncated draw needs numbers between lower and upper")


@kernel
def require_finite(proper: bool) -> None:
    """Raise an error unless the density is proper."""
    if not proper:
        raise ValueError("a truncated or special draw needs a finite integral")


@kernel
def quadratic(rng: Generator, slope: float, k: float, left: float, right: float) -> float:
    """A draw with log density ``slope z - k z**2``, highest at 0, from ``-left`` to ``right``."""
    sharpest = max(sqrt(k), abs(slope))
    reach = 1.0 / sharpest if sharpest > 0.0 else inf
    return concave(rng, left, right, reach, reach, (QUADRATIC, slope, k, 0.0, 0.0))


@kernel
def rising_quadratic(rng: Generator, slope: float, k: float, width: float) -> float:
    """A draw with log density ``slope z + k z**2``, ``k >= 0``, of z between 0 and a width."""
    # (measured from the higher end, where no digits are lost)
    turned = slope + k * width > 0.0
    if turned:
        slope = -slope - 2.0 * k * width
    lines, of = np.empty((OF_ALL, 6)), (QUADRATIC, slope, -k, 0.0, 0.0)
    z = below(rng, lines, add_chords(lines, 0, 0.0, width, of), of)
    return width - z if turned else z


@kernel
def powers(
    rng: Generator, p: float, terms: Terms, log_mode: float, lower: float, upper: float
) -> float:
    """A draw with log density ``(p - 1) log(x) - a x - b x**r``, neither a nor b negative."""
    a, b, r = terms
    free = log_of(lower) < log_mode < log_of(upper)
    mode = exp_of(log_mode)
    value = min(max(mode, lower, TINY), upper, HUGE)
    offset = log_mode - log(value) if free and mode != value else 0.0
    at = log(value) + offset
    k = at_most(exp_of(log_of(a) + at), STEEPEST)
    l = at_most(exp_of(log_of(b) + r * at), STEEPEST)
    slope = 0.0 if free else p - k - r * l
    left = max(offset - log_ratio(lower, value), 0.0)
    right = max(log_ratio(upper, value) - offset, 0.0)
    reach_left, reach_right = _reach(slope, k, l, r, -1.0), _reach(slope, k, l, r, 1.0)
    u = concave(rng, left, right, reach_left, reach_right, (POWERS, slope, k, l, r))
    return scaled(value, offset + u)


@kernel
def _reach(slope: float, k: float, l: float, r: float, side: float) -> float:
    """About where the log density of `powers` has fallen by 1, on one side."""
    reach = 1.0 / abs(slope) if slope != 0.0 else inf
    if k > 0.0:
        far = sqrt(2.0 / k) + 1.0 / k
        reach = min(reach, log1p(far) if side > 0.0 else far)
    if l > 0.0:
        far = sqrt(2.0 / l) + 1.0 / l
        reach = min(reach, (log1p(far) if r * side > 0.0 else far) / abs(r))
    return reach


@kernel
def rising_powers(
    rng: Generator, eta_1: float, A: float, B: float, lower: float, upper: float
) -> float:
    """A draw with log density ``eta_1 log(x) + A x - B x**2``, ``A > 0`` and ``B >= 0``."""
    if eta_1 >= 0.0:
        return _concave_powers(rng, eta_1, A, B, lower, upper)
    return _bent_powers(rng, eta_1, A, B, lower, upper)


@kernel
def _concave_powers(
    rng: Generator, eta_1: float, A: float, B: float, lower: float, upper: float
) -> float:
    """The same for ``eta_1 >= 0``, where the log density is concave in x."""
    upper = min(upper, HUGE)
    root = float(np.hypot(A / 2, sqrt(2 * B * eta_1)))
    mode = (A / 2 + root) / (2 * B) if B > 0.0 else inf
    c = min(max(mode, lower, TINY), upper)
    k = B * c * c
    slope = 0.0 if c == mode else eta_1 + A * c - 2.0 * k
    sharpest = max(sqrt(eta_1 / 2 + k), abs(slope))
    reach = 1.0 / sharpest if sharpest > 0.0 else inf
    left, right = (c - lower) / c, (upper - c) / c
    of = (SHIFTED, slope, float(eta_1), k, 0.0)
    return c + c * concave(rng, left, right, reach, reach, of)


@kernel
def _bent_powers(
    rng: Generator, eta_1: float, A: float, B: float, lower: float, upper: float
) -> float:
    """The same for any ``eta_1``: in log x, convex below ``A / (4 B)`` and concave above."""
    p = eta_1 + 1.0
    bend = A / (4 * B) if B > 0.0 else inf
    discriminant = 1.0 + 8.0 * p * B / A / A
    mode = bend * (1.0 + sqrt(max(discriminant, 0.0)))
    c = min(max(mode, lower, TINY), upper)
    k, l = A * c, B * c * c
    slope = 0.0 if c == mode and discriminant >= 0.0 else p + k - 2.0 * l
    left, right = log_ratio(lower, c), log_ratio(upper, c)
    bend = log_ratio(min(max(bend, lower), upper), c)
    reach = 1.0 / max(sqrt(max(4.0 * l - k, 1.0)), abs(slope))
    # Where A x < 1, the line of slope p is close.
    start = min(-log_of(k), bend) if left == -inf else left
    lines, of = np.empty((OF_ALL, 6)), (POWERS, slope, -k, l, 2.0)
    n = add_side(lines, 0, -1.0, -bend, reach, of)
    n = add_side(lines, n, 1.0, right, reach, of)
    n = add_chords(lines, n, start, bend, of)
    if start > left:
        at_start = fall(start, of)
        add_line(lines, n, start, -1.0, start - left, at_start, p)
        n += 1
    return scaled(c, below(rng, lines, n, of))


@kernel
def rising_square(
    rng: Generator, eta_1: float, eta_2: float, eta_3: float, lower: float, upper: float
) -> float:
    """A draw with log density ``eta_1 log(x) + eta_2 x + eta_3 x**2``, ``eta_3 > 0``."""
    p, falling = eta_1 + 1.0, max(-eta_2, 0.0)
    bend, mode, close = falling / (4.0 * eta_3), inf, _close(eta_2, eta_3)
    if falling > 0.0:
        within = 1.0 - 8.0 * p * eta_3 / eta_2 / eta_2
        if within >= 0.0:
            mode = 2.0 * max(p, 0.0) / -eta_2 / (1.0 + sqrt(within))
    return _bent(rng, p, (eta_2, eta_3, 2.0), (bend, mode, close), lower, upper)


@kernel
def _close(eta_2: float, eta_3: float) -> float:
    """Below this, ``eta_2 x + eta_3 x**2`` is less than about 1."""
    root = float(np.hypot(eta_2, 2.0 * sqrt(eta_3)))
    if eta_2 >= 0.0:
        return 2.0 / (eta_2 + root)
    return (root - eta_2) / (2.0 * eta_3)  # the same, without a difference


@kernel
def rising_line(
    rng: Generator, eta_1: float, eta_2: float, eta_3: float, lower: float, upper: float
) -> float:
    """A draw with log density ``eta_1 log(x) + eta_2 x + eta_3 / x``, ``eta_2 > 0``."""
    p, b, mode = eta_1 + 1.0, max(-eta_3, 0.0), inf
    bend = sqrt(b) / sqrt(eta_2)
    # (the mode is the smaller root of eta_2 x**2 + p x + b, where p < 0)
    if b > 0.0:
        apart = -p / 2 / sqrt(eta_2) / sqrt(b)
        if apart >= 1.0:
            mode = bend / (apart + sqrt(apart - 1.0) * sqrt(apart + 1.0))
    return _bent(rng, p, (eta_2, eta_3, -1.0), (bend, mode, 1.0 / eta_2), lower, upper)


@kernel
def _bent(
    rng: Generator, p: float, terms: Terms, places: Terms, lower: float, upper: float
) -> float:
    """A draw with log density ``p u + a x + b x**r`` of u, the log of x, up to a finite bound.

    In u the log density is concave below the log of ``bend``, with a ``mode`` there (infinite if it
    rises all the way), and convex above. Wholly convex, it is nearly a line below ``close``.
    """
    (a, b, r), (bend, mode, close) = terms, places
    bend = min(max(bend, lower), upper)
    is_bent = bend > lower
    c = max(min(max(mode, lower), bend) if is_bent else upper, TINY)
    k, l = _steep(a, c, 1.0), _steep(b, c, r)
    slope = 0.0 if is_bent and c == mode else p + k + r * l
    left, right, at_bend = log_ratio(lower, c), log_ratio(upper, c), log_ratio(bend, c)
    lines, n, of = np.empty((OF_ALL, 6)), 0, (POWERS, slope, -k, -l, r)
    if is_bent:
        reach = 1.0 / max(sqrt(max(-k - r * r * l, 1.0)), abs(slope))
        n = add_side(lines, 0, -1.0, -left, reach, of)
        n = add_side(lines, n, 1.0, at_bend, reach, of)
        start = at_bend
    else:
        start = min(log_ratio(close, c), right) if left == -inf else left
    n = add_chords(lines, n, start, right, of)
    if not is_bent and start > left:
        at_start = fall(start, of)
        add_line(lines, n, start, -1.0, start - left, at_start, p)
        n += 1
    return scaled(c, below(rng, lines, n, of))


@kernel
def _steep(b: float, c: float, r: float) -> float:
    """``b c**r``, between the steepest numbers."""
    half = c
    if r != 2.0:
        half = sqrt(c) if r == 1.0 else 1.0 / sqrt(c)
    return at_most(at_least(b * half * half, -STEEPEST), STEEPEST)


@kernel
def logistic(
    rng: Generator, a: float, b: float, c: float, d: float, left: float, right: float
) -> float:
    """A draw of u, log density ``a log(x) + b log(1 - x)`` at ``logit(x) = logit(c) + u``.

    c is the mode between the bounds, or one of the bounds where the log density is convex, and
    ``d = 1 - c``. The bounds of u are left and right.
    """
    slope, n, q, side = a * d - b * c, a + b, min(c, d), 1.0 if c <= d else -1.0
    of = (LOGISTIC, slope, n, q, side)
    if n < 0.0:
        return _convex_logistic(rng, (a, b, log_of(c) - log_of(d)), of, left, right)
    most = 1.0 / abs(slope) if slope != 0.0 else inf
    steep, slow = inf, inf
    if n > 0.0 and q > 0.0:
        h = 1.0 / n
        y = expm1(min(h, 600.0)) / q
        steep = log1p(y + sqrt(2.0 * y)) if h < 600.0 else h - log(q)
        slow = sqrt(2.0 * h / q) + h / q
    reach_left = min(steep if side < 0.0 else slow, most)
    reach_right = min(steep if side > 0.0 else slow, most)
    return concave(rng, -left, right, reach_left, reach_right, of)


@kernel
def _convex_logistic(
    rng: Generator, shapes: Terms, of: Fall, left: float, right: float
) -> float:
    """The same where ``a + b < 0``, from chords and the lines of both ends."""
    (a, b, zero), n = shapes, of[2]
    # Beyond the log odds where -n log(1 + odds) = 1, the lines of slope a and -b are close.
    h = -1.0 / n
    close = log(expm1(h)) if h < 700.0 else h
    start, end = left, right
    if left == -inf:
        start = min(close - zero, right)
    if right == inf:
        end = max(-close - zero, left)
    lines = np.empty((OF_ALL, 6))
    count = add_chords(lines, 0, start, end, of)
    if start > left:
        height = fall(start, of)
        add_line(lines, count, start, -1.0, start - left, height, a)
        count += 1
    if end < right:
        height = fall(end, of)
        add_line(lines, count, end, 1.0, right - end, height, b)
        count += 1
    return below(rng, lines, count, of)
