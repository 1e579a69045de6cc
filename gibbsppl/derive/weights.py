"""Arrays of derivatives: the weights that pieces of degree one and two have in their coefficients.

Comes in: pieces whose coefficients hold functions of variables. Goes out: the same with an element
of an array in place of each product of functions along the same dims, and in place of sums of these
over what neither views nor other parts of the coefficient read. So a log of sums over the rows at
risk costs a pass over these sums, however many pairs of coefficients there are.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from math import prod

import sympy as sp
from sympy import Mul

from gibbsppl.algebra.copies import copy_of, root_of
from gibbsppl.algebra.expressions import Array, Dim, Expr, Leaf, Over, dims_of, mentions, substitute
from gibbsppl.algebra.ranges import Range, fresh
from gibbsppl.model.graph import Graph
from gibbsppl.pieces.split import Piece


@dataclass(frozen=True, slots=True)
class Weight:
    """An array of derivatives: an element, its value, the factor whose derivatives they are."""

    element: Leaf
    value: Expr
    factor: str

    @property
    def axes(self) -> tuple[Dim, ...]:
        """The dims of the array."""
        return tuple(i for i in self.element.indices if isinstance(i, Dim))


@dataclass(frozen=True, slots=True)
class Weights:
    """The arrays found so far, by their values; some are sums of those before them.

    Of functions of the arrays called ``names``; names that are ``taken`` have another meaning.
    """

    graph: Graph
    names: tuple[str, ...]
    taken: set[str]
    found: dict[Expr, Weight]

    def put_into(self, piece: Piece) -> Piece:
        """The piece with elements of arrays in its coefficient, where these have all positions."""
        parts = Mul.make_args(piece.coefficient)
        along: dict[frozenset[Dim], list[Expr]] = {}
        for part in parts:
            if has_function(part, self.names):
                along.setdefault(frozenset(dims_of(part)), []).append(part)
        functions = [p for group in along.values() for p in group]
        rest = [p for p in parts if p not in functions]
        elements = [self._element(piece, Mul(*group)) for group in along.values()]
        coefficient, over = self._summed(piece, [*rest, *elements])
        return replace(piece, coefficient=coefficient, over=over)

    def _summed(self, piece: Piece, parts: Sequence[Expr]) -> tuple[Expr, tuple[Range, ...]]:
        """The coefficient with arrays of sums in it, the smallest first; the ranges that are left.

        A sum is an array where it has fewer positions than what is summed otherwise.
        """
        shown = {d for v in piece.views for i in v.indices if i is not None for d in dims_of(i)}
        left, over = [r for r in piece.over if r.dim not in shown], piece.over
        while left:
            r = min(left, key=lambda r: self._size(_beside(parts, r.dim)))
            left.remove(r)
            group = [p for p in parts if r.dim in dims_of(p)]
            others = [p for p in parts if p not in group]
            is_part = self._size(_beside(parts, r.dim)) < self._size(dims_of(Mul(*others)))
            if not is_part or not any(map(self._is_weight, group)):
                continue
            total = self._element(piece, Over(Mul(*group), r.dim, r.start, r.stop))
            if isinstance(total, Leaf):
                parts, over = [*others, total], tuple(o for o in over if o != r)
        return Mul(*parts), over

    def _is_weight(self, part: Expr) -> bool:
        """Whether a part of a coefficient is an element of an array found before."""
        own = {w.element.array for w in self.found.values()}
        return isinstance(part, Leaf) and part.array in own

    def _size(self, dims: Collection[Dim]) -> int:
        """The number of positions along dims."""
        return prod(self.graph.sizes[Dim(root_of(d))] for d in dims)

    def _element(self, piece: Piece, value: Expr) -> Expr:
        """The element of an array of values, if it has all positions of its dims; else the value.

        (Copies of a dim have one array: it is read twice.)
        """
        sizes = self.graph.sizes
        dims = tuple(sorted(dims_of(value), key=str))
        axes = tuple(Dim(root_of(d)) for d in dims)
        ends = {r.dim: (r.start, r.stop) for r in piece.over}
        is_whole = all(ends.get(d) == (0, sizes.get(a)) for d, a in zip(dims, axes, strict=True))
        if not axes or not is_whole or len({*axes}) < len(axes):
            return value
        value = _in_order(substitute(value, dict(zip(dims, axes, strict=True))))
        if value not in self.found:
            array = Array(fresh(f"{piece.factor}_weights", self.taken))
            self.taken.add(array.name)
            self.found[value] = Weight(array[axes], value, piece.factor)
        return Leaf(self.found[value].element.array, *dims)


def _in_order(expr: Expr) -> Expr:
    """The expression with bound dims called by the first names that are free: equal where it is."""
    if isinstance(expr, Leaf) or not expr.has(Over):
        return expr
    args = tuple(_in_order(a) if isinstance(a, sp.Expr) else a for a in expr.args)
    if not isinstance(expr, Over):
        return expr.func(*args)
    (dim,), body = expr.bound, args[0]
    root = Dim(root_of(dim))
    own = copy_of(root, dims_of(expr)) if root in dims_of(expr) else root
    return Over(substitute(body, {dim: own}), own, *args[2:])


def _beside(parts: Sequence[Expr], dim: Dim) -> set[Dim]:
    """The dims that parts read beside one."""
    return {d for p in parts if dim in dims_of(p) for d in dims_of(p)} - {dim}


def has_function(expr: Expr, names: Collection[str]) -> bool:
    """Whether an expression has a function of some arrays that is no polynomial."""
    if not mentions(expr, names) or isinstance(expr, Leaf):
        return False
    is_power = expr.is_Pow and expr.args[1].is_Integer and bool(expr.args[1] > 0)
    is_plain = expr.is_Add or expr.is_Mul or is_power or isinstance(expr, Over)
    parts = (expr.body,) if isinstance(expr, Over) else expr.args
    return not is_plain or any(has_function(p, names) for p in parts)
