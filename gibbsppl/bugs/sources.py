r"""Source texts, from a string or a file, with uniform line ends, and positions in a text.

>>> source = read_source("a\r\nbc")
>>> source.text, source.position(3)
('a\nbc', Position(line=2, column=2))
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from gibbsppl.bugs.syntax import BugsError, Position

ENCODINGS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"", "utf-8-sig"), (b"", "latin-1"))

FILE_ADVICE = "a file is read by its path, pathlib.Path(name)"
_FILE_NAME = re.compile(r"[^\n(){}<=~]*\.[A-Za-z]{1,4}\s*")


@dataclass(frozen=True)
class Source:
    """A text and what errors call it."""

    text: str
    origin: str

    @cached_property
    def _starts(self) -> list[int]:
        """The offsets at which lines start."""
        return [0, *(m.end() for m in re.finditer("\n", self.text))]

    def position(self, offset: int) -> Position:
        """The line and column of a place that is counted in characters from 0."""
        line = bisect_right(self._starts, offset)
        return Position(line, offset - self._starts[line - 1] + 1)

    def error(self, at: int | Position, reason: str) -> BugsError:
        """The error for a place in the text, with a reason."""
        place = at if isinstance(at, Position) else self.position(at)
        return BugsError(reason, self.text, self.origin, place)


def read_source(source: str | Path, origin: str | None = None) -> Source:
    """The text of a string or a file, line ends as line feeds, without a byte order mark.

    Files are UTF-8, UTF-16 with its mark, or else Latin-1, in which old files have their comments.
    """
    if isinstance(source, Path):
        text, name = _text_of_file(source), source.name
    elif isinstance(source, str):
        text, name = source, "text"
    else:
        raise BugsError(
            f"found a value of type {type(source).__name__}, expected text or a pathlib.Path.",
            origin=origin or "text",
        )
    text = text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}")
    return Source(text.replace("\r\n", "\n").replace("\r", "\n"), origin or name)


def is_file_name(text: str) -> bool:
    """Whether a text looks like the name of a file that was meant to be read."""
    return _FILE_NAME.fullmatch(text) is not None


def _text_of_file(path: Path) -> str:
    try:
        content = path.read_bytes()
    except (OSError, ValueError) as error:  # a name with a null character is a ValueError
        why = str(getattr(error, "strerror", None) or error).lower()
        raise BugsError(f"cannot be read ({why}): check the name.", origin=str(path)) from None
    for mark, encoding in ENCODINGS:
        if content.startswith(mark):
            try:
                return content.decode(encoding)
            except UnicodeDecodeError:
                continue
    raise AssertionError("every sequence of bytes is Latin-1")
