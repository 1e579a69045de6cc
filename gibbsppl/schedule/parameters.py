"""The parameters of draws: natural parameters, bounds, coefficients of products."""

from __future__ import annotations

from dataclasses import dataclass

from gibbsppl.algebra.expressions import Dim, Expr, Leaf
from gibbsppl.algebra.ranges import Range
from gibbsppl.derive.contractions import Contribution
from gibbsppl.pieces.limits import Side


@dataclass(frozen=True, slots=True)
class NaturalParameter:
    """The coefficient of one statistic: the contributions of the factors, over the axes.

    ``squares`` are contributions to the diagonal, for the statistic of two entries of an event;
    their axes are the first ones, without the partner axes.
    """

    statistic: Expr
    axes: tuple[Dim, ...]
    contributions: tuple[Contribution, ...]
    squares: tuple[Contribution, ...] = ()

    @property
    def array(self) -> str:
        """The name of the array of a statistic that is one element."""
        assert isinstance(self.statistic, Leaf)
        return self.statistic.array.name


@dataclass(frozen=True, slots=True)
class Bound:
    """A lower or upper bound of a truncated draw: the tightest of all contributions.

    ``side`` is ``"lower"`` or ``"upper"``; the values are on the scale that is drawn.
    """

    side: Side
    axes: tuple[Dim, ...]
    contributions: tuple[Contribution, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """The coefficients of products of two elements: one for each position of the axes in a place.

    ``first`` and ``second`` are the elements, at indices in the dims of the axes, which have these
    ``sizes``.
    """

    first: Leaf
    second: Leaf
    parameter: NaturalParameter
    place: tuple[Range, ...]
    sizes: tuple[int, ...]
