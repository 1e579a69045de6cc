"""The log densities of numbers, and of their tails, as BUGS's manuals write them.

>>> round(float(gamma(2.0, 3.0, 0.5)), 4)
-2.3863
"""

# The results of NumPy's and SciPy's functions are untyped.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Callable
from math import inf, log, pi
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from gibbsppl.bugs.interpreted_special import special

# Functions of SciPy, which is loaded when one is called.
betaln = special.betaln
expm1 = special.expm1
gammaln = special.gammaln
log_expit = special.log_expit
log_ndtr = special.log_ndtr
xlog1py = special.xlog1py
xlogy = special.xlogy

Floats = NDArray[np.float64]

# A number, or an array of numbers.
Numbers = float | Floats
N = TypeVar("N", float, Floats)


def log_difference(more: float, less: float) -> float:
    """``log(exp(more) - exp(less))``."""
    return more + np.log(-expm1(less - more)) if less < more else -inf


# ---- whole numbers -----------------------------------------------------------------------------


def log_choose(n: float, k: float) -> float:
    """The log of the number of ways to choose k of n."""
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


def shares(p: Floats) -> Floats:
    """Weights divided by their sum; NaN if any weight is negative."""
    p = np.asarray(p, float)
    return p / p.sum() if (p >= 0).all() else np.full(p.shape, np.nan)


def bernoulli(x: float, p: float) -> float:
    """The log probability of 0 or 1."""
    return np.nan if not 0 <= p <= 1 else xlogy(x, p) + xlog1py(1 - x, -p)


def binomial(x: float, p: float, n: float) -> float:
    """The log probability of a number of successes."""
    if not 0 <= p <= 1:
        return np.nan
    return log_choose(n, x) + xlogy(x, p) + xlog1py(n - x, -p)


def beta_binomial(x: float, a: float, b: float, n: float) -> float:
    """The log probability of a number of successes of a random probability."""
    if not (a > 0 and b > 0):
        return np.nan
    return log_choose(n, x) + betaln(x + a, n - x + b) - betaln(a, b)


def hypergeometric(x: float, n1: float, n2: float, m1: float, psi: float) -> float:
    """Fisher's: proportional to the product of two numbers of choices and a power."""
    every = np.arange(least_hyper(n1, n2, m1), most_hyper(n1, n2, m1) + 1)
    logs = [log_choose(n1, k) + log_choose(n2, m1 - k) + k * np.log(psi) for k in (*every, x)]
    return logs[-1] - special.logsumexp(logs[:-1])


def least_hyper(_n1: float, n2: float, m1: float, *_: float) -> float:
    """The least number of successes in draws without replacement."""
    return max(0, m1 - n2)


def most_hyper(n1: float, _n2: float, m1: float, *_: float) -> float:
    """The largest number of successes in draws without replacement."""
    return min(n1, m1)


def negative_binomial(x: float, p: float, r: float) -> float:
    """The log probability of a number of failures before r successes."""
    if not (r > 0 and 0 <= p <= 1):
        return np.nan
    return gammaln(x + r) - gammaln(r) - gammaln(x + 1) + xlogy(r, p) + xlog1py(x, -p)


def poisson(x: float, rate: float) -> float:
    """The log probability of a count."""
    return xlogy(x, rate) - rate - gammaln(x + 1) if rate >= 0 else np.nan


def geometric(x: float, p: float) -> float:
    """The log probability of a number of failures before the first success."""
    return np.log(p) + xlog1py(x, -p) if 0 < p <= 1 else np.nan


def label(x: float, p: Floats) -> float:
    """The log probability of a label of 1, 2, ..."""
    return np.log(shares(p)[int(x) - 1])


def ordered(log_below: Callable[[float], float]) -> Callable[[float, float, Floats], float]:
    """Ordered labels: the interval between cut points of a latent variable about mu."""

    def log_density(x: float, mu: float, c: Floats) -> float:
        c, k = np.asarray(c, float), int(x)
        if (np.diff(c) <= 0).any():
            return np.nan
        low = -inf if k == 1 else c[k - 2] - mu
        high = inf if k == len(c) + 1 else c[k - 1] - mu
        if low + high > 0:  # (the distribution is symmetric: the smaller tail has the digits)
            low, high = -high, -low
        return log_below(high) if low == -inf else log_difference(log_below(high), log_below(low))

    return log_density


def log_betainc(a: float, b: float, x: float) -> float:
    """The log of the regularised incomplete beta function."""
    return np.log(special.betainc(a, b, x))


# ---- the real line -----------------------------------------------------------------------------


def normal(x: float, mu: N, tau: N) -> N:
    """The log density of a number with a precision."""
    return (np.log(tau) - log(2 * pi) - tau * (x - mu) ** 2) / 2


def student(x: float, mu: float, tau: float, k: float) -> float:
    """The log density of a t variable with a location and a precision."""
    if not k > 0:
        return np.nan
    constant = gammaln((k + 1) / 2) - gammaln(k / 2) + np.log(tau / (k * pi)) / 2
    return constant - (k + 1) / 2 * np.log1p(tau * (x - mu) ** 2 / k)


def log_t(z: float, k: float) -> float:
    """The log distribution function of the standard t."""
    return np.log(special.stdtr(k, z))


def laplace(x: float, mu: float, tau: float) -> float:
    """The log density of a double exponential variable."""
    return np.log(tau / 2) - tau * abs(x - mu)


def log_laplace(z: float) -> float:
    """The lower tail of the standard double exponential."""
    return z - log(2) if z < 0 else np.log1p(-np.exp(-z) / 2)


def logistic(x: float, mu: float, tau: float) -> float:
    """The log density of a logistic variable, whose scale is 1 / tau."""
    z = tau * (x - mu)
    return np.log(tau) + log_expit(z) + log_expit(-z)


def gumbel(x: float, mu: float, tau: float) -> float:
    """The log density of a largest value, whose scale is 1 / tau."""
    z = tau * (x - mu)
    return np.log(tau) - z - np.exp(-z)


def mixture(x: float, mu: Floats, tau: Floats, pi_: Floats) -> float:
    """The log density of a mixture of normal components."""
    every = normal(x, np.asarray(mu, float), np.asarray(tau, float))
    return special.logsumexp(every + np.log(shares(pi_)))


def component(x: float, component: float, mu: Floats, tau: Floats, _pi: Floats) -> float:
    """The log density of a normal number, given its component, counted from 0."""
    return normal(x, np.asarray(mu)[int(component)], np.asarray(tau)[int(component)])


def noncentral_t(x: float, mu: float, tau: float, k: float) -> float:
    """The noncentral t: a normal over the root of an independent chi-squared by its degrees."""
    y, shift = x * np.sqrt(tau), mu * np.sqrt(tau)
    z = (shift * y) ** 2 / (2 * (k + y**2))
    odd = np.sqrt(2) * shift * y * special.hyp1f1(k / 2 + 1, 1.5, z)
    odd /= (k + y**2) * special.gamma((k + 1) / 2)
    even = special.hyp1f1((k + 1) / 2, 0.5, z) / (np.sqrt(k + y**2) * special.gamma(k / 2 + 1))
    front = k / 2 * np.log(k) + gammaln(k + 1) - shift**2 / 2 - k * log(2)
    return front - k / 2 * np.log(k + y**2) - gammaln(k / 2) + np.log(odd + even) + np.log(tau) / 2


def log_noncentral_t(x: float, mu: float, tau: float, k: float) -> float:
    """The log distribution function of the non-central t."""
    return np.log(special.nctdtr(k, mu * np.sqrt(tau), x * np.sqrt(tau)))


# ---- positive numbers --------------------------------------------------------------------------


def gamma(x: float, r: float, rate: float) -> float:
    """The log density of a Gamma variable with a rate."""
    if not r > 0:
        return np.nan
    return xlogy(r, rate) - gammaln(r) + xlogy(r - 1, x) - rate * x


def beta(x: float, a: float, b: float) -> float:
    """The log density of a Beta variable."""
    return np.nan if not (a > 0 and b > 0) else xlogy(a - 1, x) + xlog1py(b - 1, -x) - betaln(a, b)


def f(x: float, n: float, m: float) -> float:
    """The log density of a ratio of mean squares."""
    if not (n > 0 and m > 0):
        return np.nan
    front = n / 2 * np.log(n / m) + xlogy(n / 2 - 1, x) - betaln(n / 2, m / 2)
    return front - (n + m) / 2 * np.log1p(n * x / m)


def generalized_gamma(x: float, r: float, rate: float, b: float) -> float:
    """The log density of a variable of which a power is Gamma."""
    if not r > 0:
        return np.nan
    front = np.log(b) + b * r * np.log(rate) - gammaln(r)
    return front + xlogy(b * r - 1, x) - (rate * x) ** b


def lognormal(x: float, mu: float, tau: float) -> float:
    """The log density of a variable whose log is normal."""
    return normal(np.log(x), mu, tau) - np.log(x)


def noncentral_chi(x: float, k: float, delta: float) -> float:
    """A Poisson mixture of chi-squared numbers, in closed form."""
    if not k > 0:
        return np.nan
    root, order = np.sqrt(delta * x), k / 2 - 1
    bessel = np.log(special.ive(order, root)) + root
    return -log(2) - (x + delta) / 2 + (k / 4 - 0.5) * np.log(x / delta) + bessel


def scaled_gamma(x: float, s: float, df: float) -> float:
    """The precision of which the standard deviation is half-t, of scale s."""
    return student(x**-0.5, 0.0, s**-2.0, df) - 1.5 * np.log(x) if s > 0 else np.nan


def weibull(x: float, v: float, rate: float) -> float:
    """The log density of a Weibull variable, with BUGS's rate."""
    return np.log(v) + np.log(rate) + xlogy(v - 1, x) - rate * x**v


def burr(x: float, alpha: float, beta: float) -> float:
    """The log density of a Burr XII variable of scale one."""
    return np.log(alpha) + np.log(beta) + xlogy(beta - 1, x) - (alpha + 1) * np.log1p(x**beta)


def gompertz(x: float, alpha: float, theta: float) -> float:
    """The log density of a time at a hazard that grows exponentially."""
    if not alpha > 0:
        return np.nan
    return np.log(theta) + alpha * x - theta / alpha * expm1(alpha * x)


def inverse_gaussian(x: float, mu: float, lam: float) -> float:
    """The log density of a first passage time."""
    if not mu > 0:
        return np.nan
    return (np.log(lam / (2 * pi)) - 3 * np.log(x) - lam * (x - mu) ** 2 / (mu**2 * x)) / 2


def log_inverse_gaussian(x: float, mu: float, lam: float) -> float:
    """The log distribution function of a first passage time."""
    root = np.sqrt(lam / x)
    one, two = log_ndtr(root * (x / mu - 1)), 2 * lam / mu + log_ndtr(-root * (x / mu + 1))
    return np.logaddexp(one, two)


def log_above_inverse_gaussian(x: float, mu: float, lam: float) -> float:
    """The log of the probability of a later first passage time."""
    root = np.sqrt(lam / x)
    one, two = log_ndtr(-root * (x / mu - 1)), 2 * lam / mu + log_ndtr(-root * (x / mu + 1))
    return log_difference(float(one), float(two))


def frechet(x: float, beta: float, scale: float) -> float:
    """The log density of the inverse of a Weibull variable."""
    return np.log(beta) + beta * np.log(scale) - (beta + 1) * np.log(x) - (scale / x) ** beta


def log_logistic(x: float, beta: float, theta: float) -> float:
    """The log density of a variable whose log is logistic."""
    z = (x / theta) ** beta
    return np.log(beta) - np.log(theta) + xlogy(beta - 1, x / theta) - 2 * np.log1p(z)
