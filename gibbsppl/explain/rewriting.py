"""The rewrites that a schedule was made with, and those that are possible besides, as text."""

from __future__ import annotations

from collections.abc import Collection

from gibbsppl.explain.leaves import leaf_lines
from gibbsppl.explain.schedule_text import parts_told
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph
from gibbsppl.rewrites import collapsible, possible
from gibbsppl.schedule.sweeps import Schedule


def rewrites_told(
    schedule: Schedule, graph: Graph, data: Values, collapsed: Collection[str]
) -> str:
    """The rewrites made, such as auxiliary variables, and the possible further ones.

    ``graph`` is the declared one, ``collapsed`` what the user has asked to integrate out.
    """
    made = parts_told(schedule)
    made += [f"{n} drawn last: {why}" for n, why in leaf_lines(schedule)]
    made += [
        f'"{r.rule.name}" in {r.factor}: adds {r.variable}; {r.rule.identity}'
        for r in schedule.rewrites
    ]
    made += [
        f"{i.variable} drawn once more with {i.group} moving along: interweave={i.variables[0]!r}"
        for i in schedule.interwoven.values()
    ]
    more = [
        f'rewrites={{"{r.rule.name}": True}} would add {r.variable} to {r.factor}'
        for r in possible(graph, data, schedule.rewrites)
    ]
    more += [
        f'collapse=("{name}",) would draw {drawn} with {name} integrated out'
        for name, drawn in collapsible(schedule.graph, data).items()
        if name not in collapsed
    ]
    lines = ["Rewrites", *(f"   made: {line}" for line in made)]
    lines += [f"   possible: {line}" for line in more]
    return "\n".join(lines if len(lines) > 1 else [*lines, "   none made, none possible"])
