"""Draws of single elements by the value of a form that is linear in each of them, a residual say.

Elements are drawn column by column: those at one position of an outer axis are copied side by side.
What the form changes by with an element, its slope at each row that sees it, is computed once: for
the sums from which the element is drawn, and for the change of the form after the draw.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import Array, Dim, Leaf, Over, substitute
from gibbsppl.algebra.expressions import Expr as Formula
from gibbsppl.code.arrays.expressions import (
    ONE,
    TWO,
    ZERO,
    Apply,
    Element,
    Expr,
    Number,
    Position,
    Size,
    Span,
    at,
    mapped,
    negative,
    product,
    total,
)
from gibbsppl.code.arrays.groups import Hot
from gibbsppl.code.arrays.statements import Add, Argument, Choice, Draw, Let, Store
from gibbsppl.code.arrays.terms import quotient
from gibbsppl.code.lowering.parameters import by_element, parameter
from gibbsppl.code.lowering.selections import Selection, of_column
from gibbsppl.code.lowering.workshop import Workshop
from gibbsppl.errors import NotLoweredError
from gibbsppl.schedule.element_loops import (
    ElementLoop,
    is_tied_otherwise,
    kept_forms,
    others_of,
)
from gibbsppl.schedule.kept_sums import Kept
from gibbsppl.schedule.kinds import FamilyDraw
from gibbsppl.schedule.mean_loops import ByForm


def lower_by_form(w: Workshop, step: FamilyDraw, loop: ElementLoop) -> None:
    """Draws of single elements, each from sums over the rows that see it."""
    kept = next(k for k in kept_forms(w.schedule) if k.form == loop.form.form)
    etas = before_any(w, step, loop)
    chosen, outer = of_column(w, step, loop.outer)
    with w.inside(*outer) if outer else nullcontext():
        work = _Column.of(w, step, loop, kept, chosen)
        work.begin()
        with w.inside(*chosen.over):
            work.draw(etas)


@dataclass(frozen=True, slots=True)
class _Column:
    """The draws of one column.

    ``lanes`` span the rows that see the element drawn, at which ``placed`` reads an expression;
    ``column`` is the name of the copy of the elements; ``sums`` are the names of sums of elements,
    by row, that draws keep up to date, ``others`` those without the element's own position.
    """

    w: Workshop
    step: FamilyDraw
    loop: ElementLoop
    kept: Kept
    chosen: Selection
    column: str
    lanes: tuple[Span, ...]
    placed: Callable[[Expr], Expr]
    sums: Mapping[sp.Symbol, str]
    others: Mapping[sp.Symbol, Expr]

    @classmethod
    def of(
        cls, w: Workshop, step: FamilyDraw, loop: ElementLoop, kept: Kept, chosen: Selection
    ) -> _Column:
        """The work on a column."""
        array = step.variables[0]
        column = w.fresh(f"{array}_column") if loop.outer else array
        seen = rows_in_place(w, loop, chosen, w.dims(array))
        if seen is not None:
            others = None
            found = cls(w, step, loop, kept, chosen, column, *seen, {}, {})
        else:
            hot, spans = seen_rows(w, loop, chosen, w.dims(array))
            lanes, placed = in_lanes(w, hot, spans, array)
            found = cls(w, step, loop, kept, chosen, column, (lanes,), placed, {}, {})
            others = found.at_other_positions(hot, spans) if loop.rest else None
        if others is not None:
            return replace(found, others=others)
        sums = {s: w.fresh(f"{array}_sum") for s in loop.sums.values()}
        return replace(found, sums=sums)

    @property
    def array(self) -> str:
        """The array that is drawn."""
        return self.step.variables[0]

    @property
    def target(self) -> Element:
        """The element that is drawn."""
        return self.chosen.element(self.array, self.w.dims(self.array))

    def expr(self, formula: Formula) -> Expr:
        """An expression at a row that sees an element, which reads elements from the column."""
        read = enumerate(self.loop.entry.view.indices)
        dims = self.w.dims(self.array)
        outer = {i: dims[a] for a, i in read if a in self.loop.outer and i is not None}
        renamed = formula.xreplace({i: d for i, d in outer.items() if i != d})
        return self.in_column(self.w.expr(renamed))

    def in_column(self, expr: Expr) -> Expr:
        """An expression that reads elements from the column."""

        def one(e: Expr) -> Expr | None:
            if not isinstance(e, Element) or e.array != self.array:
                return None
            kept = (i for a, i in enumerate(e.indices) if a not in self.loop.outer)
            return Element(self.column, tuple(self.in_column(i) for i in kept))

        return mapped(expr, one)

    def at_other_positions(self, hot: Hot, spans: tuple[Span, ...]) -> dict[sp.Symbol, Expr] | None:
        """The sums without the element's own position, each written out; None for other sums."""
        found = {}
        for e, symbol in self.loop.sums.items():
            assert isinstance(e, Over)
            star = self.loop.inner[0]
            body = self.expr(substitute(e.body, {e.bound[0]: star.dim}))
            terms = self.w.groups.at_others(body, hot, spans, len(star))
            if terms is None:
                return None
            found[symbol] = self.at_lane(total(terms), hot, spans)
        return found

    def at_lane(self, expr: Expr, hot: Hot, spans: tuple[Span, ...]) -> Expr:
        """An expression of members of groups, at one of the element's."""
        members, _ = self.w.groups.members(hot, spans)
        (lanes,) = self.lanes
        return at(expr, {members.dim: total([members.start, Position(lanes.dim)])})

    def begin(self) -> None:
        """The statements before the first element of the column is drawn."""
        w, dims = self.w, self.w.dims(self.array)
        if self.loop.outer:
            here = tuple(d for a, d in enumerate(dims) if a not in self.loop.outer)
            value = Element(self.array, tuple(Position(d.name) for d in dims))
            w.add(Let(self.column, tuple(map(w.span, here)), value))
        for e, symbol in self.loop.sums.items() if self.sums else ():
            w.add(Let(self.sums[symbol], w.spans(self.kept.over), self.expr(e)))

    def draw(self, etas: list[Expr]) -> None:
        """The draw of one element."""
        w, step, target = self.w, self.step, self.target
        now = self.in_column(target)
        form = self.placed(Element(self.kept.name, self.rows))
        assert isinstance(form, Element)
        same, by_row = self.apart(self.slope)
        slope = by_row if isinstance(by_row, Element) else self.at_rows("slope", by_row)
        square, linear, change = (
            w.fresh(f"{self.array}_{n}") for n in ("square", "linear", "change")
        )
        curvature, constant = (
            self.placed(w.expr(e)) for e in (self.loop.form.curvature, self.loop.form.constant)
        )
        lead: Expr = Number(1)
        if constant == ZERO and not self.is_by_row(curvature):
            curvature, lead = lead, curvature
        derivative = total([constant, product([curvature, form])])
        squares = product([curvature, slope, slope])
        w.add(Let(square, (), ZERO), Let(linear, (), ZERO))
        if self.is_by_row(squares):
            w.add(Add(square, (), squares, self.lanes))
        else:
            count = product([lane.stop for lane in self.lanes])
            w.add(Add(square, (), product([squares, count]), ()))
        w.add(Add(linear, (), product([slope, derivative]), self.lanes))
        w.add(Let(change, (), negative(now)))
        whole = product([lead, same, same, Element(square)])
        first = [
            self.chosen.of(etas[0]),
            product([lead, same, Element(linear)]),
            negative(product([whole, now])),
        ]
        half = Apply("/", (whole, TWO))
        # (the square of what is 0 or 1 is itself)
        is_binary = step.statement.support.is_binary
        both = [[*first, half]] if is_binary else [first, [self.chosen.of(etas[1]), half]]
        assert step.draw_function is not None
        arguments = tuple(Argument(total(terms)) for terms in both)
        w.add(Draw((target,), step.draw_function, arguments, note=step.name))
        if self.loop.outer:
            assert isinstance(now, Element)
            w.add(Store(now, target))
        w.add(Add(change, (), target, ()))
        with w.apart() as updates:
            self.update(form, product([same, slope]), Element(change))
        if is_binary:  # (most stay as they are)
            w.add(Choice(Apply("equals", (Element(change), ZERO)), (tuple(updates), ())))
        else:
            w.add(*updates)

    def update(self, form: Element, slope: Expr, change: Element) -> None:
        """What the change of an element changes."""
        w = self.w
        moved = product([slope, change])
        w.add(Add(self.kept.name, form.indices, moved, self.lanes, self.kept.factor))
        for e, symbol in self.loop.sums.items() if self.sums else ():
            there = self.placed(Element(self.sums[symbol], self.rows))
            assert isinstance(there, Element)
            moved = product([self.change_of(e), change])
            w.add(Add(there.array, there.indices, moved, self.lanes))

    @property
    def rows(self) -> tuple[Expr, ...]:
        """The positions of the form."""
        return tuple(Position(r.dim.name) for r in self.kept.over)

    def is_by_row(self, expr: Expr) -> bool:
        """Whether an expression differs from row to row."""
        return any(lane.dim in expr.free for lane in self.lanes)

    def apart(self, slope: Expr) -> tuple[Expr, Expr]:
        """The factors of a slope that are the same at all rows, as one number; and the others."""
        same, by_row = list[Expr](), list[Expr]()
        whole = quotient(slope)
        for f in whole.above:
            (by_row if self.is_by_row(f) else same).append(f)
        if not (same and by_row) or any(map(self.is_by_row, whole.below)):
            return ONE, slope
        number = product([Number(whole.sign), *same, *(Apply("/", (ONE, b)) for b in whole.below)])
        return self.at_rows("same", number), product(by_row)

    def at_rows(self, stem: str, value: Expr) -> Element:
        """The element of a new array that is a value at each row, or a number for all of them."""
        dims = self.lanes if self.is_by_row(value) else ()
        name = self.w.fresh(f"{self.array}_{stem}")
        self.w.add(Let(name, dims, value))
        return Element(name, tuple(Position(d.dim) for d in dims))

    @property
    def slope(self) -> Expr:
        """The slope of the form at a row."""
        known = {**self.known, **self.others}
        for e, s in self.loop.sums.items() if self.sums else ():
            known[s] = self.placed(Element(self.sums[s], self.rows))
            if self.loop.rest:  # (then the symbol is for the sum without the element)
                own = product([self.change_of(e), known[self.loop.own]])
                known[s] = total([known[s], negative(own)])
        return of_symbols(self.w, self.loop.slope, known)

    def change_of(self, summed: Formula) -> Expr:
        """The slope of a sum, at a row."""
        return of_symbols(self.w, self.loop.changes[summed], self.known)

    @property
    def known(self) -> dict[sp.Symbol, Expr]:
        """The values of the symbols of a loop at a row, but for sums of elements."""
        loop = self.loop
        given = (*loop.data.items(), *loop.rows.items(), *loop.state.items())
        known = {s: self.placed(self.expr(e)) for e, s in given}
        known |= {s: self.chosen.of(self.w.expr(e)) for e, s in loop.elements.items()}
        return {self.loop.own: self.in_column(self.target), **known}


def of_symbols(w: Workshop, formula: Formula, known: Mapping[Any, Expr]) -> Expr:
    """A formula of symbols, or of elements, for which expressions are known."""
    names = {s: f"({s})" for s in known}
    read = formula.xreplace({s: Leaf(Array(n, real=True)) for s, n in names.items()})
    values: dict[Expr, Expr] = {Element(n): known[s] for s, n in names.items()}
    return mapped(w.expr(read), values.get)


def rows_in_place(
    w: Workshop, loop: ByForm, chosen: Selection, dims: tuple[Dim, ...]
) -> tuple[tuple[Span, ...], Callable[[Expr], Expr]] | None:
    """The spans of the rows that see the element drawn, where the element's place tells which.

    With what reads an expression at such a row. None where an index of data tells. (Where data
    weigh an entry with 0, the slope is 0 there.)
    """
    here: dict[str, Expr] = {}
    for a, (d, i) in enumerate(zip(dims, loop.entry.view.read, strict=True)):
        if a in loop.outer:
            continue
        if not isinstance(i, Dim) or i.name in here:
            return None
        here[i.name] = chosen.of(Position(d.name))
    if any(r.dim.name not in here or r.start for r in loop.inner):
        return None
    lanes = w.spans([r for r in loop.form.over if r.dim.name not in here])
    if not lanes:
        return None
    along = lanes[-1].dim
    return lanes, lambda e: w.side_by_side(at(e, here), along)


def seen_rows(
    w: Workshop, loop: ByForm, chosen: Selection, dims: tuple[Dim, ...]
) -> tuple[Hot, tuple[Span, ...]]:
    """The index by which rows see the element drawn, and the spans of the rows' entries.

    (Where data weigh an entry with 0, the slope is 0 there.)
    """
    spans = w.spans((*loop.form.over, *loop.inner))
    hot = [
        Hot(index, axis)
        for a, (d, i) in enumerate(zip(dims, loop.entry.view.indices, strict=True))
        if a not in loop.outer and i is not None
        if isinstance(index := w.expr(i), Element)
        if isinstance(axis := chosen.of(Position(d.name)), Position | Element)
    ]
    found = w.groups.of_one(hot, spans, frozenset(s.dim for s in chosen.over))
    if found is None:
        raise NotLoweredError("entries of a form that data look up by several indices.")
    return found, spans


def in_lanes(
    w: Workshop, hot: Hot, spans: tuple[Span, ...], array: str
) -> tuple[Span, Callable[[Expr], Expr]]:
    """The members of a group, counted from the first, and what reads an expression at one.

    (What is kept for each of them needs the room of the largest group alone.)
    """
    members, placed = w.groups.members(hot, spans)
    lane, most = w.fresh(f"{array}_lane"), w.fresh(f"most of {hot.index.array}")
    counts = np.unique(np.asarray(w.data[hot.index.array]), return_counts=True)[1]
    w.own_sizes[most] = int(counts.max(initial=0))
    count = total([members.stop, negative(members.start)])
    here: dict[str, Expr] = {members.dim: total([members.start, Position(lane)])}
    lanes = Span(lane, ZERO, Apply("smaller", (Size(most), count)))
    return lanes, lambda e: at(placed(e), here)


def before_any(w: Workshop, step: FamilyDraw, loop: ByForm) -> list[Expr]:
    """The terms of the natural parameters that come from all factors but the form's."""
    others = [others_of(p, loop.form) for p in step.parameters]
    if is_tied_otherwise(step, loop.form):  # (each is computed where its element is drawn)
        return [by_element(w, p) for p in others]
    stem = f"{step.variables[0]}_eta"
    return [parameter(w, p, f"{stem}_{j}") for j, p in enumerate(others, 1)]
