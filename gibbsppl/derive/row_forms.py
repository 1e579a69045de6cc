"""Quadratic log densities of few rows: linear forms of the elements, and a diagonal beside them.

Comes in: a `Quadratic`. Goes out: `RowForms`, if all that ties elements is a sum over rows ``i`` of

    response[i] z[i] - weight[i] z[i]**2 / 2,    z[i] = sum of design[i, k] x[k],

where weights are not negative, and all else is of single elements, with a precision of each. Where
rows are fewer than elements, means and draws follow from a matrix of the order of the rows (A.
Bhattacharya, A. Chakraborty and B. K. Mallick, 2016, Biometrika 103, 985-991).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations_with_replacement
from math import prod

import sympy as sp
from sympy import Add, Mul

from gibbsppl.algebra.copies import copies_of
from gibbsppl.algebra.expressions import Dim, Expr, dims_of, substitute
from gibbsppl.algebra.ranges import Range, size_of
from gibbsppl.derive.contractions import IsData, data_only
from gibbsppl.derive.quadratic import Quadratic, degree_of
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.model.memory import BYTES, memory_limit
from gibbsppl.pieces.dependence import region_of
from gibbsppl.pieces.split import Piece
from gibbsppl.runtime.layouts import MODERATE, MOST_WORK


@dataclass(frozen=True, slots=True)
class RowForm:
    """The rows of one factor: weights, responses, and the part of each array in the design.

    These are expressions in the dims of the ``rows``, those of the design in the array's, too.
    """

    factor: str
    rows: tuple[Range, ...]
    weight: Expr
    response: Expr
    design: Mapping[str, Expr]

    @property
    def count(self) -> int:
        """The number of rows."""
        return prod(map(len, self.rows))


@dataclass(frozen=True, slots=True)
class RowForms:
    """The rows of all factors that tie elements, and the pieces of other factors.

    ``changing`` rows have weights of their own that are no data: their products are added up anew
    in each sweep.
    """

    forms: tuple[RowForm, ...]
    others: Quadratic
    size: int
    changing: int = 0

    @property
    def count(self) -> int:
        """The number of all rows."""
        return sum(form.count for form in self.forms)

    @property
    def work(self) -> float:
        """How many multiplications the matrix of the rows and its factor take."""
        return self.count**2 * self.size / 2 + self.count**3 / 6

    @property
    def pays(self) -> bool:
        """Whether this is less work than the precision of all elements and its factor take."""
        dense = self.size**3 / 6 + self.changing * self.size**2 / 2
        return self.size > MODERATE and self.work < dense

    def is_affordable(self, graph: Graph) -> bool:
        """Whether the matrices, each with what it is made of, are within memory and work."""
        needed = 2 * BYTES * float(self.count * self.size + self.count**2)
        return memory_limit(graph).against(needed) is None and self.work <= MOST_WORK


def row_forms_of(graph: Graph, block: Quadratic) -> RowForms | None:
    """The rows of a block whose arrays are drawn whole; None where it has no such form."""
    axes = {name: graph.variables[name].dims for name in block.arrays}
    whole = len(block.statements) == len(axes)
    if not whole or not all(_is_whole(graph, s) for s in block.statements):
        return None
    tying = list(dict.fromkeys(p.factor for p in block.pairs))
    others = tuple(p for p in block.pieces if p.factor not in tying)
    if not tying or not all(_has_precision(graph, name, others) for name in axes):
        return None
    forms = []
    for factor in tying:
        own = [p for p in block.pieces if p.factor == factor]
        form = _form_of(graph, axes, own)
        if form is None:
            return None
        forms.append(form)
    size = sum(prod(graph.sizes[d] for d in dims) for dims in axes.values())
    is_data = data_only(graph.random)
    changing = sum(f.count for f in forms if _changes(f, is_data))
    return RowForms(tuple(forms), replace(block, pieces=others), size, changing)


def _changes(form: RowForm, is_data: IsData) -> bool:
    """Whether rows have weights of their own that are no data."""
    rows = {r.dim for r in form.rows}
    return any(not is_data(w) and dims_of(w) & rows for w in Mul.make_args(form.weight))


def _is_whole(graph: Graph, statement: Statement) -> bool:
    """Whether a statement fills all of its array, of which nothing is known."""
    region = region_of(graph, statement)
    dims = graph.variables[statement.target.array.name].dims
    return statement.mask is None and all(
        isinstance(r, Range) and (r.dim, r.start, r.stop) == (d, 0, graph.sizes[d])
        for r, d in zip(region, dims, strict=True)
    )


def _has_precision(graph: Graph, name: str, others: Sequence[Piece]) -> bool:
    """Whether each element of an array has a positive precision of its own, whatever the state."""
    dims = graph.variables[name].dims
    own = [p for p in others if p.views[0].array.name == name and degree_of(p) == 2]
    everywhere = [
        p
        for p in own
        if p.views[0].indices == dims and all(len(r) == size_of(r.dim, graph.sizes) for r in p.over)
    ]
    return all(p.coefficient.is_nonpositive for p in own) and any(
        p.coefficient.is_negative for p in everywhere
    )


def _form_of(
    graph: Graph, axes: Mapping[str, tuple[Dim, ...]], pieces: Sequence[Piece]
) -> RowForm | None:
    """The rows of one factor, from its pieces."""
    dims = list(dict.fromkeys(d for own in axes.values() for d in own))
    copies = copies_of(dims, {*dims, *(r.dim for p in pieces for r in p.over)})
    terms = _Terms(axes, copies)
    rows: tuple[Range, ...] | None = None
    for piece in pieces:
        found = terms.added(graph, piece)
        if found is None or rows not in {None, found}:
            return None
        rows = found
    if rows is None or {r.dim for r in rows} & set(dims):
        return None
    solved = terms.solved()
    return None if solved is None else RowForm(pieces[0].factor, rows, *solved)


@dataclass(frozen=True, slots=True)
class _Terms:
    """Coefficients of a factor: of elements, and of products of two, by the names of arrays.

    The dims of the second of two elements are ``copies``.
    """

    axes: Mapping[str, tuple[Dim, ...]]
    copies: Mapping[Dim, Dim]
    linear: dict[str, Expr] = field(default_factory=dict)
    products: dict[tuple[str, str], Expr] = field(default_factory=dict)

    def added(self, graph: Graph, piece: Piece) -> tuple[Range, ...] | None:
        """The rows of a piece, whose coefficient is taken in; None if it has no such form."""
        order = list(self.axes)
        views = sorted(piece.views, key=lambda v: order.index(v.array.name))
        ranges = {r.dim: r for r in piece.over}
        names: dict[Expr, Expr] = {}
        for n, view in enumerate(views):
            for axis, index in zip(self.axes[view.array.name], view.read, strict=True):
                place = ranges.pop(index, None) if isinstance(index, Dim) else None
                if place is None or (place.start, place.stop) != (0, graph.sizes[axis]):
                    return None
                names[index] = self.copies[axis] if n else axis
        if not all((r.start, r.stop) == (0, graph.sizes.get(r.dim)) for r in ranges.values()):
            return None
        value = substitute(piece.coefficient, {a: b for a, b in names.items() if a != b})
        first, last = views[0].array.name, views[-1].array.name
        if degree_of(piece) == 1:
            self.linear[first] = self.linear.get(first, sp.S.Zero) + value
        elif len(views) == 1 and self.axes[first]:
            return None  # (the square of each element, which no product of two sums has alone)
        else:
            self.products[first, last] = self.products.get((first, last), sp.S.Zero) + value
        return tuple(ranges.values())

    def solved(self) -> tuple[Expr, Expr, dict[str, Expr]] | None:
        """The weight, the response and the design of each array, if all terms are of such rows."""
        first = next((a for a, b in self.products if a == b and self.axes[a]), None)
        if first is None:
            return None
        factors = Mul.make_args(self.products[first, first])
        plain, copied = set(self.axes[first]), {self.copies[d] for d in self.axes[first]}
        column = Mul(*(f for f in factors if dims_of(f) & plain))
        weight = -2 * Mul(*(f for f in factors if not dims_of(f) & (plain | copied)))
        if not weight.is_nonnegative:
            return None
        response = _divided(self.linear.get(first, sp.S.Zero), column)
        design = {n: self._part(first, n, weight * column) for n in self.axes if n != first}
        design[first] = column
        return (weight, response, design) if self._are(weight, response, design) else None

    def _part(self, first: str, name: str, by: Expr) -> Expr:
        """The design of an array, from its products with another one."""
        if (first, name) in self.products:
            back = {c: d for d, c in self.copies.items()}
            return substitute(_divided(-self.products[first, name], by), back)
        return _divided(-self.products.get((name, first), sp.S.Zero), self._copy(by))

    def _are(self, weight: Expr, response: Expr, design: Mapping[str, Expr]) -> bool:
        """Whether all coefficients are those of rows with such parts."""
        every = {*self.copies, *self.copies.values()}
        apart = all(not dims_of(v) & (every - {*self.axes[n]}) for n, v in design.items())
        if not apart or dims_of(response) & every or dims_of(weight) & every:
            return False
        left = [
            self.linear.get(n, sp.S.Zero) - response * column for n, column in design.items()
        ]
        for a, b in combinations_with_replacement(self.axes, 2):
            share = weight / 2 if a == b else weight
            known = self.products.get((a, b), sp.S.Zero)
            left.append(known + share * design[a] * self._copy(design[b]))
        return all(sp.expand(e) == 0 for e in left)

    def _copy(self, value: Expr) -> Expr:
        """An expression with the copies of all dims."""
        return substitute(value, dict(self.copies))


def _divided(value: Expr, by: Expr) -> Expr:
    """The terms of a sum, each divided."""
    return Add(*(term / by for term in Add.make_args(value)))
