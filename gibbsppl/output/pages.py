"""The pages of draws and of their summary in a notebook.

Comes in: draws, or a summary. Goes out: HTML.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gibbsppl.errors import counted
from gibbsppl.html import Html, code, marked, notes, shown, table
from gibbsppl.output.arrays import Array

DRAWS_HEADER = ("variable", "dims", "elements", "type", "draws of a chain", "mean", "sd")


def draws_page(draws: Any) -> Html:
    """The variables with their dims, sizes and types; of numbers the mean and the sd."""
    title = f"{counted(draws.chains, 'chain')}, {counted(draws.draws, 'draw')} each"
    rows = [_row_of(draws, name, array) for name, array in draws.values.items()]
    rows += [
        (code(name), _sizes(one.dims, one.shape), "", "", "monitored", "", "")
        for name, one in draws.monitored.items()
    ]
    told = (draws.until and f"ended by its rule, {draws.until}", draws.left_out, draws.interrupted)
    data = (
        (draws.observed_data, "observed data"), (draws.constant_data, "constant data"),
        (draws.groups, "groups"),
    )  # fmt: skip
    named = [f"{what}: {', '.join(arrays)}" for arrays, what in data if arrays]
    below = [*filter(None, told), *(marked(line, "faint") for line in named)]
    return shown(title, table(DRAWS_HEADER, rows, numbers={2, 4, 5, 6}), notes(below))


def _row_of(draws: Any, name: str, array: Array) -> tuple[str, ...]:
    shape = array.shape[2:]
    own = array[np.isfinite(array)] if not shape else array[:0]
    numbers = (f"{own.mean():.4g}", f"{own.std():.3g}") if own.size and not shape else ("", "")
    elements = f"{int(np.prod(shape)):,}"
    sizes = _sizes(draws.dims_of(name), shape)
    return code(name), sizes, elements, str(array.dtype), f"{array.shape[1]:,}", *numbers


def _sizes(dims: Sequence[str], shape: Sequence[int]) -> str:
    return ", ".join(f"{d} {n:,}" for d, n in zip(dims, shape, strict=True))


def summary_page(
    title: str,
    columns: Sequence[str],
    rows: Iterator[tuple[str, Sequence[str], Mapping[str, bool]]],
    below: Sequence[str],
) -> Html:
    """The table of a summary: labels and cells, those marked that are to worry about.

    A row without cells is what is said of rows left out.
    """
    lines = [
        (code(label), *(marked(cell, "bad") if worry.get(name) else cell
                        for name, cell in zip(columns, cells, strict=True)))
        if cells else (marked(label, "faint"),)
        for label, cells, worry in rows
    ]  # fmt: skip
    numbers = set(range(1, len(columns) + 1))
    return shown(title, table(("", *columns), lines, numbers=numbers), notes(below))
