"""Engines of sweeps: the program in NumPy, one at a time, or compiled loops, many in a call.

Both leave the state of a chain as the other would find it; how many sweeps one call makes changes
no draw, nor does the number of threads that carry out the chunks of large loops.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from gibbsppl.code.program import Constants, Prepared, Program
from gibbsppl.run.chains import Chain, advance
from gibbsppl.run.recording import Recorder
from gibbsppl.runtime.tuning import put_tuning

if TYPE_CHECKING:
    from gibbsppl.code.loop_program import LoopProgram, Runner
    from gibbsppl.code.parted_program import Call, PartedProgram, Sweeping

Arrays = Mapping[str, Any]

# The seconds that one call should take: somebody may be waiting to stop the run, or for a bar.
SECONDS_A_CALL = 0.1
# How many times more sweeps a call makes than the one before, at most.
GROWTH = 8


class Engine(Protocol):
    """An engine of the sweeps of a chain."""

    @property
    def name(self) -> str:
        """The name of the back end."""

    @property
    def attributes(self) -> Mapping[str, Any]:
        """The facts to be kept with draws: the back end, and whatever else changes numbers."""

    def sweeps(self, chain: Chain, at_most: int, *, is_whole: bool = False) -> int:
        """Sweep a chain on, in place, as often as one call does; how often that was.

        A sweep that ``is_whole`` carries out the deferred steps, too.
        """

    def draws(self, chain: Chain, recorder: Recorder, thin: int) -> int:
        """Record draws of a chain, as many as one call does; how many these were."""

    def looked(self, chain: Chain) -> Mapping[str, Any]:
        """Make one whole sweep of a chain, in place; the quantities of the model after it."""


@dataclass(frozen=True, slots=True)
class Interpreted:
    """Sweeps by the program in NumPy."""

    program: Program
    constants: Constants
    name: str = "numpy"

    @classmethod
    def of(cls, program: Program, prepared: Prepared) -> Interpreted:
        """Sweeps with constants that are made now."""
        return cls(program, prepared.made)

    @property
    def attributes(self) -> Mapping[str, Any]:
        """The name of the back end."""
        return {"backend": self.name}

    def sweeps(self, chain: Chain, at_most: int, *, is_whole: bool = False) -> int:
        """One sweep."""
        del at_most
        advance(self.program, self.constants, chain, deferred=None if is_whole else ())
        return 1

    def draws(self, chain: Chain, recorder: Recorder, thin: int) -> int:
        """One draw."""
        if thin > 1:
            advance(self.program, self.constants, chain, thin - 1, ())
        advance(self.program, self.constants, chain, 1, recorder.following[1])
        recorder.store(chain.state)
        return 1

    def looked(self, chain: Chain) -> Mapping[str, Any]:
        """One whole sweep, and the quantities after it."""
        advance(self.program, self.constants, chain)
        return self.program.deterministics(chain.state, self.constants)


@dataclass(frozen=True, slots=True)
class Recorded:
    """So many draws, each the last of ``thin`` sweeps: where they go, and what they need.

    ``outputs`` are for what monitors compute; the sweeps recorded carry out ``deferred`` steps.
    """

    draws: int
    thin: int
    outputs: Arrays
    records: Sequence[Any]
    deferred: Collection[str]


@dataclass(slots=True)
class Compiled:
    """Sweeps by compiled loops; ``a_call`` is how many a call makes now."""

    loops: LoopProgram
    name: str = "compiled"
    a_call: float = 1.0
    _runner: Runner | None = field(default=None)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.loops,)  # (functions are compiled, or read, where they are called)

    @property
    def attributes(self) -> Mapping[str, Any]:
        """The name of the back end."""
        return {"backend": self.name, **self._told}

    @property
    def _told(self) -> Mapping[str, Any]:
        """The type of large arrays, if it is not the usual one."""
        return {"dtype": "float32"} if self.loops.is_single else {}

    def sweeps(self, chain: Chain, at_most: int, *, is_whole: bool = False) -> int:
        """As many sweeps as take about a tenth of a second."""
        count = max(1, min(int(self.a_call), at_most))
        arrays = self.loops.arrays_of(chain.state)
        self._timed(self.run(chain, arrays, count, is_whole), count)
        self._put_back(chain, arrays, count)
        return count

    def monitored(self, chain: Chain, at_most: int) -> list[Any]:
        """As many whole sweeps as take about a tenth of a second: the outputs, after each."""
        count = max(1, min(int(self.a_call), at_most))
        arrays, outputs = self.loops.arrays_of(chain.state), self.loops.outputs()
        found = [np.empty((count, *a.shape)) for a in outputs.values()]
        records = [*self.loops.unrecorded()[: -len(found)], *found]
        recorded = Recorded(count, 1, outputs, records, self.loops.sweep_value.deferred)
        self._timed(self.record(chain, arrays, recorded), count)
        self._put_back(chain, arrays, count)
        return found

    def draws(self, chain: Chain, recorder: Recorder, thin: int) -> int:
        """As many draws as take about a tenth of a second."""
        outputs = self.loops.outputs()
        arrays = self.loops.arrays_of(chain.state)
        plain = {n: a for n, a in arrays.items() if not n.startswith("~")}
        places = partial(recorder.places, chain.state | plain, plain | outputs)
        places(0)  # (from here on it is known how many there is room for)
        alike, deferred = recorder.following
        count = max(1, min(int(self.a_call / thin), alike))
        records = places(count)
        recorded = Recorded(count, thin, outputs, records, deferred)
        self._timed(self.record(chain, arrays, recorded), count * thin)
        self._put_back(chain, arrays, count * thin)
        recorder.drawn += count
        return count

    def looked(self, chain: Chain) -> Mapping[str, Any]:
        """One whole sweep, and the quantities after it."""
        outputs, arrays = self.loops.outputs(), self.loops.arrays_of(chain.state)
        found = {n: np.zeros((1, *a.shape)) for n, a in outputs.items()}
        left_out = self.loops.unrecorded()
        records = [*left_out[: len(left_out) - len(found)], *found.values()]
        recorded = Recorded(1, 1, outputs, records, self.loops.sweep_value.deferred)
        with np.errstate(all="ignore"):
            self.record(chain, arrays, recorded)()
        self._put_back(chain, arrays, 1)
        return {n: a[0] for n, a in found.items()}

    def run(
        self, chain: Chain, arrays: Arrays, count: int, is_whole: bool
    ) -> Callable[[], None]:
        """The call that makes so many sweeps of arrays, with the deferred steps or without."""
        arguments = self.loops.arguments(chain.rng, arrays, None if is_whole else ())
        return lambda: self.runner.sweep(arguments, count)

    def record(self, chain: Chain, arrays: Arrays, r: Recorded) -> Callable[[], None]:
        """The call that makes sweeps of arrays, some of which are recorded."""
        arguments = self.loops.arguments(chain.rng, arrays, r.deferred)
        return lambda: self.runner.record(arguments, r.draws, r.thin, r.outputs, r.records)

    @property
    def runner(self) -> Runner:
        """The runner of the sweeps."""
        if self._runner is None:
            self._runner = self.loops.compiled()
        return self._runner

    def _put_back(self, chain: Chain, arrays: dict[str, Any], sweeps: int) -> None:
        """Put what loops have changed into the state of a chain, in which numbers are double."""
        tuned = {n: a for n, a in arrays.items() if n.startswith("~")}
        doubles = {n: a.astype(float) for n, a in arrays.items() if a.dtype == np.float32}
        chain.state |= {n: a[()] for n, a in {**arrays, **doubles}.items() if n not in tuned}
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


@dataclass(slots=True)
class Threaded(Compiled):
    """Sweeps by compiled loops in parts, whose chunks are carried out by so many threads."""

    threads: int = 1
    _functions: Any = field(default=None)
    _parts: Any = field(default=None)
    _pool: Any = field(default=None)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Threaded, threads=self.threads), (self.loops,)

    @property
    def attributes(self) -> Mapping[str, Any]:
        """The back end, and how many streams large loops have: not how many threads."""
        return {"backend": self.name, "streams": self.parts.streams, **self._told}

    @property
    def parts(self) -> PartedProgram:
        """The loops in parts."""
        if self._parts is None:
            from gibbsppl.code.parted_program import PartedProgram  # noqa: PLC0415  (as the loops)

            self._parts = PartedProgram(self.loops)
        found: PartedProgram = self._parts
        return found

    @property
    def functions(self) -> Any:
        """The compiled functions, by name."""
        if self._functions is None:
            self._functions = self.parts.compiled()
        return self._functions

    def run(
        self, chain: Chain, arrays: Arrays, count: int, is_whole: bool
    ) -> Callable[[], None]:
        """The call that makes so many sweeps of arrays, with the deferred steps or without."""
        sweeping = self.sweeping(chain, arrays, {})
        deferred = sweeping.deferred if is_whole else ()

        def run() -> None:
            for _ in range(count):
                sweeping.sweep(self.each, deferred)

        return run

    def record(self, chain: Chain, arrays: Arrays, r: Recorded) -> Callable[[], None]:
        """The call that makes sweeps of arrays, some of which are recorded."""
        sweeping = self.sweeping(chain, arrays, r.outputs)
        recorded = {n: a for n, a in arrays.items() if not n.startswith("~")} | dict(r.outputs)
        kept = [(r, a) for r, a in zip(r.records, recorded.values(), strict=True) if len(r)]

        def record() -> None:
            for draw in range(r.draws):
                for _ in range(r.thin - 1):
                    sweeping.sweep(self.each)
                sweeping.sweep(self.each, r.deferred)
                sweeping.monitor()
                for places, array in kept:
                    places[draw] = array

        return record

    def sweeping(self, chain: Chain, arrays: Arrays, outputs: Arrays) -> Sweeping:
        """The sweeping of a chain, whose chunks have their streams from the first sweep on."""
        if len(chain.streams) < self.parts.streams:
            chain.streams = tuple(chain.rng.spawn(self.parts.streams))
        given = outputs or self.loops.outputs()
        return self.parts.sweeping(self.functions, chain.rng, chain.streams, arrays, given)

    def each(self, calls: Sequence[Call]) -> None:
        """Carry out calls: by threads if there are several."""
        if self.threads == 1 or len(calls) == 1:
            for call in calls:
                call()
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix="gibbsppl")
        for done in [self._pool.submit(call) for call in calls]:
            done.result()
