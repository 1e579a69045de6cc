"""The choice of variables that are put to their joint mode by Newton steps.

Comes in: the steps of a schedule that are read by modes, and the terms of the objective. Goes out:
an `Ascent` for each block: variables whose modes would be searched for element by element, and with
them all that they are tied to whose log density is concave in all together, as long as the layout
of its second derivatives stays affordable.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import networkx as nx

from gibbsppl.algebra.expressions import mentions
from gibbsppl.algebra.supports import REAL, VECTOR
from gibbsppl.derive.concavity import LogConcave
from gibbsppl.derive.match_results import Conditional
from gibbsppl.derive.quadratic import Quadratic
from gibbsppl.derive.second_order import Term, second_order
from gibbsppl.kernels.ascent import Ascent, ascent
from gibbsppl.model.graph import Graph
from gibbsppl.schedule.blocks import Blocks
from gibbsppl.schedule.steps import Step


@dataclass(frozen=True, slots=True)
class Objective:
    """The terms that modes maximise, in the arrays of a graph; which blocks are asked for.

    ``taken`` are names of arrays of weights.
    """

    graph: Graph
    terms: tuple[Term, ...]
    data: Mapping[str, Any]
    asked: Blocks
    taken: set[str] = field(default_factory=set)


def ascents(objective: Objective, steps: Iterable[Step]) -> tuple[Ascent, ...]:
    """The blocks of steps that are read by modes; steps that are in none are not mentioned."""
    able = [s for s in steps if _is_able(s, objective.asked)]
    if not objective.asked.joined:
        return ()
    found: dict[str, Ascent] = {}
    for tied in _tied(objective, able):
        for block in _blocks(objective, tied):
            if block.name not in found:  # (parts of one array that no term ties)
                found[block.name] = block
                objective.taken.update(p.array for p in block.kept)
    return tuple(found.values())


def _is_able(step: Step, asked: Blocks) -> bool:
    """Whether the log density of a step may be concave, without bounds."""
    if not asked.elements.isdisjoint(step.variables):
        return False
    found = step.conditional
    if isinstance(found, Conditional):
        anywhere = found.statement.support in (REAL, VECTOR)
        return anywhere and not found.limits and not found.truncated
    return isinstance(found, Quadratic) or _is_sought(step)


def _is_sought(step: Step) -> bool:
    """Whether the mode of a step would be searched for, on the scale of the variable itself."""
    return isinstance(step.conditional, LogConcave) and step.conditional.change is None


def _tied(objective: Objective, steps: Sequence[Step]) -> Iterator[list[Step]]:
    """The steps that terms tie to one another, each group in the order of the sweep."""
    network = nx.Graph()
    network.add_nodes_from(range(len(steps)))
    for _, value, _ in objective.terms:
        held = [j for j, s in enumerate(steps) if mentions(value, s.variables)]
        network.add_edges_from(pairwise(held))
    for group in nx.connected_components(network):
        yield [steps[j] for j in sorted(group)]


def _blocks(objective: Objective, tied: Sequence[Step]) -> Iterator[Ascent]:
    """The blocks of steps that are tied: all, or grown from one whose mode has no formula."""
    waiting = list(tied)
    whole = _ascent(objective, waiting) if any(map(_is_sought, waiting)) else None
    if whole is not None:
        yield whole
        return
    while first := next(filter(_is_sought, waiting), None):
        waiting.remove(first)
        block, found = [first], _ascent(objective, [first])
        for other in [*waiting] if found is not None else ():
            trial = [*block, other]
            more = _ascent(objective, trial) if _are_tied(objective, block, other) else None
            if more is not None:
                block, found = trial, more
                waiting.remove(other)
        if found is not None:
            yield found


def _are_tied(objective: Objective, block: Iterable[Step], other: Step) -> bool:
    """Whether a term holds both a block and another step."""
    names = [n for s in block for n in s.variables]
    return any(mentions(v, names) and mentions(v, other.variables) for _, v, _ in objective.terms)


def _ascent(objective: Objective, steps: Sequence[Step]) -> Ascent | None:
    """The climb of steps together, if their log density is concave, and its matrix affordable."""
    asked, names = objective.asked, {n for s in steps for n in s.variables}
    held = {n for group in asked.together for n in group}
    is_asked = any(names <= group for group in asked.together)
    if len(steps) > 1 and not is_asked and names & (asked.alone | held):
        return None
    statements = [t for s in steps for t in s.statements]
    graph, data = objective.graph, objective.data
    found = second_order(graph, statements, objective.terms, data, objective.taken)
    if found is None:
        return None
    return ascent(graph, found, data, asked)
