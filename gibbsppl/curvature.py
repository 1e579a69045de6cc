"""Whether a log density is concave in an array, with the rules that show it.

Comes in: an expression, or the pieces of a conditional, the name of an array (all its elements vary
together) and what is known of the elements of all arrays. Goes out: a `Curvature`, which holds the
rule and the curvatures that it was applied to, or a `Certificate` with one for each term. No data
are read: what holds, holds for all values within the bounds. An expression is read where it is
defined: a log where its argument is positive.

>>> from gibbsppl.expressions import Array
>>> x, n, b, k = Array("x"), Array("n", positive=True)[()], Array("b"), Dim("k")
>>> print(curvature_of(-n * Softplus(Over(x[k] * b[k], k)), "b", {}.get))
-n*log(1 + exp(sum(b[k]*x[k], k)))  concave: a negative multiple of a convex function
  log(1 + exp(sum(b[k]*x[k], k)))   convex: a convex function of an affine one
    sum(b[k]*x[k], k)               affine: a sum over k
      b[k]*x[k]                     affine: a multiple of an affine function
        b[k]                        affine: an element of b
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Any, Literal

import sympy as sp
from sympy import Abs, Add, Mul, Pow, exp, log, loggamma

from gibbsppl.expressions import (
    Array,
    AtMost,
    Below,
    Binder,
    Dim,
    Equals,
    Expit,
    Expr,
    InverseEntry,
    Leaf,
    LogDet,
    LogGammaP,
    LogGammaQ,
    LogPhi,
    Maximum,
    Minimum,
    Over,
    Phi,
    Softplus,
    Times,
    Where,
    dims_of,
    mentions,
    root_of,
    substitute,
)
from gibbsppl.graph import PLAIN, Range
from gibbsppl.pieces import Piece
from gibbsppl.signs import (
    INF,
    NONNEGATIVE,
    NONPOSITIVE,
    Bounds,
    Sign,
    interval_of,
    sign_of,
    sign_of_second_derivative,
)

Kind = Literal["constant", "affine", "convex", "concave", "unknown"]
Monotone = Literal["increasing", "decreasing", "neither"]

# The kinds that are also of a kind.
CONCAVE = ("constant", "affine", "concave")
CONVEX = ("constant", "affine", "convex")
AFFINE = ("constant", "affine")

MIRRORED: Mapping[Kind, Kind] = {"convex": "concave", "concave": "convex"}
REVERSED: Mapping[Monotone, Monotone] = {"increasing": "decreasing", "decreasing": "increasing"}


@dataclass(frozen=True, slots=True)
class Curvature:
    """The curvature of an expression, the rule that shows it, and what the rule was applied to."""

    kind: Kind
    expression: Expr
    rule: str
    parts: tuple[Curvature, ...] = ()

    def __str__(self) -> str:
        return _in_columns(self._lines())

    def _lines(self, depth: int = 0) -> Iterator[tuple[str, str]]:
        yield "  " * depth + PLAIN.text(self.expression), f"{self.kind}: {self.rule}"
        for part in self.parts:
            if part.kind != "constant":
                yield from part._lines(depth + 1)  # noqa: SLF001  (of the same class)


@dataclass(frozen=True, slots=True)
class Certificate:
    """A proof that a log density is concave in an array: one curvature for each of its terms."""

    array: str
    terms: tuple[Curvature, ...]

    def __str__(self) -> str:
        return "\n".join(map(str, self.terms))


def _in_columns(lines: Iterable[tuple[str, str]]) -> str:
    lines = tuple(lines)
    width = max(len(left) for left, _ in lines)
    return "\n".join(f"{left:<{width}}  {right}" for left, right in lines)


@dataclass(frozen=True, slots=True)
class Atom:
    """A function of one argument that lies between two ends: how it bends and where it goes."""

    function: Any
    kind: Kind
    monotone: Monotone
    lower: Fraction | float = -INF
    upper: Fraction | float = INF


# The first row that decides is taken.
ATOMS = (
    Atom(exp, "convex", "increasing"),
    Atom(log, "concave", "increasing"),
    Atom(Softplus, "convex", "increasing"),
    Atom(LogPhi, "concave", "increasing"),
    Atom(Abs, "convex", "increasing", lower=0),
    Atom(Abs, "convex", "decreasing", upper=0),
    Atom(Abs, "convex", "neither"),
    Atom(loggamma, "convex", "increasing", lower=Fraction(3, 2)),
    Atom(loggamma, "convex", "decreasing", lower=0, upper=Fraction(7, 5)),
    Atom(loggamma, "convex", "neither", lower=0),
    Atom(Expit, "convex", "increasing", upper=0),
    Atom(Expit, "concave", "increasing", lower=0),
    Atom(Phi, "convex", "increasing", upper=0),
    Atom(Phi, "concave", "increasing", lower=0),
    Atom(sp.atan, "convex", "increasing", upper=0),
    Atom(sp.atan, "concave", "increasing", lower=0),
)

# The log of a distribution function or a tail on (0, oo), by what is known of its shape.
LOG_TAILS = (
    (LogGammaP, (0, INF), Atom(LogGammaP, "concave", "increasing", lower=0)),
    (LogGammaQ, (1, INF), Atom(LogGammaQ, "concave", "decreasing", lower=0)),
    (LogGammaQ, (0, 1), Atom(LogGammaQ, "convex", "decreasing", lower=0)),
)

# Powers of a nonnegative argument, by the interval of the exponent.
POWERS = (
    ((1, INF), Atom(Pow, "convex", "increasing", lower=0)),
    ((-INF, 0), Atom(Pow, "convex", "decreasing", lower=0)),
    ((0, 1), Atom(Pow, "concave", "increasing", lower=0)),
)


def curvature_of(
    expr: Any, array: str, bounds: Bounds, definite: Collection[str] = ()
) -> Curvature:
    """How an expression bends as all elements of an array vary together, where it is defined.

    ``definite`` names arrays whose last two axes are positive definite matrices.
    """
    return _Reader(array, bounds, frozenset(definite)).read(sp.sympify(expr))


@dataclass(frozen=True, slots=True)
class _Reader:
    """The rules, for one array and what is known of all."""

    array: str
    bounds: Bounds
    definite: frozenset[str]

    def read(self, expr: Expr) -> Curvature:
        """The curvature of an expression."""
        if not self.holds(expr):
            return Curvature("constant", expr, f"free of {self.array}")
        match expr:
            case Leaf():
                return self._leaf(expr)
            case Add():
                return self._sum(expr)
            case Mul():
                return self._product(expr)
            case Over():
                return self._over(expr)
            case Pow():
                return self._power(expr)
            case log():
                return self._log(expr)
            case Maximum() | Minimum():
                return self._extreme(expr)
            case LogGammaP() | LogGammaQ():
                return self._log_tail(expr)
            case Where():
                return self._choice(expr)
            case LogDet():
                return self._log_determinant(expr)
        return self._composed(expr, expr.args[0], [a for a in ATOMS if a.function == expr.func])

    def holds(self, expr: Expr) -> bool:
        """Whether an expression depends on the array."""
        return mentions(expr, (self.array,))

    def sign(self, expr: Expr) -> Sign:
        """The sign of an expression."""
        return sign_of(expr, self.bounds)

    def is_within(self, expr: Expr, lower: Any, upper: Any) -> bool:
        """Whether an expression is known to lie between two ends."""
        known = interval_of(expr, self.bounds)
        return bool(known[0] >= lower and known[1] <= upper)

    def _leaf(self, leaf: Leaf) -> Curvature:
        if any(map(self.holds, leaf.indices)):
            return Curvature("unknown", leaf, f"an index that depends on {self.array}")
        return Curvature("affine", leaf, f"an element of {self.array}")

    def _sum(self, expr: Expr) -> Curvature:
        parts = tuple(map(self.read, expr.args))
        kind = _joined(p.kind for p in parts)
        if kind != "unknown":
            return Curvature(kind, expr, f"a sum of {_plural(kind)}", parts)
        terms = self._terms(expr)
        return self._curved(expr, terms) or Curvature("unknown", expr, "a sum of several", parts)

    def _curved(self, expr: Expr, terms: tuple[Expr, ...]) -> Curvature | None:
        """A sum of terms that bend one way only together, if they are shown to."""
        if (parts := self._concave_parts(terms)) is not None:
            alone = len(parts) == 1 and parts[0].expression == expr
            joint = Curvature("concave", expr, "a sum of concave functions", parts)
            return parts[0] if alone else joint
        mirrored = self._concave_parts(tuple(-t for t in terms))
        if mirrored is None:
            return None
        return Curvature("convex", expr, "minus a sum of concave functions", mirrored)

    def _concave_parts(self, terms: tuple[Expr, ...]) -> tuple[Curvature, ...] | None:
        """Concave functions that add up to the terms."""
        found: list[Curvature] = []
        left = terms
        for rule in (self._arrangement, self._quadratic_form, self._curve):
            while (block := rule(left)) is not None:
                used, curvature = block
                found.append(curvature)
                left = tuple(t for t in left if t not in used)
        parts = (*found, *map(self.read, left))
        return parts if all(p.kind in CONCAVE for p in parts) else None

    def _terms(self, expr: Expr) -> tuple[Expr, ...]:
        """The terms of a sum, sums inside constant multiples and sums over dims taken apart."""
        if isinstance(expr, Add):
            return tuple(t for a in expr.args for t in self._terms(a))
        if isinstance(expr, Over):
            return tuple(Over(t, *expr.args[1:]) for t in self._terms(expr.body))
        held = [f for f in Mul.make_args(expr) if self.holds(f)]
        if isinstance(expr, Mul) and len(held) == 1:
            free = Mul(*(f for f in expr.args if f not in held))
            return tuple(free * t for t in self._terms(held[0]))
        return (expr,)

    def _product(self, expr: Expr) -> Curvature:
        held = [f for f in expr.args if self.holds(f)]
        free = Mul(*(f for f in expr.args if f not in held))
        if free != 1:
            return self._multiple(expr, self.sign(free), self.read(Mul(*held)))
        logs = [self._log_of_power(f) for f in held]
        if None not in logs:
            inner = self.read(Add(*logs))
            if inner.kind in CONVEX:
                return Curvature("convex", expr, "exp of what follows", (inner,))
        return self._by_curve(expr) or Curvature("unknown", expr, "a product")

    def _log_of_power(self, factor: Expr) -> Expr | None:
        """The exponent of a number raised to a power that holds the array."""
        if isinstance(factor, exp):
            return factor.args[0]
        if not isinstance(factor, Pow) or self.holds(factor.base):
            return None
        is_positive = self.sign(factor.base) in NONNEGATIVE
        return factor.exp * log(factor.base) if is_positive else None

    def _multiple(self, expr: Expr, sign: Sign, inner: Curvature) -> Curvature:
        if inner.kind == "affine":
            return Curvature("affine", expr, "a multiple of an affine function", (inner,))
        kind = inner.kind if sign in NONNEGATIVE else MIRRORED.get(inner.kind, "unknown")
        if sign == "unknown" or kind == "unknown":
            rule = f"a multiple of {sign} sign" if sign == "unknown" else "a multiple"
            return Curvature("unknown", expr, rule, (inner,))
        return Curvature(kind, expr, f"a {sign} multiple of a {inner.kind} function", (inner,))

    def _over(self, expr: Over) -> Curvature:
        if (square := self._square(expr)) is not None:
            return square
        body = self.read(expr.body)
        if body.kind != "unknown":
            return Curvature(body.kind, expr, f"a sum over {expr.bound[0]}", (body,))
        terms = self._terms(expr)
        found = self._curved(expr, terms) if len(terms) > 1 else None
        return found or Curvature("unknown", expr, f"a sum over {expr.bound[0]}", (body,))

    def _power(self, expr: Pow) -> Curvature:
        base, exponent = expr.base, expr.exp
        if self.holds(exponent):
            return self._raised_to(expr)
        lower, upper = interval_of(exponent, self.bounds)
        rows = [row for (a, b), row in POWERS if a <= lower and upper <= b]
        if exponent.is_Integer:
            rows += [_at_negatives(row, even=exponent.is_even) for row in rows]
        if exponent.is_Integer and exponent.is_even and exponent > 0:
            rows.append(Atom(Pow, "convex", "neither"))
        return self._composed(expr, base, rows)

    def _raised_to(self, expr: Pow) -> Curvature:
        """A number raised to a power that holds the array."""
        if self._log_of_power(expr) is None:
            return Curvature("unknown", expr, "a power whose base and exponent are not known")
        above, below = (self.is_within(expr.base, *ends) for ends in ((1, INF), (0, 1)))
        monotone: Monotone = "increasing" if above else "decreasing" if below else "neither"
        return self._composed(expr, expr.exp, [Atom(Pow, "convex", monotone)])

    def _log(self, expr: Expr) -> Curvature:
        of = expr.args[0]
        if isinstance(of, AtMost | Below | Equals):
            return self._log_indicator(expr, of)
        if (other := self._log_taken_apart(of)) is not None:
            return _same(expr, self.read(other))
        if self._is_log_convex(of):
            return Curvature("convex", expr, "the log of a sum of exponentials of convex functions")
        return self._composed(expr, of, [a for a in ATOMS if a.function is log])

    def _log_taken_apart(self, of: Expr) -> Expr | None:
        """The log of an expression as a sum of simpler ones, where its parts have logs."""
        match of:
            case Expit():
                return -Softplus(-of.args[0])
            case Phi():
                return LogPhi(of.args[0])
            case exp():
                return of.args[0]
            case Times():
                return Over(log(of.body), *of.bound)
            case Where():
                return Where(of.args[0], *map(log, of.args[1:]))
            case Pow() if self.sign(of.base) in NONNEGATIVE:
                return of.exp * log(of.base)
            case Mul() if all(self.sign(f) in NONNEGATIVE for f in of.args):
                return Add(*map(log, of.args))
        rest = 1 - of
        return log(rest.func(-rest.args[0])) if isinstance(rest, Expit | Phi) else None

    def _log_indicator(self, expr: Expr, indicator: Expr) -> Curvature:
        """The log indicator of a set is concave where the set is convex."""
        inner = self.read(indicator.args[0] - indicator.args[1])
        if inner.kind in (AFFINE if isinstance(indicator, Equals) else CONVEX):
            return Curvature("concave", expr, "the log indicator of a convex set", (inner,))
        return Curvature("unknown", expr, "a log indicator", (inner,))

    def _is_log_convex(self, expr: Expr) -> bool:
        """Whether an expression is a sum of products of exponentials of convex functions."""
        if not self.holds(expr):
            return self.sign(expr) in NONNEGATIVE
        match expr:
            case exp():
                return self.read(expr.args[0]).kind in CONVEX
            case Over():
                return self._is_log_convex(expr.body)
            case Add() | Mul():
                return all(map(self._is_log_convex, expr.args))
        return False

    def _extreme(self, expr: Expr) -> Curvature:
        parts = tuple(map(self.read, expr.args))
        kind: Kind = "convex" if isinstance(expr, Maximum) else "concave"
        if all(p.kind in (*AFFINE, kind) for p in parts):
            which = "largest" if kind == "convex" else "smallest"
            return Curvature(kind, expr, f"the {which} of {_plural(kind)}", parts)
        return Curvature("unknown", expr, "the largest or smallest of several", parts)

    def _log_tail(self, expr: Expr) -> Curvature:
        shape, argument = expr.args
        if self.holds(shape):
            return Curvature("unknown", expr, "no rule for this function")
        if isinstance(expr, LogGammaQ) and shape == 1 and self.sign(argument) in NONNEGATIVE:
            return _same(expr, self.read(-argument))
        own = (row for row in LOG_TAILS if row[0] is expr.func)
        rows = [row for _, ends, row in own if self.is_within(shape, *ends)]
        return self._composed(expr, argument, rows)

    def _choice(self, expr: Expr) -> Curvature:
        condition, *cases = expr.args
        parts = tuple(map(self.read, cases))
        kind = "unknown" if self.holds(condition) else _joined(p.kind for p in parts)
        return Curvature(kind, expr, "a choice that does not depend on it", parts)

    def _log_determinant(self, expr: LogDet) -> Curvature:
        body = self.read(expr.body)
        kind: Kind = "concave" if body.kind in AFFINE else "unknown"
        return Curvature(kind, expr, f"the log determinant of a matrix: {body.kind}", (body,))

    def _composed(self, expr: Expr, inner: Expr, rows: Iterable[Atom]) -> Curvature:
        """A function of an inner one: the first row that decides, else the curve itself."""
        part = self.read(inner)
        for row in rows:
            kind = _composition(row, part.kind)
            if kind != "unknown" and self.is_within(inner, row.lower, row.upper):
                how = "" if part.kind == "affine" else f"{row.monotone} "
                one = "an affine one" if part.kind == "affine" else f"a {part.kind} one"
                return Curvature(kind, expr, f"a {kind} {how}function of {one}", (part,))
        unknown = Curvature("unknown", expr, "no rule for this function of it", (part,))
        return self._by_curve(expr) or unknown

    # Rules for several terms together: the terms used and the concave function that they add up to.

    def _arrangement(self, terms: tuple[Expr, ...]) -> Block | None:
        """loggamma(u + v) - loggamma(u) - loggamma(v): minus a log partition function."""
        found = {t: parts for t in terms if (parts := self._loggamma_of(t)) is not None}
        for whole, (c, total) in found.items():
            is_negative = self.sign(c) not in NONNEGATIVE
            if is_negative or _is_summed(whole) or self.is_concave(whole):
                continue
            smaller = [t for t in found if self.sign(found[t][0] + c) in NONPOSITIVE]
            for n in range(len(smaller), 0, -1):
                for chosen in combinations(smaller, n):
                    rest = sp.expand(total - Add(*(found[t][1] for t in chosen)))
                    if not self.holds(rest) and self.sign(rest) in NONNEGATIVE:
                        used = (whole, *chosen)
                        return used, Curvature("concave", Add(*used), RULE_OF_ARRANGEMENTS)
        return None

    def _loggamma_of(self, term: Expr) -> tuple[Expr, Expr] | None:
        """Coefficient and total argument of a term in loggamma of affine arguments above zero."""
        coefficient, function = term.as_independent(loggamma, as_Add=False)
        if isinstance(function, Over):
            inner = self._loggamma_of(function.body)
            if inner is None or dims_of(inner[0]) & set(function.bound):
                return None
            return coefficient * inner[0], _canonical(Over(inner[1], *function.args[1:]))
        if not isinstance(function, loggamma) or self.holds(coefficient):
            return None
        argument = function.args[0]
        proper = self.read(argument).kind == "affine" and self.sign(argument) in NONNEGATIVE
        return (coefficient, _canonical(sp.expand(argument))) if proper else None

    def is_concave(self, expr: Expr) -> bool:
        """Whether an expression alone is shown to be concave."""
        return self.read(expr).kind in CONCAVE

    def _quadratic_form(self, terms: tuple[Expr, ...]) -> Block | None:
        """A quadratic form in elements of the array, by Gaussian elimination of its matrix."""
        products = {t: p for t in terms if (p := self._product_of_two(t)) is not None}
        leaves = list(dict.fromkeys(leaf for _, v, w in products.values() for leaf in (v, w)))
        if len(leaves) < 2 or all(v == w for _, v, w in products.values()):
            return None
        matrix = sp.zeros(len(leaves))
        for c, v, w in products.values():
            i, j = leaves.index(v), leaves.index(w)
            matrix[i, j] += c / 2
            matrix[j, i] += c / 2
        if not self._is_never_positive_form(matrix):
            return None
        return tuple(products), Curvature("concave", Add(*products), RULE_OF_FORMS)

    def _product_of_two(self, term: Expr) -> tuple[Expr, Expr, Expr] | None:
        """Coefficient and the two elements of a term that is their product."""
        held = [f for f in Mul.make_args(term) if self.holds(f)]
        pair = [h.base for h in held if h.is_Pow and h.exp == 2] * 2 or held
        if len(pair) != 2 or len(held) != len(set(pair)):
            return None
        if not all(isinstance(leaf, Leaf) and self.read(leaf).kind == "affine" for leaf in pair):
            return None
        return term / Mul(*held), pair[0], pair[1]

    def _is_never_positive_form(self, matrix: Any) -> bool:
        """Whether a symmetric matrix is shown to be negative semidefinite."""
        if matrix.rows == 0:
            return True
        pivot, column = sp.factor(matrix[0, 0]), matrix[1:, 0]
        rest = matrix[1:, 1:]
        if column.is_zero_matrix:
            return self.sign(pivot) in NONPOSITIVE and self._is_never_positive_form(rest)
        left = (rest - column * column.T / pivot).applyfunc(sp.factor) if pivot != 0 else rest
        return self.sign(pivot) == "negative" and self._is_never_positive_form(left)

    def _curve(self, terms: tuple[Expr, ...]) -> Block | None:
        """The terms that depend on one affine expression, if they are concave only together."""
        groups: dict[Expr, tuple[Expr, ...]] = {}
        for term in terms:
            if (place := self._place(term)) is not None:
                groups[place] = (*groups.get(place, ()), term)
        for used in groups.values():
            found = None if all(map(self.is_concave, used)) else self._by_curve(Add(*used))
            if found is not None and found.kind == "concave":
                return used, found
        return None

    def _by_curve(self, expr: Expr) -> Curvature | None:
        """An expression that depends on one affine one, by the sign of its second derivative."""
        place = self._place(expr)
        sign = sign_of_second_derivative(expr, place, self.bounds) if place else "unknown"
        if sign in NONPOSITIVE:
            return Curvature("concave", expr, f"its second derivative in {place} is at most 0")
        if sign in NONNEGATIVE:
            return Curvature("convex", expr, f"its second derivative in {place} is at least 0")
        return None

    def _place(self, expr: Expr) -> Expr | None:
        """The one affine expression through which another holds the array."""
        found = self._affine_parts(expr)
        return next(iter(found)) if found is not None and len(found) == 1 else None

    def _affine_parts(self, expr: Expr) -> set[Expr] | None:
        """The elements and the sums of elements through which an expression holds the array."""
        if not self.holds(expr):
            return set()
        if isinstance(expr, Leaf | Over):
            return {expr} if self.read(expr).kind == "affine" else None
        if isinstance(expr, Binder):
            return None
        inner = [self._affine_parts(a) for a in expr.args]
        return None if None in inner else set().union(*inner)  # type: ignore[arg-type]

    def _square(self, expr: Over) -> Curvature | None:
        """A double sum c h[a] x[a] h[b] x[b] over a and b: c times the square of a sum."""
        limits: dict[Dim, tuple[Expr, ...]] = {}
        body: Expr = expr
        while isinstance(body, Over):
            limits[body.bound[0]] = body.args[2:]
            body = body.body
        held = [f for f in Mul.make_args(body) if self.holds(f)]
        if len(held) != 2 or any(self.read(f).kind != "affine" for f in held):
            return None
        mapping = _renaming(held[0], held[1], limits)
        if mapping is None or any(limits[a] != limits[b] for a, b in mapping.items()):
            return None
        sign = self._sign_around(Mul(*(f for f in body.args if f not in held)), mapping)
        if sign == "unknown":
            return None
        kind: Kind = "convex" if sign in NONNEGATIVE else "concave"
        return Curvature(kind, expr, f"a {sign} multiple of the square of an affine function")

    def _sign_around(self, rest: Expr, mapping: Mapping[Dim, Dim]) -> Sign:
        """The sign of what multiplies a square, if each of the two sums has the same factors."""
        first, second = set(mapping), set(mapping.values())
        sides: dict[tuple[bool, bool], list[Expr]] = {}
        for factor in Mul.make_args(rest):
            dims = dims_of(factor)
            sides.setdefault((bool(dims & first), bool(dims & second)), []).append(factor)
        one, other = (Mul(*sides.get(side, ())) for side in ((True, False), (False, True)))
        both = sides.get((True, True), [])
        if substitute(one, mapping) != other or (both and not self._is_definite(both, mapping)):
            return "unknown"
        return self.sign(Mul(*sides.get((False, False), ())))

    def _is_definite(self, both: list[Expr], mapping: Mapping[Dim, Dim]) -> bool:
        """Whether factors along two dims are one positive definite matrix."""
        if len(both) != 1 or len(mapping) != 1:
            return False
        entry, body = both[0].args[-2:], both[0]
        if isinstance(body, InverseEntry):
            body, entry = body.body, body.args[3:]
        is_known = isinstance(body, Leaf) and body.array.name in self.definite
        return is_known and set(entry) == {*mapping, *mapping.values()}


Block = tuple[tuple[Expr, ...], Curvature]

RULE_OF_ARRANGEMENTS = "minus the log partition function of shapes: log-convex in all of them"
RULE_OF_FORMS = "a quadratic form whose matrix is negative semidefinite"


def _joined(kinds: Iterable[Kind]) -> Kind:
    """The kind of a sum of functions of these kinds."""
    found = set(kinds)
    order: tuple[Kind, ...] = ("constant", "affine", "convex", "concave")
    allowed = ({"constant"}, set(AFFINE), set(CONVEX), set(CONCAVE))
    return next((k for k, a in zip(order, allowed, strict=True) if found <= a), "unknown")


def _plural(kind: Kind) -> str:
    return "constants" if kind == "constant" else f"{kind} functions"


def _same(expr: Expr, inner: Curvature) -> Curvature:
    """The curvature of an expression that is another one, written differently."""
    return Curvature(inner.kind, expr, "the same as what follows", (inner,))


def _composition(row: Atom, inner: Kind) -> Kind:
    """The kind of a function of the row's kind, of an inner function of a kind."""
    if inner in AFFINE:
        return row.kind
    follows = {"increasing": row.kind, "decreasing": MIRRORED[row.kind]}.get(row.monotone)
    return row.kind if inner == follows else "unknown"


def _at_negatives(row: Atom, *, even: bool) -> Atom:
    """The row of an integer power for negative arguments: of (-1)**n times that of -x."""
    if even:
        return replace(row, monotone=REVERSED[row.monotone], lower=-INF, upper=0)
    return replace(row, kind=MIRRORED[row.kind], lower=-INF, upper=0)


def _is_summed(term: Expr) -> bool:
    """Whether a term is a multiple of a sum over a dim."""
    return any(isinstance(f, Over) and f.has(loggamma) for f in Mul.make_args(term))


def _canonical(expr: Expr) -> Expr:
    """The expression with the dim of each sum that is in no other named alike."""
    names = {
        o: Over(o.body.xreplace({o.bound[0]: Dim("·")}), Dim("·"), *o.args[2:])
        for o in expr.atoms(Over)
        if not o.body.has(Over)
    }
    return expr.xreplace(names)


def _renaming(v: Expr, w: Expr, bound: Collection[Dim]) -> dict[Dim, Dim] | None:
    """The bound dims of one factor, each to that of the other, if this makes them the same."""
    first, second = (
        sorted((dims_of(a) - dims_of(b)) & set(bound), key=root_of) for a, b in ((v, w), (w, v))
    )
    roots = [[root_of(d).rstrip("'") for d in dims] for dims in (first, second)]
    if not first or roots[0] != roots[1]:
        return None
    mapping = dict(zip(first, second, strict=True))
    return mapping if substitute(v, mapping) == w else None


def log_concave(
    pieces: Iterable[Piece], array: str, bounds: Bounds, definite: Collection[str] = ()
) -> Certificate | None:
    """The certificate that the sum of the pieces is concave in the array; None if none was found.

    What multiplies a statistic is given: pieces by element (`elements.element_pieces`) are judged
    as functions of one element.
    """
    terms = _judged(pieces, array, bounds, definite)
    if any(c.kind not in CONCAVE for _, c in terms):
        return None
    return Certificate(array, tuple(c for _, c in terms))


def obstacle(
    pieces: Iterable[Piece], array: str, bounds: Bounds, definite: Collection[str] = ()
) -> tuple[Piece, Curvature] | None:
    """The first piece that is not shown to be concave, with its curvature."""
    terms = _judged(pieces, array, bounds, definite)
    return next(((block[0], c) for block, c in terms if c.kind not in CONCAVE), None)


Judged = tuple[tuple[Piece, ...], Curvature]


def _judged(
    pieces: Iterable[Piece], array: str, bounds: Bounds, definite: Collection[str]
) -> list[Judged]:
    """The pieces alone, or several of a factor or a statistic together, with their curvatures."""
    given = tuple(_given(p, array) for p in pieces)
    reader = _Reader(array, _bounds_of_given(array, bounds), frozenset(definite))
    found: list[Judged] = [((p,), reader.read(_total((p,)))) for p in given]
    for key in (_of_factor, _of_statistic):
        groups: dict[Any, list[Judged]] = {}
        for judged in found:
            groups.setdefault(key(judged[0]), []).append(judged)
        found = [j for group in groups.values() for j in _merged(group, reader)]
    return found


def _merged(group: list[Judged], reader: _Reader) -> list[Judged]:
    """The group as one, if that is concave and not all its members are."""
    if len(group) == 1 or all(c.kind in CONCAVE for _, c in group):
        return group
    together = tuple(p for block, _ in group for p in block)
    curvature = reader.read(_total(together))
    return [(together, curvature)] if curvature.kind in CONCAVE else group


def _of_factor(block: tuple[Piece, ...]) -> Any:
    """What pieces share whose terms can be added under one sum."""
    return block[0].factor, _own_ranges(block[0])


def _of_statistic(block: tuple[Piece, ...]) -> Any:
    """What pieces share whose coefficients can be added."""
    if len(block) > 1:
        return block
    dims = dims_of(block[0].statistic)
    return block[0].statistic, frozenset(r for r in block[0].over if r.dim in dims)


def _own_ranges(piece: Piece) -> frozenset[Range]:
    """The ranges of a piece that are its factor's, not those of sums that were opened."""
    return frozenset(r for r in piece.over if root_of(r.dim) == r.dim.name)


def _total(block: tuple[Piece, ...]) -> Expr:
    """The sum of the pieces, for one position of the ranges that they share."""
    if len({_of_factor((p,)) for p in block}) == 1:
        shared = {r.dim for r in _own_ranges(block[0])}
        return Add(*(_summed(p.coefficient * p.statistic, p, shared) for p in block))
    shared = dims_of(block[0].statistic)
    return block[0].statistic * Add(*(_summed(p.coefficient, p, shared) for p in block))


def _summed(expr: Expr, piece: Piece, shared: Collection[Dim]) -> Expr:
    """The expression summed over the ranges of a piece whose dims are not shared."""
    for r in piece.over:
        if r.dim not in shared:
            limits = (r.start, r.stop) if root_of(r.dim) == r.dim.name else ()
            expr = Over(expr, r.dim, *limits)
    return expr


def _given(piece: Piece, array: str) -> Piece:
    """The piece with the elements of the array in its coefficient marked as given."""
    arrays = (a for a in piece.coefficient.free_symbols if isinstance(a, Array) and a.name == array)
    marked = {a: Array(GIVEN + array, **_assumptions(a)) for a in arrays}
    return replace(piece, coefficient=piece.coefficient.xreplace(marked)) if marked else piece


GIVEN = "given "


def _assumptions(array: Array) -> dict[str, bool]:
    if array.is_positive:
        return {"positive": True}
    return {"nonnegative": True} if array.is_nonnegative else {}


def _bounds_of_given(array: str, bounds: Bounds) -> Bounds:
    """The bounds, which hold of elements marked as given too."""

    def of(leaf: Leaf) -> tuple[Any, Any] | None:
        if leaf.array.name != GIVEN + array:
            return bounds(leaf)
        return bounds(Leaf(Array(array, **_assumptions(leaf.array)), *leaf.indices))

    return of
