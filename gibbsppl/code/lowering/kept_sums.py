"""Sums that are kept up to date, as statements: made anew, and moved at the rows that see elements.

Comes in: a `Kept` value or a `KeptSum`, and where the element at work is. Goes out: the arrays of
kept values; which rows see the element (`SeenRows`): where its place tells the position, where an
index of data does, the members of a group, or else all rows, times 0 where it is not seen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce

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
    Number,
    Position,
    Size,
    Span,
    at,
    product,
    total,
)
from gibbsppl.code.arrays.groups import Hot
from gibbsppl.code.arrays.statements import Add, Let
from gibbsppl.code.lowering.parameters import guarded
from gibbsppl.code.lowering.selections import length_of
from gibbsppl.code.lowering.workshop import Workshop
from gibbsppl.schedule.kept_sums import Kept, KeptSum, Rows


def add_kept(
    w: Workshop,
    array: str,
    sums: Sequence[KeptSum],
    written: Callable[[Formula], Expr] | None = None,
) -> dict[str, str]:
    """The names of new arrays of kept sums, which are computed here, as ``written``."""
    names = {s.kept.name: w.fresh(f"{array}_sum") for s in sums}
    for k in (s.kept for s in sums):
        w.add(Let(names[k.name], w.spans(k.over), (written or w.expr)(k.form)))
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
    """The rows that see an element: positions of spans; ``readers`` read an expression at one.

    ``shown`` are factors that are 0 at those of them that do not see it.
    """

    spans: tuple[Span, ...]
    readers: tuple[Callable[[Expr], Expr], ...]
    groups: tuple[Group, ...] = ()
    shown: tuple[Expr, ...] = ()

    def placed(self, expr: Expr) -> Expr:
        """An expression at such a row."""
        return reduce(lambda e, reader: reader(e), self.readers, expr)

    @property
    def count(self) -> Expr:
        """The number of positions."""
        return product(list(map(length_of, self.spans)))

    def is_by_row(self, expr: Expr) -> bool:
        """Whether an expression differs from row to row."""
        return any(s.dim in expr.free for s in self.spans)


def seen_rows(
    w: Workshop, rows: Rows, places: Mapping[Dim, Expr], loops: tuple[Span, ...]
) -> SeenRows:
    """The rows that see the element at some places along its axes, at one position of loops.

    (Where data weigh an element with 0, what it changes is 0 there.)
    """
    # (arrays need not have a position for an element that no row sees)
    first = {r.dim: Number(r.start) for r in rows.over}
    here = {d.name: _where_seen(w, rows, places, places[a], first[d]) for d, a in rows.here}
    readers: list[Callable[[Expr], Expr]] = [partial(at, positions=here)]
    spans, groups, shown = _spans(w, rows, places), list[Group](), list[Expr]()
    for index, axis in rows.matches:
        value, place = w.expr(index), places[axis]
        own = tuple(s for s in spans if s.dim in value.free)
        is_known = own and isinstance(value, Element) and isinstance(place, Position | Element)
        hot = [Hot(value, place)] if is_known else []  # type: ignore[arg-type]
        group = w.groups.of_one(hot, own, frozenset(s.dim for s in loops))
        if group is None:
            shown.append(Apply("equals", (value, place)))
            continue
        members, at_members = w.groups.members(group, own)
        spans = [members if s == own[0] else s for s in spans if s not in own[1:]]
        groups.append(Group(group, own, members))
        readers.append(at_members)
    if not groups and spans:
        readers.append(partial(w.side_by_side, dim=spans[-1].dim))
    found = SeenRows(tuple(spans), tuple(readers), tuple(groups))
    return replace(found, shown=tuple(map(found.placed, shown)))


def _spans(w: Workshop, rows: Rows, places: Mapping[Dim, Expr]) -> list[Span]:
    """The spans of rows at positions that the place of an element does not tell.

    They are empty if the element is at a place that no row has.
    """
    spans = list(w.spans(rows.free))
    stop = _where_seen(w, rows, places, ONE, ZERO)
    if stop == ONE:
        return spans
    first, *others = spans or [Span(w.fresh("there"), ZERO, ONE)]
    stop = _where_seen(w, rows, places, first.stop, first.start)
    return [replace(first, stop=Apply("smaller", (first.stop, stop))), *others]


def _where_seen(
    w: Workshop, rows: Rows, places: Mapping[Dim, Expr], value: Expr, other: Expr
) -> Expr:
    """A value if an element is at a place that some row has, else another."""
    ranges = {r.dim: r for r in rows.over}
    seen = [Range(axis, ranges[d].start, ranges[d].stop) for d, axis in rows.here]
    found = guarded(w, seen, [r.dim for r in seen], value, other)
    return at(found, {axis.name: e for axis, e in places.items()})


def at_row(kept: Kept, name: str, seen: SeenRows) -> Element:
    """The kept value at a row that sees an element."""
    found = seen.placed(Element(name, tuple(Position(r.dim.name) for r in kept.over)))
    assert isinstance(found, Element)
    return found


def brought_up(kept: Kept, name: str, change: Expr, seen: SeenRows) -> Add:
    """The statement that adds a change, at rows that see an element, to the kept values there."""
    return Add(name, at_row(kept, name, seen).indices, change, seen.spans, kept.factor)


def in_lanes(w: Workshop, seen: SeenRows, array: str) -> SeenRows:
    """The rows that see an element, the members of a group counted from the first.

    (What is kept for each of them needs the room of the largest group alone.)
    """
    for group in seen.groups:
        lane, most = w.fresh(f"{array}_lane"), w.fresh(f"most of {group.hot.index.array}")
        counts = np.unique(np.asarray(w.data[group.hot.index.array]), return_counts=True)[1]
        w.own_sizes[most] = int(counts.max(initial=0))
        members = group.members
        here: dict[str, Expr] = {members.dim: total([members.start, Position(lane)])}
        span = Span(lane, ZERO, Apply("smaller", (Size(most), length_of(members))))
        read = partial(at, positions=here)
        spans = tuple(span if s == members else s for s in seen.spans)
        shown = tuple(map(read, seen.shown))
        seen = SeenRows(spans, (*seen.readers, read), seen.groups, shown)
    return seen
