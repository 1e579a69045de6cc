"""Sums of vectors over the members of groups, four members at a time.

What is added to is then read and written once for four members, which are computed side by side;
those that are left at the end of a group are added one by one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gibbsppl.code.arrays.expressions import (
    ZERO,
    Apply,
    Element,
    Expr,
    Number,
    Position,
    Span,
    at,
    negative,
    plus,
    product,
    total,
)
from gibbsppl.code.arrays.naming import Names
from gibbsppl.code.arrays.statements import Add, Choice, Loop, Statement
from gibbsppl.code.arrays.sweeps import Sweep, names_in, spans_in

MEMBERS = 4
FOUR = Number(MEMBERS, stays=True)


def in_fours(sweep: Sweep) -> Sweep:
    """The sweep with sums of vectors over members of groups added up four at a time."""
    names = Names({*sweep.arrays, *names_in(sweep.every), *spans_in(sweep.every)})
    known: dict[str, str] = {}

    def of(statements: Iterable[Statement]) -> tuple[Statement, ...]:
        found: list[Statement] = []
        for s in statements:
            if isinstance(s, Choice):
                found.append(s.of(of))
            elif (added := _added(s)) is not None:
                found += [made for a in added for made in _parted(a, names, known)]
            else:
                found.append(replace(s, body=of(s.body)) if isinstance(s, Loop) else s)
        return tuple(found)

    return replace(sweep, statements=of(sweep.statements), monitors=of(sweep.monitors))


def _added(s: Statement) -> list[Add] | None:
    """The additions of vectors over members of groups that a statement is; None for others."""
    if isinstance(s, Add):
        return [s] if _members(s) is not None else None
    if not isinstance(s, Loop) or not s.body:
        return None
    inside = [b for b in s.body if isinstance(b, Add)]
    added = [replace(b, over=(*s.over, *b.over)) for b in inside]
    targets = {b.array for b in inside}
    are_apart = not any(b.value.arrays & targets for b in inside)
    if len(inside) < len(s.body) or not are_apart or any(_members(a) is None for a in added):
        return None
    return added


def _members(s: Add) -> int | None:
    """The place of the members among the spans of an addition of vectors; None for others."""
    places = [n for n, x in enumerate(s.over) if isinstance(x.start, Element)]
    if s.by != "sum" or len(places) != 1:
        return None
    (place,) = places
    dim, inner = s.over[place].dim, s.over[place + 1 :]
    fixed = frozenset[str]().union(*(i.free for i in s.indices))
    ends = frozenset[str]().union(*(e.free for x in inner for e in x.ends))
    is_vector = bool(inner) and {x.dim for x in inner} <= fixed and dim not in fixed | ends
    return place if is_vector and s.array not in s.value.arrays else None


def _parted(s: Add, names: Names, known: dict[str, str]) -> tuple[Add, Add]:
    """The addition of four members at a time, and that of those which are left."""
    place = _members(s)
    assert place is not None
    span = s.over[place]
    if span.dim not in known:
        known[span.dim] = names.fresh(f"{span.dim}_fours")
    count = total([span.stop, negative(span.start)])
    fours = Span(known[span.dim], ZERO, Apply("//", (count, FOUR)))
    done = product([fours.stop, FOUR])
    rest = Span(span.dim, total([span.start, done]), span.stop)
    first = total([span.start, product([FOUR, Position(fours.dim)])])
    values: list[Expr] = [at(s.value, {span.dim: plus(first, n)}) for n in range(MEMBERS)]
    before, after = s.over[:place], s.over[place + 1 :]
    return (
        replace(s, value=total(values), over=(*before, fours, *after)),
        replace(s, over=(*before, rest, *after)),
    )
