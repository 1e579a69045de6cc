"""Slice moves of values with tied entries as statements: each entry moves along a line.

Entry by entry, all values one after the other: by their own log density, if colours tell which
terms are a value's own. Of a line through two entries, that is what changes with these two.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace

from gibbsppl.code.arrays.expressions import (
    ONE,
    TWO,
    ZERO,
    Element,
    Expr,
    Position,
    Size,
    Span,
    total,
)
from gibbsppl.code.arrays.statements import Argument, Choice, Density, Draw, Let, Statement, Store
from gibbsppl.code.lowering.densities import CANDIDATE
from gibbsppl.code.lowering.moved_entries import ChangesOfEntries
from gibbsppl.code.lowering.parameters import guarded
from gibbsppl.code.lowering.selections import Selection
from gibbsppl.code.lowering.workshop import Workshop
from gibbsppl.schedule.kinds import DensityDraw


@dataclass(frozen=True, slots=True)
class Learnt:
    """The width of a move or draw, or its scale: what kernels tell, and what is learnt from that.

    ``after`` are the statements that learn from what is ``told``, numbers of these names.
    """

    tuned: Element
    told: tuple[str, ...]
    after: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class TiedMove:
    """The moves of a step by a kernel, along lines whose kernels have that name.

    ``rows`` are the values, and ``entry`` the positions of the entry that is moved.
    """

    step: DensityDraw
    kernel: str
    line: str
    rows: Selection
    entry: tuple[Span, ...]
    learnt: Learnt

    @property
    def array(self) -> str:
        """The array that is moved."""
        return self.step.variables[0]


@dataclass(frozen=True, slots=True)
class _Line:
    """A line: the statements that go along it, and the arguments of its ends and its slope.

    ``value`` is the log density there; ``before`` and ``after`` are statements around a move.
    """

    along: Callable[[str], tuple[Statement, ...]]
    ends: tuple[Argument, ...]
    slope: tuple[Argument, ...]
    value: Expr
    before: tuple[Statement, ...] = ()
    after: tuple[Statement, ...] = ()


def entry_spans(w: Workshop, step: DensityDraw) -> tuple[Span, ...]:
    """The positions of the entries of a value, along dims of their own."""
    dims = w.dims(step.variables[0])[len(step.places) :]
    return tuple(Span(w.fresh(f"{d.name}_moved"), ZERO, Size(d.name)) for d in dims)


def lower_tied(w: Workshop, m: TiedMove) -> None:
    """A move of each entry of all values: together with another one, or of a matrix."""
    if len(m.entry) > 1:
        with w.inside(*m.entry), w.inside(*m.rows.over) if m.rows.over else nullcontext():
            _add_moved(w, m, _of_matrix(w, m))
        return
    (entry,) = m.entry
    changes = ChangesOfEntries.of(w, m.step)
    with w.with_local(*changes.kept):
        partner = w.fresh("partner")
        with w.inside(entry):
            here = Position(entry.dim)
            w.add(Let(partner, (), ZERO, type="int"))
            arguments = (Argument(here), Argument(entry.stop))
            w.add(Draw((Element(partner),), "partner", arguments))
            with w.inside(*m.rows.over) if m.rows.over else nullcontext():
                _add_moved(w, m, _of_two(w, m, changes, (here, Element(partner))))


def _of_matrix(w: Workshop, m: TiedMove) -> _Line:
    """The line of a matrix through one of its entries."""
    dims = w.dims(m.array)
    spans = (Span(w.fresh(d.name), ZERO, Size(d.name)) for d in dims[-len(m.entry) :])
    own = tuple(spans)
    lead = m.rows.element(m.array, dims).indices[: -len(own)]
    whole = Element(m.array, (*lead, *(Position(s.dim) for s in own)))
    before = w.fresh(f"{m.array}_before")
    w.add(Let(before, own, whole))
    value = Argument(Element(before, tuple(Position(s.dim) for s in own)), own, as_is=True)
    entries = tuple(Argument(Position(s.dim)) for s in m.entry)

    def along(t: str) -> tuple[Statement, ...]:
        called = (value, *entries, Argument(Element(t)))
        return (Draw((whole,), f"{m.line}_at", called, own=own, is_random=False),)

    axes = dims[: len(m.step.places)]
    terms = [
        guarded(w, c.place, axes, w.plain(c.value), ZERO) if c.place else w.plain(c.value)
        for c in m.step.terms
    ]
    moved = (Argument(whole, own, as_is=True), *entries)
    return _Line(along, (value, *entries), moved, m.rows.of(total(terms)))


def _of_two(
    w: Workshop, m: TiedMove, changes: ChangesOfEntries, places: tuple[Expr, Expr]
) -> _Line:
    """The line of a vector through two of its entries."""
    dims, two = w.dims(m.array), w.own_dim("of_two", 2)
    rows = tuple(replace(m.rows, at={**m.rows.at, dims[-1].name: p}) for p in places)
    here = tuple(r.element(m.array, dims) for r in rows)
    known = tuple(w.fresh(f"{m.array}_before") for _ in rows)
    w.add(*(Let(n, (), e) for n, e in zip(known, here, strict=True)))
    before = tuple(map(Element, known))
    pair = w.fresh(f"{m.array}_moved")

    def along(t: str) -> tuple[Statement, ...]:
        called = tuple(map(Argument, (*before, Element(t))))
        both = Element(pair, (Position(two.dim),))
        return (
            Draw((both,), f"{m.line}_at", called, own=(two,), is_random=False),
            *(Store(e, Element(pair, (n,))) for e, n in zip(here, (ZERO, ONE), strict=True)),
        )

    made = changes.at(w, rows, here, before)
    ends = tuple(map(Argument, (*places, *before)))
    first = (Let(pair, (two,), ZERO), *made.before)
    return _Line(along, ends, tuple(map(Argument, here)), made.value, first, made.after)


def _add_moved(w: Workshop, m: TiedMove, line: _Line) -> None:
    """The move along a line."""
    ends, drawn, slope = (w.fresh(n) for n in ("line_ends", "on_line", "line_slope"))
    candidate, three = w.fresh(CANDIDATE), w.own_dim("line_end", 3)
    learnt = m.learnt
    bend = (*line.slope, Argument(Element(candidate)))
    body = (
        *line.along(candidate),
        Let(slope, (), ZERO),
        Draw((Element(slope),), f"{m.line}_slope", bend, is_random=False),
    )
    density = Density(candidate, total([line.value, Element(slope)]), body)
    kernel = f"{m.kernel}_whole" if m.step.statement.support.is_discrete else m.kernel
    low, high = (Element(ends, (n,)) for n in (ONE, TWO))
    arguments = tuple(map(Argument, (ZERO, low, high, learnt.tuned)))
    targets = (Element(drawn), *map(Element, learnt.told))
    told = Element(ends, (Position(three.dim),))
    move = (
        *line.before,
        Let(drawn, (), ZERO, is_empty=True),
        Draw(targets, kernel, arguments, density=density, note=m.step.name),
        *line.along(drawn),
        *line.after,
        *learnt.after,
    )
    w.add(
        Let(ends, (three,), ZERO),
        *(Let(n, (), ZERO) for n in learnt.told),
        Draw((told,), f"{m.line}_ends", line.ends, own=(three,), is_random=False),
        Choice(Element(ends, (ZERO,)), ((), move)),
    )
