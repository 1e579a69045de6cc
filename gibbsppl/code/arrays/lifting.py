"""Dear functions out of loops that they do not depend on, and out of log densities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from gibbsppl.code.arrays.accesses import reads, writes
from gibbsppl.code.arrays.costs import is_dear
from gibbsppl.code.arrays.expressions import (
    Element,
    Expr,
    Position,
    Span,
    is_call,
    mapped,
)
from gibbsppl.code.arrays.naming import Names
from gibbsppl.code.arrays.statements import (
    Add,
    Choice,
    Density,
    Draw,
    Let,
    Loop,
    Statement,
    expressions_of,
    spans_of,
    with_expressions,
)
from gibbsppl.code.arrays.sweeps import Sweep, names_in, spans_in


def lifted(sweep: Sweep) -> Sweep:
    """The sweep with dear parts of expressions as arrays over the dims that they depend on."""
    names = Names({*sweep.arrays, *names_in(sweep.every), *spans_in(sweep.every)})
    statements = _Lifting(names).of(sweep.statements, ())
    monitors = _Lifting(names).of(sweep.monitors, ())
    return replace(sweep, statements=tuple(statements), monitors=tuple(monitors))


@dataclass(slots=True)
class _Lifting:
    """The work on a block of statements."""

    names: Names
    known: dict[object, str] = field(default_factory=dict)
    version: dict[str, int] = field(default_factory=dict)

    def of(self, statements: Iterable[Statement], fixed: tuple[Span, ...]) -> list[Statement]:
        """Statements of a block, each after what is lifted out of it."""
        found: list[Statement] = []
        for s in statements:
            before, done = self.one(s, fixed)
            found += [*before, done]
            for name in writes([s]):
                self.version[name] = self.version.get(name, 0) + 1
        return found

    def one(self, s: Statement, fixed: tuple[Span, ...]) -> tuple[list[Statement], Statement]:
        """A statement, and what goes before it."""
        if isinstance(s, Loop):
            inside = _Lifting(self.names)
            body = tuple(inside.of(s.body, (*fixed, *s.over)))
            return _out_of(s.over, body, s)
        if isinstance(s, Choice):
            return [], s.of(lambda body: _Lifting(self.names).of(body, fixed))
        before: list[Statement] = []
        if isinstance(s, Draw) and s.density is not None:
            before, density = self.out_of_density(s.density, fixed)
            s = replace(s, density=density)
        loops = spans_of(s)
        if not loops:
            return before, s
        s = with_expressions(s, lambda e: self.out_of_loops(e, loops, before))
        return before, s

    def out_of_loops(self, expr: Expr, loops: Sequence[Span], before: list[Statement]) -> Expr:
        """An expression whose dear parts over some of the loops alone are read from arrays."""
        dims = {s.dim for s in loops}

        def one(e: Expr) -> Expr | None:
            if isinstance(e, Element):
                return e  # (an index stays a whole number)
            if not is_dear(e) or not e.arrays:
                return None
            own = e.free & dims
            if own == dims or not e.free <= dims:
                return None
            if is_call(e, "+") or is_call(e, "*") or is_call(e, "neg"):
                whole = all(not p.arrays or p.free == e.free for p in e.parts)
                if not whole:
                    return None
            spans = tuple(s for s in loops if s.dim in own)
            if any(end.free & (dims - own) for s in spans for end in s.ends):
                return None  # (members of a group are known inside of a loop over groups alone)
            return self.read(e, spans, before)

        return mapped(expr, one)

    def read(self, e: Expr, dims: tuple[Span, ...], before: list[Statement]) -> Expr:
        """The element of an array that is an expression."""
        versions = tuple(sorted((a, self.version.get(a, 0)) for a in e.arrays))
        key = (e, dims, versions)
        if key not in self.known:
            name = self.names.fresh("_".join([*sorted(e.arrays)[:2], "part"]))
            self.known[key] = name
            before.append(Let(name, dims, e))
        return Element(self.known[key], tuple(Position(s.dim) for s in dims))

    def out_of_density(
        self, density: Density, fixed: tuple[Span, ...]
    ) -> tuple[list[Statement], Density]:
        """A log density without what does not depend on its argument, which goes before."""
        inside = _Lifting(self.names)
        body = inside.of(density.body, ())
        outside, rest = _parted(body, {density.argument})
        moving = {density.argument} | writes(rest)
        before = list(outside)

        def one(e: Expr) -> Expr | None:
            if isinstance(e, Element):
                return e
            if not e.arrays or e.arrays & moving:
                return None
            if e.free - {s.dim for s in fixed}:
                return None
            return self.read(e, (), before)

        value = mapped(density.value, one)
        return before, Density(density.argument, value, tuple(rest))


def _parted(
    body: Sequence[Statement], moving: set[str]
) -> tuple[list[Statement], list[Statement]]:
    """Statements that do not depend on arrays that move, and those that do."""
    outside: list[Statement] = []
    rest: list[Statement] = []
    moving = set(moving)
    grown = True
    while grown:  # (an array is as its additions are)
        grown = False
        for s in body:
            made = writes([s])
            if (reads([s]) & moving or made & moving) and not made <= moving:
                moving |= made
                grown = True
    for s in body:
        (rest if (writes([s]) & moving or reads([s]) & moving) else outside).append(s)
    return outside, rest


def _out_of(
    over: tuple[Span, ...], body: tuple[Statement, ...], loop: Loop
) -> tuple[list[Statement], Statement]:
    """A loop whose body does not compute anew what no position changes."""
    moving = {d.dim for d in over}
    before: list[Statement] = []
    for group in _groups(body):
        others = [s for s in body if s not in group and s not in before]
        is_read = reads(group) & writes(others)
        if not is_read and not writes(group) & writes(others) and not _free(group) & moving:
            before += group
    rest = tuple(s for s in body if s not in before)
    return before, replace(loop, body=rest)


def _groups(body: Sequence[Statement]) -> Iterator[list[Statement]]:
    """New arrays with what is added to them, and with the call that fills or overwrites them.

    Nothing that is drawn is among these. (What a kernel overwrites has to be made anew for the next
    call.)
    """
    lets = {s.name: s for s in body if isinstance(s, Let)}
    bound: set[str] = set()
    for s in body:
        if isinstance(s, Draw):
            given = (a.value.array for a in s.arguments if isinstance(a.value, Element) and a.own)
            own = [n for n in (*given, *(t.array for t in s.targets)) if n in lets]
            bound.update(own)
            if not s.is_random:
                yield [*(lets[n] for n in own), s]
    added = {n: [s for s in body if isinstance(s, Add) and s.array == n] for n in lets}
    for name, s in lets.items():
        if name not in bound:
            yield [s, *added[name]]


def _free(group: Sequence[Statement]) -> set[str]:
    """The dims of loops around a group that it depends on."""
    found = set[str]()
    for s in group:
        every = frozenset[str]().union(*(e.free for e in expressions_of(s)))
        inside = {d.dim for d in spans_of(s)}
        if isinstance(s, Draw):
            inside |= {d.dim for d in s.own} | {d.dim for a in s.arguments for d in a.own}
        found |= every - inside
    return found
