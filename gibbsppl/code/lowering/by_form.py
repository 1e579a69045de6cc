"""Draws of single elements by the value of a form that is linear in each of them, a residual say.

Elements are drawn column by column: those at one position of an outer axis are copied side by side.
What the form changes by with an element, its slope at each row that sees it, is computed once: for
the sums from which the element is drawn, and for the change of the form after the draw.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

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
    at,
    mapped,
    negative,
    product,
    total,
)
from gibbsppl.code.arrays.statements import Add, Argument, Choice, Draw, Let, Store
from gibbsppl.code.arrays.terms import quotient
from gibbsppl.code.lowering.kept_sums import (
    SeenRows,
    add_kept,
    at_row,
    brought_up,
    in_lanes,
    seen_rows,
)
from gibbsppl.code.lowering.parameters import by_element, parameter
from gibbsppl.code.lowering.selections import Selection, of_column
from gibbsppl.code.lowering.workshop import Workshop
from gibbsppl.schedule.element_loops import (
    ElementLoop,
    is_tied_otherwise,
    kept_forms,
    others_of,
    rows_of,
)
from gibbsppl.schedule.kept_sums import Kept, KeptSum
from gibbsppl.schedule.kinds import FamilyDraw
from gibbsppl.schedule.mean_loops import ByForm


def lower_by_form(w: Workshop, step: FamilyDraw, loop: ElementLoop) -> None:
    """Draws of single elements, each from sums over the rows that see it."""
    kept = next(k for k in kept_forms(w.schedule) if k.form == loop.form.form)
    etas = before_any(w, step, loop)
    chosen, outer = of_column(w, step, loop.outer)
    with w.inside(*outer) if outer else nullcontext():
        work = _Column.begun(w, step, loop, kept, chosen)
        with w.inside(*chosen.over):
            work.draw(etas)


@dataclass(frozen=True, slots=True)
class _Column:
    """The draws of one column.

    ``seen`` are the rows that see the element drawn; ``column`` is the name of the copy of the
    elements; ``sums`` are the names of sums of elements, by row, that draws keep up to date,
    ``others`` those without the element's own position.
    """

    w: Workshop
    step: FamilyDraw
    loop: ElementLoop
    kept: Kept
    chosen: Selection
    column: str
    seen: SeenRows
    sums: Mapping[str, str] = field(default_factory=dict)
    others: Mapping[sp.Symbol, Expr] = field(default_factory=dict)

    @classmethod
    def begun(
        cls, w: Workshop, step: FamilyDraw, loop: ElementLoop, kept: Kept, chosen: Selection
    ) -> _Column:
        """The work on a column, with the statements before its first element is drawn."""
        array, dims = step.variables[0], w.dims(step.variables[0])
        column = w.fresh(f"{array}_column") if loop.outer else array
        found = cls(w, step, loop, kept, chosen, column, lanes_of(w, loop, chosen, dims))
        if loop.outer:
            here = tuple(d for a, d in enumerate(dims) if a not in loop.outer)
            value = Element(array, tuple(Position(d.name) for d in dims))
            w.add(Let(column, tuple(map(w.span, here)), value))
        others = found.at_other_positions() if loop.rest else None
        if others is not None:
            return replace(found, others=others)
        return replace(found, sums=add_kept(w, array, loop.sums, found.expr))

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

    def at_other_positions(self) -> dict[sp.Symbol, Expr] | None:
        """The sums without the element's own position, each written out; None for other sums."""
        star, found = self.loop.inner[0], dict[sp.Symbol, Expr]()
        spans = self.w.spans((*self.loop.form.over, star))
        if self.seen.shown or [g.spans for g in self.seen.groups] != [spans]:
            return None
        (group,), (lane,) = self.seen.groups, self.seen.spans
        at_lane = {group.members.dim: total([group.members.start, Position(lane.dim)])}
        for s in self.loop.sums:
            assert isinstance(s.kept.form, Over)
            body = self.expr(substitute(s.kept.form.body, {s.kept.form.bound[0]: star.dim}))
            terms = self.w.groups.at_others(body, group.hot, spans, len(star))
            if terms is None:
                return None
            found[s.symbol] = at(total(terms), at_lane)
        return found

    def draw(self, etas: list[Expr]) -> None:
        """The draw of one element."""
        w, step, target = self.w, self.step, self.target
        now = self.in_column(target)
        form = at_row(self.kept, self.kept.name, self.seen)
        same, by_row = self.apart(self.slope)
        slope = by_row if isinstance(by_row, Element) else self.at_rows("slope", by_row)
        square, linear, change = (
            w.fresh(f"{self.array}_{n}") for n in ("square", "linear", "change")
        )
        curvature, constant = (
            self.seen.placed(w.expr(e)) for e in (self.loop.form.curvature, self.loop.form.constant)
        )
        lead: Expr = Number(1)
        if constant == ZERO and not self.seen.is_by_row(curvature):
            curvature, lead = lead, curvature
        derivative = total([constant, product([curvature, form])])
        squares = product([curvature, slope, slope])
        w.add(Let(square, (), ZERO), Let(linear, (), ZERO))
        if self.seen.is_by_row(squares):
            w.add(Add(square, (), squares, self.seen.spans))
        else:
            w.add(Add(square, (), product([squares, self.seen.count]), ()))
        w.add(Add(linear, (), product([slope, derivative]), self.seen.spans))
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
            self.update(product([same, slope]), Element(change))
        if is_binary:  # (most stay as they are)
            w.add(Choice(Apply("equals", (Element(change), ZERO)), (tuple(updates), ())))
        else:
            w.add(*updates)

    def update(self, slope: Expr, change: Element) -> None:
        """What the change of an element changes."""
        moved = product([slope, change])
        self.w.add(brought_up(self.kept, self.kept.name, moved, self.seen))
        for s in self.loop.sums if self.sums else ():
            moved = product([*self.seen.shown, self.weight(s), change])
            self.w.add(brought_up(s.kept, self.sums[s.kept.name], moved, self.seen))

    def apart(self, slope: Expr) -> tuple[Expr, Expr]:
        """The factors of a slope that are the same at all rows, as one number; and the others."""
        same, by_row = list[Expr](), list[Expr]()
        whole = quotient(slope)
        for f in whole.above:
            (by_row if self.seen.is_by_row(f) else same).append(f)
        if not (same and by_row) or any(map(self.seen.is_by_row, whole.below)):
            return ONE, slope
        number = product([Number(whole.sign), *same, *(Apply("/", (ONE, b)) for b in whole.below)])
        return self.at_rows("same", number), product(by_row)

    def at_rows(self, stem: str, value: Expr) -> Element:
        """The element of a new array that is a value at each row, or a number for all of them."""
        dims = self.seen.spans if self.seen.is_by_row(value) else ()
        name = self.w.fresh(f"{self.array}_{stem}")
        self.w.add(Let(name, dims, value))
        return Element(name, tuple(Position(d.dim) for d in dims))

    @property
    def slope(self) -> Expr:
        """The slope of the form at a row."""
        known = {**self.known, **self.others}
        for s in self.loop.sums if self.sums else ():
            known[s.symbol] = at_row(s.kept, self.sums[s.kept.name], self.seen)
            if self.loop.rest:  # (then the symbol is for the sum without the element)
                own = product([self.weight(s), known[self.loop.own]])
                known[s.symbol] = total([known[s.symbol], negative(own)])
        return product([*self.seen.shown, of_symbols(self.w, self.loop.slope, known)])

    def weight(self, s: KeptSum) -> Expr:
        """The weight of the element in a sum, at a row."""
        return of_symbols(self.w, s.weight, self.known)

    @property
    def known(self) -> dict[sp.Symbol, Expr]:
        """The values of the symbols of a loop at a row, but for sums of elements."""
        loop = self.loop
        given = (*loop.data.items(), *loop.rows.items(), *loop.state.items())
        known = {s: self.seen.placed(self.expr(e)) for e, s in given}
        known |= {s: self.chosen.of(self.w.expr(e)) for e, s in loop.elements.items()}
        return {self.loop.own: self.in_column(self.target), **known}


def of_symbols(w: Workshop, formula: Formula, known: Mapping[Any, Expr]) -> Expr:
    """A formula of symbols, or of elements, for which expressions are known."""
    names = {s: f"({s})" for s in known}
    read = formula.xreplace({s: Leaf(Array(n, real=True)) for s, n in names.items()})
    values: dict[Expr, Expr] = {Element(n): known[s] for s, n in names.items()}
    return mapped(w.expr(read), values.get)


def lanes_of(
    w: Workshop, loop: ByForm, chosen: Selection, dims: tuple[Dim, ...]
) -> SeenRows:
    """The rows that see the element drawn, of a column if there are outer axes.

    (Where data weigh an entry with 0, the slope is 0 there.)
    """
    rows = rows_of(loop.form, loop.entry, loop.outer, dims)
    axes = (d for a, d in enumerate(dims) if a not in loop.outer)
    places = {d: chosen.of(Position(d.name)) for d in axes}
    return in_lanes(w, seen_rows(w, rows, places, chosen.over), loop.entry.view.array.name)


def before_any(w: Workshop, step: FamilyDraw, loop: ByForm) -> list[Expr]:
    """The terms of the natural parameters that come from all factors but the form's."""
    others = [others_of(p, loop.form) for p in step.parameters]
    if is_tied_otherwise(step, loop.form):  # (each is computed where its element is drawn)
        return [by_element(w, p) for p in others]
    stem = f"{step.variables[0]}_eta"
    return [parameter(w, p, f"{stem}_{j}") for j, p in enumerate(others, 1)]
