"""A sweep in loops, ready to run: its text, its constants, and the arrays of a state for it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from math import prod
from typing import Any

import numpy as np

from gibbsppl.algebra.expressions import Dim
from gibbsppl.code.arrays.additions import added_where_drawn
from gibbsppl.code.arrays.alike import of_different_rows
from gibbsppl.code.arrays.blocks import in_blocks
from gibbsppl.code.arrays.buffers import buffered
from gibbsppl.code.arrays.checking import check
from gibbsppl.code.arrays.contraction import contracted
from gibbsppl.code.arrays.curves import searched
from gibbsppl.code.arrays.divisors import divided_beforehand
from gibbsppl.code.arrays.evaluation import computed
from gibbsppl.code.arrays.exponentials import united
from gibbsppl.code.arrays.expressions import Expr, Number, Size
from gibbsppl.code.arrays.few import written_out
from gibbsppl.code.arrays.fours import in_fours
from gibbsppl.code.arrays.gates import with_gates_first
from gibbsppl.code.arrays.gathers import gathered
from gibbsppl.code.arrays.halves import halved
from gibbsppl.code.arrays.lifting import lifted
from gibbsppl.code.arrays.numbers import with_tables
from gibbsppl.code.arrays.partial_sums import in_partial_sums
from gibbsppl.code.arrays.parting import parted
from gibbsppl.code.arrays.passing import without_passing
from gibbsppl.code.arrays.picked import picked
from gibbsppl.code.arrays.recursions import unfolded
from gibbsppl.code.arrays.sharing import shared
from gibbsppl.code.arrays.singles import in_single, singles
from gibbsppl.code.arrays.statements import Let
from gibbsppl.code.arrays.storage import Local
from gibbsppl.code.arrays.sweeps import Sweep, Table, names_in
from gibbsppl.code.arrays.tabulation import tabulated
from gibbsppl.code.arrays.weights import by_weights
from gibbsppl.code.loop_text.expressions import kernels
from gibbsppl.code.loop_text.loading import loaded, plain
from gibbsppl.code.loop_text.module import LoopModule, module_of
from gibbsppl.code.lowering.sweeps import lowered
from gibbsppl.code.program import State
from gibbsppl.model.evaluation import Values
from gibbsppl.runtime import position_tables
from gibbsppl.runtime.tuning import tuning_arrays
from gibbsppl.runtime.types import Array
from gibbsppl.schedule.deferral import passing
from gibbsppl.schedule.sweeps import Schedule

FIRST: tuple[Callable[[Sweep], Sweep], ...] = (unfolded, by_weights)
# Passes that look at the sizes of vectors and tables.
BY_SIZE: tuple[Callable[[Sweep, Mapping[str, int]], Sweep], ...] = (
    picked,
    written_out,
    tabulated,
    gathered,
)
PASSES: tuple[Callable[[Sweep], Sweep], ...] = (
    shared,
    in_blocks,
    buffered,
    contracted,
    parted,
    lifted,
    united,
    shared,
    added_where_drawn,
    halved,
    in_fours,
)


# Functions that make tables of what they are given, which is not to be compared.
ITSELF = frozenset({"as_given", "as_computed"})
# Types of positions that loops read as they are; those of real numbers, by how they are kept.
INTEGERS = (np.dtype(np.int32), np.dtype(np.int64))
REALS: Mapping[str, np.dtype[Any]] = {"float": np.dtype(np.float64), "single": np.dtype(np.float32)}


def for_loops(sweep: Sweep, sizes: Mapping[str, int], data: Values) -> Sweep:
    """The sweep, looked at, after the passes that prepare it for loops, for data and sizes."""
    sweep = check(sweep, sizes)
    for first in FIRST:
        sweep = first(sweep)
    for of_size in BY_SIZE:
        sweep = of_size(sweep, sizes)
    for one in PASSES:
        sweep = one(sweep)
    sweep = searched(with_gates_first(sweep, sizes), data, sizes)
    return in_partial_sums(divided_beforehand(sweep, data, sizes), sizes)


def loops_of(
    schedule: Schedule,
    data: Values,
    constants: Mapping[str, Any],
    dtype: str = "float64",
    kept: Collection[str] | None = None,
    *,
    is_fit: bool = False,
    is_partial: bool = False,
) -> LoopProgram:
    """The sweep of a schedule in loops; ``constants`` are those of the program in NumPy.

    What it tells after a sweep is the bound of a fit, or named functions of the state. One that is
    partial, without the steps that the language does not have, is there to be looked at.

    ``dtype`` is what large arrays of real numbers are kept in. Of auxiliary variables that no other
    sweep reads the state has those ``kept`` (default: all).
    """
    whole = schedule.whole
    sizes = {d.name: n for d, n in whole.sizes.items()}
    names = () if kept is None else [n for n in passing(schedule) if n not in kept]
    found = lowered(schedule, data, constants, is_fit=is_fit, is_partial=is_partial)
    sweep = for_loops(of_different_rows(without_passing(found, names), data), sizes, data)
    if dtype == "float32":
        sweep = in_single(sweep, singles(sweep, whole, data, whole.sizes))
    sums = tuple(dict.fromkeys(a.name for s in schedule.steps for a in s.maintained))
    apart = (*sums, *(n for n in names if n not in sweep.arrays))
    return replace(LoopProgram.of(sweep, data, schedule.whole.sizes), apart=apart)


@dataclass(frozen=True, eq=False)
class LoopProgram:
    """A sweep in loops for data; what depends on data alone is computed when it is asked for.

    What sweeps in NumPy have in the state and loops do not is ``apart``: sums that are kept up to
    date, and auxiliary variables. Tables that ``others`` have made of the same data are shared.
    """

    sweep_value: Sweep
    data: Values
    model_sizes: Mapping[str, int]
    apart: tuple[str, ...] = ()
    others: LoopProgram | None = None

    @classmethod
    def of(cls, sweep: Sweep, data: Values, sizes: Mapping[Dim, int]) -> LoopProgram:
        """The program of a sweep for data."""
        return cls(sweep, data, {d.name: n for d, n in sizes.items()})

    def __getstate__(self) -> dict[str, Any]:
        """The program ready to run: what has been made of data, and not how it is made."""
        made = {"module": self.module, "_prepared": self._prepared}
        ready = {"sweep_value": replace(self.sweep_value, tables=()), "data": {}, "others": None}
        return {**self.__dict__, **ready, "with_numbers": ready["sweep_value"], **made}

    @cached_property
    def module(self) -> LoopModule:
        """The text of the loops, and the order of their arguments."""
        return module_of(self.with_numbers)

    @cached_property
    def with_numbers(self) -> Sweep:
        """The sweep with numbers in tables, so that its text serves other data."""
        return with_tables(self.sweep_value)

    @cached_property
    def _prepared(self) -> tuple[dict[str, Array], dict[str, int]]:
        needed = frozenset(self.module.constants)
        shared = {} if self.others is None else self.others.made
        return constants_of(self.with_numbers, self.data, self.known_sizes, needed, shared)

    def beside(self, others: LoopProgram) -> LoopProgram:
        """The same program, sharing tables with others of the same data."""
        return replace(self, others=others)

    @property
    def made(self) -> Mapping[Table, Mapping[str, Array]]:
        """Tables of data as far as they are kept."""
        every = (t for t in self.with_numbers.tables if t.function not in ITSELF)
        return {t: {n: self.known[n] for n in t.names if n in self.known} for t in every}

    @property
    def is_single(self) -> bool:
        """Whether arrays are kept in single precision."""
        return any(a.type == "single" for a in self.sweep_value.arrays.values())

    @property
    def known_sizes(self) -> dict[str, int]:
        """The sizes of the dims that are known before anything is computed."""
        return {**self.model_sizes, **self.sweep_value.sizes}

    @cached_property
    def constants(self) -> tuple[Array, ...]:
        """All that the loops read beside the state."""
        return tuple(self.known[n] for n in self.module.constants)

    @property
    def known(self) -> Mapping[str, Array]:
        """The arrays that loops read beside the state, by name."""
        return self._prepared[0]

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

    def compiled(self) -> Runner:
        """A runner of sweeps by the function of the module, compiled when it is first called."""
        return Runner(self, loaded(self.module, self.sweep_value.name).run)

    def plain(self) -> Runner:
        """A runner of sweeps by the function of the module as Python carries it out."""
        return Runner(self, plain(self.module)["run"])

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
        return _as(np.zeros(tuple(self.all_sizes[d] for d in array.dims)), array.type)

    def arguments(
        self,
        rng: np.random.Generator,
        arrays: Mapping[str, Array],
        deferred: Collection[str] | None = None,
    ) -> tuple[Any, ...]:
        """The arguments of sweeps, of which those recorded carry out ``deferred`` steps.

        By default every sweep carries out all of them.
        """
        state = (arrays[n] for n in self.module.state)
        rooms = (self._room(a) for a in self.module.rooms)
        own = self.sweep_value.deferred
        named = (own, own) if deferred is None else ((), deferred)
        asked = [np.array([[int(step in some) for step in own] for some in named])] if own else []
        return (rng, self.sizes, *state, *self.constants, *self.works, *rooms, *asked)

    def _room(self, local: Local) -> Array:
        """The room of a new array."""
        shape = tuple(_resolved(d.stop, {}, self.all_sizes) for d in local.dims)
        return aligned(shape, np.dtype(np.int64 if local.type == "int" else np.float64))

    def outputs(self) -> dict[str, Array]:
        """Arrays for what monitors compute."""
        dims = {
            s.name: s.dims for s in self.sweep_value.monitors if isinstance(s, Let)
        }
        return {
            n: np.zeros(tuple(_resolved(d.stop, {}, self.all_sizes) for d in dims[n]))
            for n in self.module.outputs
        }

    def unrecorded(self) -> list[Array]:
        """Records of no draws, of all arrays that may be recorded."""
        known = self.sweep_value.arrays
        drawn = {n: self._empty(n) for n in self.module.state if not known[n].is_tuning}
        return [np.empty((0, *a.shape), a.dtype) for a in (drawn | self.outputs()).values()]


@dataclass(frozen=True, slots=True)
class Runner:
    """Sweeps by the function of a module."""

    program: LoopProgram
    run: Callable[..., None]

    def sweep(self, arguments: Sequence[Any], sweeps: int = 1) -> None:
        """Make sweeps, none of which is recorded."""
        outputs = _with_axes(self.program.outputs())
        self.run(*arguments, sweeps, 0, 1, *outputs, *self.program.unrecorded())

    def record(
        self,
        arguments: Sequence[Any],
        draws: int,
        thin: int,
        outputs: Mapping[str, Array],
        records: Sequence[Array],
    ) -> None:
        """Make sweeps, every ``thin``-th of which is recorded."""
        self.run(*arguments, 0, draws, thin, *_with_axes(outputs), *records)


def _with_axes(outputs: Mapping[str, Array]) -> list[Array]:
    return [a for a in outputs.values() if a.ndim]


def made_work(name: str) -> Array:
    """The array that a kernel works in, which a function of its module makes."""
    module = import_module(f"gibbsppl.runtime.loops.{kernels()[name]}")
    found: Array = getattr(module, name)()
    return found


def constants_of(
    sweep: Sweep,
    data: Values,
    sizes: dict[str, int],
    needed: frozenset[str],
    shared: Mapping[Table, Mapping[str, Array]],
) -> tuple[dict[str, Array], dict[str, int]]:
    """The arrays that are needed, of data and what is computed of them; the sizes of all dims.

    What only other tables are made of goes when they are made. All is computed of doubles.
    ``shared`` are tables that need not be made.
    """
    known = dict(sizes)
    tables, taken = _to_make(sweep, needed, shared)
    wanted = needed | names_in(sweep.prepare)
    given = (n for n, a in sweep.arrays.items() if a.kind == "data" and n in wanted)
    arrays = {n: _as(data[n], "int" if sweep.arrays[n].type == "int" else "float") for n in given}
    for k, table in enumerate(tables):
        found = None if table.function in ITSELF else taken.get(table)
        made = found or made_by(table, {**data, **arrays}, known)
        for name, values in made.items():
            known |= dict(zip(sweep.arrays[name].dims, values.shape, strict=False))
        still = wanted | {n for later in tables[k + 1 :] for n in _read(later)}
        arrays = {n: a for n, a in {**arrays, **made}.items() if n in still}
    arrays |= computed(sweep.prepare, arrays, known)
    return {n: _as(arrays[n], _type(sweep, n)) for n in needed}, known


def _to_make(
    sweep: Sweep, needed: frozenset[str], shared: Mapping[Table, Mapping[str, Array]]
) -> tuple[list[Table], Mapping[Table, Mapping[str, Array]]]:
    """The tables of a sweep in order, and what is shared of those that need not be made.

    Without what is only read by tables that are shared.
    """
    wanted, tables = needed | names_in(sweep.prepare), list[Table]()
    taken: dict[Table, Mapping[str, Array]] = {}
    for table in reversed(sweep.tables):
        own = wanted.intersection(table.names)
        found = shared.get(table, {}) if shared and table.function not in ITSELF else {}
        if own and own <= found.keys():
            taken[table] = {n: found[n] for n in own}
        elif own or not shared:
            wanted |= _read(table)
        else:
            continue
        tables.insert(0, table)
    return tables, taken


def _read(table: Table) -> set[str]:
    """The arrays that a table is made of."""
    return {a[1:] for a in table.arguments if isinstance(a, str) and a.startswith("@")}


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


# Bytes of a line of the caches of a processor, which reads two lines where a vector is in both.
LINE = 64


def aligned(shape: tuple[int, ...], kind: np.dtype[Any]) -> Array:
    """An empty array that begins with a line of the caches."""
    size = kind.itemsize * prod(shape)
    room = np.empty(size + LINE, dtype=np.uint8)
    first = -room.ctypes.data % LINE
    return room[first : first + size].view(kind).reshape(shape)


def _as(values: Any, kind: str) -> Array:
    """An array of a type, laid out by rows; the same one if it is so."""
    found = np.asarray(values)
    whole = found.dtype if found.dtype in INTEGERS else np.dtype(np.int64)
    wanted: np.dtype[Any] = whole if kind == "int" else REALS[kind]
    return np.asarray(found, dtype=wanted, order="C")
