"""All draws at once: a graph whose random arrays have one more dimension, the draws.

Comes in: a graph. Goes out: a graph that is evaluated or simulated for many draws in the calls
that one draw would take.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace
from typing import Any

import sympy as sp

from gibbsppl.algebra.copies import root_of
from gibbsppl.algebra.expressions import Binder, Dim, Expr, Leaf
from gibbsppl.algebra.ranges import Range
from gibbsppl.model.density import regions
from gibbsppl.model.graph import Constant, Deterministic, Graph, Potential, Statement

DRAW = Dim("draw of all~")
# The largest number of values of one expression that are held at a time: 32 MB.
LARGEST = 4_000_000


def along_draws(graph: Graph, names: Collection[str], size: int) -> Graph:
    """The graph with one more dimension, last, in the arrays named and in all factors.

    But in the log likelihood of a sparse array, which is not summed at each position.
    """
    along = Range(DRAW, 0, size)
    variables = {
        n: replace(v, dims=(*v.dims, DRAW)) if n in names else v
        for n, v in graph.variables.items()
    }
    return replace(
        graph,
        sizes={**graph.sizes, DRAW: size},
        variables=variables,
        statements=tuple(_statement_along(s, names, along) for s in graph.statements),
        constants=tuple(_constant_along(c, names, along) for c in graph.constants),
        potentials=tuple(_potential_along(p, names, along) for p in graph.potentials),
    )


def computed_along(graph: Graph, names: Collection[str]) -> tuple[Deterministic, ...]:
    """The quantities computed of the arrays named, with one more dimension, last."""
    found, own = [], {*names}
    for one in graph.deterministics:
        found.append(replace(one, dims=(*one.dims, DRAW), value=_stacked(one.value, own)))
        own.add(one.name)
    return tuple(found)


def _statement_along(statement: Statement, names: Collection[str], along: Range) -> Statement:
    bounds = (None if b is None else _stacked(b, names) for b in (statement.lower, statement.upper))
    lower, upper = bounds
    return replace(
        statement,
        target=_stacked(statement.target, names),
        over=(*statement.over, along),
        arguments=tuple((n, _stacked(a, names)) for n, a in statement.arguments),
        lower=lower,
        upper=upper,
        known=sp.S.Zero,
    )


def _constant_along(constant: Constant, names: Collection[str], along: Range) -> Constant:
    target, value = _stacked(constant.target, names), _stacked(constant.value, names)
    return Constant(target, (*constant.over, along), value)


def _potential_along(potential: Potential, names: Collection[str], along: Range) -> Potential:
    if potential.of is not None:
        return potential
    density = _stacked(potential.log_density, names)
    return replace(potential, log_density=density, over=(*potential.over, along))


def _stacked(expr: Expr, names: Collection[str]) -> Any:
    """The expression with the arrays of those names read at a draw.

    >>> from gibbsppl.algebra.expressions import Array
    >>> x, i = Array("x"), Dim("i")
    >>> _stacked(2 * x[i], {"x"})
    2*x[i, draw of all~]
    """
    if not expr.args:
        return expr
    args = tuple(_stacked(a, names) for a in expr.args)
    if isinstance(expr, Leaf) and expr.array.name in names:
        return Leaf(expr.array, *args[1:], DRAW)
    return expr if args == expr.args else expr.func(*args)


def draws_at_once(graph: Graph) -> int:
    """How many draws to evaluate together, by the values that one draw needs."""
    sizes, largest = graph.sizes, 1
    for statement in graph.statements:
        region = math.prod(map(len, regions(statement, sizes)))
        # (of labels, each value is drawn from probabilities along a dim of their own)
        chosen = {*statement.event} - {r.dim for r in regions(statement, sizes)}
        largest = max(largest, region * math.prod(sizes[d] for d in chosen))
        for _, argument in statement.arguments:
            summed = {d for b in argument.atoms(Binder) for d in b.bound}
            inner = math.prod(sizes[Dim(root_of(d))] for d in summed)
            largest = max(largest, region * inner)
    return max(1, LARGEST // largest)
