"""Dependence among elements of an array, axis by axis, and overlap of regions.

>>> overlap(Range(Dim("t"), 0, 3), 2)
True
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import combinations
from math import prod
from typing import Literal

from sympy import Mul

from gibbsppl.algebra.expressions import Array, Dim, Expr, dims_of, leaves_of
from gibbsppl.algebra.ranges import Range, size_of
from gibbsppl.model.graph import Factor, Graph, Statement, expressions_read_by
from gibbsppl.pieces.split import Piece, View, views_of

Role = Literal["batch", "dense", "band", "graph"]

# Positions on one axis: a range, or a single position.
Place = Range | int


def is_separable(piece: Piece) -> bool:
    """Whether the statistic is a function of one view, or a product of two such functions.

    A sum inside a function (``log(1 + exp(sum(x[i, k] * b[k], k)))``) is not: it binds an index.
    """
    ranges = {r.dim for r in piece.over}
    for view in piece.views:
        inner = [d for i in view.indices if i is not None for d in dims_of(i)]
        if not set(inner) <= ranges:
            return False
    if len(piece.views) == 1:
        return True
    if len(piece.views) > 2:
        return False
    parts = Mul.make_args(piece.statistic)
    arrays = {v.array.name for v in piece.views}
    return all(len(set(views_of(p, arrays))) == 1 for p in parts)


def roles_of(
    pieces: Iterable[Piece], statement: Statement, region: tuple[Place, ...] | None = None
) -> tuple[Role, ...]:
    """How elements depend on one another, axis by axis, read from the pieces with two views.

    The same index expression: ``batch`` (independent); two dims that are both summed: ``dense``; a
    constant difference: ``band``; anything else (data indices): ``graph``. A difference that leads
    out of the ``region`` links no two elements.
    """
    found: list[Role] = ["batch"] * len(statement.target.indices)
    order: tuple[Role, ...] = ("batch", "dense", "band", "graph")
    for piece in pieces:
        ranges = {r.dim: r for r in piece.over}
        summed = set(ranges)
        for v, w in combinations(piece.views, 2):
            pairs = list(zip(v.indices, w.indices, strict=True))
            if region and any(_leads_out(p, r, ranges) for p, r in zip(pairs, region, strict=True)):
                continue
            for axis, (a, b) in enumerate(pairs):
                found[axis] = max(found[axis], _role(a, b, summed), key=order.index)
    return tuple(found)


def region_of(graph: Graph, statement: Statement) -> tuple[Place, ...]:
    """The positions of its array that a statement fills, axis by axis."""
    ranges = {r.dim: r for r in statement.over}
    return tuple(
        ranges.get(i, Range(i, 0, graph.sizes[i])) if isinstance(i, Dim) else int(i)
        for i in statement.target.indices
    )


def count_of(graph: Graph, statement: Statement) -> int:
    """The number of elements that a statement fills."""
    return prod(map(length_of, region_of(graph, statement)))


def size_of_array(graph: Graph, name: str) -> int:
    """The number of elements of an array that statements fill."""
    return sum(count_of(graph, s) for s in graph.statements_of(name))


def times_read(graph: Graph, factor: Factor, name: str) -> int:
    """How many elements of an array all terms of a factor read."""
    own = {r.dim for r in factor.over}
    found = 0
    for leaf in (a for e in expressions_read_by(factor) for a in leaves_of(e, (name,))):
        summed = {d for i in leaf.indices for d in dims_of(i)} - own
        terms = prod(len(r) for r in factor.over)
        found = max(found, terms * prod(size_of(d, graph.sizes) for d in summed))
    return found


def length_of(place: Place) -> int:
    """The number of positions that a place has along its axis."""
    return 1 if isinstance(place, int) else len(place)


def slices_of(region: Iterable[Place]) -> tuple[slice, ...]:
    """A region as an index of its array, which keeps all axes.

    >>> slices_of([Range(Dim("t"), 1, 4), 2])
    (slice(1, 4, None), slice(2, 3, None))
    """
    return tuple(slice(p, p + 1) if isinstance(p, int) else slice(p.start, p.stop) for p in region)


def touches(view: View, over: Iterable[Range], region: tuple[Place, ...]) -> bool:
    """Whether a view may show an element of a region."""
    ranges = {r.dim: r for r in over}
    return all(
        shown is None or overlap(shown, place)
        for index, place in zip(view.indices, region, strict=True)
        if index is not None
        for shown in (_shown(index, ranges),)
    )


def within(piece: Piece, region: tuple[Place, ...]) -> Piece:
    """The piece at the positions at which its one view shows an element of a region.

    Where it has several, or an index is neither a position nor a dim with a lag, all positions.
    """
    if len(piece.views) != 1:
        return piece
    ranges = {r.dim: r for r in piece.over}
    for index, place in zip(piece.views[0].indices, region, strict=True):
        dim, lag = (None, 0) if index is None else shifted(index)
        if dim in ranges:
            r, (first, end) = ranges[dim], bounds_of(place)
            own = Range(r.dim, max(r.start, first - lag), min(r.stop, end - lag))
            ranges[r.dim] = own if own.start < own.stop else r
    return replace(piece, over=tuple(ranges[r.dim] for r in piece.over))


def shifted(index: Expr) -> tuple[Dim | None, int]:
    """A dim and a constant, if the index is their sum.

    >>> shifted(Dim("t") - 1)
    (t, -1)
    """
    dims = [d for d in index.free_symbols if isinstance(d, Dim)]
    if len(dims) != 1 or index.atoms(Array):
        return None, 0
    shift = index - dims[0]
    return (dims[0], int(shift)) if shift.is_Integer else (None, 0)


def overlap(a: Place, b: Place) -> bool:
    """Whether two places have a position in common."""
    (a0, a1), (b0, b1) = ((p, p + 1) if isinstance(p, int) else (p.start, p.stop) for p in (a, b))
    return a0 < b1 and b0 < a1


def _role(a: Expr | None, b: Expr | None, summed: set[Dim]) -> Role:
    """The role of an axis, from two indices on it."""
    if a == b or a is None or b is None:
        return "batch"
    if a in summed and b in summed:
        return "dense"
    return "band" if (a - b).is_number else "graph"


def never_meet(a: Expr, b: Expr, ranges: Mapping[Dim, Range]) -> bool:
    """Whether two indices are at different positions, wherever they are."""
    if (a - b).is_number and a != b:
        return True
    places = _shown(a, ranges), _shown(b, ranges)
    return None not in places and not overlap(*places)  # type: ignore[arg-type]


def _leads_out(
    pair: tuple[Expr | None, Expr | None], place: Place, ranges: Mapping[Dim, Range]
) -> bool:
    """Whether two indices cannot both be in a place."""
    shown = (_shown(i, ranges) for i in pair if i is not None)
    if any(p is not None and not overlap(p, place) for p in shown):
        return True
    a, b = pair
    length = 1 if isinstance(place, int) else len(place)
    if a is None or b is None or a == b or not (a - b).is_number:
        return False
    return bool(abs(a - b) >= length)


def _shown(index: Expr, ranges: Mapping[Dim, Range]) -> Place | None:
    """The range or the single position of an index; None for other indices."""
    if index.is_Integer:
        return int(index)
    dim, shift = shifted(index)
    if dim is None or dim not in ranges:
        return None
    return Range(dim, ranges[dim].start + shift, ranges[dim].stop + shift)


def bounds_of(place: Place) -> tuple[int, int]:
    """The first position and the one after the last."""
    return (place, place + 1) if isinstance(place, int) else (place.start, place.stop)
