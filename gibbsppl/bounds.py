"""Bounds of intervals, compared by their form: one inside of another, and the tighter of two.

>>> from gibbsppl.expressions import Array
>>> a = Array("a", positive=True)[()]
>>> is_written_inside(Maximum(a, sp.Integer(2)), a, "lower"), is_written_inside(a, a + 1, "lower")
(True, False)
>>> tighter(sp.Integer(-1), sp.S.Zero, "lower"), tighter(a, sp.S.Zero, "lower")
(None, a)
>>> tighter(sp.Integer(6), a, "upper")
Minimum(a, 6)
"""

from __future__ import annotations

from typing import Literal

import sympy as sp

from gibbsppl.expressions import Expr, Maximum, Minimum

Side = Literal["lower", "upper"]


def is_written_inside(given: Expr, own: Expr, side: Side) -> bool:
    """Whether a bound is inside of another by its form, or by the signs of its parts."""
    among = given.args if isinstance(given, Maximum if side == "lower" else Minimum) else (given,)
    if own in among or own in (-sp.oo, sp.oo):
        return True
    return bool(outside_by(given, own, side).is_nonpositive)


def outside_by(given: Expr, own: Expr, side: Side) -> Expr:
    """The distance by which a bound is outside of another."""
    return own - given if side == "lower" else given - own


def tighter(given: Expr, own: Expr, side: Side) -> Expr | None:
    """A bound inside of another one as well; None where that one alone holds."""
    if is_written_inside(given, own, side):
        return given
    if outside_by(given, own, side).is_positive:
        return None
    return (Maximum if side == "lower" else Minimum)(own, given)
