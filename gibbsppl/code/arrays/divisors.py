r"""Data that are divided by data, once: loops multiply by what is left.

``sum(k: a[k] * x / c[k])`` divides for each position whenever ``x`` has changed. ``a[k] / c[k]``
depends on data alone: it is computed beforehand, and the sum is of products. Comes in: a `Sweep`,
its data and the sizes of its dims. Goes out: the sweep with such quotients as arrays of their own,
where no digits are lost: none overflows, or vanishes that was not 0.

>>> from gibbsppl.code.arrays.sweeps import Array
>>> a, c = (Element(n, (Position("k"),)) for n in ("a", "c"))
>>> mean = Apply("/", (Apply("*", (a, Element("x"))), c))
>>> known = {"a": Array(("k",), "data"), "c": Array(("k",), "data"), "x": Array((), "state")}
>>> sweep = Sweep("m", known, (Add("s", (), mean, (Span.whole("k"),)),))
>>> data = {"a": np.ones(3), "c": np.array([0.1, 2, 7])}
>>> done = divided_beforehand(sweep, data, {"k": 3})
>>> print(*done.prepare, *done.statements, sep="\n")
let a_c_divided[k] = a[k] / c[k]
add s += x * a_c_divided[k]  for k
>>> divided_beforehand(sweep, {**data, "c": np.array([0.0, 2, 7])}, {"k": 3}) == sweep
True
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, TypeAlias

import numpy as np

from gibbsppl.code.arrays.evaluation import computed, number_of
from gibbsppl.code.arrays.expressions import (
    ONE,
    Apply,
    Element,
    Expr,
    Number,
    Position,
    Size,
    Span,
    is_call,
    negative,
    product,
    walk,
)
from gibbsppl.code.arrays.naming import Names
from gibbsppl.code.arrays.statements import (
    Add,
    Choice,
    Draw,
    Let,
    Loop,
    Statement,
    Store,
    spans_of,
)
from gibbsppl.code.arrays.sweeps import Sweep, names_in
from gibbsppl.code.arrays.terms import Quotient, dims_in_order, quotient, renumbered
from gibbsppl.model.evaluation import Values

# The least and the largest size of quotients other than 0: beyond, digits are lost.
LEAST, LARGEST = float(np.finfo(float).tiny), float(np.finfo(float).max)
Spans: TypeAlias = tuple[Span, ...]
# Spans by the names of their dims.
Here: TypeAlias = Mapping[str, Span]


def divided_beforehand(sweep: Sweep, data: Values, sizes: Mapping[str, int]) -> Sweep:
    """The sweep in which data are divided by data once."""
    names = Names({*sweep.arrays, *names_in((*sweep.prepare, *sweep.every))})
    given = {n for n, a in sweep.arrays.items() if a.kind == "data" and n in data}
    arrays = {n: np.asarray(data[n]) for n in given}
    work = _Divisors(names, arrays, {**sizes, **sweep.sizes})
    statements = tuple(work.of(s, {}) for s in sweep.statements)
    monitors = tuple(work.of(s, {}) for s in sweep.monitors)
    prepare = (*sweep.prepare, *work.made)
    return replace(sweep, statements=statements, monitors=monitors, prepare=prepare)


@dataclass(frozen=True, slots=True)
class _Divisors:
    """The work on a sweep: data, sizes, the arrays that are made, by what they are equal to."""

    names: Names
    data: Mapping[str, np.ndarray[Any, Any]]
    sizes: Mapping[str, int]
    made: list[Let] = field(default_factory=list)
    known: dict[object, str | None] = field(default_factory=dict)

    def of(self, s: Statement, outer: Here) -> Statement:
        """A statement, within the spans of loops around it."""
        here = {**outer, **{x.dim: x for x in spans_of(s)}}
        match s:
            case Let() | Add() | Store():
                return replace(s, value=self.divided(s.value, here))
            case Loop():
                return replace(s, body=self.all_of(s.body, here))
            case Choice():
                return s.of(lambda body: self.all_of(body, here))
            case Draw():
                return self.of_draw(s, here)

    def all_of(self, statements: Iterable[Statement], here: Here) -> tuple[Statement, ...]:
        """Statements within the same loops."""
        return tuple(self.of(s, here) for s in statements)

    def of_draw(self, s: Draw, here: Here) -> Draw:
        """A draw, with its arguments and its log density."""
        arguments = tuple(
            replace(a, value=self.divided(a.value, {**here, **{x.dim: x for x in a.own}}))
            for a in s.arguments
        )
        density = s.density
        if density is not None:
            body, value = self.all_of(density.body, here), self.divided(density.value, here)
            density = replace(density, body=body, value=value)
        return replace(s, arguments=arguments, density=density)

    def divided(self, e: Expr, here: Here) -> Expr:
        """An expression in which data are divided beforehand."""
        if not e.free or self.is_data(e):
            return e
        found = None
        if is_call(e, "weighted"):
            found = self.weighted(e, here)
        elif any(is_call(e, f) for f in ("/", "*", "neg")):
            found = self.product(quotient(e), here)
        return e.over(lambda part: self.divided(part, here)) if found is None else found

    def weighted(self, e: Expr, here: Here) -> Expr | None:
        """A weight of data times a quotient: the new weight is 0 where the old one is."""
        weight, value = e.parts
        found = quotient(value)
        free = weight.free
        under = [b for b in found.below if self.is_divisor(b) and b.free <= free]
        made = self.array([weight], under, here) if under and self.is_divisor(weight) else None
        if made is None or not free:
            return None
        left = replace(found, below=tuple(b for b in found.below if b not in under))
        return Apply("weighted", (made, self.divided(left.value, here)))

    def product(self, found: Quotient, here: Here) -> Expr | None:
        """A product of which some divisors are data; None where none are."""
        every = [b for b in found.below if self.is_divisor(b) and b.free]
        above, below, made = list(found.above), list(found.below), list[Expr]()
        for free in dict.fromkeys(b.free for b in every):
            under = [b for b in every if b.free == free]
            over = [a for a in above if self.is_divisor(a) and a.free <= free]
            array = self.array(over, under, here)
            if array is not None:
                above = [a for a in above if a not in over]
                below = [b for b in below if b not in under]
                made.append(array)
        if not made:
            return None
        whole = product([*(self.divided(a, here) for a in above), *made])
        for b in below:
            whole = Apply("/", (whole, self.divided(b, here)))
        return negative(whole) if found.sign < 0 else whole

    def is_data(self, e: Expr) -> bool:
        """Whether an expression depends on data alone, and on some."""
        return bool(e.arrays) and e.arrays <= self.data.keys()

    def is_divisor(self, e: Expr) -> bool:
        """Whether an expression is computed of data alone, with no sums inside."""
        plain = (isinstance(x, Number | Size | Position | Element | Apply) for x in walk(e))
        return self.is_data(e) and all(plain)

    def array(self, over: Sequence[Expr], under: Sequence[Expr], here: Here) -> Element | None:
        """The element of a new array that a quotient of data is; None where there is none."""
        whole = Quotient(1, tuple(over) or (ONE,), tuple(under)).value
        spans = tuple(here[d] for d in dims_in_order(whole) if d in here)
        if len(spans) < len(whole.free) or any(x.arrays or x.free for s in spans for x in s.ends):
            return None
        key = (renumbered(whole, spans), tuple(s.ends for s in spans))
        if key not in self.known:
            is_made = self.is_small(whole, spans) and self.keeps_digits(over, under, spans)
            stem = "_".join(sorted(whole.arrays)[:2])
            self.known[key] = self.names.fresh(f"{stem}_divided") if is_made else None
            if (name := self.known[key]) is not None:
                self.made.append(Let(name, spans, whole))
        name = self.known[key]
        return None if name is None else Element(name, tuple(Position(s.dim) for s in spans))

    def is_small(self, e: Expr, spans: Iterable[Span]) -> bool:
        """Whether an expression has no more positions than an array that it reads."""
        positions = prod(max(0, number_of(s.stop, self.sizes)) for s in spans)
        return positions <= max(self.data[a].size for a in e.arrays)

    def keeps_digits(self, over: Iterable[Expr], under: Iterable[Expr], spans: Spans) -> bool:
        """Whether no product or quotient on the way overflows, or vanishes but where it is 0."""
        value: Any = 1.0
        may_vanish: Any = False
        with np.errstate(all="ignore"):
            for is_under, e in (*((False, e) for e in over), *((True, e) for e in under)):
                found = computed([Let("it", spans, e)], self.data, self.sizes)["it"]
                found = found[_inside(spans, self.sizes)]
                if not is_under:
                    may_vanish = may_vanish | (found == 0)
                value = value / found if is_under else value * found
                size = np.abs(value)
                if not (((size >= LEAST) & (size <= LARGEST)) | (may_vanish & (size == 0))).all():
                    return False
        return True


def _inside(spans: Spans, sizes: Mapping[str, int]) -> tuple[slice, ...]:
    """The positions of spans, as an index of an array."""
    return tuple(slice(number_of(s.start, sizes), number_of(s.stop, sizes)) for s in spans)
