"""Pools of workers for a run: processes of our own, the executor of the user's, or none.

Comes in: what the user asks for, and about how many seconds the run takes by its operations. Goes
out: a pool that is closed after the run, or None where this process does all.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

from gibbsppl.code.worth import AN_OPERATION
from gibbsppl.errors import RunError
from gibbsppl.run.processes import fresh, ignoring_ctrl_c
from gibbsppl.run.progress import say
from gibbsppl.run.workers import Given, Pool

# About the seconds that a process takes to start: Python, imports, functions that were compiled.
STARTING = 4.0


@dataclass(slots=True)
class Processes:
    """So many processes of our own, made anew where one of them dies."""

    cores: int
    is_asked: bool = True
    executor: ProcessPoolExecutor = field(init=False)

    def __post_init__(self) -> None:
        self.executor = self._made()

    def _made(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self.cores, mp_context=fresh(), initializer=ignoring_ctrl_c)

    def renewed(self, broken: Executor) -> bool:
        """Whether there is another executor instead of a broken one: there is."""
        broken.shutdown(wait=False, cancel_futures=True)
        self.executor = self._made()
        return True

    def close(self) -> None:
        """End the processes, at once where nobody waits any more for what is under way."""
        if self.executor._pending_work_items:  # noqa: SLF001  (public from Python 3.14 on)
            for process in [*(self.executor._processes or {}).values()]:  # noqa: SLF001
                process.terminate()
        self.executor.shutdown(cancel_futures=True)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The workers that the user asks for; a number of ``cores``, an ``executor``, or neither."""

    cores: int | None = None
    executor: Executor | None = None

    def __post_init__(self) -> None:
        if self.cores is not None and self.cores < 1:
            raise RunError(f"cores: found {self.cores}, expected a whole number from 1 on.")
        if self.cores is not None and self.executor is not None:
            raise RunError(
                f"cores: found {self.cores} with executor=, expected one of them: an executor has "
                "its own number of workers; leave cores= out."
            )

    def processes(self, chains: int, seconds: Callable[[], float]) -> int:
        """How many processes chains that take so many seconds are worth: 1 for this one alone.

        ``seconds`` are found where they decide.

        >>> Wanted(cores=8).processes(4, lambda: 0.1), Wanted().processes(4, lambda: float("nan"))
        (4, 1)
        """
        if self.cores is not None:
            return min(self.cores, chains)
        many = min(available(), chains)
        if many == 1 or multiprocessing.parent_process() is not None:
            return 1  # (whoever has started this process shares out the cores)
        return many if seconds() * (1 - 1 / many) > STARTING else 1


def available() -> int:
    """The number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def pool_of(
    wanted: Wanted | Pool | None, chains: int, seconds: Callable[[], float]
) -> Iterator[Pool | None]:
    """The pool of a run that takes about so many seconds by its operations; None for no pool.

    Processes that nobody has asked for are told of. A pool that is open is left to its owner.
    """
    if not isinstance(wanted, Wanted):
        yield wanted
        return
    if wanted.executor is not None:
        yield Given(wanted.executor)
        return
    many = wanted.processes(chains, seconds)
    if many == 1:
        yield None
        return
    if wanted.cores is None:
        say(
            f"gibbsppl: {chains} chains in {many} processes, for about "
            f"{seconds() / AN_OPERATION:.1e} operations (cores=1 for none)."
        )
    pool = Processes(many, is_asked=wanted.cores is not None)
    try:
        yield pool
    finally:
        pool.close()
