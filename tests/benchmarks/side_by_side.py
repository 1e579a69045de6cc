"""Two ways to do the same, turn about: what is measured, and the row of a table that it makes.

A side is a function from a number of sweeps to the CPU seconds of one: `in_loops` or `in_numpy`.
`beside` lets two of them take turns. Other programs are compared by `python -m tests.benchmarks`.
"""

import statistics
from dataclasses import dataclass
from time import process_time

import numpy as np

import gibbsppl as gp
from gibbsppl.initial.search import initial_state

TURNS = 5
HEADER = (
    "| workload | peer | ours | peer's | ratio | target | verdict |\n"
    "|---|---|---:|---:|---:|---|---|"
)


@dataclass(frozen=True, slots=True)
class Row:
    """What both sides took, turn by turn; a target is how much better than the peer to be.

    ``least``: as many times faster at least. ``most``: as many times slower at most.
    """

    name: str
    peer: str
    turns: tuple
    least: float | None = None
    most: float | None = None
    is_rate: bool = False

    @property
    def ratio(self):
        """How many times faster ours is (slower, if the target is at most so much)."""
        upwards = self.is_rate == (self.most is None)
        return statistics.median(o / t if upwards or self.most else t / o for o, t in self.turns)

    def __str__(self):
        sides = zip(*self.turns, strict=True)
        ours, theirs = (_shown(statistics.median(side), self.is_rate) for side in sides)
        reached = self.ratio >= self.least if self.most is None else self.ratio <= self.most
        target = f"≥ {self.least:g}" if self.most is None else f"≤ {self.most:g}"
        verdict = "reached" if reached else "**missed**"
        cells = self.name, self.peer, ours, theirs, f"{self.ratio:.2f}", target, verdict
        return f"| {' | '.join(cells)} |"


def _shown(value, is_rate):
    """A rate in full, seconds in the unit that gives one to three digits before the point."""
    if is_rate:
        return f"{value:,.0f}/s"
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "us")):
        if value * factor >= 1:
            return f"{value * factor:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"


def missing(name, peer, what):
    """The row of what cannot be measured, and why."""
    return f"| {name} | {peer} | | | | | not measured: {what} |"


def started(model, **settings):
    """The sampler of a model, a generator and a state to start from."""
    sampler = gp.compile(model, **settings)
    rng = np.random.default_rng(1)
    state, _ = initial_state(rng, sampler.graph, sampler.data)
    return sampler, rng, {n: np.array(x) for n, x in state.items()}


def in_loops(model, warmup=3, **settings):
    """Compiled sweeps, as between two that are recorded."""
    sampler, rng, state = started(model, **settings)
    loops = sampler.loops(keep=())
    arguments = loops.arguments(rng, loops.arrays_of(state), ())
    runner = loops.compiled()
    return warmed(timed(lambda count: runner.sweep(arguments, count)), warmup)


def in_numpy(model, warmup=3, **settings):
    """Sweeps of the program in NumPy."""
    sampler, rng, state = started(model, **settings)

    def sweeps(count):
        for _ in range(count):
            sampler.program.sweep(rng, state, sampler.constants)

    return warmed(timed(sweeps), warmup)


def timed(iterate):
    """The CPU seconds of an iteration, from where the last one has ended."""

    def seconds(count):
        began = process_time()
        iterate(count)
        return (process_time() - began) / count

    return seconds


def warmed(seconds, count):
    """The function, after so many sweeps, the first of which compiles."""
    seconds(count)
    return seconds


def beside(name, peer, ours, theirs, *, counts=(5, 5), turns=TURNS, **target):
    """The row of both sides, turn about."""
    found = tuple((ours(counts[0]), theirs(counts[1])) for _ in range(turns))
    return Row(name, peer, found, **target)
