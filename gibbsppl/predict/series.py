"""Series carried on: positions after the last one, along a dim whose positions have an order.

Comes in: the statements of a question, a dim along which elements read others at a lag, or which is
filled in regions. Goes out: the statements of so many further positions, and the arrays that they
read at earlier ones. What is before stays as each draw, or the data, has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from gibbsppl.algebra.copies import root_of
from gibbsppl.algebra.expressions import Binder, Dim, Expr, Leaf, leaves_of
from gibbsppl.algebra.ranges import Range
from gibbsppl.algebra.recursions import Recursion
from gibbsppl.errors import RunError
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.output.arrays import Array


def read_of(statement: Statement) -> list[Expr]:
    """The expressions read to simulate a statement, limits of what can be seen included."""
    limits = (e for c in statement.censored for e in (c.where, c.lower, c.upper))
    bounds = (b for b in (statement.lower, statement.upper, *limits) if b is not None)
    return [*(a for _, a in statement.arguments), *bounds, *statement.target.indices]


def ordered_dims(
    graph: Graph, statements: Iterable[Statement], dims: frozenset[Dim]
) -> dict[Dim, str]:
    """The dims whose positions have an order, each with a statement by which this is known.

    One that is filled in regions, or that elements are read along at fixed or shifted positions.
    """
    found: dict[Dim, str] = {}
    for statement in statements:
        parts = {r.dim for r in statement.over if len(r) < graph.sizes[r.dim]}
        leaves = set().union(*(leaves_of(e) for e in read_of(statement)), {statement.target})
        placed = {d for leaf in leaves for d in _placed(graph, leaf)}
        for dim in (parts | placed) & dims:
            found.setdefault(dim, statement.name)
    return found


def _placed(graph: Graph, leaf: Leaf) -> list[Dim]:
    """The dims along which a leaf reads a fixed or a shifted position."""
    pairs = zip(graph.variables[leaf.array.name].dims, leaf.indices, strict=True)
    return [d for d, i in pairs if not isinstance(i, (Dim, Leaf))]


def carried_on(
    graph: Graph, statements: Sequence[Statement], dim: Dim, more: int
) -> tuple[Statement, ...]:
    """The statements of so many positions after the last; `RunError` if there are none."""
    found = [(s, _further(graph, s, dim, more)) for s in statements]
    for name in dict.fromkeys(s.target.array.name for s in statements):
        if not any(f is not None and s.target.array.name == name for s, f in found):
            raise RunError(
                f"{name}: found no statement of its last position along {dim.name!r} that says "
                "how the next ones are distributed; it cannot be carried on."
            )
    return tuple(f for _, f in found if f is not None)


def _further(graph: Graph, statement: Statement, dim: Dim, more: int) -> Statement | None:
    """The statement at the positions after the last; None of one that ends before."""
    own = next((r for r in statement.over if r.dim == dim), None)
    at = statement.target.indices[graph.variables[statement.target.array.name].dims.index(dim)]
    if own is None or not (at - dim).is_Integer or own.stop + int(at - dim) != graph.sizes[dim]:
        return None
    for expr in read_of(statement):
        _check_read(graph, statement, expr, dim)
    over = (Range(dim, own.stop, own.stop + more) if r.dim == dim else r for r in statement.over)
    return replace(statement, over=tuple(over))


def _check_read(graph: Graph, statement: Statement, expr: Expr, dim: Dim) -> None:
    """Raise where positions along a series are read that are no single ones before it."""
    bound = {root_of(d) for b in expr.atoms(Binder) for d in b.bound}
    if dim.name in bound or expr.has(Recursion):
        raise RunError(
            f"{statement.name}: it reads a sum over {dim.name!r}, or an array that is computed "
            "from its own elements, which further positions would change; it cannot be carried on."
        )
    for leaf in leaves_of(expr):
        pairs = zip(graph.variables[leaf.array.name].dims, leaf.indices, strict=True)
        if any(d == dim and (i - dim).is_positive for d, i in pairs):
            raise RunError(
                f"{statement.name}: it reads {leaf}, a later position along {dim.name!r}; it "
                "cannot be carried on."
            )


def read_before(exprs: Iterable[Expr], names: Iterable[str]) -> tuple[str, ...]:
    """The arrays, of those named, that expressions read."""
    read = {leaf.array.name for e in exprs for leaf in leaves_of(e)}
    return tuple(n for n in names if n in read)


def further_labels(labels: Array | None, more: int) -> Array | None:
    """The labels of the next positions, where those before are evenly spaced; else None.

    >>> further_labels(np.array([1990, 1992, 1994]), 2)
    array([1996, 1998])
    """
    if labels is None or len(labels) < 2 or np.asarray(labels).dtype.kind not in "iuM":
        return None
    steps = np.diff(labels)
    return labels[-1] + steps[0] * np.arange(1, more + 1) if (steps == steps[0]).all() else None
