"""Gradients of log densities of several variables, pulled back as natural parameters are.

Comes in: statements, whose elements are moved together. Goes out: their `Slopes`, the terms of the
log density that hold them, and the gradient: pieces that are linear in the steps of elements, whose
coefficients are the partial derivatives. What these have in common is computed once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import networkx as nx
import sympy as sp

from gibbsppl.algebra.calculus import NoDerivative
from gibbsppl.algebra.expressions import Expr, mentions
from gibbsppl.algebra.identities import simplified
from gibbsppl.algebra.ranges import Range, bounded, size_of
from gibbsppl.derive.adjoints import InReverse, in_reverse, linear_pieces
from gibbsppl.derive.computed import Computed
from gibbsppl.derive.contractions import Contribution
from gibbsppl.derive.quadratic import Quadratic, quadratic_in
from gibbsppl.derive.shared import Part, Term, shared_parts
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Factor, Graph, Marginal, Statement, Variable
from gibbsppl.pieces.gates import binary_arrays, opened
from gibbsppl.pieces.split import Piece, support_indicators


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
    parts: tuple[Computed, ...]
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
    terms = [t for t in terms if t[1] != 0] or terms  # (of a uniform prior nothing is left)
    steps = {n: f"step of {n}" for n in arrays}
    try:
        found = in_reverse(graph, terms, arrays, data)
        slopes = [s.slope({n: step}) for s in found.sources for n, step in steps.items()]
    except NoDerivative as missing:
        return f"{missing} has no derivative by it"
    shared = _shared(found, slopes, f"part_of_{statements[0].name}", steps.values())
    pieces = [
        p for t in shared.slopes for p in linear_pieces(shared.graph, t, steps, arrays, data)
    ]
    gradient = quadratic_in(shared.graph, statements, pieces)
    if gradient is None:
        return "its gradient is no sum of terms by element"
    own = tuple(statements)
    return Slopes(shared.graph, own, shared.terms, gradient, shared.computed, tuple(terms))


@dataclass(frozen=True, slots=True)
class _Shared:
    """A graph with computed arrays, in order, and terms and differentials that read these."""

    graph: Graph
    terms: tuple[Term, ...]
    slopes: tuple[Term, ...]
    computed: tuple[Computed, ...]


def _shared(
    found: InReverse, slopes: Sequence[Term], stem: str, steps: Collection[str]
) -> _Shared:
    """Parts that terms, slopes and computed arrays have in common are computed once, too."""
    graph = found.graph
    parts_of = [(c, part) for c in found.computed for part in c.contributions]
    inside = [(p.factor, p.value, tuple(r for r in p.place if isinstance(r, Range)))
              for _, p in parts_of]  # fmt: skip
    slopes = [(f, found.named(value), over) for f, value, over in slopes if value != 0]
    taken = {*graph.variables, *(d.name for d in graph.sizes)}
    every = (*found.terms, *slopes, *inside)
    shared = shared_parts(every, found.names, graph.sizes, taken, stem, steps)
    first, last = len(found.terms), len(found.terms) + len(slopes)
    values = iter(shared.terms[last:])
    computed = [
        replace(c, contributions=tuple(replace(p, value=next(values)[1]) for p in c.contributions))
        for c in found.computed
    ]
    parts = [_computed(graph, p) for p in shared.parts]
    kept = {c.name: Variable(c.name, c.axes, "random") for c in parts}
    graph = replace(graph, variables={**graph.variables, **kept})
    order = _in_order([*parts, *computed])
    return _Shared(graph, shared.terms[:first], shared.terms[first:last], order)


def _computed(graph: Graph, part: Part) -> Computed:
    """A part, as an array that is computed at all positions of its dims."""
    place = tuple(Range(d, 0, size_of(d, graph.sizes)) for d in part.axes)
    return Computed(
        part.element, (Contribution(part.factor, bounded(part.value, graph.sizes), place),)
    )


def _in_order(computed: Sequence[Computed]) -> tuple[Computed, ...]:
    """Arrays in an order in which each reads earlier ones alone."""
    by_name, order = {c.name: c for c in computed}, nx.DiGraph()
    order.add_nodes_from(by_name)
    order.add_edges_from((read, c.name) for c in computed for read in c.reads & by_name.keys())
    place = {n: k for k, n in enumerate(by_name)}
    return tuple(by_name[n] for n in nx.lexicographical_topological_sort(order, place.get))


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
