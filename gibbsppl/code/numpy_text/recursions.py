"""Recursive arrays: one function for each system, with a loop over positions.

The arguments are the arrays that the system reads, so that a draw can evaluate a proposal. The
first axes of the results go along outer dims, beside the system's own axes.
"""

from __future__ import annotations

from collections.abc import Iterable

from gibbsppl.algebra.copies import root_of
from gibbsppl.algebra.expressions import Dim
from gibbsppl.code.arrays.expressions import Expr, Position, Span
from gibbsppl.code.arrays.systems import Block, Given, Recursive, System, taken_out
from gibbsppl.code.lines import INDENT
from gibbsppl.code.numpy_text.reads import elements_text
from gibbsppl.code.numpy_text.text import Text, slice_text, tuple_text
from gibbsppl.code.numpy_text.writer import Computed, Writer


def recursive_text(writer: Writer, e: Recursive) -> Text:
    """The elements of a recursion, read from the result of a single call."""
    outer, owns = writer.sorted(e.system.free), [own for own, _ in e.system.shapes]
    code = call_text(writer, e.system, outer)
    if len(owns) > 1:
        code += f"[{owns.index(e.array)}]"
    shape = tuple(map(writer.whole, dict(e.system.shapes)[e.array]))
    return elements_text(writer, Computed(code, outer, shape), e.indices)


def call_text(writer: Writer, system: System, outer: tuple[str, ...]) -> str:
    """The call of the function that computes the arrays of a system."""
    name, reads, dims = _function(writer, system, outer)
    arguments = [*map(writer.array, reads), *map(writer.size_text, dims)]
    return f"{name}({', '.join(arguments)})"


def _function(
    writer: Writer, system: System, outer: tuple[str, ...]
) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """The name of a system's function, its argument arrays, and the dims of argument sizes."""
    key = (system, tuple((d, writer.places_along(d)) for d in outer))
    if key not in writer.hoisted.functions:
        plain = {own: system.plain_name(own) for own, _ in system.shapes}
        name = writer.names.fresh("_and_".join(plain.values()) + "_by_recursion")
        inner = writer.for_function(
            {
                own: Computed(
                    writer.names.fresh(f"{plain[own]}_so_far"),
                    outer,
                    tuple(map(writer.whole, sizes)),
                )
                for own, sizes in system.shapes
            }
        )
        owns = [inner.computed[own] for own in plain]
        body = [_empty(inner, inner.computed[own], sizes) for own, sizes in system.shapes]
        for block in system.blocks:
            body += _block(inner, block, system.owns, outer)
        reads = tuple(sorted({*inner.state_names, *inner.constant_names, *inner.given}))
        told = ", ".join(plain.values())
        lines = [
            f"def {name}({', '.join([*map(inner.names.of, reads), *inner.sizes_read.values()])}):",
            f'{INDENT}"""{told}, one position after the other."""',
            *(INDENT + line for line in body),
            f"{INDENT}return {', '.join(own.code for own in owns)}",
        ]
        writer.hoisted.functions[key] = (name, reads, tuple(inner.sizes_read), "\n".join(lines))
    return writer.hoisted.functions[key][:3]


def _empty(writer: Writer, array: Computed, sizes: Iterable[Expr]) -> str:
    shape = tuple_text([*map(writer.extent, array.outer), *map(writer.whole_text, sizes)])
    return f'{array.code} = {writer.call("full")}({shape}, float("nan"))'


def _block(writer: Writer, block: Block, owns: frozenset[str], outer: tuple[str, ...]) -> list[str]:
    """The lines of some positions: a loop, after what it need not compute, or one position."""
    if block.span is None:
        return [_line(writer, s, outer, {}) for s in block.steps]
    lines: list[str] = []
    steps = list[Given]()
    for s in block.steps:
        step, parts = taken_out(s, block.span, owns, len(writer.computed))
        steps.append(step)
        for name, (spans, value) in parts.items():
            lines += _part(writer, name, spans, value, outer)
    along = writer.names.fresh(root_of(Dim(block.stem)))
    if not any(block.span.dim in x.free for s in steps for x in (s.element, s.value)):
        along = "_"
    ends = ", ".join(map(writer.whole_text, block.span.ends))
    if block.is_backward:
        first, last = (writer.whole_text(e, -1) for e in reversed(block.span.ends))
        ends = f"{first}, {last}, -1"
    body = [_line(writer, s, outer, {block.span.dim: along}) for s in steps]
    return [*lines, f"for {along} in range({ends}):", *(INDENT + line for line in body)]


def _part(
    writer: Writer, name: str, spans: tuple[Span, ...], value: Expr, outer: tuple[str, ...]
) -> list[str]:
    """The line of a part that is computed for all positions at once."""
    dims = (*outer, *(s.dim for s in spans))
    with writer.over(spans), writer.arranged(dims):
        code = writer.full(writer.text(value), dims)
    shape = tuple(len(writer.positions(s)) for s in spans)
    writer.computed[name] = Computed(writer.names.fresh("part"), outer, shape)
    return [f"{writer.computed[name].code} = {code}"]


def _line(writer: Writer, s: Given, outer: tuple[str, ...], fixed: dict[str, str | int]) -> str:
    """One step at one position."""
    dims = (*outer, *(x.dim for x in s.over))
    with writer.over(s.over), writer.at(fixed), writer.arranged(dims):
        code = writer.align(writer.text(s.value), dims)
        array = writer.computed[s.element.array]
        index = [_index(writer, i, n) for i, n in zip(s.element.indices, array.shape, strict=True)]
    shown = ", ".join([*(":" for _ in outer), *index])
    return f"{array.code}[{shown}] = {code}" if shown else f"{array.code} = {code}"


def _index(writer: Writer, i: Expr, size: int) -> str:
    """The index of the elements that a step gives along an axis."""
    if isinstance(i, Position) and i.dim not in writer.fixed:
        own = writer.places_along(i.dim)
        return slice_text(own.start + i.shift, own.stop + i.shift, size)
    return writer.text(i).code
