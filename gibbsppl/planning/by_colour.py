"""Steps whose elements depend on one another, with their colours.

Comes in: the steps of a schedule. Goes out: the same steps, with colours where elements depend on
one another, and the tables of colours as data of the program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gibbsppl.algebra.ranges import fresh
from gibbsppl.derive.colours import Chart, colours_of
from gibbsppl.model.graph import Graph
from gibbsppl.schedule.steps import Step


def with_colours(
    steps: Sequence[Step], graphs: Sequence[Graph], data: Mapping[str, Any]
) -> tuple[tuple[Step, ...], dict[str, Any]]:
    """The steps with their colours, and the tables of colours by name."""
    tables: dict[str, Any] = {}
    taken = {
        *data,
        *(n for g in graphs for n in g.variables),
        *(str(d) for g in graphs for d in g.sizes),
    }
    found = []
    for step, graph in zip(steps, graphs, strict=True):
        if not step.may_be_coloured:
            found.append(step)
            continue
        derived: Any = step.conditional  # (chains and scans have no colours)
        colours = colours_of(graph, derived, data)
        if colours is None:
            coloured = step
        elif isinstance(colours, Chart):
            name = fresh(f"{step.variables[0]}_colour", {*taken, *tables})
            coloured = step.coloured(replace(colours, name=name), graph)
            tables |= {name: colours.table} if isinstance(coloured.colours, Chart) else {}
        else:
            coloured = step.coloured(colours, graph)
        found.append(coloured)
    return tuple(found), tables
