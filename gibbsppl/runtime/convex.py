"""Draws between bounds from log densities that bend upwards, by rejection below chords.

Between bounds any natural parameters have a density: a log density that rises with a square, or
with a power on the scale of log x, is convex far out, where chords are above it. As in
`rejection`, all arrays have one axis.

>>> import numpy as np
>>> z = rising_quadratic(np.random.default_rng(1), *np.ones((3, 4)) * [[-1e3], [1e3], [1.0]])
>>> bool(((z < 0.1) | (z > 0.9)).all())  # both ends are equally likely
True
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gibbsppl.runtime.draws import TINY
from gibbsppl.runtime.rejection import (
    STEEPEST,
    below,
    chords,
    concave,
    excess,
    log_ratio,
    scaled,
    times,
)
from gibbsppl.runtime.types import Floats, Generator


@np.errstate(all="ignore")
def rising_quadratic(rng: Generator, slope: Floats, k: Floats, width: Floats) -> Floats:
    """Draws with log density ``slope z + k z**2``, ``k >= 0``, of z between 0 and a width."""
    # (measured from the higher end, where no digits are lost)
    turned = slope + k * width > 0.0
    slope = np.where(turned, -slope - 2.0 * k * width, slope)

    def rise(z: Floats, slope: Floats, k: Floats) -> Floats:
        return slope * z + k * z * z

    z = below(rng, rise, (slope, k), chords(rise, (slope, k), np.zeros(width.shape), width))
    return np.where(turned, width - z, z)


@dataclass(frozen=True, slots=True)
class Bent:
    """A log density ``p u + sum of coefficient * exp(rate * u)`` of u, the log of x.

    In u the log density is concave below the log of ``bend``, with a ``mode`` there (infinite if it
    rises all the way), and convex above. Wholly convex, it is nearly a line below ``close``.
    """

    p: Floats
    rates: tuple[int, int]
    coefficients: tuple[Floats, Floats]
    bend: Floats
    mode: Floats
    close: Floats


@np.errstate(all="ignore")
def bent_powers(rng: Generator, of: Bent, lower: Floats, upper: Floats) -> Floats:
    """Draws of x with such a log density of log x, up to a finite bound."""
    bend = np.clip(of.bend, lower, upper)
    is_bent = bend > lower
    c = np.maximum(np.where(is_bent, np.clip(of.mode, lower, bend), upper), TINY)
    pairs = [*zip(of.rates, of.coefficients, strict=True)]
    k = [np.clip(b * c ** (r / 2) * c ** (r / 2), -STEEPEST, STEEPEST) for r, b in pairs]
    there = of.p + sum(r * k_r for r, k_r in zip(of.rates, k, strict=True))
    slope = np.where(is_bent & (c == of.mode), 0.0, there)

    def fall(u: Floats, slope: Floats, *k: Floats) -> Floats:
        return slope * u + sum(
            times(k_r, excess(r * u)) for r, k_r in zip(of.rates, k, strict=True)
        )

    parameters = (slope, *k)
    left, right, bend = (log_ratio(x, c) for x in (lower, upper, bend))
    curvature = sum(r * r * k_r for r, k_r in zip(of.rates, k, strict=True))
    reach = 1.0 / np.maximum(np.sqrt(np.maximum(-curvature, 1.0)), np.abs(slope))
    start = np.where(left == -np.inf, np.minimum(log_ratio(of.close, c), right), left)
    ends = np.where(is_bent, left, 0.0), np.where(is_bent, bend, 0.0)
    start = np.where(is_bent, bend, start)
    tail = np.where(is_bent, 0.0, start - left)
    hull = [
        *concave(fall, parameters, *ends, reach, reach),
        *chords(fall, parameters, start, right),
        (start, -1.0, tail, fall(start, *parameters), of.p),
    ]
    return scaled(c, below(rng, fall, parameters, hull))


@np.errstate(all="ignore")
def rising_square(
    rng: Generator, eta_1: Floats, eta_2: Floats, eta_3: Floats, lower: Floats, upper: Floats
) -> Floats:
    """Draws with log density ``eta_1 log(x) + eta_2 x + eta_3 x**2``, ``eta_3 > 0``."""
    p = eta_1 + 1.0
    bend = np.maximum(-eta_2, 0.0) / (4.0 * eta_3)
    within = 1.0 - 8.0 * p * eta_3 / eta_2 / eta_2
    mode = 2.0 * np.maximum(p, 0.0) / -eta_2 / (1.0 + np.sqrt(np.maximum(within, 0.0)))
    mode = np.where(within < 0.0, np.inf, mode)
    close = 2.0 / (eta_2 + np.hypot(eta_2, 2.0 * np.sqrt(eta_3)))
    return bent_powers(rng, Bent(p, (1, 2), (eta_2, eta_3), bend, mode, close), lower, upper)


@np.errstate(all="ignore")
def rising_line(
    rng: Generator, eta_1: Floats, eta_2: Floats, eta_3: Floats, lower: Floats, upper: Floats
) -> Floats:
    """Draws with log density ``eta_1 log(x) + eta_2 x + eta_3 / x``, ``eta_2 > 0``."""
    p, b = eta_1 + 1.0, np.maximum(-eta_3, 0.0)
    bend = np.sqrt(b) / np.sqrt(eta_2)
    # (the mode is the smaller root of eta_2 x**2 + p x + b, where p < 0)
    apart = -p / 2 / np.sqrt(eta_2) / np.sqrt(b)
    far = apart + np.sqrt(np.maximum(apart - 1.0, 0.0)) * np.sqrt(apart + 1.0)
    mode = np.where(apart >= 1.0, bend / far, np.inf)
    return bent_powers(
        rng, Bent(p, (1, -1), (eta_2, eta_3), bend, mode, 1.0 / eta_2), lower, upper
    )
