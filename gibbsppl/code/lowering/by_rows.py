"""Joint draws by rows as statements: precisions of elements alone, and a design.

All arrays contribute columns to the design, all factors rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from gibbsppl.algebra.expressions import Dim
from gibbsppl.code.arrays.expressions import ZERO, Element, Expr, Position
from gibbsppl.code.arrays.statements import Draw, Let, Store
from gibbsppl.code.lowering.joint import multiplied, place_in_whole, put_whole, whole
from gibbsppl.code.lowering.maintained import with_maintained
from gibbsppl.code.lowering.parameters import parameter
from gibbsppl.code.lowering.workshop import Workshop
from gibbsppl.schedule.kinds import QuadraticDraw
from gibbsppl.schedule.parameters import NaturalParameter
from gibbsppl.schedule.row_forms import Rows


def lower_by_rows(w: Workshop, step: QuadraticDraw, rows: Rows) -> None:
    """A joint draw of all elements of several arrays by the rows that tie them."""
    stem = "_".join(step.variables)
    dims = [w.dims(name) for name in step.variables]
    along = [tuple(r.dim for r in form.rows) for form in rows.forms]
    columns = w.own_dim(f"{stem}_columns", rows.size, dims)
    lines = w.own_dim(f"{stem}_rows", rows.count, along)
    spans = {
        "linear": (columns,),
        "precisions": (columns,),
        "design": (columns, lines),
        "weights": (lines,),
        "responses": (lines,),
    }
    names = {part: w.fresh(f"{stem}_{part}") for part in spans}
    is_full = all(p.contributions for form in rows.forms for p in form.design)
    for part, along_part in spans.items():
        w.add(Let(names[part], along_part, ZERO, is_empty=is_full and part == "design"))
    with with_maintained(w, step.kept):
        for n, (own, start) in enumerate(_starts(w, dims)):
            place = place_in_whole(w, own, start)
            _store(w, names["linear"], (place,), rows.linear[n])
            _store(w, names["precisions"], (place,), multiplied(rows.squares[n], -2))
            for form, (row_dims, row) in zip(rows.forms, _starts(w, along), strict=True):
                line = place_in_whole(w, row_dims, row)
                _store(w, names["design"], (place, line), form.design[n], row_dims)
        for form, (row_dims, row) in zip(rows.forms, _starts(w, along), strict=True):
            line = place_in_whole(w, row_dims, row)
            _store(w, names["weights"], (line,), form.weight)
            _store(w, names["responses"], (line,), form.response)
    values = w.fresh(f"{stem}_values_drawn")
    w.add(Let(values, (columns,), ZERO, is_empty=True))
    arguments = tuple(whole(names[part], *own) for part, own in spans.items())
    out = Element(values, (Position(columns.dim),))
    w.add(Draw((out,), "joint_by_rows", arguments, own=(columns,), note=step.name))
    for name, (own, start) in zip(step.variables, _starts(w, dims), strict=True):
        put_whole(w, name, own, values, start)


def _starts(
    w: Workshop, arrays: Sequence[tuple[Dim, ...]]
) -> Iterator[tuple[tuple[Dim, ...], int]]:
    """The dims of each array, and the place of its first element among those of all."""
    start = 0
    for dims in arrays:
        yield dims, start
        start += prod(map(w.size, dims))


def _store(
    w: Workshop,
    array: str,
    place: tuple[Expr, ...],
    p: NaturalParameter,
    rows: tuple[Dim, ...] = (),
) -> None:
    """Coefficients, at their places in an array of all; along ``rows`` they are side by side."""
    if not p.contributions:
        return
    over = tuple(w.span(d) for d in sorted(p.axes, key=lambda d: d in rows))
    factors = ", ".join(dict.fromkeys(c.factor for c in p.contributions))
    value = parameter(w, p, array)
    value = w.side_by_side(value, rows[-1].name) if rows else value
    w.add(Store(Element(array, place), value, over, factors))
