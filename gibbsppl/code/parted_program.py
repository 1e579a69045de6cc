"""A sweep in loops whose parts are carried out one after the other, chunks of a part at once.

Each chunk has random numbers of its own, from a stream that is the same whoever carries it out
and when; what chunks add to is added up in their order. So draws do not depend on the threads.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np

from gibbsppl.code.arrays.evaluation import number_of
from gibbsppl.code.arrays.storage import Local
from gibbsppl.code.arrays.sweeps import DEFERRED
from gibbsppl.code.loop_program import LoopProgram, made_work
from gibbsppl.code.loop_text.loading import loaded, plain
from gibbsppl.code.loop_text.module import room
from gibbsppl.code.loop_text.parts import Function, PartedModule, parted_module
from gibbsppl.runtime.types import Array

Call = Callable[[], object]
# What carries out calls, in any order or at once, and returns when all of them are done.
Each = Callable[[Sequence[Call]], object]


def in_order(calls: Iterable[Call]) -> None:
    """Carry out calls, one after the other."""
    for call in calls:
        call()


@dataclass(frozen=True, slots=True)
class Step:
    """The calls of a part; what each adds to is zero before, and joins the ``sums`` afterwards."""

    calls: tuple[Call, ...]
    sums: tuple[tuple[Array, Array], ...] = ()

    def carry_out(self, each: Each) -> None:
        """Carry out the part."""
        for _, own in self.sums:
            own[...] = 0
        each(self.calls)
        for whole, own in self.sums:
            for one in own:
                np.add(whole, one, out=whole)


@dataclass(frozen=True, slots=True)
class Sweeping:
    """A sweep of one chain, ready to be carried out: the steps, what computes what is monitored."""

    steps: tuple[Step, ...]
    monitor: Call
    deferred: tuple[str, ...]
    asked: Array

    def sweep(self, each: Each, deferred: Collection[str] = ()) -> None:
        """Sweep once, with some of the deferred steps."""
        self.asked[:] = [step in deferred for step in self.deferred]
        for step in self.steps:
            step.carry_out(each)


@dataclass(frozen=True, eq=False)
class PartedProgram:
    """A sweep in parts, for data of which it is known how large they are."""

    loops: LoopProgram

    @cached_property
    def module(self) -> PartedModule:
        """The text of the parts."""
        return parted_module(self.loops.with_numbers, self.loops.all_sizes)

    @property
    def streams(self) -> int:
        """How many streams of random numbers a chain needs beside its own."""
        found = (f.chunks for f in self.module.functions)
        return max((n for n in found if n > 1), default=0)

    def compiled(self) -> Mapping[str, Any]:
        """The functions of the module, compiled when they are first called."""
        return vars(loaded(self.module, self.loops.sweep_value.name))

    def plain(self) -> Mapping[str, Any]:
        """The functions of the module as Python carries them out."""
        return plain(self.module)

    @cached_property
    def _new(self) -> dict[str, Array]:
        """The new arrays that parts share."""
        return {n: self._empty(a) for n, a in self.module.shared.items()}

    def _empty(self, local: Local, *before: int) -> Array:
        own = (number_of(room(d.stop), self.loops.all_sizes) for d in local.dims)
        return np.zeros((*before, *own), np.int64 if local.type == "int" else np.float64)

    @cached_property
    def _works(self) -> list[dict[str, Array]]:
        """The arrays that kernels work in, for each chunk."""
        names = {w for f in self.module.functions for w in f.works}
        return [{n: made_work(n) for n in names} for _ in range(max(1, self.streams))]

    @cached_property
    def _sizes(self) -> Array:
        return np.array([self.loops.all_sizes[d] for d in self.module.sizes], dtype=np.int64)

    def sweeping(
        self,
        functions: Mapping[str, Any],
        rng: np.random.Generator,
        streams: Sequence[np.random.Generator],
        arrays: Mapping[str, Array],
        outputs: Mapping[str, Array],
    ) -> Sweeping:
        """The sweeping of a chain, in place: its streams and the arrays of its state."""
        own = self.loops.sweep_value.deferred
        asked = np.zeros(len(own), np.int64)
        known = {**self.loops.known, **arrays, **self._new, DEFERRED: asked}
        monitor = self.module.monitor
        looked = [{**known, **outputs}[n] for n in monitor.arrays]
        return Sweeping(
            tuple(
                self._step(functions[f.name], f, rng, streams, known) for f in self.module.functions
            ),
            partial(functions[monitor.name], rng, self._sizes, *looked),
            own,
            asked,
        )

    def _step(
        self,
        function: Callable[..., None],
        f: Function,
        rng: np.random.Generator,
        streams: Sequence[np.random.Generator],
        known: Mapping[str, Array],
    ) -> Step:
        if f.span is None:
            arrays = [known[n] for n in f.arrays]
            works = [self._works[0][w] for w in f.works]
            return Step((partial(function, rng, self._sizes, *arrays, *works),))
        sums = {n: np.zeros((f.chunks, *known[n].shape), known[n].dtype) for n in f.sums}
        start, stop = (number_of(e, self.loops.all_sizes) for e in f.span.ends)
        ends = chunk_ends(start, stop, f.chunks)
        calls = [
            partial(
                function,
                streams[k],
                self._sizes,
                *(sums[n][k, ...] if n in sums else known[n] for n in f.arrays),
                *(self._works[k][w] for w in f.works),
                *own,
            )
            for k, own in enumerate(ends)
        ]
        return Step(tuple(calls), tuple((known[n], own) for n, own in sums.items()))


def chunk_ends(start: int, stop: int, chunks: int) -> list[tuple[int, int]]:
    """Where chunks start and stop, all of about the same length.

    >>> chunk_ends(0, 10, 4)
    [(0, 2), (2, 5), (5, 7), (7, 10)]
    """
    places = [start + (stop - start) * k // chunks for k in range(chunks + 1)]
    return list(pairwise(places))
