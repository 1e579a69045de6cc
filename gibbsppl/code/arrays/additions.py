"""Additions of draws where they are drawn: nothing is stored that is only added up.

Counts that share out a total are read by sums alone: by user, by item. Each unit that is drawn is
added to these sums at once, so that no table of all shares is needed, and no second pass over it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gibbsppl.code.arrays.accesses import reads, writes
from gibbsppl.code.arrays.expressions import (
    ONE,
    ZERO,
    Apply,
    Element,
    Expr,
    Position,
    Span,
    at,
)
from gibbsppl.code.arrays.naming import Names
from gibbsppl.code.arrays.statements import Add, Argument, Choice, Draw, Let, Loop, Statement
from gibbsppl.code.arrays.sweeps import Sweep, names_in, spans_in


@dataclass(frozen=True, slots=True)
class Sharing:
    """The kernels that share out a total in another way than into one array.

    ``fetched`` is called with each row that is added to, as soon as its place is known. ``units``
    tells of a total and the number of labels how many units are drawn one by one: none of
    a large total, but -1. ``label`` draws one of these; ``added`` adds all shares to some arrays.
    """

    fetched: str
    units: str
    label: str
    added: str


# By the kernel that shares out a total into an array; its arguments are weights, total, sums.
SHARING: Mapping[str, Sharing] = {
    "shares_in": Sharing("fetch_row", "units_of", "label_in", "shares_added"),
}


def added_where_drawn(sweep: Sweep) -> Sweep:
    """The sweep without new arrays of shares that nothing but sums read."""
    names = Names({*sweep.arrays, *names_in(sweep.every), *spans_in(sweep.every)})
    statements = sweep.statements
    for name in _filled(statements):
        statements = _without(statements, name, names) or statements
    return replace(sweep, statements=statements)


def _filled(statements: Sequence[Statement]) -> Iterator[str]:
    """The new arrays that draws fill."""
    return (s.name for s in statements if isinstance(s, Let) and s.is_empty)


@dataclass(frozen=True, slots=True)
class _Sum:
    """A sum of shares: its zeros, and what it adds for each position of the draw."""

    zeros: Let
    added: Add


def _without(
    statements: tuple[Statement, ...], name: str, names: Names
) -> tuple[Statement, ...] | None:
    """Statements without an array of shares; None if others than sums read it."""
    users = [s for s in statements if name in reads([s]) | writes([s])]
    made = [s for s in users if isinstance(s, Let) and s.name == name]
    loops = [s for s in users if isinstance(s, Loop) and _draw_in(s, name) is not None]
    additions = [s for s in users if isinstance(s, Add)]
    if (len(made), len(loops), len(users)) != (1, 1, 2 + len(additions)) or not additions:
        return None
    (loop,) = loops
    draw = _draw_in(loop, name)
    assert draw is not None
    found = [_sum_of(statements, a, draw, loop) for a in additions]
    sums = [x for x in found if x is not None]
    if len(sums) != len(found):
        return None
    adding = _adding(draw, sums, names)
    instead = [x for s in loop.body for x in (adding if s is draw else (s,))]
    first = _fetched(draw, sums)
    dropped = [*made, *additions, *(s.zeros for s in sums)]
    kept: list[Statement] = []
    for s in statements:
        if s is loop:
            kept += [*(x.zeros for x in sums), replace(loop, body=(*first, *instead))]
        elif not any(s is d for d in dropped):
            kept.append(s)
    return tuple(kept)


def _draw_in(loop: Loop, name: str) -> Draw | None:
    """The draw in a loop that fills an array along its last axis, if nothing else is there."""
    found = [s for s in loop.body if name in reads([s]) | writes([s])]
    (one,) = found if len(found) == 1 else (None,)
    if not isinstance(one, Draw) or one.kernel not in SHARING or len(one.own) != 1:
        return None
    (target,) = one.targets
    along = [*(s.dim for s in loop.over), one.own[0].dim]
    return one if target.array == name and _dims(target) == along else None


def _sum_of(statements: Sequence[Statement], s: Add, draw: Draw, loop: Loop) -> _Sum | None:
    """A sum of all shares, if they can be added up as they are drawn; else None."""
    place = next(n for n, other in enumerate(statements) if other is s)
    drawn = next(n for n, other in enumerate(statements) if other is loop)
    zeros = statements[place - 1] if place else None
    if not isinstance(zeros, Let) or zeros.name != s.array or zeros.value != ZERO or s.by != "sum":
        return None
    (target,) = draw.targets
    if not isinstance(s.value, Element) or s.value.array != target.array or place < drawn:
        return None
    names = dict(zip(_dims(s.value), _dims(target), strict=True))
    own = {x.dim: x.ends for x in (*loop.over, *draw.own)}
    if len(names) != len(own) or {names.get(x.dim): x.ends for x in s.over} != own:
        return None
    along = draw.own[0].dim
    *others, last = s.indices
    if not isinstance(last, Position) or last.shift or names[last.dim] != along:
        return None
    if any(names.get(d, along) == along for i in others for d in i.free):
        return None
    if frozenset[str]().union(*(i.arrays for i in s.indices)) & writes(statements[drawn:place]):
        return None
    places: dict[str, Expr] = {d: Position(n) for d, n in names.items()}
    return _Sum(zeros, replace(s, indices=tuple(at(i, places) for i in s.indices)))


def _fetched(draw: Draw, sums: Sequence[_Sum]) -> tuple[Statement, ...]:
    """The calls with the rows of sums that are elsewhere for each position."""
    rows = (Element(s.added.array, s.added.indices) for s in sums)
    kernel = SHARING[draw.kernel].fetched
    return tuple(
        Draw((row,), kernel, (), own=draw.own, is_random=False)
        for row in rows
        if any(i.arrays for i in row.indices)
    )


def _adding(draw: Draw, sums: Sequence[_Sum], names: Names) -> tuple[Statement, ...]:
    """The draw that adds shares to sums: each unit by itself, or those of a large total."""
    kernels = SHARING[draw.kernel]
    weights, whole, summed = draw.arguments
    (along,) = draw.own
    stem = draw.targets[0].array
    units, label = (Element(names.fresh(f"{stem}_{word}")) for word in ("units", "label"))
    unit = Span(names.fresh(f"{stem} unit"), ZERO, units)
    count = Argument(along.stop)
    one_by_one: tuple[Statement, ...] = (
        Let(label.array, (), ZERO, type="int"),
        Draw((label,), kernels.label, (weights, summed), note=draw.note),
        *(
            Add(s.added.array, tuple(at(i, {along.dim: label}) for i in s.added.indices), ONE, ())
            for s in sums
        ),
    )
    targets = tuple(Element(s.added.array, s.added.indices) for s in sums)
    at_once = replace(draw, kernel=kernels.added, targets=targets)
    return (
        Let(units.array, (), ZERO, type="int"),
        Draw((units,), kernels.units, (whole, count), is_random=False),
        Loop((unit,), one_by_one),
        Choice(Apply("below", (units, ZERO)), ((), (at_once,))),
    )


def _dims(e: Element) -> list[str]:
    """The dim whose position each index is; nothing for others."""
    return [i.dim if isinstance(i, Position) and not i.shift else "" for i in e.indices]
