"""Stores of the draws of a run: arrays with axes (chain, draw, ...), filled segment by segment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from gibbsppl.output.thinning import Every
from gibbsppl.run.recording import Array

# A move by its step and the name of a number, such as the share that is accepted.
Move = tuple[str, str]
Rates = Mapping[Move, Array]


class Store(Protocol):
    """A place for the draws of all chains, with one for those of the warm-up if they are kept."""

    @property
    def warmup(self) -> Store | None:
        """The place for draws of the warm-up."""

    def put(self, chain: int, first: int, values: Mapping[str, Array], rates: Rates) -> None:
        """Add what is kept of draws of a chain, before which there were ``first``, and rates."""

    def kept(self, chains: list[int], draws: int) -> tuple[Mapping[str, Array], Rates]:
        """The first draws of some chains, and the statistics of moves."""


@dataclass(slots=True)
class InMemory:
    """Draws in memory: of so many chains, so many of each; of some variables one in ``every``."""

    size: tuple[int, int]
    every: Every = field(default_factory=dict)
    values: dict[str, Array] = field(default_factory=dict)
    rates: dict[Move, Array] = field(default_factory=dict)
    warmup: InMemory | None = None

    def put(self, chain: int, first: int, values: Mapping[str, Array], rates: Rates) -> None:
        """Add what is kept of draws of a chain, before which there were ``first``, and rates."""
        for name, array in values.items():
            every = self.every.get(name, 1)
            if name not in self.values:
                size = self.size[0], self.size[1] // every, *array.shape[1:]
                self.values[name] = np.empty(size, array.dtype)
            self.values[name][chain, first // every :][: len(array)] = array
        for move, array in rates.items():
            if move not in self.rates:
                self.rates[move] = np.full(self.size, np.nan)
            self.rates[move][chain, first : first + len(array)] = array

    def kept(self, chains: list[int], draws: int) -> tuple[Mapping[str, Array], Rates]:
        """The first draws of some chains, and the statistics of moves."""
        rows = rows_of(chains)
        drawn = {name: draws // self.every.get(name, 1) for name in self.values}
        values = {name: array[rows, : drawn[name]] for name, array in self.values.items()}
        return values, {move: array[rows, :draws] for move, array in self.rates.items()}


def rows_of(chains: Sequence[int]) -> slice | list[int]:
    """The rows of some chains: a slice, so that nothing is copied, unless one is missing amidst.

    >>> rows_of([1, 2]), rows_of([0, 2, 3])
    (slice(1, 3, None), [0, 2, 3])
    """
    first, number = min(chains, default=0), len(chains)
    is_whole = list(chains) == list(range(first, first + number))
    return slice(first, first + number) if is_whole else list(chains)
