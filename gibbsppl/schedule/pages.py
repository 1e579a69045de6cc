"""A schedule to look at: its steps in order, as a text and as the table of a notebook.

Comes in: a schedule. Goes out: lines, HTML. The page of a sampler says more: it has the data.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gibbsppl.errors import counted
from gibbsppl.html import Html, Printed, code, marked, shown, table
from gibbsppl.model.graph_views import short_notation

HEADER = ("", "variables", "drawn by", "how", "conditional")


class Listed(Printed):
    """The methods of a schedule that show it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{_title(self)}>"

    def __str__(self) -> str:
        rows = [tuple(row) for row in _rows(self)]
        widths = [max((len(row[k]) for row in rows), default=0) for k in range(4)]
        lines = ("  ".join(c.ljust(w) for c, w in zip(row, (*widths, 0), strict=True))
                 for row in rows)  # fmt: skip
        return "\n".join([_title(self), *(line.rstrip() for line in lines)])

    def _repr_html_(self) -> Html:
        rows = (
            (marked(number, "faint"), code(name), owner, how, code(formula))
            for number, name, owner, how, formula in _rows(self)
        )
        return shown(_title(self), table(HEADER, rows))


def _title(schedule: Any) -> str:
    return f"Schedule of {schedule.graph.name}: {counted(len(schedule.steps), 'step')}"


def _rows(schedule: Any) -> Iterator[tuple[str, str, str, str, str]]:
    """Each step: its number, variables, what owns it, how it draws, its conditional."""
    notation = short_notation(schedule.whole)
    for number, (step, way) in enumerate(zip(schedule.steps, schedule.ways, strict=True), 1):
        opening, parts, closing = step.formula(notation)
        yield str(number), way[0], way[1], way[2], opening + ", ".join(parts) + closing
