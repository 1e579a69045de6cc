"""Large arrays of real numbers in single precision: half the memory, and half of what is read.

Numbers are made double where they are read, so that all arithmetic is, and so are new arrays: sums
and the matrices of kernels. A kernel gets arrays of doubles of its own.

>>> from gibbsppl.code.arrays.expressions import Position
>>> from gibbsppl.code.arrays.sweeps import Array
>>> y = Element("y", (Position("n"),))
>>> given = Sweep("s", {"y": Array(("n",), "data")}, (Add("total", (), y, (Span.whole("n"),)),))
>>> print(*in_single(given, frozenset({"y"})).statements)
add total += float64(y[n])  for n
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from gibbsppl.algebra.expressions import Dim
from gibbsppl.algebra.supports import REAL, VECTOR
from gibbsppl.code.arrays.expressions import (
    ZERO,
    Apply,
    Element,
    Expr,
    Position,
    Span,
    elements,
    mapped,
)
from gibbsppl.code.arrays.naming import Names
from gibbsppl.code.arrays.statements import (
    Add,
    Choice,
    Draw,
    Let,
    Loop,
    Statement,
    Store,
    with_expressions,
)
from gibbsppl.code.arrays.sweeps import Sweep, every, names_in, spans_in
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph

# Arrays of fewer numbers are small, which double precision costs nothing.
LARGE = 1 << 14
# The function that makes a number double.
DOUBLE = "float64"


def singles(sweep: Sweep, graph: Graph, data: Values, sizes: Mapping[Dim, int]) -> frozenset[str]:
    """The arrays from outside that can be kept in single precision.

    They are large, and no number of them is rounded to a bound: what is drawn has all real numbers
    as its support, what is known stays finite, and apart from 0 and 1. What is added to
    in the state stays double, as rounding errors would add up; so does what a kernel moves as a
    vector by a log density.
    """
    count = {d.name: n for d, n in sizes.items()}
    bounded = {s.target.array.name for s in graph.statements if s.support not in {REAL, VECTOR}}
    drawn = {s.target.array.name for s in graph.statements}
    changed = _kept_double(sweep.statements)
    found: set[str] = set()
    for name, a in sweep.arrays.items():
        if a.type != "float" or a.is_tuning or name in bounded:
            continue
        if a.kind == "state" and name in drawn and name not in changed:
            found |= {name} if prod(count.get(d, 1) for d in a.dims) >= LARGE else set()
        if a.kind == "data" and np.size(data[name]) >= LARGE and is_single(data[name]):
            found.add(name)
    sorted_once = (t for t in sweep.tables if t.function == "array_in_order")
    return frozenset(found | {t.names[0] for t in sorted_once if t.arguments[0][1:] in found})


def is_single(values: object) -> bool:
    """Whether single precision holds numbers to its last digit, none of them rounded to a bound."""
    double = np.asarray(values)
    if double.dtype == np.float32:
        return True
    with np.errstate(over="ignore", under="ignore"):
        single = double.astype(np.float32)
    return bool(np.isfinite(single).all()) and all(
        ((single == bound) == (double == bound)).all() for bound in (0, 1)
    )


def _kept_double(statements: Iterable[Statement]) -> set[str]:
    """The arrays that statements add to, or that kernels move as vectors by a log density."""
    found = set[str]()
    for s in every(statements):
        if isinstance(s, Add):
            found.add(s.array)
        if isinstance(s, Draw) and s.density is not None and s.own:
            found |= {s.density.argument, *(t.array for t in s.targets)}
    return found


def in_single(sweep: Sweep, names: frozenset[str]) -> Sweep:
    """The sweep with arrays in single precision."""
    arrays = {n: replace(a, type="single") if n in names else a for n, a in sweep.arrays.items()}
    axes = {n: a.dims[-1] for n, a in sweep.arrays.items() if n in names and a.dims}
    taken = Names({*sweep.arrays, *names_in(sweep.every), *spans_in(sweep.every)})
    work = _Singles(names, taken, axes)
    statements, monitors = work.of(sweep.statements), work.of(sweep.monitors)
    return replace(sweep, arrays=arrays, statements=statements, monitors=monitors)


@dataclass(frozen=True, slots=True)
class _Singles:
    """The work on statements: the arrays in single precision, and new names."""

    singles: frozenset[str]
    names: Names
    axes: Mapping[str, str]  # (the last dim of each)

    def of(self, statements: Iterable[Statement]) -> tuple[Statement, ...]:
        """Statements that read doubles."""
        return tuple(t for s in statements for t in self.one(s))

    def one(self, s: Statement) -> tuple[Statement, ...]:
        """A statement that reads doubles, with those that copy what its kernel reads or makes."""
        match s:
            case Choice():
                return (replace(s.of(self.of), number=self.doubled(s.number)),)
            case Loop():
                return (replace(s, body=self.of(s.body)),)
            case Draw():
                return self.draw(s)
            case Add() if (made := self.by_rows(s)) is not None:
                return (made,)
        return (with_expressions(s, self.doubled),)

    def by_rows(self, s: Add) -> Loop | None:
        """An addition that reads each row many times, of rows that are made double once.

        A row is chosen by the outer spans, and read along two inner ones: a product of a row with
        itself. None of other additions.
        """
        rows = {r for e in elements(s.value) if (r := self.row(e)) is not None}
        outer = max((n for r in rows if (n := _spans_of(r, s.over)) is not None), default=0)
        if not outer or len(s.over) - outer < 2:
            return None
        lets: list[Statement] = []
        known: dict[Element, str] = {}
        for e in elements(s.value):
            r = self.row(e)
            if r is None or r in known or not r.free or _spans_of(r, s.over) is None:
                continue
            known[r] = self.names.fresh(f"{r.array}_double")
            axis = self.axes[r.array]
            span = Span.whole(self.names.fresh(f"{axis} in row"), axis)
            here = Element(r.array, (*r.indices, Position(span.dim)))
            lets.append(Let(known[r], (span,), self.doubled(here)))

        def read(e: Expr) -> Expr | None:
            r = self.row(e)
            return Element(known[r], e.parts[-1:]) if r in known else None

        value = self.doubled(mapped(s.value, read))
        inner = replace(s, value=value, over=s.over[outer:])
        return Loop(s.over[:outer], (*lets, inner), s.note)

    def row(self, e: Expr) -> Element | None:
        """The row that an element is of, if it is one of several and read at a position."""
        if not isinstance(e, Element) or not self.is_single(e) or len(e.indices) < 2:
            return None
        last = e.indices[-1]
        is_read = isinstance(last, Position) and not last.shift
        return Element(e.array, e.indices[:-1]) if is_read else None

    def doubled(self, e: Expr) -> Expr:
        """An expression of doubles."""
        return mapped(e, lambda x: Apply(DOUBLE, (x,)) if self.is_single(x) else None)

    def is_single(self, e: Expr) -> bool:
        """Whether an expression is an element of an array in single precision."""
        return isinstance(e, Element) and e.array in self.singles

    def draw(self, s: Draw) -> tuple[Statement, ...]:
        """A draw whose kernel sees doubles alone."""
        before: list[Statement] = []
        after: list[Statement] = []
        arguments, targets = [], []
        for a in s.arguments:
            if a.own and self.is_single(a.value):
                copy = self.new(a.value, (*s.over, *a.own))
                before.append(Let(copy.array, (*s.over, *a.own), self.doubled(a.value)))
                arguments.append(replace(a, value=copy))
            else:
                arguments.append(a if a.own else replace(a, value=self.doubled(a.value)))
        for t in s.targets:
            if s.own and self.is_single(t):
                copy, over = self.new(t, (*s.over, *s.own)), (*s.over, *s.own)
                before.append(Let(copy.array, over, ZERO, is_empty=True))
                after.append(Store(t, copy, over))
                targets.append(copy)
            else:
                targets.append(t)
        density = s.density
        if density is not None:
            value = self.doubled(density.value)
            density = replace(density, body=self.of(density.body), value=value)
        made = replace(s, arguments=tuple(arguments), targets=tuple(targets), density=density)
        return (*before, made, *after)

    def new(self, e: Expr, spans: tuple[Span, ...]) -> Element:
        """An element of a new array of doubles."""
        assert isinstance(e, Element)
        name = self.names.fresh(f"{e.array}_double")
        return Element(name, tuple(Position(x.dim) for x in spans))


def _spans_of(row: Element, over: tuple[Span, ...]) -> int | None:
    """How many of the leading spans it takes to choose a row; None of a row that none does."""
    return max((n for n, x in enumerate(over, 1) if x.dim in row.free), default=None)
