r"""A text of data read piece by piece, from left to right, by patterns.

>>> scanner = Scanner(Source("x  # a name\n <- 3", "text"))
>>> scanner.found(pattern("[a-z]+"))[0], scanner.found(pattern("<-"))[0], scanner.sees(pattern("3"))
('x', '<-', True)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from gibbsppl.bugs.grids import Array
from gibbsppl.bugs.lexer import NAME, SPACE
from gibbsppl.bugs.sources import Source
from gibbsppl.bugs.spellings import quoted
from gibbsppl.bugs.syntax import BugsError
from gibbsppl.bugs.written_numbers import Entries, entries_of, ranging

# Ranges are short texts for many numbers: all of a text together may stand for no more than this.
LONGEST_RANGES = 10_000_000

NAME_RULE = "the name of a variable: a letter, then letters, digits, dots and underscores"

# NumPy's own limit was 32 for long, and no model has as many.
MOST_AXES = 32

_PIECE = re.compile(r"[\w.]+|\"[^\"\n]*\"?|<?<-|->|.", re.DOTALL)
_SPACES = re.compile(rf"{SPACE}*+")
_NAME = re.compile(NAME)

# What may stand where values end, and what to write.
_COMPUTED = "nothing is computed: write the numbers themselves"
_ADVICE: Mapping[str, str] = {
    **dict.fromkeys("+-*/^%:", _COMPUTED),
    "[": "values are written in full, c(1, 2), not x[1]",
    ",": "more values than one stand in c(1, 2), and a decimal point is a point",
    '"': "texts are no data",
    "'": "texts are no data",
}


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """A variable with values in a text, and the offset of its name."""

    name: str
    at: int
    values: Array


def pattern(text: str) -> re.Pattern[str]:
    """A pattern in the verbose notation, in which space is left out."""
    return re.compile(text, re.VERBOSE)


class Scanner:
    """A text and how far it has been read; space and comments are skipped before each piece."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.offset = 0
        self._ranged = 0

    def found(self, piece: re.Pattern[str]) -> re.Match[str] | None:
        """The next piece if it is of a pattern; it is taken."""
        match = piece.match(self.source.text, self.here())
        if match is not None:
            self.offset = match.end()
        return match

    def sees(self, piece: re.Pattern[str]) -> bool:
        """Whether the next piece is of a pattern; nothing is taken."""
        return piece.match(self.source.text, self.here()) is not None

    def here(self) -> int:
        """The offset of the next piece."""
        spaces = _SPACES.match(self.source.text, self.offset)
        self.offset = self.offset if spaces is None else spaces.end()
        return self.offset

    @property
    def at_end(self) -> bool:
        """Whether nothing is left but space."""
        return self.here() == len(self.source.text)

    def wrong(self, expected: str, advice: str = "", at: int | None = None) -> BugsError:
        """The error for the piece that comes next, or the one at an offset."""
        place = self.here() if at is None else at
        piece = self.piece(place)
        found = quoted(piece) if piece else "the end of the text"
        told = advice or _ADVICE.get(piece[:1], "")
        return self.source.error(
            place if piece else len(self.source.text.rstrip()),
            f"found {found}, expected {expected}{': ' if told else ''}{told}.",
        )

    def piece(self, at: int | None = None) -> str:
        """The word, text or sign that comes next, or stands at an offset; empty at the end."""
        match = _PIECE.match(self.source.text, self.here() if at is None else at)
        return "" if match is None else match.group()

    def check_name(self, name: str, at: int) -> str:
        """The name; raise unless a variable can have it."""
        if not _NAME.fullmatch(name):
            raise self.source.error(at, f"found {quoted(name)}, expected {NAME_RULE}.")
        return name

    def entries(self, words: list[str], at: int) -> Entries:
        """The numbers written by words at an offset; raise at a number that overflows."""
        try:
            return entries_of(words)
        except OverflowError as error:
            where = self.source.text.index(str(error), at)
            raise self.wrong("a number below 1.8E308", at=where) from None

    def range(self, first: float, last: float, at: int) -> Entries:
        """The numbers of a range that stands at an offset."""
        if not (float(first).is_integer() and float(last).is_integer()):
            raise self.source.error(at, "found a range of parts, expected whole numbers, 1:5.")
        count = abs(int(last) - int(first)) + 1
        self._ranged += count
        if self._ranged > LONGEST_RANGES:
            raise self.source.error(
                at,
                f"found a range of {count} numbers, expected no more than {LONGEST_RANGES} in all "
                "ranges of a text.",
            )
        return ranging(int(first), int(last))
