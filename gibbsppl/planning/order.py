"""The order of a sweep's steps, and the units of random and symmetric scans.

An auxiliary variable is drawn before the steps that read it, and a step that has integrated a
variable out is followed by the draw of that variable. In an order of the user's, auxiliary
variables that are not named stand before the first step that reads them. A *unit* of a random or a
symmetric scan is a step with all steps that must go with it, so that each unit alone leaves the
posterior invariant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gibbsppl.errors import CompileError, did_you_mean
from gibbsppl.planning.control import Control
from gibbsppl.schedule.scanning import RandomScan
from gibbsppl.schedule.staleness import check_fresh, read_by, stale_from
from gibbsppl.schedule.sweeps import Schedule


def controlled(schedule: Schedule, control: Control) -> Schedule:
    """The schedule in the order and with the scan that the user asks for, checked.

    Auxiliary variables that moves are made without may stand after what reads them: they are put
    before.
    """
    if control.order or _made_too_late(schedule):
        schedule = _ordered(schedule, control.order)
    check_complete(schedule)
    check_fresh(schedule)
    return schedule if control.scan == "systematic" else _scanned(schedule, control.scan)


def check_complete(schedule: Schedule) -> None:
    """Refuse a schedule that leaves a latent variable as it is."""
    drawn = {n for s in schedule.steps for n in s.variables}
    drawn |= {p.of for p in schedule.parts if p.name in drawn}
    steps = {t.name for s in schedule.steps for t in s.statements}
    for statement in schedule.graph.latent:
        name = statement.target.array.name
        if name not in drawn or (statement.name not in steps and name in steps):
            raise CompileError(
                f"{statement.name}: no step of the schedule draws it ({_listed(schedule)}), so "
                "that it would stay where it starts; every latent variable must be updated. To "
                f"hold {name} fixed, declare it as data."
            )


def check_exact(schedule: Schedule) -> None:
    """Refuse steps that are no exact draws, where the user wants none: each with its reason."""
    if schedule.approximate:
        raise CompileError(
            f"exact=True, but {schedule.approximate[0].statement.name} would be drawn by an "
            "approximate scan; leave approximate=True out."
        )
    if schedule.fallbacks:
        reasons = ((m.name, m.refusal) for m in schedule.fallbacks)
        lines = (f"  {name}: {why.reason}" for name, why in reasons if why is not None)
        raise CompileError(
            "exact=True, but these variables have no exact conditional:\n"
            + "\n".join(lines)
            + "\nLeave exact=True out to draw them by a fallback move, or change the model."
        )
    if schedule.asked:
        step = schedule.asked[0]
        told = "over-relaxation" if step.alpha is not None else step.kernel
        raise CompileError(
            f"exact=True, but kernels= asks for {told} of {step.variables[0]}, which is no "
            "independent draw from the conditional; leave one of them out."
        )


def _listed(schedule: Schedule) -> str:
    return ", ".join(s.name for s in schedule.steps)


def _ordered(schedule: Schedule, order: Sequence[str]) -> Schedule:
    """The schedule with the named steps first, in this order, then all others as before.

    The name of a variable stands for all of its steps but those that are named themselves.
    """
    named: list[int] = []
    for name in order:
        found = _steps_named(schedule, name, "order")
        others = {*order} - {name}
        more = [j for j in found if j not in named and schedule.steps[j].name not in others]
        if not more:
            raise CompileError(
                f"order: {schedule.steps[found[0]].name!r} is named twice (the second time by "
                f"{name!r}), expected each step once."
            )
        named += more
    auxiliary = set(schedule.auxiliary)
    rest = [j for j in range(len(schedule.steps)) if j not in named]
    later = [j for j in rest if schedule.steps[j].name not in auxiliary]
    placed: list[int] = []
    for j in (*named, *later):
        placed += [k for k in _before(schedule, j) if k not in placed and k not in named]
        placed.append(j)
    placed += [j for j in rest if j not in placed]
    return _with_stale_auxiliaries(schedule.only(placed))


def _steps_named(schedule: Schedule, name: str, what: str) -> list[int]:
    """The steps of a variable, of an array that is taken apart, or the step of a statement.

    ``what`` is where the user has named it.
    """
    names = {name, *(p.name for p in schedule.parts if p.of == name)}
    steps = list(enumerate(schedule.steps))
    found = [j for j, s in steps if name in (s.name, *(t.name for t in s.statements))]
    found = list(dict.fromkeys(k for j in found for k in _together(schedule, j)))
    every = [j for j, s in steps if names & set(schedule.drawn_by(s))]
    if name in {n for s in schedule.steps for n in schedule.drawn_by(s)}:
        found = every
    if not (found or every):
        raise CompileError(
            f"{what}: found {name!r}, expected names of variables or of their steps: "
            f"{_listed(schedule)}.{did_you_mean(str(name), (s.name for s in schedule.steps))}"
        )
    return found or every


def _together(schedule: Schedule, step: int) -> list[int]:
    """A step, with all others by the same kernel, which stay together."""
    composed = schedule.composed_of(schedule.steps[step].name)
    names = () if composed is None else composed.names
    return [j for j, s in enumerate(schedule.steps) if s.name in names] or [step]


def _before(schedule: Schedule, step: int) -> list[int]:
    """The steps of auxiliary variables that a step depends on, directly or not, in order."""
    own = {schedule.steps[step].name}
    found: set[int] = set()
    waiting = [step]
    while waiting:
        read = read_by(schedule, waiting.pop())
        more = [
            k
            for k, s in enumerate(schedule.steps)
            if s.name in schedule.auxiliary and s.variables[0] in read and s.name not in own
        ]
        waiting += [k for k in more if k not in found]
        found |= set(more)
    return sorted(found - {step})


def _with_stale_auxiliaries(schedule: Schedule) -> Schedule:
    """The schedule, with auxiliary variables marked as passing if stale when a sweep ends."""
    _check_made(schedule)
    stale = set(stale_from(schedule, range(len(schedule.steps)), ()))
    return replace(schedule, within_sweep=schedule.within_sweep | (stale & set(schedule.auxiliary)))


def _check_made(schedule: Schedule) -> None:
    """Refuse a step that reads an auxiliary variable that the sweep draws later only."""
    for name, first in _made_too_late(schedule):
        raise CompileError(
            f"order: {name} comes before {first}, but its draw reads {first}, an "
            f"auxiliary variable that is drawn anew in each sweep; name {first} before "
            f"{name}, or leave {first} out of order=, so that it finds its place."
        )


def _made_too_late(schedule: Schedule) -> list[tuple[str, str]]:
    """The steps that read an auxiliary variable that the sweep draws later only, each with one."""
    waiting, found = set(schedule.auxiliary), list[tuple[str, str]]()
    for j, step in enumerate(schedule.steps):
        read = waiting & read_by(schedule, j) - set(step.variables)
        found += [(step.name, min(read))] if read else []
        waiting -= set(step.variables)
    return found


# Units


def _scanned(schedule: Schedule, scan: str | RandomScan) -> Schedule:
    """The schedule divided into units, each leaving the posterior invariant."""
    auxiliary = set(schedule.auxiliary)
    own = [j for j, s in enumerate(schedule.steps) if s.name not in auxiliary]
    own = [j for j in own if _together(schedule, j)[0] == j]
    units = tuple(unit_of(schedule, j) for j in own)
    weights: tuple[float, ...] = ()
    if isinstance(scan, RandomScan) and scan.weights:
        weights = _weights(schedule, own, scan)
    how = "random" if isinstance(scan, RandomScan) else scan
    within_sweep = schedule.within_sweep | auxiliary
    return replace(schedule, scan=how, units=units, weights=weights, within_sweep=within_sweep)


def unit_of(schedule: Schedule, step: int) -> tuple[int, ...]:
    """The unit of a step: its auxiliary variables, the step, and redraws of stale variables."""
    auxiliary = schedule.auxiliary
    anew = {s.name for s in schedule.steps if s.name in auxiliary and not s.is_from_current}
    unit = _with_before(schedule, step)
    for _ in schedule.steps:
        # (what is drawn anew in each unit may be stale before and after it, the others may not)
        stale = set(stale_from(schedule, unit, anew)) - anew
        again = [
            j
            for j, s in enumerate(schedule.steps)
            if stale & set(s.variables) and s.name not in auxiliary
        ]
        if not stale:
            return tuple(unit)
        if not again:
            break
        more = _with_before(schedule, again[0])
        unit += [k for k in more if k not in unit or k in again]
    raise CompileError(
        f"scan: {schedule.steps[step].name} leaves {', '.join(sorted(stale))} stale, and no draws "
        "after it make all of them fresh; use scan='systematic'."
    )


def _with_before(schedule: Schedule, step: int) -> list[int]:
    """A step, with others by the same kernel, after the auxiliary variables that these need."""
    own = _together(schedule, step)
    return [*dict.fromkeys(k for j in own for k in _before(schedule, j) if k not in own), *own]


def _weights(schedule: Schedule, own: Sequence[int], scan: RandomScan) -> tuple[float, ...]:
    """The weight of each unit, by the step that it is for."""
    found = dict.fromkeys(own, 1.0)
    for name, weight in scan.weights.items():
        for j in _steps_named(schedule, name, "RandomScan(weights)"):
            if j not in {k for first in found for k in _together(schedule, first)}:
                raise CompileError(
                    f"RandomScan(weights[{name!r}]): {name} is an auxiliary variable, drawn with "
                    "what reads it; give weights to the variables of the model."
                )
            found[_together(schedule, j)[0]] = float(weight)
    return tuple(found.values())
