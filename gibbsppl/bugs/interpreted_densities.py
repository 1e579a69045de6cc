"""The log densities of BUGS, as its manuals write them: a table of one row for each distribution.

It is written a second time, and shares nothing with `gibbsppl.bugs.distributions` and the families
there: what one of the two has wrong shows where they are compared. Comes in: a value and
parameters, as numbers or arrays of NumPy. Goes out: one number, which is NaN where parameters are
not where they may be.

>>> round(DENSITIES["dgamma"].at(2.0, (3.0, 0.5)), 4)
-2.3863
>>> round(interval(DENSITIES["dnorm"], (0.0, 1.0), 1.0, None), 4)
-1.841
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, log, pi
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy import special
from scipy.special import betaln, expm1, gammaln, log_expit, log_ndtr, xlog1py, xlogy

from gibbsppl.bugs import interpreted_fields as fields

Log = Callable[..., Any]

# What sums of shares differ from one by, at most.
ROUNDING = 1e-8


@dataclass(frozen=True, slots=True, eq=False)
class Density:
    """A distribution: ``log(x, *parameters)``; ``least`` and ``most`` bound its values.

    ``inside(x, *parameters)`` says whether a value is in the support, where bounds do not.
    ``below(x, ...)`` and ``above(x, ...)`` are the logs of the probabilities of values up to x and
    beyond x, for truncation. ``whole``: whether values are whole numbers. ``event``: the number of
    axes of a value. ``is_free``: the density has no integral, and truncation none to divide by.
    ``parts`` are the log densities of auxiliary variables by name, ``part(value, *parameters)``,
    and ``given(x, *values, *parameters)`` is that of x given these.
    """

    names: tuple[str, ...]
    log: Log
    least: Callable[..., Any] = lambda *_: -inf
    most: Callable[..., Any] = lambda *_: inf
    inside: Callable[..., Any] = lambda *_: True
    below: Log | None = None
    above: Log | None = None
    whole: bool = False
    event: int = 0
    is_free: bool = False
    parts: Mapping[str, Log] = field(default_factory=dict)
    given: Log | None = None

    def at(self, x: Any, parameters: Sequence[Any]) -> float:
        """The log density of a value; minus infinity outside of the support.

        NaN where it is no finite number in the support: parameters may be impossible, or a number
        may be too close to zero or to one.
        """
        x, *given = map(_numbers, (x, *parameters))
        with np.errstate(all="ignore"):
            if self.event == 0:
                is_between = self.least(*given) <= x <= self.most(*given)
                if not is_between or (self.whole and x != np.rint(x)):
                    return -inf
            if not self.inside(x, *given):
                return -inf
            return _finite(self.log(x, *given))

    def up_to(self, x: float, parameters: Sequence[Any]) -> float:
        """The log of the probability of values up to x."""
        assert self.below is not None
        if x < self.least(*parameters):
            return -inf
        return 0.0 if x >= self.most(*parameters) else _number(self.below(x, *parameters))

    def beyond(self, x: float, parameters: Sequence[Any]) -> float:
        """The log of the probability of values beyond x."""
        assert self.above is not None
        if x < self.least(*parameters):
            return 0.0
        return -inf if x >= self.most(*parameters) else _number(self.above(x, *parameters))

    def beside(self, x: Any, others: Mapping[str, Any], parameters: Sequence[Any]) -> float:
        """The log density of a value and of the auxiliary variables that it is explained with."""
        assert self.given is not None
        x, *given = map(_numbers, (x, *parameters))
        values = [_numbers(others[n]) for n in self.parts]
        with np.errstate(all="ignore"):
            found = [np.sum(f(v, *given)) for f, v in zip(self.parts.values(), values, strict=True)]
            return _finite(sum(found) + self.given(x, *values, *given))


def _numbers(value: Any) -> Any:
    """A number, or an array of them, of which what is not defined is no error."""
    return np.asarray(value, dtype=float)[()]


def _finite(found: Any) -> float:
    return float(found) if np.isfinite(found) else np.nan


def _number(found: Any) -> float:
    """The log of a probability, where it is a number."""
    value = float(found)
    return -inf if np.isnan(value) or value == inf else value


def interval(
    density: Density, parameters: Sequence[Any], lower: float | None, upper: float | None
) -> float:
    """The log of the probability of the values between two bounds, both included.

    By the smaller of the two tails, so that it has its digits.
    """
    if density.is_free:
        return 0.0
    given = [_numbers(p) for p in parameters]
    low = -inf if lower is None else np.ceil(lower) - 1 if density.whole else lower
    high = inf if upper is None else upper
    with np.errstate(all="ignore"):
        under, up_to = (density.up_to(x, given) for x in (low, high))
        beyond, over = (density.beyond(x, given) for x in (low, high))
        if up_to < -log(2):
            return _difference(up_to, under)
        if beyond < -log(2):
            return _difference(beyond, over)
        return _number(np.log1p(-np.exp(under) - np.exp(over)))


def _difference(more: float, less: float) -> float:
    """``log(exp(more) - exp(less))``."""
    return _number(more + np.log(-expm1(less - more))) if less < more else -inf


def _sums(log_density: Log, least: Callable[..., Any], most: Callable[..., Any]) -> dict[str, Log]:
    """Both tails of a distribution on finitely many whole numbers, by adding them up."""

    def total(first: float, last: float, parameters: Sequence[Any]) -> float:
        terms = [log_density(k, *parameters) for k in np.arange(first, last + 1)]
        return float(special.logsumexp(terms)) if terms else -inf

    return {
        "below": lambda x, *p: total(least(*p), min(np.floor(x), most(*p)), p),
        "above": lambda x, *p: total(max(np.floor(x) + 1, least(*p)), most(*p), p),
    }


# ---- whole numbers -----------------------------------------------------------------------------


def _log_choose(n: Any, k: Any) -> Any:
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


def _shares(p: Any) -> Any:
    """Weights that need not sum to one; none where one is negative."""
    p = np.asarray(p, float)
    return p / p.sum() if (p >= 0).all() else np.full(p.shape, np.nan)


def _bernoulli(x: Any, p: Any) -> Any:
    return np.nan if not 0 <= p <= 1 else xlogy(x, p) + xlog1py(1 - x, -p)


def _binomial(x: Any, p: Any, n: Any) -> Any:
    if not 0 <= p <= 1:
        return np.nan
    return _log_choose(n, x) + xlogy(x, p) + xlog1py(n - x, -p)


def _beta_binomial(x: Any, a: Any, b: Any, n: Any) -> Any:
    if not (a > 0 and b > 0):
        return np.nan
    return _log_choose(n, x) + betaln(x + a, n - x + b) - betaln(a, b)


def _hypergeometric(x: Any, n1: Any, n2: Any, m1: Any, psi: Any) -> Any:
    """Fisher's: proportional to the product of two numbers of choices and a power."""
    every = np.arange(_least_hyper(n1, n2, m1), _most_hyper(n1, n2, m1) + 1)
    logs = [_log_choose(n1, k) + _log_choose(n2, m1 - k) + k * np.log(psi) for k in (*every, x)]
    return logs[-1] - special.logsumexp(logs[:-1])


def _least_hyper(_n1: Any, n2: Any, m1: Any, *_: Any) -> Any:
    return max(0, m1 - n2)


def _most_hyper(n1: Any, _n2: Any, m1: Any, *_: Any) -> Any:
    return min(n1, m1)


def _negative_binomial(x: Any, p: Any, r: Any) -> Any:
    if not (r > 0 and 0 <= p <= 1):
        return np.nan
    return gammaln(x + r) - gammaln(r) - gammaln(x + 1) + xlogy(r, p) + xlog1py(x, -p)


def _poisson(x: Any, rate: Any) -> Any:
    return xlogy(x, rate) - rate - gammaln(x + 1) if rate >= 0 else np.nan


def _geometric(x: Any, p: Any) -> Any:
    return np.log(p) + xlog1py(x, -p) if 0 < p <= 1 else np.nan


def _label(x: Any, p: Any) -> Any:
    return np.log(_shares(p)[int(x) - 1])


def _ordered(log_below: Log) -> Log:
    """Labels that say between which cut points a variable about mu is."""

    def log_density(x: Any, mu: Any, c: Any) -> Any:
        c, k = np.asarray(c, float), int(x)
        if (np.diff(c) <= 0).any():
            return np.nan
        low = -inf if k == 1 else c[k - 2] - mu
        high = inf if k == len(c) + 1 else c[k - 1] - mu
        if low + high > 0:  # (the distribution is symmetric: the smaller tail has the digits)
            low, high = -high, -low
        return log_below(high) if low == -inf else _difference(log_below(high), log_below(low))

    return log_density


def _labels(log_density: Log, count: Callable[..., Any]) -> dict[str, Any]:
    """What a distribution of labels 1, 2, ... has."""
    ends = {"least": lambda *_: 1, "most": count}
    return {"whole": True, **ends, **_sums(log_density, ends["least"], count)}


def _log_betainc(a: Any, b: Any, x: Any) -> Any:
    return np.log(special.betainc(a, b, x))


# ---- the real line -----------------------------------------------------------------------------


def _normal(x: Any, mu: Any, tau: Any) -> Any:
    return (np.log(tau) - log(2 * pi) - tau * (x - mu) ** 2) / 2


def _student(x: Any, mu: Any, tau: Any, k: Any) -> Any:
    if not k > 0:
        return np.nan
    constant = gammaln((k + 1) / 2) - gammaln(k / 2) + np.log(tau / (k * pi)) / 2
    return constant - (k + 1) / 2 * np.log1p(tau * (x - mu) ** 2 / k)


def _log_t(z: Any, k: Any) -> Any:
    return np.log(special.stdtr(k, z))


def _laplace(x: Any, mu: Any, tau: Any) -> Any:
    return np.log(tau / 2) - tau * abs(x - mu)


def _log_laplace(z: Any) -> Any:
    """The lower tail of the standard double exponential."""
    return z - log(2) if z < 0 else np.log1p(-np.exp(-z) / 2)


def _logistic(x: Any, mu: Any, tau: Any) -> Any:
    z = tau * (x - mu)
    return np.log(tau) + log_expit(z) + log_expit(-z)


def _gumbel(x: Any, mu: Any, tau: Any) -> Any:
    z = tau * (x - mu)
    return np.log(tau) - z - np.exp(-z)


def _mixture(x: Any, mu: Any, tau: Any, pi_: Any) -> Any:
    every = _normal(x, np.asarray(mu, float), np.asarray(tau, float))
    return special.logsumexp(every + np.log(_shares(pi_)))


def _component(x: Any, component: Any, mu: Any, tau: Any, _pi: Any) -> Any:
    return _normal(x, np.asarray(mu)[int(component)], np.asarray(tau)[int(component)])


def _noncentral_t(x: Any, mu: Any, tau: Any, k: Any) -> Any:
    """Of a normal number over the root of an independent chi-squared one by its degrees."""
    y, shift = x * np.sqrt(tau), mu * np.sqrt(tau)
    z = (shift * y) ** 2 / (2 * (k + y**2))
    odd = np.sqrt(2) * shift * y * special.hyp1f1(k / 2 + 1, 1.5, z)
    odd /= (k + y**2) * special.gamma((k + 1) / 2)
    even = special.hyp1f1((k + 1) / 2, 0.5, z) / (np.sqrt(k + y**2) * special.gamma(k / 2 + 1))
    front = k / 2 * np.log(k) + gammaln(k + 1) - shift**2 / 2 - k * log(2)
    return front - k / 2 * np.log(k + y**2) - gammaln(k / 2) + np.log(odd + even) + np.log(tau) / 2


# ---- positive numbers --------------------------------------------------------------------------


def _gamma(x: Any, r: Any, rate: Any) -> Any:
    if not r > 0:
        return np.nan
    return xlogy(r, rate) - gammaln(r) + xlogy(r - 1, x) - rate * x


def _beta(x: Any, a: Any, b: Any) -> Any:
    return np.nan if not (a > 0 and b > 0) else xlogy(a - 1, x) + xlog1py(b - 1, -x) - betaln(a, b)


def _f(x: Any, n: Any, m: Any) -> Any:
    if not (n > 0 and m > 0):
        return np.nan
    front = n / 2 * np.log(n / m) + xlogy(n / 2 - 1, x) - betaln(n / 2, m / 2)
    return front - (n + m) / 2 * np.log1p(n * x / m)


def _generalized_gamma(x: Any, r: Any, rate: Any, b: Any) -> Any:
    if not r > 0:
        return np.nan
    front = np.log(b) + b * r * np.log(rate) - gammaln(r)
    return front + xlogy(b * r - 1, x) - (rate * x) ** b


def _lognormal(x: Any, mu: Any, tau: Any) -> Any:
    return _normal(np.log(x), mu, tau) - np.log(x)


def _noncentral_chi(x: Any, k: Any, delta: Any) -> Any:
    """A Poisson mixture of chi-squared numbers, in closed form."""
    if not k > 0:
        return np.nan
    root, order = np.sqrt(delta * x), k / 2 - 1
    bessel = np.log(special.ive(order, root)) + root
    return -log(2) - (x + delta) / 2 + (k / 4 - 0.5) * np.log(x / delta) + bessel


def _scaled_gamma(x: Any, s: Any, df: Any) -> Any:
    """The precision of which the standard deviation is half-t, of scale s."""
    return _student(x**-0.5, 0.0, s**-2.0, df) - 1.5 * np.log(x) if s > 0 else np.nan


def _weibull(x: Any, v: Any, rate: Any) -> Any:
    return np.log(v) + np.log(rate) + xlogy(v - 1, x) - rate * x**v


def _burr(x: Any, alpha: Any, beta: Any) -> Any:
    return np.log(alpha) + np.log(beta) + xlogy(beta - 1, x) - (alpha + 1) * np.log1p(x**beta)


def _gompertz(x: Any, alpha: Any, theta: Any) -> Any:
    if not alpha > 0:
        return np.nan
    return np.log(theta) + alpha * x - theta / alpha * expm1(alpha * x)


def _inverse_gaussian(x: Any, mu: Any, lam: Any) -> Any:
    if not mu > 0:
        return np.nan
    return (np.log(lam / (2 * pi)) - 3 * np.log(x) - lam * (x - mu) ** 2 / (mu**2 * x)) / 2


def _log_inverse_gaussian(x: Any, mu: Any, lam: Any) -> Any:
    root = np.sqrt(lam / x)
    one, two = log_ndtr(root * (x / mu - 1)), 2 * lam / mu + log_ndtr(-root * (x / mu + 1))
    return np.logaddexp(one, two)


def _log_above_inverse_gaussian(x: Any, mu: Any, lam: Any) -> Any:
    root = np.sqrt(lam / x)
    one, two = log_ndtr(-root * (x / mu - 1)), 2 * lam / mu + log_ndtr(-root * (x / mu + 1))
    return _difference(float(one), float(two))


def _frechet(x: Any, beta: Any, scale: Any) -> Any:
    return np.log(beta) + beta * np.log(scale) - (beta + 1) * np.log(x) - (scale / x) ** beta


def _log_logistic(x: Any, beta: Any, theta: Any) -> Any:
    z = (x / theta) ** beta
    return np.log(beta) - np.log(theta) + xlogy(beta - 1, x / theta) - 2 * np.log1p(z)


# ---- vectors and matrices ----------------------------------------------------------------------


def _log_det(m: Any) -> Any:
    """The log determinant of a positive definite matrix; none of others."""
    m = np.asarray(m, float)
    if not np.allclose(m, m.T, rtol=1e-8, atol=0):
        return np.nan
    try:
        return 2 * np.log(np.diagonal(np.linalg.cholesky(m))).sum()
    except np.linalg.LinAlgError:
        return np.nan


def _dirichlet(x: Any, alpha: Any) -> Any:
    """Entries whose parameter is zero are zero, and no part of the rest."""
    if (alpha < 0).any():
        return np.nan
    x, alpha = x[alpha > 0], alpha[alpha > 0]
    return gammaln(alpha.sum()) - gammaln(alpha).sum() + xlogy(alpha - 1, x).sum()


def _is_simplex(x: Any, alpha: Any) -> Any:
    return (x >= 0).all() and (x[alpha == 0] == 0).all() and abs(x.sum() - 1) <= ROUNDING


def _multinomial(x: Any, p: Any, n: Any) -> Any:
    return gammaln(n + 1) - gammaln(x + 1).sum() + xlogy(x, _shares(p)).sum()


def _are_counts(x: Any, _p: Any, n: Any) -> Any:
    return x.sum() == n and (x >= 0).all() and (x == np.rint(x)).all()


def _mv_normal(x: Any, mu: Any, omega: Any) -> Any:
    d = np.asarray(x, float) - mu
    return (_log_det(omega) - len(d) * log(2 * pi) - d @ np.asarray(omega) @ d) / 2


def _mv_normal_of_covariance(x: Any, mu: Any, sigma: Any) -> Any:
    d = np.asarray(x, float) - mu
    return -(_log_det(sigma) + len(d) * log(2 * pi) + d @ np.linalg.solve(sigma, d)) / 2


def _mv_student(x: Any, mu: Any, omega: Any, k: Any) -> Any:
    if not k > 0:
        return np.nan
    d = np.asarray(x, float) - mu
    n = len(d)
    front = gammaln((k + n) / 2) - gammaln(k / 2) - n / 2 * np.log(k * pi) + _log_det(omega) / 2
    return front - (k + n) / 2 * np.log1p(d @ np.asarray(omega) @ d / k)


def _wishart(x: Any, scale: Any, k: Any) -> Any:
    n = len(x)
    if not k > n - 1:
        return np.nan
    front = k * _log_det(scale) - k * n * log(2)
    body = (k - n - 1) * _log_det(x) - np.trace(np.asarray(scale) @ np.asarray(x))
    return (front + body) / 2 - special.multigammaln(k / 2, n)


def _scaled_wishart(x: Any, s: Any, df: Any) -> Any:
    """A Wishart matrix whose diagonal scale matrix has Gamma entries, these integrated out."""
    x, s = np.asarray(x, float), np.asarray(s, float)
    n = len(x)
    k = df + n - 1
    front = k * n / 2 * np.log(df) + (df - 2) / 2 * _log_det(x) - special.multigammaln(k / 2, n)
    each = gammaln((k + 1) / 2) - gammaln(0.5) - np.log(s)
    return front + (each - (k + 1) / 2 * np.log(df * np.diagonal(x) + s**-2.0)).sum()


def _wishart_of_weights(x: Any, weight: Any, _s: Any, df: Any) -> Any:
    return _wishart(x, 2 * df * np.diag(np.asarray(weight, float)), df + len(x) - 1)


# ---- what is seen of others --------------------------------------------------------------------


def _is_in_interval(x: Any, t: Any, c: Any) -> Any:
    """Whether x is the number of cut points below t."""
    return x == (np.atleast_1d(c) < t).sum()


def _is_rounded(x: Any, t: Any, digits: Any) -> Any:
    return abs(t - x) <= 0.5 * 10.0**-digits


# ---- the table ---------------------------------------------------------------------------------


def _of(names: str, log_density: Log, **facts: Any) -> Density:
    return Density(tuple(names.split()), log_density, **facts)


def _zero(*_: Any) -> float:
    return 0.0


def _count(*_parameters: Any) -> Any:
    """The last parameter, which is the number of trials."""
    return _parameters[-1]


POSITIVE: Mapping[str, Any] = {"least": _zero}
COUNTS: Mapping[str, Any] = {"least": _zero, "whole": True}
EVENTS: Mapping[str, Any] = {**COUNTS, "most": _count}

_ROWS = (
    _of("dbern", _bernoulli, **_sums(_bernoulli, _zero, lambda *_: 1), **COUNTS,
        most=lambda *_: 1),
    _of("dbin dbinom", _binomial, **_sums(_binomial, _zero, _count), **EVENTS),
    _of("dbetabin dbetabinom", _beta_binomial, **_sums(_beta_binomial, _zero, _count), **EVENTS),
    _of("dcat", _label, **_labels(_label, len)),
    _of("dgeom0", _geometric, **COUNTS,
        below=lambda x, p: np.log(-expm1(xlog1py(np.floor(x) + 1, -p))),
        above=lambda x, p: xlog1py(np.floor(x) + 1, -p)),
    _of("dgeom1", lambda x, p: _geometric(x - 1, p), whole=True, least=lambda *_: 1,
        below=lambda x, p: np.log(-expm1(xlog1py(np.floor(x), -p))),
        above=lambda x, p: xlog1py(np.floor(x), -p)),
    _of("dhyper", _hypergeometric, whole=True, least=_least_hyper, most=_most_hyper,
        **_sums(_hypergeometric, _least_hyper, _most_hyper)),
    _of("dnegbin dnbinom", _negative_binomial, **COUNTS,
        below=lambda x, p, r: _log_betainc(r, np.floor(x) + 1, p),
        above=lambda x, p, r: _log_betainc(np.floor(x) + 1, r, 1 - p)),
    _of("dpois", _poisson, **COUNTS,
        below=lambda x, rate: np.log(special.gammaincc(np.floor(x) + 1, rate)),
        above=lambda x, rate: np.log(special.gammainc(np.floor(x) + 1, rate))),
    _of("dordered.logit", _ordered(log_expit),
        **_labels(_ordered(log_expit), lambda _mu, c: len(c) + 1)),
    _of("dordered.probit", _ordered(log_ndtr),
        **_labels(_ordered(log_ndtr), lambda _mu, c: len(c) + 1)),
    # the real line
    _of("dnorm", _normal,
        below=lambda x, mu, tau: log_ndtr(np.sqrt(tau) * (x - mu)),
        above=lambda x, mu, tau: log_ndtr(-np.sqrt(tau) * (x - mu))),
    _of("dt", _student,
        below=lambda x, mu, tau, k: _log_t(np.sqrt(tau) * (x - mu), k),
        above=lambda x, mu, tau, k: _log_t(-np.sqrt(tau) * (x - mu), k)),
    _of("ddexp", _laplace,
        below=lambda x, mu, tau: _log_laplace(tau * (x - mu)),
        above=lambda x, mu, tau: _log_laplace(-tau * (x - mu))),
    _of("dlogis", _logistic,
        below=lambda x, mu, tau: log_expit(tau * (x - mu)),
        above=lambda x, mu, tau: log_expit(-tau * (x - mu))),
    _of("dgumbel", _gumbel,
        below=lambda x, mu, tau: -np.exp(-tau * (x - mu)),
        above=lambda x, mu, tau: np.log(-expm1(-np.exp(-tau * (x - mu))))),
    _of("dnormmix", _mixture, given=_component,
        parts={"component": lambda z, _mu, _tau, p: np.log(_shares(p)[int(z)])},
        below=lambda x, mu, tau, p: special.logsumexp(
            log_ndtr(np.sqrt(tau) * (x - mu)) + np.log(_shares(p))),
        above=lambda x, mu, tau, p: special.logsumexp(
            log_ndtr(-np.sqrt(tau) * (x - mu)) + np.log(_shares(p)))),
    _of("dnt", _noncentral_t,
        parts={"weight": lambda w, _mu, _tau, k: _gamma(w, k / 2, k / 2)},
        given=lambda x, w, mu, tau, _k: _normal(x, mu / np.sqrt(w), tau * w),
        below=lambda x, mu, tau, k: np.log(special.nctdtr(k, mu * np.sqrt(tau), x * np.sqrt(tau))),
        above=lambda x, mu, tau, k: np.log(special.nctdtr(k, -mu * np.sqrt(tau), -x * np.sqrt(tau)))),
    _of("dflat", _zero, is_free=True),
    # positive numbers, and those of an interval
    _of("dbeta", _beta, **POSITIVE, most=lambda *_: 1,
        below=lambda x, a, b: _log_betainc(a, b, x),
        above=lambda x, a, b: _log_betainc(b, a, 1 - x)),
    _of("dunif", lambda _x, a, b: -np.log(b - a), least=lambda a, _b: a, most=lambda _a, b: b,
        below=lambda x, a, b: np.log((x - a) / (b - a)),
        above=lambda x, a, b: np.log((b - x) / (b - a))),
    _of("dchisqr dchisq", lambda x, k: _gamma(x, k / 2, 0.5), **POSITIVE,
        below=lambda x, k: np.log(special.gammainc(k / 2, x / 2)),
        above=lambda x, k: np.log(special.gammaincc(k / 2, x / 2))),
    _of("dexp", lambda x, rate: np.log(rate) - rate * x, **POSITIVE,
        below=lambda x, rate: np.log(-expm1(-rate * x)),
        above=lambda x, rate: -rate * x),
    _of("df", _f, **POSITIVE,
        below=lambda x, n, m: _log_betainc(n / 2, m / 2, n * x / (n * x + m)),
        above=lambda x, n, m: _log_betainc(m / 2, n / 2, m / (n * x + m))),
    _of("dgamma", _gamma, **POSITIVE,
        below=lambda x, r, rate: np.log(special.gammainc(r, rate * x)),
        above=lambda x, r, rate: np.log(special.gammaincc(r, rate * x))),
    _of("dgen.gamma dggamma", _generalized_gamma, **POSITIVE,
        below=lambda x, r, rate, b: np.log(special.gammainc(r, (rate * x) ** b)),
        above=lambda x, r, rate, b: np.log(special.gammaincc(r, (rate * x) ** b))),
    _of("dlnorm", _lognormal, **POSITIVE,
        below=lambda x, mu, tau: log_ndtr(np.sqrt(tau) * (np.log(x) - mu)),
        above=lambda x, mu, tau: log_ndtr(-np.sqrt(tau) * (np.log(x) - mu))),
    _of("dnchisqr", _noncentral_chi, **POSITIVE,
        parts={"count": lambda n, _k, delta: _poisson(n, delta / 2)},
        given=lambda x, n, k, _delta: _gamma(x, k / 2 + n, 0.5),
        below=lambda x, k, delta: np.log(special.chndtr(x, k, delta)),
        above=lambda x, k, delta: np.log1p(-special.chndtr(x, k, delta))),
    _of("dpar", lambda x, alpha, c: np.log(alpha) + alpha * np.log(c) - (alpha + 1) * np.log(x),
        least=lambda _alpha, c: c,
        below=lambda x, alpha, c: np.log(-expm1(-alpha * np.log(x / c))),
        above=lambda x, alpha, c: -alpha * np.log(x / c)),
    _of("dscaled.gamma", _scaled_gamma, **POSITIVE,
        parts={"weight": lambda w, s, _df: _gamma(w, 0.5, s**-2.0)},
        given=lambda x, w, _s, df: _gamma(x, df / 2, df * w),
        below=lambda x, s, df: log(2) + _log_t(-(x**-0.5) / s, df),
        above=lambda x, s, df: np.log1p(-2 * special.stdtr(df, -(x**-0.5) / s))),
    _of("dweib dweibull", _weibull, **POSITIVE,
        below=lambda x, v, rate: np.log(-expm1(-rate * x**v)),
        above=lambda x, v, rate: -rate * x**v),
    _of("dburrXII", _burr, **POSITIVE,
        below=lambda x, alpha, beta: np.log(-expm1(-alpha * np.log1p(x**beta))),
        above=lambda x, alpha, beta: -alpha * np.log1p(x**beta)),
    _of("dgpz", _gompertz, **POSITIVE,
        below=lambda x, alpha, theta: np.log(-expm1(-theta / alpha * expm1(alpha * x))),
        above=lambda x, alpha, theta: -theta / alpha * expm1(alpha * x)),
    _of("dinv.gauss", _inverse_gaussian, **POSITIVE,
        below=_log_inverse_gaussian, above=_log_above_inverse_gaussian),
    _of("dinv.weib", _frechet, **POSITIVE,
        below=lambda x, beta, scale: -((scale / x) ** beta),
        above=lambda x, beta, scale: np.log(-expm1(-((scale / x) ** beta)))),
    _of("dlog.logis", _log_logistic, **POSITIVE,
        below=lambda x, beta, theta: log_expit(beta * np.log(x / theta)),
        above=lambda x, beta, theta: log_expit(-beta * np.log(x / theta))),
    # vectors and matrices
    _of("ddirch ddirich", _dirichlet, event=1, inside=_is_simplex),
    _of("dmulti dmultinom", _multinomial, event=1, inside=_are_counts),
    _of("dmnorm", _mv_normal, event=1),
    _of("dmnorm.vcov", _mv_normal_of_covariance, event=1),
    _of("dmt", _mv_student, event=1),
    _of("dwish", _wishart, event=2),
    _of("dscaled.wishart", _scaled_wishart, event=2, given=_wishart_of_weights,
        parts={"weight": lambda w, s, _df: np.array(
            [_gamma(a, 0.5, b) for a, b in zip(w, np.asarray(s) ** -2.0, strict=True)])}),
    _of("car.normal", fields.intrinsic, event=1, inside=lambda x, *_: fields.is_centred(x)),
    _of("car.proper", fields.proper, event=1),
    # what is seen of others
    _of("dinterval", _zero, inside=_is_in_interval),
    _of("dround", _zero, inside=_is_rounded),
    _of("dloglik", lambda _x, p: p),
)  # fmt: skip

# Each row under all of its names.
DENSITIES: Mapping[str, Density] = MappingProxyType({n: row for row in _ROWS for n in row.names})
