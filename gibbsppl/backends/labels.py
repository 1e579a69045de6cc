"""The function of a draw of labels: a log weight for each value that the label can take.

A term that reads the label through one index alone is a table over label and index, looked up for
each element by the runtime rather than written out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import sympy as sp

from gibbsppl.backends.accumulation import accumulated
from gibbsppl.backends.lines import INDENT
from gibbsppl.backends.module import Module
from gibbsppl.backends.writer import Writer
from gibbsppl.contractions import Contribution
from gibbsppl.expressions import Dim, Expr, Leaf, dims_of, substitute
from gibbsppl.graph import Graph
from gibbsppl.schedule.steps import FiniteDraw, NaturalParameter


@dataclass(frozen=True, slots=True)
class _Table:
    """A log weight that an element has through one index alone: a table over label and index."""

    factor: str
    value: Expr
    along: Dim
    size: int
    index: Expr


def log_weights(module: Module, step: FiniteDraw) -> str:
    """The function that computes the log weights of a step's labels."""
    statement, lower, size = step.statement, step.conditional.lower, step.conditional.size
    whole = module.is_whole(step)
    dense, tables = _tables(module.graph, step.weights) if whole else (step.weights, ())
    sizes = {step.conditional.label: size} | {t.along: t.size for t in tables}
    writer = module.writer(sizes, keeps=True)
    body = accumulated(writer, "log_weights", dense, full=not tables)
    if tables:
        body = body if dense.contributions else []
        body += _read_tables(writer, step, tables, bool(dense.contributions))
    else:
        body.append("return log_weights")
    labels = f"{lower}..{lower + size - 1}"
    doc = f"{statement.target} | rest: log weights of {labels} (first axis)."
    return module.function(module.functions[statement.name], doc, writer, body)


def _read_tables(
    writer: Writer, step: FiniteDraw, tables: Sequence[_Table], dense: bool
) -> list[str]:
    """Log weights as a sum of tables, each read at an index."""
    axes = step.weights.axes
    shape = tuple(map(writer.size, axes))
    lines = [
        "return runtime.LogWeights(",
        f"{INDENT}{shape},",
        f"{INDENT}{'log_weights' if dense else '0.0'},",
    ]
    for t in tables:
        writer.order = {}
        writer.arrange((axes[0], t.along, *axes[1:]))
        values = writer.align(writer.write(t.value), (axes[0], t.along))
        index = writer.align(writer.write(t.index), axes[1:])
        code = f"runtime.Table({values}, {index})"
        lines.append(f"{INDENT}{code},  # from {t.factor}")
    return [*lines, ")"]


def _tables(graph: Graph, weights: NaturalParameter) -> tuple[NaturalParameter, tuple[_Table, ...]]:
    """The terms of log weights that are tables read at an index, and the weights without them."""
    tables: list[_Table] = []
    rest: list[Contribution] = []
    for c in weights.contributions:
        terms = sp.Add.make_args(c.value)
        found = [_as_table(graph, c.factor, t, weights.axes) for t in terms]
        tables += [t for t in found if t is not None]
        left = sp.Add(*(term for term, t in zip(terms, found, strict=True) if t is None))
        if left != 0:
            rest.append(replace(c, value=left))
    return replace(weights, contributions=tuple(rest)), tuple(tables)


def _as_table(graph: Graph, factor: str, term: Expr, axes: tuple[Dim, ...]) -> _Table | None:
    """A term as a table, if it is one: all that depends on the element is one index."""
    found = {
        (index, graph.sizes[graph.variables[leaf.array.name].dims[axis]])
        for leaf in term.atoms(Leaf)
        for axis, index in enumerate(leaf.indices)
        if isinstance(index, Leaf) and dims_of(index)
    }
    if len(found) != 1:
        return None
    ((index, size),) = found
    along = Dim(f"along {index}")
    value = substitute(term, {index: along})
    return None if dims_of(value) & set(axes[1:]) else _Table(factor, value, along, size, index)
