"""Operations and bytes of a sweep, statement by statement, as amounts in the sizes of dims.

Comes in: a `Sweep` for loops, sizes. Goes out: a `Counted`. What operations are is said by the rows
of `gibbsppl.runtime.operations`; arithmetic of indices is not counted. A group of which data say
how large it is counts as its average, so that what is summed over all groups is exact. A kernel
that asks for a log density takes as many evaluations as its row says; a choice by chance takes the
average of its bodies.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from gibbsppl.algebra.copies import root_of
from gibbsppl.algebra.expressions import Dim
from gibbsppl.code.arrays.amounts import Amount
from gibbsppl.code.arrays.expressions import (
    ZERO,
    Apply,
    Element,
    Expr,
    Number,
    Position,
    Reduce,
    Size,
    Span,
    at,
    elements,
    walk,
)
from gibbsppl.code.arrays.statements import (
    Add,
    Argument,
    Choice,
    Draw,
    Let,
    Loop,
    Statement,
    Store,
    expressions_of,
    spans_of,
)
from gibbsppl.code.arrays.sweeps import DEFERRED, Sweep, every, made_by, spans_in
from gibbsppl.code.asked_for import asked_for
from gibbsppl.runtime.operations import FUNCTIONS, KERNELS

# Bytes of a number; of one in single precision.
BYTES, SINGLE = 8, 4
# The function of the runtime that makes the members of groups, and where these start.
MEMBERS = "members_by_group"
# What a choice by an array does with its bodies, besides one of them by chance.
NONE, ONE = Amount.number(0), Amount.number(1)
# Whole powers up to here are products.
LARGEST_POWER = 4


@dataclass(frozen=True, slots=True)
class Work:
    """Operations, and bytes that are read or written."""

    operations: Amount = NONE
    moved: Amount = NONE

    def __add__(self, other: Work) -> Work:
        return Work(self.operations + other.operations, self.moved + other.moved)

    def times(self, count: Amount | float) -> Work:
        """The work at so many positions."""
        return Work(self.operations * count, self.moved * count)


@dataclass(frozen=True, slots=True)
class Counted:
    """The work of a sweep by step, of what is recorded beside the state, and of what is made once.

    ``sizes`` are of all dims that amounts name.
    """

    steps: Mapping[str, Work]
    recorded: Work
    once: Work
    sizes: Mapping[str, float]


def counted(
    sweep: Sweep, sizes: Mapping[str, int], shares: Sequence[float] = ()
) -> Counted:
    """The work of a sweep; ``shares`` of units that a random scan takes are equal by default."""
    work = _Counter.of(sweep, sizes, tuple(shares))
    steps: dict[str, list[Work]] = {}
    for name, own in _attributed(list(work.parts(sweep.statements, ONE))):
        steps.setdefault(name, []).append(own)
    alone = (_all(w for _, w in work.parts(s, ONE)) for s in (sweep.monitors, sweep.prepare))
    recorded, once = map(work.in_dims, alone)
    return Counted(
        {n: work.in_dims(_all(own)) for n, own in steps.items()}, recorded, once, work.sizes
    )


def _all(works: Iterable[Work]) -> Work:
    found = list(works)
    return Work(
        Amount.sum(w.operations for w in found), Amount.sum(w.moved for w in found)
    )


def _attributed(parts: Sequence[tuple[str, Work]]) -> Iterator[tuple[str, Work]]:
    """The parts of steps: what is made for none belongs to the next one, which reads it."""
    names = [n for n, _ in parts]
    following = ""
    for k in range(len(names) - 1, -1, -1):
        following = names[k] = names[k] or following
    last = next((n for n in reversed(names) if n), "")
    return ((n or last, w) for n, (_, w) in zip(names, parts, strict=True))


@dataclass(frozen=True, slots=True)
class _Given:
    """An argument of a kernel, as rows of operations read it."""

    axes: tuple[Amount, ...]
    values: Any = None
    amount: Amount | None = None

    @property
    def count(self) -> Amount:
        """The number of its elements."""
        return _product(self.axes)


@dataclass(frozen=True, slots=True)
class _Counter:
    """The counting of work, with the known facts of the dims and the tables of a sweep.

    ``starts`` are tables of where groups start, with the average size of a group; ``lengths`` are
    sizes in those of the model; ``values`` tables that the sweep has itself; ``spans`` one of each
    dim.
    """

    sweep: Sweep
    sizes: Mapping[str, float]
    starts: Mapping[str, Amount]
    lengths: Mapping[str, Amount]
    values: Mapping[str, Any]
    spans: Mapping[str, Span]
    shares: tuple[float, ...]

    @classmethod
    def of(cls, sweep: Sweep, sizes: Mapping[str, int], shares: tuple[float, ...]) -> _Counter:
        """The facts of a sweep."""
        known: dict[str, float] = dict(sizes)
        lengths = {d: Amount.size(r) for d in sizes if (r := _root(d)) in sizes and r != d}
        lengths = {d: a for d, a in lengths.items() if known[d] == a.at(known)}
        starts: dict[str, Amount] = {}
        for t in sweep.tables:
            if t.function == MEMBERS:
                members, groups = (sweep.arrays[n].dims[0] for n in (t.names[0], t.names[-1]))
                own = sweep.arrays.get(str(t.arguments[0]).lstrip("@"))
                if own is not None:
                    lengths[members] = _product(map(Amount.size, own.dims))
                    known.setdefault(members, lengths[members].at(known))
                count = t.arguments[1]
                number = Amount.size(count.dim) if isinstance(count, Size) else Amount.number(
                    count.value if isinstance(count, Number) else float(count)
                )
                known.setdefault(members, 1.0)
                known.setdefault(groups, number.at(known) + 1)
                starts[t.names[-1]] = Amount.size(members).over(number, known)
        lengths |= _along(sweep, known)
        for name, sums in sweep.lengths.items():
            if not all(d in known for dims in sums for d in dims):
                continue
            found = Amount.sum(_product(map(Amount.size, dims)) for dims in sums)
            if found.at(known) == known.get(name, found.at(known)):
                lengths[name] = found
        given = (t for t in sweep.tables if t.function == "as_given")
        values = {n: v for t in given for n, v in zip(t.names, t.arguments, strict=True)}
        spans = spans_in((*sweep.every, *sweep.prepare))
        return cls(sweep, known, starts, lengths, values, spans, shares)

    def in_dims(self, work: Work) -> Work:
        """The same work in sizes of the model, as far as others are given by these."""
        found = (a.where(self.lengths, self.sizes) for a in (work.operations, work.moved))
        return Work(*(a.where(self.lengths, self.sizes) for a in found))

    def parts(
        self, statements: Iterable[Statement], around: Amount
    ) -> Iterator[tuple[str, Work]]:
        """The work of each statement, with its step, at all positions of loops around it."""
        for s in statements:
            match s:
                case Loop():
                    inside = list(self.parts(s.body, around * self.positions(s, around)))
                    last = next((n for n, _ in reversed(inside) if n), "")
                    own = list(_attributed(inside)) if last else inside
                    yield from own
                case Choice():
                    for body, share in zip(s.bodies, self.shared(s), strict=True):
                        yield from self.parts(body, around * share)
                case _:
                    yield s.step or (s.note if isinstance(s, Draw) else ""), self.work(s, around)

    def shared(self, s: Choice) -> tuple[float, ...]:
        """How often each body is carried out, of the times that one is chosen."""
        number, count = s.number, len(s.bodies)
        if isinstance(number, Element):
            if number.array == DEFERRED:
                return (0.0, 1.0)  # (by default every recorded sweep does)
            order = self.values.get(number.array)
            if order is not None:
                return tuple(np.bincount(order, minlength=count) / len(order))
        if len(self.shares) == count:
            return self.shares
        return (0.0, 1.0) if not s.bodies[0] else (1 / count,) * count

    def work(self, s: Let | Add | Store | Draw, around: Amount) -> Work:
        """The work of one statement, at all its positions."""
        count = around * self.positions(s, around)
        match s:
            case Draw():
                return self.drawn(s).times(count)
            case Let(is_empty=True):
                return Work()
            case Let(name=name, value=value):
                return (self.valued(value) + self.access(name)).times(count)
            case Add(array=array, indices=indices, value=value):
                more = Work(ONE, self.bytes_of(array) * 2)
                return (self.valued(value) + self.indexed(indices) + more).times(count)
            case Store(target=target, value=value):
                return (self.valued(value) + self.valued(target)).times(count)

    def drawn(self, s: Draw) -> Work:
        """The work of a call of a kernel, with the values of its arguments and its log density."""
        row = KERNELS[s.kernel]
        targets = [self.given(Argument(t, s.own), "") for t in s.targets]
        named = [f"{s.targets[0].array} {n}" for n in range(len(s.arguments))]
        given = [self.given(a, n) for a, n in zip(s.arguments, named, strict=True)]
        own = row.operations(*given, *targets)
        moved = Amount.sum(g.count * BYTES for g in (*given, *targets) if g.axes)
        found = Work(own if isinstance(own, Amount) else Amount.number(own), moved)
        # (what a kernel works on has been computed, unless the argument is an expression)
        values = (self.valued(a.value).times(_product(map(self.length, a.own)))
                  for a in s.arguments if not (a.own and isinstance(a.value, Element)))  # fmt: skip
        found = sum(values, found)
        if s.density is not None:
            value = self.valued(s.density.value)
            for kind, times in enumerate(row.asked(given)):
                body = asked_for(s.density.body, kind) if times else []
                inside = [w for _, w in self.parts(body, ONE)]
                found += _all([value, *inside]).times(times)
        return found

    def given(self, a: Argument, name: str) -> _Given:
        """An argument as far as it is known; a number by what ``name`` says of it."""
        if isinstance(a.value, Number):
            return _Given((), amount=self.lengths.get(name, Amount.number(a.value.value)))
        if not isinstance(a.value, Element):
            return _Given(tuple(map(self.length, a.own)))
        used = {i.dim for i in a.value.indices if isinstance(i, Position)}
        axes = tuple(self.length(s) for s in a.own if s.dim in used)
        values = self.values.get(a.value.array)
        if values is None or np.size(values) != 1:
            return _Given(axes, values)
        one = Amount.number(float(np.reshape(values, -1)[0]))
        return _Given(axes, values, self.lengths.get(name, one))

    def valued(self, e: Expr) -> Work:
        """The work of an expression at one position: indices are read, and not computed."""
        match e:
            case Element(array=array, indices=indices):
                return Work(NONE, self.bytes_of(array)) + self.indexed(indices)
            case Reduce(body=body, spans=spans):
                more = Work(ONE)
                return (self.valued(body) + more).times(_product(map(self.length, spans)))
            case Apply(function="where", arguments=(condition, one, other)):
                share = self.share(condition)
                found = self.valued(condition) + Work(Amount.number(FUNCTIONS["where"]))
                return found + self.valued(one).times(share) + self.valued(other).times(1 - share)
            case Apply():
                inside = (self.valued(a) for a in e.arguments)
                return sum(inside, Work(Amount.number(_of_call(e))))
        return sum(map(self.valued, e.parts), Work())

    def share(self, condition: Expr) -> float:
        """How often a condition holds: that an index is at one position, as if all were alike."""
        if isinstance(condition, Apply) and condition.function == "equals":
            arrays = (self.sweep.arrays.get(n) for n in sorted(condition.arrays))
            of = [a.of for a in arrays if a is not None and a.of in self.sizes]
            return 1 / max(1.0, max((self.sizes[d] for d in of), default=2.0))
        return 0.5

    def indexed(self, indices: Iterable[Expr]) -> Work:
        """The reads of the elements that indices are made of."""
        read = (x for i in indices for x in walk(i) if isinstance(x, Element))
        return Work(NONE, Amount.sum(self.bytes_of(x.array) for x in read))

    def access(self, array: str) -> Work:
        """One element read or written."""
        return Work(NONE, self.bytes_of(array))

    def bytes_of(self, array: str) -> Amount:
        """The bytes of an element."""
        known = self.sweep.arrays.get(array)
        return Amount.number(SINGLE if known is not None and known.type == "single" else BYTES)

    def positions(self, s: Statement, around: Amount) -> Amount:
        """The number of positions of a statement; by tables, of the elements that are made."""
        spans = spans_of(s)
        known = _product(self.length(x) for x in spans if not self.is_of_table(x))
        if not any(map(self.is_of_table, spans)):
            return known
        made = {n for b in every([s]) for n in made_by(b) if n in self.sweep.arrays}
        every_one = [_product(map(Amount.size, self.sweep.arrays[n].dims)) for n in sorted(made)]
        largest = max(every_one, key=lambda a: a.at(self.sizes), default=ONE)
        return known * largest.over(around * known, self.sizes)

    def is_of_table(self, span: Span) -> bool:
        """Whether a table says how many positions a span has, other than of groups."""
        return any(isinstance(e, Element) and e.array not in self.starts for e in span.ends)

    def length(self, span: Span) -> Amount:
        """The number of positions of a span; that of a dim whose size is written as a number."""
        if span.start == ZERO and isinstance(span.stop, Number):
            names = (d for d in (span.dim, _root(span.dim)) if self.sizes.get(d) == span.stop.value)
            own = next(names, None)
            if own is not None:
                return Amount.size(own)
        return self.number(span.stop) - self.number(span.start)

    def number(self, e: Expr) -> Amount:
        """A number that ends a span, as an amount: of positions the average."""
        match e:
            case Number(value=value):
                return Amount.number(value)
            case Size(dim=dim):
                return Amount.size(dim) if dim in self.sizes else ONE
            case Position(dim=dim, shift=shift):
                size = Amount.size(_root(dim)) if _root(dim) in self.sizes else ONE
                return (size - 1) * 0.5 + shift
            case Element(array=array, indices=(index,)) if array in self.starts:
                return self.starts[array] * self.number(index)
            case Apply(function="smaller", arguments=(one, other)):
                blocks = [x.dim for x in walk(other) if isinstance(x, Position)]
                if blocks and not other.arrays:
                    # (what is left of a whole: of all blocks together that whole)
                    whole = self.number(at(other, dict.fromkeys(blocks, ZERO)))
                    return whole.over(self.length(self.spans[blocks[0]]), self.sizes)
                return min(map(self.number, (one, other)), key=lambda a: a.at(self.sizes))
            case Apply(function="//", arguments=(one, other)):
                above, below = self.number(one), self.number(other)
                if e.arrays:
                    return above.over(below, self.sizes)
                exact = above.at(self.sizes) // below.at(self.sizes)
                # (what is added to round up is no amount)
                found = above.varying.over(below, self.sizes)
                return found * (exact / found.at(self.sizes)) if exact else NONE
            case Apply(function="+", arguments=arguments):
                return Amount.sum(map(self.number, arguments))
            case Apply(function="*", arguments=arguments):
                return _product(map(self.number, arguments))
            case Apply(function="neg", arguments=(inside,)):
                return self.number(inside) * -1
        return NONE


def _along(sweep: Sweep, sizes: dict[str, float]) -> dict[str, Amount]:
    """The sizes of dims that are read as positions along others: labels, along what they point to.

    Sizes of such dims, which are numbers in the sweep, are added to those that are known.
    """
    numbers = {s.dim: s.stop.value for s in spans_in((*sweep.every, *sweep.prepare)).values()
               if isinstance(s.stop, Number) and s.dim not in sizes}  # fmt: skip
    found: dict[str, Amount] = {}
    for s in every((*sweep.every, *sweep.prepare)):
        for e in (x for value in expressions_of(s) for x in elements(value)):
            dims = sweep.arrays[e.array].dims if e.array in sweep.arrays else ()
            for d, i in zip(dims, e.indices, strict=False):
                own = numbers.get(i.dim) if isinstance(i, Position) and not i.shift else None
                if isinstance(i, Position) and own is not None and own == sizes.get(d):
                    found.setdefault(i.dim, Amount.size(d))
    sizes.update({d: float(numbers[d]) for d in found})
    return found


def _root(dim: str) -> str:
    """The model's own name of a dim."""
    return root_of(Dim(dim.rstrip("'")))


def _product(amounts: Iterable[Amount]) -> Amount:
    return reduce(Amount.__mul__, amounts, ONE)


def _of_call(e: Apply) -> float:
    """The operations of a function of its arguments."""
    if e.function in {"+", "*", "minimum", "maximum"}:
        return (len(e.arguments) - 1) * FUNCTIONS[e.function]
    if e.function == "**" and isinstance(e.arguments[1], Number):
        power = abs(e.arguments[1].value)
        if power == int(power) and power <= LARGEST_POWER:
            return max(power - 1, 1)
    if e.function == "neg":
        return 0.0 if isinstance(e.arguments[0], Number) else FUNCTIONS["neg"]
    return FUNCTIONS[e.function]
