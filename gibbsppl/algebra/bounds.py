"""Bounds of intervals, compared by their form: one inside of another, and the tighter of two.

>>> from gibbsppl.algebra.expressions import Array
>>> a = Array("a", positive=True)[()]
>>> is_written_inside(Maximum(a, sp.Integer(2)), a, "lower"), is_written_inside(a, a + 1, "lower")
(True, False)
>>> tighter(sp.Integer(-1), sp.S.Zero, "lower"), tighter(a, sp.S.Zero, "lower")
(None, a)
>>> tighter(sp.Integer(6), a, "upper")
Minimum(a, 6)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import sympy as sp

from gibbsppl.algebra.expressions import Array, Dim, Expr, Extreme, Greatest, Least, Over, Times
from gibbsppl.algebra.functions import AtMost, Maximum, Minimum
from gibbsppl.algebra.supports import Support

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
    """A bound narrowed to be inside of another too; None where the other is surely tighter."""
    if is_written_inside(given, own, side):
        return given
    if outside_by(given, own, side).is_positive:
        return None
    return (Maximum if side == "lower" else Minimum)(own, given)


def inside(x: Expr, support: Support, event: tuple[Dim, ...] = ()) -> tuple[Expr, ...]:
    """The bounds of a support that depend on other arrays, as indicators.

    The total of counts is their bound itself.

    >>> n, d, x = (Array(name)[()] for name in ("n", "d", "x"))
    >>> inside(x, Support("integer", sp.S.Zero, Minimum(n, d)))
    (AtMost(x, n), AtMost(x, d))
    >>> k, t = Dim("k"), Array("t")
    >>> inside(x, Support("real", Greatest(t[k], k), sp.oo))
    (prod(AtMost(t[k], x), k),)
    >>> i, y = Dim("i"), Array("y")
    >>> inside(y[i], Support("counts", sp.S.Zero, n), (i,))
    (AtMost(n, sum(y[i], i)), AtMost(sum(y[i], i), n))
    """
    if support.kind == "counts":
        total = Over(x, event[0])
        return (AtMost(support.upper, total), AtMost(total, support.upper))
    below = (b for b in parted(support.lower, Maximum) if b.atoms(Array))
    above = (b for b in parted(support.upper, Minimum) if b.atoms(Array))
    return (
        *(_of_all(b, Greatest, lambda own: AtMost(own, x)) for b in below),
        *(_of_all(b, Least, lambda own: AtMost(x, own)) for b in above),
    )


def _of_all(bound: Expr, extreme: type[Extreme], holds: Callable[[Expr], Expr]) -> Expr:
    """An indicator about an extreme, as the product of indicators about all of its values."""
    if not isinstance(bound, extreme):
        return holds(bound)
    return Times(_of_all(bound.body, extreme, holds), *bound.args[1:])


def parted(bound: Expr, extreme: type[sp.Function]) -> tuple[Expr, ...]:
    """The bounds of which a bound is the largest (or smallest)."""
    bound = sp.sympify(bound)
    if not isinstance(bound, extreme):
        return (bound,)
    return tuple(b for a in bound.args for b in parted(a, extreme))
