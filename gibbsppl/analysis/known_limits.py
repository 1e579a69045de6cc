"""Numeric limits on the elements of an array by potentials, as far as data tell.

Comes in: a graph, its data, an array and potentials that read it. Goes out: a lower and an upper
limit for each element. ``dinterval`` of BUGS, an observed order, a detection limit are potentials
that are logs of indicators: products of inequalities.

>>> from gibbsppl.algebra.expressions import Array, Dim
>>> from gibbsppl.model.graph import Variable
>>> i, x = Dim("i"), Array("x")
>>> graph = Graph("g", {i: 2}, {"x": Variable("x", (i,), "random")}, ())
>>> above = Potential("above", sp.log(AtMost(3, x[i])), (Range(i, 1, 2),))
>>> known_limits(graph, {}, "x", [above])
KnownLimits(lower=array([-inf,   3.]), upper=array([inf, inf]), are_all=True)
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import Expr, Leaf, leaves_of
from gibbsppl.algebra.functions import AtMost, Below
from gibbsppl.algebra.ranges import Range
from gibbsppl.model.evaluation import Floats, Values, evaluate
from gibbsppl.model.graph import Graph, Potential


@dataclass(frozen=True, slots=True, eq=False)
class KnownLimits:
    """Lower and upper limits of each element of an array; infinite where none is known.

    Limits of whole numbers are whole, and possible. ``are_all``: the potentials say nothing else.
    """

    lower: Floats
    upper: Floats
    are_all: bool = True

    @property
    def told(self) -> np.ndarray:
        """The mask of elements with a known limit."""
        return np.isfinite(self.lower) | np.isfinite(self.upper)


def known_limits(
    graph: Graph, data: Values, name: str, potentials: Sequence[Potential]
) -> KnownLimits:
    """The limits on the elements of an array by potentials that compare them with numbers."""
    shape = tuple(graph.sizes[d] for d in graph.variables[name].dims)
    lower, upper = np.full(shape, -np.inf), np.full(shape, np.inf)
    latent = set(graph.drawn)
    known = {n: v for n, v in data.items() if n not in latent}
    found = [_compared(p, e, name, known) for p, e in _indicators(potentials)]
    for told in found:
        if told is not None:
            places, values = _values(graph, known, told, shape)
            if graph.variables[name].integer:
                values = _next_whole(values, 1 if told.is_lower else -1, strict=told.strict)
            narrow: np.ufunc = np.maximum if told.is_lower else np.minimum
            narrow.at((lower if told.is_lower else upper).reshape(-1), places, values)
    return KnownLimits(lower, upper, None not in found)


def _indicators(potentials: Sequence[Potential]) -> Iterator[tuple[Potential, Expr | None]]:
    """Yield the factors of indicators whose logs are potentials; None for other potentials."""
    for potential in potentials:
        density = potential.log_density
        is_log = isinstance(density, sp.log)
        for factor in sp.Mul.make_args(density.args[0]) if is_log else (None,):
            yield potential, factor


@dataclass(frozen=True, slots=True)
class _Compared:
    """An element, its bound, the side and strictness of the bound, and the ranges of both."""

    leaf: Leaf
    bound: Expr
    is_lower: bool
    strict: bool
    over: tuple[Range, ...]


def _compared(
    potential: Potential, indicator: Expr | None, name: str, known: Values
) -> _Compared | None:
    """The element of an array that an inequality compares with data; None if there is none."""
    if not isinstance(indicator, AtMost | Below):
        return None
    low, high = indicator.args
    is_lower = isinstance(high, Leaf) and high.array.name == name
    leaf, bound = (high, low) if is_lower else (low, high)
    if not isinstance(leaf, Leaf) or leaf.array.name != name:
        return None
    read = leaves_of(bound).union(*map(leaves_of, leaf.indices))
    if any(x.array.name not in known for x in read):
        return None
    return _Compared(leaf, bound, is_lower, isinstance(indicator, Below), potential.over)


def _values(
    graph: Graph, known: Values, told: _Compared, shape: tuple[int, ...]
) -> tuple[np.ndarray, Floats]:
    """Which elements are compared, counted along all axes, and with which values."""
    count = tuple(map(len, told.over))

    def at_each(expr: Expr) -> Floats:
        return np.broadcast_to(evaluate(expr, told.over, known, graph.sizes), count).ravel()

    places = np.zeros(math.prod(count), dtype=np.intp)
    for size, index in zip(shape, told.leaf.indices, strict=True):
        places = places * size + at_each(index).astype(np.intp)
    return places, at_each(told.bound)


def _next_whole(values: Floats, step: int, *, strict: bool) -> Floats:
    """The first whole number from each value on, upwards or downwards, that a limit allows.

    >>> _next_whole(np.array([2.0, 2.5]), 1, strict=True)
    array([3., 3.])
    """
    on = np.ceil(values) if step > 0 else np.floor(values)
    return np.where(strict & (on == values), on + step, on)
