"""Contributions of factors to natural parameters and bounds, as additions to arrays."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import inf
from typing import Protocol

import sympy as sp

from gibbsppl.algebra.expressions import Dim
from gibbsppl.algebra.ranges import Range, is_numeric
from gibbsppl.code.arrays.expressions import ZERO, Expr, Number, Position, Span
from gibbsppl.code.arrays.statements import Add, Let
from gibbsppl.derive.contractions import Contribution
from gibbsppl.pieces.dependence import Place
from gibbsppl.schedule.parameters import Bound, NaturalParameter


class Maker(Protocol):
    """A translator of expressions of the model to expressions over arrays."""

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
    adds = (added(w, name, p.axes, c) for c in every)
    return let, (*adds, *(on_diagonal(w, name, p, c) for c in p.squares))


def bounded(w: Maker, b: Bound) -> tuple[Let, tuple[Add, ...]]:
    """A bound as infinite, and the bound of each factor where it holds."""
    widest, by = (-inf, "max") if b.side == "lower" else (inf, "min")
    let = Let(b.side, tuple(map(w.span, b.axes)), Number(widest))
    return let, tuple(added(w, b.side, b.axes, c, by) for c in b.contributions)


def _numbers_together(contributions: Sequence[Contribution]) -> tuple[Contribution, ...]:
    """The contributions, with all plain numbers added up into a single contribution."""
    numbers = [c for c in contributions if is_numeric(c.value)]
    if len(numbers) < 2:
        return tuple(contributions)
    value = sp.Add(*(c.value for c in numbers))
    rest = (c for c in contributions if not is_numeric(c.value))
    return (Contribution(factors_of(numbers), value, numbers[0].place), *rest)


def added(w: Maker, name: str, axes: Sequence[Dim], c: Contribution, by: str = "sum") -> Add:
    """The statement that adds a contribution where it goes to."""
    at = tuple(_position(place, axis) for place, axis in zip(c.place, axes, strict=True))
    return Add(name, at, w.expr(c.value), w.spans(c.place), c.factor, by)


def on_diagonal(w: Maker, array: str, p: NaturalParameter, c: Contribution) -> Add:
    """A contribution to the squares of entries, whose partners are the same entries."""
    own = len(c.place)
    partners = len(p.axes) - own
    at = tuple(_position(place, axis) for place, axis in zip(c.place, p.axes, strict=False))
    return Add(array, (*at, *at[own - partners :]), w.expr(c.value), w.spans(c.place), c.factor)


def is_everywhere(w: Maker, c: Contribution, axes: Sequence[Dim]) -> bool:
    """Whether a contribution is to all positions of an array."""
    return all(
        isinstance(p, Range) and (p.start, p.stop) == (0, w.size(axis))
        for p, axis in zip(c.place, axes, strict=True)
    )


def _position(place: Place, axis: Dim) -> Expr:
    return Number(place) if isinstance(place, int) else Position(axis.name)


def factors_of(contributions: Sequence[Contribution]) -> str:
    """The names of the factors that contribute."""
    return ", ".join(dict.fromkeys(c.factor for c in contributions))
