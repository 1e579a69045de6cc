"""Accesses of statements to arrays, by indices, and whether one may go before another.

>>> from gibbsppl.code.arrays.expressions import ONE, ZERO, Position, Span
>>> from gibbsppl.code.arrays.statements import Add, Let
>>> count, more = Let("count", (), ZERO), Add("count", (), ONE, (Span.whole("n"),))
>>> depends(count, more), depends(more, more)
(True, False)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from gibbsppl.code.arrays.expressions import Element, Expr, Position, elements
from gibbsppl.code.arrays.statements import (
    Add,
    Draw,
    Let,
    Statement,
    Store,
    expressions_of,
    inner,
)

# The stream of random numbers: an array that every draw writes, so that draws stay in order.
STREAM = "~stream"

Indices: TypeAlias = tuple[Expr, ...]
How: TypeAlias = Literal["read", "write", "add"]


@dataclass(slots=True)
class Accesses:
    """For each array, how it is accessed, and at which indices."""

    found: dict[str, dict[How, list[Indices]]] = field(default_factory=dict)

    def note(self, array: str, indices: Indices, how: How) -> None:
        """Add an access."""
        self.found.setdefault(array, {}).setdefault(how, []).append(indices)

    def indices(self, array: str) -> list[Indices]:
        """All indices at which an array is accessed."""
        return [i for found in self.found.get(array, {}).values() for i in found]

    def kinds(self, array: str) -> set[How]:
        """How an array is accessed."""
        return set(self.found.get(array, {}))


def accesses(*statements: Statement) -> Accesses:
    """The accesses of statements, those of statements inside included."""
    found = Accesses()
    for s in statements:
        _note(found, s)
    return found


def _note(found: Accesses, s: Statement) -> None:
    for expr in expressions_of(s):
        for e in elements(expr):
            found.note(e.array, e.indices, "read")
    _note_changes(found, s)
    for other in inner(s):
        _note(found, other)


def _note_changes(found: Accesses, s: Statement) -> None:
    """Note what a statement makes, changes or adds to, by itself."""
    match s:
        case Let():
            found.note(s.name, tuple(Position(d.dim) for d in s.dims), "write")
        case Add():
            found.note(s.array, s.indices, "add" if s.by == "sum" else "write")
        case Store():
            found.note(s.target.array, s.target.indices, "write")
        case Draw():
            # (a kernel may overwrite the arrays that it is given)
            given = (a.value for a in s.arguments if a.own and isinstance(a.value, Element))
            for t in (*s.targets, *given):
                found.note(t.array, t.indices, "write")
            if s.is_random:
                found.note(STREAM, (), "write")
            if s.density is not None and s.density.argument not in {t.array for t in s.targets}:
                found.note(s.density.argument, (), "write")


def reads(statements: Iterable[Statement]) -> frozenset[str]:
    """The arrays that statements read, what they add to included."""
    found = accesses(*statements).found
    return frozenset(a for a, hows in found.items() if hows.keys() - {"write"})


def writes(statements: Iterable[Statement]) -> frozenset[str]:
    """The arrays that statements make or change, for which no expression is looked at."""
    found, waiting = Accesses(), [*statements]
    while waiting:
        s = waiting.pop()
        _note_changes(found, s)
        waiting += inner(s)
    return frozenset(found.found)


def depends(first: Statement, second: Statement) -> bool:
    """Whether the second may not go before the first."""
    return are_ordered(accesses(first), accesses(second))


def are_ordered(one: Accesses, other: Accesses) -> bool:
    """Whether what has some accesses may not change places with what has others."""
    both = one.found.keys() & other.found.keys()
    return any(one.kinds(a) | other.kinds(a) not in ({"read"}, {"add"}) for a in both)


def can_fuse(one: Accesses, other: Accesses, dim: str) -> bool:
    """Whether position by position along a dim is as good as one after the other."""
    here = Position(dim)
    for array in one.found.keys() & other.found.keys():
        if one.kinds(array) | other.kinds(array) in ({"read"}, {"add"}):
            continue
        indices = [*one.indices(array), *other.indices(array)]
        if any(here not in i for i in indices):
            return False
        if len({i.index(here) for i in indices}) > 1:
            return False
    return True
