"""Starts of the chains of a run, by its workers.

Comes in: a job that starts a chain, the stream of each, a pool or none. Goes out: chains at their
starts. A start depends on the stream of its chain alone, so that it is the same whoever makes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from typing import Any

from gibbsppl.errors import RunError, counted
from gibbsppl.run.chains import Chain
from gibbsppl.run.progress import reporting
from gibbsppl.run.segments import Position, Segment
from gibbsppl.run.workers import Crew, Elsewhere, Here, Lost, Pool, Work


@dataclass(frozen=True, slots=True, eq=False)
class Started:
    """Chains at their starts, the origin of each value, and the seconds of all chains."""

    chains: list[Chain]
    origins: Mapping[str, str]
    seconds: float


def started(
    work: Work, chains: Sequence[Chain], pool: Pool | None = None, *, progress: bool = False
) -> Started:
    """The chains at their starts; those given, which have a stream alone, are left as they are."""
    crew = _crew_of(work, pool)
    positions = [Position.of(chain) for chain in chains]
    found, under_way = dict[int, Segment](), dict[Future[Any], int]()
    told = f"{counted(len(chains), 'chain')}, starting"
    with reporting(len(chains), "chains", wanted=progress) as report:
        if report is not None:
            report(0, told)
        try:
            while len(found) < len(chains):
                _submit(crew, positions, found, under_way)
                for done in wait(under_way, return_when=FIRST_COMPLETED).done:
                    number = under_way.pop(done)
                    segment = crew.outcome(number, done)
                    if isinstance(segment, Lost):
                        raise RunError(f"chain {number} has no start, because {segment.reason}.")
                    if segment is not None:
                        found[number] = segment
                    if report is not None:
                        report(len(found), told)
        finally:
            for future in under_way:
                future.cancel()
    made = [found[n] for n in range(len(chains))]
    seconds = sum(s.seconds[0] for s in made)
    return Started([s.position.chain for s in made], made[-1].origins, seconds)


def _submit(
    crew: Crew,
    positions: Sequence[Position],
    found: Mapping[int, Segment],
    under_way: dict[Future[Any], int],
) -> None:
    """Have a start made of each chain that waits."""
    busy = {*found, *under_way.values()}
    for number in (n for n in range(len(positions)) if n not in busy):
        if crew.is_free(number, len(under_way)):
            under_way[crew.submit(number, positions[number], 0)] = number


def _crew_of(work: Work, pool: Pool | None) -> Crew:
    """The workers of a pool, if the work can be sent there; else this process."""
    try:
        return Here(work) if pool is None else Elsewhere(work, pool)
    except RunError:  # (whether sweeps can be sent, the run itself says)
        return Here(work)
