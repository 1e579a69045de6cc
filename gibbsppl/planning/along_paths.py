"""The choice between moves one by one and along a path of a few numbers on a ridge, by theory.

Comes in: a schedule on trial. Goes out: the same with numbers that are tied so closely that one by
one they hardly move, such as the two numbers of a prior whose ratio is known well and whose size
is not, moved together by the no-U-turn sampler; and the `Choice`. How they mix one by one is theory
(`marginal_gain`: the log density to second order); a path is taken to have the share of a rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from math import prod
from typing import Any

import networkx as nx
import numpy as np

from gibbsppl.algebra.expressions import mentions
from gibbsppl.code.trials import Trial
from gibbsppl.derive.concavity import LogConcave
from gibbsppl.derive.gradients import slopes_of
from gibbsppl.errors import CompileError
from gibbsppl.kernels.composed import OFFERED
from gibbsppl.kernels.gradient_move import gradient_move
from gibbsppl.kernels.hamiltonian import NUTS
from gibbsppl.model.evaluation import Floats, Values
from gibbsppl.model.graph import Graph
from gibbsppl.planning.alternatives import LEAST_GAIN, is_quick
from gibbsppl.planning.marginal_gain import Coordinate, coordinates, known_of, share_one_by_one
from gibbsppl.planning.paths import is_smooth
from gibbsppl.planning.rules import RULES
from gibbsppl.schedule.choices import Candidate, Choice, asking, with_decided
from gibbsppl.schedule.kinds import DensityDraw
from gibbsppl.schedule.staleness import check_fresh
from gibbsppl.schedule.sweeps import Schedule

SHARE = RULES["share along a path"].value
# Differences are taken of log densities of so many terms at most, all states and steps together.
MOST_TERMS = 2_000_000
# What is tied by less, in units of what is known of each, is not on a ridge.
LEAST_TIE = 0.1


def with_ridges(
    now: Trial, settings: Mapping[str, Any], start: Callable[[], Sequence[Values]]
) -> Trial:
    """The trial with numbers on a ridge moved along paths, where that pays, with the choices.

    ``start`` makes the states at which theory is asked.
    """
    if not is_quick(now.schedule.graph):
        return now
    for graph, steps in [*_apart(now.schedule)]:
        for own in _on_ridges(graph, steps, start):
            now = _chosen(now, graph, *own, settings)
    return now


def _apart(schedule: Schedule) -> Iterator[tuple[Graph, list[DensityDraw]]]:
    """Yield the draws of numbers that are moved one by one in a graph, some factors reading two."""
    if schedule.units or schedule.composed:
        return
    again = {n for s in schedule.steps if s.name in schedule.interwoven
             for n in schedule.changed_by(s)}  # fmt: skip
    for graph in {id(g): g for g in schedule.graphs}.values():
        steps = [
            s for s, g in zip(schedule.steps, schedule.graphs, strict=True)
            if g is graph and isinstance(s, DensityDraw) and not {*s.variables} & again
            and schedule.drawing(s.variables[0]) == (s,)
            and s.statement.support.kind == "real" and s.asked is None
        ]  # fmt: skip
        for names in nx.connected_components(_ties(graph, steps)):
            own = [s for s in steps if s.name in names]
            if len(own) > 1:
                yield graph, own


def _ties(graph: Graph, steps: Sequence[DensityDraw]) -> nx.Graph:
    """The graph of draws, tied where a factor reads the variables of both."""
    ties = nx.Graph()
    ties.add_nodes_from(s.name for s in steps)
    for factor in graph.factors:
        reading = [s.name for s in steps if mentions(factor.log_density, s.variables)]
        ties.add_edges_from(combinations(reading, 2))
    return ties


def _on_ridges(
    graph: Graph, steps: Sequence[DensityDraw], start: Callable[[], Sequence[Values]]
) -> Iterator[tuple[list[DensityDraw], float]]:
    """Yield the draws of numbers that theory finds tied, with the effective draws of a sweep."""
    own = coordinates(graph, {v for s in steps for v in s.variables})
    terms = sum(
        prod(map(len, f.over))
        for f in graph.factors
        if mentions(f.log_density, {c.array for c in own})
    )
    if not own or not 0 < terms * len(own) ** 2 <= MOST_TERMS or not (states := start()):
        return
    if not all({*graph.drawn} <= {*values} for values in states):
        return
    known = known_of(graph, own, states)
    if known is None:
        return
    for rows in nx.connected_components(_tied_closely(known, own)):
        inside = np.array(sorted(rows))
        share = share_one_by_one(known[np.ix_(inside, inside)])
        names = {own[k].array for k in inside}
        group = [s for s in steps if names & {*s.variables}]
        if len(group) > 1 and share < SHARE:
            yield group, share


def _tied_closely(known: Floats, own: Sequence[Coordinate]) -> nx.Graph:
    """The places of numbers; those of one array together, which one step moves."""
    scale = np.sqrt(np.diag(known))
    tied = np.abs(known / scale / scale[:, None]) > LEAST_TIE
    ties = nx.Graph(zip(*map(np.ndarray.tolist, np.nonzero(tied)), strict=True))
    for name in {c.array for c in own}:
        ties.add_edges_from(pairwise(k for k, c in enumerate(own) if c.array == name))
    return ties


def _chosen(
    now: Trial,
    graph: Graph,
    steps: Sequence[DensityDraw],
    share: float,
    settings: Mapping[str, Any],
) -> Trial:
    """The trial with some numbers moved along a path if that pays, and the choice."""
    other = _along_a_path(now, graph, steps)
    if other is None:
        return now
    names = tuple(dict.fromkeys(v for s in steps for v in s.variables))
    kernel, kernels = NUTS(), _kernels_of(steps)
    along, apart = (
        Candidate(what, asking(settings, "kernels", asked), trial.operations, of_it)
        for what, asked, trial, of_it in (
            (f"together by {kernel}", {names: kernel}, other, SHARE),
            ("one by one", kernels, now, share),
        )
    )
    pays = along.by_theory > LEAST_GAIN * apart.by_theory
    best, made, left = (other, along, apart) if pays else (now, apart, along)
    beside = dict(best.schedule.decided)
    for choice in best.schedule.choices:
        beside = with_decided(beside, choice.made.settings)
    choice = Choice(names, made, (left,)).with_decided(beside)
    return best.with_choices((*best.schedule.choices, choice))


def _kernels_of(steps: Sequence[DensityDraw]) -> dict[Any, Any]:
    """The kernels that draw some variables now, by their names."""
    offered: tuple[Any, ...] = OFFERED
    kernels = {str(k()): k for k in offered if k.by_log_density}
    return {v: kernels[s.kernel]() for s in steps for v in s.variables}


def _along_a_path(now: Trial, graph: Graph, steps: Sequence[DensityDraw]) -> Trial | None:
    """The trial with some draws in one move; None where none is smooth, or would read the stale."""
    slopes = slopes_of(graph, [s.statement for s in steps], now.data)
    if isinstance(slopes, str) or not is_smooth(slopes):
        return None
    found = [s.conditional for s in steps]
    refused = tuple(d.refusal if isinstance(d, LogConcave) else d for d in found)
    kernel, schedule = NUTS(), now.schedule
    move = gradient_move(slopes, kernel, kernel.path, refused)
    kept = [
        (move if s is steps[0] else s, g)
        for s, g in zip(schedule.steps, schedule.graphs, strict=True)
        if s is steps[0] or s not in steps
    ]
    moved, graphs = zip(*kept, strict=True)
    other = replace(schedule, steps=moved, graphs=graphs)
    try:
        check_fresh(other)
    except CompileError:
        return None
    return replace(now, schedule=other)
