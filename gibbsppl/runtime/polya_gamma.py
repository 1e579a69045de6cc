"""The Pólya-Gamma distribution: its log density, and draws from its natural parameters.

PG(b, 0) has the Laplace transform ``cosh(sqrt(t / 2))**-b``, and PG(b, c) the density of PG(b, 0)
times ``exp(-c**2 x / 2)``, normalised: Polson, Scott and Windle (2013), Journal of the American
Statistical Association 108. Four times a PG(b, 2z) variable is J*(b, z), for which formulas are
shorter: its cumulant function at a tilt ``u`` is ``b K(u)``, ``K(u) = -log cos(sqrt(2 u))``, finite
below ``u = pi**2 / 8``.

>>> import numpy as np
>>> x = polya_gamma(np.random.default_rng(1), -0.5, (4,), b=np.array([0.0, 0.3, 1.0, 1e6]))
>>> float(x[0]), float(x[-1].round(-3))
(0.0, 231000.0)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import scipy
from numpy.typing import NDArray

from gibbsppl.runtime.draws import TINY
from gibbsppl.runtime.rejection import require
from gibbsppl.runtime.special import inverse_gaussian
from gibbsppl.runtime.truncated import flat
from gibbsppl.runtime.types import Flags, Floats, Generator, Numbers, Size

# The tilt at which K is infinite, and the same point of the Laplace transform, at t = -POLE.
END = math.pi**2 / 8
POLE = 4 * END

# The trapezoid rule of the inversion, in units of 1 / sqrt(x): the integrand falls at least as
# exp(-node**2), and its nearest singularity is at least one unit away.
STEP = 1 / 8
NODES = np.arange(0.0, 6.5, STEP)
WEIGHTS = np.where(NODES > 0.0, 2 * STEP, STEP) / math.pi

Complexes = NDArray[np.complex128]

# Elements taken at once: of the inversion, which makes arrays of nodes, and of draws.
AT_ONCE = 1000
BLOCK = 1 << 14


@np.errstate(all="ignore")
def log_polya_gamma(b: Numbers, x: Numbers) -> Numbers:
    """The log density of PG(b, 0) at x; ``-inf`` where x is not positive, or b is 0.

    >>> round(float(log_polya_gamma(1.0, 0.25)), 12)
    0.604021334675
    """
    b, x = np.broadcast_arrays(np.asarray(b, float), np.asarray(x, float))
    result = np.where(np.isnan(b + x) | (b < 0.0), np.nan, -np.inf)
    inside = (b > 0.0) & (x > 0.0) & (x < np.inf)
    # The next term of the series over the first one: (b + 2) exp(-(b + 1) / (2 x)).
    one_term = inside & ((b + 1.0) / x > 2.0 * (np.log(b + 2.0) + 40.0))
    result[one_term] = log_first_term(b[one_term], x[one_term])
    (rest,) = np.nonzero((inside & ~one_term).ravel())
    for start in range(0, rest.size, AT_ONCE):
        part = rest[start : start + AT_ONCE]
        result.flat[part] = _log_inverted(b.ravel()[part], x.ravel()[part])
    return result[()]


def log_first_term(b: Floats, x: Floats) -> Floats:
    """The log of the first term of the alternating series for the density: an upper bound of it.

    It is ``2**b`` times the density of the first passage to b / 2 of a Brownian motion.
    """
    constant = (b - 1.0) * math.log(2) - math.log(2 * math.pi) / 2
    return constant + np.log(b) - 1.5 * np.log(x) - b * (b / x) / 8.0


def _log_inverted(b: Floats, x: Floats) -> Floats:
    """The log density by inverting the Laplace transform ``exp(-b L)``, ``L = log cosh(s)``.

    By parts, ``x f(x) = b * (inverse transform of L' exp(-b L))``: nothing cancels for small b.
    The contour is a parabola about the cut below -POLE, ``t + POLE = (w + i y)**2``, that meets the
    real line near the saddle point.
    """
    v = _saddle(b, x)[:, None]
    w, y = np.sqrt(v), NODES / np.sqrt(x)[:, None]
    away = y * (2j * w - y)
    log_cosh, slope = _log_cosh((v - POLE) + away, v + away)
    fall = away * x[:, None] - b[:, None] * (log_cosh - log_cosh[:, :1])
    total = ((w + 1j * y) * slope * np.exp(fall)).real @ WEIGHTS
    height = (v[:, 0] - POLE) * x - b * log_cosh[:, 0].real
    value: Floats = height + np.log(b) - 1.5 * np.log(x) + np.log(total)
    return value


def _saddle(b: Floats, x: Floats) -> Floats:
    """About the t + POLE > 0 of least ``exp(t x) L' exp(-b L)``: where ``b L' + 1 / v = x``.

    Newton's method on 1 / x, which is concave in v, from below.
    """
    v = np.maximum((b + 1.0) / x, (b / x) ** 2 / 8.0)
    for _ in range(8):
        mean, variance = mean_and_variance(v / 4.0)
        there = b * mean / 4.0 + 1.0 / v
        v = v + (there / x - 1.0) * there / (b * variance / 16.0 + 1.0 / v**2)
    return v


def _log_cosh(t: Complexes, v: Complexes) -> tuple[Complexes, Complexes]:
    """``log cosh(s)`` and its derivative ``tanh(s) / (4 s)``, ``s = sqrt(t / 2)``; v is t + POLE.

    Analytic but for the cut, and exact to rounding next to t = 0 and to the pole.
    """
    s = np.sqrt(t / 2.0)
    decay = np.exp(-2.0 * s)
    value = s + np.log(1.0 + decay) - math.log(2)
    slope = (1.0 - decay) / (1.0 + decay) / (4.0 * s)
    small, near = np.abs(t) < 0.5, np.abs(v) < 1.0
    if small.any():
        r = np.where(s[small] == 0.0, TINY, s[small])
        more = 2.0 * np.sinh(r / 2.0) ** 2  # cosh(s) - 1
        real = np.log1p(more.real * (2.0 + more.real) + more.imag**2) / 2.0
        value[small] = real + 1j * np.arctan2(more.imag, 1.0 + more.real)
        slope[small] = np.tanh(r) / (4.0 * r)
    if near.any():
        angle = np.sqrt(POLE - v[near]) / math.sqrt(2)  # s is i times this
        gap = v[near] / 2.0 / (math.pi / 2.0 + angle)  # pi / 2 - angle
        value[near] = np.log(np.sin(gap))
        slope[near] = 1.0 / np.tan(gap) / (4.0 * angle)
    return value, slope  # type: ignore[return-value]  # complex, as t is


@np.errstate(all="ignore")
def mean_and_variance(v: Floats) -> tuple[Floats, Floats]:
    """``K'(u)`` and ``K''(u)`` at ``u = END - v``: moments of J*(1), tilted."""
    u = END - v
    angle = np.maximum(np.sqrt(2.0 * np.abs(u)), 1e-100)
    tangent = np.where(u > 0.0, 1.0 / np.tan(2.0 * v / (math.pi / 2.0 + angle)), np.tanh(angle))
    mean = tangent / angle
    square = np.where(u > 0.0, tangent**2, -(tangent**2))
    variance = (1.0 + square - mean) / (2.0 * u)
    # (by the series of -log cos where that is a difference)
    series = 2 / 3 + u * (16 / 15 + u * (136 / 105 + u * (3968 / 2835)))
    return mean, np.where(np.abs(u) < 1e-3, series, variance)


# Draws.

# Devroye's sampler of J*(1, z) splits here, where both series fall fast.
SPLIT = 0.64
TAIL = math.erfc(1.0 / math.sqrt(2.0 * SPLIT)) / 2.0
# Above this tilt the inverse Gaussian is the better bound on the left.
LEVY = -math.log(2.0 * TAIL)
# What is at least left of the first term of either series, beyond and before the split.
SURE = 1.0 - 3.0 * max(math.exp(-(math.pi**2) * SPLIT), math.exp(-4.0 / SPLIT))
# Sums of up to so many PG(1, c) draws are as fast as one draw by the saddle point.
SUMMED = 8.0
# Of smaller b, Gamma draws that are cut at the mode are needed above it.
SMALL = 0.1
# From here on draws are Normal. Distribution functions differ by less than 2e-6: the skewness is
# at most 2 / sqrt(b), and its term of Edgeworth's expansion that over 6 sqrt(2 pi).
NORMAL = 1e10
# Smaller b give draws of this one: all of PG(1e-90, 0) but 1e-90 is below 1e-170.
LEAST = 1e-90


@np.errstate(all="ignore")
def polya_gamma(rng: Generator, eta_1: Numbers, size: Size, b: Numbers) -> Numbers:
    """Draws with log density ``eta_1 x + log_polya_gamma(b, x)``, ``eta_1 <= 0``; 0 where b is 0.

    They are PG(b, c), ``c = sqrt(-2 eta_1)``. For b up to 1e10 they are exact, by rejection, to the
    rounding of the log densities that are compared (1e-16, b times that for a large b): below the
    first term of the series where c is large; else sums of Devroye's draws for small whole b; else
    below the saddle point approximation. Beyond, they are Normal.
    """
    eta_1, b = flat(size, eta_1, b)
    require((eta_1 <= 0.0) & (b >= 0.0) & (b < np.inf), "eta_1 <= 0 and b >= 0", eta_1, b)
    x, positive = np.zeros(b.shape), b > 0.0
    kept = np.maximum(b, LEAST)
    large = b > NORMAL
    far = ~large & positive & (np.sqrt(-2.0 * eta_1) > np.log(b + 2.0) + 3.0)
    whole = ~far & (b <= SUMMED) & (b == np.floor(b))
    rest = positive & ~(large | far | whole)
    kinds = ((large, _normal), (far, _by_first_term), (whole & positive, _sum), (rest, _by_saddle))
    for kind, draw in kinds:
        (chosen,) = np.nonzero(kind)
        for start in range(0, chosen.size, BLOCK):
            part = chosen[start : start + BLOCK]
            x[part] = draw(rng, eta_1[part], kept[part])
    x = np.where(positive, np.maximum(x, TINY), 0.0)
    return x.reshape(size) if size else float(x[0])


def _normal(rng: Generator, eta_1: Floats, b: Floats) -> Floats:
    """Normal draws of the mean and variance of PG(b, c)."""
    mean, variance = mean_and_variance(END - eta_1 / 4.0)
    return b / 4.0 * (mean + np.sqrt(variance) / np.sqrt(b) * rng.standard_normal(b.size))


def _sum(rng: Generator, eta_1: Floats, b: Floats) -> Floats:
    """Sums of b draws of PG(1, c)."""
    z, x = np.sqrt(-eta_1 / 2.0), np.zeros(b.shape)
    for k in range(int(b.max())):
        more = b > k
        x[more] += rejected(_try_one, rng, z[more])
    return x / 4.0


Try = Callable[..., tuple[Floats, Flags]]


def rejected(attempt: Try, rng: Generator, *parameters: Floats) -> Floats:
    """The first accepted value of each element: ``attempt`` gives values and which to accept."""
    x, accepted = attempt(rng, *parameters)
    (left,) = np.nonzero(~accepted)
    while left.size:
        again, accepted = attempt(rng, *(p[left] for p in parameters))
        x[left[accepted]] = again[accepted]
        left = left[~accepted]
    return x


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


def _by_first_term(rng: Generator, eta_1: Floats, b: Floats) -> Floats:
    """Draws by rejection from the first term of the series, tilted: an inverse Gaussian."""
    return rejected(_try_first_term, rng, eta_1, b)


def _try_first_term(rng: Generator, eta_1: Floats, b: Floats) -> tuple[Floats, Flags]:
    x = inverse_gaussian(rng, eta_1, -b * b / 8.0, b.shape)
    return x, _in_density(-rng.standard_exponential(b.size), b, x)  # type: ignore[arg-type, return-value]  # an array


def _in_density(level: Floats, b: Floats, x: Floats) -> Flags:
    """Whether a level, the log of a number over the first term, is at most the log density.

    The density is computed only where the first term, and this less the second, do not decide.
    """
    second = (b + 2.0) * np.exp(-(b + 1.0) / x / 2.0)  # over the first; the rest alternates
    accepted = (second < 0.5) & (level <= np.log1p(-second))
    (unsure,) = np.nonzero(~accepted & (level <= 0.0))
    b, x = b[unsure], x[unsure]
    accepted[unsure] = level[unsure] <= log_polya_gamma(b, x) - log_first_term(b, x)
    return accepted


def _by_saddle(rng: Generator, eta_1: Floats, b: Floats) -> Floats:
    """Draws by rejection from a bound on the saddle point approximation of the density.

    With ``y = 4 x / b`` it is ``sqrt(b / (2 pi K'')) exp(b (K(u) - u y))``, u such that K'(u) = y.
    The density is between it and it times Stirling's approximation of gamma(b) over gamma(b): only
    a level between the two asks for the exact density.
    """
    z = np.sqrt(-eta_1 / 2.0)
    mode, variance = mean_and_variance(END + z * z / 2.0)
    height = math.log(2) - z - np.log1p(np.exp(-2.0 * z))  # -log cosh(z)
    least = log_stirling(b)
    beyond = np.where(b < SMALL, scipy.special.gammaincc(b, b), 1.0)
    left = 1.0 / (1.0 + beyond * np.exp(-least) / np.sqrt(mode))
    tried = (b, z, mode, variance, height, least, beyond, left)
    return b / 4.0 * rejected(_try_saddle, rng, *tried)


def _try_saddle(rng: Generator, *parameters: Floats) -> tuple[Floats, Flags]:
    """Candidates for y: inverse Gaussian below the mode, Gamma above it.

    Windle, Polson and Scott (2014, arXiv 1405.0506): the exponent plus 1 / (2 y), and the exponent
    minus log(y), are concave, ``K'' / y**3`` falls and ``K'' / y**2`` rises. Both bounds touch the
    approximation at its mode.
    """
    b, _, mode, *_, beyond, left = parameters
    low = rng.random(b.size) < left
    y = np.empty(b.shape)
    (below,), (above,) = np.nonzero(low), np.nonzero(~low)
    shape = b[below]
    y[below] = inverse_gaussian(rng, shape / mode[below] ** 2 / -2.0, shape / -2.0, shape.shape)
    shape = b[above]
    gamma = rng.standard_gamma(shape)
    (cut,) = np.nonzero(shape < SMALL)
    uniform = beyond[above[cut]] * (1.0 - rng.random(cut.size))
    gamma[cut] = scipy.special.gammainccinv(shape[cut], uniform)
    y[above] = mode[above] * gamma / shape
    (kept,) = np.nonzero(low == (y < mode))
    accepted = np.zeros(b.shape, bool)
    accepted[kept] = _in_saddle(rng, y[kept], low[kept], [p[kept] for p in parameters])
    return y, accepted


def _in_saddle(rng: Generator, y: Floats, low: Flags, parameters: Sequence[Floats]) -> Flags:
    """Whether a uniform level below the bound is below the density."""
    b, z, mode, at_mode, height, least, *_ = parameters
    exponent, variance = saddle_exponent(y)
    ratio = y / mode
    bound = np.where(low, -((ratio - 1.0) ** 2) / (2.0 * y), np.log(ratio) - (ratio - 1.0))
    fall = exponent - z * z / 2.0 * y - height - bound
    power = np.where(low, 3.0, 2.0)
    log_ratio = b * fall + np.log(at_mode / variance * ratio**power) / 2.0
    level = -rng.standard_exponential(y.size) - log_ratio  # over the approximation
    accepted = level <= least
    (unsure,) = np.nonzero(~accepted & (level <= 0.0))
    b, x = b[unsure], b[unsure] * y[unsure] / 4.0
    log_scale = math.log(8.0 / math.pi) - np.log(variance[unsure]) - np.log(b)
    log_saddle = log_scale / 2.0 + b * exponent[unsure]
    level = level[unsure] + log_saddle - log_first_term(b, x)
    accepted[unsure] = _in_density(level, b, x)
    return accepted


@np.errstate(all="ignore")
def saddle_exponent(y: Floats) -> tuple[Floats, Floats]:
    """``K(u) - u y`` and ``K''(u)``, at the u with ``K'(u) = y``.

    Newton's method on 1 / y, from within 1 % of ``END - u``; the exponent is stationary there.
    """
    v = 0.5 / y**2 + 1.0 / (y + 0.2974 + 0.513 / (1.0 + 6.8 * y))
    for _ in range(3):
        mean, variance = mean_and_variance(v)
        v = v + (mean / y - 1.0) * mean / variance
    mean, variance = mean_and_variance(v)
    u = END - v
    angle = np.sqrt(2.0 * np.abs(u))
    cosine = np.log(np.sin(2.0 * v / (math.pi / 2.0 + angle)))
    cosh = angle + np.log1p(np.exp(-2.0 * angle)) - math.log(2)
    return -np.where(u > 0.0, cosine, cosh) - u * y, variance


def log_stirling(b: Floats) -> Floats:
    """The log of Stirling's approximation of gamma(b) over gamma(b)."""
    square = 1.0 / b**2
    series = -(1.0 - square * (1 / 30 - square * (1 / 105 - square / 140))) / (12.0 * b)
    direct = b * np.log(b) - b - np.log(b / (2 * math.pi)) / 2.0 - scipy.special.gammaln(b)
    return np.where(b > 20.0, series, direct)
