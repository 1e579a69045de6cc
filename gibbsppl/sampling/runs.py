"""A run of a sampler: all that it follows from, and what becomes of it.

Comes in: the beginning of a run, how its result is told. Goes out: `gibbsppl.Draws`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from math import nan
from pickle import UnpicklingError
from typing import Any

from gibbsppl.algebra.pickling import restored_plainly
from gibbsppl.checkpoints.identity import Identity
from gibbsppl.errors import RunError
from gibbsppl.output.diagnostics import worst_r_hat
from gibbsppl.output.draws import Draws
from gibbsppl.output.ends import Ends
from gibbsppl.run.beginning import Beginning, Keeper, SoFar
from gibbsppl.run.callbacks import Callback, View
from gibbsppl.run.choice import Asked
from gibbsppl.run.pools import Wanted, pool_of
from gibbsppl.run.ready import RunResult
from gibbsppl.run.sampling import carried_out
from gibbsppl.run.segments import Position
from gibbsppl.run.shown import Shown
from gibbsppl.run.stores import Store
from gibbsppl.run.workers import Pool


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """What a run was made by: the sampler, back end, threads, type, tempering.

    ``sampler`` is its identity, or finds it where that is asked for: all data are read for it,
    which takes longer than a small run. ``monitored`` are digests of what was monitored, by name.
    """

    sampler: Identity | Callable[[], Identity]
    asked: Asked
    temper: bool | int = False
    monitored: Mapping[str, str] = field(default_factory=dict)

    @property
    def identity(self) -> Identity:
        """The identity of the sampler."""
        return self.sampler if isinstance(self.sampler, Identity) else self.sampler()

    def __reduce__(self) -> tuple[Any, ...]:
        return Made, (self.identity, self.asked, self.temper, self.monitored)


@dataclass(frozen=True, slots=True, eq=False)
class ChainEnds:
    """Where the chains of a run have ended after so many draws each, and what has made them."""

    made: Made
    positions: tuple[Position, ...]
    draws: int

    @staticmethod
    def of(draws: Draws) -> ChainEnds:
        """The ends of the chains of draws; an error where there are none."""
        advice = "extend the draws as sample() has returned them, or as they were saved"
        if draws.ends is None:
            raise RunError(
                "draws: found draws without the ends of their chains, such as a choice among the "
                f"draws of a run; {advice}."
            )
        found = draws.ends.value
        if found is None:
            try:
                found = restored_plainly(draws.ends.content)
            except (UnpicklingError, AttributeError, ImportError, EOFError, TypeError) as error:
                raise RunError(
                    f"draws: the ends of the chains cannot be read ({error}); {advice}."
                ) from error
        if not isinstance(found, ChainEnds):
            raise RunError(f"draws: the ends of the chains are of another kind; {advice}.")
        size = len(found.positions), found.draws
        if (draws.chains, draws.draws) != size:
            raise RunError(
                f"draws: found {draws.chains} chains of {draws.draws} draws, expected the "
                f"{size[0]} of {size[1]} whose ends they have; {advice}."
            )
        return found


def shown_of(progress: bool, callback: Callable[[View], object] | None, every: int) -> Shown:
    """What the user asks for: a function is called every so many sweeps of each chain."""
    called = None if callback is None else Callback(callback, every)
    return Shown(progress, called, worst_r_hat)


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A run of a sampler, which can be written to a file.

    ``told``: its result as draws with names. ``seconds``: about how many so many sweeps take, or
    None where nobody knows.
    """

    made: Made
    beginning: Beginning
    told: Callable[[RunResult], Draws]
    seconds: Callable[[int], float] | None = None

    def carried_out(
        self,
        so_far: SoFar,
        store: Store,
        wanted: Wanted | Pool | None,
        *,
        shown: Shown,
        keeper: Keeper | None = None,
    ) -> Draws:
        """The draws of the run, which goes on from where it is."""
        job, positions = self.beginning.job, so_far.positions
        left = sum(job.sweeps - (p.chain.sweep - p.before) for p in positions)
        seconds = (lambda: nan) if self.seconds is None else partial(self.seconds, left)
        with pool_of(wanted, len(positions), seconds) as pool:
            own = (self.beginning, so_far, store)
            result = carried_out(*own, pool=pool, shown=shown, keeper=keeper)
        return self.as_draws(result)

    def as_draws(self, result: RunResult) -> Draws:
        """The draws of a result, with the ends of the chains."""
        found = self.told(result)
        return replace(found, ends=Ends(ChainEnds(self.made, result.positions, found.draws)))
