"""States at which theory is asked how sweeps mix: of one short chain, with a fixed seed.

Comes in: a graph with its data, and a program of sweeps. Goes out: the values of all arrays at some
states of a chain, after its first sweeps. Nothing is asked of how long these take, so that the same
model has the same states on any machine.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gibbsppl.code.program import Constants, Program
from gibbsppl.errors import StartError
from gibbsppl.initial.search import initial_state
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph
from gibbsppl.run.chains import FAILURES, Chain, advance
from gibbsppl.schedule.choices import BEFORE, BETWEEN, SEED, STATES


def settled_states(
    graph: Graph, data: Values, program: Program, constants: Constants
) -> tuple[dict[str, Any], ...]:
    """The values of drawn arrays at some states.

    None where no sweep goes on from the start, or where arrays are neither drawn nor data.
    """
    drawn = {n for names in program.step_variables.values() for n in names}
    if any(v.kind == "random" and n not in {*drawn, *data} for n, v in graph.variables.items()):
        return ()
    rng = np.random.default_rng(SEED)
    found = []
    try:
        with np.errstate(all="ignore"):
            mend = program.mended_by(rng, constants)
            state, _ = initial_state(rng, graph, data, mend=mend)
            program.augment(rng, state, constants)
            chain = Chain(state, rng)
            advance(program, constants, chain, BEFORE)
            for _ in range(STATES):
                advance(program, constants, chain, BETWEEN)
                found.append({n: np.copy(v) if isinstance(v, np.ndarray) else v
                              for n, v in chain.state.items()})  # fmt: skip
    except (StartError, *FAILURES):
        return ()
    return tuple(found)
