"""Draws of the warm-up as groups of ArviZ's names: ``warmup_posterior``, ``warmup_sample_stats``.

Comes in: the result of a run that has kept them. Goes out: groups of the draws of the run. What
keeps one draw in so many has a group of its own, as among the draws: ``warmup_posterior_every_10``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from gibbsppl.errors import RunError
from gibbsppl.language.coordinates import as_array
from gibbsppl.output.arrays import Array
from gibbsppl.output.draws import STATISTICS, Draws
from gibbsppl.output.groups import WARMUP, WARMUP_RARER, WARMUP_STATS
from gibbsppl.run.ready import RunResult
from gibbsppl.sampling.runs import Run


def check_keeping(keep_warmup: bool, temper: bool | int) -> None:
    """Refuse to keep the warm-up of chains that are several, one for each power."""
    if keep_warmup and temper is not False:
        raise RunError(
            f"keep_warmup: found True beside temper={temper!r}, whose chains swap states at all "
            "powers while powers are chosen; leave one of them out."
        )


def with_warmup_of(draws: Draws, run: Run) -> Run:
    """A run that goes on, with the warm-up that draws before have kept."""
    kept = {n: own for n, own in draws.groups.items() if n.startswith(WARMUP) or n == WARMUP_STATS}
    return replace(run, told=partial(_with_groups, run.told, kept)) if kept else run


def _with_groups(
    told: Callable[[RunResult], Draws], groups: Mapping[str, Draws], result: RunResult
) -> Draws:
    found = told(result)
    return replace(found, groups={**found.groups, **groups})


def statistics_of(rates: Mapping[tuple[str, str], Array]) -> dict[str, Array]:
    """The statistics of moves by the names that they have in draws."""
    return {f"{STATISTICS[what]}{step}": r for (step, what), r in rates.items()}


def warmup_groups(
    result: RunResult, dims: Mapping[str, tuple[str, ...]], coords: Mapping[str, Array | range]
) -> dict[str, Draws]:
    """The groups of a run that has kept its warm-up; none of others."""
    if result.warm is None:
        return {}
    values, rates = result.warm
    by_rate: dict[str, dict[str, Array]] = {}
    for name, array in values.items():
        every = result.every.get(name, 1)
        group = WARMUP if every == 1 else f"{WARMUP_RARER}{every}"
        if array.shape[1]:  # (a short warm-up has no draw in so many)
            by_rate.setdefault(group, {})[name] = array
    found = {}
    for group, own in by_rate.items():
        used = {d for n in own for d in dims[n]}
        found[group] = Draws(
            values=own,
            dims={n: dims[n] for n in own},
            coords={d: as_array(c) for d, c in coords.items() if d in used},
        )
    if rates:
        found[WARMUP_STATS] = Draws(values=statistics_of(rates))
    return found
