"""The choice of arrays that move along an ellipse besides being drawn element by element.

Comes in: a conditional that no family owns. Goes out: a move of all of its elements together, where
their normal prior ties each to each, so that no two can be drawn in one call. Elements one by one
then move as little as the prior allows each given all others, which of a smooth Gaussian process is
next to nothing; a move along an ellipse is short where the likelihood says much more than the
prior. So a sweep does both, until theory decides (`along_ellipses`): where all is left open, and
the array has no more elements than a matrix for theory.

Effective draws per CPU second in the worst element, compiled (`tests/benchmarks/ellipses.py`), and
what theory decides on (of counts, whose log density is concave, all elements may be proposed at
once: in the first line 4.98 effective draws a million operations, against 1.54 along ellipses):

=============================================  ==========  =======  =======  ==========
prior and likelihood                           one by one  ellipse     both  by default
=============================================  ==========  =======  =======  ==========
smooth process of 50, counts                            5   10,800    1,800  proposed
smooth process of 50, standard deviations               9    3,300    2,100  ellipse
smooth process of 50, exp(f)                           11    3,200    1,400  ellipse
rougher process of 40, exp(f)                          13      670      340  ellipse
smooth process of 8, exp(f)                        23,000    8,600   23,000  one by one
40 with correlations 0.3, counts                   57,000    4,600   46,000  one by one
40 with correlations 0.3, exp(f)                   89,000      360   51,000  one by one
8 with correlations 0.3, exp(f)                   295,000   15,000  294,000  one by one
=============================================  ==========  =======  =======  ==========

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
