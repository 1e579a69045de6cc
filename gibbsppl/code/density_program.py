"""The log density of a factor in loops, for data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from gibbsppl.code.loop_program import LoopProgram, for_loops
from gibbsppl.code.lowering.log_densities import log_density_program, positions_read
from gibbsppl.code.numbers_program import NumbersProgram
from gibbsppl.model.density import Told
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Factor, Graph


@dataclass(frozen=True, eq=False)
class DensityProgram(NumbersProgram):
    """The loops of a factor.

    ``positions`` are the arrays of the state whose elements are positions in others.
    """

    positions: frozenset[tuple[str, str, int]]

    @classmethod
    def of(cls, graph: Graph, factor: Factor, data: Values) -> DensityProgram:
        """The loops of a factor of a graph; raises `NotLoweredError` where there are none."""
        sizes = {d.name: n for d, n in graph.sizes.items()}
        sweep = log_density_program(graph, factor, data)
        loops = LoopProgram.of(for_loops(sweep, sizes), data, graph.sizes)
        return cls(loops, positions_read(sweep))

    def can_read(self, values: Values) -> bool:
        """Whether whole numbers are whole, and positions at which arrays are read inside of them.

        Loops would cut off fractions, and read whatever is beyond the end of an array.
        """
        known = self.loops.sweep_value.arrays
        whole = (n for n in self.loops.module.state if known[n].type == "int")
        return all(map(_are_whole, (values[n] for n in whole))) and all(
            _are_inside(values[index], np.shape(values[array])[axis])
            for index, array, axis in self.positions
        )

    def __call__(self, values: Values) -> Told:
        """What is told of the log density at values of all variables."""
        total, least, lost, largest = self.numbers(values)
        return Told(total, least, int(lost), None if math.isnan(largest) else largest)


def _are_whole(numbers: Any) -> bool:
    """Whether all numbers are whole."""
    return bool((np.asarray(numbers) == np.rint(numbers)).all())


def _are_inside(positions: Any, size: int) -> bool:
    """Whether positions are from 0 to before a size."""
    found = np.asarray(positions)
    return bool(((found >= 0) & (found < size)).all())
