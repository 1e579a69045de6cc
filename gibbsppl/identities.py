"""Identities that a log density is simplified by before it is split: what cancels is not seen.

They are taken where both sides exist; the ratio check of every derived conditional guards them.

>>> from gibbsppl.expressions import Array
>>> x, w = (Array(n, positive=True)[()] for n in ("x", "w"))
>>> v = Array("v")[()]
>>> simplified(((x * w) ** (-1 / v)) ** (-v), {"x"})
w*x
>>> simplified(3 * sp.loggamma(w * x + 1) - 3 * sp.loggamma(w * x), {"x"})
3*log(w*x)
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import permutations

import sympy as sp
from sympy import Add

from gibbsppl.expressions import Expit, Expr, Leaf, LogGammaP, mentions

# Up to this many factors a ratio of gamma functions is written as their product.
LONGEST_PRODUCT = 8


def simplified(expr: Expr, targets: Collection[str], *, counts: bool = False) -> Expr:
    """The expression with powers of powers and ratios of gamma functions of the targets reduced.

    Of ``counts`` the ratios are kept: they are binomial coefficients, which families have.
    """
    if not mentions(expr, targets) or isinstance(expr, Leaf):
        return expr
    reduced = expr.func(*(simplified(a, targets, counts=counts) for a in expr.args))
    if reduced.is_Pow and reduced.base.is_Pow:
        return _power_of_power(reduced)
    if isinstance(reduced, sp.loggamma):
        return sp.loggamma(_shorter(reduced.args[0]))
    if isinstance(reduced, sp.exp):
        return _exponential_tail(reduced)
    if reduced.is_Mul and reduced.has(Expit):
        return _odds(reduced)
    return _gamma_ratios(reduced, targets) if reduced.is_Add and not counts else reduced


def _shorter(expr: Expr) -> Expr:
    """A sum in which terms cancel, without them: ``k m + k (1 - m)`` is k."""
    expanded = sp.expand(expr)
    return expanded if expanded.count_ops() < expr.count_ops() else expr


def _power_of_power(expr: Expr) -> Expr:
    """``(b**p)**q`` as ``b**(p*q)``; not where p may be even and the sign of b be lost."""
    inner = expr.base
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


def _exponential_tail(expr: Expr) -> Expr:
    """``exp(a + log(1 - exp(-z)))`` as ``exp(a) - exp(a - z)``, the second written as LogGammaP."""
    terms = Add.make_args(expr.args[0])
    tails = [t for t in terms if isinstance(t, LogGammaP) and t.args[0] == 1]
    if len(tails) != 1:
        return expr
    rest = Add(*(t for t in terms if t not in tails))
    return sp.exp(rest) - sp.exp(rest - tails[0].args[1])


def _gamma_ratios(expr: Expr, targets: Collection[str]) -> Expr:
    """``loggamma(z + n) - loggamma(z)`` as ``log(z) + ... + log(z + n - 1)``."""
    found = [
        (term, *term.as_independent(sp.loggamma, as_Add=False))
        for term in expr.args
        if mentions(term, targets) and term.has(sp.loggamma)
    ]
    for (one, c, above), (other, d, below) in permutations(found, 2):
        if not (isinstance(above, sp.loggamma) and isinstance(below, sp.loggamma)) or c != -d:
            continue
        gap = sp.expand(above.args[0] - below.args[0])
        if gap.is_Integer and 0 < gap <= LONGEST_PRODUCT:
            logs = Add(*(sp.log(below.args[0] + i) for i in range(int(gap))))
            return _gamma_ratios(sp.sympify(expr - one - other + c * logs), targets)
    return expr
