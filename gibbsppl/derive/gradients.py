"""Gradients of log densities of several variables, pulled back as natural parameters are.

Comes in: statements, whose elements are moved together. Goes out: their `Slopes`, the terms of the
log density that hold them, and the gradient: pieces that are linear in the steps of elements, whose
coefficients are the partial derivatives.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import sympy as sp

from gibbsppl.algebra.calculus import NoDerivative
from gibbsppl.algebra.differentials import differential
from gibbsppl.algebra.expressions import Array, Expr, mentions
from gibbsppl.algebra.identities import simplified
from gibbsppl.algebra.ranges import Range
from gibbsppl.derive.quadratic import Quadratic, quadratic_in
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Factor, Graph, Marginal, Statement
from gibbsppl.pieces.gates import binary_arrays, opened
from gibbsppl.pieces.split import Piece, View, split, support_indicators

# A term of a log density: its factor, its value at positions of ranges.
Term = tuple[str, Expr, tuple[Range, ...]]


@dataclass(frozen=True, slots=True)
class Slopes:
    """Statements moved by their gradient, with the terms of their log density that hold them.

    The pieces of ``gradient`` are of one element each: its partial derivatives.
    """

    statements: tuple[Statement, ...]
    terms: tuple[Term, ...]
    gradient: Quadratic
    elements: bool = False

    @property
    def arrays(self) -> tuple[str, ...]:
        """The names of the arrays, in order."""
        return self.gradient.arrays

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The pieces of the gradient."""
        return self.gradient.pieces


def slopes_of(graph: Graph, statements: Sequence[Statement], data: Values) -> Slopes | str:
    """The log density of statements with its gradient; in words why there is none."""
    arrays = {s.target.array.name: s.target.array for s in statements}
    terms: list[Term] = []
    for factor in _factors_of(graph, arrays):
        if isinstance(factor, Marginal):
            return f"{factor.name}, which is integrated out, sees it"
        value = _density(graph, factor, statements, data)
        terms.append((factor.name, value, factor.over))
    try:
        found = [p for t in terms for p in _gradient(graph, t, arrays, data)]
    except NoDerivative as missing:
        return f"{missing} has no derivative by it"
    gradient = quadratic_in(graph, statements, found)
    if gradient is None:
        return "its gradient is no sum of terms by element"
    return Slopes(tuple(statements), tuple(terms), gradient)


def _factors_of(graph: Graph, names: Collection[str]) -> Iterable[Factor]:
    """The factors of the conditional of several arrays, each once, in the order of the graph."""
    near = {f.name for n in names for f in graph.factors_of(n)}
    return (f for f in graph.factors if f.name in near)


def _density(
    graph: Graph, factor: Factor, statements: Iterable[Statement], data: Values
) -> Expr:
    """What a factor says of arrays: its terms that hold them, and bounds that they set or have."""
    names = frozenset(s.target.array.name for s in statements)
    whole = opened(simplified(factor.log_density, names), names, binary_arrays(graph, data))
    held = [t for t in sp.Add.make_args(whole) if mentions(t, names)]
    bounds = {t for s in statements
              for t in sp.Add.make_args(support_indicators(factor, s))}  # fmt: skip
    return sp.Add(*held, *sorted(bounds, key=str))


def _gradient(
    graph: Graph, term: Term, arrays: Mapping[str, Array], data: Values
) -> Iterable[Piece]:
    """The pieces of the differential of a term, as pieces of elements in place of their steps."""
    factor, value, over = term
    steps = {n: f"step of {n}" for n in arrays}
    whole = {step: arrays[n] for n, step in steps.items()}
    slope = opened(
        simplified(differential(value, steps), whole), whole, binary_arrays(graph, data)
    )
    for piece in split(factor, slope, over, whole, graph.sizes):
        yield _renamed(piece, whole)


def _renamed(piece: Piece, arrays: Mapping[str, Array]) -> Piece:
    """The piece with the arrays themselves in its statistic, in place of their steps."""
    views = tuple(View(arrays[v.array.name], v.indices) for v in piece.views)
    mapping = {v.array: w.array for v, w in zip(piece.views, views, strict=True)}
    return replace(piece, statistic=piece.statistic.xreplace(mapping), views=views)
