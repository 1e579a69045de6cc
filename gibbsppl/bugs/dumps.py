"""Data in the formats of R and BUGS: a sequence of assignments, ``list(...)`` and tables.

An assignment is what R's ``dump`` writes, ``x <- c(1, NA, 3)``; ``list(N = 3, x = c(1, NA, 3))`` is
BUGS's own form; tables are in `gibbsppl.bugs.tables`. Values are numbers, ``c()`` of values,
ranges ``1:5``, ``structure()`` with its dimensions, and ``as.integer()``: they are read, never
computed.

``structure(.Data = ..., .Dim = ...)`` in a list is BUGS's: its elements go row by row. All else is
R's, column by column.

>>> from gibbsppl.bugs.sources import Source
>>> text = "x <- structure(1:4, .Dim = c(2, 2)) list(y = structure(.Data = 1:4, .Dim = c(2, 2)))"
>>> {name: array.tolist() for name, array in read_dump(Source(text, "text")).items()}
{'x': [[1, 3], [2, 4]], 'y': [[1, 2], [3, 4]]}
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from gibbsppl.bugs.grids import Array
from gibbsppl.bugs.reader import DEEPEST_NESTING
from gibbsppl.bugs.scanner import MOST_AXES, Given, Scanner, pattern
from gibbsppl.bugs.sources import FILE_ADVICE, Source, is_file_name
from gibbsppl.bugs.spellings import quoted
from gibbsppl.bugs.tables import HEADING, read_table
from gibbsppl.bugs.written_numbers import NUMBER, RUN, Entries, joined

_VALUE = "a number, c(1, 2, NA), 1:5 or structure(c(1, 2, 3, 4), .Dim = c(2, 2))"
_PARTS = "x <- c(1, 2), list(x = c(1, 2)), or a table, x[] y[]"
_ADVICE: Mapping[str, str] = {
    "rep": "nothing is computed: write every value",
    "seq": "nothing is computed: write every value",
    "matrix": "write structure(c(1, 2, 3, 4), .Dim = c(2, 2)), column by column",
    "array": "write structure(c(1, 2, 3, 4), .Dim = c(2, 2)), the first index the fastest",
    "list": "a list stands by itself, without a name and not inside another: list(N = 3, x = 1:3)",
    "data.frame": "give each column a name of its own, or write a table: x[] y[] and END",
    "factor": "write the codes, as.integer(c(1, 2))",
}

# What may stand after a name in place of an arrow, and what is meant.
_NO_ARROW: Mapping[str, str] = {
    "(": "the name stands on the left, x <- c(1, 2)",
    "{": "this looks like a model, which is read by itself",
    "~": "this looks like a model, which is read by itself",
}

_NAMED = r"""(?: "(?P<double>[^"\n]*+)" | '(?P<single>[^'\n]*+)' | `(?P<back>[^`\n]*+)`
               | (?P<plain>[A-Za-z.][A-Za-z0-9._]*+) )"""
_NAME = pattern(_NAMED)
_ARGUMENT = pattern(rf"{_NAMED} \s*+ =(?!=)")
_CALL = pattern(r"(?P<function>[A-Za-z.][\w.]*+) [ \t]*+ \(")
_LIST = pattern(r"(?:structure [ \t]*+ \( \s*+)?+ list [ \t]*+ \(")
_NUMBER, _RUN = pattern(NUMBER), pattern(RUN)
_ARROW, _COMMA, _COLON, _CLOSING, _SEMICOLON = map(pattern, ("<-|=(?!=)", ",", ":", r"\)", ";"))
_TEXT = pattern(r""" "(?:[^"\\]|\\.)*+" | '(?:[^'\\]|\\.)*+' """)
_ZERO = pattern(r"0L?+ \s*+ \)")
_END_OF_VALUE = pattern(r"[,)]")
_INSIDE = pattern(r"""[(),] | "(?:[^"\\]|\\.)*+" | '(?:[^'\\]|\\.)*+' | [^"'(),#]++""")

# Attributes that say nothing of the numbers: labels, and what R makes of them.
_IGNORED = (
    ".Dimnames", "dimnames", ".Names", "names", ".Label", "levels", "class", ".Tsp", "tsp",
)  # fmt: skip
_SIZES = (".Dim", "dim")

# Settings of JAGS's own random numbers, which its files of initial values may hold.
_SETTINGS = (".RNG.name", ".RNG.seed", ".RNG.state")


@dataclass(frozen=True, slots=True, eq=False)
class _Written:
    """Numbers as written, with a shape: ``()`` for a single number, or the dimensions given."""

    entries: Entries
    shape: tuple[int, ...]
    by_row: bool = False


def read_dump(source: Source) -> dict[str, Array]:
    """The arrays by name, masked where entries are missing; a name stands once in all parts.

    JAGS's ``.RNG.name``, ``.RNG.seed`` and ``.RNG.state`` are left out: seeds are set elsewhere.
    """
    scanner = Scanner(source)
    arrays: dict[str, Array] = {}
    while not scanner.at_end:
        if scanner.found(_SEMICOLON):
            continue
        for given in read_part(scanner):
            if given.name in arrays:
                raise scanner.wrong("each name once", "it has values already", at=given.at)
            arrays[given.name] = given.values
    return arrays


def read_part(scanner: Scanner) -> Iterator[Given]:
    """The next part: an assignment, a list or a table."""
    if scanner.sees(_LIST):
        yield from _list(scanner)
    elif scanner.sees(HEADING):
        yield from read_table(scanner)
    else:
        yield from _assignment(scanner)


def _assignment(scanner: Scanner) -> Iterator[Given]:
    """``x <- value``."""
    at = scanner.here()
    name = scanner.found(_NAME)
    if name is None:
        raise scanner.wrong(_PARTS)
    if scanner.found(_ARROW) is None:
        is_file = is_file_name(scanner.source.text)
        advice = FILE_ADVICE if is_file else _NO_ARROW.get(scanner.piece(), "")
        raise scanner.wrong(f"<- after {quoted(_inside(name))}", advice)
    if _inside(name) in _SETTINGS:
        if scanner.found(_TEXT) is None:
            _value(scanner, 0, is_listed=False)
        return
    variable = scanner.check_name(_inside(name), at)
    written = _value(scanner, 0, is_listed=False)
    yield Given(variable, at, written.entries.shaped(written.shape, by_row=written.by_row))


def _list(scanner: Scanner) -> Iterator[Given]:
    """``list(x = value, y = value)``, or R's ``structure(list(...), .Names = ...)`` around it."""
    opened = scanner.here()
    head = scanner.found(_LIST)
    is_inner = head is not None and head.group().startswith("structure")
    if scanner.found(_CLOSING) is None:
        yield from _items(scanner)
        _close(scanner, opened)
    while is_inner and scanner.found(_COMMA):
        if scanner.found(_ARGUMENT) is None:
            raise scanner.wrong("a name and =")
        _skip(scanner)
    if is_inner:
        _close(scanner, opened)


def _items(scanner: Scanner) -> Iterator[Given]:
    while True:
        at = scanner.here()
        name = scanner.found(_ARGUMENT)
        if name is None:
            raise scanner.wrong("a name and =", "every part of a list has one, list(N = 3)")
        variable = scanner.check_name(_inside(name), at)
        written = _value(scanner, 1, is_listed=True)
        yield Given(variable, at, written.entries.shaped(written.shape, by_row=written.by_row))
        if scanner.found(_COMMA) is None:
            return


def _inside(name: re.Match[str]) -> str:
    """A name without the quotes around it."""
    return str(next(part for part in name.groupdict().values() if part is not None))


def _close(scanner: Scanner, opened: int) -> None:
    """Take the bracket that closes what was opened at an offset."""
    if scanner.found(_CLOSING) is None:
        at = scanner.source.position(opened)
        raise scanner.wrong(f", or ) for what starts in line {at.line}, column {at.column}")


# ---- values ----------------------------------------------------------------------------------


def _value(scanner: Scanner, depth: int, *, is_listed: bool) -> _Written:
    """The next value: a number, a range, or a call such as ``c(...)`` or ``structure(...)``."""
    at = scanner.here()
    if number := scanner.found(_NUMBER):
        return _number_or_range(scanner, number, at)
    call = scanner.found(_CALL)
    if call is None:
        raise scanner.wrong(_VALUE)
    if depth == DEEPEST_NESTING:
        raise scanner.wrong(f"no more than {DEEPEST_NESTING} brackets inside one another", at=at)
    match call["function"]:
        case "c":
            entries = joined(list(_collected(scanner, depth + 1, at)))
            return _Written(entries, (len(entries.values),))
        case "structure":
            return _structure(scanner, depth + 1, at, is_listed=is_listed)
        case "as.integer" | "as.numeric" | "as.double":
            return _converted(scanner, depth + 1, at, is_whole=call["function"] == "as.integer")
        case "integer" | "numeric" | "double" | "logical" if scanner.found(_ZERO):
            return _Written(joined([]), (0,))
        case function:
            raise scanner.wrong(_VALUE, _ADVICE.get(function, ""), at=at)


def _number_or_range(scanner: Scanner, number: re.Match[str], at: int) -> _Written:
    first = scanner.entries([number.group()], at)
    if scanner.found(_COLON) is None:
        return _Written(first, ())
    last = scanner.found(_NUMBER)
    ends = [first] if last is None else [first, scanner.entries([last.group()], at)]
    if last is None or any(e.missing.any() for e in ends):
        raise scanner.source.error(at, "found a range without two ends, expected 1:5.")
    entries = scanner.range(ends[0].values[0], ends[1].values[0], at)
    return _Written(entries, (len(entries.values),))


def _collected(scanner: Scanner, depth: int, opened: int) -> Iterator[Entries]:
    """The entries of ``c()``, in one row; names are left out."""
    while True:
        scanner.found(_ARGUMENT)
        at = scanner.here()
        if run := scanner.found(_RUN):
            yield scanner.entries(run.group().split(","), at)
        else:
            yield _value(scanner, depth, is_listed=False).entries
        if scanner.found(_COMMA) is None:
            _close(scanner, opened)
            return


def _converted(scanner: Scanner, depth: int, at: int, *, is_whole: bool) -> _Written:
    """``as.integer(value)`` or ``as.numeric(value)``."""
    inner = _value(scanner, depth, is_listed=False)
    _close(scanner, at)
    with np.errstate(invalid="ignore"):
        values = inner.entries.values.astype(np.int64 if is_whole else np.float64)
    if (values != inner.entries.values).any():
        raise scanner.source.error(at, "found parts in as.integer(), expected whole numbers.")
    return _Written(Entries(values, inner.entries.missing), inner.shape)


def _structure(scanner: Scanner, depth: int, opened: int, *, is_listed: bool) -> _Written:
    """``structure(values, .Dim = sizes)``: by row if a list has ``.Data =`` before the values."""
    data: _Written | None = None
    shape: tuple[int, ...] | None = None
    by_row, start = False, scanner.here()
    while True:
        at = scanner.here()
        name = scanner.found(_ARGUMENT)
        told = "" if name is None else _inside(name)
        if told in _SIZES and shape is None:
            shape = _sizes(scanner, depth)
        elif told in ("", ".Data") and data is None:
            data = _value(scanner, depth, is_listed=False)
            by_row = is_listed and told == ".Data"
        elif told in _IGNORED:
            _skip(scanner)
        else:
            raise scanner.wrong("one .Data, one .Dim, and names, in structure()", at=at)
        if scanner.found(_COMMA) is None:
            break
    _close(scanner, opened)
    if data is None:
        raise scanner.wrong("values in structure()", at=start)
    if shape is not None and math.prod(shape) != len(data.entries.values):
        count, sizes = len(data.entries.values), " by ".join(map(str, shape))
        raise scanner.source.error(start, f"found {count} values, expected {sizes}, as .Dim says.")
    return _Written(data.entries, data.shape if shape is None else shape, by_row)


def _sizes(scanner: Scanner, depth: int) -> tuple[int, ...]:
    """The dimensions that ``.Dim`` gives."""
    at = scanner.here()
    told = _value(scanner, depth, is_listed=False).entries
    sizes = told.values
    is_count = (sizes >= 0) & (sizes < 2**31) & (sizes == np.floor(sizes)) & ~told.missing
    if not is_count.all() or not 0 < len(sizes) <= MOST_AXES:
        raise scanner.wrong(f"1 to {MOST_AXES} whole numbers, the sizes of an array", at=at)
    return tuple(int(s) for s in sizes)


def _skip(scanner: Scanner) -> None:
    """Pass over the value of an attribute."""
    depth = 0
    while depth or not scanner.sees(_END_OF_VALUE):
        piece = scanner.found(_INSIDE)
        if piece is None:
            raise scanner.wrong(") or the end of a text")
        depth += {"(": 1, ")": -1}.get(piece.group(), 0)
