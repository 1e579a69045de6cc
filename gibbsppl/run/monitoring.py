"""Monitors of a run: statistics of variables, and of functions of the state, without their draws.

Comes in: the `Monitor`s of a run, by name, and the draws of a piece of a chain. Goes out: an
accumulator of each. A function of the state is computed draw by draw, from arrays that are
recorded for it and go no further.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from gibbsppl.arguments import shown
from gibbsppl.code.program import Constants, Program
from gibbsppl.errors import RunError, did_you_mean
from gibbsppl.run.accumulators import MOST_WITH_COVARIANCE, Accumulator
from gibbsppl.run.choice import is_installed
from gibbsppl.run.recording import Array, kept_of

# Compiled loops are worth the second that it takes to load them from so many numbers on, which take
# NumPy as long; a draw by itself takes it as long as so many numbers.
MANY, A_DRAW = 5_000_000, 1000
# Values that are there as numbers of 64 bits at a time: 8 MB, unless one draw has more.
NUMBERS_AT_ONCE = 1_000_000


class Function(Protocol):
    """A function of the state, which may tell how certain its value is given the state."""

    @property
    def is_noisy(self) -> bool:
        """Whether a variance comes with each value."""

    def __call__(self, state: Mapping[str, Array], draw: tuple[int, int]) -> tuple[Any, Any]:
        """The value at a state, that of a draw of a chain, and its variance, or None."""


@dataclass(frozen=True, slots=True)
class Plain:
    """A function of the user's, which takes the state and returns an array."""

    function: Callable[[Mapping[str, Array]], Any]
    is_noisy: bool = False

    def __call__(self, state: Mapping[str, Array], draw: tuple[int, int]) -> tuple[Any, Any]:
        """The value."""
        del draw
        return self.function(state), None


@dataclass(frozen=True, slots=True, eq=False)
class Monitor:
    """A monitor of an array, or of a function of the state: what it reads, and its shape.

    ``values``: all whole numbers that it can be, if these are few enough to be known.
    """

    name: str
    reads: tuple[str, ...]
    shape: tuple[int, ...]
    of: Function | None = None
    values: range | None = None

    @property
    def nbytes(self) -> int:
        """The bytes of its accumulator."""
        size = math.prod(self.shape)
        one = replace(self, shape=()).empty.nbytes
        return size * one + 8 * (size**2 - size if size <= MOST_WITH_COVARIANCE else -size)

    @property
    def empty(self) -> Accumulator:
        """An accumulator of no draws."""
        is_noisy = self.of is not None and self.of.is_noisy
        return Accumulator.of(self.shape, self.values, noisy=is_noisy)

    def blocks(
        self, recorded: Mapping[str, Array], chain: int, first: int
    ) -> Iterator[tuple[Array, Array | None]]:
        """The values of some draws, and the variances that come with them, a few at a time."""
        draws = len(recorded[self.reads[0]])
        few = max(1, NUMBERS_AT_ONCE // max(1, math.prod(self.shape)))
        for start in range(0, draws, few):
            part = range(start, min(start + few, draws))
            if self.of is None:
                yield recorded[self.reads[0]][part.start : part.stop], None
                continue
            found = [
                self.at(State({n: recorded[n][k] for n in self.reads}), (chain, first + k))
                for k in part
            ]
            values, noise = zip(*found, strict=True)
            yield np.array(values), np.array(noise) if self.of.is_noisy else None

    def at(self, state: Mapping[str, Array], draw: tuple[int, int]) -> tuple[Array, Array | None]:
        """The value at a draw, looked at, with the variance that comes with it."""
        assert self.of is not None
        place = f"at draw {draw[1] + 1} of chain {draw[0]}"
        value, noise = called(self.of, self.name, state, draw, place)
        if value.shape != self.shape:
            raise RunError(
                f"monitor {self.name!r}: found an array of shape {value.shape} {place}, expected "
                f"{self.shape}, as at the start; return the same shape for every state."
            )
        for array in (value, noise):
            if array is not None and not np.isfinite(array).all():
                bad = array[~np.isfinite(array)][0]
                raise RunError(
                    f"monitor {self.name!r}: found {bad} {place}, expected finite numbers; return "
                    "what is finite in every state."
                )
        return value, noise


def called(
    function: Function, name: str, state: Mapping[str, Array], draw: tuple[int, int], place: str
) -> tuple[Array, Array | None]:
    """What a function returns, as arrays of numbers; an error names the monitor."""
    try:
        value, noise = function(state, draw)
    except RunError as error:
        raise RunError(f"monitor {name!r}: {error}") from error
    except Exception as error:
        raise RunError(
            f"monitor {name!r}: it failed {place} ({type(error).__name__}: {error})."
        ) from error
    try:
        found = np.asarray(value)
    except (TypeError, ValueError):  # (rows of different lengths)
        found = np.empty((), dtype=object)
    if found.dtype.kind not in "biuf":
        raise RunError(
            f"monitor {name!r}: found {shown(value)} {place}, expected a number, or an array of "
            "numbers."
        )
    return found.astype(float), noise


@dataclass(slots=True, eq=False)
class State(Mapping[str, Array]):
    """A state that is only looked at; ``read`` has the names asked for at the start of a run."""

    arrays: Mapping[str, Any]
    read: dict[str, None] | None = None

    def __getitem__(self, name: str) -> Array:
        if name not in self.arrays:
            which = "names" if self.read is not None else "names read at the start of the run, too"
            raise RunError(
                f"found {name!r} asked of the state, expected {which}, among "
                f"{', '.join(self.arrays)}.{did_you_mean(str(name), self.arrays)}"
            )
        if self.read is not None:
            self.read[name] = None
        # (products of small whole numbers wrap around)
        array = np.asarray(self.arrays[name])
        found = array.astype(np.int64) if array.dtype.kind == "i" else array.view()
        found.flags.writeable = False
        return found

    def __contains__(self, name: object) -> bool:
        return name in self.arrays

    def __iter__(self) -> Iterator[str]:
        return iter(self.arrays)

    def __len__(self) -> int:
        return len(self.arrays)


@dataclass(frozen=True, slots=True, eq=False)
class Monitors:
    """All monitors of a run.

    ``compiled``: accumulators are told by compiled loops, which changes no bit.
    """

    monitors: tuple[Monitor, ...]
    compiled: bool = False

    @classmethod
    def of(
        cls, monitors: tuple[Monitor, ...], draws: int, *, compiled: bool
    ) -> Monitors:
        """The monitors of so many draws; ``compiled``: loops are loaded anyway."""
        numbers = draws * sum(math.prod(m.shape) + A_DRAW for m in monitors)
        return cls(monitors, compiled or (numbers > MANY and is_installed()))

    def add(
        self,
        accumulators: dict[str, Accumulator],
        recorded: Mapping[str, Array],
        chain: int,
        first: int,
    ) -> None:
        """Tell accumulators of draws of a chain, the first of which has the number ``first``."""
        for monitor in self.monitors:
            if monitor.name not in accumulators:
                accumulators[monitor.name] = monitor.empty
            for values, noise in monitor.blocks(recorded, chain, first):
                accumulators[monitor.name].add(values, noise, compiled=self.compiled)


@dataclass(frozen=True, slots=True, eq=False)
class Watched:
    """A name of the state, or a function of it, to be monitored.

    ``reads``: what a function reads, if it says so; else that is found at the start of a run.
    ``values``: all whole numbers that there can be.
    """

    of: str | Function
    reads: tuple[str, ...] = ()
    values: range | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """What is read of the state, as far as that is known."""
        return (self.of,) if isinstance(self.of, str) else self.reads


def monitors_of(
    program: Program, constants: Constants, start: Mapping[str, Any], watched: Mapping[str, Watched]
) -> tuple[Monitor, ...]:
    """The monitors of a run, from what is watched, each looked at where the first chain starts."""
    if not watched:
        return ()
    hidden = {*program.parts, *program.within_sweep}
    drawn = {n: v for n, v in start.items() if n not in hidden and not n.startswith("~")}
    known = drawn | program.deterministics(dict(start), constants)
    asked = [n for w in watched.values() for n in w.names]
    kept_of(program, constants, dict(start), asked, "monitor")
    return tuple(_monitor(n, w, known) for n, w in watched.items())


def _monitor(name: str, watched: Watched, known: Mapping[str, Any]) -> Monitor:
    """A monitor, from what is watched and all that is known of the state at the start."""
    of = watched.of
    if isinstance(of, str):
        return Monitor(name, (of,), np.shape(known[of]), None, watched.values)
    state = State(known, {})
    value, _ = called(of, name, state, (0, 0), "at the start")
    reads = watched.reads or tuple(state.read or ())
    if not reads:
        raise RunError(
            f"monitor {name!r}: found a function that reads nothing of the state, expected one of "
            f"{', '.join(known)}."
        )
    return Monitor(name, reads, value.shape, of)
