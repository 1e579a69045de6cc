"""Names of steps that draw parts of arrays: those of their statements, so that no two are alike.

Comes in: a step as it is made, and the graph in which it draws. Goes out: the step, called by what
it draws.
"""

from __future__ import annotations

from collections.abc import Sequence

from gibbsppl.model.graph import Graph, Statement
from gibbsppl.schedule.kinds import TogetherStep
from gibbsppl.schedule.steps import Step

# Of more statements of an array the first and the last are named.
MOST_NAMED = 3


def called_by_parts(step: Step, graph: Graph) -> Step:
    """The step; of arrays that it draws in part, called by the statements that it draws."""
    if not isinstance(step, TogetherStep) or step.called:
        return step
    parts = {n: part_of(n, step.statements, graph) for n in step.variables}
    named = step.named(parts)
    return step if named == step.name else step.with_fields(called=named)


def part_of(array: str, drawn: Sequence[Statement], graph: Graph) -> str:
    """The name of an array, or of the statements that draw a part of it."""
    own = [s.name for s in drawn if s.target.array.name == array]
    if {s.name for s in graph.latent if s.target.array.name == array} <= {*own}:
        return array
    if len(own) <= MOST_NAMED:
        return ", ".join(own)
    return f"{own[0]} to {own[-1]} ({len(own)} statements)"
