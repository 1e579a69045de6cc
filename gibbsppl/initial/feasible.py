"""A start moved to where observations and potentials allow it, where that can be derived.

Comes in: a graph and the values of a first attempt. Goes out: the same values, changed in place:
bounds of what is observed moved past it, elements exchanged that a potential wants in order. What
the user has given stays, and what is known.
"""

from __future__ import annotations

import math

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import Expr, Leaf, leaves_of
from gibbsppl.algebra.functions import AtMost, Below
from gibbsppl.model.density import free_elements
from gibbsppl.model.evaluation import Floats, Values, evaluate
from gibbsppl.model.forward import State, fill
from gibbsppl.model.graph import Graph, Potential, Statement
from gibbsppl.model.operations import Bools
from gibbsppl.pieces.limits import solved

# Kinds of supports whose elements can be moved one by one.
ONE_BY_ONE = frozenset({"real", "integer", "vector"})


def free_in(graph: Graph, values: Values, asked: Values) -> dict[str, Bools]:
    """The elements of each array that are drawn and not given by the user, as masks."""
    found = {n: np.zeros(np.shape(values[n])) for n in graph.drawn}
    for s in graph.latent:
        fill(s, free_elements(s, values, graph.sizes), found, graph.sizes)
    given = {n: ~np.isnan(asked[n]) for n in asked}
    return {n: (mask == 1) & ~given.get(n, np.False_) for n, mask in found.items()}


def kinds_of(graph: Graph, name: str) -> set[str]:
    """The kinds of supports that the elements of an array have."""
    return {s.support.kind for s in graph.statements_of(name)}


def raise_to_observed(graph: Graph, values: State, free: Values) -> None:
    """A latent bound of something observed (``y ~ Uniform(0, theta)``) moved past what was seen.

    ``free`` tells by masks which elements of which arrays may be moved.
    """
    alone = [n for n in free if kinds_of(graph, n) <= ONE_BY_ONE]
    for child in graph.statements:
        y, support = child.target, child.support
        inside = (AtMost(y, support.upper), AtMost(support.lower, y))
        for indicator in inside if child.known != 0 and not child.family.event else ():
            for leaf in sorted(leaves_of(indicator, alone), key=str):
                found = solved(indicator, leaf)
                if leaf.array != y.array and found is not None:
                    side, value = found
                    past = _past(graph, child, leaf, 1 if side == "lower" else -1, value, values)
                    now = values[leaf.array.name]
                    values[leaf.array.name] = np.where(free[leaf.array.name], past, now)


def _past(
    graph: Graph, child: Statement, leaf: Leaf, sign: int, value: Expr, values: State
) -> Floats:
    """An array moved past the observed values that it bounds."""
    shape = tuple(map(len, child.over))
    seen, bound = (
        np.broadcast_to(evaluate(e, child.over, values, graph.sizes), shape) for e in (value, leaf)
    )
    short = sign * (seen - bound) > 0
    indices = tuple(
        np.broadcast_to(evaluate(i, child.over, values, graph.sizes), shape)[short].astype(int)
        for i in leaf.indices
    )
    update = np.maximum if sign > 0 else np.minimum
    whole = graph.variables[leaf.array.name].integer
    margin = 0.1 * np.abs(seen[short])
    margin = sign * (np.ceil(margin) if whole else margin)
    bounds = np.array(values[leaf.array.name])
    if not bounds.ndim:
        return np.asarray(update.reduce(seen[short] + margin, initial=float(bounds)))
    update.at(bounds, indices, seen[short] + margin)
    return bounds


def put_in_order(graph: Graph, values: State, free: Values) -> None:
    """Latent elements exchanged wherever a potential wants the one below the other."""
    orders = [
        (potential, pair)
        for potential in graph.potentials
        for pair in _pairs_in_order(potential)
        if all(leaf.array.name in free for leaf in pair)
    ]
    for _ in orders:
        for potential, pair in orders:
            _exchange(graph, potential, pair, values, free)


def _pairs_in_order(potential: Potential) -> list[tuple[Leaf, ...]]:
    """The pairs of elements the first of which is below the second, or the density is zero."""
    if not isinstance(potential.log_density, sp.log):
        return []
    relations = sp.Mul.make_args(potential.log_density.args[0])
    pairs = (r.args for r in relations if isinstance(r, (Below, AtMost)))
    leaves = (tuple(x for x in pair if isinstance(x, Leaf)) for pair in pairs)
    return [pair for pair in leaves if len(pair) == 2]


def _exchange(
    graph: Graph,
    potential: Potential,
    pair: tuple[Leaf, ...],
    values: State,
    free: Values,
) -> None:
    """The first of each pair of elements made the smaller one, in as many passes as it takes.

    Elements that are not free stay.
    """
    low, high = (_places(graph, potential, leaf, values) for leaf in pair)
    below, above = (values[leaf.array.name] for leaf in pair)
    is_low, is_high = (free[leaf.array.name] for leaf in pair)
    both = [(i, j) for i, j in zip(low, high, strict=True) if is_low[i] and is_high[j]]
    for _ in range(len(both)):
        wrong = [(i, j) for i, j in both if below[i] > above[j]]
        for i, j in wrong:
            if below[i] > above[j]:
                below[i], above[j] = above[j], below[i]
        if not wrong:
            return


def _places(
    graph: Graph, potential: Potential, leaf: Leaf, values: Values
) -> list[tuple[int, ...]]:
    """The element that a leaf reads, for each position of a potential."""
    shape = tuple(map(len, potential.over))
    indices = (evaluate(i, potential.over, values, graph.sizes) for i in leaf.indices)
    flat = [np.broadcast_to(i, shape).astype(int).ravel().tolist() for i in indices]
    return list(zip(*flat, strict=True)) if flat else [()] * math.prod(shape)
