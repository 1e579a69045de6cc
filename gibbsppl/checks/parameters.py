"""Whether the declared model excludes what takes a parameter out of its support.

A density is one for parameters on their supports: what `gibbsppl.domains` makes of a model as it is
written is compared with the parameters themselves, at values that are far apart.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from gibbsppl.checks.perturb import perturbed
from gibbsppl.density import free_elements, has_parameters_outside, log_joint
from gibbsppl.evaluation import Values
from gibbsppl.expressions import Leaf, mentions
from gibbsppl.graph import Graph, Statement

# Changes of all variables on the scale of their supports, small and large.
SCALES = (0.5, 1.0, 2.0, 4.0, 8.0)


def keeps_parameters_inside(
    rng: np.random.Generator, graph: Graph, states: Sequence[Values]
) -> bool:
    """Whether no values near some states have both a density and a parameter outside."""
    told = [s for s in graph.statements if _is_computed(s, graph.drawn)]
    changed = (_moved(rng, graph, values, scale) for values in states for scale in SCALES if told)
    return not any(
        any(has_parameters_outside(s, there, graph.sizes) for s in told)
        and np.isfinite(log_joint(graph, there))
        for there in changed
    )


def _is_computed(statement: Statement, drawn: Collection[str]) -> bool:
    """Whether what is written for a parameter is more than a variable, and reads one."""
    arguments = (a for _, a in statement.spelled or statement.arguments)
    return any(mentions(a, drawn) and not isinstance(a, Leaf) for a in arguments)


def _moved(rng: np.random.Generator, graph: Graph, values: Values, scale: float) -> Values:
    """The values after a change of all that is latent."""
    moved = dict(values)
    for s in graph.latent:
        free = free_elements(s, values, graph.sizes)
        moved[s.target.array.name] = perturbed(rng, s, moved, graph.sizes, free, scale=scale)
    return moved
