"""Running a program: chains in turn, warm-up, draws into arrays, failures found, Ctrl-C obeyed.

Comes in: a ``Program``, its constants, one ``Chain`` per chain at its initial state. Goes out: a
``RunResult``. Nothing here knows a distribution.

>>> from gibbsppl.code.program import load
>>> walk = load('''
... from gibbsppl import runtime
... def prepare(data): return dict(data)
... def x_given_rest(s, c): return 0.9 * s["x"], 1.0
... def sweep(rng, s, c): s["x"] = rng.normal(*x_given_rest(s, c))
... def deterministics(s, c): return {"square": s["x"] ** 2}
... STEPS = (runtime.Step("x", ("x",), x_given_rest),)
... ''')
>>> chains = [Chain({"x": 0.0}, rng) for rng in streams(1, 2)]
>>> result = run(walk, walk.prepare({}), chains, draws=100, warmup=10)
>>> {name: array.shape for name, array in result.values.items()}
{'x': (2, 100), 'square': (2, 100)}
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from time import perf_counter

import numpy as np

from gibbsppl.code.program import Constants, Program
from gibbsppl.errors import RunError
from gibbsppl.run.chains import (
    FAILURES,
    Chain,
    Seed,
    advance,
    failure_of,
    not_finite,
    seed_sequence,
    streams,
)
from gibbsppl.run.engines import Engine, Interpreted
from gibbsppl.run.progress import Report, reporting, say
from gibbsppl.run.recording import (
    Array,
    Recorder,
    Types,
    bytes_needed,
    check_memory,
    kept_of,
    large,
    left_out_told,
    walks_of,
)
from gibbsppl.runtime import moves

__all__ = [
    "Chain",
    "RunResult",
    "Seed",
    "advance",
    "bytes_needed",
    "check_memory",
    "run",
    "seed_sequence",
    "streams",
]

LIMIT_BYTES = 4 << 30
_SWEEPS_BETWEEN_CHECKS = 100
_SECONDS_BETWEEN_REPORTS = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class RunResult:
    """The result of a run: draws by name with axes (chain, draw, ...), and the final chains.

    ``seconds`` are those of warm-up and of sampling. ``interrupted`` says what Ctrl-C left out,
    ``None`` after a whole run; the last of ``chains`` is then where it was last checked. ``rates``
    are statistics of moves, by step and field, with axes (chain, draw): the share of accepted
    steps, say. In a chain that ended, all variables belong together; in one that was stopped, those
    of deferred steps that were not recorded have old values, which no draw reads.
    ``left_out`` says what was not recorded because nobody named it. ``stats`` are further numbers,
    one for each draw.
    """

    values: Mapping[str, Array]
    chains: tuple[Chain, ...]
    warmup: int
    thin: int
    seconds: tuple[float, float]
    interrupted: str | None = None
    rates: Mapping[tuple[str, str], Array] = field(default_factory=dict)
    left_out: str | None = None
    stats: Mapping[str, Array] = field(default_factory=dict)


def run(  # noqa: PLR0913  (settings, all named at the call)
    program: Program,
    constants: Constants,
    chains: Sequence[Chain],
    *,
    draws: int,
    warmup: int,
    thin: int = 1,
    keep: Sequence[str] | None = None,
    types: Types | None = None,
    engine: Engine | None = None,
    progress: bool = True,
    limit_bytes: int = LIMIT_BYTES,
) -> RunResult:
    """The draws of each chain, every ``thin`` sweeps after ``warmup`` sweeps; ``chains`` are kept.

    ``types`` are the integer types of what is known to be whole, in which it is recorded. ``keep``
    names the variables and deterministics to store (default: all but whole numbers whose draws
    are large). Above ``limit_bytes`` of draws the run is refused. After Ctrl-C the chains that are
    finished are returned, or what the first one has drawn.
    """
    _check_settings({"chains": len(chains), "draws": draws, "warmup": warmup, "thin": thin})
    with np.errstate(all="ignore"):  # a state that is not finite is found and explained below
        kept = kept_of(program, constants, chains[0].state, keep)
        needed = bytes_needed(kept, len(chains), draws, types)
        left = large(needed, types or {}) if keep is None else ()
        names = tuple(name for name in kept if name not in left)
        check_memory({name: needed[name] for name in names}, limit_bytes)
        _check_initial(program, chains)
        if told := left_out_told(left, needed):
            say(f"gibbsppl: {told}")
        recorder = Recorder(program, constants, names, (len(chains), draws), types or {})
        with reporting(len(chains) * (warmup + draws * thin), "sweeps", wanted=progress) as report:
            own: Engine = engine or Interpreted(program, constants)
            runner = _Run(program, constants, own, recorder, warmup, thin, report)
            result = runner.all_chains(chains)
    return replace(result, left_out=told)


def _check_settings(settings: Mapping[str, int]) -> None:
    for name, value in settings.items():
        least = 0 if name == "warmup" else 1
        if not isinstance(value, int | np.integer) or value < least:
            raise RunError(f"{name}: found {value!r}, expected a whole number from {least} on.")


def _check_initial(program: Program, chains: Sequence[Chain]) -> None:
    for number, chain in enumerate(chains):
        if name := not_finite(program, chain.state):
            raise RunError(
                f"{name}: the initial value in chain {number} is not finite; give a finite one, or "
                "a prior from which a finite one can be drawn."
            )


@dataclass(slots=True)
class _Run:
    """A run under way: where its draws go and the last state known to be good."""

    program: Program
    constants: Constants
    engine: Engine
    recorder: Recorder
    warmup: int
    thin: int
    report: Report | None
    good: Chain | None = None
    checked: int = 0
    done: int = 0
    next_report: float = 0.0
    recorded_after: int = 0  # (the sweeps before the first of the draws)
    seconds: list[float] = field(default_factory=lambda: [0.0, 0.0])

    def all_chains(self, starts: Sequence[Chain]) -> RunResult:
        """Each chain in turn; Ctrl-C ends the run but loses nothing that is whole."""
        ended: list[Chain] = []
        interrupted = None
        try:
            for number, start in enumerate(starts):
                self.recorder.drawn = 0
                ended.append(self.one_chain(number, copy.deepcopy(start)))
        except KeyboardInterrupt:
            if not ended and not self.recorder.drawn:
                raise KeyboardInterrupt(self.nothing_kept(len(starts))) from None
            interrupted = self.salvaged(ended, len(starts))
            say(f"gibbsppl: {interrupted}")
        shape = np.s_[: len(ended), : self.recorder.drawn]
        values = {name: array[shape] for name, array in self.recorder.values.items()}
        rates = {name: array[shape] for name, array in self.recorder.rates.items()}
        seconds = self.seconds[0], self.seconds[1]
        return RunResult(values, tuple(ended), self.warmup, self.thin, seconds, interrupted, rates)

    def nothing_kept(self, chains: int) -> str:
        """Where the user stopped a run that has no draw yet."""
        swept = f"after {self.done} of {self.warmup} sweeps of its warm-up"
        return f"stopped by the user in chain 0 (of 0 to {chains - 1}), {swept}; no draw is kept"

    def salvaged(self, ended: list[Chain], chains: int) -> str:
        """Keep the whole chains, or else a part of the first; the text on the rest."""
        stopped = f"stopped by the user in chain {len(ended)} (of 0 to {chains - 1})"
        draws = self.recorder.size[1]
        if ended:
            self.recorder.drawn = draws
            return f"{stopped}; the {len(ended)} finished before it are kept, {draws} draws each"
        assert self.good is not None
        ended.append(self.good)
        return f"{stopped}; its first {self.recorder.drawn} of {draws} draws are kept"

    def one_chain(self, number: int, chain: Chain) -> Chain:
        """Warm-up, then the draws of one chain."""
        started, started_at = perf_counter(), chain.sweep
        self.save(chain)
        self.recorded_after = started_at + self.warmup
        while (left := self.recorded_after - chain.sweep) > 0:
            self.advance(number, chain, "warm-up", partial(self.engine.sweeps, chain, left))
        self.check(number, chain)
        warm = perf_counter()
        self.seconds[0] += warm - started
        moves.freeze(chain.state)
        for walk in walks_of(self.program, chain.state).values():
            walk.taken()  # (what was accepted in warm-up is not counted)
        self.save(chain)  # a replay from before would adapt again
        recorded = partial(self.engine.draws, chain, self.recorder, number, self.thin)
        while self.recorder.drawn < self.recorder.size[1]:
            self.advance(number, chain, "sampling", recorded)
        self.check(number, chain)
        self.save(chain)
        self.seconds[1] += perf_counter() - warm
        return chain

    def advance(
        self, number: int, chain: Chain, doing: str, carry_out: Callable[[], int]
    ) -> None:
        """Some sweeps; now and then a look at the state, and at the clock."""
        assert self.good is not None
        if chain.sweep - self.good.sweep >= _SWEEPS_BETWEEN_CHECKS:
            self.check(number, chain)
            self.save(chain)
        before = chain.sweep
        try:
            carry_out()
        except FAILURES as error:
            raise self.failure(number, chain.sweep + 1) or error from error
        self.done += chain.sweep - before
        if self.report is not None and (now := perf_counter()) >= self.next_report:
            self.next_report = now + _SECONDS_BETWEEN_REPORTS
            self.report(self.done, f"chain {number}, {doing}")

    def check(self, number: int, chain: Chain) -> None:
        """Find whether state and new draws are finite; if not, say what went wrong first."""
        name = not_finite(self.program, chain.state)
        found = f"{name}: found draws not finite." if name else self.recorder.fault(self.checked)
        if found:
            raise self.failure(number, chain.sweep) or RunError(found)

    def save(self, chain: Chain) -> None:
        """Remember a chain that is known to be good."""
        self.good, self.checked = copy.deepcopy(chain), self.recorder.drawn

    def failure(self, number: int, until: int) -> RunError | None:
        """What went wrong first since the last good state."""
        assert self.good is not None
        own = (self.program, self.constants, self.good)
        return failure_of(*own, until, number, self.deferred_in)

    def deferred_in(self, sweep: int) -> tuple[str, ...]:
        """The deferred steps that a sweep of a chain carries out."""
        draw, between = divmod(sweep - self.recorded_after, self.thin)
        return () if draw <= 0 or between else self.recorder.deferred_in(draw)
