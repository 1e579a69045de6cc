"""Variables whose log density, given everything else, is a quadratic function of them together.

Comes in: a graph and statements of it. Goes out: a `Quadratic`, the pieces of all factors that
mention any of them: linear in one element, its square, or a product of two elements. Such variables
can be drawn jointly: they are normal, whatever the statements are called.

There is no list of structures: chains, hierarchies, rows of a factorisation and neighbours on a map
are all pieces with two views.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from itertools import chain
from typing import Self

import sympy as sp

from gibbsppl.algebra.copies import primed
from gibbsppl.algebra.expressions import Array, Leaf, mentions
from gibbsppl.algebra.identities import simplified
from gibbsppl.algebra.supports import REAL, VECTOR
from gibbsppl.derive.conditionals import Derived
from gibbsppl.derive.match_results import Conditional
from gibbsppl.derive.readings import ENTRY, alpha
from gibbsppl.families import FAMILIES, Family
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph, Marginal, Statement
from gibbsppl.pieces.dependence import Place, is_separable, region_of, touches
from gibbsppl.pieces.gates import binary_arrays, opened
from gibbsppl.pieces.split import Piece, View, split


@dataclass(frozen=True, slots=True)
class Quadratic:
    """Statements drawn jointly, and all pieces of the log density that mention them.

    ``pieces`` have statistics of degree two at most in the elements of the statements' arrays.
    """

    statements: tuple[Statement, ...]
    pieces: tuple[Piece, ...]
    elements: bool = False

    def mapped(self, function: Callable[[Piece], Iterable[Piece]]) -> Self:
        """The block with other coefficients."""
        return replace(self, pieces=tuple(chain.from_iterable(map(function, self.pieces))))

    @property
    def arrays(self) -> tuple[str, ...]:
        """The names of the arrays, in order."""
        return tuple(dict.fromkeys(s.target.array.name for s in self.statements))

    @property
    def pairs(self) -> tuple[Piece, ...]:
        """The pieces that tie two elements."""
        return tuple(p for p in self.pieces if len(p.views) == 2)

    def of(self, array: str, degree: int) -> tuple[Piece, ...]:
        """The pieces of one element of an array, to a power."""
        single = (p for p in self.pieces if len(p.views) == 1)
        return tuple(p for p in single if p.views[0].array.name == array and degree_of(p) == degree)


def is_quadratic(derived: Derived) -> bool:
    """Whether a conditional is of a log density that is quadratic in each element."""
    if not isinstance(derived, Conditional) or derived.change or derived.truncated:
        return False
    if derived.limits or derived.statement.support not in (REAL, VECTOR):
        return False
    array = derived.place.array
    natural = derived.family.natural
    assert natural is not None
    base = sp.sympify(natural.log_base(derived.place, derived.event, **dict(derived.known)))
    return not mentions(base, (array.name,)) and all(
        _degree(s, {array.name}) in (1, 2) for s in derived.statistics
    )


def quadratic_of(
    graph: Graph, statements: Collection[Statement], data: Values
) -> Quadratic | None:
    """The joint log density of statements, if it is quadratic in all their elements together."""
    names = {s.target.array.name for s in statements}
    binary = binary_arrays(graph, data)
    found: list[Piece] = []
    for factor in graph.factors:
        if not mentions(factor.log_density, names):
            continue
        if isinstance(factor, Marginal):
            return None
        density = opened(simplified(factor.log_density, names), names, binary)
        found += split(factor.name, density, factor.over, names, graph.sizes)
    return quadratic_in(graph, statements, found)


def quadratic_in(
    graph: Graph, statements: Collection[Statement], pieces: Iterable[Piece]
) -> Quadratic | None:
    """The pieces that show elements of statements, if they are quadratic in these."""
    names = {s.target.array.name for s in statements}
    regions = [(s.target.array.name, region_of(graph, s)) for s in statements]
    found = tuple(p for p in pieces if any(_touches(v, p, regions) for v in p.views))
    if not all(_degree(p.statistic, names) in (1, 2) and is_separable(p) for p in found):
        return None
    return Quadratic(tuple(statements), found)


def degree_of(piece: Piece) -> int:
    """The degree of a piece's statistic: 1, or 2."""
    return _degree(piece.statistic, {v.array.name for v in piece.views}) or 0


def are_tied(quadratic: Quadratic, graph: Graph, one: Statement, other: Statement) -> bool:
    """Whether a piece ties an element of one statement with one of another."""
    return any(
        _ties(piece, (one, region_of(graph, one)), (other, region_of(graph, other)))
        for piece in quadratic.pairs
    )


def owner() -> Family:
    """The row of the table that quadratic log densities of vectors belong to."""
    x = Array("x")
    wanted = {alpha(x[(ENTRY,)]), alpha(x[(ENTRY,)] * x[(primed(ENTRY),)])}
    for family in FAMILIES.values():
        natural = family.natural
        if natural is None or family.event != 1 or natural.known:
            continue
        if {alpha(s) for s in natural.statistics(x[(ENTRY,)], (ENTRY,))} == wanted:
            return family
    raise AssertionError("no row of the table has the statistics x[k], x[k] x[l]")


def _ties(
    piece: Piece,
    one: tuple[Statement, tuple[Place, ...]],
    other: tuple[Statement, tuple[Place, ...]],
) -> bool:
    v, w = piece.views
    return any(
        a.array.name == one[0].target.array.name
        and b.array.name == other[0].target.array.name
        and touches(a, piece.over, one[1])
        and touches(b, piece.over, other[1])
        for a, b in ((v, w), (w, v))
    )


def _touches(view: View, piece: Piece, regions: Iterable[tuple[str, tuple[Place, ...]]]) -> bool:
    return any(name == view.array.name and touches(view, piece.over, r) for name, r in regions)


def _degree(statistic: sp.Expr, arrays: Collection[str]) -> int | None:
    """The degree of a monomial in the elements of some arrays; None for other expressions."""
    degree = 0
    for factor in sp.Mul.make_args(statistic):
        base, power = factor.as_base_exp()
        is_element = isinstance(base, Leaf) and base.array.name in arrays
        inside = isinstance(base, Leaf) and any(mentions(i, arrays) for i in base.indices)
        if not is_element or inside or not power.is_Integer or power < 1:
            return None
        degree += int(power)
    return degree
