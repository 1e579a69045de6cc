"""Dear functions of elements that an index picks: computed for each element, and picked then.

``log(theta[document[n], k])`` is computed for all tokens, where there are far fewer documents.
Comes in: a `Sweep` and the sizes of its dims. Goes out: the sweep with arrays of such functions,
where these have fewer elements than there are positions at which one is picked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import prod

from gibbsppl.code.arrays.accesses import writes
from gibbsppl.code.arrays.costs import is_dear
from gibbsppl.code.arrays.expressions import (
    Apply,
    Element,
    Expr,
    Number,
    Position,
    Size,
    Span,
    mapped,
)
from gibbsppl.code.arrays.naming import Names
from gibbsppl.code.arrays.statements import Choice, Draw, Let, Loop, Statement, with_expressions
from gibbsppl.code.arrays.sweeps import Array, Sweep, names_in, spans_in


def gathered(sweep: Sweep, sizes: Mapping[str, int]) -> Sweep:
    """The sweep with dear functions of few elements computed before these are picked."""
    spans = spans_in(sweep.every)
    names = Names({*sweep.arrays, *names_in(sweep.every), *spans})
    lengths = {d: _length(s, sizes) for d, s in spans.items()}
    work = _Gathers(names, sweep.arrays, {**sizes, **sweep.sizes}, lengths)
    return replace(sweep, statements=tuple(work.of(sweep.statements)))


def _length(span: Span, sizes: Mapping[str, int]) -> int:
    match span.stop:
        case Number(value=value):
            return int(value)
        case Size(dim=dim):
            return sizes.get(dim, 0)
    return 0


@dataclass(frozen=True, slots=True)
class _Gathers:
    """The work on a block of statements; ``known`` are arrays of functions, by what they are of."""

    names: Names
    arrays: Mapping[str, Array]
    sizes: Mapping[str, int]
    lengths: Mapping[str, int]
    known: dict[tuple[object, ...], str] = field(default_factory=dict)

    def of(self, statements: Iterable[Statement]) -> Iterator[Statement]:
        """Statements, each after the arrays that it picks elements of."""
        for s in statements:
            changed = writes([s])
            if isinstance(s, Choice) or (isinstance(s, Draw) and s.density is not None):
                yield s
            else:
                yield from self.one(s, frozenset(changed) if isinstance(s, Loop) else frozenset())
            for key in [k for k in self.known if k[0] in changed]:
                del self.known[key]

    def one(self, s: Statement, changed: frozenset[str]) -> list[Statement]:
        """A statement after the arrays that it picks elements of; a loop changes some arrays."""
        before: list[Statement] = []
        done = with_expressions(s, lambda e: self.picked(e, changed, before))
        return [*before, done]

    def picked(self, expr: Expr, changed: frozenset[str], before: list[Statement]) -> Expr:
        """An expression that reads functions of elements from arrays."""

        def one(e: Expr) -> Expr | None:
            if not isinstance(e, Apply) or not is_dear(e) or not self.is_worth_it(e, changed):
                return None
            (element,) = (p for p in e.parts if isinstance(p, Element))
            others = tuple(p for p in e.parts if not isinstance(p, Element))
            key = (element.array, e.function, others, e.parts.index(element))
            if key not in self.known:
                self.known[key] = self.names.fresh(f"{element.array}_{e.function}")
                dims = tuple(map(Span.whole, self.arrays[element.array].dims))
                whole = Element(element.array, tuple(Position(d.dim) for d in dims))
                value = Apply(e.function, tuple(whole if p is element else p for p in e.parts))
                before.append(Let(self.known[key], dims, value))
            return Element(self.known[key], element.indices)

        return mapped(expr, one)

    def is_worth_it(self, e: Apply, changed: frozenset[str]) -> bool:
        """Whether a function is of one picked element, of an array with fewer elements."""
        picked = [p for p in e.parts if isinstance(p, Element)]
        if len(picked) != 1 or not all(isinstance(p, Element | Number) for p in e.parts):
            return False
        (element,) = picked
        array = self.arrays.get(element.array)
        if array is None or array.kind != "state" or element.array in changed:
            return False
        if all(isinstance(i, Position) for i in element.indices):
            return False
        elements = prod(self.sizes.get(d, 0) for d in array.dims)
        return 0 < elements < prod(self.lengths.get(d, 0) for d in e.free)
