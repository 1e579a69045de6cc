"""Sums that are kept up to date, as statements: made anew, and moved at the rows that see elements.

Comes in: a `Kept` value or a `KeptSum`, and where the element at work is. Goes out: the arrays of
kept values; which rows see the element (`SeenRows`): where its place tells the position, where an
index of data does, the members of a group, or else all rows, times 0 where it is not seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from gibbsppl.algebra.expressions import Array, Dim, Leaf
from gibbsppl.algebra.expressions import Expr as Formula
from gibbsppl.algebra.ranges import Range
from gibbsppl.code.arrays.expressions import (
    ONE,
    ZERO,
    Apply,
    Element,
    Expr,
    Position,
    Size,
    Span,
    at,
    negative,
    product,
    total,
)
from gibbsppl.code.arrays.groups import Hot
from gibbsppl.code.arrays.statements import Add, Let
from gibbsppl.code.lowering.parameters import guarded
from gibbsppl.code.lowering.workshop import Workshop
from gibbsppl.schedule.kept_sums import Kept, KeptSum, Rows


def add_kept(w: Workshop, array: str, kept: Iterable[Kept]) -> dict[str, str]:
    """The names of new arrays of kept values, which are computed here."""
    names = {k.name: w.fresh(f"{array}_sum") for k in kept}
    w.add(*(Let(names[k.name], w.spans(k.over), w.expr(k.form)) for k in kept))
    return names


def renamed(formula: Formula, names: Mapping[str, str]) -> Formula:
    """A formula that reads arrays by their names in a sweep."""
    read = [x for x in formula.atoms(Leaf) if x.array.name in names]
    own = {x: Array(names[x.array.name], real=True) for x in read}
    return formula.xreplace({x: Leaf(array, *x.indices) for x, array in own.items()})


@dataclass(frozen=True, slots=True)
class Group:
    """The members of a group among the positions of spans: as a span of its own."""

    hot: Hot
    spans: tuple[Span, ...]
    members: Span


@dataclass(frozen=True, slots=True)
class SeenRows:
    """The rows that see an element: positions of spans, at which ``placed`` reads an expression.

    ``shown`` are factors that are 0 at those of them that do not see it.
    """

    spans: tuple[Span, ...]
    placed: Callable[[Expr], Expr]
    shown: tuple[Expr, ...] = ()
    groups: tuple[Group, ...] = ()

    @property
    def count(self) -> Expr:
        """The number of positions."""
        return product([
            s.stop if s.start == ZERO else total([s.stop, negative(s.start)]) for s in self.spans
        ])


def seen_rows(
    w: Workshop, rows: Rows, places: Mapping[Dim, Expr], loops: Iterable[Span]
) -> SeenRows:
    """The rows that see the element at some places along its axes, at one position of loops.

    (Where data weigh an element with 0, what it changes is 0 there.)
    """
    here = {d.name: places[axis] for d, axis in rows.here}
    spans, groups, shown = list(_spans(w, rows, places)), list[Group](), list[Expr]()
    found, fixed = SeenRows((), lambda e: at(e, here)), frozenset(s.dim for s in loops)
    for index, axis in rows.matches:
        value, place = w.expr(index), places[axis]
        own = tuple(s for s in spans if s.dim in value.free)
        hot = _hot(value, place)
        group = None if hot is None or not own else w.groups.of_one([hot], own, fixed)
        if group is None:
            shown.append(Apply("equals", (value, place)))
            continue
        members, at_members = w.groups.members(group, own)
        spans[spans.index(own[0])] = members
        spans = [s for s in spans if s not in own]
        groups.append(Group(group, own, members))
        found = replace(found, placed=_then(found.placed, at_members))
    if not groups and spans:
        along, placed = spans[-1].dim, found.placed
        found = replace(found, placed=lambda e: w.side_by_side(placed(e), along))
    return SeenRows(tuple(spans), found.placed, tuple(map(found.placed, shown)), tuple(groups))


def _hot(value: Expr, place: Expr) -> Hot | None:
    is_known = isinstance(value, Element) and isinstance(place, Position | Element)
    return Hot(value, place) if is_known else None  # type: ignore[arg-type]


def _at(here: Mapping[str, Expr], e: Expr) -> Expr:
    return at(e, here)


def _then(first: Callable[[Expr], Expr], second: Callable[[Expr], Expr]) -> Callable[[Expr], Expr]:
    return lambda e: second(first(e))


def _spans(w: Workshop, rows: Rows, places: Mapping[Dim, Expr]) -> tuple[Span, ...]:
    """The spans of rows at all positions that the place of an element does not tell.

    None has a position if the element is at a place that no row has.
    """
    spans, ranges = w.spans(rows.free), {r.dim: r for r in rows.over}
    own = [(ranges[d], axis) for d, axis in rows.here]
    seen = tuple(Range(axis, r.start, r.stop) for r, axis in own)
    axes = tuple(axis for _, axis in own)
    if all((r.start, r.stop) == (0, w.size(r.dim)) for r in seen):
        return spans
    first, *others = spans or (Span(w.fresh("there"), ZERO, ONE),)
    stop = at(guarded(w, seen, axes, first.stop, first.start), {a.name: places[a] for a in axes})
    return (replace(first, stop=Apply("smaller", (first.stop, stop))), *others)


def brought_up(
    s: KeptSum, name: str, change: Expr, seen: SeenRows
) -> Add:
    """The statement that adds a change to a sum, at the rows that see an element."""
    place = seen.placed(Element(name, tuple(Position(r.dim.name) for r in s.kept.over)))
    assert isinstance(place, Element)
    return Add(name, place.indices, product([*seen.shown, seen.placed(change)]), seen.spans)


def in_lanes(w: Workshop, seen: SeenRows, array: str) -> SeenRows:
    """The rows that see an element, the members of a group counted from the first.

    (What is kept for each of them needs the room of the largest group alone.)
    """
    for group in seen.groups:
        lane, most = w.fresh(f"{array}_lane"), w.fresh(f"most of {group.hot.index.array}")
        counts = np.unique(np.asarray(w.data[group.hot.index.array]), return_counts=True)[1]
        w.own_sizes[most] = int(counts.max(initial=0))
        members = group.members
        count = total([members.stop, negative(members.start)])
        here: dict[str, Expr] = {members.dim: total([members.start, Position(lane)])}
        span = Span(lane, ZERO, Apply("smaller", (Size(most), count)))
        seen = SeenRows(
            tuple(span if s == members else s for s in seen.spans),
            _then(seen.placed, partial(_at, here)),
            tuple(at(e, here) for e in seen.shown),
            seen.groups,
        )
    return seen
