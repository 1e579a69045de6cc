"""Sums by group: ``sum_i Equals(g[i], a) * values``, one entry for each position of ``a``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import prod

from sympy import Mul

from gibbsppl.algebra.expressions import Dim, Expr, dims_of
from gibbsppl.algebra.ranges import Range
from gibbsppl.code.hoisting import stem_of
from gibbsppl.code.looked_up import looked_up
from gibbsppl.code.text import ATOM, PRODUCT, Text, number
from gibbsppl.code.writer import Writer
from gibbsppl.derive.contractions import contracted

# From so many values in so many columns on, a sparse matrix product is the faster sum by group.
MANY_VALUES = 1 << 18
MANY_COLUMNS = 6


def segments(
    writer: Writer, matches: list[Expr], rest: list[Expr], ranges: tuple[Range, ...]
) -> Text:
    """A sum by group: sum_i Equals(g[i], a) * values."""
    indices = [m.args[0] for m in matches]
    axes = tuple(axis for m in matches if isinstance(axis := m.args[1], Dim))
    texts, along = writer.aligned([writer.write(i) for i in indices])
    inner = [r for r in ranges if r.dim not in along]
    summand = contracted(Mul(*rest), inner, writer.known)
    fixed = len(indices) == 1 and len(along) == 1 and writer.is_data(indices[0])
    with _first(writer, along):
        if fixed and not writer.preparing:
            return _grouped_sum(writer, indices[0], axes[0], along[0], summand)
        value = writer.write(summand)
        others = tuple(d for d in value.dims if d not in along)
        code = _spread(writer, value, along + others).code if value.dims else value.code
    shown = texts[0] if len(texts) == 1 else f"({', '.join(texts)})"
    sizes = tuple(writer.size(a) for a in axes)
    shape = str(sizes[0]) if len(sizes) == 1 else str(sizes)
    return Text(f"{writer.call('segment_sum')}({code}, {shown}, {shape})", axes + others)


def _grouped_sum(writer: Writer, index: Expr, axis: Dim, along: Dim, summand: Expr) -> Text:
    """A sum over the groups that a data index makes."""
    groups = _groups(writer, index, axis, along)
    coefficient, rest = summand.as_coeff_Mul()
    if (looked := looked_up(writer, (index, axis, along), rest)) is not None:
        text = looked
    elif (pair := _outer(writer, rest, along)) is not None:
        first, second = pair
        left, right = (_spread(writer, t, _along_first(t, along)) for t in pair)
        text = Text(
            f"{groups}.outer({left.code}, {right.code})",
            (axis, *_along_first(first, along)[1:], *_along_first(second, along)[1:]),
        )
    elif rest == 1:
        text = Text(f"{groups}.count", (axis,))
    else:
        value = writer.write(rest)
        value = _spread(writer, value, _along_first(value, along))
        text = Text(_row_sums(writer, groups, value), (axis, *value.dims[1:]))
    if coefficient == 1:
        return text
    return Text(f"{number(coefficient).code} * {text.code}", text.dims, PRODUCT)


def _row_sums(writer: Writer, groups: str, value: Text) -> str:
    """The sums of the rows of each group, by the faster way for their number and length."""
    rows, *trailing = (stop - start for start, stop in map(writer.range, value.dims))
    columns = prod(trailing)
    if columns < MANY_COLUMNS or rows * columns < MANY_VALUES:
        return f"{groups}.sum({value.code})"
    return f"{writer.call('sum_rows')}({groups}, {value.code})"


def _along_first(text: Text, along: Dim) -> tuple[Dim, ...]:
    return (along, *(d for d in text.dims if d != along))


def _outer(writer: Writer, product: Expr, along: Dim) -> tuple[Text, Text] | None:
    """The two sides of an outer product summed by group; None for other products."""
    factors = writer.weighted(Mul.make_args(product))
    trailing = [dims_of(f) - {along} for f in factors]
    sides = sorted({d for t in trailing for d in t}, key=str)
    if len(sides) != 2 or any(len(t) > 1 for t in trailing):
        return None
    sides = list(writer.sorted(sides))
    first = Mul(*(f for f, t in zip(factors, trailing, strict=True) if t <= {sides[0]}))
    second = Mul(*(f for f, t in zip(factors, trailing, strict=True) if t == {sides[1]}))
    return writer.write(first), writer.write(second)


@contextmanager
def _first(writer: Writer, dims: tuple[Dim, ...]) -> Iterator[None]:
    """A context in which some dims come first in the order of axes."""
    before = dict(writer.order)
    rest = [d for d in before if d not in dims]
    writer.order = {d: n for n, d in enumerate((*dims, *rest))}
    yield
    writer.order = before


def _spread(writer: Writer, text: Text, dims: tuple[Dim, ...]) -> Text:
    """The text with one axis for each dim, broadcast along missing dims."""
    ordered = writer.transposed(text, tuple(d for d in dims if d in text.dims))
    if ordered.dims == dims:
        return ordered
    index = ", ".join(":" if d in ordered.dims else "None" for d in dims)
    shape = tuple(stop - start for start, stop in map(writer.range, dims))
    code = f"{writer.call('broadcast_to')}({ordered.within(ATOM)}[{index}], {shape})"
    return Text(code, dims)


def _groups(writer: Writer, index: Expr, axis: Dim, along: Dim) -> str:
    """The name of the groups of positions that a data index makes."""
    key = ("groups", index, axis, writer.range(along))
    size = writer.size(axis)

    def make() -> Text:
        inner = writer.prepared(index)
        return Text(f"{writer.call('Groups')}({inner.code}, {size})")

    comment = f"groups by {writer.shown(index)}"
    return writer.hoisted.add(key, "by_" + stem_of(index), make, comment).code
