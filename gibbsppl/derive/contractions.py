"""Natural parameters as expressions of the target's dims: the pull-back of pieces, contracted.

Comes in: pieces (coefficient, views, ranges). Goes out: `Contribution` values, one per piece: what
a factor adds to a natural parameter, as an expression in the dims of the target.

Gathers are one-hot: a coefficient summed onto ``x[g[i]]`` is ``sum_i c[i] * Equals(g[i], x_dim)``.
Sums are pushed in as far as they go: what does not depend on a summed dim leaves the sum, what
depends on it through the gather alone leaves it too, and a sum of terms is split where that leaves
sums over data alone, which the back end computes once. This is one piece of algebra, which neither
the planner nor the back end has to know.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import sympy as sp
from sympy import Add, Mul

from gibbsppl.algebra.copies import copy_of, root_of
from gibbsppl.algebra.expressions import (
    Array,
    Binder,
    Dim,
    Expr,
    Greatest,
    Leaf,
    Over,
    dims_of,
    substitute,
)
from gibbsppl.algebra.functions import Equals, Where
from gibbsppl.algebra.ranges import Range, bounded, length_of, size_of
from gibbsppl.algebra.recursions import Own, Recursion
from gibbsppl.model.graph import Graph
from gibbsppl.pieces.dependence import Place, shifted
from gibbsppl.pieces.split import Piece

IsData = Callable[[Expr], bool]


@dataclass(frozen=True, slots=True)
class Contribution:
    """The term that a factor adds to a natural parameter.

    ``value`` is an expression in the axis dims; ``place`` gives, axis by axis, the positions to
    add to (a range of the axis dim, or one position).
    """

    factor: str
    value: Expr
    place: tuple[Place, ...]

    def is_everywhere(self, sizes: Mapping[Dim, int]) -> bool:
        """Whether the contribution is to all positions of the array."""
        return all(
            isinstance(p, Range) and (p.start, p.stop) == (0, sizes[p.dim]) for p in self.place
        )


@dataclass(frozen=True, slots=True)
class Known:
    """The random arrays, and all dims and sizes; called: whether an expression is data alone."""

    random: frozenset[str]
    dims: Mapping[str, tuple[Dim, ...]]
    sizes: Mapping[Dim, int]

    def __call__(self, expr: Expr) -> bool:
        """Whether an expression reads no random array, nor an array being computed."""
        return not any(
            isinstance(s, Own) or (isinstance(s, Array) and s.name in self.random)
            for s in expr.free_symbols
        )

    def reach(self, expr: Expr, index: Expr, axis: Dim) -> bool:
        """Whether the arrays read at an index have an element at every position of an axis.

        An array may be shorter than the axis: its elements are then read at the index alone.
        """
        read = (
            self._is_as_long(leaf.array.name, n, axis)
            for leaf in expr.atoms(Leaf)
            for n, i in enumerate(leaf.indices)
            if i.has(index)
        )
        computed = (
            size_of(axis, self.sizes) <= size
            for found in expr.atoms(Recursion)
            for i, size in zip(found.indices, found.system.shape(found.own), strict=True)
            if i.has(index)
        )
        return all(read) and all(computed)

    def _is_as_long(self, name: str, position: int, axis: Dim) -> bool:
        dims = self.dims.get(name, ())
        if position >= len(dims) or (own := dims[position]) == axis:
            return position < len(dims)
        unknown = {own, axis} - {d for d in (own, axis) if {d, Dim(root_of(d))} & set(self.sizes)}
        return not unknown and size_of(own, self.sizes) >= size_of(axis, self.sizes)


def data_only(random: Collection[str], graph: Graph | None = None) -> Known:
    """The names of the random arrays with the dims and sizes of a graph."""
    variables = {} if graph is None else graph.variables
    dims = {n: v.dims for n, v in variables.items()}
    return Known(frozenset(random), dims, {} if graph is None else graph.sizes)


def pull_back(
    piece: Piece,
    axes: tuple[Dim, ...],
    indices: tuple[Expr, ...],
    sizes: Mapping[Dim, int],
    is_data: Known,
) -> Contribution:
    """The coefficient of a piece, summed over everything that the view's indices do not name.

    ``indices`` are the view's index expressions, one per axis of the natural parameter; ``axes``
    the dims that name those axes.
    """
    aligned = _align(piece, axes, indices, sizes)
    coefficient = substitute(bounded(piece.coefficient, sizes), aligned.mapping)
    matches = (Equals(substitute(i, aligned.mapping), a) for i, a in aligned.gathers)
    value = contracted(Mul(coefficient, *matches), aligned.summed, is_data)
    return Contribution(piece.factor, value, aligned.place)


def pull_back_extreme(
    piece: Piece, axes: tuple[Dim, ...], sizes: Mapping[Dim, int], extreme: type[Binder]
) -> Contribution:
    """The largest (or smallest) coefficient of a piece over all dims that its view does not name.

    Elements that no position shows get minus (or plus) infinity.
    """
    (view,) = piece.views
    aligned = _align(piece, axes, tuple(i for i in view.indices if i is not None), sizes)
    value = substitute(bounded(piece.coefficient, sizes), aligned.mapping)
    if aligned.gathers:
        matches = (Equals(substitute(i, aligned.mapping), a) for i, a in aligned.gathers)
        value = Where(Mul(*matches), value, -sp.oo if extreme is Greatest else sp.oo)
    for r in aligned.summed:
        if r.dim in dims_of(value):
            value = extreme(value, r.dim, sp.Integer(r.start), sp.Integer(r.stop))
    return Contribution(piece.factor, value, aligned.place)


@dataclass(frozen=True, slots=True)
class _Alignment:
    mapping: dict[Expr, Expr]
    gathers: tuple[tuple[Expr, Dim], ...]
    place: tuple[Place, ...]
    summed: tuple[Range, ...]


def _align(
    piece: Piece, axes: tuple[Dim, ...], indices: tuple[Expr, ...], sizes: Mapping[Dim, int]
) -> _Alignment:
    """The dims of the piece renamed to axes, the gathers, the positions, and the ranges to sum."""
    ranges = {r.dim: r for r in piece.over}
    mapping: dict[Expr, Expr] = {}
    gathers: list[tuple[Expr, Dim]] = []
    place: list[Place] = []
    for axis, index in zip(axes, indices, strict=True):
        dim, shift = shifted(index)
        if index.is_Integer:
            place.append(int(index))
        elif dim in ranges and dim not in mapping:
            mapping[dim] = axis - shift
            place.append(Range(axis, ranges[dim].start + shift, ranges[dim].stop + shift))
        else:
            gathers.append((index, axis))
            place.append(Range(axis, 0, sizes[axis]))
    taken = set(axes) | set(ranges) | dims_of(piece.coefficient)
    summed = []
    for r in piece.over:
        if r.dim in mapping:
            continue
        dim = r.dim
        if dim in axes:
            dim = copy_of(r.dim, taken)
            taken.add(dim)
            mapping[r.dim] = dim
        summed.append(Range(dim, r.start, r.stop))
    kept = {k: v for k, v in mapping.items() if k != v}
    return _Alignment(kept, tuple(gathers), tuple(place), tuple(summed))


def contracted(expr: Expr, over: Collection[Range], is_data: Known) -> Expr:
    """The sum of an expression over ranges, with the sums pushed in as far as they go.

    >>> w, b, x, i, j = Array("w"), Array("b"), Array("x"), Dim("i"), Dim("j")
    >>> contracted(w[i, j] - b[i] * x[j], (Range(j, 0, 5),), data_only({"b"}))
    -b[i]*sum(x[j], j, 0, 5) + sum(w[i, j], j, 0, 5)
    """
    ranges = {r.dim: r for r in over}
    if not ranges or expr == 0:
        return expr
    factors = _flattened(Mul.make_args(expr), ranges, dims_of(expr))
    # Opened sums come in a fixed order: contracting again changes nothing.
    asked = [r.dim for r in over]
    opened = sorted((d for d in ranges if d not in asked), key=str)
    ranges = {d: ranges[d] for d in (*asked, *opened)}
    factors = _through_gathers(factors, ranges, is_data)
    outside = [f for f in factors if not dims_of(f) & set(ranges)]
    inside = [f for f in factors if dims_of(f) & set(ranges)]
    idle = [r for d, r in ranges.items() if not any(d in dims_of(f) for f in inside)]
    count = Mul(*(length_of(r, is_data.sizes) for r in idle))
    left = tuple(r for r in ranges.values() if r not in idle)
    if not inside:
        return Mul(count, *outside)
    split = _distributed(inside, left, is_data)
    if split is None and (apart := _distributed_first(inside, left, is_data)) is not None:
        inside, left = apart
    return Mul(count, *outside, split if split is not None else _nested(inside, left, is_data))


def _flattened(
    factors: Collection[Expr], ranges: dict[Dim, Range], free: Collection[Dim]
) -> list[Expr]:
    """The factors of a product, with factors that are sums opened into ``ranges``.

    ``free`` are the dims that factors read outside of the sums, such as an axis of the result.
    """
    found: list[Expr] = []
    for factor in factors:
        if isinstance(factor, Over) and len(factor.args) == 4 and dims_of(factor) & set(ranges):
            body, (dim,), (start, stop) = factor.body, factor.bound, factor.args[2:]
            if dim not in ranges:
                if dim in free:
                    copy = copy_of(dim, {*free, *ranges, *dims_of(body)})
                    body, dim = substitute(body, {dim: copy}), copy
                ranges[dim] = Range(dim, int(start), int(stop))
                found += _flattened(Mul.make_args(body), ranges, {*free, *dims_of(body)})
                continue
        found.append(factor)
    return found


def _through_gathers(factors: list[Expr], ranges: Mapping[Dim, Range], known: Known) -> list[Expr]:
    """The factors, with gather indices replaced by the axis where no other summed dim remains."""
    matches = [f for f in factors if isinstance(f, Equals) and isinstance(f.args[1], Dim)]
    axes = ((m.args[0], axis) for m in matches if isinstance(axis := m.args[1], Dim))
    mapping = {index: axis for index, axis in axes if axis not in ranges}
    if not mapping:
        return factors
    found = []
    for factor in factors:
        stays = factor in matches or _reads_beside(factor, mapping)
        stays = stays or not all(known.reach(factor, i, axis) for i, axis in mapping.items())
        moved = factor if stays else substitute(factor, mapping)
        found.append(factor if dims_of(moved) & set(ranges) else moved)
    return found


def _reads_beside(factor: Expr, gathers: Collection[Expr]) -> bool:
    """Whether a factor reads an array some positions off a gather: not all axis positions exist."""
    indices = (i for leaf in factor.atoms(Leaf) for i in leaf.indices if i.is_Add)
    return any(i.has(g) for i in indices for g in gathers)


def _distributed(inside: list[Expr], left: tuple[Range, ...], is_data: Known) -> Expr | None:
    """The sum of a product with a sum of terms, term by term, where only data stay summed."""
    sums = [f for f in inside if f.is_Add and not is_data(f)]
    rest = [f for f in inside if f not in sums]
    if len(sums) != 1 or not all(map(is_data, rest)):
        return None
    terms = [contracted(Mul(t, *rest), left, is_data) for t in sums[0].args]
    total = Add(*terms)
    # Sums that are left must be over data alone, or over other dims than those summed here.
    here = {r.dim for r in left}
    sums_left = [e for e in sp.preorder_traversal(total) if isinstance(e, Over) and not is_data(e)]
    return None if any(set(e.bound) & here for e in sums_left) else total


def _distributed_first(
    inside: list[Expr], left: tuple[Range, ...], is_data: Known
) -> tuple[list[Expr], tuple[Range, ...]] | None:
    """The factors and the ranges left when the dims of a sum of terms are summed before others.

    ``sum(b[k] * x[i, k] * (y[i] - a), i, k)`` reads all of ``x`` each time; with ``i`` summed first
    it reads ``sum(x[i, k] * y[i], i)`` and ``sum(x[i, k], i)``, which are data.
    """
    sums = [f for f in inside if f.is_Add and not is_data(f)]
    here = tuple(r for r in left if any(r.dim in dims_of(f) for f in sums))
    dims = {r.dim for r in here}
    group = [f for f in inside if dims_of(f) & dims]
    others = [f for f in inside if not dims_of(f) & dims]
    if not dims or not others or (found := _distributed(group, here, is_data)) is None:
        return None
    rest = tuple(r for r in left if r not in here)
    return [*others, found], rest


def _nested(inside: list[Expr], left: tuple[Range, ...], is_data: Known) -> Expr:
    """The sum over all ranges left, dims of data alone summed first."""
    factors = list(inside)
    rest = []
    summed = {r.dim for r in left}
    for r in left:
        group = [f for f in factors if r.dim in dims_of(f)]
        others = [f for f in factors if f not in group]
        is_spread = any(_is_spread(f, r.dim, summed) for f in group)
        if others and all(map(is_data, group)) and not is_spread:
            factors = [*others, Over(Mul(*group), r.dim, r.start, r.stop)]
        else:
            rest.append(r)
    value = Mul(*factors)
    for r in reversed(rest):
        value = Over(value, r.dim, r.start, r.stop)
    return value


def _is_spread(factor: Expr, dim: Dim, summed: Collection[Dim]) -> bool:
    """Whether a one-hot factor, summed over one dim alone, is a table of others by an axis.

    (Such a table has as many entries as there are groups for each position.)
    """
    if not isinstance(factor, Equals) or not isinstance(axis := factor.args[1], Dim):
        return False
    return axis not in summed and bool(dims_of(factor.args[0]) & set(summed) - {dim})
