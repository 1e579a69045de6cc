"""Hidden Markov chains: a joint conditional for all labels of an array along one axis."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from gibbsppl.derive.conditionals import Derived
from gibbsppl.derive.label_chains import ChainConditional, chain_of
from gibbsppl.model.graph import Graph
from gibbsppl.rewrites.collapsing import Scan


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
