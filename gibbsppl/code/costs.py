"""Costs of sweeps in NumPy and in loops, against the time that compiling takes.

Comes in: a `Sweep`, sizes. Goes out: a `Worth`. The figures are of one machine; the choice depends
on the model, its sizes and the number of sweeps alone, so that it is the same everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import prod

from gibbsppl.code.arrays.costs import is_dear
from gibbsppl.code.arrays.expressions import Apply, Element, Expr, Number, Reduce, Size, Span, walk
from gibbsppl.code.arrays.statements import (
    Add,
    Choice,
    Draw,
    Loop,
    Statement,
    expressions_of,
    inner,
    spans_of,
)
from gibbsppl.code.arrays.sweeps import Sweep, every, made_by
from gibbsppl.code.asked_for import OF_BATCH, asked_for, has_batches
from gibbsppl.code.operations import counted
from gibbsppl.code.worth import Worth
from gibbsppl.runtime.kernel_costs import COSTS, Cost
from gibbsppl.runtime.modal import BATCH

# Seconds that NumPy takes for a number that a statement computes, a sum, an array, however large
# they are; for a draw of a number, of an array, of vectors or matrices.
A_VALUE, A_SUM, AN_ARRAY, A_DRAW, MANY_DRAWS, A_VECTOR = 0.3e-6, 1.2e-6, 1.5e-6, 1.3e-6, 5e-6, 25e-6
# Seconds that loops save at each position for an operation, a dear function, a draw.
AN_OPERATION, A_FUNCTION, AN_ELEMENT = 1.2e-9, 5e-9, 8e-9
# Seconds that compiling takes, with kernels kept: whatever the sweep is, and for each statement.
COMPILING, A_LINE = 1.5, 0.04


# How often a log density is evaluated.
EVALUATIONS = 6


def worth_of(sweep: Sweep, sizes: Mapping[str, int]) -> Worth:
    """The seconds that a sweep in loops saves, and those that compiling it takes."""
    counts = {n: prod(sizes.get(d, 1) for d in a.dims) for n, a in sweep.arrays.items()}
    work = _Costs(sizes, counts)
    saved = sum(work.saved(s, 1) for s in sweep.statements)
    lines = sum(1 for _ in every(sweep.every))
    counted_in = counted(sweep, sizes)
    operations = sum(w.operations.at(counted_in.sizes) for w in counted_in.steps.values())
    return Worth(saved, COMPILING + A_LINE * lines, operations)


@dataclass(frozen=True, slots=True)
class _Costs:
    """The sizes of dims, and how many elements arrays have."""

    sizes: Mapping[str, int]
    counts: Mapping[str, int]

    def saved(self, s: Statement, around: int) -> float:
        """The seconds that a statement takes longer in NumPy, at so many positions around it."""
        if isinstance(s, Choice):
            return sum(self.saved(b, around) for b in inner(s)) / max(1, len(s.bodies))
        if isinstance(s, Loop):
            # (elements are drawn together by colours, or in loops that are compiled without this)
            count = self.count(s)
            # (the members of all groups around are as many as there are elements)
            count = max(around, count) if any(x.stop.free for x in s.over) else around * count
            return sum(self.saved(b, count) for b in s.body)
        count = around * self.count(s)
        operations = [e for x in expressions_of(s) for e in _operations(x)]
        dear = [e for e in operations if is_dear(e) and not any(map(is_dear, e.parts))]
        numbers = count * (AN_OPERATION * (1 + len(operations)) + A_FUNCTION * len(dear))
        if isinstance(s, Draw):
            return numbers * (EVALUATIONS if s.density is not None else 1) + self.drawn(s, count)
        return numbers + (A_SUM if isinstance(s, Add) else AN_ARRAY if count > 1 else A_VALUE)

    def drawn(self, s: Draw, count: int) -> float:
        """The seconds that a draw takes longer."""
        own = [self.length(a.own) for a in s.arguments]
        plain = Cost(A_VECTOR, AN_ELEMENT) if s.own else Cost(A_DRAW, AN_ELEMENT, MANY_DRAWS)
        cost = COSTS.get(s.kernel, plain)
        numbers = count * max(own, default=1)
        call = cost.many if cost.many and numbers > 1 else cost.call
        return call + cost.number * numbers + self.evaluated(s)

    def evaluated(self, s: Draw) -> float:
        """The seconds that evaluations of a log density take longer; of a batch, its share."""
        body = () if s.density is None else s.density.body
        if has_batches(body):
            return sum(self.saved(b, 1) for b in asked_for(body, OF_BATCH)) / BATCH
        return EVALUATIONS * sum(self.saved(b, 1) for b in body)

    def count(self, s: Statement) -> int:
        """The number of positions of a statement; of tables, the elements that it makes."""
        spans = spans_of(s)
        if any(_is_of_table(x) for x in spans):
            made = {n for b in every([s]) for n in made_by(b)}
            return max((self.counts[n] for n in made if n in self.counts), default=1)
        return self.length(spans)

    def length(self, spans: Iterable[Span]) -> int:
        """The number of positions of spans."""
        return prod(max(1, self.number(s.stop)) for s in spans)

    def number(self, e: Expr) -> int:
        """A size, or about that of what is computed of sizes."""
        match e:
            case Number(value=value):
                return int(value)
            case Size(dim=dim):
                return self.sizes.get(dim, 1)  # (of tables, which are not made yet)
            case Apply(function="smaller", arguments=(one, _)):
                return self.number(one)
            case Apply(function="//", arguments=(one, other)):
                return self.number(one) // max(1, self.number(other))
            case Apply(function="+", arguments=arguments):
                return sum(self.number(a) for a in arguments)
            case Apply(function="neg", arguments=(inside,)):
                return -self.number(inside)
        return 1


def _operations(e: Expr) -> Iterator[Apply]:
    """The operations of an expression, without those of indices: NumPy has slices for these."""
    if isinstance(e, Element):
        return
    if isinstance(e, Apply):
        yield e
    for part in e.parts:
        yield from _operations(part)


def _is_of_table(span: Span) -> bool:
    """Whether a table says where a span ends."""
    return bool(span.stop.arrays) and not any(isinstance(e, Reduce) for e in walk(span.stop))
