"""Rules for terms that are concave only together: quadratic forms, shapes, curves of one place.

Comes in: a reader of single expressions and the terms of a sum. Goes out: the curvature of the sum.
"""

from __future__ import annotations

from itertools import combinations

import sympy as sp
from sympy import Add, Mul

from gibbsppl.algebra.expressions import Dim, Expr, Leaf, Over, dims_of
from gibbsppl.algebra.log_gamma import loggamma
from gibbsppl.algebra.polynomials import factored, multiplied_out
from gibbsppl.analysis.bounds import NONNEGATIVE, NONPOSITIVE
from gibbsppl.analysis.curvature.curves import by_curve, place_of
from gibbsppl.analysis.curvature.kinds import CONCAVE, Curvature, Reader

Block = tuple[tuple[Expr, ...], Curvature]

RULE_OF_ARRANGEMENTS = "minus the log partition function of shapes: log-convex in all of them"
RULE_OF_FORMS = "a quadratic form whose matrix is negative semidefinite"


def curved(reader: Reader, expr: Expr, terms: tuple[Expr, ...]) -> Curvature | None:
    """The curvature of a sum by rules for several terms together; None if not found."""
    if (parts := _concave_parts(reader, terms)) is not None:
        alone = len(parts) == 1 and parts[0].expression == expr
        joint = Curvature("concave", expr, "a sum of concave functions", parts)
        return parts[0] if alone else joint
    mirrored = _concave_parts(reader, tuple(-t for t in terms))
    if mirrored is None:
        return None
    return Curvature("convex", expr, "minus a sum of concave functions", mirrored)


def _concave_parts(reader: Reader, terms: tuple[Expr, ...]) -> tuple[Curvature, ...] | None:
    """Concave functions that add up to the terms."""
    found: list[Curvature] = []
    left = terms
    for rule in RULES:
        while (block := rule(reader, left)) is not None:
            used, curvature = block
            found.append(curvature)
            left = tuple(t for t in left if t not in used)
    parts = (*found, *map(reader.read, left))
    return parts if all(p.kind in CONCAVE for p in parts) else None


def terms_of(reader: Reader, expr: Expr) -> tuple[Expr, ...]:
    """The terms of a sum, sums inside constant multiples and sums over dims taken apart."""
    if isinstance(expr, Add):
        return tuple(t for a in expr.args for t in terms_of(reader, a))
    if isinstance(expr, Over):
        return tuple(Over(t, *expr.bound, *expr.args[2:]) for t in terms_of(reader, expr.body))
    held = [f for f in Mul.make_args(expr) if reader.holds(f)]
    if isinstance(expr, Mul) and len(held) == 1:
        free = Mul(*(f for f in expr.args if f not in held))
        return tuple(free * t for t in terms_of(reader, held[0]))
    return (expr,)


def _arrangement(reader: Reader, terms: tuple[Expr, ...]) -> Block | None:
    """loggamma(u + v) - loggamma(u) - loggamma(v): minus a log partition function."""
    found = {t: parts for t in terms if (parts := _loggamma_of(reader, t)) is not None}
    for whole, (c, total) in found.items():
        is_negative = reader.sign(c) not in NONNEGATIVE
        if is_negative or _is_summed(whole) or reader.is_concave(whole):
            continue
        smaller = [t for t in found if reader.sign(found[t][0] + c) in NONPOSITIVE]
        for n in range(len(smaller), 0, -1):
            for chosen in combinations(smaller, n):
                rest = multiplied_out(total - Add(*(found[t][1] for t in chosen)))
                if not reader.holds(rest) and reader.sign(rest) in NONNEGATIVE:
                    used = (whole, *chosen)
                    return used, Curvature("concave", Add(*used), RULE_OF_ARRANGEMENTS)
    return None


def _loggamma_of(reader: Reader, term: Expr) -> tuple[Expr, Expr] | None:
    """Coefficient and total argument of a term in loggamma of affine arguments above zero."""
    coefficient, function = term.as_independent(loggamma, as_Add=False)
    if isinstance(function, Over):
        inner = _loggamma_of(reader, function.body)
        if inner is None or dims_of(inner[0]) & set(function.bound):
            return None
        whole = Over(inner[1], *function.bound, *function.args[2:])
        return coefficient * inner[0], _canonical(whole)
    if not isinstance(function, loggamma) or reader.holds(coefficient):
        return None
    argument = function.args[0]
    proper = reader.read(argument).kind == "affine" and reader.sign(argument) in NONNEGATIVE
    return (coefficient, _canonical(multiplied_out(argument))) if proper else None


def _quadratic_form(reader: Reader, terms: tuple[Expr, ...]) -> Block | None:
    """A quadratic form in elements of the array, by Gaussian elimination of its matrix."""
    products = {t: p for t in terms if (p := _product_of_two(reader, t)) is not None}
    leaves = list(dict.fromkeys(leaf for _, v, w in products.values() for leaf in (v, w)))
    if len(leaves) < 2 or all(v == w for _, v, w in products.values()):
        return None
    matrix = sp.zeros(len(leaves))
    for c, v, w in products.values():
        i, j = leaves.index(v), leaves.index(w)
        matrix[i, j] += c / 2
        matrix[j, i] += c / 2
    if not _is_never_positive_form(reader, matrix):
        return None
    return tuple(products), Curvature("concave", Add(*products), RULE_OF_FORMS)


def _product_of_two(reader: Reader, term: Expr) -> tuple[Expr, Expr, Expr] | None:
    """Coefficient and the two elements of a term that is their product."""
    held = [f for f in Mul.make_args(term) if reader.holds(f)]
    pair = [h.base for h in held if isinstance(h, sp.Pow) and h.exp == 2] * 2 or held
    if len(pair) != 2 or len(held) != len(set(pair)):
        return None
    if not all(isinstance(leaf, Leaf) and reader.read(leaf).kind == "affine" for leaf in pair):
        return None
    return term / Mul(*held), pair[0], pair[1]


def _is_never_positive_form(reader: Reader, matrix: sp.Matrix) -> bool:
    """Whether a symmetric matrix is shown to be negative semidefinite."""
    if matrix.rows == 0:
        return True
    pivot, column = factored(matrix[0, 0]), matrix[1:, 0]
    rest = matrix[1:, 1:]
    if column.is_zero_matrix:
        return reader.sign(pivot) in NONPOSITIVE and _is_never_positive_form(reader, rest)
    left = (rest - column * column.T / pivot).applyfunc(factored) if pivot != 0 else rest
    return reader.sign(pivot) == "negative" and _is_never_positive_form(reader, left)


def _curve(reader: Reader, terms: tuple[Expr, ...]) -> Block | None:
    """Terms that are functions of one affine expression, and are concave only together."""
    groups: dict[Expr, tuple[Expr, ...]] = {}
    for term in terms:
        if (place := place_of(reader, term)) is not None:
            groups[place] = (*groups.get(place, ()), term)
    for used in groups.values():
        found = None if all(map(reader.is_concave, used)) else by_curve(reader, Add(*used))
        if found is not None and found.kind == "concave":
            return used, found
    return None


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


RULES = (_arrangement, _quadratic_form, _curve)
