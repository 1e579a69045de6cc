"""Recursive arrays as arrays of their own: not numbers, then each element from earlier ones.

Arrays are computed before what reads them, out of loops and log densities that change nothing that
they depend on; once, until something changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import nan
from typing import TypeAlias

from gibbsppl.code.arrays.accesses import writes
from gibbsppl.code.arrays.expressions import (
    ZERO,
    Element,
    Expr,
    Number,
    Position,
    Reduce,
    Span,
    at,
    mapped,
    negative,
    total,
    walk,
)
from gibbsppl.code.arrays.naming import Names
from gibbsppl.code.arrays.statements import (
    Choice,
    Density,
    Draw,
    Let,
    Loop,
    Statement,
    Store,
    expressions_of,
    spans_of,
    with_expressions,
)
from gibbsppl.code.arrays.sweeps import Sweep, every, names_in, spans_in
from gibbsppl.code.arrays.systems import SO_FAR, Block, Given, Recursive, System
from gibbsppl.errors import NotLoweredError

NOT_A_NUMBER = Number(nan)

# The arrays that a system computes at the positions of spans, by their names within the system.
Made: TypeAlias = Mapping[str, Element]
Known: TypeAlias = dict[tuple[System, tuple[Span, ...]], Made]


def unfolded(sweep: Sweep) -> Sweep:
    """The sweep with statements that compute recursive arrays."""
    if not any(_systems(sweep.every)):
        return sweep
    names = Names({*sweep.arrays, *names_in(sweep.every), *spans_in(sweep.every)})
    work = _Unfolding(names)
    statements = work.of(sweep.statements, {}, frozenset())
    monitors = work.of(sweep.monitors, {}, frozenset())
    return replace(sweep, statements=statements, monitors=monitors)


@dataclass(slots=True)
class _Unfolding:
    """The work on statements: names that are taken."""

    names: Names

    def of(
        self, statements: Iterable[Statement], known: Known, fixed: frozenset[str]
    ) -> tuple[Statement, ...]:
        """Statements after those that compute what they read; ``fixed``: the dims of loops."""
        found: list[Statement] = []
        for s in statements:
            done = [*self.outside(s, known, fixed), *self.one(s, known, fixed)]
            found += done
            _forget(known, writes(done))
        return tuple(found)

    def outside(self, s: Statement, known: Known, fixed: frozenset[str]) -> list[Statement]:
        """Statements that compute what a loop or a log density reads and does not change."""
        if not isinstance(s, Loop) and not (isinstance(s, Draw) and s.density is not None):
            return []
        moving = writes([s])
        held = (y for y in _systems([s]) if y.free <= fixed and not y.arrays & moving)
        return [t for y in held for t in self.made(y, (), known, fixed)]

    def one(self, s: Statement, known: Known, fixed: frozenset[str]) -> list[Statement]:
        """A statement that reads arrays instead of systems, after those that compute them."""
        if isinstance(s, Loop):
            inside = dict(known)
            _forget(inside, writes([s]))
            body = self.of(s.body, inside, fixed | {d.dim for d in s.over})
            return [replace(s, body=body)]
        if isinstance(s, Choice):
            return [s.of(lambda body: self.of(body, dict(known), fixed))]
        if isinstance(s, Draw) and s.density is not None:
            density = self.density(s, s.density, known, fixed)
            *before, done = self.one(replace(s, density=None), known, fixed)
            assert isinstance(done, Draw)
            return [*before, replace(done, density=density)]
        before = list[Statement]()
        spans = _spans_within(s)
        done = with_expressions(s, lambda e: self.read(e, spans, before, known, fixed))
        return [*before, done]

    def density(self, s: Draw, density: Density, known: Known, fixed: frozenset[str]) -> Density:
        """A log density that computes anew what depends on its argument."""
        inside = dict(known)
        _forget(inside, writes([s]))
        body = list(self.of(density.body, inside, fixed))
        spans = tuple(_spans_in(density.value))
        value = self.read(density.value, spans, body, inside, fixed)
        return replace(density, body=tuple(body), value=value)

    def read(
        self,
        expr: Expr,
        spans: tuple[Span, ...],
        before: list[Statement],
        known: Known,
        fixed: frozenset[str],
    ) -> Expr:
        """An expression that reads arrays; statements that compute these are put before it."""

        def one(e: Expr) -> Expr | None:
            if not isinstance(e, Recursive):
                return None
            outer = _outer(e.system, spans, fixed)
            before.extend(self.made(e.system, outer, known, fixed))
            array = known[e.system, outer][e.array]
            return Element(array.array, (*array.indices, *(mapped(i, one) for i in e.indices)))

        return mapped(expr, one)

    def made(
        self, system: System, outer: tuple[Span, ...], known: Known, fixed: frozenset[str]
    ) -> list[Statement]:
        """The statements that compute a system at the positions of spans, unless it is known."""
        if (system, outer) in known:
            return []
        positions = tuple(Position(s.dim) for s in outer)
        own: dict[str, Element] = {}
        found: list[Statement] = []
        for name, sizes in system.shapes:
            array = self.names.fresh(_stem(name))
            own[name] = Element(array, positions)
            axes = tuple(Span(self.names.fresh(f"{array}_axis"), ZERO, n) for n in sizes)
            found.append(Let(array, (*outer, *axes), NOT_A_NUMBER))
        for block in system.blocks:
            found += self.block(block, outer, own)
        done = self.of(found, known, fixed)
        known[system, outer] = own
        return list(done)

    def block(self, block: Block, outer: tuple[Span, ...], own: Made) -> list[Statement]:
        """The statements of a block."""
        if block.span is None:
            return [self.given(s, outer, own, {}) for s in block.steps]
        along = self.names.fresh(_stem(block.span.dim))
        place: Expr = Position(along)
        if block.is_backward:
            place = total([*block.span.ends, Number(-1), negative(place)])
        renamed: dict[str, Expr] = {block.span.dim: place}
        body = tuple(self.given(s, outer, own, renamed) for s in block.steps)
        return [Loop((Span(along, *block.span.ends),), body)]

    def given(
        self, s: Given, outer: tuple[Span, ...], own: Made, renamed: Mapping[str, Expr]
    ) -> Store:
        """The statement of a step."""
        fresh = {x.dim: self.names.fresh(_stem(x.dim)) for x in s.over}
        names = {**renamed, **{old: Position(new) for old, new in fresh.items()}}

        def placed(expr: Expr) -> Expr:
            return mapped(at(expr, names), lambda e: _read(e, own))

        target = placed(s.element)
        assert isinstance(target, Element)
        over = tuple(Span(fresh[x.dim], *x.ends) for x in s.over)
        return Store(target, placed(s.value), (*outer, *over))


def _read(e: Expr, own: Made) -> Expr | None:
    """An element of an array of a system."""
    if isinstance(e, Element) and e.array in own:
        array = own[e.array]
        indices = (mapped(i, lambda x: _read(x, own)) for i in e.indices)
        return Element(array.array, (*array.indices, *indices))
    return None


def _forget(known: Known, changed: Iterable[str]) -> None:
    """Forget the systems that read what has changed."""
    for key in [k for k in known if not k[0].arrays.isdisjoint(changed)]:
        del known[key]


def _systems(statements: Iterable[Statement]) -> Iterator[System]:
    """The systems whose arrays statements read, those of others inside of them left out."""
    for s in every(statements):
        for expr in expressions_of(s):
            yield from _systems_of(expr)


def _systems_of(expr: Expr) -> Iterator[System]:
    if isinstance(expr, Recursive):
        yield expr.system
        for i in expr.indices:
            yield from _systems_of(i)
        return
    for part in expr.parts:
        yield from _systems_of(part)


def _outer(system: System, spans: tuple[Span, ...], fixed: frozenset[str]) -> tuple[Span, ...]:
    """The spans of the dims that a system has beside its own."""
    return tuple(_span(d, spans) for d in sorted(system.free - fixed))


def _span(dim: str, spans: tuple[Span, ...]) -> Span:
    """All positions of a dim among spans."""
    found = {s for s in spans if s.dim == dim}
    whole = [s for s in found if s.is_whole]
    if not whole and len(found) != 1:
        raise NotLoweredError(f"a recursion that is read at several parts of {dim}.")
    return whole[0] if whole else found.pop()


def _spans_within(s: Statement) -> tuple[Span, ...]:
    """The spans of a statement, and of reductions in it."""
    found = [*spans_of(s)]
    if isinstance(s, Draw):
        found += [*s.own, *(x for a in s.arguments for x in a.own)]
    return (*found, *(x for e in expressions_of(s) for x in _spans_in(e)))


def _spans_in(expr: Expr) -> Iterator[Span]:
    return (s for e in walk(expr) if isinstance(e, Reduce) for s in e.spans)


def _stem(name: str) -> str:
    """The array that a name within a system is of."""
    return name.removesuffix(SO_FAR)
