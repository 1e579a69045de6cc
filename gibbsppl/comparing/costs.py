"""The costs of a sampler: operations and bytes of a sweep, step by step, and memory.

Comes in: a schedule, and its sweep in loops. Goes out: a `Costs`, which prints as a table.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from math import isnan, nan, prod
from typing import Protocol

from gibbsppl.checks.table import table
from gibbsppl.code.arrays.amounts import Amount
from gibbsppl.code.arrays.expressions import Expr, Number, Size
from gibbsppl.code.arrays.storage import Local
from gibbsppl.code.by_parts import Held
from gibbsppl.code.loop_program import LoopProgram
from gibbsppl.code.operations import BYTES, Counted, Work, counted
from gibbsppl.code.source import written
from gibbsppl.code.trials import operations_of, shares_of
from gibbsppl.errors import CompileError
from gibbsppl.html import Printed
from gibbsppl.schedule.precisions import TooLarge
from gibbsppl.schedule.sweeps import Schedule
from gibbsppl.settings import Settings


class Lowered(Protocol):
    """A compiled sampler, as far as it is asked for its costs."""

    @property
    def schedule(self) -> Schedule:
        """The steps of a sweep."""

    def loops(self) -> LoopProgram:
        """The sweep in loops."""


@dataclass(frozen=True, slots=True)
class StepCost:
    """The cost of a step in each sweep.

    ``drawn`` is the family or the kernel that it is drawn by, ``operations`` and ``bytes`` (read or
    written) are those of a sweep; ``plates`` are the leading terms of the operations in the sizes
    of the model's dims. A step that is not counted, since the array language does not have it, has
    NaN for both, and the ``reason``. ``held`` are the most bytes of temporary arrays in NumPy.
    """

    name: str
    drawn: str
    operations: float
    bytes: float
    plates: str
    reason: str = ""
    held: int = 0


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes of the state, of data with what is made of them once, and of temporary arrays.

    ``temporary`` are those of loops; ``in_numpy`` is the most that a step in NumPy holds.
    """

    state: int
    data: int
    temporary: int
    in_numpy: int

    @property
    def total(self) -> int:
        """All of it that is there at one time in loops."""
        return self.state + self.data + self.temporary

    def __str__(self) -> str:
        every = (self.state, self.data, self.temporary, self.in_numpy)
        state, data, temporary, in_numpy = map(_whole, every)
        made = f"{data} of data and tables, {temporary} of temporary arrays in loops"
        return f"{state} bytes of the state, {made}, up to {in_numpy} in NumPy"


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another sampler of the same model: what differs, and the operations of its sweep.

    NaN where they are not known; ``reason`` says why. ``mixing`` tells how it mixes by theory, if
    that says something.
    """

    name: str
    operations: float
    reason: str = ""
    mixing: str = ""

    def told(self, beside: float) -> str:
        """The alternative in words, beside a sampler of so many operations."""
        if isnan(self.operations) or isnan(beside):
            return f"{self.name}: not counted: {self.reason or 'steps of this sampler are not'}"
        less = beside / self.operations
        times = f"{less:.3g} times cheaper" if less >= 1 else f"{1 / less:.3g} times dearer"
        found = f"{_whole(self.operations)} operations, {times}"
        return f"{self.name}: {', '.join(filter(None, (found, self.mixing)))}"


@dataclass(frozen=True, slots=True)
class Costs(Printed):
    """Operations and bytes of a sweep by step, of what is recorded besides, and of what is once.

    ``plates`` are the leading terms of the operations of all steps: an amount that is a part of
    another one is left out. ``alternatives``, where they are asked for, are other samplers of the
    same model, the cheapest first. ``too_large`` are joint draws that are not made, and the limits
    of memory or work that they exceed. The figures follow from the programs and the sizes of the
    data alone.
    """

    steps: tuple[StepCost, ...]
    plates: str
    recorded: float
    once: float
    memory: Memory
    alternatives: tuple[Alternative, ...] = ()
    too_large: tuple[TooLarge, ...] = ()

    @property
    def operations(self) -> float:
        """The operations of a sweep; NaN if a step is not counted."""
        return sum(s.operations for s in self.steps)

    @property
    def bytes(self) -> float:
        """The bytes that a sweep reads and writes; NaN if a step is not counted."""
        return sum(s.bytes for s in self.steps)

    def __getitem__(self, name: str) -> StepCost:
        """The cost of a step by its name."""
        return next(s for s in self.steps if s.name == name)

    def __str__(self) -> str:
        header = ("step", "drawn by", "operations", "in the plates", "bytes", "held in NumPy")
        rows = [
            (s.name, s.drawn, _whole(s.operations), s.plates or "not counted", _whole(s.bytes),
             _whole(s.held))
            for s in self.steps
        ]  # fmt: skip
        every = _whole(self.operations), self.plates, _whole(self.bytes)
        rows.append(("a sweep", "", *every, _whole(self.memory.in_numpy)))
        reasons = (f"{s.name}: not counted: {s.reason}" for s in self.steps if s.reason)
        recorded, once = map(_whole, (self.recorded, self.once))
        beside = f"beside the steps: {recorded} operations for each draw recorded, {once} once"
        others = (f"  {a.told(self.operations)}" for a in self.alternatives)
        listed = ["alternatives, with their mixing where theory says something:", *others]
        large = map(str, self.too_large)
        told = [table(header, rows), *reasons, beside, f"memory: {self.memory}", *large]
        return "\n".join([*told, *(listed if self.alternatives else ())])


def costs_of(schedule: Schedule, loops: LoopProgram) -> Costs:
    """The costs of a sweep; ``loops`` may be without steps that the language does not have."""
    found = counted(loops.sweep_value, loops.known_sizes, shares_of(schedule))
    held = written(schedule).held
    left_out = loops.sweep_value.left_out
    steps = tuple(
        _not_counted(s.name, s.owner, left_out[s.name]) if s.name in left_out
        else _counted(s.name, s.owner, found.steps.get(s.name, Work()), found, loops.model_sizes)
        for s in schedule.steps
    )  # fmt: skip
    steps = tuple(replace(s, held=held[s.name].bytes) for s in steps)
    every = Amount.sum(w.operations for w in found.steps.values())
    recorded, once = (w.operations.at(found.sizes) for w in (found.recorded, found.once))
    plates = every.leading(found.sizes, loops.model_sizes)
    memory = _memory(loops, held)
    return Costs(steps, plates, recorded, once, memory, too_large=schedule.apart)


def alternatives_of(
    compile_: Callable[[Settings], Lowered],
    variants: Mapping[str, Settings],
    known: Mapping[str, float],
    mixing: Mapping[str, str],
) -> tuple[Alternative, ...]:
    """The operations of variants, the cheapest first, those that are not known last.

    Of some variants they are ``known``; ``mixing`` tells how variants mix by theory.
    """
    found = [
        replace(
            Alternative(name, known[name])
            if name in known
            else _alternative(name, settings, compile_),
            mixing=mixing.get(name, ""),
        )
        for name, settings in variants.items()
    ]
    return tuple(sorted(found, key=lambda a: (isnan(a.operations), a.operations)))


def _alternative(
    name: str, settings: Settings, compile_: Callable[[Settings], Lowered]
) -> Alternative:
    try:
        other = compile_(settings)
        return Alternative(name, operations_of(other.schedule, other.loops()))
    except CompileError as error:
        return Alternative(name, nan, str(error).splitlines()[0])


def _counted(
    name: str, drawn: str, work: Work, found: Counted, named: Collection[str]
) -> StepCost:
    plates = work.operations.leading(found.sizes, named)
    return StepCost(
        name, drawn, work.operations.at(found.sizes), work.moved.at(found.sizes), plates
    )


def _not_counted(name: str, drawn: str, reason: str) -> StepCost:
    return StepCost(name, drawn, nan, nan, "", reason)


def _memory(loops: LoopProgram, held: Mapping[str, Held]) -> Memory:
    """The bytes of all arrays of a program, and the most of what steps hold in NumPy."""
    arrays = loops.sweep_value.arrays
    data = sum(int(a.nbytes) for a in loops.known.values())
    sizes = loops.all_sizes
    state = (prod(sizes[d] for d in arrays[n].dims) for n in loops.module.state)
    temporary = sum(_bytes(a, sizes) for a in loops.module.stored)
    in_numpy = max((h.bytes for h in held.values()), default=0)
    return Memory(BYTES * sum(state), data, temporary, in_numpy)


def _bytes(local: Local, sizes: Mapping[str, int]) -> int:
    """The bytes of a new array; where a size is computed, by the largest that it may have."""
    return BYTES * prod(_largest(d.stop, sizes) for d in local.dims)


def _largest(stop: Expr, sizes: Mapping[str, int]) -> int:
    match stop:
        case Number(value=value):
            return int(value)
        case Size(dim=dim):
            return sizes[dim]
    return min([_largest(p, sizes) for p in stop.parts if isinstance(p, Number | Size)] or [1])


def _whole(value: float) -> str:
    return "-" if value != value else f"{value:,.0f}"  # noqa: PLR0124  (NaN)
