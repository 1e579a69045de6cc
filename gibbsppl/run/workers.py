"""Workers of a run: who carries out its segments, in this process or in others.

Comes in: a job, such as the `Job` of a run, positions of chains. Goes out: segments. A worker
remembers the job, which it is sent when it says that it has not got it, and gets a position with
each segment; so one that dies takes nothing along, and whichever of them carries out a segment, the
draws are the same.
"""

from __future__ import annotations

import copy
import io
import os
import pickle
import secrets
import threading
from collections import OrderedDict
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, Protocol

from gibbsppl.errors import RunError
from gibbsppl.run.progress import say
from gibbsppl.run.segments import Position, Segment

# The seconds of a segment: here, somebody may be waiting to stop the run, or for a bar; elsewhere,
# it takes some milliseconds to send one, and more where it is large.
SECONDS_HERE, SECONDS_ELSEWHERE = 0.1, 0.5
# About the bytes that come and go in a second; a segment takes so many times as long as its chain
# is on the way.
BYTES_A_SECOND, TIMES_AS_LONG = 250e6, 10
# How often a segment is carried out again whose worker has died.
ATTEMPTS = 2
# The jobs that a worker remembers.
JOBS = 2


@dataclass(frozen=True, slots=True)
class Lost:
    """A chain that goes on no more, and why."""

    reason: str


class Work(Protocol):
    """A job: what is done with each chain."""

    def carry_out(self, number: int, position: Position, seconds: float, most: int) -> Segment:
        """A segment of chain ``number`` of about so many seconds, up to ``most`` draws."""


class Crew(Protocol):
    """Workers that carry out segments of a job."""

    def is_free(self, number: int, busy: int) -> bool:
        """Whether chain ``number`` may be submitted, while so many are under way."""

    def submit(self, number: int, position: Position, most: int) -> Future[Any]:
        """Have a segment of chain ``number`` carried out, up to ``most`` draws."""

    def outcome(self, number: int, done: Future[Any]) -> Segment | Lost | None:
        """The segment of a future that is done; None where it is to be submitted again."""


@dataclass(frozen=True, slots=True)
class Here:
    """This process, which carries out a segment when it is submitted."""

    job: Work

    def is_free(self, number: int, busy: int) -> bool:
        """Whether there is none: what a segment has ended in is looked at before the next."""
        del number
        return not busy

    def submit(self, number: int, position: Position, most: int) -> Future[Any]:
        """A segment of chain ``number``, carried out now."""
        done: Future[Any] = Future()
        done.set_result(self.job.carry_out(number, position, SECONDS_HERE, most))
        return done

    def outcome(self, number: int, done: Future[Any]) -> Segment | Lost | None:
        """The segment."""
        del number
        found: Segment = done.result()
        return found


class Pool(Protocol):
    """An executor, and a new one where it has broken."""

    @property
    def executor(self) -> Executor:
        """The executor."""

    @property
    def is_asked(self) -> bool:
        """Whether the user has asked for workers."""

    def renewed(self, broken: Executor) -> bool:
        """Whether there is another executor instead of a broken one."""


@dataclass(slots=True)
class Given:
    """The executor of the user's, which nobody else can make again."""

    executor: Executor
    is_asked: bool = True

    def renewed(self, broken: Executor) -> bool:
        """There is no other one."""
        del broken
        return False


@dataclass(slots=True)
class Elsewhere:
    """Workers of an executor.

    Where a worker dies, it is not known whose segment it has died of: those that were under way are
    carried out again one by one. ``deaths``: how often a chain's worker has died, ``alone``: the
    chains that go on one by one.
    """

    job: Work
    pool: Pool
    payload: bytes = b""
    key: str = field(default_factory=lambda: f"{os.getpid()}-{secrets.token_hex(8)}")
    sends: set[int] = field(default_factory=set)
    alone: set[int] = field(default_factory=set)
    deaths: dict[int, int] = field(default_factory=dict)
    used: dict[Future[Any], Executor] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.payload = packed(self.job)

    def is_free(self, number: int, busy: int) -> bool:
        """Whether a chain may be submitted: one at a time, after a worker has died."""
        return not self.alone or (busy == 0 and number in self.alone)

    def submit(self, number: int, position: Position, most: int) -> Future[Any]:
        """A segment of chain ``number``, with the job if the worker had not got it."""
        payload = self.payload if number in self.sends else None
        executor = self.pool.executor
        seconds = max(SECONDS_ELSEWHERE, TIMES_AS_LONG * position.nbytes / BYTES_A_SECOND)
        try:
            found = executor.submit(
                carry_out_there, self.key, payload, number, position, seconds, most
            )
        except (BrokenExecutor, RuntimeError) as error:  # (broken or shut down in between)
            found = Future()
            found.set_exception(error)
        self.used[found] = executor
        return found

    def outcome(self, number: int, done: Future[Any]) -> Segment | Lost | None:
        """The segment of a future that is done; None where it is to be submitted again."""
        executor = self.used.pop(done)
        try:
            found = done.result()
        except Exception as error:  # noqa: BLE001  (of the executor: what a job raises is a value)
            return self.died(number, executor, error)
        if isinstance(found, Unknown):
            self.sends.add(number)
            return None
        self.sends.discard(number)
        self.alone.discard(number)
        self.deaths.pop(number, None)  # (it goes on: deaths are counted in one place)
        if isinstance(found, Raised):
            raise found.error
        segment: Segment = found
        return segment

    def died(self, number: int, executor: Executor, error: Exception) -> Lost | None:
        """The end of a chain whose worker has died too often; None if it is tried again."""
        is_broken = isinstance(error, BrokenExecutor)
        takes_no_more = is_broken or isinstance(error, RuntimeError)
        if takes_no_more and executor is self.pool.executor and not self.pool.renewed(executor):
            self.alone.discard(number)
            return Lost(f"the executor takes no more work ({_said(error)})")
        if not self.alone or number in self.alone:
            # (whoever was not alone may have been innocent, and is tried once more)
            self.deaths[number] = self.deaths.get(number, 0) + 1
        self.alone.add(number)
        if self.deaths.get(number, 0) <= ATTEMPTS:
            return None
        self.alone.discard(number)
        times = f"{self.deaths[number]} times in one place"
        if is_broken:
            return Lost(f"its worker has died {times}, killed or out of memory ({_said(error)})")
        return Lost(f"its executor has failed {times} ({_said(error)})")


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).rstrip('.')}"


# ---- in the worker ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Unknown:
    """The answer of a worker that has not got the job."""


@dataclass(frozen=True, slots=True)
class Raised:
    """The error that a job has raised."""

    error: Exception


class _Jobs(threading.local):
    """The jobs that a thread knows: arrays that loops work in are not shared with other threads."""

    def __init__(self) -> None:
        self.known: OrderedDict[str, Work] = OrderedDict()


_JOBS = _Jobs()


def carry_out_there(
    key: str, payload: bytes | None, number: int, position: Position, seconds: float, most: int
) -> Segment | Unknown | Raised:
    """A segment of a job, which is remembered by its key."""
    try:
        known = _JOBS.known
        if key not in known:
            if payload is None:
                return Unknown()
            known[key] = pickle.loads(payload)  # noqa: S301  (made by `packed`)
            while len(known) > JOBS:
                known.popitem(last=False)
        # (a thread has the position that the run has, which writes it to a checkpoint meanwhile)
        return known[key].carry_out(number, copy.deepcopy(position), seconds, most)
    except Exception as error:  # noqa: BLE001  (told where the run is)
        return Raised(_picklable(error))


def _picklable(error: Exception) -> Exception:
    """An error as it can be sent, with what its traceback says."""
    try:
        found: Exception = pickle.loads(pickle.dumps(error))  # noqa: S301  (our own)
    except Exception:  # noqa: BLE001  (whatever keeps it from being sent)
        found = RunError(f"{type(error).__name__}: {error}")
    if not isinstance(error, RunError):
        import traceback  # noqa: PLC0415  (only where a program has a bug)

        found.add_note("".join(traceback.format_exception(error)))
    return found


# ---- what is sent -----------------------------------------------------------------------------


class _Packer(pickle.Pickler):
    """A pickler that refuses what another process cannot import."""

    def reducer_override(self, value: Any) -> Any:
        """As usual, but for functions and classes of the program that is being run."""
        if isinstance(value, FunctionType | type) and value.__module__ == "__main__":
            raise RunError(
                f"{value.__qualname__}: found it defined in the program that is being run, which "
                "other processes do not run again, expected it in a module that can be imported; "
                "move it there, or sample with cores=1."
            )
        return NotImplemented


def packed(job: Work) -> bytes:
    """A job as it is sent to workers."""
    file = io.BytesIO()
    try:
        _Packer(file, pickle.HIGHEST_PROTOCOL).dump(job)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise RunError(
            f"cores: the run cannot be sent to another process ({error}); sample with cores=1."
        ) from error
    return file.getvalue()


def crew_of(job: Work, pool: Pool | None) -> Crew:
    """The workers of a job: those of a pool, if it can be sent there, or this process."""
    if pool is None:
        return Here(job)
    try:
        return Elsewhere(job, pool)
    except RunError as error:
        if pool.is_asked:
            raise
        say(f"gibbsppl: the chains are drawn in one process. {error}")
        return Here(job)
