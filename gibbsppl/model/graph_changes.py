"""A graph with each expression that its statements and potentials read changed.

Comes in: a graph, and a function from expressions to expressions. Goes out: another graph.

>>> from gibbsppl.algebra.expressions import Array
>>> x, y = (Array(n)[()] for n in "xy")
>>> str(changed_potential(Potential("p", x + 1, ()), lambda e: e.xreplace({x: y})))
'log density += y + 1'
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import sympy as sp

from gibbsppl.algebra.expressions import Expr
from gibbsppl.model.graph import Censoring, Graph, Potential, Statement

Change = Callable[[Expr], Expr]


def changed_graph(graph: Graph, change: Change) -> Graph:
    """The graph with the changed arguments and log densities."""
    return replace(
        graph,
        statements=tuple(changed_statement(s, change) for s in graph.statements),
        potentials=tuple(changed_potential(p, change) for p in graph.potentials),
    )


def with_statement_named(graph: Graph, name: str, new: str) -> Graph:
    """The graph with another name for a statement."""
    made = replace(graph.statement(name), name=new)
    return replace(graph, statements=tuple(made if s.name == name else s for s in graph.statements))


def changed_potential(potential: Potential, change: Change) -> Potential:
    """The potential with its log density changed."""
    return replace(potential, log_density=change(potential.log_density))


def changed_statement(statement: Statement, change: Change) -> Statement:
    """The statement with its arguments, bounds and censoring changed; its target stays."""

    def changed(expr: Expr | None) -> Expr | None:
        return None if expr is None else change(sp.sympify(expr))

    return replace(
        statement,
        arguments=tuple((n, change(a)) for n, a in statement.arguments),
        spelled=tuple((n, change(a)) for n, a in statement.spelled),
        lower=changed(statement.lower),
        upper=changed(statement.upper),
        censored=tuple(
            Censoring(change(c.where), changed(c.lower), changed(c.upper))
            for c in statement.censored
        ),
    )
