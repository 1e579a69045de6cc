"""The tokens of a BUGS text, made lazily.

Space and comments (``#`` to the end of the line, ``/* */``) are left out. Signs of other languages
are errors here, with advice on the spelling in BUGS (`gibbsppl.bugs.spellings`).

>>> from gibbsppl.bugs.sources import Source
>>> [t.text for t in tokens_of(Source("mu[i] <- 2.5e-1*x  # the mean", "text"))]
['mu', '[', 'i', ']', '<-', '2.5e-1', '*', 'x', '']
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from gibbsppl.bugs.sources import Source
from gibbsppl.bugs.spellings import ADVICE, advice_for_character, quoted
from gibbsppl.bugs.syntax import BugsError, Position

NAME = r"[A-Za-z][A-Za-z0-9._]*+"
# (functions of R that write programs leave out %_%, which stands before a restriction there)
SPACE = r"(?:\s++|%_%|\#[^\n]*+|/\*(?:[^*]++|\*(?!/))*+\*/)"
NUMBER = r"(?:[0-9]++\.?+[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?+"

_TOKEN = re.compile(
    rf"""
      (?P<space>   {SPACE}++ )
    | (?P<name>    {NAME} )
    | (?P<number>  {NUMBER} )
    | (?P<unknown> <<- | ->>? | \[\[ | // | /\* | := | ::+ | \|> | => | =< | <> | %[^%\s]*+% )
    | (?P<sign>    <- | <= | >= | == | != | && | \|\| | \*\* | [-+*/^:<>!=~,;()\[\]{{}}] )
    | (?P<other>   . )
    """,
    re.VERBOSE | re.DOTALL,
)
_AFTER_A_NUMBER = re.compile(r"[\w.]+")

Kind = Literal["name", "number", "sign", "end"]


class Token(NamedTuple):
    """A word of the language; ``end`` is the offset just behind it."""

    kind: Kind
    text: str
    at: Position
    end: int

    def __str__(self) -> str:
        return "the end of the text" if self.kind == "end" else quoted(self.text)


def tokens_of(source: Source) -> Iterator[Token]:
    """The tokens of a source, then one of kind ``end`` where the last token ended."""
    text, line, start, end = source.text, 1, 0, 0
    for match in _TOKEN.finditer(text):
        kind, found, offset = match.lastgroup, match.group(), match.start()
        if kind == "space":
            line += found.count("\n")
            start = max(start, text.rfind("\n", offset, match.end()) + 1)
            continue
        if kind in ("unknown", "other") and found != "%*%":
            raise _unknown(source, offset, found)
        at, end = Position(line, offset - start + 1), match.end()
        if kind == "number":
            _check_number(source, found, end, at)
            yield Token("number", found, at, end)
        elif kind == "name":
            yield Token("name", found, at, end)
        else:
            yield Token("sign", "^" if found == "**" else found, at, end)
    yield Token("end", "", source.position(end), end)


def _check_number(source: Source, text: str, end: int, at: Position) -> None:
    """Raise if letters follow a number directly, or if it overflows."""
    if rest := _AFTER_A_NUMBER.match(source.text, end):
        raise source.error(
            at,
            f"found {quoted(text + rest.group())}, expected a number, such as 12, 0.5, 1. or "
            "1.0E-3, or a name, which starts with a letter.",
        )
    if float(text) == float("inf"):
        raise source.error(at, f"found {quoted(text)}, expected a number below 1.8E308.")


def _unknown(source: Source, offset: int, found: str) -> BugsError:
    """The error for a sign that is no part of the language."""
    is_long = len(found) > 1
    advice = ADVICE.get(found, ADVICE["%"]) if is_long else advice_for_character(found)
    return source.error(offset, f"found {quoted(found)}, {advice}.")
