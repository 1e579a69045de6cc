"""Whether a sweep reads stale variables.

A step that draws a variable with others integrated out leaves these *stale*: they belong to the old
value. A draw given the new value makes them fresh; a sweep that reads them before no longer leaves
the posterior invariant (D. A. van Dyk and T. Park, 2008, "Partially collapsed Gibbs samplers",
Journal of the American Statistical Association 103).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain

import sympy as sp

from gibbsppl.algebra.expressions import leaves_of
from gibbsppl.errors import CompileError
from gibbsppl.model.graph import Graph, Maintained
from gibbsppl.model.stand_ins import StandIn
from gibbsppl.schedule.steps import Step
from gibbsppl.schedule.sweeps import Schedule


def check_fresh(schedule: Schedule) -> None:
    """Refuse a schedule with a step that reads, or a sweep that ends with, a stale variable."""
    stale = _swept(schedule, {})
    lasting = {name: cause for name, cause in stale.items() if name not in schedule.within_sweep}
    if lasting:
        first, cause = min(lasting.items())
        raise CompileError(
            f"{first}: it is stale at the end of a sweep: {cause} was drawn with {first} "
            f"integrated out. Draw {first} after {cause}."
        )
    # (what holds for some draws alone may be: the next sweep draws it anew before it is read)
    _swept(schedule, stale)


def _swept(schedule: Schedule, stale: Mapping[str, str]) -> dict[str, str]:
    """The variables stale after a sweep, each with the variable whose draw made it stale."""
    return stale_from(schedule, range(len(schedule.steps)), stale)


def stale_from(
    schedule: Schedule, steps: Iterable[int], stale: Mapping[str, str] | Iterable[str]
) -> dict[str, str]:
    """The variables stale after some steps, given those stale before; stale reads are refused."""
    stale = dict(stale) if isinstance(stale, Mapping) else dict.fromkeys(stale, "another variable")
    every, instead = _every(schedule), _moved_instead(schedule)
    for step, graph in ((schedule.steps[j], schedule.graphs[j]) for j in steps):
        stands_for = schedule.stand_ins(step)
        # (what moves along with a draw is read before it)
        drawn = () if stands_for else step.variables
        is_from_current = step.is_from_current or step.name in instead
        if is_from_current and (own := sorted(set(drawn) & set(stale))):
            raise CompileError(
                f"{step.name}: it is moved from its current value, which is stale: {stale[own[0]]} "
                f"was drawn with {own[0]} integrated out, and only an independent draw of "
                f"{own[0]} given the new {stale[own[0]]} makes it fresh. Leave {own[0]} out of "
                "kernels= and blocks=, or out of collapse=."
            )
        every_read = _read(step, graph) | read_of(stands_for)
        read = (every_read & set(stale)) - set(drawn)
        if read:
            first = min(read)
            raise CompileError(
                f"{step.name}: its draw reads {first}, which is stale: "
                f"{stale[first]} was drawn with {first} integrated out, and {first} has not been "
                f"drawn since. Draw {first} between {stale[first]} and {step.name}."
            )
        stale = {name: cause for name, cause in stale.items() if name not in drawn}
        known = {*graph.drawn, *(r.of for r in stands_for)}
        stale |= dict.fromkeys(every - known, schedule.drawn_by(step)[0])
    return stale


def _moved_instead(schedule: Schedule) -> frozenset[str]:
    """The steps in place of which a mixture may carry out a move from the current value."""
    moves = {s.name for s in schedule.steps if s.is_from_current}
    mixtures = (m for c in schedule.composed for m in c.mixtures())
    return frozenset(n for m in mixtures if not moves.isdisjoint(m.names) for n in m.names)


def stale_after(schedule: Schedule) -> frozenset[str]:
    """The variables that are stale, or may be, at the end of a sweep."""
    return frozenset(schedule.auxiliary if schedule.units else _swept(schedule, {}))


def read_by(schedule: Schedule, step: int) -> set[str]:
    """The arrays that a step reads."""
    return _read(schedule.steps[step], schedule.graphs[step])


def _every(schedule: Schedule) -> set[str]:
    """The variables of all graphs, without stand-ins."""
    standing = {r.name for i in schedule.interwoven.values() for r in i.stand_ins}
    drawn = (g.drawn for g in (schedule.graph, *schedule.graphs))
    return set(chain.from_iterable(drawn)) - standing


def read_of(changes: Iterable[StandIn]) -> set[str]:
    """The arrays that the formulas of stand-ins, and of what they stand for, read."""
    return {x.array.name for r in changes for e in (r.forward, r.backward) for x in leaves_of(e)}


def carried(schedule: Schedule) -> frozenset[str]:
    """The arrays of scans that stay up to date: only scans draw the variables behind them.

    Others are computed anew before each scan, since another step draws a variable behind them.
    """
    scans = [s for s in schedule.steps if s.maintained]
    arrays = {a.name: a for s in scans for a in s.maintained}
    latent = set(schedule.graph.drawn)
    kept = {}
    for name in arrays:
        keeping = [s for s in scans if name in {a.name for a in s.maintained}]
        updated = {n for s in keeping for n in s.variables}
        kept[name] = _determined_by(name, arrays) & latent <= updated
    return frozenset(n for n, is_kept in kept.items() if is_kept)


def _determined_by(name: str, arrays: Mapping[str, Maintained]) -> set[str]:
    """The variables that an array depends on, through other arrays too."""
    found: set[str] = set()
    for s in arrays[name].scatters:
        for leaf in leaves_of(sp.Tuple(s.value, *s.indices)):
            read = leaf.array.name
            found |= _determined_by(read, arrays) if read in arrays else {read}
    return found


def _read(step: Step, graph: Graph) -> set[str]:
    """The arrays that the conditional of a step reads."""
    return {x.array.name for e in step.expressions(graph) for x in leaves_of(sp.sympify(e))}
