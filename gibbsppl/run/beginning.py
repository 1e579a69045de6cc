"""Runs at their beginning, or where they were left: what is done with each chain, how far it is.

Comes in: a program, chains, settings of a run. Goes out: a `Beginning`, the same for the whole run,
and a `SoFar`, which changes as the run goes on. Both can be written to a file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from gibbsppl.code.program import Program
from gibbsppl.errors import RunError
from gibbsppl.output.thinning import Every, most_often
from gibbsppl.run.chains import Chain, not_finite
from gibbsppl.run.monitoring import Monitors, monitors_of
from gibbsppl.run.progress import say
from gibbsppl.run.ready import Ready
from gibbsppl.run.recording import (
    Array,
    Recording,
    bytes_needed,
    kept_of,
    large,
    left_out_told,
)
from gibbsppl.run.segments import Job, Position


class Rule(Protocol):
    """A rule that ends a run."""

    @property
    def minutes(self) -> float | None:
        """The time after which the run ends, whatever is reached."""

    @property
    def asks(self) -> bool:
        """Whether draws are looked at."""

    def check(self, names: Mapping[str, object]) -> None:
        """Raise an error if it asks for variables that are not recorded."""

    def next_look(self, draws: int) -> int:
        """The number of draws of each chain at the next look."""

    def found(self, values: Mapping[str, Array]) -> tuple[bool, str]:
        """Whether draws are enough, and what is reached, in words."""


@dataclass(frozen=True, slots=True)
class Size:
    """The draws of each chain, after ``warmup`` sweeps, each ``thin`` sweeps after the other.

    ``keep_warmup``: those of the warm-up are kept, too.
    """

    draws: int
    warmup: int
    thin: int = 1
    keep_warmup: bool = False

    def __post_init__(self) -> None:
        for name, value in self.told.items():
            if isinstance(value, np.integer):  # (which a file would not take)
                object.__setattr__(self, name, int(value))

    def check(self, chains: int) -> None:
        """Raise for numbers that are none."""
        for name, value in {"chains": chains, **self.told}.items():
            least = 0 if name == "warmup" else 1
            if not isinstance(value, int | np.integer) or value < least:
                raise RunError(f"{name}: found {value!r}, expected a whole number from {least} on.")

    @property
    def told(self) -> Mapping[str, int]:
        """The numbers by their names."""
        return {"draws": self.draws, "warmup": self.warmup, "thin": self.thin}

    @property
    def sweeps(self) -> int:
        """The sweeps of each chain."""
        return self.warmup + self.draws * self.thin


@dataclass(frozen=True, slots=True, eq=False)
class SoFar:
    """How far a run has come: each chain, the seconds, the draws before the next look of a rule.

    ``seconds`` are those of warm-up and of sampling, of all chains; ``elapsed`` those that somebody
    has waited. ``until``: what the rule has found at the last look; ``interrupted``: what is
    missing of a run that was stopped; ``is_over``: it has all that it was to have.
    """

    positions: tuple[Position, ...]
    seconds: tuple[float, float] = (0.0, 0.0)
    elapsed: float = 0.0
    most: int = 0
    until: str | None = None
    interrupted: str | None = None
    is_over: bool = False

    def at(self, job: Job) -> SoFar:
        """The same, to go on with: chains that were stopped in a sweep draw again what they had."""
        return replace(self, positions=tuple(p.at_its_chain(job) for p in self.positions))


class Keeper(Protocol):
    """A place that remembers how far a run has come."""

    def is_due(self) -> bool:
        """Whether it is time to remember."""

    def keep(self, so_far: SoFar) -> None:
        """Remember; the draws that it tells of are in the store."""


@dataclass(frozen=True, slots=True, eq=False)
class Beginning:
    """A run: what is done with each chain, the rule that ends it, what is left out of the draws.

    ``needed``: the bytes that all draws take, by variable; ``added_up``: those of what is
    monitored.
    """

    job: Job
    until: Rule | None
    left_out: str | None
    needed: Mapping[str, int]
    added_up: Mapping[str, int] = field(default_factory=dict)


def start_of(chains: Sequence[Chain]) -> SoFar:
    """Chains at the beginning of a run; they are left as they are."""
    return SoFar(tuple(Position.of(chain) for chain in chains))


def beginning(ready: Ready, size: Size, until: Rule | None) -> Beginning:
    """The beginning of a run of so many draws."""
    chains, own = ready.chains, (ready.program, ready.constants)
    size.check(len(chains))
    with np.errstate(all="ignore"):  # a state that is not finite is found and explained below
        state, keep = chains[0].state, ready.records.keep
        kept = kept_of(*own, state, None if keep is None else tuple(keep))
        monitors = monitors_of(*own, state, ready.records.watched)
        if keep is None:  # (nobody asks for draws of what is monitored)
            known = {n for m in monitors if m.of is None for n in m.reads}
            kept = {n: a for n, a in kept.items() if n not in known}
        every = {name: (keep or {}).get(name, 1) for name in kept}
        needed = bytes_needed(kept, len(chains), size.draws, ready.types, every)
        left = large(needed, ready.types) if keep is None else ()
        names = tuple(name for name in kept if name not in left)
        _check_initial(ready.program, chains)
        if until is not None:
            until.check({name: kept[name] for name in names})
        if told := left_out_told(left, needed):
            say(f"gibbsppl: {told}")
    rates = {name: every[name] for name in names}
    _check_thinning(rates, size)
    if not names:
        raise RunError(
            "monitor: found all variables monitored, expected one at least that is kept: draws are "
            "of something; name a small one in keep=, too."
        )
    read = dict.fromkeys(n for m in monitors for n in m.reads)
    rarely = {n: k for n, k in rates.items() if k > 1 and n not in read}
    recorded = (*names, *(n for n in read if n not in names))
    recording = Recording(*own, recorded, size.draws, ready.types, rarely)
    compiled = ready.engine.name == "compiled"
    made = size.draws * len(chains)
    watching = Monitors.of(monitors, made, compiled=compiled) if monitors else None
    job = Job(ready.engine, recording, size.warmup, size.thin, rates, watching)
    sizes = {name: needed[name] for name in names}
    if size.keep_warmup:
        warming = _warming(job, names)
        first = {n: kept[n] for n in warming.names}
        more = bytes_needed(first, len(chains), warming.draws, ready.types, every)
        sizes = {n: s + more.get(n, 0) for n, s in sizes.items()}
        job = replace(job, warming=warming)
    added_up = {m.name: m.nbytes * len(chains) for m in monitors}
    return Beginning(job, until, told, sizes, added_up)


def _warming(job: Job, names: Sequence[str]) -> Recording:
    """The recording of warm-up: without what sweeps of it leave for later."""
    program, draws = job.recording.program, job.warmup // job.thin
    drawn = tuple(n for n in names if not program.needed_for([n]))
    if not drawn or not draws:
        raise RunError(
            f"keep_warmup: found {job.warmup} sweeps of warm-up, each {job.thin} of which are a "
            f"draw, of {', '.join(drawn) or 'no variable'}; expected one draw at least."
        )
    # (of a run in which no sweep carries out what can be left for later)
    return replace(job.recording, names=drawn, draws=draws, every={}, kinds={}, is_warm=True)


def _check_thinning(every: Every, size: Size) -> None:
    """Raise where no draw of a variable would be kept, or of none all."""
    for name, many in every.items():
        if many > size.draws:
            raise RunError(
                f"keep: {name}: found one draw in {many}, expected at most {size.draws}, the "
                "number of draws of each chain."
            )
    if every and (most := most_often(every, every)) > 1:
        less = {name: many // most for name, many in every.items()}
        raise RunError(
            f"keep: found {dict(every)}, expected a variable with each draw; the same is "
            f"draws={size.draws // most}, thin={size.thin * most}, keep={less}."
        )


def _check_initial(program: Program, chains: Sequence[Chain]) -> None:
    for number, chain in enumerate(chains):
        if name := not_finite(program, chain.state):
            raise RunError(
                f"{name}: the initial value in chain {number} is not finite; give a finite one, or "
                "a prior from which a finite one can be drawn."
            )
