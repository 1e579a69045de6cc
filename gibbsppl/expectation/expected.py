"""The expectation of an expression under a factorised q: each variable taken by its mean.

Comes in: an expression of the model, and the `Averages` of the factors of q. Goes out: the same
expression with elements of `Moment` arrays in place of what is averaged.

Sums are linear, and products of functions of different factors are products of expectations. What
is of degree two in the elements of one factor is not multiplied out:

    E f(x) = f(m) + sum of C[i, j] * (half the second derivative) over pairs of elements

so that a square about a centre stays one. A function that holds a label is the sum over its values.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import sympy as sp
from sympy import Add, Mul

from gibbsppl.algebra.expressions import Dim, Expr, Leaf, Over, dims_of, mentions
from gibbsppl.algebra.functions import Weighted, Where
from gibbsppl.algebra.identities import simplified
from gibbsppl.algebra.ranges import Range, range_of, size_of
from gibbsppl.algebra.rounding import may_be_infinite
from gibbsppl.expectation.averages import Averages, ends_of
from gibbsppl.expectation.by_element import NoPolynomialError, expected
from gibbsppl.expectation.of_labels import Labels
from gibbsppl.model.graph import PLAIN, Graph
from gibbsppl.pieces.gates import NO_GATES, opened
from gibbsppl.pieces.split import Piece, View, rest_of, split
from gibbsppl.schedule.moments import Refused

Ranges: TypeAlias = Mapping[Dim, Range]


@dataclass(frozen=True, slots=True)
class Expectation:
    """Expectations of expressions of a graph under the factors of q.

    ``is_bound``: they are terms of the bound, in which some need not be known.
    """

    graph: Graph
    factors: tuple[Averages, ...]
    is_bound: bool = False

    @classmethod
    def of(cls, graph: Graph, factors: Iterable[Averages]) -> Expectation:
        """The factors in the order of expectations: labels, forms, squares, all else."""
        def rank(a: Averages) -> int:
            kinds = (isinstance(a, Labels), bool(a.shown), a.is_quadratic, True)
            return kinds.index(True)

        return cls(graph, tuple(sorted(factors, key=rank)))

    def without(self, factors: Collection[Averages]) -> Expectation:
        """The expectation over the other factors."""
        return replace(self, factors=tuple(a for a in self.factors if a not in factors))

    @property
    def arrays(self) -> tuple[str, ...]:
        """The arrays that are averaged."""
        return tuple(n for a in self.factors for n in a.arrays)

    def __call__(self, expr: Expr, over: Iterable[Range] = ()) -> Expr:
        """The expectation of an expression at the positions of ranges."""
        ranges = {r.dim: r for r in over}
        for averages in self.factors:
            expr = self._over(expr, averages, ranges)
        return expr

    def of_bound(self, expr: Expr, over: Iterable[Range]) -> Expr:
        """The expectation of a term of the log density, for the bound."""
        return replace(self, is_bound=True)(simplified(expr, self.arrays), over)

    def pieces(self, piece: Piece, labels: Sequence[Range] = ()) -> tuple[Piece, ...]:
        """A piece with the expectation of its coefficient, labels in its views summed over.

        Each term of this is a piece: a square stands apart from what is added to it.

        ``labels`` are ranges of what stands for labels in a coefficient.
        """
        for averages in self.factors:
            if isinstance(averages, Labels):
                piece = _labels_summed(piece, averages)
        held = [n for n in self.arrays if mentions(piece.statistic, (n,))]
        own = {v.array.name for v in piece.views}
        if others := [n for n in held if n not in own]:
            raise Refused(_no_product(piece.statistic, (*own, *others)))
        found = self(piece.coefficient, (*piece.over, *labels))
        return tuple(replace(piece, coefficient=c) for c in terms_of(found))

    def _over(self, expr: Expr, averages: Averages, ranges: Ranges) -> Expr:
        """The expectation over one factor, taken term by term."""
        names = averages.arrays
        if not mentions(expr, names):
            return expr
        if (found := _by_element(expr, averages, ranges)) is not None:
            return found
        if expr.is_Add:
            return Add(*(self._over(a, averages, ranges) for a in expr.args))
        if isinstance(expr, Over):
            inner = {**ranges, expr.bound[0]: range_of(expr, self.graph.sizes)}
            return expr.func(self._over(expr.body, averages, inner), *expr.args[1:])
        if expr.is_Mul:
            held = [a for a in expr.args if mentions(a, names)]
            rest = Mul(*(a for a in expr.args if a not in held))
            if len(held) == 1:
                return rest * self._over(held[0], averages, ranges)
            return rest * self._of_function(Mul(*held), averages, ranges)
        if isinstance(expr, Where) and not mentions(expr.args[0], names):
            return Where(expr.args[0], *(self._over(a, averages, ranges) for a in expr.args[1:]))
        return self._of_function(expr, averages, ranges)

    def _of_function(self, expr: Expr, averages: Averages, known: Ranges) -> Expr:
        """The expectation of a function that is no sum."""
        if isinstance(averages, Labels):
            others = [n for a in self.factors if not isinstance(a, Labels) for n in a.arrays]
            is_known = not mentions(expr, others)
            found = _over_labels(expr, averages, is_known=is_known)
            if found is not None:
                return found
        reduced = self._reduced(expr, averages)
        if reduced != expr:
            return self._over(reduced, averages, known)
        dims = sorted(dims_of(expr), key=str)
        ranges = tuple(known.get(d) or self._range(d) for d in dims)
        names, sizes = averages.arrays, self.graph.sizes
        pieces = split("", expr, ranges, names, sizes)
        if averages.is_quadratic and all(_degree(p, names) in (1, 2) for p in pieces):
            at_mean = _at_means(expr, averages)
            spread = (self._summed(p, ranges, averages.covariance(p))
                      for p in pieces if _degree(p, names) == 2)  # fmt: skip
            return Add(at_mean, *spread)
        rest = rest_of(expr, ranges, names, sizes)
        return Add(rest, *(self._summed(p, ranges, self._of_piece(p, averages)) for p in pieces))

    def _reduced(self, expr: Expr, averages: Averages) -> Expr:
        """The function by identities, choices by positions as sums, or taken out of functions."""
        names = averages.arrays
        if isinstance(averages, Labels):
            choices = {w: _as_sum(w) for w in expr.atoms(Where) if mentions(w, names)}
            return sp.expand_mul(expr.xreplace(choices)) if choices else expr
        return opened(simplified(expr, names), names, NO_GATES, whole=True)

    def _of_piece(self, piece: Piece, averages: Averages) -> Expr:
        """The expectation of a statistic."""
        others = [n for n in self.arrays if n not in averages.arrays]
        if held := [n for n in others if mentions(piece.statistic, (n,))]:
            raise Refused(_no_product(piece.statistic, (*averages.arrays, *held)))
        if self.is_bound and (known := averages.in_bound(piece)) is not None:
            return known
        degree = _degree(piece, averages.arrays)
        if degree == 1:
            return averages.mean(piece.views[0].leaf)
        if degree == 2 and averages.is_quadratic:
            one, other = ends_of(piece)
            return averages.mean(one) * averages.mean(other) + averages.covariance(piece)
        return averages.of_statistic(piece)

    def _summed(self, piece: Piece, ranges: Sequence[Range], value: Expr) -> Expr:
        """A value times the coefficient of a piece, summed over what the piece has bound."""
        found = piece.coefficient * value
        for r in piece.over:
            if r not in ranges:
                found = Over(found, r.dim, r.start, r.stop)
        return found

    def _range(self, dim: Dim) -> Range:
        return Range(dim, 0, size_of(dim, self.graph.sizes))


def _as_sum(choice: Expr) -> Expr:
    """A choice by positions as a sum of both cases, one of which is times zero."""
    condition, one, other = choice.args
    return condition * one + (1 - condition) * other


def terms_of(expr: Expr) -> tuple[Expr, ...]:
    """The terms of a sum, or of a product with one sum."""
    sums = [f for f in Mul.make_args(expr) if f.is_Add]
    if len(sums) != 1:
        return (expr,)
    rest = Mul(*(f for f in Mul.make_args(expr) if not f.is_Add))
    return tuple(rest * t for t in sums[0].args)


def _no_product(function: Expr, names: Iterable[str]) -> str:
    listed = ", ".join(dict.fromkeys(names))
    return (
        f"{PLAIN.text(function)} is no product of functions of one variable each, so that its "
        f"expectation is not one of theirs: read one of {listed} by draws or by its mode, or add "
        "an auxiliary variable"
    )


def _degree(piece: Piece, arrays: Collection[str]) -> int | None:
    """The degree of a statistic in elements of arrays; None for other functions."""
    degree = 0
    for factor in Mul.make_args(piece.statistic):
        base, power = factor.as_base_exp()
        if not isinstance(base, Leaf) or base.array.name not in arrays:
            return None
        if not power.is_Integer or power < 1 or any(mentions(i, arrays) for i in base.indices):
            return None
        degree += int(power)
    return degree


def _at_means(expr: Expr, averages: Averages) -> Expr:
    """The function at the means."""
    leaves = {x for x in expr.atoms(Leaf) if x.array.name in averages.arrays}
    return expr.xreplace({x: averages.mean(x) for x in leaves})


def _by_element(expr: Expr, averages: Averages, ranges: Ranges) -> Expr | None:
    """The expectation of a polynomial in elements that positions show together; None for others."""
    leaves = {x for x in expr.atoms(Leaf) if x.array.name in averages.arrays}
    for shown in averages.shown:
        if shown.holds(ranges.values()) and all(any(s.sees(x) for s in shown.seen) for x in leaves):
            try:
                return _at_means(expected(expr, shown.seen), averages)
            except NoPolynomialError:
                continue
    return None


def _over_labels(expr: Expr, averages: Labels, *, is_known: bool) -> Expr | None:
    """The sum over the values of the labels in a function; None if sums inside of it bind some.

    ``is_known``: nothing but labels is averaged. The log of an impossible outcome then counts for
    nothing where the value has no probability.
    """
    leaves = sorted(_labels_in(expr, averages), key=str)
    if not all(x.free_symbols <= expr.free_symbols for x in leaves):
        return None
    if len(leaves) > 1 and not averages.are_apart(leaves):
        return None
    at = averages.at(leaves, {*expr.free_symbols, *expr.atoms(Dim)})
    start = averages.labels.start
    own = {x: k + start for x, k in zip(leaves, at, strict=True)}
    weight, value = averages.weight(leaves, at), expr.xreplace(own)
    found = Weighted(weight, value) if is_known and may_be_infinite(value) else weight * value
    for r in averages.ranges(at):
        found = Over(found, r.dim, r.start, r.stop)
    return found


def _labels_in(expr: Expr, averages: Labels) -> set[Leaf]:
    return {x for x in expr.atoms(Leaf) if x.array.name in averages.arrays}


def _labels_summed(piece: Piece, averages: Labels) -> Piece:
    """A piece whose views read labels as positions, summed over these."""
    read = {x for v in piece.views for i in v.indices if i is not None
            for x in i.atoms(Leaf) if x.array.name in averages.arrays}  # fmt: skip
    read |= _labels_in(piece.statistic, averages) if read else set()
    if not read:
        return piece
    leaves = sorted(read | _labels_in(piece.coefficient, averages), key=str)
    taken = {*piece.coefficient.atoms(Dim), *piece.statistic.atoms(Dim)}
    at = averages.at(leaves, {*taken, *(r.dim for r in piece.over)})
    start = averages.labels.start
    own = {x: k + start for x, k in zip(leaves, at, strict=True)}
    views = tuple(
        View(v.array, tuple(None if i is None else sp.sympify(i).xreplace(own) for i in v.indices))
        for v in piece.views
    )
    return Piece(
        piece.factor,
        piece.statistic.xreplace(own),
        views,
        averages.weight(leaves, at) * piece.coefficient.xreplace(own),
        piece.over + averages.ranges(at),
    )
