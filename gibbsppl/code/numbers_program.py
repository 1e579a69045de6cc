"""A program without draws, of which the outputs are asked for, in loops: compiled when called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gibbsppl.code.arrays.expressions import Element, elements
from gibbsppl.code.arrays.statements import expressions_of
from gibbsppl.code.arrays.sweeps import Sweep, every
from gibbsppl.code.loop_program import LoopProgram, Runner
from gibbsppl.errors import NotLoweredError
from gibbsppl.model.evaluation import Values
from gibbsppl.runtime.types import Array


@dataclass(frozen=True, eq=False)
class NumbersProgram:
    """Loops that change no array and draw nothing, for values of all variables.

    ``positions`` are the arrays of the state whose elements are positions in others.
    """

    loops: LoopProgram
    positions: frozenset[tuple[str, str, int]] = frozenset()

    def __post_init__(self) -> None:
        # (what has no text is told now, by a `NotLoweredError`, not at the first call)
        assert self.loops.module.text

    @cached_property
    def runner(self) -> Runner:
        """The compiled loops."""
        return self.loops.compiled()

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

    def numbers(self, values: Values) -> Sequence[float]:
        """The outputs, in order, each of which is a number."""
        return [float(x) for x in self.outputs(values)]

    def outputs(self, values: Values) -> Sequence[Array]:
        """The outputs, in order."""
        arrays, made = self.loops.arrays_of(dict(values)), self.loops.outputs()
        found = [np.empty((1, *made[n].shape)) for n in self.loops.module.outputs]
        of_none = [np.empty((0, *a.shape), a.dtype) for a in arrays.values()]
        arguments = self.loops.arguments(np.random.default_rng(0), arrays)
        with np.errstate(all="ignore"):
            self.runner.record(arguments, 1, 1, made, [*of_none, *found])
        return [x[0] for x in found]


def positions_read(sweep: Sweep) -> frozenset[tuple[str, str, int]]:
    """The arrays of the state at whose elements others are read: these, and along which axis.

    Loops read at whatever position they are given: who calls them looks at these arrays before.
    """
    state = {n for n, a in sweep.arrays.items() if a.kind == "state"}
    found = set[tuple[str, str, int]]()
    for s in every(sweep.monitors):
        for x in (x for e in expressions_of(s) for x in elements(e)):
            for axis, index in enumerate(x.indices):
                if isinstance(index, Element) and index.array in state:
                    found.add((index.array, x.array, axis))
                elif index.arrays & state:
                    raise NotLoweredError(f"{x.array}: read at positions that are computed.")
    return frozenset(found)


def _are_whole(numbers: Any) -> bool:
    """Whether all numbers are whole."""
    return bool((np.asarray(numbers) == np.rint(numbers)).all())


def _are_inside(positions: Any, size: int) -> bool:
    """Whether positions are from 0 to before a size."""
    found = np.asarray(positions)
    return bool(((found >= 0) & (found < size)).all())
