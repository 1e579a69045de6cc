"""All draws at once: a graph whose random arrays have one more dimension, the draws.

Comes in: a graph. Goes out: a graph that is evaluated or simulated for many draws in the calls
that one draw would take; and log densities of its factors.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp

from gibbsppl.algebra.copies import root_of
from gibbsppl.algebra.expressions import Binder, Dim, Expr, Leaf
from gibbsppl.algebra.ranges import Range
from gibbsppl.model.density import log_density, regions
from gibbsppl.model.evaluation import Floats, Sizes, Values
from gibbsppl.model.graph import (
    MOST_KEPT,
    Censoring,
    Constant,
    Deterministic,
    Graph,
    Potential,
    Statement,
)

DRAW = Dim("draw of all~")
# The largest number of values of one expression that are held at a time: 32 MB.
LARGEST = 4_000_000

# The values of variables, draws along the last axis.
Along = Mapping[str, Floats]
Declared = Statement | Potential


def along_draws(graph: Graph, names: Collection[str], size: int) -> Graph:
    """The graph with one more dimension, last, in the arrays named and in all factors.

    But in the log likelihood of a sparse array, which is not summed at each position.
    """
    along, names = Range(DRAW, 0, size), frozenset(names)
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


def densities_along(
    factor: Declared, data: Values, along: Along, sizes: Sizes, count: int
) -> Floats:
    """The log density of a factor by position and, last, draw; of a sparse array by draw alone."""
    of, names = Range(DRAW, 0, count), frozenset(along)
    own: Declared
    if isinstance(factor, Potential):
        own = _potential_along(factor, names, of)
    else:
        own = _statement_along(factor, names, of)
    if own != factor:
        return log_density(own, {**data, **along}, {**sizes, DRAW: count})
    each = ({**data, **{n: a[..., k] for n, a in along.items()}} for k in range(count))
    return np.array([log_density(factor, one, sizes).sum() for one in each])


def total_along(factor: Declared, data: Values, along: Along, sizes: Sizes, count: int) -> Floats:
    """The log density of a factor by draw."""
    found = densities_along(factor, data, along, sizes, count)
    return np.asarray(found.sum(axis=tuple(range(found.ndim - 1))))


def computed_along(graph: Graph, names: Collection[str]) -> tuple[Deterministic, ...]:
    """The quantities computed of the arrays named, with one more dimension, last."""
    found, own = [], frozenset(names)
    for one in graph.deterministics:
        found.append(replace(one, dims=(*one.dims, DRAW), value=at_draws(one.value, own)))
        own |= {one.name}
    return tuple(found)


@lru_cache(maxsize=MOST_KEPT)
def _statement_along(statement: Statement, names: frozenset[str], along: Range) -> Statement:
    def at(expr: Expr | None) -> Any:
        return None if expr is None else at_draws(expr, names)

    return replace(
        statement,
        target=at(statement.target),
        over=(*statement.over, along),
        arguments=tuple((n, at(a)) for n, a in statement.arguments),
        lower=at(statement.lower),
        upper=at(statement.upper),
        known=sp.S.Zero,
        censored=tuple(
            Censoring(at(c.where), at(c.lower), at(c.upper)) for c in statement.censored
        ),
    )


@lru_cache(maxsize=MOST_KEPT)
def _potential_along(potential: Potential, names: frozenset[str], along: Range) -> Potential:
    if potential.is_sparse:
        return potential
    density = at_draws(potential.log_density, names)
    return replace(potential, log_density=density, over=(*potential.over, along))


def _constant_along(constant: Constant, names: frozenset[str], along: Range) -> Constant:
    target, value = at_draws(constant.target, names), at_draws(constant.value, names)
    return Constant(target, (*constant.over, along), value)


@lru_cache(maxsize=2**14)
def at_draws(expr: Expr, names: frozenset[str]) -> Any:
    """The expression with the arrays of those names read at a draw.

    >>> from gibbsppl.algebra.expressions import Array
    >>> x, i = Array("x"), Dim("i")
    >>> at_draws(2 * x[i], frozenset({"x"}))
    2*x[i, draw of all~]
    """
    if not expr.args:
        return expr
    args = tuple(at_draws(a, names) for a in expr.args)
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
