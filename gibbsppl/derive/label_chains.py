"""The joint conditional of a hidden Markov chain: log weights by label, and by two neighbours.

Comes in: a graph, and all statements of an array of labels. Goes out: a `ChainConditional` if every
term of the log density reads a single label, or two labels that are neighbours along one axis and
equal in position along all others:

    log density = sum_t a_t(z[t]) + sum_t b_t(z[t - 1], z[t])

whatever the terms are: a transition matrix, an emission, a coefficient that switches, a coupling.
Such labels are drawn together, forwards and back (S. Chib 1996, Journal of Econometrics 75, 79-97;
S. L. Scott 2002, Journal of the American Statistical Association 97, 337-351).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Self

import numpy as np
import sympy as sp
from sympy import Mul

from gibbsppl.algebra.expressions import Dim, Expr, Leaf, Over, dims_of, mentions, renamed_apart
from gibbsppl.algebra.ranges import Range, range_of
from gibbsppl.derive.labels import LABEL, density_with_indicators, label_limits
from gibbsppl.model.evaluation import Values, evaluate
from gibbsppl.model.graph import Factor, Graph, Marginal, Statement
from gibbsppl.pieces.dependence import region_of, slices_of
from gibbsppl.pieces.split import Piece, View, views_of
from gibbsppl.pieces.vanishing import terms_of, vanishing, with_exact_zeros

# The dim of the values of the label before, in the log weights of two neighbours.
PREVIOUS = Dim("previous label")


@dataclass(frozen=True, slots=True)
class ChainConditional:
    """Labels ``lower .. lower + size - 1``, tied to their neighbours along ``axis`` alone.

    The coefficients of ``pieces`` are log weights by label, at their view; those of ``transitions``
    are log weights by the label before and the label, at the view of the one before.
    """

    statements: tuple[Statement, ...]
    axis: int
    lower: int
    size: int
    pieces: tuple[Piece, ...]
    transitions: tuple[Piece, ...]
    elements: bool = False

    def mapped(self, function: Callable[[Piece], Iterable[Piece]]) -> Self:
        """The chain with other log weights, of labels and of neighbours."""
        both = (self.pieces, self.transitions)
        own, pairs = (tuple(chain.from_iterable(map(function, ps))) for ps in both)
        return replace(self, pieces=own, transitions=pairs)

    @property
    def statement(self) -> Statement:
        """The statement of most of the labels."""
        return max(self.statements, key=lambda s: [len(r) for r in s.over])


def chain_of(
    graph: Graph, statements: Sequence[Statement], data: Values
) -> ChainConditional | None:
    """The joint conditional of all latent statements of an array, or None if it is no chain."""
    limits = {label_limits(graph, s, data) for s in statements}
    if len(limits) != 1 or None in limits:
        return None
    ((lower, upper),) = (x for x in limits if x is not None)
    target = statements[0].target
    if not target.indices or not _known_are_labels(graph, target, data, lower, upper):
        return None
    terms = _Terms(graph, target, lower)
    if not all(terms.hold(graph, f, statements) for f in graph.factors_of(target.array)):
        return None
    if len(terms.axes) != 1:
        return None
    (axis,) = terms.axes
    return ChainConditional(
        tuple(statements),
        axis,
        lower,
        upper - lower + 1,
        tuple(terms.pieces),
        tuple(terms.transitions),
    )


def _known_are_labels(
    graph: Graph, target: Leaf, data: Values, lower: int, upper: int
) -> bool:
    """Whether all observed and constant labels are between the bounds of the latent ones."""
    name = target.array.name
    for c in graph.constants:
        if c.target.array.name == name:
            seen = np.asarray(evaluate(c.value, c.over, data, graph.sizes))
            if not (lower <= seen.min() <= seen.max() <= upper):
                return False
    for s in graph.statements:
        if s.target.array.name == name and s.known != 0:
            corner = slices_of(region_of(graph, s))
            mask = True if s.mask is None else np.asarray(data[s.mask])[corner] != 0
            seen = np.asarray(data[name])[corner][mask]
            if seen.size and not (lower <= seen.min() <= seen.max() <= upper):
                return False
    return True


class _Terms:
    """The log weights of factors: ``pieces`` by one label, ``transitions`` by two neighbours."""

    def __init__(self, graph: Graph, target: Leaf, lower: int) -> None:
        self.may_vanish = vanishing(graph, {LABEL, PREVIOUS})
        self.name, self.lower = target.array.name, lower
        self.axes: set[int] = set()
        self.pieces: list[Piece] = []
        self.transitions: list[Piece] = []

    def hold(self, graph: Graph, factor: Factor, statements: Sequence[Statement]) -> bool:
        """Add the log weights of a factor; False if a term reads more than two adjacent labels."""
        if isinstance(factor, Marginal):
            return False
        own = next((s for s in statements if s.name == factor.name), statements[0])
        found: dict[tuple[tuple[View, ...], tuple[Range, ...]], Expr] = {}
        density = with_exact_zeros(density_with_indicators(graph, factor, own), self.may_vanish)
        for term, over in _opened(density, factor.over, self.name, graph.sizes):
            views = self._ordered(tuple(views_of(term, {self.name})), over)
            if views is None:
                return False
            if views:
                key = views, over
                found[key] = found.get(key, sp.S.Zero) + term
        for (views, over), terms in found.items():
            self._keep(factor.name, views, terms, over)
        return True

    def _keep(
        self, factor: str, views: tuple[View, ...], terms: Expr, over: tuple[Range, ...]
    ) -> None:
        """Put dims of labels in place of the labels."""
        dims = (LABEL,) if len(views) == 1 else (PREVIOUS, LABEL)
        leaves = (v.leaf for v in views)
        replaced = {leaf: dim + self.lower for leaf, dim in zip(leaves, dims, strict=True)}
        coefficient = with_exact_zeros(terms.xreplace(replaced), self.may_vanish)
        if coefficient != 0:
            into = self.pieces if len(views) == 1 else self.transitions
            into.append(Piece(factor, LABEL, views[:1], coefficient, over))

    def _ordered(self, views: tuple[View, ...], over: tuple[Range, ...]) -> tuple[View, ...] | None:
        """The views of a term, the earlier label first; None unless the labels are neighbours."""
        indices = [i for v in views for i in v.indices]
        ranged = {r.dim for r in over}
        if len(views) > 2:
            return None
        if any(i is None or mentions(i, (self.name,)) or dims_of(i) - ranged for i in indices):
            return None
        if len(views) < 2:
            return views
        pairs = zip(*([i for i in v.indices if i is not None] for v in views), strict=True)
        apart = {axis: sp.sympify(b - a) for axis, (a, b) in enumerate(pairs) if a != b}
        if len(apart) != 1:
            return None
        ((axis, difference),) = apart.items()
        if abs(difference) != 1:
            return None
        self.axes.add(axis)
        return views if difference == 1 else views[::-1]


def _opened(
    density: Expr, over: tuple[Range, ...], name: str, sizes: Mapping[Dim, int]
) -> Iterator[tuple[Expr, tuple[Range, ...]]]:
    """Yield the terms of a log density, sums over labels opened, each with its ranges."""
    for term in terms_of(density, lambda x: mentions(x, (name,))):
        sums = [f for f in Mul.make_args(term) if isinstance(f, Over) and mentions(f, (name,))]
        rest = term / sums[0] if len(sums) == 1 else term
        if len(sums) != 1 or mentions(rest, (name,)) or sums[0].bound[0] in dims_of(rest):
            yield term, over
        else:
            inner = (*over, range_of(sums[0], sizes))
            body = renamed_apart(sums[0].body, {r.dim for r in inner})
            yield from _opened(Mul(rest, body), inner, name, sizes)
