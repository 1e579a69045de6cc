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
from gibbsppl.code.arrays.expressions import Apply, Element
from gibbsppl.code.arrays.statements import Add, Argument, Choice, Let, Type
from gibbsppl.code.lowering.draws import drawn_into
from gibbsppl.code.lowering.parameters import by_element
from gibbsppl.code.lowering.selections import Selection, elements_in_turn
from gibbsppl.code.lowering.workshop import Workshop, positions
from gibbsppl.derive.contractions import Contribution
from gibbsppl.pieces.vanishing import terms_of
from gibbsppl.schedule.element_sums import ElementSum, SumLoop
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

    ``arrays`` are the elements of the arrays of a sweep that stand for sums and weights; ``before``
    is the name of the value of the element before its draw.
    """

    w: Workshop
    loop: SumLoop
    chosen: Selection
    arrays: Mapping[Formula, Formula]
    before: str

    @classmethod
    def begun(cls, w: Workshop, step: Single, loop: SumLoop, chosen: Selection) -> KeptSums:
        """The sums, computed before the first element is drawn."""
        arrays, array = dict[Formula, Formula](), step.variables[0]
        for s in loop.sums:
            name = w.fresh(f"{array}_sum")
            w.add(Let(name, tuple(map(w.span, s.dims)), w.expr(s.whole)))
            arrays |= {s.place: _renamed(s.place, name), s.weight_at: s.weight}
            if s.weight != 1:
                arrays[s.weight_at] = _renamed(s.weight_at, w.fresh(f"{array}_weight"))
        return cls(w, loop, chosen, arrays, w.fresh(f"{array}_before"))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the arrays."""
        found = (leaf.array.name for leaf in self.arrays.values() if isinstance(leaf, Leaf))
        return (*found, self.before)

    @property
    def terms(self) -> tuple[Contribution, ...]:
        """The terms by which the element is drawn, which read these arrays."""
        return tuple(replace(c, value=c.value.xreplace(self.arrays)) for c in self.loop.terms)

    @property
    def target(self) -> Element:
        """The element at work."""
        element = self.loop.element
        return self.chosen.element(element.array.name, element.own_dims)

    def weigh(self) -> None:
        """The statements of what the element is multiplied by in each row, and of its value."""
        for s in self.loop.sums:
            at = self.arrays[s.weight_at]
            if s.weight == 1 or not isinstance(at, Leaf):
                continue
            value = self.chosen.of(self.w.expr(s.weight))
            if s.dims:
                value = self.w.side_by_side(value, s.dims[-1].name)
            self.w.add(Let(at.array.name, tuple(map(self.w.span, s.dims)), value))
        is_whole = self.w.graph.variables[self.loop.element.array.name].integer
        kind: Type = "int" if is_whole else "float"
        self.w.add(Let(self.before, (), self.target, type=kind))

    def follow(self) -> None:
        """The statements by which the sums follow the element that has been drawn."""
        with self.w.apart() as updates:
            for s in self.loop.sums:
                self._moved(s)
        stays = Apply("equals", (Element(self.before), self.target))
        self.w.add(Choice(stays, (tuple(updates), ())))

    def _moved(self, s: ElementSum) -> None:
        place, weight = self.arrays[s.place], self.arrays[s.weight_at]
        change = s.change(self.loop.element, Leaf(Array(self.before, real=True)))
        assert isinstance(place, Leaf)
        moved = self.chosen.of(self.w.expr(weight * change))
        rows = tuple(map(self.w.span, s.dims))
        self.w.add(Add(place.array.name, positions(s.dims), moved, rows))


def _renamed(leaf: Leaf, name: str) -> Leaf:
    return Leaf(Array(name, real=True), *leaf.indices)
