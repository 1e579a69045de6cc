"""Data of equal values under different names, or equal to a number everywhere, written alike.

Algebra cancels ``loggamma(n - a)`` against ``loggamma(n - b)`` only where a and b are one
expression. What is removed from a population, say, may be given by its parts and as their sum.

Comes in: a graph with its data, and a statement. Goes out: the graph with equal data that are added
to the statement's target written alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import sympy as sp
from sympy import Add

from gibbsppl.algebra.expressions import Binder, Dim, Expr, dims_of, leaves_of, mentions
from gibbsppl.algebra.ranges import Range, ranges_of, size_of
from gibbsppl.model.asked import answer
from gibbsppl.model.evaluation import Sizes, Values, evaluate
from gibbsppl.model.graph import Graph, Potential, Statement

# For the terms of a sum that mention an array: data that are added to them, and what is to be
# written in their place.
_Equal = Mapping[Expr, Mapping[Expr, Expr]]
# The positions along dims.
_Ranges = Mapping[Dim, Range]


def with_equal_data(graph: Graph, statement: Statement, data: Values) -> Graph | None:
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


def _once(graph: Graph, name: str, data: Values) -> Graph:
    """The graph after one pass of writing equal data alike."""
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


def _beside(graph: Graph, name: str) -> dict[Expr, dict[Expr, _Ranges]]:
    """By the terms of functions' arguments that mention an array, the data added to them.

    With the positions at which these are read: the first position has no element before it.
    """
    found: dict[Expr, dict[Expr, _Ranges]] = {}
    for factor in graph.factors_of(name):
        if isinstance(factor, Statement | Potential):
            over = {r.dim: r for r in factor.over}
            for a, ranges in _arguments(factor.log_density, over, graph.sizes):
                own, rest = _parted(a, name)
                if own != 0 and not mentions(rest, graph.random):
                    others = found.setdefault(own, {})
                    others[rest] = _hull(others.get(rest, {}), ranges)
    return found


def _arguments(
    expr: Expr, ranges: _Ranges, sizes: Mapping[Dim, int]
) -> Iterator[tuple[Expr, _Ranges]]:
    """The arguments of the functions in an expression, and the positions at which they are."""
    if isinstance(expr, Binder):
        ranges = {**ranges, **{r.dim: r for r in ranges_of(expr, sizes)}}
    for a in expr.args:
        if isinstance(expr, sp.Function):
            yield a, ranges
        yield from _arguments(a, ranges, sizes)


def _hull(one: _Ranges, other: _Ranges) -> _Ranges:
    """All positions from the first to the last one of two."""
    both = {d: (one.get(d, r), r) for d, r in other.items()}
    ends = {d: (min(r.start for r in rs), max(r.stop for r in rs)) for d, rs in both.items()}
    return {**one, **{d: Range(d, *e) for d, e in ends.items()}}


def _parted(expr: Expr, name: str) -> tuple[Expr, Expr]:
    """The terms of a sum that mention an array, and the others."""
    terms = Add.make_args(expr)
    own = [t for t in terms if mentions(t, {name})]
    return Add(*own), Add(*(t for t in terms if t not in own))


def _equal(
    graph: Graph, exprs: Mapping[Expr, _Ranges], data: Values
) -> dict[Expr, Expr]:
    """For each expression of data an earlier one of equal values: first those of most targets.

    The earlier expression is read at all positions at which the later one is.
    """
    targets = {s.target.array.name for s in graph.statements}
    found: dict[Expr, Expr] = {}
    kept: list[Expr] = []
    for expr in sorted(exprs, key=lambda e: (-len(leaves_of(e, targets)), str(e))):
        own = exprs[expr]
        wide = (k for k in kept if _hull(exprs[k], _common(own, k)) == exprs[k])
        at = ((k, {**exprs[k], **own}) for k in wide)
        other = next((k for k, r in at if _is_zero(graph, expr - k, r, data)), None)
        if other is None:
            kept.append(expr)
        else:
            found[expr] = other
    return found


def _common(ranges: _Ranges, expr: Expr) -> _Ranges:
    """The positions along the dims that an expression has."""
    return {d: r for d, r in ranges.items() if d in dims_of(expr)}


def _is_zero(graph: Graph, expr: Expr, ranges: _Ranges, data: Values) -> bool:
    """Whether an expression of data is zero at given positions, and at all along other dims."""
    dims = sorted(dims_of(expr), key=str)
    over = tuple(ranges.get(d) or Range(d, 0, size_of(d, graph.sizes)) for d in dims)
    return answer(data, _are_zero, expr, over, graph.sizes)


def _are_zero(data: Values, expr: Expr, over: tuple[Range, ...], sizes: Sizes) -> bool:
    return bool(np.all(evaluate(expr, over, data, sizes) == 0))


def _alike(expr: Expr, name: str, equal: _Equal, seen: frozenset[Dim]) -> Expr:
    """An expression with equal data written alike, wherever a sum mentions an array.

    The expression put in has no dims but those of the factor, or bound around it.
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
