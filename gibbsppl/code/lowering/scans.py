"""Scans of labels with others integrated out: one label after the other, or approximately at once.

Of each element the contributions are taken off the maintained arrays, labels are weighed, one is
drawn, contributions are put back. What is dear in a weight and the same for all elements that have
the label is an array of its own, of which a draw changes two entries (`scan_parts`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from math import inf
from typing import TypeAlias

import sympy as sp
from sympy import Add as Sum

from gibbsppl.algebra.expressions import Expr as Formula
from gibbsppl.algebra.expressions import Over
from gibbsppl.algebra.functions import INDICATORS
from gibbsppl.algebra.ranges import Range
from gibbsppl.code.arrays.expressions import (
    ONE,
    ZERO,
    Apply,
    Element,
    Expr,
    Number,
    Position,
    Span,
    at,
    elements,
    negative,
    product,
    total,
)
from gibbsppl.code.arrays.statements import Add, Argument, Choice, Draw, Let, Loop, Store
from gibbsppl.code.lowering.maintained import kept_up, with_maintained
from gibbsppl.code.lowering.parameters import parameter
from gibbsppl.code.lowering.scan_parts import Moving, Part, parted, sums_beforehand, with_known
from gibbsppl.code.lowering.selections import selection
from gibbsppl.code.lowering.workshop import Workshop
from gibbsppl.derive.contractions import Contribution
from gibbsppl.derive.labels import LABEL
from gibbsppl.rewrites.collapsing import Scan, without
from gibbsppl.rewrites.increments import Increment
from gibbsppl.schedule.kinds import LabelDraw
from gibbsppl.schedule.parameters import NaturalParameter

Terms: TypeAlias = Sequence[tuple[Formula, tuple[Range, ...]]]

IMPOSSIBLE = Number(-inf)


def lower_scan(w: Workshop, step: LabelDraw, scan: Scan) -> None:
    """A scan that keeps its arrays up to date."""
    axes = {c.array.name: _axis_of_label(c) for c in scan.changes}
    last = {name: axis for name, axis in axes.items() if axis is not None}
    with w.with_dims({LABEL: scan.size}), with_maintained(w, step.kept, last):
        work = Scanning.of(w, step, scan)
        weights, is_ratio = work.weights(scan.terms)
        own, is_alike = work.weights(work.without_own())
        if is_ratio and is_alike and work.is_by_label(weights):
            _corrected(work, weights, own)
        else:
            _taken_off(work, weights, "label_of_weights" if is_ratio else "labels")
    whole = {c.array.name for c in scan.changes if c.value.is_integer}
    kept_up(w, list(axes), whole)


def _taken_off(work: Scanning, weights: Expr, kernel: str) -> None:
    """A scan that takes the contributions of an element off, and puts them back."""
    w = work.w
    parts, weights = parted(w, weights, work.moving)
    with w.apart() as body:
        now = work.index("now", work.counted)
        work.change(now, parts, is_added=False)
        argument = Argument(weights, (work.label,))
        drawn = work.drawn(kernel, argument)
        w.add(Store(work.target, work.label_of(drawn)))
        work.change(drawn, parts, is_added=True)
    w.add(Loop(work.over, sums_beforehand(w, body, work.over)))


def _corrected(work: Scanning, weights: Expr, own: Expr) -> None:
    """A scan that weighs labels by arrays with the element in them, its own label apart.

    Arrays change with the label alone: most elements keep theirs, and what has just been written
    is not read again at once.
    """
    w = work.w
    parts, weights = parted(w, weights, work.moving)
    own = with_known(own, parts)
    with w.inside(*work.over):
        now = work.index("now", work.counted)
        found = Element(w.fresh(f"{work.array}_weights"), (Position(work.label.dim),))
        w.add(Let(found.array, (work.label,), weights))
        w.add(Store(Element(found.array, (now,)), at(own, {work.label.dim: now})))
        drawn = work.drawn("label_of_weights", Argument(found, (work.label,), as_is=True))
        with w.apart() as moved:
            w.add(Store(work.target, work.label_of(drawn)))
            work.change(now, (), is_added=False)
            work.change(drawn, (), is_added=True)
            for label in (now, drawn):
                for part in parts:
                    w.add(*part.at_label(work.label, label))
        w.add(Choice(Apply("equals", (now, drawn)), (tuple(moved), ())))


def lower_at_once(
    w: Workshop,
    step: LabelDraw,
    scan: Scan,
    weights: NaturalParameter,
    excess: Collection[Contribution],
) -> None:
    """An approximate scan: all labels at once, each given what the others were."""
    with w.with_dims({LABEL: scan.size}), with_maintained(w, step.kept):
        work = Scanning.of(w, step, scan)
        base = parameter(w, weights, f"{work.array}_log_weights")
        more = total([w.expr(c.value) for c in excess])
        is_now = Apply("equals", (Position(LABEL.name), work.counted))
        value = total([base, Apply("where", (is_now, more, ZERO))])
        drawn = Element(w.fresh(f"{work.array}_drawn"), tuple(Position(s.dim) for s in work.over))
        w.add(Let(drawn.array, work.over, ZERO, type="int"))
        argument = Argument(at(value, _position(work.label)), (work.label,))
        w.add(Draw((drawn,), "labels", (argument,), work.over, note=step.name))
        w.add(Store(work.target, work.label_of(drawn), work.over))


def lower_recomputed(
    w: Workshop, step: LabelDraw, scan: Scan, terms: Collection[Contribution]
) -> None:
    """A scan that computes the log density of all labels anew for each label of each element."""
    chosen = selection(w, step)
    array = step.variables[0]
    target = chosen.element(array, w.dims(array))
    label = w.own_dim(f"{array}_label", scan.size)
    weights = Element(w.fresh(f"{array}_log_weights"), (Position(label.dim),))
    with w.apart() as given_label:
        w.add(Store(target, _plus(Position(label.dim), scan.lower)))
        with with_maintained(w, step.kept):
            value = total([w.plain(c.value) for c in terms])
        w.add(Store(weights, value))
    each = Loop((label,), sums_beforehand(w, given_label))
    with w.inside(*chosen.over) if chosen.over else nullcontext():
        w.add(Let(weights.array, (label,), ZERO), each)
        drawn = Element(w.fresh(f"{array}_drawn"))
        w.add(Let(drawn.array, (), ZERO, type="int"))
        argument = Argument(weights, (label,), as_is=True)
        w.add(Draw((drawn,), "labels", (argument,), note=step.name))
        w.add(Store(target, _plus(drawn, scan.lower)))


def _axis_of_label(change: Increment) -> int | None:
    """The axis along which the labels of one element are neighbours in memory."""
    return change.at.index(LABEL) if LABEL in change.at and not change.over else None


@dataclass(frozen=True, slots=True)
class Scanning:
    """The lowering of one scan; ``label`` is the span of the labels, in a dim of its own."""

    w: Workshop
    scan: Scan
    name: str
    label: Span
    target: Element
    moving: Moving

    @classmethod
    def of(cls, w: Workshop, step: LabelDraw, scan: Scan) -> Scanning:
        """The lowering, in a context with the dim of labels."""
        label = Span(w.fresh(f"{step.variables[0]}_label"), ZERO, Number(scan.size))
        target = w.expr(scan.statement.target)
        assert isinstance(target, Element)
        places = (at(w.expr(c.array[c.at]), _position(label)) for c in scan.changes)
        changes = {e.array: e.indices for e in places if isinstance(e, Element)}
        return cls(w, scan, step.name, label, target, Moving(label, target.array, changes))

    @property
    def array(self) -> str:
        """The name of the array of labels."""
        return self.target.array

    @property
    def over(self) -> tuple[Span, ...]:
        """The positions of the elements, in the order in which they are drawn."""
        return tuple(map(self.w.span, self.scan.statement.target.own_dims))

    @property
    def counted(self) -> Expr:
        """The label of an element, counted from zero."""
        return _plus(self.target, -self.scan.lower)

    def label_of(self, drawn: Expr) -> Expr:
        """The label that is counted from zero."""
        return _plus(drawn, self.scan.lower)

    def index(self, word: str, value: Expr) -> Element:
        """A new whole number."""
        name = self.w.fresh(f"{self.array}_{word}")
        self.w.add(Let(name, (), value, type="int"))
        return Element(name)

    def drawn(self, kernel: str, weights: Argument) -> Element:
        """The number of the label that a kernel draws."""
        found = self.index("drawn", ZERO)
        self.w.add(Draw((found,), kernel, (weights,), note=self.name))
        return found

    def is_by_label(self, weights: Expr) -> bool:
        """Whether an element changes the weights of its own label alone."""
        return all(map(self.moving.is_by_label, elements(weights)))

    def without_own(self) -> Terms:
        """The terms of a weight, from arrays that have the contributions of the element."""
        changes = self.scan.changes
        return [(without(t, changes, changes, LABEL), over) for t, over in self.scan.terms]

    def weights(self, terms: Terms) -> tuple[Expr, bool]:
        """The weight of each label, and whether it is a product of ratios, not a log."""
        ratios = [as_ratio(term) if not over else None for term, over in terms]
        found = [r for r in ratios if r is not None]
        is_ratio = len(found) == len(ratios)
        value = self.ratio(found) if is_ratio else self.logs(terms)
        return at(value, _position(self.label)), is_ratio

    def ratio(self, ratios: Sequence[Formula]) -> Expr:
        """A product, in which each divisor is a factor of its own.

        A divisor is a sum of counts that a factor is one of: both are zero together.
        """
        factors = sp.Mul.make_args(sp.Mul(*ratios))
        below = [f for f in factors if _power(f) < 0]
        above = [self.w.plain(f) for f in factors if f not in below]
        return product([*above, *(_divided(self.w.plain(1 / f)) for f in below)])

    def logs(self, terms: Terms) -> Expr:
        """The sum of the terms of a log weight; nothing but a bound where that excludes a label."""
        single = Sum(*(t for t, over in terms if not over))
        gates = [t for t in Sum.make_args(single) if t.has(*INDICATORS)]
        rest = [t for t in Sum.make_args(single) if t not in gates]
        rest += [_summed(t, over) for t, over in terms if over]
        value = total(list(map(self.w.plain, rest)))
        if not gates:
            return value
        gate = self.w.plain(Sum(*gates))
        is_open = Apply("below", (IMPOSSIBLE, gate))
        return Apply("where", (is_open, total([gate, value]), IMPOSSIBLE))

    def change(self, label: Element, parts: Iterable[Part], *, is_added: bool) -> None:
        """The contributions of an element with a label, and what the label's parts are then."""
        # (the change of a sum is read from arrays without the element, which change around it)
        for c in reversed(self.scan.changes) if is_added else self.scan.changes:
            element, value = (
                at(self.w.plain(e), {LABEL.name: label}) for e in (c.array[c.at], c.value)
            )
            assert isinstance(element, Element)
            value = value if is_added else negative(value)
            self.w.add(Add(element.array, element.indices, value, self.w.spans(c.over)))
        for part in parts:
            self.w.add(*part.at_label(self.label, label))


def as_ratio(term: Formula) -> Formula | None:
    """``exp`` of a sum of logs with whole coefficients, as a product."""
    factors = []
    for t in Sum.make_args(term):
        number, rest = t.as_coeff_Mul()
        if not number.is_Integer or not isinstance(rest, sp.log):
            return None
        factors.append(rest.args[0] ** number)
    return sp.Mul(*factors)


def _plus(whole: Expr, shift: int) -> Expr:
    """A whole number plus another, which stays one."""
    return total([whole, Number(shift, stays=True)]) if shift else whole


def _position(label: Span) -> dict[str, Expr]:
    """The position that stands for the label of an expression."""
    return {LABEL.name: Position(label.dim)}


def _divided(divisor: Expr) -> Expr:
    """One over a divisor; zero for zero."""
    return Apply("where", (Apply("below", (ZERO, divisor)), Apply("/", (ONE, divisor)), ZERO))


def _power(factor: Formula) -> Formula:
    """The exponent of a factor."""
    return factor.as_base_exp()[1]


def _summed(term: Formula, over: Iterable[Range]) -> Formula:
    """A term, summed over ranges."""
    for r in over:
        term = Over(term, r.dim, r.start, r.stop)
    return term
