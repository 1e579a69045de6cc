"""Source text of an array, with the dims of its axes and the precedence of its operator.

>>> Text("a + b", (), SUM).within(PRODUCT)
'(a + b)'
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from gibbsppl.algebra.ranges import from_the_end

# Larger numbers are written as floats: their products with integers may not fit into 64 bits.
LARGEST_INTEGER = 2**31

# How tightly an operator binds, loosest first.
SUM, MATMUL, PRODUCT, UNARY, POWER, ATOM = range(6)


@dataclass(frozen=True, slots=True)
class Text:
    """Source text of an array, the dim of each axis, and how tightly the text binds."""

    code: str
    dims: tuple[str, ...] = ()
    rank: int = ATOM

    def within(self, rank: int) -> str:
        """The text, in parentheses if it binds less tightly than the place it goes to."""
        return self.code if self.rank >= rank else f"({self.code})"


def number(value: float) -> Text:
    """The text of a number."""
    rank = ATOM if value >= 0 else UNARY
    if isinstance(value, int) and abs(value) <= LARGEST_INTEGER:
        return Text(str(value), (), rank)
    if math.isnan(value):
        return Text('float("nan")')
    if math.isinf(value):
        return Text(
            'float("inf")' if value > 0 else '-float("inf")', (), ATOM if value > 0 else UNARY
        )
    return Text(repr(float(value)), (), rank)


def tuple_text(parts: Iterable[str]) -> str:
    """A tuple as text.

    >>> tuple_text(["n_rat"]), tuple_text(["3", "n_day"]), tuple_text([])
    ('(n_rat,)', '(3, n_day)', '()')
    """
    shown = list(parts)
    return f"({', '.join(shown)}{',' if len(shown) == 1 else ''})"


def plus_text(code: str, more: int) -> str:
    """A text and a whole number more.

    >>> plus_text("n", -1), plus_text("n", 0)
    ('n - 1', 'n')
    """
    return f"{code} {'-' if more < 0 else '+'} {abs(more)}" if more else code


def slice_text(start: int, stop: int, size: int, step: int = 1) -> str:
    """The positions of an axis of some size, as a slice; from the end where they end near it.

    >>> slice_text(0, 30, 30), slice_text(1, 29, 30), slice_text(0, 5, 30), slice_text(0, 30, 30, 2)
    (':', '1:-1', ':5', '::2')
    """
    missing = from_the_end(stop, size) if step == 1 or stop == size else None
    end = stop if missing is None else f"{-missing}" if missing else ""
    return f"{start or ''}:{end}" + (f":{step}" if step != 1 else "")
