"""Bytes of temporary arrays that NumPy holds while it evaluates the text of a function.

Comes in: each expression as it is written, with the dims of its text. Goes out: a `Made` for each
one that is in no other. Slices, and what ``prepare`` has computed, take nothing; sums and products
are accumulated in an operand of their shape, if this is a temporary array, as NumPy does; all other
functions hold their arguments, their value, and an array more.

>>> from gibbsppl.code.arrays.expressions import Apply, Element, Number, Position
>>> held, extent = Held(), lambda dims: 8 * 100 ** len(dims)
>>> y = Element("y", (Position("i"),))
>>> for e in (Apply("exp", (y,)), Apply("*", (y, Number(2)))):
...     held.enter()
...     held.enter()
...     held.leave(y, ("i",), extent)
...     held.leave(e, ("i",), extent)
>>> [(m.left, m.most) for m in held.done], held.left, held.most
([(800, 1600), (800, 800)], 1600, 1600)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from gibbsppl.code.arrays.expressions import Apply, Element, Expr, Number, Position, Reduce, Size
from gibbsppl.code.arrays.terms import is_gather

# Operators, whose value may take the place of an operand.
OPERATORS = frozenset({"+", "*", "/", "neg", "**"})
# The bytes of an array with some dims, at the positions in force.
Extent: TypeAlias = Callable[[Iterable[str]], int]


@dataclass(frozen=True, slots=True)
class Made:
    """An array by its text: its dims, the bytes that it leaves, the most held until it is there.

    ``size`` are its bytes, were it no slice of another.
    """

    dims: frozenset[str]
    left: int
    most: int
    size: int = 0


@dataclass(slots=True)
class Held:
    """What is made while texts are written: in expressions that are open, and what is ``done``."""

    done: list[Made] = field(default_factory=list)
    open: list[list[Made]] = field(default_factory=list)

    def enter(self) -> None:
        """An expression is written from here on; what is written until it ends is in it."""
        self.open.append([])

    def leave(
        self, e: Expr, dims: Sequence[str], extent: Extent, *, is_known: bool = False
    ) -> None:
        """An expression has been written, as a text with dims; one that is known is computed."""
        inside = self.open.pop()
        found = Made(frozenset(dims), 0, 0) if is_known else made(e, dims, inside, extent)
        self._made(replace(found, size=extent(dims)))

    @contextmanager
    def sum(self, extent: Extent, zeros: Iterable[str] = ()) -> Iterator[None]:
        """A context in which the terms of one sum are written, maybe added to an array of zeros."""
        self.enter()
        yield
        inside = self.open.pop()
        dims = frozenset(zeros).union(*(m.dims for m in inside))
        self._made(accumulated(inside, dims, extent) if dims else Made(dims, 0, together(inside)))

    @contextmanager
    def unseen(self) -> Iterator[None]:
        """A context in which texts are written that are only looked at."""
        self.enter()
        yield
        self.open.pop()

    def _made(self, found: Made) -> None:
        (self.open[-1] if self.open else self.done).append(found)

    @property
    def left(self) -> int:
        """The bytes of all that is done."""
        return sum(m.left for m in self.done)

    @property
    def most(self) -> int:
        """The most that is held at a time, one made after the other."""
        return together(self.done)


def made(e: Expr, dims: Sequence[str], inside: Sequence[Made], extent: Extent) -> Made:
    """An expression that is made of those inside of it."""
    own, most = frozenset(dims), together(inside)
    held = sum(m.left for m in inside)
    match e:
        case Number() | Size():
            return Made(own, 0, 0)
        case Element() if not is_gather(e):
            return Made(own, 0, most)
        case Element() | Position():
            return Made(own, extent(own), max(most, held + extent(own)))
        case Apply(function=function) if function in OPERATORS:
            return accumulated(inside, own, extent)
        case Reduce():
            widest = max((m.size for m in inside), default=0)
            of_sum = widest if e.by != "sum" or len(inside) > 1 else 0
            return Made(own, extent(own), max(most, held + of_sum + extent(own)))
    return Made(own, extent(own), max(most, held + 2 * extent(own)))


def together(inside: Iterable[Made]) -> int:
    """The most that is held while arrays are made, one after the other, and stay."""
    most = held = 0
    for m in inside:
        most = max(most, held + m.most)
        held += m.left
    return most


def accumulated(inside: Iterable[Made], dims: frozenset[str], extent: Extent) -> Made:
    """Operands one after the other, each combined with the value so far."""
    most, first = 0, True
    so_far = Made(frozenset(), 0, 0)
    for m in inside:
        most = max(most, so_far.left + m.most)
        wide = so_far.dims | m.dims
        if first:
            so_far, first = Made(m.dims, m.left, m.most), False
            continue
        left = extent(wide) if wide else 0
        if left not in (so_far.left, m.left):
            most = max(most, so_far.left + m.left + left)
        else:
            most = max(most, so_far.left + m.left)
        so_far = Made(wide, left, most)
    left = extent(dims) if dims else 0
    if so_far.left != left:
        most = max(most, so_far.left + left)
    return Made(dims, left, max(most, left))
