"""Source text of a form's values by row, which read columns of the arrays drawn or averaged.

Comes in: an `ElementLoop` or a `MeanLoop`. Goes out: texts with one entry per row, flat; elements
of the arrays are read from columns: the elements at one position of the outer axes.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from gibbsppl.algebra.expressions import (
    Array,
    Expr,
    dims_of,
    leaves_of,
)
from gibbsppl.algebra.ranges import Range
from gibbsppl.code.lines import indented
from gibbsppl.code.module import Module
from gibbsppl.code.numpy_text.axes import named
from gibbsppl.code.numpy_text.text import tuple_text
from gibbsppl.code.numpy_text.writer import Writer
from gibbsppl.model.graph import Variable
from gibbsppl.schedule.kept_sums import Kept
from gibbsppl.schedule.kinds import FamilyDraw
from gibbsppl.schedule.mean_loops import ByForm


def column_writer(
    module: Module,
    step: FamilyDraw,
    loop: ByForm,
    more: Mapping[str, Variable] = MappingProxyType({}),
) -> Writer:
    """A writer with columns (one position of the outer axes) of the loop's arrays as variables."""
    dims = module.dims(step.statement)
    kept = tuple(d for a, d in enumerate(dims) if a not in loop.outer)
    columns = {_column(n): Variable(_column(n), kept, "random") for n in loop.arrays}
    sizes = {r.dim: r.stop for r in loop.entry.ranges}
    writer = module.writer(sizes, more={**columns, **more})
    for name in loop.arrays:
        own = module.names.of(name)
        writer.aliases[_column(name)] = column_name(module, name) if loop.outer else own
        writer.state_names[name] = own
    return writer


def column_name(module: Module, array: str) -> str:
    """The local name of a column of an array."""
    return module.names.of(f"·{array}_column")


def _column(name: str) -> str:
    return f"·column of {name}"


def in_column(loop: ByForm, expr: Expr) -> Expr:
    """An expression that reads columns of the loop's arrays instead of the arrays."""
    mapping = {
        leaf: Array(_column(leaf.array.name), real=True)[
            tuple(i for a, i in enumerate(leaf.indices) if a not in loop.outer)
        ]
        for leaf in leaves_of(expr, loop.arrays)
    }
    return expr.xreplace(mapping)


def rows_text(
    writer: Writer, loop: ByForm, expr: Expr, *, spread: bool = False
) -> tuple[str, bool]:
    """The text of a value by row, flat; and whether it is one number for all rows."""
    return flat_text(writer, loop.form.over, expr, spread=spread)


def flat_text(
    writer: Writer, over: tuple[Range, ...], expr: Expr, *, spread: bool
) -> tuple[str, bool]:
    """The text of a value at all positions of ranges, flat; and whether it is one number."""
    dims = tuple(r.dim for r in over)
    writer.order = {}
    # (of one dim the axes stand as is fastest)
    writer.arrange(dims if len(dims) > 1 else ())
    with writer.over(over):
        text = writer.write(expr)
    if not text.dims and not spread:
        return text.code, True
    code = writer.align(text, dims)
    if text.dims != named(dims):
        code = f"{writer.call('broadcast_to')}({code}, {tuple_text(map(writer.length_text, over))})"
        return f"{code}.reshape(-1)", False
    return (f"{text.within(3)}.reshape(-1)" if len(dims) > 1 else text.code), False


def by_position(
    module: Module, writer: Writer, step: FamilyDraw, loop: ByForm, lines: list[str]
) -> list[str]:
    """Lines for one position of the outer axis after the other, with the column there."""
    (axis,), dims = loop.outer, module.dims(step.statement)
    position = module.names.of(f"·{dims[axis]}_position")
    column = ", ".join(position if a == axis else ":" for a in range(len(dims)))
    copy = writer.call("ascontiguousarray")
    read = [n for n in loop.arrays if any(column_name(module, n) in x for x in lines)]
    first = [f"{column_name(module, n)} = {copy}({module.names.of(n)}[{column}])" for n in read]
    head = f"for {position} in range({writer.size_text(dims[axis])}):"
    return [head, *indented([*first, *lines])]


def prepared_text(module: Module, loop: ByForm, expr: Expr) -> str:
    """The text, for ``prepare``, of data at all positions."""
    inner = module.writer({r.dim: r.stop for r in loop.entry.ranges}).for_prepare(module.graph)
    inner.sizes = {**inner.sizes, **{r.dim: r.stop for r in loop.entry.ranges}}
    over = (*loop.form.over, *loop.inner)
    dims = tuple(r.dim for r in over)
    inner.arrange(dims)
    with inner.over(over):
        code = inner.align(inner.write(expr), dims)
        lead = expr if dims_of(expr) else None
    module.hoisted.arrays |= inner.constant_names
    shape = tuple_text(map(inner.length_text, over))
    return code if lead is not None else f"{inner.call('broadcast_to')}({code}, {shape})"


def anew_name(module: Module, kept: Kept) -> str:
    """The name of the function that computes the value of a form anew."""
    return module.names.called("anew", kept.name, like=f"{kept.name}_anew")
