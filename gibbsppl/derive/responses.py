"""Computed arrays written as affine functions of a random array: an offset and responses.

``psi[t] = a[t] * psi[t - 1] + b * x[t]`` is ``psi`` without ``x``, plus the sum of the elements of
``x``, each times the response to it. The response to one element is a recursion too: ``psi``
without constant terms, and with 1 in the place of that element.

Comes in: a graph, and the name of an array. Goes out: the graph with recursions that are affine in
the array written as offset and responses.

>>> from gibbsppl.algebra.expressions import Array
>>> from gibbsppl.algebra.recursions import Own, step, system_of
>>> from gibbsppl.algebra.ranges import Range
>>> t, psi, a, x = Dim("t"), Own("psi"), Array("a")[()], Array("x")
>>> one = step(Earlier(psi, 0), sp.S.One, ())
>>> rest = step(Earlier(psi, t), a * Earlier(psi, t - 1) + x[t], (Range(t, 1, 5),))
>>> opened(Recursion(system_of([one, rest]), psi, 4), "x", (t,))
sum(x[t₁]*psi by x[4], t₁) + psi without x[4]
"""

from __future__ import annotations

from functools import lru_cache, partial

import sympy as sp

from gibbsppl.algebra.copies import copies_of
from gibbsppl.algebra.expressions import Dim, Expr, Leaf, Over, leaves_of, mentions
from gibbsppl.algebra.functions import Equals, Where
from gibbsppl.algebra.recursions import Earlier, Own, Recursion, Step, System, step
from gibbsppl.model.graph import MOST_KEPT, Graph
from gibbsppl.model.graph_changes import changed_graph


def with_responses(graph: Graph, name: str) -> Graph:
    """The graph with computed arrays as affine functions of the elements of an array."""
    change = partial(opened, name=name, dims=graph.variables[name].dims)
    return changed_graph(graph, change)


@lru_cache(maxsize=MOST_KEPT)
def opened(expr: Expr, name: str, dims: tuple[Dim, ...]) -> Expr:
    """The expression with recursions opened where they are affine in an array."""
    if not expr.has(Recursion) or not mentions(expr, (name,)):
        return expr
    if isinstance(expr, Recursion):
        return _response(expr, name, dims)
    return expr.func(*(opened(a, name, dims) if isinstance(a, sp.Expr) else a for a in expr.args))


def _response(expr: Recursion, name: str, dims: tuple[Dim, ...]) -> Expr:
    """The value of an element without an array, and its responses to the array's elements."""
    steps: tuple[Step, ...] = expr.system.args
    if any(mentions(i, (name,)) for i in expr.indices):
        return expr
    if not all(_is_affine(s.value, name) for s in steps):
        return expr
    taken = expr.atoms(sp.Symbol)
    places = tuple(copies_of(dims, taken).values())
    (array,) = {leaf.array for leaf in leaves_of(expr, (name,))}
    without = System(*(_without(s, name) for s in steps))
    responses = System(*(_of_one(s, name, places) for s in steps))
    total = Leaf(array, *places) * Recursion(responses, _by(expr.own, name), *expr.indices)
    for dim in places:
        total = Over(total, dim)
    return Recursion(without, _less(expr.own, name), *expr.indices) + total


def _less(own: Own, name: str) -> Own:
    return Own(f"{own} without {name}")


def _by(own: Own, name: str) -> Own:
    return Own(f"{own} by {name}")


def _is_affine(expr: Expr, name: str) -> bool:
    """Whether an expression is affine in earlier elements and elements of an array together."""
    if not _holds(expr, name):
        return True
    match expr:
        case Leaf() | Earlier():
            return not any(_holds(i, name) for i in expr.indices)
        case sp.Add():
            return all(_is_affine(a, name) for a in expr.args)
        case sp.Mul():
            held = [a for a in expr.args if _holds(a, name)]
            return len(held) == 1 and _is_affine(held[0], name)
        case Over():
            return _is_affine(expr.body, name)
        case Where():
            condition, *cases = expr.args
            return not _holds(condition, name) and all(_is_affine(c, name) for c in cases)
    return False


def _holds(expr: Expr, name: str) -> bool:
    return bool(expr.has(Earlier)) or mentions(expr, (name,))


def _without(own: Step, name: str) -> Step:
    """A step with 0 in the place of all elements of an array."""
    value = own.value.xreplace(dict.fromkeys(leaves_of(own.value, (name,)), sp.S.Zero))
    less = {e: Earlier(_less(e.own, name), *e.indices) for e in value.atoms(Earlier)}
    element = Earlier(_less(own.element.own, name), *own.element.indices)
    return step(element, value.xreplace(less), own.over)


def _of_one(own: Step, name: str, places: tuple[Dim, ...]) -> Step:
    """A step of the response to one element: without its constant part."""
    leaves = {
        leaf: sp.Mul(*(Equals(i, p) for i, p in zip(leaf.indices, places, strict=True)))
        for leaf in leaves_of(own.value, (name,))
    }
    earlier = own.value.atoms(Earlier)
    constant = own.value.xreplace(dict.fromkeys((*leaves, *earlier), sp.S.Zero))
    by = {e: Earlier(_by(e.own, name), *e.indices) for e in earlier}
    element = Earlier(_by(own.element.own, name), *own.element.indices)
    return step(element, own.value.xreplace({**leaves, **by}) - constant, own.over)
