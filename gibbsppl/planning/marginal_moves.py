"""Moves of what has no closed form, with a number that they see integrated out.

Given a level, the rate of a curve hardly moves; with the level integrated out it does, and the
level is drawn right after. Exact draws mix no slower so (J. S. Liu, 1994, "The collapsed Gibbs
sampler in Bayesian computations with applications to a gene regulation problem", Journal of the
American Statistical Association 89); by how much faster, theory does not say, so that operations
decide. What is left of a normal number is a difference of squares: where data are so far from zero
that it would lose digits, the number is not integrated out.

Comes in: a schedule on trial, and what plans it with a number integrated out. Goes out: the plan
whose sweeps are cheapest, of those with a number integrated out that are not much dearer, with the
`Choice`; the same trial where there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from gibbsppl.code.trials import Trial
from gibbsppl.errors import CompileError
from gibbsppl.model.density import size_of_terms
from gibbsppl.model.evaluation import Values
from gibbsppl.pieces.dependence import count_of
from gibbsppl.planning.rules import RULES
from gibbsppl.rewrites import LABELS, MARGINAL_MOVES, collapsible
from gibbsppl.schedule.choices import Candidate, Choice, asking
from gibbsppl.schedule.kinds import DensityDraw
from gibbsppl.schedule.sweeps import Schedule

# A plan with a number integrated out, and the same with the choices that it comes with.
Made = Callable[[str], tuple[Trial, Callable[[], Trial]]]
# Sweeps may be so many times as dear.
MOST = RULES["most operations"].value
# Log densities may be rounded by so much: probabilities are then off by a share that no fewer than
# 1e12 independent draws would show.
LARGEST_ROUNDING, EPSILON = 1e-6, float(np.finfo(float).eps)


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A plan with a number integrated out of what is moved: its operations beside those before."""

    name: str
    moved: str
    ratio: float
    trial: Trial
    whole: Callable[[], Trial]


def with_marginal_moves(
    now: Trial,
    settings: Mapping[str, Any],
    made: Made,
    start: Callable[[Trial], Sequence[Values]],
    *,
    is_asked: bool = False,
) -> Trial:
    """The plan with a number integrated out of the moves that see it, where sweeps stay cheap.

    ``start`` makes the states at which digits are looked at. ``is_asked``: by the user, whatever
    the sweeps take; an error if there is no such plan.
    """
    plans = sorted(_plans(now, made, inf if is_asked else MOST), key=lambda p: p.ratio)
    states = start(now) if plans else ()
    best = next((p for p in plans if _keeps_digits(p, states)), None)
    if best is not None:
        found = best.whole()
        asked, forbidden = (
            asking(settings, "rewrites", {MARGINAL_MOVES: wanted}) for wanted in (True, False)
        )
        one = Candidate(f"integrated out of {best.moved}", asked, found.operations)
        other = Candidate("not integrated out", forbidden, now.operations)
        return found.with_choices((*found.schedule.choices, Choice((best.name,), one, (other,))))
    if is_asked:
        raise CompileError(
            f"rewrites[{MARGINAL_MOVES!r}]: no number that moves without a closed form see can be "
            "integrated out of them, all other draws being kept with their digits; leave it out."
        )
    return now


def _plans(now: Trial, made: Made, most: float) -> Iterator[Plan]:
    """The plans with a number integrated out that give up no draw, and are not much dearer."""
    for name, moved in integrable(now).items():
        try:
            trial, whole = made(name)
        except CompileError:
            continue
        if _keeps_updates(trial.schedule, now.schedule, name):
            ratio = trial.operations / now.operations
            if ratio <= most:
                yield Plan(name, moved, ratio, trial, whole)


def integrable(trial: Trial) -> dict[str, str]:
    """The numbers that may be integrated out, and what is then moved without them.

    None in a schedule without moves, or in which something else is integrated out.
    """
    schedule = trial.schedule
    moved = any(isinstance(s, DensityDraw) for s in schedule.steps)
    if not moved or any(g.marginals for g in schedule.graphs):
        return {}
    latent = {s.target.array.name: s for s in schedule.graph.latent}
    names = [n for n, s in latent.items() if count_of(schedule.graph, s) == 1]
    found = collapsible(schedule.graph, trial.data, names)
    return {n: seen for n, seen in found.items() if seen != LABELS}


def _keeps_digits(plan: Plan, states: Sequence[Values]) -> bool:
    """Whether log densities without the number are rounded by little, at all of some states."""
    schedule = plan.trial.schedule
    own = zip(schedule.steps, schedule.graphs, strict=True)
    without = {id(g): g for _, g in own if plan.name not in g.drawn}
    return bool(states) and all(
        size_of_terms(factor, values, graph.sizes) * EPSILON <= LARGEST_ROUNDING
        for graph in without.values()
        for factor in graph.factors
        for values in states
    )


def _keeps_updates(schedule: Schedule, before: Schedule, name: str) -> bool:
    """Whether no draw is given up: exact, joint, proposed or made once more, but for a name."""
    joint = [{*s.variables} for s in schedule.steps if s.is_joint]
    left = [{*s.variables} - {name} for s in before.steps if s.is_joint]
    return (
        len(schedule.fallbacks) <= len(before.fallbacks)
        and {*before.interwoven} <= {*schedule.interwoven}
        and {s.name for s in before.proposed} <= {s.name for s in schedule.proposed}
        and all(len(own) < 2 or any(own <= j for j in joint) for own in left)
    )
