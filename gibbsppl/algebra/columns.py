"""Aligned columns, long cells wrapped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gibbsppl.algebra.notation import wrapped

WIDTH = 97
WIDEST = (60, 50, 42, 34, 26)


def indented(lines: Iterable[str]) -> list[str]:
    """The lines, further to the right."""
    return ["   " + line if line else line for line in lines]


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """The rows with their cells aligned; long cells are wrapped until the rows fit the page.

    >>> columns([("alpha - 1", "from theta"), ("failures", "from failures")])
    ['alpha - 1  from theta', 'failures   from failures']
    """
    lines: list[str] = []
    for widest in WIDEST:
        lines = _set([[wrapped(cell, widest) or [""] for cell in row] for row in rows])
        if max(map(len, lines), default=0) <= WIDTH:
            break
    return lines


def _set(rows: Sequence[Sequence[Sequence[str]]]) -> list[str]:
    """Rows of cells of lines, as lines."""
    widths = [max(len(line) for c in column for line in c) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        for j in range(max(map(len, row))):
            texts = (c[j] if j < len(c) else "" for c in row)
            padded = (text.ljust(width) for text, width in zip(texts, widths, strict=True))
            lines.append("  ".join(padded).rstrip())
    return lines
