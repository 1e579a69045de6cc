"""The log density of each element by itself, of elements that depend on one another.

The log density of all elements becomes a log density of each element: the sum of the terms that
read the element. Each term reads one element of a colour at most, so that nothing is counted twice.
Where the entries of a value are tied to one another, the log density is of each value. Of elements
one by one that products tie, as a dense normal prior does, what the others multiply an element by
is computed once for each draw (`one_given_others`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

import sympy as sp
from sympy import Mul

from gibbsppl.algebra.copies import copies_of
from gibbsppl.algebra.expressions import Dim, Expr, Leaf, substitute
from gibbsppl.algebra.functions import Equals
from gibbsppl.algebra.ranges import bounded
from gibbsppl.derive.conflicts import Seen, seen_in
from gibbsppl.derive.contractions import Contribution, IsData, data_only, pull_back
from gibbsppl.model.graph import Graph
from gibbsppl.pieces.dependence import is_separable, never_meet, overlap
from gibbsppl.pieces.elements import element_pieces
from gibbsppl.pieces.split import Piece
from gibbsppl.schedule.cancelling import without_cancelling
from gibbsppl.schedule.contributions import Contributions
from gibbsppl.schedule.kinds import DensityDraw


def one_given_others(step: DensityDraw, graph: Graph) -> DensityDraw | None:
    """The step as that of one element given all others, its coefficients computed once.

    None where a term ties elements otherwise than by a product of functions of two: then the log
    density of all of them is evaluated.
    """
    pieces, refusal = without_cancelling(step.conditional.pieces), step.refusal
    assert refusal is not None
    others = graph.marginals or step.tied or step.parameters or step.place != step.statement.target
    if others or not any(len(p.views) > 1 for p in pieces) or not all(map(is_separable, pieces)):
        return None
    apart = replace(refusal, elements=False, pieces=element_pieces(pieces))
    made = Contributions(graph)
    parameters, terms = made.log_density(apart, step.place, step.region)
    return step.with_fields(parameters=parameters, terms=terms)


def terms_by_element(step: DensityDraw, graph: Graph) -> tuple[Contribution, ...] | None:
    """The contributions of terms to the log density of each element; None where in doubt."""
    return terms_of(without_cancelling(step.conditional.pieces), step, graph, step.tied)


def terms_of(
    pieces: Iterable[Piece],
    step: DensityDraw,
    graph: Graph,
    tied: int,
    kept: Mapping[Expr, Leaf] = MappingProxyType({}),
) -> tuple[Contribution, ...] | None:
    """The contributions of some pieces to the log density of each element; None where in doubt.

    Of each value, where there are axes along which entries are ``tied``. Expressions that are
    ``kept`` in arrays of their own are read there.
    """
    more = {leaf.array.name: leaf.own_dims for leaf in kept.values()}
    known = data_only(graph.random, graph)
    is_data = replace(known, random=known.random | {*more}, dims={**known.dims, **more})
    made, found = Contributions(graph), list[Contribution]()
    for piece in pieces:
        value = made.whole(step.conditional, piece).xreplace(dict(kept))
        views = _each_once(piece, value, is_data, graph, tied)
        if views is None:
            return None
        places = step.region[: len(step.region) - tied]
        axes = graph.variables[step.variables[0]].dims[: len(places)]
        for one in views:
            indices = tuple(i for i in one.views[0].indices if i is not None)
            c = pull_back(one, axes, indices, graph.sizes, is_data)
            if all(map(overlap, c.place, places)):
                found.append(c)
    return tuple(found)


def _each_once(
    piece: Piece, value: Expr, is_data: IsData, graph: Graph, tied: int
) -> list[Piece] | None:
    """A piece once for each of its views, its whole value as the coefficient.

    Where a weight is 0 an element is not seen: one of the same colour may be there. Where two views
    show the same element, and the first one sees it, it is left out of the second; None where a sum
    within the term may show an element at several of its positions.
    """
    whole = bounded(value, graph.sizes)
    # (the target's own leaves are random, also after a change of variable)
    targets = {v.array.name for v in piece.views}
    seen = seen_in(piece, lambda e: is_data(e) and not _mentioned(e, targets), graph.sizes, tied)
    if any(s.inner for s in seen):
        return _within_sum(piece, seen, whole, graph)
    ranges = {r.dim: r for r in piece.over}
    found = []
    for n, second in enumerate(seen):
        coefficient = Mul(whole, _where_seen(piece, second.weights))
        for first in seen[:n]:
            pairs = list(zip(first.view.read, second.view.read, strict=True))
            if None in (*first.view.indices, *second.view.indices):
                return None
            if any(a != b and never_meet(a, b, ranges) for a, b in pairs):
                continue
            same = Mul(*(Equals(a, b) for a, b in pairs if a != b))
            coefficient = Mul(coefficient, 1 - same * _where_seen(piece, first.weights))
        found.append(replace(piece, coefficient=coefficient, views=(second.view,)))
    return found


def _where_seen(piece: Piece, weights: Iterable[Expr]) -> Expr:
    """0 where a weight within the statistic is (where the coefficient is 0 the whole term is)."""
    own = set(Mul.make_args(piece.coefficient))
    return Mul(*(1 - Equals(w, sp.S.Zero) for w in weights if w not in own))


def _mentioned(expr: Expr, names: set[str]) -> bool:
    return any(str(s) in names for s in expr.free_symbols)


def _within_sum(
    piece: Piece, seen: tuple[Seen, ...], whole: Expr, graph: Graph
) -> list[Piece] | None:
    """A term with a single sum over elements, as a piece over the positions of the sum."""
    if len(seen) > 1:
        return None
    ((indices, inner, weights),) = [(s.view.indices, s.inner, s.weights) for s in seen]
    bound = [r.dim for r in inner]
    shown = [i for i in indices if i is not None]
    plain = [i for i in shown if isinstance(i, Dim)]
    if len(shown) < len(indices) or len(set(plain)) < len(plain) or not set(bound) <= set(plain):
        return None
    ranged = (r.dim for r in (*piece.over, *inner))
    names = copies_of(bound, {*whole.free_symbols, *ranged, *graph.sizes})
    ranges = tuple(replace(r, dim=names[r.dim]) for r in inner)
    there = substitute(_where_seen(piece, weights), names)
    view = replace(
        seen[0].view, indices=tuple(substitute(i, names) for i in indices if i is not None)
    )
    return [replace(piece, coefficient=whole * there, views=(view,), over=piece.over + ranges)]
