"""Functions that bend upwards by no more than squares of the same elements bend downwards.

Comes in: pieces, and a reader of curvatures. Goes out: such functions, each with the square that it
needs, and the squares, less these, as curvatures; the pieces that are left. Where the second
derivative of f is nowhere below ``b``, the function ``f(u) - b u**2/2`` is convex: of a normal
variable that is cut off at u the log of the mass bends down by at most 1, so that minus this log
and the square of u in a density of its own are concave together.

Elements are told apart by where ranges begin and end: of an array whose elements are each the end
of the next one, the first has no end and the last is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import sympy as sp
from sympy import Add

from gibbsppl.algebra.expressions import Dim, Expr, leaves_of, substitute
from gibbsppl.algebra.functions import FUNCTIONS
from gibbsppl.algebra.polynomials import multiplied_out
from gibbsppl.analysis.bounds import NONNEGATIVE, NONPOSITIVE
from gibbsppl.analysis.curvature.kinds import Curvature
from gibbsppl.analysis.curvature.reader import Reader
from gibbsppl.pieces.dependence import shifted
from gibbsppl.pieces.split import Piece

RULE_OF_FUNCTIONS = "its second derivative is at most 0, by the square"
RULE_OF_SQUARES = "squares, less what other functions need of them, of coefficients at most 0"


@dataclass(frozen=True, slots=True)
class _Square:
    """A multiple of the squares of elements of an array: the positions of each axis.

    The coefficient reads these by the dims ``_axis``; ``told`` is the multiple as it is written.
    """

    array: str
    along: tuple[tuple[int, int], ...]
    coefficient: Expr
    told: Expr


# The end of the second derivative that a multiple of each sign has as its highest.
_MOST = ((1, NONNEGATIVE), (0, NONPOSITIVE))


def compensated(
    pieces: Sequence[Piece], reader: Reader
) -> tuple[tuple[Curvature, ...], tuple[Piece, ...]]:
    """The curvatures of functions and squares that are concave together, the pieces left.

    Nothing is taken of an array whose squares do not make up for all functions.
    """
    bent = {n: s for n, p in enumerate(pieces) if (s := _needed(p, reader)) is not None}
    needed = tuple(dict.fromkeys(s.array for s in bent.values()))
    every = ((n, _squares(p, reader)) for n, p in enumerate(pieces))
    squares = {n: s for n, s in every if s is not None and s.array in needed}
    found, gone = list[Curvature](), set[int]()
    for array in needed:
        functions = {n: s for n, s in bent.items() if s.array == array}
        own = {n: s for n, s in squares.items() if s.array == array}
        both = (*functions.values(), *own.values())
        if not all(reader.sign(c) in NONPOSITIVE for c in _of_elements(both)):
            continue
        gone |= {*functions, *own}
        for n, square in functions.items():
            less = _whole(pieces[n]) - square.told
            found.append(Curvature("concave", less, RULE_OF_FUNCTIONS))
        total = Add(*(_whole(pieces[n]) for n in own), *(s.told for s in functions.values()))
        found.append(Curvature("concave", total, RULE_OF_SQUARES))
    return tuple(found), tuple(p for n, p in enumerate(pieces) if n not in gone)


def _needed(piece: Piece, reader: Reader) -> _Square | None:
    """The squares that a piece needs to be concave; None where it is, or none are enough."""
    function = piece.statistic
    row = FUNCTIONS.get(function.func)
    if row is None or len(function.args) != 1 or reader.is_concave(_whole(piece)):
        return None
    ends = (row.second[end] for end, signs in _MOST if reader.sign(piece.coefficient) in signs)
    most = next((m for m in map(sp.sympify, ends) if m.is_finite), None)
    slope = _slope(function.args[0], reader)
    if most is None or slope is None:
        return None
    return _placed(piece, reader, piece.coefficient * most * slope**2 / 2)


def _squares(piece: Piece, reader: Reader) -> _Square | None:
    """A piece as squares of elements; None if it is none."""
    base, exponent = piece.statistic.as_base_exp()
    slope = _slope(base, reader) if exponent == 2 else None
    return None if slope is None else _placed(piece, reader, piece.coefficient * slope**2)


def _slope(expr: Expr, reader: Reader) -> Expr | None:
    """The slope of an affine function of one element; None of any other."""
    leaves = leaves_of(expr, reader.arrays)
    if len(leaves) != 1:
        return None
    (leaf,) = leaves
    if reader.read(expr).kind != "affine":
        return None
    own = sp.Dummy()
    inside = multiplied_out(expr.xreplace({leaf: own}))
    return inside.coeff(own)


def _whole(piece: Piece) -> Expr:
    return piece.coefficient * piece.statistic


def _placed(piece: Piece, reader: Reader, coefficient: Expr) -> _Square | None:
    """A multiple of squares by position; None where elements are read by other indices.

    Or more than once.
    """
    (leaf,) = leaves_of(piece.statistic, reader.arrays)
    ranges = {r.dim: r for r in piece.over}
    along, mapping = list[tuple[int, int]](), dict[Dim, Expr]()
    for n, index in enumerate(leaf.indices):
        dim, offset = shifted(index)
        if index.is_Integer:
            along.append((int(index), int(index) + 1))
            continue
        if dim not in ranges or dim in mapping:
            return None
        along.append((ranges[dim].start + offset, ranges[dim].stop + offset))
        mapping[dim] = _axis(n) - offset
    if mapping.keys() != ranges.keys():
        return None
    told = coefficient * leaf**2
    return _Square(leaf.array.name, tuple(along), substitute(coefficient, mapping), told)


def _axis(n: int) -> Dim:
    """The dim of the positions along an axis."""
    return Dim(f"axis {n}")


def _of_elements(squares: Sequence[_Square]) -> Iterator[Expr]:
    """The total coefficients of the squares of elements, where these are not alike."""
    axes = zip(*(s.along for s in squares), strict=True)
    cuts = [sorted({end for pair in pairs for end in pair}) for pairs in axes]
    for cell in product(*(pairwise(ends) for ends in cuts)):
        held = [s.coefficient for s in squares if _is_within(cell, s.along)]
        yield Add(*held)


def _is_within(cell: Iterable[tuple[int, int]], along: Iterable[tuple[int, int]]) -> bool:
    return all(a <= lo and hi <= b for (lo, hi), (a, b) in zip(cell, along, strict=True))
