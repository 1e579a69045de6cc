"""Reasons for which variables cannot be proposed together.

Comes in: the members of blocks that there may be, and names of variables that are asked to be
proposed at once. Goes out: the first reason against that, in words: which variable is in no
interval of numbers; which term is not concave; how large the matrix would be.
"""

from __future__ import annotations

from collections.abc import Sequence

import networkx as nx

from gibbsppl.algebra.supports import POSITIVE, REAL, VECTOR
from gibbsppl.derive.second_order import is_interval, obstacle_to_second_order, second_order
from gibbsppl.kernels.modal import ModalMove
from gibbsppl.model.graph import Statement
from gibbsppl.model.graph_views import short_notation
from gibbsppl.pieces.dependence import count_of
from gibbsppl.planning.concave_blocks import Member, Objective, is_searched_for, ties
from gibbsppl.schedule.precisions import TooLarge


def why_not_proposed(
    objective: Objective[ModalMove], members: Sequence[Member], names: frozenset[str]
) -> str:
    """The reason for which variables cannot be proposed at once."""
    own = [m for m in members if names & {*m.variables}]
    if missing := sorted({*names}.difference(*(m.variables for m in own))):
        absent = [s for s in objective.graph.latent if s.target.array.name in missing]
        away = f"{', '.join(missing)} is drawn in another way, or at another time in the sweep"
        return next(filter(None, map(_not_real, absent)), away)
    for reason in (*map(_bound, own), _untied(objective, own)):
        if reason:
            return reason
    statements = [s for m in own for s in m.statements]
    graph, terms, data = objective.graph, objective.terms, objective.data
    found = second_order(graph, statements, terms, data, constrained=True)
    if found is None:
        return obstacle_to_second_order(graph, statements, terms, data, short_notation(graph))
    made = ModalMove.of(graph, found, data, objective.asked)
    if isinstance(made, TooLarge):
        count = sum(count_of(graph, s) for s in statements)
        return f"the matrix of second derivatives of {count:,} elements would take {made.told}"
    others = sorted({n for m in own for n in m.variables} - {*names})
    return f"they are drawn jointly with {', '.join(others)}: name all of these"


def _bound(member: Member) -> str:
    """Other values than real ones, in words; else nothing."""
    for s in member.statements:
        is_searched = s.support == POSITIVE and is_searched_for(member.conditional)
        if not is_searched and (reason := _not_real(s)):
            return reason
    return ""


def _not_real(statement: Statement) -> str:
    """The values of a variable, in words, if these are no interval of numbers; else nothing."""
    if statement.support in (REAL, VECTOR) or is_interval(statement.support):
        return ""
    return f"{statement.target.array} is not on the whole real line, but in {statement.support}"


def _untied(objective: Objective[ModalMove], members: Sequence[Member]) -> str:
    """Two groups of variables that no term ties, in words; else nothing."""
    first, *others = nx.connected_components(ties(objective, members))
    if not others:
        return ""
    one, other = (sorted({n for j in c for n in members[j].variables}) for c in (first, others[0]))
    return f"no term ties {', '.join(one)} to {', '.join(other)}: each is proposed by itself"
