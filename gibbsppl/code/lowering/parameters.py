"""Natural parameters, log weights and bounds as expressions of the axes of an array."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import inf
from typing import Protocol

import sympy as sp

from gibbsppl.algebra.expressions import Dim
from gibbsppl.algebra.ranges import Range
from gibbsppl.code.arrays.expressions import (
    ZERO,
    Apply,
    Element,
    Expr,
    Number,
    Position,
    Span,
    total,
)
from gibbsppl.code.arrays.statements import Add, Let
from gibbsppl.code.lowering.stored import same_sum
from gibbsppl.code.lowering.workshop import Workshop, positions
from gibbsppl.derive.contractions import Contribution
from gibbsppl.pieces.dependence import Place
from gibbsppl.schedule.parameters import Bound, NaturalParameter


class Maker(Protocol):
    """What makes expressions over arrays of those of the model."""

    def expr(self, expr: sp.Expr) -> Expr:
        """An expression over arrays."""

    def span(self, dim: Dim) -> Span:
        """All positions of a dim."""

    def spans(self, place: Collection[Place]) -> tuple[Span, ...]:
        """The positions of a place, without single ones."""

    def size(self, dim: Dim) -> int:
        """The size of a dim or of a copy of it."""


def contributed(w: Maker, p: NaturalParameter, name: str) -> tuple[Let, tuple[Add, ...]]:
    """A natural parameter as zeros, and what each factor adds to it where."""
    let = Let(name, tuple(map(w.span, p.axes)), ZERO)
    every = p.contributions
    if all(is_everywhere(w, c, p.axes) for c in every):
        every = _numbers_together(every)
    adds = (_added(w, name, p.axes, c) for c in every)
    return let, (*adds, *(_on_diagonal(w, name, p, c) for c in p.squares))


def bounded(w: Maker, b: Bound) -> tuple[Let, tuple[Add, ...]]:
    """A bound as infinite, and the bound of each factor where it holds."""
    widest, by = (-inf, "max") if b.side == "lower" else (inf, "min")
    let = Let(b.side, tuple(map(w.span, b.axes)), Number(widest))
    return let, tuple(_added(w, b.side, b.axes, c, by) for c in b.contributions)


def _numbers_together(contributions: Sequence[Contribution]) -> tuple[Contribution, ...]:
    """The contributions, with all plain numbers added up into a single contribution."""
    numbers = [c for c in contributions if c.value.is_number]
    if len(numbers) < 2:
        return tuple(contributions)
    value = sp.Add(*(c.value for c in numbers))
    rest = (c for c in contributions if not c.value.is_number)
    return (Contribution(_factors(numbers), value, numbers[0].place), *rest)


def _added(
    w: Maker, name: str, axes: Sequence[Dim], c: Contribution, by: str = "sum"
) -> Add:
    """The statement that adds a contribution where it goes to."""
    at = tuple(_position(place, axis) for place, axis in zip(c.place, axes, strict=True))
    return Add(name, at, w.expr(c.value), w.spans(c.place), c.factor, by)


def parameter(w: Workshop, p: NaturalParameter, name: str) -> Expr:
    """A natural parameter; an array of its own where contributions are to some positions alone."""
    if (kept := same_sum(w.maintained, w.statements, p)) is not None:
        return kept
    everywhere = [c for c in p.contributions if is_everywhere(w, c, p.axes)]
    rest = [c for c in p.contributions if c not in everywhere]
    value = merged(w, everywhere)
    if not rest and not p.squares:
        return value
    array = w.fresh(name)
    w.add(Let(array, tuple(map(w.span, p.axes)), value, _factors(everywhere)))
    w.add(*(_added(w, array, p.axes, c) for c in rest))
    w.add(*(_on_diagonal(w, array, p, c) for c in p.squares))
    return Element(array, positions(p.axes))


def _on_diagonal(w: Maker, array: str, p: NaturalParameter, c: Contribution) -> Add:
    """A contribution to the squares of entries, whose partners are the same entries."""
    own = len(c.place)
    partners = len(p.axes) - own
    at = tuple(_position(place, axis) for place, axis in zip(c.place, p.axes, strict=False))
    return Add(array, (*at, *at[own - partners :]), w.expr(c.value), w.spans(c.place), c.factor)


def by_element(w: Workshop, p: NaturalParameter) -> Expr:
    """A natural parameter of a single element, each contribution where it goes to."""
    found: dict[tuple[Place, ...], list[Contribution]] = {}
    for c in p.contributions:
        found.setdefault(c.place, []).append(c)
    return total([guarded(w, place, p.axes, merged(w, cs), ZERO) for place, cs in found.items()])


def bound(w: Workshop, b: Bound) -> Expr:
    """The tightest of all contributions to a bound."""
    widest, tightest = (-inf, "maximum") if b.side == "lower" else (inf, "minimum")
    value: Expr | None = None
    for c in b.contributions:
        own = guarded(w, c.place, b.axes, w.expr(c.value), Number(widest))
        value = own if value is None else Apply(tightest, (value, own))
    return value if value is not None else Number(widest)


def guarded(
    w: Workshop, place: Sequence[Place], axes: Sequence[Dim], value: Expr, other: Expr
) -> Expr:
    """A value at the positions of a place, another elsewhere."""
    conditions: list[Expr] = []
    for p, axis in zip(place, axes, strict=True):
        here = Position(axis.name)
        if isinstance(p, int):
            conditions.append(Apply("equals", (here, Number(p))))
            continue
        if p.start > 0:
            conditions.append(Apply("at_most", (Number(p.start), here)))
        if p.stop < w.size(axis):
            conditions.append(Apply("below", (here, w.spans((p,))[0].stop)))
    if not conditions:
        return value
    both = conditions[0] if len(conditions) == 1 else Apply("and", tuple(conditions))
    return Apply("where", (both, value, other))


def merged(w: Workshop, contributions: Sequence[Contribution]) -> Expr:
    """The sum of contributions, plain numbers added up first."""
    number = sp.Add(*(c.value for c in contributions if c.value.is_number))
    rest = [w.expr(c.value) for c in contributions if not c.value.is_number]
    return total([w.expr(number), *rest])


def is_everywhere(w: Maker, c: Contribution, axes: Sequence[Dim]) -> bool:
    """Whether a contribution is to all positions of an array."""
    return all(
        isinstance(p, Range) and (p.start, p.stop) == (0, w.size(axis))
        for p, axis in zip(c.place, axes, strict=True)
    )


def _position(place: Place, axis: Dim) -> Expr:
    return Number(place) if isinstance(place, int) else Position(axis.name)


def _factors(contributions: Sequence[Contribution]) -> str:
    return ", ".join(dict.fromkeys(c.factor for c in contributions))

