"""Arrays whose regions are given by expressions, also of their own earlier elements.

Comes in: the regions of each such array, with the expressions assigned to them. Goes out: what
computes them, as parts of the expressions that read them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import networkx as nx

from gibbsppl.algebra.expressions import Array, Dim, Expr, Leaf, Over, arrays_in
from gibbsppl.algebra.ranges import range_of
from gibbsppl.algebra.recursions import Earlier, Own, Recursion, Step, System, step, system_of
from gibbsppl.errors import ModelError
from gibbsppl.families import FAMILIES
from gibbsppl.language.cycles import Values, check_cycles
from gibbsppl.model.graph import Constant, Deterministic, Graph, Statement
from gibbsppl.model.graph_changes import changed_graph

Systems = Mapping[str, tuple[System, Own]]


class OrderError(ModelError):
    """Arrays (``names``) whose elements cannot be computed one after the other."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(
            f"{', '.join(names)}: computed from own elements that are not earlier ones along one "
            'dimension; expected reads of positions before, x.lag("time", 1), and what is read at '
            "the same position to be computed without them."
        )
        self.names = frozenset(names)


def with_recursions(
    graph: Graph, computed: Mapping[str, Sequence[Constant]], known: Values
) -> Graph:
    """The graph with recursions in the place of elements of computed arrays, checked for cycles."""
    check_cycles(_with_all_as_statements(graph, computed), known)
    if not computed:
        return graph
    systems = _systems_of(computed, graph.sizes)
    dims = {n: graph.variables[n].dims for n in computed}
    shown = {d.name for d in graph.deterministics}
    named = tuple(
        Deterministic(n, dims[n], Recursion(*systems[n], *dims[n]))
        for n in computed
        if n not in shown
    )
    others = tuple(replace(d, value=_put_in(d.value, systems)) for d in graph.deterministics)
    return replace(
        changed_graph(graph, lambda e: _put_in(e, systems)),
        variables={n: v for n, v in graph.variables.items() if n not in computed},
        deterministics=(*named, *others),
    )


def _with_all_as_statements(graph: Graph, computed: Mapping[str, Sequence[Constant]]) -> Graph:
    """The graph with computed regions as statements, which depend on all they read."""
    flat = FAMILIES["Flat"]
    own = tuple(
        Statement(str(g.target), g.target, g.over, (), flat, (("value", g.value),))
        for given in computed.values()
        for g in given
    )
    return replace(graph, statements=(*graph.statements, *own))


def _systems_of(
    computed: Mapping[str, Sequence[Constant]], sizes: Mapping[Dim, int]
) -> Systems:
    """The system of each array; arrays depending on one another share one."""
    reads = nx.DiGraph()
    reads.add_nodes_from(computed)
    for name, given in computed.items():
        read = set().union(*(arrays_in(g.value) for g in given)) & set(computed)
        reads.add_edges_from((other, name) for other in sorted(read))
    groups = nx.condensation(reads)
    found: dict[str, tuple[System, Own]] = {}
    for node in nx.lexicographical_topological_sort(groups):
        members = sorted(groups.nodes[node]["members"], key=list(computed).index)
        system = system_of(
            [s for n in members for s in _steps(n, computed[n], members, found, sizes)]
        )
        if system is None:
            raise OrderError(members)
        found |= {n: (system, Own(n)) for n in members}
    return found


def _steps(
    name: str,
    given: Sequence[Constant],
    members: Sequence[str],
    found: Systems,
    sizes: Mapping[Dim, int],
) -> list[Step]:
    own = Own(name)
    values = (_earlier(_put_in(g.value, found), members, sizes) for g in given)
    return [
        step(Earlier(own, *g.target.indices), value, g.over)
        for g, value in zip(given, values, strict=True)
    ]


def _earlier(expr: Expr, members: Sequence[str], sizes: Mapping[Dim, int]) -> Expr:
    """The expression with elements of arrays as elements computed before.

    Sums of them say over which positions they are.
    """
    if not expr.args or isinstance(expr, Array) or not arrays_in(expr) & set(members):
        return expr
    args = tuple(_earlier(a, members, sizes) for a in expr.args)
    if isinstance(expr, Leaf) and expr.array.name in members:
        return Earlier(Own(expr.array.name), *args[1:])
    if isinstance(expr, Over):
        found = range_of(expr, sizes)
        return Over(args[0], found.dim, found.start, found.stop)
    return expr.func(*args)


def _put_in(expr: Expr, systems: Systems) -> Expr:
    """The expression with elements of arrays as elements of their recursions."""
    if not expr.args or isinstance(expr, Array) or not arrays_in(expr) & set(systems):
        return expr
    args = tuple(_put_in(a, systems) for a in expr.args)
    if isinstance(expr, Leaf) and expr.array.name in systems:
        return Recursion(*systems[expr.array.name], *args[1:])
    return expr.func(*args)
