"""Draws from log densities that fall from their mode, by rejection below a hull of lines.

The algorithms of `gibbsppl.runtime.rejection`, on numbers. A log density is measured from its mode
between the bounds: it is one of four functions of z, with four parameters a, b, c, d, and 0 at
z = 0.

    QUADRATIC  a z - b z**2
    POWERS     a z - b excess(z) - c excess(d z),  excess(z) = exp(z) - 1 - z
    SHIFTED    a z - b excess(log(1 + z)) - c z**2
    LOGISTIC   a z - b (log(1 + c (exp(d z) - 1)) - c d z),  d = 1 or -1
"""

from __future__ import annotations

from math import exp, expm1, inf, log1p

import numpy as np

from gibbsppl.runtime.rejection import FLAT
from gibbsppl.runtime.types import Floats, Generator

from . import kernel
from .elementary import excess, exp_of, log_of

# The kind of a function, and its parameters.
Fall = tuple[int, float, float, float, float]

QUADRATIC, POWERS, SHIFTED, LOGISTIC = range(4)

# A line falls from its start towards one side (1 or -1) over a width; its height at the start, its
# slope, and the sum of the integrals of the lines up to this one.
START, SIDE, WIDTH, HEIGHT, SLOPE, TOTAL = range(6)

# Lines of the two sides of a concave part, and of chords: see `add_chords`.
OF_SIDES = 4
CHORDS = 20
OF_ALL = OF_SIDES + 2 * CHORDS + 3

# No log density falls by 1 only beyond this.
FAR = 1e300


@kernel
def fall(z: float, of: Fall) -> float:
    """The log density at z."""
    kind, a, b, c, d = of
    if kind == QUADRATIC:
        return a * z - b * z * z
    if kind == LOGISTIC:
        w = d * z
        rise = log1p(c * expm1(w)) if w < 700.0 else w + log_of(c + (1.0 - c) * exp(-w))
        return a * z - b * (rise - c * w)
    height = a * z
    if kind == POWERS:
        height = height - b * excess(z) if b != 0.0 else height
        return height - c * excess(d * z) if c != 0.0 else height
    if b != 0.0:
        height -= b * excess(log1p(z) if z > -1.0 else -inf)
    return height - c * z * z


@kernel
def add_side(
    lines: Floats, n: int, side: float, bound: float, reach: float, of: Fall
) -> int:
    """One side of the hull of a concave log density, added to n lines; how many there are then.

    The tangent at 0 up to where the density has fallen to about 1 / e, and from there on the chord
    from 0, extended.
    """
    near = min(reach, bound, FAR)
    while near < bound and fall(side * near, of) > -1.0:
        near = min(2.0 * near, bound)
    while fall(0.5 * side * near, of) < -1.0:
        near *= 0.5
    if near > 0.0:
        add_line(lines, n, 0.0, side, near, 0.0, max(-side * of[1], 0.0))
        n += 1
    if near < bound:
        value = fall(side * near, of)
        slope = -value / near if near > 0.0 else inf
        add_line(lines, n, side * near, side, bound - near, value, slope)
        n += 1
    return n


@kernel
def add_chords(lines: Floats, n: int, left: float, right: float, of: Fall) -> int:
    """Chords of a convex log density between finite ends, added to n lines; how many there are.

    They grow from both ends, by a factor of four.
    """
    z, at_z = left, fall(left, of)
    for j in range(2 * CHORDS + 1):
        if j < CHORDS:
            w = left + 0.25 ** (CHORDS - j) * (right - left)
        elif j < 2 * CHORDS:
            w = right - 0.25 ** (j - CHORDS + 1) * (right - left)
        else:
            w = right
        at_w = fall(w, of)
        if w > z:
            if at_w > at_z:
                add_line(lines, n, w, -1.0, w - z, at_w, (at_w - at_z) / (w - z))
            else:
                add_line(lines, n, z, 1.0, w - z, at_z, (at_z - at_w) / (w - z))
            n += 1
        z, at_z = w, at_w
    return n


@kernel
def add_line(
    lines: Floats, n: int, start: float, side: float, width: float, height: float, slope: float
) -> None:
    """Write a line after n others."""
    lines[n, START] = start
    lines[n, SIDE] = side
    lines[n, WIDTH] = width
    lines[n, HEIGHT] = height
    lines[n, SLOPE] = slope


@kernel
def below(rng: Generator, lines: Floats, n: int, of: Fall) -> float:
    """A draw from a log density, by rejection from the n lines of its hull."""
    total = _weighed(lines, n)
    while True:
        u, i = rng.random() * total, 0
        while i < n - 1 and lines[i, TOTAL] <= u:
            i += 1
        slope = float(lines[i, SLOPE])
        distance = along_line(rng, slope, float(lines[i, WIDTH]))
        z = float(lines[i, START]) + float(lines[i, SIDE]) * distance
        level = float(lines[i, HEIGHT]) - slope * distance - rng.standard_exponential()
        if fall(z, of) >= level:
            return z


@kernel
def _weighed(lines: Floats, n: int) -> float:
    """The sum of the integrals of the lines, over that of the largest; ends up at every line."""
    top = -inf
    for i in range(n):
        mass = extent(float(lines[i, SLOPE]), float(lines[i, WIDTH]))
        lines[i, TOTAL] = float(lines[i, HEIGHT]) + log_of(mass)
        top = max(top, float(lines[i, TOTAL]))
    total = 0.0
    for i in range(n):
        total += exp_of(float(lines[i, TOTAL]) - top)
        lines[i, TOTAL] = total
    if not 0.0 < total < inf:
        raise ValueError("a truncated or special draw needs a finite integral")
    return total


@kernel
def along_line(rng: Generator, slope: float, width: float) -> float:
    """A distance with log density ``-slope * distance``, up to a width."""
    u, drop = rng.random(), slope * width
    return -log1p(u * expm1(-drop)) / slope if drop > FLAT else u * width


@kernel
def extent(slope: float, width: float) -> float:
    """The integral of ``exp(-slope * distance)`` over a width."""
    drop = slope * width
    return -expm1(-drop) / slope if drop > FLAT else width


@kernel
def concave(
    rng: Generator, left: float, right: float, reach_left: float, reach_right: float, of: Fall
) -> float:
    """A draw from a concave log density, its mode at 0, from ``-left`` to ``right``."""
    lines = np.empty((OF_SIDES, 6))
    n = add_side(lines, 0, -1.0, left, reach_left, of)
    n = add_side(lines, n, 1.0, right, reach_right, of)
    return below(rng, lines, n, of)
