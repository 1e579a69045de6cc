"""A sweep in loops, ready to run: its text, its constants, and the arrays of a state for it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np

from gibbsppl.algebra.expressions import Dim
from gibbsppl.code.arrays.additions import added_where_drawn
from gibbsppl.code.arrays.blocks import in_blocks
from gibbsppl.code.arrays.buffers import buffered
from gibbsppl.code.arrays.contraction import contracted
from gibbsppl.code.arrays.evaluation import computed
from gibbsppl.code.arrays.expressions import Expr, Number, Size
from gibbsppl.code.arrays.halves import halved
from gibbsppl.code.arrays.lifting import lifted
from gibbsppl.code.arrays.numbers import with_tables
from gibbsppl.code.arrays.passing import without_passing
from gibbsppl.code.arrays.recursions import unfolded
from gibbsppl.code.arrays.sharing import shared
from gibbsppl.code.arrays.statements import Let
from gibbsppl.code.arrays.storage import Local
from gibbsppl.code.arrays.sweeps import Sweep, Table
from gibbsppl.code.arrays.weights import by_weights
from gibbsppl.code.loop_text.expressions import kernels
from gibbsppl.code.loop_text.loading import loaded, plain
from gibbsppl.code.loop_text.module import LoopModule, module_of
from gibbsppl.code.lowering.sweeps import lowered
from gibbsppl.code.program import Constants, State
from gibbsppl.model.evaluation import Values
from gibbsppl.runtime import position_tables
from gibbsppl.runtime.tuning import tuning_arrays
from gibbsppl.runtime.types import Array
from gibbsppl.schedule.deferral import passing
from gibbsppl.schedule.sweeps import Schedule

PASSES: tuple[Callable[[Sweep], Sweep], ...] = (
    unfolded,
    by_weights,
    shared,
    in_blocks,
    buffered,
    contracted,
    lifted,
    shared,
    added_where_drawn,
    halved,
)


# Types of positions that loops read as they are.
INTEGERS = (np.dtype(np.int32), np.dtype(np.int64))


def for_loops(sweep: Sweep) -> Sweep:
    """The sweep after the passes that prepare it for loops."""
    for one in PASSES:
        sweep = one(sweep)
    return sweep


def loops_of(
    schedule: Schedule, data: Values, constants: Constants, kept: Collection[str] | None = None
) -> LoopProgram:
    """The sweep of a schedule in loops; ``constants`` are those of the program in NumPy.

    Of auxiliary variables that no other sweep reads the state has those ``kept`` (default: all).
    """
    names = () if kept is None else [n for n in passing(schedule) if n not in kept]
    sweep = for_loops(without_passing(lowered(schedule, data, constants), names))
    sums = tuple(dict.fromkeys(a.name for s in schedule.steps for a in s.maintained))
    apart = (*sums, *(n for n in names if n not in sweep.arrays))
    return replace(LoopProgram.of(sweep, data, schedule.whole.sizes), apart=apart)


@dataclass(frozen=True, slots=True)
class Functions:
    """The functions of a module of loops.

    ``sweep`` makes one sweep, ``run`` many, ``record`` records some draws besides.
    """

    sweep: Callable[..., None]
    run: Callable[..., None] | None
    record: Callable[..., None] | None


@dataclass(frozen=True, eq=False)
class LoopProgram:
    """A sweep in loops for data; what depends on data alone is computed when it is asked for.

    What sweeps in NumPy have in the state and loops do not is ``apart``: sums that are kept up to
    date, and auxiliary variables.
    """

    sweep_value: Sweep
    data: Values
    model_sizes: Mapping[str, int]
    looked_at: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        sweep: Sweep,
        data: Values,
        sizes: Mapping[Dim, int],
        outputs: tuple[str, ...] = (),
    ) -> LoopProgram:
        """The program of a sweep for data."""
        return cls(sweep, data, {d.name: n for d, n in sizes.items()}, outputs)

    @cached_property
    def module(self) -> LoopModule:
        """The text of the loops, and the order of their arguments."""
        return module_of(self._with_tables, self.looked_at)

    @cached_property
    def _with_tables(self) -> Sweep:
        """The sweep with numbers in tables, so that its text serves other data."""
        return with_tables(self.sweep_value)

    @cached_property
    def _prepared(self) -> tuple[dict[str, Array], dict[str, int]]:
        return constants_of(self._with_tables, self.data, self.known_sizes)

    @property
    def known_sizes(self) -> dict[str, int]:
        """The sizes of the dims that are known before anything is computed."""
        return {**self.model_sizes, **self.sweep_value.sizes}

    @cached_property
    def constants(self) -> tuple[Array, ...]:
        """All that the loops read beside the state."""
        arrays, _ = self._prepared
        return tuple(_as(arrays[n], _type(self._with_tables, n)) for n in self.module.constants)

    @property
    def all_sizes(self) -> dict[str, int]:
        """The sizes of all dims."""
        return self._prepared[1]

    @cached_property
    def sizes(self) -> Array:
        """The sizes that the loops read."""
        return np.array([self.all_sizes[d] for d in self.module.sizes], dtype=np.int64)

    @cached_property
    def works(self) -> tuple[Array, ...]:
        """The arrays that kernels work in."""
        return tuple(made_work(name) for name in self.module.works)

    def compiled(self) -> Functions:
        """The functions of the module, compiled when they are first called."""
        found = loaded(self.module, self.sweep_value.name)
        return Functions(found.sweep, found.run, found.record)

    def plain(self) -> Functions:
        """The functions of the module as Python carries them out."""
        found = plain(self.module)
        return Functions(found["sweep"], found.get("run"), found.get("record"))

    def arrays_of(self, state: State) -> dict[str, Array]:
        """The arrays of a state, which sweeps change in place."""
        known = self.sweep_value.arrays
        tuned = {n: known[n].dims for n in self.module.state if known[n].is_tuning}
        shapes = {n: tuple(self.all_sizes[d] for d in dims) for n, dims in tuned.items()}
        values = {**state, **tuning_arrays(state, shapes, {n: known[n].start for n in tuned})}
        return {
            # (auxiliary variables are made by the first sweep)
            n: _as(values[n], known[n].type) if n in values else self._empty(n)
            for n in self.module.state
        }

    def _empty(self, name: str) -> Array:
        array = self.sweep_value.arrays[name]
        shape = tuple(self.all_sizes[d] for d in array.dims)
        return np.zeros(shape, np.int64 if array.type == "int" else np.float64)

    def arguments(
        self,
        rng: np.random.Generator,
        arrays: Mapping[str, Array],
        deferred: Collection[str] | None = None,
    ) -> tuple[Any, ...]:
        """The arguments of a sweep with some of the ``deferred`` steps (default: all of them)."""
        state = (arrays[n] for n in self.module.state)
        rooms = (self._room(a) for a in self.module.rooms)
        own = self.sweep_value.deferred
        named = own if deferred is None else deferred
        asked = [np.array([int(step in named) for step in own])] if own else []
        return (rng, self.sizes, *state, *self.constants, *self.works, *rooms, *asked)

    def _room(self, local: Local) -> Array:
        """The room of a new array."""
        shape = tuple(_resolved(d.stop, {}, self.all_sizes) for d in local.dims)
        return np.empty(shape, np.int64 if local.type == "int" else np.float64)

    def outputs(self) -> dict[str, Array]:
        """Arrays for what monitors compute."""
        dims = {
            s.name: s.dims for s in self.sweep_value.monitors if isinstance(s, Let)
        }
        return {
            n: np.zeros(tuple(_resolved(d.stop, {}, self.all_sizes) for d in dims[n]))
            for n in self.module.outputs
        }


def made_work(name: str) -> Array:
    """The array that a kernel works in, which a function of its module makes."""
    module = import_module(f"gibbsppl.runtime.loops.{kernels()[name]}")
    found: Array = getattr(module, name)()
    return found


def constants_of(
    sweep: Sweep, data: Values, sizes: dict[str, int]
) -> tuple[dict[str, Array], dict[str, int]]:
    """All arrays of data and what is computed of them, and the sizes of all dims."""
    arrays = {
        n: _as(data[n], a.type) for n, a in sweep.arrays.items() if a.kind == "data"
    }
    known = dict(sizes)
    for table in sweep.tables:
        made = made_by(table, {**data, **arrays}, known)
        arrays |= made
        for name, values in made.items():
            known |= dict(zip(sweep.arrays[name].dims, values.shape, strict=False))
    return arrays | computed(sweep.prepare, arrays, known), known


def made_by(table: Table, data: Values, sizes: Mapping[str, int]) -> dict[str, Array]:
    """The tables that a function of the runtime makes."""
    arguments = [_resolved(a, data, sizes) for a in table.arguments]
    found = getattr(position_tables, table.function)(*arguments)
    made = zip(table.names, found, strict=True)
    return {n: np.asarray(v, order="C") for n, v in made}  # (numbers stay without axes)


def _resolved(argument: Any, data: Values, sizes: Mapping[str, int]) -> Any:
    """An argument: an array by its name, a size, or itself."""
    match argument:
        case str() if argument.startswith("@"):
            return data[argument[1:]]
        case Size(dim=dim):
            return sizes[dim]
        case Number(value=value):
            return int(value)
        case Expr():
            raise TypeError(argument)
    return argument


def _type(sweep: Sweep, name: str) -> str:
    return sweep.arrays[name].type if name in sweep.arrays else "float"


def _as(values: Any, kind: str) -> Array:
    """An array of a type, laid out by rows; the same one if it is so."""
    found = np.asarray(values)
    wanted = found.dtype if found.dtype in INTEGERS else np.dtype(np.int64)
    return np.asarray(found, dtype=wanted if kind == "int" else np.float64, order="C")
