"""What a step draws, by name: a variable with its dims, or with the region that is filled."""

from __future__ import annotations

from gibbsppl.dependence import Place
from gibbsppl.graph import Graph
from gibbsppl.schedule.steps import Step


def drawn_name(step: Step, graph: Graph) -> str:
    """The elements that a step draws: ``a[rat]``, ``x[0]``, ``x[t = 1..9]``."""
    statement = step.statement
    places = ", ".join(place_text(p, graph) for p in step.region)
    name = f"{statement.target.array.name}[{places}]" if places else str(statement.target)
    return name if all(s.known == 0 for s in step.statements) else f"{name} where missing"


def place_text(place: Place, graph: Graph) -> str:
    """A dim, where it is taken in full; else the positions.

    >>> from gibbsppl.expressions import Dim
    >>> from gibbsppl.graph import Range
    >>> t = Dim("t")
    >>> graph = Graph("chain", {t: 10}, {}, ())
    >>> place_text(Range(t, 0, 10), graph), place_text(Range(t, 1, 10), graph), place_text(0, graph)
    ('t', 't = 1..9', '0')
    """
    if isinstance(place, int):
        return str(place)
    whole = (place.start, place.stop) == (0, graph.sizes[place.dim])
    return place.dim.name if whole else f"{place.dim.name} = {place.start}..{place.stop - 1}"
