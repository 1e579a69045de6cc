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

from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

from gibbsppl.code.program import Constants, Program
from gibbsppl.errors import RunError, counted
from gibbsppl.run.beginning import Beginning, Keeper, Rule, Size, SoFar, beginning, start_of
from gibbsppl.run.chains import Chain, Seed, advance, seed_sequence, streams
from gibbsppl.run.engines import Engine, Interpreted
from gibbsppl.run.progress import reporting, say
from gibbsppl.run.ready import Ready, Records, RunResult, Warm
from gibbsppl.run.recording import Types, bytes_needed, check_memory
from gibbsppl.run.segments import Job, Position, Segment, monitored_by
from gibbsppl.run.shown import Showing, Shown
from gibbsppl.run.stopping import Stop, ctrl_c, held_back
from gibbsppl.run.stores import InMemory, Store
from gibbsppl.run.workers import Crew, Lost, Pool, crew_of

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
    pool: Pool | None = None,
    until: Rule | None = None,
) -> RunResult:
    """The draws of each chain, every ``thin`` sweeps after ``warmup`` sweeps; ``chains`` are kept.

    ``types`` are the integer types of what is known to be whole, in which it is recorded. ``keep``
    names the variables and deterministics to store (default: all but whole numbers whose draws
    are large). Above ``limit_bytes`` of draws the run is refused. Chains take turns, here or by the
    workers of a ``pool``. A rule ``until`` ends the run before it has all draws, as Ctrl-C does:
    the draws so far are returned.
    """
    sweeping = engine or Interpreted(program, constants)
    ready = Ready(program, constants, chains, sweeping, types or {}, Records.of(keep))
    begun = beginning(ready, Size(draws, warmup, thin), until)
    check_memory(begun.needed, limit_bytes)
    store = InMemory((len(chains), draws), begun.job.every)
    return carried_out(begun, start_of(chains), store, pool=pool, shown=Shown(progress))


def carried_out(
    begun: Beginning,
    so_far: SoFar,
    store: Store,
    *,
    pool: Pool | None = None,
    shown: Shown,
    keeper: Keeper | None = None,
) -> RunResult:
    """A run from where it is; a ``keeper`` keeps, now and then, how far it has come."""
    job, positions = shown.paused(begun.job), list(so_far.positions)
    sweeps = len(positions) * job.sweeps
    with reporting(sweeps, "sweeps", wanted=shown.progress) as report, ctrl_c() as c:
        crew = crew_of(job, pool)
        own = (list(so_far.seconds), so_far.most, perf_counter() - so_far.elapsed)
        showing = Showing(shown, report)
        showing.begin(positions)
        runner = _Run(job, positions, crew, store, c, showing, begun.until, keeper, *own)
        result = runner.carried_out()
    return replace(result, left_out=begun.left_out)


@dataclass(slots=True)
class _Run:
    """A run under way: how far each chain has come, and where its draws go."""

    job: Job
    positions: list[Position]
    crew: Crew
    store: Store
    stop: Stop
    showing: Showing
    until: Rule | None
    keeper: Keeper | None
    seconds: list[float]
    most: int  # (the draws that chains may have before the next look at them)
    began: float
    drawn: list[int] = field(default_factory=list)  # (what the store has, of each chain)
    lost: dict[int, Lost] = field(default_factory=dict)
    ended: str | None = None  # (what the rule has found)
    is_enough: bool = True  # (as it has found at the last look)

    def __post_init__(self) -> None:
        self.drawn = [p.drawn for p in self.positions]
        self.most = self.most or max(self.next_look(0), *self.drawn)

    def carried_out(self) -> RunResult:
        """Segments of all chains, until each has all its draws; Ctrl-C ends the run before."""
        under_way: dict[Future[Any], int] = {}
        try:
            while True:
                self.submit(under_way)
                if not under_way:
                    if self.goes_on():
                        continue
                    break
                if self.stop or self.is_over():
                    self.leave(under_way)
                for done in wait(under_way, return_when=FIRST_COMPLETED).done:
                    number = under_way.pop(done)
                    self.take(number, self.crew.outcome(number, done))
                if self.keeper is not None and self.keeper.is_due():
                    self.keeper.keep(self.so_far())
        except KeyboardInterrupt:  # (nobody waits for segments that others carry out)
            self.stop.asked = True
        except Exception:  # (of a callback, say: what is drawn is not lost)
            with suppress(RunError):
                self.remember()
            raise
        finally:
            self.leave(under_way)
        told: dict[str, Any] = {}
        try:
            result = self.result()
            told = {"interrupted": result.interrupted, "is_over": result.interrupted is None}
        finally:
            self.remember(**told)
        return result

    def remember(self, **told: Any) -> None:
        """Have it kept how far the run has come, unless what was drawn last is not in the store."""
        if self.keeper is not None and [p.drawn for p in self.positions] == self.drawn:
            self.keeper.keep(replace(self.so_far(), **told))

    def so_far(self) -> SoFar:
        """How far the run has come."""
        own = (self.seconds[0], self.seconds[1]), perf_counter() - self.began, self.most
        return SoFar(tuple(self.positions), *own, until=self.ended)

    @staticmethod
    def leave(under_way: dict[Future[Any], int]) -> None:
        """Take back the segments that nobody has begun with."""
        for future in [f for f in under_way if f.cancel()]:
            del under_way[future]

    def submit(self, under_way: dict[Future[Any], int]) -> None:
        """Have a segment of each chain carried out that waits, unless the run is to stop."""
        busy = set(under_way.values())
        for number in self.unfinished():
            if self.stop or self.is_over() or number in busy or number in self.lost:
                continue
            if self.crew.is_free(number, len(under_way)):
                position = self.positions[number]
                under_way[self.crew.submit(number, position, self.most)] = number

    def next_look(self, draws: int) -> int:
        """The draws of each chain at the next look: all of them without a rule that looks."""
        wanted = self.job.recording.draws
        if self.until is None or not self.until.asks:
            return wanted
        return min(wanted, self.until.next_look(draws))

    def is_over(self) -> bool:
        """Whether the time of a rule is over."""
        minutes = None if self.until is None else self.until.minutes
        return minutes is not None and perf_counter() - self.began > 60 * minutes

    def goes_on(self) -> bool:
        """Whether there is more to draw, now that no chain is under way."""
        if self.until is None:
            return False
        chains, draws = most_draws(self.drawn)
        found = ""
        if self.until.asks and draws:
            self.is_enough, found = self.until.found(self.store.kept(chains, draws)[0])
        why = f"after {self.until.minutes:g} minutes" if self.is_over() else ""
        each = f"{counted(draws, 'draw')} of each chain"
        self.ended = ": ".join(filter(None, [", ".join(filter(None, [why, each])), found]))
        if self.is_enough or self.stop or self.is_over() or self.most == self.job.recording.draws:
            return False
        self.most = self.next_look(self.most)
        return len(self.lost) < len(self.positions)

    def unfinished(self) -> list[int]:
        """The chains that have not all draws before the next look, those first that are behind."""
        found = [n for n, drawn in enumerate(self.drawn) if drawn < self.most]
        return sorted(found, key=lambda n: self.positions[n].chain.sweep - self.positions[n].before)

    def take(self, number: int, segment: Segment | Lost | None) -> None:
        """Keep what a segment has recorded, and tell how far the run is."""
        if segment is None:
            return
        if isinstance(segment, Lost):
            self.lost[number] = segment
            return
        self.stop.asked |= segment.is_cut
        with held_back():  # (a position belongs to what the store has)
            self.store.put(number, segment.first, segment.values, segment.rates)
            if segment.warm is not None and self.store.warmup is not None:
                self.store.warmup.put(number, *segment.warm)
            self.positions[number] = segment.position
            self.drawn[number] = segment.position.drawn
        for k, seconds in enumerate(segment.seconds):
            self.seconds[k] += seconds
        self.showing.see(number, self.positions, most_draws(self.drawn), self.store)

    def result(self) -> RunResult:
        """The draws, or as many as were made before Ctrl-C."""
        chains, draws = most_draws(self.drawn)
        is_cut = (self.unfinished() or not self.is_enough) and (self.stop or self.lost)
        interrupted = self.told(chains, draws) if is_cut else None
        if not draws and self.is_over():
            raise RunError(
                "until: the minutes were over before the first draw; give the run more time, or "
                "fewer sweeps of warm-up."
            )
        if not draws:
            raise RunError(interrupted) if self.lost else KeyboardInterrupt(interrupted)
        if interrupted:
            say(f"gibbsppl: {interrupted}")
        values, rates = self.store.kept(chains, draws)
        ended = tuple(self.positions[n].at_its_chain(self.job) for n in chains)
        seconds = self.seconds[0], self.seconds[1]
        monitored = monitored_by([self.positions[n] for n in chains])
        own = self.job.warmup, self.job.thin, seconds
        more: dict[str, Any] = {"monitored": monitored, "every": self.job.every}
        more["warm"] = warm_of(self.job, self.store, chains)
        return RunResult(values, ended, *own, interrupted, rates, until=self.ended, **more)

    def told(self, chains: Sequence[int], draws: int) -> str:
        """How far a run has come that is not whole, why, and what of it is kept."""
        wanted, many = self.job.recording.draws, len(self.drawn)
        why = [f"chain {n} is lost after {self.drawn[n]} draws, because {lost.reason}"
               for n, lost in self.lost.items()]  # fmt: skip
        told = "; ".join([*why, *(["stopped by the user"] if self.stop else [])])
        if not draws:
            swept = min(p.chain.sweep - p.before for p in self.positions)
            sweeps = f"after {swept} of {self.job.warmup} sweeps of the warm-up"
            return f"{told}, {sweeps} of {counted(many, 'chain')}; no draw is kept"
        which = f"{'the' if many == 1 else 'each'} chain"
        if len(chains) < many:
            which = f"chain{'s' if len(chains) > 1 else ''} {', '.join(map(str, chains))}"
        return f"{told}; the first {draws} of {wanted} draws of {which} are kept"


def warm_of(job: Job, store: Store, chains: list[int]) -> Warm | None:
    """The draws of warm-up of some chains, all of which have ended it."""
    if job.warming is None or store.warmup is None:
        return None
    return store.warmup.kept(chains, job.warming.draws)


def most_draws(drawn: Sequence[int]) -> tuple[list[int], int]:
    """The chains to keep, and how many draws of each, of chains that have drawn so many.

    These are as many draws as can be with equally many of each chain.

    >>> most_draws([100, 100, 90, 3])
    ([0, 1, 2], 90)
    """
    best = max(sorted(drawn), key=lambda n: n * sum(d >= n for d in drawn))
    return [k for k, d in enumerate(drawn) if d >= best], best
