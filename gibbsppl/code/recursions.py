"""Recursive arrays: one function for each system, with a loop over positions.

The arguments are the arrays that the system's steps read, so that a draw can evaluate a proposal.
The first axes of the results go along outer dims, beside the system's own axes.
"""

from __future__ import annotations

from itertools import pairwise

from gibbsppl.algebra.expressions import Dim, Expr
from gibbsppl.algebra.ranges import Range, plain_name
from gibbsppl.algebra.recursions import (
    Earlier,
    Own,
    Recursion,
    Step,
    System,
    step,
    taken_out,
    terms_of_remainder,
)
from gibbsppl.code.lines import INDENT, words
from gibbsppl.code.reads import elements_text
from gibbsppl.code.text import Text
from gibbsppl.code.writer import Computed, Writer


def recursion_text(writer: Writer, expr: Recursion) -> Text:
    """The elements of a recursion, read from the result of a single call."""
    outer, system = writer.sorted(expr.outer), expr.system.plain
    name, reads = _function(writer, system, outer)
    owns = tuple(system.axes)
    code = f"{name}({', '.join(writer.array(r) for r in reads)})"
    if not writer.preparing:
        code = writer.named_once(code, "_and_".join(map(str, owns)))
    if len(owns) > 1:
        code += f"[{owns.index(expr.own)}]"
    return elements_text(writer, Computed(code, outer, system.shape(expr.own)), expr.indices)


def earlier_text(writer: Writer, expr: Earlier) -> Text:
    """Elements of a recursion within the function that computes them."""
    return elements_text(writer, writer.computed[expr.own], expr.indices)


def _function(
    writer: Writer, system: System, outer: tuple[Dim, ...]
) -> tuple[str, tuple[str, ...]]:
    """The name of a system's function, and the names of its arguments."""
    ranges = tuple((d, *writer.range(d), writer.stride(d)) for d in outer)
    key = (system, ranges)
    if key not in writer.hoisted.functions:
        owns = tuple(system.axes)
        name = writer.names.fresh("_and_".join(map(str, owns)) + "_by_recursion")
        inner = writer.for_function(
            {
                own: Computed(writer.names.fresh(f"{own}_so_far"), outer, system.shape(own))
                for own in owns
            }
        )
        body = [line for own in owns for line in _empty(inner, own, outer)]
        system, lines = _with_parts(inner, system, outer)
        body += lines
        for start, stop in _spans(system):
            body += _span(inner, system, start, stop, outer)
        returned = ", ".join(inner.computed[own].code for own in owns)
        used = words("\n".join(body))
        arrays = sorted({*inner.state_names, *inner.constant_names, *inner.given})
        reads = tuple(a for a in arrays if inner.names.of(a) in used)
        told = ", ".join(map(str, owns))
        lines = [
            f"def {name}({', '.join(map(inner.names.of, reads))}):",
            f'{INDENT}"""{told}, one position after the other."""',
            *(INDENT + line for line in body),
            f"{INDENT}return {returned}",
        ]
        writer.hoisted.functions[key] = (name, reads, "\n".join(lines))
    name, reads, _ = writer.hoisted.functions[key]
    return name, reads


def _with_parts(
    writer: Writer, system: System, outer: tuple[Dim, ...]
) -> tuple[System, list[str]]:
    """The system, with names for parts free of its elements, and the lines of these parts."""
    steps, lines, count = list[Step](), list[str](), 0
    for s in system.args:
        value, parts = taken_out(s, count)
        count += len(parts)
        steps.append(step(s.element, value, s.over))
        dims = (*outer, *(r.dim for r in s.over))
        shape = (*(_length(writer, d) for d in outer), *map(len, s.over))
        for own, expr in parts.items():
            writer.computed[own] = Computed(writer.names.fresh("part"), outer, shape[len(outer) :])
            with writer.over(s.over), writer.arranged(dims):
                text = writer.write(expr)
                code = writer.align(text, dims)
            if text.dims != dims:
                code = f"{writer.call('broadcast_to')}({code}, {shape})"
            lines.append(f"{writer.computed[own].code} = {code}")
    return System(*steps), lines


def _empty(writer: Writer, own: Own, outer: tuple[Dim, ...]) -> list[str]:
    array = writer.computed[own]
    sizes = (*(_length(writer, d) for d in outer), *array.shape)
    return [f'{array.code} = {writer.call("full")}(({", ".join(map(str, sizes))},), float("nan"))']


def _length(writer: Writer, dim: Dim) -> int:
    return len(range(*writer.range(dim), writer.stride(dim)))


def _spans(system: System) -> list[tuple[int, int]]:
    """The positions, cut where a step begins or ends."""
    ends = {e for s in system.args for e in s.extent(system.axes[s.element.own])}
    cuts = sorted(ends)
    found = list(pairwise(cuts))
    return found[::-1] if system.is_backward else found


def _span(
    writer: Writer, system: System, start: int, stop: int, outer: tuple[Dim, ...]
) -> list[str]:
    """The lines of some positions: a loop, or the lines of one position."""
    steps = [s for s, _ in system.at(start)]
    if stop - start == 1:
        return [_line(writer, system, s, start, outer) for s in steps]
    dims = [_along(s, system) for s in steps]
    first = dims[0] if dims else None
    variable = writer.names.fresh(plain_name(first)) if isinstance(first, Dim) else "_"
    lines = [_line(writer, system, s, variable, outer) for s in steps]
    every = f"{stop - 1}, {start - 1}, -1" if system.is_backward else f"{start}, {stop}"
    return [f"for {variable} in range({every}):", *(INDENT + line for line in lines)]


def _along(s: Step, system: System) -> Expr:
    return s.element.indices[system.axes[s.element.own]]


def _line(
    writer: Writer, system: System, s: Step, at: str | int, outer: tuple[Dim, ...]
) -> str:
    """One step at one position."""
    along = _along(s, system)
    others = [r for r in s.over if r.dim != along]
    dims = (*outer, *(r.dim for r in others))
    fixed = {along: at} if isinstance(along, Dim) else {}
    with writer.over(others), writer.at(fixed), writer.arranged(dims):
        code = writer.align(writer.write(s.value), dims)
        if (terms := terms_of_remainder(s.value)) is not None:
            size, count = writer.align(writer.write(terms[0]), dims), terms[1]
            code = f"{writer.call('remainder')}({code}, {size}, {count})"
    array = writer.computed[s.element.own]
    sized = zip(s.over, _sizes(s, array), strict=True)
    spans: dict[Expr, str] = {r.dim: _slice(r, n) for r, n in sized}
    index = [str(at) if i == along else spans.get(i, str(i)) for i in s.element.indices]
    shown = ", ".join([*(":" for _ in outer), *index])
    return f"{array.code}[{shown}] = {code}" if shown else f"{array.code} = {code}"


def _sizes(s: Step, array: Computed) -> list[int]:
    """The sizes of the axes along which a step is over positions."""
    pairs = zip(s.element.indices, array.shape, strict=True)
    return [n for i, n in pairs if isinstance(i, Dim)]


def _slice(found: Range, size: int) -> str:
    stop = "" if found.stop == size else found.stop
    return f"{found.start or ''}:{stop}"
