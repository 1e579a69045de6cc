"""The log density of a value with tied entries, as far as it changes with two of its entries.

Comes in: a step whose values move along lines through two entries, its graph. Goes out: the
`EntryTerms`. Terms of single entries are evaluated at the two alone. Products of two entries are
coefficients of the two, given the others, which are computed once for a move. What reads sums over
entries reads sums that are kept up to date from move to move: a sweep then takes as many
evaluations as a value has entries, each of the terms that an entry shares with the data. Sums are
made anew in each sweep; in between, one that falls by a factor loses as many of its digits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import sympy as sp
from sympy import Mul

from gibbsppl.algebra.copies import copies_of, copy_of
from gibbsppl.algebra.expressions import Dim, Expr, Leaf, Over, dims_of, leaves_of, mentions
from gibbsppl.algebra.ranges import Range, size_of
from gibbsppl.algebra.rounding import may_be_infinite
from gibbsppl.derive.contractions import Contribution, data_only, pull_back
from gibbsppl.derive.match_results import NotConjugate
from gibbsppl.model.graph import Graph
from gibbsppl.pieces.dependence import is_separable
from gibbsppl.pieces.split import Piece, prepared, views_of
from gibbsppl.schedule.cancelling import without_cancelling
from gibbsppl.schedule.contributions import Contributions
from gibbsppl.schedule.kept_sums import VALUE, KeptSum, UnsuitedError, kept_sum
from gibbsppl.schedule.kinds import DensityDraw
from gibbsppl.schedule.parameters import NaturalParameter
from gibbsppl.schedule.terms_by_element import terms_of


@dataclass(frozen=True, slots=True)
class ProductOfEntries:
    """The terms ``coefficient * first(x[k]) * second(x[k'])`` of a value, over all k and k'.

    Both functions are written at the axes of the array, and the coefficient at these and the
    ``partner`` of the last.
    """

    first: Expr
    second: Expr
    coefficient: Contribution
    axes: tuple[Dim, ...]

    @property
    def partner(self) -> Dim:
        """The dim of the second entry."""
        return self.axes[-1]


@dataclass(frozen=True, slots=True)
class EntryTerms:
    """The terms of the log density of a value that moves by two entries.

    ``parameters`` and ``entries`` are of single entries; ``products`` of two; ``rows`` of the whole
    value, by the sums that are ``kept``: of these, ``axes`` are those of the array.
    """

    parameters: tuple[NaturalParameter, ...] = ()
    entries: tuple[Contribution, ...] = ()
    products: tuple[ProductOfEntries, ...] = ()
    kept: tuple[KeptSum, ...] = ()
    rows: tuple[Contribution, ...] = ()
    axes: tuple[Dim, ...] = ()


def terms_of_entries(step: DensityDraw, graph: Graph) -> EntryTerms:
    """The terms of a step whose values are moved each by its own log density."""
    single, products, rest = list[Piece](), list[ProductOfEntries](), list[Piece]()
    entries = list[Contribution]()
    for piece in _not_opened(without_cancelling(step.conditional.pieces), step, graph):
        if len(piece.views) == 1 and _is_by_entry(piece):
            single.append(piece)
        elif _is_by_entry(piece) and (found := terms_of((piece,), step, graph, 0)) is not None:
            entries += found
        elif (product := _product(piece, step, graph)) is not None:
            products.append(product)
        else:
            rest.append(piece)
    refusal = step.conditional
    assert isinstance(refusal, NotConjugate), f"{step.name}: values with tied entries are moved"
    alone = replace(refusal, elements=False, pieces=tuple(single))
    parameters, more = Contributions(graph).log_density(alone, step.statement.target, step.region)
    element = _apart(rest, step, graph)
    kept, rows = _by_sums(rest, step, graph, element)
    every = (*more, *entries)
    return EntryTerms(parameters, every, tuple(products), kept, rows, element.own_dims)


def _not_opened(pieces: Sequence[Piece], step: DensityDraw, graph: Graph) -> Iterator[Piece]:
    """The pieces, of factors in which powers of sums are opened widely the terms as written.

    A square of a sum of products of two values has as many terms as the square of its entries.
    """
    (array,) = step.variables
    wide = {p.factor for p in pieces if len(p.views) > 2}
    yield from (p for p in pieces if p.factor not in wide)
    for factor in graph.factors_of(array):
        if factor.name in wide:
            density = prepared(factor, step.statement, {})
            for term in sp.Add.make_args(density):
                if mentions(term, (array,)):
                    views = tuple(views_of(term, {array}))
                    yield Piece(factor.name, term, views, sp.S.One, factor.over)


def _is_by_entry(piece: Piece) -> bool:
    """Whether all that a piece reads of values are their entries at one index."""
    indices = {v.indices[-1] for v in piece.views}
    own = {r.dim for r in piece.over}
    read = (i for v in piece.views for i in v.indices)
    return len(indices) == 1 and all(i is not None and dims_of(i) <= own for i in read)


def _product(piece: Piece, step: DensityDraw, graph: Graph) -> ProductOfEntries | None:
    """The product of two entries of one value that a piece is; None for others."""
    if len(piece.views) != 2 or not is_separable(piece):
        return None
    one, other = piece.views
    batch, (k, j) = one.read[:-1], (v.read[-1] for v in piece.views)
    ranges = {r.dim: r for r in piece.over}
    whole = all(isinstance(e, Dim) and len(ranges[e]) == len(_last(step)) for e in (k, j))
    if batch != other.read[:-1] or k == j or not whole:
        return None
    dims = graph.variables[step.variables[0]].dims
    partner = copy_of(dims[-1], {*dims, *ranges})
    axes, own = (*dims, partner), Leaf(one.array, *dims)
    factors = Mul.make_args(piece.statistic)
    first, second = (
        Mul(*(f for f in factors if v.leaf in f.atoms(Leaf))).xreplace({v.leaf: own})
        for v in piece.views
    )
    if any(may_be_infinite(e) or not dims_of(e) <= set(dims) for e in (first, second)):
        return None
    sizes = {**graph.sizes, partner: graph.sizes[dims[-1]]}
    known = replace(data_only(graph.random, graph), sizes=sizes)
    coefficient = pull_back(piece, axes, (*one.read, j), sizes, known)
    return ProductOfEntries(first, second, coefficient, axes)


def _last(step: DensityDraw) -> Range:
    """The positions of the entries of a value."""
    last = step.region[-1]
    assert isinstance(last, Range), f"{step.name}: a value is along an axis"
    return last


def _apart(pieces: Iterable[Piece], step: DensityDraw, graph: Graph) -> Leaf:
    """The element at axes that are no dims of pieces."""
    every = (e for p in pieces for e in sp.preorder_traversal(p.value) if isinstance(e, Dim))
    array = step.statement.target.array
    axes = graph.variables[array.name].dims
    return Leaf(array, *copies_of(axes, {*graph.sizes, *every}).values())


def _by_sums(
    pieces: Iterable[Piece], step: DensityDraw, graph: Graph, element: Leaf
) -> tuple[tuple[KeptSum, ...], tuple[Contribution, ...]]:
    """The sums that are kept, and the terms of whole values, which read them where they can."""
    kept, rows = list[KeptSum](), list[Contribution]()
    for piece in pieces:
        sums = _kept_in(piece, step, graph, element, kept)
        own = {k.kept.form: k.kept.leaf for k in sums}
        named = terms_of((piece,), step, graph, step.tied, own)
        assert named is not None, f"{step.name}: values that have colours have terms"
        if any(mentions(c.value, step.variables) for c in named):
            named = terms_of((piece,), step, graph, step.tied) or ()
        else:
            kept += (k for k in sums if k not in kept)
        rows += named
    return tuple(kept), tuple(rows)


def _kept_in(
    piece: Piece, step: DensityDraw, graph: Graph, element: Leaf, known: Sequence[KeptSum]
) -> list[KeptSum]:
    """The sums of a piece that may be kept: of a piece that sees one value, over its entries."""
    values, found = {v.indices[:-1] for v in piece.views}, list[KeptSum]()
    *batch, entry = element.own_dims
    for whole in _sums(piece.value, step.variables[0]) if len(values) == 1 else ():
        name = f"·sum {len(known) + len(found)} of {step.variables[0]}"
        try:
            made = kept_sum(name, whole, element, tuple(_over(piece, whole, graph)), graph.sizes)
        except UnsuitedError:
            continue
        read = {axis: i for i, axis in (*made.rows.here, *made.rows.matches)}
        if made.term == VALUE and {tuple(map(read.get, batch))} == values and entry not in read:
            same = (k for k in known if (k.kept.form, k.rows) == (made.kept.form, made.rows))
            found.append(next(same, made))
    return found


def _sums(expr: Expr, array: str) -> list[Over]:
    """The largest sums in an expression over the entries of values, one after the other."""
    if isinstance(expr, Over):
        leaves = leaves_of(expr.body, (array,))
        if any(leaf.indices[-1] in expr.bound for leaf in leaves):
            return [expr]
    return [t for a in expr.args for t in _sums(a, array)] if mentions(expr, (array,)) else []


def _over(piece: Piece, whole: Over, graph: Graph) -> Iterator[Range]:
    """The ranges of a piece: all of a dim, where all arrays that a sum reads along it have this."""
    read = (x for x in whole.atoms(Leaf) if x.array.name in graph.variables)
    own = ((x.indices, graph.variables[x.array.name].dims) for x in read)
    places = [p for indices, dims in own for p in zip(indices, dims, strict=True)]
    for r in piece.over:
        size, along = size_of(r.dim, graph.sizes), [p for p in places if r.dim in dims_of(p[0])]
        is_long = all(i == r.dim and size <= size_of(d, graph.sizes) for i, d in along)
        yield Range(r.dim, 0, size) if is_long else r
