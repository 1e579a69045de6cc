"""The distributions of JAGS and OpenBUGS, each as a family of gibbsppl.

Comes in: a name and the number of parameters that a program writes. Goes out: a row. What is not
supported is a row too (`gibbsppl.bugs.unsupported`), with the reason and what to write instead.

>>> mu, tau = sp.symbols("mu tau")
>>> meaning_of(distribution("dlogis", 2), (mu, tau))
Meaning(family='Logistic', arguments={'mu': mu, 'scale': 1/tau})
>>> distribution("dnorm", 3).message
'dnorm: found 3 parameters, expected 2 (mu, tau); write dnorm(mu, tau).'

A new distribution is one row.
"""

# Every formula of a row is called with the same arguments, needed or not.
# ruff: noqa: ARG001, ARG005

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import sympy as sp
from sympy import exp, log, sqrt

from gibbsppl.algebra.copies import primed
from gibbsppl.algebra.expressions import Dim, Expr, Leaf, Over, substitute
from gibbsppl.algebra.functions import (
    AtMost,
    Equals,
    Expit,
    LogGammaP,
    Maximum,
    Minimum,
    Phi,
    Where,
)
from gibbsppl.algebra.log_gamma import log_choose
from gibbsppl.bugs.fields import INTRINSIC, PROPER
from gibbsppl.bugs.grids import Array
from gibbsppl.bugs.intervals import INTERVAL, ROUNDED
from gibbsppl.bugs.rows import (
    Auxiliary,
    Distribution,
    Labels,
    LogLikelihood,
    Meaning,
    Row,
    Unsupported,
    expected,
    meaning_of,
    shares,
)
from gibbsppl.bugs.unsupported import LIKELIHOOD, UNSUPPORTED_DISTRIBUTIONS
from gibbsppl.errors import nearest

__all__ = ["DISTRIBUTIONS", "distribution", "meaning_of"]

HALF = sp.Rational(1, 2)

# So far out that a distribution function is 0 or 1: the outer ends of the first and last label.
FAR = 10**6


def _a(family: str, **arguments: Expr) -> Meaning:
    return Meaning(family, arguments)


# ---- labels of ordered categories --------------------------------------------------------------


def _ends(count: int) -> Mapping[str, Array]:
    """For each label the positions of the cut points below and above, and whether one is absent."""
    label = np.arange(count)
    return {
        "above": label.clip(max=count - 2),
        "below": (label - 1).clip(min=0),
        "is_first": (label == 0) * 1.0,
        "is_last": (label == count - 1) * 1.0,
    }


def _ends_and_widths(count: int) -> Mapping[str, Array]:
    """The ends, and for each label between two cut points these two."""
    label = np.arange(count)
    upper = label.clip(min(1, count - 2), count - 2)
    inner = (label > 0) & (label < count - 1)
    return {
        **_ends(count),
        "upper": upper,
        "lower": (upper - 1).clip(min=0),
        "is_inner": inner * 1.0,
    }


def _ordered_probit(
    mu: Expr,
    c: Expr,
    *,
    event: tuple[Dim, ...],
    above: Leaf,
    below: Leaf,
    is_first: Leaf,
    is_last: Leaf,
) -> Meaning:
    """``Phi(c_k - mu) - Phi(c_(k-1) - mu)``."""
    k = event[0]
    upper = substitute(c, {k: above}) + FAR * is_last - mu
    lower = substitute(c, {k: below}) - FAR * is_first - mu
    return _a("Categorical", p=Phi(upper) - Phi(lower))


def _ordered_logit(  # noqa: PLR0913  (two parameters and seven tables)
    mu: Expr,
    c: Expr,
    *,
    event: tuple[Dim, ...],
    above: Leaf,
    below: Leaf,
    is_first: Leaf,
    is_last: Leaf,
    upper: Leaf,
    lower: Leaf,
    is_inner: Leaf,
) -> Meaning:
    """``F(a) - F(b)`` as ``F(a) F(-b) (1 - exp(b - a))``, which has its digits in both tails."""
    k = event[0]
    at_most = Where(is_last, sp.S.One, Expit(substitute(c, {k: above}) - mu))
    above_all = Where(is_first, sp.S.One, Expit(mu - substitute(c, {k: below})))
    width = Where(is_inner, substitute(c, {k: upper}) - substitute(c, {k: lower}), sp.S.One)
    share = Where(is_inner, exp(LogGammaP(sp.S.One, width)), sp.S.One)
    return _a("Categorical", p=at_most * above_all * share)


# ---- others --------------------------------------------------------------------------------------


def _fisher_hypergeometric(
    n1: Expr, n2: Expr, m1: Expr, psi: Expr, *, event: tuple[Dim, ...]
) -> Meaning:
    """The probabilities of 0, 1, ..., n1: those of psi = 1, times ``psi**k``, of sum one."""
    k = event[0]
    # (labels of other variables at which there is no such urn weigh nothing)
    is_urn = AtMost(0, n1) * AtMost(0, n2) * AtMost(0, m1) * AtMost(m1, n1 + n2)
    n1, n2 = Maximum(n1, sp.S.Zero), Maximum(n2, sp.S.Zero)
    m1 = Minimum(Maximum(m1, sp.S.Zero), n1 + n2)
    least, most = Maximum(m1 - n2, sp.S.Zero), Minimum(n1, m1)
    inside = AtMost(least, k) * AtMost(k, most)
    y = Minimum(Maximum(k, least), most)
    logs = log_choose(n1, y) + log_choose(n2, m1 - y) - log_choose(n1 + n2, m1)
    return _a("Categorical", p=is_urn * shares(inside * exp(logs + y * log(psi)), k))


def _component_of(
    mu: Expr, tau: Expr, pi: Expr, *, event: tuple[Dim, ...], component: Leaf
) -> Meaning:
    at = {event[0]: component}
    return _a("Normal", mu=substitute(mu, at), tau=substitute(tau, at))


def _scaled_wishart(s: Expr, df: Expr, *, event: tuple[Dim, ...], weight: Leaf) -> Meaning:
    k = event[0]
    size = Over(sp.S.One, k)
    return _a("Wishart", nu=df + size - 1, R=2 * df * weight * Equals(k, primed(k)))


_ROWS: tuple[Row, ...] = (
    # whole numbers
    Distribution(("dbern",), {"p": 0}, lambda p: _a("Bernoulli", p=p), certain="p"),
    Distribution(("dbin", "dbinom"), {"p": 0, "n": 0}, lambda p, n: _a("Binomial", n=n, p=p)),
    Distribution(
        ("dbetabin", "dbetabinom"),
        {"a": 0, "b": 0, "n": 0},
        lambda a, b, n: _a("BetaBinomial", n=n, alpha=a, beta=b),
    ),
    Distribution(
        ("dcat",),
        {"p": 1},
        lambda p: _a("Categorical", p=p),
        values_from=1,
        weights="p",
        certain="p",
    ),
    Distribution(("dgeom0",), {"p": 0}, lambda p: _a("Geometric", p=p)),
    Distribution(("dgeom1",), {"p": 0}, lambda p: _a("Geometric", p=p), values_from=1),
    Distribution(
        ("dhyper",),
        {"n1": 0, "n2": 0, "m1": 0, "psi": 0},
        _fisher_hypergeometric,
        labels=Labels(lambda n1, n2, m1, psi: int(np.max(n1)) + 1),
    ),
    Distribution(
        ("dnegbin", "dnbinom"),
        {"p": 0, "r": 0},
        lambda p, r: _a("NegativeBinomial", n=r, p=p),
    ),
    Distribution(("dpois",), {"lambda": 0}, lambda rate: _a("Poisson", rate=rate)),
    Distribution(
        ("dordered.logit",),
        {"mu": 0, "c": 1},
        _ordered_logit,
        values_from=1,
        increasing="c",
        labels=Labels(lambda mu, c: c + 1, _ends_and_widths),
    ),
    Distribution(
        ("dordered.probit",),
        {"mu": 0, "c": 1},
        _ordered_probit,
        values_from=1,
        increasing="c",
        labels=Labels(lambda mu, c: c + 1, _ends),
    ),
    # the real line
    Distribution(("dnorm",), {"mu": 0, "tau": 0}, lambda mu, tau: _a("Normal", mu=mu, tau=tau)),
    Distribution(
        ("dt",),
        {"mu": 0, "tau": 0, "k": 0},
        lambda mu, tau, k: _a("StudentT", nu=k, mu=mu, tau=tau),
    ),
    Distribution(
        ("ddexp",), {"mu": 0, "tau": 0}, lambda mu, tau: _a("Laplace", mu=mu, rate=tau)
    ),
    Distribution(
        ("dlogis",), {"mu": 0, "tau": 0}, lambda mu, tau: _a("Logistic", mu=mu, scale=1 / tau)
    ),
    Distribution(
        ("dgumbel",), {"mu": 0, "tau": 0}, lambda mu, tau: _a("Gumbel", mu=mu, scale=1 / tau)
    ),
    Distribution(
        ("dnormmix",),
        {"mu": 1, "tau": 1, "pi": 1},
        _component_of,
        weights="pi",
        auxiliaries={"component": Auxiliary(lambda mu, tau, pi: _a("Categorical", p=pi))},
    ),
    Distribution(
        ("dnt",),
        {"mu": 0, "tau": 0, "k": 0},
        lambda mu, tau, k, *, weight: _a("Normal", mu=mu / sqrt(weight), tau=tau * weight),
        auxiliaries={
            "weight": Auxiliary(lambda mu, tau, k: _a("Gamma", shape=k / 2, rate=k / 2))
        },
    ),
    Distribution(("dflat",), {}, lambda: _a("Flat"), positive="HalfFlat"),
    # positive numbers, and those of an interval
    Distribution(("dbeta",), {"a": 0, "b": 0}, lambda a, b: _a("Beta", a=a, b=b)),
    Distribution(("dunif",), {"a": 0, "b": 0}, lambda a, b: _a("Uniform", lower=a, upper=b)),
    Distribution(("dchisqr", "dchisq"), {"k": 0}, lambda k: _a("ChiSquared", nu=k)),
    Distribution(("dexp",), {"lambda": 0}, lambda rate: _a("Exponential", rate=rate)),
    Distribution(
        ("df",), {"n": 0, "m": 0}, lambda n, m: _a("FisherSnedecor", nu_1=n, nu_2=m)
    ),
    Distribution(
        ("dgamma",), {"r": 0, "lambda": 0}, lambda r, rate: _a("Gamma", shape=r, rate=rate)
    ),
    Distribution(
        ("dgen.gamma", "dggamma"),
        {"r": 0, "lambda": 0, "b": 0},
        lambda r, rate, b: _a("GeneralizedGamma", shape=r, rate=rate**b, power=b),
    ),
    Distribution(
        ("dlnorm",), {"mu": 0, "tau": 0}, lambda mu, tau: _a("LogNormal", mu=mu, tau=tau)
    ),
    Distribution(
        ("dnchisqr",),
        {"k": 0, "delta": 0},
        lambda k, delta, *, count: _a("ChiSquared", nu=k + 2 * count),
        auxiliaries={"count": Auxiliary(lambda k, delta: _a("Poisson", rate=delta / 2))},
    ),
    Distribution(
        ("dpar",), {"alpha": 0, "c": 0}, lambda alpha, c: _a("Pareto", shape=alpha, minimum=c)
    ),
    Distribution(
        ("dscaled.gamma",),
        {"s": 0, "df": 0},
        lambda s, df, *, weight: _a("Gamma", shape=df / 2, rate=df * weight),
        auxiliaries={
            "weight": Auxiliary(lambda s, df: _a("Gamma", shape=HALF, rate=s**-2))
        },
    ),
    Distribution(
        ("dweib", "dweibull"),
        {"v": 0, "lambda": 0},
        lambda v, rate: _a("Weibull", shape=v, rate=rate),
    ),
    Distribution(
        ("dburrXII",),
        {"alpha": 0, "beta": 0},
        lambda alpha, beta: _a("BurrXII", c=beta, k=alpha, scale=sp.S.One),
    ),
    Distribution(
        ("dgpz",),
        {"alpha": 0, "theta": 0},
        lambda alpha, theta: _a("Gompertz", shape=alpha, rate=theta),
    ),
    Distribution(
        ("dinv.gauss",),
        {"mu": 0, "lambda": 0},
        lambda mu, lam: _a("InverseGaussian", mu=mu, lam=lam),
    ),
    Distribution(
        ("dinv.weib",),
        {"beta": 0, "lambda": 0},
        lambda beta, scale: _a("Frechet", shape=beta, scale=scale),
    ),
    Distribution(
        ("dlog.logis",),
        {"beta": 0, "theta": 0},
        lambda beta, theta: _a("BurrXII", c=beta, k=sp.S.One, scale=theta),
    ),
    # vectors and matrices
    Distribution(("ddirch", "ddirich"), {"alpha": 1}, lambda a: _a("Dirichlet", a=a), event=1),
    Distribution(
        ("dmulti", "dmultinom"),
        {"p": 1, "n": 0},
        lambda p, n: _a("Multinomial", n=n, p=p),
        event=1,
        weights="p",
    ),
    Distribution(
        ("dmnorm",),
        {"mu": 1, "Omega": 2},
        lambda mu, omega: _a("MvNormal", mu=mu, tau=omega),
        event=1,
        alone=lambda mu, omega: _a("Normal", mu=mu, tau=omega),
    ),
    Distribution(
        ("dmnorm.vcov",),
        {"mu": 1, "Sigma": 2},
        lambda mu, sigma: _a("MvNormal", mu=mu, cov=sigma),
        event=1,
        alone=lambda mu, sigma: _a("Normal", mu=mu, var=sigma),
    ),
    Distribution(
        ("dmt",),
        {"mu": 1, "Omega": 2, "k": 0},
        lambda mu, omega, k: _a("MvStudentT", nu=k, mu=mu, tau=omega),
        event=1,
        alone=lambda mu, omega, k: _a("StudentT", nu=k, mu=mu, tau=omega),
    ),
    Distribution(
        ("dwish",),
        {"R": 2, "k": 0},
        lambda R, k: _a("Wishart", nu=k, R=R),
        event=2,
        alone=lambda R, k: _a("Gamma", shape=k / 2, rate=R / 2),
    ),
    Distribution(
        ("dscaled.wishart",),
        {"s": 1, "df": 0},
        _scaled_wishart,
        event=2,
        auxiliaries={
            "weight": Auxiliary(lambda s, df: _a("Gamma", shape=HALF, rate=s**-2), axes=1)
        },
    ),
    INTRINSIC,
    PROPER,
    # what is seen of other variables
    INTERVAL,
    ROUNDED,
    LogLikelihood(("dloglik",), {"p": 0}),
)

# Each row under all of its names.
DISTRIBUTIONS: Mapping[str, Row] = MappingProxyType(
    {name: row for row in (*_ROWS, *UNSUPPORTED_DISTRIBUTIONS) for name in row.names}
)


def distribution(name: str, count: int) -> Row:
    """The row of a distribution with ``count`` parameters, or the reason why there is none."""
    row = DISTRIBUTIONS.get(name)
    if row is None:
        near = nearest(name, DISTRIBUTIONS)
        instead = f"write {near}, if that is meant" if near else LIKELIHOOD
        return Unsupported((name,), "no distribution of JAGS or OpenBUGS has that name", instead)
    if isinstance(row, Unsupported) or count == len(row.parameters):
        return row
    names = list(row.parameters)
    instead = _OTHER_ARITIES.get((name, count), f"write {name}({', '.join(names)})")
    return Unsupported((name,), expected(count, "parameter", names), instead)


# Parameters that OpenBUGS has and JAGS has not.
_OTHER_ARITIES = {("df", 4): "write z ~ df(n, m) and x <- mu + z / sqrt(tau)"}
