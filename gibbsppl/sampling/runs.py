"""A run of a sampler: all that it follows from, and what becomes of it.

Comes in: the beginning of a run, how its result is told. Goes out: `gibbsppl.Draws`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import nan

from gibbsppl.output.draws import Draws
from gibbsppl.run.beginning import Beginning, Keeper, SoFar
from gibbsppl.run.pools import Wanted, pool_of
from gibbsppl.run.sampling import RunResult, carried_out
from gibbsppl.run.stores import Store


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A run of a sampler, which can be written to a file.

    ``told``: its result as draws with names. ``seconds``: about how many so many sweeps take, or
    None where nobody knows.
    """

    beginning: Beginning
    told: Callable[[RunResult], Draws]
    seconds: Callable[[int], float] | None = None

    def carried_out(
        self,
        so_far: SoFar,
        store: Store,
        wanted: Wanted,
        *,
        progress: bool,
        keeper: Keeper | None = None,
    ) -> Draws:
        """The draws of the run, which goes on from where it is."""
        job, positions = self.beginning.job, so_far.positions
        left = sum(job.sweeps - (p.chain.sweep - p.before) for p in positions)
        seconds = (lambda: nan) if self.seconds is None else partial(self.seconds, left)
        with pool_of(wanted, len(positions), seconds) as pool:
            result = carried_out(
                self.beginning, so_far, store, pool=pool, progress=progress, keeper=keeper
            )
        return self.told(result)
