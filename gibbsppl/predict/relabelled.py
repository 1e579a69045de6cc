"""Draws of which the components that can be exchanged are numbered alike.

Comes in: a graph with its data, draws of its posterior, the probabilities of labels. Goes out: the
draws, all arrays along the components in the order that `gibbsppl.output.relabelling` finds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from gibbsppl.errors import RunError
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph
from gibbsppl.output.arrays import Array
from gibbsppl.output.draws import Draws
from gibbsppl.output.relabelling import Ints, alike, in_order, renamed
from gibbsppl.predict.joint_density import log_density_along

# So many draws are looked at to see that components can be exchanged, which must change log
# densities by no more than this share of them.
LOOKED_AT, ROUNDED = 5, 1e-8


def components_of(graph: Graph, labels: str) -> str:
    """The dim that labels point into; `RunError` for another variable."""
    variable = graph.variables.get(labels)
    if variable is None or variable.of is None or labels not in graph.drawn:
        names = [n for n in graph.drawn if graph.variables[n].of is not None]
        raise RunError(
            f"relabelled: found {labels!r}, expected a variable whose values are labels: "
            f"{', '.join(names) or 'there is none'}."
        )
    return variable.of.name


def relabelled(
    graph: Graph, data: Values, draws: Draws, labels: str, probabilities: Array
) -> Draws:
    """The draws with the components of each in the same order, as `Sampler.relabelled` says.

    ``probabilities`` of labels have axes (chain, draw, ..., component).
    """
    draws, dim = draws.together(), components_of(graph, labels)
    count, size = draws.chains * draws.draws, probabilities.shape[-1]
    _check_exchangeable(graph, data, draws, dim, size)
    orders = alike(probabilities.reshape(count, -1, size))
    found = _ordered(graph, {n: draws.stacked(n) for n in draws}, draws.dims, dim, orders)
    changed = int((orders != np.arange(size)).any(axis=1).sum())
    along = draws.chains, draws.draws
    return replace(
        draws,
        values={n: a.reshape(*along, *a.shape[1:]) for n, a in found.items()},
        attributes={**draws.attributes, "relabelled": f"{dim}, in {changed} of {count} draws"},
        ends=None,
    )


def _ordered(
    graph: Graph,
    arrays: Mapping[str, Array],
    dims: Mapping[str, tuple[str, ...]],
    dim: str,
    orders: Ints,
) -> dict[str, Array]:
    """Arrays, a draw along the first axis, with their components in order."""
    found = {}
    for name, array in arrays.items():
        ordered = array
        for axis, own in enumerate(dims.get(name, ()), start=1):
            if own.rstrip("'") == dim:  # (of a square matrix, both)
                ordered = in_order(ordered, orders, axis)
        variable = graph.variables.get(name)
        points = variable is not None and variable.of is not None and variable.of.name == dim
        found[name] = renamed(ordered, orders) if points else ordered
    return found


def _check_exchangeable(graph: Graph, data: Values, draws: Draws, dim: str, size: int) -> None:
    """Raise unless the density stays what it is when neighbours are exchanged."""
    if missing := [n for n in graph.drawn if n not in draws]:
        raise RunError(
            f"relabelled: {', '.join(missing)} not among the draws ({', '.join(draws)}), expected "
            "all latent variables, to see that components can be exchanged; name them in keep=."
        )
    rows = np.unique(np.linspace(0, draws.chains * draws.draws - 1, LOOKED_AT).astype(int))
    arrays = {n: draws.at(n, rows) for n in graph.drawn}

    def density(values: Mapping[str, Array]) -> Array:
        return log_density_along(graph, data, {n: np.moveaxis(a, 0, -1) for n, a in values.items()})

    before = density(arrays)
    for k in range(size - 1):
        order = np.arange(size)
        order[[k, k + 1]] = k + 1, k
        orders = np.tile(order, (len(rows), 1))
        after = density(_ordered(graph, arrays, draws.dims, dim, orders))
        if not np.allclose(before, after, rtol=ROUNDED, atol=ROUNDED):
            raise RunError(
                f"relabelled: components {k} and {k + 1} of {dim!r} cannot be exchanged: the log "
                f"density of a draw changes from {before[0]:.6g} to {after[0]:.6g}; they have a "
                "meaning of their own, and need no other labels."
            )
