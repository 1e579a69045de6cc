"""Log-concave conditionals: owned by no family, but drawn exactly by adaptive rejection.

Comes in: a `NotConjugate` with its pieces, and what is known of all arrays. Goes out: a
`LogConcave` with the certificate, as the variable is or after a change of it: a standard deviation
whose log density bends both ways is concave in its logarithm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Self

import sympy as sp

from gibbsppl.algebra.expressions import Array, Expr, Leaf, leaves_of
from gibbsppl.algebra.functions import Equals
from gibbsppl.algebra.ranges import Range, numbered
from gibbsppl.algebra.supports import Support
from gibbsppl.analysis.bounds import Bounds, known_bounds
from gibbsppl.analysis.curvature import Certificate, Curvature
from gibbsppl.derive.certificate import log_concave, obstacle
from gibbsppl.derive.changes import STRAIGHTENING, Change
from gibbsppl.derive.match_results import NotConjugate
from gibbsppl.derive.readings import jacobian_pieces, transformed
from gibbsppl.model.asked import answer
from gibbsppl.model.evaluation import Sizes, Values, evaluate
from gibbsppl.model.graph import PLAIN, Graph, Statement
from gibbsppl.pieces.definite import holds_definite
from gibbsppl.pieces.dependence import is_separable, region_of, within
from gibbsppl.pieces.elements import element_pieces
from gibbsppl.pieces.split import Piece


@dataclass(frozen=True, slots=True)
class LogConcave:
    """A conditional certified log-concave: its pieces, after a change of variable if there is one.

    ``place`` is the target, or after a ``change`` the new variable, whose support is ``support``.
    ``refusal`` says why no family owns the conditional.
    """

    statement: Statement
    place: Leaf
    support: Support
    pieces: tuple[Piece, ...]
    certificate: Certificate
    refusal: NotConjugate
    change: Change | None = None
    how_drawn = "by adaptive rejection"

    def mapped(self, function: Callable[[Piece], Iterable[Piece]]) -> Self:
        """A copy for other pieces of the log density."""
        return replace(self, pieces=tuple(chain.from_iterable(map(function, self.pieces))))

    @property
    def elements(self) -> bool:
        """Whether elements interact, and are therefore drawn one by one."""
        return self.refusal.elements


def certified(graph: Graph, refusal: NotConjugate, data: Values) -> LogConcave | None:
    """The conditional with a certificate, if its log density is found to be concave."""
    statement = refusal.statement
    if statement.support.kind not in ("real", "vector"):
        return None
    definite = _definite(graph, refusal.pieces, data)
    bounds = _bounds(graph, data, definite)
    region = region_of(graph, statement)
    for change, place, pieces in _scales(graph, refusal):
        own = (within(p, region) for p in _of_one_element(pieces))
        possible = (p for p in own if _can_be(p, graph, data))
        apart = (_with_numbers(_with_known_signs(p, graph, data), graph) for p in possible)
        certificate = _certificate(tuple(apart), place, bounds, definite)
        if certificate is not None:
            support = statement.support if change is None else change.mapped(statement.support)
            return LogConcave(statement, place, support, pieces, certificate, refusal, change)
    return None


def certified_jointly(
    graph: Graph, arrays: tuple[str, ...], pieces: Iterable[Piece], data: Values
) -> Certificate | None:
    """The certificate that pieces are concave in all elements of several arrays together."""
    return log_concave(*_read_jointly(graph, arrays, pieces, data))


def obstacle_jointly(
    graph: Graph, arrays: tuple[str, ...], pieces: Iterable[Piece], data: Values
) -> tuple[Piece, Curvature] | None:
    """The first piece that is not certified concave in several arrays together; how it bends."""
    return obstacle(*_read_jointly(graph, arrays, pieces, data))


def _read_jointly(
    graph: Graph, arrays: tuple[str, ...], pieces: Iterable[Piece], data: Values
) -> tuple[list[Piece], tuple[str, ...], Bounds, frozenset[str]]:
    """The pieces as they are judged, with what is known of all arrays."""
    held = [p for p in pieces if _can_be(p, graph, data)]
    apart = [_with_numbers(_with_known_signs(p, graph, data), graph) for p in held]
    definite = _definite(graph, held, data)
    return apart, arrays, _bounds(graph, data, definite), definite


def _definite(graph: Graph, pieces: Iterable[Piece], data: Values) -> frozenset[str]:
    """The names of the arrays in pieces that hold positive definite matrices alone."""
    every = (e for p in pieces for e in (p.coefficient, p.statistic))
    read = {leaf.array.name for e in every for leaf in leaves_of(e) if len(leaf.indices) > 1}
    return frozenset(n for n in read if holds_definite(graph, data, n))


def _bounds(graph: Graph, data: Values, definite: frozenset[str]) -> Bounds:
    """The bounds of all arrays, those of the diagonals of positive definite matrices among them."""
    known = known_bounds(graph, data)
    return lambda x: (0, sp.oo) if _is_diagonal(x, definite) else known(x)


def _is_diagonal(leaf: Leaf, definite: frozenset[str]) -> bool:
    return leaf.array.name in definite and leaf.indices[-1] == leaf.indices[-2]


def _certificate(
    pieces: tuple[Piece, ...], place: Leaf, bounds: Bounds, definite: frozenset[str]
) -> Certificate | None:
    """The certificate between the bounds, else on the half line that contains them."""
    name = place.array.name
    found = log_concave(pieces, (name,), bounds, definite)
    own = bounds(place)
    if found is not None or own is None or own[0] < 0 or tuple(own) == (0, sp.oo):
        return found

    def above(leaf: Leaf) -> Any:
        return (0, sp.oo) if leaf.array.name == name else bounds(leaf)

    return log_concave(pieces, (name,), above, definite)


def _scales(
    graph: Graph, refusal: NotConjugate
) -> Iterator[tuple[Change | None, Leaf, tuple[Piece, ...]]]:
    """Yield the pieces on the variable's own scale, then after each straightening change."""
    statement = refusal.statement
    yield None, statement.target, refusal.pieces
    for change in map(Change, STRAIGHTENING):
        if statement.support.kind == "real" and change.applies_to(statement.support):
            new = change.variable(statement.target, statement.support, graph.variables)
            pieces = [q for p in refusal.pieces for q in transformed(p, change, new, graph)]
            yield change, new, (*pieces, *jacobian_pieces(statement, change, new, graph))


def _of_one_element(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    """The pieces as functions of one element, where they can be taken apart."""
    pieces = tuple(pieces)
    apart = element_pieces(p for p in pieces if is_separable(p))
    return (*apart, *(p for p in pieces if not is_separable(p)))


def _can_be(piece: Piece, graph: Graph, data: Values) -> bool:
    """Whether the equalities of indices in a coefficient hold at some position of the data.

    (The term of a pair at which both elements are the same element is not concave by itself.)
    """
    for factor in sp.Mul.make_args(piece.coefficient):
        known = isinstance(factor, Equals) and is_known(factor, graph, data)
        if known and not answer(data, _is_any, factor, piece.over, graph.sizes):
            return False
    return True


def _with_known_signs(piece: Piece, graph: Graph, data: Values) -> Piece:
    """The piece with sums of data in its coefficient as symbols of the sign of all their values.

    (The ranges of n and of r do not show the sign of ``n - r``.) Sums of both signs stay.
    """
    factors = []
    for factor in sp.Mul.make_args(piece.coefficient):
        if not (isinstance(factor, sp.Add) and is_known(factor, graph, data)):
            factors.append(factor)
            continue
        sign = answer(data, _sign_of, factor, piece.over, graph.sizes)
        told = Array(f"({PLAIN.text(sign * factor)})", nonnegative=True)[()]
        factors.append(sign * told if sign else factor)
    return replace(piece, coefficient=sp.Mul(*factors))


def _is_any(data: Values, expr: Expr, over: tuple[Range, ...], sizes: Sizes) -> bool:
    """Whether an expression of data is not zero at some position."""
    return bool(evaluate(expr, over, data, sizes).any())


def _sign_of(data: Values, expr: Expr, over: tuple[Range, ...], sizes: Sizes) -> int:
    """The sign of an expression of data at all positions: 1, -1, or 0 where there are both."""
    values = evaluate(expr, over, data, sizes)
    return 1 if (values >= 0).all() else -1 if (values <= 0).all() else 0


def _with_numbers(piece: Piece, graph: Graph) -> Piece:
    """The piece with sizes as numbers: which multiple of a function is larger is seen of these."""
    coefficient, statistic = (
        numbered(e, graph.sizes) for e in (piece.coefficient, piece.statistic)
    )
    return replace(piece, coefficient=coefficient, statistic=statistic)


def is_known(expr: Expr, graph: Graph, data: Values) -> bool:
    """Whether an expression reads known data alone."""
    names = {leaf.array.name for leaf in leaves_of(expr)}
    return all(n in data for n in names) and names.isdisjoint(graph.drawn)
