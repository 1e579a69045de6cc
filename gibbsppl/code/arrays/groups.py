"""Groups that an index of data makes: their members as spans, and data in the order of members."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from gibbsppl.code.arrays.expressions import (
    ONE,
    Apply,
    Element,
    Expr,
    Position,
    Size,
    Span,
    at,
    elements,
    is_call,
    mapped,
    plus,
)
from gibbsppl.code.arrays.sweeps import Array, Sweep, Table

# The functions of the runtime that make the tables of groups.
MADE = ("members_by_group", "array_in_order")


class Fresh(Protocol):
    """A source of new names."""

    def fresh(self, stem: str) -> str:
        """A name that nothing has yet."""


@dataclass(frozen=True, slots=True)
class Hot:
    """A factor that is 1 where an index is at an axis, else 0; ``axis`` is a position or known."""

    index: Element
    axis: Position | Element

    @property
    def dim(self) -> str | None:
        """The dim of the axis, if it is a position."""
        return self.axis.dim if isinstance(self.axis, Position) else None


def hot_of(factor: Expr, summed: Collection[str]) -> Hot | None:
    """A factor that is 1 where an index along summed dims is at an axis that is not summed.

    >>> z, here = Element("z", (Position("n"),)), Position("k")
    >>> hot_of(Apply("equals", (z, here)), {"n"}).dim, hot_of(Apply("equals", (z, here)), {"k"})
    ('k', None)
    """
    if not is_call(factor, "equals"):
        return None
    index, axis = factor.parts
    if not isinstance(index, Element) or not index.free or not index.free <= set(summed):
        return None
    if not isinstance(axis, Position | Element) or not axis.free.isdisjoint(summed):
        return None
    is_place = axis.free and not (isinstance(axis, Position) and axis.shift)
    return Hot(index, axis) if is_place else None


@dataclass(slots=True)
class Groups:
    """The groups of a sweep: what is known of arrays, and the tables that are made for groups."""

    arrays: MutableMapping[str, Array]
    names: Fresh
    tables: list[Table]
    spans: Mapping[str, Span]
    known: dict[tuple[object, ...], Table] = field(default_factory=dict)

    @classmethod
    def of(cls, sweep: Sweep, names: Fresh, spans: Mapping[str, Span]) -> Groups:
        """The groups of a sweep, with those that it has tables of already."""
        known = {t.arguments: t for t in sweep.tables if t.function in MADE}
        return cls(dict(sweep.arrays), names, list(sweep.tables), spans, dict(known))

    def of_one(
        self, hot: Sequence[Hot], spans: tuple[Span, ...], fixed: frozenset[str]
    ) -> Hot | None:
        """The factor of a sum over one group, that of a loop around it; None for others."""
        inside = [h for h in hot if h.axis.free <= fixed]
        return inside[0] if len(hot) == 1 and inside and self._has_members(hot[0], spans) else None

    def of_all(
        self, hot: Sequence[Hot], spans: tuple[Span, ...], value: Expr, fixed: frozenset[str]
    ) -> Hot | None:
        """The factor of a table of sums, group after group; None where positions are visited.

        A table is added to in one place so; what the state has at each position is read in the
        order of positions, and what is of data alone is computed beforehand, by NumPy.
        """
        if len(hot) != 1 or hot[0].axis.free & fixed or not self._has_members(hot[0], spans):
            return None
        inside = {x.dim for x in spans}
        read = [x for x in elements(value) if any(d in inside for d in _positions(x))]
        known = [self.arrays.get(x.array) for x in read]
        is_data = all(a is not None and a.kind != "state" for a in known)
        is_known = all(map(self.is_data, elements(value)))
        return hot[0] if is_data and not is_known and value.free - inside else None

    def _has_members(self, hot: Hot, spans: tuple[Span, ...]) -> bool:
        """Whether groups are known beforehand: the index is data at each position of spans."""
        return self.is_data(hot.index) and is_along(hot.index, spans)

    def is_data(self, element: Element) -> bool:
        """Whether an element is of data, and read at positions of data."""
        known = (self.arrays.get(a) for a in element.arrays)
        return all(a is not None and a.kind != "state" for a in known)

    def members(
        self, hot: Hot, spans: tuple[Span, ...]
    ) -> tuple[Span, Callable[[Expr], Expr]]:
        """The span of the members of a group, and what reads an expression at a member."""
        axes, starts, along = self._tables_of(hot, spans)
        here, following = Position(along), _next(hot.axis)
        span = Span(along, Element(starts, (hot.axis,)), Element(starts, (following,)))
        places: dict[str, Expr] = {
            x.dim: Element(m, (here,)) for x, m in zip(spans, axes, strict=True)
        }

        def sorted_once(e: Expr) -> Expr | None:
            if isinstance(e, Element) and is_along(e, spans) and self.is_data(e):
                return Element(self._in_order(e.array, hot, axes, along), (here,))
            return None

        return span, lambda e: at(mapped(e, sorted_once), places)

    def at_others(
        self, expr: Expr, hot: Hot, spans: tuple[Span, ...], width: int
    ) -> list[Expr] | None:
        """An expression at the other ``width - 1`` positions along the last span, for a member.

        None unless all that it has along this span are arrays of data along all spans.
        """
        axes, _, along = self._tables_of(hot, spans)
        here, last = Position(along), spans[-1].dim
        rows: dict[str, Expr] = {
            x.dim: Element(m, (here,)) for x, m in zip(spans[:-1], axes, strict=False)
        }

        def sorted_once(e: Expr, n: int) -> Expr | None:
            if isinstance(e, Element) and is_along(e, spans) and self.is_data(e):
                return Element(self._at_others(e.array, hot, axes, along, width)[n], (here,))
            return None

        found = [mapped(expr, partial(sorted_once, n=n)) for n in range(width - 1)]
        return None if any(last in e.free for e in found) else [at(e, rows) for e in found]

    def _at_others(
        self, array: str, hot: Hot, axes: Sequence[str], along: str, width: int
    ) -> tuple[str, ...]:
        """The tables of an array of data at the other positions along its last axis."""
        arguments: tuple[object, ...] = ("others", f"@{array}", *(f"@{m}" for m in axes))
        if arguments not in self.known:
            stem = f"{array}_beside_{hot.index.array}"
            names = tuple(self.names.fresh(stem) for _ in range(width - 1))
            self.known[arguments] = Table(names, "others_in_order", arguments[1:])
            self.tables.append(self.known[arguments])
            own = self.arrays[array]
            self.arrays.update({n: Array((along,), "table", own.type, of=own.of) for n in names})
        return self.known[arguments].names

    def _in_order(self, array: str, hot: Hot, axes: Sequence[str], along: str) -> str:
        """The table of an array of data in the order of the members of groups."""
        arguments: tuple[object, ...] = (f"@{array}", *(f"@{m}" for m in axes))
        if arguments not in self.known:
            name = self.names.fresh(f"{array}_by_{hot.index.array}")
            self.known[arguments] = Table((name,), "array_in_order", arguments)
            self.tables.append(self.known[arguments])
            own = self.arrays[array]
            self.arrays[name] = Array((along,), "table", own.type, of=own.of)
        return self.known[arguments].names[0]

    def _tables_of(
        self, hot: Hot, spans: Sequence[Span]
    ) -> tuple[tuple[str, ...], str, str]:
        """Tables of the members of each group, where groups start, and the dim along members."""
        arguments: tuple[object, ...] = (f"@{hot.index.array}", self._count(hot))
        if arguments not in self.known:
            stem = f"{hot.index.array}_members"
            along = self.names.fresh(stem)
            axes = tuple(self.names.fresh(f"{stem}_{x.dim}") for x in spans)
            starts = self.names.fresh(f"{hot.index.array}_starts")
            self.known[arguments] = Table((*axes, starts), "members_by_group", arguments)
            self.tables.append(self.known[arguments])
            self.arrays.update({m: Array((along,), "table", "int") for m in axes})
            self.arrays[starts] = Array((f"{starts} of groups",), "table", "int")
        *found, starts = self.known[arguments].names
        return tuple(found), starts, self.arrays[found[0]].dims[0]

    def _count(self, hot: Hot) -> Expr:
        """The number of groups."""
        if hot.dim is not None and hot.dim in self.spans:
            return self.spans[hot.dim].stop
        of = self.arrays[hot.axis.array].of if isinstance(hot.axis, Element) else hot.axis.dim
        return Size(of)


def is_along(element: Element, spans: Sequence[Span]) -> bool:
    """Whether there is an element for each position of some spans, in their order."""
    own = tuple(Position(s.dim) for s in spans)
    return element.indices == own and all(s.is_whole for s in spans)


def _next(axis: Expr) -> Expr:
    return plus(axis, 1) if isinstance(axis, Position) else Apply("+", (axis, ONE))


def _positions(e: Element) -> list[str]:
    """The dims at whose positions an element is read."""
    return [i.dim for i in e.indices if isinstance(i, Position)]
