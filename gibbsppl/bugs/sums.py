r"""Whether entries given by separate lines sum to one, for all values of the random variables.

``p[1] <- q`` with ``p[2] <- 1 - q``, differences of cumulative probabilities, shares of a total,
broken sticks. The sum, with all lines substituted, is a rational function of random variables and
of functions that are not arithmetic. It is evaluated at a random point modulo a large prime
(`gibbsppl.algebra.residues`). The work is linear in the lines.

>>> from gibbsppl.bugs.parse import parse
>>> lines = parse("model { p[1] <- q * r\n p[2] <- q * (1 - r)\n p[3] <- 1 - q }").model
>>> entries = [Entry("p", (n,), line, {}) for n, line in enumerate(lines, start=1)]
>>> are_one(entries, Elements(lambda *_: None, lambda *_: None, lambda _: (3,)))
True
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, prod

from gibbsppl.algebra.residues import (
    LONGEST_RANGE,
    POSITIONS,
    PRIME,
    inverse,
    power,
    residue,
    unknown,
)
from gibbsppl.bugs.syntax import (
    Assignment,
    Call,
    Everything,
    Expression,
    Number,
    Operation,
    Reference,
    Statement,
    is_range,
)

# Lines nested more deeply in lines are not read.
DEEPEST = 50

Index = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """An element: array, indices, the line that gives it, and the values of loop variables."""

    array: str
    index: Index
    line: Statement
    loops: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Elements:
    """Facts of elements: the known number, the entry with its line, the shape of the array."""

    number: Callable[[str, Index], float | None]
    entry: Callable[[str, Index], Entry | None]
    shape: Callable[[str], tuple[int, ...]]


def are_one(entries: Sequence[Entry | float], elements: Elements) -> bool:
    """Whether entries, some of which may be numbers, sum to one."""
    values = _Values(elements, {(e.array, e.index): e for e in entries if isinstance(e, Entry)})
    try:
        total = sum(
            values.element(e.array, e.index) if isinstance(e, Entry) else residue(e)
            for e in entries
        )
    except ZeroDivisionError:
        return False
    return total % PRIME == 1


_ARITHMETIC: Mapping[tuple[str, int], Callable[..., int]] = {
    ("+", 2): lambda a, b: a + b,
    ("-", 2): lambda a, b: a - b,
    ("-", 1): lambda a: -a,
    ("*", 2): lambda a, b: a * b,
    ("/", 2): lambda a, b: a * inverse(b),
    ("^", 2): power,
}


@dataclass(frozen=True, slots=True)
class _Values:
    """The residues of elements, those of the entries by their own lines."""

    elements: Elements
    own: Mapping[tuple[str, Index], Entry]
    found: dict[tuple[str, Index], int] = field(default_factory=dict)
    opened: list[tuple[str, Index]] = field(default_factory=list)

    def element(self, array: str, index: Index) -> int:
        """The residue of an element: of a number or its line's value, else pseudo-random."""
        key = (array, index)
        if key in self.opened or len(self.opened) > DEEPEST:
            return unknown(*key)
        if key not in self.found:
            self.opened.append(key)
            self.found[key] = self._given(array, index)
            self.opened.pop()
        return self.found[key]

    def _given(self, array: str, index: Index) -> int:
        is_place = all(0 < n < POSITIONS for n in index)
        number = self.elements.number(array, index) if is_place else None
        if number is not None and isfinite(number):
            return residue(number)
        entry = self.own.get((array, index))
        if entry is None and is_place and number is None:
            entry = self.elements.entry(array, index)
        if entry is None or not isinstance(entry.line, Assignment):
            return unknown(array, index)
        value = self.of(entry.line.value, entry.loops)
        return value if entry.line.link is None else unknown(entry.line.link, value)

    def of(self, given: Expression, loops: Mapping[str, int]) -> int:
        """The residue of an expression, given the values of loop variables."""
        match given:
            case Number():
                return residue(given.value)
            case Reference(indices=None) if given.name in loops:
                return loops[given.name]
            case Reference():
                indices = given.indices or ()
                return self.element(given.name, tuple(self.of(i, loops) for i in indices))
            case Everything():
                return unknown("all positions")
            case Call(function="sum" | "prod", arguments=(Reference(indices=tuple()) as row,)):
                several = self._range(row, loops)
                if several is not None:
                    return (sum if given.function == "sum" else prod)(several) % PRIME
                return unknown(given.function, self.of(row, loops))
            case Call():
                return unknown(given.function, *(self.of(a, loops) for a in given.arguments))
            case Operation():
                operands = [self.of(a, loops) for a in given.operands]
                function = _ARITHMETIC.get((given.operator, len(operands)))
                if function is None:
                    return unknown(given.operator, *operands)
                return function(*operands) % PRIME

    def _range(self, row: Reference, loops: Mapping[str, int]) -> list[int] | None:
        """The elements of a range along the last axis; None for anything else."""
        *first, last = row.indices or ()
        if any(isinstance(i, Everything) or is_range(i) for i in first):
            return None
        if isinstance(last, Everything):
            low, high = 1, self.elements.shape(row.name)[-1]
        elif is_range(last):
            low, high = (self.of(end, loops) for end in last.operands)
        else:
            return None
        if not (low < POSITIONS and high < POSITIONS) or high - low >= LONGEST_RANGE:
            return None
        before = tuple(self.of(i, loops) for i in first)
        return [self.element(row.name, (*before, n)) for n in range(low, high + 1)]
