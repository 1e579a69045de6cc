r"""Sums of products with gates, over open gates alone: shut ones add zeros.

A gate is a number of the state that is 0 or 1. In ``sum(k: gate[k] * b[k] * x[i, k])``, for each
``i``, gates come first: of an open one the others are added, side by side along the other dims;
data that are not stored in that order are read from a table that is. Comes in: a `Sweep`. Goes out:
the sweep with such sums as loops over gates.

>>> from gibbsppl.code.arrays.expressions import product
>>> from gibbsppl.code.arrays.sweeps import Array
>>> i, k = Position("i"), Position("k")
>>> known = {"gate": Array(("k",), "state", "int", limits=(0, 1)), "s": Array(("i",), "state")}
>>> known |= {"x": Array(("k", "i"), "data")}
>>> value = product([Element("gate", (k,)), Element("x", (k, i))])
>>> added = Add("s", (i,), value, (Span.whole("i"), Span.whole("k")))
>>> print(*with_gates_first(Sweep("m", known, (added,)), {"i": 16, "k": 3}).statements)
for k:
    choose [gate[k] == 0]:
        0:
            add s[i] += x[k, i]  for i
        1:
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from gibbsppl.code.arrays.evaluation import positions_of
from gibbsppl.code.arrays.expressions import (
    ZERO,
    Apply,
    Element,
    Expr,
    Number,
    Position,
    Reduce,
    Span,
    is_call,
    mapped,
    walk,
)
from gibbsppl.code.arrays.statements import Add, Choice, Loop, Statement, replaced
from gibbsppl.code.arrays.sweeps import Sweep
from gibbsppl.code.arrays.terms import quotient

# What is shut, and open.
LIMITS = 0, 1
# A gate that lets in so many numbers is looked at first: with every other one open that took 1.6
# times the time for 8, 0.9 for 16, 0.65 for 32.
FEWEST = 16


def with_gates_first(sweep: Sweep, sizes: Mapping[str, int]) -> Sweep:
    """The sweep in which sums skip gates that are shut, for the sizes of dims."""
    gates = {n for n, a in sweep.arrays.items() if a.limits == LIMITS and a.kind == "state"}
    if not gates:
        return sweep
    tables = (t for t in sweep.tables if t.function == "axis_last")
    by_axis = {t.arguments: t.names[0] for t in tables}
    work = _Gates(frozenset(gates), by_axis, sweep.lanes, {**sizes, **sweep.sizes})
    return replace(
        sweep, statements=work.of(sweep.statements), monitors=work.of(sweep.monitors)
    )


@dataclass(frozen=True, slots=True)
class _Gates:
    """The names of gates, tables with an axis of data as the last, lanes, and sizes of dims."""

    gates: frozenset[str]
    by_axis: Mapping[tuple[Any, ...], str]
    lanes: frozenset[str]
    sizes: Mapping[str, int]

    def of(self, statements: Iterable[Statement]) -> tuple[Statement, ...]:
        """Statements, in which sums skip gates that are shut."""
        return replaced(statements, lambda s: [self.added(s) if isinstance(s, Add) else s])

    def added(self, s: Add) -> Statement:
        """An addition; for open gates alone, if their dims are not all of its own."""
        if s.by != "sum" or not self.lanes.isdisjoint(x.dim for x in s.over):
            return s
        found = quotient(s.value)
        for n, gate in enumerate(found.above):
            own = [x for x in s.over if x.dim in gate.free]
            rest = [x for x in s.over if x not in own]
            if not own or not self.is_gate(gate) or _depends(own, rest) or self.are_few(rest):
                continue
            others = replace(found, above=(*found.above[:n], *found.above[n + 1 :])).value
            value = self.side_by_side(others, rest)
            if value is not None:
                inside = replace(s, value=value, over=tuple(rest), note="")
                shut = Apply("equals", (_base(gate), ZERO))
                return Loop(tuple(own), (Choice(shut, ((inside,), ())),), s.note)
        return s

    def is_gate(self, e: Expr) -> bool:
        """Whether an expression is a gate, or a power of one, at a position of each of its dims."""
        gate = _base(e)
        return (
            isinstance(gate, Element)
            and gate.array in self.gates
            and all(isinstance(i, Position) for i in gate.indices)
        )

    def are_few(self, rest: Iterable[Span]) -> bool:
        """Whether a gate lets in fewer numbers than make it worth a look, or it is not known."""
        positions = [positions_of(span, self.sizes) for span in rest]
        return any(p is None for p in positions) or prod(len(p or ()) for p in positions) < FEWEST

    def side_by_side(self, e: Expr, rest: Iterable[Span]) -> Expr | None:
        """An expression whose arrays have the last of these dims as their last, if they have it."""
        (*_, last) = (x.dim for x in rest)

        def one(x: Expr) -> Expr | None:
            if not isinstance(x, Element) or last not in x.free or x.indices[-1] == Position(last):
                return None
            axes = [n for n, i in enumerate(x.indices) if i == Position(last)]
            name = self.by_axis.get((f"@{x.array}", axes[0])) if len(axes) == 1 else None
            if name is None:
                return None
            kept = [i for n, i in enumerate(x.indices) if n != axes[0]]
            return Element(name, (*kept, x.indices[axes[0]]))

        found = mapped(e, one)
        inside = [x for x in walk(found) if isinstance(x, Element) and last in x.free]
        is_plain = all(last not in i.free for x in inside for i in x.indices[:-1])
        return found if is_plain and not any(isinstance(x, Reduce) for x in walk(found)) else None


def _base(e: Expr) -> Expr:
    """The base of a positive power; any other expression as it is."""
    is_power = is_call(e, "**") and isinstance(e.parts[1], Number) and e.parts[1].value > 0
    return e.parts[0] if is_power else e


def _depends(own: Iterable[Span], rest: Iterable[Span]) -> bool:
    """Whether ends of spans of gates depend on positions of others."""
    free = frozenset[str]().union(*(e.free for x in own for e in x.ends))
    return not free.isdisjoint(x.dim for x in rest)
