"""Choices within sums, as polynomials: ``where(g, a, b)`` is ``g*a + (1 - g)*b`` for a g of 0 or 1.

A function of a sum has no branches by the choices in the sum, which are as many as its positions:
there a choice is a term that is linear in each of its branches, and in g. Gates are the same
however they are written: ``x @ where(gate, beta, 0)`` is ``x @ (gate * beta)``.

Comes in: a graph and its data. Goes out: the graph in which arguments of statements and potentials
have no such choices. Branches are polynomials in what is finite: 0 times another is 0 then.

>>> from gibbsppl.algebra.expressions import Array, Dim
>>> j, g, b = Dim("j"), Array("g", nonnegative=True), Array("b")
>>> without_choices(sp.exp(Over(Where(g[j], b[j], sp.S.Zero), j)), {"g"}, {"b", "g"})
exp(sum(b[j]*g[j], j))
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import Dim, Expr, Leaf, Over, arrays_in, dims_of
from gibbsppl.algebra.functions import Where
from gibbsppl.model.asked import answer
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph
from gibbsppl.model.graph_changes import changed_graph
from gibbsppl.pieces.gates import binary_arrays, is_gate


def with_choices(graph: Graph, data: Values) -> Graph:
    """The graph with choices within sums as polynomials; the same one where there are none."""
    if not any(Where in map(type, sp.preorder_traversal(e)) for e in _read(graph)):
        return graph
    binary = set(binary_arrays(graph, data))
    finite = {n for n in graph.variables if n not in data or answer(data, _is_finite, n)}
    return changed_graph(graph, partial(without_choices, binary=binary, finite=finite))


def _is_finite(data: Values, name: str) -> bool:
    """Whether all values of an array are numbers, none of them infinite."""
    return bool(np.isfinite(data[name]).all())


def without_choices(
    expr: Expr,
    binary: Collection[str],
    finite: Collection[str],
    summed: frozenset[Dim] = frozenset(),
) -> Expr:
    """An expression with choices that are made position by position of a sum as polynomials."""
    if isinstance(expr, Leaf) or not expr.has(Where):
        return expr
    inside = summed | set(expr.bound) if isinstance(expr, Over) else summed
    args = [
        without_choices(a, binary, finite, inside) if isinstance(a, sp.Expr) else a
        for a in expr.args
    ]
    if isinstance(expr, Where) and dims_of(args[0]) & summed and is_gate(args[0], binary):
        gate, first, second = args
        if all(_is_polynomial(e, finite) for e in (first, second)):
            return gate * first + (1 - gate) * second
    return expr.func(*args) if args != list(expr.args) else expr


def _read(graph: Graph) -> list[Expr]:
    """The expressions that statements and potentials read."""
    arguments = [a for s in graph.statements for _, a in s.arguments]
    return [*arguments, *(p.log_density for p in graph.potentials)]


def _is_polynomial(expr: Expr, finite: Collection[str]) -> bool:
    """Whether an expression is a polynomial in finite values."""
    if expr.is_number or isinstance(expr, Dim):
        return bool(expr.is_finite is not False)
    if isinstance(expr, Leaf):
        return arrays_in(expr) <= set(finite)
    if isinstance(expr, Over):
        return _is_polynomial(expr.body, finite)
    if expr.is_Add or expr.is_Mul:
        return all(_is_polynomial(a, finite) for a in expr.args)
    if isinstance(expr, sp.Pow) and expr.exp.is_Integer and expr.exp.is_positive:
        return _is_polynomial(expr.base, finite)
    return False
