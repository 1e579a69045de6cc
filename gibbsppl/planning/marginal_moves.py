"""Moves of what has no closed form, with a variable that they see integrated out.

Given a level, the rate of a curve hardly moves; with the level integrated out it does, and the
level is drawn right after. Exact draws mix no slower so (J. S. Liu, 1994, "The collapsed Gibbs
sampler in Bayesian computations with applications to a gene regulation problem", Journal of the
American Statistical Association 89). A number is integrated out where sweeps are then not much
dearer, and nothing is lost by theory; a number or an array also where theory tells that so much is
gained (`marginal_gain`). Draws without auxiliary variables are not given them: these hold a
variable, as a rule, far more than another variable does. What is left of a normal number is a
difference of squares: where data are so far from zero that it would lose digits, it is not
integrated out.

Comes in: a schedule on trial, and what plans it with a variable integrated out. Goes out: the plan
that gains most an operation, with the `Choice`; the same trial where none does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import inf, nan
from typing import Any

import numpy as np

from gibbsppl.algebra.expressions import mentions
from gibbsppl.code.trials import Trial
from gibbsppl.errors import CompileError
from gibbsppl.kernels.gradient_move import GradientMove
from gibbsppl.kernels.modal import ModalMove
from gibbsppl.model.density import size_of_terms
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.pieces.dependence import count_of
from gibbsppl.planning.alternatives import is_quick
from gibbsppl.planning.marginal_gain import coordinates, shares_of_moves
from gibbsppl.planning.rules import RULES
from gibbsppl.rewrites import LABELS, MARGINAL_MOVES, collapsible
from gibbsppl.schedule.choices import Candidate, Choice, asking
from gibbsppl.schedule.kinds import DensityDraw
from gibbsppl.schedule.sweeps import Schedule

# A plan with a variable integrated out, and the same with the choices that it comes with.
Made = Callable[[str], tuple[Trial, Callable[[], Trial]]]
# Sweeps may be so many times as dear.
MOST = RULES["most operations"].value
# Log densities may be rounded by so much: probabilities are then off by a share that no fewer than
# 1e12 independent draws would show.
LARGEST_ROUNDING, EPSILON = 1e-6, float(np.finfo(float).eps)


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A plan with a variable integrated out of what is moved: its operations beside those before.

    ``shares`` are the effective draws of a sweep before and with it, where theory is asked;
    ``by_rule``: it is of a number, and no draw is less exact.
    """

    name: str
    moved: str
    ratio: float
    trial: Trial
    whole: Callable[[], Trial]
    shares: tuple[float, float] | None
    by_rule: bool = False

    @property
    def pays(self) -> bool:
        """Whether it gains enough by theory; where a rule prefers it, whether theory loses nothing.

        (Of what theory is silent of the rule alone says.)
        """
        if self.shares is not None and self.worth > MOST:
            return True
        return self.by_rule and self.ratio <= MOST and self.worth >= 1

    @property
    def worth(self) -> float:
        """How many times as much comes of an operation; sweeps of a rule are worth its limit.

        (Where sweeps are cheaper it is by another way to move, of which theory tells nothing.)
        """
        if self.shares is None:
            return MOST / self.ratio
        before, after = self.shares
        return after / before / max(self.ratio, 1.0) if before else inf


def with_marginal_moves(
    now: Trial,
    settings: Mapping[str, Any],
    made: Made,
    start: Callable[[Trial], Sequence[Values]],
    *,
    is_asked: bool = False,
) -> Trial:
    """The plan with a variable integrated out of the moves that see it, where that pays.

    ``start`` makes the states at which digits are looked at, and theory is asked. ``is_asked``: by
    the user, whatever sweeps take and theory tells; an error if there is no such plan.
    """
    states = cache(lambda: start(now) if is_quick(now.schedule.graph) else ())
    found = [*_plans(now, made, states, is_asked=is_asked)]
    plans = sorted(found, key=lambda p: (p.pays, p.worth), reverse=True)
    best = next((p for p in plans if _keeps_digits(p, start(now))), None)
    if best is not None:
        return _chosen(best, now, settings)
    if is_asked:
        raise CompileError(
            f"rewrites[{MARGINAL_MOVES!r}]: no number that moves without a closed form see can be "
            "integrated out of them, all other draws being kept with their digits; leave it out."
        )
    return now


def _chosen(best: Plan, now: Trial, settings: Mapping[str, Any]) -> Trial:
    """A plan, with its choice."""
    found = best.whole()
    asked, forbidden = (
        asking(settings, "rewrites", {MARGINAL_MOVES: wanted}) for wanted in (True, False)
    )
    share, of_best = best.shares or (nan, nan)
    one = Candidate(f"integrated out of {best.moved}", asked, found.operations, of_best)
    other = Candidate("not integrated out", forbidden, now.operations, share)
    return found.with_choices((*found.schedule.choices, Choice((best.name,), one, (other,))))


def _plans(
    now: Trial, made: Made, states: Callable[[], Sequence[Values]], *, is_asked: bool
) -> Iterator[Plan]:
    """The plans with a variable integrated out that give up no draw, and pay if nobody asks."""
    for name, moved in integrable(now, is_asked=is_asked).items():
        is_number = count_of(now.schedule.graph, now.schedule.graph.statement(name)) == 1
        if not (is_number or is_asked or states()):
            continue
        try:
            trial, whole = made(name)
        except CompileError:
            continue
        if not _keeps_updates(trial.schedule, now.schedule, name):
            continue
        ratio = trial.operations / now.operations
        shares = _shares(now, trial, moved, states())
        are_exact = len(trial.schedule.fallbacks) <= len(now.schedule.fallbacks)
        plan = Plan(name, moved, ratio, trial, whole, shares, by_rule=is_number and are_exact)
        if is_asked or plan.pays:
            yield plan


def integrable(trial: Trial, *, is_asked: bool = False) -> dict[str, str]:
    """The variables that may be integrated out, and what is then moved without them.

    None in a schedule without moves given all auxiliary variables, or in which something else is
    integrated out. Of moves along paths, and of what the user has proposed, only if it ``is_asked``
    for: theory is of moves one by one.
    """
    schedule, graph = trial.schedule, trial.schedule.graph
    auxiliary = {*schedule.auxiliary} & {*graph.drawn}
    kinds = (DensityDraw, GradientMove, ModalMove) if is_asked else DensityDraw
    moved = {
        v
        for s, own in zip(schedule.steps, schedule.graphs, strict=True)
        if isinstance(s, kinds) and auxiliary <= {*own.drawn}
        for v in s.variables
    }
    if not moved or any(g.marginals for g in schedule.graphs):
        return {}
    names = [
        s.target.array.name for s in graph.latent
        if count_of(graph, s) == 1 or _may_be_told(graph, s, moved)
    ]  # fmt: skip
    found = collapsible(graph, trial.data, names)
    return {n: seen for n, seen in found.items() if seen != LABELS}


def _may_be_told(graph: Graph, statement: Statement, moved: Collection[str]) -> bool:
    """Whether theory may be asked of what is moved and sees an array, which is whole.

    Few numbers, each between known ends.
    """
    name = statement.target.array.name
    factors = graph.factors_of(name)
    seen = {n for n in moved for f in factors if mentions(f.log_density, (n,))} - {name}
    is_whole = statement.known == 0 and len(graph.statements_of(name)) == 1
    return is_whole and bool(seen) and bool(coordinates(graph, seen))


def _shares(
    now: Trial, other: Trial, moved: str, states: Sequence[Values]
) -> tuple[float, float] | None:
    """The effective draws of a sweep of what is moved, given a variable and without it."""
    names = moved.split(", ")
    graphs = [
        {id(t.schedule.graph_of(s)): t.schedule.graph_of(s) for s in t.schedule.steps
         if {*s.variables} & {*names} and s.name not in t.schedule.interwoven}
        for t in (now, other)
    ]  # fmt: skip
    if not all(len(own) == 1 for own in graphs):
        return None
    given, without = (next(iter(own.values())) for own in graphs)
    return shares_of_moves(given, without, names, states)


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
    """Whether no draw is given up: joint, proposed or made once more, but for a name.

    Nor one without auxiliary variables.
    """
    joint = [{*s.variables} for s in schedule.steps if s.is_joint]
    left = [{*s.variables} - {name} for s in before.steps if s.is_joint]
    return (
        {*before.interwoven} <= {*schedule.interwoven}
        and {s.name for s in before.proposed} <= {s.name for s in schedule.proposed}
        and all(len(own) < 2 or any(own <= j for j in joint) for own in left)
        and _given_no_more(schedule, before)
    )


def _given_no_more(schedule: Schedule, before: Schedule) -> bool:
    """Whether no moved variable is given an auxiliary variable it was moved without before."""
    auxiliary = {*schedule.auxiliary}
    given = {
        v: auxiliary & {*before.graph_of(s).drawn}
        for s in before.steps
        if isinstance(s, DensityDraw) and s.name not in before.interwoven
        for v in s.variables
    }
    return all(
        auxiliary & {*schedule.graph_of(s).drawn} <= given[v]
        for s in schedule.steps
        if s.name not in schedule.interwoven
        for v in s.variables
        if v in given
    )
