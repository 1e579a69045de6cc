"""Segments of a run: some sweeps of one chain, and what is recorded of them.

Comes in: a `Job`, the same for all chains, and the `Position` of one. Goes out: a `Segment`, with
the position after it. Where a segment ends changes no draw: a run is the same in segments of one
sweep, here or in other processes, as in one. A chain that fails is replayed to find what failed
first.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from gibbsppl.errors import RunError
from gibbsppl.run.chains import FAILURES, Chain, failure_of, not_finite
from gibbsppl.run.engines import Engine
from gibbsppl.run.recording import Array, Recorder, Recording, walks_of
from gibbsppl.runtime import moves

# The state is looked at this often, and remembered as good.
SWEEPS_BETWEEN_CHECKS = 100
# The draws of a segment take no more bytes, unless one draw does.
BYTES_AT_MOST = 16 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """What is done with each chain of a run: warm-up, then draws every ``thin`` sweeps."""

    engine: Engine
    recording: Recording
    warmup: int
    thin: int

    @property
    def sweeps(self) -> int:
        """The sweeps of each chain."""
        return self.warmup + self.recording.draws * self.thin

    def carry_out(self, number: int, position: Position, seconds: float, most: int) -> Segment:
        """A segment of chain ``number`` of about so many seconds, up to ``most`` draws of the run.

        The position given is moved on in place. Raises a `RunError` that says what went wrong first
        where a state is not finite, or a step fails.
        """
        with np.errstate(all="ignore"):  # a state that is not finite is found and explained below
            return _Work(self, number, position).carried_out(seconds, most)


@dataclass(slots=True)
class Position:
    """How far a chain of a run has come: the chain, and the number of draws recorded.

    ``before``: the sweeps that the chain had made before the run. ``is_warm``: adaptation has
    ended. ``good``: a copy of the chain where it was last looked at, which a replay begins from.
    """

    chain: Chain
    before: int
    drawn: int = 0
    is_warm: bool = False
    good: Chain | None = None

    @classmethod
    def of(cls, start: Chain) -> Position:
        """The position of a chain that starts; the chain given is left as it is."""
        return cls(copy.deepcopy(start), start.sweep)

    def __reduce__(self) -> tuple[Any, ...]:
        return Position, (self.chain, self.before, self.drawn, self.is_warm)

    def at_its_chain(self, job: Job) -> Position:
        """The position that belongs to the chain: one cut in a sweep was taken back a little."""
        draws = (self.chain.sweep - self.before - job.warmup) // job.thin
        return Position(self.chain, self.before, min(self.drawn, max(draws, 0)), self.is_warm)


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """Some sweeps of a chain: the position after them, the draws and the seconds.

    ``values`` and ``rates`` have the draws from number ``first`` (0 is that of a run) on along
    their first axis; ``seconds`` are those of warm-up and of sampling. ``is_cut``: Ctrl-C has ended
    it in the midst of a sweep; the chain is then where it was last looked at. ``origins``: of a
    segment that starts a chain, where each value is taken from.
    """

    position: Position
    first: int
    values: Mapping[str, Array]
    rates: Mapping[tuple[str, str], Array]
    seconds: tuple[float, float]
    is_cut: bool = False
    origins: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Work:
    """A segment under way."""

    job: Job
    number: int
    position: Position
    recorder: Recorder | None = None
    checked: int = 0  # (draws of the segment that are known to be finite)

    def carried_out(self, seconds: float, most: int) -> Segment:
        """Warm-up while there is some left, then draws."""
        position, first = self.position, self.position.drawn
        began = warm = perf_counter()
        if position.good is None:
            self.save()
        is_cut = False
        try:
            if not position.is_warm:
                self.warm_up(began + seconds)
            warm = perf_counter()
            if position.is_warm and position.drawn < most:
                self.draw(began + seconds, most)
        except KeyboardInterrupt:
            is_cut = True
            position.chain = copy.deepcopy(position.good) or position.chain
        self.check()
        if position.drawn == self.job.recording.draws:
            position.good = None  # (nothing is left to be replayed)
        taken = warm - began, perf_counter() - warm
        values, rates = ({}, {}) if self.recorder is None else self.recorder.recorded()
        return Segment(position, first, values, rates, taken, is_cut)

    @property
    def chain(self) -> Chain:
        """The chain."""
        return self.position.chain

    def warm_up(self, ends: float) -> None:
        """Sweeps until the warm-up, or the time, is over."""
        while (left := self.position.before + self.job.warmup - self.chain.sweep) > 0:
            self.advance(partial(self.job.engine.sweeps, self.chain, left))
            if perf_counter() >= ends:
                break
        if self.chain.sweep < self.position.before + self.job.warmup:
            return
        self.check()
        moves.freeze(self.chain.state)
        for walk in walks_of(self.job.recording.program, self.chain.state).values():
            walk.taken()  # (what was accepted in warm-up is not counted)
        self.save()  # a replay from before would adapt again
        self.position.is_warm = True

    def draw(self, ends: float, most: int) -> None:
        """Draws until there are ``most``, or the time, or the room for them, is over."""
        self.recorder = recorder = self.job.recording.recorder(
            self.position.drawn, most, BYTES_AT_MOST
        )
        drawn = partial(self.job.engine.draws, self.chain, recorder, self.job.thin)
        try:
            while recorder.left:
                self.advance(drawn)
                if perf_counter() >= ends:
                    break
        finally:
            self.position.drawn = recorder.first + recorder.drawn

    def advance(self, carry_out: Callable[[], int]) -> None:
        """Some sweeps; now and then a look at the state."""
        position = self.position
        assert position.good is not None
        if position.chain.sweep - position.good.sweep >= SWEEPS_BETWEEN_CHECKS:
            self.check()
            self.save()
        try:
            carry_out()
        except FAILURES as error:
            raise self.failure(position.chain.sweep + 1) or error from error

    def check(self) -> None:
        """Find whether state and new draws are finite; if not, say what went wrong first."""
        name = not_finite(self.job.recording.program, self.chain.state)
        found = f"{name}: found draws not finite." if name else None
        if found is None and self.recorder is not None:
            found = self.recorder.fault(self.checked)
        if found:
            raise self.failure(self.chain.sweep) or RunError(found)

    def save(self) -> None:
        """Remember the chain, which is known to be good."""
        self.position.good = copy.deepcopy(self.chain)
        self.checked = 0 if self.recorder is None else self.recorder.drawn

    def failure(self, until: int) -> RunError | None:
        """What went wrong first since the last good state."""
        recording = self.job.recording
        assert self.position.good is not None
        own = (recording.program, recording.constants, self.position.good)
        return failure_of(*own, until, self.number, self.deferred_in)

    def deferred_in(self, sweep: int) -> tuple[str, ...]:
        """The deferred steps that a sweep of the chain carries out."""
        after = sweep - self.position.before - self.job.warmup
        draw, between = divmod(after, self.job.thin)
        return () if draw <= 0 or between else self.job.recording.deferred_in(draw)
