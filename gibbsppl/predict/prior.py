"""Draws from the prior: ancestral draws of parameters and observations.

Comes in: a model. Goes out: values of all random arrays, the observed arrays included; or those of
the latent ones, many draws at once, given what was observed before them; or groups of draws.

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

from gibbsppl.algebra.ranges import Range
from gibbsppl.arguments import COUNT, MODEL, calls_told
from gibbsppl.errors import ModelError
from gibbsppl.model.along_draws import along_draws, computed_along, draws_at_once
from gibbsppl.model.evaluation import Floats, Values, evaluate
from gibbsppl.model.forward import State, as_declared, drawn, prior_predictive, targets_of, walk
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.output.arrays import Array
from gibbsppl.output.draws import Draws
from gibbsppl.predict.new_data import observed_arrays
from gibbsppl.predict.prediction import seed_of
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


def prior_groups(
    graph: Graph, data: Values, draws: Draws, count: int, seed: int | None
) -> dict[str, Draws]:
    """Draws of the prior beside those of a posterior: ``prior`` and ``prior_predictive``.

    Parameters, with the quantities that are computed of them, and observed variables, each as one
    chain; of potentials nothing is known here.
    """
    rng = np.random.default_rng([seed_of(draws) if seed is None else seed, 4])
    own = replace(graph, potentials=tuple(p for p in graph.potentials if p.guards is None))
    names, step = targets_of(own), draws_at_once(own)
    sizes = [min(step, count - start) for start in range(0, count, step)]
    parts = [_all(rng, own, data, size) for size in sizes]
    values = {n: np.concatenate([p[n] for p in parts])[None] for n in parts[0]}
    seen = set(observed_arrays(own))
    groups = {
        "prior": {n: a for n, a in values.items() if n not in seen},
        "prior_predictive": {n: a for n, a in values.items() if n in seen},
    }
    dims = {n: tuple(d.name for d in own.variables[n].dims) for n in names}
    dims |= {d.name: tuple(e.name for e in d.dims) for d in own.deterministics}
    found = {}
    for name, arrays in groups.items():
        along = {d for n in arrays for d in dims[n]}
        coords = {d: labels for d, labels in draws.coords.items() if d in along}
        if arrays:
            found[name] = Draws(arrays, {n: dims[n] for n in arrays}, coords)
    return found


def _all(rng: np.random.Generator, graph: Graph, data: Values, size: int) -> dict[str, Array]:
    """So many draws of all random arrays at once, and of what is computed of them."""
    names = targets_of(graph)
    along = along_draws(graph, names, size)

    def draw(statement: Statement, values: State) -> Floats:
        return drawn(rng, statement, values, along.sizes)

    values = walk(along, {n: a for n, a in data.items() if n not in names}, draw, rng)
    for made in computed_along(graph, names):
        over = tuple(Range(d, 0, along.sizes[d]) for d in made.dims)
        shape = tuple(map(len, over))
        values[made.name] = np.broadcast_to(evaluate(made.value, over, values, along.sizes), shape)
    found = {n: as_declared(graph, n, values[n]) for n in names}
    found |= {d.name: values[d.name] for d in graph.deterministics}
    return {n: np.moveaxis(np.asarray(a), -1, 0) for n, a in found.items()}


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
