"""The function of a draw of labels: a log weight for each value that the label can take."""

from __future__ import annotations

from collections.abc import Sequence

from gibbsppl.code.lowering.parameters import contributed
from gibbsppl.code.numpy_text.tables import weights_lines
from gibbsppl.code.numpy_text.writer import Writer
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
    with writer.arranged(weights.axes):
        found = contributed(writer, weights, "log_weights")
    return weights_lines(writer, *found, as_tables=as_tables, more=more)
