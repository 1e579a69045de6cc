"""The sign of a rational function, from the signs of the coefficients of its polynomials."""

from __future__ import annotations

import sympy as sp
from sympy import Add, Mul

from gibbsppl.algebra.expressions import Expr
from gibbsppl.algebra.polynomials import MOST_TERMS, expanded_size, factored, multiplied_out
from gibbsppl.analysis.bounds.intervals import NONPOSITIVE, Sign
from gibbsppl.analysis.signs.samples import signs_taken


def sign_by_coefficients(expr: Expr) -> Sign:
    """The sign of a rational function of symbols that are positive or real, from its coefficients.

    >>> a, b = sp.Symbol("a", positive=True), sp.Symbol("b", real=True)
    >>> sign_by_coefficients(1 / a - 1 / (a + b**2)), sign_by_coefficients(a - b)
    ('nonnegative', 'unknown')
    """
    together = sp.together(expr)
    found = _sign_of_product(together)
    # To factor costs most: a product of squares is worth it, what takes both signs is not.
    is_large = expanded_size(together) > MOST_TERMS
    if found != "unknown" or is_large or len(signs_taken(together)) > 1:
        return found
    return _sign_of_product(factored(together))


def is_never_positive(expr: Expr) -> bool:
    """Whether a rational function is shown to be at most zero."""
    return 1 not in signs_taken(expr) and sign_by_coefficients(expr) in NONPOSITIVE


def _sign_of_product(expr: Expr) -> Sign:
    signs = [_sign_of_factor(f) for f in Mul.make_args(expr)]
    if "zero" in signs:
        return "zero"
    if "unknown" in signs:
        return "unknown"
    is_strict = all(s in ("positive", "negative") for s in signs)
    if sum(s in NONPOSITIVE for s in signs) % 2:
        return "negative" if is_strict else "nonpositive"
    return "positive" if is_strict else "nonnegative"


def _sign_of_factor(factor: Expr) -> Sign:
    base, power = factor.as_base_exp()
    if not power.is_Integer:
        return "positive" if factor.is_positive else "unknown"
    sign = _sign_of_polynomial(base)
    if power % 2 == 0 and base.is_real:
        return "positive" if sign in ("positive", "negative") else "nonnegative"
    return sign


def _sign_of_polynomial(expr: Expr) -> Sign:
    """The common sign of all monomials; strict if that of any monomial is strict."""
    if expanded_size(expr) > MOST_TERMS:
        return "unknown"
    signs = {_sign_of_monomial(t) for t in Add.make_args(multiplied_out(expr))}
    if signs == {"zero"}:
        return "zero"
    if signs <= {"positive", "nonnegative"}:
        return "positive" if "positive" in signs else "nonnegative"
    if signs <= {"negative", "nonpositive"}:
        return "negative" if "negative" in signs else "nonpositive"
    return "unknown"


def _sign_of_monomial(term: Expr) -> Sign:
    number, rest = term.as_coeff_Mul()
    powers = [f.as_base_exp() for f in Mul.make_args(rest)]
    if number == 0:
        return "zero"
    if not all(b.is_positive or (b.is_real and p.is_even) for b, p in powers):
        return "unknown"
    if all(b.is_positive for b, _ in powers):
        return "positive" if number > 0 else "negative"
    return "nonnegative" if number > 0 else "nonpositive"
