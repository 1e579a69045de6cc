"""The joint-distribution test of a single step: whether a kernel leaves its conditional invariant.

The ratio check covers the log density given to a kernel, not the kernel's own moves. Here
parameters and data are drawn together from the model, the step is made alone a few times, and each
variable must have the same distribution after as before (`gibbsppl.checks.geweke`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from gibbsppl.arguments import BY_NAME, COUNT, POSITIVE, TRUTH, Kind, calls_told
from gibbsppl.checks.geweke import Function, GewekeResult, geweke
from gibbsppl.code.program import Program, load
from gibbsppl.code.source import write_numpy
from gibbsppl.errors import CompileError, RunError
from gibbsppl.model.evaluation import Values
from gibbsppl.model.forward import State
from gibbsppl.model.graph import Graph
from gibbsppl.pieces.outcomes import with_outcomes
from gibbsppl.planning import functions_of
from gibbsppl.planning.order import unit_of
from gibbsppl.schedule.sweeps import Schedule

Scheduled = tuple[Schedule, Values]

FUNCTIONS = Kind(
    lambda value: BY_NAME.fits(value) and all(map(callable, value.values())),
    "a dict from names to functions of a state",
)
LEVEL = Kind(
    lambda value: isinstance(value, float) and 0 < value < 1, "a probability between 0 and 1"
)


@calls_told(
    RunError,
    replicates=POSITIVE,
    sweeps=POSITIVE,
    level=LEVEL,
    seed=COUNT.or_none(),
    functions=FUNCTIONS.or_none(),
    reversible=TRUTH,
)
def check_kernel(  # noqa: PLR0913  (the settings of the test are named by keyword)
    graph: Graph,
    scheduled: Scheduled,
    again: Callable[[State], Scheduled],
    name: str,
    *,
    replicates: int = 1000,
    sweeps: int = 3,
    level: float = 1e-3,
    seed: int | None = None,
    functions: Mapping[str, Function] | None = None,
    reversible: bool = False,
) -> GewekeResult:
    """The joint-distribution test of a variable's steps, with their auxiliary variables.

    ``scheduled`` is the schedule with its data, ``again`` makes both for other observations (used
    where data are in the model: tables of its auxiliary variables, outcomes of events).
    """
    schedule, data = scheduled
    remade = None
    if schedule.rewrites or schedule.leaves or with_outcomes(graph, data) is not graph:

        def remade(seen: State) -> tuple[Values, Program]:
            # (other observations may have what one step draws drawn by several, or the reverse)
            own, observed = again(seen)
            return observed, program_of(own, name, drawn_by(schedule, name))

    return geweke(
        np.random.default_rng(seed),
        graph,
        data,
        program_of(schedule, name),
        replicates=replicates,
        sweeps=sweeps,
        functions=functions,
        level=level,
        remade=remade,
        reversible=reversible,
    )


def drawn_by(schedule: Schedule, name: str) -> frozenset[str]:
    """The variables that the steps of a variable, or the step of a name, draw."""
    steps = (s for s in schedule.steps if name in (s.name, *schedule.drawn_by(s)))
    return frozenset(n for s in steps for n in schedule.drawn_by(s))


def program_of(
    schedule: Schedule, name: str, variables: frozenset[str] = frozenset()
) -> Program:
    """A program whose sweep draws a single variable, with the auxiliary variables needed.

    Or some ``variables``, which the step of this name draws for other observations.
    """
    wanted = {name, *variables}
    found = [
        j
        for j, s in enumerate(schedule.steps)
        if wanted & {s.name, *schedule.drawn_by(s)} and s.name not in schedule.auxiliary
    ]
    if not found:
        names = dict.fromkeys(s.name for s in schedule.steps if s.name not in schedule.auxiliary)
        raise CompileError(
            f"check_kernel: found {name!r}, expected the name of a step: {', '.join(names)}."
        )
    unit = list(dict.fromkeys(k for j in found for k in unit_of(schedule, j)))
    own = replace(schedule.only(unit), scan="systematic", units=(), weights=())
    return load(write_numpy(own), functions_of(own))
