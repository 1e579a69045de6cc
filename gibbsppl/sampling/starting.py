"""The work of starting the chains of a sampler, here or in the workers of a run.

Comes in: a sampler, what the user says of starts. Goes out: a job that starts a chain from its
stream. What is fitted for a chain is fitted by the stream of that chain, so that chains in
different modes stay there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from gibbsppl.errors import CompileError, RunError
from gibbsppl.initial.from_prior import prior_draw
from gibbsppl.initial.inits import Init, Start, inits_of, starts_of, with_inits
from gibbsppl.initial.pilot import Pilots
from gibbsppl.initial.rooms import Rooms
from gibbsppl.model.evaluation import Values
from gibbsppl.run.engines import Compiled, Engine
from gibbsppl.run.segments import Position, Segment

# The methods of a sampler that make a fit to start from, by the word for it; and the sweeps that it
# has at most: a start has to be where the posterior is, not at the last digit of a fit. Of 23 fits
# of 12 models all but one were then within half a standard deviation of a log likelihood of where
# they came to in 2000; the mode of a factor analysis was 2 below, and 1 after 100 sweeps.
FITS, FIT_SWEEPS = {"optimum": "maximise", "variational": "variational"}, 50


@dataclass(frozen=True, slots=True, eq=False)
class Starting:
    """The start of each chain: where its values are from, and what a start has to pass.

    ``origin`` is the user's word for it, or "given" for ``starts``; ``inits`` are fixed beside.
    ``check`` raises an error where a state is no start; it is told whether it is the ``first``, and
    of the ``rooms`` by which compiled loops look at blocks.
    """

    sampler: Any
    pilots: Pilots
    origin: str
    starts: Sequence[Values | None]
    inits: Sequence[Values | None]
    check: Callable[..., None]

    @classmethod
    def of(cls, sampler: Any, engine: Engine, chains: int, start: Start, init: Init) -> Starting:
        """The work of so many chains, by pilot runs of an engine."""
        inits = inits_of(init, sampler.graph, chains)
        starts = starts_of(start, sampler.graph, chains)
        return _made(sampler, engine, start if isinstance(start, str) else "given", starts, inits)

    def __reduce__(self) -> tuple[Any, ...]:
        own = (self.sampler, self.pilots.engine, self.origin, self.starts, self.inits)
        return _made, own  # (a sampler knows how its expressions are sent)

    def carry_out(self, number: int, position: Position, seconds: float, most: int) -> Segment:
        """The start of chain ``number``, in place, by the stream that it has."""
        del seconds, most
        began, chain, init = perf_counter(), position.chain, self.inits[number]
        found = self._found(number, chain.rng)
        given = with_inits(self.pilots.graph, self.pilots.data, found, init)
        check = partial(self.check, first=number == 0)
        chain.state, origins = self.pilots.start(chain.rng, given, check)
        origins |= {n: self.origin for n in (found or {}) if n not in (init or {})}
        return Segment(position, 0, {}, {}, (perf_counter() - began, 0.0), origins=origins)

    def _found(self, number: int, rng: np.random.Generator) -> Values | None:
        """The values that a chain starts from, but for those fixed; None where pilots find them."""
        pilots, init = self.pilots, self.inits[number]
        if self.origin == "prior":
            return prior_draw(rng, pilots.graph, pilots.data, init, pilots.densities)
        if self.origin not in FITS:
            return self.starts[number]
        (own,) = rng.spawn(1)
        fit = getattr(self.sampler, FITS[self.origin])
        try:
            made = fit(sweeps=FIT_SWEEPS, warmup=0, seed=own, init=init, progress=False)
        except (CompileError, RunError) as error:
            raise RunError(
                f"start: found {self.origin!r}, and there is no such fit to start at; leave start= "
                f"out. {error}"
            ) from error
        values: Values = made.starts(1, own)[0]
        return values


def _made(
    sampler: Any,
    engine: Engine,
    origin: str,
    starts: Sequence[Values | None],
    inits: Sequence[Values | None],
) -> Starting:
    """The work of starting chains of a sampler."""
    own = (sampler.graph, sampler.data, sampler.program, sampler.prepared)
    pilots, check = Pilots(*own, engine), sampler._check_proper  # noqa: SLF001  (of its methods)
    if isinstance(engine, Compiled):
        check = partial(check, rooms=Rooms(engine, sampler.prepared))
        pilots = pilots.with_loops(len(inits))
    return Starting(sampler, pilots, origin, starts, inits, check)
