"""Segments of a run: some sweeps of one chain, and what is recorded of them.

Comes in: a `Job`, the same for all chains, and the `Position` of one. Goes out: a `Segment`, with
the position after it. Where a segment ends changes no draw: a run is the same in segments of one
sweep, here or in other processes, as in one. A chain that fails is replayed to find what failed
first.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from gibbsppl.errors import RunError
from gibbsppl.output.thinning import Every, of_a_part
from gibbsppl.run.accumulators import Accumulator
from gibbsppl.run.chains import FAILURES, Chain, failure_of, not_finite
from gibbsppl.run.engines import Engine
from gibbsppl.run.monitoring import Monitors
from gibbsppl.run.recording import Array, Recorder, Recording, walks_of
from gibbsppl.run.stopping import held_back
from gibbsppl.run.stores import Rates
from gibbsppl.runtime import moves

# The state is looked at, and remembered as good, after so many sweeps that take so long: a copy of
# a small chain takes as long as tens of its sweeps.
SWEEPS_BETWEEN_CHECKS = 100
SECONDS_BETWEEN_CHECKS = 0.02
# The draws that a segment sends take no more bytes, unless one draw does, nor do those that are
# recorded at a time.
BYTES_AT_MOST = 16 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """What is done with each chain of a run: warm-up, then draws every ``thin`` sweeps.

    ``kept`` names what is stored of what is recorded, and of how many draws one is. ``monitors``
    are told of all that is recorded. Where there is a ``pause``, segments end after each so many
    sweeps of a chain, or with the draw after. ``warming`` records the warm-up, if it is kept.
    """

    engine: Engine
    recording: Recording
    warmup: int
    thin: int
    kept: Every
    monitors: Monitors | None = None
    pause: int | None = None
    warming: Recording | None = None

    @property
    def every(self) -> Every:
        """Of how many draws one is stored, of variables of which not all are."""
        return {name: every for name, every in self.kept.items() if every > 1}

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
    ``monitored``: the accumulators of all draws so far; ``at_chain``: those of the draws up to the
    chain, if it was taken back.
    """

    chain: Chain
    before: int
    drawn: int = 0
    is_warm: bool = False
    good: Chain | None = None
    monitored: dict[str, Accumulator] = field(default_factory=dict)
    at_chain: dict[str, Accumulator] | None = None

    @classmethod
    def of(cls, start: Chain) -> Position:
        """The position of a chain that starts; the chain given is left as it is."""
        return cls(copy.deepcopy(start), start.sweep)

    def __reduce__(self) -> tuple[Any, ...]:
        own = (self.chain, self.before, self.drawn, self.is_warm)
        return Position, (*own, None, self.monitored, self.at_chain)

    def at_its_chain(self, job: Job) -> Position:
        """The position that belongs to the chain: one cut in a sweep was taken back a little."""
        own = (self.chain, self.before, self.draws_at_chain(job), self.is_warm)
        return Position(*own, None, self.monitored if self.at_chain is None else self.at_chain)

    def draws_at_chain(self, job: Job) -> int:
        """The number of draws that the chain has made."""
        draws = (self.chain.sweep - self.before - job.warmup) // job.thin
        return min(self.drawn, max(draws, 0))

    @property
    def nbytes(self) -> int:
        """The bytes of the state and of what is monitored, about."""
        state = (a.nbytes for a in self.chain.state.values() if isinstance(a, np.ndarray))
        return sum(state) + sum(a.nbytes for a in self.monitored.values())


def monitored_by(positions: Sequence[Position]) -> dict[str, tuple[Accumulator, ...]]:
    """The accumulators of what is monitored, by name, one for each chain."""
    return {n: tuple(p.monitored[n] for p in positions) for n in positions[0].monitored}


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """Some sweeps of a chain: the position after them, the draws and the seconds.

    ``values`` and ``rates`` have what is kept of the draws from number ``first`` (0 is that of a
    run) on along their first axis; ``seconds`` are those of warm-up and of sampling. ``is_cut``:
    Ctrl-C has ended it in the midst of a sweep; the chain is then where it was last looked at.
    ``warm``: the draws of warm-up that are kept, with the number of those before.
    ``origins``: of a segment that starts a chain, where each value is taken from.
    """

    position: Position
    first: int
    values: Mapping[str, Array]
    rates: Rates
    seconds: tuple[float, float]
    is_cut: bool = False
    origins: Mapping[str, str] = field(default_factory=dict)
    warm: tuple[int, Mapping[str, Array], Rates] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Some draws, so many of them, as they are kept, and the statistics of their moves."""

    values: Mapping[str, Array]
    rates: Rates
    draws: int


@dataclass(slots=True)
class _Work:
    """A segment under way."""

    job: Job
    number: int
    position: Position
    recorder: Recorder | None = None
    checked: int = 0  # (draws of the recorder that are known to be finite)
    looked: float = field(default_factory=perf_counter)  # (when the chain was last remembered)
    pieces: list[Piece] = field(default_factory=list)  # (what is kept of recorders before)
    warm: list[Piece] = field(default_factory=list)  # (what is kept of warm-up)

    def carried_out(self, seconds: float, most: int) -> Segment:
        """Warm-up while there is some left, then draws."""
        position, first, warmed = self.position, self.position.drawn, self.warmed
        began = warm = perf_counter()
        if position.good is None or self.job.monitors is not None:
            self.save()  # (what is monitored cannot be taken back behind where a segment begins)
        is_cut = False
        try:
            pause = self.pause
            if not position.is_warm:
                self.warm_up(began + seconds, pause)
            warm = perf_counter()
            most = min(most, -(-(pause - self.job.warmup) // self.job.thin))
            if position.is_warm and position.drawn < most:
                self.draw(began + seconds, most)
        except KeyboardInterrupt:
            is_cut = True
            position.chain = copy.deepcopy(position.good) or position.chain
        self.check()
        if position.drawn == self.job.recording.draws:
            position.good = None  # (nothing is left to be replayed)
        try:
            self.put_away(is_cut=is_cut)
        except KeyboardInterrupt:  # (it has come meanwhile: all is put away)
            is_cut = True
        taken = warm - began, perf_counter() - warm
        kept = (warmed, *_joined(self.warm)) if self.warm else None
        return Segment(position, first, *_joined(self.pieces), taken, is_cut, warm=kept)

    @property
    def chain(self) -> Chain:
        """The chain."""
        return self.position.chain

    @property
    def warmed(self) -> int:
        """The draws of the warm-up that the chain has made."""
        return (self.chain.sweep - self.position.before) // self.job.thin

    @property
    def pause(self) -> int:
        """The number of sweeps of the chain at which the segment ends, whatever else."""
        swept = self.chain.sweep - self.position.before
        every = self.job.pause or self.job.sweeps
        return (swept // every + 1) * every

    def warm_up(self, ends: float, pause: int) -> None:
        """Sweeps until the warm-up, or the time, is over, or it is time for a pause."""
        stop = self.position.before + min(self.job.warmup, pause)
        while (left := stop - self.chain.sweep) > 0:
            if self.job.warming is not None and self.warmed < self.job.warming.draws:
                self.record_warmup(self.job.warming, ends, -(-left // self.job.thin))
            else:
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

    def record_warmup(self, warming: Recording, ends: float, most: int) -> None:
        """Draws of warm-up into one recorder, so many at most."""
        first, job = self.warmed, self.job
        stop = min(first + most, warming.draws)
        recorder = warming.recorder(first, stop, BYTES_AT_MOST)
        try:
            while recorder.left and (recorder.drawn == 0 or perf_counter() < ends):
                self.advance(partial(job.engine.draws, self.chain, recorder, job.thin))
        finally:
            values, rates = recorder.recorded()
            every = {n: job.kept[n] for n in values}
            own = {n: of_a_part(values[n], first, k) for n, k in every.items()}
            if recorder.drawn:
                self.warm.append(Piece(own, rates, recorder.drawn))

    def draw(self, ends: float, most: int) -> None:
        """Draws until there are ``most``, or the time, or the room for them, is over."""
        while True:
            self.record(ends, most)
            is_over = perf_counter() >= ends or self.position.drawn >= most
            if self.job.monitors is None or is_over or self.bytes_kept >= BYTES_AT_MOST:
                return
            self.check()
            self.save()
            self.put_away()

    def record(self, ends: float, most: int) -> None:
        """Draws into one recorder."""
        self.recorder = recorder = self.job.recording.recorder(
            self.position.drawn, most, BYTES_AT_MOST
        )
        self.checked = 0
        drawn = partial(self.job.engine.draws, self.chain, recorder, self.job.thin)
        try:
            while recorder.left:
                self.advance(drawn)
                if perf_counter() >= ends:
                    break
        finally:
            self.position.drawn = recorder.first + recorder.drawn

    @property
    def bytes_kept(self) -> int:
        """The bytes of what a segment sends, with what the recorder has of it."""
        found = sum(a.nbytes for piece in self.pieces for a in piece.values.values())
        if self.recorder is not None:
            values, _ = self.recorder.recorded()
            found += sum(values[n].nbytes // every for n, every in self.job.kept.items())
        return found

    def put_away(self, *, is_cut: bool = False) -> None:
        """Tell monitors of what the recorder has; what is kept of it waits to be sent.

        Where the chain was taken back, monitors are remembered as they were there. Ctrl-C is obeyed
        afterwards.
        """
        with held_back():
            recorder, self.recorder = self.recorder, None
            if recorder is None or not recorder.drawn:
                return
            values, rates = recorder.recorded()
            if (monitors := self.job.monitors) is not None:
                position, end = self.position, recorder.drawn
                split = position.draws_at_chain(self.job) - recorder.first if is_cut else end
                self.tell(monitors, values, 0, split, recorder.first)
                if is_cut:
                    position.at_chain = copy.deepcopy(position.monitored)
                    self.tell(monitors, values, split, end, recorder.first)
            first, kept = recorder.first, self.job.kept.items()
            own = {n: of_a_part(values[n], first, every) for n, every in kept}
            self.pieces.append(Piece(own, rates, recorder.drawn))

    def tell(
        self, monitors: Monitors, values: Mapping[str, Array], start: int, stop: int, first: int
    ) -> None:
        """Tell monitors of some draws of a recorder, whose first has this number."""
        if start < stop:
            own = {n: a[start:stop] for n, a in values.items()}
            monitors.add(self.position.monitored, own, self.number, first + start)

    def advance(self, carry_out: Callable[[], int]) -> None:
        """Some sweeps; now and then a look at the state."""
        position = self.position
        assert position.good is not None
        many = position.chain.sweep - position.good.sweep >= SWEEPS_BETWEEN_CHECKS
        if many and perf_counter() - self.looked >= SECONDS_BETWEEN_CHECKS:
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
        self.position.good, self.looked = copy.deepcopy(self.chain), perf_counter()
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


def _joined(pieces: Sequence[Piece]) -> tuple[Mapping[str, Array], Rates]:
    """Pieces as one: the draws that are kept, and the statistics of moves."""
    if len(pieces) < 2:
        return (pieces[0].values, pieces[0].rates) if pieces else ({}, {})
    moved = dict.fromkeys(move for piece in pieces for move in piece.rates)
    values = {n: np.concatenate([p.values[n] for p in pieces]) for n in pieces[0].values}
    # (of a move that some draws do not make there is no statistic in them)
    rates = {
        move: np.concatenate([p.rates.get(move, np.full(p.draws, np.nan)) for p in pieces])
        for move in moved
    }
    return values, rates
