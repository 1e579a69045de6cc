"""The mean and the variance of what a statement predicts, in loops, for data."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from gibbsppl.code.loop_program import LoopProgram, for_loops
from gibbsppl.code.lowering.moments import moments_program
from gibbsppl.code.numbers_program import NumbersProgram, positions_read
from gibbsppl.model.evaluation import Floats, Values
from gibbsppl.model.graph import Graph, Statement


@dataclass(frozen=True, eq=False)
class MomentsProgram(NumbersProgram):
    """The loops of a statement, which fills the region of an array from ``first`` on."""

    first: tuple[int, ...] = ()

    @classmethod
    def of(cls, graph: Graph, statement: Statement, data: Values) -> MomentsProgram:
        """The loops of a statement of a graph; raises `NotLoweredError` where there are none."""
        sizes = {d.name: n for d, n in graph.sizes.items()}
        sweep = moments_program(graph, statement, data)
        loops = LoopProgram.of(for_loops(sweep, sizes, data), data, graph.sizes)
        return cls(loops, positions_read(sweep), tuple(r.start for r in statement.over))

    def along(
        self, values: Values, names: Collection[str], size: int
    ) -> tuple[Floats, ...] | None:
        """Both moments with the draws as their last axis, as the arrays named have them.

        None where values cannot be read: the plain interpreter says what is wrong with them.
        """
        found = []
        for k in range(size):
            own = {n: np.asarray(values[n])[..., k] if n in names else values[n] for n in values}
            if not self.can_read(own):
                return None
            found.append(self.outputs(own))
        inside = tuple(slice(start, None) for start in self.first)
        both = zip(*found, strict=True)
        return tuple(np.stack([one[inside] for one in of], axis=-1) for of in both)
