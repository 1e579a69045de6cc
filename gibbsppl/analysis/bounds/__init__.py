"""Between which numbers an expression is, and which sign it has, for all values of its arrays.

Ends may be wider than the truth, never narrower. One arithmetic of intervals (`arithmetic`), of two
kinds of numbers:

- `exact`: fractions, for all elements of arrays that keep to given bounds; signs follow from these
- `by_element`: arrays, one number for each position, with the data as they are

`of_arrays` has the bounds that are known of arrays, `intervals` the rules for exact ends.

>>> from sympy import exp, oo
>>> from gibbsppl.algebra.expressions import Array
>>> p, n = Array("p")[()], Array("n")[()]
>>> known = {p: (0, 1), n: (1, oo)}
>>> interval_of(1 - p, known.get)
(Fraction(0, 1), Fraction(1, 1))
>>> sign_of(n * (1 - p) + exp(p), known.get), sign_of(p - n * p, known.get)
('positive', 'unknown')
"""

from gibbsppl.analysis.bounds.by_element import ends_of
from gibbsppl.analysis.bounds.exact import at_corners, interval_of, sign_of
from gibbsppl.analysis.bounds.intervals import NONNEGATIVE, NONPOSITIVE, OPPOSITE, Sign
from gibbsppl.analysis.bounds.of_arrays import Bound, Bounds, known_bounds

__all__ = [
    "NONNEGATIVE",
    "NONPOSITIVE",
    "OPPOSITE",
    "Bound",
    "Bounds",
    "Sign",
    "at_corners",
    "ends_of",
    "interval_of",
    "known_bounds",
    "sign_of",
]
