"""What carries out sweeps: the program in NumPy, one at a time, or compiled loops, many in a call.

Both leave the state of a chain as the other would find it; how many sweeps one call makes changes
no draw.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from gibbsppl.code.program import Constants, Program
from gibbsppl.run.chains import Chain, advance
from gibbsppl.run.recording import Recorder
from gibbsppl.runtime.tuning import put_tuning

if TYPE_CHECKING:
    from gibbsppl.code.loop_program import LoopProgram

# The seconds that one call should take: somebody may be waiting to stop the run, or for a bar.
SECONDS_A_CALL = 0.1
# How many times more sweeps a call makes than the one before, at most.
GROWTH = 8


class Engine(Protocol):
    """What carries out the sweeps of a chain."""

    @property
    def name(self) -> str:
        """The name of the back end."""

    def sweeps(self, chain: Chain, at_most: int) -> int:
        """Sweep a chain on, in place, as often as one call does; how often that was."""

    def draws(self, chain: Chain, recorder: Recorder, number: int, thin: int) -> int:
        """Record draws of chain ``number``, as many as one call does; how many these were."""


@dataclass(frozen=True, slots=True)
class Interpreted:
    """Sweeps by the program in NumPy."""

    program: Program
    constants: Constants
    name: str = "numpy"

    def sweeps(self, chain: Chain, at_most: int) -> int:
        """One sweep."""
        del at_most
        advance(self.program, self.constants, chain, deferred=())
        return 1

    def draws(self, chain: Chain, recorder: Recorder, number: int, thin: int) -> int:
        """One draw."""
        if thin > 1:
            advance(self.program, self.constants, chain, thin - 1, ())
        named = recorder.deferred_in(recorder.drawn + 1)
        advance(self.program, self.constants, chain, 1, named)
        recorder.store(number, chain.state)
        return 1


@dataclass(slots=True)
class Compiled:
    """Sweeps by compiled loops; ``a_call`` is how many a call makes now."""

    loops: LoopProgram
    name: str = "compiled"
    a_call: float = 1.0
    _functions: Any = field(default=None)

    def sweeps(self, chain: Chain, at_most: int) -> int:
        """As many sweeps as take about a tenth of a second."""
        count = max(1, min(int(self.a_call), at_most))
        arrays = self.loops.arrays_of(chain.state)
        arguments = self.loops.arguments(chain.rng, arrays, ())
        self._timed(lambda: self.functions.run(*arguments, count), count)
        self._put_back(chain, arrays, count)
        return count

    def draws(self, chain: Chain, recorder: Recorder, number: int, thin: int) -> int:
        """As many draws as take about a tenth of a second."""
        outputs = self.loops.outputs()
        arrays = self.loops.arrays_of(chain.state)
        left = recorder.size[1] - recorder.drawn
        deferred = recorder.deferred_in(recorder.drawn + 1)
        if left > 1 and deferred != recorder.deferred_in(recorder.size[1]):
            left -= 1  # (the last draw is made by a call of its own)
        count = max(1, min(int(self.a_call / thin), left))
        plain = {n: a for n, a in arrays.items() if not n.startswith("~")}
        records = recorder.places(number, chain.state, plain | outputs, count)
        given = self.loops.arguments(chain.rng, arrays, deferred)
        arguments = (*given, count, thin, *outputs.values())
        self._timed(lambda: self.functions.record(*arguments, *records), count * thin)
        self._put_back(chain, arrays, count * thin)
        recorder.drawn += count
        return count

    @property
    def functions(self) -> Any:
        """The compiled functions."""
        if self._functions is None:
            self._functions = self.loops.compiled()
        return self._functions

    def _put_back(self, chain: Chain, arrays: dict[str, Any], sweeps: int) -> None:
        """Put what loops have changed into the state of a chain."""
        tuned = {n: a for n, a in arrays.items() if n.startswith("~")}
        chain.state |= {n: a[()] for n, a in arrays.items() if n not in tuned}
        put_tuning(chain.state, tuned)
        for name in self.loops.apart:
            chain.state.pop(name, None)
        chain.sweep += sweeps

    def _timed(self, call: Callable[[], None], sweeps: int) -> None:
        """Make a call, and find how many sweeps the next should make."""
        started = perf_counter()
        with np.errstate(all="ignore"):
            call()
        seconds = max(perf_counter() - started, 1e-9)
        wanted = sweeps * SECONDS_A_CALL / seconds
        self.a_call = max(1.0, min(wanted, GROWTH * sweeps))
