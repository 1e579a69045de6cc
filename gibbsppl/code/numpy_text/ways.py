"""How each reduction is done: by group, as squares, as a product of arrays, or as it stands.

Comes in: a `Reduce`. Goes out: its way, which the printer spells.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from gibbsppl.code.arrays.expressions import (
    TWO,
    Expr,
    Number,
    Position,
    Reduce,
    Span,
    is_call,
    product,
)
from gibbsppl.code.arrays.groups import hot_of
from gibbsppl.code.arrays.terms import quotient


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts of expressions: whether they read data alone, or are whole numbers."""

    is_data: Callable[[Expr], bool]
    is_whole: Callable[[Expr], bool]


@dataclass(frozen=True, slots=True)
class BySegment:
    """A value added up (or its extreme found) where ``indices`` are the positions of axes."""

    indices: tuple[Expr, ...]
    axes: tuple[str, ...]
    value: Expr
    by: str = "sum"


@dataclass(frozen=True, slots=True)
class ByGroup:
    """A value added up by the groups that an index of data makes along a dim, times a number.

    ``sides``: it is an outer product, of a value along each of two dims.
    """

    index: Expr
    axis: str
    along: str
    value: Expr
    sides: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class OfSquares:
    """The sum of the squares of all values."""

    base: Expr


@dataclass(frozen=True, slots=True)
class OfProduct:
    """The product of factors, summed over some of their dims."""

    factors: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Plain:
    """The reduction of an array along axes."""


Way: TypeAlias = BySegment | ByGroup | OfSquares | OfProduct | Plain


def way_of(e: Reduce, facts: Facts, is_once: bool) -> Way:
    """How a reduction is done; ``is_once``: it is computed once, where groups are not worth it."""
    if e.by in {"max", "min"}:
        return _of_extreme(e)
    if e.by != "sum":
        return Plain()
    summed = {s.dim for s in e.spans}
    factors = e.body.parts if is_call(e.body, "*") else (e.body,)
    hot = [f for f in factors if _is_hot(f, summed, factors, facts)]
    rest = [f for f in factors if not any(f is h for h in hot)]
    if hot:
        return _of_groups(e, hot, rest, facts, is_once)
    if len(rest) == 1 and _is_square(rest[0]) and rest[0].free == summed:
        return OfSquares(rest[0].parts[0])
    return OfProduct(tuple(rest))


def _is_square(e: Expr) -> bool:
    return is_call(e, "**") and e.parts[1] == TWO


def _of_groups(
    e: Reduce, hot: Sequence[Expr], rest: Sequence[Expr], facts: Facts, is_once: bool
) -> Way:
    """A sum by group: of data where that is settled, else of labels."""
    indices = tuple(h.parts[0] for h in hot)
    axes = tuple(h.parts[1].dim for h in hot if isinstance(h.parts[1], Position))
    along = frozenset[str]().union(*(i.free for i in indices))
    value = summed_inside(list(rest), [s for s in e.spans if s.dim not in along])
    if is_once or len(indices) > 1 or len(along) > 1 or not facts.is_data(indices[0]):
        return BySegment(indices, axes, value)
    (dim,) = along
    return ByGroup(indices[0], axes[0], dim, value, _sides(value, dim))


def summed_inside(factors: list[Expr], spans: Sequence[Span]) -> Expr:
    """The product of factors, those along the dims of spans summed."""
    dims = {s.dim for s in spans}
    inside = [f for f in factors if f.free & dims]
    if not spans or not inside:
        return product(factors)
    outside = [f for f in factors if not f.free & dims]
    return product([*outside, Reduce(product(inside), tuple(spans))])


def _sides(value: Expr, along: str) -> tuple[Expr, ...]:
    """The two sides of an outer product along a dim; none for other values."""
    found = quotient(value)
    factors = [f for f in found.above if not isinstance(f, Number)]
    trailing = [f.free - {along} for f in factors]
    dims = sorted({d for t in trailing for d in t})
    if len(dims) != 2 or any(len(t) > 1 for t in trailing) or found.below or found.sign < 0:
        return ()
    second = [f for f, t in zip(factors, trailing, strict=True) if t == {dims[1]}]
    first = [f for f in factors if not any(f is g for g in second)]
    return product(first), product(second)


def _of_extreme(e: Reduce) -> Way:
    """An extreme by group, where a value counts at the positions of a group alone."""
    if not is_call(e.body, "where") or not _is_infinite(e.body.parts[2]):
        return Plain()
    condition, value, _ = e.body.parts
    relations = condition.parts if is_call(condition, "*") else (condition,)
    if not all(is_call(c, "equals") and isinstance(c.parts[1], Position) for c in relations):
        return Plain()
    indices = tuple(c.parts[0] for c in relations)
    axes = tuple(c.parts[1].dim for c in relations if isinstance(c.parts[1], Position))
    along = frozenset[str]().union(*(i.free for i in indices))
    inner = tuple(s for s in e.spans if s.dim in value.free - along)
    value = Reduce(value, inner, e.by) if inner else value
    return BySegment(indices, axes, value, e.by)


def _is_infinite(e: Expr) -> bool:
    inner = e.parts[0] if is_call(e, "neg") else e
    return isinstance(inner, Number) and abs(inner.value) == float("inf")


def _is_hot(factor: Expr, summed: set[str], factors: Sequence[Expr], facts: Facts) -> bool:
    """Whether a factor is one-hot: 1 at the summed positions of one group, else 0.

    (What is no integer is no position, whatever its value; no other factor knows the group.)
    """
    hot = hot_of(factor, summed)
    if hot is None or hot.dim is None or not facts.is_whole(hot.index):
        return False
    return not any(hot.dim in f.free for f in factors if f is not factor)
