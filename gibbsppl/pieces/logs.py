"""Logs of products, powers, exponentials and determinants, as sums.

>>> from gibbsppl.algebra.expressions import Array
>>> x, y = Array("x", positive=True)[()], Array("y", positive=True)[()]
>>> expand_logs(sp.log(x**2 * y), {"x", "y"})
2*log(x) + log(y)
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import lru_cache
from itertools import chain

import sympy as sp
from sympy import Add, Mul

from gibbsppl.algebra.exact_numbers import has_log
from gibbsppl.algebra.expressions import (
    Binder,
    Dim,
    Expr,
    InverseEntry,
    Leaf,
    LogDet,
    Over,
    Times,
    dims_of,
    mentions,
    substitute,
)
from gibbsppl.algebra.functions import (
    AtMost,
    Below,
    Softplus,
    Where,
    complement_of,
    log_of,
)
from gibbsppl.algebra.masses import log_of_difference
from gibbsppl.algebra.polynomials import (
    MOST_KEPT,
    cancelled,
    expanded_size,
    factored,
    multiplied_out,
)
from gibbsppl.analysis.bounds import interval_of

# Sums with more terms than this when multiplied out are not factored.
MOST_TERMS = 16


def expand_logs(expr: Expr, targets: Collection[str]) -> Expr:
    """Logs of products, powers, exponentials and determinants as sums, where a target is in them.

    Parts of known sign, by the bounds of arrays, have logs of their own, each of the part or of
    minus the part; the rest stays one log, for a density is positive as a whole.
    """
    if not mentions(expr, targets) or isinstance(expr, Leaf):
        return expr
    if isinstance(expr, sp.log):
        return _log(expand_logs(expr.args[0], targets), targets)
    if isinstance(expr, LogDet):
        return _log_det(expr, targets)
    if isinstance(expr, InverseEntry):
        return _inverse(expr, targets)
    if isinstance(expr, Softplus) and expr.has(sp.log):
        return opened_exponential(expr, targets)
    if isinstance(expr, sp.cos | sp.sin):
        return _of_a_sum(expr, targets)
    if isinstance(expr, Binder):
        return expr.func(expand_logs(expr.body, targets), *expr.args[1:])
    return expr.func(*(expand_logs(a, targets) for a in expr.args))


def expand_power(power: Expr, targets: Collection[str]) -> Expr:
    """A power of a product as a product of powers, where all factors are of one sign.

    >>> from gibbsppl.algebra.expressions import Array
    >>> p, a = Array("p", positive=True)[()], Array("a", positive=True)[()]
    >>> expand_power((-a * sp.log(p)) ** sp.Rational(1, 3), {"p"})
    (-log(p))**(1/3)*a**(1/3)
    """
    found = []
    for part in Mul.make_args(sp.expand_power_base(power)):
        base, exponent = part.as_base_exp()
        factors = _of_one_sign(base) if base.is_Mul and mentions(base, targets) else (base,)
        found += [sp.Pow(f, exponent) for f in factors]
    return Mul(*found)


def opened_exponential(expr: Expr, targets: Collection[str]) -> Expr:
    """``log(1 + exp(log(a) - log(b)))`` as ``log(a + b) - log(b)``, that of a difference too.

    ``log(1 - exp(-t))`` keeps its digits where the exponential is near 1, and the log of a
    difference does not: only where algebra needs the latter.
    """
    sign = 1 if isinstance(expr, Softplus) else -1
    *rest, of = expr.args
    terms = Add.make_args(expand_logs(of, targets))
    power = Mul(*(sp.exp(sign * t) for t in terms))
    if power.has(sp.exp):
        return expr.func(*rest, Add(*terms))
    return _log(1 + sign * power, targets)


def _of_a_sum(expr: Expr, targets: Collection[str]) -> Expr:
    """``cos(a + x)`` as ``cos(a) cos(x) - sin(a) sin(x)``, ``sin(a + x)`` likewise."""
    held = [a for a in Add.make_args(multiplied_out(expr.args[0])) if mentions(a, targets)]
    rest = multiplied_out(expr.args[0]) - Add(*held)
    if len(held) != 1 or rest == 0:
        return expr
    x = held[0]
    if isinstance(expr, sp.cos):
        return sp.cos(rest) * sp.cos(x) - sp.sin(rest) * sp.sin(x)
    return sp.sin(rest) * sp.cos(x) + sp.cos(rest) * sp.sin(x)


def _log(of: Expr, targets: Collection[str]) -> Expr:
    """The log of an expression, taken apart."""
    is_small = expanded_size(of) <= MOST_TERMS
    if of.is_Add and is_small and any(mentions(p, targets) for p in _divisors(of)):
        of = _quotient(of)
    if (found := log_of_difference(of)) is not None:
        return found
    if of.is_Add:
        of = _common_out(of) if (one := _one_minus(of)) is None else one
    if of.is_Add and is_small and _is_worth_it(of, product := _as_product(of), targets):
        of = product
    if of.is_Mul:
        parts = [p for p in _of_one_sign(of) if p != 1]
        return sp.log(of) if parts == [of] else Add(*(_log(a, targets) for a in parts))
    match of:
        case sp.Pow():
            base = of.base
            if of.exp.is_even and not base.is_positive and (sign := _sign(base)) != 1:
                base = -base if sign == -1 else sp.Abs(base)
            return of.exp * _log(base, targets)
        case Times() if _sign(of.body) == 1:
            return Over(_log(of.body, targets), *of.bound)
        case Over():
            return _log_of_sum(of, targets)
        case Where() if all(map(has_log, of.args[1:])):
            chosen, yes, no = of.args
            return _log_if(chosen, yes, targets) + _log_if(1 - chosen, no, targets)
    return sp.log(of) if (known := log_of(of)) is None else known


@lru_cache(maxsize=MOST_KEPT)
def _quotient(of: Expr) -> Expr:
    """A sum as one quotient in lowest terms, the denominator with the sign as written.

    Algebra may turn the signs of both parts: each would have the log of a negative value.
    """
    # (the other side of a quotient is no place for an exponential, which may overflow there)
    named = {f: sp.Dummy("f", positive=f.is_positive, real=True) for f in of.atoms(sp.Function)}
    one = sp.together(of.xreplace(named))
    above, below = sp.fraction(cancelled(one))
    is_turned = below.is_Add and cancelled(sp.fraction(one)[1] / below).is_negative
    above, below = (e.xreplace({name: f for f, name in named.items()}) for e in (above, below))
    return -above / -below if is_turned and not below.is_positive else above / below


def _divisors(of: Expr) -> Iterator[Expr]:
    """The divisors of the terms of a sum, outside of functions."""
    if isinstance(of, sp.Pow) and of.exp.is_negative:
        yield of.base
    elif of.is_Add or of.is_Mul:
        yield from chain.from_iterable(map(_divisors, of.args))


@lru_cache(maxsize=MOST_KEPT)
def _common_out(of: Expr) -> Expr:
    """A sum with its common factors taken out, unless the sign is the only one."""
    product = sp.factor_terms(of, radical=True)
    number, rest = product.as_coeff_Mul()
    return of if number == -1 and rest.is_Add else product


def _as_product(of: Expr) -> Expr:
    """A sum as a product; a sum of two terms as it is, but for a common number.

    ``1 + x**3`` is a better statistic than ``(1 + x) (1 - x + x**2)``. Differences are not:
    ``1 - x**2`` is a product of positive factors, of ``1 - x`` and its like.
    """
    is_plain = not any(a.has(Add) or a.could_extract_minus_sign() for a in of.args)
    return sp.factor_terms(of, clear=True) if is_plain and len(of.args) == 2 else factored(of)


def _is_worth_it(of: Expr, product: Expr, targets: Collection[str]) -> bool:
    """Whether a product is better than a sum: not if only a constant comes out of squares."""
    if not product.is_Mul:
        return False
    parts = [p for p in product.args if mentions(p, targets)]
    products = (p for p in of.atoms(sp.Pow, Mul) if mentions(p, targets))
    return len(parts) > 1 or not any(map(_is_of_sums, products))


def _is_of_sums(product: Expr) -> bool:
    """Whether a product or a power would lose its factors if it were multiplied out."""
    bases = [product.base] if isinstance(product, sp.Pow) else product.args
    return sum(bool(b.is_Add) for b in bases) > (0 if product.is_Pow else 1)


def _log_of_sum(of: Over, targets: Collection[str]) -> Expr:
    """The log of a sum over a dim, the factors shared by its terms in logs of their own.

    Factors that are common to a share and to its sum then cancel.

    >>> from gibbsppl.algebra.expressions import Array, Dim
    >>> k, x, d = Dim("k"), Array("x")[()], Array("d", positive=True)
    >>> _log(d[0] * sp.exp(x) / Over(d[k] * sp.exp(x), k), {"x"})
    log(d[0]) - log(sum(d[k], k))
    """
    if not mentions(of, targets):
        return sp.log(of)
    shared: list[Expr] = []
    own: list[Expr] = []
    for factor in Mul.make_args(of.body):
        if isinstance(factor, sp.exp):
            terms = Add.make_args(factor.args[0])
            free = Add(*(t for t in terms if not dims_of(t) & {*of.bound}))
            shared.append(free)
            own.append(sp.exp(factor.args[0] - free))
        elif not dims_of(factor) & {*of.bound} and _sign(factor) == 1:
            shared.append(_log(factor, targets))
        else:
            own.append(factor)
    return Add(*shared, sp.log(of.func(Mul(*own), *of.args[1:])))


def _log_if(chosen: Expr, of: Expr, targets: Collection[str]) -> Expr:
    """``chosen`` times the log; for the log of zero, the log of ``1 - chosen``."""
    return sp.log(1 - chosen) if of == 0 else chosen * _log(of, targets)


def _of_one_sign(product: Expr) -> tuple[Expr, ...]:
    """The factors of a positive product, each as a positive one: ``(1 - x)``, not ``(x - 1)``.

    Factors of unknown sign are joined in one factor, whose sign is that of all others.
    """
    number, factors = product.as_coeff_mul()
    sign = -1 if number.is_negative else 1
    found, either = [abs(number)], []
    for factor in factors:
        own = 1 if factor.is_positive else _sign(factor)
        if own == 0:
            either.append(factor)
            continue
        sign *= own
        found.append(factor if own == 1 else _turned(factor))
    rest = Mul(*either)
    found.append(rest if sign == 1 else _turned(rest))
    return tuple(found)


def _turned(factor: Expr) -> Expr:
    """The factor times -1: a quotient by the difference the other way round."""
    base, exponent = factor.as_base_exp()
    return sp.Pow(-base, exponent) if exponent.is_odd else -factor


@lru_cache(maxsize=MOST_KEPT)
def _sign(expr: Expr) -> int:
    """1 if never negative, -1 if never positive, by the bounds of arrays; 0 if not known."""
    lower, upper = interval_of(expr, lambda leaf: leaf.array.bounds)
    return 1 if lower >= 0 else -1 if upper <= 0 else 0


def _one_minus(of: Expr) -> Expr | None:
    """1 - expit(x) as expit(-x), 1 - Phi(x) as Phi(-x), 1 - [a <= b] as [b < a]."""
    rest = 1 - of
    if isinstance(rest, AtMost | Below):
        other = Below if isinstance(rest, AtMost) else AtMost
        return other(*reversed(rest.args))
    return complement_of(rest)


def _inverse(expr: InverseEntry, targets: Collection[str]) -> Expr:
    """An entry of the inverse of a scaled matrix, the scale taken out; an inverse is undone."""
    body, bound = expr.body, expr.bound
    if isinstance(body, InverseEntry) and body.args[3:] == bound:
        at = substitute(body.body, dict(zip(body.bound, bound, strict=True)))
        return substitute(at, dict(zip(bound, expr.args[3:], strict=True)))
    scale = _scale_of(body, bound)
    if scale == 1:
        return expr.func(expand_logs(body, targets), *expr.args[1:])
    return _inverse(InverseEntry(body / scale, *expr.args[1:]), targets) / scale


def _scale_of(body: Expr, bound: Collection[Dim]) -> Expr:
    """The factor common to all entries of a matrix, with a sign that keeps it positive definite."""
    outer = Mul(*(a for a in Mul.make_args(body) if not dims_of(a) & set(bound)))
    return (-outer if outer.is_negative else outer) if body.is_Mul else sp.S.One


def _log_det(expr: LogDet, targets: Collection[str]) -> Expr:
    """The log determinant of a scaled or inverted matrix, taken apart."""
    body, bound = expr.body, expr.bound
    if isinstance(body, InverseEntry) and body.args[3:] == bound:
        return -_log_det(LogDet(body.body, *body.bound), targets)
    scale = _scale_of(body, bound)
    if scale != 1:
        left = _log_det(LogDet(body / scale, *bound), targets)
        return Over(_log(scale, targets), bound[0]) + left
    # Rows or columns that are scaled one by one: of a diagonal matrix, or both of any matrix.
    lines = [a for a in Mul.make_args(body) if len(dims_of(a) & set(bound)) == 1]
    if lines and len(lines) < len(Mul.make_args(body)):
        logs = (Over(_log(a, targets), *(dims_of(a) & set(bound))) for a in lines)
        return Add(*logs, LogDet(body / Mul(*lines), *bound))
    return expr
