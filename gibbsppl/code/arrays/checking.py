"""Rules that hold of every sweep: looked at when one is made, and after each pass in tests.

Each array is made before it is read, once; it is read and changed along all of its axes, at whole
numbers inside of it; each dim is bound where it is read, and in a loop over it not once more; data
are not changed; a value goes to an element once, unless it is added.

>>> n, x = Span.whole("n"), {"x": Array(("n",), "data")}
>>> late = Reduce(Element("x", (Position("n", 1),)), (n,))
>>> check(Sweep("late", x, (Let("total", (), late),)), {"n": 4})
Traceback (most recent call last):
gibbsppl.errors.CompileError: late: let total = sum(n: x[n + 1]): x is read at positions 1..4 of 4;
    this is a mistake of gibbsppl: please report it with the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NoReturn

from gibbsppl.code.arrays.evaluation import number_of
from gibbsppl.code.arrays.expressions import (
    Apply,
    Element,
    Expr,
    Number,
    Position,
    Reduce,
    Size,
    Span,
)
from gibbsppl.code.arrays.statements import (
    Add,
    Choice,
    Density,
    Draw,
    Let,
    Loop,
    Statement,
    Store,
    lines,
)
from gibbsppl.code.arrays.sweeps import Array, Sweep
from gibbsppl.code.arrays.systems import Recursive
from gibbsppl.errors import CompileError

# Functions that are whole numbers where their arguments are, and those that always are.
OF_WHOLE = frozenset(("+", "*", "neg", "//", "maximum", "minimum", "smaller", "where", "abs"))
ALWAYS_WHOLE = frozenset(("floor", "equals", "below", "at_most", "and", "or"))


def check(sweep: Sweep, sizes: Mapping[str, int]) -> Sweep:
    """The sweep; an error where something does not hold, for the sizes of dims that are known.

    (What a sweep says of the sizes of its own dims is what they are at most.)
    """
    outside = {n: _Known(tuple(map(Size, a.dims)), a) for n, a in sweep.arrays.items()}
    work = _Check(sweep.name, sizes, outside)
    work.body(sweep.prepare)
    work.body(sweep.statements)
    work.body(sweep.monitors)
    return sweep


@dataclass(frozen=True, slots=True)
class _Known:
    """The sizes of an array along its axes (None: any), and its facts from outside or its type."""

    axes: tuple[Expr, ...] | None
    facts: Array

    @property
    def may_change(self) -> bool:
        """Whether statements may change its elements."""
        return self.facts.kind == "state"


@dataclass(frozen=True, slots=True)
class _Check:
    """The arrays and the spans that are known at a place, in a sweep of some name.

    ``looped`` are the dims of loops, one position after the other, in which the place is.
    """

    name: str
    sizes: Mapping[str, int]
    arrays: dict[str, _Known]
    bound: Mapping[str, Span] = field(default_factory=dict)
    looped: frozenset[str] = frozenset()
    told: str = ""
    is_chosen: bool = False

    def fail(self, why: str) -> NoReturn:
        """Raise an error."""
        raise CompileError(
            f"{self.name}: {self.told}: {why}; this is a mistake of gibbsppl: please report it "
            "with the model."
        )

    # Statements

    def body(self, statements: Iterable[Statement]) -> None:
        """The rules of statements in order."""
        for s in statements:
            replace(self, told=lines(s)[0]).statement(s)

    def inside(self, statements: Iterable[Statement]) -> None:
        """The rules of statements whose new arrays nothing else sees."""
        replace(self, arrays=dict(self.arrays)).body(statements)

    def statement(self, s: Statement) -> None:
        """The rules of one statement."""
        match s:
            case Let():
                self.made(s)
            case Add():
                here = self.within(s.over)
                here.changed(Element(s.array, s.indices))
                here.expr(s.value)
            case Store():
                here = self.within(s.over)
                here.changed(s.target)
                here.once(s.target, s.over)
                here.expr(s.value)
            case Loop():
                self.within(s.over).in_loop(s.over).inside(s.body)
            case Choice():
                self.expr(s.number)
                for body in s.bodies:
                    self.inside(body)
            case Draw():
                self.drawn(s)

    def made(self, s: Let) -> None:
        """The rules of a new array."""
        if s.name in self.arrays:
            self.fail(f"{s.name} is made twice")
        self.within(s.dims).expr(s.value)
        facts = Array(tuple(d.dim for d in s.dims), "state", s.type)
        self.arrays[s.name] = _Known(tuple(d.stop for d in s.dims), facts)

    def drawn(self, s: Draw) -> None:
        """The rules of a draw."""
        here = self.within(s.over)
        own = {x.dim: x for a in s.arguments for x in a.own} | {x.dim: x for x in s.own}
        for argument in s.arguments:
            here.within(argument.own).expr(argument.value)
        targets = here.within(own.values())
        for target in s.targets:
            targets.changed(target)
            targets.once(target, s.over)
        match s.density:
            case Density(argument=name, value=value, body=body):
                inner = replace(here.in_loop(s.over), arrays=dict(self.arrays))
                inner.arrays[name] = _Known(None, Array((), "state"))
                inner.body(body)
                inner.expr(value)

    def in_loop(self, spans: Iterable[Span]) -> _Check:
        """The same place where one position of spans after the other is visited."""
        return replace(self, looped=self.looped | {s.dim for s in spans})

    def within(self, spans: Iterable[Span]) -> _Check:
        """The place inside of spans, one after the other."""
        here = self
        for span in spans:
            for end in span.ends:
                here.expr(end)
            if span.dim in here.looped:
                here.fail(f"{span.dim} is bound inside of a loop over it")
            here = replace(here, bound={**here.bound, span.dim: span})
        return here

    def changed(self, target: Element) -> None:
        """The rules of elements that are changed."""
        self.expr(target)
        if not self.arrays[target.array].may_change:
            self.fail(f"{target.array}, which is no state, is changed")

    def once(self, target: Element, over: Iterable[Span]) -> None:
        """Whether a value for each position has an element of its own."""
        free = frozenset[str]().union(*(i.free for i in target.indices))
        if left := [s.dim for s in over if s.dim not in free]:
            self.fail(f"{target} is replaced at each position of {', '.join(left)}")

    # Expressions

    def expr(self, e: Expr) -> None:
        """The rules of an expression."""
        match e:
            case Position() if e.dim not in self.bound:
                self.fail(f"nothing says at which positions of {e.dim}")
            case Element():
                self.element(e)
            case Reduce():
                self.within(e.spans).expr(e.body)
            case Recursive():
                for index in e.indices:
                    self.expr(index)
            case Apply(function="where"):
                self.expr(e.parts[0])
                for branch in e.parts[1:]:
                    replace(self, is_chosen=True).expr(branch)
            case _:
                for part in e.parts:
                    self.expr(part)

    def element(self, e: Element) -> None:
        """The rules of an element that is read or changed."""
        known = self.arrays.get(e.array)
        if known is None:
            self.fail(f"{e.array} is read before it is made")
        if known.axes is None:
            return
        if len(e.indices) != len(known.axes):
            self.fail(f"{e.array} has {len(known.axes)} axes, found {len(e.indices)} indices")
        for index, axis in zip(e.indices, known.axes, strict=True):
            self.expr(index)
            if not self.is_whole(index):
                self.fail(f"{e.array} is read at {index}, which is no whole number")
            first, last = self.interval(index)
            size = self.number(axis)
            if self.is_chosen or size is None or first > last:
                continue
            if first < 0 or last >= size:
                self.fail(f"{e.array} is read at positions {first}..{last} of {size}")

    def is_whole(self, e: Expr) -> bool:
        """Whether an expression is made of whole numbers alone."""
        match e:
            case Number(value=value):
                return value == int(value)
            case Position() | Size():
                return True
            case Element(array=array):
                known = self.arrays.get(array)
                return known is None or known.axes is None or known.facts.type == "int"
            case Apply(function="where", arguments=(_, *branches)):
                return all(map(self.is_whole, branches))
            case Apply(function=function, arguments=arguments):
                every = function in OF_WHOLE and all(map(self.is_whole, arguments))
                return function in ALWAYS_WHOLE or every
            case Reduce(body=body):
                return self.is_whole(body)
        return False

    def interval(self, e: Expr) -> tuple[float, float]:
        """The least and the greatest position that an index can be, as far as it is known.

        Of what nothing is known these are inside of any array.
        """
        match e:
            case Number(value=value):
                return value, value
            case Position(dim=dim, shift=shift) if dim in self.bound:
                start, stop = map(self.number, self.bound[dim].ends)
                first = 0 if start is None else start + shift
                return first, (first if stop is None else stop - 1 + shift)
            case Element(array=array) if (known := self.arrays.get(array)) is not None:
                size = self.sizes.get(known.facts.of)
                return (0, 0) if size is None else (0, size - 1)
            case Apply(function="+", arguments=arguments) if not e.arrays:
                # (an index need not reach the ends of its dim: beside it, all may be inside)
                firsts, lasts = zip(*map(self.interval, arguments), strict=True)
                return sum(firsts), sum(lasts)
        return 0, 0

    def number(self, e: Expr) -> int | None:
        """The number that an expression of sizes is; None where it is not known."""
        if e.arrays or e.free:
            return None
        try:
            return number_of(e, self.sizes)
        except KeyError:
            return None
