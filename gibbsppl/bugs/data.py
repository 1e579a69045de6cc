"""Data and initial values: text or a file of any of their forms in, arrays by name out.

The form is found by looking: JSON (`gibbsppl.bugs.json_data`) starts with a brace; R's dump, BUGS's
``list(...)`` and tables (`gibbsppl.bugs.dumps`) may follow one another in one text.

>>> data = read_data("N <- 3  y <- c(2, NA, 3)  list(T = 5)")
>>> data["N"], data["y"].tolist(), data["T"]
(array(3), [2, None, 3], array(5))
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from gibbsppl.arguments import GivenArray
from gibbsppl.bugs.dumps import read_dump
from gibbsppl.bugs.grids import Array
from gibbsppl.bugs.json_data import read_json
from gibbsppl.bugs.lexer import NAME
from gibbsppl.bugs.scanner import NAME_RULE, Scanner
from gibbsppl.bugs.sources import read_source
from gibbsppl.bugs.syntax import BugsError
from gibbsppl.language.values import entries_and_known


def read_data(
    source: str | Path | Mapping[str, GivenArray], origin: str | None = None
) -> dict[str, Array]:
    """The arrays of a text, a file or a mapping, by name, in the order in which they stand.

    A single number has no axes. Integers stay integers; missing entries are masked (an array of
    which nothing is missing has no mask) and zero underneath, and no entry is NaN. Errors call the
    text ``origin``, or by its file's name.

    Raises `BugsError` where the text is none of the forms, a name stands twice or cannot be one of
    a BUGS variable, or values are no numbers.

    >>> read_data({"y": [1.5, None]})["y"].mask
    array([False,  True])
    """
    if isinstance(source, Mapping):
        return {n: _checked(n, v, origin or "data") for n, v in source.items()}
    read = read_source(source, origin)
    scanner = Scanner(read)
    if scanner.at_end:
        told = "found no values, expected some: a text without any is list()."
        raise BugsError(told, origin=read.origin)
    return read_json(read) if read.text[scanner.here()] in "{[" else read_dump(read)


def _checked(name: object, values: GivenArray, origin: str) -> Array:
    """The values of a mapping: integers or floats, masked where they are missing."""
    if not isinstance(name, str) or not re.fullmatch(NAME, name):
        raise BugsError(f"found the name {name!r}, expected {NAME_RULE}.", origin=origin)
    try:
        array, known = entries_and_known(values)
    except (TypeError, ValueError):
        raise BugsError(
            f"{name}: found lists of different lengths, expected numbers in a rectangular array: "
            "None stands for a missing one.",
            origin=origin,
        ) from None
    if array.dtype.kind not in "biuf":
        raise BugsError(
            f"{name}: found values of type {array.dtype}, expected numbers in a rectangular array; "
            "None stands for a missing one.",
            origin=origin,
        )
    if np.isnan(array[known]).any():
        raise BugsError(
            f"{name}: found NaN, expected numbers: mark missing entries by None or a masked array.",
            origin=origin,
        )
    is_large = array.dtype == np.uint64 and (array[known] >= 2**63).any()
    is_float = array.dtype.kind == "f" or is_large
    numbers = np.where(known, array, 0).astype(np.float64 if is_float else np.int64)
    return numbers if known.all() else np.ma.MaskedArray(numbers, ~known)
