"""Source text of an array, with the dims of its axes and the precedence of its operator.

>>> Text("a + b", (), SUM).within(PRODUCT)
'(a + b)'
"""

from __future__ import annotations

import math
from dataclasses import dataclass

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
