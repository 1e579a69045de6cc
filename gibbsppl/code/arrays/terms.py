"""Sums and products of the array language taken apart, and what of them is computed together.

>>> x, y, z = map(Element, "xyz")
>>> found = quotient(negative(Apply("/", (product([Number(2), x, y]), z))))
>>> found.sign, [str(f) for f in found.above], [str(f) for f in found.below]
(-1, ['2', 'x', 'y'], ['z'])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gibbsppl.code.arrays.expressions import (
    ONE,
    Apply,
    Element,
    Expr,
    Number,
    Position,
    Reduce,
    Span,
    at,
    elements,
    is_call,
    negative,
    product,
    total,
    walk,
)


@dataclass(frozen=True, slots=True)
class Quotient:
    """A product as a sign, factors, and divisors."""

    sign: int
    above: tuple[Expr, ...]
    below: tuple[Expr, ...]

    @property
    def value(self) -> Expr:
        """The product."""
        found = product(list(self.above))
        for b in self.below:
            found = Apply("/", (found, b))
        return negative(found) if self.sign < 0 else found


def quotient(e: Expr) -> Quotient:
    """An expression as a product of factors over divisors."""
    match e:
        case Number(value=value) if value < 0:
            return Quotient(-1, (Number(-value),), ())
        case Apply(function="neg", arguments=(inner,)):
            found = quotient(inner)
            return Quotient(-found.sign, found.above, found.below)
        case Apply(function="/", arguments=(over, under)):
            found = quotient(over)
            above = tuple(f for f in found.above if f != ONE)
            return Quotient(found.sign, above, (*found.below, under))
        case Apply(function="*", arguments=arguments):
            parts = [quotient(a) for a in arguments]
            sign = -1 if sum(p.sign < 0 for p in parts) % 2 else 1
            above = tuple(f for p in parts for f in p.above)
            below = tuple(f for p in parts for f in p.below)
            return Quotient(sign, above, below)
    return Quotient(1, (e,), ())


def terms_of(e: Expr) -> tuple[Expr, ...]:
    """The terms of a sum."""
    return e.parts if is_call(e, "+") else (e,)


def is_negative(e: Expr) -> bool:
    """Whether a term is written with a minus sign."""
    return quotient(e).sign < 0


def varies(e: Expr) -> bool:
    """Whether an expression is more than numbers."""
    return bool(e.arrays) or any(isinstance(x, Position | Reduce) for x in walk(e))


def data_together(
    args: Sequence[Expr], is_data: Callable[[Expr], bool], made: Callable[[list[Expr]], Expr]
) -> list[Expr]:
    """The arguments of a sum or a product, those of data alone as one, to be computed once.

    Numbers of a sum go with them.
    """
    data = [a for a in args if is_data(a) and varies(a)]
    numbers = [a for a in args if not varies(a)] if made is total else []
    if not data or len(data) + len(numbers) < 2:
        return list(args)
    together = made([*data, *numbers])
    if len(together.free) > max(len(a.free) for a in data):
        return list(args)
    gone = [*data, *numbers]
    return [*(a for a in args if not any(a is g for g in gone)), together]


def is_gather(e: Element) -> bool:
    """Whether elements are read one by one: at an index that is no position, or pairwise."""
    dims = [i.dim for i in e.indices if isinstance(i, Position)]
    is_plain = all(isinstance(i, Position | Number) for i in e.indices)
    return not is_plain or len(set(dims)) < len(dims)


def dims_in_order(e: Expr) -> list[str]:
    """The dims of an expression, in the order in which elements have them."""
    every = [i.dim for x in elements(e) for i in x.indices if isinstance(i, Position)]
    order = list(dict.fromkeys(every))
    return sorted(e.free, key=lambda d: (order.index(d) if d in order else len(order), d))


def renumbered(e: Expr, dims: Sequence[Span]) -> Expr:
    """An expression with the dims of spans by number: equal where only names of dims differ."""
    return at(e, {s.dim: Position(f"#{n}") for n, s in enumerate(dims)})
