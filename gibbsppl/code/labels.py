"""The function of a draw of labels: a log weight for each value that the label can take.

A term that reads the label through one index alone is a table over label and index, looked up for
each element by the runtime rather than written out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import sympy as sp

from gibbsppl.algebra.expressions import dims_of
from gibbsppl.code.accumulation import accumulated
from gibbsppl.code.lines import INDENT
from gibbsppl.code.tables import Gather, as_table, written
from gibbsppl.code.writer import Writer
from gibbsppl.derive.contractions import Contribution
from gibbsppl.schedule.parameters import NaturalParameter


def shift_text(lower: int) -> str:
    """The lowest label, added to a draw of ``0, 1, ..``."""
    return f" + {lower}" if lower > 0 else f" - {-lower}" if lower < 0 else ""


def weight_lines(
    writer: Writer,
    weights: NaturalParameter,
    *,
    as_tables: bool,
    more: Sequence[str] = (),
) -> list[str]:
    """Lines that compute and return log weights, where it can be as a sum of tables.

    ``more`` are further arguments of the sum.
    """
    dense, tables = _tables(writer, weights) if as_tables else (weights, ())
    lines = accumulated(writer, "log_weights", dense, full=not tables)
    if not tables and not more:
        return [*lines, "return log_weights"]
    is_dense = bool(dense.contributions)
    return (lines if is_dense else []) + _read_tables(writer, weights, tables, is_dense, more)


def _read_tables(
    writer: Writer,
    weights: NaturalParameter,
    tables: Sequence[Gather],
    dense: bool,
    more: Sequence[str],
) -> list[str]:
    """Log weights as a sum of tables, each read at an index."""
    axes = weights.axes
    shape = tuple(map(writer.size, axes))
    lines = [
        "return runtime.LogWeights(",
        f"{INDENT}{shape},",
        f"{INDENT}{'log_weights' if dense else '0.0'},",
    ]
    for t in tables:
        values, index = written(writer, t, (axes[0], t.along), axes[1:])
        lines.append(f"{INDENT}runtime.Table({values}, {index}),  # from {t.factor}")
    return [*lines, *(f"{INDENT}{m}," for m in more), ")"]


def _tables(
    writer: Writer, weights: NaturalParameter
) -> tuple[NaturalParameter, tuple[Gather, ...]]:
    """The log weights without the terms that are tables read at an index, and these tables.

    Contributions to some of the elements only are never tables: all elements would read them.
    """
    tables: list[Gather] = []
    label, *others = weights.axes
    elements = frozenset(others)
    everywhere = [c for c in weights.contributions if c.is_everywhere(writer.sizes)]
    rest: list[Contribution] = [c for c in weights.contributions if c not in everywhere]
    for c in everywhere:
        terms = sp.Add.make_args(c.value)
        found = [as_table(writer, c.factor, t, elements) for t in terms]
        tables += [t for t in found if t is not None]
        left = [term for term, t in zip(terms, found, strict=True) if t is None]
        alone = sp.Add(*(t for t in left if dims_of(t) <= {label}))
        parts = (alone, sp.Add(*left) - alone)
        rest += [replace(c, value=part) for part in parts if part != 0]
    if tables:
        # What the label alone decides goes into the first table.
        first = [
            c for c in rest if dims_of(c.value) <= {label} and c.is_everywhere(writer.sizes)
        ]
        value = tables[0].value + sp.Add(*(c.value for c in first))
        factors = dict.fromkeys([tables[0].factor, *(c.factor for c in first)])
        tables[0] = replace(tables[0], value=value, factor=", ".join(factors))
        rest = [c for c in rest if c not in first]
    return replace(weights, contributions=tuple(rest)), tuple(tables)
