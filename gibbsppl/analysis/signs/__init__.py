"""The sign and the interval of an expression, for all values of its arrays within bounds.

Comes in: an expression, and for each leaf the bounds that its elements are known to keep to. Goes
out: an interval that holds the value, or a sign. Both may be wider than the truth, never narrower:
ends are exact fractions or infinite, and what no rule covers is the whole line.

>>> from sympy import exp, oo
>>> from gibbsppl.algebra.expressions import Array
>>> p, n = Array("p")[()], Array("n")[()]
>>> known = {p: (0, 1), n: (1, oo)}
>>> interval_of(1 - p, known.get)
(Fraction(0, 1), Fraction(1, 1))
>>> sign_of(n * (1 - p) + exp(p), known.get), sign_of(p - n * p, known.get)
('positive', 'unknown')
"""

from gibbsppl.analysis.signs.coefficients import sign_by_coefficients
from gibbsppl.analysis.signs.derivatives import sign_of_second_derivative
from gibbsppl.analysis.signs.intervals import (
    NONNEGATIVE,
    NONPOSITIVE,
    OPPOSITE,
    Sign,
)
from gibbsppl.analysis.signs.known import at_corners, interval_of, sign_of

__all__ = [
    "NONNEGATIVE",
    "NONPOSITIVE",
    "OPPOSITE",
    "Sign",
    "at_corners",
    "interval_of",
    "sign_by_coefficients",
    "sign_of",
    "sign_of_second_derivative",
]
