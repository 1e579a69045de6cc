"""The choice between a model with a rewrite, and without it.

Comes in: a schedule on trial, and that of the same model with one rewrite less. A rewrite makes the
draws of variables exact, and holds them where its auxiliary variables are; without it they are
proposed all at once, about their mode, or drawn one by one by their log density, as always where
terms have kinks. Goes out: the
`Choice` between the two, by theory (`mixing`: the information that the auxiliary variables are
missing; the share of proposals that is accepted) and by operations. (Effective draws per CPU
second, without auxiliary variables and with: 14,900 and 1,500 for the logit of 1,000 outcomes with
10 coefficients; 1,600 and 4,000 for the 21 plates of `seeds`, each with an effect, 1,660 and 4,550
for the 44 arms of `blocker`.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np

from gibbsppl.algebra.expressions import mentions
from gibbsppl.algebra.supports import REAL, VECTOR
from gibbsppl.code.trials import Trial
from gibbsppl.derive.quadratic import quadratic_of
from gibbsppl.derive.second_order import is_interval
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.planning.alternatives import LEAST_GAIN, is_quick
from gibbsppl.planning.information import (
    Forgotten,
    forgotten,
    rate_of_augmentation,
    rate_of_scales,
)
from gibbsppl.planning.kinks import by_slopes, has_kinks
from gibbsppl.planning.mixing import SLOWEST, mean_rate, share_of, share_of_scales
from gibbsppl.planning.proposing import block_of
from gibbsppl.rewrites import Rewrite, possible
from gibbsppl.run.chains import FAILURES
from gibbsppl.schedule.choices import SEED, Candidate, Choice, asking
from gibbsppl.schedule.kinds import DensityDraw
from gibbsppl.schedule.sweeps import Schedule

# The names of rules that are made, or left out, together.
Rules = tuple[str, ...]


def replaceable(schedule: Schedule, asked: Mapping[str, bool], graph: Graph) -> Iterator[Rules]:
    """Yield the rules of a schedule without which all that their terms hold may be proposed.

    Or, of terms with kinks, drawn. First each alone, then those that hold the same variables.
    Rules that are ``asked`` for stay. ``graph`` is that of the model.
    """
    found = dict[str, set[str]]()
    for rule in dict.fromkeys(r.rule.name for r in schedule.rewrites):
        held = held_by(schedule, (rule,), graph)
        latent = [s for s in graph.latent if s.target.array.name in held]
        enough = any if is_bent(schedule, (rule,)) else all
        if not asked.get(rule) and held and enough(map(_may_be_proposed, latent)):
            found[rule] = held
    yield from ((rule,) for rule in found)
    tied = nx.Graph((a, b) for a, b in combinations(found, 2) if found[a] & found[b])
    for group in nx.connected_components(tied):
        yield tuple(rule for rule in found if rule in group)


def _may_be_proposed(statement: Statement) -> bool:
    """Whether a variable is any number, or in an interval with other ends than 0."""
    return statement.support in (REAL, VECTOR) or is_interval(statement.support)


def is_bent(schedule: Schedule, rules: Rules) -> bool:
    """Whether a term of some rules has kinks: what it holds cannot be proposed."""
    own = (r for r in schedule.rewrites if r.rule.name in rules)
    return any(has_kinks(r.term, r.before.drawn) for r in own)


def is_proposed(without: Schedule, schedule: Schedule, rules: Rules, graph: Graph) -> bool:
    """Whether a schedule without some rules proposes all that their terms hold at once.

    Of terms with kinks, whether it draws all of it.
    """
    if len(without.fallbacks) > len(schedule.fallbacks):
        return False
    held = held_by(schedule, rules, graph)
    if is_bent(schedule, rules):
        own = (s for s in without.steps if s.name not in without.interwoven and not s.is_move)
        return held <= {v for s in own for v in s.variables}
    return bool(held) and any(held <= {*s.variables} for s in without.proposed if not s.last)


def is_partial(schedule: Schedule, rules: Rules, graph: Graph) -> bool:
    """Whether with some rules a part of what their terms hold is drawn alone by its density."""
    own = (s for s in schedule.steps if s.name not in schedule.interwoven)
    alone = {v for s in own if isinstance(s, DensityDraw) for v in s.variables}
    return bool(alone & held_by(schedule, rules, graph))


def addable(
    schedule: Schedule, asked: Mapping[str, bool], graph: Graph, data: Values
) -> Iterator[Rules]:
    """Yield the rules, each alone, by which all that its terms hold needs no log density.

    All of it is now drawn exactly, or moved, by its log density. Rules that are ``asked`` for, or
    forbidden, are left.
    """
    evaluated = _evaluated(schedule)
    terms: dict[str, set[str]] = {}
    for rewrite in possible(graph, data, schedule.rewrites):
        name = rewrite.rule.name
        terms[name] = terms.get(name, set[str]()) | (held_by_term(rewrite) & {*graph.drawn})
    for rule, held in terms.items():
        if rule not in asked and held and held <= evaluated:
            yield (rule,)


def is_closed(without: Schedule, schedule: Schedule, rules: Rules, graph: Graph) -> bool:
    """Whether a schedule with some rules evaluates no log density for what their terms hold."""
    held = held_by(schedule, rules, graph)
    has_draws = len(schedule.fallbacks) <= len(without.fallbacks)
    return has_draws and bool(held) and not _evaluated(schedule) & held


def _evaluated(schedule: Schedule) -> set[str]:
    """The variables that are drawn or moved by their log density, besides exact draws or alone."""
    own = (s for s in schedule.steps if s.name not in schedule.interwoven)
    return {v for s in own if s.is_move or isinstance(s, DensityDraw) for v in s.variables}


def with_or_without(
    augmented: Trial,
    plain: Trial,
    rules: Rules,
    settings: Mapping[str, Any],
    start: Callable[[Trial], Sequence[Values]],
) -> tuple[Choice | None, bool]:
    """The choice between two schedules, with rules and without them, and whether it is the rules.

    ``start`` makes states of the one without. Where theory is silent it is not, but for terms
    with kinks, of which nothing is proposed, and no choice is told.
    """
    graph = plain.schedule.graph
    held = held_by(augmented.schedule, rules, graph)
    real = {s.target.array.name for s in graph.latent if s.support in (REAL, VECTOR)}
    real |= {v for s in plain.schedule.proposed for v in s.variables}
    names = tuple(n for n in graph.drawn if n in held & real)
    shares = _shares(augmented, plain, names, start) if is_quick(graph) else None
    if shares is None:  # (draws one by one may be as slow as columns are alike)
        return None, is_bent(augmented.schedule, rules)
    own = [r.rule for r in augmented.schedule.rewrites if r.rule.name in rules]
    known_as = " and ".join(dict.fromkeys(r.known_as for r in own if r.known_as))
    told = " and ".join(f'"{rule}"' for rule in rules)
    by_rule, by_density = (
        Candidate(
            what, asking(settings, "rewrites", asked), trial.operations, share,
            of_model=True, known_as=other_words,
        )
        for what, asked, trial, share, other_words in (
            (f"with {told}", dict.fromkeys(rules, True), augmented, shares[0], known_as),
            (f"without {told}", dict.fromkeys(rules, False), plain, shares[1], ""),
        )
    )
    stays = by_rule.by_theory > LEAST_GAIN * by_density.by_theory
    made, left = (by_rule, by_density) if stays else (by_density, by_rule)
    return Choice(names, made, (left,)), stays


def _shares(
    augmented: Trial,
    plain: Trial,
    names: Sequence[str],
    start: Callable[[Trial], Sequence[Values]],
) -> tuple[float, float] | None:
    """The effective draws of a sweep of each of two schedules; None where theory is silent."""
    given = block_of(augmented.schedule, names, augmented.data, quadratic_of)
    there = block_of(plain.schedule, names, plain.data, by_slopes)
    if given is None or there is None:
        return None
    own = start(plain)
    states = _with_auxiliary(augmented, own)
    missing = rate_of_augmentation(given, states, there, own) if states else None
    if missing is None:
        return None
    limit = share_of(rate_of_scales(augmented.schedule, *given, states))
    limit = min(limit, share_of_scales(plain.schedule, names))
    rate = mean_rate(augmented.schedule, *given, states)
    other = mean_rate(plain.schedule, *there, own)
    if rate is None or other is None:  # (alike, but for what is missing)
        return min(share_of(missing), SLOWEST, limit), min(SLOWEST, limit)
    kept = (1.0 - rate) * (1.0 - missing)
    return min(share_of(1.0 - kept), limit), min(share_of(other), limit)


def forgotten_of(graph: Graph, now: Trial, states: Sequence[Values]) -> Forgotten:
    """The shares forgotten by draws given auxiliary variables; all, where theory is silent.

    ``graph`` is that of the model, without auxiliary variables.
    """
    schedule, least, shares = now.schedule, 1.0, dict[str, float]()
    rules = tuple(dict.fromkeys(r.rule.name for r in schedule.rewrites))
    held = held_by(schedule, rules, graph)
    for step in schedule.steps if states else ():
        names = tuple(step.variables)
        if step.name in schedule.interwoven or step.is_move or not {*names} <= held:
            continue
        own = tuple(s for s in graph.latent if s.target.array.name in names)
        given = block_of(schedule, names, now.data, quadratic_of)
        there = by_slopes(graph, own, now.data)
        if given is None or there is None:
            continue
        found = forgotten(given, states, (graph, there), states)
        if found is not None:
            least, shares = min(least, found.least), {**shares, **found.of}
    return Forgotten(least, shares)


def _with_auxiliary(trial: Trial, states: Sequence[Values]) -> Sequence[Values]:
    """States with draws of the auxiliary variables of a program; none where these fail.

    Nor where the program draws other arrays than the states have.
    """
    rng, found = np.random.default_rng(SEED), list[Values]()
    own = {n for names in trial.program.step_variables.values() for n in names}
    if not states or not own - {*trial.program.auxiliary} <= {*states[0]}:
        return ()
    for values in states:
        state = {**trial.known, **values}
        try:
            with np.errstate(all="ignore"):
                trial.program.augment(rng, state, trial.constants)
        except FAILURES:
            return ()
        found.append(state)
    return found


def held_by(schedule: Schedule, rules: Rules, graph: Graph) -> set[str]:
    """The latent variables of a model that the terms of some rules hold."""
    found, whole = set[str](), {p.name: p.of for p in schedule.parts}
    for rewrite in schedule.rewrites:
        if rewrite.rule.name in rules:
            found |= {whole.get(n, n) for n in held_by_term(rewrite)}
    return found & {s.target.array.name for s in graph.latent}


def held_by_term(rewrite: Rewrite) -> set[str]:
    """The variables that the factor of a rewrite reads, but for its own outcomes."""
    factor = next(f for f in rewrite.before.factors if f.name == rewrite.factor)
    own = {factor.target.array.name} if isinstance(factor, Statement) else set()
    names = {n for n in rewrite.before.drawn if mentions(factor.log_density, (n,))}
    return names - own
