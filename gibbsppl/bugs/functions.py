"""The functions and operators of JAGS and OpenBUGS, of numbers and of expressions.

Comes in: a name and the number of arguments that a program writes. Goes out: a row. Functions of
numbers take arrays position by position; those of vectors and matrices (`array_functions`) take
arrays whose own axes are the last ones.

>>> function("ilogit", 1).symbolic(sp.Symbol("x"))
Expit(x)
>>> function("icloglog", 1).numeric(np.array([-1.0, 0.0])).round(4)
array([0.3078, 0.6321])
>>> function("round", 1).reason
'of random variables it has no density: write the number that is rounded'
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike
from sympy import exp, log, pi, sqrt

from gibbsppl.algebra.expressions import Expr
from gibbsppl.algebra.functions import (
    INDICATORS,
    AtMost,
    Below,
    Equals,
    Expit,
    LogGammaP,
    Phi,
    Where,
)
from gibbsppl.algebra.log_gamma import loggamma
from gibbsppl.algebra.polynomials import quotient
from gibbsppl.bugs.array_functions import OF_ARRAYS
from gibbsppl.bugs.array_numbers import times
from gibbsppl.bugs.densities import DENSITIES
from gibbsppl.bugs.grids import Array
from gibbsppl.bugs.rows import Function, Unsupported
from gibbsppl.bugs.unsupported import UNSUPPORTED_FUNCTIONS
from gibbsppl.errors import nearest
from gibbsppl.runtime.by_scipy import special

__all__ = ["FUNCTIONS", "LINKS", "OPERATORS", "function"]

A = TypeVar("A", Array, Expr)

_NO_DENSITY = "of random variables it has no density: write the number that is rounded"
_NO_PROBIT = "of random variables write the probability as phi(x), or probit(p) <- x"


def _whole(values: Array) -> Array:
    """Whole numbers as integers, where they are finite."""
    values = np.asarray(values)
    return values.astype(np.int64) if np.isfinite(values).all() else values


def _truth(x: Expr) -> Expr:
    """1 where a number is not zero, as conditions are read."""
    return x if isinstance(x, INDICATORS) or x in (0, 1) else 1 - Equals(x, sp.S.Zero)


def _either(a: Expr, b: Expr) -> Expr:
    return 1 - (1 - _truth(a)) * (1 - _truth(b))


def _arcsine(x: Expr) -> Expr:
    return sp.atan(x / sqrt(1 - x**2))


def _area_sine(x: Expr) -> Expr:
    """``log(x + sqrt(x**2 + 1))``, of the absolute value, which has all its digits."""
    return Where(Below(x, sp.S.Zero), -1, 1) * log(sp.Abs(x) + sqrt(x**2 + 1))


def _quotient(a: Array, b: Array) -> Array:
    with np.errstate(all="ignore"):
        return np.true_divide(a, b)


def _power(a: Array, b: Array) -> Array:
    """A power; whole where both are, and the second is not negative."""
    whole = np.result_type(a, b).kind in "iu" and np.all(np.asarray(b) >= 0)
    with np.errstate(all="ignore"):
        found = np.float_power(a, b)
    return _whole(found) if whole and np.all(np.abs(found) < 2**53) else found


def _minus(a: A, *b: A) -> A:
    found: A = operator.sub(a, *b) if b else -a
    return found


def _of(
    names: str,
    numeric: Callable[..., ArrayLike],
    symbolic: Callable[..., Expr] | None,
    least: int = 1,
    **facts: Any,
) -> Function:
    return Function(tuple(names.split()), numeric, symbolic, least, **{"most": least, **facts})


_OPERATORS = (
    _of("+", operator.add, operator.add, 2),
    _of("-", _minus, _minus, 1, most=2),
    _of("*", times, operator.mul, 2),
    _of("/", _quotient, quotient, 2),
    _of("^ pow", _power, operator.pow, 2),
    _of("<", lambda a, b: np.less(a, b) * 1, Below, 2),
    _of("<=", lambda a, b: np.less_equal(a, b) * 1, AtMost, 2),
    _of(">", lambda a, b: np.greater(a, b) * 1, lambda a, b: Below(b, a), 2),
    _of(">=", lambda a, b: np.greater_equal(a, b) * 1, lambda a, b: AtMost(b, a), 2),
    _of("== equals", lambda a, b: np.equal(a, b) * 1, Equals, 2),
    _of("!=", lambda a, b: np.not_equal(a, b) * 1, lambda a, b: 1 - Equals(a, b), 2),
    _of("&&", lambda a, b: np.logical_and(a, b) * 1, lambda a, b: _truth(a) * _truth(b), 2),
    _of("||", lambda a, b: np.logical_or(a, b) * 1, _either, 2),
    _of("!", lambda a: np.logical_not(a) * 1, lambda a: 1 - _truth(a)),
)

_OF_NUMBERS = (
    _of("abs", np.abs, sp.Abs),
    _of("sqrt", np.sqrt, sqrt),
    _of("exp", np.exp, exp, undoes="log"),
    _of("log", np.log, log),
    _of("ilogit", special.expit, Expit, undoes="logit"),
    _of("logit", special.logit, lambda p: log(p) - log(1 - p)),
    _of("phi", special.ndtr, Phi, undoes="probit"),
    _of("probit", special.ndtri, None, reason=_NO_PROBIT),
    _of("icloglog", lambda x: -np.expm1(-np.exp(x)), lambda x: 1 - exp(-exp(x)), undoes="cloglog"),
    _of("cloglog", lambda p: np.log(-np.log1p(-p)), lambda p: log(-log(1 - p))),
    _of("loggam", special.gammaln, loggamma),
    _of("logfact", lambda x: special.gammaln(x + 1.0), lambda x: loggamma(x + 1)),
    _of("gammap", special.gammainc, lambda a, x: exp(LogGammaP(a, x)), 2),
    _of("sin", np.sin, sp.sin),
    _of("cos", np.cos, sp.cos),
    _of("tan", np.tan, lambda x: sp.sin(x) / sp.cos(x)),
    _of("sinh", np.sinh, lambda x: (exp(x) - exp(-x)) / 2),
    _of("cosh", np.cosh, lambda x: (exp(x) + exp(-x)) / 2),
    _of("tanh", np.tanh, lambda x: 2 * Expit(2 * x) - 1),
    _of("arcsin asin", np.arcsin, _arcsine),
    _of("arccos acos", np.arccos, lambda x: pi / 2 - _arcsine(x)),
    _of("arctan atan", np.arctan, sp.atan),
    _of("arcsinh asinh", np.arcsinh, _area_sine),
    _of("arccosh acosh", np.arccosh, lambda x: log(x + sqrt(x**2 - 1))),
    _of("arctanh atanh", np.arctanh, lambda x: (log(1 + x) - log(1 - x)) / 2),
    _of("step", lambda x: np.greater_equal(x, 0) * 1, lambda x: AtMost(sp.S.Zero, x)),
    _of(
        "ifelse",
        lambda c, a, b: np.where(np.not_equal(c, 0), a, b),
        lambda c, a, b: Where(_truth(c), a, b),
        3,
    ),
    # JAGS rounds halves up, also below zero.
    _of("round", lambda x: _whole(np.floor(np.add(x, 0.5))), None, reason=_NO_DENSITY),
    _of("trunc", lambda x: _whole(np.trunc(x)), None, reason=_NO_DENSITY),
    _of("pi", lambda: np.asarray(np.pi), lambda: pi, 0),
)

# Each row under all of its names.
OPERATORS: Mapping[str, Function] = MappingProxyType(
    {name: row for row in _OPERATORS for name in row.names}
)
FUNCTIONS: Mapping[str, Function | Unsupported] = MappingProxyType(
    {
        name: row
        for row in (
            *UNSUPPORTED_FUNCTIONS,
            *DENSITIES,
            *_OPERATORS,
            *_OF_NUMBERS,
            *OF_ARRAYS,
        )
        for name in row.names
    }
)

# The inverses of the links that may stand on the left.
LINKS: Mapping[str, Function] = MappingProxyType(
    {row.undoes: row for row in _OF_NUMBERS if row.undoes}
)


def function(name: str, count: int) -> Function | Unsupported:
    """The row of a function with ``count`` arguments, or the reason why there is none."""
    row = FUNCTIONS.get(name)
    if row is None:
        near = nearest(name, FUNCTIONS)
        instead = f"write {near}, if that is meant" if near else "write out what it means"
        return Unsupported((name,), "no function of JAGS or OpenBUGS has that name", instead)
    if isinstance(row, Unsupported) or row.takes(count):
        return row
    found = f"found {count} argument{'' if count == 1 else 's'}, expected {_number(row)}"
    return Unsupported((name,), found, "write one for each")


def _number(row: Function) -> str:
    if row.most is None:
        return f"{row.least} or more"
    return str(row.least) if row.most == row.least else f"{row.least} or {row.most}"
