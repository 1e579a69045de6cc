"""Supports of variables: declared by families, narrowed by statements, compared in matching.

A support has a kind and, for scalars, bounds; the bounds are expressions, so that they may depend
on other variables (``Uniform(0, theta)``, ``Binomial(n, p)``).

>>> POSITIVE
(0, oo)
>>> Support("integer", sp.Integer(0), sp.Symbol("n"))
{0..n}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal

import sympy as sp

Kind = Literal["real", "integer", "simplex", "vector", "sphere", "spd", "counts"]


@dataclass(frozen=True, slots=True)
class Support:
    """The set of possible values of a variable, or of its event for multivariate kinds.

    ``real`` is an interval, ``integer`` the whole numbers in a closed range, ``simplex`` positive
    vectors of sum one, ``vector`` real vectors, ``sphere`` those of length one, ``spd`` symmetric
    positive definite matrices and ``counts`` vectors of counts whose sum is ``upper``.
    """

    kind: Kind
    lower: sp.Expr = -sp.oo
    upper: sp.Expr = sp.oo

    def narrowed(self, lower: sp.Expr | None, upper: sp.Expr | None) -> Support:
        """The support between two further bounds (``None``: no bound).

        >>> UNIT.narrowed(sp.Integer(-1), sp.Rational(1, 2))
        (0, 1/2)
        """
        return replace(
            self,
            lower=_tighter(self.lower, lower, sp.Max),
            upper=_tighter(self.upper, upper, sp.Min),
        )

    @property
    def numbers(self) -> tuple[sp.Expr, sp.Expr]:
        """The numeric bounds of each number of a value; infinite where a bound reads other arrays.

        >>> UNIT.narrowed(sp.Rational(1, 4), None).numbers, Support("simplex").numbers
        ((1/4, 1), (0, 1))
        """
        match self.kind:
            case "simplex":
                return sp.S.Zero, sp.S.One
            case "sphere":
                return -sp.S.One, sp.S.One
            case "vector" | "spd":
                return -sp.oo, sp.oo
        lower, upper = sp.sympify(self.lower), sp.sympify(self.upper)
        return lower if lower.is_number else -sp.oo, upper if upper.is_number else sp.oo

    @property
    def is_discrete(self) -> bool:
        """Whether the values are whole numbers."""
        return self.kind in ("integer", "counts")

    @property
    def is_binary(self) -> bool:
        """Whether the values are 0 and 1."""
        return self.kind == "integer" and self.lower == 0 and self.upper == 1

    @property
    def is_tied(self) -> bool:
        """Whether the entries of a value are tied to one another, so that none can change alone."""
        return self.kind in ("simplex", "sphere", "spd", "counts")

    @property
    def is_finite(self) -> bool:
        """Whether the values are finitely many labels."""
        return self.kind == "integer" and sp.oo not in (-self.lower, self.upper)

    def __repr__(self) -> str:
        match self.kind:
            case "real" if self == REAL:
                return "the real line"
            case "real":
                return f"({self.lower}, {self.upper})"
            case "integer":
                return f"{{{self.lower}..{self.upper}}}"
            case "simplex":
                return "the simplex"
            case "vector":
                return "real vectors"
            case "sphere":
                return "unit vectors"
            case "spd":
                return "positive definite matrices"
            case "counts":
                return f"counts of sum {self.upper}"


def _tighter(
    own: sp.Expr, given: sp.Expr | None, extreme: Callable[[sp.Expr, sp.Expr], sp.Expr]
) -> sp.Expr:
    """The tighter of two bounds; unless both are numbers, the given one, taken to be inside."""
    if given is None:
        return own
    numbers = sp.sympify(own).is_number and sp.sympify(given).is_number
    return extreme(own, given) if numbers else given


def point(value: float) -> Support:
    """One number alone."""
    return Support("real", sp.Rational(value), sp.Rational(value))


def bounds_of(
    supports: Iterable[Support], values: Iterable[float]
) -> tuple[sp.Expr, sp.Expr]:
    """The smallest interval of numbers that holds some supports and some further values.

    >>> bounds_of((UNIT, POSITIVE), [-1.0])
    (-1.00000000000000, oo)
    """
    ends = [s.numbers for s in supports] + [(v, v) for v in map(sp.Float, values)]
    lowers, uppers = zip(*ends, strict=True)
    return min(lowers), max(uppers)


REAL = Support("real")
POSITIVE = Support("real", sp.Integer(0))
UNIT = Support("real", sp.Integer(0), sp.Integer(1))
NATURAL = Support("integer", sp.Integer(0))
SIMPLEX = Support("simplex", sp.Integer(0), sp.Integer(1))
VECTOR = Support("vector")
SPHERE = Support("sphere")
SPD = Support("spd")
