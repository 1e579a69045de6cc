"""The locations of large groups of which the data say so much that they need not be drawn together.

Comes in: a graph. Goes out: pairs of arrays. Theory is not asked of so many elements. Where others
read each element of a group often, its location has little to do with any of them: drawn given the
group it moves nearly as freely as jointly, and a joint draw takes the group's precision with a
border, in work and in memory.
"""

from __future__ import annotations

from collections.abc import Iterator

from gibbsppl.algebra.expressions import mentions
from gibbsppl.model.graph import Graph, Statement, expressions_read_by
from gibbsppl.pieces.dependence import count_of, times_read
from gibbsppl.planning.normal_blocks import LARGEST
from gibbsppl.planning.rules import RULES

OFTEN = RULES["often read"].value


def weak_ties(graph: Graph) -> frozenset[frozenset[str]]:
    """The pairs of a large group and a location that is read by its statement alone."""
    return frozenset(frozenset(pair) for group in graph.latent for pair in _pairs(graph, group))


def _pairs(graph: Graph, group: Statement) -> Iterator[tuple[str, str]]:
    name, size = group.target.array.name, count_of(graph, group)
    if size <= LARGEST or len(graph.statements_of(name)) > 1:
        return
    others = [f for f in graph.factors_of(name) if f.name != group.name]
    if sum(times_read(graph, f, name) for f in others) < OFTEN * size:
        return
    beside = {n for f in others for e in expressions_read_by(f) for n in graph.drawn
              if mentions(e, (n,))}  # fmt: skip
    for other in graph.drawn:
        if other not in beside and any(mentions(e, (other,)) for _, e in group.arguments):
            yield name, other
