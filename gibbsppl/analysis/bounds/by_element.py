"""The least and the greatest value that an expression can have at each position, data being known.

Comes in: an expression, ranges, a graph and its data. Goes out: two arrays, element by element.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import Binder, Expr, Greatest, Leaf, Least, Over, Times, mentions
from gibbsppl.algebra.functions import FUNCTIONS, INCREASING
from gibbsppl.algebra.ranges import Range, range_of
from gibbsppl.analysis.bounds.arithmetic import Arithmetic, Number
from gibbsppl.analysis.bounds.of_arrays import Bounds, known_bounds
from gibbsppl.model.evaluation import Floats, Values, evaluate
from gibbsppl.model.graph import Graph
from gibbsppl.runtime import functions

Ends = tuple[Floats, Floats]
LINE: Ends = (np.asarray(-np.inf), np.asarray(np.inf))


def ends_of(expr: Expr | float, over: tuple[Range, ...], graph: Graph, data: Values) -> Ends:
    """The two ends of an expression, one element for each position of the ranges.

    >>> from gibbsppl.algebra.expressions import Array, Dim
    >>> i, x, p = Dim("i"), Array("x"), Array("p")
    >>> ends_of(sp.exp(-x[i]), (Range(i, 0, 2),), Graph("g", {i: 2}, {}, ()), {"x": np.zeros(2)})
    (array([1., 1.]), array([1., 1.]))
    """
    here = _ByElement(over, graph, data, known_bounds(graph, data))
    with np.errstate(all="ignore"):
        found = here.of(sp.sympify(expr))
    lower, upper = (np.broadcast_to(e, tuple(map(len, over))) for e in found)
    return lower, upper


@dataclass(frozen=True, slots=True)
class _ByElement(Arithmetic[Floats]):
    """Ends with one axis for each range; infinite where none is known."""

    over: tuple[Range, ...]
    graph: Graph
    data: Values
    bounds: Bounds

    def of(self, expr: Expr) -> Ends:
        """The ends of an expression; infinite where a function has no number."""
        lower, upper = Arithmetic.of(self, expr)
        return np.where(np.isnan(lower), -np.inf, lower), np.where(np.isnan(upper), np.inf, upper)

    def known(self, expr: Expr) -> Ends | None:
        """The values of an expression of data alone."""
        if mentions(expr, self.graph.random):
            return None
        value = evaluate(expr, self.over, self.data, self.graph.sizes)
        return value, value

    def of_leaf(self, leaf: Leaf) -> Ends:
        """The bounds of an array."""
        lower, upper = self.bounds(leaf) or (-sp.oo, sp.oo)
        return np.asarray(float(lower)), np.asarray(float(upper))

    def of_binder(self, expr: Binder) -> Ends:
        """A sum, a product or an extreme along an axis, from the ends of each element."""
        if expr.func not in ALONG:
            return LINE
        bound = range_of(expr, self.graph.sizes)
        inner = _ByElement((*self.over, bound), self.graph, self.data, self.bounds)
        shape = (1,) * len(self.over) + (len(bound),)
        lower, upper = (e + np.zeros(shape) for e in inner.of(expr.body))
        return ALONG[expr.func](lower, upper)

    def of_power(self, base: Expr, exponent: Expr) -> Ends:
        """A power with a number as its exponent."""
        return _power(self.of(base), float(exponent)) if exponent.is_number else LINE

    def of_function(self, expr: Expr) -> Ends:
        """An increasing function at the ends of its arguments; else what its values lie between."""
        row = FUNCTIONS.get(expr.func)
        if expr.func in INCREASING and row is not None:
            lower, upper = zip(*map(self.of, expr.args), strict=True)
            function = getattr(functions, row.numpy)
            return function(*lower), function(*upper)
        return LINE if row is None else self.within(row, self.of(expr.args[0]))

    def plus(self, a: Ends, b: Ends) -> Ends:
        """The sum of two values."""
        return a[0] + b[0], a[1] + b[1]

    def times(self, a: Ends, b: Ends) -> Ends:
        """The product of two values: zero times an end at infinity, never reached, is zero."""
        products = [x * y for x in a for y in b]
        safe = [np.where(np.isnan(p), 0.0, p) for p in products]
        return self.least(safe), self.greatest(safe)

    def least(self, values: Sequence[Floats]) -> Floats:
        """The smallest of some values."""
        return reduce(np.minimum, values)

    def greatest(self, values: Sequence[Floats]) -> Floats:
        """The largest of some values."""
        return reduce(np.maximum, values)

    def where(self, condition: object, yes: Floats, no: Floats) -> Floats:
        """One of two ends."""
        return np.where(np.asarray(condition, dtype=bool), yes, no)

    def number(self, value: Number) -> Floats:
        """A number as an end."""
        return np.asarray(float(value))


def _product(lower: Floats, upper: Floats) -> Ends:
    """The ends of a product along the last axis, the narrowest where no factor is negative."""
    size = np.maximum(np.abs(lower), np.abs(upper)).prod(axis=-1)
    is_plain = (lower >= 0).all(axis=-1)
    return (
        np.where(is_plain, lower.prod(axis=-1), -size),
        np.where(is_plain, upper.prod(axis=-1), size),
    )


# What is bound along an axis, which is the last one: the ends from those of each element.
ALONG: Mapping[type[Expr], Callable[[Floats, Floats], Ends]] = {
    Over: lambda lower, upper: (lower.sum(axis=-1), upper.sum(axis=-1)),
    Times: _product,
    Greatest: lambda lower, upper: (
        lower.max(axis=-1, initial=-np.inf),
        upper.max(axis=-1, initial=-np.inf),
    ),
    Least: lambda lower, upper: (
        lower.min(axis=-1, initial=np.inf),
        upper.min(axis=-1, initial=np.inf),
    ),
}


def _power(base: Ends, exponent: float) -> Ends:
    # (a zero is neared from inside: from above at the lower end, from below at the upper one)
    lower = np.where((base[0] == 0) & (base[1] > 0), 0.0, base[0])
    upper = np.where((base[1] == 0) & (base[0] < 0), -0.0, base[1])
    ends = np.power(lower, exponent), np.power(upper, exponent)
    found = np.minimum(*ends), np.maximum(*ends)
    negative = lower < 0
    if not exponent.is_integer():
        bounds = (np.zeros(()), np.full((), np.inf))
    elif exponent > 0 and exponent % 2:
        return found
    elif exponent > 0:
        bounds = (np.where(upper > 0, 0.0, found[0]), found[1])
    else:
        bounds = (np.where(upper > 0, -np.inf, found[0]), np.where(upper > 0, np.inf, found[1]))
    return np.where(negative, bounds[0], found[0]), np.where(negative, bounds[1], found[1])
