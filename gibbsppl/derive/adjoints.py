"""Adjoints of computed arrays: the partial derivatives of a log density by their elements.

Comes in: terms of a log density that compute arrays on the way, and the arrays that move. Goes out:
the terms, the arrays with their adjoints, and `Source` values, products of adjoints and values:
the differentials of these add up to that of the log density. So a gradient takes as long as the log
density, however long a recursion is (reverse accumulation: A. Griewank and A. Walther, 2008,
Evaluating Derivatives, 2nd edition, chapter 3).

The adjoint of a recursion is a recursion that goes the other way; that of a matrix is made of its
inverse, by ``d log|A| = tr(A^-1 dA)`` and ``d A^-1 = -A^-1 dA A^-1``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, product

import sympy as sp
from sympy import Add, Mul

from gibbsppl.algebra.calculus import NoDerivative
from gibbsppl.algebra.copies import copies_of, copy_of
from gibbsppl.algebra.differentials import differential
from gibbsppl.algebra.expressions import Array, Dim, Expr, Leaf, Over, dims_of, substitute
from gibbsppl.algebra.identities import simplified
from gibbsppl.algebra.ranges import Range
from gibbsppl.algebra.recursions import Earlier, Own, Recursion, Step, step, system_of
from gibbsppl.derive.computed import Computed, Matrix, Naming, Recursive
from gibbsppl.derive.contractions import Contribution, data_only, pull_back
from gibbsppl.derive.shared import Term
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph
from gibbsppl.pieces.dependence import Place, is_separable
from gibbsppl.pieces.gates import binary_arrays, opened
from gibbsppl.pieces.split import Piece, View, split


@dataclass(frozen=True, slots=True)
class Source:
    """A value whose differential, times a weight, is a part of that of the log density."""

    factor: str
    weight: Expr
    value: Expr
    over: tuple[Range, ...]

    def slope(self, steps: Mapping[str, str]) -> Term:
        """The part of the differential that is linear in the steps of arrays."""
        return self.factor, self.weight * differential(self.value, steps), self.over


@dataclass(frozen=True, slots=True)
class InReverse:
    """Terms that read computed arrays, these with their adjoints, and the sources of a gradient."""

    graph: Graph
    terms: tuple[Term, ...]
    computed: tuple[Computed, ...]
    sources: tuple[Source, ...]
    naming: Naming

    @property
    def names(self) -> frozenset[str]:
        """The names of all arrays that change with what moves."""
        return frozenset(self.naming.moved)

    def named(self, expr: Expr) -> Expr:
        """An expression of elements of inverses that are computed."""
        return self.naming.inverses(expr)


def in_reverse(
    graph: Graph, terms: Sequence[Term], moved: Iterable[str], data: Values
) -> InReverse:
    """The terms with the adjoints of what they compute; `NoDerivative` where there are none."""
    naming = Naming(graph, set(moved))
    found = tuple(naming.term(t) for t in terms)
    reverse = _Reverse(naming, data, [Source(f, sp.S.One, v, over) for f, v, over in found])
    for node in reversed(naming.nodes):
        naming.factor = node.factor
        if isinstance(node, Matrix):
            reverse.through_matrix(node)
        else:
            reverse.through_recursion(node)
    forward = [c for n in naming.nodes for c in n.computed]
    computed = (*forward, *reverse.adjoints)
    return InReverse(naming.graph, found, computed, tuple(reverse.sources), naming)


def linear_pieces(
    graph: Graph, term: Term, steps: Mapping[str, str], arrays: Mapping[str, Array], data: Values
) -> Iterator[Piece]:
    """The pieces of a differential, of elements in place of their steps."""
    factor, value, over = term
    whole = {step_of: arrays[n] for n, step_of in steps.items()}
    slope = opened(simplified(value, whole), whole, binary_arrays(graph, data))
    for piece in split(factor, slope, over, whole, graph.sizes):
        views = tuple(View(whole[v.array.name], v.indices) for v in piece.views)
        mapping = {v.array: w.array for v, w in zip(piece.views, views, strict=True)}
        yield replace(piece, statistic=piece.statistic.xreplace(mapping), views=views)


@dataclass(slots=True)
class _Reverse:
    """The sources found so far, and the adjoints, while computed arrays are gone through."""

    naming: Naming
    data: Values
    sources: list[Source]

    adjoints: list[Computed] = field(default_factory=list)

    def through_matrix(self, node: Matrix) -> None:
        """The adjoint of a matrix, from those of its log determinant and of its inverse."""
        found = [*self._pulled(self.sources, node.whole)]
        of_inverse, vectors = [], dict[Expr, Leaf]()
        pulled = self._pulled(self.sources, node.inverse)
        each = (replace(c, value=t) for c in pulled for t in Add.make_args(c.value))
        for c in each:
            split_up = self._by_vectors(node, c, vectors)
            if split_up is None:
                of_inverse.append(c)
            else:
                found.append(split_up)
        if of_inverse:
            found.append(self._by_products(node, tuple(of_inverse)))
        if found:
            element = self.naming.element(f"slope_of_{node.whole.name}", node.whole.axes)
            self.adjoints.append(Computed(element, tuple(found)))
            over = self.naming.everywhere(node.whole.axes)
            self.sources.append(Source(node.factor, element, node.value, over))

    def _by_vectors(
        self, node: Matrix, c: Contribution, vectors: dict[Expr, Leaf]
    ) -> Contribution | None:
        """The part of a matrix's adjoint from a product of two vectors in that of its inverse."""
        *_, row, column = node.whole.axes
        if c.place != self.naming.everywhere(node.whole.axes):
            return None
        sides: dict[Dim, list[Expr]] = {row: [], column: []}
        rest = list[Expr]()
        for part in Mul.make_args(c.value):
            own = dims_of(part) & {row, column}
            if len(own) > 1:
                return None
            (sides[own.pop()] if own else rest).append(part)
        if not all(sides.values()):
            return None
        value = Mul(sp.S.NegativeOne, *rest)
        for side, parts in sides.items():
            vector = self._solved(node, substitute(Mul(*parts), {side: row}), vectors)
            value *= substitute(vector, {row: side})
        return Contribution(c.factor, value, c.place)

    def _solved(self, node: Matrix, vector: Expr, vectors: dict[Expr, Leaf]) -> Leaf:
        """The inverse of a matrix, times a vector along its rows."""
        if vector not in vectors:
            *outer, row, _ = node.whole.axes
            other = copy_of(row, {*node.whole.axes, *vector.atoms(Dim)})
            inverse = Leaf(node.inverse.element.array, *outer, row, other)
            product_ = Over(inverse * substitute(vector, {row: other}), other)
            vectors[vector] = self.naming.element("solved", (*outer, row))
            self.adjoints.append(self.naming.given(vectors[vector], product_))
        return vectors[vector]

    def _by_products(self, node: Matrix, found: tuple[Contribution, ...]) -> Contribution:
        """The part of a matrix's adjoint from that of its inverse: two products of matrices."""
        naming, axes = self.naming, node.whole.axes
        *outer, row, column = axes
        slope = naming.element(f"slope_of_{node.inverse.name}", axes)
        self.adjoints.append(Computed(slope, found))
        other = copy_of(row, axes)
        inverse = node.inverse.element.array
        right = Leaf(slope.array, *outer, row, other) * Leaf(inverse, *outer, other, column)
        half = naming.element("product", axes)
        self.adjoints.append(naming.given(half, Over(right, other)))
        left = Leaf(inverse, *outer, row, other) * Leaf(half.array, *outer, other, column)
        return naming.given(slope, -Over(left, other)).contributions[0]

    def through_recursion(self, node: Recursive) -> None:
        """The adjoints of the arrays of a recursion: a recursion that goes the other way."""
        direct = {own: self._direct(own, m) for own, m in node.arrays.items()}
        if not any(direct.values()):
            return
        stems = {own: f"slope_of_{own}" for own, m in node.arrays.items()}
        found = {own: self.naming.element(stems[own], m.axes) for own, m in node.arrays.items()}
        sources = [self._source(node, s, found) for s in node.system.args]
        back, steps = {own: Own(e.array.name) for own, e in found.items()}, list[Step]()
        for own, m in node.arrays.items():
            names = {found[o].array: back[o] for o in found}
            parts = [*self._pulled(sources, m)]
            if (leaf := direct[own]) is not None:
                place = self.naming.everywhere(m.axes)
                parts.append(Contribution(node.factor, leaf, place))
            steps += _steps(back[own], m.axes, len(node.outer), parts, names)
        system = system_of(steps)
        if system is None:
            raise NoDerivative(", ".join(map(str, node.arrays)))
        for own, element in found.items():
            dims = element.indices[len(node.outer) :]
            self.adjoints.append(self.naming.given(element, Recursion(system, back[own], *dims)))
        self.sources += sources

    def _direct(self, own: Own, m: Computed) -> Leaf | None:
        """The partial derivatives by an array of a recursion, its later elements held fixed."""
        found = tuple(self._pulled(self.sources, m))
        if not found:
            return None
        element = self.naming.element(f"direct_slope_of_{own}", m.axes)
        self.adjoints.append(Computed(element, found))
        return element

    def _source(self, node: Recursive, s: Step, adjoints: Mapping[Own, Leaf]) -> Source:
        """The value of a step as a source: times the adjoint of the element that it gives."""
        copies = copies_of((d for d in s.bound if d in node.outer), {*s.atoms(Dim), *node.outer})
        value = _with_leaves(substitute(s.value, copies), node)
        indices = (substitute(i, copies) for i in s.element.indices)
        weight = Leaf(adjoints[s.element.own].array, *node.outer, *indices)
        over = (Range(copies.get(r.dim, r.dim), r.start, r.stop) for r in s.over)
        return Source(node.factor, weight, value, (*self.naming.everywhere(node.outer), *over))

    def _pulled(self, sources: Iterable[Source], m: Computed) -> Iterator[Contribution]:
        """The parts of the adjoint of a computed array, one for each source."""
        steps, arrays = {m.name: f"step of {m.name}"}, {m.name: m.element.array}
        for source in sources:
            factor, value, over = source.slope(steps)
            if value == 0:
                continue
            term = factor, self.naming.inverses(value), over
            graph = self.naming.graph
            random = [v.name for v in graph.variables.values() if v.kind == "random"]
            for p in linear_pieces(graph, term, steps, arrays, self.data):
                if not (isinstance(p.statistic, Leaf) and is_separable(p)):
                    raise NoDerivative(m.name)
                indices = tuple(i for i in p.views[0].indices if i is not None)
                yield pull_back(p, m.axes, indices, graph.sizes, data_only(random, graph))


def _with_leaves(expr: Expr, node: Recursive) -> Expr:
    """An expression within a recursion, of elements of its computed arrays."""
    if isinstance(expr, Earlier) and expr.own in node.arrays:
        return Leaf(node.arrays[expr.own].element.array, *node.outer, *expr.indices)
    if not expr.has(Earlier):
        return expr
    return expr.func(*(_with_leaves(a, node) for a in expr.args))


def _within(expr: Expr, names: Mapping[Array, Own], outer: tuple[Expr, ...]) -> Expr:
    """An expression of adjoints, of elements within their recursion."""
    if isinstance(expr, Leaf) and expr.array in names:
        if expr.indices[: len(outer)] != outer:
            raise NoDerivative(str(expr))
        return Earlier(names[expr.array], *expr.indices[len(outer) :])
    if not expr.args or isinstance(expr, Leaf):
        return expr
    return expr.func(*(_within(a, names, outer) for a in expr.args))


def _steps(
    own: Own,
    axes: tuple[Dim, ...],
    first: int,
    parts: Sequence[Contribution],
    names: Mapping[Array, Own],
) -> Iterator[Step]:
    """The steps that add up contributions: one for each region that some of these have."""
    outer, inner = axes[:first], axes[first:]
    values = [(_within(c.value, names, outer), c.place[first:]) for c in parts]
    ends = [sorted({e for _, place in values for e in _ends(place[n])}) for n in range(len(inner))]
    for box in product(*(pairwise(e) for e in ends)):
        held = [v for v, place in values if all(map(_covers, place, box))]
        over = [Range(d, *ends_of) for d, ends_of in zip(inner, box, strict=True)]
        yield step(Earlier(own, *inner), Add(*held), over)


def _ends(place: Place) -> tuple[int, int]:
    return (place.start, place.stop) if isinstance(place, Range) else (place, place + 1)


def _covers(place: Place, box: tuple[int, int]) -> bool:
    start, stop = _ends(place)
    return start <= box[0] and box[1] <= stop
