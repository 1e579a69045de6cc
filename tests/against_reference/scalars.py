"""Distributions of numbers: densities, tails and draws by SciPy and NumPy alone.

All functions take arrays with one entry per state. A `Row` says which parameters may be written
(``spellings``), of which kind each is, and how the first spelling's follow from the others.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import mpmath
import numpy as np
from references.exact_functions import log_polya_gamma_inverted
from scipy import special, stats

REAL, POSITIVE, UNIT, COUNT, BINARY = "real", "positive", "unit", "count", "binary"
ANGLE, LABEL = "angle", "label"
FEW = 512  # states up to which slow but exact evaluations are made
LEAST_DIGITS = 1e-4  # rounding, over a sum, from which an alternating sum is not known
MOST = 60.0  # ratio up to which a power series is summed in floats


@dataclass(frozen=True, slots=True)
class Row:
    """One distribution.

    ``law(**parameters)`` is a frozen distribution with ``logpdf``, ``cdf``, ``sf`` and ``rvs``.
    ``support`` are the ends of the support as functions of the parameters.
    """

    name: str
    kind: str
    parameters: Mapping
    law: Callable
    support: Callable = lambda **_: (-math.inf, math.inf)
    spellings: Mapping = field(default_factory=dict)
    has_tails: bool = True
    whole: bool = False
    proper: bool = True
    positional: bool = False


class Law:
    """A law by its functions; draws by the inverse of the distribution function on a grid."""

    def __init__(self, logpdf, cdf=None, sf=None, rvs=None):
        self.logpdf, self.cdf, self.sf, self.rvs = logpdf, cdf, sf, rvs


class OfSciPy:
    """A law of SciPy's, continuous or discrete.

    ``log`` is the log density at location 0 and scale 1, where SciPy takes the log of a density
    that has lost its digits.
    """

    def __init__(self, family, *shapes, log=None, **place):
        self.family, self.shapes, self.log, self.place = family, shapes, log, place
        self.is_discrete = hasattr(family, "logpmf")

    def logpdf(self, x):
        if self.log is not None:
            scale = self.place.get("scale", 1.0)
            return self.log((x - self.place.get("loc", 0.0)) / scale, *self.shapes) - np.log(scale)
        density = self.family.logpmf if self.is_discrete else self.family.logpdf
        return density(x, *self.shapes, **self.place)

    def cdf(self, x):
        return self.family.cdf(x, *self.shapes, **self.place)

    def sf(self, x):
        return self.family.sf(x, *self.shapes, **self.place)

    def is_defined(self):
        """Where its parameters are those of a distribution: elsewhere its support has no ends."""
        return ~np.isnan(self.family.support(*self.shapes, **self.place)[0])

    def rvs(self, rng, n):
        return self.family.rvs(*self.shapes, **self.place, size=n, random_state=rng)


def of_scipy(family, shapes, log=None, **place):
    """A function from parameters to a law of SciPy's."""

    def law(**p):
        return OfSciPy(family, *shapes(**p), log=log, **{k: f(**p) for k, f in place.items()})

    return law


def log_laplace(z):
    return -np.abs(z) - math.log(2)


def log_frechet(z, c):
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = np.log(c) - (c + 1) * np.log(z) - z ** -np.asarray(c, float)
    return np.where(z > 0, inside, -np.inf)


def log_pareto(z, b):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(z >= 1, np.log(b) - (b + 1) * np.log(z), -np.inf)


def on_grid(rng, n, logpdf, low, high, points=600):
    """Draws by the inverse of the distribution function, tabulated between two ends.

    ``logpdf`` takes an array with the grid along its first axis. Cells are equal in logarithm
    where the support is positive.
    """
    low, high = np.broadcast_to(low, n), np.broadcast_to(high, n)
    drawn = np.empty(n)
    steps = np.linspace(0, 1, points)[:, None]
    for start in range(0, n, 20_000):
        part = slice(start, start + 20_000)
        a, b = low[part], high[part]
        grid = a * (b / a) ** steps if (a > 0).all() else a + (b - a) * steps
        density = logpdf(grid, part)
        weight = np.exp(density - density.max(0))
        cells = (weight[1:] + weight[:-1]) / 2 * np.diff(grid, axis=0)
        total = np.concatenate([np.zeros((1, len(a))), cells.cumsum(0)])
        u = rng.random(len(a)) * total[-1]
        at = np.clip((total <= u).sum(0) - 1, 0, points - 2)
        column = np.arange(len(a))
        inside = (u - total[at, column]) / cells[at, column]
        left, right = weight[at, column], weight[at + 1, column]
        # The density is linear inside of a cell: solve the quadratic equation of its area.
        slope = right - left
        root = np.sqrt(left**2 + inside * (right**2 - left**2))
        share = np.where(np.abs(slope) > 1e-12 * (left + right), (root - left) / slope, inside)
        drawn[part] = grid[at, column] + share * (grid[at + 1, column] - grid[at, column])
    return drawn


# ---- laws that SciPy does not have -------------------------------------------------------------


def spread(n, *values):
    """Parameters, one for each state."""
    return [np.broadcast_to(np.asarray(v, float), n) for v in values]


def by_mpmath(function, *values):
    """A function of mpmath's at each state."""
    values = np.broadcast_arrays(*(np.asarray(v, float) for v in values))
    with mpmath.workdps(50):
        found = [float(function(*map(mpmath.mpf, map(float, v)))) for v in zip(*(
            np.ravel(v) for v in values), strict=True)]
    return np.reshape(found, values[0].shape)


def asymmetric_laplace(mu, rate, q):
    def logpdf(x):
        z = x - mu
        return np.log(q * (1 - q) * rate) - rate * z * np.where(z >= 0, q, q - 1)

    def cdf(x):
        z = rate * (x - mu)
        return np.where(z < 0, q * np.exp(np.minimum((1 - q) * z, 0)),
                        1 - (1 - q) * np.exp(-q * np.maximum(z, 0)))

    def sf(x):
        z = rate * (x - mu)
        return np.where(z < 0, 1 - q * np.exp(np.minimum((1 - q) * z, 0)),
                        (1 - q) * np.exp(-q * np.maximum(z, 0)))

    def rvs(rng, n):
        right, left = rng.exponential(size=n) / q, rng.exponential(size=n) / (1 - q)
        return mu + (right - left) / rate

    return Law(logpdf, cdf, sf, rvs)


def kumaraswamy(a, b):
    # -log(1 - x**a) is an Exponential(b) variable
    def hazard(x):
        log = a * np.log(np.asarray(x, float))
        with np.errstate(divide="ignore"):  # (each form where it keeps its digits)
            return -np.where(log < -0.5, np.log1p(-np.exp(log)), np.log(-np.expm1(log)))

    return Law(
        lambda x: np.log(a) + np.log(b) + (a - 1) * np.log(x) - (b - 1) * hazard(x),
        lambda x: -np.expm1(-b * hazard(x)),
        lambda x: np.exp(-b * hazard(x)),
        lambda rng, n: (-np.expm1(-rng.exponential(size=n) / b)) ** (1 / a),
    )


def half_student(nu, scale):
    def rvs(rng, n):
        return np.abs(scale * rng.standard_t(np.broadcast_to(nu, n), size=n))

    return Law(
        lambda x: np.log(2) + stats.t.logpdf(x, nu, scale=scale),
        lambda x: special.betainc(0.5, nu / 2, x**2 / (nu * scale**2 + x**2)),
        lambda x: 2 * stats.t.sf(x, nu, scale=scale),
        rvs,
    )


def gompertz(shape, rate):
    def hazard(x):
        return rate * np.expm1(shape * x) / shape

    return Law(
        lambda x: np.log(rate) + shape * x - hazard(x),
        lambda x: -np.expm1(-hazard(x)),
        lambda x: np.exp(-hazard(x)),
        lambda rng, n: np.log1p(shape * rng.exponential(size=n) / rate) / shape,
    )


def beta_exponential(a, b):
    """Of minus the log of a Beta(a, b) share."""
    def below(x):
        rest = -np.expm1(-x)
        return np.where(x > 1.0, special.betaincc(a, b, np.exp(-x)), special.betainc(b, a, rest))

    def above(x):
        rest = -np.expm1(-x)
        return np.where(x > 1.0, special.betainc(a, b, np.exp(-x)), special.betaincc(b, a, rest))

    def rvs(rng, n):
        size = spread(n, a, b)
        logs = [np.log(rng.gamma(s + 1)) + np.log(rng.random(n)) / s for s in size]
        return np.logaddexp(0.0, logs[1] - logs[0])

    return Law(
        lambda x: (b - 1) * np.log(-np.expm1(-x)) - a * x - special.betaln(a, b),
        below,
        above,
        rvs,
    )


def generalized_inverse_gaussian(p, a, b):
    def unnormalised(x, p, a, b):
        return (p - 1) * np.log(x) - (a * x + b / x) / 2

    def logpdf(x):
        root = np.sqrt(a * b)
        log_bessel = np.log(special.kve(p, root)) - root
        return p / 2 * np.log(a / b) - np.log(2) - log_bessel + unnormalised(x, p, a, b)

    def rvs(rng, n):
        each = spread(n, p, a, b)
        mode = ((each[0] - 1) + np.sqrt((each[0] - 1) ** 2 + each[1] * each[2])) / each[1]
        low = np.minimum(mode, each[2]) / (80 + 20 * np.abs(each[0]))
        high = np.maximum(mode * 4, (80 + 20 * np.abs(each[0])) / each[1])
        return on_grid(rng, n, lambda x, part: unnormalised(x, *(v[part] for v in each)), low, high)

    return Law(logpdf, rvs=rvs)


def inverse_gaussian(mu, lam):
    law = OfSciPy(stats.invgauss, mu / lam, scale=lam)
    return Law(law.logpdf, law.cdf, law.sf, lambda rng, n: rng.wald(*spread(n, mu, lam)))


@lru_cache(maxsize=4096)
def _log_modified(a, b, c):
    """The log of the integral of ``x**(a - 1) exp(-b x**2 + c x)``.

    By Kummer's functions; below zero, where these cancel, by Tricomi's: I. S. Gradshteyn and I. M.
    Ryzhik, "Table of integrals, series, and products", 3.462.1 and 9.240.
    """
    with mpmath.workdps(60):
        a, b, c = map(mpmath.mpf, (a, b, c))
        half, at = mpmath.mpf(1) / 2, c**2 / (4 * b)
        if c < 0:
            rest = mpmath.hyperu(a / 2, half, at)
            return float(mpmath.loggamma(a) - a / 2 * mpmath.log(4 * b) + mpmath.log(rest))
        even = mpmath.gamma(a / 2) * mpmath.hyp1f1(a / 2, half, at)
        odd = mpmath.gamma((a + 1) / 2) * mpmath.hyp1f1((a + 1) / 2, 3 * half, at)
        return float(mpmath.log((even + c / mpmath.sqrt(b) * odd) / 2) - a / 2 * mpmath.log(b))


def _if_it_converges(a, b, c):
    """The same; nan where the series does not converge, far out."""
    try:
        return _log_modified(a, b, c)
    except ValueError:
        return math.nan


def log_modified(a, b, c):
    """As above, for each state: by functions of floats where there are many."""
    a, b, c = np.broadcast_arrays(*(np.asarray(v, float) for v in (a, b, c)))
    if a.size <= FEW:
        each = zip(a.ravel(), b.ravel(), c.ravel(), strict=True)
        return np.reshape([_if_it_converges(*map(float, v)) for v in each], a.shape)
    z = c / np.sqrt(b)
    with np.errstate(all="ignore"):  # (only one of the two is in its range)
        below = special.gammaln(a) - a * np.log(2) + np.log(special.hyperu(a / 2, 0.5, z**2 / 4))
        above = [_log_sum(*v) for v in zip(a.ravel(), np.clip(z, 0, MOST).ravel(), strict=True)]
    found = np.where(z < 0, below, np.reshape(above, a.shape) - np.log(2)) - a / 2 * np.log(b)
    for n in np.flatnonzero(z > MOST):
        found.flat[n] = _log_modified(a.flat[n], b.flat[n], c.flat[n])
    return found


def _log_sum(a, z):
    """The log of the power series in ``z``, whose terms are largest near ``z**2 / 2``."""
    k = np.arange(int(z**2 / 2 + 12 * z) + 60)
    return special.logsumexp(
        special.xlogy(k, z) - special.gammaln(k + 1) + special.gammaln((a + k) / 2))


def modified_half_normal(a, b, c):
    def unnormalised(x, a, b, c):
        return (a - 1) * np.log(x) - b * x**2 + c * x

    def rvs(rng, n):
        each = spread(n, a, b, c)
        mean = (each[2] + np.sqrt(each[2] ** 2 + 8 * each[1] * each[0])) / (4 * each[1])
        high = mean + 9 / np.sqrt(each[1]) + np.sqrt(each[0] / each[1])
        return on_grid(rng, n, lambda x, part: unnormalised(x, *(v[part] for v in each)),
                       high * 1e-7, high, 1500)

    return Law(lambda x: unnormalised(x, a, b, c) - log_modified(a, b, c), rvs=rvs)


@lru_cache(maxsize=4096)
def _log_polya_gamma(b, x):
    """The log density of PG(b, 0)."""
    if not (0 < x < math.inf and 0 < b < math.inf):
        return math.nan if b <= 0 or math.isnan(x + b) else -math.inf
    with mpmath.workdps(25):
        return float(log_polya_gamma_inverted(mpmath.mpf(b), mpmath.mpf(x)))


def _log_alternating(b, x):
    """The same for many states: by a series of floats, nan where they have lost their digits."""
    n = np.arange(60)[:, None]
    size = special.gammaln(n + b) - special.gammaln(n + 1) + np.log(2 * n + b) - (
        2 * n + b) ** 2 / (8 * x)
    top = size.max(0)
    total = ((-1.0) ** n * np.exp(size - top)).sum(0)
    is_known = total > np.maximum(np.exp(size[-1] - top), 1e-14 * (1 + np.abs(top))) / LEAST_DIGITS
    total = top + np.log(np.where(is_known, total, np.nan))
    return total + (b - 1) * np.log(2) - special.gammaln(b) - np.log(2 * np.pi * x**3) / 2


def polya_gamma(b, c):
    def logpdf(x):
        b_each, c_each, x = np.broadcast_arrays(*(np.asarray(v, float) for v in (b, c, x)))
        if x.size <= FEW:
            base = np.reshape([_log_polya_gamma(*map(float, v)) for v in zip(
                b_each.ravel(), x.ravel(), strict=True)], x.shape)
        else:
            base = _log_alternating(b_each, x)
        log_cosh = np.logaddexp(c_each / 2, -c_each / 2) - np.log(2)
        return b_each * log_cosh - c_each**2 * x / 2 + base

    def rvs(rng, n):
        b_each, c_each = spread(n, b, c)
        total, mean_left = np.zeros(n), b_each / 4 * _tanh_ratio(c_each)
        for k in range(1, 201):
            rate = 2 * np.pi**2 * ((k - 0.5) ** 2 + c_each**2 / (4 * np.pi**2))
            total += rng.gamma(b_each) / rate
            mean_left = mean_left - b_each / rate
        return total + mean_left

    return Law(logpdf, rvs=rvs)


def _tanh_ratio(c):
    """``tanh(c / 2) / (c / 2)``."""
    safe = np.where(np.abs(c) < 1e-6, 1.0, c)
    return np.where(np.abs(c) < 1e-6, 1.0, np.tanh(safe / 2) / (safe / 2))


def von_mises(mu, kappa):
    return Law(
        lambda x: kappa * (np.cos(x - mu) - 1) - np.log(2 * np.pi * special.i0e(kappa)),
        rvs=lambda rng, n: np.angle(np.exp(1j * rng.vonmises(*spread(n, mu, kappa)))),
    )


def flat(low):
    """A constant density; its draws are those of a wide law, whose density is ``rvs_logpdf``."""
    wide = stats.norm(0, 2) if low == -math.inf else stats.gamma(1.5, scale=1.5)
    law = Law(lambda x: np.zeros(np.shape(x)),
              rvs=lambda rng, n: wide.rvs(size=n, random_state=rng))
    law.rvs_logpdf = wide.logpdf
    return law


def bernoulli(p):
    return Law(
        lambda x: np.where((x == 0) | (x == 1),
                           special.xlogy(x, p) + special.xlogy(1 - x, 1 - p), -np.inf),
        lambda x: np.where(x < 0, 0.0, np.where(x < 1, 1 - p, 1.0)),
        lambda x: np.where(x < 0, 1.0, np.where(x < 1, p, 0.0)),
        lambda rng, n: (rng.random(n) < p).astype(float),
    )


def binomial(n, p):  # (SciPy's is nan for n = 0 in some versions)
    def logpdf(x):
        inside = (x >= 0) & (x <= n)
        y = np.where(inside, x, 0)
        choose = special.gammaln(n + 1) - special.gammaln(y + 1) - special.gammaln(n - y + 1)
        return np.where(
            inside, choose + special.xlogy(y, p) + special.xlogy(n - y, 1 - p), -np.inf
        )

    return Law(
        logpdf,
        lambda x: np.where(x < 0, 0.0, np.where(x >= n, 1.0, special.bdtr(
            np.clip(x, 0, n), np.asarray(n).astype(int), p))),
        lambda x: np.where(x < 0, 1.0, np.where(x >= n, 0.0, special.bdtrc(
            np.clip(x, 0, n), np.asarray(n).astype(int), p))),
        lambda rng, size: rng.binomial(*(np.broadcast_to(v, size) for v in (
            np.asarray(n).astype(int), p))).astype(float),
    )


def poisson(rate):
    return Law(
        lambda x: np.where(
            x >= 0, special.xlogy(np.maximum(x, 0), rate) - rate
            - special.gammaln(np.maximum(x, 0) + 1), -np.inf),
        lambda x: np.where(x < 0, 0.0, special.gammaincc(np.maximum(x, 0) + 1, rate)),
        lambda x: np.where(x < 0, 1.0, special.gammainc(np.maximum(x, 0) + 1, rate)),
        lambda rng, n: rng.poisson(np.minimum(rate, 1e15), size=n).astype(float),
    )


def negative_binomial(n, p):
    def logpdf(x):
        y = np.maximum(x, 0)
        found = special.gammaln(y + n) - special.gammaln(n) - special.gammaln(y + 1)
        return np.where(x >= 0, found + special.xlogy(n, p) + special.xlogy(y, 1 - p), -np.inf)

    return Law(
        logpdf,
        lambda x: np.where(x < 0, 0.0, special.betainc(n, np.maximum(x, 0) + 1, p)),
        lambda x: np.where(x < 0, 1.0, special.betainc(np.maximum(x, 0) + 1, n, 1 - p)),
        lambda rng, size: rng.poisson(
            np.minimum(rng.gamma(n, size=size) * (1 - p) / p, 1e15)).astype(float),
    )


def beta_binomial(n, alpha, beta):
    def logpdf(x):
        inside = (x >= 0) & (x <= n)
        y = np.where(inside, x, 0)
        choose = special.gammaln(n + 1) - special.gammaln(y + 1) - special.gammaln(n - y + 1)
        ratio = special.betaln(y + alpha, n - y + beta) - special.betaln(alpha, beta)
        return np.where(inside, choose + ratio, -np.inf)

    def rvs(rng, size):
        # (shapes may have underflowed)
        p = rng.beta(*(np.maximum(v, np.finfo(float).tiny) for v in spread(size, alpha, beta)))
        return rng.binomial(np.broadcast_to(np.asarray(n).astype(int), size), p).astype(float)

    return Law(logpdf, rvs=rvs)


def zero_inflated(base):
    """The law of what is 0 unless, with probability psi, it is drawn from another law."""

    def law(psi, **parameters):
        other = base(**parameters)

        def logpdf(x):
            with np.errstate(divide="ignore"):
                mass = np.exp(other.logpdf(np.zeros(np.shape(x))))
                return np.where(x == 0, np.log(1 - psi + psi * mass),
                                np.log(psi) + other.logpdf(x))

        return Law(
            logpdf,
            lambda x: np.where(x < 0, 0.0, (1 - psi) + psi * other.cdf(x)),
            lambda x: np.where(x < 0, 1.0, psi * other.sf(x)),
            lambda rng, n: np.where(rng.random(n) < psi, other.rvs(rng, n), 0.0),
        )

    return law


@lru_cache
def stirling(n):
    """Unsigned Stirling numbers of the first kind ``|s(n, k)|`` for all k."""
    row = [1]
    for m in range(n):
        row = [(row[k - 1] if k else 0) + (m * row[k] if k < len(row) else 0)
               for k in range(len(row) + 1)]
    return np.array([math.log(v) if v else -math.inf for v in row])


def tables(n, alpha):
    def logpdf(x):
        count, x = np.broadcast_arrays(np.asarray(n, float), np.asarray(x, float))
        found = np.array([
            stirling(int(m))[int(v)] if 0 <= v <= m else -math.inf
            for m, v in zip(count.ravel(), x.ravel(), strict=True)
        ]).reshape(x.shape)
        return found + special.gammaln(alpha) - special.gammaln(alpha + n) + x * np.log(alpha)

    def rvs(rng, size):
        count, a = spread(size, n, alpha)
        total = np.zeros(size)
        for m in range(int(count.max())):
            total += (m < count) & (rng.random(size) < a / (a + m))
        return total

    return Law(logpdf, rvs=rvs)


def hypergeometric(N, D, n):
    def choose(a, b):
        return special.gammaln(a + 1) - special.gammaln(b + 1) - special.gammaln(a - b + 1)

    def logpdf(x):
        inside = (x >= np.maximum(0, n + D - N)) & (x <= np.minimum(n, D))
        with np.errstate(invalid="ignore"):
            found = choose(D, x) + choose(N - D, n - x) - choose(N, n)
        return np.where(inside, found, -np.inf)

    def rvs(rng, size):
        good, bad, some = (np.asarray(v).astype(int) for v in (D, np.asarray(N) - D, n))
        return rng.hypergeometric(good, bad, some, size=size).astype(float)

    return Law(logpdf, rvs=rvs)


def discrete_uniform(lower, upper):
    def logpdf(x):
        return np.where((x >= lower) & (x <= upper), -np.log(upper - lower + 1.0), -np.inf)

    return Law(
        logpdf,
        lambda x: np.clip((np.floor(x) - lower + 1) / (upper - lower + 1), 0, 1),
        lambda x: np.clip((upper - np.floor(x)) / (upper - lower + 1), 0, 1),
        lambda rng, n: np.floor(lower + rng.random(n) * (upper - lower + 1)),
    )


def uniform(lower, upper):
    def logpdf(x):
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where((x >= lower) & (x <= upper), -np.log(upper - lower), -np.inf)

    return Law(
        logpdf,
        lambda x: np.clip((x - lower) / (upper - lower), 0, 1),
        lambda x: np.clip((upper - x) / (upper - lower), 0, 1),
        lambda rng, n: lower + (upper - lower) * rng.random(n),
    )
