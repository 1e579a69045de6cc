"""The curvature of powers, of compositions, and of functions in narrower intervals.

A composition bends as the outer function's row says, if the inner function is affine, or bends the
same way after a change of sign where the outer function falls. (The rows of functions of one
argument are in `algebra.functions`.)
"""

from __future__ import annotations

from dataclasses import replace

from gibbsppl.algebra.function_rows import Bend, Kind
from gibbsppl.algebra.intervals import INF
from gibbsppl.analysis.curvature.kinds import (
    AFFINE,
    MIRRORED,
    REVERSED,
)

# log(1 - exp(v)), and of v = -exp(w), the complementary log-log link, as a function of w: its slope
# there is t / (exp(t) - 1) at t = exp(w), which decreases.
LOG_ONE_MINUS_EXP = Bend("concave", "decreasing", upper=0)
LOG_CLOGLOG = Bend("concave", "increasing")

# Powers of a nonnegative argument, by the interval of the exponent.
POWERS = (
    ((1, INF), Bend("convex", "increasing", lower=0)),
    ((-INF, 0), Bend("convex", "decreasing", lower=0)),
    ((0, 1), Bend("concave", "increasing", lower=0)),
)


def composition(row: Bend, inner: Kind) -> Kind:
    """The kind of a function of the row's kind, of an inner function of a kind."""
    if inner in AFFINE:
        return row.kind
    follows = {"increasing": row.kind, "decreasing": MIRRORED[row.kind]}.get(row.monotone)
    return row.kind if inner == follows else "unknown"


def at_negatives(row: Bend, *, even: bool) -> Bend:
    """The row of an integer power for negative arguments: of (-1)**n times that of -x."""
    if even:
        return replace(row, monotone=REVERSED[row.monotone], lower=-INF, upper=0)
    return replace(row, kind=MIRRORED[row.kind], lower=-INF, upper=0)
