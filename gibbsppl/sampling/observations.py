"""The observations of a model as draws have them: NaN where a value is missing.

Comes in: a graph and its data, where what is missing has some number. Goes out: arrays by name.
"""

from __future__ import annotations

import numpy as np

from gibbsppl.model.density import free_elements
from gibbsppl.model.evaluation import Values
from gibbsppl.model.forward import fill
from gibbsppl.model.graph import Graph
from gibbsppl.output.arrays import Array


def observations(graph: Graph, data: Values) -> dict[str, Array]:
    """The observed arrays, those that are observed in part as numbers that may be NaN.

    >>> import gibbsppl as gp
    >>> with gp.Model(coords={"i": 3}) as model:
    ...     y = gp.Poisson("y", 2, dims="i", observed=[4, -1, 5], missing=-1)
    >>> observations(model.graph, model.data)
    {'y': array([ 4., nan,  5.])}
    """
    sparse = {p.of for p in graph.potentials if p.of is not None}
    observed = {s.target.array.name for s in graph.statements if s.known != 0}
    return {n: _seen(graph, data, n) for n in data if n in observed} | {
        n: np.asarray(data[n]) for n in data if n in sparse
    }


def _seen(graph: Graph, data: Values, name: str) -> Array:
    """One array with NaN where it is not observed."""
    array, own = np.asarray(data[name]), graph.statements_of(name)
    if all(s.known == 1 for s in own):
        return array
    seen = {**data, name: np.zeros(array.shape)}
    for statement in own:
        fill(statement, ~free_elements(statement, data, graph.sizes), seen, graph.sizes)
    return np.where(seen[name] == 1, array, np.nan)
