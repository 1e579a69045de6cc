"""Places as source text: the index of what a contribution adds to, or of what a step draws."""

from __future__ import annotations

from collections.abc import Iterable

from gibbsppl.backends.module import Module
from gibbsppl.backends.text import Text
from gibbsppl.backends.writer import Writer
from gibbsppl.dependence import Place
from gibbsppl.expressions import Dim
from gibbsppl.graph import Range
from gibbsppl.schedule.steps import Single


def where_text(module: Module, step: Single) -> str:
    """The index of the elements that a step draws."""
    statement = step.statement
    if statement.known != 0:
        return f"[{_missing(module, step)}]"
    return index_text(step.region, module.dims(statement), module.writer())


def positions_text(module: Module, step: Single) -> str:
    """The elements that a step draws, as a list of index tuples."""
    statement = step.statement
    place = tuple(map(bounds_of, step.region))
    known = None if statement.known == 0 else statement.known.array.name
    if known:
        module.hoisted.arrays.add(known)

    def make() -> Text:
        first = module.names.of(known) if known else None
        return Text(f"runtime.element_positions({first}, {place})")

    stem = statement.target.array.name + "_elements"
    text = module.hoisted.add(("elements", statement.name), stem, make, "one after the other")
    return f'c["{text.code}"]'


def ranges_of(place: Iterable[Place]) -> list[Range]:
    """The axes of a place that are ranges, not one position."""
    return [p for p in place if isinstance(p, Range)]


def bounds_of(place: Place) -> tuple[int, int]:
    """The first position and the one after the last."""
    return (place, place + 1) if isinstance(place, int) else (place.start, place.stop)


def index_text(place: Iterable[Place], axes: Iterable[Dim], writer: Writer) -> str:
    """The index that selects a place, empty where it is everything."""
    parts = []
    for p, axis in zip(place, axes, strict=True):
        if isinstance(p, int):
            parts.append(str(p))
        elif (p.start, p.stop) == (0, writer.size(axis)):
            parts.append(":")
        else:
            parts.append(f"{p.start or ''}:{p.stop if p.stop != writer.size(axis) else ''}")
    while parts and parts[-1] == ":":
        parts.pop()
    return f"[{', '.join(parts)}]" if parts else ""


def slices_text(place: Iterable[Place]) -> str:
    """A place as a tuple of positions and slices."""
    parts = [str(p) if isinstance(p, int) else f"slice({p.start}, {p.stop})" for p in place]
    return f"({', '.join(parts)},)"


def _missing(module: Module, step: Single) -> str:
    """The positions of unknown elements in the region, found once."""
    statement = step.statement
    known = statement.known.array.name
    module.hoisted.arrays.add(known)
    place = tuple(map(bounds_of, step.region))

    def make() -> Text:
        return Text(f"runtime.missing_positions({module.names.of(known)}, {place})")

    stem = statement.target.array.name + "_missing"
    text = module.hoisted.add(("missing", statement.name), stem, make, "where it is not observed")
    return f'c["{text.code}"]'
