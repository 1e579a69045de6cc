"""Draws from natural parameters: one function per exponential family, whole arrays at a time.

``draw(rng, *eta, size, **known)`` returns an array of shape ``size``, or a number where that is
``()``; ``eta_j`` multiplies the family's j-th statistic in the log density. Parameters outside the
domain raise ``ValueError`` or give NaN, never a value.

Positive values are at least ``TINY``, the smallest normal number, for 0 is outside the support: of
a Gamma of shape 1e-3, half the mass is below it. Likewise the entries of a simplex, and a Beta is
at most ``1 - 2**-53``.

>>> import numpy as np
>>> rng = np.random.default_rng(1)
>>> normal(rng, np.array([0.0, 2e6]), -1e6, size=(2,)).round(2)
array([0., 1.])
"""

from __future__ import annotations

import math

import numpy as np
import scipy

from gibbsppl.runtime.gate_odds import FewLogOdds, few_gates
from gibbsppl.runtime.types import Floats, Generator, Integers, Numbers, Size, Values, Wholes

TINY = float(np.finfo(float).tiny)
HUGE = float(np.finfo(float).max)
BELOW_ONE = float(np.nextafter(1.0, 0.0))
LOG_HUGE = math.log(HUGE)

# NumPy's Gamma draws of smaller shapes fall below TINY more often than its uniform numbers are 0
# (probability 2**-53): x is about U**(1 / shape).
SMALL_SHAPE = 0.1


logs_of = np.errstate(divide="ignore", invalid="ignore")(np.log)


def normal(rng: Generator, eta_1: Numbers, eta_2: Numbers, size: Size) -> Numbers:
    """Draws with log density ``eta_1 x + eta_2 x**2``."""
    variance = -0.5 / eta_2
    # On one number, Python's own arithmetic is several times faster than NumPy's.
    sd = math.sqrt(variance) if isinstance(variance, float) else np.sqrt(variance)
    if size:
        return eta_1 * variance + sd * rng.standard_normal(size)
    return float(eta_1 * variance) + sd * rng.standard_normal()


def gamma(rng: Generator, eta_1: Numbers, eta_2: Numbers, size: Size) -> Numbers:
    """Draws with log density ``eta_1 log(x) + eta_2 x``."""
    shape, rate = eta_1 + 1.0, -eta_2
    if not size and shape >= SMALL_SHAPE and rate > 0.0:
        return max(float(rng.standard_gamma(shape) / rate), TINY)
    return gamma_of(rng, shape, rate, size)


def gamma_of(rng: Generator, shape: Numbers, rate: Numbers, size: Size) -> Numbers:
    """Gamma draws of any shape; in logs for small shapes, as a small rate undoes underflow."""
    if least(shape) < SMALL_SHAPE:
        return from_log(log_gamma_of(rng, shape, size) - np.log(require_positive(rate)))
    # (without a size, scalar parameters are drawn twice as fast)
    return positive(rng.standard_gamma(shape, size or None) / require_positive(rate))


def log_gamma_of(rng: Generator, shape: Numbers, size: Size) -> Floats:
    """The logs of Gamma draws of rate 1: ``G(a) = G(a + 1) * U**(1 / a)``, exact for any shape."""
    boosted = rng.standard_gamma(require_positive(shape) + 1.0, size)
    return logs_of(boosted) - rng.standard_exponential(size) / shape


def inverse_gamma(rng: Generator, eta_1: Numbers, eta_2: Numbers, size: Size) -> Numbers:
    """Draws with log density ``eta_1 log(x) + eta_2 / x``."""
    return inverse_gamma_of(rng, -eta_1 - 1.0, -eta_2, size)


@np.errstate(over="ignore")
def inverse_gamma_of(rng: Generator, shape: Numbers, scale: Numbers, size: Size) -> Numbers:
    """``scale / G(shape)``, at most the largest number."""
    if least(shape) < SMALL_SHAPE:
        return from_log(np.log(require_positive(scale)) - log_gamma_of(rng, shape, size))
    inverted = positive(rng.standard_gamma(shape, size or None))
    return positive(np.minimum(require_positive(scale) / inverted, HUGE))


def chi_squared(rng: Generator, eta_1: Numbers, size: Size) -> Numbers:
    """Draws with log density ``eta_1 log(x) - x / 2``."""
    return gamma_of(rng, eta_1 + 1.0, 0.5, size)


def exponential(rng: Generator, eta_1: Numbers, size: Size) -> Numbers:
    """Draws with log density ``eta_1 x`` on x > 0."""
    return positive(rng.standard_exponential(size) / require_positive(-eta_1))


def half_normal(rng: Generator, eta_1: Numbers, size: Size) -> Numbers:
    """Draws with log density ``eta_1 x**2`` on x > 0."""
    return positive(np.abs(rng.standard_normal(size)) * np.sqrt(0.5 / require_positive(-eta_1)))


def log_normal(rng: Generator, eta_1: Numbers, eta_2: Numbers, size: Size) -> Numbers:
    """Draws with log density ``eta_1 log(x) + eta_2 log(x)**2``."""
    return from_log(normal(rng, eta_1 + 1.0, eta_2, size))


def laplace(rng: Generator, eta_1: Numbers, size: Size, mu: Numbers) -> Numbers:
    """Draws with log density ``eta_1 |x - mu|``."""
    return mu + rng.laplace(0.0, 1.0, size) / require_positive(-eta_1)


def weibull(rng: Generator, eta_1: Numbers, size: Size, shape: Numbers) -> Numbers:
    """Draws with log density ``eta_1 x**shape + (shape - 1) log(x)``, of reciprocals below 0."""
    require_positive(np.abs(shape))
    logs = logs_of(rng.standard_exponential(size))
    return from_log((logs - np.log(require_positive(-eta_1))) / shape)


def pareto(rng: Generator, eta_1: Numbers, size: Size, minimum: Numbers) -> Numbers:
    """Draws with log density ``eta_1 log(x)`` on x > minimum."""
    return pareto_of(rng, -eta_1 - 1.0, minimum, size)


def pareto_of(rng: Generator, shape: Numbers, minimum: Numbers, size: Size) -> Numbers:
    """``minimum * exp(E / shape)``, above the minimum and at most the largest number."""
    start = np.log(require_positive(minimum))
    logs = rng.standard_exponential(size) / require_positive(shape) + start
    return np.maximum(from_log(logs), np.nextafter(minimum, math.inf))


def beta(rng: Generator, eta_1: Numbers, eta_2: Numbers, size: Size) -> Numbers:
    """Draws with log density ``eta_1 log(x) + eta_2 log(1 - x)``."""
    return beta_of(rng, eta_1 + 1.0, eta_2 + 1.0, size)


def beta_of(rng: Generator, a: Numbers, b: Numbers, size: Size) -> Numbers:
    """Beta draws of any shapes, strictly inside (0, 1)."""
    if least(a) < SMALL_SHAPE or least(b) < SMALL_SHAPE:
        draws = scipy.special.expit(log_gamma_of(rng, a, size) - log_gamma_of(rng, b, size))
    else:
        draws = rng.beta(a, b, size or None)
    return np.minimum(np.maximum(draws, TINY), BELOW_ONE)


def beta_exponential(rng: Generator, eta_1: Numbers, eta_2: Numbers, size: Size) -> Numbers:
    """Draws with log density ``eta_1 x + eta_2 log(1 - exp(-x))`` on x > 0."""
    return beta_exponential_of(rng, -eta_1, eta_2 + 1.0, size)


def beta_exponential_of(rng: Generator, a: Numbers, b: Numbers, size: Size) -> Numbers:
    """``-log(Q)`` of a Beta(a, b) share Q, with all digits where that is next to 0 or to 1."""
    if least(a) < SMALL_SHAPE or least(b) < SMALL_SHAPE:
        logs = log_gamma_of(rng, b, size) - log_gamma_of(rng, a, size)
        draws = np.logaddexp(0.0, logs)
    else:
        draws = np.log1p(rng.standard_gamma(b, size or None) / rng.standard_gamma(a, size or None))
    return positive(np.minimum(draws, HUGE))


def uniform(rng: Generator, size: Size, lower: Numbers, upper: Numbers) -> Numbers:
    """Draws of equal density strictly between two bounds."""
    draws = rng.uniform(lower, upper, size or None)
    return np.minimum(np.maximum(draws, np.nextafter(lower, upper)), np.nextafter(upper, lower))


def bernoulli(rng: Generator, eta_1: Numbers | FewLogOdds, size: Size) -> Wholes:
    """Draws of 0 or 1 with log odds ``eta_1``."""
    if isinstance(eta_1, FewLogOdds):
        return few_gates(rng, eta_1).astype(np.int64)
    if isinstance(eta_1, np.ndarray) and eta_1.size == 1 and eta_1.shape == tuple(size):
        # (one number: what looks after arrays takes longer than the draw)
        odds_against = math.exp(min(-eta_1.item(), LOG_HUGE))
        if not odds_against >= 0.0:
            raise ValueError("the log odds of a draw are not a number")
        return (rng.random(size) * (1.0 + odds_against) < 1.0).astype(np.int64)
    with np.errstate(over="ignore", invalid="ignore"):
        # (``u < 1 / (1 + exp(-eta))``, without a division; where exp overflows it is false)
        odds = 1.0 + np.exp(np.negative(eta_1))
        drawn = rng.random(size) * require_positive(odds) < 1.0
    return drawn.astype(np.int64)


def binomial(rng: Generator, eta_1: Numbers, size: Size, n: Values) -> Wholes:
    """Draws of the number of successes in n trials with log odds ``eta_1``."""
    return rng.binomial(whole(n), scipy.special.expit(eta_1), size)[()]


def poisson(rng: Generator, eta_1: Numbers, size: Size) -> Wholes:
    """Draws with log mass ``eta_1 x - loggamma(x + 1)``."""
    return rng.poisson(np.exp(eta_1), size)[()]


# Whole numbers below this are stored as integers of 64 bits, of which sums do not overflow; larger
# ones as floats.
LARGEST_COUNT = 2.0**31

# The largest mean of Poisson draws as integers.
LARGEST_MEAN = 2.0**60


def geometric(rng: Generator, eta_1: Numbers, size: Size) -> Values:
    """Draws with log mass ``eta_1 x``: the number of failures before a success.

    They are the whole parts of exponential draws; floats where they are too large for integers.

    >>> geometric(np.random.default_rng(1), -1e-300, (2,)) > 1e299
    array([ True,  True])
    """
    rate = require_positive(-np.asarray(eta_1, dtype=float))
    failures = np.floor(rng.standard_exponential(size) / rate)
    return _as_integers(failures)


def negative_binomial(rng: Generator, eta_1: Numbers, size: Size, n: Numbers) -> Values:
    """Draws of the number of failures before n successes, ``eta_1 = log(1 - p)``."""
    odds = 1.0 / np.expm1(require_positive(-np.asarray(eta_1, dtype=float)))
    if not np.any(odds * np.maximum(n, 1.0) > LARGEST_COUNT):
        return rng.negative_binomial(n, -np.expm1(eta_1), size)[()]
    rates = rng.standard_gamma(n, size) * odds
    # (beyond the integers a Poisson draw is a normal one, as far as floats can tell)
    large = np.floor(np.maximum(rates + np.sqrt(rates) * rng.standard_normal(size), 0.0))
    small = rng.poisson(np.minimum(rates, LARGEST_MEAN))
    return _as_integers(np.where(rates > LARGEST_MEAN, large, small))


def _as_integers(values: Floats) -> Values:
    """Whole numbers as integers, if they are small enough to be."""
    return values.astype(np.int64)[()] if np.all(values < LARGEST_COUNT) else values[()]


def discrete_uniform(rng: Generator, size: Size, lower: Values, upper: Values) -> Wholes:
    """Draws of the whole numbers lower..upper, all with the same probability."""
    return rng.integers(whole(lower), whole(upper), size or None, endpoint=True)


def dirichlet(rng: Generator, eta_1: Floats, size: Size) -> Floats:
    """Draws with log density ``sum of eta_1[k] log(x[k])`` on the simplex (the last axis)."""
    return dirichlet_of(rng, eta_1 + 1.0, size)


def dirichlet_of(rng: Generator, a: Floats, size: Size) -> Floats:
    """Normalised Gamma draws, each entry at least ``TINY``; 0 where the shape is exactly 0."""
    if least(a) == 0.0:
        return _dirichlet_on_face(rng, np.broadcast_to(a, size), size)
    totals = (a if np.shape(a) == size else np.broadcast_to(a, size)).sum(-1)
    if least(totals) >= 1.0:  # then the normaliser, Gamma(total), is not small: no need of logs
        draws = rng.standard_gamma(a, size)
    else:
        logs = log_gamma_of(rng, a, size)
        draws = np.exp(logs - logs.max(-1, keepdims=True))
    return np.maximum(draws / draws.sum(-1, keepdims=True), TINY)


def _dirichlet_on_face(rng: Generator, a: Floats, size: Size) -> Floats:
    """Dirichlet draws of the entries of positive shape; those of shape 0 are 0 with certainty."""
    possible = a > 0.0
    if not possible.any(-1).all():
        raise ValueError("all shapes of a draw of shares are zero")
    logs = np.where(possible, log_gamma_of(rng, np.where(possible, a, 1.0), size), -np.inf)
    draws = np.exp(logs - logs.max(-1, keepdims=True))
    return np.where(possible, np.maximum(draws / draws.sum(-1, keepdims=True), TINY), 0.0)


def from_log(logs: Numbers) -> Numbers:
    """``exp(logs)``, between ``TINY`` and the largest number."""
    return np.maximum(np.exp(np.minimum(logs, LOG_HUGE)), TINY)


def positive(draws: Numbers) -> Numbers:
    """The draws, zeros replaced by ``TINY``; a negative one is what a negative rate leaves."""
    if least(draws) >= TINY:
        return draws
    if least(draws) < 0.0:
        raise ValueError(f"a rate, scale or precision of a positive draw is not positive: {draws}")
    return np.maximum(draws, TINY)


def require_positive(parameter: Numbers) -> Numbers:
    """The parameter, if all of it is positive."""
    if not least(parameter) > 0.0:
        raise ValueError(f"a shape, rate or scale is not positive: {parameter}")
    return parameter


def least(values: Values) -> float:
    """The smallest of some numbers; infinity if there are none."""
    if isinstance(values, float):  # np.float64 is one
        return values
    if not isinstance(values, np.ndarray):
        values = np.asarray(values)
    # (the ufunc itself: half the time of the method for a few elements)
    return np.minimum.reduce(values, axis=None) if values.size else math.inf


def whole(values: Values) -> Integers:
    """Whole numbers as integers, for the generators that ask for that type.

    >>> whole(np.array([2.0, 3.0]))
    array([2, 3])
    >>> whole(0.5)
    Traceback (most recent call last):
    ValueError: a count or a bound of a draw is 0.5, expected a whole number
    """
    given = np.asarray(values)
    if given.dtype.kind in "iub":
        return given.astype(np.int64, copy=False)[()]
    with np.errstate(invalid="ignore"):
        found = given.astype(np.int64)
    if (found != given).any():
        other = given[found != given].flat[0]
        raise ValueError(f"a count or a bound of a draw is {other}, expected a whole number")
    return found[()]
