"""The lowering of one scan: its labels, their weights, and what an element of a label changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
from gibbsppl.code.arrays.statements import Add, Argument, Draw, Let
from gibbsppl.code.lowering.scan_parts import Moving, Part
from gibbsppl.code.lowering.workshop import Workshop
from gibbsppl.derive.labels import LABEL
from gibbsppl.rewrites.collapsing import Scan, of_label, without
from gibbsppl.schedule.kinds import LabelDraw

Terms: TypeAlias = Sequence[tuple[Formula, tuple[Range, ...]]]

IMPOSSIBLE = Number(-inf)


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
        places = (at(w.expr(c.array[c.at]), position(label)) for c in scan.changes)
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
        return shifted(self.target, -self.scan.lower)

    def label_of(self, drawn: Expr) -> Expr:
        """The label that is counted from zero."""
        return shifted(drawn, self.scan.lower)

    def index(self, word: str, value: Expr) -> Element:
        """A new whole number."""
        name = self.w.fresh(f"{self.array}_{word}")
        self.w.add(Let(name, (), value, type="int"))
        return Element(name)

    def drawn(self, kernel: str, *given: Argument) -> Element:
        """The number of the label that a kernel draws."""
        found = self.index("drawn", ZERO)
        self.w.add(Draw((found,), kernel, given, note=self.name))
        return found

    def is_by_label(self, weights: Expr) -> bool:
        """Whether an element changes the weights of its own label alone."""
        return all(map(self.moving.is_by_label, elements(weights)))

    def without_own(self) -> Terms:
        """The terms of a weight, from arrays that have the contributions of the element."""
        changes = self.scan.changes
        return [(without(t, changes, of_label(LABEL)), over) for t, over in self.scan.terms]

    def weights(self, terms: Terms) -> tuple[Expr, bool]:
        """The weight of each label, and whether it is a product of ratios, not a log."""
        ratios = ratios_of(terms)
        value = self.logs(terms) if ratios is None else self.ratio(ratios)
        return at(value, position(self.label)), ratios is not None

    def ratio(self, ratios: Sequence[Formula]) -> Expr:
        """A product, in which each divisor is a factor of its own.

        A divisor is a sum of counts that a factor is one of: both are zero together.
        """
        factors = factors_of(ratios)
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


def ratios_of(terms: Terms) -> list[Formula] | None:
    """The terms of a log weight as ratios, whose product is the weight; None if some are none."""
    ratios = [as_ratio(term) if not over else None for term, over in terms]
    found = [r for r in ratios if r is not None]
    return found if len(found) == len(ratios) else None


def factors_of(ratios: Sequence[Formula]) -> tuple[Formula, ...]:
    """The factors of a product of ratios; a divisor is a negative power."""
    return sp.Mul.make_args(sp.Mul(*ratios))


def as_ratio(term: Formula) -> Formula | None:
    """``exp`` of a sum of logs with whole coefficients, as a product."""
    factors = []
    for t in Sum.make_args(term):
        number, rest = t.as_coeff_Mul()
        if not number.is_Integer or not isinstance(rest, sp.log):
            return None
        factors.append(rest.args[0] ** number)
    return sp.Mul(*factors)


def shifted(whole: Expr, shift: int) -> Expr:
    """A whole number plus another, which stays one."""
    return total([whole, Number(shift, stays=True)]) if shift else whole


def position(label: Span) -> dict[str, Expr]:
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
