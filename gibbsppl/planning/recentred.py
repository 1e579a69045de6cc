"""The choice between proposals along which a group moves, and a non-centred update, by theory.

Comes in: a plan in which the smallest variables of a block, such as the location of a group of
effects, are also proposed, the others moving along. Goes out: the plan in which they are drawn once
more with the standardised group held fixed instead, where that has more effective draws per
operation: of a location whose conditional there is concave that is one draw of one number, where a
proposal factorises the whole block. And the choices made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gibbsppl.code.trials import Trial
from gibbsppl.errors import CompileError
from gibbsppl.model.evaluation import Values
from gibbsppl.planning.alternatives import LEAST_GAIN, Planned, is_quick, plan_of, updated
from gibbsppl.planning.proposing import shares_of
from gibbsppl.rewrites import Rewritten
from gibbsppl.schedule.choices import Candidate, Choice, with_decided
from gibbsppl.schedule.steps import Step

Start = Callable[[Trial], Sequence[Values]]
Remade = Callable[[bool | tuple[str, ...]], Rewritten]


def with_recentred(
    now: Planned, settings: Mapping[str, Any], start: Start, remade: Remade
) -> tuple[Planned, tuple[Choice, ...]]:
    """The plan with non-centred updates in place of proposals, where these pay; the choices."""
    choices = list[Choice]()
    is_open = settings["interweave"] is True and now.control.scan == "systematic"
    for step in _moving_along(now) if is_open and is_quick(now.schedule.graph) else ():
        other = _recentred(now, step, settings, remade)
        shares = None if other is None else shares_of((now, other), step.variables, start)
        if other is None or shares is None:
            continue
        names = ", ".join(n for n in step.variables if n not in step.last)
        mine = Candidate(f"also proposed, {names} moving along",
                         {"interweave": _updated_by(now) or False},
                         now.trial.operations, shares[0])  # fmt: skip
        theirs = Candidate("interwoven", {"interweave": _updated_by(other)},
                           other.trial.operations, shares[1])  # fmt: skip
        pays = theirs.by_theory > LEAST_GAIN * mine.by_theory
        made, left = (theirs, mine) if pays else (mine, theirs)
        choices.append(Choice(tuple(step.last), made, (left,)))
        if pays:
            decided = with_decided(other.schedule.decided, theirs.settings)
            now = replace(other, trial=other.trial.deciding(decided))
    return now, tuple(choices)


def _moving_along(now: Planned) -> Iterator[Step]:
    """Yield the proposals of a plan with which other variables move along."""
    yield from (s for s in now.schedule.proposed if s.last)


def _updated_by(plan: Planned) -> tuple[str, ...]:
    """The variables of the non-centred updates of a plan."""
    return tuple(dict.fromkeys(v for i in plan.model.interwoven for v in i.variables))


def _recentred(
    now: Planned, step: Step, settings: Mapping[str, Any], remade: Remade
) -> Planned | None:
    """The plan with updates of what a step proposes; None where there are none, or more differs."""
    wanted = tuple(dict.fromkeys((*_updated_by(now), *step.last)))
    own = {s.target.array.name for s in now.model.stages[0].graph.latent}
    if not own.issuperset(wanted):
        return None
    try:
        model = updated(now.model, remade(wanted))
    except CompileError:
        return None
    plan = plan_of(now, model, now.control, settings)
    if plan is None or step.name in {s.name for s in plan.schedule.steps}:
        return None
    return plan if {*step.last} <= {*_updated_by(plan)} else None
