"""Checks of conditionals that are read otherwise than by draws, on the user's own model.

Comes in: a sampler whose conditionals are so read, and one that draws from the same conditionals.
Goes out: a `Verification`, with the rows of the sampler that draws, which compare these with the
joint density, and

- a row for each step: where all that is read by its mean is at a point, natural parameters are
  those of the draw;
- a row for each step where none is a draw: the bound does not fall by its update, and no update
  with other natural parameters comes higher. (With a wrong entropy or expectation in it, the bound
  is not at its best where the update puts it.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gibbsppl.checks.results import RELATIVE_TOLERANCE, Row, Verification, worst
from gibbsppl.code.program import Constants, Program, State, load
from gibbsppl.code.source import write_numpy
from gibbsppl.fits.natural import combined, gap, numbers
from gibbsppl.fits.points import moments_at
from gibbsppl.run.chains import Chain, advance
from gibbsppl.schedule.steps import Step

# States that natural parameters are compared at, and sweeps whose bounds are looked at.
STATES, SWEEPS = 3, 3
# The share of natural parameters that an update is put off by.
OFF = 1e-3


def verify_readings(read: Any, drawn: Any, seed: int) -> Verification:
    """The rows of the sampler that draws, and those of the readings."""
    rows = [*drawn.verify(seed).rows]
    (chain,), _ = drawn.initial_states(1, seed)
    found: list[list[Row]] = [[] for _ in read.schedule.steps]
    with np.errstate(all="ignore"):
        for _ in range(STATES):
            advance(drawn.program, drawn.constants, chain)
            moments = moments_at(read.schedule, {**read.derivation.known, **chain.state})
            state = {**chain.state, **moments}
            for place, step in zip(found, read.schedule.steps, strict=True):
                place.append(_at_point(read, drawn, step, state))
        rows += map(worst, found)
        if all(step.instead_of is not None for step in read.schedule.steps):
            rows += _of_updates(read, Chain(state, chain.rng))
    return Verification(tuple(rows))


def _at_point(read: Any, drawn: Any, step: Step, state: State) -> Row:
    """The natural parameters of a step at a point beside those of the draw."""
    kind, found = f"by {step.by}, at a point", None
    theirs_of = drawn.program.given_rest.get(step.name)
    if theirs_of is not None:
        ours = numbers(read.program.given_rest[step.name](state, read.constants))
        theirs = numbers(theirs_of(state, drawn.constants))
        found = gap(ours, theirs)
    return Row(step.name, kind, step.owner, found, RELATIVE_TOLERANCE)


@dataclass(slots=True, eq=False)
class _Shifted:
    """The function of a conditional; its arrays are multiplied ``by`` numbers, if there are any."""

    of: Callable[[State, Constants], Any]
    by: Sequence[float] = ()

    def __call__(self, state: State, constants: Constants) -> Any:
        """The natural parameters, a little off."""
        given = self.of(state, constants)
        if not self.by:
            return given
        each = iter(self.by)
        return combined(lambda x: np.asarray(x, dtype=float) * next(each), given)


@dataclass(slots=True, eq=False)
class _Update:
    """The update of one step alone: its program and constants, and natural parameters at first."""

    step: Step
    program: Program
    constants: Constants
    shifted: _Shifted
    first: list[Any]

    @classmethod
    def of(cls, read: Any, place: int, state: State) -> _Update:
        """The update of the step at a place, before any."""
        program = load(write_numpy(read.schedule.only([place])))
        constants, step = program.prepare(read.derivation.known), read.schedule.steps[place]
        own = _Shifted(program.given_rest[step.name])
        return cls(step, program.giving({step.name: own}), constants, own,
                   numbers(own(state, constants)))  # fmt: skip

    def made(self, chain: Chain, by: Sequence[float] = ()) -> None:
        """Carry out the update, with natural parameters off by some factors."""
        self.shifted.by = by
        self.program.sweep(chain.rng, chain.state, self.constants)
        self.shifted.by = ()

    def off(self, chain: Chain) -> Iterator[list[float]]:
        """Factors to be off by; those that never change may be part of the base measure."""
        now = numbers(self.shifted(chain.state, self.constants))
        is_free = [not np.array_equal(*both) for both in zip(now, self.first, strict=True)]
        signs = chain.rng.choice((-1.0, 1.0), len(now))
        if not self.step.is_from_current:
            for size in (OFF, -OFF):
                yield [1 + size * s * free for s, free in zip(signs, is_free, strict=True)]


def _of_updates(read: Any, chain: Chain) -> Iterator[Row]:
    """How far the bound falls by the update of each step, or is higher beside it."""
    state = chain.state

    def bound() -> float:
        return float(read.program.bound(state, read.constants))

    updates = [_Update.of(read, j, state) for j in range(len(read.schedule.steps))]
    advance(read.program, read.constants, chain)  # (auxiliary variables have moments from now on)
    before, worse = bound(), np.zeros(len(updates))
    for _ in range(SWEEPS):
        for j, update in enumerate(updates):
            beside = [before]
            every = list(update.off(chain))
            update.made(chain)
            best = bound()
            for by in every:
                update.made(chain, by)
                beside.append(bound())
            update.made(chain)
            worst_of_all = np.nanmax([0.0, *(b - best for b in beside)]) / (1 + abs(best))
            worse[j] = max(worse[j], worst_of_all) if np.isfinite(best) else np.inf
            before = best
    for update, found in zip(updates, worse, strict=True):
        step = update.step
        yield Row(step.name, f"by {step.by}, the bound", step.owner, found, RELATIVE_TOLERANCE)
