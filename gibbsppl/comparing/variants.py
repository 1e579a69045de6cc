"""Changes of the settings that a sampler may gain by: the default variants of a comparison.

Comes in: a model with its schedule and settings. Goes out: settings by a name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gibbsppl.comparing.alternatives import Planned, choices_of
from gibbsppl.errors import RunError
from gibbsppl.kernels.composed import OFFERED
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph
from gibbsppl.schedule.kernel import Kernel
from gibbsppl.schedule.kinds import DensityDraw
from gibbsppl.schedule.sweeps import Schedule
from gibbsppl.settings import Settings

# The name of the sampler itself among variants.
AS_COMPILED = "as compiled"


def variants_of(
    graph: Graph, data: Values, schedule: Schedule, settings: Settings
) -> dict[str, Settings]:
    """The default variants of a sampler: settings by a name.

    The sampler as compiled; without the user's settings of the schedule; with the other candidates
    of each choice (`alternatives`); without all interweaving, joint draws or proposals. (Of
    variants with equal settings there is the first.)
    """
    every: dict[str, Settings] = {AS_COMPILED: {}, **_uncontrolled(schedule, settings)}
    for choice in choices_of(Planned(graph, data, schedule, settings)):
        every |= {choice.named(c): c.settings for c in choice.others}
    if schedule.interwoven:
        every["without interweaving"] = {"interweave": False}
    if any(s.is_joint for s in schedule.steps):
        every["without joint draws"] = {"blocks": False}
    if schedule.proposed and not (schedule.fallbacks or schedule.asked):
        every["without proposals"] = {"exact": True}
    return _distinct(every)


def after_own(variants: Mapping[str, Settings]) -> dict[str, Settings]:
    """The user's variants after the sampler itself, whose name no other one may have."""
    if found := variants.get(AS_COMPILED):
        raise RunError(
            f"tuned: variants[{AS_COMPILED!r}]: found {found!r}, expected no settings: this is the "
            "name of the sampler itself, which all variants are compared with; give the variant "
            "another name."
        )
    return {AS_COMPILED: {}, **variants}


def _distinct(every: Mapping[str, Settings]) -> dict[str, Settings]:
    """Of variants with equal settings the first."""
    return {n: v for k, (n, v) in enumerate(every.items()) if v not in [*every.values()][:k]}


def mixing_told(schedule: Schedule) -> dict[str, str]:
    """How variants mix beside the sampler, in words, where theory says something."""
    every = ((c.named(o), o.mixing_beside(c.made)) for c in schedule.choices for o in c.others)
    return {name: told for name, told in every if told}


def _uncontrolled(schedule: Schedule, settings: Settings) -> dict[str, Settings]:
    """A sampler without the order, the kernels or the scan that the user has set."""
    found: dict[str, Settings] = {}
    if settings["order"]:
        found["in the default order"] = {"order": ()}
    if settings["kernels"]:
        found["with the default kernels"] = {"kernels": {}}
    if schedule.units:
        found["systematic scan"] = {"scan": "systematic"}
    return found


def candidates_of(
    graph: Graph, data: Values, schedule: Schedule, settings: Settings
) -> dict[str, Settings]:
    """The candidates of a tournament: the default variants, and other kernels.

    Variables that are drawn or moved by a log density may have any kernel that needs no more; what
    does not apply to a variable is refused when it is compiled.
    """
    found = variants_of(graph, data, schedule, settings)
    own = settings["kernels"] or {}
    for name, kernel in _alternatives(graph, schedule):
        if name not in own:
            found[f"{name} by {kernel}"] = {"kernels": {**own, name: kernel}}
    for names, kernel in _together(graph, schedule):
        if not set(names) & set(own):
            found[f"{', '.join(names)} by {kernel}"] = {"kernels": {**own, names: kernel}}
    return _distinct(found)


def _together(graph: Graph, schedule: Schedule) -> list[tuple[tuple[str, ...], Kernel]]:
    """Kernels that move several variables, for those that are moved by themselves by default."""
    offered: tuple[Any, ...] = OFFERED
    alone = [s for s in schedule.fallbacks if isinstance(s, DensityDraw)]
    real = [s for s in alone if not s.statement.support.is_discrete]
    names = tuple(dict.fromkeys(n for s in real for n in s.variables if n in graph.variables))
    return [(names, k()) for k in offered if k.takes_several and len(names) > 1]


def _alternatives(graph: Graph, schedule: Schedule) -> list[tuple[str, Kernel]]:
    """Kernels of real variables that are drawn by a log density, with their default settings."""
    offered: tuple[Any, ...] = OFFERED
    kernels = [k() for k in offered if k.by_log_density]
    found = []
    for step in schedule.steps:
        is_own = step.name in schedule.interwoven or step.asked is not None
        if not isinstance(step, DensityDraw) or is_own or step.statement.support.is_discrete:
            continue
        names = [n for n in step.variables if n in graph.variables]
        found += [(n, k) for n in names for k in kernels if not step.owner.startswith(str(k))]
    return list(dict.fromkeys(found))
