"""Certificates of log-concavity: the curvature of each piece, or of pieces added where it helps.

Comes in: pieces, names of arrays that vary together, the bounds of all arrays. Goes out: a
`Certificate`, or the first piece that is not shown to be concave.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from dataclasses import replace
from functools import partial

from sympy import Add

from gibbsppl.algebra.copies import root_of
from gibbsppl.algebra.expressions import Array, Dim, Expr, Leaf, Over, dims_of, leaves_of
from gibbsppl.algebra.ranges import Range
from gibbsppl.analysis.bounds import Bound, Bounds
from gibbsppl.analysis.curvature.kinds import CONCAVE, Certificate, Curvature
from gibbsppl.analysis.curvature.reader import Reader
from gibbsppl.derive.compensation import compensated
from gibbsppl.derive.contractions import contracted, data_only
from gibbsppl.pieces.split import Piece


def log_concave(
    pieces: Iterable[Piece], arrays: tuple[str, ...], bounds: Bounds, definite: Collection[str] = ()
) -> Certificate | None:
    """The certificate that the sum of the pieces is concave in arrays; None if none was found.

    Coefficients of statistics are held fixed: pieces by element (`elements.element_pieces`) are
    judged as functions of one element.
    """
    given, reader = _read(pieces, arrays, bounds, definite)
    terms = tuple(c for _, c in _judged(given, reader))
    if not _are_concave(terms):
        more, rest = compensated(given, reader)
        terms = (*more, *(c for _, c in _judged(rest, reader))) if more else terms
    return Certificate(arrays, terms) if _are_concave(terms) else None


def obstacle(
    pieces: Iterable[Piece], arrays: tuple[str, ...], bounds: Bounds, definite: Collection[str] = ()
) -> tuple[Piece, Curvature] | None:
    """The first piece that is not shown to be concave, with its curvature."""
    given, reader = _read(pieces, arrays, bounds, definite)
    terms = _judged(compensated(given, reader)[1], reader)
    return next(((block[0], c) for block, c in terms if c.kind not in CONCAVE), None)


Judged = tuple[tuple[Piece, ...], Curvature]


def _read(
    pieces: Iterable[Piece], arrays: tuple[str, ...], bounds: Bounds, definite: Collection[str]
) -> tuple[tuple[Piece, ...], Reader]:
    """The pieces, elements in coefficients marked as given, and the reader of their curvatures."""
    given = tuple(_given(p, arrays) for p in pieces)
    return given, Reader(arrays, _bounds_of_given(bounds), frozenset(definite))


def _are_concave(terms: Iterable[Curvature]) -> bool:
    return all(c.kind in CONCAVE for c in terms)


def _judged(pieces: Iterable[Piece], reader: Reader) -> list[Judged]:
    """The pieces alone, or several of a factor, statistic or function together, with curvatures."""
    found: list[Judged] = [((p,), reader.read(_total((p,)))) for p in pieces]
    for key in (_of_factor, _of_statistic, partial(_of_function, reader.arrays)):
        groups: dict[Hashable, list[Judged]] = {}
        for judged in found:
            groups.setdefault(key(judged[0]), []).append(judged)
        found = [j for group in groups.values() for j in _merged(group, reader)]
    return found


def _merged(group: list[Judged], reader: Reader) -> list[Judged]:
    """The group as one block, if its sum is concave and some member is not; else the group."""
    if len(group) == 1 or all(c.kind in CONCAVE for _, c in group):
        return group
    together = tuple(p for block, _ in group for p in block)
    curvature = reader.read(_total(together))
    return [(together, curvature)] if curvature.kind in CONCAVE else group


def _of_factor(block: tuple[Piece, ...]) -> Hashable:
    """The key shared by pieces whose terms can be added under one sum."""
    return block[0].factor, _own_ranges(block[0])


def _of_statistic(block: tuple[Piece, ...]) -> Hashable:
    """The key shared by pieces whose coefficients can be added."""
    if len(block) > 1:
        return block
    dims = dims_of(block[0].statistic)
    return block[0].statistic, frozenset(r for r in block[0].over if r.dim in dims)


def _of_function(arrays: tuple[str, ...], block: tuple[Piece, ...]) -> Hashable:
    """The key shared by pieces that are the same function of an element, at other arguments."""
    places = leaves_of(block[0].statistic, arrays)
    if len({p.statistic for p in block}) > 1 or len(places) != 1:
        return block
    dims = dims_of(*places)
    own = frozenset(r for p in block for r in p.over if r.dim in dims)
    return block[0].statistic.func, *places, own


def _own_ranges(piece: Piece) -> frozenset[Range]:
    """The ranges of the piece's factor, without the ranges of opened sums."""
    return frozenset(r for r in piece.over if root_of(r.dim) == r.dim.name)


def _total(block: tuple[Piece, ...]) -> Expr:
    """The sum of the pieces at one position of their shared ranges."""
    if len({_of_factor((p,)) for p in block}) == 1:
        shared = {r.dim for r in _own_ranges(block[0])}
        return Add(*(_summed(p.coefficient * p.statistic, p, shared) for p in block))
    shared = dims_of(block[0].statistic)
    if len({p.statistic for p in block}) > 1:
        return Add(*(_contracted(p, shared) for p in block))
    return block[0].statistic * Add(*(_summed(p.coefficient, p, shared) for p in block))


def _summed(expr: Expr, piece: Piece, shared: Collection[Dim]) -> Expr:
    """The expression summed over the ranges of a piece whose dims are not shared."""
    for r in piece.over:
        if r.dim not in shared:
            limits = (r.start, r.stop) if root_of(r.dim) == r.dim.name else ()
            expr = Over(expr, r.dim, *limits)
    return expr


def _contracted(piece: Piece, shared: Collection[Dim]) -> Expr:
    """The piece summed over the same ranges: what is the same at all positions is multiplied."""
    ranges = [r for r in piece.over if r.dim not in shared]
    return contracted(piece.coefficient * piece.statistic, ranges, data_only(()))


def _given(piece: Piece, names: Collection[str]) -> Piece:
    """The piece with the elements of the arrays in its coefficient marked as given."""
    symbols = piece.coefficient.free_symbols
    marked = {a: a.renamed(GIVEN + a.name) for a in symbols
              if isinstance(a, Array) and a.name in names}  # fmt: skip
    return replace(piece, coefficient=piece.coefficient.xreplace(marked)) if marked else piece


GIVEN = "given "


def _bounds_of_given(bounds: Bounds) -> Bounds:
    """The bounds, which hold of elements marked as given too."""

    def of(leaf: Leaf) -> tuple[Bound, Bound] | None:
        if not leaf.array.name.startswith(GIVEN):
            return bounds(leaf)
        return bounds(Leaf(leaf.array.renamed(leaf.array.name.removeprefix(GIVEN)), *leaf.indices))

    return of
