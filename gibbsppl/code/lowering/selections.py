"""The elements that a step draws: of an array, of a part of it, or one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from gibbsppl.algebra.expressions import Dim
from gibbsppl.code.arrays.expressions import (
    ONE,
    ZERO,
    Apply,
    Element,
    Expr,
    Number,
    Position,
    Span,
    at,
    negative,
    product,
    total,
)
from gibbsppl.code.arrays.sweeps import Array
from gibbsppl.code.lowering.workshop import Workshop
from gibbsppl.derive.colours import Chart, Pattern
from gibbsppl.pieces.dependence import bounds_of
from gibbsppl.schedule.kinds import Single


@dataclass(frozen=True, slots=True)
class Selection:
    """The elements drawn: at each position of ``over``.

    ``at`` are the indices along those dims of the array that are not themselves in ``over``;
    ``one_by_one``: each is drawn given what was drawn before.
    """

    over: tuple[Span, ...]
    at: Mapping[str, Expr]
    one_by_one: bool = False

    def element(self, array: str, dims: tuple[Dim, ...]) -> Element:
        """The element of an array that is drawn."""
        return Element(array, tuple(self.of(Position(d.name)) for d in dims))

    def of(self, expr: Expr) -> Expr:
        """An expression of the dims of the array, at the elements drawn."""
        return at(expr, self.at)


def selection(w: Workshop, step: Single, event: tuple[Dim, ...] = ()) -> Selection:
    """The selection of a step, whose draws are along the dims of an event."""
    if not step.is_by_element:
        return selection_at_once(w, step, event)
    return elements_in_turn(w, step, event)


def elements_in_turn(w: Workshop, step: Single, event: tuple[Dim, ...] = ()) -> Selection:
    """The elements of a step, one after the other."""
    array = step.statement.target.array.name
    dims = tuple(d for d in w.dims(array) if d not in event)
    is_plain = step.is_coloured and dims and step.statement.mask is None
    if is_plain and isinstance(step.colours, Pattern):
        return _strided(w, step, step.colours, array, dims)
    return _of_table(w, array, dims, _in_order(w, step, array, dims), one_by_one=True)


def values_in_turn(w: Workshop, step: Single) -> Selection:
    """The values of a step whose entries are tied, one colour after the other."""
    array = step.statement.target.array.name
    dims = w.dims(array)[: len(step.places)]
    return _of_table(w, array, dims, _in_order(w, step, array, dims), one_by_one=True)


def selection_at_once(w: Workshop, step: Single, event: tuple[Dim, ...] = ()) -> Selection:
    """The elements of a step, none of which is drawn given another that was drawn before."""
    statement = step.statement
    array = statement.target.array.name
    dims = tuple(d for d in w.dims(array) if d not in event)
    if statement.known != 0:
        bounds = tuple(map(bounds_of, step.region))
        stems = tuple(f"{array}_missing_{d.name}" for d in dims)
        names = w.table(stems, "missing_positions", f"@{statement.mask}", bounds, len(event))
        return _of_table(w, array, dims, names, one_by_one=False)
    places = dict(zip(w.dims(array), step.region, strict=True))
    fixed = {d.name: Number(p) for d in dims if isinstance(p := places[d], int)}
    return Selection(w.spans([places[d] for d in dims]), fixed)


def of_column(
    w: Workshop, step: Single, outer: tuple[int, ...]
) -> tuple[Selection, tuple[Span, ...]]:
    """The elements of a column, one colour after the other; and the spans of ``outer`` axes.

    The colours of each column are those of the first.
    """
    array = step.statement.target.array.name
    dims = w.dims(array)
    own = tuple(d for a, d in enumerate(dims) if a not in outer)
    assert isinstance(step.colours, Chart)
    stems = tuple(f"{array}_in_order_{d.name}" for d in own)
    name, count = step.colours.name, step.colours.count
    names = w.table(stems, "column_in_order", f"@{name}", count, outer)
    found = _of_table(w, array, own, names, one_by_one=True)
    return found, tuple(w.span(dims[a]) for a in outer)


def _in_order(w: Workshop, step: Single, array: str, dims: tuple[Dim, ...]) -> tuple[str, ...]:
    """The names of the tables of positions, in the order in which elements are drawn."""
    if not dims:  # (one value, whose entries are tied)
        return ()
    bounds = tuple(map(bounds_of, step.places))
    mask = None if step.statement.mask is None else f"@{step.statement.mask}"
    stems = tuple(f"{array}_in_order_{d.name}" for d in dims)
    match step.colours if step.is_coloured else None:
        case Pattern(steps=steps, count=count):  # (of those that are not observed)
            return w.table(stems, "pattern_in_order", bounds, steps, count, mask)
        case Chart(name=name, count=count):
            return w.table(stems, "chart_in_order", f"@{name}", count)
    return w.table(stems, "elements_in_order", mask, bounds)


def _strided(
    w: Workshop, step: Single, colours: Pattern, array: str, dims: tuple[Dim, ...]
) -> Selection:
    """The elements of one colour after the other: of each, some are at every so many positions."""
    bounds = tuple(map(bounds_of, step.region))
    stems = tuple(f"{array}_{what}_{d.name}" for what in ("first", "count") for d in dims)
    names = w.table(stems, "pattern_strides", bounds, colours.steps, colours.count)
    known = w.arrays[names[0]].dims
    call = known[0] if known else w.fresh(f"{array} colour")
    w.arrays |= {n: Array((call,), "table", "int") for n in names}
    w.own_sizes.setdefault(call, prod(colours.count for s in colours.steps if s))
    here, spans, indices = (Position(call),), [Span.whole(call)], dict[str, Expr]()
    firsts, counts = names[: len(dims)], names[len(dims) :]
    for d, stride, first, count in zip(dims, colours.steps, firsts, counts, strict=True):
        along = f"{d.name} of {call}"  # (the same where the step's elements are read once more)
        spans.append(Span(along, ZERO, Element(count, here)))
        passed = product([Number(colours.count if stride else 1), Position(along)])
        indices[d.name] = Apply("+", (Element(first, here), passed))
    return Selection(tuple(spans), indices, one_by_one=True)


def _of_table(
    w: Workshop, array: str, dims: tuple[Dim, ...], names: tuple[str, ...], *, one_by_one: bool
) -> Selection:
    known = w.arrays[names[0]].dims if names else ()
    along = known[0] if known else w.fresh(f"{array}_drawn")
    found = zip(names, dims, strict=True)
    w.arrays |= {n: Array((along,), "table", "int", of=d.name) for n, d in found}
    indices = {d.name: Element(n, (Position(along),)) for d, n in zip(dims, names, strict=True)}
    over = (Span.whole(along),) if names else ()
    w.own_sizes.setdefault(along, prod(w.size(d) for d in dims))  # (no more than these)
    w.lengths.setdefault(along, (tuple(d.name for d in dims),))
    return Selection(over, indices, one_by_one)


def place_in_one(spans: Sequence[Span]) -> Expr:
    """The position of an element of several spans along one, where it is counted from 0."""
    strides = [product([length_of(s) for s in spans[n + 1 :]]) for n in range(len(spans))]
    return total([
        product([_from_start(s), stride]) if stride != ONE else _from_start(s)
        for s, stride in zip(spans, strides, strict=True)
    ])


def _from_start(span: Span) -> Expr:
    here = Position(span.dim)
    match span.start:
        case Number(value=value):
            return Position(span.dim, -int(value))
    return total([here, negative(span.start)])


def length_of(span: Span) -> Expr:
    """The number of positions of a span."""
    return span.stop if span.start == ZERO else total([span.stop, negative(span.start)])
