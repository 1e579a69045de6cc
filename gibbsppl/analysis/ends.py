"""The least and the greatest value that an expression can have at each position, data being known.

Comes in: an expression, ranges, a graph and its data. Goes out: two arrays, element by element.
They may be wider than the truth, never narrower: what no rule covers is the whole line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, reduce

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import Binder, Expr, Greatest, Leaf, Least, Over, Times, mentions
from gibbsppl.algebra.functions import (
    FUNCTIONS,
    INCREASING,
    Where,
)
from gibbsppl.algebra.ranges import Range, range_of
from gibbsppl.model.evaluation import Floats, Values, evaluate
from gibbsppl.model.graph import Constant, Graph, Statement
from gibbsppl.runtime import functions

# What is known of the elements of a leaf: two ends, which may be expressions, or nothing.
Bound = Expr | Fraction | float
Bounds = Callable[[Leaf], tuple[Bound, Bound] | None]
Ends = tuple[Floats, Floats]
LINE: Ends = (np.asarray(-np.inf), np.asarray(np.inf))


def ends_of(expr: Expr | float, over: tuple[Range, ...], graph: Graph, data: Values) -> Ends:
    """The two ends of an expression, one element for each position of the ranges.

    >>> from gibbsppl.algebra.expressions import Array, Dim
    >>> i, x, p = Dim("i"), Array("x"), Array("p")
    >>> ends_of(sp.exp(-x[i]), (Range(i, 0, 2),), Graph("g", {i: 2}, {}, ()), {"x": np.zeros(2)})
    (array([1., 1.]), array([1., 1.]))
    """
    frame = _Frame(over, graph, data, known_bounds(graph, data))
    with np.errstate(all="ignore"):
        found = frame.of(sp.sympify(expr))
    lower, upper = (np.broadcast_to(e, tuple(map(len, over))) for e in found)
    return lower, upper


@dataclass(frozen=True, slots=True)
class _Frame:
    over: tuple[Range, ...]
    graph: Graph
    data: Values
    bounds: Bounds

    def of(self, expr: Expr) -> Ends:
        """The ends of an expression, one axis for each range; infinite where none is known."""
        lower, upper = self._found(expr)
        return np.where(np.isnan(lower), -np.inf, lower), np.where(np.isnan(upper), np.inf, upper)

    def _found(self, expr: Expr) -> Ends:
        """The ends as the rules have them: no number outside of the domain of a function."""
        if not mentions(expr, self.graph.drawn):
            value = evaluate(expr, self.over, self.data, self.graph.sizes)
            return value, value
        match expr:
            case Leaf():
                return self._of_leaf(expr)
            case sp.Add():
                lower, upper = zip(*map(self.of, expr.args), strict=True)
                return reduce(np.add, lower), reduce(np.add, upper)
            case sp.Mul():
                return reduce(_times, map(self.of, expr.args))
            case Over() | Times() | Greatest() | Least():
                return self._of_binder(expr)
            case sp.Pow() if expr.exp.is_number:
                return _power(self.of(expr.base), float(expr.exp))
            case Where():
                return self._of_choice(*expr.args)
        if expr.func not in INCREASING:
            return LINE
        lower, upper = zip(*map(self.of, expr.args), strict=True)
        function = getattr(functions, FUNCTIONS[expr.func].numpy)
        return function(*lower), function(*upper)

    def _of_leaf(self, leaf: Leaf) -> Ends:
        lower, upper = self.bounds(leaf) or (-sp.oo, sp.oo)
        return np.asarray(float(lower)), np.asarray(float(upper))

    def _of_binder(self, expr: Binder) -> Ends:
        bound = range_of(expr, self.graph.sizes)
        inner = _Frame((*self.over, bound), self.graph, self.data, self.bounds)
        shape = (1,) * len(self.over) + (len(bound),)
        lower, upper = (e + np.zeros(shape) for e in inner.of(expr.body))
        return ALONG[expr.func](lower, upper)

    def _of_choice(self, where: Expr, yes: Expr, no: Expr) -> Ends:
        chosen, (low, high), (other_low, other_high) = map(self.of, (where, yes, no))
        always, never = chosen[0] == 1, chosen[1] == 0
        lower = np.where(always, low, np.where(never, other_low, np.minimum(low, other_low)))
        upper = np.where(always, high, np.where(never, other_high, np.maximum(high, other_high)))
        return lower, upper


def _times(a: Ends, b: Ends) -> Ends:
    products = [x * y for x in a for y in b]
    # (Zero times an end at infinity is zero: the end is never reached.)
    safe = [np.where(np.isnan(p), 0.0, p) for p in products]
    return reduce(np.minimum, safe), reduce(np.maximum, safe)


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


def known_bounds(graph: Graph, data: Values) -> Bounds:
    """The bounds of the elements of each array: the range of data, or the support.

    Elements that are fixed numbers count too, unless another position is read. A support with
    random bounds is as wide as its family's. Numbers are exact.

    >>> from gibbsppl.algebra.expressions import Array, Dim
    >>> of = known_bounds(Graph("g", {Dim("i"): 2}, {}, ()), {"x": np.array([0.5, 2.0])})
    >>> of(Array("x")[Dim("i")])
    (1/2, 2)
    """

    @cache
    def of(name: str, read: tuple[int | None, ...]) -> tuple[Expr, Expr] | None:
        if name in data and np.size(data[name]) and name not in graph.drawn:
            values = np.asarray(data[name], dtype=float)
            seen = float(values.min()), float(values.max())
            return (_exact(seen[0]), _exact(seen[1])) if np.isfinite(seen).all() else None
        own = [s for s in graph.statements_of(name) if _may_be_at(s, read)]
        ends = [_ends_of_support(s) for s in own]
        constants = (c for c in graph.constants if c.target.array.name == name)
        ends += [_ends_of_constant(c, graph, data) for c in constants if _may_be_at(c, read)]
        return (min(a for a, _ in ends), max(b for _, b in ends)) if ends else None

    return lambda leaf: of(
        leaf.array.name, tuple(int(i) if i.is_Integer else None for i in leaf.indices)
    )


def _may_be_at(region: Statement | Constant, read: tuple[int | None, ...]) -> bool:
    """Whether a region may have the element that is read: at these positions, or at any."""
    ranges: Mapping[Expr, range] = {r.dim: range(r.start, r.stop) for r in region.over}
    # (an array that is read without indices is read at all positions)
    return all(
        i is None or (i == at if at.is_Integer else at not in ranges or i in ranges[at])
        for at, i in zip(region.target.indices, read, strict=False)
    )


def _exact(value: float) -> Expr:
    """A number as it is: a float of SymPy's would be taken for a rounded one."""
    return sp.Rational(Fraction(value))


def _ends_of_support(statement: Statement) -> tuple[Expr, Expr]:
    full = statement.family.support(statement.event, **dict(statement.arguments))
    narrow = statement.support
    lower = _number(narrow.lower, _number(full.lower, -sp.oo))
    upper = _number(narrow.upper, _number(full.upper, sp.oo))
    return lower, upper


def _ends_of_constant(constant: Constant, graph: Graph, data: Values) -> tuple[Expr, Expr]:
    """The least and the greatest of the known values of a region."""
    values = np.asarray(evaluate(constant.value, constant.over, data, graph.sizes), dtype=float)
    if not values.size or not np.isfinite(values).all():
        return -sp.oo, sp.oo
    return _exact(float(values.min())), _exact(float(values.max()))


def _number(bound: Expr | float, otherwise: Expr) -> Expr:
    end = sp.sympify(bound)
    return end if end.is_number else otherwise
