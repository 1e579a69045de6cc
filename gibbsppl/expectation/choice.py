"""The expectations of a step, by how the elements that it draws depend on one another."""

from __future__ import annotations

from gibbsppl.expectation.averages import Averages
from gibbsppl.expectation.joint import Jointly
from gibbsppl.expectation.of_families import Events, Scalars
from gibbsppl.expectation.of_labels import Chain, Labels
from gibbsppl.expectation.vectors import Vectors, has_pairs
from gibbsppl.model.graph import Graph
from gibbsppl.schedule.kinds import FamilyDraw, LabelDraw, QuadraticDraw
from gibbsppl.schedule.moments import Asked, Refused
from gibbsppl.schedule.steps import Step


def averages_of(graph: Graph, asked: Asked, step: Step) -> Averages:
    """How the elements that a step draws depend on one another."""
    found: type[Averages]
    if len(getattr(step, "dense", ())) > 1:
        raise Refused(
            f"it is a vector along several dims: compile with blocks={{{step.name!r}: 'elements'}}"
        )
    if isinstance(step, QuadraticDraw):
        found = Jointly
    elif isinstance(step, LabelDraw):
        found = Labels if step.axis is None else Chain
    elif isinstance(step, FamilyDraw) and not step.statement.event and not step.dense:
        found = Scalars
    elif isinstance(step, FamilyDraw):
        found = Vectors if step.dense or has_pairs(step) else Events
    else:
        raise Refused(f"{step.name} has no closed form: {step.owner}")
    return found(graph, asked, step)
