"""Identities that simplify a log density before the split, so that terms cancel.

They hold where both sides exist; the ratio check of every derived conditional guards them.

>>> from gibbsppl.algebra.expressions import Array
>>> from gibbsppl.algebra.log_gamma import loggamma
>>> x, w = (Array(n, positive=True)[()] for n in ("x", "w"))
>>> v = Array("v")[()]
>>> simplified(((x * w) ** (-1 / v)) ** (-v), {"x"})
w*x
>>> simplified(3 * loggamma(w * x + 1) - 3 * loggamma(w * x), {"x"})
3*log(w*x)
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import permutations, product

import sympy as sp
from sympy import Add, Mul

from gibbsppl.algebra.copies import copy_of
from gibbsppl.algebra.expressions import (
    Dim,
    Expr,
    InverseEntry,
    Leaf,
    Over,
    dims_of,
    mentions,
    substitute,
)
from gibbsppl.algebra.functions import Expit, LogGammaP
from gibbsppl.algebra.log_gamma import loggamma
from gibbsppl.algebra.polynomials import multiplied_out

# Up to this many factors a ratio of gamma functions is written as their product.
LONGEST_PRODUCT = 8


def simplified(expr: Expr, targets: Collection[str], *, counts: bool = False) -> Expr:
    """The expression with powers of powers and ratios of gamma functions of the targets reduced.

    Of ``counts`` the ratios are kept: they are binomial coefficients, which families have.
    """
    if not mentions(expr, targets) or isinstance(expr, Leaf):
        return expr
    # (an exponential among factors is taken apart with them)
    whole = [a for a in expr.args if not (expr.is_Mul and isinstance(a, sp.exp))]
    parts = (
        simplified(a, targets, counts=counts)
        if a in whole
        else sp.exp(simplified(a.args[0], targets, counts=counts))
        for a in expr.args
    )
    reduced = expr.func(*parts)
    if isinstance(reduced, sp.Pow) and isinstance(reduced.base, sp.Pow):
        return _power_of_power(reduced, reduced.base)
    if isinstance(reduced, loggamma):
        return loggamma(_shorter(reduced.args[0]))
    if isinstance(reduced, sp.exp | sp.Mul):
        return _exponential_tail(_odds(reduced) if reduced.has(Expit) else reduced, targets)
    return _gamma_ratios(reduced, targets) if reduced.is_Add and not counts else reduced


def _shorter(expr: Expr) -> Expr:
    """A sum in which terms cancel, without them: ``k m + k (1 - m)`` is k."""
    expanded = multiplied_out(expr)
    return expanded if expanded.count_ops() < expr.count_ops() else expr


def _power_of_power(expr: sp.Pow, inner: sp.Pow) -> Expr:
    """``(b**p)**q`` as ``b**(p*q)``; not where p may be even and the sign of b be lost."""
    is_safe = inner.base.is_nonnegative or (inner.exp.is_number and not inner.exp.is_integer)
    return sp.Pow(inner.base, inner.exp * expr.exp) if is_safe else expr


def _odds(expr: Expr) -> Expr:
    """``expit(x) / (1 - expit(x))`` as ``exp(x)``, and powers of it."""
    powers = expr.as_powers_dict()
    for base, power in powers.items():
        if not isinstance(base, Expit):
            continue
        x = base.args[0]
        for other in (1 - base, Expit(-x)):
            if powers.get(other) == -power:
                return _odds(expr * other**power / base**power * sp.exp(power * x))
    return expr


def _exponential_tail(product: Expr, targets: Collection[str]) -> Expr:
    """``exp(a + log(1 - exp(-z)))`` as ``exp(a) - exp(a - z)``, the second written as LogGammaP.

    Times the other factors of a product, and where the targets are in one of the two alone: a
    difference of both would lose its digits where z is small.
    """
    factors = Mul.make_args(product)
    for one in (f for f in factors if isinstance(f, sp.exp)):
        terms = Add.make_args(one.args[0])
        tails = [t for t in terms if isinstance(t, LogGammaP) and t.args[0] == 1]
        if len(tails) != 1:
            continue
        rest = Add(*(t for t in terms if t not in tails))
        others = Mul(*(f for f in factors if f != one))
        split = [others * sp.exp(e) for e in (rest, rest - tails[0].args[1])]
        if not all(mentions(e, targets) for e in split):
            return sp.sympify(split[0] - split[1])
    return product


def _gamma_ratios(expr: Expr, targets: Collection[str]) -> Expr:
    """``loggamma(z + n) - loggamma(z)`` as ``log(z) + ... + log(z + n - 1)``."""
    found = [
        (term, *term.as_independent(loggamma, as_Add=False))
        for term in expr.args
        if mentions(term, targets) and term.has(loggamma)
    ]
    for (one, c, above), (other, d, below) in permutations(found, 2):
        if not (isinstance(above, loggamma) and isinstance(below, loggamma)) or c != -d:
            continue
        gap = multiplied_out(above.args[0] - below.args[0])
        if gap.is_Integer and 0 < gap <= LONGEST_PRODUCT:
            logs = Add(*(sp.log(below.args[0] + i) for i in range(int(gap))))
            return _gamma_ratios(sp.sympify(expr - one - other + c * logs), targets)
    return expr


def without_inverses(expr: Expr) -> Expr:
    """The expression without sums of a symmetric matrix times its inverse, which is the identity.

    >>> from gibbsppl.algebra.copies import primed
    >>> from gibbsppl.algebra.expressions import Array
    >>> d, e, A, x = Dim("d"), Dim("e"), Array("A"), Array("x")
    >>> inverse = InverseEntry(A[d, primed(d)], d, primed(d), d, e)
    >>> without_inverses(Over(Over(A[d, primed(d)] * x[primed(d)], primed(d)) * inverse, d))
    x[e]
    """
    if not expr.has(InverseEntry) or isinstance(expr, InverseEntry):
        return expr
    if not isinstance(expr, Over):
        return expr.func(*(without_inverses(a) if isinstance(a, sp.Expr) else a for a in expr.args))
    factors, sums = _opened_sums(expr, dims_of(expr))
    while (found := _cancelled(factors, sums)) is not None:
        factors, sums = found
    value = sp.Mul(*factors)
    for dim, bounds in reversed(sums.items()):
        value = Over(value, dim, *bounds)
    return value


_Sums = dict[Dim, tuple[Expr, ...]]


def _opened_sums(expr: Over, used: set[Dim]) -> tuple[list[Expr], _Sums]:
    """The factors under nested sums, and the dims summed over with their bounds."""
    (dim,) = expr.bound
    own = copy_of(dim, used) if dim in used else dim
    used.add(own)
    sums: _Sums = {own: expr.args[2:]}
    factors: list[Expr] = []
    for factor in sp.Mul.make_args(substitute(expr.body, {dim: own})):
        if isinstance(factor, Over):
            inner, further = _opened_sums(factor, used)
            factors += inner
            sums |= further
        else:
            factors.append(factor)
    return factors, sums


def _cancelled(factors: list[Expr], sums: _Sums) -> tuple[list[Expr], _Sums] | None:
    """The product without a pair of matrix and inverse under a common sum; None without a pair."""
    inverses = [f for f in factors if isinstance(f, InverseEntry)]
    for inverse, other in product(inverses, factors):
        entries = _entries(inverse, other)
        rest = [f for f in factors if f not in (inverse, other)]
        for (i, j), (x, y) in product(permutations(inverse.args[3:]), entries):
            if i != x or i not in sums or any(i in dims_of(f) for f in rest):
                continue
            left = {d: b for d, b in sums.items() if d != i}
            if j == y:
                return rest, left
            gone, kept = (y, j) if y in left else (j, y)
            if isinstance(gone, Dim) and gone in left:
                del left[gone]
                return [substitute(f, {gone: kept}) for f in rest], left
    return None


def _entries(inverse: InverseEntry, other: Expr) -> list[tuple[Expr, Expr]]:
    """The indices (i, j) and (j, i) of an entry of the inverted matrix; none for others."""
    body, matrix = inverse.body, inverse.bound
    if not isinstance(body, Leaf) or not isinstance(other, Leaf) or body.array != other.array:
        return []
    pairs = list(zip(body.indices, other.indices, strict=True))
    at = tuple(o for b, o in pairs if b in matrix)
    same = all(b == o for b, o in pairs if b not in matrix)
    return [at, at[::-1]] if same and len(at) == 2 else []
