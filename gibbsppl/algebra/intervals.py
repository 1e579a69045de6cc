"""Intervals with exact ends: fractions, or infinite."""

from __future__ import annotations

import math
from fractions import Fraction

End = Fraction | float  # (a float is infinite)
Interval = tuple[End, End]

INF = math.inf
ZERO, HALF, ONE = Fraction(0), Fraction(1, 2), Fraction(1)
ABOVE_ZERO: Interval = (ZERO, INF)
BELOW_ZERO: Interval = (-INF, ZERO)
ZERO_TO_ONE: Interval = (ZERO, ONE)
