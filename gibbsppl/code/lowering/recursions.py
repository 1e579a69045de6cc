"""Arrays that are computed from their own earlier elements, as systems over arrays.

Comes in: a `Recursion`. Goes out: a `Recursive`, whose dims and arrays have names of their own.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Protocol

import sympy as sp

from gibbsppl.algebra.expressions import Dim
from gibbsppl.algebra.ranges import Range
from gibbsppl.algebra.recursions import Earlier, Own, Recursion, Step, terms_of_remainder
from gibbsppl.algebra.recursions import System as Steps
from gibbsppl.code.arrays.expressions import (
    Apply,
    Element,
    Expr,
    Number,
    Position,
    Span,
    at,
    total,
)
from gibbsppl.code.arrays.systems import SO_FAR, Block, Given, Recursive, System


class Translator(Protocol):
    """A translator of expressions and ranges."""

    def __call__(self, expr: sp.Expr) -> Expr:
        """An expression over arrays."""

    def span(self, r: Range) -> Span:
        """The positions of a range."""


def so_far(own: Own) -> str:
    """The name of an array within its own system."""
    return f"{own}{SO_FAR}"


def recursive(to: Translator, expr: Recursion) -> Recursive:
    """The element of a recursion."""
    steps: Steps = expr.system.plain
    shapes = tuple((so_far(own), _sizes(to, steps, own)) for own in steps.axes)
    ends = {e for s in steps.args for e in s.extent(_axis(steps, s))}
    cuts = list(pairwise(sorted(ends)))
    order = cuts[::-1] if steps.is_backward else cuts
    blocks = tuple(_block(to, steps, start, stop) for start, stop in order)
    element = to(Earlier(expr.own, *expr.indices))
    assert isinstance(element, Element)
    return Recursive(System(shapes, blocks), element.array, element.indices)


def _axis(steps: Steps, s: Step) -> int:
    return steps.axes[s.element.own]


def _sizes(to: Translator, steps: Steps, own: Own) -> tuple[Expr, ...]:
    """The sizes of the axes of an array."""
    found: list[Expr] = []
    for axis, size in enumerate(steps.shape(own)):
        given = [s for s in steps.args if s.element.own == own]
        last = next(s for s in given if s.extent(axis)[1] == size)
        along = next((r for r in last.over if r.dim == last.element.indices[axis]), None)
        found.append(Number(size) if along is None else to.span(along).stop)
    return tuple(found)


def _block(to: Translator, steps: Steps, start: int, stop: int) -> Block:
    """The steps at some positions: at a single one without a loop."""
    here = [s for s, _ in steps.at(start)]
    dims = [s.element.indices[_axis(steps, s)] for s in here]
    first = next((d for d in dims if isinstance(d, Dim)), None)
    both = tuple(zip(here, dims, strict=True))
    if first is None:
        return Block(None, tuple(_given(to, s, d, Number(start)) for s, d in both))
    span = to.span(Range(first, start, stop))
    if stop - start == 1:
        is_last = not isinstance(span.stop, Number)
        place = total([span.stop, Number(-1)]) if is_last else Number(start)
        return Block(None, tuple(_given(to, s, d, place) for s, d in both))
    along = span.dim + SO_FAR
    given = tuple(_given(to, s, d, Position(along)) for s, d in both)
    return Block(Span(along, *span.ends), given, steps.is_backward)


def _given(to: Translator, s: Step, along: sp.Expr, place: Expr) -> Given:
    """A step at a place along the axis of the sequence."""
    value = to(s.value)
    if (terms := terms_of_remainder(s.value)) is not None:
        value = Apply("remainder", (value, to(terms[0]), Number(terms[1])))
    names: dict[str, Expr] = {along.name: place} if isinstance(along, Dim) else {}
    over = []
    for r in (r for r in s.over if r.dim != along):
        span = to.span(r)
        names[span.dim] = Position(span.dim + SO_FAR)
        over.append(Span(span.dim + SO_FAR, *span.ends))
    element = at(to(s.element), names)
    assert isinstance(element, Element)
    return Given(element, at(value, names), tuple(over))
