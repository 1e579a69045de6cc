"""The nodes and edges of a model, as a plate diagram and as a factor graph.

Comes in: a `Graph`. Goes out: a `Net`, whose nodes have texts and dims, nothing of algebra.

In a plate diagram a node is a statement (one for each region of an array), a potential, an array of
data, a fixed region, or a computed array. An edge is a read. What an argument is written by stands
between: where the value of a computed array is found in an expression, the array is what is read.
In a factor graph nodes are arrays and factors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import sympy as sp

from gibbsppl.algebra.copies import root_of
from gibbsppl.algebra.expressions import Array, Expr, Leaf
from gibbsppl.algebra.ranges import Range
from gibbsppl.model.graph import (
    Constant,
    Deterministic,
    Factor,
    Graph,
    Marginal,
    Potential,
    Statement,
    expressions_read_by,
)
from gibbsppl.model.graph_views import bounds_of, meets, read_expressions, reads_of

# What pictures there are of a graph.
DiagramKind: TypeAlias = Literal["plates", "factors"]
KINDS: tuple[DiagramKind, ...] = get_args(DiagramKind)

Kind = Literal["latent", "observed", "partly observed", "data", "computed", "factor"]


@dataclass(frozen=True, slots=True)
class Node:
    """A box with lines of text: the first is the name that is shown.

    ``about`` is a sentence on it, ``dims`` those of the plates that it is in.
    """

    name: str
    kind: Kind
    lines: tuple[str, ...]
    about: str
    dims: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Link:
    """An edge between two nodes, by their names."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Net:
    """Nodes and edges in order, and how many positions each dim has.

    ``directed``: whether edges have arrows.
    """

    name: str
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    sizes: Mapping[str, int]
    directed: bool = True


def plate_net(graph: Graph, *, data: bool = True) -> Net:
    """The nodes and edges of a plate diagram, with or without arrays of data.

    >>> import gibbsppl as gp
    >>> with gp.Model(coords={"i": 2}) as model:
    ...     mu = gp.Normal("mu", 0, sigma=10)
    ...     y = gp.Normal("y", mu, sigma=1, dims="i", observed=[1.0, 2.0])
    >>> net = plate_net(model.graph)
    >>> [(n.name, n.kind, n.dims) for n in net.nodes], net.links
    ([('mu', 'latent', ()), ('y', 'observed', ('i',))], (Link(source='mu', target='y'),))
    """
    read = _read_by(graph)
    links = tuple(dict.fromkeys(Link(a, b) for b, sources in read.items() for a in sources))
    nodes = [
        *(_of_factor(f, graph) for f in graph.factors),
        *(_of_constant(c, graph) for c in graph.constants),
        *(_of_computed(d) for d in graph.deterministics),
    ]
    used = {link.source for link in links} - {n.name for n in nodes}
    nodes += [_of_array(n, graph) for n in sorted(used, key=list(graph.variables).index)]
    if not data:
        nodes = [n for n in nodes if n.kind != "data"]
    return _net(graph, nodes, links, directed=True)


def factor_net(graph: Graph, *, data: bool = True) -> Net:
    """The nodes and edges of a factor graph: arrays, and the terms of the log density.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     y = gp.Normal("y", gp.Normal("mu", 0, sigma=10), sigma=1, observed=1.0)
    >>> net = factor_net(model.graph)
    >>> [n.lines[0] for n in net.nodes], len(net.links)
    (['mu', 'y', 'Normal', 'Normal'], 3)
    """
    arrays = [n for kind, n in graph.network if kind == "array" and n in graph.variables]
    order = list(graph.variables)
    nodes = [_of_array(n, graph) for n in sorted(arrays, key=order.index)]
    nodes += [_as_factor(f) for f in graph.factors]
    if not data:
        nodes = [n for n in nodes if n.kind != "data"]
    links: dict[frozenset[str], Link] = {}
    # (a statement fills its array, whose elements its density also reads)
    for (a, source), (b, target) in sorted(graph.network.edges, key=lambda e: e[0][0] == "array"):
        found = Link(_key(a, source), _key(b, target))
        links.setdefault(frozenset((found.source, found.target)), found)
    return _net(graph, nodes, links.values(), directed=False)


def _net(graph: Graph, nodes: Iterable[Node], links: Iterable[Link], *, directed: bool) -> Net:
    nodes = tuple(nodes)
    names = {n.name for n in nodes}
    kept = tuple(k for k in links if k.source in names and k.target in names)
    sizes = {d.name: n for d, n in graph.sizes.items()}
    return Net(graph.name, nodes, kept, sizes, directed)


def _key(kind: str, name: str) -> str:
    """The name of a node of a factor graph: a statement and its array have the same name."""
    return name if kind == "array" else f"factor {name}"


# ---- nodes -----------------------------------------------------------------------------------


def _dims(over: Iterable[Range]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(root_of(r.dim) for r in over))


def _partial(over: Iterable[Range], graph: Graph) -> str:
    """The positions of a region, along the dims of which it has not all."""
    some = (r for r in over if len(r) != graph.sizes[r.dim])
    return ", ".join(f"{r.dim} = {r.start}..{r.stop - 1}" for r in some)


def _of_factor(factor: Factor, graph: Graph) -> Node:
    if not isinstance(factor, Statement):
        over, region = _dims(factor.over), _partial(factor.over, graph)
        lines = (factor.name, *([region] if region else []))
        return Node(factor.name, "factor", lines, str(factor), over)
    region = _partial(factor.over, graph)
    is_whole = len(graph.statements_of(factor.target.array.name)) == 1 and not region
    name = factor.target.array.name if is_whole else str(factor.target)
    lines = (name, _family(factor), *([region] if region else []))
    return Node(factor.name, _kind(factor), lines, str(factor), _dims(factor.over))


def _family(statement: Statement) -> str:
    name = statement.family.name or "log density"
    if statement.event:
        name += f" over {', '.join(d.name for d in statement.event)}"
    return name


def _kind(statement: Statement) -> Kind:
    if statement.known == 1:
        return "observed"
    return "latent" if statement.known == 0 else "partly observed"


def _as_factor(factor: Factor) -> Node:
    """A factor of a factor graph, by the name of its family."""
    text = _family(factor) if isinstance(factor, Statement) else factor.name
    return Node(_key("factor", factor.name), "factor", (text,), str(factor), _dims(factor.over))


def _of_constant(constant: Constant, graph: Graph) -> Node:
    region = _partial(constant.over, graph)
    lines = (str(constant), *([region] if region else []))
    return Node(_constant_name(constant), "data", lines, str(constant), _dims(constant.over))


def _constant_name(constant: Constant) -> str:
    regions = (f", {r.dim} = {r.start}..{r.stop - 1}" for r in constant.over)
    return f"{constant.target} fixed{''.join(regions)}"


def _of_computed(made: Deterministic) -> Node:
    dims = tuple(d.name for d in made.dims)
    return Node(made.name, "computed", (made.name,), str(made), dims)


def _of_array(name: str, graph: Graph) -> Node:
    """An array by itself: data, or one of the state."""
    variable = graph.variables[name]
    own = graph.statements_of(name)
    kinds = dict.fromkeys(_kind(s) for s in own)
    kind: Kind = next(iter(kinds)) if len(kinds) == 1 else "partly observed"
    if not own:
        kind = "computed" if variable.kind == "random" else "data"
    event = {d.name for s in own for d in s.event if d in variable.dims}
    dims = tuple(d.name for d in variable.dims if d.name not in event)
    written = f"{name}[{', '.join(d.name for d in variable.dims)}]" if variable.dims else name
    return Node(name, kind, (name,), f"{written}, {kind}", dims)


# ---- edges -----------------------------------------------------------------------------------


def _read_by(graph: Graph) -> dict[str, list[str]]:
    """For each factor and computed array by name, the names of the nodes that it reads."""
    computed = sorted(graph.deterministics, key=lambda d: -d.value.count_ops())
    found = {
        # (a density that is written out mentions its own value)
        f.name: _sources(_written(_expressions(f), computed), f.over, graph, _target_of(f))
        for f in graph.factors
    }
    for n, one in enumerate(computed):
        # (of two computed arrays of the same value, neither is written by the other)
        others = [d for d in computed[n + 1 :] if d.value != one.value]
        ranges = tuple(Range(d, 0, graph.sizes[d]) for d in one.dims)
        found[one.name] = _sources(_written((one.value,), others), ranges, graph)
    return found


def _expressions(factor: Factor) -> tuple[Expr, ...]:
    """The terms that a factor is written by: a parameter as the user wrote it."""
    if isinstance(factor, Marginal):
        return expressions_read_by(factor)
    if isinstance(factor, Potential):
        return read_expressions(factor)
    spelled = [e for _, e in factor.spelled or factor.arguments]
    bounds = [b for c in factor.censored for b in (c.where, c.lower, c.upper)]
    bounds += [factor.lower, factor.upper]
    return (*spelled, *map(sp.sympify, (b for b in bounds if b is not None)))


def _written(expressions: Iterable[Expr], computed: Iterable[Deterministic]) -> list[Expr]:
    """The expressions, with the values of computed arrays as elements of these."""
    names = {
        d.value: Array(d.name)[d.dims]
        for d in computed
        if not isinstance(d.value, Leaf) and d.value.args
    }
    return [e.xreplace(names) if names else e for e in expressions]


def _target_of(factor: Factor) -> Leaf | None:
    return factor.target if isinstance(factor, Statement) else None


def _sources(
    expressions: Iterable[Expr], over: tuple[Range, ...], graph: Graph, own: Leaf | None = None
) -> list[str]:
    """The nodes whose region is read by any of the expressions, other than as the own value."""
    found: dict[str, None] = {}
    for expression in expressions:
        for read in reads_of(expression, bounds_of(over), graph.sizes):
            if read.leaf == own:
                continue
            name = read.leaf.array.name
            filled: list[Statement | Constant] = [*graph.statements_of(name)]
            filled += _constants_of(name, graph)
            regions = (r for r in filled if meets(read, r, graph))
            found |= dict.fromkeys(map(_name_of_region, regions))
            if not filled and (name in graph.variables or _is_computed(name, graph)):
                found[name] = None
    return list(found)


def _name_of_region(region: Statement | Constant) -> str:
    return region.name if isinstance(region, Statement) else _constant_name(region)


def _constants_of(name: str, graph: Graph) -> Iterator[Constant]:
    return (c for c in graph.constants if c.target.array.name == name)


def _is_computed(name: str, graph: Graph) -> bool:
    return any(d.name == name for d in graph.deterministics)
