"""Draws of variables that corrections see, as proposals that these accept.

Comes in: what is drawn in a graph, normal variables and joint draws as they are without the
corrections. Goes out: a `CorrectedDraw` in place of each of these that a correction sees.
"""

from __future__ import annotations

from collections.abc import Sequence

from gibbsppl.derive.conditionals import move_density
from gibbsppl.derive.match_results import Conditional
from gibbsppl.derive.quadratic import is_quadratic, quadratic_of
from gibbsppl.kernels.corrected import CorrectedDraw
from gibbsppl.kernels.joint import JointDraw, joint_draw
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.pieces.corrections import corrections_of, without_corrections
from gibbsppl.planning.modal import Drawn
from gibbsppl.rewrites import Rewritten


def corrected(
    graph: Graph, drawn: Sequence[Drawn], model: Rewritten
) -> list[Drawn | CorrectedDraw]:
    """The draws of a graph, as proposals where a correction sees them.

    Where a joint draw would be too large, elements are moved by their log density.
    """
    return [_corrected(graph, d, model) for d in drawn]


def _corrected(graph: Graph, drawn: Drawn, model: Rewritten) -> Drawn | CorrectedDraw:
    if not isinstance(drawn, JointDraw | Conditional):
        return drawn
    statements = drawn.statements if isinstance(drawn, JointDraw) else (drawn.statement,)
    found = {p.name: p for s in statements for p in corrections_of(graph, s.target.array.name)}
    if not found or not (isinstance(drawn, JointDraw) or is_quadratic(drawn)):
        return drawn
    if isinstance(drawn, JointDraw) and drawn.rows is None:
        return CorrectedDraw.of(graph, drawn, tuple(found.values()))
    draw = _by_matrix(graph, statements, model)
    if draw is not None:
        return CorrectedDraw.of(graph, draw, tuple(found.values()))
    why = "its elements are tied to too many others for a joint draw"
    return move_density(graph, statements[0], model.data, why)[0]


def _by_matrix(
    graph: Graph, statements: Sequence[Statement], model: Rewritten
) -> JointDraw | None:
    """The joint draw of the elements of statements, by their precision matrix."""
    plain = without_corrections(graph)
    block = quadratic_of(plain, tuple(statements), model.data)
    found = None if block is None else joint_draw(plain, block, model.data, by_rows=False)
    return found if isinstance(found, JointDraw) else None
