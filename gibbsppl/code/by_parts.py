"""Steps whose temporary arrays would exceed the limit of memory, drawn part by part.

Comes in: a step, what its functions and its lines read, and the bytes that they hold. Goes out: the
function that draws it, and the line that calls it for some positions of the first axis at a time.
Elements may be drawn so where everything that is read along the first dim of the array is read at
the position of the element that is drawn.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from gibbsppl.algebra.copies import root_of
from gibbsppl.algebra.expressions import Dim
from gibbsppl.algebra.ranges import size_of
from gibbsppl.code.arrays.expressions import Element, Expr, Position, Reduce, Size
from gibbsppl.code.arrays.systems import Recursive
from gibbsppl.code.lines import INDENT, indented
from gibbsppl.code.numpy_text.writer import Seen, Writer
from gibbsppl.model.memory import BYTES, memory_limit, size_told
from gibbsppl.runtime.temporaries import TEMPORARIES, USUAL
from gibbsppl.schedule.kinds import Single
from gibbsppl.schedule.steps import Step

if TYPE_CHECKING:
    from gibbsppl.code.module import Module

# Bytes that a part holds: what is done with them stays in the cache.
A_PART = 8 << 20
CALLED = re.compile(r"runtime\.(\w+)\(")


@dataclass(frozen=True, slots=True)
class Held:
    """The most bytes of temporary arrays of a step in NumPy.

    ``at_once`` are those if all of its elements were drawn in one call, ``limit`` is the most by
    default, ``positions`` how many are drawn in a call otherwise.
    """

    bytes: int
    at_once: int
    limit: int
    along: str = ""
    positions: int = 0

    @property
    def is_within(self) -> bool:
        """Whether the step holds no more than it may by default."""
        return self.bytes <= self.limit

    @property
    def told(self) -> str:
        """How the step is carried out where it would hold too much all at once, in words."""
        whole = f"{size_told(self.at_once)}, of {size_told(self.limit)} at most"
        if self.positions:
            parts = f"{self.positions:,} positions along {self.along} at a time"
            return f"drawn in NumPy at {parts}: all at once {whole}"
        return f"in compiled loops, where all steps can be compiled: in NumPy {whole}"


def limit_of(module: Module) -> int:
    """The most bytes of temporary arrays by default, by the sizes of the data and the state."""
    return int(memory_limit(module.schedule.whole).bytes)


def bytes_held(module: Module, step: Step, lines: Sequence[str], writers: Iterable[Writer]) -> int:
    """The most bytes that a step holds: in one of its functions, or in the draw."""
    held = [w.held for w in writers]
    most = max((h.most for h in held), default=0)
    own = module.held.get(module.functions[step.name])
    given = 0 if own is None else own.left
    shapes = (module.graph.variables[n].dims for n in step.variables)
    sizes = module.graph.sizes
    drawn = BYTES * sum(prod(size_of(d, sizes) for d in dims) for dims in shapes)
    names = {name for line in lines for name in CALLED.findall(line)}
    rows = [TEMPORARIES[n] for n in sorted(names) if n in TEMPORARIES] or [USUAL]
    in_draw = max(row.bytes(drawn, given) for row in rows)
    return int(max(most, given + in_draw))


def with_parts(
    module: Module, step: Step, lines: list[str], writers: Sequence[Writer]
) -> list[str]:
    """The lines of a step in a sweep: a call for each part if it would hold too much at once."""
    own = [*module.writers_of.get(step.name, ()), *writers]
    held, limit = bytes_held(module, step, lines, own), limit_of(module)
    module.steps_held[step.name] = Held(held, held, limit)
    if held <= limit:
        return lines
    found = _axes_along(module, step, own)
    if found is None:
        return lines
    dim, state, data = found
    count = module.graph.sizes[dim]
    positions = max(1, int(A_PART * count / held))
    in_part = -(-held // count) * positions
    if in_part > limit:
        return lines
    module.steps_held[step.name] = Held(in_part, held, limit, dim.name, positions)
    name, size = module.function_of(step, "in_parts"), module.hoisted.size(dim.name)
    doc = f'{INDENT}"""Draw {step.name}, at all positions along {dim.name} or at some."""'
    head = [f"def {name}(rng, s, c):", doc]
    module.drawn_in_parts[step.name] = "\n".join([*head, *indented(lines)])
    array, tuned = step.variables[0], f"~{step.name}"
    of_state, of_data = map(_dict_text, (state, data))
    axes = f'"{array}", "{size}", {of_state}, {of_data}, "{tuned}", {positions}'
    return [
        f"runtime.drawn_by_parts({name}, rng, s, c, runtime.ByParts(",
        f"{INDENT}{axes}",
        "))",
    ]


def _dict_text(axes: Mapping[str, int]) -> str:
    """A dict of axes as text."""
    return "{" + ", ".join(f'"{n}": {a}' for n, a in axes.items()) + "}"


def _axes_along(
    module: Module, step: Step, writers: Sequence[Writer]
) -> tuple[Dim, dict[str, int], dict[str, int]] | None:
    """The first dim of what is drawn, and the axes along it of all that is read; None if tied."""
    if not isinstance(step, Single) or not module.is_whole(step) or step.asked or step.kept:
        return None
    if step.is_joint or step.joint or step.dense or step.support.is_tied or step.alpha is not None:
        return None
    if step.ties_elements:  # (drawn by one another, which no expression tells)
        return None
    dims = module.dims(step.statement)
    if not dims or any(w.lines for w in writers):
        return None
    dim = dims[0]
    if any(not _is_there(w, seen, dim.name) for w in writers for seen in w.seen):
        return None
    arrays = {step.variables[0], *_read(writers)} & set(module.graph.variables)
    variables = {n: module.graph.variables[n] for n in sorted(arrays)}
    axes = {n: v.dims.index(dim) for n, v in variables.items() if dim in v.dims}
    state = {n: a for n, a in axes.items() if variables[n].kind == "random"}
    data = {n: a for n, a in axes.items() if n not in state}
    texts = {t.code: t.dims for t in module.hoisted.known.values()}
    names = sorted({n for w in writers for n in w.constants if n in texts})
    return dim, state, data | {n: texts[n].index(dim.name) for n in names if dim.name in texts[n]}


def _read(writers: Iterable[Writer]) -> Iterator[str]:
    for w in writers:
        for seen in w.seen:
            if isinstance(seen.of, Element):
                yield seen.of.array


def _is_there(writer: Writer, seen: Seen, dim: str) -> bool:
    """Whether an expression reads along a dim at the position of what is drawn alone."""
    if not seen.is_whole(dim, writer.size):
        return False
    copies = {d for d in seen.dims if d != dim and root_of(Dim(d)).rstrip("'") == dim}
    if copies:
        return False
    if seen.is_known:
        return True
    match seen.of:
        case Element(array=array, indices=indices):
            return _is_element_there(writer, array, indices, dim)
        case Position() | Size():
            return seen.of.dim != dim
        case Reduce(spans=spans):
            is_along = any(root_of(Dim(s.dim)).rstrip("'") == dim for s in spans)
            return not is_along and dim not in _as_values(seen.of)
        case Recursive():
            return False
    return True


def _as_values(e: Expr) -> set[str]:
    """The dims whose positions are values of an expression, and no index alone."""
    if isinstance(e, Position | Size):
        return {e.dim}
    parts = e.indices if isinstance(e, Element) else e.parts
    is_index = isinstance(e, Element)
    inside = (p for p in parts if not (is_index and isinstance(p, Position)))
    return set[str]().union(*map(_as_values, inside))


def _is_element_there(writer: Writer, array: str, indices: Sequence[Expr], dim: str) -> bool:
    """Whether an element is read at the position along a dim wherever its array has that dim."""
    here = [i == Position(dim) for i in indices]
    if any(isinstance(i, Position) and i.dim == dim and i.shift for i in indices):
        return False
    if array in writer.aliases:
        return True
    known: Mapping[str, object] = writer.graph.variables
    own = writer.axes_of(array) if array in known or array == writer.local else ()
    return len(own) == len(here) and all(
        (d.name == dim) == is_here for d, is_here in zip(own, here, strict=True)
    )
