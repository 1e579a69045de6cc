"""Parts of the weights of a scan that all elements share, as arrays by label.

An element changes two entries of each: of the label that it had, and of the one that it gets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gibbsppl.code.arrays.accesses import writes
from gibbsppl.code.arrays.costs import is_dear
from gibbsppl.code.arrays.expressions import (
    Apply,
    Element,
    Expr,
    Position,
    Reduce,
    Span,
    at,
    elements,
    is_call,
    mapped,
    walk,
)
from gibbsppl.code.arrays.statements import Let, Statement, Store, spans_of, with_expressions
from gibbsppl.code.lowering.workshop import Workshop


@dataclass(frozen=True, slots=True)
class Moving:
    """The changes by an element of a scan: its label, and maintained arrays at some indices."""

    label: Span
    array: str
    changes: Mapping[str, tuple[Expr, ...]]

    def is_by_label(self, e: Element) -> bool:
        """Whether the values of an element change at the labels alone that an element had or has.

        An array that no element changes is so.
        """
        if e.array == self.array:
            return False
        if e.array not in self.changes:
            return True
        here = Position(self.label.dim)
        return any(
            a == here == b for a, b in zip(e.indices, self.changes[e.array], strict=True)
        )


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a weight as an array by label, maybe along further dims."""

    name: str
    dims: tuple[Span, ...]
    value: Expr
    moves: bool

    @property
    def element(self) -> Element:
        """The element at the positions of the dims."""
        return Element(self.name, tuple(Position(s.dim) for s in self.dims))

    def at_label(self, label: Span, now: Element) -> list[Statement]:
        """The statements that compute the entries of one label anew."""
        if not self.moves:
            return []
        here = {label.dim: now}
        target = at(self.element, here)
        assert isinstance(target, Element)
        others = tuple(s for s in self.dims if s.dim != label.dim)
        return [Store(target, at(self.value, here), others)]


def parted(w: Workshop, weights: Expr, moving: Moving) -> tuple[list[Part], Expr]:
    """The parts, which are computed, and the weights that read them."""
    work = _Parts(w, moving, [])
    return work.parts, work.read(weights, {moving.label.dim: moving.label})


def with_known(weights: Expr, parts: Iterable[Part]) -> Expr:
    """The weights, which read those parts that stay as they are."""
    known = {p.value: p.element for p in parts if not p.moves}
    return mapped(weights, known.get)


def sums_beforehand(
    w: Workshop, body: Sequence[Statement], over: tuple[Span, ...] = ()
) -> tuple[Statement, ...]:
    """The statements of a loop over spans, which read sums of what they do not change from arrays.

    These are one number for each position of the loop, or the same at all of them.
    """
    work = _Sums(w, writes(body), {x.dim: x for x in over})
    return tuple(map(work.of, body))


@dataclass(frozen=True, slots=True)
class _Sums:
    """The work on statements that change some arrays."""

    w: Workshop
    changed: frozenset[str]
    over: Mapping[str, Span]

    def of(self, s: Statement) -> Statement:
        """A statement that reads sums from arrays."""
        spans = {x.dim: x for x in spans_of(s)}
        return with_expressions(s, lambda e: self.read(e, spans))

    def read(self, e: Expr, spans: Mapping[str, Span]) -> Expr:
        """An expression that reads sums from arrays, at positions of spans."""
        if not isinstance(e, Reduce):
            return e.over(lambda p: self.read(p, spans))
        is_fixed = e.arrays and not e.arrays & self.changed
        places = self.over if e.free & self.over.keys() else spans
        if is_fixed and e.by == "sum" and e.free <= places.keys():
            dims = tuple(x for d, x in places.items() if d in e.free)
            name = self.w.fresh("_".join(["sum", *sorted(e.arrays)[:2]]))
            self.w.add(Let(name, dims, e))
            return Element(name, tuple(Position(x.dim) for x in dims))
        inner = {**spans, **{x.dim: x for x in e.spans if _is_plain(x)}}
        return Reduce(self.read(e.body, inner), e.spans, e.by)


@dataclass(slots=True)
class _Parts:
    """The parts that have been found."""

    w: Workshop
    moving: Moving
    parts: list[Part]

    def read(self, e: Expr, spans: Mapping[str, Span]) -> Expr:
        """An expression that reads parts, at positions of spans."""
        if self.is_part(e, spans) and _is_dear(e):
            return self.part(e, spans)
        if isinstance(e, Reduce):
            inner = {**spans, **{s.dim: s for s in e.spans if _is_plain(s)}}
            return Reduce(self.read(e.body, inner), e.spans, e.by)
        if is_call(e, "entry"):
            return e
        if is_call(e, "+") or is_call(e, "*"):
            own = [p for p in e.parts if self.is_part(p, spans)]
            if len(own) > 1 and any(map(_is_dear, own)):
                rest = [self.read(p, spans) for p in e.parts if p not in own]
                assert isinstance(e, Apply)
                return Apply(e.function, (*rest, self.part(Apply(e.function, tuple(own)), spans)))
        return e.over(lambda p: self.read(p, spans))

    def is_part(self, e: Expr, spans: Mapping[str, Span]) -> bool:
        """Whether an expression is the same for all elements of a label."""
        return (
            bool(e.arrays)
            and e.free <= spans.keys()
            and all(map(self.moving.is_by_label, elements(e)))
        )

    def part(self, e: Expr, spans: Mapping[str, Span]) -> Expr:
        """The element of a part."""
        known = next((p for p in self.parts if p.value == e), None)
        if known is not None:
            return known.element
        moves = not e.arrays.isdisjoint(self.moving.changes)
        dims = tuple(s for d, s in spans.items() if d in e.free)
        found = Part(self.w.fresh("_".join([*sorted(e.arrays)[:2], "part"])), dims, e, moves)
        self.w.add(Let(found.name, dims, e))
        self.parts.append(found)
        return found.element


def _is_dear(e: Expr) -> bool:
    """Whether to compute an expression is dearer than to read it."""
    return is_dear(e) or any(isinstance(x, Reduce) for x in walk(e))


def _is_plain(span: Span) -> bool:
    """Whether the ends of a span depend on nothing."""
    return not any(x.arrays or x.free for x in span.ends)
