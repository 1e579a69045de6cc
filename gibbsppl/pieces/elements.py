"""The reading by element: pieces in two elements become pieces of one given the other.

Comes in: pieces whose statistics have one view or are products of two. Goes out: pieces with one
view each; the function of the other view is now part of the coefficient, at its current value.
Powers of elements that are 0 or 1 are the elements.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import sympy as sp
from sympy import Mul

from gibbsppl.algebra.expressions import Dim, Expr, Leaf, substitute
from gibbsppl.algebra.functions import Equals
from gibbsppl.algebra.polynomials import multiplied_out
from gibbsppl.algebra.ranges import Range
from gibbsppl.algebra.supports import Support
from gibbsppl.pieces.dependence import never_meet
from gibbsppl.pieces.split import Piece, View


def element_pieces(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    """Pieces with one view each, for the conditional of an element given all others.

    ``c f(v) g(w)`` is ``c g(w)`` times ``f(v)`` and ``c f(v)`` times ``g(w)``; where v and w are
    the same element, both are taken back and replaced by ``c`` times ``f(v) g(v)``.
    """
    found: list[Piece] = []
    for piece in pieces:
        found.extend((piece,) if len(piece.views) == 1 else _parted(piece))
    return tuple(found)


def idempotent(pieces: Iterable[Piece], support: Support) -> tuple[Piece, ...]:
    """The pieces, with ``v**k`` as ``v`` where elements are 0 or 1."""
    return tuple(map(_idempotent, pieces)) if support.is_binary else tuple(pieces)


def _idempotent(piece: Piece) -> Piece:
    leaves = {view.leaf for view in piece.views if None not in view.indices}
    powers: dict[Expr, Expr] = {
        f: f.base
        for f in Mul.make_args(piece.statistic)
        if isinstance(f, sp.Pow) and f.base in leaves
        if f.exp.is_Integer and f.exp.is_positive
    }
    return replace(piece, statistic=piece.statistic.xreplace(powers)) if powers else piece


def _parted(piece: Piece) -> list[Piece]:
    v, w = piece.views
    of_v, of_w = _factors(piece.statistic, v), _factors(piece.statistic, w)
    apart = [
        replace(piece, statistic=of_v, views=(v,), coefficient=piece.coefficient * of_w),
        replace(piece, statistic=of_w, views=(w,), coefficient=piece.coefficient * of_v),
    ]
    times = 1
    if _is_symmetric(piece):  # (both halves are the same sums)
        apart, times = [replace(apart[0], coefficient=2 * apart[0].coefficient)], 2
    met = _meeting(piece, v, w)
    if met is None:
        return apart
    piece, same = met
    of_v, v = substitute(of_v, same), replace(v, indices=_substituted(v, same))
    both = substitute(substitute(of_w, {_leaf(w): _leaf(v)}), same)
    c = piece.coefficient
    other = [replace(piece, statistic=both, views=(v,), coefficient=-c * of_v)]
    return [
        *apart,
        replace(piece, statistic=of_v, views=(v,), coefficient=-times * c * both),
        *(other if times == 1 else ()),
        replace(piece, statistic=of_v * both, views=(v,), coefficient=c),
    ]


def _is_symmetric(piece: Piece) -> bool:
    """Whether a piece is the same with its two views exchanged, as are the ranges of their dims."""
    v, w = piece.views
    pairs = [(a, b) for a, b in zip(v.indices, w.indices, strict=True) if a != b]
    ranges = {r.dim: r for r in piece.over}
    exchanged: dict[Dim, Expr] = {}
    for a, b in pairs:
        if not (isinstance(a, Dim) and isinstance(b, Dim) and b in ranges):
            return False
        if not _same_range(a, b, ranges) or {a, b} & exchanged.keys():
            return False
        exchanged |= {a: b, b: a}
    every = (piece.statistic, piece.coefficient)
    return all(multiplied_out(substitute(e, exchanged) - e) == 0 for e in every)


def _leaf(view: View) -> Expr:
    return view.leaf


def _factors(statistic: Expr, view: View) -> Expr:
    """The factors of a product that hold the leaf of a view."""
    return Mul(*(f for f in Mul.make_args(statistic) if _holds(f, view)))


def _holds(expr: Expr, view: View) -> bool:
    return any(a.array == view.array and a.indices == view.indices for a in expr.atoms(Leaf))


def _substituted(view: View, same: Mapping[Expr, Expr]) -> tuple[Expr | None, ...]:
    """The indices of a view after some dims are replaced."""
    return tuple(None if i is None else substitute(i, same) for i in view.indices)


def _meeting(piece: Piece, v: View, w: View) -> tuple[Piece, dict[Expr, Expr]] | None:
    """The piece where both views show the same element, and the dims replaced to get there.

    None where the views never meet.
    """
    coefficient, over = piece.coefficient, piece.over
    same: dict[Expr, Expr] = {}
    for n in range(len(v.indices)):
        a, b = _substituted(v, same)[n], _substituted(w, same)[n]
        if a == b:
            continue
        assert a is not None, f"{v}: what is read whole has one view"
        assert b is not None, f"{w}: what is read whole has one view"
        eliminable = {r.dim: r for r in over}
        if never_meet(a, b, eliminable):
            return None
        if isinstance(b, Dim) and b in eliminable and _same_range(a, b, eliminable):
            same = {**{d: substitute(e, {b: a}) for d, e in same.items()}, b: a}
            coefficient = substitute(coefficient, {b: a})
            over = tuple(r for r in over if r.dim != b)
        else:
            coefficient = coefficient * Equals(a, b)
    return replace(piece, coefficient=coefficient, over=over), same


def _same_range(a: Expr, b: Dim, ranges: dict[Dim, Range]) -> bool:
    return (
        isinstance(a, Dim)
        and a in ranges
        and ((ranges[a].start, ranges[a].stop) == (ranges[b].start, ranges[b].stop))
    )
