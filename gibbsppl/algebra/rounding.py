"""Finite values in floating-point numbers: infinities, and zeros by underflow.

The interpreter and the back end both read it: where a weight is exactly zero its product is zero,
though what it multiplies may be too large for a number, or the log of nothing.

>>> x, tau = Array("x")[()], Array("tau", positive=True)[()]
>>> [may_be_infinite(e) for e in (x**2, 1 / tau, sp.log(tau), sp.exp(x), sp.log(1 - tau))]
[False, False, False, True, True]
>>> may_underflow(1 - tau), may_underflow(sp.exp(x)), may_underflow(1 + sp.exp(x))
(False, True, True)
"""

from __future__ import annotations

from functools import lru_cache

import sympy as sp

from gibbsppl.algebra.expressions import (
    Array,
    Binder,
    Dim,
    Expr,
    InverseEntry,
    Leaf,
    LogDet,
    Over,
    mentions,
)
from gibbsppl.algebra.functions import (
    BOUNDED,
    FADING,
    INDICATORS,
    Where,
    functions_that,
)

# What is always finite, and what is finite where its arguments are.
FINITE = (Leaf, LogDet, InverseEntry, *BOUNDED)
AS_ARGUMENTS: tuple[type[Expr], ...] = (sp.Add, sp.Mul, *functions_that(lambda row: row.finite))
MOST_KEPT = 1 << 14


@lru_cache(maxsize=MOST_KEPT)
def may_be_infinite(expr: Expr) -> bool:
    """Whether a value may be infinite, or no number, where all that is read is finite.

    Powers of fixed exponents are not: what would be too large for them is no value of a model.
    """
    if isinstance(expr, FINITE) or not expr.args:
        return False
    if isinstance(expr, Where):
        return any(map(may_be_infinite, expr.args[1:]))
    if isinstance(expr, Binder):
        return may_be_infinite(expr.body)
    if isinstance(expr, AS_ARGUMENTS):
        return any(map(may_be_infinite, expr.args))
    if isinstance(expr, sp.exp):
        return not expr.args[0].is_nonpositive
    if isinstance(expr, sp.Pow) and expr.exp.is_number:
        base = expr.base
        return may_be_infinite(base) or not (expr.exp.is_positive or _is_above_zero(base))
    if isinstance(expr, sp.log):
        return _may_have_no_log(expr.args[0])
    return not expr.is_number


def _may_have_no_log(expr: Expr) -> bool:
    """Whether the log of a value may be infinite: of exponentials alone it is theirs, whatever."""
    terms = sp.Add.make_args(expr.body if isinstance(expr, Over) else expr)
    split = [t.as_coeff_Mul() for t in terms]
    if all(n.is_positive and (e == 1 or isinstance(e, sp.exp)) for n, e in split):
        return any(may_be_infinite(e.args[0]) for _, e in split if e != 1)
    return may_be_infinite(expr) or not _is_above_zero(expr)


def _is_above_zero(expr: Expr) -> bool:
    """Whether a value is positive, and not so small that the number for it is 0."""
    if isinstance(expr, Leaf) or not expr.args:
        return bool(expr.is_positive)
    if expr.is_Add:
        return all(a.is_nonnegative for a in expr.args) and any(map(_is_above_zero, expr.args))
    return bool(expr.is_positive) and not may_underflow(expr)


@lru_cache(maxsize=MOST_KEPT)
def may_underflow(expr: Expr) -> bool:
    """Whether a value may be 0 because it is too small for a number, and not exactly 0.

    A difference may be 0 as soon as a part of it underflows.
    """
    if isinstance(expr, (Leaf, *INDICATORS)):
        return False
    if isinstance(expr, FADING) or (isinstance(expr, sp.Pow) and not expr.exp.is_number):
        return not expr.is_number
    return any(may_underflow(a) for a in expr.args if not isinstance(a, Array | Dim))


@lru_cache(maxsize=MOST_KEPT)
def growth(expr: Expr, name: str, *, at_zero: bool = False) -> float:
    """The order at which an expression grows with the values of an array, or more.

    Terms of the same growth may cancel where values are large: they are added first, so that terms
    of less growth keep their digits. ``at_zero``: the order near zero, or less; what has a negative
    one may be infinite there.

    >>> x = Array("x")[()]
    >>> logs = sp.log(x), sp.log(1 + sp.exp(x**2))
    >>> from gibbsppl.algebra.functions import Softplus
    >>> [growth(e, "x") for e in (2 / x, 3 * x - 1, Softplus(x), *logs)]
    [-1.0, 1.0, 1.0, 0.0, 2.0]
    >>> [growth(e, "x", at_zero=True) for e in (2 / x + 1, 3 * x - 1, sp.exp(1 / x))]
    [-1.0, 0.0, -inf]
    """

    def of(part: Expr) -> float:
        return growth(part, name, at_zero=at_zero)

    if not mentions(expr, (name,)):
        return 0.0
    if isinstance(expr, Leaf):
        return 1.0
    if expr.is_Mul:
        return sum(map(of, expr.args))
    if isinstance(expr, sp.Pow):
        unknown = -float("inf") if at_zero else float("inf")
        return of(expr.base) * float(expr.exp) if expr.exp.is_number else unknown
    if isinstance(expr, sp.exp):
        if at_zero:
            return 0.0 if of(expr.args[0]) >= 0 else -float("inf")
        return float("inf")
    if isinstance(expr, sp.log):
        inner = (of(e.args[0]) for e in expr.atoms(sp.exp))
        return min(inner, default=0.0) if at_zero else max(inner, default=0.0)
    if isinstance(expr, BOUNDED):
        return 0.0
    parts = [expr.body] if isinstance(expr, Binder) else expr.args
    orders = [of(a) for a in parts if isinstance(a, sp.Expr)]
    return min(orders) if at_zero else max(orders)
