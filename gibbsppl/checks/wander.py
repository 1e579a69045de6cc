"""States that a model's own density leads to: random walks that know nothing of a program.

A conditional that excludes what the model allows keeps the sweeps of its program away from there,
and so every state that these lead to. A walk on the declared density goes there.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gibbsppl.checks.perturb import Which, perturbed
from gibbsppl.code.program import State
from gibbsppl.initial.search import overflows
from gibbsppl.model.density import free_elements, log_density
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Factor, Graph, Statement

# All elements of a variable are moved, then a single one, by one of these sizes relative to its
# support; all variables in turn, so often that one can make way for another.
ROUNDS = 5
SCALES = (4.0, 1.0, 0.25)
MOVES: tuple[Which | None, ...] = (None, "any")


def wandered(
    rng: np.random.Generator, graph: Graph, data: Values, state: Values
) -> State:
    """A state of positive density after random walks of each variable from another such state."""
    values: State = {**data, **state}
    for _ in range(ROUNDS):
        for statement in graph.latent:
            values = _moved(rng, graph, statement, values)
    return {n: values[n] for n in state}


def _moved(
    rng: np.random.Generator, graph: Graph, statement: Statement, values: State
) -> State:
    """The values after moves of a statement's values, each accepted by the density or not.

    None leads to where a power overflows, from where none does: no state to compare at.
    """
    name = statement.target.array.name
    free = free_elements(statement, values, graph.sizes)
    factors = graph.factors_of(name)
    now = _log_density(graph, factors, values)
    for single in MOVES if free.any() else ():
        scale = rng.choice(SCALES)
        there = dict(values)
        there[name] = perturbed(
            rng, statement, values, graph.sizes, free, scale=scale, single=single
        )
        then = _log_density(graph, factors, there)
        if not (np.isfinite(then) and np.log(rng.uniform()) < then - now):
            continue
        if not overflows(factors, there, graph.sizes) or overflows(factors, values, graph.sizes):
            values, now = there, then
    return values


def _log_density(graph: Graph, factors: Sequence[Factor], values: Values) -> float:
    """The log density of factors together, ``-inf`` outside of a support."""
    return sum(float(log_density(f, values, graph.sizes).sum()) for f in factors)
