"""The complete conditional of a label: a log weight for each of its values.

Comes in: a graph and a statement about whole numbers. Goes out: a `FiniteConditional`, if the
range of the label follows from constants and data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import chain
from typing import Self

import numpy as np
import sympy as sp
from sympy import Add, Mul

from gibbsppl.algebra.bounds import inside
from gibbsppl.algebra.copies import copies_of, root_of
from gibbsppl.algebra.expressions import (
    Binder,
    Dim,
    Expr,
    Over,
    dims_of,
    mentions,
    renamed_apart,
    substitute,
)
from gibbsppl.algebra.functions import Equals, Maximum, Where
from gibbsppl.algebra.log_gamma import loggamma
from gibbsppl.algebra.ranges import Range
from gibbsppl.algebra.rounding import may_be_infinite
from gibbsppl.model.evaluation import Values, evaluate
from gibbsppl.model.graph import Factor, Graph, Statement
from gibbsppl.pieces.logs import expand_logs
from gibbsppl.pieces.split import Piece, View, support_indicators, views_of
from gibbsppl.pieces.vanishing import MayVanish, terms_of, vanishing, with_exact_zeros

# The dim of the label's values in its log weights.
LABEL = Dim("label")


@dataclass(frozen=True, slots=True)
class FiniteConditional:
    """Labels ``lower .. lower + size - 1``: each piece's coefficient is a log weight by label."""

    statement: Statement
    label: Dim
    lower: int
    size: int
    pieces: tuple[Piece, ...]
    elements: bool = False
    how_drawn = "from the weights of its labels"

    def mapped(self, function: Callable[[Piece], Iterable[Piece]]) -> Self:
        """The labels with other log weights."""
        return replace(self, pieces=tuple(chain.from_iterable(map(function, self.pieces))))


def finite_of(
    graph: Graph, statement: Statement, data: Values
) -> FiniteConditional | None:
    """The conditional of a label, or None where its range is not known before the draw.

    Every access of the label is replaced by a label dim; terms without it are dropped.
    """
    limits = label_limits(graph, statement, data)
    if limits is None:
        return None
    lower, upper = limits
    value = LABEL + lower
    pieces: list[Piece] = []
    dependent = False
    array = statement.target.array
    may_vanish = vanishing(graph, {LABEL})
    for factor in graph.factors_of(array):
        density = with_exact_zeros(density_with_indicators(graph, factor, statement), may_vanish)
        views = tuple(views_of(density, {array.name}))
        for view in views:
            piece = _labelled(factor, density, view, views, value, graph, may_vanish)
            if piece is not None:
                pieces.append(piece)
                dependent = dependent or len(views) > 1 or len(piece.over) > len(factor.over)
    by_element = dependent and bool(statement.over)
    return FiniteConditional(statement, LABEL, lower, upper - lower + 1, tuple(pieces), by_element)


def label_limits(
    graph: Graph, statement: Statement, data: Values
) -> tuple[int, int] | None:
    """The smallest and largest label, if they follow from constants and data alone."""
    support = statement.support
    arrays = {str(s) for b in (support.lower, support.upper) for s in sp.sympify(b).free_symbols}
    arrays = {a for a in arrays if a in graph.variables}
    if not arrays <= set(data) or any(graph.variables[a].kind == "random" for a in arrays):
        return None
    lower, upper = (
        evaluate(sp.sympify(b), statement.over, data, graph.sizes)
        for b in (support.lower, support.upper)
    )
    return int(np.min(lower)), int(np.max(upper))


def density_with_indicators(graph: Graph, factor: Factor, statement: Statement) -> Expr:
    """The log density of a factor, with indicators of bounds on the label, and logs taken apart."""
    density = _defined(graph, factor, statement.target.array.name)
    density += support_indicators(factor, statement)
    if factor.name == statement.name:
        density += Add(*map(sp.log, inside(statement.target, statement.support)))
    density = renamed_apart(density, {r.dim for r in factor.over})
    return expand_logs(density, {statement.target.array.name})


def _defined(graph: Graph, factor: Factor, name: str) -> Expr:
    """The log density of a factor, its terms finite wherever the bounds are not kept to.

    A gamma function in a numerator is infinite at whole numbers up to 0, and the log of a negative
    number is undefined; the mass between bounds that are outside of the support is 0. A label that
    leads there is outside of the bounds, or of the family's domain, and has weight 0 for this
    reason: such terms must not meet the log of this 0.
    """
    density, limits = factor.log_density, tuple[Expr, ...]()
    if isinstance(factor, Statement):
        limits = inside(factor.target, factor.support, factor.event)
    guards = tuple(sp.exp(p.log_density) for p in graph.potentials if p.guards == factor.name)
    guarded: dict[Expr, Expr] = {}
    for term in Add.make_args(density):
        number, of = term.as_coeff_Mul()
        if limits and number.is_positive and isinstance(of, loggamma) and _may_leave(of, name):
            guarded[term] = number * _kept_to(of, limits)
        elif limits and number.is_negative and _may_rise(of, name):
            guarded[term] = Where(Mul(*limits), term, sp.S.Zero)
        elif guards:
            logs = (f for f in term.atoms(sp.log) if _may_leave(f, name))
            guarded[term] = term.xreplace({f: _kept_to(f, guards) for f in logs})
    return Add(*(guarded.get(t, t) for t in Add.make_args(density)))


def _may_rise(subtracted: Expr, name: str) -> bool:
    """Whether a label decides if a subtracted term is minus infinity: the log of a mass of zero."""
    is_gamma = isinstance(subtracted, loggamma)
    return mentions(subtracted, (name,)) and not is_gamma and may_be_infinite(subtracted)


def _may_leave(function: Expr, name: str) -> bool:
    """Whether a label decides if a function of positive numbers has a value."""
    (x,) = function.args
    return not x.is_positive and mentions(x, (name,))


def _kept_to(function: Expr, limits: tuple[Expr, ...]) -> Expr:
    """The function where the limits are kept to, and at one elsewhere."""
    (x,) = function.args
    return function.func(Where(Mul(*limits), x, sp.S.One))


def _labelled(
    factor: Factor,
    density: Expr,
    view: View,
    views: tuple[View, ...],
    value: Expr,
    graph: Graph,
    may_vanish: MayVanish,
) -> Piece | None:
    """The terms of a factor that depend on the label, where the element of a view is the label.

    Other views are read where they show another element. A view under a sum stands for all of its
    elements: which one is the label is a further dim. What shows an element more than once counts
    once.
    """
    ranged = {r.dim for r in factor.over}
    bound = {d for b in density.atoms(Binder) for d in b.bound}
    taken = density.free_symbols | ranged | bound
    # (all elements that an index of a sum may show, instead of the positions that show them)
    own = _elements_shown(view, ranged, graph.variables[view.array.name].dims)
    elements = dict(zip(own, copies_of(own.values(), taken).values(), strict=True))
    summed = _dims_read(view) - ranged - {d for i in elements for d in dims_of(i)}
    copies = copies_of(sorted(summed, key=str), {*taken, *elements.values()})
    at = tuple(elements.get(i) or substitute(i, copies) for i in view.read)
    mapping: dict[Expr, Expr] = {}
    for other in views:
        leaf = other.leaf
        pairs = [(a, b) for a, b in zip(other.read, at, strict=True) if a != b]
        if not pairs:
            mapping[leaf] = value
        elif not any((a - b).is_number for a, b in pairs):
            mapping[leaf] = Where(Mul(*(Equals(a, b) for a, b in pairs)), value, leaf)
    # (Under the sum on purpose: the copy says which of the summed elements is the label.)
    terms = terms_of(density.xreplace(mapping), lambda x: LABEL in dims_of(x))
    # (it is 0 of what no position shows, or what another view shows alone)
    times = _times_shown(view, at, ranged)
    once = 1 / Maximum(times, 1)
    if elements:
        once = sp.S.One if len(views) == 1 else 1 - Equals(times, 0)
    for earlier in views[: views.index(view)]:
        times = _times_shown(earlier, at, ranged)
        once *= Equals(times, 0) if times.has(Over) else 1 - times
    seen = Add(*(once * t for t in terms if LABEL in dims_of(t)))
    coefficient = with_exact_zeros(seen, may_vanish)
    every = (*copies.values(), *elements.values())
    over = factor.over + tuple(Range(c, 0, graph.sizes[Dim(root_of(c))]) for c in every)
    if coefficient == 0:
        return None
    return Piece(factor.name, LABEL, (View(view.array, at),), coefficient, over)


def _elements_shown(view: View, ranged: set[Dim], dims: tuple[Dim, ...]) -> dict[Expr, Dim]:
    """The indices of data by which positions of a sum alone show elements, with the axis of each.

    Empty unless all other indices are positions of the factor.
    """
    found = {
        i: d
        for i, d in zip(view.read, dims, strict=True)
        if not isinstance(i, Dim) and dims_of(i) and not dims_of(i) & ranged
    }
    rest = (i for i in view.read if i not in found)
    return found if all(dims_of(i) <= ranged for i in rest) else {}


def _times_shown(view: View, at: tuple[Expr, ...], ranged: set[Dim]) -> Expr:
    """The number of positions of the sums around a view at which the view shows an element."""
    pairs = [(a, b) for a, b in zip(view.read, at, strict=True) if a != b]
    if any((a - b).is_number for a, b in pairs):
        return sp.S.Zero
    summed = _dims_read(view) - ranged
    # (along an axis that is read position by position it does so at one of them)
    along = [a for a, _ in pairs if a in summed and sum(a in dims_of(i) for i in view.read) == 1]
    times = Mul(*(Equals(a, b) for a, b in pairs if a not in along))
    for dim in sorted(summed.difference(along), key=str):
        times = Over(times, dim)
    return times


def _dims_read(view: View) -> set[Dim]:
    return {d for i in view.indices if i is not None for d in dims_of(i)}
