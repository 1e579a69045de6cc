"""Results of checks as aligned text.

>>> print(table(("step", "verdict"), [("mu", "passed"), ("sigma", "FAILED")]))
step   verdict
mu     passed
sigma  FAILED
"""

from __future__ import annotations

from collections.abc import Sequence


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The rows under their header, columns aligned."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in (header, *rows)
    )
    return "\n".join(line.rstrip() for line in lines)


def verdict(passed: bool) -> str:
    """The word for a result; failures stand out."""
    return "passed" if passed else "FAILED"
