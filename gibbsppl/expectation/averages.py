"""Expectations of the terms of a log density over a variable that is taken by its mean.

Comes in: the step of a variable, one factor of q. Goes out, for a function of its elements: its
expectation, as an expression of `Moment` arrays, and the formulas of these. One class for each way
in which the elements of a factor depend on one another: see `of_families`, `of_labels` and `joint`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import sympy as sp
from sympy import Mul

from gibbsppl.algebra.expressions import Dim, Expr, Leaf
from gibbsppl.algebra.functions import Equals
from gibbsppl.algebra.ranges import Range, size_of
from gibbsppl.expectation.by_element import Seen
from gibbsppl.model.graph import PLAIN, Graph
from gibbsppl.pieces.split import Piece
from gibbsppl.schedule.moments import Asked, Moment, Refused, X
from gibbsppl.schedule.steps import Step


@dataclass(frozen=True, slots=True)
class Averages:
    """The expectations of functions of the elements of one factor of q.

    ``is_quadratic``: functions of degree two at most have their expectation by means and
    covariances.
    """

    graph: Graph
    asked: Asked
    step: Step
    is_quadratic = True

    @property
    def arrays(self) -> tuple[str, ...]:
        """The arrays of which the factor is."""
        return self.step.variables

    def mean(self, leaf: Leaf) -> Expr:
        """The mean of an element."""
        raise NotImplementedError

    def covariance(self, piece: Piece) -> Expr:
        """The covariance of the two elements of a piece's statistic, or the variance of one."""
        raise NotImplementedError

    def of_statistic(self, piece: Piece) -> Expr:
        """The expectation of a statistic of another form."""
        raise Refused(
            f"no expectation of {PLAIN.text(piece.statistic)} of {', '.join(self.arrays)} is known"
        )

    @property
    def shown(self) -> tuple[Shown, ...]:
        """The elements, independent of one another, that positions of factors show together."""
        return ()

    def in_bound(self, piece: Piece) -> Expr | None:
        """The expectation of a statistic as the bound has it; None if as everywhere."""
        del piece
        return None

    def dims(self, array: str) -> tuple[Dim, ...]:
        """The dims of an array."""
        return self.graph.variables[array].dims

    def element(self, array: str) -> Leaf:
        """The element of an array at its dims."""
        (leaf,) = {
            s.target.array for t in (self.step,) for s in t.statements
            if s.target.array.name == array
        }  # fmt: skip
        return Leaf(leaf, *self.dims(array))

    def _mean_of(self, array: str) -> Moment:
        own = self.element(array)
        positive = bool(own.is_positive)
        return self.asked.moment(
            (array,), X, f"E_{array}", self.dims(array),
            sign="E", inside=(own,), at_point=own, positive=positive,
        )  # fmt: skip

    def _variance_of(self, array: str) -> Moment:
        own = (self.element(array),)
        return self.asked.moment(
            (array,), "variance", f"V_{array}", self.dims(array), sign="Var", inside=own
        )

    # What the update computes

    @property
    def given(self) -> Mapping[str, tuple[Dim, ...]]:
        """The arrays that formulas read, as the function of the conditional returns them."""
        return {}

    def mode(self, *, of_log: bool) -> Expr | None:
        """The formula of the mode, or of that of the log; None where the kernel has it as it is."""
        del of_log
        return None

    def formula(self, moment: Moment) -> Expr | None:
        """The formula of a moment; None where the kernel computes it as it is."""
        del moment
        return None

    @property
    def always(self) -> tuple[Moment, ...]:
        """The moments that are computed whether others read them or not."""
        return ()

    @property
    def entropy(self) -> Moment:
        """The entropy of the factor, about its base measure."""
        name = self.step.name
        own = tuple(map(self.element, self.arrays))
        return self.asked.moment((name,), "entropy", f"H_{name}", (), sign="H", inside=own)

    @property
    def size(self) -> int:
        """The number of elements, of which more are averaged first."""
        return sum(prod(size_of(d, self.graph.sizes) for d in self.dims(a)) for a in self.arrays)


@dataclass(frozen=True, slots=True)
class Shown:
    """The elements that each position of some ranges shows, none of them twice."""

    over: tuple[Range, ...]
    seen: tuple[Seen, ...]

    def holds(self, ranges: Iterable[Range]) -> bool:
        """Whether that is so at all positions of some ranges."""
        known = {r.dim: r for r in ranges}
        pairs = ((r, known.get(r.dim)) for r in self.over)
        return all(k is not None and r.start <= k.start <= k.stop <= r.stop for r, k in pairs)


def ends_of(piece: Piece) -> tuple[Leaf, Leaf]:
    """The two elements of a statistic of degree two, twice the same of a square."""
    leaves: list[Leaf] = []
    for factor in Mul.make_args(piece.statistic):
        base, power = factor.as_base_exp()
        assert isinstance(base, Leaf)
        leaves += [base] * int(power)
    one, other = leaves
    return one, other


def same_element(one: Sequence[Expr], other: Sequence[Expr]) -> Expr:
    """Whether two elements are the same: one, zero, or an indicator."""
    pairs = [(i, j) for i, j in zip(one, other, strict=True) if i != j]
    if any((i - j).is_number for i, j in pairs):
        return sp.S.Zero
    return Mul(*(Equals(i, j) for i, j in pairs))
