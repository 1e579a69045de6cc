"""Reductions over dims: by group, of squares, of a product of arrays, or along axes."""

from __future__ import annotations

from math import prod

from gibbsppl.code.arrays.expressions import (
    ONE,
    Expr,
    Number,
    Position,
    Reduce,
    product,
)
from gibbsppl.code.arrays.terms import Quotient, quotient
from gibbsppl.code.numpy_text.hoisting import stem_of
from gibbsppl.code.numpy_text.looked_up import looked_up
from gibbsppl.code.numpy_text.products import product_text
from gibbsppl.code.numpy_text.text import ATOM, PRODUCT, Text, number, slice_text, tuple_text
from gibbsppl.code.numpy_text.ways import (
    ByGroup,
    BySegment,
    Facts,
    OfProduct,
    OfSquares,
    Plain,
    way_of,
)
from gibbsppl.code.numpy_text.writer import Writer
from gibbsppl.errors import CompileError

# From so many values in so many columns on, a sparse matrix product is the faster sum by group.
MANY_VALUES = 1 << 18
MANY_COLUMNS = 6


def reduced_text(writer: Writer, e: Reduce) -> Text:
    """The text of a reduction, by the way that it is done."""
    summed = frozenset(s.dim for s in e.spans)
    with writer.over(e.spans):
        match way_of(e, Facts(writer.is_settled, writer.is_whole), writer.preparing):
            case BySegment() as way if way.by == "sum":
                return _segments(writer, way)
            case BySegment() as way:
                return _extremes(writer, way, summed)
            case ByGroup() as way:
                return _grouped(writer, way)
            case OfSquares(base=base):
                return Text(f"{writer.call('sum_of_squares')}({writer.text(base).code})")
            case OfProduct(factors=factors):
                together = writer.together(factors, product)
                return product_text(writer, [writer.text(f) for f in together], summed)
            case Plain():
                return _along_axes(writer, e, summed)


def _along_axes(writer: Writer, e: Reduce, summed: frozenset[str]) -> Text:
    """A reduction of an array along axes."""
    if e.by == "logdet":
        inner = matrix_text(writer, e)
        return Text(f"{writer.call('logdet')}({inner.code})", inner.dims[:-2])
    text = writer.text(e.body)
    if e.by == "log_sum_exp":
        axes = tuple(n for n, d in enumerate(text.dims) if d in summed)
        left = tuple(d for d in text.dims if d not in summed)
        return Text(f"{writer.call('log_sum_exp')}({text.code}, {axes})", left)
    if not summed & set(text.dims):
        return text
    axes = tuple(n for n, d in enumerate(text.dims) if d in summed)
    left = tuple(d for d in text.dims if d not in summed)
    by = {"product": "prod"}.get(e.by, e.by)
    axis = axes[0] if len(axes) == 1 else axes
    return Text(f"{text.within(ATOM)}.{by}(axis={axis})", left)


def _segments(writer: Writer, way: BySegment) -> Text:
    """A sum where indices, of labels say, are the positions of axes."""
    texts, along = writer.aligned([writer.text(i) for i in way.indices])
    with writer.first(along):
        value = writer.text(way.value)
        others = tuple(d for d in value.dims if d not in along)
        code = writer.spread(value, along + others).code if value.dims else value.code
    shown = texts[0] if len(texts) == 1 else f"({', '.join(texts)})"
    sizes = list(map(writer.size_text, way.axes))
    shape = sizes[0] if len(sizes) == 1 else tuple_text(sizes)
    return Text(f"{writer.call('segment_sum')}({code}, {shown}, {shape})", way.axes + others)


def _grouped(writer: Writer, way: ByGroup) -> Text:
    """A sum over the groups that a data index makes."""
    found = quotient(way.value)
    coefficient = found.sign * prod(f.value for f in found.above if isinstance(f, Number))
    rest = Quotient(1, tuple(f for f in found.above if not isinstance(f, Number)), found.below)
    with writer.first((way.along,)):
        text = looked_up(writer, way) or _of_copies(writer, way, rest.value)
    if coefficient == 1:
        return text
    return Text(f"{number(coefficient).code} * {text.code}", text.dims, PRODUCT)


def _of_copies(writer: Writer, way: ByGroup, value: Expr) -> Text:
    """The sum of an array of all values."""
    groups = _groups(writer, way)
    if way.sides:
        return _outer(writer, way, groups)
    if value == ONE:
        return Text(f"{groups}.count", (way.axis,))
    text = writer.text(value)
    text = writer.spread(text, _along_first(text, way.along))
    return Text(_row_sums(writer, groups, text), (way.axis, *text.dims[1:]))


def _outer(writer: Writer, way: ByGroup, groups: str) -> Text:
    """The outer products of the rows of two arrays, summed by group."""
    texts = [writer.text(s) for s in way.sides]
    texts = [writer.spread(t, _along_first(t, way.along)) for t in texts]
    order = writer.sorted(d for t in texts for d in t.dims[1:])
    first, second = sorted(texts, key=lambda t: order.index(t.dims[1]))
    code = f"{groups}.outer({first.code}, {second.code})"
    return Text(code, (way.axis, first.dims[1], second.dims[1]))


def _row_sums(writer: Writer, groups: str, value: Text) -> str:
    """The sums of the rows of each group, by the faster way for their number and length."""
    rows, *trailing = (len(writer.places_along(d)) for d in value.dims)
    columns = prod(trailing)
    if columns < MANY_COLUMNS or rows * columns < MANY_VALUES:
        return f"{groups}.sum({value.code})"
    return f"{writer.call('sum_rows')}({groups}, {value.code})"


def _along_first(text: Text, along: str) -> tuple[str, ...]:
    return (along, *(d for d in text.dims if d != along))


def _groups(writer: Writer, way: ByGroup) -> str:
    """The name of the groups of positions that a data index makes."""
    key = ("groups", way.index, way.axis, writer.places_along(way.along))

    def make() -> Text:
        inner = writer.prepared_text(way.index)
        size = writer.for_prepare(writer.graph).size_text(way.axis)
        return Text(f"{writer.call('Groups')}({inner.code}, {size})")

    comment = f"groups by {writer.shown(way.index)}"
    found = writer.hoisted.add(key, "by_" + stem_of(way.index), make, comment)
    return writer.constant(found.code)


def _extremes(writer: Writer, way: BySegment, summed: frozenset[str]) -> Text:
    """The extreme of the values of each group: each position of the gathers' axes.

    Along dims outside of the spans each position is a group of its own.
    """
    along = frozenset[str]().union(*(i.free for i in way.indices))
    rest = writer.sorted((along | way.value.free) - summed - set(way.axes))
    indices = (*way.indices, *map(Position, rest))
    axes = (*way.axes, *rest)
    texts, _ = writer.aligned([writer.text(x) for x in (*indices, way.value)])
    sizes = tuple_text(map(writer.size_text, axes))
    shown = f"({', '.join(texts[:-1])},)"
    code = f"{writer.call(f'segment_{way.by}')}({texts[-1]}, {shown}, {sizes})"
    return Text(code + _meant(writer, axes), axes)


def _meant(writer: Writer, axes: tuple[str, ...]) -> str:
    """The index of the positions in range along axes; empty if all positions are in range."""
    every = [writer.places_along(a) for a in axes]
    if every == [range(writer.size(a)) for a in axes]:
        return ""
    shown = (
        slice_text(r.start, r.stop, writer.size(a), r.step)
        for a, r in zip(axes, every, strict=True)
    )
    return f"[{', '.join(shown)}]"


def entry_text(writer: Writer, whole: Reduce, row: Expr, column: Expr) -> Text:
    """The text of an inverse matrix: the whole, its diagonal, or the entries at two indices."""
    inner = matrix_text(writer, whole)
    outer = inner.dims[:-2]
    code = f"{writer.call('inverse')}({inner.code})"
    ends = [i.dim for i in (row, column) if isinstance(i, Position) and not i.shift]
    is_apart = not {i for e in (row, column) for i in e.free} & set(outer)
    if is_apart and len(ends) == 2 and row == column:
        return Text(f"{code}.diagonal(axis1=-2, axis2=-1)", (*outer, ends[0]))
    if is_apart and len(ends) == 2:
        return Text(code, (*outer, *ends))
    places = [*map(writer.places, outer), writer.text(row), writer.text(column)]
    at, dims = writer.aligned(places)
    return Text(f"{code}[{', '.join(at)}]", dims)


def matrix_text(writer: Writer, e: Reduce) -> Text:
    """The text of a matrix, or of several: the two dims last."""
    rows, columns = (s.dim for s in e.spans)
    with writer.over(e.spans):
        text = writer.text(e.body)
    outer = tuple(d for d in text.dims if d not in (rows, columns))
    if not {rows, columns} <= set(text.dims):
        raise CompileError(f"{e.body} is no matrix over {rows} and {columns}.")
    return writer.transposed(text, (*outer, rows, columns))
