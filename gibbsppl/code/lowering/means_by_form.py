"""Means of single elements by the value of a form that is linear in each of them.

As draws `by_form`, with the moments of the others in place of their values: what a row adds to the
natural parameters is a function of the form at the means and of sums of monomials along the row,
which one element's new moments change.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import sympy as sp

from gibbsppl.algebra.expressions import Dim, Over
from gibbsppl.algebra.expressions import Expr as Formula
from gibbsppl.code.arrays.expressions import (
    Element,
    Expr,
    Position,
    negative,
    product,
    total,
)
from gibbsppl.code.arrays.statements import Add, Let, Store
from gibbsppl.code.lowering.by_form import before_any, lanes_of, of_symbols
from gibbsppl.code.lowering.kept_sums import SeenRows
from gibbsppl.code.lowering.selections import Selection, of_column
from gibbsppl.code.lowering.workshop import Workshop
from gibbsppl.schedule.kinds import FamilyDraw
from gibbsppl.schedule.mean_loops import MeanLoop


def lower_means_by_form(w: Workshop, step: FamilyDraw, loop: MeanLoop) -> None:
    """The moments of single elements, each from sums over the rows that see it."""
    array = step.variables[0]
    etas = before_any(w, step, loop)
    kept: dict[sp.Symbol, str] = {loop.total: w.fresh(str(loop.total))}
    w.add(Let(kept[loop.total], w.spans(loop.form.over), w.expr(loop.form.form)))
    chosen, outer = of_column(w, step, loop.outer)
    with w.inside(*outer) if outer else nullcontext():
        kept |= {s: w.fresh(str(s)) for s in loop.sums.values()}
        work = _Column(w, step, loop, chosen, lanes_of(w, loop, chosen, w.dims(array)), kept)
        work.begin()
        with w.inside(*chosen.over):
            work.average(etas)


@dataclass(frozen=True, slots=True)
class _Column:
    """The work on one column: ``seen`` are the rows that see an element.

    ``kept`` are the names of the form and of sums, by row.
    """

    w: Workshop
    step: FamilyDraw
    loop: MeanLoop
    chosen: Selection
    seen: SeenRows
    kept: dict[sp.Symbol, str]

    def begin(self) -> None:
        """The sums along rows, before the first element of the column is averaged."""
        (r,), over = self.loop.inner, self.w.spans(self.loop.form.over)
        for monomial, symbol in self.loop.sums.items():
            value = self._in_column(Over(monomial, r.dim, r.start, r.stop))
            self.w.add(Let(self.kept[symbol], over, value))

    def average(self, etas: list[Expr]) -> None:
        """The moments of one element, and the changes of what is kept."""
        w, loop, dims = self.w, self.loop, self.w.dims(self.step.variables[0])
        now = {n: Element(w.fresh(f"{n}_now")) for n in loop.own}
        for n, old in now.items():
            w.add(Let(old.array, (), self.chosen.element(n, dims)))
        known: dict[Any, Expr] = {loop.own[n]: e for n, e in now.items()} | self._given()
        there: dict[Any, Expr] = {
            s: self.seen.placed(Element(n, self._rows)) for s, n in self.kept.items()
        }
        slope = product([*self.seen.shown, of_symbols(w, loop.slope, known | there)])
        slope = self._by_row("slope", slope)
        given: dict[Any, Expr] = {}
        for eta, leaf, value in zip(etas, loop.given, loop.added, strict=True):
            name = w.fresh(leaf.array.name)
            w.add(Let(name, (), self.chosen.of(eta)))
            added = product([*self.seen.shown, of_symbols(w, value, known | there)])
            if self.seen.is_by_row(added):
                w.add(Add(name, (), added, self.seen.spans))
            else:
                w.add(Add(name, (), product([added, self.seen.count]), ()))
            given[leaf] = Element(name)
        for n, formula in loop.formulas.items():
            target = self.chosen.element(n, dims)
            w.add(Store(target, of_symbols(w, formula, given), note=self.step.name))
        new: dict[Any, Expr] = {loop.own[n]: self.chosen.element(n, dims) for n in loop.own}
        mean = loop.own[loop.mean]
        moved = total([new[mean], negative(known[mean])])
        self._add(there[loop.total], product([slope, moved]))
        for monomial, symbol in loop.sums.items():
            value = loop.changes[monomial]
            after = of_symbols(w, value, known | new)
            change = total([after, negative(of_symbols(w, value, known))])
            self._add(there[symbol], product([*self.seen.shown, change]))

    def _add(self, there: Expr, change: Expr) -> None:
        """Add a change to what is kept, at the rows that see the element."""
        assert isinstance(there, Element)
        self.w.add(Add(there.array, there.indices, change, self.seen.spans, self.loop.form.factor))

    def _given(self) -> dict[sp.Symbol, Expr]:
        """The values of the symbols of data and rows, at a row that sees the element."""
        given = (*self.loop.data.items(), *self.loop.rows.items())
        return {s: self.seen.placed(self._in_column(e)) for e, s in given}

    def _in_column(self, formula: Formula) -> Expr:
        """An expression at a row, its outer axes at the column."""
        dims, indices = self.w.dims(self.step.variables[0]), self.loop.entry.view.indices
        outer: dict[Any, Dim] = {indices[a]: dims[a] for a in self.loop.outer}
        return self.w.expr(formula.xreplace({i: d for i, d in outer.items() if i != d}))

    def _by_row(self, stem: str, value: Expr) -> Expr:
        """The element of a new array that is a value at each row, or a number for all of them."""
        name = self.w.fresh(f"{self.step.variables[0]}_{stem}")
        over = self.seen.spans if self.seen.is_by_row(value) else ()
        self.w.add(Let(name, over, value))
        return Element(name, tuple(Position(s.dim) for s in over))

    @property
    def _rows(self) -> tuple[Expr, ...]:
        """The positions of the form."""
        return tuple(Position(r.dim.name) for r in self.loop.form.over)
