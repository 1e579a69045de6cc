"""Views of a graph: edges, the networkx DAG, Markov blankets.

Comes in: a `Graph`. Goes out: views of it that hold no facts of their own; edges are read from the
expressions. Regions count: ``x[t - 1]`` for t = 1..9 reads the statements of ``x`` that fill any of
its positions 0..8, and no other.

>>> from gibbsppl.algebra.expressions import Array
>>> x, t = Array("x"), Dim("t")
>>> [r.intervals for r in reads_of(x[t - 1], {t: (1, 9)}, {t: 10})]
[((0, 8),)]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import networkx as nx
import sympy as sp

from gibbsppl.algebra.copies import root_of
from gibbsppl.algebra.expressions import Array, Binder, Dim, Expr, Leaf, leaves_of
from gibbsppl.algebra.notation import Notation, Sign
from gibbsppl.algebra.ranges import Range, range_of
from gibbsppl.algebra.recursions import Step
from gibbsppl.html import Printed
from gibbsppl.model.graph import (
    Constant,
    Factor,
    Graph,
    Marginal,
    Potential,
    Statement,
    expressions_read_by,
)

Interval = tuple[int, int]
Bounds = Mapping[Dim, Interval]


@dataclass(frozen=True, slots=True)
class Read:
    """A leaf and, per axis, its first and last position (None: by a gather, so any)."""

    leaf: Leaf
    intervals: tuple[Interval | None, ...]


@dataclass(frozen=True, slots=True)
class Edge:
    """``child`` reads ``parent`` at ``leaf``."""

    parent: str
    child: str
    leaf: Leaf


@dataclass(frozen=True, slots=True)
class Blanket(Printed):
    """The factors and variables that the conditional of a statement depends on, by name.

    ``parents`` are the statements that it reads, ``children`` the statements and potentials that
    read it, ``co_parents`` what else these read.
    """

    parents: tuple[str, ...]
    children: tuple[str, ...]
    co_parents: tuple[str, ...]

    def __str__(self) -> str:
        """Three lines, of names."""
        rows = (
            ("parents", self.parents),
            ("children", self.children),
            ("co-parents", self.co_parents),
        )
        return "\n".join(f"{word}: {', '.join(names) or 'none'}" for word, names in rows)


def held(graph: Graph) -> tuple[str, ...]:
    """The random numbers that nothing fills: a run holds them where they are, such as a power."""
    filled = {s.target.array.name for s in graph.statements}
    filled |= {c.target.array.name for c in graph.constants}
    filled |= {a.name for m in graph.marginals for a in m.arrays}
    return tuple(n for n in graph.random if n not in filled and not graph.variables[n].dims)


def dag(graph: Graph) -> nx.DiGraph[str]:
    """The graph of statements and potentials, with an edge from each parent to each child.

    Nodes carry ``kind``: ``"latent"``, ``"observed"`` or ``"potential"``. A lag shows as a loop.
    """
    view: nx.DiGraph[str] = nx.DiGraph()
    for factor in graph.factors:
        view.add_node(factor.name, kind=_kind(factor))
    view.add_edges_from((e.parent, e.child) for e in edges_of(graph))
    return view


def blanket(graph: Graph, name: str) -> Blanket:
    """The Markov blanket of a statement (partly observed ones are listed like latent ones)."""
    view = dag(graph)
    parents = [p for p in view.predecessors(name) if p != name]
    children = [c for c in view.successors(name) if c != name]
    others = {p for c in children for p in view.predecessors(c)} - {name}
    return Blanket(
        parents=_in_order(graph, parents),
        children=_in_order(graph, children),
        co_parents=_in_order(graph, others - set(children)),
    )


def edges_of(graph: Graph) -> tuple[Edge, ...]:
    """All edges of the graph, once per leaf that is read, in the order of the factors."""
    owners: dict[str, list[Statement]] = {}
    for statement in graph.statements:
        owners.setdefault(statement.target.array.name, []).append(statement)
    found = {
        Edge(parent.name, factor.name, read.leaf): None
        for factor in graph.factors
        for read in _reads(factor, graph)
        for parent in owners.get(read.leaf.array.name, ())
        if meets(read, parent, graph)
    }
    return tuple(found)


def reads_of(expr: Expr, bounds: Bounds, sizes: Mapping[Dim, int]) -> Iterator[Read]:
    """All leaves of the expression, those in indices included, with the positions they read.

    Dims that are not in ``bounds`` are read in full; bound ones where their binder reads them.
    """
    if isinstance(expr, Leaf):
        yield Read(expr, tuple(_interval(i, bounds, sizes) for i in expr.indices))
    if isinstance(expr, Binder):
        bounds = {d: b for d, b in bounds.items() if d not in expr.bound}
        if isinstance(expr, Step):
            bounds |= bounds_of(expr.over)
        elif expr.binds == 1:
            bounds |= bounds_of((range_of(expr, sizes),))
    for part in expr.args:
        if not isinstance(part, sp.Symbol):
            yield from reads_of(part, bounds, sizes)


def read_expressions(factor: Factor) -> tuple[Expr, ...]:
    """The expressions by which a factor depends on other variables (gathered targets included)."""
    match factor:
        case Marginal():
            return expressions_read_by(factor)
        case Potential():
            return (factor.log_density,)
        case Statement():
            bounds = (b for b in (factor.lower, factor.upper) if b is not None)
            return (*(a for _, a in factor.arguments), *bounds)


def bounds_of(over: tuple[Range, ...]) -> dict[Dim, Interval]:
    """The first and last position of each range."""
    return {r.dim: (r.start, r.stop - 1) for r in over}


def offset_of(index: Expr, dim: Dim) -> int | None:
    """The constant c of an index ``dim + c``; None for any other index.

    >>> t = Dim("t")
    >>> offset_of(t - 2, t), offset_of(sp.Integer(3), t)
    (-2, None)
    """
    offset, rest = index.as_coeff_Add()
    return int(offset) if rest == dim else None


def _reads(factor: Factor, graph: Graph) -> Iterator[Read]:
    for expr in read_expressions(factor):
        yield from reads_of(expr, bounds_of(factor.over), graph.sizes)


def _interval(index: Expr, bounds: Bounds, sizes: Mapping[Dim, int]) -> Interval | None:
    if index.is_Integer:
        return int(index), int(index)
    offset, rest = index.as_coeff_Add()
    if not isinstance(rest, Dim):
        return None
    low, high = bounds.get(rest, (0, sizes[Dim(root_of(rest))] - 1))
    return low + int(offset), high + int(offset)


def meets(read: Read, statement: Statement | Constant, graph: Graph) -> bool:
    """Whether the read touches the region that the statement fills."""
    region = (
        _interval(i, bounds_of(statement.over), graph.sizes) for i in statement.target.indices
    )
    return all(
        a is None or b is None or (a[0] <= b[1] and b[0] <= a[1])
        for a, b in zip(read.intervals, region, strict=True)
    )


def _kind(factor: Factor) -> str:
    if not isinstance(factor, Statement):
        return "potential"
    return "latent" if factor.is_latent else "observed"


def _in_order(graph: Graph, names: set[str] | list[str]) -> tuple[str, ...]:
    return tuple(f.name for f in graph.factors if f.name in names)


def times_of(graph: Graph, dims: Iterable[Dim]) -> Expr:
    """How often positions of some dims are in the data: elements of the arrays that say so.

    >>> from gibbsppl.model.graph import Variable
    >>> i = Dim("i")
    >>> n = Variable("n", (i,), "data", repeats=True)
    >>> times_of(Graph("g", {i: 2}, {"n": n}, ()), (i, Dim("j")))
    n[i]
    """
    own = {v.dims[0]: v.name for v in graph.variables.values() if v.repeats}
    return sp.Mul(*(Array(own[d], positive=True)[d] for d in dims if d in own))


def full_notation(graph: Graph) -> Notation:
    """The notation with every index written out."""
    return Notation(graph.sizes, signs=_signs(graph))


def short_notation(graph: Graph) -> Notation:
    """The notation with elements at their array's own dims by name alone."""
    own = {v.name: v.dims for v in graph.variables.values()}
    return Notation(graph.sizes, own, _signs(graph))


def _signs(graph: Graph) -> dict[str, Sign]:
    """The arrays that are written by what they are."""
    return {v.name: v.sign for v in graph.variables.values() if v.sign is not None}


def of_data_alone(graph: Graph) -> frozenset[str]:
    """The names of the maintained arrays of a graph that depend on nothing random."""
    random, found = set(graph.random), set[str]()
    for array in (a for m in graph.marginals for a in m.arrays):
        read = {x.array.name for e in array.expressions for x in leaves_of(e)}
        known = all(n in found or n in graph.variables for n in read)
        if known and not read & random:
            found.add(array.name)
    return frozenset(found)
