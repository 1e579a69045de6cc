r"""Whether entries that lines give one by one sum to one, whatever is random in them.

``p[1] <- q`` with ``p[2] <- 1 - q``, differences of what is cumulated, shares of a total, sticks
that are broken: the lines are put in for the entries, the last one first, until 1 is left.

>>> from gibbsppl.bugs.parse import parse
>>> lines = parse("model { p[1] <- q * r\n p[2] <- q * (1 - r)\n p[3] <- 1 - q }").model
>>> entries = [Entry(f"p[{n}]", line, {}) for n, line in enumerate(lines, start=1)]
>>> are_one(entries, lambda name, at: None, lambda name: (3,), lambda name, at: None)
True
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from gibbsppl.bugs.syntax import (
    Assignment,
    Call,
    Everything,
    Expression,
    Number,
    Operation,
    Reference,
    Statement,
)

# The number of an element, if it is known; the shape of an array.
KnownAt = Callable[[str, tuple[int, ...]], float | None]
Shape = Callable[[str], tuple[int, ...]]
# The entry that an element of any array is, if it is given by a line.
Giver = Callable[[str, tuple[int, ...]], "Entry | None"]

# More entries than this are not looked at: what they sum to may be long.
MOST_ENTRIES = 64
# How often lines are put in for what other lines read.
MOST_ROUNDS = 8

_OPERATORS: Mapping[str, Callable[..., Any]] = {
    "+": sp.Add,
    "-": lambda a, *b: a - b[0] if b else -a,
    "*": sp.Mul,
    "/": lambda a, b: a / b,
    "^": lambda a, b: a**b,
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One of the entries: its name, the line or the number that gives it, its loop variables."""

    name: str
    given: Statement | float
    loops: Mapping[str, Any]


def are_one(entries: Sequence[Entry], known: KnownAt, shape: Shape, giver: Giver) -> bool:
    """Whether the entries sum to one; ``giver`` says which line gives another element."""
    if len(entries) > MOST_ENTRIES:
        return False
    elements: dict[Any, tuple[str, tuple[int, ...]]] = {}
    total = sp.Add(*(sp.Symbol(e.name) for e in entries))
    for entry in reversed(entries):
        value = _value(entry, known, shape, elements)
        if value is not None:
            total = sp.cancel(total.xreplace({sp.Symbol(entry.name): value}))
        if total == 1:
            return True
    for _ in range(MOST_ROUNDS):
        read = {s: giver(*elements[s]) for s in total.free_symbols if s in elements}
        values = {s: _value(e, known, shape, elements) for s, e in read.items() if e is not None}
        put_in = {s: v for s, v in values.items() if v is not None}
        total = sp.cancel(total.xreplace(put_in)) if put_in else total
        if total == 1 or not put_in:
            break
    return bool(total == 1)


def _value(
    entry: Entry,
    known: KnownAt,
    shape: Shape,
    elements: dict[Any, tuple[str, tuple[int, ...]]],
) -> Any:
    """What a line with ``<-`` gives, or a number; None for others."""
    given = entry.given
    if isinstance(given, Assignment) and given.link is None:
        return _Read(entry.loops, known, shape, elements).expr(given.value)
    return _exact(given) if isinstance(given, float) else None


def element(name: str, indices: Sequence[Any]) -> str:
    """The name of an element."""
    return f"{name}[{', '.join(map(str, indices))}]"


@dataclass(frozen=True, slots=True)
class _Read:
    """Expressions as algebra has them: what is not arithmetic is a symbol or any function."""

    loops: Mapping[str, Any]
    known: KnownAt
    shape: Shape
    elements: dict[Any, tuple[str, tuple[int, ...]]]

    def expr(self, given: Expression) -> Any:
        match given:
            case Number():
                return _exact(given.value)
            case Reference(indices=None):
                return self._whole(given)
            case Reference():
                return self._element(given.name, list(map(self.expr, given.indices or ())))
            case Everything():
                return sp.Symbol("all")
            case Call(function="sum" | "prod", arguments=(Reference(indices=tuple()) as row,)):
                return self._folded(given.function, row)
            case Call():
                return sp.Function(given.function)(*map(self.expr, given.arguments))
            case Operation():
                operands = list(map(self.expr, given.operands))
                return _OPERATORS.get(given.operator, sp.Function(given.operator))(*operands)

    def _whole(self, given: Reference) -> Any:
        """A loop variable, or a variable without indices."""
        if given.name in self.loops:
            return self.loops[given.name]
        value = self.known(given.name, ())
        return sp.Symbol(given.name) if value is None else _exact(value)

    def _element(self, name: str, indices: Sequence[Any]) -> Any:
        """An element whose number may be known."""
        symbol = sp.Symbol(element(name, indices))
        if not all(i.is_Integer for i in indices):
            return symbol
        at = tuple(map(int, indices))
        value = self.known(name, at)
        if value is None:
            self.elements[symbol] = (name, at)
        return symbol if value is None else _exact(value)

    def _folded(self, function: str, row: Reference) -> Any:
        """The sum or the product of the entries of a range along the last axis."""
        *first, last = row.indices or ()
        before = list(map(self.expr, first))
        ends = self._ends(row.name, last)
        several = any(isinstance(i, Everything) or _is_range(i) for i in first)
        if several or ends is None:
            return sp.Function(function)(self._element(row.name, [*before, self.expr(last)]))
        fold = sp.Add if function == "sum" else sp.Mul
        count = range(ends[0], ends[1] + 1)
        return fold(*(self._element(row.name, [*before, sp.Integer(n)]) for n in count))

    def _ends(self, name: str, index: Expression) -> tuple[int, int] | None:
        """The first and the last position of a range, where they are known and not far apart."""
        ends: Sequence[Any]
        if isinstance(index, Everything):
            ends = (sp.Integer(1), sp.Integer(self.shape(name)[-1]))
        elif isinstance(index, Operation) and _is_range(index):
            ends = tuple(map(self.expr, index.operands))
        else:
            return None
        if not all(e.is_Integer for e in ends) or ends[1] - ends[0] >= MOST_ENTRIES:
            return None
        return int(ends[0]), int(ends[1])


def _is_range(index: Expression) -> bool:
    return isinstance(index, Operation) and index.operator == ":"


def _exact(value: float) -> Any:
    """A number as it is written with decimals."""
    return sp.Rational(repr(float(value)))
