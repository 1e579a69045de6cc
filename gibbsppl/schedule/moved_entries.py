"""The log density of a value with tied entries, as far as it changes with two of its entries.

Comes in: a step whose values move along lines through two entries, its graph. Goes out: the
`EntryTerms`. Terms of single entries are evaluated at the two alone. Products of two entries are
coefficients of the two, given the others, which are computed once for a move. What reads sums over
entries reads sums that are kept up to date from move to move: a sweep then takes as many
evaluations as a value has entries, each of the terms that an entry shares with the data. Sums are
made anew in each sweep; in between, one that falls by a factor loses as many of its digits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import sympy as sp
from sympy import Mul

from gibbsppl.algebra.copies import copy_of
from gibbsppl.algebra.expressions import Array, Dim, Expr, Leaf, Over, dims_of, leaves_of, mentions
from gibbsppl.algebra.ranges import Range, fresh, ranges_of, size_of
from gibbsppl.algebra.rounding import may_be_infinite
from gibbsppl.derive.conflicts import seen_in
from gibbsppl.derive.contractions import Contribution, data_only, pull_back
from gibbsppl.derive.match_results import NotConjugate
from gibbsppl.model.graph import Graph
from gibbsppl.pieces.dependence import is_separable
from gibbsppl.pieces.split import Piece, prepared, views_of
from gibbsppl.schedule.cancelling import without_cancelling
from gibbsppl.schedule.contributions import Contributions
from gibbsppl.schedule.element_loops import is_linear
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
class KeptSum:
    """A sum over the entries of a value, linear in them: a named array, and the sum as it is.

    ``slope`` is the coefficient of the entry at ``entry``; ``rows`` says which value it is of.
    """

    name: str
    dims: tuple[Dim, ...]
    total: Over
    slope: Expr
    entry: Dim
    rows: tuple[Expr, ...]

    @property
    def leaf(self) -> Leaf:
        """The sum, at its dims."""
        return Leaf(Array(self.name, real=True), *self.dims)


@dataclass(frozen=True, slots=True)
class EntryTerms:
    """The terms of the log density of a value that moves by two entries.

    ``parameters`` and ``entries`` are of single entries; ``products`` of two; ``rows`` of the whole
    value, by the sums that are ``kept``.
    """

    parameters: tuple[NaturalParameter, ...] = ()
    entries: tuple[Contribution, ...] = ()
    products: tuple[ProductOfEntries, ...] = ()
    kept: tuple[KeptSum, ...] = ()
    rows: tuple[Contribution, ...] = ()


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
    kept, rows = _by_sums(rest, step, graph)
    return EntryTerms(parameters, (*more, *entries), tuple(products), kept, rows)


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


def _by_sums(
    pieces: Iterable[Piece], step: DensityDraw, graph: Graph
) -> tuple[tuple[KeptSum, ...], tuple[Contribution, ...]]:
    """The sums that are kept, and the terms of whole values, which read them where they can."""
    kept, rows = dict[Expr, KeptSum](), list[Contribution]()
    for piece in pieces:
        sums = _kept_in(piece, step, graph, kept)
        arrays = {k.name: k.dims for k in sums.values()}
        names: dict[Expr, Expr] = {t: k.leaf for t, k in sums.items()}
        written = partial(_written, names)
        named = terms_of((piece,), step, graph, step.tied, written, arrays)
        assert named is not None, f"{step.name}: values that have colours have terms"
        if any(mentions(c.value, step.variables) for c in named):
            named = terms_of((piece,), step, graph, step.tied) or ()
        else:
            kept |= sums
        rows += named
    return tuple(kept.values()), tuple(rows)


def _written(names: Mapping[Expr, Expr], value: Expr) -> Expr:
    """A value in terms of sums by name."""
    return value.xreplace(names)


def _kept_in(
    piece: Piece, step: DensityDraw, graph: Graph, known: Mapping[Expr, KeptSum]
) -> dict[Expr, KeptSum]:
    """The sums of a piece that may be kept: of a piece that sees one value, at each position."""
    is_data = data_only(graph.random, graph)
    seen = seen_in(piece, is_data, graph.sizes, step.tied)
    if len(seen) != 1 or seen[0].inner:
        return {}
    found = dict[Expr, KeptSum]()
    for total in _sums(piece.value, step.variables[0]):
        taken = (k.name for k in (*known.values(), *found.values()))
        kept = known.get(total) or _kept(total, step, graph, taken)
        if kept is not None and kept.rows == seen[0].view.indices:
            found[total] = kept
    return found


def _sums(expr: Expr, array: str) -> list[Over]:
    """The largest sums in an expression that are linear in the elements of an array."""
    if isinstance(expr, Over) and is_linear(expr, (array,)):
        return [expr]
    return [t for a in expr.args for t in _sums(a, array)] if mentions(expr, (array,)) else []


def _kept(
    total: Over, step: DensityDraw, graph: Graph, names: Iterable[str]
) -> KeptSum | None:
    """The sum over all entries of one value as one that is kept; None for other sums."""
    leaves, sizes = list(leaves_of(total.body, step.variables)), graph.sizes
    (r, *others) = ranges_of(total, sizes)
    if len(leaves) != 1 or others or (r.start, len(r)) != (0, len(_last(step))):
        return None
    (leaf,) = leaves
    *rows, entry = leaf.indices
    dims = tuple(sorted(dims_of(total), key=str))
    is_plain = all(isinstance(i, Dim) or _is_index(i, graph) for i in rows)
    is_plain = is_plain and len({*rows}) == len(rows)  # (no value at two equal positions)
    read = (x for x in total.atoms(Leaf) if x.array.name in graph.variables)
    places = (
        (i, d)
        for x in read
        for i, d in zip(x.indices, graph.variables[x.array.name].dims, strict=True)
    )
    # (it is made at all positions of its dims, which all arrays must have)
    whole = all(
        size_of(i, sizes) <= size_of(d, sizes) if isinstance(i, Dim) else _is_index(i, graph)
        for i, d in places
    )
    if entry != r.dim or not is_plain or not whole or not all(d in sizes for d in dims):
        return None
    taken = {*graph.variables, *(str(d) for d in sizes), *names}
    slope = total.body.xreplace({leaf: sp.S.One})
    name = fresh(f"{leaf.array.name}_sum", taken)
    return KeptSum(name, dims, total, slope, r.dim, tuple(rows))


def _is_index(index: Expr, graph: Graph) -> bool:
    """Whether an index is an element of data, read at positions."""
    if not isinstance(index, Leaf) or index.array.name in graph.random:
        return False
    return all(isinstance(i, Dim) for i in index.indices)
