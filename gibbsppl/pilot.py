"""Where a chain starts in the end: the best of several short runs from dispersed states.

A sampler that moves one variable at a time can take very long to leave a start at which all is
explained as noise: scales learn to be wide because locations are off, and locations do not move
because scales are wide. Starts that are spread over orders of magnitude include some from which
the locations jump to the data; a few sweeps tell which.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np

from gibbsppl.backends.program import Constants, Program, State
from gibbsppl.chains import FAILURES
from gibbsppl.density import Values, log_density
from gibbsppl.graph import Graph
from gibbsppl.initial import initial_state

SPREADS = (1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 2.0, 3.0)
SWEEPS = 4


def best_start(
    rng: np.random.Generator,
    graph: Graph,
    data: Values,
    program: Program,
    constants: Constants,
    init: Mapping[str, Any] | None = None,
) -> tuple[State, dict[str, str]]:
    """A start, with a note for each variable that says where its value comes from.

    Several dispersed states are each moved by a few sweeps; the one at which the observations have
    the highest density is the start. With values in ``init``, or without observations, it is the
    plain rule of `gibbsppl.initial`, and no sweep is made.
    """
    start, notes = initial_state(rng, graph, data, init)
    if init or all(s.known == 0 for s in graph.statements):
        return start, notes
    best, highest = start, -np.inf
    for spread in SPREADS:
        candidate, _ = initial_state(rng, graph, data, spread=spread)
        try:
            with np.errstate(all="ignore"):
                for _ in range(SWEEPS):
                    program.sweep(rng, candidate, constants)
                fit = observed_log_density(graph, {**data, **candidate})
        except FAILURES:
            continue
        if fit > highest:
            best, highest = copy.deepcopy(candidate), fit
    return best, notes


def observed_log_density(graph: Graph, values: Values) -> float:
    """The log density of what was observed, given everything else; -inf if it is not a number."""
    terms = (log_density(s, values, graph.sizes) for s in graph.statements if s.known != 0)
    total = float(sum(np.sum(t) for t in terms))
    return total if np.isfinite(total) else -np.inf
