"""Draws of labels one by one from sums over all current labels, which each draw keeps up to date.

What an element's label is multiplied by in each row that sees it is computed once: for the weights
of its values, and for the change of the sums after the draw.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace

import sympy as sp

from gibbsppl.algebra.expressions import Array, Dim, Leaf, dims_of
from gibbsppl.algebra.expressions import Expr as Formula
from gibbsppl.code.arrays.expressions import Apply, Element, Expr
from gibbsppl.code.arrays.statements import Add, Argument, Choice, Let
from gibbsppl.code.lowering.draws import drawn_into
from gibbsppl.code.lowering.parameters import by_element
from gibbsppl.code.lowering.selections import elements_in_turn
from gibbsppl.code.lowering.workshop import Workshop, positions
from gibbsppl.pieces.vanishing import terms_of
from gibbsppl.schedule.element_sums import ElementSum, SumLoop
from gibbsppl.schedule.kinds import LabelDraw


def lower_by_sums(w: Workshop, step: LabelDraw, loop: SumLoop, label: Dim) -> None:
    """Draws of labels, each from the rows that see it."""
    chosen, array = elements_in_turn(w, step), step.variables[0]
    names: dict[Formula, Formula] = {}
    for s in loop.sums:
        name = w.fresh(f"{array}_sum")
        w.add(Let(name, tuple(map(w.span, s.dims)), w.expr(s.whole)))
        names |= {s.place: _renamed(s.place, name), s.weight_at: s.weight}
        if s.weight != 1:
            names[s.weight_at] = _renamed(s.weight_at, w.fresh(f"{array}_weight"))
    local = [leaf.array.name for leaf in names.values() if isinstance(leaf, Leaf)]
    contributions = loop.weights.contributions
    read = tuple(replace(c, value=_of_label(c.value.xreplace(names), label)) for c in contributions)
    over = w.inside(*chosen.over) if chosen.over else nullcontext()
    with w.with_dims({label: len(step.labels)}), w.with_local(*local), over:
        for s in loop.sums:
            _weighted(w, s, names, chosen.of)
        target, before = chosen.element(array, w.dims(array)), w.fresh(f"{array}_before")
        w.add(Let(before, (), target, type="int"))
        weight = chosen.of(by_element(w, replace(loop.weights, contributions=read)))
        arguments = (Argument(weight, (w.span(label),)),)
        drawn_into(w, step, chosen, "labels", arguments, (), lower=step.labels.start)
        with w.apart() as updates:
            for s in loop.sums:
                _moved(w, s, names, loop.element, before, chosen.of)
        w.add(Choice(Apply("equals", (Element(before), target)), (tuple(updates), ())))


def _of_label(value: Formula, label: Dim) -> Formula:
    """The terms that differ from label to label: others weigh all values alike."""
    return sp.Add(*(t for t in terms_of(value, lambda e: label in dims_of(e)) if label in dims_of(t)))


def _renamed(leaf: Leaf, name: str) -> Leaf:
    return Leaf(Array(name, real=True), *leaf.indices)


def _weighted(
    w: Workshop, s: ElementSum, names: Mapping[Formula, Formula], of: Callable[[Expr], Expr]
) -> None:
    """The statement of what the label of the element at work is multiplied by in each row."""
    at = names[s.weight_at]
    if not isinstance(at, Leaf):
        return
    value = of(w.expr(s.weight))
    if s.dims:
        value = w.side_by_side(value, s.dims[-1].name)
    w.add(Let(at.array.name, tuple(map(w.span, s.dims)), value))


def _moved(
    w: Workshop,
    s: ElementSum,
    names: Mapping[Formula, Formula],
    element: Leaf,
    before: str,
    of: Callable[[Expr], Expr],
) -> None:
    """The statement by which a sum follows the label that has been drawn."""
    place, change = names[s.place], s.change(element, Leaf(Array(before, real=True)))
    assert isinstance(place, Leaf)
    moved = of(w.expr(names[s.weight_at] * change))
    w.add(Add(place.array.name, positions(s.dims), moved, tuple(map(w.span, s.dims))))
