"""From a schedule to what is looked at of its steps, before a run.

Comes in: a `Schedule`. Goes out: a `DrawnFrom`.
"""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from gibbsppl.algebra.expressions import Array, Expr
from gibbsppl.algebra.supports import Support
from gibbsppl.derive.matching import own_support
from gibbsppl.initial.drawn_from import DrawnFrom, OfDensity, OfFamily, OfSeveral
from gibbsppl.initial.separation import is_flat
from gibbsppl.pieces.dependence import region_of, slices_of
from gibbsppl.schedule.kinds import DensityDraw, FamilyDraw
from gibbsppl.schedule.steps import Step
from gibbsppl.schedule.sweeps import Schedule


def looked_at(schedule: Schedule) -> DrawnFrom:
    """The facts looked at of the steps of a schedule."""
    steps = tuple(found for step in schedule.steps for found in _of(schedule, step))
    moved = any(s.is_move for s in schedule.asked)
    return DrawnFrom(steps, schedule.whole.sizes, moved)


def _of(schedule: Schedule, step: Step) -> Iterator[OfFamily | OfSeveral | OfDensity]:
    if isinstance(step, FamilyDraw):  # (a family has a domain of natural parameters)
        yield _of_family(schedule, step)
    if step.is_joint:
        yield OfSeveral(step.name, step.variables, schedule.stand_ins(step))
    if step.name in schedule.interwoven:  # (the density is looked at where no group moves along)
        return
    if isinstance(step, DensityDraw):
        statement = step.statement
        own = (step.variables[0], slices_of(step.region), statement.mask)
        yield OfDensity(step.name, *own, is_flat(statement))
    elif step.refusal is not None:  # (moved together, since no family owns them)
        graph = schedule.graph_of(step)
        for s in step.statements:
            region = slices_of(region_of(graph, s))
            yield OfDensity(step.name, s.target.array.name, region, s.mask, is_flat(s))


def _of_family(schedule: Schedule, step: FamilyDraw) -> OfFamily:
    conditional, statement = step.conditional, step.statement
    natural = conditional.family.natural
    assert natural is not None
    axes = schedule.whole.variables[statement.target.array.name].dims
    own, dummies = own_support(conditional.family, conditional.event)
    etas = tuple(f"·eta_{j}" for j in range(len(step.parameters)))
    ends = ("·lower", "·upper") if step.bounds else ()
    by_end = {end: Array(n)[axes] for n, end in zip(ends, (own.lower, own.upper), strict=False)}
    known = {n: by_end[d] for n, d in dummies.items() if d in by_end} | dict(conditional.known)
    domain: tuple[Expr, ...] = ()
    if not conditional.event:
        domain = natural.domain(*(Array(n)[axes] for n in etas), **known)
    return OfFamily(
        name=step.name,
        array=statement.target.array.name,
        family=conditional.family.name,
        stand_ins=schedule.stand_ins(step),
        is_bounded=bool(step.bounds),
        dense=step.dense,
        region=slices_of(step.region),
        drawn=step.drawn if step.dense else (),
        mask=statement.mask,
        axes=axes,
        names=(*etas, *ends),
        domain=tuple(map(sp.sympify, domain)),
        ends=_ends(own),
    )


def _ends(own: Support) -> tuple[float | None, float | None]:
    """The ends of a support that are numbers."""
    lower, upper = (sp.sympify(end) for end in (own.lower, own.upper))
    return (float(lower) if lower.is_number else None, float(upper) if upper.is_number else None)
