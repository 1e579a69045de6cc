"""What it costs to multiply out an expression, asked before it is done.

Comes in: expressions. Goes out: how many terms they have at most. Products of sums grow with the
power of the number of sums: algebra on them is worth it only where they are small.

>>> x, y = sp.symbols("x y")
>>> expanded_size((1 + x) ** 3 * (x + y)), expanded_size(1 / (1 + x) + y)
(16, 3)
"""

from __future__ import annotations

import math
from functools import lru_cache

import sympy as sp

from gibbsppl.expressions import Expr

# What is larger is left as it is: factoring takes minutes from some hundreds of terms.
MOST_TERMS = 1000
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
    if of.is_Pow and of.exp.is_Integer:
        return int(min(expanded_size(of.base) ** min(abs(int(of.exp)), 64), MOST_TERMS + 1))
    return 1


@lru_cache(maxsize=MOST_KEPT)
def factored(of: Expr) -> Expr:
    """The sum as a product, but for exponentials and fractional powers: one variable each.

    ``1 - exp(-x)`` has no overflow, and ``1 + x**1.3`` is no polynomial in tenth roots of x.

    >>> x, y = sp.symbols("x y", positive=True)
    >>> factored(1 - y**2), factored(1 + x ** sp.Rational(13, 10))
    (-(y - 1)*(y + 1), x**(13/10) + 1)
    """
    held = of.atoms(sp.exp) | {
        p for p in of.atoms(sp.Pow) if p.exp.is_number and not p.exp.is_Integer
    }
    marks = {e: sp.Dummy("e", positive=True) for e in held}
    return sp.factor(of.xreplace(marks)).xreplace({mark: e for e, mark in marks.items()})
