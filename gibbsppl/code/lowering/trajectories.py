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
from gibbsppl.runtime.unconstrained import unconstrained_in

# The vectors that a move works with.
NAMES = ("before", "lower", "upper", "slopes", "tried")


def lower_trajectory(w: Workshop, step: Any) -> None:
    """A move of all elements of several arrays as one vector."""
    space = unconstrained_in(w.constants, step.variables)
    joint = space.joint
    arrays = tables_of(joint).arrays
    stem = "_".join(step.variables)
    span = w.own_dim(f"{stem}_moved", joint.size)
    coordinates = w.own_dim(f"{stem}_coordinates", space.size)
    before, lower, upper, slopes, tried = (
        local_for(w, f"{stem}_{n}", (span,), "float") for n in NAMES
    )
    for own in arrays:
        slot, indices, over = placed(w, joint, own)
        w.add(Store(Element(before.array, (slot,)), Element(own.name, indices), over))
        _put_ends(w, step, joint, own, (lower.array, upper.array))
    density = _surface(w, step, joint, tried.array, slopes.array)
    function, extent = step.path.function, step.path.extent
    count = PARTS + 2 * int(extent) if function == "nuts" else ROWS
    rows_span = w.own_dim(f"{stem}_rows", count)
    rows = local_for(w, f"{stem}_paths", (rows_span, coordinates), "float")
    learnt = _tuned(w, step, coordinates, step.path.target)
    shape = [w.own_dim(f"{stem}_table_{k}", n) for k, n in enumerate(space.table.shape)]
    table = whole(w.given(f"{stem}_table", tuple(s.dim for s in shape), space.table), *shape)
    vectors = [Argument(e, (span,), as_is=True) for e in (before, lower, upper)]
    numbers = [Argument(e) for e in (*learnt.numbers, Number(float(extent)))]
    work = [
        Argument(slopes, (span,), as_is=True),
        Argument(rows, (rows_span, coordinates), as_is=True),
    ]
    known = [Argument(e, spans, as_is=True) for e, spans in learnt.arrays]
    told = [w.fresh(n) for n in ("acceptance", "points", "has_diverged")]
    w.add(*(Let(n, (), ZERO) for n in told))
    targets = (tried, *(e for e, _ in learnt.arrays), *map(Element, told))
    arguments = (table, *vectors, *numbers, *known, *work)
    w.add(Draw(targets, function, arguments, own=(span,), density=density, note=step.name))
    for own in arrays:
        put_values(w, joint, own, tried.array)
    for name, value in zip(learnt.counts, (*map(Element, told), ONE), strict=True):
        w.add(Add(name, (), value, ()))
    w.walks[step.name] = POINTS, DIVERGED


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


def _surface(w: Workshop, step: Any, joint: Joint, tried: str, slopes: str) -> Density:
    """The log density of what is tried, and the statements that put its gradient into an array."""
    known = dict(w.maintained)
    with w.apart() as body:
        for own in tables_of(joint).arrays:
            put_values(w, joint, own, tried)
        with with_maintained(w, step.kept):
            value = total([w.expr(c.value) for c in step.terms])
            for own, p in zip(tables_of(joint).arrays, step.gradient, strict=True):
                slot, indices, over = placed(w, joint, own)
                found = parameter(w, p, f"{own.name}_slopes") if p.contributions else ZERO
                value_there = _read_at(w, own.name, found, indices)
                w.add(Store(Element(slopes, (slot,)), value_there, over))
    w.maintained = known  # (what is computed inside holds there alone)
    return Density(tried, value, tuple(body))


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
