"""Draws from natural parameters on an interval: one function per family, whole arrays at a time.

``draw(rng, *eta, lower, upper, size)`` is as in ``gibbsppl.runtime.draws``, with the density cut to
``lower < x < upper``. Bounds may differ by element and be infinite; outside of the family's support
they stand for its ends. Where there is no proper density: ``ValueError``.

A draw of the family itself that falls between the bounds is taken. The rest is drawn below a hull
of lines, on a scale on which the log density is concave: exact however far in a tail the interval
is, and however narrow. Truncated Normals go through the distribution function where it has digits.

>>> import numpy as np
>>> rng = np.random.default_rng(1)
>>> lower, upper = np.array([40.0, -np.inf]), np.array([np.inf, -9.0])
>>> truncated_normal(rng, 0.0, -0.5, lower, upper, size=(2,)).round()
array([40., -9.])
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import scipy

from gibbsppl.runtime import draws
from gibbsppl.runtime.convex import rising_quadratic
from gibbsppl.runtime.draws import HUGE, TINY
from gibbsppl.runtime.rejection import (
    along_line,
    centred,
    log_ratio,
    logistic,
    logit,
    logit_gap,
    powers,
    quadratic,
    rejected,
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
from gibbsppl.runtime.types import Flags, Floats, Generator, Numbers, Size

# The distribution function has digits up to so many standard deviations from the mean, where it
# differs by such a part between the bounds. Intervals of which the log density falls by less than
# the last have even candidates.
DEEP = 35.0
NARROW = 1e-3
EVEN = 1.4


def truncated_uniform(rng: Generator, lower: Numbers, upper: Numbers, size: Size) -> Numbers:
    """Draws of equal density between two finite bounds."""
    lower, upper = interval(size, lower, upper)
    require(np.isfinite(lower) & np.isfinite(upper), "finite bounds", lower, upper)
    u = rng.random(lower.shape)
    return shaped(lower * (1.0 - u) + upper * u, lower, upper, size)


def truncated_normal(
    rng: Generator, eta_1: Numbers, eta_2: Numbers, lower: Numbers, upper: Numbers, size: Size
) -> Numbers:
    """Draws with log density ``eta_1 x + eta_2 x**2``; between finite bounds, of any signs."""
    if not size and eta_2 < 0.0:
        x = _normal_one(rng, float(eta_1), float(eta_2), *interval_one(lower, upper, -math.inf))
        if x is not None:
            return x

    def cut(eta_1: Floats, eta_2: Floats, lower: Floats, upper: Floats) -> Floats:
        return split(eta_2 > 0.0, convex, bell, eta_1, eta_2, lower, upper)

    def convex(eta_1: Floats, eta_2: Floats, lower: Floats, upper: Floats) -> Floats:
        width = upper - lower
        require(np.isfinite(width), "a finite integral", eta_1, eta_2, lower, upper)
        return lower + rising_quadratic(rng, eta_1 + 2.0 * eta_2 * lower, eta_2, width)

    def bell(eta_1: Floats, eta_2: Floats, lower: Floats, upper: Floats) -> Floats:
        require(eta_2 <= 0.0, "numbers", eta_2)
        sd = np.sqrt(-0.5 / eta_2)
        mean = np.where(eta_2 < 0.0, -0.5 * eta_1 / eta_2, np.sign(eta_1) * np.inf)
        scaled = (np.abs(mean) < HUGE) & (sd > 0.0) & (sd < np.inf)
        return split(scaled, normal, hulled, eta_1, eta_2, lower, upper, mean, sd)

    def normal(*values: Floats) -> Floats:
        lower, upper, mean, sd = values[2:]
        # Upside down where the interval is in the lower tail.
        turned = lower - mean < mean - upper
        sign = np.where(turned, -1.0, 1.0)
        near = np.where(turned, mean - upper, lower - mean) / sd
        far = np.where(turned, mean - lower, upper - mean) / sd
        top, bottom = scipy.special.ndtr(-near), scipy.special.ndtr(-far)
        (few,) = np.nonzero(~((near < DEEP) & (top - bottom > NARROW * top)))
        u = rng.random(mean.shape)
        z = -scipy.special.ndtri(top + u * (bottom - top))
        x: Floats = mean + sign * sd * z
        if few.size:
            x[few] = _far_or_narrow(rng, *(v[few] for v in (sign, sd, near, lower, upper)))
        return x

    def hulled(*values: Floats) -> Floats:
        eta_1, eta_2, lower, upper, mean, _ = values
        centre = np.clip(np.where((eta_2 == 0.0) & (eta_1 == 0.0), lower, mean), lower, upper)
        require(np.isfinite(centre), "a finite integral", eta_1, eta_2, lower, upper)
        slope = np.where(centre == mean, 0.0, eta_1 + 2.0 * eta_2 * centre)
        return centre + quadratic(rng, slope, -eta_2, lower - centre, upper - centre)

    plain = draws.normal if size and draws.least(np.negative(eta_2)) > 0.0 else None
    return first_plain(rng, plain, cut, (eta_1, eta_2), interval(size, lower, upper), size)


def _far_or_narrow(
    rng: Generator, sign: Floats, sd: Floats, near: Floats, lower: Floats, upper: Floats
) -> Floats:
    """Normal draws beyond a bound far from the mean, or on a narrow interval: from that bound."""
    width = (upper - lower) / sd
    near = np.minimum(near, HUGE)
    # (where the mean is inside of it, the interval is narrow)
    even = (near < 0.0) | (width * (near + 0.5 * width) < EVEN)
    z = np.empty(sd.shape)
    for chosen, attempt in ((even, _try_even), (~even, _try_beyond)):
        (places,) = np.nonzero(chosen)
        z[places] = rejected(attempt, rng, near[places], width[places])
    x: Floats = np.where(sign < 0.0, upper, lower) + sign * sd * z
    return x


def _try_even(rng: Generator, near: Floats, width: Floats) -> tuple[Floats, Flags]:
    """Even candidates for the distance from a bound, which is below the mean if negative."""
    z = width * rng.random(near.size)
    fall = np.where(near < 0.0, (near + z) ** 2 / 2.0, z * (near + z / 2.0))
    return z, rng.standard_exponential(near.size) >= fall


def _try_beyond(rng: Generator, near: Floats, width: Floats) -> tuple[Floats, Flags]:
    """Exponential candidates for the distance from a bound far out."""
    z = rng.standard_exponential(near.size) / near
    return z, (rng.standard_exponential(near.size) >= z * z / 2.0) & (z < width)


def _normal_one(
    rng: Generator, eta_1: float, eta_2: float, lower: float, upper: float
) -> float | None:
    """One such draw, in plain numbers; none where the distribution function has no digits."""
    x = draws.normal(rng, eta_1, eta_2, ())
    if lower < x < upper:
        return float(x)
    mean, sd = -0.5 * eta_1 / eta_2, math.sqrt(-0.5 / eta_2)
    sign = -1.0 if lower - mean < mean - upper else 1.0
    near = (lower - mean if sign > 0.0 else mean - upper) / sd
    far = (upper - mean if sign > 0.0 else mean - lower) / sd
    if not near < DEEP:
        return None
    top = float(scipy.special.log_ndtr(-near))
    drop = top - float(scipy.special.log_ndtr(-far))
    if not drop > NARROW:
        return None
    level = top + math.log1p(rng.random() * math.expm1(-drop))
    x = mean - sign * sd * float(scipy.special.ndtri_exp(level))
    return between_one(x, lower, upper)


def truncated_half_normal(
    rng: Generator, eta_1: Numbers, lower: Numbers, upper: Numbers, size: Size
) -> Numbers:
    """Draws with log density ``eta_1 x**2`` on x > 0."""
    return truncated_normal(rng, 0.0, eta_1, np.maximum(lower, 0.0), upper, size)


def truncated_log_normal(
    rng: Generator, eta_1: Numbers, eta_2: Numbers, lower: Numbers, upper: Numbers, size: Size
) -> Numbers:
    """Draws with log density ``eta_1 log(x) + eta_2 log(x)**2``; between bounds, of any signs."""

    def cut(eta_1: Floats, eta_2: Floats, lower: Floats, upper: Floats) -> Floats:
        endless = (eta_2 == 0.0) & np.isinf(log_ratio(upper, lower))
        return split(endless, power, curved, eta_1, eta_2, lower, upper)

    def power(eta_1: Floats, eta_2: Floats, lower: Floats, upper: Floats) -> Floats:
        slope = eta_1 + 1.0
        end = np.where(slope > 0.0, upper, lower)
        is_end = (slope != 0.0) & (end > 0.0) & np.isfinite(end)
        require(is_end, "a finite integral", eta_1, eta_2, lower, upper)
        return scaled(end, -rng.standard_exponential(slope.shape) / slope)

    def curved(eta_1: Floats, eta_2: Floats, lower: Floats, upper: Floats) -> Floats:
        return split(eta_2 >= 0.0, convex, bell, eta_1, eta_2, lower, upper)

    def convex(eta_1: Floats, eta_2: Floats, lower: Floats, upper: Floats) -> Floats:
        width = log_ratio(upper, lower)
        require(np.isfinite(width), "a finite integral", eta_1, eta_2, lower, upper)
        slope = eta_1 + 1.0 + 2.0 * eta_2 * np.log(lower)
        return scaled(lower, rising_quadratic(rng, slope, eta_2, width))

    def bell(eta_1: Floats, eta_2: Floats, lower: Floats, upper: Floats) -> Floats:
        require(eta_2 < 0.0, "numbers", eta_2)
        at = centred(-0.5 * (eta_1 + 1.0) / eta_2, lower, upper)
        slope = at.slope(eta_1 + 1.0 + 2.0 * eta_2 * at.log)
        return scaled(at.value, at.offset + quadratic(rng, slope, -eta_2, at.left, at.right))

    plain = draws.log_normal if draws.least(np.negative(eta_2)) > 0.0 else None
    return first_plain(rng, plain, cut, (eta_1, eta_2), interval(size, lower, upper, 0.0), size)


def truncated_exponential(
    rng: Generator, eta_1: Numbers, lower: Numbers, upper: Numbers, size: Size
) -> Numbers:
    """Draws with log density ``eta_1 x``, of any sign; ``-0.0`` is one too small for a number."""
    lower, upper = interval(size, lower, upper)
    (slope,) = flat(size, eta_1)
    slope = np.where((slope == 0.0) & np.signbit(slope), -TINY, slope)
    rising = (slope > 0.0) | ((slope == 0.0) & np.isinf(lower))
    start = np.where(rising, upper, lower)
    proper = np.isfinite(start) & np.isfinite(slope) & ((slope != 0.0) | np.isfinite(upper - lower))
    require(proper, "a finite integral", slope, lower, upper)
    distance = along_line(rng, np.abs(slope), upper - lower)
    return shaped(start + np.where(rising, -distance, distance), lower, upper, size)


def truncated_power(
    rng: Generator, eta_1: Numbers, lower: Numbers, upper: Numbers, size: Size
) -> Numbers:
    """Draws with log density ``eta_1 log(x)`` on x > 0: Pareto, power function, log-uniform."""
    lower, upper = interval(size, lower, upper, 0.0)
    (slope,) = flat(size, np.add(eta_1, 1.0))
    rising = slope > 0.0
    start = np.where(rising, upper, lower)
    proper = (start > 0.0) & (start < np.inf) & np.isfinite(slope)
    proper &= (slope != 0.0) | ((lower > 0.0) & (upper < np.inf))
    require(proper, "a finite integral", slope - 1.0, lower, upper)
    with np.errstate(all="ignore"):
        distance = along_line(rng, np.abs(slope), np.abs(log_ratio(lower, upper)))
        return shaped(scaled(start, np.where(rising, -distance, distance)), lower, upper, size)


def truncated_gamma(
    rng: Generator, eta_1: Numbers, eta_2: Numbers, lower: Numbers, upper: Numbers, size: Size
) -> Numbers:
    """Draws with log density ``eta_1 log(x) + eta_2 x``; between bounds, of any signs."""
    if not size:
        return _gamma_one(rng, float(eta_1), float(eta_2), *interval_one(lower, upper, 0.0))

    def cut(eta_1: Floats, eta_2: Floats, lower: Floats, upper: Floats) -> Floats:
        proper = (eta_2 < 0.0) | (upper < np.inf) | ((eta_2 == 0.0) & (eta_1 < -1.0))
        proper &= (eta_1 > -1.0) | (lower > 0.0)
        require(proper, "a finite integral", eta_1, eta_2, lower, upper)
        return split(eta_2 > 0.0, rising, falling, eta_1, eta_2, lower, upper)

    def rising(eta_1: Floats, eta_2: Floats, lower: Floats, upper: Floats) -> Floats:
        return rising_powers(rng, eta_1, eta_2, np.zeros(eta_1.shape), lower, upper)

    def falling(eta_1: Floats, eta_2: Floats, lower: Floats, upper: Floats) -> Floats:
        p = eta_1 + 1.0
        log_mode = np.where(p > 0.0, np.log(p) - np.log(-eta_2), -np.inf)
        return powers(rng, p, (1,), (-eta_2,), log_mode, lower, upper)

    proper = draws.least(eta_1) > -1.0 and draws.least(np.negative(eta_2)) > 0.0
    plain = draws.gamma if proper else None
    return first_plain(rng, plain, cut, (eta_1, eta_2), interval(size, lower, upper, 0.0), size)


def _gamma_one(
    rng: Generator, eta_1: float, eta_2: float, lower: float, upper: float
) -> float:
    """One such draw, in plain numbers."""
    proper = eta_2 < 0.0 or upper < math.inf or (eta_2 == 0.0 and eta_1 < -1.0)
    proper &= (eta_1 > -1.0 or lower > 0.0) and not math.isnan(eta_1 + eta_2)
    require_one(proper, "a finite integral", eta_1, eta_2, lower, upper)
    if eta_1 > -1.0 and eta_2 < 0.0:
        x = float(draws.gamma(rng, eta_1, eta_2, ()))
        if lower < x < upper:
            return between_one(x, lower, upper)
    if eta_2 > 0.0:
        x = rising_powers_one(rng, eta_1, eta_2, 0.0, lower, upper)
    else:
        p = eta_1 + 1.0
        log_mode = math.log(p) - log_of(-eta_2) if p > 0.0 else -math.inf
        x = powers_one(rng, p, ((1, -eta_2),), log_mode, lower, upper)
    return between_one(x, lower, upper)


def truncated_inverse_gamma(
    rng: Generator, eta_1: Numbers, eta_2: Numbers, lower: Numbers, upper: Numbers, size: Size
) -> Numbers:
    """Draws with log density ``eta_1 log(x) + eta_2 / x``; between bounds, of any signs."""
    if not size:
        low, high = interval_one(lower, upper, 0.0)
        ends = 1.0 / high, 1.0 / low if low else math.inf
        x = truncated_gamma(rng, -float(eta_1) - 2.0, eta_2, *ends, size)
        return between_one(1.0 / x, low, high)  # type: ignore[arg-type]  # a number
    lower, upper = interval(size, lower, upper, 0.0)
    eta_1, eta_2 = flat(size, eta_1, eta_2)
    with np.errstate(divide="ignore", over="ignore"):
        inverted = truncated_gamma(rng, -eta_1 - 2.0, eta_2, 1.0 / upper, 1.0 / lower, lower.shape)
        return shaped(1.0 / inverted, lower, upper, size)


def truncated_beta(
    rng: Generator, eta_1: Numbers, eta_2: Numbers, lower: Numbers, upper: Numbers, size: Size
) -> Numbers:
    """Draws with log density ``eta_1 log(x) + eta_2 log(1 - x)``; between bounds, of any signs."""

    def cut(eta_1: Floats, eta_2: Floats, lower: Floats, upper: Floats) -> Floats:
        a, b = eta_1 + 1.0, eta_2 + 1.0
        proper = ((a > 0.0) | (lower > 0.0)) & ((b > 0.0) | (upper < 1.0))
        require(proper, "a finite integral", eta_1, eta_2, lower, upper)
        beyond = np.where(a > 0.0, np.inf, -np.inf)
        mode = np.where((a > 0.0) & (b > 0.0), np.log(a) - np.log(b), beyond)
        free = (logit(lower) < mode) & (mode < logit(upper))
        bound = np.where(mode >= logit(upper), upper, lower)
        c = np.where(free, a / (a + b), bound)
        d = np.where(free, b / (a + b), 1.0 - bound)
        u = logistic(rng, a, b, c, d, logit_gap(lower, c, d), logit_gap(upper, c, d))
        e = np.exp(-np.abs(u))
        x: Floats = np.where(u <= 0.0, c * e / (d + c * e), c / (c + d * e))
        return x

    proper = min(draws.least(eta_1), draws.least(eta_2)) > -1.0
    bounds = interval(size, lower, upper, 0.0, 1.0)
    return first_plain(rng, draws.beta if proper else None, cut, (eta_1, eta_2), bounds, size)


# What the draws share. All arrays below have one axis, the elements.


def first_plain(
    rng: Generator,
    plain: Callable[..., Numbers] | None,
    cut: Callable[..., Floats],
    etas: tuple[Numbers, ...],
    bounds: tuple[Floats, Floats],
    size: Size,
) -> Numbers:
    """Draws of the family without bounds, replaced by draws of ``cut`` if outside the bounds."""
    lower, upper = bounds
    with np.errstate(all="ignore"):
        x = np.full(lower.shape, np.nan) if plain is None else np.ravel(plain(rng, *etas, size))
        missed = ~((x > lower) & (x < upper))
        if missed.any():
            x[missed] = cut(*(v[missed] for v in (*flat(size, *etas), lower, upper)))
    return shaped(x, lower, upper, size)


def flat(size: Size, *values: Numbers) -> list[Floats]:
    """The values as arrays of one axis, one number for each draw."""
    return [np.broadcast_to(np.asarray(v, dtype=float), size).ravel() for v in values]


def interval(
    size: Size, lower: Numbers, upper: Numbers, least: float = -np.inf, most: float = np.inf
) -> tuple[Floats, Floats]:
    """The bounds, inside of the support, as arrays of one axis."""
    lower, upper = flat(size, np.maximum(lower, least), np.minimum(upper, most))
    require(np.nextafter(lower, np.inf) < upper, "numbers between lower and upper", lower, upper)
    return lower, upper


def shaped(x: Numbers, lower: Floats, upper: Floats, size: Size) -> Numbers:
    """The draws, strictly between the bounds and at least ``TINY`` above 0, as asked for."""
    above = np.where(lower == 0.0, TINY, np.nextafter(lower, np.inf))
    x = np.minimum(np.maximum(x, above), np.nextafter(upper, -np.inf))
    return x.reshape(size) if size else float(x[0])
