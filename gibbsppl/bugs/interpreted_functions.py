"""The functions and operators of BUGS on numbers and arrays, as its manuals define them: a table.

It is written a second time, and shares nothing with `gibbsppl.bugs.functions`. Numbers are floats;
vectors and matrices are arrays of NumPy, and functions of numbers take them entry by entry.

>>> FUNCTIONS["interp.lin"](1.5, np.array([1.0, 2.0]), np.array([0.0, 4.0]))
2.0
>>> round(called("pnorm", 1.96, 0.0, 1.0), 3)
0.975
"""

# The results of NumPy's and SciPy's functions are untyped.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from gibbsppl.bugs.interpreted_densities import DENSITIES, Density
from gibbsppl.bugs.interpreted_scalars import Floats, Numbers
from gibbsppl.bugs.interpreted_special import special

__all__ = ["FUNCTIONS", "LINKS", "called"]


def _columns(*values: Numbers) -> Floats:
    """The entries of all arrays, concatenated, each array column by column."""
    return np.concatenate([np.ravel(np.asarray(v, float), order="F") for v in values])


def _truth(condition: bool | np.bool_ | NDArray[np.bool_]) -> Numbers:
    return np.asarray(condition) * 1.0


def _times(a: Numbers, b: Numbers) -> Numbers:
    """A product, in which zero times infinity is zero."""
    found = np.multiply(a, b)
    if not np.isnan(found).any():
        return found
    is_zero = (np.isinf(a) & np.equal(b, 0)) | (np.isinf(b) & np.equal(a, 0))
    return np.where(is_zero, 0.0, found)


def _power(a: Numbers, b: Numbers) -> Numbers:
    return np.float_power(a, b)


def _chosen(c: Numbers, a: Numbers, b: Numbers) -> Numbers:
    return np.where(np.not_equal(c, 0), a, b)


def _exponential(m: Floats) -> Floats:
    """The exponential of a matrix."""
    from scipy.linalg import expm  # noqa: PLC0415  (it takes long to import)

    return expm(np.asarray(m, float))


def _interpolated(e: float, x: Floats, y: Floats) -> float:
    """Between the two points around e; beyond the ends the value there."""
    return float(np.interp(e, x, y))


def _product(a: Floats, b: Floats) -> Numbers:
    return np.matmul(np.asarray(a, float), np.asarray(b, float))


def _log_determinant(m: Floats) -> float:
    sign, value = np.linalg.slogdet(np.asarray(m, float))
    return value if sign > 0 else np.nan


def _order(v: Floats) -> Floats:
    return np.array(sorted(range(len(v)), key=lambda n: v[n])) + 1.0


def _rank(v: Floats, *s: float) -> Numbers:
    """The rank of each entry; of OpenBUGS, how many are not above the entry number s."""
    if s:
        return float(sum(x <= v[int(s[0]) - 1] for x in v))
    ranks = np.zeros(len(v))
    ranks[_order(v).astype(int) - 1] = np.arange(len(v)) + 1.0
    return ranks


def _repeated(v: Numbers, times: Numbers) -> Floats:
    if np.ndim(times):
        return np.repeat(_columns(v), np.asarray(times, int))
    return np.tile(_columns(v), int(times))


def _transposed(x: Floats) -> Floats:
    return np.asarray(x, float).reshape(1, -1) if np.ndim(x) == 1 else np.transpose(x)


def _rounded(t: Numbers, digits: Numbers) -> Numbers:
    return np.rint(np.asarray(t) * 10.0**digits) / 10.0**digits


FUNCTIONS: Mapping[str, Callable[..., Numbers]] = MappingProxyType({
    # operators
    "+": lambda a, b: a + b,
    "-": lambda a, *b: a - b[0] if b else -a,
    "*": _times,
    "/": np.true_divide,
    "^": _power,
    "pow": _power,
    "<": lambda a, b: _truth(np.less(a, b)),
    "<=": lambda a, b: _truth(np.less_equal(a, b)),
    ">": lambda a, b: _truth(np.greater(a, b)),
    ">=": lambda a, b: _truth(np.greater_equal(a, b)),
    "==": lambda a, b: _truth(np.equal(a, b)),
    "equals": lambda a, b: _truth(np.equal(a, b)),
    "!=": lambda a, b: _truth(np.not_equal(a, b)),
    "&&": lambda a, b: _truth(np.logical_and(a, b)),
    "||": lambda a, b: _truth(np.logical_or(a, b)),
    "!": lambda a: _truth(np.logical_not(a)),
    # of numbers
    "abs": np.abs,
    "sqrt": np.sqrt,
    "exp": np.exp,
    "log": np.log,
    "ilogit": special.expit,
    "logit": special.logit,
    "phi": special.ndtr,
    "probit": special.ndtri,
    "icloglog": lambda x: -np.expm1(-np.exp(x)),
    "cloglog": lambda p: np.log(-np.log1p(-np.asarray(p))),
    "loggam": special.gammaln,
    "logfact": lambda x: special.gammaln(np.asarray(x) + 1.0),
    "gammap": special.gammainc,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "arcsin": np.arcsin,
    "asin": np.arcsin,
    "arccos": np.arccos,
    "acos": np.arccos,
    "arctan": np.arctan,
    "atan": np.arctan,
    "arcsinh": np.arcsinh,
    "asinh": np.arcsinh,
    "arccosh": np.arccosh,
    "acosh": np.arccosh,
    "arctanh": np.arctanh,
    "atanh": np.arctanh,
    "step": lambda x: _truth(np.greater_equal(x, 0)),
    "ifelse": _chosen,
    "round": lambda x: np.floor(np.asarray(x) + 0.5),
    "trunc": np.trunc,
    "pi": lambda: np.pi,
    # of arrays
    "sum": lambda *v: _columns(*v).sum(),
    "dsum": lambda *v: _columns(*v).sum(),
    "prod": lambda *v: _columns(*v).prod(),
    "max": lambda *v: _columns(*v).max(),
    "min": lambda *v: _columns(*v).min(),
    "mean": lambda v: _columns(v).mean(),
    "sd": lambda v: _columns(v).std(ddof=1),
    "geometric.mean": lambda v: np.exp(np.log(_columns(v)).mean()),
    "inprod": lambda a, b: np.sum(_times(_columns(a), _columns(b))),
    "inprod2": lambda a, b: np.sum(_times(_columns(a), _columns(b))),
    "interp.lin": _interpolated,
    "%*%": _product,
    "t": _transposed,
    "logdet": _log_determinant,
    "inverse": np.linalg.inv,
    "inverse.chol": np.linalg.inv,
    "inverse.lu": np.linalg.inv,
    "det": np.linalg.det,
    "mexp": _exponential,
    "sort": lambda v: np.array(sorted(v)),
    "order": _order,
    "ranked": lambda v, s: sorted(v)[int(s) - 1],
    "rank": _rank,
    "length": np.size,
    "dim": lambda x: np.array(np.shape(x) or (1,)),
    "c": _columns,
    "rep": _repeated,
    "dinterval": lambda t, c: float((np.atleast_1d(c) < t).sum()),
    "dround": _rounded,
})  # fmt: skip

# The inverses of the links on the left.
LINKS: Mapping[str, Callable[..., Numbers]] = MappingProxyType({
    "log": FUNCTIONS["exp"],
    "logit": FUNCTIONS["ilogit"],
    "probit": FUNCTIONS["phi"],
    "cloglog": FUNCTIONS["icloglog"],
})  # fmt: skip


# ---- densities, distribution functions and quantiles as functions --------------------------------


def _cumulative(density: Density, x: float, *parameters: float) -> float:
    given = [np.float64(p) for p in parameters]
    return float(np.exp(density.up_to(np.float64(x), given)))


def _quantile(density: Density, p: float, *parameters: float) -> float:
    """The least value whose distribution function is at least p, by halving."""
    low, high = float(density.least(*parameters)), float(density.most(*parameters))
    if np.isinf(low):
        low = -1.0
        while _cumulative(density, low, *parameters) > p:
            low *= 2
    if np.isinf(high):
        high = max(1.0, 2 * low)
        while _cumulative(density, high, *parameters) < p:
            high *= 2
    if density.whole:
        # (distribution functions are rounded: what is short of p by that is p)
        wanted = p * (1 - 64 * np.finfo(float).eps)
        every = np.arange(low, high + 1)
        return next(float(k) for k in every if _cumulative(density, k, *parameters) >= wanted)
    from scipy.optimize import brentq  # noqa: PLC0415  (it takes long to import)

    return float(brentq(lambda x: _cumulative(density, x, *parameters) - p, low, high, xtol=1e-300))


_KINDS: Mapping[str, Callable[..., Numbers]] = {
    "pdf.": lambda d, x, *p: np.exp(d.at(x, p)),
    "logdensity.": lambda d, x, *p: d.at(x, p),
    "deviance.": lambda d, x, *p: -2 * d.at(x, p),
    "dev.": lambda d, x, *p: -2 * d.at(x, p),
    "cdf.": _cumulative,
    "d": lambda d, x, *p: np.exp(d.at(x, p)),
    "p": _cumulative,
    "q": _quantile,
}


def called(name: str, *arguments: Numbers) -> Numbers:
    """The value of a function, by name, at arguments; `KeyError` for an unknown name."""
    if name in FUNCTIONS:
        found = FUNCTIONS[name](*arguments)
    else:
        found = np.vectorize(_of_a_distribution(name), otypes=[float])(*arguments)
    return float(found) if np.ndim(found) == 0 else np.asarray(found, float)


def _of_a_distribution(name: str) -> Callable[..., Numbers]:
    for prefix, kind in _KINDS.items():
        own = f"d{name.removeprefix(prefix)}"
        if name.startswith(prefix) and own in DENSITIES:
            return partial(kind, DENSITIES[own])
    raise KeyError(name)
