"""Draws between bounds from log densities that a square bends upwards, by rejection below chords.

Between bounds any natural parameters have a density: a log density that rises with a square is
convex far out, where chords are above it. As in `rejection`, all arrays have one axis.

>>> import numpy as np
>>> z = rising_quadratic(np.random.default_rng(1), *np.ones((3, 4)) * [[-1e3], [1e3], [1.0]])
>>> bool(((z < 0.1) | (z > 0.9)).all())  # both ends are equally likely
True
"""

from __future__ import annotations

import numpy as np

from gibbsppl.runtime.draws import TINY, Generator
from gibbsppl.runtime.rejection import (
    STEEPEST,
    Array,
    below,
    chords,
    concave,
    excess,
    log_ratio,
    scaled,
    times,
)


@np.errstate(all="ignore")
def rising_quadratic(rng: Generator, slope: Array, k: Array, width: Array) -> Array:
    """Draws with log density ``slope z + k z**2``, ``k >= 0``, of z between 0 and a width."""
    # (measured from the higher end, where no digits are lost)
    turned = slope + k * width > 0.0
    slope = np.where(turned, -slope - 2.0 * k * width, slope)

    def rise(z: Array, slope: Array, k: Array) -> Array:
        return slope * z + k * z * z

    z = below(rng, rise, (slope, k), chords(rise, (slope, k), np.zeros(width.shape), width))
    return np.where(turned, width - z, z)


@np.errstate(all="ignore")
def convex_powers(
    rng: Generator, eta_1: Array, A: Array, B: Array, lower: Array, upper: Array
) -> Array:
    """Draws with log density ``eta_1 log(x) + A x + B x**2``, ``B > 0``, up to a finite bound.

    In log x it is concave below ``-A / (4 B)``, where it may have a mode, and convex above.
    """
    p = eta_1 + 1.0
    bend = np.clip(np.maximum(-A, 0.0) / (4.0 * B), lower, upper)
    is_bent = bend > lower
    discriminant = 1.0 - 8.0 * p * B / A / A
    mode = 2.0 * np.maximum(p, 0.0) / -A / (1.0 + np.sqrt(np.maximum(discriminant, 0.0)))
    mode = np.where(discriminant < 0.0, np.inf, mode)
    c = np.maximum(np.where(is_bent, np.clip(mode, lower, bend), upper), TINY)
    k_1, k_2 = np.clip(A * c, -STEEPEST, STEEPEST), np.minimum(B * c * c, STEEPEST)
    slope = np.where(is_bent & (c == mode), 0.0, p + k_1 + 2.0 * k_2)

    def fall(u: Array, slope: Array, k_1: Array, k_2: Array) -> Array:
        return slope * u + times(k_1, excess(u)) + times(k_2, excess(2.0 * u))

    parameters = (slope, k_1, k_2)
    left, right, bend = (log_ratio(x, c) for x in (lower, upper, bend))
    reach = 1.0 / np.maximum(np.sqrt(np.maximum(-k_1 - 4.0 * k_2, 1.0)), np.abs(slope))
    # Where A x + B x**2 < 1, the line of slope p is close.
    close = log_ratio(2.0 / (A + np.hypot(A, 2.0 * np.sqrt(B))), c)
    start = np.where(left == -np.inf, np.minimum(close, right), left)
    ends = np.where(is_bent, left, 0.0), np.where(is_bent, bend, 0.0)
    start = np.where(is_bent, bend, start)
    tail = np.where(is_bent, 0.0, start - left)
    hull = [
        *concave(fall, parameters, *ends, reach, reach),
        *chords(fall, parameters, start, right),
        (start, -1.0, tail, fall(start, *parameters), p),
    ]
    return scaled(c, below(rng, fall, parameters, hull))
