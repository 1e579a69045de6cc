"""More draws of chains that have made some: those before are the first ones of a longer run.

Comes in: draws with the ends of their chains. Goes out: a run that goes on from there.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gibbsppl.errors import RunError
from gibbsppl.output.draws import STATISTICS, Draws
from gibbsppl.output.thinning import Every
from gibbsppl.run.beginning import Beginning, SoFar
from gibbsppl.run.recording import Array
from gibbsppl.run.segments import Position
from gibbsppl.run.stores import Move, Store

if TYPE_CHECKING:
    from gibbsppl.sampling.monitors import Watching

# The bytes that are copied at a time.
AT_A_TIME = 16 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Before:
    """The draws that chains have made before, as a run has recorded them."""

    values: Mapping[str, Array]
    rates: Mapping[Move, Array]
    every: Every
    size: tuple[int, int]

    @classmethod
    def of(cls, draws: Draws, recorded: Iterable[str]) -> Before:
        """The draws of a run that has recorded some variables; numbers of each draw among them."""
        every = {**draws.sample_stats, **draws.values}
        missing = [n for n in recorded if n not in every]
        if missing:
            raise RunError(
                f"draws: found no draws of {', '.join(missing)}, which the run has recorded; "
                "extend all its draws."
            )
        rates = {}
        for name, array in draws.sample_stats.items():
            for what, prefix in STATISTICS.items():
                if name.startswith(prefix):
                    rates[name.removeprefix(prefix), what] = array
        size = draws.chains, draws.draws
        return cls({n: every[n] for n in recorded}, rates, draws.every, size)


    @staticmethod
    def part(array: Array, chain: int, first: int, stop: int, every: int = 1) -> Array:
        """The part of an array with one draw in ``every`` that is of some draws of a chain."""
        return array[chain, first // every : stop // every]


def check_monitors(
    watch: Watching | None, draws: Draws, digests: Mapping[str, str]
) -> None:
    """Raise an error unless what is watched is what was monitored in the run of some draws."""
    wanted = () if watch is None else tuple(watch.watched)
    if set(wanted) != set(draws.monitored):
        found, expected = (", ".join(names) or "nothing" for names in (wanted, draws.monitored))
        raise RunError(
            f"monitor: found {found}, expected {expected}, as the run of the draws had it: "
            "statistics go on with what they have; give monitor= as in sample()."
        )
    for name, digest in ({} if watch is None else watch.digests).items():
        if digest != digests.get(name):
            raise RunError(
                f"monitor: found another {name!r} than in the run of the draws, whose statistics "
                "are of one thing; give monitor= as in sample()."
            )


def put(before: Before | None, store: Store) -> None:
    """Put draws that chains have made before into a store, a part at a time."""
    if before is None:
        return
    most = max(math.prod(a.shape[2:]) * a.itemsize for a in before.values.values())
    (chains, draws), rows = before.size, AT_A_TIME // max(1, most) + 1
    for chain in range(chains):
        for first in range(0, draws, rows):
            ends = first, min(first + rows, draws)
            values = {n: before.part(a, chain, *ends, before.every.get(n, 1))
                      for n, a in before.values.items()}  # fmt: skip
            rates = {m: before.part(a, chain, *ends) for m, a in before.rates.items()}
            store.put(chain, first, values, rates)


def going_on(beginning: Beginning, positions: Sequence[Position], draws: Draws) -> SoFar:
    """Chains that go on where they have ended, after the draws of each that are kept.

    One that was stopped in a sweep may have been taken back to before its last draws, which it then
    makes again; one that has made more than are kept leaves these out.
    """
    job, found = beginning.job, []
    for at in positions:
        drawn = min(draws.draws, at.drawn)
        before = at.chain.sweep - job.warmup - drawn * job.thin
        own: dict[str, Any] = {"before": before, "drawn": drawn, "is_warm": True}
        own["monitored"] = copy.deepcopy(at.monitored)
        found.append(replace(Position.of(at.chain), **own))
    seconds = (draws.attributes.get(f"{n}_seconds", 0.0) for n in ("warmup", "sampling"))
    return SoFar(tuple(found), (next(seconds), next(seconds)))
