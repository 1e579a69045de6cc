"""Draws of Pólya-Gamma numbers from natural parameters.

They are by rejection, from bounds on the density of which the series and the saddle point
approximation are in `gibbsppl.runtime.polya_gamma_density`, as is the notation.

>>> import numpy as np
>>> x = polya_gamma(np.random.default_rng(1), -0.5, (4,), b=np.array([0.0, 0.3, 1.0, 1e6]))
>>> float(x[0]), float(x[-1].round(-3))
(0.0, 231000.0)
"""

from __future__ import annotations

import math

import numpy as np
import scipy

from gibbsppl.runtime.draws import TINY
from gibbsppl.runtime.libraries import module_of
from gibbsppl.runtime.polya_gamma_density import (
    END,
    correction,
    log_first_term,
    log_polya_gamma,
    mean_and_variance,
    saddle_exponent,
    tilted,
)
from gibbsppl.runtime.rejection import rejected, require
from gibbsppl.runtime.special import inverse_gaussian
from gibbsppl.runtime.truncated import flat
from gibbsppl.runtime.types import Flags, Floats, Generator, Numbers, Size

# Elements drawn at once.
BLOCK = 1 << 14

# Devroye's sampler of J*(1, z) splits here, where both series fall fast.
SPLIT = 0.64
TAIL = math.erfc(1.0 / math.sqrt(2.0 * SPLIT)) / 2.0
# Above this tilt the inverse Gaussian is the better bound on the left.
LEVY = -math.log(2.0 * TAIL)
# What is at least left of the first term of either series, beyond and before the split.
SURE = 1.0 - 3.0 * max(math.exp(-(math.pi**2) * SPLIT), math.exp(-4.0 / SPLIT))
# Sums of up to so many PG(1, c) draws are as fast as one draw by the saddle point.
SUMMED = 2.0
# Above these tilts z the first term is nearly the density: for b up to that, and for any b.
NEAR = 2.0
FAR = 60.0
# From here on draws are Normal. Distribution functions differ by less than 2e-16: the skewness is
# at most 2 / sqrt(b), and its term of Edgeworth's expansion that over 6 sqrt(2 pi).
NORMAL = 1e30
# Smaller b give draws of this one: all of PG(1e-90, 0) but 1e-90 is below 1e-170.
LEAST = 1e-90

# Of the series by b: so many terms are added, until their roundings are seen. Beyond an x, for
# b below 1, less than this is left of the first term.
TERMS = 40
ROUNDING = 1e-15
SEEN = 1e-9
BEYOND = 4.0
LEFT = 1e-6

# Of the saddle point approximation, bounds that hold for all b and tilts: see `_by_saddle`.
BEND = 0.2546
MOST_BENT = 1.573
SECOND = 0.016
# The rounding of the coefficient of 1 / b.
CLOSE = 1e-9
# Means of draws of the smallest b are between this and one over it, by far.
TINIEST = 1e-100


@np.errstate(all="ignore")
def polya_gamma(rng: Generator, eta_1: Numbers, size: Size, b: Numbers) -> Numbers:
    """Draws with log density ``eta_1 x + log_polya_gamma(b, x)``, ``eta_1 <= 0``; 0 where b is 0.

    They are PG(b, c), ``c = sqrt(-2 eta_1)``, exact to rounding, by rejection: below the first term
    of the series for b below 1 or where c is large; else sums of Devroye's draws for a small whole
    b, by the library polyagamma where that is installed; else below a bound on the saddle point
    approximation. Above 1e30 they are Normal.
    """
    eta_1, b = flat(size, eta_1, b)
    require((eta_1 <= 0.0) & (b >= 0.0) & (b < np.inf), "eta_1 <= 0 and b >= 0", eta_1, b)
    x, positive = np.zeros(b.shape), b > 0.0
    kept, z = np.maximum(b, LEAST), np.sqrt(-eta_1 / 2.0)
    large = b > NORMAL
    few = b <= SUMMED
    whole = few & (b == np.floor(b)) & (z <= NEAR)
    far = ~(large | whole) & ((b < 1.0) | (z > np.where(few, NEAR, FAR)))
    rest = ~(large | far | whole)
    kinds = ((large, _normal), (far, _by_first_term), (whole, _sum), (rest, _by_saddle))
    for kind, draw in kinds:
        if not kind.any():
            continue
        (chosen,) = np.nonzero(kind & positive)
        for start in range(0, chosen.size, BLOCK):
            part = chosen[start : start + BLOCK]
            x[part] = draw(rng, z[part], kept[part])
    x = np.where(positive, np.maximum(x, TINY), 0.0)
    return x.reshape(size) if size else float(x[0])


def _normal(rng: Generator, z: Floats, b: Floats) -> Floats:
    """Normal draws of the mean and variance of PG(b, 2 z)."""
    mean, variance = mean_and_variance(END + z * z / 2.0)
    return b / 4.0 * (mean + np.sqrt(variance) / np.sqrt(b) * rng.standard_normal(b.size))


def _sum(rng: Generator, z: Floats, b: Floats) -> Floats:
    """Sums of b draws of PG(1, 2 z)."""
    if (library := module_of("polya_gamma")) is not None:
        devroye = {"method": "devroye", "disable_checks": True}
        found: Floats = library.random_polyagamma(b, 2.0 * z, random_state=rng, **devroye)
        return found
    x = rejected(_try_one, rng, z)
    for k in range(1, int(b.max())):
        (more,) = np.nonzero(b > k)
        x[more] += rejected(_try_one, rng, z[more])
    return x / 4.0


def _try_one(rng: Generator, z: Floats) -> tuple[Floats, Flags]:
    """Candidates for J*(1, z), from the first terms of the series on both sides of the split.

    Right of it an exponential tail; left of it 1 / N**2 of a Normal tail, thinned by the tilt, or
    for a large tilt an inverse Gaussian variable, taken if it is left of the split.
    """
    rate = END + z * z / 2.0
    ratio = np.exp(np.maximum(z, LEVY) - rate * SPLIT) * (math.pi / 4) / rate
    right = rng.random(z.size) * (1.0 + ratio) < ratio
    level = rng.random(z.size)
    x = SPLIT + rng.standard_exponential(z.size) / rate
    (levy,) = np.nonzero(~right & (z < LEVY))
    (wald,) = np.nonzero(~right & (z >= LEVY))
    x[levy] = scipy.special.ndtri(TAIL * (1.0 - rng.random(levy.size))) ** -2.0
    level[levy] *= np.exp(z[levy] ** 2 * x[levy] / 2.0)
    if wald.size:
        x[wald] = inverse_gaussian(rng, z[wald] ** 2 / -2.0, -0.5, (wald.size,))
        level[wald[x[wald] > SPLIT]] = np.inf
    accepted = level <= SURE
    (unsure,) = np.nonzero(~accepted & (level <= 1.0))
    accepted[unsure] = level[unsure] <= _alternating(x[unsure])
    return x, accepted


def _alternating(x: Floats) -> Floats:
    """The density of J*(1, 0) over its first term; terms after the fourth are below rounding."""
    r = np.exp(np.where(x > SPLIT, -(math.pi**2) * x, -4.0 / x))
    return 1.0 - 3.0 * r + 5.0 * r**3 - 7.0 * r**6


def _by_first_term(rng: Generator, z: Floats, b: Floats) -> Floats:
    """Draws by rejection from the first term of the series, tilted: an inverse Gaussian."""
    return rejected(_try_first_term, rng, z, b)


def _try_first_term(rng: Generator, z: Floats, b: Floats) -> tuple[Floats, Flags]:
    x: Floats = inverse_gaussian(rng, -2.0 * z * z, -b * b / 8.0, b.shape)  # type: ignore[assignment]  # an array
    return x, _in_density(rng.random(b.size), b, x)


def _in_density(level: Floats, b: Floats, x: Floats) -> Flags:
    """Whether a level over the first term is at most the density.

    Partial sums of the series are in turn above and below it, from where terms become smaller. What
    these do not decide, within rounding, is decided by the density itself.
    """
    accepted = np.zeros(level.shape, bool)
    beyond = (b < 1.0) & (x > BEYOND) & (level > LEFT)
    (left,) = np.nonzero((level <= 1.0) & ~beyond)
    unsure, total, term, slack = [], *(np.full(left.size, v) for v in (1.0, 1.0, ROUNDING))
    for k in range(TERMS):
        if not left.size:
            break
        u, shape, at = level[left], b[left], x[left]
        ratio = (k + shape) / (k + 1.0) * (2 * k + 2 + shape) / (2 * k + shape)
        ratio *= np.exp(-(2 * k + 1 + shape) / (2.0 * at))
        term = -ratio * term
        slack = slack + ROUNDING * np.abs(term)
        after, falls, lost = total + term, ratio < 1.0, slack > SEEN
        inside = falls & (u <= np.minimum(total, after) - slack)
        outside = falls & (u > np.maximum(total, after) + slack)
        accepted[left[inside]] = True
        unsure.append(left[lost & ~inside & ~outside])
        more = ~(inside | outside | lost)
        left, total, term, slack = left[more], after[more], term[more], slack[more]
    last = np.concatenate([*unsure, left])
    if last.size:
        shape, at = b[last], x[last]
        found = log_polya_gamma(shape, at) - log_first_term(shape, at)
        accepted[last] = np.log(level[last]) <= found
    return accepted


def _by_saddle(rng: Generator, z: Floats, b: Floats) -> Floats:
    """Draws by rejection from a log-normal bound on the saddle point approximation of the density.

    With ``y = 4 x / b`` it is ``sqrt(b / (2 pi K'')) exp(b (K(u) - u y))``, u such that K'(u) = y
    (Windle, Polson and Scott 2014, arXiv 1405.0506). The log of the density over it is ``a(y) / b``
    and at most SECOND / b**2 more, a between -1 / 12 and 0.

    On the scale of ``t = log(y / mode)`` minus the second derivative of the tilted exponent is a
    function q of which the second derivative is between q and MOST_BENT q: it is at least
    ``Q cosh(t) + G sinh(t)``, of its value and slope at 0, and so at least ``sqrt(Q**2 - G**2)``.
    The log of ``y / sqrt(K'')`` is convex, of a second derivative of at most BEND. Where these
    bounds do not decide, the approximation does, and where it does not, the density.
    """
    mode, variance, skewness = tilted(z)
    bent, turn = mode * mode / variance, 3.0 - skewness
    least = bent * np.sqrt(1.0 - turn * turn)
    slope, precision = 1.0 - skewness / 2.0, b * least - BEND
    curves = b * bent, b * (bent - least), b * bent * turn / 3.0
    tried = (b, z, mode, variance, slope, precision, *curves)
    return b / 4.0 * mode * np.exp(rejected(_try_saddle, rng, *tried))


def _try_saddle(rng: Generator, *parameters: Floats) -> tuple[Floats, Flags]:
    """Candidates for t."""
    b, _, _, _, slope, precision, bent, gap, turn = parameters
    t = slope / precision + rng.standard_normal(b.size) / np.sqrt(precision)
    drop, half, away = rng.standard_exponential(b.size), t * t / 2.0, np.abs(t)
    above = gap + turn * t
    below = above + bent * half * (4 / 15 + away / 20) + BEND
    near = away < 1.0
    accepted = near & (drop >= half * below + 1.0 / (12.0 * b))
    (unsure,) = np.nonzero(~accepted & ~(near & (drop < half * above)))
    if unsure.size:
        at = t[unsure]
        level = slope[unsure] * at - half[unsure] * precision[unsure] - drop[unsure]
        given = (p[unsure] for p in parameters[:4])
        accepted[unsure] = _in_saddle(level, at, *given)
    return t, accepted


def _in_saddle(
    level: Floats, t: Floats, b: Floats, z: Floats, mode: Floats, variance: Floats
) -> Flags:
    """Whether a level, over what is at the mode, is at most the density at ``mode e**t``."""
    y = mode * np.exp(t)
    possible = (y > TINIEST) & (y < 1.0 / TINIEST)
    y = np.where(possible, y, 1.0)
    height = math.log(2) - z - np.log1p(np.exp(-2.0 * z))  # -log cosh(z)
    exponent, there, u = saddle_exponent(y)
    level = level - b * (exponent - z * z / 2.0 * y - height) - t - np.log(variance / there) / 2.0
    accepted = possible & (level <= -1.0 / (12.0 * b))
    (near,) = np.nonzero(possible & ~accepted & (level <= 0.0))
    first = correction(u[near], y[near], there[near]) / b[near]
    accepted[near] = level[near] <= first - CLOSE
    spread = SECOND / (b[near] * b[near])
    unsure = near[(level[near] > first - CLOSE) & (level[near] <= first + spread + CLOSE)]
    b, x = b[unsure], b[unsure] * y[unsure] / 4.0
    log_saddle = (math.log(8.0 / math.pi) - np.log(there[unsure]) - np.log(b)) / 2.0
    log_saddle += b * exponent[unsure] - log_first_term(b, x)
    accepted[unsure] = _in_density(np.exp(level[unsure] + log_saddle), b, x)
    return accepted
