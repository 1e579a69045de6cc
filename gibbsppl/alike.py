"""Data of equal values under different names, or equal to a number everywhere, written alike.

Algebra cancels ``loggamma(n - a)`` against ``loggamma(n - b)`` only where a and b are one
expression. What is removed from a population, say, may be given by its parts and as their sum.

Comes in: a graph with its data, and a statement. Goes out: the graph in which what the statement's
target stands beside is written alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import sympy as sp
from sympy import Add

from gibbsppl.evaluation import evaluate
from gibbsppl.expressions import Binder, Dim, Expr, dims_of, leaves_of, mentions
from gibbsppl.graph import Graph, Potential, Statement
from gibbsppl.ranges import Range, size_of

# For the terms of a sum that mention an array: data that are added to them, and what is to be
# written in their place.
_Equal = Mapping[Expr, Mapping[Expr, Expr]]


def with_equal_data(graph: Graph, statement: Statement, data: Mapping[str, Any]) -> Graph | None:
    """The graph with equal data written alike beside a statement's target; None if there are none.

    Targets stay as they are: it is the arguments of their statements that are rewritten.
    """
    name, found = statement.target.array.name, graph
    for _ in graph.factors:  # (what is written alike may make more equal)
        alike = _once(found, name, data)
        if alike == found:
            break
        found = alike
    return None if found == graph else found


def _once(graph: Graph, name: str, data: Mapping[str, Any]) -> Graph:
    """The graph with what is equal now written alike."""
    equal = {own: _equal(graph, rest, data) for own, rest in _beside(graph, name).items()}
    equal = {own: names for own, names in equal.items() if names}
    statements = tuple(
        replace(s, arguments=tuple((n, _alike(a, name, equal, _seen(s))) for n, a in s.arguments))
        for s in graph.statements
    )
    potentials = tuple(
        replace(p, log_density=_alike(p.log_density, name, equal, _seen(p)))
        for p in graph.potentials
    )
    return replace(graph, statements=statements, potentials=potentials)


def _seen(factor: Statement | Potential) -> frozenset[Dim]:
    """The dims at whose positions the expressions of a factor are read."""
    event = factor.event if isinstance(factor, Statement) else ()
    return frozenset((*(r.dim for r in factor.over), *event))


def _beside(graph: Graph, name: str) -> dict[Expr, set[Expr]]:
    """By the terms of functions' arguments that mention an array, the data added to them."""
    found: dict[Expr, set[Expr]] = {}
    for factor in graph.factors_of(name):
        if isinstance(factor, Statement | Potential):
            for part in sp.preorder_traversal(factor.log_density):
                for a in part.args if isinstance(part, sp.Function) else ():
                    own, rest = _parted(a, name)
                    if own != 0 and not mentions(rest, graph.random):
                        found.setdefault(own, set()).add(rest)
    return found


def _parted(expr: Expr, name: str) -> tuple[Expr, Expr]:
    """The terms of a sum that mention an array, and the others."""
    terms = Add.make_args(expr)
    own = [t for t in terms if mentions(t, {name})]
    return Add(*own), Add(*(t for t in terms if t not in own))


def _equal(graph: Graph, exprs: Iterable[Expr], data: Mapping[str, Any]) -> dict[Expr, Expr]:
    """For each expression of data an earlier one of equal values: first those of most targets."""
    targets = {s.target.array.name for s in graph.statements}
    found: dict[Expr, Expr] = {}
    kept: list[Expr] = []
    for expr in sorted(exprs, key=lambda e: (-len(leaves_of(e, targets)), str(e))):
        other = next((k for k in kept if _is_zero(graph, expr - k, data)), None)
        if other is None:
            kept.append(expr)
        else:
            found[expr] = other
    return found


def _is_zero(graph: Graph, expr: Expr, data: Mapping[str, Any]) -> bool:
    """Whether an expression of data is zero at all positions."""
    over = tuple(Range(d, 0, size_of(d, graph.sizes)) for d in sorted(dims_of(expr), key=str))
    return bool(np.all(evaluate(expr, over, data, graph.sizes) == 0))


def _alike(expr: Expr, name: str, equal: _Equal, seen: frozenset[Dim]) -> Expr:
    """An expression with equal data written alike, wherever a sum mentions an array.

    What is written has no dims but those that are seen there, or bound around it.
    """
    if not mentions(expr, {name}):
        return expr
    own, rest = _parted(expr, name)
    for before, after in equal.get(own, {}).items():
        # (that of n! is n + 1)
        if (more := before - rest) in (0, 1) and dims_of(after) <= seen:
            return own + after - more
    if not expr.args or isinstance(expr, sp.Symbol):
        return expr
    if isinstance(expr, Binder):
        seen = seen.union(expr.bound)
    args = (_alike(a, name, equal, seen) if isinstance(a, sp.Expr) else a for a in expr.args)
    return expr.func(*args)
