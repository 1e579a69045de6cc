"""Draws from the prior: ancestral draws of parameters and observations.

Comes in: a model. Goes out: values of all random arrays, the observed arrays included; or those of
the latent ones, many draws at once, given what was observed before them.

>>> import gibbsppl as gp
>>> with gp.Model(coords={"toss": 3}) as coin:
...     p = gp.Beta("p", 1, 1)
...     heads = gp.Bernoulli("heads", p, dims="toss", observed=[1, 0, 1])
>>> prior = gp.simulate(coin, seed=1, draws=1000)
>>> prior["p"].shape, prior["heads"].shape
((1000,), (1000, 3))
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gibbsppl.arguments import COUNT, MODEL, calls_told
from gibbsppl.errors import ModelError
from gibbsppl.model.evaluation import Floats, Values
from gibbsppl.model.forward import State, as_declared, drawn, prior_predictive, walk
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.output.arrays import Array
from gibbsppl.predict.along_draws import along_draws, draws_at_once
from gibbsppl.run.sampling import Seed, seed_sequence

if TYPE_CHECKING:
    from gibbsppl.language import Model


@calls_told(ModelError, model=MODEL, draws=COUNT)
def simulate(model: Model, *, seed: Seed, draws: int = 1) -> State:
    """Independent draws of every random array from the model itself: name -> (draws, ...).

    The observed arrays are drawn as well: these are the prior predictive. ``seed`` is a whole
    number, a ``SeedSequence`` or a ``Generator``.
    """
    if draws < 1:
        raise ModelError(f"draws: found {draws}, expected at least 1.")
    rng = np.random.default_rng(seed_sequence(seed))
    return prior_predictive(rng, model.graph, model.data, draws=draws)


def prior_draws(
    rng: np.random.Generator, graph: Graph, data: Values, count: int
) -> dict[str, Array]:
    """Draws of the latent arrays from their own statements, potentials left out: (draw, ...).

    Where an array is observed in part, the rest of it is drawn.
    """
    step = draws_at_once(graph)
    sizes = [min(step, count - start) for start in range(0, count, step)]
    parts = [_some(rng, graph, data, size) for size in sizes]
    return {n: np.concatenate([p[n] for p in parts]) for n in graph.drawn}


def _some(rng: np.random.Generator, graph: Graph, data: Values, size: int) -> dict[str, Array]:
    """So many draws, all at once: they are the last axis of a graph with one more dimension."""
    names = graph.drawn
    along = along_draws(graph, names, size)
    pairs = zip(along.statements, graph.statements, strict=True)
    # (statements along draws are not marked as observed)
    latent = tuple(replace(a, known=s.known) for a, s in pairs if s.is_latent)
    alone = replace(along, statements=latent, potentials=())
    shapes = {n: (*np.shape(data[n]), size) for n in names if n in data}
    seen = {n: np.broadcast_to(np.asarray(data[n])[..., None], s) for n, s in shapes.items()}

    def draw(statement: Statement, values: State) -> Floats:
        return drawn(rng, statement, values, alone.sizes)

    values = walk(alone, {**data, **seen}, draw, rng, observed=False)
    return {n: np.moveaxis(np.asarray(as_declared(graph, n, values[n])), -1, 0) for n in names}
