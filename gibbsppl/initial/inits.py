"""Values of the user's to start from: one mapping for all chains, one for each, draws, or a fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeAlias

import numpy as np

from gibbsppl.arguments import StartWord
from gibbsppl.errors import RunError
from gibbsppl.language.given import given_arrays
from gibbsppl.model.evaluation import Values
from gibbsppl.model.forward import State
from gibbsppl.model.graph import Graph


class Fit(Protocol):
    """A fit of a model, from which chains may start."""

    def starts(self, chains: int) -> Sequence[Values]:
        """A draw from it for each chain."""


Init: TypeAlias = Values | Sequence[Values] | Fit | None
# Where chains start that have no such values: a word for it, or values once more.
Start: TypeAlias = StartWord | Values | Sequence[Values] | Fit


def inits_of(
    init: Init, graph: Graph, chains: int, what: str = "init"
) -> Sequence[Values | None]:
    """The values that each chain starts from, as the argument ``what`` gives them.

    Of draws and fits these are the variables of the graph.
    """
    if init is None or isinstance(init, Mapping):
        return [init] * chains
    if not isinstance(init, Sequence):
        found = init.starts(chains)
        own = [{n: x for n, x in values.items() if n in graph.drawn} for values in found]
        if not all(own):
            raise RunError(
                f"{what}: found values of {', '.join(found[0]) or 'nothing'}, expected some of "
                f"{', '.join(graph.drawn)}, which {graph.name} draws; give draws of this model, or "
                "of one with variables of the same names."
            )
        return own
    if len(init) != chains:
        raise RunError(
            f"{what}: found {len(init)} sets of initial values, expected one mapping for all "
            f"chains, or one for each of the {chains}; pass chains={len(init)}."
        )
    return list(init)


def starts_of(start: Start, graph: Graph, chains: int) -> Sequence[Values | None]:
    """The values that ``start`` gives to each chain; None for a word."""
    return inits_of(None if isinstance(start, str) else start, graph, chains, "start")


def finite_arrays(what: str, graph: Graph, data: Values, given: Values) -> State:
    """The user's values to start from as arrays: finite, or NaN for elements that have none."""
    found = given_arrays(what, graph, data, given)
    for name, array in found.items():
        if np.isinf(array).any():
            raise RunError(
                f"{what}: {name}: found {array[np.isinf(array)][0]}, expected finite numbers, or "
                "NaN where it is to be found by rule."
            )
    return found


def with_inits(
    graph: Graph, data: Values, found: Values | None, init: Values | None
) -> Values | None:
    """The values of ``init``, and those ``found`` elsewhere for all elements that have none."""
    if not found:
        return init
    first, second = (
        finite_arrays(what, graph, data, values or {})
        for what, values in (("init", init), ("start", found))
    )
    both: State = {**second, **first}
    for name in first.keys() & second.keys():
        both[name] = np.where(np.isnan(first[name]), second[name], first[name])
    return both
