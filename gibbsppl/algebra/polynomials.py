"""Polynomial algebra with a bound on its cost, estimated before multiplying out.

Comes in: expressions. Goes out: their number of terms at most, and products, sums and quotients of
them. Products of sums grow with the power of the number of sums: only small ones are worth it.

>>> x, y = sp.symbols("x y")
>>> expanded_size((1 + x) ** 3 * (x + y)), expanded_size(1 / (1 + x) + y)
(16, 3)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import sympy as sp

from gibbsppl.algebra.expressions import Expr

# Larger expressions are left as they are: factoring takes minutes from some hundreds of terms.
MOST_TERMS = 1000
# Polynomials of higher degree are not factored: SymPy holds each of their coefficients.
HIGHEST = 64
# Nor with longer numbers, in bits (1e77): SymPy looks for primes larger than products of several.
# (With a prior of scale 1e-150 a model took more than minutes.)
LONGEST = 256
# Sums of fractions of more terms than this are not put over one denominator.
MOST_IN_FRACTIONS = 32
# The same sums are factored again and again, by each rule that looks at a term.
MOST_KEPT = 4096


def expanded_size(of: Expr) -> int:
    """The number of terms of a sum or quotient of polynomials when it is multiplied out, at most.

    Powers with other exponents, and functions, count as one variable.
    """
    if of.is_Add:
        return sum(map(expanded_size, of.args))
    if of.is_Mul:
        return min(math.prod(map(expanded_size, of.args)), MOST_TERMS + 1)
    if isinstance(of, sp.Pow) and of.exp.is_Integer:
        return int(min(expanded_size(of.base) ** min(abs(int(of.exp)), HIGHEST), MOST_TERMS + 1))
    return 1


def multiplied_out(of: Expr, **hints: bool) -> Expr:
    """The expression multiplied out, but for powers of sums that would be too many terms.

    >>> x = sp.Symbol("x")
    >>> multiplied_out(x * (1 + x) ** 2), multiplied_out(x + (1 + x) ** 10**7 - x)
    (x**3 + 2*x**2 + x, (x + 1)**10000000)
    """
    marks = {p: sp.Dummy("p", real=p.is_real, positive=p.is_positive) for p in _large_powers(of)}
    if not marks:
        return sp.expand(of, **hints)
    found = sp.expand(of.xreplace(marks), **hints)
    return found.xreplace({mark: p for p, mark in marks.items()})


def _large_powers(of: Expr) -> list[Expr]:
    """The powers of sums that have too many terms when multiplied out."""
    return [p for p in of.atoms(sp.Pow) if p.base.is_Add and expanded_size(p) > MOST_TERMS]


@lru_cache(maxsize=MOST_KEPT)
def factored(of: Expr) -> Expr:
    """The sum as a product, but for exponentials, fractional and high powers: one variable each.

    ``1 - exp(-x)`` has no overflow, and ``1 + x**1.3`` is no polynomial in tenth roots of x.

    >>> x, y = sp.symbols("x y", positive=True)
    >>> factored(1 - y**2), factored(1 + x ** sp.Rational(13, 10))
    (-(y - 1)*(y + 1), x**(13/10) + 1)

    A sum with numbers of very many digits stays as it is.
    """
    numbers = (n for r in of.atoms(sp.Rational) for n in (r.p, r.q))
    if max((abs(n).bit_length() for n in numbers), default=0) > LONGEST:
        return of
    return _by(sp.factor, of)


@lru_cache(maxsize=MOST_KEPT)
def cancelled(of: Expr) -> Expr:
    """The sum as one quotient in lowest terms, with the same variables as ``factored``.

    >>> x = sp.Symbol("x", positive=True)
    >>> cancelled((x**2 - 1) / (x + 1)), cancelled((x**1.3 + x) / x)
    (x - 1, (x + x**1.3)/x)
    """
    return _by(sp.cancel, of)


def _by(algebra: Callable[[Expr], Expr], of: Expr) -> Expr:
    """Algebra of polynomials, with one variable for each exponential, fractional or high power."""
    held = of.atoms(sp.exp).union(_large_powers(of)) | {
        p
        for p in of.atoms(sp.Pow)
        if p.exp.is_number and not (p.exp.is_Integer and abs(p.exp) <= HIGHEST)
    }
    marks = {e: sp.Dummy("e", real=e.is_real, positive=e.is_positive) for e in held}
    return algebra(of.xreplace(marks)).xreplace({mark: e for e, mark in marks.items()})


def quotient(above: Expr, below: Expr) -> Expr:
    """``above / below``; sums of fractions are put over one denominator before.

    An exponential may overflow where the share that it is a part of does not: it stays as it is.

    >>> a = sp.Symbol("a", positive=True)
    >>> quotient(a / (1 + a), 1 - a / (1 + a)), quotient(a, 1 - a)
    (a, a/(1 - a))
    """
    return _over_one_denominator(above) / _over_one_denominator(below)


@lru_cache(maxsize=MOST_KEPT)
def _over_one_denominator(of: Expr) -> Expr:
    if not of.is_Add or of.has(sp.exp) or expanded_size(of) > MOST_IN_FRACTIONS:
        return of
    powers = of.atoms(sp.Pow)
    if not any(p.base.is_Add and p.exp.is_Integer and p.exp < 0 for p in powers):
        return of
    return min(of, cancelled(of), key=lambda e: e.count_ops())
