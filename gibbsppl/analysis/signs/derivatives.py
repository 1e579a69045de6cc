"""The sign of the second derivative of a curve: elementary functions, loggamma and what is free.

Comes in: an expression that depends on a variable through one place. Goes out: a sign, if it is
shown whatever the values of the other parts, each within its interval.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import permutations

import sympy as sp
from sympy import Add, Mul, Pow, exp, log

from gibbsppl.algebra.expressions import Expr
from gibbsppl.algebra.intervals import INF, Interval
from gibbsppl.algebra.log_gamma import loggamma
from gibbsppl.algebra.polynomials import MOST_KEPT, MOST_TERMS, expanded_size, multiplied_out
from gibbsppl.analysis.bounds.exact import interval_of
from gibbsppl.analysis.bounds.intervals import NONNEGATIVE, Sign
from gibbsppl.analysis.bounds.of_arrays import Bounds
from gibbsppl.analysis.signs.coefficients import is_never_positive, sign_by_coefficients
from gibbsppl.analysis.signs.samples import signs_taken

# Second derivatives with more symbols take too long to factor.
MOST_SYMBOLS = 5


def sign_of_second_derivative(expr: Expr, place: Expr, bounds: Bounds) -> Sign:
    """The sign of the second derivative of an expression that depends on ``place``, within bounds.

    Parts that are free of the place keep their intervals, but lose their mutual dependence.

    >>> from gibbsppl.algebra.expressions import Array
    >>> a = Array("a", positive=True)[()]
    >>> sign_of_second_derivative(a * log(a) - loggamma(a), a, {}.get)
    'nonpositive'
    """
    curve, names = _curve_of(expr, place)
    if curve is None:
        return "unknown"
    return _sign_of_curve(curve, tuple((n, interval_of(p, bounds)) for p, n in names))


@lru_cache(maxsize=MOST_KEPT)
def _curve_of(expr: Expr, place: Expr) -> tuple[Expr | None, tuple[tuple[Expr, Expr], ...]]:
    """The expression as a curve, with the names of the place, first, and of parts."""
    t = _name(0)
    parts: dict[Expr, Expr] = {}
    curve = _with_parts_named(expr, place, t, parts)
    return curve, ((place, t), *parts.items())


@lru_cache(maxsize=MOST_KEPT)
def _sign_of_curve(curve: Expr, intervals: tuple[tuple[Expr, Interval], ...]) -> Sign:
    """The sign of the second derivative of a curve in the first name, each in its interval.

    Worked out once: the search for rewrites asks for the same curve in many graphs.
    """
    t = intervals[0][0]
    inside = {name: _any_value_of(interval) for name, interval in intervals}
    second = _with_functions_named(slope(slope(curve, t), t).xreplace(inside))
    if len(second.free_symbols) > MOST_SYMBOLS or expanded_size(second) > MOST_TERMS:
        return "unknown"
    if not _is_smooth(curve, t, inside):
        return "unknown"
    taken = signs_taken(second)
    if 1 not in taken and _is_at_most_zero(second):
        return "nonpositive"
    return "nonnegative" if -1 not in taken and _is_at_most_zero(-second) else "unknown"


@lru_cache(maxsize=MOST_KEPT)
def _name(number: int) -> Expr:
    """The name of a part of a curve, by number, so that equal curves are worked out once."""
    return sp.Dummy(f"t{number}", real=True)


def _with_parts_named(
    expr: Expr, place: Expr, t: Expr, parts: dict[Expr, Expr]
) -> Expr | None:
    """The expression with ``t`` for the place and each largest part free of it named.

    None if it is not elementary, which is seen before anything is written anew.
    """
    if expr.is_Rational or expr == place:
        return t if expr == place else expr
    if not expr.has(place):
        return parts.setdefault(expr, _name(len(parts) + 1))
    if isinstance(expr, Pow) and not expr.exp.is_Rational:
        return None
    if not isinstance(expr, Add | Mul | Pow | exp | log | loggamma):
        return None
    held = [a for a in expr.args if a.is_Rational or a.has(place)]
    free = [a for a in expr.args if a not in held]
    if isinstance(expr, Add):
        held, free = [a for a in held if a.has(place)], [a for a in expr.args if not a.has(place)]
    named = [_with_parts_named(a, place, t, parts) for a in held]
    if free:
        named.append(_with_parts_named(expr.func(*free), place, t, parts))
    whole = [e for e in named if e is not None]
    return expr.func(*whole) if len(whole) == len(named) else None


def slope(expr: Expr, t: Expr) -> Expr:
    """The derivative of a curve in ``t``.

    SymPy's own simplifies and asks for assumptions on the way, which takes longer than all else.
    """
    if expr == t:
        return sp.S.One
    if not expr.has(t):
        return sp.S.Zero
    if isinstance(expr, Add):
        return Add(*(slope(a, t) for a in expr.args))
    if isinstance(expr, Mul):
        return Add(*(Mul(slope(a, t), *(b for b in expr.args if b is not a)) for a in expr.args))
    inner = expr.args[-1] if isinstance(expr, sp.polygamma) else expr.args[0]
    return _outer_slope(expr, inner) * slope(inner, t)


def _outer_slope(expr: Expr, inner: Expr) -> Expr:
    """The derivative of a function in its argument."""
    match expr:
        case Pow():
            return expr.exp * inner ** (expr.exp - 1)
        case log():
            return 1 / inner
        case loggamma():
            return sp.polygamma(0, inner)
        case sp.polygamma():
            return sp.polygamma(expr.args[0] + 1, inner)
    return expr


def _any_value_of(interval: Interval) -> Expr:
    """An expression of one positive (or real) symbol that takes the values in an interval."""
    lower, upper = (
        sp.sympify(e) if isinstance(e, float) else sp.Rational(e) for e in interval
    )
    s = sp.Dummy("s", positive=True)
    if lower > -INF and upper < INF:
        return lower if lower == upper else (lower + upper * s) / (1 + s)
    if -INF < lower < INF:
        return lower + s
    return upper - s if -INF < upper < INF else sp.Dummy(real=True)


def _is_smooth(curve: Expr, t: Expr, inside: Mapping[Expr, Expr]) -> bool:
    """Whether a curve is defined on a whole interval, with no pole inside."""
    for part in curve.atoms(log, loggamma, Pow):
        argument, exponent = part.args if isinstance(part, Pow) else (part.args[0], sp.S.Zero)
        is_whole = exponent.is_Integer and exponent > 0
        if is_whole or not argument.has(t):
            continue
        if isinstance(part, log) and multiplied_out(slope(slope(argument, t), t)) == 0:
            continue  # (it is cut off where the log ends)
        named = _with_functions_named(argument.xreplace(inside))
        if sign_by_coefficients(named) != "positive":
            return False
    return True


def _with_functions_named(expr: Expr) -> Expr:
    """Exponentials as positive numbers, logs and digammas as real ones."""
    names: dict[Expr, Expr] = {e: sp.Dummy(positive=True) for e in expr.atoms(exp)}
    names |= {e: sp.Dummy(real=True) for e in expr.atoms(log)}
    names |= {e: sp.Dummy(real=True) for e in expr.atoms(sp.polygamma) if e.args[0] == 0}
    return expr.xreplace(names)


def _is_at_most_zero(second: Expr) -> bool:
    """Whether a second derivative, with trigammas in it, is shown to be at most zero.

    Trigamma decreases, and ``1/u + 1/(2 u**2) < trigamma(u) < 1/u + 1/u**2``.
    """
    trigammas = sorted(second.atoms(sp.polygamma), key=sp.default_sort_key)
    second = multiplied_out(second)
    rest = second.xreplace(dict.fromkeys(trigammas, sp.S.Zero))
    held = {p.args[1]: second.coeff(p) for p in trigammas}
    if any(c.has(sp.polygamma) for c in held.values()):
        return False
    linear = rest + Add(*(c * p for c, p in zip(held.values(), trigammas, strict=True)))
    if multiplied_out(second - linear) != 0:
        return False
    bound = rest
    for u, c in _paired(held).items():
        sign = sign_by_coefficients(c)
        if sign == "unknown":
            return False
        bound += c * (1 / u + (1 / u**2 if sign in NONNEGATIVE else 1 / u**2 / 2))
    return is_never_positive(bound)


def _paired(held: Mapping[Expr, Expr]) -> dict[Expr, Expr]:
    """The coefficients of trigammas after ``c trigamma(u) <= c trigamma(v)`` for u above v."""
    left = dict(held)
    for u, v in permutations(held, 2):
        if u not in left or v not in left:  # (each is taken with another one once)
            continue
        total = multiplied_out(left[u] + left[v])
        is_above = sign_by_coefficients(u - v) in NONNEGATIVE
        if is_above and sign_by_coefficients(left[u]) in NONNEGATIVE and is_never_positive(total):
            left[v] = total
            del left[u]
    return left
