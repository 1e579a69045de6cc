"""Draws of one number from natural parameters: those of `gibbsppl.runtime.draws`, one at a time.

Numba's generators do not check their parameters, and some never return from those that are not
numbers: the kernels check.

>>> import numpy as np
>>> round(float(normal(np.random.default_rng(1), -2e6, -1e6)), 2)
-1.0
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, expm1, floor, inf, log, log1p, nextafter, sqrt

from gibbsppl.runtime.draws import (
    BELOW_ONE,
    HUGE,
    LARGEST_COUNT,
    LARGEST_MEAN,
    LOG_HUGE,
    SMALL_SHAPE,
    TINY,
)
from gibbsppl.runtime.types import Generator

from . import kernel
from .elementary import at_least, at_most, exp_of, expit, from_log, log_of

_SMALL = "whole arrays with a shape below 0.1 have all their gammas before all their exponentials"
APART: Mapping[str, str] = {
    "gamma": _SMALL,
    "gamma_of": _SMALL,
    "log_gamma_of": "whole arrays have all their gammas before all their exponentials",
    "inverse_gamma": _SMALL,
    "inverse_gamma_of": _SMALL,
    "chi_squared": _SMALL,
    "beta": _SMALL,
    "beta_of": _SMALL,
    "beta_exponential": "whole arrays have all the gammas of one shape before those of the other",
    "beta_exponential_of": "as for `beta_exponential`",
    "negative_binomial": "whole arrays with counts beyond 2**31 have all their gammas first",
}


@dataclass(frozen=True, slots=True)
class Part:
    """A parameter that a kernel computes of some of its arguments, by their numbers."""

    function: str
    arguments: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Parted:
    """A kernel as another one, of arguments that are ``kept`` and of parameters."""

    draw: str
    kept: tuple[int, ...]
    parts: tuple[Part, ...]


_OF_PRECISION = (Part("variance", (1,)), Part("deviation", (1,)))
PARTED: Mapping[str, Parted] = {
    "normal": Parted("normal_of", (0,), _OF_PRECISION),
    "log_normal": Parted("log_normal_of", (0,), _OF_PRECISION),
    "half_normal": Parted("half_normal_of", (), (Part("deviation", (0,)),)),
    "bernoulli": Parted("bernoulli_of", (), (Part("inverse_probability", (0,)),)),
    "poisson": Parted("poisson_of", (), (Part("exp_of", (0,)),)),
}

# The largest mean that NumPy takes, and whole numbers that certainly are integers of 64 bits.
LARGEST_POISSON = 9.223372006484771e18
LARGEST_WHOLE = 2.0**62


@kernel
def normal(rng: Generator, eta_1: float, eta_2: float) -> float:
    """A draw with log density ``eta_1 x + eta_2 x**2``."""
    return normal_of(rng, eta_1, variance(eta_2), deviation(eta_2))


@kernel
def normal_of(rng: Generator, eta_1: float, variance_: float, deviation_: float) -> float:
    """The same from the variance and the standard deviation that ``eta_2`` means."""
    return eta_1 * variance_ + deviation_ * rng.standard_normal()


@kernel
def variance(eta_2: float) -> float:
    """The variance of a normal distribution with log density ``eta_2 x**2``."""
    if not eta_2 < 0.0:
        raise ValueError("a precision of a normal draw is not positive")
    return -0.5 / eta_2


@kernel
def deviation(eta_2: float) -> float:
    """The standard deviation of a normal distribution with log density ``eta_2 x**2``."""
    return sqrt(variance(eta_2))


@kernel
def gamma(rng: Generator, eta_1: float, eta_2: float) -> float:
    """A draw with log density ``eta_1 log(x) + eta_2 x``."""
    return gamma_of(rng, eta_1 + 1.0, -eta_2)


@kernel
def gamma_of(rng: Generator, shape: float, rate: float) -> float:
    """A Gamma draw of any shape; in logs for a small shape, as a small rate undoes underflow."""
    if not (shape > 0.0 and rate > 0.0):
        raise ValueError("a shape or rate of a draw is not positive")
    if shape < SMALL_SHAPE:
        return from_log(log_gamma_of(rng, shape) - log(rate))
    return at_least(rng.standard_gamma(shape) / rate, TINY)


@kernel
def log_gamma_of(rng: Generator, shape: float) -> float:
    """The log of a Gamma draw of rate 1: ``G(a) = G(a + 1) * U**(1 / a)``, exact for any shape."""
    if not shape > 0.0:
        raise ValueError("a shape of a draw is not positive")
    boosted = rng.standard_gamma(shape + 1.0)
    return log_of(boosted) - rng.standard_exponential() / shape


@kernel
def inverse_gamma(rng: Generator, eta_1: float, eta_2: float) -> float:
    """A draw with log density ``eta_1 log(x) + eta_2 / x``."""
    return inverse_gamma_of(rng, -eta_1 - 1.0, -eta_2)


@kernel
def inverse_gamma_of(rng: Generator, shape: float, scale: float) -> float:
    """``scale / G(shape)``, at most the largest number."""
    if not (shape > 0.0 and scale > 0.0):
        raise ValueError("a shape or scale of a draw is not positive")
    if shape < SMALL_SHAPE:
        return from_log(log(scale) - log_gamma_of(rng, shape))
    inverted = at_least(rng.standard_gamma(shape), TINY)
    # (without the overflow of which Python's own numbers warn)
    if inverted < 1.0 and scale > HUGE * inverted:
        return HUGE
    return at_least(scale / inverted, TINY)


@kernel
def chi_squared(rng: Generator, eta_1: float) -> float:
    """A draw with log density ``eta_1 log(x) - x / 2``."""
    return gamma_of(rng, eta_1 + 1.0, 0.5)


@kernel
def exponential(rng: Generator, eta_1: float) -> float:
    """A draw with log density ``eta_1 x`` on x > 0."""
    return at_least(rng.standard_exponential() / _positive(-eta_1), TINY)


@kernel
def half_normal(rng: Generator, eta_1: float) -> float:
    """A draw with log density ``eta_1 x**2`` on x > 0."""
    return half_normal_of(rng, deviation(eta_1))


@kernel
def half_normal_of(rng: Generator, deviation_: float) -> float:
    """The same from the standard deviation of the whole distribution."""
    return at_least(abs(rng.standard_normal()) * deviation_, TINY)


@kernel
def log_normal(rng: Generator, eta_1: float, eta_2: float) -> float:
    """A draw with log density ``eta_1 log(x) + eta_2 log(x)**2``."""
    return from_log(normal(rng, eta_1 + 1.0, eta_2))


@kernel
def log_normal_of(rng: Generator, eta_1: float, variance_: float, deviation_: float) -> float:
    """The same from the variance and the standard deviation that ``eta_2`` means."""
    return from_log(normal_of(rng, eta_1 + 1.0, variance_, deviation_))


@kernel
def laplace(rng: Generator, eta_1: float, mu: float) -> float:
    """A draw with log density ``eta_1 |x - mu|``."""
    return mu + rng.laplace(0.0, 1.0) / _positive(-eta_1)


@kernel
def weibull(rng: Generator, eta_1: float, shape: float) -> float:
    """A draw with log density ``eta_1 x**shape + (shape - 1) log(x)``, a reciprocal below 0."""
    _positive(abs(shape))
    rate = log(_positive(-eta_1))
    return from_log((log_of(rng.standard_exponential()) - rate) / shape)


@kernel
def pareto(rng: Generator, eta_1: float, minimum: float) -> float:
    """A draw with log density ``eta_1 log(x)`` on x > minimum."""
    return pareto_of(rng, -eta_1 - 1.0, minimum)


@kernel
def pareto_of(rng: Generator, shape: float, minimum: float) -> float:
    """``minimum * exp(E / shape)``, above the minimum and at most the largest number."""
    start = log(_positive(minimum))
    drawn = from_log(rng.standard_exponential() / _positive(shape) + start)
    return at_least(drawn, nextafter(minimum, inf))


@kernel
def beta(rng: Generator, eta_1: float, eta_2: float) -> float:
    """A draw with log density ``eta_1 log(x) + eta_2 log(1 - x)``."""
    return beta_of(rng, eta_1 + 1.0, eta_2 + 1.0)


@kernel
def beta_of(rng: Generator, a: float, b: float) -> float:
    """A Beta draw of any shapes, strictly inside (0, 1)."""
    if not (a > 0.0 and b > 0.0):
        raise ValueError("a shape of a draw is not positive")
    if a < SMALL_SHAPE or b < SMALL_SHAPE:
        log_first = log_gamma_of(rng, a)
        drawn = expit(log_first - log_gamma_of(rng, b))
    else:
        drawn = rng.beta(a, b)
    return at_most(at_least(drawn, TINY), BELOW_ONE)


@kernel
def beta_exponential(rng: Generator, eta_1: float, eta_2: float) -> float:
    """A draw with log density ``eta_1 x + eta_2 log(1 - exp(-x))`` on x > 0."""
    return beta_exponential_of(rng, -eta_1, eta_2 + 1.0)


@kernel
def beta_exponential_of(rng: Generator, a: float, b: float) -> float:
    """``-log(Q)`` of a Beta(a, b) share Q, with all digits where that is next to 0 or to 1."""
    if not (a > 0.0 and b > 0.0):
        raise ValueError("a shape of a draw is not positive")
    if a < SMALL_SHAPE or b < SMALL_SHAPE:
        log_first = log_gamma_of(rng, b)
        odds = log_first - log_gamma_of(rng, a)
        drawn = log1p(exp(-abs(odds))) + at_least(odds, 0.0)
    else:
        first = rng.standard_gamma(b)
        drawn = log1p(first / at_least(rng.standard_gamma(a), TINY))
    return at_most(at_least(drawn, TINY), HUGE)


@kernel
def uniform(rng: Generator, lower: float, upper: float) -> float:
    """A draw of equal density strictly between two bounds."""
    if not (lower <= upper and upper - lower <= HUGE):
        raise ValueError("the bounds of a uniform draw are not in order, or not finite")
    drawn = rng.uniform(lower, upper)
    return at_most(at_least(drawn, nextafter(lower, upper)), nextafter(upper, lower))


@kernel
def bernoulli(rng: Generator, eta_1: float) -> int:
    """A draw of 0 or 1 with log odds ``eta_1``."""
    return bernoulli_of(rng, inverse_probability(eta_1))


@kernel
def bernoulli_of(rng: Generator, inverse: float) -> int:
    """The same from one over the probability of 1."""
    return 1 if rng.random() * inverse < 1.0 else 0


@kernel
def inverse_probability(eta_1: float) -> float:
    """One over the probability whose log odds are ``eta_1``; infinite where it overflows."""
    if eta_1 != eta_1:  # noqa: PLR0124  # NaN
        raise ValueError("the log odds of a draw are not a number")
    return 1.0 + exp_of(-eta_1)


@kernel
def binomial(rng: Generator, eta_1: float, n: float) -> int:
    """A draw of the number of successes in n trials with log odds ``eta_1``."""
    if not (n >= 0 and n < LARGEST_WHOLE):
        raise ValueError("a number of trials is negative or too large")
    trials = int(n)
    if trials != n or eta_1 != eta_1:  # noqa: PLR0124  # NaN
        raise ValueError("a number of trials is not whole, or log odds are not a number")
    return int(rng.binomial(trials, expit(eta_1)))


@kernel
def poisson(rng: Generator, eta_1: float) -> int:
    """A draw with log mass ``eta_1 x - loggamma(x + 1)``."""
    return poisson_of(rng, exp_of(eta_1))


@kernel
def poisson_of(rng: Generator, mean: float) -> int:
    """A Poisson draw; ``ValueError`` for a mean that is negative, too large or not a number."""
    if not 0.0 <= mean <= LARGEST_POISSON:
        raise ValueError("a mean of a Poisson draw is negative or too large")
    return int(rng.poisson(mean))


@kernel
def geometric(rng: Generator, eta_1: float) -> int:
    """A draw with log mass ``eta_1 x``: the number of failures before a success."""
    failures = rng.standard_exponential() / _positive(-eta_1)
    if failures >= LARGEST_WHOLE:
        raise ValueError("a draw of a count is too large for an integer")
    return floor(failures)


@kernel
def negative_binomial(rng: Generator, eta_1: float, n: float) -> int:
    """A draw of the number of failures before n successes, ``eta_1 = log(1 - p)``."""
    if not (eta_1 < 0.0 and n > 0.0):
        raise ValueError("a negative binomial draw needs a log of less than 0 and n of more than 0")
    grown = expm1(-eta_1) if -eta_1 < LOG_HUGE else inf
    # (1e-308 stands for what underflows: either is a count that is too large)
    odds = 1.0 / at_least(grown, TINY)
    if odds * at_least(float(n), 1.0) <= LARGEST_COUNT:
        return int(rng.negative_binomial(float(n), -expm1(eta_1)))
    rate = rng.standard_gamma(float(n)) * odds
    further = sqrt(rate) * rng.standard_normal()
    if rate <= LARGEST_MEAN:
        return int(rng.poisson(rate))
    if rate + further >= LARGEST_WHOLE:
        raise ValueError("a draw of a count is too large for an integer")
    return floor(at_least(rate + further, 0.0))


@kernel
def discrete_uniform(rng: Generator, lower: float, upper: float) -> int:
    """A draw of the whole numbers lower..upper, all with the same probability."""
    if not (-LARGEST_WHOLE < lower <= upper < LARGEST_WHOLE):
        raise ValueError("the bounds of a count are not in order, or too large")
    low, high = int(lower), int(upper)
    if low != lower or high != upper:
        raise ValueError("a bound of a count is not whole")
    return int(rng.integers(low, high + 1))


@kernel
def _positive(parameter: float) -> float:
    """The parameter, if it is positive."""
    if not parameter > 0.0:
        raise ValueError("a shape, rate, scale or bound of a draw is not positive")
    return parameter
