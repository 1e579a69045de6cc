"""Gradients of log densities of several variables, pulled back as natural parameters are.

Comes in: statements, whose elements are moved together. Goes out: their `Slopes`, the terms of the
log density that hold them, and the gradient: pieces that are linear in the steps of elements, whose
coefficients are the partial derivatives. What these have in common is computed once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import sympy as sp

from gibbsppl.algebra.calculus import NoDerivative
from gibbsppl.algebra.differentials import differential
from gibbsppl.algebra.expressions import Array, Expr, mentions
from gibbsppl.algebra.identities import simplified
from gibbsppl.derive.quadratic import Quadratic, quadratic_in
from gibbsppl.derive.shared import Part, Term, shared_parts
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Factor, Graph, Marginal, Statement, Variable
from gibbsppl.pieces.gates import binary_arrays, opened
from gibbsppl.pieces.split import Piece, View, split, support_indicators


@dataclass(frozen=True, slots=True)
class Slopes:
    """Statements moved by their gradient, with the terms of their log density that hold them.

    The pieces of ``gradient`` are of one element each: its partial derivatives. Both read
    ``parts``, arrays of what they have in common, which ``graph`` has; ``whole`` are the terms
    without these.
    """

    graph: Graph
    statements: tuple[Statement, ...]
    terms: tuple[Term, ...]
    gradient: Quadratic
    parts: tuple[Part, ...]
    whole: tuple[Term, ...]
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
    steps = {n: f"step of {n}" for n in arrays}
    try:
        slopes = [
            (factor, differential(value, {name: step}), over)
            for factor, value, over in terms
            for name, step in steps.items()
        ]
    except NoDerivative as missing:
        return f"{missing} has no derivative by it"
    taken = {*graph.variables, *(d.name for d in graph.sizes)}
    shared = shared_parts(
        [*terms, *slopes], set(arrays), graph.sizes, taken, f"part_of_{statements[0].name}"
    )
    axes_of = {p.element.array.name: p.axes for p in shared.parts}
    kept = {n: Variable(n, axes, "random") for n, axes in axes_of.items()}
    graph = replace(graph, variables={**graph.variables, **kept})
    found = [p for t in shared.terms[len(terms) :] for p in _pieces(graph, t, steps, arrays, data)]
    gradient = quadratic_in(graph, statements, found)
    if gradient is None:
        return "its gradient is no sum of terms by element"
    own = shared.terms[: len(terms)]
    return Slopes(graph, tuple(statements), own, gradient, shared.parts, tuple(terms))


def _factors_of(graph: Graph, names: Collection[str]) -> Iterable[Factor]:
    """The factors of the conditional of several arrays, each once, in the order of the graph."""
    near = {f.name for n in names for f in graph.factors_of(n)}
    return (f for f in graph.factors if f.name in near)


def _density(
    graph: Graph, factor: Factor, statements: Iterable[Statement], data: Values
) -> Expr:
    """The terms of a factor that hold some arrays, and the bounds that they set or have."""
    names = frozenset(s.target.array.name for s in statements)
    whole = opened(simplified(factor.log_density, names), names, binary_arrays(graph, data))
    held = [t for t in sp.Add.make_args(whole) if mentions(t, names)]
    bounds = {t for s in statements
              for t in sp.Add.make_args(support_indicators(factor, s))}  # fmt: skip
    return sp.Add(*held, *sorted(bounds, key=str))


def _pieces(
    graph: Graph,
    term: Term,
    steps: Mapping[str, str],
    arrays: Mapping[str, Array],
    data: Values,
) -> Iterable[Piece]:
    """The pieces of a differential, of elements in place of their steps."""
    factor, value, over = term
    whole = {step: arrays[n] for n, step in steps.items()}
    slope = opened(simplified(value, whole), whole, binary_arrays(graph, data))
    for piece in split(factor, slope, over, whole, graph.sizes):
        yield _renamed(piece, whole)


def _renamed(piece: Piece, arrays: Mapping[str, Array]) -> Piece:
    """The piece with the arrays themselves in its statistic, in place of their steps."""
    views = tuple(View(arrays[v.array.name], v.indices) for v in piece.views)
    mapping = {v.array: w.array for v, w in zip(piece.views, views, strict=True)}
    return replace(piece, statistic=piece.statistic.xreplace(mapping), views=views)
