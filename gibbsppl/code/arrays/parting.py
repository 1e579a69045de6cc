"""Draws whose parameters are computed apart from them, where not every position has its own.

A draw of each element computes the deviation of the same precision as often as there are elements;
as a number of its own it is computed once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from gibbsppl.code.arrays.expressions import Apply, Element, Number, Position, Span
from gibbsppl.code.arrays.naming import Names
from gibbsppl.code.arrays.statements import Argument, Choice, Draw, Let, Loop, Statement
from gibbsppl.code.arrays.sweeps import Sweep, names_in, spans_in
from gibbsppl.runtime.loops.draws import PARTED


def parted(sweep: Sweep) -> Sweep:
    """The sweep with parameters of draws as arrays over those dims that they depend on."""
    names = Names({*sweep.arrays, *names_in(sweep.every), *spans_in(sweep.every)})
    return replace(sweep, statements=tuple(_Parting(names).of(sweep.statements, ())))


@dataclass(frozen=True, slots=True)
class _Parting:
    """The work on a block of statements."""

    names: Names

    def of(self, statements: Iterable[Statement], around: tuple[Span, ...]) -> Iterator[Statement]:
        """Statements inside of loops, each draw after its parameters."""
        for s in statements:
            match s:
                case Loop(over=over, body=body):
                    yield replace(s, body=tuple(self.of(body, (*around, *over))))
                case Choice():
                    yield s.of(lambda body: self.of(body, around))
                case Draw(kernel=kernel) if kernel in PARTED and not s.own:
                    yield from self.apart(s, around)
                case _:
                    yield s

    def apart(self, s: Draw, around: tuple[Span, ...]) -> Iterator[Statement]:
        """A draw after those of its parameters that some positions share; or as it is."""
        row, loops = PARTED[s.kernel], {x.dim for x in (*around, *s.over)}
        given = [tuple(s.arguments[n].value for n in part.arguments) for part in row.parts]
        free = [frozenset[str]().union(*(e.free for e in values)) for values in given]
        # (one that every position has of its own is computed by the draw, and so are numbers)
        if not loops or any(
            f >= loops or all(isinstance(e, Number) for e in values)
            for f, values in zip(free, given, strict=True)
        ):
            yield s
            return
        made: list[Argument] = []
        for part, values, own in zip(row.parts, given, free, strict=True):
            dims = tuple(x for x in s.over if x.dim in own)
            name = self.names.fresh(f"{s.targets[0].array}_{part.function}")
            yield Let(name, dims, Apply(part.function, values), note=s.note)
            made.append(Argument(Element(name, tuple(Position(x.dim) for x in dims))))
        kept = tuple(s.arguments[n] for n in row.kept)
        yield replace(s, kernel=row.draw, arguments=(*kept, *made))
