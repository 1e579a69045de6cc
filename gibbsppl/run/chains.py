"""One Markov chain: a state with a stream of random numbers, advanced by sweeps.

Comes in: a program, its constants, a chain. Goes out: the chain, some sweeps further on. A chain is
one picklable value: stopped at any sweep and taken up again, here or in another process, it goes
on as if it had never stopped. A chain that fails is replayed to find the step that failed first.

>>> [round(rng.random(), 3) for rng in streams(1, 2)]
[0.699, 0.476]
"""

from __future__ import annotations

import copy
import re
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from gibbsppl.arguments import shown
from gibbsppl.code.program import Constants, Program, State
from gibbsppl.errors import RunError

Seed = int | np.random.SeedSequence | np.random.Generator | None

# What arithmetic that went wrong raises; anything else is a bug and is let through.
FAILURES = (ValueError, ArithmeticError, RunError)

# What sweeps keep up to date is computed anew this often: rounding errors add up.
SWEEPS_BETWEEN_RENEWALS = 100


@dataclass(slots=True)
class Chain:
    """A Markov chain: the state, the stream of random numbers, and the number of sweeps.

    ``streams`` are those of the chunks of large loops, if these have streams of their own.
    """

    state: State
    rng: np.random.Generator
    sweep: int = 0
    streams: tuple[np.random.Generator, ...] = ()


def seed_sequence(seed: Seed) -> np.random.SeedSequence:
    """The seed as a sequence to spawn from; its ``entropy`` is what to record of a run.

    A sequence is copied, so that using it twice gives the same streams; a generator is drawn from,
    so that using it twice does not.

    >>> seed_sequence(7).entropy
    7
    """
    match seed:
        case np.random.Generator():
            return np.random.SeedSequence(seed.integers(1 << 32, size=4).tolist())
        case np.random.SeedSequence():
            return copy.deepcopy(seed)
        case None:
            return np.random.SeedSequence()
        case int() | np.integer() if not isinstance(seed, bool) and seed >= 0:
            return np.random.SeedSequence(int(seed))
    raise RunError(
        f"seed: found {shown(seed)}, expected a whole number that is not negative, a "
        "numpy.random.SeedSequence or a numpy.random.Generator."
    )


def streams(seed: Seed, chains: int) -> list[np.random.Generator]:
    """One generator per chain, the same for a chain whatever the number of chains."""
    if chains < 1:
        raise RunError(f"chains: found {chains}, expected at least 1.")
    return [np.random.default_rng(s) for s in seed_sequence(seed).spawn(chains)]


def advance(
    program: Program,
    constants: Constants,
    chain: Chain,
    sweeps: int = 1,
    deferred: tuple[str, ...] | None = None,
) -> None:
    """Sweep a chain on, in place, with some of the ``deferred`` steps (default: all of them)."""
    sweep, rng, state = program.sweep, chain.rng, chain.state
    named = () if deferred is None or not program.deferred else (deferred,)
    for _ in range(sweeps):
        if chain.sweep and chain.sweep % SWEEPS_BETWEEN_RENEWALS == 0:
            program.renew(state, constants)
        sweep(rng, state, constants, *named)
        chain.sweep += 1


def not_finite(program: Program, state: State) -> str | None:
    """The first array of the state, in step order, that is not finite everywhere."""
    for name in _in_step_order(program, state):
        # (counts are finite, and may be kept in a form that takes less memory than an array)
        kind = getattr(state[name], "dtype", np.dtype(float)).kind
        if kind == "f" and not np.isfinite(np.asarray(state[name])).all():
            return name
    return None


def _in_step_order(program: Program, state: State) -> Iterator[str]:
    drawn = dict.fromkeys(n for step in program.steps for n in program.step_variables[step])
    yield from (name for name in drawn if name in state)
    yield from (name for name in state if name not in drawn and not name.startswith("~"))


def failure_of(
    program: Program,
    constants: Constants,
    start: Chain,
    until: int,
    number: int,
    deferred: Callable[[int], tuple[str, ...]],
) -> RunError | None:
    """What first goes wrong in chain ``number`` between ``start`` and a sweep, if anything.

    The chain is replayed from ``start`` with a look at the state after each sweep, which carries
    out the steps that ``deferred`` tells by its number.
    """
    chain = copy.deepcopy(start)
    while chain.sweep < until:
        place = f"in sweep {chain.sweep + 1} of chain {number}"
        try:
            advance(program, constants, chain, deferred=deferred(chain.sweep + 1))
        except FAILURES as error:
            if name := not_finite(program, chain.state):
                return _bad(program, chain, name, place)
            return raised(program, error, place)
        if name := not_finite(program, chain.state):
            return _bad(program, chain, name, place)
    return None


_ADVICE = (
    "Usually its conditional is improper or degenerate there: a prior too wide for the little data "
    "that it meets, a scale that fell to 0, or values too far apart for floating point. Give it a "
    "tighter proper prior, rescale the data, or start it elsewhere with initial values; "
    "`sampler.explain({name!r})` prints the conditional."
)


def _bad(program: Program, chain: Chain, name: str, place: str) -> RunError:
    """The report of an array that is not finite."""
    bad = np.argwhere(~np.isfinite(np.asarray(chain.state[name], dtype=float)))
    value = np.asarray(chain.state[name])[tuple(bad[0])]
    more = f", and {len(bad) - 1} more" if len(bad) > 1 else ""
    where = f" (at {tuple(map(int, bad[0]))}{more})" if bad.size else ""
    return RunError(
        f"{name}: found {value}{where} {place}, expected finite numbers; it is the first to fail, "
        f"at step {_step(program, name)}. " + _ADVICE.format(name=name)
    )


def _step(program: Program, name: str) -> str:
    """The step that draws an array, as ``'tau' (3 of 5)``."""
    drawing = (s for s in program.steps if name in program.step_variables[s])
    step = next(drawing, None)
    if step is None:
        return "none: it is computed from the others"
    return f"{step!r} ({program.steps.index(step) + 1} of {len(program.steps)})"


def raised(program: Program, error: Exception, place: str) -> RunError:
    """The report of an exception: the generated line at fault, and the array drawn there."""
    frames = traceback.extract_tb(error.__traceback__)
    written = [f for f in frames if f.filename.startswith("<gibbsppl sampler")]
    line = (written[-1].line or "") if written else ""
    found: dict[str, None] = {m.group(): None for m in re.finditer(r"[^\W\d]\w*", line)}
    drawn = {v: v for names in program.step_variables.values() for v in names}
    functions = ((getattr(f, "__name__", ""), s) for s, f in program.given_rest.items())
    drawn |= {name: program.step_variables[step][0] for name, step in functions}
    name = next((drawn[v] for v in found if v in drawn), None)
    start = f"{name}: step {_step(program, name)}" if name else "a step"
    advice = " " + _ADVICE.format(name=name) if name else ""
    said = str(error).rstrip(".")
    return RunError(f"{start} failed {place} at the line `{line.strip()}`: {said}.{advice}")
