"""The text of a module of loops: a sweep, what is recorded, and runs of many sweeps.

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
from gibbsppl.code.arrays.statements import Statement
from gibbsppl.code.arrays.storage import Local, declared, stored_axes, without_axes
from gibbsppl.code.arrays.sweeps import Sweep, dims_sized, names_in
from gibbsppl.code.lines import INDENT, indented
from gibbsppl.code.loop_text.expressions import Writer, kernels
from gibbsppl.code.loop_text.statements import Lines
from gibbsppl.code.names import Names

# Names of the text itself.
TAKEN = frozenset(
    (
        *("np", "rng", "sizes", "sweeps", "thin", "draws", "draw", "sweep", "monitor", "run"),
        *("record", "range", "kernel", "max", "min", "len", "_"),
    )
)


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
    """The text of a module, and the arguments of its functions in order.

    ``state``, ``constants`` and ``outputs`` are names of arrays, ``works`` of the functions that
    make what kernels work in, ``sizes`` of dims; ``imports`` are the kernels by module. ``rooms``
    are for new arrays whose sizes are those of the model: made once, not in each sweep.
    """

    text: str
    state: tuple[str, ...]
    constants: tuple[str, ...]
    works: tuple[str, ...]
    outputs: tuple[str, ...]
    sizes: tuple[str, ...]
    imports: tuple[tuple[str, tuple[str, ...]], ...]
    rooms: tuple[Local, ...] = ()


@dataclass(frozen=True, slots=True)
class _Body:
    """The lines of a function, with what it needs from outside."""

    lines: tuple[str, ...]
    used: frozenset[str]
    changed: frozenset[str]
    sizes: frozenset[str]
    works: tuple[tuple[str, str], ...]
    names: Names
    kernels: frozenset[str]
    rooms: Mapping[str, Local]


def module_of(sweep: Sweep, outputs: Sequence[str] = ()) -> LoopModule:
    """The module of a sweep; ``outputs`` are new arrays of it that are arguments, to be looked at.

    With them the module has the sweep alone.
    """
    names = Names(TAKEN | set(kernels()))
    own = _body(names, sweep.statements, outputs)
    told = outputs or sweep.outputs
    monitor = _body(names, () if outputs else sweep.monitors, sweep.outputs)
    bodies = (own, monitor)
    used = own.used | monitor.used
    state = tuple(n for n, a in sweep.arrays.items() if a.kind == "state" and n in used)
    prepared = sorted(n for n in names_in(sweep.prepare) if n not in sweep.arrays and n in used)
    given = (n for n, a in sweep.arrays.items() if a.kind != "state" and n in used)
    constants = (*given, *prepared)
    sizes = tuple(sorted(own.sizes | monitor.sizes))
    works = tuple(sorted(dict(own.works)))
    writer = Writer(names)
    rooms = own.rooms
    head = _Head(writer, sweep, (*state, *constants), sizes, dict(own.works), tuple(rooms))
    looked_at = [writer.array(n) for n in outputs]
    text = head.function("sweep", own, looked_at, state)
    if not outputs:
        shown = [writer.array(n) for n in sweep.outputs]
        text += "\n\n" + head.function("monitor", monitor, shown, state)
        text += "\n\n" + "\n\n".join(_runs(writer, head, state, sweep.outputs))
    imports = imports_of({k for b in bodies for k in b.kernels})
    made = tuple(rooms.values())
    return LoopModule(text, state, constants, works, tuple(told), sizes, imports, made)


def _body(names: Names, statements: Sequence[Statement], outputs: Sequence[str]) -> _Body:
    """The lines of statements; new arrays that are ``outputs`` are given."""
    locals_, made = declared(statements)
    made = fused(made)
    axes = stored_axes(made, locals_, outputs)
    made = read_once(without_axes(made, axes))
    writer = Writer(names)
    lines = Lines(writer, locals_)
    found = lines.of(made)
    kept = [n for n in locals_ if any(axes.get(n, ())) and n not in outputs]
    stored = {n: stored_part(locals_[n], axes[n]) for n in kept}
    rooms = {} if outputs else {n: a for n, a in stored.items() if _is_room(a)}
    new = [allocated(writer, n, a) for n, a in stored.items() if n not in rooms]
    zero = {n for n in outputs if n in locals_ and not locals_[n].dims}
    found += [f"{outside(writer, n)}[()] = {writer.array(n)}" for n in sorted(zero)]
    sizes = dims_sized(made) | {d for n in kept for d in _sizes_of(locals_[n])}
    works = tuple(lines.working.items())
    body = (*new, *found)
    return _Body(
        body, names_in(made), writes(made), sizes, works, names, frozenset(writer.used), rooms
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
    return f"{writer.array(name)} = np.empty({shape}{more})"


def room(stop: Expr) -> Expr:
    """The largest stop of an axis, of those at all positions."""
    if isinstance(stop, Apply) and stop.function == "smaller" and stop.free:
        return next(e for e in stop.arguments if not e.free)
    return stop


@dataclass(frozen=True, slots=True)
class _Head:
    """The arguments of all functions, and the lines that read numbers from them."""

    writer: Writer
    sweep: Sweep
    names: tuple[str, ...]
    sizes: tuple[str, ...]
    works: dict[str, str]
    rooms: tuple[str, ...]

    @property
    def arguments(self) -> list[str]:
        """The arguments that all functions have."""
        arrays = [
            outside(self.writer, n) if self.is_number(n) else self.writer.array(n)
            for n in self.names
        ]
        works = (self.works[w] for w in sorted(self.works))
        return ["rng", "sizes", *arrays, *works, *map(self.writer.array, self.rooms)]

    def is_number(self, name: str) -> bool:
        """Whether an array from outside has no axes."""
        return name in self.sweep.arrays and not self.sweep.arrays[name].dims

    def function(
        self, name: str, body: _Body, more: Sequence[str], packed: Sequence[str]
    ) -> str:
        """The text of a function; numbers that it changes are put back into ``packed`` arrays."""
        w = self.writer
        numbers = [n for n in self.names if self.is_number(n) and n in body.used]
        put = [n for n in packed if self.is_number(n) and n in body.changed]
        lines = [
            *(f"{w.size(d)} = sizes[{k}]" for k, d in enumerate(self.sizes) if d in body.sizes),
            *(f"{w.array(n)} = {outside(w, n)}[()]" for n in numbers),
            *body.lines,
            *(f"{outside(w, n)}[()] = {w.array(n)}" for n in put),
        ]
        if name == "monitor":
            outputs = self.sweep.outputs
            is_number = {n: not _has_axes(self.sweep, n) for n in outputs}
            more = [outside(w, n) if is_number[n] else w.array(n) for n in outputs]
        called = ", ".join([*self.arguments, *more])
        return "\n".join(["@kernel", f"def {name}({called}):", *indented(lines or ["pass"]), ""])


def _has_axes(sweep: Sweep, name: str) -> bool:
    from gibbsppl.code.arrays.statements import Let  # noqa: PLC0415

    return any(isinstance(s, Let) and s.name == name and s.dims for s in sweep.monitors)


def outside(writer: Writer, name: str) -> str:
    """The name of an array without axes, whose number is read and put back."""
    return writer.names.called("outside", name, like=f"{name}_at")


def _runs(
    writer: Writer, head: _Head, state: Sequence[str], outputs: Sequence[str]
) -> list[str]:
    """The functions of many sweeps: without records, and with them.

    What is not recorded has a record of no draws.
    """
    arguments = ", ".join(head.arguments)
    run = [
        "@kernel",
        f"def run({arguments}, sweeps):",
        f"{INDENT}for _ in range(sweeps):",
        f"{INDENT * 2}sweep({arguments})",
        "",
    ]
    tuned = [n for n in state if not head.sweep.arrays[n].is_tuning]
    records = {n: writer.names.called("record", n, like=f"{n}_draws") for n in (*tuned, *outputs)}
    shown = {
        n: writer.array(n) if _has_axes(head.sweep, n) else outside(writer, n) for n in outputs
    }
    called = ", ".join([arguments, "draws", "thin", *shown.values(), *records.values()])
    lines = ["for draw in range(draws):", f"{INDENT}for _ in range(thin):"]
    lines += [f"{INDENT * 2}sweep({arguments})"]
    if outputs:
        lines += [f"{INDENT}monitor({', '.join([arguments, *shown.values()])})"]
    for n in tuned:
        value = f"{outside(writer, n)}[()]" if head.is_number(n) else writer.array(n)
        lines += _recorded(records[n], value)
    for n in outputs:
        value = shown[n] if _has_axes(head.sweep, n) else f"{shown[n]}[()]"
        lines += _recorded(records[n], value)
    record = ["@kernel", f"def record({called}):", *indented(lines), ""]
    return ["\n".join(run), "\n".join(record)]


def _recorded(record: str, value: str) -> list[str]:
    return [f"{INDENT}if len({record}):", f"{INDENT * 2}{record}[draw] = {value}"]


def imports_of(used: set[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The kernels that a module calls, by the module that has them."""
    found: dict[str, list[str]] = {}
    for name in sorted(used):
        found.setdefault(kernels()[name], []).append(name)
    return tuple((m, tuple(names)) for m, names in sorted(found.items()))


def whole_text(module: Text, package: str) -> str:
    """The text with its imports, from the package of plain or of compiled kernels."""
    lines = ["import numpy as np", "", f"from {package} import kernel"]
    lines += [f"from {package}.{m} import {', '.join(names)}" for m, names in module.imports]
    return "\n".join([*lines, "", "", module.text])


