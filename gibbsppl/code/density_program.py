"""The log density of a factor in loops, for data."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gibbsppl.code.loop_program import LoopProgram, for_loops
from gibbsppl.code.lowering.log_densities import log_density_program
from gibbsppl.code.numbers_program import NumbersProgram, positions_read
from gibbsppl.model.density import Told
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Factor, Graph


@dataclass(frozen=True, eq=False)
class DensityProgram(NumbersProgram):
    """The loops of a factor."""

    @classmethod
    def of(cls, graph: Graph, factor: Factor, data: Values) -> DensityProgram:
        """The loops of a factor of a graph; raises `NotLoweredError` where there are none."""
        sizes = {d.name: n for d, n in graph.sizes.items()}
        sweep = log_density_program(graph, factor, data)
        loops = LoopProgram.of(for_loops(sweep, sizes, data), data, graph.sizes)
        return cls(loops, positions_read(sweep))

    def __call__(self, values: Values) -> Told:
        """The facts of the log density at values of all variables."""
        total, least, lost, largest = self.numbers(values)
        return Told(total, least, int(lost), None if math.isnan(largest) else largest)
