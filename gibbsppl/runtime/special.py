"""Draws from natural parameters of less common families, on their supports and on intervals.

``draw(rng, *eta, size)`` is as in ``gibbsppl.runtime.draws``, and the truncated ones are as in
``gibbsppl.runtime.truncated``. Where there is no proper density: ``ValueError``.

>>> import numpy as np
>>> rng = np.random.default_rng(1)
>>> generalized_inverse_gaussian(rng, -0.5, np.array([-1e200, -1e180]), -1e200, size=(2,))
array([1.e+00, 1.e+10])
"""

from __future__ import annotations

import math

import numpy as np

from gibbsppl.runtime import draws
from gibbsppl.runtime.convex import rising_line, rising_square
from gibbsppl.runtime.draws import HUGE, SMALL_SHAPE
from gibbsppl.runtime.rejection import (
    log_ratio,
    logistic,
    powers,
    require,
    rising_powers,
    scaled,
    split,
)
from gibbsppl.runtime.rejection_one import (
    between_one,
    interval_one,
    log_of,
    powers_one,
    require_one,
    rising_powers_one,
)
from gibbsppl.runtime.truncated import flat, interval, shaped
from gibbsppl.runtime.types import Floats, Generator, Numbers, Size

BELOW_PI = float(np.nextafter(math.pi, 0.0))


def generalized_inverse_gaussian(
    rng: Generator, eta_1: Numbers, eta_2: Numbers, eta_3: Numbers, size: Size
) -> Numbers:
    """Draws with log density ``eta_1 log(x) + eta_2 x + eta_3 / x`` on x > 0."""
    return truncated_generalized_inverse_gaussian(rng, eta_1, eta_2, eta_3, 0.0, np.inf, size)


@np.errstate(all="ignore")
def truncated_generalized_inverse_gaussian(
    rng: Generator,
    eta_1: Numbers,
    eta_2: Numbers,
    eta_3: Numbers,
    lower: Numbers,
    upper: Numbers,
    size: Size,
) -> Numbers:
    """Draws with log density ``eta_1 log(x) + eta_2 x + eta_3 / x`` between bounds.

    The natural parameters may have any signs where the bounds make the integral finite.
    """
    if not size and eta_2 <= 0.0 and eta_3 <= 0.0:
        eta = float(eta_1), float(eta_2), float(eta_3)
        return _generalized_inverse_gaussian_one(rng, *eta, *interval_one(lower, upper, 0.0))
    lower, upper = interval(size, lower, upper, 0.0)
    eta_1, eta_2, eta_3 = flat(size, eta_1, eta_2, eta_3)
    p = eta_1 + 1.0
    proper = (eta_3 < 0.0) | ((eta_3 == 0.0) & (p > 0.0)) | (lower > 0.0)
    proper &= (eta_2 < 0.0) | ((eta_2 == 0.0) & (p < 0.0)) | (upper < np.inf)
    proper &= ~np.isnan(p + eta_2 + eta_3)
    require(proper, "a finite integral", eta_1, eta_2, eta_3, lower, upper)

    def convex(*values: Floats) -> Floats:
        return rising_line(rng, *values)

    def other(*values: Floats) -> Floats:
        return split(values[2] > 0.0, inverted, falling, *values)

    def inverted(
        eta_1: Floats, eta_2: Floats, eta_3: Floats, lower: Floats, upper: Floats
    ) -> Floats:
        return 1.0 / rising_line(rng, -eta_1 - 2.0, eta_3, eta_2, 1.0 / upper, 1.0 / lower)

    def falling(
        eta_1: Floats, eta_2: Floats, eta_3: Floats, lower: Floats, upper: Floats
    ) -> Floats:
        p, a, b = eta_1 + 1.0, -eta_2, -eta_3
        # The mode of log(x) solves p = a x - b / x; the root is taken without a difference.
        root = np.log(np.abs(p) / 2 + np.hypot(p / 2, np.sqrt(a) * np.sqrt(b)))
        log_mode = np.where(p > 0.0, root - np.log(a), np.log(b) - root)
        log_mode = np.where(p == 0.0, (np.log(b) - np.log(a)) / 2, log_mode)
        log_mode = np.where(np.isnan(log_mode), -np.inf, log_mode)
        return powers(rng, p, (1, -1), (a, b), log_mode, lower, upper)

    x = split(eta_2 > 0.0, convex, other, eta_1, eta_2, eta_3, lower, upper)
    return shaped(x, lower, upper, size)


def _generalized_inverse_gaussian_one(
    rng: Generator, eta_1: float, eta_2: float, eta_3: float, lower: float, upper: float
) -> float:
    """One such draw, in plain numbers, where ``eta_2 <= 0`` and ``eta_3 <= 0``."""
    p, a, b = eta_1 + 1.0, -eta_2, -eta_3
    proper = p > 0.0 or b > 0.0 or lower > 0.0
    proper &= p < 0.0 or a > 0.0 or upper < math.inf
    proper &= not math.isnan(p)
    require_one(proper, "a finite integral", eta_1, eta_2, eta_3, lower, upper)
    root = log_of(abs(p) / 2 + math.hypot(p / 2, math.sqrt(a) * math.sqrt(b)))
    log_mode = (log_of(b) - log_of(a)) / 2
    if p:
        log_mode = root - log_of(a) if p > 0.0 else log_of(b) - root
    if math.isnan(log_mode):
        log_mode = -math.inf
    x = powers_one(rng, p, ((1, a), (-1, b)), log_mode, lower, upper)
    return between_one(x, lower, upper)


@np.errstate(all="ignore")
def inverse_gaussian(rng: Generator, eta_1: Numbers, eta_2: Numbers, size: Size) -> Numbers:
    """Draws with log density ``eta_1 x + eta_2 / x - 3 log(x) / 2``; ``eta_1`` may be 0.

    With y chi-squared, the two x of (x - mu)^2 / (mu^2 x) = y / shape have the product mu^2, and
    the smaller one is taken with probability mu / (mu + x): Michael, Schucany and Haas (1976).
    """
    eta_1, eta_2 = flat(size, eta_1, eta_2)
    require((eta_1 <= 0.0) & (eta_2 < 0.0), "eta_1 <= 0 and eta_2 < 0", eta_1, eta_2)
    rate = np.sqrt(-eta_1) / np.sqrt(-eta_2)  # 1 / mu
    half = rng.standard_normal(eta_1.shape) ** 2 / -eta_2 / 4.0  # y / (2 shape)
    inverse = rate + half + np.sqrt(half) * np.sqrt(2.0 * rate + half)  # 1 / the smaller x
    smaller = rng.random(eta_1.shape) * (rate + inverse) <= inverse
    x = np.where(smaller, 1.0 / inverse, inverse / rate / rate)
    return shaped(np.minimum(x, HUGE), np.zeros(x.shape), np.full(x.shape, np.inf), size)


def modified_half_normal(
    rng: Generator, eta_1: Numbers, eta_2: Numbers, eta_3: Numbers, size: Size
) -> Numbers:
    """Draws with log density ``eta_1 log(x) + eta_2 x + eta_3 x**2`` on x > 0."""
    return truncated_modified_half_normal(rng, eta_1, eta_2, eta_3, 0.0, np.inf, size)


@np.errstate(all="ignore")
def truncated_modified_half_normal(
    rng: Generator,
    eta_1: Numbers,
    eta_2: Numbers,
    eta_3: Numbers,
    lower: Numbers,
    upper: Numbers,
    size: Size,
) -> Numbers:
    """Draws with log density ``eta_1 log(x) + eta_2 x + eta_3 x**2``, x > 0, between bounds.

    The natural parameters may have any signs where the bounds make the integral finite.
    """
    if not size and eta_3 <= 0.0:
        eta = float(eta_1), float(eta_2), float(eta_3)
        return _modified_half_normal_one(rng, *eta, *interval_one(lower, upper, 0.0))
    lower, upper = interval(size, lower, upper, 0.0)
    eta_1, eta_2, eta_3 = flat(size, eta_1, eta_2, eta_3)
    falls = (eta_3 < 0.0) | ((eta_3 == 0.0) & ((eta_2 < 0.0) | ((eta_2 == 0.0) & (eta_1 < -1.0))))
    proper = (falls | (upper < np.inf)) & ((eta_1 > -1.0) | (lower > 0.0))
    proper &= ~np.isnan(eta_1 + eta_2 + eta_3)
    require(proper, "a finite integral", eta_1, eta_2, eta_3, lower, upper)

    def convex(*values: Floats) -> Floats:
        return rising_square(rng, *values)

    def other(eta_1: Floats, eta_2: Floats, eta_3: Floats, lower: Floats, upper: Floats) -> Floats:
        return split(eta_2 > 0.0, rising, falling, eta_1, eta_2, -eta_3, lower, upper)

    def rising(eta_1: Floats, eta_2: Floats, B: Floats, lower: Floats, upper: Floats) -> Floats:
        return rising_powers(rng, eta_1, eta_2, B, lower, upper)

    def falling(eta_1: Floats, eta_2: Floats, B: Floats, lower: Floats, upper: Floats) -> Floats:
        p, half = np.maximum(eta_1 + 1.0, 0.0), -eta_2 / 2
        log_mode = np.log(p) - np.log(half + np.hypot(half, np.sqrt(2.0 * p) * np.sqrt(B)))
        log_mode = np.where(p > 0.0, log_mode, -np.inf)
        return powers(rng, eta_1 + 1.0, (1, 2), (-eta_2, B), log_mode, lower, upper)

    x = split(eta_3 > 0.0, convex, other, eta_1, eta_2, eta_3, lower, upper)
    return shaped(x, lower, upper, size)


def _modified_half_normal_one(
    rng: Generator, eta_1: float, eta_2: float, eta_3: float, lower: float, upper: float
) -> float:
    """One such draw, in plain numbers, where ``eta_3 <= 0``."""
    falls = eta_3 < 0.0 or eta_2 < 0.0 or (eta_2 == 0.0 and eta_1 < -1.0)
    proper = (falls or upper < math.inf) and (eta_1 > -1.0 or lower > 0.0)
    proper &= not math.isnan(eta_1 + eta_2)
    require_one(proper, "a finite integral", eta_1, eta_2, eta_3, lower, upper)
    if eta_2 > 0.0:
        x = rising_powers_one(rng, eta_1, eta_2, -eta_3, lower, upper)
        return between_one(x, lower, upper)
    p, half, B = max(eta_1 + 1.0, 0.0), -eta_2 / 2, -eta_3
    log_mode = -math.inf
    if p > 0.0:
        log_mode = math.log(p) - log_of(half + math.hypot(half, math.sqrt(2.0 * p) * math.sqrt(B)))
    x = powers_one(rng, eta_1 + 1.0, ((1, -eta_2), (2, B)), log_mode, lower, upper)
    return between_one(x, lower, upper)


@np.errstate(all="ignore")
def beta_prime(rng: Generator, eta_1: Numbers, eta_2: Numbers, size: Size) -> Numbers:
    """Draws with log density ``eta_1 log(x) + eta_2 log(1 + x)`` on x > 0."""
    a = np.add(eta_1, 1.0)
    b = -np.asarray(eta_2) - a
    if min(draws.least(a), draws.least(b)) < SMALL_SHAPE:
        return draws.from_log(draws.log_gamma_of(rng, a, size) - draws.log_gamma_of(rng, b, size))
    ratio = rng.standard_gamma(a, size or None) / rng.standard_gamma(b, size or None)
    return draws.positive(np.minimum(ratio, HUGE))


@np.errstate(all="ignore")
def truncated_beta_prime(
    rng: Generator, eta_1: Numbers, eta_2: Numbers, lower: Numbers, upper: Numbers, size: Size
) -> Numbers:
    """Draws with log density ``eta_1 log(x) + eta_2 log(1 + x)``, x > 0, between bounds."""
    lower, upper = interval(size, lower, upper, 0.0)
    eta_1, eta_2 = flat(size, eta_1, eta_2)
    a = eta_1 + 1.0
    b = -eta_2 - a
    proper = ((a > 0.0) | (lower > 0.0)) & ((b > 0.0) | (upper < np.inf))
    require(proper, "a finite integral", eta_1, eta_2, lower, upper)
    mode = np.where((a > 0.0) & (b > 0.0), a / b, np.where(a > 0.0, np.inf, 0.0))
    centre = np.clip(mode, lower, upper)
    c, d = centre / (1.0 + centre), 1.0 / (1.0 + centre)
    u = logistic(rng, a, b, c, d, log_ratio(lower, centre), log_ratio(upper, centre))
    return shaped(scaled(centre, u), lower, upper, size)


@np.errstate(all="ignore")
def von_mises(rng: Generator, eta_1: Numbers, eta_2: Numbers, size: Size) -> Numbers:
    """Draws with log density ``eta_1 cos(x) + eta_2 sin(x)`` on -pi < x < pi.

    Rejection from a wrapped Cauchy distribution (Best and Fisher 1979), written for the half angle:
    its tangent is then a Cauchy number, and a large concentration loses no digits.
    """
    eta_1, eta_2 = flat(size, eta_1, eta_2)
    concentration = np.hypot(eta_1, eta_2)
    require(np.isfinite(concentration), "a finite concentration", eta_1, eta_2)
    angle, left = np.empty(concentration.shape), np.arange(concentration.size)
    while left.size:
        k = concentration[left]
        tangent = 0.5 / np.sqrt(0.25 + k) * rng.standard_cauchy(left.size)
        # 4 k sin(angle / 2)^2; the ratio of the densities is highest where it is 1, or at 4 k.
        w = 4.0 * (k * (tangent / np.hypot(1.0, tangent)) ** 2)
        most = np.minimum(1.0, 4.0 * k)
        log_ratio_of_densities = (most - w) / 2 + np.log1p(w) - np.log1p(most)
        accepted = log_ratio_of_densities >= -rng.standard_exponential(left.size)
        angle[left[accepted]] = 2.0 * np.arctan(tangent[accepted])
        left = left[~accepted]
    x = angle + np.arctan2(eta_2, eta_1)
    x = np.where(np.abs(x) > math.pi, x - np.copysign(2.0 * math.pi, x), x)
    x = np.clip(x, -BELOW_PI, BELOW_PI)
    return x.reshape(size) if size else float(x[0])


@np.errstate(all="ignore")
def von_mises_fisher(rng: Generator, eta_1: Floats, size: Size) -> Floats:
    """Draws with log density ``eta_1 . x`` on the unit sphere, vectors along the last axis."""
    eta_1 = np.broadcast_to(np.asarray(eta_1, dtype=float), size).reshape(-1, size[-1])
    require(np.isfinite(eta_1).all(-1), "a finite vector", *eta_1.T)
    largest = np.max(np.abs(eta_1), -1, keepdims=True, initial=0.0)
    scaled_eta = eta_1 / np.where(largest > 0.0, largest, 1.0)
    length = np.linalg.norm(scaled_eta, axis=-1, keepdims=True)
    first = np.eye(1, size[-1])
    mean = np.where(length > 0.0, scaled_eta / np.where(length > 0.0, length, 1.0), first)
    y = half_chord(rng, (largest * length)[:, 0], size[-1] - 1.0)[:, None]
    across = rng.standard_normal(mean.shape)
    across -= (across * mean).sum(-1, keepdims=True) * mean
    across /= np.linalg.norm(across, axis=-1, keepdims=True)
    x = (1.0 - 2.0 * y) * mean + 2.0 * np.sqrt(y * (1.0 - y)) * across
    return (x / np.linalg.norm(x, axis=-1, keepdims=True)).reshape(size)


def half_chord(rng: Generator, concentration: Floats, m: float) -> Floats:
    """Draws of ``(1 - w) / 2``, w the cosine of the angle to the mean (Wood 1994).

    Wood's b is m / (4 k) where the concentration k is large: all is written in ``1 - w``, over b.
    """
    y, left = np.empty(concentration.shape), np.arange(concentration.size)
    while left.size:
        k = concentration[left]
        b = m / (2.0 * k + np.hypot(2.0 * k, m))
        z = rng.beta(m / 2, m / 2, left.size)
        over_b = z / (1.0 - (1.0 - b) * z)
        log_ratio_of_densities = 2.0 * (k * b) * (1.0 / (1.0 + b) - over_b)
        log_ratio_of_densities += m * np.log((1.0 + (1.0 - b) * over_b) * (1.0 + b) / 2.0)
        accepted = log_ratio_of_densities >= -rng.standard_exponential(left.size)
        y[left[accepted]] = b[accepted] * over_b[accepted]
        left = left[~accepted]
    return y
