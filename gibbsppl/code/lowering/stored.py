"""Sums over the state as a sweep stores them: by names and in orders of axes of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gibbsppl.code.arrays.accesses import writes
from gibbsppl.code.arrays.expressions import Element, Expr, Position
from gibbsppl.code.arrays.statements import Statement
from gibbsppl.schedule.parameters import NaturalParameter


@dataclass(frozen=True, slots=True)
class Stored:
    """A maintained array: the name and the order of axes of the new array that has its values.

    It is made of the arrays that it ``reads``, as they are after so many of the ``statements``.
    """

    parameter: NaturalParameter
    name: str
    order: tuple[int, ...]
    reads: frozenset[str]
    statements: Sequence[Statement]
    since: int

    def element(self, indices: Sequence[Expr]) -> Element:
        """An element, by its indices in the order of the model."""
        return Element(self.name, tuple(indices[a] for a in self.order))

    def is_current(self, statements: Sequence[Statement]) -> bool:
        """Whether nothing that it reads has changed."""
        later = statements[self.since :]
        return statements is self.statements and not writes(later) & self.reads


def placed(expr: Expr, arrays: Mapping[str, Stored]) -> Expr:
    """The expression with maintained arrays read where they are stored."""
    if not expr.arrays & arrays.keys():
        return expr
    if isinstance(expr, Element) and expr.array in arrays:
        return arrays[expr.array].element([placed(i, arrays) for i in expr.indices])
    return expr.over(lambda e: placed(e, arrays))


def same_sum(
    arrays: Mapping[str, Stored], statements: Sequence[Statement], p: NaturalParameter
) -> Expr | None:
    """A natural parameter that is a maintained array which is up to date; None for others."""
    for s in arrays.values():
        own = s.parameter
        is_same = (own.axes, own.contributions, own.squares) == (p.axes, p.contributions, p.squares)
        if is_same and s.is_current(statements):
            return s.element([Position(a.name) for a in p.axes])
    return None
