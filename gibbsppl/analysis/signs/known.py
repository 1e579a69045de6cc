"""The interval and the sign of an expression, from the bounds of its leaves.

>>> from gibbsppl.algebra.expressions import Array
>>> p = Array("p")[()]
>>> interval_of(2 - p, {p: (0, 1)}.get), sign_of(2 - p, {p: (0, 1)}.get)
((Fraction(1, 1), Fraction(2, 1)), 'positive')
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import reduce
from itertools import product

import sympy as sp
from sympy import Add, Mul, Pow, oo

from gibbsppl.algebra.expressions import Array, Dim, Expr, Extreme, InverseEntry, Leaf, Over, Times
from gibbsppl.algebra.functions import (
    FADING,
    FUNCTIONS,
    INCREASING,
    INF,
    NEGATIVE,
    ONE,
    POSITIVE,
    UNIT,
    ZERO,
    Interval,
    Maximum,
    Minimum,
    Where,
)
from gibbsppl.algebra.log_gamma import loggamma
from gibbsppl.algebra.polynomials import multiplied_out
from gibbsppl.algebra.recursions import Earlier, Recursion
from gibbsppl.analysis.ends import Bound, Bounds
from gibbsppl.analysis.signs.intervals import (
    LINE,
    Sign,
    of_choice,
    of_integer_power,
    of_loggamma,
    of_repeated_product,
    plus,
    times,
    within,
)

# The intervals that a recursion may be shown to stay in, the narrowest first.
CLAIMS = (UNIT, POSITIVE, NEGATIVE)

# Expressions of more parts than this are not looked at where each is at one of its ends.
MOST_AT_CORNERS = 6


def sign_of(expr: Bound, bounds: Bounds) -> Sign:
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


def interval_of(expr: Bound, bounds: Bounds) -> Interval:
    """The smallest and the largest value that an expression is known to keep between."""
    expr = sp.sympify(expr)
    if expr.is_number and (found := _of_number(expr)) is not None:
        return found
    match expr:
        case Leaf():
            return _of_leaf(expr, bounds)
        case Dim():
            return POSITIVE
        case InverseEntry(args=(_, _, _, i, j)) if i == j:
            return POSITIVE  # (of a positive definite matrix)
        case Add():
            return _of_terms(expr, bounds)
        case Over():
            return _of_sum(interval_of(expr.body, bounds), expr.args[2:])
        case Extreme():
            return interval_of(expr.body, bounds)
        case Times():
            return of_repeated_product(interval_of(expr.body, bounds))
        case Pow():
            return _of_power(interval_of(expr.base, bounds), expr.exp, bounds)
        case Recursion():
            return _of_recursion(expr, bounds)
    return _of_function(expr, [interval_of(a, bounds) for a in expr.args])


def _of_function(expr: Expr, inner: list[Interval]) -> Interval:
    """The interval of a sum, a product or a function from those of its arguments."""
    match expr:
        case Mul():
            return reduce(times, inner)
        case Where():
            return of_choice(*inner)
        case Minimum():
            return min(a for a, _ in inner), min(b for _, b in inner)
        case Maximum():
            return max(a for a, _ in inner), max(b for _, b in inner)
        case sp.Abs():
            lower, upper = inner[0]
            return max(lower, -upper, ZERO), max(-lower, upper)
        case loggamma():
            return of_loggamma(inner[0])
        case _ if expr.func in FUNCTIONS:
            return within(FUNCTIONS[expr.func], inner[0])
    return LINE


def _of_number(expr: Expr) -> Interval | None:
    """A number as an interval: a fraction by itself, else the two floats around the number."""
    if expr in (oo, -oo):
        return (INF, INF) if expr == oo else (-INF, -INF)
    if isinstance(expr, sp.Rational):
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
    """The numeric bounds alone, infinite in place of expressions, to avoid circular reading."""

    def numeric(leaf: Leaf) -> tuple[Expr, Expr]:
        lower, upper = (sp.sympify(b) for b in bounds(leaf) or (-oo, oo))
        return lower if lower.is_number else -oo, upper if upper.is_number else oo

    return numeric


def _of_terms(expr: Expr, bounds: Bounds) -> Interval:
    """The interval of a sum, from its terms, narrowed by leaves whose bounds are expressions."""
    lower, upper = reduce(plus, _of_each(expr.args, bounds))
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


def _of_each(terms: tuple[Expr, ...], bounds: Bounds) -> Iterator[Interval]:
    """The intervals of terms; the difference of a rising function at two places is taken as one.

    >>> from gibbsppl.algebra.expressions import Array
    >>> a = Array("a")[()]
    >>> from gibbsppl.algebra.functions import Phi
    >>> list(_of_each((Phi(a + 1), -Phi(a)), {}.get))
    [(Fraction(0, 1), Fraction(1, 1))]
    """
    left = list(terms)
    while left:
        term = left.pop()
        other = next((o for o in left if _is_opposite(term, o)), None)
        if other is None:
            yield interval_of(term, bounds)
        else:
            left.remove(other)
            yield _of_difference(term, other, bounds)


def _is_opposite(term: Expr, other: Expr) -> bool:
    """Whether two terms are the difference of a rising function at two places."""
    (number, f), (opposite, g) = term.as_coeff_Mul(), other.as_coeff_Mul()
    return f.func in INCREASING and f.func == g.func and len(f.args) == 1 and number == -opposite


def _of_difference(term: Expr, other: Expr, bounds: Bounds) -> Interval:
    number, high = term.as_coeff_Mul()
    _, low = other.as_coeff_Mul()
    rise = interval_of(number * (high.args[0] - low.args[0]), bounds)
    lower, upper = plus(interval_of(term, bounds), interval_of(other, bounds))
    return (max(lower, ZERO) if rise[0] >= 0 else lower), (
        min(upper, ZERO) if rise[1] <= 0 else upper
    )


def _of_recursion(expr: Recursion, bounds: Bounds) -> Interval:
    """The first interval shown by induction: all steps stay in it if their arguments do."""
    named = {e: Leaf(Array(e.own.name), *e.indices) for e in expr.system.atoms(Earlier)}
    values = [s.value.xreplace(named) for s in expr.system.args]
    own = set(named.values())
    for lower, upper in CLAIMS:

        def claimed(leaf: Leaf, ends: Interval = (lower, upper)) -> tuple[Bound, Bound] | None:
            return ends if leaf in own else bounds(leaf)

        if all(_stays_within(v, (lower, upper), claimed) for v in values):
            return lower, upper
    return LINE


def _stays_within(expr: Expr, ends: Interval, bounds: Bounds) -> bool:
    """Whether a value stays between two ends, by the rules for its parts or at their ends."""
    lower, upper = interval_of(expr, bounds)
    if lower >= ends[0] and upper <= ends[1]:
        return True
    found = at_corners(multiplied_out(expr), bounds)
    return found is not None and all(bool(ends[0] <= v) and bool(v <= ends[1]) for v in found)


def at_corners(expr: Expr, bounds: Bounds) -> list[Expr] | None:
    """The values of a multilinear expression at all ends of its parts: the range is between them.

    >>> from gibbsppl.algebra.expressions import Array
    >>> from gibbsppl.algebra.functions import Expit
    >>> p, z = Array("p")[()], Array("z")[()]
    >>> at_corners(p * z + Expit(p) * (1 - z), {p: (0, 1), z: (0, 1)}.get)
    [1/2, 0, 1/2, 1, 1, 0, 1, 1]
    """
    names = {part: sp.Dummy() for part in sorted(_parts(expr), key=sp.default_sort_key)}
    if not 0 < len(names) <= MOST_AT_CORNERS:
        return None
    ends = [interval_of(part, bounds) for part in names]
    named = expr.xreplace(names)
    polynomial = named.as_poly(*names.values())
    is_linear = polynomial is not None and max(polynomial.degree_list()) <= 1
    if not is_linear or any(math.isinf(b) for e in ends for b in e):
        return None
    corners = product(*([sp.Rational(b) for b in e] for e in ends))
    return [named.xreplace(dict(zip(names.values(), at, strict=True))) for at in corners]


def _parts(expr: Expr) -> set[Expr]:
    """The terms and factors of sums and products."""
    if expr.is_Add or expr.is_Mul:
        return set().union(*map(_parts, expr.args))
    return set() if expr.is_number else {expr}


def _of_sum(body: Interval, limits: tuple[Expr, ...]) -> Interval:
    """A sum of some number of values, which may be none."""
    if limits:
        count = Fraction(max(int(limits[1] - limits[0]), 0))
        return times(body, (count, count))
    return times(body, POSITIVE)


def _of_power(base: Interval, exponent: Expr, bounds: Bounds) -> Interval:
    if exponent.is_Integer:
        return of_integer_power(base, int(exponent))
    if base[0] < 0:
        return POSITIVE if exponent.is_Rational else LINE
    # The power is monotone in its base, and 1 at 1.
    lower, upper = interval_of(exponent, bounds)
    above = (base[0] >= 1 and lower >= 0) or (base[1] <= 1 and upper <= 0)
    below = (base[0] >= 1 and upper <= 0) or (base[1] <= 1 and lower >= 0)
    return (ONE if above else ZERO), (ONE if below else INF)


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
        case Over():
            body = interval_of(expr.body, bounds)
            one_sign = body[0] >= 0 or body[1] <= 0
            return one_sign and _is_never_zero(expr.body, bounds)  # (no dim is empty)
    return expr.func in FADING
