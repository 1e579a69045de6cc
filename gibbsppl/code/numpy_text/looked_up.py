"""Sums by group of rows that data look up in a table of the state, as text.

Comes in: a sum ``sum_n [g[n] = a] * w[n] * V[q[n], k]``, or of ``V[q[n], k] * V[q[n], l]``. Goes
out: a product with a sparse matrix, or products of rows of one group after the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gibbsppl.code.arrays.expressions import ONE, Element, Expr, Number, Position, Reduce, product
from gibbsppl.code.arrays.terms import quotient
from gibbsppl.code.numpy_text.text import ATOM, Text
from gibbsppl.code.numpy_text.ways import ByGroup, Facts, way_of
from gibbsppl.code.numpy_text.writer import Writer

# Tables of fewer numbers are as fast looked up at once.
LEAST_NUMBERS = 1 << 18
TWO = 2  # (the axes of a table)


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of a table of the state: its name, the index that looks them up, their axes.

    There are two axes where rows are multiplied by themselves, and ``weights`` are of single ones.
    """

    array: str
    index: Expr
    columns: tuple[str, ...]
    weights: Expr = ONE


def is_looked_up(writer: Writer, e: Reduce, ranges: Mapping[str, range]) -> bool:
    """Whether a reduction, at positions of ranges, is a sum of rows that are looked up."""
    with writer.along(ranges), writer.over(e.spans):
        way = way_of(e, Facts(writer.is_settled, writer.is_whole), writer.preparing)
        return isinstance(way, ByGroup) and _rows_of(writer, way) is not None


def looked_up(writer: Writer, way: ByGroup) -> Text | None:
    """The text of a sum by group of rows that are looked up; None for other sums."""
    rows = _rows_of(writer, way)
    if rows is None:
        return None
    name = _named(writer, way, rows)
    by = "sum" if len(rows.columns) == 1 else "outer"
    return Text(f"{name}.{by}({writer.array(rows.array)})", (way.axis, *rows.columns), ATOM)


def _rows_of(writer: Writer, way: ByGroup) -> _Rows | None:
    """The rows that a sum is of, but for a number; None for other sums."""
    value = quotient(way.value)
    rows: list[_Rows] = []
    weights: list[Expr] = []
    for factor in value.above:
        found = _rows(writer, factor, way.along)
        if found is not None:
            rows.append(found)
        elif writer.is_settled(factor) and factor.free <= {way.along}:
            weights += [] if isinstance(factor, Number) else [factor]
        else:
            return None
    columns = tuple(c for r in rows for c in r.columns)
    is_of_one = len({(r.array, r.index) for r in rows}) == 1 and way.axis not in columns
    if value.below or not is_of_one or not _is_large(writer, way.along, columns):
        return None
    is_product = len(columns) == len(set(columns)) == TWO and not weights
    if len(columns) > 1 and not is_product:
        return None
    return _Rows(rows[0].array, rows[0].index, columns, product(weights))


def _rows(writer: Writer, factor: Expr, along: str) -> _Rows | None:
    """The rows of a table of the state that a factor is, looked up by data along one dim."""
    if not isinstance(factor, Element) or writer.is_settled(factor) or len(factor.indices) != TWO:
        return None
    index, column = factor.indices
    variable = writer.graph.variables.get(factor.array)
    if variable is None or not isinstance(column, Position) or column.shift or column.dim == along:
        return None
    is_of_data = (
        isinstance(index, Element)
        and index.indices == (Position(along),)
        and writer.is_settled(index)
        and writer.is_whole(index)
    )
    is_whole = writer.places_along(column.dim) == range(writer.size(variable.dims[1]))
    return _Rows(factor.array, index, (column.dim,)) if is_of_data and is_whole else None


def _is_large(writer: Writer, along: str, columns: tuple[str, ...]) -> bool:
    """Whether so many numbers would be looked up that they do not fit into a cache."""
    return len(writer.places_along(along)) * writer.size(columns[0]) >= LEAST_NUMBERS


def _named(writer: Writer, way: ByGroup, rows: _Rows) -> str:
    """The name of where values belong, what they look up and their weights, computed once.

    Products of rows have no weights: any will do.
    """
    key = ("looked up", way.index, way.axis, writer.places_along(way.along), rows.index, rows.array)
    known = (text.code for k, text in writer.hoisted.known.items() if k[: len(key)] == key)
    if len(rows.columns) > 1 and (name := next(known, None)) is not None:
        return writer.constant(name)

    def make() -> Text:
        to = writer.for_prepare(writer.graph)
        groups = to.size_text(way.axis)
        width = to.size_text(writer.graph.variables[rows.array].dims[0])
        inner = [writer.prepared_text(e).code for e in (way.index, rows.index, rows.weights)]
        given = f"{inner[0]}, {groups}, {inner[1]}, {width}"
        given += f", {inner[2]}" if rows.weights != ONE else ""
        return Text(f"{writer.call('LookedUp')}({given})")

    comment = f"by {writer.shown(way.index)}, rows {writer.shown(rows.index)}"
    stem = f"{rows.array}_by_{'_'.join(sorted(way.index.arrays))}"
    found = writer.hoisted.add((*key, rows.weights), stem, make, comment)
    return writer.constant(found.code)
