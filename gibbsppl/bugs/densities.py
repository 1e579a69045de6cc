"""Densities, distribution functions and quantiles as functions: ``pnorm(x, mu, tau)``.

Functions and names follow from the table of distributions: ``dnorm`` is the exponential of the log
density of ``x ~ dnorm``, ``pnorm`` the exponential of its log distribution function. JAGS also has
``logdensity.norm``; OpenBUGS writes ``pdf.norm``, ``cdf.norm`` and ``dev.norm``. Quantiles are of
numbers alone.

>>> rows = {name: row for row in DENSITIES for name in row.names}
>>> float(rows["pnorm"].numeric(1.96, 0, 1).round(4)), float(rows["qexp"].numeric(0.5, 2.0))
(0.975, 0.34657359027997264)
>>> rows["dexp"].symbolic(sp.Symbol("x", positive=True), sp.Symbol("rate", positive=True))
rate*exp(-rate*x)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from inspect import signature

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike
from sympy import exp, oo

from gibbsppl.algebra.expressions import Array as Name
from gibbsppl.algebra.expressions import Dim, Expr
from gibbsppl.algebra.functions import Below, Where
from gibbsppl.algebra.ranges import Range
from gibbsppl.bugs.distributions import DISTRIBUTIONS
from gibbsppl.bugs.grids import Array
from gibbsppl.bugs.rows import Distribution, Function, Meaning, Unsupported, meaning_of
from gibbsppl.families import FAMILIES, Family
from gibbsppl.model.evaluation import evaluate
from gibbsppl.runtime.by_scipy import special

_ROW = Dim("row")

_NO_QUANTILE = "of random variables write the probability, by the function that starts with p"
_NO_FORM = "not supported: it has no closed form, or is of vectors"


@dataclass(frozen=True, slots=True)
class Kind:
    """A function of a distribution, and its values below and above all values.

    ``of(log_density, log_cdf)`` is its expression.
    """

    prefixes: tuple[str, ...]
    of: Callable[[Expr, Expr], Expr]
    below: float
    above: float
    needs_cdf: bool = False


KINDS = (
    Kind(("d", "pdf."), lambda log_density, _: exp(log_density), 0.0, 0.0),
    Kind(("logdensity.",), lambda log_density, _: log_density, -np.inf, -np.inf),
    Kind(("dev.", "deviance."), lambda log_density, _: -2 * log_density, np.inf, np.inf),
    Kind(("p", "cdf."), lambda _, log_cdf: exp(log_cdf), 0.0, 1.0, needs_cdf=True),
)


def canonical(meaning: Meaning, event: tuple[Dim, ...] = ()) -> tuple[Family, dict[str, Expr]]:
    """The family of a meaning, and its arguments as the canonical parameters.

    >>> canonical(Meaning("Gamma", {"shape": 2, "scale": 4}))[1]
    {'shape': 2, 'rate': 0.25}
    """
    family, names = FAMILIES[meaning.family], set(meaning.arguments)
    spell = next((s for n, s in family.spellings.items() if set(n) == names), None)
    if spell is None:
        return family, dict(meaning.arguments)
    wants_event = "event" in signature(spell).parameters
    return family, dict(spell(**meaning.arguments, **({"event": event} if wants_event else {})))


# ---- expressions -------------------------------------------------------------------------------


def _core(row: Distribution, kind: Kind, x: Expr, *parameters: Expr) -> Expr:
    """The function inside of the support."""
    family, arguments = canonical(meaning_of(row, parameters))
    at = x - row.values_from
    log_cdf = sp.S.Zero
    if kind.needs_cdf:
        assert family.log_cdf is not None
        log_cdf = family.log_cdf(at, **arguments)
    return kind.of(family.log_density(at, (), **arguments), log_cdf)


def _outside(row: Distribution, x: Expr, *parameters: Expr) -> tuple[Expr, Expr]:
    """Whether a value is below the support, and whether it is above."""
    family, arguments = canonical(meaning_of(row, parameters))
    support, at = family.support((), **arguments), x - row.values_from
    is_certain = support.lower == 0 and at.is_nonnegative
    below = sp.S.Zero if support.lower == -oo or is_certain else Below(at, support.lower)
    return below, sp.S.Zero if support.upper == oo else Below(support.upper, at)


def _symbolic(row: Distribution, kind: Kind, *arguments: Expr) -> Expr:
    found = _core(row, kind, *arguments)
    if np.isinf([kind.below, kind.above]).any():
        return found
    below, above = _outside(row, *arguments)
    for is_there, value in ((above, kind.above), (below, kind.below)):
        found = found if is_there == 0 else Where(is_there, sp.Integer(int(value)), found)
    return found


# ---- numbers -----------------------------------------------------------------------------------


def _numeric(name: str, kind: Kind, *arguments: ArrayLike) -> Array:
    arrays = np.broadcast_arrays(*(np.asarray(a, float) for a in arguments))
    names, core, below, above = _templates(name, kind)
    values = {n: a.ravel() for n, a in zip(names, arrays, strict=True)}
    size = arrays[0].size

    def at_all(expr: Expr) -> Array:
        found = evaluate(expr, (Range(_ROW, 0, size),), values, {_ROW: size})
        return np.broadcast_to(found, (size,)).reshape(arrays[0].shape)

    inside = np.where(at_all(above) == 1, kind.above, at_all(core))
    return np.where(at_all(below) == 1, kind.below, inside)


@cache
def _templates(name: str, kind: Kind) -> tuple[tuple[str, ...], Expr, Expr, Expr]:
    """The names of the arguments, the function of them, and whether they are outside."""
    row = DISTRIBUTIONS[name]
    assert isinstance(row, Distribution)
    names = tuple(f"argument_{n}" for n in range(len(row.parameters) + 1))
    leaves = [Name(n)[_ROW] for n in names]
    return names, _core(row, kind, *leaves), *_outside(row, *leaves)


def _least(name: str, p: ArrayLike, *parameters: ArrayLike) -> Array:
    """The least whole number whose distribution function is at least p, by halving."""
    p, *rest = np.broadcast_arrays(*(np.asarray(a, float) for a in (p, *parameters)))
    wanted = p * (1 - 64 * np.finfo(float).eps)
    cumulative = partial(_numeric, name, KINDS[-1])
    low, high = np.full(p.shape, -1.0), np.ones(p.shape)
    while (short := cumulative(high, *rest) < wanted).any():
        low, high = np.where(short, high, low), np.where(short, 2 * high, high)
    while (high - low > 1).any():
        middle = np.floor((low + high) / 2)
        reached = cumulative(middle, *rest) >= wanted
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    return high.astype(np.int64)


def _f_quantile(p: Array, n: Array, m: Array) -> Array:
    share = special.betaincinv(np.divide(n, 2), np.divide(m, 2), p)
    return np.asarray(m * share / (n * (1 - share)))


def _laplace_quantile(p: Array, mu: Array, tau: Array) -> Array:
    side = np.subtract(p, 0.5)
    return np.asarray(mu - np.sign(side) * np.log1p(-2 * np.abs(side)) / tau)


QUANTILES: Mapping[str, Callable[..., ArrayLike]] = {
    "dnorm": lambda p, mu, tau: mu + special.ndtri(p) / np.sqrt(tau),
    "dlnorm": lambda p, mu, tau: np.exp(mu + special.ndtri(p) / np.sqrt(tau)),
    "dt": lambda p, mu, tau, k: mu + special.stdtrit(k, p) / np.sqrt(tau),
    "dlogis": lambda p, mu, tau: mu + special.logit(p) / tau,
    "ddexp": _laplace_quantile,
    "dgumbel": lambda p, mu, tau: mu - np.log(-np.log(p)) / tau,
    "dunif": lambda p, a, b: a + p * np.subtract(b, a),
    "dexp": lambda p, rate: -np.log1p(np.negative(p)) / rate,
    "dweib": lambda p, v, rate: (-np.log1p(np.negative(p)) / rate) ** np.divide(1.0, v),
    "dpar": lambda p, alpha, c: c * np.subtract(1.0, p) ** np.divide(-1.0, alpha),
    "dgamma": lambda p, r, rate: special.gammaincinv(r, p) / rate,
    "dchisqr": lambda p, k: 2 * special.gammaincinv(np.divide(k, 2), p),
    "dgen.gamma": lambda p, r, rate, b: special.gammaincinv(r, p) ** np.divide(1.0, b) / rate,
    "dbeta": lambda p, a, b: np.asarray(special.betaincinv(a, b, p)),
    "df": _f_quantile,
    "dnt": lambda p, mu, tau, k: special.nctdtrit(k, mu * np.sqrt(tau), p) / np.sqrt(tau),
    "dnchisqr": special.chndtrix,
    **{name: partial(_least, name) for name in ("dpois", "dbin", "dnegbin")},
}

# Distribution functions of rows that are explained with an auxiliary variable.
_CUMULATIVE: Mapping[str, Callable[..., ArrayLike]] = {
    "dnt": lambda x, mu, tau, k: special.nctdtr(k, mu * np.sqrt(tau), x * np.sqrt(tau)),
    "dnchisqr": special.chndtr,
}


# ---- rows --------------------------------------------------------------------------------------


def _is_plain(row: Distribution) -> bool:
    """Whether the density is that of the family, of numbers."""
    is_of_numbers = not row.event and not any(row.parameters.values())
    return is_of_numbers and row.labels is None and not row.auxiliaries


def _has_cdf(row: Distribution) -> bool:
    leaves = [Name(f"parameter_{n}")[()] for n in range(len(row.parameters))]
    return FAMILIES[meaning_of(row, leaves).family].log_cdf is not None


def _names(prefixes: tuple[str, ...], row: Distribution) -> tuple[str, ...]:
    return tuple(f"{prefix}{name[1:]}" for prefix in prefixes for name in row.names)


def _rows(row: Distribution) -> Iterator[Function | Unsupported]:
    name, count = row.names[0], len(row.parameters) + 1
    for kind in KINDS:
        names = _names(kind.prefixes, row)
        if _is_plain(row) and (_has_cdf(row) or not kind.needs_cdf):
            numeric = partial(_numeric, name, kind)
            yield Function(names, numeric, partial(_symbolic, row, kind), count, count)
        elif kind.needs_cdf and name in _CUMULATIVE:
            reason = "of random variables it has no closed form: write it with a variable more"
            yield Function(names, _CUMULATIVE[name], None, count, count, reason=reason)
        else:
            instead = f"write it out, or x ~ {name}({', '.join(row.parameters)})"
            yield from (Unsupported((n,), _NO_FORM, instead) for n in names)
    if name in QUANTILES:
        names = _names(("q",), row)
        yield Function(names, QUANTILES[name], None, count, count, reason=_NO_QUANTILE)


DENSITIES: tuple[Function | Unsupported, ...] = tuple(
    function
    for name, row in DISTRIBUTIONS.items()
    if isinstance(row, Distribution) and name == row.names[0]
    for function in _rows(row)
)
