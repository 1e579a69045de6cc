"""The text of a module of loops: one function, of many sweeps, some of which are recorded.

Comes in: a `Sweep`. Goes out: the text, with the order of the arguments of its functions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from gibbsppl.code.arrays.accesses import writes
from gibbsppl.code.arrays.expressions import Apply, Expr, Number, Size, walk
from gibbsppl.code.arrays.fusion import fused
from gibbsppl.code.arrays.loads import read_once
from gibbsppl.code.arrays.statements import Let, Statement
from gibbsppl.code.arrays.storage import Local, declared, stored_axes, without_axes
from gibbsppl.code.arrays.sweeps import DEFERRED, Sweep, dims_sized, names_in, numbers_of
from gibbsppl.code.lines import indented
from gibbsppl.code.loop_text.expressions import Writer, kernels
from gibbsppl.code.loop_text.statements import Lines
from gibbsppl.code.names import Names

# What makes an array, and the decorators of functions that do and that do not.
NEW, MAKING, ENTRY = "np.empty", "making", "entry"
# Names of the text itself.
TAKEN = frozenset(
    (
        *("np", ENTRY, MAKING, "range", "divmod", "int", "max", "min", "len", "_"),
        *("stream_of", "generator", "rng", "sizes", "run", "before", "draws", "thin", "sweep"),
        *("draw", "left", "is_recorded"),
    )
)

# The first line of a function.
STREAM = "rng = stream_of(generator)"


class Text(Protocol):
    """The text of a module, and the kernels that it imports."""

    @property
    def text(self) -> str:
        """The functions."""

    @property
    def imports(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The kernels by module."""


@dataclass(frozen=True, slots=True)
class LoopModule:
    """The text of a module, and the arguments of its function in order.

    ``state``, ``constants`` and ``outputs`` are names of arrays, ``works`` of the functions that
    make what kernels work in, ``sizes`` of dims; ``imports`` are the kernels by module. ``rooms``
    are for new arrays whose sizes are those of the model: made once, not in each sweep; ``stored``
    are all new arrays.
    """

    text: str
    state: tuple[str, ...]
    constants: tuple[str, ...]
    works: tuple[str, ...]
    outputs: tuple[str, ...]
    sizes: tuple[str, ...]
    imports: tuple[tuple[str, tuple[str, ...]], ...]
    rooms: tuple[Local, ...] = ()
    stored: tuple[Local, ...] = ()


@dataclass(frozen=True, slots=True)
class _Body:
    """Lines of the function, with what they need from outside."""

    lines: tuple[str, ...]
    used: frozenset[str]
    changed: frozenset[str]
    sizes: frozenset[str]
    works: Mapping[str, str]
    kernels: frozenset[str]
    rooms: Mapping[str, Local]
    stored: Mapping[str, Local]


def module_of(sweep: Sweep) -> LoopModule:
    """The module of a sweep."""
    names = Names(TAKEN | set(kernels()))
    own = _body(names, sweep.lanes, sweep.statements)
    monitor = _body(names, sweep.lanes, sweep.monitors, sweep.outputs)
    bodies = (own, monitor)
    used = own.used | monitor.used
    state = tuple(n for n, a in sweep.arrays.items() if a.kind == "state" and n in used)
    prepared = sorted(n for n in names_in(sweep.prepare) if n not in sweep.arrays and n in used)
    kinds = {n: a.kind for n, a in sweep.arrays.items()}
    given = (n for n, kind in kinds.items() if kind not in ("state", "asked") and n in used)
    constants = (*given, *prepared)
    sizes = tuple(sorted(own.sizes | monitor.sizes))
    works = tuple(sorted(own.works))
    text = _Run(Writer(names), sweep, state, constants, sizes, own, monitor).text
    imports = imports_of({k for b in bodies for k in b.kernels})
    rooms = tuple(room for b in bodies for room in b.rooms.values())
    stored = tuple(local for b in bodies for local in b.stored.values())
    return LoopModule(text, state, constants, works, sweep.outputs, sizes, imports, rooms, stored)


def _body(
    names: Names,
    lanes: frozenset[str],
    statements: Sequence[Statement],
    outputs: Sequence[str] = (),
) -> _Body:
    """The lines of statements; new arrays that are ``outputs`` are given, unless without axes."""
    locals_, made = declared(statements)
    made = fused(made)
    axes = stored_axes(made, locals_, outputs)
    made = read_once(without_axes(made, axes))
    writer = Writer(names, lanes=lanes)
    lines = Lines(writer, locals_)
    found = lines.of(made)
    kept = [n for n in locals_ if any(axes.get(n, ())) and n not in outputs]
    stored = {n: stored_part(locals_[n], axes[n]) for n in kept}
    rooms = {n: a for n, a in stored.items() if _is_room(a)}
    new = [allocated(writer, n, a) for n, a in stored.items() if n not in rooms]
    sizes = dims_sized(made) | {d for n in kept for d in _sizes_of(locals_[n])}
    return _Body(
        (*new, *found),
        names_in(made),
        writes(made),
        sizes,
        lines.working,
        frozenset(writer.used),
        rooms,
        stored,
    )


def _sizes_of(local: Local) -> set[str]:
    return {e.dim for s in local.dims for e in walk(s.stop) if isinstance(e, Size)}


def stored_part(local: Local, kept: Sequence[bool]) -> Local:
    """A new array with the axes that are stored."""
    return Local(tuple(d for d, k in zip(local.dims, kept, strict=True) if k), local.type)


def _is_room(local: Local) -> bool:
    """Whether the size of a new array is that of dims of the model."""
    stops = [d.stop for d in local.dims]
    return any(isinstance(e, Size) for e in stops) and all(
        isinstance(e, Size | Number) for e in stops
    )


def allocated(writer: Writer, name: str, local: Local) -> str:
    """The line that makes a new array."""
    sizes = [writer.text(room(d.stop)) for d in local.dims]
    shape = f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"
    more = ", dtype=np.int64" if local.type == "int" else ""
    return f"{writer.array(name)} = {NEW}({shape}{more})"


def room(stop: Expr) -> Expr:
    """The largest stop of an axis, of those at all positions."""
    if isinstance(stop, Apply) and stop.function == "smaller" and stop.free:
        return next(e for e in stop.arguments if not e.free)
    return stop


@dataclass(frozen=True, slots=True)
class _Run:
    """The function of many sweeps.

    Some come ``before`` there are draws to record, each of which is the last of ``thin``. What is
    not recorded has a record of no draws. Everything stands at one place: what two functions have
    would be compiled twice.
    """

    writer: Writer
    sweep: Sweep
    state: tuple[str, ...]
    constants: tuple[str, ...]
    sizes: tuple[str, ...]
    own: _Body
    monitor: _Body

    @property
    def text(self) -> str:
        """The text of the function."""
        w = self.writer
        given = (*self.state, *self.constants)
        every = numbers_of(self.sweep)
        numbers = [n for n in given if n in every]
        changed = self.own.changed | self.monitor.changed
        rooms = (*self.own.rooms, *self.monitor.rooms)
        lines = [
            STREAM,
            *(f"{w.size(d)} = sizes[{k}]" for k, d in enumerate(self.sizes)),
            *(f"{w.array(n)} = {outside(w, n)}[()]" for n in numbers),
            "for sweep in range(before + draws * thin):",
            *indented(self._of_one_sweep()),
            *(f"{outside(w, n)}[()] = {w.array(n)}" for n in numbers if n in changed),
        ]
        arrays = (outside(w, n) if n in numbers else w.array(n) for n in given)
        works = (self.own.works[n] for n in sorted(self.own.works))
        asked = [outside(w, DEFERRED)] if self.sweep.deferred else []
        outputs = (w.array(n) for n in self.sweep.outputs if self.axes(n))
        records = map(self._record, self._recorded)
        arguments = ", ".join(
            [
                *("generator", "sizes", *arrays, *works, *map(w.array, rooms), *asked),
                *("before", "draws", "thin", *outputs, *records),
            ]
        )
        return function_text("run", arguments, lines)

    def _of_one_sweep(self) -> list[str]:
        """The lines of a sweep, with what is recorded after it."""
        w = self.writer
        asked = [f"{w.array(DEFERRED)} = {outside(w, DEFERRED)}[int(is_recorded)]"]
        told = [*self.monitor.lines, *(line for n in self._recorded for line in self._kept(n))]
        return [
            "draw, left = divmod(sweep - before, thin)",
            "is_recorded = draw >= 0 and left == thin - 1",
            *(asked if self.sweep.deferred else []),
            *self.own.lines,
            *(["if is_recorded:", *indented(told)] if told else []),
        ]

    @property
    def _recorded(self) -> tuple[str, ...]:
        """The arrays that may be recorded."""
        drawn = (n for n in self.state if not self.sweep.arrays[n].is_tuning)
        return (*drawn, *self.sweep.outputs)

    def _record(self, name: str) -> str:
        """The name of the record of an array."""
        return self.writer.names.called("record", name, like=f"{name}_draws")

    def _kept(self, name: str) -> list[str]:
        """Lines that record an array number by number, as `runtime.loops.copies` says why."""
        array, record = self.writer.array(name), self._record(name)
        called = self.writer.names.called
        at = [called("place", axis, like=f"at_{axis}") for axis in range(self.axes(name))]
        value = f"{array}[{', '.join(at)}]" if at else array
        lines = [f"{record}[{', '.join(['draw', *at])}] = {value}"]
        for axis, place in reversed([*enumerate(at)]):
            lines = [f"for {place} in range({array}.shape[{axis}]):", *indented(lines)]
        return [f"if len({record}):", *indented(lines)]

    def axes(self, name: str) -> int:
        """The number of axes of an array of the state, or of one that monitors compute."""
        if name in self.sweep.arrays:
            return len(self.sweep.arrays[name].dims)
        made = (s for s in self.sweep.monitors if isinstance(s, Let) and s.name == name)
        return max(len(s.dims) for s in made)


def function_text(name: str, arguments: str, lines: Sequence[str]) -> str:
    """The text of a function that Python calls, which says whether it makes arrays."""
    kind = MAKING if any(f" = {NEW}(" in line for line in lines) else ENTRY
    return "\n".join([f"@{kind}", f"def {name}({arguments}):", *indented(lines), ""])


def outside(writer: Writer, name: str) -> str:
    """The name of an array without axes, whose number is read and put back."""
    return writer.names.called("outside", name, like=f"{name}_at")


def imports_of(used: set[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The kernels that a module calls, by the module that has them."""
    found: dict[str, list[str]] = {}
    for name in sorted(used):
        found.setdefault(kernels()[name], []).append(name)
    return tuple((m, tuple(names)) for m, names in sorted(found.items()))


def whole_text(module: Text, package: str) -> str:
    """The text with its imports, from the package of plain or of compiled kernels."""
    lines = ["import numpy as np", "", f"from {package} import {ENTRY}, {MAKING}, stream_of"]
    lines += [f"from {package}.{m} import {', '.join(names)}" for m, names in module.imports]
    return "\n".join([*lines, "", "", module.text])


