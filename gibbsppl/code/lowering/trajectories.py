"""Moves along paths as statements: the log density and its gradient, of one vector of elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from gibbsppl.code.arrays.expressions import (
    ONE,
    ZERO,
    Element,
    Expr,
    Number,
    Position,
    Span,
    at,
    total,
)
from gibbsppl.code.arrays.statements import Add, Argument, Density, Draw, Let, Store
from gibbsppl.code.lowering.draws import local_for
from gibbsppl.code.lowering.joint import placed, put_values, whole
from gibbsppl.code.lowering.maintained import with_maintained
from gibbsppl.code.lowering.parameters import bound, parameter
from gibbsppl.code.lowering.workshop import Workshop
from gibbsppl.runtime.joint import Joint
from gibbsppl.runtime.joint_tables import Drawn, tables_of
from gibbsppl.runtime.loops.hamiltonian import LEARNT, MOMENTS, ROWS
from gibbsppl.runtime.loops.trajectories import PARTS
from gibbsppl.runtime.tuning import (
    ACCEPTED,
    ADAPTS,
    DIVERGED,
    LEARNS,
    POINTS,
    PROPOSED,
    SCALES,
    SUMS,
    TARGET,
    field_of,
)
from gibbsppl.runtime.unconstrained import Unconstrained, unconstrained_in

VECTORS = ("slopes", "tried")


def lower_trajectory(w: Workshop, step: Any) -> None:
    """A move of all elements of several arrays as one vector."""
    space = unconstrained_in(w.constants, step.name)
    joint, stem = space.joint, "_".join(step.variables)
    span = w.own_dim(f"{stem}_moved", joint.size)
    before = local_for(w, f"{stem}_before", (span,), "float")
    for own in tables_of(joint).arrays:
        slot, indices, over = placed(w, joint, own)
        w.add(Store(Element(before.array, (slot,)), Element(own.name, indices), over))
    mapped = _mapped(w, step, space, before, span) if step.ends or step.tied else None
    coordinates = span if mapped is None else mapped.coordinates
    now = before if mapped is None else mapped.now
    slopes, tried = (local_for(w, f"{stem}_{n}", (coordinates,), "float") for n in VECTORS)
    density = _surface(w, step, joint, tried, slopes, mapped)
    function, extent = step.path.function, step.path.extent
    count = PARTS + 2 * int(extent) if function == "nuts" else ROWS
    rows_span = w.own_dim(f"{stem}_rows", count)
    rows = local_for(w, f"{stem}_paths", (rows_span, coordinates), "float")
    learnt = _tuned(w, step, coordinates, step.path.target)
    numbers = (Argument(e) for e in (*learnt.numbers, Number(float(extent))))
    known = (Argument(e, spans, as_is=True) for e, spans in learnt.arrays)
    work = _vector(slopes, coordinates), Argument(rows, (rows_span, coordinates), as_is=True)
    told = [w.fresh(n) for n in ("acceptance", "points", "has_diverged", "has_moved")]
    w.add(*(Let(n, (), ZERO) for n in told))
    targets = (tried, *(e for e, _ in learnt.arrays), *map(Element, told))
    arguments = (_vector(now, coordinates), *numbers, *known, *work)
    w.add(Draw(targets, function, arguments, own=(coordinates,), density=density, note=step.name))
    after = tried if mapped is None else mapped.add_after(w, Element(told[-1]), tried)
    for own in tables_of(joint).arrays:
        put_values(w, joint, own, after.array)
    for name, value in zip(learnt.counts, (*map(Element, told[:-1]), ONE), strict=True):
        w.add(Add(name, (), value, ()))
    w.walks[step.name] = POINTS, DIVERGED


def _vector(e: Element, span: Span) -> Argument:
    return Argument(e, (span,), as_is=True)


@dataclass(frozen=True, slots=True)
class _Mapped:
    """Vectors of values that have other numbers as coordinates, and what these are found by.

    ``before`` and ``values`` are over the ``span`` of values, those before a move and those that
    are tried; ``now`` are the coordinates before it.
    """

    span: Span
    coordinates: Span
    table: Argument
    ends: tuple[Argument, Argument]
    before: Element
    now: Element
    values: Element

    def add_values(self, w: Workshop, tried: Element) -> None:
        """Add the statement that finds the values at coordinates."""
        given = self.table, _vector(tried, self.coordinates), *self.ends
        w.add(Draw((self.values,), "from_coordinates", given, own=(self.span,), is_random=False))

    def add_slopes(
        self, w: Workshop, tried: Element, gradient: Element, slopes: Element
    ) -> Element:
        """Add the statement that finds slopes by coordinates; the log of the Jacobian."""
        one = w.own_dim("log_jacobian_of", 1)
        grown = local_for(w, "log_jacobian", (one,), "float")
        vectors = _vector(self.values, self.span), *self.ends, _vector(gradient, self.span)
        given = self.table, _vector(tried, self.coordinates), *vectors
        own = self.coordinates, one
        w.add(Draw((slopes, grown), "slopes_by_coordinates", given, own=own, is_random=False))
        return Element(grown.array, (ZERO,))

    def add_after(self, w: Workshop, has_moved: Element, tried: Element) -> Element:
        """Add the statement that finds the values after a move."""
        known = _vector(tried, self.coordinates), *self.ends, _vector(self.before, self.span)
        given, own = (Argument(has_moved), self.table, *known), (self.span,)
        w.add(Draw((self.values,), "moved_from_coordinates", given, own=own, is_random=False))
        return self.values


def _mapped(
    w: Workshop, step: Any, space: Unconstrained, before: Element, span: Span
) -> _Mapped:
    """The vectors of a move, with the statements that find the coordinates before it."""
    stem = "_".join(step.variables)
    coordinates = w.own_dim(f"{stem}_coordinates", space.size)
    lower, upper, values = (
        local_for(w, f"{stem}_{n}", (span,), "float") for n in ("lower", "upper", "values")
    )
    for own in tables_of(space.joint).arrays:
        _put_ends(w, step, space.joint, own, (lower.array, upper.array))
    now = local_for(w, f"{stem}_now", (coordinates,), "float")
    shape = [w.own_dim(f"{stem}_table_{k}", n) for k, n in enumerate(space.table.shape)]
    table = whole(w.given(f"{stem}_table", tuple(s.dim for s in shape), space.table), *shape)
    ends = _vector(lower, span), _vector(upper, span)
    given = table, _vector(before, span), *ends
    w.add(Draw((now,), "to_coordinates", given, own=(coordinates,), is_random=False))
    return _Mapped(span, coordinates, table, ends, before, now, values)


def _read_at(w: Workshop, array: str, value: Expr, indices: Sequence[Expr]) -> Expr:
    """An expression of the dims of an array, at the indices of elements."""
    return at(value, dict(zip((d.name for d in w.dims(array)), indices, strict=True)))


def _put_ends(w: Workshop, step: Any, joint: Joint, own: Drawn, into: Sequence[str]) -> None:
    """Put the bounds of the elements of an array where they are looked for."""
    slot, indices, over = placed(w, joint, own)
    ends = next((both for name, *both in step.ends if name == own.name), None)
    for k, array in enumerate(into):
        value: Expr = Number(inf if k else -inf) if ends is None else bound(w, ends[k])
        w.add(Store(Element(array, (slot,)), _read_at(w, own.name, value, indices), over))


def _surface(
    w: Workshop, step: Any, joint: Joint, tried: Element, slopes: Element, mapped: _Mapped | None
) -> Density:
    """The log density of what is tried, and the statements that put its gradient into an array."""
    known = dict(w.maintained)
    values, gradient = tried, slopes
    with w.apart() as body:
        if mapped is not None:
            mapped.add_values(w, tried)
            values = mapped.values
            gradient = local_for(w, f"{slopes.array}_of_values", (mapped.span,), "float")
        for own in tables_of(joint).arrays:
            put_values(w, joint, own, values.array)
        with with_maintained(w, step.kept):
            value = total([w.expr(c.value) for c in step.terms])
            for own, p in zip(tables_of(joint).arrays, step.gradient, strict=True):
                slot, indices, over = placed(w, joint, own)
                found = parameter(w, p, f"{own.name}_slopes") if p.contributions else ZERO
                value_there = _read_at(w, own.name, found, indices)
                w.add(Store(Element(gradient.array, (slot,)), value_there, over))
        if mapped is not None:
            value = total([value, mapped.add_slopes(w, tried, gradient, slopes)])
    w.maintained = known  # (what is computed inside holds there alone)
    return Density(tried.array, value, tuple(body))


@dataclass(frozen=True, slots=True)
class _Learnt:
    """The fields learnt of paths, in the state: numbers, arrays with their spans, and counts."""

    numbers: tuple[Element, ...]
    arrays: tuple[tuple[Element, tuple[Span, ...]], ...]
    counts: tuple[str, ...]


def _tuned(w: Workshop, step: Any, span: Span, target: float) -> _Learnt:
    """The parts of the state that a move reads and changes."""
    stem = "_".join(step.variables)
    entries, sums = (
        w.own_dim(f"{stem}_{n}", k) for n, k in (("learnt", LEARNT), ("sums", MOMENTS))
    )

    def field(name: str, *own: Span, start: float = 0.0) -> Element:
        full = field_of(step.name, name)
        w.tuning(full, tuple(s.dim for s in own), start=start)
        return Element(full, tuple(Position(s.dim) for s in own))

    numbers = (
        field(TARGET, start=target),
        w.tuning(field_of(step.name, ADAPTS), kind="int", start=1.0),
    )
    arrays = (
        (field(LEARNS, entries), (entries,)),
        (field(SCALES, span, start=1.0), (span,)),
        (field(SUMS, sums, span), (sums, span)),
    )
    counts = tuple(field(n).array for n in (ACCEPTED, POINTS, DIVERGED))
    proposed = w.tuning(field_of(step.name, PROPOSED), kind="int")
    return _Learnt(numbers, arrays, (*counts, proposed.array))
