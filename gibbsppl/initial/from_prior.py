"""Draws of the prior as it is, where chains start if the user asks for that.

Comes in: a graph with its data, values that the user fixes. Goes out: values of all latent
variables, at which the density is positive.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from gibbsppl.code.log_densities import LogDensities
from gibbsppl.errors import ModelError, RunError
from gibbsppl.initial.inits import finite_arrays
from gibbsppl.initial.zero_density import why_impossible
from gibbsppl.model.density import regions
from gibbsppl.model.evaluation import Floats, Values, evaluate
from gibbsppl.model.forward import State, drawn, walk
from gibbsppl.model.graph import Graph, Statement

ELSE = "leave start= out, which then looks for a start, or give values of it by init="


def prior_draw(
    rng: np.random.Generator,
    graph: Graph,
    data: Values,
    init: Values | None = None,
    densities: LogDensities | None = None,
) -> State:
    """One draw of the prior of all that ``init`` does not give, potentials left out.

    Raises a `RunError` where a prior has no draws, or the density there is not positive.
    """
    asked = finite_arrays("init", graph, data, init or {})
    whole = {n: a for n, a in asked.items() if not np.isnan(a).any()}

    def draw(statement: Statement, values: State) -> Floats:
        name = statement.target.array.name
        try:
            found = drawn(rng, statement, values, graph.sizes)
        except (ModelError, ValueError, FloatingPointError) as error:
            raise RunError(
                f"{statement.name}: found start='prior', expected a proper prior, from which to "
                f"draw: {str(error).rstrip('.')}; {ELSE}."
            ) from error
        if name not in asked:
            return found
        over = regions(statement, graph.sizes)
        own = evaluate(statement.target, over, {**values, name: asked[name]}, graph.sizes)
        return np.where(np.isnan(own), found, own)

    stated = replace(graph, potentials=())
    values = walk(stated, data, draw, rng, given=whole, observed=False)
    _check_possible(densities or LogDensities(graph), values)
    return {n: values[n] for n in graph.drawn}


def _check_possible(densities: LogDensities, values: State) -> None:
    """Raise a `RunError` that names the factor whose density is not positive, if there is one."""
    graph = densities.graph
    for factor in graph.factors:
        if not math.isfinite(densities.of((factor,), values)[factor.name].total):
            why = why_impossible(graph, factor, values)
            raise RunError(
                f"{factor.name}: found start='prior', and at a draw of the prior no positive "
                f"density: {why}; {ELSE}."
            )
