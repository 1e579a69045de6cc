"""The choice between the ways to draw normal variables, by theory at a few states.

Comes in: a schedule made by rules. Where variables are drawn jointly they may be drawn one after
the other, at a lower cost and with slower mixing; a scale may be drawn without its non-centred
update. Goes out: the schedule with most effective draws per operation (`mixing`, and the operations
of both programs), with the `Choice` that was made of each of these, and what else there was.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from math import inf, isnan, nan, prod
from typing import Any

from gibbsppl.code.trials import Trial
from gibbsppl.derive.match_results import Conditional
from gibbsppl.derive.quadratic import Quadratic, quadratic_of
from gibbsppl.errors import CompileError
from gibbsppl.kernels.joint import JointDraw
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph
from gibbsppl.pieces.dependence import size_of_array
from gibbsppl.planning.control import Control
from gibbsppl.planning.information import Forgotten, block_of_group, rate_of_scale, rate_of_scales
from gibbsppl.planning.interweaving import free_by_interweaving
from gibbsppl.planning.large_blocks import order_of, shares_of_sweeps
from gibbsppl.planning.mixing import share_of
from gibbsppl.planning.normal_blocks import LARGEST
from gibbsppl.planning.plan import planned
from gibbsppl.planning.rules import RULES
from gibbsppl.planning.updates_of_scales import is_walk, shares_of_scale
from gibbsppl.rewrites import Rewritten
from gibbsppl.rewrites.interweaving import often_read
from gibbsppl.rewrites.stages import NonCentred
from gibbsppl.schedule.choices import Candidate, Choice, asking, with_decided
from gibbsppl.schedule.sweeps import Schedule

States = Sequence[Values]
# What makes the states at which theory is asked; the model with updates by other settings.
Start = Callable[[Trial], States]
Remade = Callable[[bool | tuple[str, ...]], Rewritten]
# What draws given auxiliary variables forget, of a schedule at some states.
Known = Callable[[Trial, States], Forgotten]
LEAST_SHARE, LEAST_GAIN = RULES["least share"].value, RULES["least gain"].value
FEW, MANY = RULES["most elements"].value, RULES["most of many"].value
SLOWEST = RULES["slowest"].value
# A state is made by sweeps of the program in NumPy, of factors of so many positions at most: these
# take a millisecond each.
MOST_POSITIONS = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class Option:
    """Another way to draw some variables than that of a schedule: what is changed for it.

    ``shares`` has the effective draws of a sweep, now and with the change, of the two schedules at
    a state; ``limit`` those of what is drawn given these variables in both, which none exceeds.
    ``updates`` is what ``interweave=`` asks for, if that is changed: in ``model`` updates are left
    out, to ask theory, and those of the setting are found where operations are counted.
    """

    now: Candidate
    other: Candidate
    variables: tuple[str, ...]
    model: Rewritten
    control: Control
    shares: Callable[[Schedule, Schedule, Values], tuple[float, ...]]
    limit: Callable[[States], float]
    is_small: bool
    updates: bool | tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Planned:
    """A schedule on trial, and what it was planned from."""

    trial: Trial
    model: Rewritten
    control: Control

    @property
    def schedule(self) -> Schedule:
        """The schedule."""
        return self.trial.schedule


def with_choices(
    first: Planned, settings: Mapping[str, Any], start: Start, remade: Remade, known: Known
) -> Trial:
    """The schedule with most effective draws per operation, with the choices that it comes from.

    ``start`` makes the states at which theory is asked, by the first plan; ``remade`` the model
    with the non-centred updates that a setting asks for. A scale is told of a group
    that moves slowly given auxiliary variables, and is no use where others are slower than it.
    """
    states = cache(partial(start, first.trial))
    forgets = cache(lambda: known(first.trial, states()))
    now = _with_slow_scales(first, settings, states, remade)
    choices = dict[tuple[str, ...], Choice]()
    while options := [o for o in _options(now, settings, forgets) if o.variables not in choices]:
        rivals = [o for o in options if o.variables == options[0].variables]
        own = states() if any(o.is_small for o in rivals) else ()
        plan, choice = _decided(rivals, now, own, settings, remade)
        if plan is not now:
            decided = with_decided(now.schedule.decided, choice.made.settings)
            plan = replace(plan, trial=plan.trial.deciding(decided))
        now, choices[rivals[0].variables] = plan, choice
    found = tuple(c for c in choices.values() if c.others)
    return now.trial.with_choices(found) if found else now.trial


def _with_slow_scales(
    now: Planned, settings: Mapping[str, Any], states: Callable[[], States], remade: Remade
) -> Planned:
    """A plan in which scales that theory finds slow are drawn once more, if that pays.

    Where others read each element of a group often, rules leave its scale as it is; but they may
    say little of it all the same, such as one outcome of two.
    """
    if settings["interweave"] is not True or now.control.scan != "systematic":
        return now
    if not is_quick(now.schedule.graph):
        return now
    shares = dict[str, float]()
    for graph, group, scale in often_read(now.model):
        block = block_of_group(graph, group, now.model.data)
        rates = [rate_of_scale(graph, block, (scale,), v) for v in states()] if block else []
        shares[scale] = averaged([nan if r is None else share_of(r) for r in rates])
    slow = {n: SLOWEST / s if s else inf for n, s in shares.items() if s * LEAST_GAIN < SLOWEST}
    own = (v for i in now.schedule.interwoven.values() for v in i.variables)
    updates = tuple(dict.fromkeys((*own, *slow)))
    if not slow or not _may_be_asked_for(updates, now.model):
        return now
    try:
        model = updated(now.model, remade(updates))
        schedule = planned(model, exact=bool(settings["exact"]), control=now.control)
    except CompileError:
        return now
    if _own_ways(schedule) != _own_ways(now.schedule):
        return now
    decided = with_decided(now.schedule.decided, {"interweave": updates})
    plan = Planned(replace(now.trial, schedule=schedule).deciding(decided), model, now.control)
    dearer = plan.trial.operations / now.trial.operations
    return now if max(slow.values()) < LEAST_GAIN * dearer else plan


def _own_ways(schedule: Schedule) -> list[Any]:
    """The ways in which variables are drawn, but for non-centred updates."""
    return [way for way in schedule.ways if way[0] not in schedule.interwoven]


def _decided(
    options: Sequence[Option],
    now: Planned,
    states: States,
    settings: Mapping[str, Any],
    remade: Remade,
) -> tuple[Planned, Choice]:
    """The best of some plans, and the choice; without others where there is no other plan."""
    beside = now.schedule.decided
    mine, ways, is_close = options[0].now.with_decided(beside), [now.schedule.ways], False
    others = list[tuple[Planned, Candidate]]()
    for option in options:
        other = _other(option, now, settings)
        if other is None or (own := other.schedule.ways) in ways:
            continue
        ways.append(own)
        schedules = now.schedule, other.schedule
        shares = [option.shares(*schedules, v) for v in states if option.is_small]
        share, of_other = (averaged([s[k] for s in shares]) for k in (0, 1))
        mine = replace(mine, share=share)
        found = replace(option.other.with_decided(beside), share=of_other)
        ratio = of_other / share if share else nan
        if ratio >= LEAST_SHARE and option.updates is not None:
            other = _by_setting(option, now, settings, remade)
            if other is None:
                continue
        if ratio >= LEAST_SHARE:
            is_close, found = True, replace(found, operations=other.trial.operations)
        others.append((other, found))
    if is_close:
        limit = options[0].limit(states)
        mine = replace(mine, share=min(mine.share, limit), operations=now.trial.operations)
        others = [(plan, replace(c, share=min(c.share, limit))) for plan, c in others]
    better = [pair for pair in others if pair[1].by_theory > LEAST_GAIN * mine.by_theory]
    plan, made = max(better, key=lambda pair: pair[1].by_theory, default=(now, mine))
    left = [c for c in (mine, *(c for _, c in others)) if c is not made]
    left.sort(key=lambda c: -inf if isnan(c.by_theory) else c.by_theory, reverse=True)
    if made is mine and "interweave" in {*mine.settings} - {*beside}:
        # (by name a variable would have all updates that it may have, not those that are made)
        made = replace(mine, settings={**mine.settings, "interweave": True})
    return plan, Choice(options[0].variables, made, tuple(left))


def _by_setting(
    option: Option, now: Planned, settings: Mapping[str, Any], remade: Remade
) -> Planned | None:
    """The plan of another way as its setting of updates makes it; None where that is refused."""
    assert option.updates is not None
    try:
        model = updated(now.model, remade(option.updates))
    except CompileError:
        return None
    return _other(replace(option, model=model), now, settings)


def _other(option: Option, now: Planned, settings: Mapping[str, Any]) -> Planned | None:
    """The plan of another way; None where it is refused."""
    return plan_of(now, option.model, option.control, settings)


def plan_of(
    now: Planned, model: Rewritten, control: Control, settings: Mapping[str, Any]
) -> Planned | None:
    """The plan of a model by other settings; None where it is refused."""
    try:
        schedule = planned(model, exact=bool(settings["exact"]), control=control)
    except CompileError:
        return None
    return Planned(replace(now.trial, schedule=schedule), model, control)


def averaged(shares: Sequence[float]) -> float:
    """The effective draws of a sweep whose rate changes from state to state: of mean variance."""
    if not shares or any(map(isnan, shares)):
        return nan
    return len(shares) / sum(1 / s for s in shares) if all(shares) else 0.0


def _options(
    now: Planned, settings: Mapping[str, Any], forgets: Callable[[], Forgotten]
) -> Iterator[Option]:
    """Yield the ways to draw the variables of a plan that differ from it, one by one."""
    if now.control.scan != "systematic":
        return
    small = is_quick(now.schedule.graph)
    if now.control.blocks.joined:
        yield from _joint(now, settings, small)
        yield from _left_apart(now, settings, small)
    if settings["interweave"] is True:
        yield from _interwoven(now, forgets, small=small)


def is_quick(graph: Graph) -> bool:
    """Whether sweeps of a program in NumPy take a short time."""
    return _positions(graph) <= MOST_POSITIONS


def _positions(graph: Graph) -> int:
    """The number of positions of all factors."""
    return sum(prod(map(len, f.over)) for f in graph.factors)


def _joint(now: Planned, settings: Mapping[str, Any], small: bool) -> Iterator[Option]:
    """Yield the joint draws that may be made one after the other."""
    stages = (*now.model.stages, *now.model.branches)
    tied = {
        d.statement.target.array.name
        for stage in stages
        for d in stage.derived
        if isinstance(d, Conditional) and d.elements
    }
    for step in now.schedule.steps:
        names = tuple(step.variables)
        if not isinstance(step, JointDraw) or step.called or _is_asked(names, now.control):
            continue
        if len(names) == 1 and not tied & {*names}:
            continue
        joined: dict[Any, str] = {names: "together"} if len(names) > 1 else {names[0]: "alone"}
        block, graph = step.conditional, now.schedule.graph_of(step)
        # (arrays whose elements are tied: by element, or each array at once)
        own = [tied & {*names}, set[str]()] if tied & {*names} and len(names) > 1 else [tied]
        for by_element in own:
            elements = by_element & {*names}
            ways = {n: "elements" if n in elements else "alone" for n in names}
            blocks = now.control.blocks
            changed = replace(
                blocks,
                elements=blocks.elements | elements,
                alone=blocks.alone | ({*names} - elements),
            )
            what = "each array at once" if len(own) > 1 and not elements else "one after the other"
            apart = Option(
                Candidate("jointly", asking(settings, "blocks", joined)),
                Candidate(what, asking(settings, "blocks", ways)),
                names,
                now.model,
                replace(now.control, blocks=changed),
                partial(shares_of_sweeps, graph, block),
                partial(_limit, now.schedule, graph, block),
                _is_told(graph, block, LARGEST if len(own) > 1 else FEW, small=small),
            )
            yield from (apart, *_once_each(apart, settings))


def _left_apart(now: Planned, settings: Mapping[str, Any], small: bool) -> Iterator[Option]:
    """Yield the locations with their groups that might be drawn jointly."""
    joint = [{*s.variables} for s in now.schedule.steps if s.is_joint]
    for pair in sorted(map(sorted, free_by_interweaving(now.model))):
        names = tuple(pair)
        own = [s for s in now.schedule.steps if {*s.variables} & {*names} and not s.is_move]
        graphs = [now.schedule.graph_of(s) for s in own if s.name not in now.schedule.interwoven]
        if any({*names} <= j for j in joint) or _is_asked(names, now.control) or not graphs:
            continue
        statements = tuple(s for s in graphs[0].latent if s.target.array.name in names)
        block = quadratic_of(graphs[0], statements, now.model.data)
        if block is None:
            continue
        blocks = now.control.blocks
        together = replace(blocks, together=(*blocks.together, frozenset(names)))
        alone_each = asking(settings, "blocks", dict.fromkeys(names, "alone"))
        apart = Candidate("one after the other", alone_each)
        jointly = Option(
            apart,
            Candidate("jointly", asking(settings, "blocks", {names: "together"})),
            names,
            now.model,
            replace(now.control, blocks=together),
            partial(shares_of_sweeps, graphs[0], block),
            partial(_limit, now.schedule, graphs[0], block),
            _is_told(graphs[0], block, FEW, small=small),
        )
        alone = replace(now.control, blocks=replace(blocks, alone=blocks.alone | {*names}))
        yield from (jointly, *_once_each(replace(jointly, other=apart, control=alone), settings))


def _once_each(apart: Option, settings: Mapping[str, Any]) -> Iterator[Option]:
    """Yield the way to draw variables one after the other without updates of their locations."""
    every = apart.model.interwoven
    kept = tuple(
        i for i in every if i.what == "scale" or not {*i.variables} <= {*apart.variables}
    )
    if settings["interweave"] is not True or len(kept) == len(every):
        return
    left = tuple(dict.fromkeys(v for i in kept for v in i.variables)) or False
    if not _may_be_asked_for(left, apart.model):
        return
    asked = {**apart.other.settings, "interweave": left}
    other = Candidate(f"{apart.other.what}, without updates of locations", asked)
    model = replace(apart.model, interwoven=kept)
    yield replace(apart, other=other, model=model, updates=left)


def _may_be_asked_for(updates: bool | tuple[str, ...], model: Rewritten) -> bool:
    """Whether updates are of variables of the model, not of working scales."""
    own = {s.target.array.name for s in model.stages[0].graph.latent}
    return isinstance(updates, bool) or own.issuperset(updates)


def updated(model: Rewritten, other: Rewritten) -> Rewritten:
    """A model with the non-centred updates of another one; the other one if more is different.

    (Theory compares draws in one graph.)
    """
    ways = [[r.variable for r in m.rewrites] for m in (model, other)]
    is_alike = ways[0] == ways[1] and len(model.stages) == len(other.stages)
    return replace(model, interwoven=other.interwoven) if is_alike else other


def _interwoven(
    now: Planned, forgets: Callable[[], Forgotten], *, small: bool
) -> Iterator[Option]:
    """Yield the scales that may be drawn without a non-centred update."""
    every = tuple(now.schedule.interwoven.values())
    names = tuple(dict.fromkeys(v for i in every for v in i.variables))
    asked = names if _may_be_asked_for(names, now.model) else True
    for one in every:
        left = tuple(dict.fromkeys(v for i in every if i is not one for v in i.variables)) or False
        if one.what != "scale" or not _may_be_asked_for(left, now.model):
            continue
        kept = tuple(i for i in now.model.interwoven if i is not one)
        yield Option(
            Candidate("interwoven", {"interweave": asked}),
            Candidate("not interwoven", {"interweave": left}),
            (one.variable, one.group),
            replace(now.model, interwoven=kept),
            now.control,
            partial(shares_of_scale, one, forgets),
            _no_limit,
            _is_scale_told(one, small=small),
            left,
        )


def _is_scale_told(interwoven: NonCentred, *, small: bool) -> bool:
    """Whether theory is asked of a scale: of a walk, whose elements are looked at once, too."""
    graph, name = interwoven.before, interwoven.group
    if is_walk(graph, name):
        return _positions(graph) <= 10 * MANY
    return small and size_of_array(graph, name) <= FEW


def _is_asked(names: Collection[str], control: Control) -> bool:
    """Whether the user says how some variables are drawn."""
    return bool(control.blocks.named.union(control.kernels) & {*names})


def _is_told(graph: Graph, block: Quadratic, most: float, *, small: bool) -> bool:
    """Whether theory is asked of a block: of few elements, or of many of which few are tied."""
    order = order_of(graph, block)
    if order <= LARGEST or len(block.arrays) == 1:
        return small and order <= most
    cells = sum(prod(map(len, p.over)) for p in block.pieces)
    return order <= MANY and max(cells, _positions(graph)) <= 10 * MANY


def _limit(schedule: Schedule, graph: Graph, block: Quadratic, states: States) -> float:
    """The effective draws of a sweep of the slowest scale that is drawn given a block."""
    return share_of(rate_of_scales(schedule, graph, block, states))


def _no_limit(states: States) -> float:
    """The effective draws that nothing else limits."""
    del states
    return 1.0
