"""Expressions that depend on an array through one affine place: second derivatives decide."""

from __future__ import annotations

from gibbsppl.algebra.expressions import Binder, Expr, Leaf, Over
from gibbsppl.analysis.bounds import NONNEGATIVE, NONPOSITIVE, OPPOSITE, Sign
from gibbsppl.analysis.curvature.kinds import Curvature, Reader
from gibbsppl.analysis.signs import sign_of_second_derivative


def by_curve(reader: Reader, expr: Expr) -> Curvature | None:
    """The curvature of a function of an affine expression, by the sign of the second derivative."""
    place = place_of(reader, expr)
    sign = _sign_along(reader, expr, place) if place is not None else "unknown"
    if sign in NONPOSITIVE:
        return Curvature("concave", expr, f"its second derivative in {place} is at most 0")
    if sign in NONNEGATIVE:
        return Curvature("convex", expr, f"its second derivative in {place} is at least 0")
    return None


def _sign_along(reader: Reader, expr: Expr, place: Expr) -> Sign:
    """The sign of a second derivative, worked out once for an expression and minus it."""
    if expr not in reader.signs:
        sign = sign_of_second_derivative(expr, place, reader.bounds)
        reader.signs.update({expr: sign, -expr: OPPOSITE.get(sign, sign)})
    return reader.signs[expr]


def place_of(reader: Reader, expr: Expr) -> Expr | None:
    """The one affine expression through which another holds the array."""
    found = _affine_parts(reader, expr)
    return next(iter(found)) if found is not None and len(found) == 1 else None


def _affine_parts(reader: Reader, expr: Expr) -> set[Expr] | None:
    """The elements and the sums of elements through which an expression holds the array."""
    if not reader.holds(expr):
        return set()
    if isinstance(expr, Leaf | Over):
        return {expr} if reader.read(expr).kind == "affine" else None
    if isinstance(expr, Binder):
        return None
    inner = [_affine_parts(reader, a) for a in expr.args]
    return None if None in inner else set().union(*inner)  # type: ignore[arg-type]
