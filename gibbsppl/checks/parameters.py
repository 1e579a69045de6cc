"""Whether the declared model excludes values that take a parameter out of its support.

A density is one for parameters on their supports: what `gibbsppl.analysis.domains` makes of a model
as it is written is compared with the parameters themselves, at values that are far apart.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from gibbsppl.algebra.expressions import Expr, Leaf, mentions
from gibbsppl.checks.perturb import perturbed
from gibbsppl.model.density import free_elements, has_parameters_outside, log_joint
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph, Statement

# Changes of all variables on the scale of their supports, small and large.
SCALES = (0.5, 1.0, 2.0, 4.0, 8.0)


def keeps_parameters_inside(
    rng: np.random.Generator, graph: Graph, states: Sequence[Values]
) -> bool:
    """Whether no values near some states have both a density and a parameter outside."""
    told = [s for s in graph.statements if _may_leave(s, graph.drawn)]
    changed = (_moved(rng, graph, values, scale) for values in states for scale in SCALES if told)
    return not any(
        any(has_parameters_outside(s, there, graph.sizes) for s in told)
        and np.isfinite(log_joint(graph, there))
        for there in changed
    )


def _may_leave(statement: Statement, drawn: Collection[str]) -> bool:
    """Whether a parameter reads variables, and is none that is inside by its own bounds."""
    rows = statement.family.written
    return any(
        mentions(value, drawn) and not _is_inside(value, rows[name].support.numbers)
        for name, value in statement.spelled or statement.arguments
    )


def _is_inside(value: Expr, ends: tuple[Expr, Expr]) -> bool:
    """Whether a value is an element of an array with bounds between two numbers."""
    if not isinstance(value, Leaf):
        return False
    lower, upper = value.array.bounds
    return bool(ends[0] <= lower and upper <= ends[1])


def _moved(rng: np.random.Generator, graph: Graph, values: Values, scale: float) -> Values:
    """The values after a change of all latent variables."""
    moved = dict(values)
    for s in graph.latent:
        free = free_elements(s, values, graph.sizes)
        moved[s.target.array.name] = perturbed(rng, s, moved, graph.sizes, free, scale=scale)
    return moved
