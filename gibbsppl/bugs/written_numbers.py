"""Numbers as R and BUGS write them, many at a time: text in, arrays and masks out.

>>> entries = entries_of(["1", " NA", "3L"])
>>> entries.values, entries.missing
(array([1, 0, 3]), array([False,  True, False]))
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gibbsppl.bugs.grids import Array

NUMERAL = r"(?:[0-9]++\.?+[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?+L?+"
WORD = r"NA(?:_real_|_integer_)?+|NaN|TRUE|FALSE|T|F"

# A single number, not the beginning of a longer word, nor the name of an argument.
NUMBER = rf"(?:[+-]?+(?:{NUMERAL}|Inf)|{WORD})(?![\w.])(?!\s*+=(?!=))"

# Numbers with commas between them; one before a colon is the start of a range.
RUN = rf"{NUMBER}(?!\s*+:)(?:\s*+,\s*+{NUMBER}(?!\s*+:))*+"

# R counts NaN as missing too.
_MISSING = ("NA", "NA_real_", "NA_integer_", "NaN")
_WORDS: Mapping[str, float] = {
    "TRUE": 1, "T": 1, "FALSE": 0, "F": 0, "Inf": math.inf, "+Inf": math.inf, "-Inf": -math.inf,
}  # fmt: skip

# Integers of more digits than this may not fit into 64 bits.
_DIGITS = 18


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """A sequence of numbers (integers if all are), zero where missing, with a mask of these."""

    values: Array
    missing: Array

    def shaped(self, shape: tuple[int, ...], *, by_row: bool) -> Array:
        """The array of a shape, masked if anything is missing.

        By row the last index is the fastest, else the first: the two orders of BUGS and R meet
        here, and nowhere else.
        """
        order: Literal["C", "F"] = "C" if by_row else "F"
        values, missing = (
            np.ascontiguousarray(a.reshape(shape, order=order)).reshape(shape)
            for a in (self.values, self.missing)
        )
        return np.ma.MaskedArray(values, missing) if missing.any() else values


def entries_of(words: Sequence[str]) -> Entries:
    """The numbers that texts, each of the form of NUMBER, stand for.

    Raises OverflowError with the text of a number that is too large.
    """
    for convert, kind in ((int, np.int64), (float, np.float64)):
        try:
            values = np.array(list(map(convert, words)), dtype=kind)
        except (ValueError, OverflowError):
            continue
        if np.isfinite(values).all():
            return Entries(values, np.zeros(len(values), dtype=bool))
    return of_numbers([_number(w.strip()) for w in words])


def of_numbers(numbers: Sequence[float | None]) -> Entries:
    """The entries of numbers, None for missing ones; integers only if all known numbers are."""
    known = [n for n in numbers if n is not None]
    is_whole = all(isinstance(n, int) for n in known) and (bool(known) or not numbers)
    missing = np.fromiter((n is None for n in numbers), dtype=bool, count=len(numbers))
    filled = [0 if n is None else n for n in numbers]
    try:
        return Entries(np.array(filled, dtype=np.int64 if is_whole else np.float64), missing)
    except OverflowError:
        return Entries(np.array(filled, dtype=np.float64), missing)


def joined(parts: Sequence[Entries]) -> Entries:
    """The parts concatenated; integers if every part is of integers or wholly missing."""
    if not parts:
        return Entries(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=bool))
    told = [p.values for p in parts if not p.missing.all() or not len(p.values)]
    kind = np.result_type(*told) if told else np.float64
    values = np.concatenate([p.values.astype(kind) for p in parts])
    return Entries(values, np.concatenate([p.missing for p in parts]))


def ranging(first: int, last: int) -> Entries:
    """``first:last``, upwards or downwards."""
    step = 1 if first <= last else -1
    values = np.arange(first, last + step, step, dtype=np.int64)
    return Entries(values, np.zeros(len(values), dtype=bool))


def _number(word: str) -> float | None:
    """One number; None if it is missing."""
    if word in _MISSING:
        return None
    if word in _WORDS:
        return _WORDS[word]
    plain = word.removesuffix("L")
    if plain.lstrip("+-").isdecimal() and len(plain) <= _DIGITS:
        return int(plain)
    value = float(plain)
    if math.isinf(value):
        raise OverflowError(word)
    is_integer = word != plain and value.is_integer() and abs(value) < 2**53
    return int(value) if is_integer else value
