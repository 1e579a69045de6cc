"""The curvature of expressions, by a rule for each kind of expression.

Comes in: an expression, an array and the bounds of all arrays. Goes out: a `Curvature`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

import sympy as sp
from sympy import Add, Mul, Pow, exp, log

from gibbsppl.algebra.exact_numbers import has_log
from gibbsppl.algebra.expressions import (
    Expr,
    Extreme,
    Greatest,
    Leaf,
    LogDet,
    Over,
    Times,
    mentions,
)
from gibbsppl.algebra.function_rows import Bend, Function, Kind, Monotone
from gibbsppl.algebra.functions import (
    FUNCTIONS,
    AtMost,
    Below,
    Equals,
    LogGammaQ,
    LogMass,
    Maximum,
    Minimum,
    Where,
    log_of,
)
from gibbsppl.algebra.intervals import INF, End
from gibbsppl.algebra.masses import PLACE, mass_of
from gibbsppl.analysis.bounds import NONNEGATIVE, Bound, Bounds, Sign, interval_of, sign_of
from gibbsppl.analysis.curvature.bends import (
    LOG_CLOGLOG,
    LOG_ONE_MINUS_EXP,
    POWERS,
    at_negatives,
    composition,
)
from gibbsppl.analysis.curvature.curves import by_curve
from gibbsppl.analysis.curvature.kinds import (
    AFFINE,
    CONCAVE,
    CONVEX,
    MIRRORED,
    Curvature,
    joined,
    plural,
    same,
)
from gibbsppl.analysis.curvature.squares import square_of_sum
from gibbsppl.analysis.curvature.sums import curved, terms_of


def curvature_of(
    expr: Expr | float, array: str, bounds: Bounds, definite: Collection[str] = ()
) -> Curvature:
    """How an expression bends as all elements of an array vary together, where it is defined.

    ``definite`` names arrays whose last two axes are positive definite matrices.
    """
    return Reader((array,), bounds, frozenset(definite)).read(sp.sympify(expr))


@dataclass(frozen=True, slots=True, eq=False)
class Reader:
    """The rules of curvature in arrays that vary together, given the bounds of all arrays."""

    arrays: tuple[str, ...]
    bounds: Bounds
    definite: frozenset[str] = frozenset()
    # What has been read: rules for sums ask for the same parts again and again.
    found: dict[Expr, Curvature] = field(default_factory=dict, repr=False)
    signs: dict[Expr, Sign] = field(default_factory=dict, repr=False)

    def read(self, expr: Expr) -> Curvature:
        """The curvature of an expression."""
        if expr not in self.found:
            self.found[expr] = self._read(expr)
        return self.found[expr]

    def is_concave(self, expr: Expr) -> bool:
        """Whether an expression alone is shown to be concave."""
        return self.read(expr).kind in CONCAVE

    def _read(self, expr: Expr) -> Curvature:
        if not self.holds(expr):
            return Curvature("constant", expr, f"free of {self.told}")
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
                return self._extreme(expr, expr.args)
            case Extreme():
                return self._extreme(expr, [expr.body])
            case Where():
                return self._choice(expr)
            case LogDet():
                return self._log_determinant(expr)
            case LogMass():
                return self._mass(expr) or self._unruled(expr)
        row = FUNCTIONS.get(expr.func)
        if row is not None and row.bends_given:
            return self._of_last(expr, row)
        return self._composed(expr, expr.args[0], () if row is None else row.bends)

    @property
    def told(self) -> str:
        """The names of the arrays."""
        return ", ".join(self.arrays)

    def holds(self, expr: Expr) -> bool:
        """Whether an expression depends on the arrays."""
        return mentions(expr, self.arrays)

    def sign(self, expr: Expr) -> Sign:
        """The sign of an expression."""
        return sign_of(expr, self.bounds)

    def is_within(self, expr: Expr, lower: End, upper: End) -> bool:
        """Whether an expression is known to lie between two ends."""
        known = interval_of(expr, self.bounds)
        return bool(known[0] >= lower and known[1] <= upper)

    def _leaf(self, leaf: Leaf) -> Curvature:
        if any(map(self.holds, leaf.indices)):
            return Curvature("unknown", leaf, f"an index that depends on {self.told}")
        return Curvature("affine", leaf, f"an element of {leaf.array.name}")

    def _sum(self, expr: Expr) -> Curvature:
        parts = tuple(map(self.read, expr.args))
        kind = joined(p.kind for p in parts)
        if kind != "unknown":
            return Curvature(kind, expr, f"a sum of {plural(kind)}", parts)
        together = curved(self, expr, terms_of(self, expr))
        return together or Curvature("unknown", expr, "a sum of several", parts)

    def _product(self, expr: Expr) -> Curvature:
        held = [f for f in expr.args if self.holds(f)]
        free = Mul(*(f for f in expr.args if f not in held))
        if free != 1:
            return self._multiple(expr, self.sign(free), self.read(Mul(*held)))
        logs = [log for f in held if (log := self._log_of_power(f)) is not None]
        if len(logs) == len(held):
            inner = self.read(Add(*logs))
            if inner.kind in CONVEX:
                return Curvature("convex", expr, "exp of what follows", (inner,))
        return by_curve(self, expr) or Curvature("unknown", expr, "a product")

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
        if (found := square_of_sum(self, expr)) is not None:
            return found
        body = self.read(expr.body)
        if body.kind != "unknown":
            return Curvature(body.kind, expr, f"a sum over {expr.bound[0]}", (body,))
        terms = terms_of(self, expr)
        together = curved(self, expr, terms) if len(terms) > 1 else None
        return together or Curvature("unknown", expr, f"a sum over {expr.bound[0]}", (body,))

    def _power(self, expr: Pow) -> Curvature:
        base, exponent = expr.base, expr.exp
        if self.holds(exponent):
            return self._raised_to(expr)
        lower, upper = interval_of(exponent, self.bounds)
        rows = [row for (a, b), row in POWERS if a <= lower and upper <= b]
        if exponent.is_Integer:
            rows += [at_negatives(row, even=bool(exponent.is_even)) for row in rows]
        if exponent.is_Integer and exponent.is_even and exponent > 0:
            rows.append(Bend("convex", "neither"))
        return self._composed(expr, base, rows)

    def _raised_to(self, expr: Pow) -> Curvature:
        """A number raised to a power that holds the array."""
        if self._log_of_power(expr) is None:
            return Curvature("unknown", expr, "a power whose base and exponent are not known")
        above, below = (self.is_within(expr.base, *ends) for ends in ((1, INF), (0, 1)))
        monotone: Monotone = "increasing" if above else "decreasing" if below else "neither"
        return self._composed(expr, expr.exp, [Bend("convex", monotone)])

    def _log(self, expr: Expr) -> Curvature:
        of = expr.args[0]
        if isinstance(of, AtMost | Below | Equals):
            return self._log_indicator(expr, of)
        if (other := self._log_taken_apart(of)) is not None:
            return same(expr, self.read(other))
        if self._is_log_convex(of):
            return Curvature("convex", expr, "the log of a sum of exponentials of convex functions")
        if isinstance(1 - of, exp):
            found = self._log_one_minus_exp(expr, (1 - of).args[0])
            if found.kind != "unknown":
                return found
        return self._mass(expr) or self._composed(expr, of, FUNCTIONS[log].bends)

    def _log_one_minus_exp(self, expr: Expr, exponent: Expr) -> Curvature:
        """The log of one minus an exponential, perhaps of an exponential."""
        held = [f for f in Mul.make_args(-exponent) if self.holds(f)]
        logs = [log for f in held if (log := self._log_of_power(f)) is not None]
        free = Mul(*(f for f in Mul.make_args(-exponent) if not self.holds(f)))
        if len(logs) == len(held) and self.sign(free) == "positive":
            return self._composed(expr, Add(*logs), [LOG_CLOGLOG])
        return self._composed(expr, exponent, [LOG_ONE_MINUS_EXP])

    def _log_taken_apart(self, of: Expr) -> Expr | None:
        """The log of an expression as a sum of simpler ones, where its parts have logs."""
        match of:
            case Times():
                return Over(log(of.body), *of.bound)
            case Where() if all(map(has_log, of.args[1:])):
                return Where(of.args[0], *map(log, of.args[1:]))
            case Pow() if self.sign(of.base) in NONNEGATIVE:
                return of.exp * log(of.base)
            case Mul() if all(self.sign(f) in NONNEGATIVE for f in of.args):
                return Add(*map(log, of.args))
        return log_of(of)

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

    def _extreme(self, expr: Expr, among: Iterable[Expr]) -> Curvature:
        parts = tuple(map(self.read, among))
        kind: Kind = "convex" if isinstance(expr, Maximum | Greatest) else "concave"
        if all(p.kind in (*AFFINE, kind) for p in parts):
            which = "largest" if kind == "convex" else "smallest"
            return Curvature(kind, expr, f"the {which} of {plural(kind)}", parts)
        return Curvature("unknown", expr, "the largest or smallest of several", parts)

    def _of_last(self, expr: Expr, row: Function) -> Curvature:
        """The curvature of a function in its last argument, by the bounds of the first."""
        first, last = expr.args
        if self.holds(first):
            return self._unruled(expr)
        if isinstance(expr, LogGammaQ) and first == 1 and self.sign(last) in NONNEGATIVE:
            return same(expr, self.read(-last))
        bends = [bend for ends, bend in row.bends_given if self.is_within(first, *ends)]
        # (beyond where the function is a number there is nothing to be shown)
        lower, upper = row.defined
        bends = [b if b.lower > lower else replace(b, lower=-INF) for b in bends]
        bends = [b if b.upper < upper else replace(b, upper=INF) for b in bends]
        return self._composed(expr, last, bends)

    def _unruled(self, expr: Expr) -> Curvature:
        return Curvature("unknown", expr, "no rule for this function")

    def _mass(self, expr: Expr) -> Curvature | None:
        """The log of a mass: of a density whose log is concave it is, in both ends (A. Prékopa)."""
        mass = mass_of(expr, self.arrays)
        if mass is None:
            return None
        ends = tuple(map(self.read, (mass.lower, mass.upper)))
        density = Reader((PLACE.array.name,), self._beside_place).read(mass.log_density)
        if any(e.kind not in AFFINE for e in ends) or density.kind not in CONCAVE:
            return None
        rule = "the log of the mass, between affine ends, of a log-concave density"
        return Curvature("concave", expr, rule, (density, *ends))

    def _beside_place(self, leaf: Leaf) -> tuple[Bound, Bound] | None:
        return None if leaf == PLACE else self.bounds(leaf)

    def _choice(self, expr: Expr) -> Curvature:
        condition, *cases = expr.args
        parts = tuple(map(self.read, cases))
        kind = "unknown" if self.holds(condition) else joined(p.kind for p in parts)
        return Curvature(kind, expr, "a choice that does not depend on it", parts)

    def _log_determinant(self, expr: LogDet) -> Curvature:
        body = self.read(expr.body)
        kind: Kind = "concave" if body.kind in AFFINE else "unknown"
        return Curvature(kind, expr, f"the log determinant of a matrix: {body.kind}", (body,))

    def _composed(self, expr: Expr, inner: Expr, rows: Iterable[Bend]) -> Curvature:
        """The curvature of a composition: by the first row that decides, else by the derivative."""
        part = self.read(inner)
        for row in rows:
            kind = composition(row, part.kind)
            if kind != "unknown" and self.is_within(inner, row.lower, row.upper):
                how = "" if part.kind == "affine" else f"{row.monotone} "
                one = "an affine one" if part.kind == "affine" else f"a {part.kind} one"
                return Curvature(kind, expr, f"a {kind} {how}function of {one}", (part,))
        unknown = Curvature("unknown", expr, "no rule for this function of it", (part,))
        return by_curve(self, expr) or unknown

    # Rules for several terms together: the terms used and the concave function that they add up to.
