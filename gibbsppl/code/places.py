"""Places as source text: the index of the elements of a contribution, or of a draw."""

from __future__ import annotations

from collections.abc import Iterable

from gibbsppl.algebra.expressions import Dim
from gibbsppl.algebra.ranges import Range, from_the_end
from gibbsppl.code.module import Module
from gibbsppl.code.numpy_text.text import Text, slice_text, tuple_text
from gibbsppl.code.numpy_text.writer import Writer
from gibbsppl.derive.colours import Chart, Pattern, colours_told
from gibbsppl.errors import CompileError
from gibbsppl.model.density import event_dims
from gibbsppl.pieces.dependence import Place
from gibbsppl.schedule.kinds import Single


def where_text(module: Module, step: Single) -> str:
    """The index of the elements that a step draws."""
    statement = step.statement
    if statement.known != 0:
        return f"[{_missing(module, step)}]"
    return index_text(step.region, module.dims(statement), module.writer())


def positions_text(module: Module, step: Single) -> str:
    """The elements that a step draws, or values of tied ones, as a list of index tuples."""
    return f'c["{positions_name(module, step)}"]'


def positions_name(module: Module, step: Single) -> str:
    """The name of the indices of single elements, or of values, among the hoisted values."""
    statement = step.statement
    known = statement.mask
    if known:
        module.hoisted.arrays.add(known)

    def make() -> Text:
        first = module.names.of(known) if known else None
        return Text(f"runtime.element_positions({first}, {module.bounds(step.places)})")

    stem = statement.target.array.name + "_elements"
    return module.hoisted.add(
        ("elements", statement.name), stem, make, "one after the other"
    ).code


def colours_text(module: Module, step: Single) -> str:
    """The indices of the elements of each colour, one index for each vector call."""
    return f'c["{colours_name(module, step)}"]'


def colours_name(module: Module, step: Single) -> str:
    """The name of the indices by colour among the hoisted values."""
    statement, colours = step.statement, step.colours
    place, known = module.bounds(step.places), statement.mask
    read = [known] if known else []
    match colours:
        case Pattern(steps=steps, count=count):
            more = f", {module.names.of(known)}" if known else ""
            code = f"runtime.pattern_colours({place}, {steps}, {count}{more})"
        case Chart(name=name, count=count):
            read = [name]
            module.hold_sizes(module.dims(statement))
            code = f"runtime.chart_colours({module.names.of(name)}, {count})"
        case _:
            raise CompileError(f"{step.name}: it has no colours.")
    module.hoisted.arrays.update(read)
    stem, key = statement.target.array.name + "_colours", ("colours", step.name)
    return module.hoisted.add(key, stem, lambda: Text(code), colours_told(colours)).code


def ranges_of(place: Iterable[Place]) -> list[Range]:
    """The ranges of a place, without single positions."""
    return [p for p in place if isinstance(p, Range)]


def index_text(place: Iterable[Place], axes: Iterable[Dim], writer: Writer) -> str:
    """The index of a place; empty for a place that is the whole array."""
    parts = []
    for p, axis in zip(place, axes, strict=True):
        if isinstance(p, int):
            parts.append(str(p))
        else:
            parts.append(slice_text(p.start, p.stop, writer.size(axis)))
    while parts and parts[-1] == ":":
        parts.pop()
    return f"[{', '.join(parts)}]" if parts else ""


def kept_axes_text(place: Iterable[tuple[Place, Dim]], writer: Writer) -> str:
    """The index of a place that keeps all axes; empty for a place that is the whole array."""
    ranges = [(Range(d, p, p + 1) if isinstance(p, int) else p, d) for p, d in place]
    return index_text((p for p, _ in ranges), (d for _, d in ranges), writer)


def slices_text(place: Iterable[Place], axes: Iterable[Dim], writer: Writer) -> str:
    """A place as a tuple of positions and slices."""
    parts = []
    for p, axis in zip(place, axes, strict=True):
        if isinstance(p, int):
            parts.append(str(p))
        else:
            missing = from_the_end(p.stop, writer.size(axis))
            end = p.stop if missing is None else -missing or None
            parts.append(f"slice({p.start}, {end})")
    return tuple_text(parts)


def _missing(module: Module, step: Single) -> str:
    """The name of the positions of unknown elements in the region, found once.

    Draws from a family are of whole vectors and matrices; all other draws are by element.
    """
    statement = step.statement
    is_of_values = step.family is not None and not step.is_by_element
    event = len(event_dims(statement)) if is_of_values else 0
    events = f", event={event}" if event else ""
    known = statement.mask
    assert known is not None
    module.hoisted.arrays.add(known)

    def make() -> Text:
        place = module.bounds(step.region)
        return Text(f"runtime.missing_positions({module.names.of(known)}, {place}{events})")

    stem = statement.target.array.name + "_missing"
    text = module.hoisted.add(("missing", statement.name), stem, make, "where it is not observed")
    return f'c["{text.code}"]'
