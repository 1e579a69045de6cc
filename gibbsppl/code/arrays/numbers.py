"""Numbers that depend on data or on priors as elements of tables, so that a text serves others.

The counts of a sum, the constants of priors and the sizes of layouts are read from two tables, of
real and of whole numbers. Small whole numbers stay where they stand: they are of the model.

>>> from gibbsppl.code.arrays.expressions import Number, product
>>> from gibbsppl.code.arrays.statements import Let
>>> apart = with_tables(Sweep("m", {}, (Let("x", (), product([Number(74.5), Element("tau")])),)))
>>> print(apart.statements[0], [t.arguments[0].tolist() for t in apart.tables])
let x = numbers[0] * tau [[74.5]]
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import isfinite

import numpy as np

from gibbsppl.code.arrays.expressions import Apply, Element, Expr, Number, is_whole
from gibbsppl.code.arrays.statements import (
    Add,
    Argument,
    Choice,
    Draw,
    Let,
    Loop,
    Statement,
    Store,
    Type,
)
from gibbsppl.code.arrays.sweeps import Array, Sweep, Table

NUMBERS, WHOLES = "numbers", "whole numbers"
# Whole numbers up to here stay where they stand.
SMALL = 3


def with_tables(sweep: Sweep) -> Sweep:
    """The sweep with numbers of data and priors in tables."""
    work = _Tables()
    statements = tuple(map(work.of, sweep.statements))
    monitors = tuple(map(work.of, sweep.monitors))
    arrays, tables = dict(sweep.arrays), list(sweep.tables)
    kinds: tuple[tuple[str, dict[float, int], Type], ...] = (
        (NUMBERS, work.numbers, "float"),
        (WHOLES, work.wholes, "int"),
    )
    for name, found, kind in kinds:
        if found:
            values = np.array(list(found), dtype=float if kind == "float" else np.int64)
            arrays[name] = Array((f"those {name}",), "table", kind)
            tables.append(Table((name,), "as_given", (values,)))
    return replace(
        sweep, statements=statements, monitors=monitors, arrays=arrays, tables=tuple(tables)
    )


@dataclass(slots=True)
class _Tables:
    """The tables that are made: the place of each number."""

    numbers: dict[float, int] = field(default_factory=dict)
    wholes: dict[float, int] = field(default_factory=dict)

    def of(self, s: Statement) -> Statement:
        """A statement that reads numbers from tables."""
        match s:
            case Let():
                return replace(s, value=self.value(s.value))
            case Store():
                target = Element(s.target.array, tuple(map(self.index, s.target.indices)))
                return replace(s, target=target, value=self.value(s.value), over=s.over)
            case Add():
                return replace(
                    s, indices=tuple(map(self.index, s.indices)), value=self.value(s.value)
                )
            case Choice():
                return s.of(lambda body: map(self.of, body))
            case Loop():
                return replace(s, body=tuple(map(self.of, s.body)))
            case Draw():
                density = s.density
                if density is not None:
                    body = tuple(map(self.of, density.body))
                    density = replace(density, body=body, value=self.value(density.value))
                arguments = tuple(map(self.argument, s.arguments))
                return replace(s, arguments=arguments, density=density)

    def argument(self, a: Argument) -> Argument:
        """An argument; a whole number stays one."""
        if isinstance(a.value, Number) and is_whole(a.value.value):
            return replace(a, value=self.index(a.value))
        return replace(a, value=self.value(a.value))

    def value(self, expr: Expr) -> Expr:
        """A value, with numbers read from the table of real numbers."""
        match expr:
            case Number() if not _stays(expr):
                return self.read(NUMBERS, self.numbers, expr.value)
            case Apply(function="smaller" | "//"):
                return expr.over(self.index)
            case Apply(function="**", arguments=(base, Number() as power)):
                return Apply("**", (self.value(base), power))
            case Element():
                return expr.over(self.index)
        return expr.over(self.value)

    def index(self, expr: Expr) -> Expr:
        """An index, with whole numbers read from their table."""
        if isinstance(expr, Number):
            return expr if _stays(expr) else self.read(WHOLES, self.wholes, expr.value)
        return expr.over(self.index)

    def read(self, table: str, known: dict[float, int], value: float) -> Element:
        """The element of a table that a number is."""
        place = known.setdefault(value, len(known))
        return Element(table, (Number(place),))


def _stays(number: Number) -> bool:
    """Whether a number is of the model, or an infinity, which is written as it is."""
    value = number.value
    return number.stays or not isfinite(value) or (is_whole(value) and abs(value) <= SMALL)
