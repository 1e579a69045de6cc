"""Means of locations that few rows tie, by a matrix of the order of the rows.

With precisions ``d`` of single elements, linear coefficients ``b``, and rows of weight ``w``,
response ``c`` and design ``A`` (`gibbsppl.derive.row_forms`), the mean is, by the identity of M. A.
Woodbury (1950, "Inverting modified matrices"),

    b / d + d^-1 A' R^-1 (c / w - A (b / d)),    R = w^-1 + A d^-1 A'.

Comes in: a graph and a location, scales that all coefficients are in proportion to. Goes out: the
mean as an expression without these scales, and the arrays that it reads.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import sympy as sp
from sympy import Add, Mul

from gibbsppl.algebra.copies import primed
from gibbsppl.algebra.expressions import Array, Dim, Expr, Leaf, Over, mentions, substitute
from gibbsppl.algebra.functions import Equals
from gibbsppl.algebra.ranges import Range, fresh
from gibbsppl.derive.contractions import Known, contracted, data_only, pull_back
from gibbsppl.derive.quadratic import Quadratic, quadratic_of
from gibbsppl.derive.row_forms import row_forms_of
from gibbsppl.families.rows import inverse
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph, Maintained, Scatter, Statement


@dataclass(frozen=True, slots=True)
class ByRows:
    """A mean at the dims of its location, the arrays that it reads, and the dims of pairs of rows.

    ``sizes`` has the second dim of the square matrix of the rows.
    """

    mean: Expr
    arrays: tuple[Maintained, ...]
    sizes: dict[Dim, int]


def mean_by_rows(
    graph: Graph, statement: Statement, data: Values, scales: Collection[str]
) -> ByRows | None:
    """The mean of a location by its rows; None where these are not few, or not of this form."""
    block = quadratic_of(graph, (statement,), data)
    found = None if block is None else row_forms_of(graph, block)
    if found is None or not found.pays or len(found.forms) != 1 or len(found.forms[0].rows) != 1:
        return None
    (form,), name = found.forms, statement.target.array.name
    scale = Mul(*(f for f in Mul.make_args(form.weight) if mentions(f, scales)))
    known = data_only([v.name for v in graph.variables.values() if v.kind == "random"], graph)
    linear, squares = (_alone(graph, found.others, name, degree, known) for degree in (1, 2))
    if linear is None or squares is None:
        return None
    parts = [_divided(e, scale) for e in (form.weight, form.response, linear, -2 * squares)]
    weight, response, linear, precision = parts
    if mentions(Add(*parts), scales) or not weight.is_positive:
        return None
    columns = tuple(Range(d, 0, graph.sizes[d]) for d in graph.variables[name].dims)
    (rows,), design = form.rows, form.design[name]
    row, other = rows.dim, primed(rows.dim)
    partner = Range(other, rows.start, rows.stop)
    names = [fresh(f"{name}_{what}", graph.variables) for what in ("scaled", "rows", "away", "row")]
    scaled, square, away, solved = map(Array, names)
    dims = tuple(r.dim for r in columns)
    share = scaled[(row, *dims)]
    copied = substitute(design, {row: other})
    matrix = Equals(row, other) / weight + contracted(share * copied, columns, known)
    left = _divided(response, weight) - contracted(share * linear, columns, known)
    entry = inverse(square[row, other], row) * away[(other,)]
    along = Over(entry, other, partner.start, partner.stop)
    arrays = (
        _array(name, share, design / precision, (rows, *columns)),
        _array(name, square[row, other], matrix, (rows, partner)),
        _array(name, away[(row,)], left, (rows,)),
        _array(name, solved[(row,)], along, (rows,)),
    )
    mean = linear / precision + contracted(share * solved[(row,)], (rows,), known)
    return ByRows(mean, arrays, {other: graph.sizes[row]})


def _array(name: str, element: Leaf, value: Expr, over: tuple[Range, ...]) -> Maintained:
    return Maintained(element, (Scatter(name, element.indices, value, over),))


def _alone(
    graph: Graph, others: Quadratic, name: str, degree: int, known: Known
) -> Expr | None:
    """The terms of single elements: the coefficient of each, or of its square."""
    axes, total = graph.variables[name].dims, sp.S.Zero
    for piece in others.of(name, degree):
        found = pull_back(piece, axes, piece.views[0].read, graph.sizes, known)
        if not found.is_everywhere(graph.sizes):
            return None
        total += found.value
    return total


def _divided(value: Expr, by: Expr) -> Expr:
    return Add(*(term / by for term in Add.make_args(value)))
