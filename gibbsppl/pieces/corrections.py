"""Corrections: potentials without which a log density has a simpler form, and is near to itself.

A rewrite puts the log of a ratio that is near to one into a potential of its own
(``is_correction`` in a row of `gibbsppl.algebra.functions`). What is drawn without it is a
proposal, which it accepts.
"""

from __future__ import annotations

from dataclasses import replace

from gibbsppl.algebra.expressions import mentions
from gibbsppl.algebra.functions import CORRECTIONS
from gibbsppl.model.graph import Graph, Potential


def corrections_of(graph: Graph, array: str) -> tuple[Potential, ...]:
    """The corrections that an array is in."""
    found = (p for p in graph.potentials if isinstance(p.log_density, CORRECTIONS))
    return tuple(p for p in found if mentions(p.log_density, (array,)))


def is_corrected(graph: Graph, array: str) -> bool:
    """Whether an array is in a correction."""
    return bool(corrections_of(graph, array))


def without_corrections(graph: Graph) -> Graph:
    """The graph without corrections; itself if it has none."""
    kept = tuple(p for p in graph.potentials if not isinstance(p.log_density, CORRECTIONS))
    return graph if len(kept) == len(graph.potentials) else replace(graph, potentials=kept)
