"""The function of a draw of labels: a log weight for each value that the label can take."""

from __future__ import annotations

from collections.abc import Sequence

from gibbsppl.code.lowering.contributions import contributed
from gibbsppl.code.numpy_text.functions import Part
from gibbsppl.code.numpy_text.tables import weights_part
from gibbsppl.code.numpy_text.writer import Writer
from gibbsppl.schedule.parameters import NaturalParameter


def shift_text(lower: int) -> str:
    """The lowest label, added to a draw of ``0, 1, ..``."""
    return f" + {lower}" if lower > 0 else f" - {-lower}" if lower < 0 else ""


def shares_lines(call: str, shape: str, names: Sequence[str], *, is_each: bool) -> list[str]:
    """The lines that put the probabilities of all labels, and their entropy, to their arrays.

    ``is_each``: it is the entropy of each label.
    """
    shares, entropy = names
    given = f"runtime.probabilities({call}, {shape})"
    total = "entropies" if is_each else "entropies.sum()"
    return [f's["{shares}"], entropies = {given}', f's["{entropy}"] = {total}']


def weights(writer: Writer, parameter: NaturalParameter, *, as_tables: bool) -> Part:
    """Log weights, which are returned: where it can be as a sum of tables."""
    with writer.arranged(parameter.axes):
        found = contributed(writer, parameter, "log_weights")
    return weights_part(writer, *found, as_tables=as_tables)
