"""Sums of squares about a centre: what lets a sweep forget the observations without losing digits.

Comes in: an expression ``F``, affine in random arrays with data for coefficients, and the ranges
over which its square is summed. Goes out: a `Centred` value, or None where it would not pay.

    S(x) = sum F(x)**2 = S(x0) + slope . (x - x0) + (x - x0)' Q (x - x0)

``x0`` is a point near the minimum, found once. Expanded about zero instead, S would be a small
difference of large numbers; about x0 it is a sum of a large number and small ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod

from sympy import Add, Mul

from gibbsppl.algebra.copies import copy_of, root_of
from gibbsppl.algebra.expressions import Array, Dim, Expr, Leaf, leaves_of
from gibbsppl.algebra.ranges import Range, bounded
from gibbsppl.derive.contractions import Contribution, Known, contracted, pull_back
from gibbsppl.model.graph import Graph, Variable
from gibbsppl.pieces.dependence import is_separable
from gibbsppl.pieces.split import Piece, View, split

RESIDUAL = "residual·"


@dataclass(frozen=True, slots=True)
class CentredArray:
    """A random array in F: its axes, the name of the distances from the centre, the adjoint of F.

    ``adjoint``, an expression in the axes, is the sum of the residual times the coefficients of the
    array's elements in F.
    """

    name: str
    dims: tuple[Dim, ...]
    away: str
    adjoint: Expr


@dataclass(frozen=True, slots=True)
class Centred:
    """A sum of squares about a centre: F, its ranges, its parts, and the terms of the form.

    ``forms`` are expressions in the arrays of distances (``away``); ``graph`` knows those too.
    """

    base: Expr
    ranges: tuple[Range, ...]
    parts: tuple[CentredArray, ...]
    forms: tuple[Expr, ...]
    graph: Graph


def about_centre(
    graph: Graph, base: Expr, ranges: tuple[Range, ...], is_data: Known
) -> Centred | None:
    """The sum of squares of an affine expression about a centre; None where that costs more."""
    random = {n for n, v in graph.variables.items() if v.kind == "random"}
    names = sorted({leaf.array.name for leaf in leaves_of(base, random)})
    whole = all(len(r) == graph.sizes.get(r.dim) for r in ranges)
    if not whole or not names or not leaves_of(base) - leaves_of(base, random):
        return None
    pieces = split("squares", base**2, ranges, names, graph.sizes)
    pairs = [p for p in pieces if _degree(p) == 2]
    affine = all(_degree(p) in (1, 2) and is_data(p.coefficient) for p in pieces)
    if not affine or {v.array.name for p in pairs for v in p.views} != set(names):
        return None
    wide = _with_arrays(graph, names, ranges)
    parts = [_part(wide, n, base, ranges, is_data) for n in names]
    forms = [_form(wide, p, is_data) for p in pairs]
    if any(p is None for p in parts) or any(f is None for f in forms):
        return None
    work = sum(f[1] for f in forms if f) + sum(_count(graph, n) for n in names)
    # Evaluated plainly, each term of F is an operation on all observations.
    if work > prod(map(len, ranges)) * len(Add.make_args(base)):
        return None
    return Centred(
        base, ranges, tuple(p for p in parts if p), tuple(f[0] for f in forms if f), wide
    )


def _degree(piece: Piece) -> int:
    """1 or 2 where the statistic is an element or a product of two; 0 for anything else.

    Data that are read at a random label are no element.
    """
    if not is_separable(piece):
        return 0
    factors = Mul.make_args(piece.statistic)
    powers = [f.as_base_exp() for f in factors]
    own = {view.array for view in piece.views}
    if not all(isinstance(b, Leaf) and b.array in own and e.is_Integer for b, e in powers):
        return 0
    return int(sum(e for _, e in powers))


def _with_arrays(graph: Graph, names: list[str], ranges: tuple[Range, ...]) -> Graph:
    """The graph that knows the residual and the distances from the centre too."""
    away = {_away(n): replace(graph.variables[n], name=_away(n)) for n in names}
    residual = Variable(RESIDUAL, tuple(r.dim for r in ranges), "data")
    return replace(graph, variables={**graph.variables, **away, RESIDUAL: residual})


def _away(name: str) -> str:
    return f"{name}·away"


def _count(graph: Graph, name: str) -> int:
    return prod(graph.sizes[d] for d in graph.variables[name].dims)


def _part(
    graph: Graph, name: str, base: Expr, ranges: tuple[Range, ...], is_data: Known
) -> CentredArray | None:
    """An array with the adjoint of F along it; None where only a region of it is in F."""
    dims = graph.variables[name].dims
    residual = Leaf(Array(RESIDUAL), *(r.dim for r in ranges))
    pieces = split("F", residual * base, ranges, {name}, graph.sizes)
    total = Mul(0)
    for p in pieces:
        (view,) = p.views
        pulled = _pulled(graph, p, dims, view, is_data)
        if pulled is None:
            return None
        total += pulled.value
    return CentredArray(name, dims, _away(name), total)


def _pulled(
    graph: Graph, piece: Piece, dims: tuple[Dim, ...], view: View, is_data: Known
) -> Contribution | None:
    indices = tuple(i for i in view.indices if i is not None)
    if len(indices) != len(dims):
        return None
    contribution = pull_back(piece, dims, indices, graph.sizes, is_data)
    return contribution if contribution.is_everywhere(graph.sizes) else None


def _form(graph: Graph, piece: Piece, is_data: Known) -> tuple[Expr, int] | None:
    """A term of the quadratic form, and the number of elements that its coefficient has."""
    v, w = (*piece.views, piece.views[0])[:2]
    axes: list[Dim] = []
    indices: list[Expr] = []
    read: list[tuple[Dim, ...]] = []
    for view in (v, w):
        own = []
        for axis, index in zip(graph.variables[view.array.name].dims, view.indices, strict=True):
            if index is None:
                return None
            if index not in indices:
                axes.append(axis if axis not in axes else copy_of(axis, (*axes, *graph.sizes)))
                indices.append(index)
            own.append(axes[indices.index(index)])
        read.append(tuple(own))
    sizes = _sizes_of(graph, axes)
    contribution = pull_back(piece, tuple(axes), tuple(indices), sizes, is_data)
    if not contribution.is_everywhere(sizes):
        return None
    distances = (
        Leaf(Array(_away(view.array.name)), *own) for view, own in zip((v, w), read, strict=True)
    )
    over = [Range(a, 0, sizes[a]) for a in axes]
    form = contracted(Mul(bounded(contribution.value, sizes), *distances), over, is_data)
    return form, prod(sizes[a] for a in axes)


def _sizes_of(graph: Graph, axes: list[Dim]) -> Mapping[Dim, int]:
    return {**graph.sizes, **{a: graph.sizes[Dim(root_of(a))] for a in axes}}
