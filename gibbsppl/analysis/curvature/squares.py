"""Double sums that are the square of a sum, or a positive definite quadratic form."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sympy import Mul

from gibbsppl.algebra.copies import root_of
from gibbsppl.algebra.expressions import Dim, Expr, Over, dims_of, substitute
from gibbsppl.algebra.function_rows import Kind
from gibbsppl.analysis.bounds import NONNEGATIVE, Sign
from gibbsppl.analysis.curvature.kinds import (
    Curvature,
    Reader,
)
from gibbsppl.analysis.definite import is_definite


def square_of_sum(reader: Reader, expr: Over) -> Curvature | None:
    """A double sum c h[a] x[a] h[b] x[b] over a and b: c times the square of a sum."""
    limits: dict[Dim, tuple[Expr, ...]] = {}
    body: Expr = expr
    while isinstance(body, Over):
        limits[body.bound[0]] = body.args[2:]
        body = body.body
    held = [f for f in Mul.make_args(body) if reader.holds(f)]
    if len(held) != 2 or any(reader.read(f).kind != "affine" for f in held):
        return None
    mapping = _renaming(held[0], held[1], limits)
    if mapping is None or any(limits[a] != limits[b] for a, b in mapping.items()):
        return None
    sign = _sign_around(reader, Mul(*(f for f in body.args if f not in held)), mapping)
    if sign == "unknown":
        return None
    kind: Kind = "convex" if sign in NONNEGATIVE else "concave"
    return Curvature(kind, expr, f"a {sign} multiple of the square of an affine function")


def _sign_around(reader: Reader, rest: Expr, mapping: Mapping[Dim, Dim]) -> Sign:
    """The sign of the coefficient of a square, if each of the two sums has the same factors."""
    first, second = set(mapping), set(mapping.values())
    sides: dict[tuple[bool, bool], list[Expr]] = {}
    for factor in Mul.make_args(rest):
        dims = dims_of(factor)
        sides.setdefault((bool(dims & first), bool(dims & second)), []).append(factor)
    one, other = (Mul(*sides.get(side, ())) for side in ((True, False), (False, True)))
    both = sides.get((True, True), [])
    if substitute(one, mapping) != other or (both and not _is_definite(reader, both, mapping)):
        return "unknown"
    return reader.sign(Mul(*sides.get((False, False), ())))


def _is_definite(reader: Reader, both: list[Expr], mapping: Mapping[Dim, Dim]) -> bool:
    """Whether factors along two dims are one positive definite matrix."""
    if len(both) != 1 or len(mapping) != 1:
        return False
    pair = {*mapping, *mapping.values()}
    return is_definite(both[0], pair, lambda leaf: leaf.array.name in reader.definite)


def _renaming(v: Expr, w: Expr, bound: Collection[Dim]) -> dict[Dim, Dim] | None:
    """The renaming of the bound dims of ``v`` that gives ``w``; None if there is none."""
    first, second = (
        sorted((dims_of(a) - dims_of(b)) & set(bound), key=root_of) for a, b in ((v, w), (w, v))
    )
    roots = [[root_of(d).rstrip("'") for d in dims] for dims in (first, second)]
    if not first or roots[0] != roots[1]:
        return None
    mapping = dict(zip(first, second, strict=True))
    return mapping if substitute(v, mapping) == w else None
