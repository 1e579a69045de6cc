"""The choice of arrays that move along an ellipse besides being drawn element by element.

Comes in: a conditional that no family owns. Goes out: a move of all of its elements together, where
their normal prior ties each to each, so that no two can be drawn in one call. Elements one by one
then move as little as the prior allows each given all others, which of a smooth Gaussian process is
next to nothing; a move along an ellipse is short where the likelihood says much more than the
prior. Neither is known beforehand: so a sweep does both.

Effective draws per CPU second in the worst element, compiled (`tests/benchmarks/ellipses.py`; what
both lose where either is good is less than half, what either loses is up to all; of counts, the
log density of which is concave, all elements are proposed at once where that pays, `proposing`):

=============================================  ==========  =======  ======
prior and likelihood                           one by one  ellipse    both
=============================================  ==========  =======  ======
smooth process of 50, counts                          0.4      125      26
smooth process of 50, standard deviations             0.4      125      13
smooth process of 50, exp(f)                          0.5       68      11
rougher process of 40, exp(f)                         0.9        6       2
smooth process of 8, exp(f)                          3100     1300    9500
40 with correlations 0.3, counts                     1260       42     915
40 with correlations 0.3, exp(f)                     1130        9     750
8 with correlations 0.3, exp(f)                     31000    11000   33000
=============================================  ==========  =======  ======

Elsewhere ellipses are left to be asked for: elements that are independent given the rest (slower by
ellipses, six times in bones), chains and short vectors, which have few colours (from seven times as
slow to ten times as fast).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gibbsppl.derive.colours import OneByOne, colours_of
from gibbsppl.derive.concavity import LogConcave
from gibbsppl.derive.match_results import NotConjugate
from gibbsppl.kernels.elliptical_slice import ellipse_beside
from gibbsppl.model.graph import Graph
from gibbsppl.planning.control import Control
from gibbsppl.schedule.asked import Asked, Made
from gibbsppl.schedule.steps import Step


def with_ellipse(
    make: Made, graph: Graph, derived: Any, control: Control, data: Mapping[str, Any]
) -> tuple[Step, ...]:
    """The move along an ellipse before the step of a conditional; nothing where it is not worth it.

    Not where the user wants exact draws, or names the array among those to be drawn by element.
    """
    if not control.proposes or not isinstance(derived, LogConcave | NotConjugate):
        return ()
    statement = derived.statement
    is_alone = statement.target.array.name in control.blocks.elements
    if is_alone or statement.support.is_tied or not derived.elements:
        return ()
    if colours_of(graph, derived, data) != OneByOne():
        return ()
    found = ellipse_beside(Asked(make, graph, derived, data, control.blocks.elements))
    return () if found is None else (found,)
