"""Natural parameters, log weights and bounds as expressions of the axes of an array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import inf

import sympy as sp

from gibbsppl.algebra.expressions import Dim
from gibbsppl.algebra.ranges import is_numeric
from gibbsppl.code.arrays.expressions import (
    ZERO,
    Apply,
    Element,
    Expr,
    Number,
    Position,
    Reduce,
    at,
    mapped,
    total,
)
from gibbsppl.code.arrays.statements import Let
from gibbsppl.code.lowering.contributions import added, factors_of, is_everywhere, on_diagonal
from gibbsppl.code.lowering.stored import same_sum
from gibbsppl.code.lowering.workshop import Workshop, positions
from gibbsppl.derive.contractions import Contribution
from gibbsppl.pieces.dependence import Place
from gibbsppl.schedule.parameters import Bound, NaturalParameter


def parameter(w: Workshop, p: NaturalParameter, name: str) -> Expr:
    """A natural parameter; an array of its own where contributions are to some positions alone."""
    if (kept := same_sum(w.maintained, w.statements, p)) is not None:
        return kept
    everywhere = [c for c in p.contributions if is_everywhere(w, c, p.axes)]
    rest = [c for c in p.contributions if c not in everywhere]
    value = merged(w, everywhere)
    if not rest and not p.squares:
        return value
    array = w.fresh(name)
    w.add(Let(array, tuple(map(w.span, p.axes)), value, factors_of(everywhere)))
    w.add(*(added(w, array, p.axes, c) for c in rest))
    w.add(*(on_diagonal(w, array, p, c) for c in p.squares))
    return Element(array, positions(p.axes))


def by_element(w: Workshop, p: NaturalParameter) -> Expr:
    """A natural parameter of a single element, each contribution where it goes to."""
    found: dict[tuple[Place, ...], list[Contribution]] = {}
    for c in p.contributions:
        found.setdefault(c.place, []).append(c)
    return total([guarded(w, place, p.axes, merged(w, cs), ZERO) for place, cs in found.items()])


def bound(w: Workshop, b: Bound) -> Expr:
    """The tightest of all contributions to a bound."""
    widest, tightest = (-inf, "maximum") if b.side == "lower" else (inf, "minimum")
    value: Expr | None = None
    for c in b.contributions:
        own = guarded(w, c.place, b.axes, w.expr(c.value), Number(widest))
        value = own if value is None else Apply(tightest, (value, own))
    return value if value is not None else Number(widest)


def guarded(
    w: Workshop, place: Sequence[Place], axes: Sequence[Dim], value: Expr, other: Expr
) -> Expr:
    """A value at the positions of a place, another elsewhere."""
    conditions: list[Expr] = []
    for p, axis in zip(place, axes, strict=True):
        here = Position(axis.name)
        if isinstance(p, int):
            conditions.append(Apply("equals", (here, Number(p))))
            continue
        if p.start > 0:
            conditions.append(Apply("at_most", (Number(p.start), here)))
        if p.stop < w.size(axis):
            conditions.append(Apply("below", (here, w.spans((p,))[0].stop)))
    if not conditions:
        return value
    both = conditions[0] if len(conditions) == 1 else Apply("and", tuple(conditions))
    return Apply("where", (both, mapped(value, partial(_summed_where, w, both)), other))


def _summed_where(w: Workshop, condition: Expr, e: Expr) -> Expr | None:
    """A sum over nothing where a condition fails: its terms may be nowhere there."""
    if not isinstance(e, Reduce) or e.by != "sum":
        return None
    # (a dim of the condition is another one than that of a sum along the same axis)
    copies = {s.dim: w.fresh(s.dim) for s in e.spans if s.dim in condition.free}
    there = {dim: Position(copy) for dim, copy in copies.items()}
    spans = (replace(s, dim=copies.get(s.dim, s.dim)) for s in e.spans)
    first, *rest = (s.over(lambda end: at(end, there)) for s in spans)
    e = replace(e, body=at(e.body, there))
    start = Apply("where", (condition, first.start, first.stop))
    return replace(e, spans=(replace(first, start=start), *rest))


def merged(w: Workshop, contributions: Sequence[Contribution]) -> Expr:
    """The sum of contributions, plain numbers added up first."""
    number = sp.Add(*(c.value for c in contributions if is_numeric(c.value)))
    rest = [w.expr(c.value) for c in contributions if not is_numeric(c.value)]
    return total([w.expr(number), *rest])
