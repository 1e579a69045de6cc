"""Chains that are ready for a run, what makes their sweeps, its result, and how that is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gibbsppl.code.program import Constants, Program
from gibbsppl.output.thinning import Every
from gibbsppl.run.accumulators import Accumulator
from gibbsppl.run.chains import Chain
from gibbsppl.run.engines import Engine
from gibbsppl.run.monitoring import Watched
from gibbsppl.run.recording import Array, Types
from gibbsppl.run.segments import Position

# Draws of the warm-up by name, and statistics of moves.
Warm = tuple[Mapping[str, Array], Mapping[tuple[str, str], Array]]


@dataclass(frozen=True, slots=True, eq=False)
class RunResult:
    """The result of a run: draws by name with axes (chain, draw, ...), and where each chain is.

    ``seconds`` are those of warm-up and of sampling, of all chains. ``interrupted`` says what is
    missing after Ctrl-C, or of chains whose worker has died; ``None`` after a whole run. Of
    ``chains``, each is where it was stopped. ``rates`` are statistics of moves, by step and field,
    with axes (chain, draw): the share of accepted steps, say. In a chain that ended, all variables
    belong together; in one that was stopped, those of deferred steps that were not recorded have
    old values, which no draw reads.
    ``every``: of how many draws one is among the values, of variables of which not all are.
    ``left_out`` says what was not recorded because nobody named it. ``stats`` are further numbers,
    one for each draw. ``until`` says what a rule that ends the run has found. ``monitored`` has
    the accumulators of what was monitored, one for each chain: of all draws that it has made.
    ``warm``: the draws of the warm-up, and the statistics of moves, if they were to be kept.
    """

    values: Mapping[str, Array]
    positions: tuple[Position, ...]
    warmup: int
    thin: int
    seconds: tuple[float, float]
    interrupted: str | None = None
    rates: Mapping[tuple[str, str], Array] = field(default_factory=dict)
    left_out: str | None = None
    stats: Mapping[str, Array] = field(default_factory=dict)
    until: str | None = None
    monitored: Mapping[str, tuple[Accumulator, ...]] = field(default_factory=dict)
    every: Every = field(default_factory=dict)
    warm: Warm | None = None

    @property
    def chains(self) -> tuple[Chain, ...]:
        """The chains, each where it was stopped."""
        return tuple(position.chain for position in self.positions)


# Notes of initial values that no rule made up.
FIXED = ("prior", "given", "optimum", "variational")

# The result of a run as one of the model, with what is told of how it was made.
Reading = Callable[[RunResult], tuple[RunResult, Mapping[str, Any]]]


def as_it_is(result: RunResult) -> tuple[RunResult, Mapping[str, Any]]:
    """A result that is one of the model."""
    return result, {}


# What to keep as users say it: names, or of how many draws one, by name.
Keep = str | Sequence[str] | Every | None


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """The wishes for draws: the names to ``keep``, or None, and what is ``watched``, by name.

    Of each name, one draw in so many is kept.
    """

    keep: Every | None = None
    watched: Mapping[str, Watched] = field(default_factory=dict)

    @classmethod
    def of(cls, keep: Keep, watched: Mapping[str, Watched] | None = None) -> Records:
        """The wishes of a user; all draws of names that are given without a number."""
        if keep is not None and not isinstance(keep, Mapping):
            keep = dict.fromkeys((keep,) if isinstance(keep, str) else keep, 1)
        return cls(keep, watched or {})

    @property
    def named(self) -> tuple[str, ...]:
        """The names that a state has to have: those to keep, and those that monitors read."""
        return (*(self.keep or ()), *(n for w in self.watched.values() for n in w.names))


@dataclass(frozen=True, slots=True, eq=False)
class Ready:
    """Chains at their starts, the engine of their sweeps, what to record and in which types.

    ``seed``: the entropy of the random numbers; ``origins``: where each value that chains start
    from is taken from; ``seconds``: those that the starts of all chains took.
    """

    program: Program
    constants: Constants
    chains: Sequence[Chain]
    engine: Engine
    types: Types
    records: Records
    seed: Any = None
    origins: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    read: Reading = as_it_is

    @property
    def attributes(self) -> Mapping[str, Any]:
        """The facts to be kept with draws: the seed, the engine, starts that a rule made up."""
        by_rule = ", ".join(n for n, told in self.origins.items() if told not in FIXED)
        own = {"started_by_rule": by_rule, "starting_seconds": self.seconds}
        return {"seed": self.seed, **self.engine.attributes, **own}
