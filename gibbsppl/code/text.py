"""Source text of an array, with the dims of its axes and the precedence of its operator.

>>> Text("a + b", (), SUM).within(PRODUCT)
'(a + b)'
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import sympy as sp

from gibbsppl.algebra.expressions import Dim, Expr

# Larger numbers are written as floats: their products with integers may not fit into 64 bits.
LARGEST_INTEGER = 2**31

# How tightly an operator binds, loosest first.
SUM, MATMUL, PRODUCT, UNARY, POWER, ATOM = range(6)


@dataclass(frozen=True, slots=True)
class Text:
    """Source text of an array, the dim of each axis, and how tightly the text binds."""

    code: str
    dims: tuple[Dim, ...] = ()
    rank: int = ATOM

    def within(self, rank: int) -> str:
        """The text, in parentheses if it binds less tightly than the place it goes to."""
        return self.code if self.rank >= rank else f"({self.code})"


def number(value: Expr) -> Text:
    """The text of a number."""
    if value is sp.nan:
        return Text('float("nan")')
    rank = ATOM if value >= 0 else UNARY
    if value.is_Integer and abs(value) <= LARGEST_INTEGER:
        return Text(str(value), (), rank)
    found = float(value)
    if math.isinf(found):
        return Text('float("inf")' if found > 0 else '-float("inf")', (), rank)
    return Text(repr(found), (), rank)


def split_number(value: Expr) -> tuple[str, str]:
    """A positive number as a factor in front and a divisor at the end; empty where it is one."""
    if value == 1:
        return "", ""
    if isinstance(value, sp.Rational) and 1 < value.q <= 9:
        return ("" if value.p == 1 else str(value.p)), str(value.q)
    return number(value).code, ""


def times_number(coefficient: Expr, text: Text) -> Text:
    """A text multiplied by a number."""
    if coefficient == 1:
        return text
    code = f"{number(coefficient).within(PRODUCT)} * {text.within(PRODUCT)}"
    return Text(code, text.dims, PRODUCT)
