"""The choice between proposals of all elements of a block at once and draws one by one, by theory.

Comes in: a plan in which some variables are drawn one by one by their concave log density. Goes
out: the plan with most effective draws per operation, and the `Choice`. How draws one by one mix
is theory (`mixing`: of the log density to second order), and so is the share of proposals that is
accepted in the long run (`proposals`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import nan
from typing import Any

from gibbsppl.derive.quadratic import Quadratic
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph
from gibbsppl.pieces.dependence import count_of
from gibbsppl.planning.alternatives import LEAST_GAIN, Planned, is_quick, plan_of
from gibbsppl.planning.concave_blocks import is_searched_for
from gibbsppl.planning.mixing import mean_rate, share_of, share_of_scales
from gibbsppl.planning.modal import to_second_order
from gibbsppl.planning.normal_blocks import LARGEST
from gibbsppl.planning.proposals import (
    LEAST_ACCEPTED,
    SURELY_ACCEPTED,
    Start,
    expected_share,
    expecting,
)
from gibbsppl.schedule.choices import Candidate, Choice, asking
from gibbsppl.schedule.kinds import DensityDraw
from gibbsppl.schedule.sweeps import Schedule


def with_proposals(
    now: Planned,
    settings: Mapping[str, Any],
    start: Start,
    before: Sequence[Choice] = (),
) -> tuple[Planned, tuple[Choice, ...]]:
    """The plan with proposals of all elements of a block, where these pay; the choices made.

    Of variables that choices have been made of ``before`` it is known whether they are proposed.
    Groups of which most proposals are accepted come first, others where none of theirs is proposed.
    """
    choices, start = list[Choice](), expecting(start)
    groups = [*_groups(now.schedule)] if is_quick(now.schedule.graph) else []
    for least in (SURELY_ACCEPTED, LEAST_ACCEPTED):
        left = list[tuple[str, ...]]()
        for names in groups:
            if _is_known(names, (*before, *choices)):
                continue
            other = proposal_of(now, names, settings)
            shares = None if other is None else _shares(now, other, names, start, least)
            if other is None or shares is None:
                left.append(names)
                continue
            pays, choice = _choice(now, other, names, shares, settings)
            now = other if pays else now
            choices.append(choice)
        groups = left
    return now, tuple(choices)


def _choice(
    now: Planned,
    other: Planned,
    names: tuple[str, ...],
    shares: tuple[float, float],
    settings: Mapping[str, Any],
) -> tuple[bool, Choice]:
    """Whether proposals of some variables pay, and the choice."""
    apart: dict[Any, str] = dict.fromkeys(names, "elements")
    whole: dict[Any, str] = {names if len(names) > 1 else names[0]: "proposed"}
    mine, theirs = (
        Candidate(what, asking(settings, "blocks", more), plan.trial.operations, share)
        for what, more, plan, share in (
            ("one by one", apart, now, shares[0]),
            ("proposed", whole, other, shares[1]),
        )
    )
    pays = theirs.by_theory > LEAST_GAIN * mine.by_theory
    plain = _one_by_one(now, names, settings)
    if plain is not now and not pays:
        mine = replace(mine, settings={})  # (what draws are made besides has no setting)
    elif plain is not now:
        mine = replace(mine, operations=plain.trial.operations, share=nan)
    made, left = (theirs, mine) if pays else (mine, theirs)
    return pays, Choice(names, made, (left,))


def _one_by_one(now: Planned, names: Sequence[str], settings: Mapping[str, Any]) -> Planned:
    """The plan in which some variables are drawn one by one, and not proposed besides."""
    besides = {v for s in now.schedule.steps if s.learns_acceptance for v in s.variables}
    if besides.isdisjoint(names):
        return now
    blocks = now.control.blocks
    asked = replace(blocks, elements=blocks.elements.union(names))
    return plan_of(now, now.model, replace(now.control, blocks=asked), settings) or now


def _is_known(names: Sequence[str], choices: Sequence[Choice]) -> bool:
    """Whether a choice has been made of variables, or some of them are proposed already."""
    if any({*names} == {*c.variables} for c in choices):
        return True
    return any({*names} & {*c.variables} for c in choices if c.made.what == "proposed")


def _groups(schedule: Schedule) -> Iterator[tuple[str, ...]]:
    """Yield the variables that are drawn one by one and might be proposed: all, or each array.

    A single number is if all else is data: then proposals are made and judged many at a time.
    """
    for graph in {id(g): g for g in schedule.graphs}.values():
        own = [
            s for s, g in zip(schedule.steps, schedule.graphs, strict=True)
            if g is graph and s.name not in schedule.interwoven
        ]  # fmt: skip
        drawn = [s for s in own if isinstance(s, DensityDraw) and is_searched_for(s.conditional)]
        names = tuple(dict.fromkeys(v for s in drawn for v in s.variables))
        whole = {v for s in own if s.learns_acceptance for v in s.variables}
        every = tuple(n for n in graph.drawn if n in {*names, *whole})
        counts = {s.target.array.name: count_of(graph, s) for s in graph.latent}
        groups = {frozenset(g): g for g in (every, names, *((n,) for n in names))}
        for group in groups.values() if names else ():
            count = sum(counts[n] for n in group)
            if 1 < count <= LARGEST or (count == 1 and {*graph.drawn} == {*group}):
                yield group


def proposal_of(
    now: Planned, names: tuple[str, ...], settings: Mapping[str, Any]
) -> Planned | None:
    """The plan with proposals of some variables; None where these cannot be made."""
    blocks = now.control.blocks
    proposed = replace(blocks, proposed=(*blocks.proposed, frozenset(names)))
    return plan_of(now, now.model, replace(now.control, blocks=proposed), settings)


def _shares(
    now: Planned, other: Planned, names: Sequence[str], start: Start, least: float
) -> tuple[float, float] | None:
    """The effective draws of a sweep of two plans; None where theory is silent.

    So too where fewer proposals of the other one than the ``least`` are accepted; or not surely
    enough, and draws one by one mix as fast, which scales drawn once more make faster yet.
    """
    accepted = expected_share(other.trial, names, start)
    found = None if accepted < least else shares_of((now, other), names, start)
    if found is None or (accepted < SURELY_ACCEPTED and found[1] <= found[0]):
        return None
    return found


def shares_of(
    plans: tuple[Planned, Planned],
    names: Sequence[str],
    start: Start,
) -> tuple[float, float] | None:
    """The effective draws of a sweep of two plans, to second order; None where theory is silent."""
    most, shares = share_of_scales(plans[0].schedule, names), list[float]()
    for plan in plans:
        block = block_of(plan.schedule, names, plan.trial.data, to_second_order)
        if block is None or not (block[1].pairs or _is_single(*block)):
            return None  # (elements that no term ties mix at once)
        rate = mean_rate(plan.schedule, *block, start(plan.trial))
        if rate is None:
            return None
        shares.append(min(share_of(rate), most))
    return shares[0], shares[1]


def _is_single(graph: Graph, block: Quadratic) -> bool:
    """Whether a block is one number."""
    return sum(count_of(graph, s) for s in block.statements) == 1


def block_of(
    schedule: Schedule,
    names: Sequence[str],
    data: Values,
    of: Callable[..., Quadratic | None],
) -> tuple[Graph, Quadratic] | None:
    """The graph in which variables are drawn, and their log density, as a quadratic one."""
    steps = (s for s in schedule.steps if s.name not in schedule.interwoven)
    graphs = [schedule.graph_of(s) for s in steps if {*s.variables} & {*names}]
    own = [g for g in graphs if {*names} <= {*g.drawn}]
    if not own:
        return None
    statements = tuple(s for s in own[-1].latent if s.target.array.name in names)
    found = of(own[-1], statements, data)
    return None if found is None else (own[-1], found)
