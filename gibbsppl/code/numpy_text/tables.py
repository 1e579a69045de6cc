"""Terms that vary over elements through a single index: tables, looked up by the elements.

Comes in: a term, ``log(theta[user[n], k])`` say, and the dims of the elements, ``n``. Goes out: the
table ``log(theta[a, k])`` with the index ``user[n]`` at which an element reads it. The runtime
looks up labels' weights, and rows of probabilities, rather than that they are written out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import prod

from gibbsppl.algebra.expressions import Dim
from gibbsppl.code.arrays.expressions import (
    ZERO,
    Element,
    Expr,
    Position,
    elements,
    mapped,
    total,
)
from gibbsppl.code.arrays.statements import Add, Let
from gibbsppl.code.arrays.terms import terms_of
from gibbsppl.code.lines import INDENT
from gibbsppl.code.numpy_text.functions import Added
from gibbsppl.code.numpy_text.statements import is_everywhere, sum_lines
from gibbsppl.code.numpy_text.text import tuple_text
from gibbsppl.code.numpy_text.writer import Writer

# Fewer values than this stay in the cache, and are computed where they are needed.
MANY_VALUES = 1 << 16


@dataclass(frozen=True, slots=True)
class Gather:
    """A table, ``value`` over ``along`` and other dims, read at the ``index`` of each element."""

    factor: str
    value: Expr
    along: str
    size: int
    index: Element


def as_table(writer: Writer, factor: str, term: Expr, own: frozenset[str]) -> Gather | None:
    """The term as a table, if it varies over elements through a single index; else None."""
    found = {
        (index, writer.shape(e.array)[axis])
        for e in elements(term)
        for axis, index in enumerate(e.indices)
        if isinstance(index, Element) and index.free
    }
    if len(found) != 1:
        return None
    ((index, size),) = found
    along = f"along {index}"
    value = mapped(term, lambda e: Position(along) if e == index else None)
    # An index that is summed over within the term is no property of the element.
    is_own = index.free <= own and not value.free & own
    return Gather(factor, value, along, size, index) if is_own else None


def rows_part(writer: Writer, let: Let, adds: Sequence[Add]) -> Added | None:
    """An array as a sum of tables of rows along its last axis; None for other arrays."""
    dims = tuple(s.dim for s in let.dims)
    few = prod(map(writer.size, dims)) < MANY_VALUES
    if len(dims) < 2 or few or not all(is_everywhere(writer, let, a) for a in adds):
        return None
    terms = [(a.note, t) for a in adds for t in terms_of(a.value)]
    same = total([t for _, t in terms if t.free <= {dims[-1]}])
    rest = [_row_at(writer, f, t, dims) for f, t in terms if not t.free <= {dims[-1]}]
    rows = [r for r in rest if r is not None]
    if not rows or len(rows) < len(rest):
        return None
    first = Add(let.name, (), same, ())
    return Added(let, (first,), partial(_rows_lines, rows))


def _rows_lines(rows: Sequence[Gather], writer: Writer, let: Let, adds: Sequence[Add]) -> list[str]:
    """Lines of a sum of rows, of which the first is the same for all."""
    dims, (same,) = tuple(s.dim for s in let.dims), adds
    with writer.arranged(dims):
        first = writer.align(writer.text(same.value), dims[-1:])
    lines = [
        f"{let.name} = {writer.call('SumOfRows')}(",
        f"{INDENT}{tuple_text(map(writer.size_text, dims))},",
        f"{INDENT}{first},",
    ]
    for r in rows:
        values, index = _written(writer, r, (r.along, dims[-1]), dims[:-1])
        lines.append(f"{INDENT}{writer.call('Rows')}({values}, {index}),  # from {r.factor}")
    return [*lines, ")"]


def _row_at(writer: Writer, factor: str, term: Expr, dims: tuple[str, ...]) -> Gather | None:
    """A term as a table of rows, if the rows are fewer than the positions read; else None."""
    table = as_table(writer, factor, term, frozenset(dims[:-1]))
    if table is None or table.value.free != {table.along, dims[-1]}:
        return None
    return table if table.size < prod(map(writer.size, table.index.free)) else None


def weights_part(writer: Writer, let: Let, adds: Sequence[Add], *, as_tables: bool) -> Added:
    """Log weights, which are returned: where it can be as a sum of tables.

    The label is the first axis.
    """
    dense, tables = _parted(writer, let, adds) if as_tables else (list(adds), [])
    return Added(let, tuple(dense), partial(_weights_lines, tables))


def _weights_lines(
    tables: Sequence[Gather], writer: Writer, let: Let, dense: Sequence[Add]
) -> list[str]:
    """Lines that compute and return log weights."""
    lines = sum_lines(writer, let, dense, full=not tables)
    if not tables:
        return [*lines, f"return {let.name}"]
    dims = tuple(s.dim for s in let.dims)
    read = [
        "return runtime.LogWeights(",
        f"{INDENT}{tuple_text(map(writer.size_text, dims))},",
        f"{INDENT}{let.name if dense else '0.0'},",
    ]
    for t in tables:
        values, index = _written(writer, t, (dims[0], t.along), dims[1:])
        read.append(f"{INDENT}runtime.Table({values}, {index}),  # from {t.factor}")
    return [*(lines if dense else []), *read, ")"]


def _parted(writer: Writer, let: Let, adds: Sequence[Add]) -> tuple[list[Add], list[Gather]]:
    """The terms of log weights that are no tables read at an index, and these tables.

    Contributions to some of the elements only are never tables: all elements would read them.
    """
    label, *others = (s.dim for s in let.dims)
    everywhere = [a for a in adds if is_everywhere(writer, let, a)]
    rest = [a for a in adds if a not in everywhere]
    tables: list[Gather] = []
    for a in everywhere:
        terms = terms_of(a.value)
        found = [as_table(writer, a.note, t, frozenset(others)) for t in terms]
        tables += [t for t in found if t is not None]
        left = [term for term, t in zip(terms, found, strict=True) if t is None]
        alone = [t for t in left if t.free <= {label}]
        varying = [t for t in left if not t.free <= {label}]
        parts = (total(p) for p in (alone, varying) if p)
        rest += [replace(a, value=part) for part in parts if part != ZERO]
    if tables:
        # What the label alone decides goes into the first table.
        first = [a for a in rest if a.value.free <= {label} and is_everywhere(writer, let, a)]
        value = total([tables[0].value, *(a.value for a in first)])
        factors = dict.fromkeys([tables[0].factor, *(a.note for a in first)])
        tables[0] = replace(tables[0], value=value, factor=", ".join(factors))
        rest = [a for a in rest if a not in first]
    return rest, tables


def _written(
    writer: Writer, table: Gather, axes: tuple[str, ...], others: tuple[str, ...]
) -> tuple[str, str]:
    """The text of a table along ``axes``, and of its index along other dims."""
    sizes = writer.sizes
    writer.sizes = {**sizes, Dim(table.along): table.size}
    with writer.arranged((*axes, *others)):
        values = writer.align(writer.text(table.value), axes)
        index = writer.align(writer.text(table.index), others)
    writer.sizes = sizes
    return values, index
