"""The ancestral order of the statements of a model: each after its parents.

Comes in: a graph, some of its statements, and the values of the data. Goes out: the statements in
order; a statement that reads its own array with a lag is cut into one part per position. Parents
are read from the graph's network of arrays and factors; elements are looked at where statements
read one another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from gibbsppl.algebra.expressions import Expr, Leaf, dims_of, leaves_of, mentions
from gibbsppl.algebra.ranges import Range, size_of
from gibbsppl.errors import ModelError
from gibbsppl.model.density import regions
from gibbsppl.model.evaluation import Floats, Sizes, Values, evaluate
from gibbsppl.model.graph import Graph, Statement

Reads = Callable[[Statement, Statement], bool]


def in_order(
    graph: Graph,
    statements: Sequence[Statement],
    values: Values,
    at_once: Callable[[Statement], bool] = lambda _: False,
) -> Iterator[Statement]:
    """The statements, or parts of statements, in ancestral order.

    ``values`` are read while the order is made: those of statements already passed may be new.
    ``at_once`` says which of those that read their own array are left whole.
    """

    def reads(a: Statement, b: Statement) -> bool:
        own, other = a.target.array.name, b.target.array.name
        if own == other:  # (a density reads its own elements)
            return any(mentions(e, (own,)) for e in read_by(a))
        return bool(graph.network.has_edge(("array", other), ("factor", a.name)))

    for component in _components(statements, reads):
        if _is_plain(component, reads):
            yield from component
        else:
            yield from _untangled(component, values, graph.sizes, at_once)


def _untangled(
    component: list[Statement],
    values: Values,
    sizes: Sizes,
    at_once: Callable[[Statement], bool] = lambda _: False,
) -> Iterator[Statement]:
    """The order of statements that mention one another: by element, else by position."""

    def reads(a: Statement, b: Statement) -> bool:
        return _reads_elements(a, b, values, sizes)

    for part in _components(component, reads):
        if _is_plain(part, reads) or (len(part) == 1 and at_once(part[0])):
            yield from part
        else:
            for here in _by_position(part, values, sizes):
                yield from _untangled(here, values, sizes)


def _components(statements: Sequence[Statement], reads: Reads) -> list[list[Statement]]:
    """The strongly connected components, parents first."""
    digraph = nx.DiGraph()
    digraph.add_nodes_from(range(len(statements)))
    digraph.add_edges_from(
        (j, i)
        for i, j in product(range(len(statements)), repeat=2)
        if i != j and reads(statements[i], statements[j])
    )
    condensed = nx.condensation(digraph)
    order = nx.lexicographical_topological_sort(
        condensed, key=lambda c: min(condensed.nodes[c]["members"])
    )
    return [[statements[i] for i in sorted(condensed.nodes[c]["members"])] for c in order]


def _is_plain(component: list[Statement], reads: Reads) -> bool:
    return len(component) == 1 and not reads(component[0], component[0])


def read_by(statement: Statement) -> list[Expr]:
    """All expressions that must have values before the statement is drawn."""
    bounds = [b for b in (statement.lower, statement.upper) if b is not None]
    return [*(a for _, a in statement.arguments), *bounds, *statement.target.indices]


def _leaves_read(statement: Statement, arrays: set[str]) -> set[Leaf]:
    return set().union(*(leaves_of(e, arrays) for e in read_by(statement)))


def _reads_elements(a: Statement, b: Statement, values: Values, sizes: Sizes) -> bool:
    """Whether the first statement reads an element that the second one fills."""
    name = b.target.array.name
    filled = _elements(b.target, regions(b, sizes), values, sizes)
    return any(
        _is_unknown(leaf, {name})
        or np.intersect1d(_elements(leaf, _frame(leaf, a, sizes), values, sizes), filled).size
        for leaf in _leaves_read(a, {name})
    )


def _is_unknown(leaf: Leaf, arrays: set[str]) -> bool:
    return any(mentions(i, arrays) for i in leaf.indices)


def _frame(leaf: Leaf, reader: Statement, sizes: Sizes) -> tuple[Range, ...]:
    """The ranges that a leaf is read over: the statement's, then the dims that sums bind."""
    own = {r.dim for r in reader.over}
    inner = sorted(dims_of(leaf) - own, key=str)
    return (*reader.over, *(Range(d, 0, size_of(d, sizes)) for d in inner))


def _elements(
    leaf: Leaf, over: tuple[Range, ...], values: Values, sizes: Sizes
) -> NDArray[np.int64]:
    """The elements that a leaf names, as positions in the flattened array."""
    return np.unique(each_element(leaf, over, values, sizes))


def each_element(
    leaf: Leaf, over: tuple[Range, ...], values: Values, sizes: Sizes
) -> NDArray[np.int64]:
    """The element that a leaf names, at each position of ranges (or for all of an axis of them)."""
    flat = np.zeros((1,) * len(over), dtype=np.int64)
    for index, size in zip(leaf.indices, np.shape(values[leaf.array.name]), strict=True):
        flat = flat * size + evaluate(index, over, values, sizes).astype(np.int64)
    return flat


@dataclass(frozen=True, slots=True)
class Direction:
    """One axis for each array of a component, and the sign in which positions are passed.

    ``filled`` are the elements of each array that the component fills.
    """

    axes: dict[str, int]
    sign: int
    filled: dict[str, NDArray[np.int64]]


def _by_position(
    component: list[Statement], values: Values, sizes: Sizes
) -> Iterator[list[Statement]]:
    """The component cut into parts, one list per position of the lagged axis."""
    direction = direction_of(component, values, sizes)
    if direction is None:
        names = ", ".join(s.name for s in component)
        raise ModelError(
            f"{names}: each reads an element of another at the same position, so that none can be "
            "drawn first; give one of them a lag, or write the dependence as a potential."
        )
    cut = [_cut(s, direction.axes[s.target.array.name], values, sizes) for s in component]
    positions = sorted(set().union(*cut), reverse=direction.sign < 0)
    for p in positions:
        yield [parts[p] for parts in cut if p in parts]


def direction_of(
    component: list[Statement], values: Values, sizes: Sizes
) -> Direction | None:
    """The direction in which no element of a component is read before it is there, if any."""
    directions = _directions(component, values, sizes)
    return next((d for d in directions if _respects(component, d, values, sizes)), None)


def _directions(
    component: list[Statement], values: Values, sizes: Sizes
) -> Iterator[Direction]:
    by_name: dict[str, list[NDArray[np.int64]]] = {}
    for s in component:
        filled = _elements(s.target, regions(s, sizes), values, sizes)
        by_name.setdefault(s.target.array.name, []).append(filled)
    every = {name: np.concatenate(parts) for name, parts in by_name.items()}
    names = sorted(every)
    for axes in product(*(range(np.ndim(values[n])) for n in names)):
        for sign in (1, -1):
            yield Direction(dict(zip(names, axes, strict=True)), sign, every)


def _respects(
    component: list[Statement], direction: Direction, values: Values, sizes: Sizes
) -> bool:
    """Whether no element is read from a later position, and the axis cuts some statement."""
    names = set(direction.axes)
    if any(_axis_range(s, direction.axes[s.target.array.name]) is None for s in component):
        return False
    axes = (direction.axes[s.target.array.name] for s in component)
    places = (_positions(s, a, values, sizes) for s, a in zip(component, axes, strict=True))
    if len(np.unique(np.concatenate(list(places)))) < 2:
        return False
    return all(
        not _is_unknown(leaf, names) and _lag(leaf, s, direction, values, sizes) >= 0
        for s in component
        for leaf in _leaves_read(s, names)
    )


def _lag(
    leaf: Leaf, reader: Statement, direction: Direction, values: Values, sizes: Sizes
) -> float:
    """The smallest number of positions by which what is read comes before the reader.

    What the component does not fill is known, and may be anywhere.
    """
    over = _frame(leaf, reader, sizes)
    own = reader.target.indices[direction.axes[reader.target.array.name]]
    read = leaf.indices[direction.axes[leaf.array.name]]
    difference = evaluate(own, over, values, sizes) - evaluate(read, over, values, sizes)
    filled = direction.filled[leaf.array.name]
    waits = np.isin(each_element(leaf, over, values, sizes), filled)
    return float(np.where(waits, direction.sign * difference, np.inf).min(initial=np.inf))


def _axis_range(statement: Statement, axis: int) -> tuple[Range, ...] | None:
    """The one range along an axis of the target, none for a constant; ``None`` if it has no cut."""
    index = statement.target.indices[axis]
    found = tuple(r for r in statement.over if r.dim in index.free_symbols)
    is_event = bool(dims_of(index) - {r.dim for r in statement.over})
    return None if is_event or len(found) > 1 else found


def _cut(statement: Statement, axis: int, values: Values, sizes: Sizes) -> dict[int, Statement]:
    """The parts of the statement by their position on an axis of the target."""
    along = _axis_range(statement, axis) or ()
    positions = _positions(statement, axis, values, sizes)
    if not along:
        return {int(positions[0]): statement}
    (cut,) = along
    return {
        int(p): replace(statement, over=_restricted(statement.over, cut, cut.start + j))
        for j, p in enumerate(positions)
    }


def _positions(statement: Statement, axis: int, values: Values, sizes: Sizes) -> Floats:
    """The positions on an axis of the target that a statement fills."""
    along = _axis_range(statement, axis) or ()
    return evaluate(statement.target.indices[axis], along, values, sizes).reshape(-1)


def _restricted(over: tuple[Range, ...], cut: Range, position: int) -> tuple[Range, ...]:
    return tuple(Range(r.dim, position, position + 1) if r == cut else r for r in over)
