"""Whether a graph is free of cycles among elements.

A cycle among statements is legal where each way round it has a positive total lag along one dim;
else the elements themselves decide, with the data that the indices read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod

import networkx as nx
import numpy as np
import sympy as sp

from gibbsppl.algebra.copies import copy_of, root_of
from gibbsppl.algebra.expressions import Dim, Expr, Leaf, dims_of
from gibbsppl.algebra.ranges import Range
from gibbsppl.errors import ModelError
from gibbsppl.language.evaluate import evaluate
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.model.graph_views import Edge, edges_of, offset_of

Values = Mapping[str, np.ndarray]
Element = tuple[str, tuple[int, ...]]


class CycleError(ModelError):
    """A cycle: an element depends on itself through ``elements``, first and last the same."""

    def __init__(self, elements: Sequence[Element], names: Sequence[str]) -> None:
        super().__init__(
            f"{names[0]}: depends on itself through {' -> '.join(names)}; an element may depend "
            "only on elements that do not depend on it: lag one of the reads, or declare a "
            "gp.Potential."
        )
        self.elements = tuple(elements)


def check_cycles(graph: Graph, values: Values) -> None:
    """Raise an error that prints the cycle, if any element depends on itself."""
    statements = {s.name for s in graph.statements}
    edges = [e for e in edges_of(graph) if e.child in statements]
    view = nx.DiGraph((e.parent, e.child) for e in edges)
    for component in nx.strongly_connected_components(view):
        inside = [e for e in edges if e.parent in component and e.child in component]
        if inside and not _falls_along_a_dim(inside, graph):
            _check_elements(inside, graph, values)


def _falls_along_a_dim(edges: list[Edge], graph: Graph) -> bool:
    """Whether all edges read the same or an earlier position of one dim, and no cycle stays put."""
    dims = {d for e in edges for d in graph.variables[e.leaf.array.name].dims}
    return any(_falls(edges, dim, graph) for dim in dims)


def _falls(edges: list[Edge], dim: Dim, graph: Graph) -> bool:
    lags = [_lag(e, dim, graph) for e in edges]
    if any(lag is None or lag < 0 for lag in lags):
        return False
    level = nx.DiGraph((e.parent, e.child) for e, lag in zip(edges, lags, strict=True) if lag == 0)
    return bool(nx.is_directed_acyclic_graph(level))


def _lag(edge: Edge, dim: Dim, graph: Graph) -> int | None:
    """How far back along the dim the edge reads; None where that is no constant."""
    target = graph.statement(edge.child).target
    axes, own = (graph.variables[leaf.array.name].dims for leaf in (edge.leaf, target))
    if dim not in axes or dim not in own or target.indices[own.index(dim)] != dim:
        return None
    offset = offset_of(edge.leaf.indices[axes.index(dim)], dim)
    return None if offset is None else -offset


def _check_elements(edges: list[Edge], graph: Graph, values: Values) -> None:
    """Look for a cycle among the single elements, with arrays."""
    names = {n for e in edges for n in (e.parent, e.child)}
    arrays = sorted({graph.statement(n).target.array.name for n in names})
    sizes = [prod(_shape(a, graph)) for a in arrays]
    starts = dict(zip(arrays, np.concatenate([[0], np.cumsum(sizes)]), strict=False))
    pairs = [_pairs(e, graph, values, starts) for e in edges]
    parents, children = (np.concatenate([p[i] for p in pairs]) for i in (0, 1))
    component = _components(parents, children, sum(sizes))
    bad = (component[parents] == component[children]) & (
        (parents == children) | (np.bincount(component)[component[parents]] > 1)
    )
    if bad.any():
        cycle = nx.find_cycle(nx.DiGraph(zip(parents[bad], children[bad], strict=True)))
        first = [n for n, _ in cycle]
        elements = list(_elements([*first, first[0]], arrays, starts, graph))
        raise CycleError(elements, [f"{a}[{', '.join(map(str, at))}]" for a, at in elements])


def _components(parents: np.ndarray, children: np.ndarray, total: int) -> np.ndarray:
    """The strongly connected component of each element."""
    # Few models come here, and scipy.sparse takes long to import.
    from scipy.sparse import coo_array  # noqa: PLC0415
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

    matrix = coo_array((np.ones(len(parents)), (parents, children)), shape=(total, total))
    _, component = connected_components(matrix, directed=True, connection="strong")
    return np.asarray(component)


def _elements(
    elements: Iterable[int], arrays: list[str], starts: Mapping[str, int], graph: Graph
) -> Iterator[Element]:
    for element in elements:
        name = [a for a in arrays if starts[a] <= element][-1]
        position = np.unravel_index(element - starts[name], _shape(name, graph))
        yield name, tuple(int(p) for p in position)


def _shape(array: str, graph: Graph) -> tuple[int, ...]:
    return tuple(graph.sizes[d] for d in graph.variables[array].dims)


def _pairs(
    edge: Edge, graph: Graph, values: Values, starts: Mapping[str, int]
) -> tuple[np.ndarray, np.ndarray]:
    """The element read and the element defined, for all positions at which the edge reads."""
    child = graph.statement(edge.child)
    leaf, extra = _latent_indices_spread(edge.leaf, graph, values)
    over = _grid(child, leaf, extra, graph)
    ids = [
        starts[part.array.name] + _flat(part, over, graph, values) for part in (leaf, child.target)
    ]
    parents, children = (np.ravel(i) for i in np.broadcast_arrays(*ids))
    kept = np.isin(parents, _defined_by(edge.parent, graph, starts))
    return parents[kept], children[kept]


def _grid(child: Statement, leaf: Leaf, extra: list[Range], graph: Graph) -> tuple[Range, ...]:
    """All positions of the statement, of its event, and of what the leaf sums over."""
    ranges = {r.dim: r for r in (*child.over, *extra)}
    for dim in sorted(dims_of(leaf) | dims_of(child.target), key=str):
        ranges.setdefault(dim, Range(dim, 0, graph.sizes[Dim(root_of(dim))]))
    return tuple(ranges.values())


def _defined_by(name: str, graph: Graph, starts: Mapping[str, int]) -> np.ndarray:
    """The elements that a statement defines."""
    statement = graph.statement(name)
    flat = _flat(statement.target, _grid(statement, statement.target, [], graph), graph, {})
    return np.asarray(starts[statement.target.array.name] + np.ravel(flat))


def _flat(leaf: Leaf, over: tuple[Range, ...], graph: Graph, values: Values) -> np.ndarray:
    """The flat position of a leaf in its array; an event counts as its first element."""
    shape = _shape(leaf.array.name, graph)
    events = {d for s in graph.statements if s.target.array == leaf.array for d in s.event}
    indices = [
        sp.S.Zero if d in events else i
        for d, i in zip(graph.variables[leaf.array.name].dims, leaf.indices, strict=True)
    ]
    found = [evaluate(i, over, values, graph.sizes) for i in indices]
    # Scalars come out as zero: their only element.
    flat = np.zeros(tuple(map(len, over)), dtype=np.intp)
    for n, positions in zip(shape, found, strict=True):
        assert positions is not None
        flat = flat * n + positions.astype(np.intp)
    return flat


def _latent_indices_spread(
    leaf: Leaf, graph: Graph, values: Values
) -> tuple[Leaf, list[Range]]:
    """The leaf with each latent index replaced by a dim of its own: it may read any position."""
    indices: list[Expr] = list(leaf.indices)
    extra = []
    for axis, dim in enumerate(graph.variables[leaf.array.name].dims):
        if any(part.array.name not in values for part in indices[axis].atoms(Leaf)):
            taken = set().union(*(i.free_symbols for i in indices))
            copy = copy_of(dim, taken)
            indices[axis] = copy
            extra.append(Range(copy, 0, graph.sizes[dim]))
    return Leaf(leaf.array, *indices), extra
