r"""Tables as OpenBUGS reads them: a heading of columns, a row a line, and END.

A column is a vector, ``age[]``, or a part of an array, ``y[, 1]``: the first index is left empty,
and the others say which part. All parts of an array are columns of one table.

>>> from gibbsppl.bugs.sources import Source
>>> table = "age[] y[,1] y[,2]\n 30 1 NA\n 31 2 4.5\nEND\n"
>>> {given.name: given.values.tolist() for given in read_table(Scanner(Source(table, "text")))}
{'age': [30, 31], 'y': [[1.0, None], [2.0, 4.5]]}
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from gibbsppl.bugs.lexer import NAME
from gibbsppl.bugs.scanner import Given, Scanner, pattern
from gibbsppl.bugs.spellings import quoted
from gibbsppl.bugs.syntax import BugsError
from gibbsppl.bugs.written_numbers import NUMBER, joined

HEADING = pattern(rf"(?P<name>{NAME}) [ \t]*+ \[ (?P<index>[^\]\n]*+) \]")
_END = re.compile(r"^[ \t]*+END\b", re.MULTILINE)
_END_SIGN = pattern(r"END\b")
_NUMBER = re.compile(NUMBER)
_PARTS = re.compile(r"\s*(?:,\s*[0-9]{1,9}\s*)*")


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of a table: the array it is of, and the positions, from 1, after the first index."""

    name: str
    at: int
    part: tuple[int, ...]


def read_table(scanner: Scanner) -> Iterator[Given]:
    """The arrays of a table, in the order of their first columns."""
    columns = list(_columns(scanner))
    start = scanner.offset
    words = _rows(scanner, len(columns))
    entries = [scanner.entries(words[k :: len(columns)], start) for k in range(len(columns))]
    for name in dict.fromkeys(c.name for c in columns):
        mine = [k for k, c in enumerate(columns) if c.name == name]
        # Column by column, the first index of an array is the fastest, the last one the slowest.
        mine.sort(key=lambda k: columns[k].part[::-1])
        sizes = _sizes(scanner, [columns[k] for k in mine])
        together = joined([entries[k] for k in mine])
        shape = (len(words) // len(columns), *sizes)
        yield Given(name, columns[mine[0]].at, together.shaped(shape, by_row=False))


def _columns(scanner: Scanner) -> Iterator[_Column]:
    while heading := scanner.found(HEADING):
        at, index = heading.start(), heading["index"]
        if not _PARTS.fullmatch(index):
            told = "the first index is left empty, x[] or y[,1]; a whole array is x <- c(1, 2)"
            raise scanner.wrong("a column of a table", told, at=at)
        yield _Column(heading["name"], at, tuple(map(int, index.split(",")[1:])))


def _rows(scanner: Scanner, count: int) -> list[str]:
    """The numbers of all rows, as text, one row after the other; END is taken."""
    text, start = scanner.source.text, scanner.offset
    end = _END.search(text, start)
    stop = len(text) if end is None else end.start()
    words: list[str] = []
    for line in text[start:stop].split("\n"):
        row = line.partition("#")[0].split()
        if (row and len(row) != count) or not all(map(_NUMBER.fullmatch, row)):
            raise _bad_row(scanner, start, row, count)
        words += row
        start += len(line) + 1
    scanner.offset = stop
    if scanner.found(_END_SIGN) is None:
        raise scanner.wrong("END in a line of its own, after the last row of a table")
    return words


def _bad_row(scanner: Scanner, start: int, row: list[str], count: int) -> BugsError:
    """The error for a row that starts somewhere after an offset."""
    wrong = next((word for word in row if not _NUMBER.fullmatch(word)), None)
    at = scanner.source.text.index(wrong or row[0], start)
    if wrong is not None:
        told = f"found {quoted(wrong)}, expected a number, NA, or END after the last row."
        return scanner.source.error(at, told)
    return scanner.source.error(
        at,
        f"found a row of {len(row)}, expected {count} numbers, one for each column, or END after "
        "the last row.",
    )


def _sizes(scanner: Scanner, columns: list[_Column]) -> tuple[int, ...]:
    """The sizes of an array after its first index; each of its parts has to be there once."""
    parts = [c.part for c in columns]
    sizes = tuple(map(max, zip(*parts, strict=False)))
    are_alike = len(set(map(len, parts))) == 1 and all(p > 0 for part in parts for p in part)
    if not are_alike or len(set(parts)) != len(parts) or math.prod(sizes) != len(parts):
        name, *_ = (c.name for c in columns)
        raise scanner.source.error(
            columns[0].at,
            f"found other columns of {name}, expected each once: {name}[,1] {name}[,2] and so on.",
        )
    return sizes
