"""A program without draws whose outputs are numbers, in loops: compiled when it is first called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gibbsppl.code.loop_program import LoopProgram, Runner
from gibbsppl.model.evaluation import Values


@dataclass(frozen=True, eq=False)
class NumbersProgram:
    """Loops that change no array and draw nothing, for values of all variables."""

    loops: LoopProgram

    def __post_init__(self) -> None:
        # (what has no text is told now, by a `NotLoweredError`, not at the first call)
        assert self.loops.module.text

    @cached_property
    def runner(self) -> Runner:
        """The compiled loops."""
        return self.loops.compiled()

    def numbers(self, values: Values) -> Sequence[float]:
        """The outputs, in order."""
        arrays = self.loops.arrays_of(dict(values))
        found = [np.empty(1) for _ in self.loops.module.outputs]
        of_none = [np.empty((0, *a.shape), a.dtype) for a in arrays.values()]
        arguments = self.loops.arguments(np.random.default_rng(0), arrays)
        with np.errstate(all="ignore"):
            self.runner.record(arguments, 1, 1, self.loops.outputs(), [*of_none, *found])
        return [float(x[0]) for x in found]
