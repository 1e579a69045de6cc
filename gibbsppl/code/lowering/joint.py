"""Joint normal draws as statements: coefficients added where the precision matrix stores them.

The places of all coefficients are tables, made once from the layout of the matrix
(`gibbsppl.runtime.joint_tables`); the last place of each takes what is not stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from gibbsppl.algebra.expressions import Dim
from gibbsppl.code.arrays.expressions import (
    ZERO,
    Apply,
    Element,
    Expr,
    Number,
    Position,
    Span,
    at,
    product,
)
from gibbsppl.code.arrays.statements import Add, Argument, Draw, Let, Store
from gibbsppl.code.lowering.joint_lengths import numbers_in_dims
from gibbsppl.code.lowering.maintained import with_maintained
from gibbsppl.code.lowering.parameters import parameter
from gibbsppl.code.lowering.workshop import Workshop, positions
from gibbsppl.runtime.joint import Joint, joint_in
from gibbsppl.runtime.joint_tables import Drawn, Tables, pencil_tables, tables_of
from gibbsppl.runtime.pencils import Pencil
from gibbsppl.runtime.position_tables import short
from gibbsppl.schedule.kinds import QuadraticDraw
from gibbsppl.schedule.parameters import NaturalParameter, Pair


def lower_joint(w: Workshop, step: QuadraticDraw) -> None:
    """A joint draw of all elements of several arrays."""
    joint = joint_in(w.constants, step.name)
    with with_maintained(w, step.kept), w.with_dims(own_dims(step)):
        if step.pencil is not None:
            _with_pencil(w, step, joint)
        else:
            _with_matrix(w, step, joint)


def own_dims(step: QuadraticDraw) -> dict[Dim, int]:
    """The sizes of the dims that the pairs of a joint draw have."""
    return {a: n for p in step.pairs for a, n in zip(p.parameter.axes, p.sizes, strict=True)}


def _with_matrix(w: Workshop, step: QuadraticDraw, joint: Joint) -> None:
    """A draw by a factor of the precision matrix."""
    tables = tables_of(joint)
    _draw(w, step, joint, tables.kernel, with_coefficients(w, step, joint, tables), tables.arrays)


def with_coefficients(
    w: Workshop,
    step: QuadraticDraw,
    joint: Joint,
    tables: Tables,
    known: Mapping[str, str] | None = None,
) -> tuple[Argument, ...]:
    """The arguments of a kernel, once the matrix and the linear coefficients have been filled.

    Arrays of which elements are ``known`` have the values of these by other names.
    """
    stem = "_".join(step.variables)
    drawn, linear = _linear(w, step, joint, tables)
    stored = w.own_dim(f"{stem}_entries", tables.stored + 1)
    filled = w.fresh(f"{stem}_filled")
    w.add(Let(filled, (stored,), ZERO))
    add_second_degree(w, step, joint, tables, filled)
    for n, pair in enumerate(step.pairs):
        _add_beside(w, linear, pair, tables, n, known or {})
    return whole(filled, stored), whole(linear, drawn), *layout_arguments(w, step, joint, tables)


def add_second_degree(
    w: Workshop, step: QuadraticDraw, joint: Joint, tables: Tables, filled: str
) -> None:
    """Add the coefficients of squares and products to the entries of the precision."""
    for n, (name, squares) in enumerate(zip(step.variables, step.squares, strict=True)):
        own = tables.arrays[n]
        slots = slots_of(w, joint, own, name, tables.squares[own.start :], tables.stored)
        _add(w, filled, slots, multiplied(squares, -2), f"{name}_squares", name)
    for n, pair in enumerate(step.pairs):
        _add_pair(w, filled, pair, tables, n)


def add_linear(
    w: Workshop, step: QuadraticDraw, joint: Joint, tables: Tables, linear: str
) -> None:
    """Add the coefficients of the elements drawn."""
    for n, (name, p) in enumerate(zip(step.variables, step.linear, strict=True)):
        own = tables.arrays[n]
        rows = slots_of(w, joint, own, name, np.arange(own.start, tables.size), tables.size)
        _add(w, linear, rows, p, f"{name}_linear", name)


def layout_arguments(
    w: Workshop, step: QuadraticDraw, joint: Joint, tables: Tables
) -> tuple[Argument, ...]:
    """The arguments of a kernel that say how the precision is stored."""
    stem, found = "_".join(step.variables), []
    for k, value in enumerate(tables.arguments):
        if isinstance(value, np.ndarray):
            of_all = map(w.dims, step.variables) if len(value) == joint.size else None
            span = w.own_dim(f"{stem}_layout_{k}", len(value), of_all)
            found.append(whole(w.given(f"{stem}_layout_{k}", (span.dim,), value), span))
        else:
            found.append(Argument(Number(int(value))))
    return tuple(found)


def _with_pencil(w: Workshop, step: QuadraticDraw, joint: Joint) -> None:
    """A draw by fixed matrices that are diagonalised once."""
    _draw(w, step, joint, "pencil", with_scales(w, step, joint), tables_of(joint).arrays)


def with_scales(w: Workshop, step: QuadraticDraw, joint: Joint) -> tuple[Argument, ...]:
    """The arguments of a draw by fixed matrices: coefficients, scales, and the matrices."""
    assert step.pencil is not None
    pencil = next(c for c in w.constants.values() if isinstance(c, Pencil) and c.joint is joint)
    tables = tables_of(joint)
    stem = "_".join(step.variables)
    drawn, linear = _linear(w, step, joint, tables)
    scales = w.fresh(f"{stem}_scales")
    count = w.own_dim(f"{stem}_matrices", len(step.pencil.scales))
    w.add(Let(scales, (count,), ZERO))
    for k, scale in enumerate(step.pencil.scales):
        w.add(Store(Element(scales, (Number(k),)), w.expr(scale)))
    found = [whole(linear, drawn), whole(scales, count)]
    for k, values in enumerate(pencil_tables(pencil)):
        of_all = list(map(w.dims, step.variables)) if values.shape == (joint.size,) else None
        spans = [w.own_dim(f"{stem}_pencil_{k}_{a}", n, of_all) for a, n in enumerate(values.shape)]
        name = w.given(f"{stem}_pencil_{k}", tuple(s.dim for s in spans), values)
        found.append(whole(name, *spans))
    return tuple(found)


def _linear(
    w: Workshop, step: QuadraticDraw, joint: Joint, tables: Tables
) -> tuple[Span, str]:
    """The coefficients of the elements drawn, and the dim along them."""
    stem = "_".join(step.variables)
    drawn = w.own_dim(f"{stem}_drawn", tables.size + 1, (*map(w.dims, step.variables), ()))
    linear = w.fresh(f"{stem}_linear")
    w.add(Let(linear, (drawn,), ZERO))
    add_linear(w, step, joint, tables, linear)
    return drawn, linear


def slots_of(
    w: Workshop, joint: Joint, own: Drawn, name: str, slots: np.ndarray, other: int
) -> Element:
    """The place of each element of an array: of those that are not drawn, the last."""
    free = joint.drawn[name]
    found = np.full(free.shape, other, dtype=np.intp)
    found.reshape(-1)[own.positions] = slots[: len(own.positions)]
    dims = w.dims(name)
    table = w.given(f"{name}_place", tuple(d.name for d in dims), short(found))
    return Element(table, positions(dims))


def _add(
    w: Workshop,
    array: str,
    place: Element,
    p: NaturalParameter,
    stem: str,
    name: str,
) -> None:
    """Add the coefficients of the elements of an array, or of their squares."""
    if not p.contributions:
        return
    value = parameter(w, p, stem)
    factors = ", ".join(dict.fromkeys(c.factor for c in p.contributions))
    w.add(Add(array, (place,), value, tuple(map(w.span, w.dims(name))), factors))


def _add_pair(w: Workshop, filled: str, pair: Pair, tables: Tables, n: int) -> None:
    """Subtract the coefficients of products of two elements."""
    p, slots, doubled = multiplied(pair.parameter, -1), tables.pairs[n], tables.doubled[n]
    if not p.contributions:
        return
    shape = tuple(len(r) for r in pair.place)
    stem = f"{pair.first.array.name}_{pair.second.array.name}"
    value = parameter(w, p, f"{stem}_products")
    place = _of_pair(w, pair, f"{stem}_place", slots.reshape(shape))
    if doubled.any():
        times = _of_pair(w, pair, f"{stem}_times", 1 + doubled.reshape(shape))
        value = product([times, value])
    factors = ", ".join(dict.fromkeys(c.factor for c in p.contributions))
    w.add(Add(filled, (place,), value, w.spans(pair.place), factors))


def multiplied(p: NaturalParameter, number: int) -> NaturalParameter:
    """Coefficients times a number."""
    return replace(
        p, contributions=tuple(replace(c, value=number * c.value) for c in p.contributions)
    )


def _of_pair(w: Workshop, pair: Pair, stem: str, values: np.ndarray) -> Element:
    """The element of a table for each position of a pair."""
    axes = [w.own_dim(f"{stem}_{r.dim.name}", len(r), [(r.dim,)]).dim for r in pair.place]
    table = w.given(stem, tuple(axes), short(values))
    return Element(table, tuple(Position(r.dim.name, -r.start) for r in pair.place))


def _add_beside(
    w: Workshop, linear: str, pair: Pair, tables: Tables, n: int, names: Mapping[str, str]
) -> None:
    """Add products with elements that are known to the coefficients of the others."""
    shape = tuple(len(r) for r in pair.place)
    for b in tables.beside:
        if b.pair != n or not pair.parameter.contributions:
            continue
        stem = f"{b.array}_known"
        span = w.own_dim(stem, len(b.entries))
        along = Position(span.dim)

        def table(name: str, values: np.ndarray, span: Span = span, along: Expr = along) -> Element:
            return Element(w.given(name, (span.dim,), values), (along,))

        entries = np.unravel_index(b.entries, shape) if shape else ()
        places: dict[str, Expr] = {
            r.dim.name: table(f"{stem}_{r.dim.name}", np.asarray(e) + r.start)
            for r, e in zip(pair.place, entries, strict=True)
        }
        value = at(parameter(w, pair.parameter, f"{stem}_products"), places)
        sizes = tuple(w.size(d) for d in w.dims(b.array))
        own = np.unravel_index(b.positions, sizes) if sizes else ()
        known = Element(
            names.get(b.array, b.array),
            tuple(table(f"{stem}_at_{k}", np.asarray(i)) for k, i in enumerate(own)),
        )
        rows = table(f"{stem}_row", b.rows)
        w.add(Add(linear, (rows,), product([value, known]), (span,)))


def _draw(
    w: Workshop,
    step: QuadraticDraw,
    joint: Joint,
    kernel: str,
    arguments: tuple[Argument, ...],
    arrays: Sequence[Drawn],
) -> None:
    """The draw, and its values where they belong."""
    stem = "_".join(step.variables)
    span = w.own_dim(f"{stem}_values", joint.size, map(w.dims, step.variables))
    values = w.fresh(f"{stem}_values_drawn")
    w.add(Let(values, (span,), ZERO, is_empty=True))
    out = Element(values, (Position(span.dim),))
    w.add(Draw((out,), kernel, arguments, own=(span,), note=step.name))
    numbers = numbers_in_dims(joint, {n: w.dims(n) for n in joint.arrays})
    w.lengths |= {f"{values} {n}": dims for n, dims in numbers.items()}
    for own in arrays:
        put_values(w, joint, own, values)


def take_values(w: Workshop, joint: Joint, own: Drawn, into: str) -> None:
    """The elements of one array that are drawn, at their places among all drawn."""
    target, value, over = placed(w, joint, own)
    w.add(Store(Element(into, (target,)), Element(own.name, value), over))


def put_values(
    w: Workshop, joint: Joint, own: Drawn, values: str, into: str | None = None
) -> None:
    """The values of one array, where they belong: in the array, or in another one."""
    place, indices, over = placed(w, joint, own)
    w.add(Store(Element(into or own.name, indices), Element(values, (place,)), over))


def placed(
    w: Workshop, joint: Joint, own: Drawn
) -> tuple[Expr, tuple[Expr, ...], tuple[Span, ...]]:
    """The places of an array's elements among all drawn, and in the array, along spans."""
    dims, free = w.dims(own.name), joint.drawn[own.name]
    if free.all():
        return place_in_whole(w, dims, own.start), positions(dims), tuple(map(w.span, dims))
    span = w.own_dim(f"{own.name}_put", len(own.positions))
    along = Position(span.dim)
    at_axes = np.unravel_index(own.positions, free.shape)
    indices = tuple(
        Element(w.given(f"{own.name}_put_{d.name}", (span.dim,), np.asarray(i)), (along,))
        for d, i in zip(dims, at_axes, strict=True)
    )
    return Apply("+", (along, Number(own.start))), indices, (span,)


def put_whole(w: Workshop, array: str, dims: Sequence[Dim], values: str, start: int) -> None:
    """The values of a whole array, which begin at some place of others."""
    target, place = Element(array, positions(dims)), place_in_whole(w, dims, start)
    w.add(Store(target, Element(values, (place,)), tuple(map(w.span, dims))))


def place_in_whole(w: Workshop, dims: Sequence[Dim], start: int) -> Expr:
    """The place of each element of a whole array, whose elements begin at some place."""
    found: Expr = Number(start)
    for d in dims:
        found = _plus_scaled(w, found, d, dims)
    return found


def _plus_scaled(w: Workshop, place_in: Expr, dim: Dim, dims: Sequence[Dim]) -> Expr:
    """A place_in position, plus the part of a dim."""
    inner = [w.span(d).stop for d in dims[dims.index(dim) + 1 :]]
    step = product([Position(dim.name), *inner])
    return step if place_in == ZERO else Apply("+", (place_in, step))


def whole(array: str, *spans: Span) -> Argument:
    """A whole array as an argument."""
    return Argument(Element(array, tuple(Position(s.dim) for s in spans)), spans, as_is=True)
