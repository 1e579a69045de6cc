"""The page of a sampler in a notebook: the schedule as a table, with the cost of each step.

Comes in: a schedule, and its costs. Goes out: HTML.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gibbsppl.explain.schedule_text import (
    composed_told,
    held_told,
    how_told,
    name_of,
    owner_of,
    title_of,
    told_before,
    units_told,
)
from gibbsppl.html import Html, code, marked, shown, table, text_block
from gibbsppl.model.graph_views import short_notation
from gibbsppl.schedule.deferral import deferred
from gibbsppl.schedule.sweeps import Schedule

# A conditional that is longer has a line for each natural parameter.
SHORT = 60
BREAK = ",\n    "
HEADER = ("", "variables", "drawn by", "how", "conditional", "operations", "in the plates")


def sampler_page(
    schedule: Schedule, data: Mapping[str, Any], costs: Mapping[str, tuple[str, str]]
) -> Html:
    """The steps of a sweep in order; ``costs`` are the operations of each, as texts."""
    told = told_before(schedule, data)
    lines = [*composed_told(schedule), *units_told(schedule)]
    parts = [text_block("\n".join(told))] if told else []
    parts.append(table(HEADER, _rows(schedule, costs), numbers={5}))
    parts += [text_block("\n".join(lines))] if lines else []
    return shown(title_of(schedule), *parts)


def _rows(
    schedule: Schedule, costs: Mapping[str, tuple[str, str]]
) -> Iterator[tuple[str, ...]]:
    notation, put_off = short_notation(schedule.whole), deferred(schedule)
    fallbacks, held = {s.name for s in schedule.fallbacks}, ""
    for number, step in enumerate(schedule.steps, 1):
        if (holding := held_told(step, schedule, notation)) != held:
            words = f"{holding or 'with nothing held fixed'}:"
            yield "", marked(words, "faint")
        held = holding
        opening, parts, closing = step.formula(notation)
        owner, whole = owner_of(step, schedule), "".join(parts)
        yield (
            marked(str(number), "faint"),
            code(name_of(step, schedule)),
            marked(owner, "bad") if step.name in fallbacks else owner,
            how_told(step, schedule, step.name in put_off),
            code(opening + (", " if len(whole) <= SHORT else BREAK).join(parts) + closing),
            *costs.get(step.name, ("", "")),
        )
