"""Draws of elements one by one from sums over all current ones, which each draw keeps up to date.

What an element is multiplied by in each row that sees it is computed once: for all values at which
it is weighed, and for the change of the sums after the draw.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace

import sympy as sp

from gibbsppl.algebra.expressions import Array, Dim, Leaf, dims_of
from gibbsppl.algebra.expressions import Expr as Formula
from gibbsppl.code.arrays.expressions import Apply, Element, Position
from gibbsppl.code.arrays.statements import Argument, Choice, Let, Type
from gibbsppl.code.lowering.draws import drawn_into
from gibbsppl.code.lowering.kept_sums import add_kept, brought_up, renamed, seen_rows
from gibbsppl.code.lowering.parameters import by_element
from gibbsppl.code.lowering.selections import Selection, elements_in_turn
from gibbsppl.code.lowering.workshop import Workshop
from gibbsppl.derive.contractions import Contribution
from gibbsppl.pieces.vanishing import terms_of
from gibbsppl.schedule.element_sums import SumLoop
from gibbsppl.schedule.kept_sums import KeptSum
from gibbsppl.schedule.kinds import LabelDraw, Single
from gibbsppl.schedule.parameters import NaturalParameter


def lower_by_sums(w: Workshop, step: LabelDraw, loop: SumLoop, label: Dim) -> None:
    """Draws of labels, each from the rows that see it."""
    chosen = elements_in_turn(w, step)
    kept = KeptSums.begun(w, step, loop, chosen)
    terms = tuple(replace(c, value=_of_label(c.value, label)) for c in kept.terms)
    weights = NaturalParameter(label, (label, *loop.element.own_dims), terms)
    over = w.inside(*chosen.over) if chosen.over else nullcontext()
    with w.with_dims({label: len(step.labels)}), w.with_local(*kept.names), over:
        kept.weigh()
        weight = Argument(chosen.of(by_element(w, weights)), (w.span(label),))
        drawn_into(w, step, chosen, "labels", (weight,), (), lower=step.labels.start)
        kept.follow()


def _of_label(value: Formula, label: Dim) -> Formula:
    """The terms that differ from label to label: others weigh all values alike."""
    every = terms_of(value, lambda e: label in dims_of(e))
    return sp.Add(*(t for t in every if label in dims_of(t)))


@dataclass(frozen=True, slots=True)
class KeptSums:
    """Sums over all elements of a step that are kept up to date, one element at work.

    ``arrays`` are the names, in the sweep, of sums and weights; ``before`` is that of the value of
    the element before its draw.
    """

    w: Workshop
    loop: SumLoop
    chosen: Selection
    arrays: Mapping[str, str]
    before: str

    @classmethod
    def begun(cls, w: Workshop, step: Single, loop: SumLoop, chosen: Selection) -> KeptSums:
        """The sums, computed before the first element is drawn."""
        array = step.variables[0]
        arrays = add_kept(w, array, loop.sums)
        weights = (s.weight_at for s in loop.sums)
        named = (x.array.name for x in weights if isinstance(x, Leaf))
        arrays |= {n: w.fresh(f"{array}_weight") for n in named}
        return cls(w, loop, chosen, arrays, w.fresh(f"{array}_before"))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the arrays."""
        return (*self.arrays.values(), self.before)

    @property
    def terms(self) -> tuple[Contribution, ...]:
        """The terms by which the element is drawn, which read these arrays."""
        return tuple(replace(c, value=renamed(c.value, self.arrays)) for c in self.loop.terms)

    @property
    def target(self) -> Element:
        """The element at work."""
        element = self.loop.element
        return self.chosen.element(element.array.name, element.own_dims)

    def weigh(self) -> None:
        """The statements of what the element is multiplied by in each row, and of its value."""
        for s in self.loop.sums:
            at = renamed(s.weight_at, self.arrays)
            if not isinstance(at, Leaf):
                continue
            value, over = self.chosen.of(self.w.expr(s.weight_by_row)), self.w.spans(s.across)
            if over:
                value = self.w.side_by_side(value, over[-1].dim)
            self.w.add(Let(at.array.name, over, value))
        is_whole = self.w.graph.variables[self.loop.element.array.name].integer
        kind: Type = "int" if is_whole else "float"
        self.w.add(Let(self.before, (), self.target, type=kind))

    def follow(self) -> None:
        """The statements by which the sums follow the element that has been drawn."""
        with self.w.apart() as updates:
            for s in self.loop.sums:
                self._move(s)
        stays = Apply("equals", (Element(self.before), self.target))
        self.w.add(Choice(stays, (tuple(updates), ())))

    def _move(self, s: KeptSum) -> None:
        change = s.change(self.loop.element, Leaf(Array(self.before, real=True)))
        moved = self.chosen.of(self.w.expr(renamed(s.weight_at * change, self.arrays)))
        places = {d: self.chosen.of(Position(d.name)) for d in self.loop.element.own_dims}
        # (the weight is 0 at rows that do not see it)
        seen = seen_rows(self.w, s.rows, places, self.chosen.over)
        self.w.add(brought_up(s.kept, self.arrays[s.kept.name], seen.placed(moved), seen))
