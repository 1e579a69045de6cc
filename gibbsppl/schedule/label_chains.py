"""Hidden Markov chains: a joint conditional for all labels of an array along one axis."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gibbsppl.algebra.copies import copy_of
from gibbsppl.algebra.expressions import Dim, dims_of
from gibbsppl.algebra.ranges import Range
from gibbsppl.derive.conditionals import Derived
from gibbsppl.derive.contractions import Known, pull_back
from gibbsppl.derive.finite import LABEL
from gibbsppl.derive.label_chains import PREVIOUS, ChainConditional, chain_of
from gibbsppl.model.graph import Graph
from gibbsppl.pieces.dependence import Place, region_of
from gibbsppl.rewrites.collapsing import Scan
from gibbsppl.schedule.parameters import NaturalParameter
from gibbsppl.schedule.steps import ChainDraw


def with_chains(
    graph: Graph,
    data: Mapping[str, Any],
    derived: Sequence[Derived | Scan],
    elements: Collection[str],
) -> list[Derived | Scan | ChainConditional]:
    """The conditionals, with a single one for each array of labels that is a hidden Markov chain.

    ``elements`` names the arrays to draw label by label nevertheless.
    """
    names = {d.statement.name for d in derived if not isinstance(d, Scan)}
    tied = {d.statement.name for d in derived if d.elements}
    found: dict[str, ChainConditional] = {}
    for array in dict.fromkeys(d.statement.target.array.name for d in derived):
        own = [s for s in graph.latent if s.target.array.name == array]
        if len(own) == 1 and own[0].name not in tied:
            continue
        are_labels = all(s.support.is_finite and s.name in names for s in own)
        chain = chain_of(graph, own, data) if are_labels and array not in elements else None
        if chain is not None:
            found[array] = chain
    kept: dict[str, Derived | Scan | ChainConditional] = {}
    for d in derived:
        array = d.statement.target.array.name
        kept.setdefault(array if array in found else d.statement.name, found.get(array, d))
    return list(kept.values())


def chain_draw(
    graph: Graph, chain: ChainConditional, weights: NaturalParameter, is_data: Known
) -> ChainDraw:
    """The joint draw of the labels along a chain, with log weights and log transitions."""
    axes = list(graph.variables[chain.statement.target.array.name].dims)
    along = axes[chain.axis]
    read = (*(c.value for c in weights.contributions), *(p.value for p in chain.transitions))
    taken = {*graph.sizes, *(d for e in read for d in e.atoms(Dim))}  # (those of matrices, too)
    step = axes[chain.axis] = copy_of(along, taken)
    labels = tuple(Range(d, 0, chain.size) for d in (PREVIOUS, LABEL))
    sizes = {**graph.sizes, step: graph.sizes[along] - 1, **{r.dim: len(r) for r in labels}}
    found = []
    for piece in chain.transitions:
        indices = tuple(i for i in piece.views[0].indices if i is not None)
        c = pull_back(piece, tuple(axes), indices, sizes, is_data)
        found.append(replace(c, place=(*labels, *c.place)))
    same = all(c.is_everywhere(sizes) and not dims_of(c.value) & set(axes) for c in found)
    own = (PREVIOUS, LABEL) if same else (PREVIOUS, LABEL, *axes)
    kept = tuple(replace(c, place=c.place[: len(own)]) for c in found)
    transitions = NaturalParameter(LABEL, own, kept)
    return ChainDraw(chain, weights, transitions, step, hull(graph, chain))


def hull(graph: Graph, chain: ChainConditional) -> tuple[Place, ...]:
    """The smallest region around all labels that a chain draws."""
    regions = [region_of(graph, s) for s in chain.statements]
    dims = graph.variables[chain.statement.target.array.name].dims
    found: list[Place] = []
    for dim, places in zip(dims, zip(*regions, strict=True), strict=True):
        starts = [p if isinstance(p, int) else p.start for p in places]
        stops = [p + 1 if isinstance(p, int) else p.stop for p in places]
        found.append(Range(dim, min(starts), max(stops)))
    return tuple(found)
