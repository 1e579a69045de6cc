"""Moves of what has no closed form, with a number that they see integrated out.

Given a level, the rate of a curve hardly moves; with the level integrated out it does, and the
level is drawn right after. A sweep then never mixes slower (J. S. Liu, 1994, "The collapsed Gibbs
sampler in Bayesian computations with applications to a gene regulation problem", Journal of the
American Statistical Association 89); by how much faster, theory does not say for what is moved, so
that operations decide. What is left of a normal number is a difference of squares: where data are
so far from zero that it would lose digits, nothing is integrated out.

Comes in: a schedule on trial, and what plans it with a number integrated out. Goes out: the plan
whose sweeps are cheapest, of those with a number integrated out that are not much dearer, with the
`Choice`; the same trial where there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any

import numpy as np

from gibbsppl.code.trials import Trial
from gibbsppl.errors import CompileError
from gibbsppl.model.density import size_of_terms
from gibbsppl.model.evaluation import Values
from gibbsppl.pieces.dependence import count_of
from gibbsppl.rewrites import MARGINAL_MOVES, collapsible
from gibbsppl.schedule.choices import Candidate, Choice
from gibbsppl.schedule.kinds import DensityDraw
from gibbsppl.schedule.sweeps import Schedule

# A plan with a number integrated out, and the same with the choices that it comes with.
Made = Callable[[str], tuple[Trial, Callable[[], Trial]]]
# Sweeps may be so many times as dear. (With the level of `dugongs` integrated out the worst number
# had 16 times the effective draws an operation, at 1.45 times the operations a sweep, with the rate
# of `pumps` 1.7 times, at 1.15; its precision and slope had 1.0 and 1.4 times, at 1.5 and 1.7; at
# 2.4 times and above all had less.)
MOST = 1.5
# A log density that is rounded by more than this is not that of the same posterior.
LARGEST_ROUNDING, EPSILON = 1e-6, float(np.finfo(float).eps)


def with_marginal_moves(
    now: Trial, settings: Mapping[str, Any], made: Made, start: Callable[[Trial], Sequence[Values]]
) -> Trial:
    """The plan with a number integrated out of the moves that see it, where sweeps stay cheap.

    ``start`` makes the states at which digits are looked at.
    """
    best, least = None, inf
    for name, seen in _numbers(now).items():
        try:
            plan, whole = made(name)
        except CompileError:
            continue
        ratio = plan.operations / now.operations
        if ratio <= min(MOST, least) and _keeps_updates(plan.schedule, now.schedule, name):
            best, least = (name, seen, whole), ratio
    if best is None:
        return now
    name, seen, whole = best
    found = whole()
    if not _keeps_digits(found.schedule, start(now)):
        return now
    asked = settings["rewrites"]
    without = {"rewrites": {**(asked if isinstance(asked, Mapping) else {}), MARGINAL_MOVES: False}}
    one = Candidate(f"integrated out of {seen}", {}, found.operations)
    other = Candidate("not integrated out", without, now.operations)
    return found.with_choices((*found.schedule.choices, Choice((name,), one, (other,))))


def _numbers(trial: Trial) -> dict[str, str]:
    """The numbers that may be integrated out, and what is then moved without them.

    None in a schedule whose moves are the user's, or in which something else is integrated out.
    """
    schedule = trial.schedule
    moved = any(isinstance(s, DensityDraw) for s in schedule.steps)
    if not moved or any(g.marginals for g in schedule.graphs):
        return {}
    latent = {s.target.array.name: s for s in schedule.graph.latent}
    found = collapsible(schedule.graph, trial.data)
    return {
        n: seen
        for n, seen in found.items()
        if n in latent and count_of(schedule.graph, latent[n]) == 1 and seen != "labels"
    }


def _keeps_digits(schedule: Schedule, states: Sequence[Values]) -> bool:
    """Whether log densities that are drawn from are rounded by little, at all of some states."""
    own = zip(schedule.steps, schedule.graphs, strict=True)
    graphs = {id(g): g for s, g in own if s.name not in schedule.interwoven}
    return bool(states) and all(
        size_of_terms(factor, values, graph.sizes) * EPSILON <= LARGEST_ROUNDING
        for graph in graphs.values()
        for factor in graph.factors
        for values in states
    )


def _keeps_updates(schedule: Schedule, before: Schedule, name: str) -> bool:
    """Whether what is drawn exactly, jointly, by proposals or once more still is so."""
    joint = [{*s.variables} for s in schedule.steps if s.is_joint]
    left = [{*s.variables} - {name} for s in before.steps if s.is_joint]
    return (
        len(schedule.fallbacks) <= len(before.fallbacks)
        and {*before.interwoven} <= {*schedule.interwoven}
        and {s.name for s in before.proposed} <= {s.name for s in schedule.proposed}
        and all(len(own) < 2 or any(own <= j for j in joint) for own in left)
    )
