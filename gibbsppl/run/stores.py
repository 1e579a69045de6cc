"""Stores of the draws of a run: arrays with axes (chain, draw, ...), filled segment by segment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from gibbsppl.run.recording import Array
from gibbsppl.run.segments import Segment

Rates = Mapping[tuple[str, str], Array]


class Store(Protocol):
    """A place for the draws of all chains."""

    def put(self, number: int, segment: Segment) -> None:
        """Add what a segment of chain ``number`` has recorded."""

    def kept(self, chains: list[int], draws: int) -> tuple[Mapping[str, Array], Rates]:
        """The first draws of some chains, and the statistics of moves."""


@dataclass(slots=True)
class InMemory:
    """Draws in memory: of so many chains, so many of each."""

    size: tuple[int, int]
    values: dict[str, Array] = field(default_factory=dict)
    rates: dict[tuple[str, str], Array] = field(default_factory=dict)

    def put(self, number: int, segment: Segment) -> None:
        """Add what a segment of chain ``number`` has recorded."""
        for name, array in segment.values.items():
            if name not in self.values:
                self.values[name] = np.empty((*self.size, *array.shape[1:]), array.dtype)
            self.values[name][number, segment.first : segment.first + len(array)] = array
        for move, array in segment.rates.items():
            if move not in self.rates:
                self.rates[move] = np.full(self.size, np.nan)
            self.rates[move][number, segment.first : segment.first + len(array)] = array

    def kept(self, chains: list[int], draws: int) -> tuple[Mapping[str, Array], Rates]:
        """The first draws of some chains, and the statistics of moves."""
        rows = slice(len(chains)) if chains == list(range(len(chains))) else chains
        values = {name: array[rows, :draws] for name, array in self.values.items()}
        return values, {move: array[rows, :draws] for move, array in self.rates.items()}
