"""The function of a draw of labels: a log weight for each value that the label can take.

A term that reads the label through one index alone is a table over label and index, looked up for
each element by the runtime rather than written out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import sympy as sp

from gibbsppl.backends.accumulation import accumulated
from gibbsppl.backends.lines import INDENT
from gibbsppl.backends.module import Module
from gibbsppl.backends.tables import Table, as_table, written
from gibbsppl.backends.writer import Writer
from gibbsppl.contractions import Contribution
from gibbsppl.schedule.steps import FiniteDraw, NaturalParameter


def log_weights(module: Module, step: FiniteDraw) -> str:
    """The function that computes the log weights of a step's labels."""
    statement, lower, size = step.statement, step.conditional.lower, step.conditional.size
    writer = module.writer({step.conditional.label: size}, keeps=True)
    whole = module.is_whole(step)
    dense, tables = _tables(writer, step.weights) if whole else (step.weights, ())
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
    writer: Writer, step: FiniteDraw, tables: Sequence[Table], dense: bool
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
        values, index = written(writer, t, (axes[0], t.along), axes[1:])
        lines.append(f"{INDENT}runtime.Table({values}, {index}),  # from {t.factor}")
    return [*lines, ")"]


def _tables(
    writer: Writer, weights: NaturalParameter
) -> tuple[NaturalParameter, tuple[Table, ...]]:
    """The terms of log weights that are tables read at an index, and the weights without them."""
    tables: list[Table] = []
    rest: list[Contribution] = []
    elements = frozenset(weights.axes[1:])
    for c in weights.contributions:
        terms = sp.Add.make_args(c.value)
        found = [as_table(writer, c.factor, t, elements) for t in terms]
        tables += [t for t in found if t is not None]
        left = sp.Add(*(term for term, t in zip(terms, found, strict=True) if t is None))
        if left != 0:
            rest.append(replace(c, value=left))
    return replace(weights, contributions=tuple(rest)), tuple(tables)
