"""Checks of conditionals that are read otherwise than by draws, on the user's own model.

Comes in: a sampler whose conditionals are so read, and one that draws from the same conditionals.
Goes out: a `Verification`, with the rows of the sampler that draws, which compare these with the
joint density, and

- a row for each step: where all that is read by its mean is at a point, natural parameters are
  those of the draw;
- a row for each step where none is a draw, or approximate: the bound does not fall by its update,
  and no update with other natural parameters comes higher. (With a wrong entropy or expectation in
  it, the bound is not at its best where the update puts it.)
- a row for each climb to a joint mode: its gradient and second derivatives are those of the bound.
- a row for each step that keeps sums up to date from colour to colour: the moments of the last
  colour are those of its natural parameters computed anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gibbsppl.algebra.ranges import Range
from gibbsppl.checks.results import RELATIVE_TOLERANCE, Row, Verification, worst
from gibbsppl.code.program import Constants, Program, State, load
from gibbsppl.code.source import write_numpy
from gibbsppl.fits.differences import derivative_of
from gibbsppl.fits.natural import combined, gap, numbers
from gibbsppl.fits.points import moments_at
from gibbsppl.kernels.ascent import Ascent
from gibbsppl.kernels.readings import ByMean
from gibbsppl.model.evaluation import Floats, evaluate
from gibbsppl.run.chains import Chain, advance
from gibbsppl.runtime.joint import Joint, joint_in
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
                if isinstance(step, Ascent):
                    place.append(_to_second_order(read, step, state, chain.rng))
                else:
                    place.append(_at_point(read, drawn, step, state))
        rows += map(worst, found)
        if all(s.instead_of is not None and not s.approximate for s in read.schedule.steps):
            rows += _of_updates(read, Chain(state, chain.rng))
    return Verification(tuple(rows))


def _at_point(read: Any, drawn: Any, step: Step, state: State) -> Row:
    """The natural parameters of a step at a point beside those of the draw."""
    kind, found = f"by {step.by}, at a point", None
    theirs_of = drawn.program.given_rest.get(step.name)
    if theirs_of is not None and (step.instead_of or step).refusal is None:
        ours = numbers(read.program.given_rest[step.name](state, read.constants))
        theirs = numbers(theirs_of(state, drawn.constants))
        found = gap(ours, theirs)
    return Row(step.name, kind, step.owner, found, RELATIVE_TOLERANCE)


def _to_second_order(read: Any, step: Ascent, state: State, rng: np.random.Generator) -> Row:
    """The gradient and second derivatives of a climb, along one direction, beside differences."""
    line = _Line.of(read, step, state, rng)
    worst_of_both = 0.0
    for order, ours in ((1, line.slope), (2, line.bend)):
        theirs, error = derivative_of(line, order)
        size = max(1.0, abs(theirs))
        # (an error as large as the derivative itself tells nothing)
        apart = (abs(ours - theirs) - error) / size if error < size else np.inf
        worst_of_both = max(worst_of_both, apart)
    return Row(step.name, "by mode, to second order", step.owner, worst_of_both, RELATIVE_TOLERANCE)


@dataclass(frozen=True, slots=True, eq=False)
class _Line:
    """The bound along a random direction through a state, in standard deviations along it.

    ``slope`` and ``bend`` are its derivatives as the function of a climb has them.
    """

    read: Any
    state: State
    joint: Joint
    ahead: Floats
    slope: float
    bend: float

    @classmethod
    def of(cls, read: Any, step: Ascent, state: State, rng: np.random.Generator) -> _Line:
        """The line through a state for a climb."""
        joint = joint_in(read.constants, step.name)
        given = read.program.given_rest[step.name](state, read.constants)
        still = {name: np.zeros(shape) for name, shape in joint.shapes.items()}
        slope, _ = joint.assembled(still, given)
        sources, i, j = joint.entries
        half = joint.coefficients(given)[sources]
        ahead = rng.standard_normal(joint.size)
        ahead /= np.sqrt(-2.0 * float(half @ (ahead[i] * ahead[j])))
        bend = 2.0 * float(half @ (ahead[i] * ahead[j]))
        return cls(read, state, joint, ahead, float(slope @ ahead), bend)

    def __call__(self, t: float) -> float:
        """The bound at a place of the line."""
        placed = self.joint.placed(self.state, self.joint.flat(self.state) + t * self.ahead)
        return float(self.read.program.bound({**self.state, **placed}, self.read.constants))


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

    step: Any
    program: Program
    constants: Constants
    shifted: _Shifted
    first: list[Any]

    @property
    def loop(self) -> Any:
        """The loop that keeps sums up to date from colour to colour, if there is one."""
        return self.step.loop if isinstance(self.step, ByMean) else None

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

    def made_off(self, chain: Chain, by: Sequence[float]) -> None:
        """Carry out the update with natural parameters off, by less where a matrix has no inverse.

        (One that is nearly singular is positive definite in a small neighbourhood alone.)
        """
        while True:
            try:
                return self.made(chain, by)
            except np.linalg.LinAlgError:
                by = [(1 + b) / 2 for b in by]

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

    def kept(update: _Update) -> float:
        return 0.0 if update.loop is None else _of_last_colour(read, update, state)

    updates = [_Update.of(read, j, state) for j in range(len(read.schedule.steps))]
    advance(read.program, read.constants, chain)  # (auxiliary variables have moments from now on)
    before, worse, stale = bound(), np.zeros(len(updates)), np.zeros(len(updates))
    for _ in range(SWEEPS):
        for j, update in enumerate(updates):
            beside = [before]
            every = list(update.off(chain))
            update.made(chain)
            best = bound()
            for by in every:
                update.made_off(chain, by)
                beside.append(bound())
            if isinstance(update.step, Ascent):
                line = _Line.of(read, update.step, chain.state, chain.rng)
                beside += [line(OFF), line(-OFF)]
            update.made(chain)
            stale[j] = max(stale[j], kept(update))
            worst_of_all = np.nanmax([0.0, *(b - best for b in beside)]) / (1 + abs(best))
            worse[j] = max(worse[j], worst_of_all) if np.isfinite(best) else np.inf
            before = best
    for update, found, off in zip(updates, worse, stale, strict=True):
        step = update.step
        yield Row(step.name, f"by {step.by}, the bound", step.owner, found, RELATIVE_TOLERANCE)
        if update.loop is not None:
            yield Row(step.name, f"by {step.by}, kept sums", step.owner, off, RELATIVE_TOLERANCE)


def _of_last_colour(read: Any, update: _Update, state: State) -> float:
    """How far the moments of the last colour are from those by natural parameters computed anew."""
    loop, colours = update.loop, update.step.draw.colours
    table = read.schedule.tables[colours.name]
    etas = update.shifted.of(state, update.constants)
    given = {
        leaf.array.name: np.broadcast_to(eta, table.shape)
        for leaf, eta in zip(loop.given, etas, strict=True)
    }
    over = tuple(Range(d, 0, n) for d, n in zip(loop.given[0].indices, table.shape, strict=True))
    last = table == colours.count - 1
    return max(
        gap([state[name][last]], [evaluate(formula, over, given, read.schedule.graph.sizes)[last]])
        for name, formula in loop.formulas.items()
    )
