"""Sums by group of rows that data look up in a table of the state, as text.

Comes in: a sum ``sum_n [g[n] = a] * w[n] * V[q[n], k]``, or of ``V[q[n], k] * V[q[n], l]``. Goes
out: a product with a sparse matrix, or products of rows of one group after the other.
"""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Mul

from gibbsppl.algebra.expressions import Dim, Expr, Leaf, dims_of
from gibbsppl.code.text import ATOM, Text
from gibbsppl.code.writer import Writer

# Tables of fewer numbers are as fast looked up at once.
LEAST_NUMBERS = 1 << 18
TWO = 2  # (the axes of a table)


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of a table of the state: its name, the index that looks them up, their axis."""

    array: str
    index: Expr
    column: Dim


def looked_up(writer: Writer, group: tuple[Expr, Dim, Dim], summand: Expr) -> Text | None:
    """The text of a sum by group of rows that are looked up; None for other sums.

    ``group`` is the index of data that makes the groups, their axis, and the dim along the rows.
    """
    index, axis, along = group
    rows: list[_Rows] = []
    weights: list[Expr] = []
    for factor in Mul.make_args(summand):
        found = _rows(writer, factor, along)
        if found is not None:
            rows.append(found)
        elif writer.is_data(factor) and dims_of(factor) <= {along}:
            weights.append(factor)
        else:
            return None
    sides = {(r.array, r.index) for r in rows}
    columns = tuple(r.column for r in rows)
    if len(sides) != 1 or axis in columns or not _is_large(writer, along, columns):
        return None
    if len(rows) == 1:
        name = _named(writer, group, rows[0], Mul(*weights))
        return Text(f"{name}.sum({writer.array(rows[0].array)})", (axis, *columns), ATOM)
    is_outer = len(rows) == len(set(columns)) == TWO and not weights and not index.has(axis)
    if not is_outer:
        return None
    name = _known(writer, group, rows[0]) or _named(writer, group, rows[0], Mul())
    return Text(f"{name}.outer({writer.array(rows[0].array)})", (axis, *columns), ATOM)


def _rows(writer: Writer, factor: Expr, along: Dim) -> _Rows | None:
    """The rows of a table of the state that a factor is, looked up by data along one dim."""
    if not isinstance(factor, Leaf) or writer.is_data(factor) or len(factor.indices) != TWO:
        return None
    index, column = factor.indices
    variable = writer.graph.variables.get(factor.array.name)
    if variable is None or not isinstance(column, Dim) or column == along:
        return None
    is_looked_up = isinstance(index, Leaf) and index.indices == (along,) and writer.is_data(index)
    whole = (0, writer.size(variable.dims[1]))
    return (
        _Rows(factor.array.name, index, column)
        if is_looked_up and writer.range(column) == whole and writer.is_whole(index)
        else None
    )


def _is_large(writer: Writer, along: Dim, columns: tuple[Dim, ...]) -> bool:
    """Whether so many numbers would be looked up that they do not fit into a cache."""
    start, stop = writer.range(along)
    numbers = stop - start
    for c in columns[:1]:
        numbers *= writer.size(c)
    return numbers >= LEAST_NUMBERS


def _key(writer: Writer, group: tuple[Expr, Dim, Dim], rows: _Rows) -> tuple[object, ...]:
    index, axis, along = group
    return ("looked up", index, axis, writer.range(along), rows.index, rows.array)


def _known(writer: Writer, group: tuple[Expr, Dim, Dim], rows: _Rows) -> str | None:
    """The name of the same with any weights, if there is one: outer products have none."""
    key = _key(writer, group, rows)
    names = (text.code for k, text in writer.hoisted.known.items() if k[: len(key)] == key)
    return next(names, None)


def _named(writer: Writer, group: tuple[Expr, Dim, Dim], rows: _Rows, weights: Expr) -> str:
    """The name of where values belong, what they look up and their weights, computed once."""
    index, axis, _ = group
    key = (*_key(writer, group, rows), weights)
    width = writer.size(writer.graph.variables[rows.array].dims[0])

    def make() -> Text:
        inner = [writer.prepared(e).code for e in (index, rows.index, weights)]
        given = f"{inner[0]}, {writer.size(axis)}, {inner[1]}, {width}"
        given += f", {inner[2]}" if weights != 1 else ""
        return Text(f"{writer.call('LookedUp')}({given})")

    comment = f"by {writer.shown(index)}, rows {writer.shown(rows.index)}"
    stem = f"{rows.array}_by_{'_'.join(sorted(x.array.name for x in index.atoms(Leaf)))}"
    return writer.hoisted.add(key, stem, make, comment).code
