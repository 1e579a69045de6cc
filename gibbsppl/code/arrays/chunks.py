"""Loops over large plates in chunks of positions that may be carried out at once.

Comes in: statements as loops will carry them out, the sizes of dims. Goes out: the same in parts,
some of which are a loop in so many chunks. How many depends on the sizes alone. What a loop
adds to from all positions is added up chunk by chunk, each in an array of its own.

>>> from gibbsppl.code.arrays.expressions import Element, Position, Span
>>> from gibbsppl.code.arrays.statements import Add
>>> x = Element("x", (Position("n"),))
>>> loop = Loop((Span.whole("n"),), (Add("total", (), x, ()),))
>>> known = {"total": Known((), "float"), "x": Known((Size("n"),), "float")}
>>> (part,) = in_chunks([loop], known, frozenset(known), {"n": 10 * OPERATIONS})
>>> part.chunks, part.sums
(10, ('total',))
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import prod

from gibbsppl.code.arrays.accesses import STREAM, Accesses, accesses
from gibbsppl.code.arrays.evaluation import number_of
from gibbsppl.code.arrays.expressions import (
    ZERO,
    Element,
    Expr,
    Number,
    Position,
    Size,
    Span,
    is_call,
    walk,
)
from gibbsppl.code.arrays.statements import Draw, Loop, Statement, Type, inner, spans_of
from gibbsppl.code.arrays.sweeps import spans_in

# A loop has at most so many chunks: more than there are processors, so that none is idle long.
MOST = 64
# The operations of a chunk, at least: what they take is many times what it takes to begin one.
OPERATIONS = 250_000
# The operations of a draw whatever its arguments.
A_DRAW = 20
# Partial sums are added up by this share of a loop's own operations, at most.
SHARE = 8


@dataclass(frozen=True, slots=True)
class Known:
    """An array: how many positions its axes have, and its type."""

    axes: tuple[Expr, ...]
    type: Type


@dataclass(frozen=True, slots=True)
class Part:
    """Statements in order, or one loop in chunks, with the arrays that chunks add to."""

    statements: tuple[Statement, ...]
    chunks: int = 1
    sums: tuple[str, ...] = ()


def in_chunks(
    statements: Sequence[Statement],
    arrays: Mapping[str, Known],
    outside: frozenset[str],
    sizes: Mapping[str, int],
) -> tuple[Part, ...]:
    """Statements in parts: loops that can be cut and are worth it, and what is between them.

    ``outside`` are the arrays that are there before and after a sweep.
    """
    found = [accesses(s) for s in statements]
    users: dict[str, int] = {}
    for own in found:
        for name in own.found:
            users[name] = users.get(name, 0) + 1
    work = _Chunks(arrays, sizes)
    parts = [
        work.cut(s, own, {n for n in own.found if users[n] == 1 and n not in outside}) or Part((s,))
        for s, own in zip(statements, found, strict=True)
    ]
    return tuple(_joined(parts))


def _joined(parts: Iterable[Part]) -> Iterable[Part]:
    """Parts, of which neighbours without chunks are one."""
    for chunks, group in groupby(parts, lambda p: p.chunks):
        own = list(group)
        if chunks == 1:
            yield Part(tuple(s for p in own for s in p.statements))
        else:
            yield from own


@dataclass(frozen=True, slots=True)
class _Chunks:
    """The work on loops: what is known of arrays, and the sizes of dims."""

    arrays: Mapping[str, Known]
    sizes: Mapping[str, int]

    def cut(self, s: Statement, own: Accesses, private: set[str]) -> Part | None:
        """A loop in chunks; None of what is none, whose order matters, or that is short."""
        if not isinstance(s, Loop) or len(s.over) != 1:
            return None
        (span,) = s.over
        if any(isinstance(e, Element) for end in span.ends for e in walk(end)):
            return None
        operations = self.operations((s,), 1.0)
        chunks = min(MOST, int(operations // OPERATIONS), self.positions(span))
        sums = self.sums(span.dim, own, private, spans_in((s,)))
        if chunks < 2 or sums is None:
            return None
        added = sum(prod(self.size(e) for e in self.arrays[n].axes) for n in sums)
        return Part((s,), chunks, sums) if added * chunks * SHARE <= operations else None

    def sums(
        self, dim: str, own: Accesses, private: set[str], spans: Mapping[str, Span]
    ) -> tuple[str, ...] | None:
        """The sums to which a loop adds from all of its positions; None where order matters."""
        found: list[str] = []
        for name in own.found:
            kinds = own.kinds(name)
            if name in private or name == STREAM or kinds == {"read"}:
                continue
            if _is_apart(dim, own.indices(name), spans):
                continue
            if kinds != {"add"} or name not in self.arrays:
                return None
            found.append(name)
        return tuple(found)

    def operations(self, statements: Iterable[Statement], times: float) -> float:
        """About how many operations statements take, carried out so many times."""
        found = 0.0
        for s in statements:
            here = times * prod(self.mean(x, times) for x in spans_of(s))
            if isinstance(s, Draw):
                own = sum(prod(self.mean(x, here) for x in a.own) for a in s.arguments)
                found += here * (A_DRAW + own)
            elif not isinstance(s, Loop):
                found += here
            found += self.operations(inner(s), here)
        return found

    def mean(self, span: Span, times: float) -> float:
        """How many positions a span has, on average: the members of a group are all in one."""
        if any(isinstance(e, Element) for end in span.ends for e in walk(end)):
            return self.sizes.get(span.dim, 1) / times
        return float(self.positions(span))

    def positions(self, span: Span) -> int:
        """How many positions a span has, at most."""
        return max(0, self.size(span.stop) - self.size(span.start))

    def size(self, end: Expr) -> int:
        """An end of a span, at most: where it depends on a position, what it is at any."""
        if is_call(end, "smaller"):
            return min(self.size(e) for e in end.parts if not e.free)
        if end.free:
            own = (self.sizes.get(e.dim, 1) for e in walk(end) if isinstance(e, Position | Size))
            return max(own, default=1)
        return number_of(end, self.sizes)


def _is_apart(dim: str, indices: Sequence[tuple[Expr, ...]], spans: Mapping[str, Span]) -> bool:
    """Whether positions along a dim access elements of their own: by the same axis everywhere."""
    places = {
        next(((n, w) for n, i in enumerate(own) if (w := _width(i, dim, spans))), None)
        for own in indices
    }
    return len(places) == 1 and None not in places


def _width(index: Expr, dim: str, spans: Mapping[str, Span]) -> float:
    """How many places along an axis each position of a dim has for itself; 0 if it has none.

    One, or as many as a block has: ``block * 128 + lane``.
    """
    here = Position(dim)
    if index == here:
        return 1
    if is_call(index, "+") and len(index.parts) == 2:
        block, lane = index.parts
        if is_call(block, "*") and block.parts[0] == here and isinstance(lane, Position):
            width, span = block.parts[1], spans.get(lane.dim)
            if span is not None and isinstance(width, Number) and len(block.parts) == 2:
                ends = span.stop.parts if is_call(span.stop, "smaller") else (span.stop,)
                is_within = span.start == ZERO and not lane.shift and width in ends
                return width.value if is_within else 0
    return 0
