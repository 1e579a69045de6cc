"""Interval arithmetic: the rules by which an expression keeps between two ends.

The numbers that ends are made of, and what is known of leaves, are those of an `Arithmetic`: exact
fractions for all elements of an array at once (`exact`), or arrays with the data as they are
(`by_element`). Ends may be wider than the truth, never narrower: what no rule covers is the whole
line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import reduce
from typing import Generic, TypeVar

import sympy as sp

from gibbsppl.algebra.expressions import Binder, Expr, Leaf
from gibbsppl.algebra.function_rows import Function
from gibbsppl.algebra.functions import INCREASING, Maximum, Minimum, Where
from gibbsppl.algebra.polynomials import multiplied_out

End = TypeVar("End")
Number = Fraction | float


class Arithmetic(Generic[End]):
    """The ends of expressions: numbers, sums, products and comparisons of the ends of leaves."""

    __slots__ = ()

    def of(self, expr: Expr) -> tuple[End, End]:
        """The two ends of an expression."""
        if (known := self.known(expr)) is not None:
            return known
        match expr:
            case Leaf():
                return self.of_leaf(expr)
            case sp.Add():
                return self.of_sum(expr)
            case sp.Mul():
                return reduce(self.times, map(self.of, expr.args))
            case sp.Pow():
                return self.of_power(expr.base, expr.exp)
            case Binder():
                return self.of_binder(expr)
            case Where():
                return self.of_choice(*map(self.of, expr.args))
            case Minimum():
                lower, upper = zip(*map(self.of, expr.args), strict=True)
                return self.least(lower), self.least(upper)
            case Maximum():
                lower, upper = zip(*map(self.of, expr.args), strict=True)
                return self.greatest(lower), self.greatest(upper)
            case sp.Abs():
                ((low, high),) = map(self.of, expr.args)
                below, zero = self.minus((low, high)), self.number(0)
                return self.greatest((low, below[0], zero)), self.greatest((below[1], high))
        return self.of_function(expr)

    def of_sum(self, expr: Expr) -> tuple[End, End]:
        """The sum of its terms; the difference of a rising function at two places is one term."""
        return reduce(self.plus, self._of_each(expr.args))

    def _of_each(self, terms: tuple[Expr, ...]) -> Iterator[tuple[End, End]]:
        left = list(terms)
        while left:
            term = left.pop()
            others = left if _rises(term) else ()
            other = next((o for o in others if _is_opposite(term, o)), None)
            if other is None:
                yield self.of(term)
            else:
                left.remove(other)
                yield self._of_difference(term, other)

    def _of_difference(self, term: Expr, other: Expr) -> tuple[End, End]:
        """The difference of a rising function at two places, which has the sign of theirs."""
        number, high = term.as_coeff_Mul()
        _, low = other.as_coeff_Mul()
        # (what both places have in common cancels, what is left may have a common factor)
        rise = self.of(sp.factor_terms(multiplied_out(number * (high.args[0] - low.args[0]))))
        lower, upper = self.plus(self.of(term), self.of(other))
        zero = self.number(0)
        return (
            self.where(rise[0] >= zero, self.greatest((lower, zero)), lower),  # type: ignore[operator]
            self.where(rise[1] <= zero, self.least((upper, zero)), upper),  # type: ignore[operator]
        )

    def of_choice(
        self, condition: tuple[End, End], yes: tuple[End, End], no: tuple[End, End]
    ) -> tuple[End, End]:
        """One of two values, as an indicator says."""
        always, never = condition[0] == self.number(1), condition[1] == self.number(0)
        lower = self.where(never, no[0], self.least((yes[0], no[0])))
        upper = self.where(never, no[1], self.greatest((yes[1], no[1])))
        return self.where(always, yes[0], lower), self.where(always, yes[1], upper)

    def within(self, row: Function, argument: tuple[End, End]) -> tuple[End, End]:
        """A value of the function of a row."""
        lower, upper = map(self.number, row.between)
        if row.at is None:
            return lower, upper
        at, value = map(self.number, row.at)
        return (
            self.where(argument[0] >= at, value, lower),  # type: ignore[operator]
            self.where(argument[1] <= at, value, upper),  # type: ignore[operator]
        )

    def minus(self, a: tuple[End, End]) -> tuple[End, End]:
        """The negative of a value."""
        return self.times(a, (self.number(-1), self.number(-1)))

    # What each arithmetic has of its own

    def known(self, expr: Expr) -> tuple[End, End] | None:
        """The ends of what is a number; None of anything else."""
        raise NotImplementedError

    def of_leaf(self, leaf: Leaf) -> tuple[End, End]:
        """The ends of an element of an array."""
        raise NotImplementedError

    def of_binder(self, expr: Binder) -> tuple[End, End]:
        """The ends of a sum, a product or an extreme along a dim."""
        raise NotImplementedError

    def of_power(self, base: Expr, exponent: Expr) -> tuple[End, End]:
        """The ends of a power."""
        raise NotImplementedError

    def of_function(self, expr: Expr) -> tuple[End, End]:
        """The ends of any other function."""
        raise NotImplementedError

    def plus(self, a: tuple[End, End], b: tuple[End, End]) -> tuple[End, End]:
        """The sum of two values."""
        raise NotImplementedError

    def times(self, a: tuple[End, End], b: tuple[End, End]) -> tuple[End, End]:
        """The product of two values."""
        raise NotImplementedError

    def least(self, values: Sequence[End]) -> End:
        """The smallest of some ends."""
        raise NotImplementedError

    def greatest(self, values: Sequence[End]) -> End:
        """The largest of some ends."""
        raise NotImplementedError

    def where(self, condition: object, yes: End, no: End) -> End:
        """One of two ends."""
        raise NotImplementedError

    def number(self, value: Number) -> End:
        """A number as an end."""
        raise NotImplementedError


def _rises(term: Expr) -> bool:
    """Whether a term is a number times a rising function of one argument."""
    _, f = term.as_coeff_Mul()
    return f.func in INCREASING and len(f.args) == 1


def _is_opposite(term: Expr, other: Expr) -> bool:
    """Whether two terms are in proportion to one function, by opposite numbers."""
    (number, f), (opposite, g) = term.as_coeff_Mul(), other.as_coeff_Mul()
    return f.func == g.func and number == -opposite
