"""Averages of conditional means over a run of which nothing else is kept.

Where means are large, and what they depend on is too (topics, and the labels of all words), neither
is worth keeping for each draw. The means of exact conditionals are added up while the run goes on,
in batches of equal length: the mean of all batches is the Rao-Blackwell estimate (A. E. Gelfand and
A. F. M. Smith 1990, JASA 85, 398-409), and how much they differ tells its Monte Carlo error (batch
means: C. J. Geyer 1992, Statistical Science 7, 473-483).

Comes in: the conditionals of a compiled model, what is asked for, and the draws of a run, piece by
piece. Goes out: `Draws` in which each draw is the average over a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gibbsppl.errors import RunError
from gibbsppl.model.along_draws import LARGEST
from gibbsppl.model.evaluation import Floats
from gibbsppl.output.arrays import Array
from gibbsppl.output.draws import Draws
from gibbsppl.predict.conditional_means import Conditionals
from gibbsppl.run.engines import Engine
from gibbsppl.run.ready import RunResult
from gibbsppl.run.recording import Types
from gibbsppl.run.sampling import Chain, run
from gibbsppl.schedule.staleness import read_by


@dataclass(slots=True, eq=False)
class Averages:
    """The sums of means so far; ``drawn`` counts the draws of each chain that are in them.

    ``coords`` are the labels along all dims of the model.
    """

    model: Conditionals
    names: tuple[str, ...]
    coords: Mapping[str, Array]
    chains: int
    draws: int
    batches: int
    drawn: int = 0
    sums: dict[str, Floats] = field(default_factory=dict)
    last: Draws | None = None

    @classmethod
    def of(
        cls,
        model: Conditionals,
        names: str | Sequence[str],
        coords: Mapping[str, Array],
        size: tuple[int, int, int],
    ) -> Averages:
        """Averages without any draw, for chains, draws of each and batches of these.

        An error for what has no such means.
        """
        chains, draws, batches = size
        if not 0 < batches <= draws or draws % batches:
            raise RunError(
                f"batches: found {batches}, expected a whole number that {draws} draws can be "
                "divided by, so that all batches are of one length."
            )
        own = (names,) if isinstance(names, str) else tuple(names)
        if not own:
            raise RunError("names: found none, expected names of variables to take the means of.")
        for name in own:
            model.check_able(name, "mean")
        return cls(model, own, coords, chains, draws, batches)

    @property
    def needed(self) -> tuple[str, ...]:
        """The variables that the conditionals depend on: all that a run has to keep."""
        schedule, found = self.model.schedule, set[str]()
        parts = {p.name: p.of for p in schedule.parts}
        for name in self.names:
            for step in self.model.steps_of(name):
                read = {parts.get(n, n) for n in read_by(schedule, schedule.steps.index(step))}
                is_own = step.is_by_element or any(s.known != 0 for s in step.statements)
                found |= read if is_own else read - {*step.variables}
                found |= {name} if is_own else set()
        # (what depends on data alone is the same in each draw, but a run keeps something)
        return tuple(n for n in schedule.graph.drawn if n in found) or self.names[:1]

    @property
    def pieces(self) -> Iterator[int]:
        """The numbers of draws to be made one after the other: each within a batch, and small."""
        graph = self.model.schedule.whole
        arrays = (graph.variables[n].dims for n in (*self.names, *self.needed))
        size = sum(int(np.prod([graph.sizes[d] for d in dims])) for dims in arrays)
        most, length = max(1, LARGEST // (size * self.chains)), self.draws // self.batches
        for _ in range(self.batches):
            for start in range(0, length, most):
                yield min(most, length - start)

    def add(self, draws: Draws) -> None:
        """Add the means of some more draws."""
        batch = self.drawn * self.batches // self.draws
        means = self.model.of(self._with_names(draws), self.names, "mean")
        for name in self.names:
            value = means[name]
            if name not in self.sums:
                self.sums[name] = np.zeros((self.chains, self.batches, *value.shape[2:]))
            self.sums[name][:, batch] += value.sum(axis=1)
        self.drawn += draws.draws
        self.last = means

    def _with_names(self, draws: Draws) -> Draws:
        """The draws with any values of what is asked for: its conditional does not depend on it."""
        graph, size = self.model.schedule.whole, (draws.chains, draws.draws)
        values, dims = dict(draws.values), dict(draws.dims)
        for name in self.names:
            own = graph.variables[name].dims
            if name not in values:
                values[name] = np.broadcast_to(0.0, (*size, *(graph.sizes[d] for d in own)))
                dims[name] = tuple(d.name for d in own)
        used = {d for own in dims.values() for d in own}
        coords = {d: labels for d, labels in self.coords.items() if d in used}
        return replace(draws, values=values, dims=dims, coords=coords)

    @property
    def found(self) -> Draws:
        """The averages, a draw for each batch."""
        assert self.last is not None
        length = self.draws // self.batches
        return replace(self.last, values={n: s / length for n, s in self.sums.items()})


def averaged(
    sums: Averages,
    chains: Sequence[Chain],
    engine: Engine,
    types: Types,
    draws_of: Callable[[RunResult], Draws],
    *,
    warmup: int,
    thin: int,
) -> Draws:
    """The averages over a run of chains, which goes on from piece to piece."""
    program, constants, names = sums.model.program, sums.model.constants, sums.needed
    for count in sums.pieces:
        result = run(
            program, constants, chains, draws=count, warmup=warmup, thin=thin, keep=names,
            types=types, engine=engine, progress=False,
        )  # fmt: skip
        if result.interrupted:
            raise KeyboardInterrupt(result.interrupted)
        chains, warmup = result.chains, 0
        sums.add(draws_of(result))
    return sums.found
