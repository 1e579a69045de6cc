"""An engine whose sweep is one of each rung of a ladder, and then swaps of neighbours.

It carries out the sweeps of another engine, of a tempered program, whose quantities have the log
likelihood; so it runs on either back end, and whoever runs it knows nothing of powers. The rungs
are in the state of the chain, which beside them has what the last rung, at power 1, has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gibbsppl.code.program import Constants, Program, State
from gibbsppl.errors import ModelError, RunError
from gibbsppl.run.chains import FAILURES, Chain
from gibbsppl.run.engines import Engine
from gibbsppl.run.recording import Recorder
from gibbsppl.runtime.types import Floats
from gibbsppl.tempering.ladder import moved, steps_of
from gibbsppl.tempering.rungs import Rungs, put_state

# In the state of a chain: its rungs.
RUNGS = "~rungs"

Prior = Callable[[np.random.Generator], State]


def drawn_from(prior: Prior | None, rng: np.random.Generator) -> State | None:
    """A draw of the prior; None if it is too extreme for numbers."""
    assert prior is not None  # (there is no power of 0 without it)
    try:
        return prior(rng)
    except ModelError:
        return None


def along(
    engine: Engine, chain: Chain, powers: Iterable[float], power: str
) -> Iterator[Mapping[str, Any]]:
    """The quantities after a sweep at each of some powers, by name: any positive ones.

    ``engine`` is that of a tempered program, ``power`` the name of the power. Powers that rise
    beyond 1 lead to where the density is highest (annealing).
    """
    for at in powers:
        chain.state[power] = np.float64(at)
        yield engine.looked(chain)


@dataclass(frozen=True, slots=True)
class Tempering:
    """Sweeps of all rungs by the ``engine`` of a tempered ``program``.

    ``prior`` draws a state at power 0, if there is such a rung: draws are independent. ``rungs``
    is their number; None to find it from the barrier, with steps that refuse such a share of swaps.
    ``augments``: auxiliary variables have to be there before a sweep.
    """

    engine: Engine
    program: Program
    constants: Constants
    log_likelihood: str
    prior: Prior | None
    rungs: int | None
    refused: float
    augments: bool = False

    @property
    def name(self) -> str:
        """The name of the back end."""
        return self.engine.name

    @property
    def attributes(self) -> Mapping[str, Any]:
        """The facts to be kept with draws."""
        return self.engine.attributes

    def sweeps(self, chain: Chain, at_most: int, *, is_whole: bool = False) -> int:
        """One sweep of each rung; at the end of a round of the warm-up, powers are moved."""
        del is_whole
        rungs = self._swept(chain)
        if rungs.adapting and rungs.sweep >= rungs.round_ends:
            self._adapted(rungs, chain.rng, at_most - 1)
        return 1

    def draws(self, chain: Chain, recorder: Recorder, thin: int) -> int:
        """One draw: the state at power 1."""
        for _ in range(thin):
            rungs = self._swept(chain)
        recorder.store(rungs.coldest.state)
        return 1

    def looked(self, chain: Chain) -> Mapping[str, Any]:
        """One sweep of each rung, and the quantities at power 1."""
        return self.program.deterministics(self._swept(chain).coldest.state, self.constants)

    def annealed(self, chain: Chain, powers: Floats, power: str) -> Chain:
        """A chain after a sweep at each power from a draw of the prior, or as it was if that fails.

        The chain ends at the last of the powers, or at that which it has.
        """
        moved, drawn = Chain(dict(chain.state), chain.rng), drawn_from(self.prior, chain.rng)
        if drawn is None:
            return chain
        put_state(moved, drawn, power)
        try:
            with np.errstate(all="ignore"):
                told = [t[self.log_likelihood] for t in along(self.engine, moved, powers, power)]
        except FAILURES:
            return chain
        if not np.isfinite(told).all():
            return chain
        return Chain(moved.state, chain.rng)

    def _swept(self, chain: Chain) -> Rungs:
        """The rungs of a chain after a sweep of each, and swaps."""
        rungs: Rungs = chain.state[RUNGS]
        if not rungs.adapting and not rungs.is_frozen:
            rungs.freeze()
        found = np.array([self._swept_rung(rungs, k) for k in range(len(rungs.powers))])
        rungs.seen.tell(found)
        for k in rungs.swap(chain.rng, found):
            if self.augments:
                own = rungs.chains[k]
                self.program.augment(own.rng, own.state, self.constants)
        rungs.seen.pass_by()
        rungs.sweep += 1
        chain.state = {**rungs.coldest.state, RUNGS: rungs}
        chain.sweep += 1
        return rungs

    def _swept_rung(self, rungs: Rungs, k: int) -> float:
        """The log likelihood after a sweep of a rung."""
        own, power = rungs.chains[k], rungs.powers[k]
        if power == 0:
            drawn = drawn_from(self.prior, own.rng)
            if drawn is None:
                return -np.inf
            put_state(own, drawn, rungs.power)
            with np.errstate(all="ignore"):
                told = self.program.deterministics(own.state, self.constants)
            return float(told[self.log_likelihood])
        found = float(self.engine.looked(own)[self.log_likelihood])
        if not np.isfinite(found):
            raise RunError(
                f"{self.log_likelihood}: found {found} at power {power:.3g}, expected a finite "
                "number: there the likelihood holds the variables too loosely. Give tighter "
                "priors."
            )
        return found

    def _adapted(self, rungs: Rungs, rng: np.random.Generator, left: int) -> None:
        """Move the powers after a round, if as many sweeps are left as it was long."""
        seen = rungs.seen
        if left < seen.sweeps:
            return
        refused = 1 - seen.swap_rates
        steps = (self.rungs - 1) if self.rungs else steps_of(float(refused.sum()), self.refused)
        rungs.move(moved(rungs.powers, refused, steps), rng)
        rungs.round_ends = rungs.sweep + 2 * seen.sweeps
