"""Sweeps of a fit with the bound after each: by the program in NumPy, or by compiled loops.

Comes in: the program of a fit, its loops, what is asked for. Goes out: a chain some sweeps further
on, and the bounds. How many sweeps a fit will take nobody knows before: where nothing is asked for,
sweeps are made in NumPy until loops would have saved what compiling them takes, so that a fit never
takes much more than twice the time of the better of both.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from gibbsppl.code.loop_program import LoopProgram, loops_of
from gibbsppl.code.program import Constants, Program
from gibbsppl.code.worth import Worth
from gibbsppl.errors import RunError
from gibbsppl.model.evaluation import Values
from gibbsppl.run.chains import FAILURES, Chain, advance, not_finite, raised
from gibbsppl.run.choice import Asked, engine_for
from gibbsppl.run.engines import Compiled, Interpreted
from gibbsppl.schedule.sweeps import Schedule


@dataclass(slots=True)
class Sweeps:
    """The sweeps of a fit; ``made`` is how many there have been, of all starts."""

    schedule: Schedule
    data: Values
    program: Program
    constants: Constants
    asked: Asked
    worth: Callable[[Callable[[], Worth]], Worth]
    made: int = 0
    compiled: Compiled | None = field(default=None)

    def bounds(self, chain: Chain, at_most: int) -> Sequence[float]:
        """Sweep a chain on, in place, as often as one call does: the bound after each sweep."""
        if self.compiled is None:
            engine = engine_for(self.asked, self.in_numpy, self.loops, self.made, self.worth)
            self.compiled = engine if isinstance(engine, Compiled) else None
        if self.compiled is None:
            return self.once(chain)
        found = self._often(chain, at_most)
        self.made += len(found)
        return found

    def once(self, chain: Chain) -> list[float]:
        """Sweep a chain on once in NumPy, in place: the bound after it."""
        self.made += 1
        return self._once(chain)

    def in_numpy(self) -> Interpreted:
        """The sweeps in NumPy."""
        return Interpreted(self.program, self.constants)

    def loops(self, dtype: str) -> LoopProgram:
        """The sweeps in loops."""
        return loops_of(self.schedule, self.data, self.constants, dtype, is_fit=True)

    def _once(self, chain: Chain) -> list[float]:
        """One sweep in NumPy."""
        assert self.program.bound is not None
        try:
            advance(self.program, self.constants, chain)
        except (ArithmeticError, ValueError) as error:
            raise raised(self.program, error, f"in sweep {chain.sweep + 1}") from error
        bound = float(self.program.bound(chain.state, self.constants))
        if not np.isfinite(bound):
            raise self._not_finite(chain, bound)
        return [bound]

    def _often(self, chain: Chain, at_most: int) -> list[float]:
        """Many sweeps in loops; what goes wrong is told by the program in NumPy."""
        assert self.compiled is not None
        before = copy.deepcopy(chain)
        try:
            (found,) = self.compiled.monitored(chain, at_most)
        except FAILURES:
            found = np.array([np.nan])
        if np.isfinite(found).all():
            return [float(x) for x in found]
        chain.state, chain.rng, chain.sweep = before.state, before.rng, before.sweep
        return [bound for _ in range(len(found)) for bound in self._once(chain)]

    def _not_finite(self, chain: Chain, bound: float) -> RunError:
        """The error where something is no number."""
        name = not_finite(self.program, chain.state)
        what = f"{name} is" if name else f"the bound is {bound}, with all that it reads"
        return RunError(
            f"{what} not finite after {chain.sweep} sweeps; start elsewhere (init=), or look at "
            "the priors of what it depends on: what may be zero, or infinite, may have no finite "
            "mean."
        )
