"""Sums that are symmetric in two axes: one half is added up, the other is its mirror image."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gibbsppl.code.arrays.expressions import (
    ONE,
    ZERO,
    Apply,
    Element,
    Expr,
    Position,
    Span,
    at,
    is_call,
)
from gibbsppl.code.arrays.statements import Add, Choice, Let, Loop, Statement, Store
from gibbsppl.code.arrays.sweeps import Sweep


def halved(sweep: Sweep) -> Sweep:
    """The sweep with symmetric sums added up for one half of their matrices."""
    return replace(sweep, statements=_of(sweep.statements), monitors=_of(sweep.monitors))


def _of(statements: Iterable[Statement]) -> tuple[Statement, ...]:
    body = list(statements)
    found: list[Statement] = []
    for n, s in enumerate(body):
        before = body[n - 1] if n else None
        if isinstance(s, Loop):
            found.append(replace(s, body=_of(s.body)))
        elif isinstance(s, Choice):
            found.append(s.of(_of))
        elif isinstance(s, Add) and isinstance(before, Let) and _begins(before, s):
            found += _halves(s, before.dims) or (s,)
        else:
            found.append(s)
    return tuple(found)


def _begins(let: Let, s: Add) -> bool:
    """Whether an array of zeros is begun, to which alone a statement adds."""
    return let == Let(s.array, let.dims, ZERO)


def _halves(s: Add, dims: tuple[Span, ...]) -> tuple[Statement, ...] | None:
    """The sum of one half, and the copy of it; None where a sum is not symmetric."""
    row, column = s.indices[-2:] if len(s.indices) > 1 else (None, None)
    if s.by != "sum" or not isinstance(row, Position) or not isinstance(column, Position):
        return None
    spans = {x.dim: x for x in s.over}
    places = [x.dim for x in s.over]
    first, second = spans.get(row.dim), spans.get(column.dim)
    if row.dim == column.dim or row.shift or column.shift:
        return None
    if first is None or second is None or first.ends != second.ends:
        return None
    if places.index(row.dim) > places.index(column.dim) or not _is_symmetric(s.value, row, column):
        return None
    lower = Span(column.dim, first.start, Apply("+", (row, ONE)))
    half = tuple(lower if x.dim == column.dim else x for x in s.over)
    outer = dims[:-2]
    below = Span(column.dim, first.start, row)
    group = tuple(Position(x.dim) for x in outer)
    here = Element(s.array, (*group, row, column))
    mirrored = Element(s.array, (*group, column, row))
    return replace(s, over=half), Store(mirrored, here, (*outer, first, below))


def _is_symmetric(value: Expr, row: Position, column: Position) -> bool:
    """Whether a product is the same with two dims exchanged."""
    exchanged = at(value, {row.dim: column, column.dim: row})
    return _factors(exchanged) == _factors(value)


def _factors(value: Expr) -> list[str]:
    factors = value.parts if is_call(value, "*") else (value,)
    return sorted(map(str, factors))
