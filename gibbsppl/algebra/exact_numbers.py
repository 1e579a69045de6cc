"""Exact numbers: decimals and simple fractions, so that algebra on them cancels.

>>> number(0.1) + number(0.2) - number(0.3)
0
"""

from __future__ import annotations

import math
import sys
from fractions import Fraction

import sympy as sp

from gibbsppl.algebra.expressions import Expr
from gibbsppl.errors import TooLargeError

LARGEST_PART_OF_PI = 12

# A decimal with more digits than this has been computed; then fractions up to that denominator are
# looked for (two of them differ by more than the rounding of a float).
LONGEST_DENOMINATOR = 10**12
LARGEST_DENOMINATOR = 10**4


def number(value: float) -> Expr:
    """The exact number that was written: 0.1 is 1/10, so that algebra cancels exactly.

    A computed number is the simple fraction that rounds to it, if there is one: ``1 / 0.7`` is
    10/7; ``math.pi`` is pi.

    >>> number(0.1) + number(0.2) - number(0.3)
    0
    """
    as_float = float(value)
    if not math.isfinite(as_float):
        return sp.sympify(as_float)
    if as_float.is_integer():
        return sp.Integer(int(value))
    part = Fraction(as_float / math.pi).limit_denominator(LARGEST_PART_OF_PI)
    if part and float(part) * math.pi == as_float:
        return sp.Rational(part) * sp.pi
    written = sp.Rational(repr(as_float))
    if written.q > LONGEST_DENOMINATOR:  # computed, not written: the fraction that rounds to it
        simple = Fraction(as_float).limit_denominator(LARGEST_DENOMINATOR)
        return sp.Rational(simple) if float(simple) == as_float else written
    return written


def nearest_float(value: Expr) -> float:
    """The float nearest to an exact number.

    Raises TooLargeError for a number beyond all floats: as an infinity it would be another model.

    >>> nearest_float(sp.Rational(1, 4)), nearest_float(sp.oo)
    (0.25, inf)
    """
    found = float(value)
    if math.isinf(found) and value.is_finite:
        raise TooLargeError(
            f"found the number {str(value.evalf(3)).lower()}, a product or a sum of numbers of "
            f"the model; expected none beyond {sys.float_info.max:.3g}, the largest float: give "
            "the variables that such numbers multiply or divide in other units, in which these "
            "are moderate."
        )
    return found


def has_log(value: Expr) -> bool:
    """Whether the log of a value may be a real number: false for negative numbers.

    >>> has_log(sp.Integer(2)), has_log(sp.Integer(-2))
    (True, False)
    """
    return not (value.is_number and value.is_negative)
