"""Elements read once: those that a loop does not change are read before it; sums in a number.

A compiler may not do so by itself, as it cannot know that two arrays do not overlap.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from gibbsppl.code.arrays.accesses import reads, writes
from gibbsppl.code.arrays.expressions import Apply, Element, Expr, is_call
from gibbsppl.code.arrays.naming import Names
from gibbsppl.code.arrays.numbers import NUMBERS, WHOLES
from gibbsppl.code.arrays.statements import (
    Add,
    Choice,
    Draw,
    Loop,
    Statement,
    Store,
    everywhere,
)
from gibbsppl.code.arrays.sweeps import every, names_in


def read_once(statements: Sequence[Statement]) -> tuple[Statement, ...]:
    """Statements (loops over one dim each) whose loops read before them what they do not change."""
    work = _Loads(Names(names_in(statements)))
    return tuple(t for s in statements for t in work.of(s))


@dataclass(slots=True)
class _Loads:
    """The work on statements: names that are taken."""

    names: Names

    def of(self, s: Statement) -> list[Statement]:
        """A statement, after those that read what it does not change."""
        if isinstance(s, Choice):
            return [s.of(lambda body: (t for b in body for t in self.of(b)))]
        if not isinstance(s, Loop):
            return [s]
        body = [t for b in s.body for t in self.of(b)]
        before, after, body = self.in_numbers(s, body)
        changed = writes(body)
        inside = _dims_in(body) | {d.dim for d in s.over}
        known: dict[Element, str] = {}

        def one(e: Expr, *, is_chosen: bool = False) -> Expr | None:
            if is_call(e, "where"):
                # (what a condition keeps from being read may not be there)
                condition, *values = e.parts
                chosen = (replaced(v, is_chosen=True) for v in values)
                return Apply("where", (replaced(condition, is_chosen=is_chosen), *chosen))
            if not isinstance(e, Element) or not e.indices or e.arrays & changed:
                return None
            if e.free & inside or (is_chosen and e not in known and not _is_number(e)):
                return None
            if e not in known:
                known[e] = self.names.fresh(f"{e.array}_here")
            return Element(known[e])

        def replaced(e: Expr, *, is_chosen: bool = False) -> Expr:
            found = one(e, is_chosen=is_chosen)
            if found is not None:
                return found
            return e.over(lambda p: replaced(p, is_chosen=is_chosen))

        # (what is read anyway is known when all has been seen once)
        seen = [everywhere(b, replaced) for b in body]
        made = [everywhere(b, replaced) for b in seen]
        lets: list[Statement] = [Store(Element(name), e) for e, name in known.items()]
        return [*before, *lets, replace(s, body=tuple(made)), *after]

    def in_numbers(
        self, s: Loop, body: list[Statement]
    ) -> tuple[list[Statement], list[Statement], list[Statement]]:
        """Additions to one element all along a loop, in a number that is put back after it."""
        inside = _dims_in(body) | {d.dim for d in s.over}
        before: list[Statement] = []
        after: list[Statement] = []
        made: list[Statement] = []
        for n, b in enumerate(body):
            others = [*body[:n], *body[n + 1 :]]
            if not isinstance(b, Add) or not b.indices or b.by != "sum" or b.over:
                made.append(b)
                continue
            target = Element(b.array, b.indices)
            shared = b.array in reads(others) | writes(others) or b.array in b.value.arrays
            moves = target.free & inside or (target.arrays - {b.array}) & writes(body)
            if shared or moves:
                made.append(b)
                continue
            number = Element(self.names.fresh(f"{b.array}_here"))
            before.append(Store(number, target))
            made.append(replace(b, array=number.array, indices=()))
            after.append(Store(target, number))
        return before, after, made


def _is_number(e: Element) -> bool:
    """Whether an element is a number of the model, which is there."""
    return e.array in (NUMBERS, WHOLES)


def _dims_in(statements: Iterable[Statement]) -> set[str]:
    """The dims of the loops among statements, of log densities and of kernels included."""
    found = list(every(statements))
    loops = [d for s in found if isinstance(s, Loop) for d in s.over]
    draws = [s for s in found if isinstance(s, Draw)]
    own = [d for s in draws for d in (*s.own, *(x for a in s.arguments for x in a.own))]
    return {d.dim for d in (*loops, *own)}
