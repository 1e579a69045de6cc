"""Parameters of draws that depend on few whole numbers: a table of them, made before the draws.

A spin sees how many of its neighbours point up; the probabilities of all these numbers are computed
once. Comes in: a `Sweep` and the sizes of its dims. Goes out: the sweep with such tables, where
they have fewer numbers than there are draws.

>>> up = Element("up", (Position("i", 1),))
>>> terms = _Terms(frozenset({"i"}), frozenset({"up"}), {"up": (0, 1)})
>>> found = terms.of(total([Number(-0.6), product([Number(1.2), up])]))
>>> [(str(coefficient), [*map(str, whole)]) for coefficient, whole in found.items()]
[('-0.6', ['1']), ('1.2', ['up[i + 1]'])]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import TypeAlias

from gibbsppl.code.arrays.accesses import writes
from gibbsppl.code.arrays.expressions import (
    ONE,
    RELATIONS,
    ZERO,
    Apply,
    Element,
    Expr,
    Number,
    Position,
    Size,
    Span,
    is_call,
    is_whole,
    negative,
    plus,
    product,
    total,
)
from gibbsppl.code.arrays.naming import Names
from gibbsppl.code.arrays.statements import Argument, Choice, Draw, Let, Loop, Statement
from gibbsppl.code.arrays.sweeps import Array, Sweep, names_in, spans_in
from gibbsppl.runtime.loops.draws import PARTED, Part

# A sum by coefficient, which no position changes: the whole numbers that are added up.
ByCoefficient: TypeAlias = dict[Expr, list[Expr]]
Limits: TypeAlias = Mapping[str, tuple[int, int]]


def tabulated(sweep: Sweep, sizes: Mapping[str, int]) -> Sweep:
    """The sweep with parameters of draws read from tables by whole numbers."""
    limits = {n: a.limits for n, a in sweep.arrays.items() if a.limits is not None}
    if not limits:
        return sweep
    names = Names({*sweep.arrays, *names_in(sweep.every), *spans_in(sweep.every)})
    counts = {n: prod(sizes.get(d, 1) for d in a.dims) for n, a in sweep.arrays.items()}
    work = _Tabulation(names, limits, counts, sweep.arrays, sizes)
    return replace(sweep, statements=tuple(work.of(sweep.statements, (), frozenset())))


@dataclass(frozen=True, slots=True)
class _Tabulation:
    """The work on a block of statements; ``counts``: how many elements an array has."""

    names: Names
    limits: Limits
    counts: Mapping[str, int]
    arrays: Mapping[str, Array]
    sizes: Mapping[str, int]

    def of(
        self, statements: Iterable[Statement], around: tuple[Span, ...], changed: frozenset[str]
    ) -> Iterator[Statement]:
        """Statements inside of loops, which change some arrays."""
        for s in statements:
            match s:
                case Loop(over=over, body=body):
                    inside = changed | writes(body)
                    yield replace(s, body=tuple(self.of(body, (*around, *over), inside)))
                case Choice():
                    yield s.of(lambda body: self.of(body, around, changed))
                case Draw(kernel=kernel) if kernel in PARTED and not s.own:
                    dims = frozenset(x.dim for x in (*around, *s.over))
                    terms = _Terms(dims, changed | writes([s]), self.limits)
                    yield from self.by_table(s, terms)
                case _:
                    yield s

    def by_table(self, s: Draw, terms: _Terms) -> Iterator[Statement]:
        """A draw after the tables that it reads; or as it is."""
        row = PARTED[s.kernel]
        tables = [self.table(s, part, terms) for part in row.parts]
        if any(t is None for t in tables):
            yield s
            return
        kept = tuple(s.arguments[n] for n in row.kept)
        found = [t for t in tables if t is not None]
        yield from (let for let, _ in found)
        read = tuple(Argument(element) for _, element in found)
        yield replace(s, kernel=row.draw, arguments=(*kept, *read))

    def table(self, s: Draw, part: Part, terms: _Terms) -> tuple[Let, Element] | None:
        """The table of a parameter, and the element of it that a draw reads."""
        array, dims, places = s.targets[0].array, list[Span](), list[Expr]()
        values: list[Expr] = []
        for n in part.arguments:
            found = terms.of(s.arguments[n].value)
            if found is None:
                return None
            summed: list[Expr] = []
            for coefficient, given in found.items():
                whole = self.joined(given, s.targets[0])
                least, most = terms.range_of(total(whole)) or (0, 0)
                if least == most:
                    summed.append(product([Number(least), coefficient]))
                    continue
                dim = self.names.fresh(f"{array} seen")
                dims.append(Span(dim, ZERO, Number(most - least + 1, stays=True)))
                places.append(total([*whole, Number(-least)]))
                summed.append(product([coefficient, plus(Position(dim), least)]))
            values.append(total(summed))
        if not dims or prod(_length(d) for d in dims) > self.counts.get(array, 0):
            return None
        name = self.names.fresh(f"{array}_{part.function}")
        let = Let(name, tuple(dims), Apply(part.function, tuple(values)), note=s.note)
        return let, Element(name, tuple(places))


    def joined(self, whole: list[Expr], target: Element) -> list[Expr]:
        """Whole numbers, of which two are one where one of them holds inside and one at an end."""
        found = list(whole)
        for n, one in enumerate(found):
            for k, other in enumerate(found[n + 1 :], n + 1):
                if not (_is_chosen(one) and _is_chosen(other)):
                    continue
                (inside, yes, _), (at_end, no, _) = one.parts, other.parts
                if self.is_either(inside, at_end, target):
                    both = yes if yes == no else Apply("where", (inside, yes, no))
                    rest = [f for m, f in enumerate(found) if m not in (n, k)]
                    return self.joined([both, *rest], target)
        return found

    def is_either(self, inside: Expr, at_end: Expr, target: Element) -> bool:
        """Whether one condition holds at an end of what is drawn, the other one elsewhere."""
        if not is_call(at_end, "equals"):
            return False
        (place, end), dims = at_end.parts, self.arrays[target.array].dims
        own = zip(dims, target.indices, strict=True)
        last = [self.sizes.get(d, 0) - 1 for d, index in own if index == place]
        match inside:
            case Apply(function="at_most", arguments=(Number(value=1), p)) if p == place:
                return end == ZERO and bool(last)
            case Apply(function="below", arguments=(p, most)) if p == place:
                return bool(last) and self.number(end) == self.number(most) == last[0] > 0
        return False

    def number(self, e: Expr) -> int | None:
        """The value of a number, or of a size plus a number."""
        match e:
            case Number(value=value) if is_whole(value):
                return int(value)
            case Size(dim=dim):
                return self.sizes.get(dim)
            case Apply(function="+", arguments=arguments):
                found = [self.number(a) for a in arguments]
                return None if None in found else sum(f for f in found if f is not None)
        return None


def _is_chosen(e: Expr) -> bool:
    """Whether an expression is a value where a condition holds, and nothing elsewhere."""
    return is_call(e, "where") and e.parts[2] == ZERO


def _length(span: Span) -> int:
    assert isinstance(span.stop, Number)
    return int(span.stop.value)


@dataclass(frozen=True, slots=True)
class _Terms:
    """The terms of sums, in loops over ``dims`` that change some arrays."""

    dims: frozenset[str]
    changed: frozenset[str]
    limits: Limits

    def of(self, e: Expr) -> ByCoefficient | None:
        """An expression as a sum of whole numbers by coefficient; None for others."""
        if not e.free & self.dims and not e.arrays & self.changed:
            return {e: [ONE]}
        if self.range_of(e) is not None:
            return {ONE: [_counted(e)]}
        match e:
            case Apply(function="+", arguments=arguments):
                return _together(map(self.of, arguments))
            case Apply(function="neg", arguments=(inner,)):
                found = self.of(inner)
                return None if found is None else {negative(c): js for c, js in found.items()}
            case Apply(function="/", arguments=(above, below)):
                found, divisor = self.of(above), self.of(below)
                if found is None or divisor != {below: [ONE]}:
                    return None
                return {Apply("/", (c, below)): js for c, js in found.items()}
            case Apply(function="*", arguments=factors):
                return self.multiplied(factors)
            case Apply(function="where", arguments=(condition, yes, no)):
                return _together((self.where(condition, yes), self.where(_not(condition), no)))
        return None

    def multiplied(self, factors: Iterable[Expr]) -> ByCoefficient | None:
        """A product, all of whose factors but one are coefficients or whole numbers."""
        found: ByCoefficient = {ONE: [ONE]}
        for f in factors:
            own = self.of(f)
            if own is None or (len(own) > 1 and len(found) > 1):
                return None
            found = _together(
                {product([c, d]): [product([total(js), total(ks)])]}
                for c, js in found.items()
                for d, ks in own.items()
            ) or {}
        return found

    def where(self, condition: Expr, value: Expr) -> ByCoefficient | None:
        """A value where a condition holds, and nothing elsewhere."""
        found = self.of(value)
        if found is None:
            return None
        kept = {c: js for c, js in found.items() if c != ZERO}
        return {c: [Apply("where", (condition, total(js), ZERO))] for c, js in kept.items()}

    def range_of(self, e: Expr) -> tuple[int, int] | None:
        """The least and the largest of a whole number; None where they are not known."""
        match e:
            case Number(value=value) if is_whole(value):
                return int(value), int(value)
            case Element(array=array):
                return self.limits.get(array)
            case Apply(function="where", arguments=(_, yes, no)):
                one, other = self.range_of(yes), self.range_of(no)
                return one and other and (min(one[0], other[0]), max(one[1], other[1]))
            case Apply(function="neg", arguments=(inner,)):
                found = self.range_of(inner)
                return found and (-found[1], -found[0])
            case Apply(function=function) if function in RELATIONS:
                return 0, 1
            case Apply(function="+" | "*" as function, arguments=arguments):
                ranges = [self.range_of(a) for a in arguments]
                return _combined(function, [r for r in ranges if r]) if all(ranges) else None
        return None


def _combined(function: str, ranges: list[tuple[int, int]]) -> tuple[int, int]:
    """The range of a sum or a product."""
    if function == "+":
        return sum(r[0] for r in ranges), sum(r[1] for r in ranges)
    least, most = 1, 1
    for low, high in ranges:
        ends = [a * b for a in (least, most) for b in (low, high)]
        least, most = min(ends), max(ends)
    return least, most


def _together(parts: Iterable[ByCoefficient | None]) -> ByCoefficient | None:
    """Sums as one; None if one of them is none."""
    found: ByCoefficient = {}
    for part in parts:
        if part is None:
            return None
        for c, js in part.items():
            found.setdefault(c, []).extend(js)
    return found


def _counted(e: Expr) -> Expr:
    """A whole number with conditions as the integers 1 and 0."""
    if isinstance(e, Apply) and e.function in RELATIONS:
        return Apply("where", (e, ONE, ZERO))
    return e.over(_counted) if isinstance(e, Apply) and not is_call(e, "where") else e


def _not(condition: Expr) -> Expr:
    return Apply("equals", (condition, ZERO))
