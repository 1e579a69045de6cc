"""The text of a sweep in parts: a function for each, for one chunk where a loop has several.

Comes in: a `Sweep` and the sizes of its dims. Goes out: the text, with the arguments of each
function and the number of its chunks. What parts have in common is an array outside of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gibbsppl.code.arrays.accesses import writes
from gibbsppl.code.arrays.chunks import Known, Part, in_chunks
from gibbsppl.code.arrays.expressions import Element, Size, Span, walk
from gibbsppl.code.arrays.fusion import fused
from gibbsppl.code.arrays.loads import read_once
from gibbsppl.code.arrays.statements import Loop, Statement
from gibbsppl.code.arrays.storage import Local, declared, stored_axes, without_axes
from gibbsppl.code.arrays.sweeps import Sweep, dims_sized, names_in, numbers_of
from gibbsppl.code.loop_text.expressions import Writer, kernels
from gibbsppl.code.loop_text.module import (
    STREAM,
    TAKEN,
    allocated,
    function_text,
    imports_of,
    outside,
    room,
    stored_part,
)
from gibbsppl.code.loop_text.statements import Lines
from gibbsppl.code.names import Names

# The numbers that say which positions a chunk has.
FIRST, STOP = "chunk first", "chunk stop"


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the text: its arguments are a generator, sizes, arrays, works, and a chunk.

    ``span`` is cut into ``chunks``; ``sums`` are the arrays that each chunk adds to by itself.
    """

    name: str
    arrays: tuple[str, ...]
    works: tuple[str, ...]
    span: Span | None = None
    chunks: int = 1
    sums: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PartedModule:
    """The text of a sweep in parts, its functions in order, and new arrays that they share."""

    text: str
    imports: tuple[tuple[str, tuple[str, ...]], ...]
    sizes: tuple[str, ...]
    functions: tuple[Function, ...]
    monitor: Function
    shared: Mapping[str, Local]


def parted_module(sweep: Sweep, sizes: Mapping[str, int]) -> PartedModule:
    """The module of a sweep in parts, for sizes that say which loops are worth cutting."""
    work = _Work(sweep, Names(TAKEN | set(kernels())))
    stored, made = _stored(sweep.statements, ())
    known = {n: Known(tuple(room(d.stop) for d in a.dims), a.type) for n, a in stored.items()}
    known |= {n: Known(tuple(map(Size, a.dims)), a.type) for n, a in sweep.arrays.items()}
    parts = in_chunks(made, known, frozenset(sweep.arrays), sizes)
    shared = _shared(stored, parts)
    bodies = [work.body(f"part_{k}", p, stored, shared) for k, p in enumerate(parts, 1)]
    looked, own = _stored(sweep.monitors, sweep.outputs)
    outputs = {n: looked[n] for n in sweep.outputs if n in looked}
    last = work.body("monitor", Part(own), looked, outputs)
    told = tuple(sorted({d for b in (*bodies, last) for d in b.sizes}))
    text = "\n\n".join(work.text(b, told) for b in (*bodies, last))
    functions = tuple(b.function for b in bodies)
    return PartedModule(text, imports_of(work.kernels), told, functions, last.function, shared)


def _stored(
    statements: Sequence[Statement], whole: Iterable[str]
) -> tuple[dict[str, Local], tuple[Statement, ...]]:
    """The new arrays of statements with the axes that they need, and fused statements."""
    locals_, made = declared(statements)
    made = fused(made)
    axes = stored_axes(made, locals_, whole)
    return {n: stored_part(locals_[n], a) for n, a in axes.items()}, without_axes(made, axes)


def _shared(stored: Mapping[str, Local], parts: Sequence[Part]) -> dict[str, Local]:
    """The new arrays that several parts have, or that chunks add to."""
    users = [names_in(p.statements) for p in parts]
    sums = {n for p in parts for n in p.sums}
    return {n: a for n, a in stored.items() if n in sums or sum(n in names for names in users) > 1}


@dataclass(frozen=True, slots=True)
class _Body:
    """The lines of a function, and what it needs from outside."""

    function: Function
    lines: tuple[str, ...]
    numbers: tuple[str, ...]
    changed: frozenset[str]
    sizes: frozenset[str]


@dataclass(slots=True)
class _Work:
    """The functions of a sweep: names, and the kernels that are called."""

    sweep: Sweep
    names: Names
    kernels: set[str] = field(default_factory=set)

    def body(
        self,
        name: str,
        part: Part,
        stored: Mapping[str, Local],
        shared: Mapping[str, Local],
    ) -> _Body:
        """The function of a part, whose new arrays are ``stored``; some are ``shared``."""
        is_cut = part.chunks > 1
        cut = tuple(map(_of_chunk, part.statements)) if is_cut else part.statements
        statements = read_once(cut)
        writer, used = Writer(self.names, lanes=self.sweep.lanes), names_in(statements)
        lines = Lines(writer, stored)
        found = lines.of(statements)
        self.kernels |= writer.used
        own = {n: a for n, a in stored.items() if n in used and a.dims and n not in shared}
        made = [allocated(writer, n, a) for n, a in own.items()]
        prepared = names_in(self.sweep.prepare) - self.sweep.arrays.keys()
        given = [n for n in (*self.sweep.arrays, *sorted(prepared), *shared) if n in used]
        is_number = numbers_of(self.sweep) | {n for n, a in shared.items() if not a.dims}
        function = Function(
            self.names.fresh(name) if name != "monitor" else name,
            tuple(given),
            tuple(sorted(lines.working)),
            _span(part) if is_cut else None,
            part.chunks,
            part.sums,
        )
        ends = (e for a in own.values() for d in a.dims for e in walk(d.stop))
        sized = dims_sized(statements) | {e.dim for e in ends if isinstance(e, Size)}
        numbers = tuple(n for n in given if n in is_number)
        return _Body(function, (*made, *found), numbers, writes(statements), sized)

    def text(self, body: _Body, sizes: Sequence[str]) -> str:
        """The text of a function: numbers are read, and put back where they are changed."""
        w, f = Writer(self.names), body.function
        arrays = (outside(w, n) if n in body.numbers else w.array(n) for n in f.arrays)
        works = (w.names.called("work", n, like=n) for n in f.works)
        ends = [w.array(FIRST), w.array(STOP)] if f.span is not None else []
        called = ", ".join(["generator", "sizes", *arrays, *works, *ends])
        put = [n for n in body.numbers if n in body.changed]
        lines = [
            STREAM,
            *(f"{w.size(d)} = sizes[{k}]" for k, d in enumerate(sizes) if d in body.sizes),
            *(f"{w.array(n)} = {outside(w, n)}[()]" for n in body.numbers),
            *body.lines,
            *(f"{outside(w, n)}[()] = {w.array(n)}" for n in put),
        ]
        return function_text(f.name, called, lines)


def _span(part: Part) -> Span:
    (loop,) = part.statements
    assert isinstance(loop, Loop)
    return loop.over[0]


def _of_chunk(s: Statement) -> Statement:
    """A loop over the positions of one chunk."""
    assert isinstance(s, Loop)
    return replace(s, over=(Span(s.over[0].dim, Element(FIRST), Element(STOP)),))
