"""The choice of variables that are moved together by their concave log density.

Comes in: conditionals, and the terms of the log density, or of another objective, that holds them.
Goes out: a step for each block: variables for which a block is sought, and with them all that they
are tied to whose log density is concave in all together, as long as the layout of its second
derivatives stays affordable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Generic, TypeVar

import networkx as nx

from gibbsppl.algebra.expressions import mentions
from gibbsppl.algebra.supports import REAL, VECTOR
from gibbsppl.derive.concavity import LogConcave
from gibbsppl.derive.match_results import Conditional
from gibbsppl.derive.quadratic import Quadratic
from gibbsppl.derive.second_order import SecondOrder, Term, are_bounds, is_interval, second_order
from gibbsppl.kernels.concave_block import ConcaveBlock
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.schedule.blocks import Blocks
from gibbsppl.schedule.precisions import TooLarge

Made = TypeVar("Made", bound=ConcaveBlock)


@dataclass(frozen=True, slots=True)
class Member:
    """Statements that are drawn together or not at all, and their conditional.

    ``is_sought``: a block is worth making for their sake.
    """

    statements: tuple[Statement, ...]
    conditional: object
    is_sought: bool

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the arrays."""
        return tuple(dict.fromkeys(s.target.array.name for s in self.statements))


@dataclass(frozen=True, slots=True)
class Objective(Generic[Made]):
    """The terms of a log density, in the arrays of a graph; which blocks are asked for.

    ``make`` makes the step of a block; ``taken`` are names of arrays of weights. ``constrained``:
    constraints may hold elements of a block. ``large`` are blocks of all that is tied together
    whose matrices would be too large.
    """

    graph: Graph
    terms: tuple[Term, ...]
    data: Mapping[str, Any]
    asked: Blocks
    make: Callable[[Graph, SecondOrder, Mapping[str, Any], Blocks], Made | TooLarge]
    taken: set[str] = field(default_factory=set)
    constrained: bool = False
    large: list[TooLarge] = field(default_factory=list)


def concave_blocks(objective: Objective[Made], members: Iterable[Member]) -> tuple[Made, ...]:
    """The blocks of members; those that are in none are not mentioned."""
    able = [m for m in members if _is_able(objective, m)]
    if not objective.asked.joined:
        return ()
    found: dict[str, Made] = {}
    for tied in _tied(objective, able):
        for block in _blocks(objective, tied):
            if block.name not in found:  # (parts of one array that no term ties)
                found[block.name] = block
                objective.taken.update(p.array for p in block.kept)
    return tuple(found.values())


def is_searched_for(conditional: object) -> bool:
    """Whether a mode has no formula, and is found on the scale of the variable itself."""
    return isinstance(conditional, LogConcave) and conditional.change is None


def _is_able(objective: Objective[Any], member: Member) -> bool:
    """Whether the log density of a member may be concave, without bounds.

    Ends of intervals are constraints, as are those that it and others set, and within these only
    what is asked for is proposed.
    """
    asked, names = objective.asked, member.variables
    if not asked.elements.isdisjoint(names):
        return False
    is_within = _is_bounded(objective.graph, member)
    if is_within and not any(group.issuperset(names) for group in asked.proposed):
        return False
    found = member.conditional
    if isinstance(found, Conditional):
        return is_within or (found.statement.support in (REAL, VECTOR) and not found.truncated)
    return isinstance(found, Quadratic) or is_searched_for(found)


def _is_bounded(graph: Graph, member: Member) -> bool:
    """Whether a member is in an interval, or its values and those of others are ends."""
    found = member.conditional
    has_limits = isinstance(found, Conditional) and bool(found.limits)
    is_inside = any(is_interval(s.support) for s in member.statements)
    return has_limits or is_inside or are_bounds(graph, member.variables)


def ties(objective: Objective[Made], members: Sequence[Member]) -> nx.Graph:
    """The members, by their positions, and edges between those that a term ties."""
    network = nx.Graph()
    network.add_nodes_from(range(len(members)))
    for _, value, _ in objective.terms:
        held = [j for j, s in enumerate(members) if mentions(value, s.variables)]
        network.add_edges_from(pairwise(held))
    return network


def _tied(objective: Objective[Made], members: Sequence[Member]) -> Iterator[list[Member]]:
    """The members that terms tie to one another, each group in order."""
    for group in nx.connected_components(ties(objective, members)):
        yield [members[j] for j in sorted(group)]


def _blocks(objective: Objective[Made], tied: Sequence[Member]) -> Iterator[Made]:
    """The blocks of members that are tied: all, or grown from one that seeks a block."""
    waiting = list(tied)
    whole = _block(objective, waiting) if any(m.is_sought for m in waiting) else None
    if isinstance(whole, TooLarge):
        objective.large.append(whole)
    elif whole is not None:
        yield whole
        return
    for group in objective.asked.proposed:
        own = [m for m in waiting if group.issuperset(m.variables)]
        asked = _block(objective, own) if own else None
        if isinstance(asked, ConcaveBlock):
            yield asked
            waiting = [m for m in waiting if m not in own]
    while first := next((m for m in waiting if m.is_sought), None):
        waiting.remove(first)
        block, found = [first], _block(objective, [first])
        for other in [*waiting] if isinstance(found, ConcaveBlock) else ():
            trial = [*block, other]
            more = _block(objective, trial) if _are_tied(objective, block, other) else None
            if isinstance(more, ConcaveBlock):
                block, found = trial, more
                waiting.remove(other)
        if isinstance(found, ConcaveBlock):
            yield found


def _are_tied(objective: Objective[Made], block: Iterable[Member], other: Member) -> bool:
    """Whether a term holds both a block and another member."""
    names = [n for m in block for n in m.variables]
    return any(mentions(v, names) and mentions(v, other.variables) for _, v, _ in objective.terms)


def _block(objective: Objective[Made], members: Sequence[Member]) -> Made | TooLarge | None:
    """The step of members together; None if their log density is not certified to be concave."""
    asked, names = objective.asked, {n for m in members for n in m.variables}
    held = {n for group in asked.groups for n in group}
    is_asked = any(names <= group for group in asked.groups)
    if len(members) > 1 and not is_asked and names & (asked.alone | held):
        return None
    statements = [t for m in members for t in m.statements]
    graph, data = objective.graph, objective.data
    terms, taken = objective.terms, objective.taken
    found = second_order(
        graph, statements, terms, data, taken, constrained=objective.constrained
    )
    return None if found is None else objective.make(graph, found, data, asked)
