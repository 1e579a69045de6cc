"""The log densities of BUGS by the definitions of its manuals: a table, one row a distribution.

This is a second, independent implementation, which shares nothing with
`gibbsppl.bugs.distributions` and the families there: a comparison of the two shows an error in
either. Comes in: a value and parameters, as numbers or arrays of NumPy. Goes out: one number, NaN
for parameters outside their support.

>>> round(DENSITIES["dgamma"].at(2.0, (3.0, 0.5)), 4)
-2.3863
>>> round(interval(DENSITIES["dnorm"], (0.0, 1.0), 1.0, None), 4)
-1.841
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, log
from types import MappingProxyType
from typing import Any

import numpy as np

from gibbsppl.bugs import interpreted_scalars as of_numbers
from gibbsppl.bugs import interpreted_vectors as of_vectors
from gibbsppl.bugs.interpreted_scalars import Numbers, log_difference
from gibbsppl.bugs.interpreted_special import special

# Functions of SciPy, which is loaded when one is called.
expm1 = special.expm1
log_expit = special.log_expit
log_ndtr = special.log_ndtr
xlog1py = special.xlog1py

# A log density, log probability or bound: of numbers and arrays, in the order of the parameters.
Log = Callable[..., float]


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
    least: Log = lambda *_: -inf
    most: Log = lambda *_: inf
    inside: Callable[..., bool | np.bool_] = lambda *_: True
    below: Log | None = None
    above: Log | None = None
    whole: bool = False
    event: int = 0
    is_free: bool = False
    parts: Mapping[str, Log] = field(default_factory=dict)
    given: Log | None = None

    def at(self, x: Numbers, parameters: Sequence[Numbers]) -> float:
        """The log density of a value; minus infinity outside of the support.

        NaN where it is no finite number in the support: parameters may be impossible, or a number
        may be too close to zero or to one.
        """
        x, *given = map(_numbers, (x, *parameters))
        with np.errstate(all="ignore"):
            return _finite(self.log(x, *given)) if self._is_possible(x, given) else -inf

    def _is_possible(self, x: Numbers, given: Sequence[Numbers]) -> bool:
        if self.event == 0:
            is_between = self.least(*given) <= x <= self.most(*given)
            if not is_between or (self.whole and x != np.rint(x)):
                return False
        return bool(self.inside(x, *given))

    def up_to(self, x: float, parameters: Sequence[Numbers]) -> float:
        """The log of the probability of values up to x."""
        assert self.below is not None
        if x < self.least(*parameters):
            return -inf
        if x >= self.most(*parameters):
            return 0.0
        with np.errstate(all="ignore"):
            return _number(self.below(x, *parameters))

    def beyond(self, x: float, parameters: Sequence[Numbers]) -> float:
        """The log of the probability of values beyond x."""
        assert self.above is not None
        if x < self.least(*parameters):
            return 0.0
        if x >= self.most(*parameters):
            return -inf
        with np.errstate(all="ignore"):
            return _number(self.above(x, *parameters))

    def beside(
        self, x: Numbers, others: Mapping[str, Numbers], parameters: Sequence[Numbers]
    ) -> float:
        """The joint log density of a value and its auxiliary variables."""
        assert self.given is not None
        x, *given = map(_numbers, (x, *parameters))
        values = [_numbers(others[n]) for n in self.parts]
        with np.errstate(all="ignore"):
            if not self._is_possible(x, given):
                return -inf
            found = [np.sum(f(v, *given)) for f, v in zip(self.parts.values(), values, strict=True)]
            return _finite(sum(found) + self.given(x, *values, *given))


def _numbers(value: Numbers) -> Numbers:
    """The value as a NumPy number or array, where undefined arithmetic gives NaN, no error."""
    return np.asarray(value, dtype=float)[()]


def _finite(found: float) -> float:
    return float(found) if np.isfinite(found) else np.nan


def _number(found: float) -> float:
    """The log of a probability, where it is a number."""
    value = float(found)
    return -inf if np.isnan(value) or value == inf else value


def interval(
    density: Density, parameters: Sequence[Numbers], lower: float | None, upper: float | None
) -> float:
    """The log of the probability of the values between two bounds, both included.

    Computed by the smaller of the two tails, to keep all digits.
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
            return _number(log_difference(up_to, under))
        if beyond < -log(2):
            return _number(log_difference(beyond, over))
        return _number(np.log1p(-np.exp(under) - np.exp(over)))


def _sums(log_density: Log, least: Log, most: Log) -> dict[str, Log]:
    """Both tails of a distribution on finitely many whole numbers, by adding them up."""

    def total(first: float, last: float, parameters: Sequence[Numbers]) -> float:
        terms = [log_density(k, *parameters) for k in np.arange(first, last + 1)]
        return float(special.logsumexp(terms)) if terms else -inf

    return {
        "below": lambda x, *p: total(least(*p), min(np.floor(x), most(*p)), p),
        "above": lambda x, *p: total(max(np.floor(x) + 1, least(*p)), most(*p), p),
    }


def _labels(log_density: Log, count: Log) -> dict[str, Log | bool]:
    """The density of a distribution of labels 1, 2, ... has."""
    ends = {"least": lambda *_: 1, "most": count}
    return {"whole": True, **ends, **_sums(log_density, ends["least"], count)}


# ---- observations of other variables -----------------------------------------------------------


def _is_in_interval(x: float, t: float, c: Numbers) -> bool:
    """Whether x is the number of cut points below t."""
    return bool(x == (np.atleast_1d(c) < t).sum())


def _is_rounded(x: float, t: float, digits: float) -> bool:
    return bool(abs(t - x) <= 0.5 * 10.0**-digits)


def _is_sum(x: float, *summands: float) -> bool | np.bool_:
    return np.isclose(x, sum(summands))


# ---- the table ---------------------------------------------------------------------------------


def _of(names: str, log_density: Log, **facts: Any) -> Density:
    return Density(tuple(names.split()), log_density, **facts)


def _zero(*_: Numbers) -> float:
    return 0.0


def _count(*_parameters: float) -> float:
    """The last parameter, which is the number of trials."""
    return _parameters[-1]


POSITIVE: Mapping[str, Log] = {"least": _zero}
COUNTS: Mapping[str, Log | bool] = {"least": _zero, "whole": True}
EVENTS: Mapping[str, Log | bool] = {**COUNTS, "most": _count}

_ROWS = (
    _of("dbern", of_numbers.bernoulli, **_sums(of_numbers.bernoulli, _zero, lambda *_: 1), **COUNTS,
        most=lambda *_: 1),
    _of("dbin dbinom", of_numbers.binomial, **_sums(of_numbers.binomial, _zero, _count), **EVENTS),
    _of("dbetabin dbetabinom", of_numbers.beta_binomial, **EVENTS,
        **_sums(of_numbers.beta_binomial, _zero, _count)),
    _of("dcat", of_numbers.label, **_labels(of_numbers.label, len)),
    _of("dgeom0", of_numbers.geometric, **COUNTS,
        below=lambda x, p: np.log(-expm1(xlog1py(np.floor(x) + 1, -p))),
        above=lambda x, p: xlog1py(np.floor(x) + 1, -p)),
    _of("dgeom1", lambda x, p: of_numbers.geometric(x - 1, p), whole=True, least=lambda *_: 1,
        below=lambda x, p: np.log(-expm1(xlog1py(np.floor(x), -p))),
        above=lambda x, p: xlog1py(np.floor(x), -p)),
    _of("dhyper", of_numbers.hypergeometric, whole=True,
        least=of_numbers.least_hyper, most=of_numbers.most_hyper,
        **_sums(of_numbers.hypergeometric, of_numbers.least_hyper, of_numbers.most_hyper)),
    _of("dnegbin dnbinom", of_numbers.negative_binomial, **COUNTS,
        below=lambda x, p, r: of_numbers.log_betainc(r, np.floor(x) + 1, p),
        above=lambda x, p, r: of_numbers.log_betainc(np.floor(x) + 1, r, 1 - p)),
    _of("dpois", of_numbers.poisson, **COUNTS,
        below=lambda x, rate: np.log(special.gammaincc(np.floor(x) + 1, rate)),
        above=lambda x, rate: np.log(special.gammainc(np.floor(x) + 1, rate))),
    _of("dordered.logit", of_numbers.ordered(log_expit),
        **_labels(of_numbers.ordered(log_expit), lambda _mu, c: len(c) + 1)),
    _of("dordered.probit", of_numbers.ordered(log_ndtr),
        **_labels(of_numbers.ordered(log_ndtr), lambda _mu, c: len(c) + 1)),
    # the real line
    _of("dnorm", of_numbers.normal,
        below=lambda x, mu, tau: log_ndtr(np.sqrt(tau) * (x - mu)),
        above=lambda x, mu, tau: log_ndtr(-np.sqrt(tau) * (x - mu))),
    _of("dt", of_numbers.student,
        below=lambda x, mu, tau, k: of_numbers.log_t(np.sqrt(tau) * (x - mu), k),
        above=lambda x, mu, tau, k: of_numbers.log_t(-np.sqrt(tau) * (x - mu), k)),
    _of("ddexp", of_numbers.laplace,
        below=lambda x, mu, tau: of_numbers.log_laplace(tau * (x - mu)),
        above=lambda x, mu, tau: of_numbers.log_laplace(-tau * (x - mu))),
    _of("dlogis", of_numbers.logistic,
        below=lambda x, mu, tau: log_expit(tau * (x - mu)),
        above=lambda x, mu, tau: log_expit(-tau * (x - mu))),
    _of("dgumbel", of_numbers.gumbel,
        below=lambda x, mu, tau: -np.exp(-tau * (x - mu)),
        above=lambda x, mu, tau: np.log(-expm1(-np.exp(-tau * (x - mu))))),
    _of("dnormmix", of_numbers.mixture, given=of_numbers.component,
        parts={"component": lambda z, _mu, _tau, p: np.log(of_numbers.shares(p)[int(z)])},
        below=lambda x, mu, tau, p: special.logsumexp(
            log_ndtr(np.sqrt(tau) * (x - mu)) + np.log(of_numbers.shares(p))),
        above=lambda x, mu, tau, p: special.logsumexp(
            log_ndtr(-np.sqrt(tau) * (x - mu)) + np.log(of_numbers.shares(p)))),
    _of("dnt", of_numbers.noncentral_t,
        parts={"weight": lambda w, _mu, _tau, k: of_numbers.gamma(w, k / 2, k / 2)},
        given=lambda x, w, mu, tau, _k: of_numbers.normal(x, mu / np.sqrt(w), tau * w),
        below=of_numbers.log_noncentral_t,
        above=lambda x, mu, tau, k: of_numbers.log_noncentral_t(-x, -mu, tau, k)),
    _of("dflat", _zero, is_free=True),
    # positive numbers, and those of an interval
    _of("dbeta", of_numbers.beta, **POSITIVE, most=lambda *_: 1,
        below=lambda x, a, b: of_numbers.log_betainc(a, b, x),
        above=lambda x, a, b: of_numbers.log_betainc(b, a, 1 - x)),
    _of("dunif", lambda _x, a, b: -np.log(b - a), least=lambda a, _b: a, most=lambda _a, b: b,
        below=lambda x, a, b: np.log((x - a) / (b - a)),
        above=lambda x, a, b: np.log((b - x) / (b - a))),
    _of("dchisqr dchisq", lambda x, k: of_numbers.gamma(x, k / 2, 0.5), **POSITIVE,
        below=lambda x, k: np.log(special.gammainc(k / 2, x / 2)),
        above=lambda x, k: np.log(special.gammaincc(k / 2, x / 2))),
    _of("dexp", lambda x, rate: np.log(rate) - rate * x, **POSITIVE,
        below=lambda x, rate: np.log(-expm1(-rate * x)),
        above=lambda x, rate: -rate * x),
    _of("df", of_numbers.f, **POSITIVE,
        below=lambda x, n, m: of_numbers.log_betainc(n / 2, m / 2, n * x / (n * x + m)),
        above=lambda x, n, m: of_numbers.log_betainc(m / 2, n / 2, m / (n * x + m))),
    _of("dgamma", of_numbers.gamma, **POSITIVE,
        below=lambda x, r, rate: np.log(special.gammainc(r, rate * x)),
        above=lambda x, r, rate: np.log(special.gammaincc(r, rate * x))),
    _of("dgen.gamma dggamma", of_numbers.generalized_gamma, **POSITIVE,
        below=lambda x, r, rate, b: np.log(special.gammainc(r, (rate * x) ** b)),
        above=lambda x, r, rate, b: np.log(special.gammaincc(r, (rate * x) ** b))),
    _of("dlnorm", of_numbers.lognormal, **POSITIVE,
        below=lambda x, mu, tau: log_ndtr(np.sqrt(tau) * (np.log(x) - mu)),
        above=lambda x, mu, tau: log_ndtr(-np.sqrt(tau) * (np.log(x) - mu))),
    _of("dnchisqr", of_numbers.noncentral_chi, **POSITIVE,
        parts={"count": lambda n, _k, delta: of_numbers.poisson(n, delta / 2)},
        given=lambda x, n, k, _delta: of_numbers.gamma(x, k / 2 + n, 0.5),
        below=lambda x, k, delta: np.log(special.chndtr(x, k, delta)),
        above=lambda x, k, delta: np.log1p(-special.chndtr(x, k, delta))),
    _of("dpar", lambda x, alpha, c: np.log(alpha) + alpha * np.log(c) - (alpha + 1) * np.log(x),
        least=lambda _alpha, c: c,
        below=lambda x, alpha, c: np.log(-expm1(-alpha * np.log(x / c))),
        above=lambda x, alpha, c: -alpha * np.log(x / c)),
    _of("dscaled.gamma", of_numbers.scaled_gamma, **POSITIVE,
        parts={"weight": lambda w, s, _df: of_numbers.gamma(w, 0.5, s**-2.0)},
        given=lambda x, w, _s, df: of_numbers.gamma(x, df / 2, df * w),
        below=lambda x, s, df: log(2) + of_numbers.log_t(-(x**-0.5) / s, df),
        above=lambda x, s, df: np.log1p(-2 * special.stdtr(df, -(x**-0.5) / s))),
    _of("dweib dweibull", of_numbers.weibull, **POSITIVE,
        below=lambda x, v, rate: np.log(-expm1(-rate * x**v)),
        above=lambda x, v, rate: -rate * x**v),
    _of("dburrXII", of_numbers.burr, **POSITIVE,
        below=lambda x, alpha, beta: np.log(-expm1(-alpha * np.log1p(x**beta))),
        above=lambda x, alpha, beta: -alpha * np.log1p(x**beta)),
    _of("dgpz", of_numbers.gompertz, **POSITIVE,
        below=lambda x, alpha, theta: np.log(-expm1(-theta / alpha * expm1(alpha * x))),
        above=lambda x, alpha, theta: -theta / alpha * expm1(alpha * x)),
    _of("dinv.gauss", of_numbers.inverse_gaussian, **POSITIVE,
        below=of_numbers.log_inverse_gaussian, above=of_numbers.log_above_inverse_gaussian),
    _of("dinv.weib", of_numbers.frechet, **POSITIVE,
        below=lambda x, beta, scale: -((scale / x) ** beta),
        above=lambda x, beta, scale: np.log(-expm1(-((scale / x) ** beta)))),
    _of("dlog.logis", of_numbers.log_logistic, **POSITIVE,
        below=lambda x, beta, theta: log_expit(beta * np.log(x / theta)),
        above=lambda x, beta, theta: log_expit(-beta * np.log(x / theta))),
    # vectors and matrices
    _of("ddirch ddirich", of_vectors.dirichlet, event=1, inside=of_vectors.is_simplex),
    _of("dmulti dmultinom", of_vectors.multinomial, event=1, inside=of_vectors.are_counts),
    _of("dmnorm", of_vectors.mv_normal, event=1),
    _of("dmnorm.vcov", of_vectors.mv_normal_of_covariance, event=1),
    _of("dmt", of_vectors.mv_student, event=1),
    _of("dwish", of_vectors.wishart, event=2),
    _of("dscaled.wishart", of_vectors.scaled_wishart, event=2, given=of_vectors.wishart_of_weights,
        parts={"weight": lambda w, s, _df: np.array(
            [of_numbers.gamma(a, 0.5, b) for a, b in zip(w, np.asarray(s) ** -2.0, strict=True)])}),
    _of("car.normal", of_vectors.intrinsic, event=1, inside=lambda x, *_: of_vectors.is_centred(x)),
    _of("car.proper", of_vectors.proper, event=1),
    # what is seen of others
    _of("dinterval", _zero, inside=_is_in_interval),
    _of("dround", _zero, inside=_is_rounded),
    _of("dsum", _zero, inside=_is_sum),
    _of("dloglik", lambda _x, p: p),
)  # fmt: skip

# Each row under all of its names.
DENSITIES: Mapping[str, Density] = MappingProxyType({n: row for row in _ROWS for n in row.names})
