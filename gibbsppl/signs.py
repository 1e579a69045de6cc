"""What is known of the sign and the size of an expression, whatever the values of its arrays.

Comes in: an expression, and for each leaf the bounds that its elements are known to keep to. Goes
out: an interval that holds the value, or a sign. Both may be wider than the truth, never narrower:
ends are exact fractions or infinite, and what no rule covers is the whole line.

>>> from gibbsppl.expressions import Array
>>> p, n = Array("p")[()], Array("n")[()]
>>> known = {p: (0, 1), n: (1, oo)}
>>> interval_of(1 - p, known.get)
(Fraction(0, 1), Fraction(1, 1))
>>> sign_of(n * (1 - p) + exp(p), known.get), sign_of(p - n * p, known.get)
('positive', 'unknown')
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any, Literal

import sympy as sp
from sympy import Add, Mul, Pow, exp, log, loggamma, oo

from gibbsppl.expressions import (
    INDICATORS,
    Dim,
    Expit,
    Expr,
    Leaf,
    LogBetaI,
    LogGammaP,
    LogGammaQ,
    LogMass,
    LogPhi,
    Maximum,
    Minimum,
    Over,
    Phi,
    Softplus,
    Times,
    Where,
)

Sign = Literal["positive", "nonnegative", "zero", "nonpositive", "negative", "unknown"]

# What is known of the elements of a leaf: two ends, which may be expressions, or nothing.
Bounds = Callable[[Leaf], tuple[Any, Any] | None]

End = Fraction | float  # a float is infinite
Interval = tuple[End, End]

NONNEGATIVE = ("positive", "nonnegative", "zero")
NONPOSITIVE = ("negative", "nonpositive", "zero")

ZERO, ONE = Fraction(0), Fraction(1)
INF = math.inf
LINE: Interval = (-INF, INF)
POSITIVE: Interval = (ZERO, INF)
NEGATIVE: Interval = (-INF, ZERO)
UNIT: Interval = (ZERO, ONE)

# Beyond this exponent only the sign of a power is worked out.
LARGEST_POWER = 64

# Second derivatives with more symbols take too long to factor.
MOST_SYMBOLS = 5


@dataclass(frozen=True, slots=True)
class Values:
    """The values of a function; of an increasing one also its value at one point."""

    between: Interval
    point: tuple[Fraction, Fraction] | None = None


RANGES: Mapping[Any, Values] = {
    exp: Values(POSITIVE, (ZERO, ONE)),
    log: Values(LINE, (ONE, ZERO)),
    sp.atan: Values((Fraction(-8, 5), Fraction(8, 5)), (ZERO, ZERO)),
    sp.sin: Values((-ONE, ONE)),
    sp.cos: Values((-ONE, ONE)),
    Expit: Values(UNIT, (ZERO, ONE / 2)),
    Phi: Values(UNIT, (ZERO, ONE / 2)),
    Softplus: Values(POSITIVE),
    LogPhi: Values(NEGATIVE),
    LogGammaP: Values(NEGATIVE),
    LogGammaQ: Values(NEGATIVE),
    LogBetaI: Values(NEGATIVE),
    LogMass: Values(NEGATIVE),
    **dict.fromkeys(INDICATORS, Values(UNIT)),
}

# Functions that come as near to zero as one likes, but are never zero.
NEVER_ZERO = (exp, Expit, Phi, Softplus, LogPhi)


def sign_of(expr: Any, bounds: Bounds) -> Sign:
    """The sign that an expression has for all values within the bounds."""
    expr = sp.sympify(expr)
    lower, upper = interval_of(expr, bounds)
    strict = _is_never_zero(expr, bounds)
    if lower == upper == 0:
        return "zero"
    if lower >= 0:
        return "positive" if strict else "nonnegative"
    if upper <= 0:
        return "negative" if strict else "nonpositive"
    return "unknown"


def interval_of(expr: Any, bounds: Bounds) -> Interval:
    """The smallest and the largest value that an expression is known to keep between."""
    expr = sp.sympify(expr)
    if expr.is_number and (found := _of_number(expr)) is not None:
        return found
    match expr:
        case Leaf():
            return _of_leaf(expr, bounds)
        case Dim():
            return POSITIVE
        case Add():
            return _of_terms(expr, bounds)
        case Over():
            return _of_sum(interval_of(expr.body, bounds), expr.args[2:])
        case Times():
            return _of_repeated_product(interval_of(expr.body, bounds))
        case Pow():
            return _of_power(interval_of(expr.base, bounds), expr.exp, bounds)
    return _of_function(expr, [interval_of(a, bounds) for a in expr.args])


def _of_function(expr: Expr, inner: list[Interval]) -> Interval:
    """The interval of a sum, a product or a function from those of its arguments."""
    match expr:
        case Mul():
            return reduce(_times, inner)
        case Where():
            return _of_choice(*inner)
        case Minimum():
            return min(a for a, _ in inner), min(b for _, b in inner)
        case Maximum():
            return max(a for a, _ in inner), max(b for _, b in inner)
        case sp.Abs():
            lower, upper = inner[0]
            return max(lower, -upper, ZERO), max(-lower, upper)
        case loggamma():
            return _of_loggamma(inner[0])
        case _ if expr.func in RANGES:
            return _within(RANGES[expr.func], inner[0])
    return LINE


def _of_number(expr: Expr) -> Interval | None:
    """A number as an interval: itself if it is a fraction, else the two floats around it."""
    if expr in (oo, -oo):
        return (INF, INF) if expr == oo else (-INF, -INF)
    if expr.is_Rational:
        return (Fraction(int(expr.p), int(expr.q)),) * 2
    value = expr.evalf(20)
    if not value.is_Float:
        return LINE if expr.is_Number else None
    near = float(value)
    if not math.isfinite(near):
        return LINE
    around = math.nextafter(near, -INF), math.nextafter(near, INF)
    return LINE if INF in map(abs, around) else (Fraction(around[0]), Fraction(around[1]))


def _of_leaf(leaf: Leaf, bounds: Bounds) -> Interval:
    lower, upper = bounds(leaf) or (-oo, oo)
    numbers = _numeric(bounds)
    known = interval_of(lower, numbers)[0], interval_of(upper, numbers)[1]
    return (max(known[0], ZERO), known[1]) if leaf.is_nonnegative else known


def _numeric(bounds: Bounds) -> Bounds:
    """The bounds without those that are expressions, so that no bound is read in a circle."""

    def numeric(leaf: Leaf) -> tuple[Any, Any]:
        lower, upper = (sp.sympify(b) for b in bounds(leaf) or (-oo, oo))
        return lower if lower.is_number else -oo, upper if upper.is_number else oo

    return numeric


def _of_terms(expr: Expr, bounds: Bounds) -> Interval:
    """A sum, from its terms, and with a leaf at the end that it has in terms of others."""
    lower, upper = reduce(_plus, (interval_of(a, bounds) for a in expr.args))
    numbers = _numeric(bounds)
    for term in expr.args:
        number, leaf = term.as_coeff_Mul()
        ends = tuple(map(sp.sympify, bounds(leaf) or ())) if isinstance(leaf, Leaf) else ()
        if all(e.is_number for e in ends):
            continue
        first, last = ((expr - term + number * e) for e in (ends if number > 0 else ends[::-1]))
        lower = max(lower, interval_of(first, numbers)[0])
        upper = min(upper, interval_of(last, numbers)[1])
    return lower, upper


def _of_sum(body: Interval, limits: tuple[Expr, ...]) -> Interval:
    """A sum of some number of values, which may be none."""
    if limits:
        count = Fraction(max(int(limits[1] - limits[0]), 0))
        return _times(body, (count, count))
    return _times(body, POSITIVE)


def _of_repeated_product(body: Interval) -> Interval:
    lower, upper = body
    if lower < 0:
        return LINE
    return (ONE if lower >= 1 else ZERO), (ONE if upper <= 1 else INF)


def _of_power(base: Interval, exponent: Expr, bounds: Bounds) -> Interval:
    if exponent.is_Integer:
        return _of_integer_power(base, int(exponent))
    if base[0] < 0:
        return POSITIVE if exponent.is_Rational else LINE
    # The power is monotone in its base, and 1 at 1.
    lower, upper = interval_of(exponent, bounds)
    above = (base[0] >= 1 and lower >= 0) or (base[1] <= 1 and upper <= 0)
    below = (base[0] >= 1 and upper <= 0) or (base[1] <= 1 and lower >= 0)
    return (ONE if above else ZERO), (ONE if below else INF)


def _of_integer_power(base: Interval, n: int) -> Interval:
    if n < 0:
        return _reciprocal(_of_integer_power(base, -n), even=n % 2 == 0)
    if n > LARGEST_POWER:
        return POSITIVE if n % 2 == 0 or base[0] >= 0 else (NEGATIVE if base[1] <= 0 else LINE)
    ends = sorted((_raised(base[0], n), _raised(base[1], n)))
    return (ZERO, ends[1]) if n % 2 == 0 and base[0] < 0 < base[1] else (ends[0], ends[1])


def _raised(end: End, n: int) -> End:
    return end**n if n else ONE


def _reciprocal(interval: Interval, *, even: bool) -> Interval:
    lower, upper = interval
    if lower >= 0:
        return _inverse(upper, INF), _inverse(lower, INF)
    if upper <= 0:
        return _inverse(upper, -INF), _inverse(lower, -INF)
    return POSITIVE if even else LINE


def _inverse(end: End, at_zero: float) -> End:
    return at_zero if end == 0 else (ZERO if math.isinf(end) else 1 / end)


def _plus(a: Interval, b: Interval) -> Interval:
    lower = -INF if -INF in (a[0], b[0]) else a[0] + b[0]
    upper = INF if INF in (a[1], b[1]) else a[1] + b[1]
    return lower, upper


def _times(a: Interval, b: Interval) -> Interval:
    ends = [ZERO if 0 in (s, t) else s * t for s in a for t in b]
    return min(ends), max(ends)


def _of_choice(condition: Interval, yes: Interval, no: Interval) -> Interval:
    if condition == (ONE, ONE):
        return yes
    return no if condition == (ZERO, ZERO) else (min(yes[0], no[0]), max(yes[1], no[1]))


def _of_loggamma(argument: Interval) -> Interval:
    """Convex with zeros at 1 and 2, and a minimum of -0.1215 between them."""
    lower, upper = argument
    if lower < 0:
        return LINE
    outside = lower >= 2 or upper <= 1
    return (ZERO if outside else Fraction(-1, 8)), (ZERO if lower >= 1 and upper <= 2 else INF)


def _within(row: Values, argument: Interval) -> Interval:
    lower, upper = row.between
    if row.point is None:
        return lower, upper
    at, value = row.point
    return (value if argument[0] >= at else lower), (value if argument[1] <= at else upper)


def _is_never_zero(expr: Expr, bounds: Bounds) -> bool:
    lower, upper = interval_of(expr, bounds)
    if lower > 0 or upper < 0:
        return True
    match expr:
        case Leaf():
            return bool(expr.is_positive)
        case Mul():
            return all(_is_never_zero(a, bounds) for a in expr.args)
        case Pow():
            return _is_never_zero(expr.base, bounds)
        case Add():
            ends = [interval_of(a, bounds) for a in expr.args]
            one_sign = all(e[0] >= 0 for e in ends) or all(e[1] <= 0 for e in ends)
            return one_sign and any(_is_never_zero(a, bounds) for a in expr.args)
        case Where():
            return all(_is_never_zero(a, bounds) for a in expr.args[1:])
    return expr.func in NEVER_ZERO


def sign_by_coefficients(expr: Expr) -> Sign:
    """The sign of a rational function of symbols that are positive or real, from its coefficients.

    >>> a, b = sp.Symbol("a", positive=True), sp.Symbol("b", real=True)
    >>> sign_by_coefficients(1 / a - 1 / (a + b**2)), sign_by_coefficients(a - b)
    ('nonnegative', 'unknown')
    """
    factors = Mul.make_args(sp.factor(sp.together(expr)))
    signs = [_sign_of_factor(f) for f in factors]
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
    """The sign that all monomials share; strict where one of them is."""
    signs = {_sign_of_monomial(t) for t in Add.make_args(sp.expand(expr))}
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


def sign_of_second_derivative(expr: Expr, place: Expr, bounds: Bounds) -> Sign:
    """The sign of the second derivative of an expression that depends on ``place``, within bounds.

    The parts that are free of the place keep their intervals, not what they have in common.

    >>> from gibbsppl.expressions import Array
    >>> a = Array("a", positive=True)[()]
    >>> sign_of_second_derivative(a * log(a) - loggamma(a), a, {}.get)
    'nonpositive'
    """
    t = sp.Dummy("t", real=True)
    parts: dict[Expr, Expr] = {}
    curve = _with_parts_named(expr.xreplace({place: t}), t, parts)
    if curve is None:
        return "unknown"
    inside = {t: _any_value_of(interval_of(place, bounds))}
    inside |= {name: _any_value_of(interval_of(p, bounds)) for p, name in parts.items()}
    if not _is_smooth(curve, t, inside):
        return "unknown"
    second = _with_functions_named(sp.diff(curve, t, 2).xreplace(inside))
    if len(second.free_symbols) > MOST_SYMBOLS:
        return "unknown"
    if _is_never_positive(second):
        return "nonpositive"
    return "nonnegative" if _is_never_positive(-second) else "unknown"


def _with_parts_named(expr: Expr, t: Expr, parts: dict[Expr, Expr]) -> Expr | None:
    """The expression with each largest part free of ``t`` named; None if it is not elementary."""
    if expr.is_Rational or expr == t:
        return expr
    if not expr.has(t):
        return parts.setdefault(expr, sp.Dummy(real=True))
    if isinstance(expr, Pow) and not expr.exp.is_Rational:
        return None
    if not isinstance(expr, Add | Mul | Pow | exp | log | loggamma):
        return None
    held = [a for a in expr.args if a.is_Rational or a.has(t)]
    free = [a for a in expr.args if a not in held]
    if isinstance(expr, Add):
        held, free = [a for a in held if a.has(t)], [a for a in expr.args if not a.has(t)]
    named = [_with_parts_named(a, t, parts) for a in held]
    if free:
        named.append(_with_parts_named(expr.func(*free), t, parts))
    return None if None in named else expr.func(*named)


def _any_value_of(interval: Interval) -> Expr:
    """An expression of one positive (or real) symbol that takes the values in an interval."""
    lower, upper = (e if isinstance(e, float) else sp.Rational(e) for e in interval)
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
        whole = exponent.is_Integer and exponent > 0
        cut_off = isinstance(part, log) and sp.expand(sp.diff(argument, t, 2)) == 0
        named = _with_functions_named(argument.xreplace(inside))
        is_inside = sign_by_coefficients(named) == "positive"
        if not (whole or cut_off or is_inside or not argument.has(t)):
            return False
    return True


def _with_functions_named(expr: Expr) -> Expr:
    """Exponentials as positive numbers, logs and digammas as real ones."""
    names = {e: sp.Dummy(positive=True) for e in expr.atoms(exp)}
    names |= {e: sp.Dummy(real=True) for e in expr.atoms(log)}
    names |= {e: sp.Dummy(real=True) for e in expr.atoms(sp.polygamma) if e.args[0] == 0}
    return expr.xreplace(names)


def _is_never_positive(second: Expr) -> bool:
    """Whether a second derivative, with trigammas in it, is shown to be at most zero.

    Trigamma decreases, and ``1/u + 1/(2 u**2) < trigamma(u) < 1/u + 1/u**2``.
    """
    trigammas = sorted(second.atoms(sp.polygamma), key=sp.default_sort_key)
    second = sp.expand(second)
    rest = second.xreplace(dict.fromkeys(trigammas, sp.S.Zero))
    held = {p.args[1]: second.coeff(p) for p in trigammas}
    if any(c.has(sp.polygamma) for c in held.values()):
        return False
    linear = rest + Add(*(c * p for c, p in zip(held.values(), trigammas, strict=True)))
    if sp.expand(second - linear) != 0:
        return False
    bound = rest
    for u, c in _paired(held).items():
        sign = sign_by_coefficients(c)
        if sign == "unknown":
            return False
        bound += c * (1 / u + (1 / u**2 if sign in NONNEGATIVE else 1 / u**2 / 2))
    return _is_not_positive(bound)


def _is_not_positive(expr: Expr) -> bool:
    return sign_by_coefficients(expr) in NONPOSITIVE


def _paired(held: Mapping[Expr, Expr]) -> dict[Expr, Expr]:
    """The coefficients of trigammas after ``c trigamma(u) <= c trigamma(v)`` for u above v."""
    left = dict(held)
    for u, v in ((u, v) for u in held for v in held if u != v):
        c, total = left.get(u, sp.S.Zero), sp.expand(left.get(u, 0) + left.get(v, 0))
        is_above = sign_by_coefficients(u - v) in NONNEGATIVE
        if is_above and sign_by_coefficients(c) in NONNEGATIVE and _is_not_positive(total):
            left[v] = total
            del left[u]
    return left
