"""The full conditional of a statement, recognised by its statistics and its support.

Comes in: a graph and one of its statements. Goes out: a `Conditional` (closed form), a
`FiniteConditional` (labels), or a `NotConjugate` with its reason. There is no table of pairs: all
log densities that mention the target are added up as pieces, and the family whose row has those
statistics on that support owns the conditional.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gibbsppl.dependence import Role, is_separable, region_of, roles_of, touches
from gibbsppl.elements import element_pieces
from gibbsppl.finite import FiniteConditional, finite_of
from gibbsppl.graph import Graph, Statement
from gibbsppl.matching import Conditional, NotConjugate, match
from gibbsppl.pieces import Piece, pieces_of

Derived = Conditional | FiniteConditional | NotConjugate


def conditional_of(
    graph: Graph, statement: Statement, data: Mapping[str, Any], *, elements: bool = False
) -> Derived:
    """The full conditional of what a statement defines, given everything else.

    ``elements`` asks for the reading by element: the conditional of each element given all others.
    """
    if statement.support.is_finite and statement.support.kind == "integer":
        finite = finite_of(graph, statement, data)
        if finite is not None:
            return finite
    region = region_of(graph, statement)
    pieces = tuple(
        p
        for p in pieces_of(graph.factors_of(statement.target.array), statement, graph.sizes)
        if any(touches(view, p.over, region) for view in p.views)
    )
    roles = roles_of(pieces, statement)
    joint = all(map(is_separable, pieces)) and set(roles) <= {"batch", "dense"}
    if elements or not joint or not _is_whole(graph, statement, roles):
        return _by_element(statement, pieces, roles_of(pieces, statement, region), elements)
    return match(statement, pieces, roles)


def _is_whole(graph: Graph, statement: Statement, roles: tuple[Role, ...]) -> bool:
    """Whether a block would cover all positions of its dense axes, none of them known."""
    full = {r.dim: len(r) == graph.sizes[r.dim] for r in statement.over}
    dense = [i for i, role in zip(statement.target.indices, roles, strict=True) if role == "dense"]
    return not dense or (
        statement.known == 0 and all(full.get(d, d in statement.event) for d in dense)
    )


def _by_element(
    statement: Statement, pieces: tuple[Piece, ...], roles: tuple[Role, ...], asked: bool
) -> Derived:
    """The conditional of one element given the others: drawn one by one where they interact."""
    separable = all(map(is_separable, pieces))
    dependent = asked or set(roles) != {"batch"} or not separable
    dependent = dependent and bool(statement.over or statement.event)
    if separable and not _has_joint_event(statement):
        batch: tuple[Role, ...] = tuple("batch" for _ in roles)
        found = match(statement, element_pieces(pieces), batch, elements=dependent)
        if dependent and isinstance(found, NotConjugate):
            # A move of one element weighs whole terms, each once.
            return replace(found, pieces=pieces)
        return found
    reason = "a term of the log density holds several elements at once"
    offending = tuple(p for p in pieces if not is_separable(p))
    return NotConjugate(statement, reason, offending, None, pieces, elements=dependent)


def _has_joint_event(statement: Statement) -> bool:
    """Whether the elements of one event cannot be moved one at a time (a simplex, a matrix)."""
    return statement.support.kind in ("simplex", "spd", "counts")
