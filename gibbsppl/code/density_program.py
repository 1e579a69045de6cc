"""The log density of a factor in loops, for data: compiled when values are first given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gibbsppl.code.loop_program import LoopProgram, Runner, for_loops
from gibbsppl.code.lowering.log_densities import log_density_program, positions_read
from gibbsppl.model.density import Told
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Factor, Graph
from gibbsppl.runtime.types import Array


@dataclass(frozen=True, eq=False)
class DensityProgram:
    """The loops of a factor, which change no array and draw nothing.

    ``positions`` are the arrays of the state whose elements are positions in others.
    """

    loops: LoopProgram
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

    @cached_property
    def runner(self) -> Runner:
        """The compiled loops."""
        return self.loops.compiled()

    def __call__(self, values: Values) -> Told:
        """What is told of the log density at values of all variables."""
        return self.by(self.runner, values)

    def by(self, runner: Runner, values: Values) -> Told:
        """The same by a runner of the loops."""
        arrays = self.loops.arrays_of(dict(values))
        found = [np.empty(1) for _ in self.loops.module.outputs]
        records = [*_of_no_draws(arrays), *found]
        arguments = self.loops.arguments(np.random.default_rng(0), arrays)
        with np.errstate(all="ignore"):
            runner.record(arguments, 1, 1, self.loops.outputs(), records)
        total, least, lost = (float(x[0]) for x in found)
        return Told(total, least, int(lost))


def _of_no_draws(arrays: Mapping[str, Array]) -> Sequence[Array]:
    """Records of no draws."""
    return [np.empty((0, *a.shape), a.dtype) for a in arrays.values()]


def _are_whole(numbers: Any) -> bool:
    """Whether all numbers are whole."""
    return bool((np.asarray(numbers) == np.rint(numbers)).all())


def _are_inside(positions: Any, size: int) -> bool:
    """Whether positions are from 0 to before a size."""
    found = np.asarray(positions)
    return bool(((found >= 0) & (found < size)).all())
