"""The exact check of what is integrated out: the joint density is what is left times conditionals.

For variables x that a scan has integrated out, each drawn again from its normalised conditional,

    log_joint(x, z) - log q(x | z) - log_left(z)

is the same whatever the values of x and of all others (S. Chib, 1995, "Marginal likelihood from the
Gibbs output", Journal of the American Statistical Association 90). The conditionals alone cannot
tell: they are compared with densities from which a term may have been lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sympy as sp

from gibbsppl.backends.program import Program
from gibbsppl.checks.steps import log_terms_of
from gibbsppl.density import log_joint
from gibbsppl.evaluation import Floats, Values, evaluate
from gibbsppl.expressions import Array, Dim, primed, root_of
from gibbsppl.schedule.steps import BlockDraw, ExactDraw, Schedule


def gap_of_integrals(
    schedule: Schedule, program: Program, data: Values, states: Sequence[Values]
) -> tuple[float, float] | None:
    """By how much the difference differs between states, and how large its terms are.

    None where nothing is integrated out.
    """
    scans = [s for s in schedule.steps if s.kind == "scan"]
    if not scans:
        return None
    left = schedule.graph_of(scans[0])
    gone = _names(schedule.graph.latent) - _names(left.latent)
    drawn = [
        s
        for s in schedule.steps
        if isinstance(s, ExactDraw | BlockDraw) and s.statement.target.array.name in gone
    ]
    found, size = [], 1.0
    for state in states:
        values = {**data, **state}
        whole = log_joint(schedule.graph, values)
        if not np.isfinite(whole):
            continue
        parts = [log_conditional(schedule, program, step, data, state) for step in drawn]
        parts.append(log_joint(left, values))
        found.append(whole - sum(parts))
        size = max(size, abs(whole), *map(abs, parts))
    return float(np.ptp(found)), size


def _names(statements: Sequence[Any]) -> set[str]:
    return {s.target.array.name for s in statements}


def log_conditional(
    schedule: Schedule,
    program: Program,
    step: ExactDraw | BlockDraw,
    data: Values,
    state: Mapping[str, Any],
) -> float:
    """The log density, normalised, of the distribution that a step draws from, at a state."""
    sizes = dict(schedule.graph_of(step).sizes)
    values: dict[str, Any] = {**data, **state}
    statement, conditional = step.statement, step.conditional
    natural, known = conditional.family.natural, dict(conditional.known)
    assert natural is not None
    assert natural.log_partition is not None
    given = program.given_rest[statement.name](dict(state), program.prepare(data))
    terms: Floats = log_terms_of(step, given, values, sizes)
    event = conditional.own_event
    sizes |= {primed(d): sizes[d] for d in event}
    etas = []
    for j, (parameter, eta) in enumerate(zip(step.parameters, given, strict=True)):
        axes = tuple(a if a in sizes else primed(Dim(root_of(a))) for a in parameter.axes)
        values[f"eta_{j}"] = np.broadcast_to(eta, [sizes[a] for a in axes])
        etas.append(Array(f"eta_{j}")[axes])
    density = natural.log_partition(*etas, **known, **({"event": event} if event else {}))
    batch = tuple(r for r in statement.over if r.dim not in event)
    constant = np.broadcast_to(
        evaluate(sp.sympify(density), batch, values, sizes), tuple(map(len, batch))
    )
    return float(terms.sum() - constant.sum())
