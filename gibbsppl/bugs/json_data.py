"""Data in JSON: an object with a number, or a list of lists of numbers, for each name.

The last index is the one of the innermost lists, ``null`` is a missing number, and ``true`` is 1.

>>> from gibbsppl.bugs.sources import Source
>>> read_json(Source('{"N": 2, "y": [[1, null], [2.5, 4]]}', "text"))["y"].tolist()
[[1.0, None], [2.5, 4.0]]
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from typing import TypeAlias, TypeGuard

from gibbsppl.bugs.grids import Array
from gibbsppl.bugs.scanner import MOST_AXES, Scanner
from gibbsppl.bugs.sources import Source
from gibbsppl.bugs.spellings import quoted
from gibbsppl.bugs.written_numbers import of_numbers

_FORM = 'an object of numbers and lists of numbers, {"N": 2, "y": [1.5, null]}'


@dataclass(frozen=True, slots=True)
class _Object:
    """An object, with names as often as they stand in it."""

    pairs: list[tuple[str, Json]]


@dataclass(frozen=True, slots=True)
class _Constant:
    """NaN, Infinity or -Infinity, which are not of JSON, but are written by some."""

    name: str


Json: TypeAlias = "bool | float | str | list[Json] | _Object | _Constant | None"


def read_json(source: Source) -> dict[str, Array]:
    """The arrays by name, masked where entries are null."""
    scanner = Scanner(source)
    try:
        found = json.loads(source.text, object_pairs_hook=_Object, parse_constant=_Constant)
    except json.JSONDecodeError as error:
        piece = scanner.piece(error.pos)
        found = quoted(piece) if piece else "the end of the text"
        raise source.error(error.pos, f"found {found}, expected JSON: {_FORM}.") from None
    except (RecursionError, ValueError):  # lists in lists in lists, or thousands of digits
        told = f"expected no more than {MOST_AXES} lists inside one another, and finite numbers."
        raise source.error(0, f"found lists or numbers that are too long, {told}") from None
    if not isinstance(found, _Object):
        raise source.error(0, f"found {_described(found)}, expected {_FORM}.")
    arrays: dict[str, Array] = {}
    for name, value in found.pairs:
        at = _place_of(source.text, name, again=name in arrays)
        scanner.check_name(name, at)
        if name in arrays:
            raise scanner.wrong("each name once", "it has values already", at=at)
        arrays[name] = _array(scanner, name, value, at)
    return arrays


def _array(scanner: Scanner, name: str, value: Json, at: int) -> Array:
    """The array of nested lists."""
    entries, shape = [value], list[int]()
    while lists := [e for e in entries if isinstance(e, list)]:
        sizes = {len(e) if isinstance(e, list) else None for e in entries}
        if len(sizes) > 1:
            told = "expected a rectangular array: null stands for a missing number."
            raise scanner.source.error(at, f"found lists of different lengths in {name}, {told}")
        if len(shape) == MOST_AXES:
            told = f"expected no more than {MOST_AXES} of them."
            raise scanner.source.error(at, f"found more lists inside one another in {name}, {told}")
        shape.append(len(lists[0]))
        entries = [inner for e in lists for inner in e]
    wrong = next((e for e in entries if not _is_number(e)), None)
    if wrong is not None:
        raise scanner.source.error(
            at, f"found {_described(wrong)}, expected numbers and null for {name}."
        )
    return of_numbers([e for e in entries if _is_number(e)]).shaped(tuple(shape), by_row=True)


def _is_number(entry: Json) -> TypeGuard[float | None]:
    if entry is None or isinstance(entry, bool):
        return True
    return isinstance(entry, (int, float)) and abs(entry) <= sys.float_info.max


def _described(entry: Json) -> str:
    """The words for an entry that is no number."""
    match entry:
        case str():
            return f"the text {quoted(entry)}"
        case _Object():
            return "an object"
        case list():
            return "a list"
        case _Constant(name):
            return name
        case _:
            return "a number above 1.8E308"


def _place_of(text: str, name: str, *, again: bool) -> int:
    """The offset of a name in the text; 0 for a name in an unusual spelling."""
    places = [m.start() for m in re.finditer(rf"{re.escape(json.dumps(name))}\s*:", text)]
    if not places:
        return 0
    return places[min(int(again), len(places) - 1)]
