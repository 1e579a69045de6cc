"""Neighbouring statements over the same dim as one loop; draws stay in order.

A statement moves up to a loop, or a loop down to it, past what neither depends on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from gibbsppl.code.arrays.accesses import Accesses, accesses, are_ordered, can_fuse
from gibbsppl.code.arrays.expressions import Number
from gibbsppl.code.arrays.statements import (
    Choice,
    Density,
    Draw,
    Let,
    Loop,
    Statement,
    Store,
    spans_of,
)


def fused(statements: Iterable[Statement]) -> tuple[Statement, ...]:
    """Statements over the same dim as one loop, and so inside of it."""
    block = _Block()
    for s in statements:
        block.add(_as_loop(s))
    return tuple(map(_inside, block.statements))


@dataclass(slots=True)
class _Block:
    """Statements in order, with their accesses."""

    statements: list[Statement] = field(default_factory=list)
    accesses: list[Accesses] = field(default_factory=list)

    def add(self, s: Statement) -> None:
        """Add a statement, as a part of an earlier loop if it can be."""
        own = accesses(s)
        if isinstance(s, Loop):
            places = range(len(self.statements))
            # (what begins with a number is best begun with others, before what comes in between)
            for place in places if _is_number(s) else reversed(places):
                if self.joins(place, s, own):
                    return
        self.statements.append(s)
        self.accesses.append(own)

    def joins(self, place: int, s: Loop, own: Accesses) -> bool:
        """Whether a loop has become a part of the statement at a place."""
        other, known = self.statements[place], self.accesses[place]
        if not isinstance(other, Loop) or other.over != s.over:
            return False
        if not can_fuse(known, own, s.over[0].dim):
            return False
        between = self.accesses[place + 1 :]
        both = Loop(s.over, (*other.body, *s.body))
        if not any(are_ordered(a, own) for a in between):
            self.statements[place], self.accesses[place] = both, accesses(both)
            return True
        if not any(are_ordered(known, a) for a in between):
            del self.statements[place], self.accesses[place]
            self.statements.append(both)
            self.accesses.append(accesses(both))
            return True
        return False


def _is_number(s: Statement) -> bool:
    """Whether a statement puts numbers into arrays, and nothing else."""
    match s:
        case Loop(body=body):
            return all(map(_is_number, body))
        case Store(value=Number()):
            return True
    return False


def _inside(s: Statement) -> Statement:
    match s:
        case Loop(body=body):
            return replace(s, body=fused(body))
        case Choice():
            return s.of(fused)
        case Draw(density=Density() as density):
            return replace(s, density=replace(density, body=fused(density.body)))
    return s


def _as_loop(s: Statement) -> Statement:
    """The first dim of a statement as a loop around the rest."""
    over = spans_of(s)
    if not over or isinstance(s, Let | Choice):
        return s
    if isinstance(s, Loop):
        return s if len(over) == 1 else Loop(over[:1], (replace(s, over=over[1:]),))
    return Loop(over[:1], (replace(s, over=over[1:]),))
