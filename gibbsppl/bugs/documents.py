r"""Compound documents: a program, then data and initial values, in one text.

After the last block stand lists, ``list(N = 3)``, and tables that end with END; all other lines are
remarks. The last remark that mentions data or inits names the kind of the lists and tables below
it (data, without such a remark). Each list of initial values belongs to another chain.

>>> from gibbsppl.bugs.parse import parsed
>>> text = "model { x ~ dnorm(m, 1) } \n Data list(m = 2) \n Inits list(x = 1) list(x = 3)"
>>> found = document_of(parsed(Source(text, "text")))
>>> {n: a.item() for n, a in found.data.items()}, [i["x"].item() for i in found.inits]
({'m': 2}, [1, 3])
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from gibbsppl.bugs.dumps import read_part
from gibbsppl.bugs.grids import Array
from gibbsppl.bugs.lexer import NAME
from gibbsppl.bugs.scanner import Scanner
from gibbsppl.bugs.sources import Source
from gibbsppl.bugs.syntax import Program

# A list, or the columns of a table on a line of their own; what is behind # is a remark.
_COLUMN = rf"{NAME}[ \t]*+\[[ \t]*+(?:,[^\]\n]*+)?\]"
_PART = re.compile(
    rf"#[^\n]*+|(?P<part>\blist[ \t]*+\(|^[ \t]*+{_COLUMN}(?:[ \t]++{_COLUMN})*+[ \t]*+$)",
    re.MULTILINE,
)
_TOLD = re.compile(r"\b(?:(?P<inits>init\w*)|data)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Document:
    """Data and initial values beside a program; ``inits`` has those of each chain."""

    data: Mapping[str, Array]
    inits: tuple[Mapping[str, Array], ...]


def document_of(program: Program) -> Document:
    """The data and the initial values that stand after a program in its text."""
    source = Source(program.source, program.origin)
    scanner = Scanner(source)
    data: dict[str, Array] = {}
    inits: list[dict[str, Array]] = []
    scanner.offset, are_inits = program.end, False
    while part := _next_part(source.text, scanner.offset):
        for told in _TOLD.finditer(source.text, scanner.offset, part.start("part")):
            are_inits = told["inits"] is not None
        scanner.offset = part.start("part")
        if are_inits:
            inits.append({})
        arrays = inits[-1] if are_inits else data
        for given in read_part(scanner):
            if given.name in arrays:
                raise scanner.wrong("each name once", "it has values already", at=given.at)
            arrays[given.name] = given.values
    return Document(data, tuple(inits))


def _next_part(text: str, start: int) -> re.Match[str] | None:
    """The next list or table from an offset on."""
    return next((m for m in _PART.finditer(text, start) if m["part"] is not None), None)
