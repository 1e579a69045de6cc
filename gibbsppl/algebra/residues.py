"""Identities of rational functions, told by their value at a random point modulo a large prime.

What is not arithmetic (variables, functions) has a pseudo-random residue, equal for equal
arguments. A function that is not identically a number has the value of that number there with a
probability of its degree over the prime (J. T. Schwartz, 1980, "Fast probabilistic algorithms for
verification of polynomial identities", Journal of the ACM 27), below 1e-12 for degrees up to a
million.

>>> from gibbsppl.algebra.expressions import Array
>>> from gibbsppl.algebra.functions import Expit
>>> x, y = Array("x")[()], Array("y")[()]
>>> at = Residues({}, {})
>>> at.of((x**2 - y**2) / (x + y) - x + y + 1, {}), at.of(Expit(x * y - x) + Expit(x * (1 - y)), {})
(1, 1)
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from hashlib import blake2b
from math import isfinite, prod
from typing import Any

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import Binder, Dim, Expr, Leaf, Over, Size, Times, dims_of
from gibbsppl.algebra.functions import FUNCTIONS, Where
from gibbsppl.algebra.ranges import range_of

# A Mersenne prime: residues are Python's own whole numbers, and fast.
PRIME = 2**61 - 1
# A random residue is never as small as this, for all that matters: a number below is a position.
POSITIONS = 2**31
# Longer ranges are not split into elements.
LONGEST_RANGE = 10_000

_RELATIONS: Mapping[str, Callable[[int, int], bool]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
}


def unknown(*what: object) -> int:
    """A pseudo-random residue for a value that is not arithmetic; equal for equal arguments."""
    return int.from_bytes(blake2b(repr(what).encode(), digest_size=16).digest(), "big") % PRIME


def residue(value: float) -> int:
    """The residue of a number, taken as the exact decimal fraction that prints as the number."""
    exact = Fraction(repr(float(value)))
    return exact.numerator * inverse(exact.denominator) % PRIME


def inverse(value: int) -> int:
    """The residue of one over a value; raises a `ZeroDivisionError` of zero."""
    if value % PRIME == 0:
        raise ZeroDivisionError
    return pow(value, -1, PRIME)


def power(base: int, exponent: int) -> int:
    """A power with a small whole exponent; a pseudo-random residue for other exponents."""
    whole = _whole(exponent)
    if whole is None:
        return unknown("^", base, exponent)
    return pow(base, whole, PRIME) if whole >= 0 else pow(inverse(base), -whole, PRIME)


def _whole(value: int) -> int | None:
    """The small whole number, of either sign, that a residue is of."""
    signed = value if value < POSITIONS else value - PRIME
    return signed if -POSITIONS < signed < POSITIONS else None


@dataclass(frozen=True, slots=True)
class Residues:
    """The residues of expressions, given arrays of known numbers, and the sizes of dims.

    ``shares``: of arrays of vectors whose sum is one, their axis and how many entries they have.
    """

    numbers: Mapping[str, Any]
    sizes: Mapping[Dim, int]
    shares: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    found: dict[tuple[Expr, tuple[int, ...]], int] = field(default_factory=dict)

    def of(self, expr: Expr, at: Mapping[Dim, int]) -> int:
        """The residue of an expression at positions, themselves pseudo-random where unknown."""
        if not expr.args and not isinstance(expr, Leaf):
            return self._of_atom(expr, at)
        key = (expr, tuple(at[d] for d in _dims_of(expr)))
        if key not in self.found:
            # (what is not looked into is a variable of its own)
            value = self._of_parts(expr, at)
            self.found[key] = unknown(len(self.found)) if value is None else value % PRIME
        return self.found[key]

    def _of_atom(self, expr: Expr, at: Mapping[Dim, int]) -> int:
        match expr:
            case Dim():
                return at[expr]
            case Size():
                return self.sizes[Dim(expr.name)]
            case sp.Rational():
                return int(expr.p) * inverse(int(expr.q)) % PRIME
            case sp.Float() if isfinite(float(expr)):
                return residue(float(expr))
        return unknown(type(expr).__name__, str(expr))

    def _of_parts(self, expr: Expr, at: Mapping[Dim, int]) -> int | None:
        match expr:
            case Leaf():
                return self._of_leaf(expr, at)
            case sp.Add():
                return sum(self.of(a, at) for a in expr.args)
            case sp.Mul():
                return prod(self.of(a, at) for a in expr.args)
            case sp.Pow():
                return power(self.of(expr.base, at), self.of(expr.exp, at))
            case Where():
                condition, yes, no = expr.args
                return self._of_choice(self.of(condition, at), yes, no, at)
            case Over() | Times():
                return self._of_range(expr, at)
            case Binder():
                return None
        return _of_function(expr, [self.of(a, at) for a in expr.args])

    def _of_leaf(self, leaf: Leaf, at: Mapping[Dim, int]) -> int:
        name, index = leaf.array.name, tuple(self.of(i, at) for i in leaf.indices)
        if name in self.numbers:
            values = np.asarray(self.numbers[name])
            if all(n < size for n, size in zip(index, values.shape, strict=True)):
                number = float(values[index])
                if isfinite(number):
                    return residue(number)
        axis, count = self.shares.get(name, (0, 0))
        if count and index[axis] == count - 1:
            others = ((*index[:axis], n, *index[axis + 1 :]) for n in range(count - 1))
            return 1 - sum(unknown(name, other) for other in others)
        return unknown(name, index)

    def _of_choice(self, condition: int, yes: Expr, no: Expr, at: Mapping[Dim, int]) -> int:
        """One of two values, as an indicator says: where it is unknown, a polynomial in it."""
        if condition in (0, 1):
            return self.of(yes if condition else no, at)
        return condition * self.of(yes, at) + (1 - condition) * self.of(no, at)

    def _of_range(self, expr: Over | Times, at: Mapping[Dim, int]) -> int | None:
        along = range_of(expr, self.sizes)
        if len(along) > LONGEST_RANGE:
            return None
        each = (self.of(expr.body, {**at, along.dim: n}) for n in range(along.start, along.stop))
        return sum(each) if isinstance(expr, Over) else prod(each)


@lru_cache(maxsize=2**14)
def _dims_of(expr: Expr) -> tuple[Dim, ...]:
    return tuple(dims_of(expr))


def _of_function(expr: Expr, arguments: list[int]) -> int:
    """A function of arguments; ``1 - f(x)`` is ``f(-x)`` of a symmetric one."""
    row, name = FUNCTIONS.get(expr.func), (expr.func.__module__, expr.func.__name__)
    if row is not None and row.relation in _RELATIONS:
        low, high = map(_whole, arguments)
        if low is not None and high is not None:
            return int(_RELATIONS[row.relation](low, high))
    if row is not None and row.symmetric and 2 * arguments[0] > PRIME:
        return 1 - unknown(name, PRIME - arguments[0])
    return unknown(name, *arguments)
