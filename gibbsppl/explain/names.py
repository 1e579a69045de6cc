"""The drawn elements of a step, by name: a variable with its dims or its region."""

from __future__ import annotations

from collections.abc import Sequence

from gibbsppl.model.graph import Graph, Statement
from gibbsppl.pieces.dependence import Place, region_of
from gibbsppl.schedule.steps import Step


def drawn_name(step: Step, graph: Graph) -> str:
    """The elements that a step draws: ``a[rat]``, ``x[0]``, ``x[t = 1..9]``."""
    drawn = [(n, [s for s in step.statements if s.target.array.name == n]) for n in step.variables]
    return ", ".join(_named(own, graph) for _, own in drawn)


def _named(statements: Sequence[Statement], graph: Graph) -> str:
    """The elements of an array that its statements draw, by name."""
    first = statements[0]
    if len(statements) > 1:
        places = ", ".join(d.name for d in graph.variables[first.target.array.name].dims)
    else:
        places = ", ".join(place_text(p, graph) for p in region_of(graph, first))
    name = f"{first.target.array.name}[{places}]" if places else str(first.target)
    return f"{name} where missing" if any(s.known != 0 for s in statements) else name


def place_text(place: Place, graph: Graph) -> str:
    """A dim, where it is taken in full; else the positions.

    >>> from gibbsppl.algebra.expressions import Dim
    >>> from gibbsppl.algebra.ranges import Range
    >>> t = Dim("t")
    >>> graph = Graph("chain", {t: 10}, {}, ())
    >>> place_text(Range(t, 0, 10), graph), place_text(Range(t, 1, 10), graph), place_text(0, graph)
    ('t', 't = 1..9', '0')
    """
    if isinstance(place, int):
        return str(place)
    whole = (place.start, place.stop) == (0, graph.sizes[place.dim])
    return place.dim.name if whole else f"{place.dim.name} = {place.start}..{place.stop - 1}"
