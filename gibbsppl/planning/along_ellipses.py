"""The choice between moves along an ellipse, draws one by one, both, and proposals, by theory.

Comes in: a plan in which arrays that a normal prior ties move along an ellipse beside draws of
their elements (`ellipses`). Goes out: the plan with most effective draws per operation, and the
`Choice` of each of these arrays. Theory is that of the log density to second order (`mixing`,
`turning`); where it is not concave, as if nothing came from other factors than the normal part in
the directions in which it is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gibbsppl.kernels.composed import OFFERED, Cycle
from gibbsppl.kernels.elliptical_slice import EllipticalMove, EllipticalSlice
from gibbsppl.model.evaluation import Floats, Values
from gibbsppl.model.graph import Graph
from gibbsppl.planning.alternatives import LEAST_GAIN, Planned, averaged, is_quick, plan_of
from gibbsppl.planning.mixing import moves_of, worst_share
from gibbsppl.planning.modal import expanded
from gibbsppl.planning.normal_blocks import NormalBlock, normal_block
from gibbsppl.planning.proposals import LEAST_ACCEPTED, Start, expected_share, expecting
from gibbsppl.planning.proposing import proposal_of
from gibbsppl.schedule.choices import Candidate, Choice, asking
from gibbsppl.schedule.kernel import Kernel
from gibbsppl.schedule.steps import Step
from gibbsppl.schedule.sweeps import Schedule


def with_ellipses(
    now: Planned, settings: Mapping[str, Any], start: Start
) -> tuple[Planned, tuple[Choice, ...]]:
    """The plan with the best of the ways to move each array that moves along an ellipse.

    And the choices made, where theory says something.
    """
    choices, start = list[Choice](), expecting(start)
    for step in now.schedule.beside if is_quick(now.schedule.graph) else ():
        if isinstance(step, EllipticalMove):
            now, found = _chosen(now, step, settings, start)
            choices += found
    return now, tuple(choices)


def _chosen(
    now: Planned, step: EllipticalMove, settings: Mapping[str, Any], start: Start
) -> tuple[Planned, list[Choice]]:
    """The plan with the best way to move an array, and the choice; without it in doubt."""
    (name,) = step.variables
    if name in {p.name for p in now.schedule.parts}:
        return now, []
    ways = [*_ways(now, name, step.kernel, settings)]
    along = next((plan for _, plan in ways if not _others(plan.schedule, name)), now)
    blocks = _blocks(now.schedule, step, now.model.data, start(along.trial))
    if not blocks:
        return now, []
    found = list[tuple[Candidate, Planned]]()
    for candidate, plan in ways:
        is_proposed = any(name in s.variables for s in plan.schedule.proposed)
        if is_proposed and expected_share(plan.trial, (name,), start) < LEAST_ACCEPTED:
            continue
        states = start(plan.trial) if is_proposed else [v for _, v in blocks]
        share = _share(plan.schedule, name, [b for b, _ in blocks], states)
        found.append((replace(candidate, operations=plan.trial.operations, share=share), plan))
    (mine, _), *others = found
    better = [pair for pair in others if pair[0].by_theory > LEAST_GAIN * mine.by_theory]
    made, plan = max(better, key=lambda pair: pair[0].by_theory, default=(mine, now))
    left = sorted((c for c, _ in found if c is not made), key=lambda c: -c.by_theory)
    return plan, [Choice((name,), made, tuple(left))]


def _ways(
    now: Planned, name: str, kernel: str, settings: Mapping[str, Any]
) -> Iterator[tuple[Candidate, Planned]]:
    """Yield the ways to move an array, that of the plan first, and their plans."""
    control, blocks, own = now.control, now.control.blocks, EllipticalSlice()
    both = Cycle(own, _of_elements(now.schedule, name))
    yield Candidate(f"by {kernel} and one by one", asking(settings, "kernels", {name: both})), now
    along = replace(control, kernels={**control.kernels, name: own})
    apart = replace(control, blocks=replace(blocks, elements=blocks.elements | {name}))
    asked = asking(settings, "kernels", {name: own}), asking(settings, "blocks", {name: "elements"})
    for what, other, more in (
        (f"by {kernel} alone", along, asked[0]),
        ("one by one", apart, asked[1]),
    ):
        plan = plan_of(now, now.model, other, settings)
        if plan is not None:
            yield Candidate(what, more), plan
    proposed = proposal_of(now, (name,), settings)
    if proposed is not None:
        yield Candidate("proposed", asking(settings, "blocks", {name: "proposed"})), proposed


def _others(schedule: Schedule, name: str) -> list[Step]:
    """The steps of an array that do not move along ellipses."""
    return [s for s in schedule.steps if name in s.variables and s.reference is None]


def _of_elements(schedule: Schedule, name: str) -> Kernel:
    """The kernel by which elements are drawn beside moves along ellipses."""
    offered: tuple[Any, ...] = OFFERED
    own = (s.kernel for s in _others(schedule, name))
    kernels = {str(k()): k() for k in offered if k.by_log_density}
    found: Kernel = kernels[next(own)]
    return found


def _blocks(
    schedule: Schedule, step: EllipticalMove, data: Values, states: Sequence[Values]
) -> list[tuple[NormalBlock, Values]]:
    """The log density of an array at states to second order; none where theory is silent.

    Of what the normal part does not have, second derivatives are averages over the states.
    """
    graph, (name,), part = schedule.graph_of(step), step.variables, step.reference.conditional
    own = tuple(s for s in graph.latent if s.target.array.name == name)
    found = expanded(graph, own, data) if own == step.statements else None
    if found is None:
        return []
    whole = [normal_block(graph, found, v, whole=False) for v in states]
    parts = [normal_block(step.of_reference, part, v) for v in states]
    pairs = [(w, p) for w, p in zip(whole, parts, strict=True) if w is not None and p is not None]
    if not pairs or len(pairs) < len(states):
        return []
    rest = _at_least_none(np.mean([w.precision - p.precision for w, p in pairs], axis=0))
    blocks = [replace(w, precision=p.precision + rest) for w, p in pairs]
    return list(zip(blocks, states, strict=True))


def _at_least_none(matrix: Floats) -> Floats:
    """A symmetric matrix without its negative part."""
    values, vectors = np.linalg.eigh(matrix)
    found: Floats = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return found


def _share(
    schedule: Schedule, name: str, blocks: Sequence[NormalBlock], states: Sequence[Values]
) -> float:
    """The effective draws of a sweep of the worst element, of mean variance over states."""
    steps = (s for s in schedule.steps if s.name not in schedule.interwoven)
    graph: Graph = next(schedule.graph_of(s) for s in steps if name in s.variables)
    each = zip(blocks, states, strict=True)
    shares = [worst_share(b.precision, moves_of(schedule, graph, b, v)) for b, v in each]
    return averaged(shares)
