"""The interval and the sign of an expression, from the bounds of its leaves.

>>> from gibbsppl.algebra.expressions import Array
>>> p = Array("p")[()]
>>> interval_of(2 - p, {p: (0, 1)}.get), sign_of(2 - p, {p: (0, 1)}.get)
((Fraction(1, 1), Fraction(2, 1)), 'positive')
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import sympy as sp
from sympy import Add, Mul, Pow, oo

from gibbsppl.algebra.expressions import (
    Array,
    Binder,
    Dim,
    Expr,
    Extreme,
    InverseEntry,
    Leaf,
    Over,
    Size,
    Times,
)
from gibbsppl.algebra.functions import FADING, FUNCTIONS, Where
from gibbsppl.algebra.intervals import (
    ABOVE_ZERO,
    BELOW_ZERO,
    INF,
    ONE,
    ZERO,
    ZERO_TO_ONE,
    End,
    Interval,
)
from gibbsppl.algebra.log_gamma import loggamma
from gibbsppl.algebra.polynomials import multiplied_out
from gibbsppl.algebra.recursions import Earlier, Recursion
from gibbsppl.analysis.bounds.arithmetic import Arithmetic
from gibbsppl.analysis.bounds.intervals import (
    LINE,
    Sign,
    of_integer_power,
    of_loggamma,
    of_repeated_product,
    plus,
    times,
)
from gibbsppl.analysis.bounds.of_arrays import Bound, Bounds

# The intervals that a recursion may be shown to stay in, the narrowest first.
CLAIMS = (ZERO_TO_ONE, ABOVE_ZERO, BELOW_ZERO)

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
    return _Exact(bounds).of(sp.sympify(expr))


class _Exact(Arithmetic[End]):
    """Ends that are fractions, or infinite, for all elements of an array."""

    __slots__ = ("bounds",)

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds

    def known(self, expr: Expr) -> Interval | None:
        """A number, a position, or a size."""
        if isinstance(expr, Dim):
            return ABOVE_ZERO
        if isinstance(expr, Size):
            return ONE, INF
        return _of_number(expr) if expr.is_number else None

    def of_leaf(self, leaf: Leaf) -> Interval:
        """The bounds of an array; those that are expressions may have numbers as their ends."""
        lower, upper = self.bounds(leaf) or (-oo, oo)
        numbers = _numeric(self.bounds)
        known = interval_of(lower, numbers)[0], interval_of(upper, numbers)[1]
        return (max(known[0], ZERO), known[1]) if leaf.is_nonnegative else known

    def of_sum(self, expr: Expr) -> Interval:
        """A sum, from its terms, narrowed by leaves whose bounds are expressions."""
        lower, upper = Arithmetic.of_sum(self, expr)
        numbers = _numeric(self.bounds)
        for term in expr.args:
            number, leaf = term.as_coeff_Mul()
            ends = tuple(map(sp.sympify, self.bounds(leaf) or ())) if isinstance(leaf, Leaf) else ()
            if all(e.is_number for e in ends):
                continue
            first, last = ((expr - term + number * e) for e in (ends if number > 0 else ends[::-1]))
            lower = max(lower, interval_of(first, numbers)[0])
            upper = min(upper, interval_of(last, numbers)[1])
        return lower, upper

    def of_binder(self, expr: Binder) -> Interval:
        """A sum, a product or an extreme of values, a diagonal entry, or a recursion."""
        match expr:
            case InverseEntry(args=(_, _, _, i, j)) if i == j:
                return ABOVE_ZERO  # (of a positive definite matrix)
            case Over():
                return _of_sum(self.of(expr.body), expr.args[2:])
            case Extreme():
                return self.of(expr.body)
            case Times():
                return of_repeated_product(self.of(expr.body))
            case Recursion():
                return _of_recursion(expr, self.bounds)
        return LINE

    def of_power(self, base: Expr, exponent: Expr) -> Interval:
        """A power, monotone in its base, and 1 at 1."""
        own = self.of(base)
        if exponent.is_Integer:
            return of_integer_power(own, int(exponent))
        if own[0] < 0:
            return ABOVE_ZERO if exponent.is_Rational else LINE
        lower, upper = self.of(exponent)
        above = (own[0] >= 1 and lower >= 0) or (own[1] <= 1 and upper <= 0)
        below = (own[0] >= 1 and upper <= 0) or (own[1] <= 1 and lower >= 0)
        return (ONE if above else ZERO), (ONE if below else INF)

    def of_function(self, expr: Expr) -> Interval:
        """A value of a function of the language."""
        if isinstance(expr, loggamma):
            return of_loggamma(self.of(expr.args[0]))
        row = FUNCTIONS.get(expr.func)
        return LINE if row is None else self.within(row, self.of(expr.args[0]))

    def plus(self, a: Interval, b: Interval) -> Interval:
        """The sum of two values."""
        return plus(a, b)

    def times(self, a: Interval, b: Interval) -> Interval:
        """The product of two values."""
        return times(a, b)

    def least(self, values: Sequence[End]) -> End:
        """The smallest of some ends."""
        return min(values)

    def greatest(self, values: Sequence[End]) -> End:
        """The largest of some ends."""
        return max(values)

    def where(self, condition: object, yes: End, no: End) -> End:
        """One of two ends."""
        return yes if condition else no

    def number(self, value: End) -> End:
        """A number as an end."""
        return value


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


def _numeric(bounds: Bounds) -> Bounds:
    """The numeric bounds alone, infinite in place of expressions, to avoid circular reading."""

    def numeric(leaf: Leaf) -> tuple[Expr, Expr]:
        lower, upper = (sp.sympify(b) for b in bounds(leaf) or (-oo, oo))
        return lower if lower.is_number else -oo, upper if upper.is_number else oo

    return numeric


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
    return times(body, ABOVE_ZERO)


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
