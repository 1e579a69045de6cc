"""Orders of the axes of sums, and of loops over them: as operands are stored, lanes inside.

Lanes are dims whose positions a processor takes several of at once.
"""

from __future__ import annotations

from collections.abc import Sequence

from gibbsppl.code.arrays.expressions import (
    Apply,
    Element,
    Expr,
    Position,
    Reduce,
    Span,
    elements,
    walk,
)
from gibbsppl.code.arrays.statements import Statement, spans_of


def in_order(
    e: Reduce, fixed: frozenset[str], s: Statement | None, lanes: frozenset[str]
) -> list[str]:
    """The dims of a result in the order in which its operands have them, or else a statement.

    Lanes come last.
    """
    found: list[str] = []
    for x in elements(e.body):
        found += _axes(x)
    every = list(dict.fromkeys(found))
    last = _computed_positions(e.body) | lanes
    every = [d for d in every if d not in lanes]
    own = e.free - fixed
    outer = {x.dim: n for n, x in enumerate(spans_of(s))} if s is not None else {}
    places = {d: len(every) if d in last else -1 for d in own} | {d: n for n, d in enumerate(every)}
    return sorted(own, key=lambda d: (places[d], outer.get(d, len(outer)), d))


def _computed_positions(e: Expr) -> frozenset[str]:
    """The dims whose positions are parts of what an index is computed of: lanes of a block."""
    indices = (i for x in elements(e) for i in x.indices if isinstance(i, Apply))
    return frozenset[str]().union(*(i.free for i in indices))


def ordered(
    value: Expr, spans: Sequence[Span], first: Sequence[str], lanes: frozenset[str]
) -> tuple[Span, ...]:
    """Loops in the order of the axes of the operand with most axes; lanes come last."""
    every = ([d for d in _axes(x) if d not in lanes] for x in elements(value))
    axes = max(every, key=len, default=[])
    order = [*first, *(a for a in axes if a not in first)]
    places = {d: n for n, d in enumerate(order)}
    return tuple(
        sorted(spans, key=lambda s: (s.dim in lanes, places.get(s.dim, len(order))))
    )


def _axes(element: Element) -> list[str]:
    """The dims along which an element is read, those of its indices where these stand."""
    every = (p.dim for i in element.indices for p in walk(i) if isinstance(p, Position))
    return list(dict.fromkeys(every))
