"""The log density of a value with tied entries, as far as it changes with two of its entries.

Comes in: a step whose values move along lines through two entries, its graph. Goes out: the
`EntryTerms`. Terms of single entries are evaluated at the two alone. Products of two entries are
coefficients of the two, given the others, which are computed once for a move. What reads sums over
entries reads sums that are kept up to date from move to move: a sweep then takes as many
evaluations as a value has entries, each of the terms that an entry shares with the data.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from sympy import Mul

from gibbsppl.algebra.copies import copy_of
from gibbsppl.algebra.expressions import Array, Dim, Expr, Leaf, Over, dims_of, leaves_of, mentions
from gibbsppl.algebra.ranges import Range, fresh, ranges_of
from gibbsppl.derive.contractions import Contribution, data_only, pull_back
from gibbsppl.model.graph import Graph
from gibbsppl.pieces.dependence import is_separable
from gibbsppl.pieces.split import Piece
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

    ``slope`` is the coefficient of the entry at ``entry``; ``rows`` is the value at its dims.
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
    pieces = without_cancelling(step.conditional.pieces)
    made = Contributions(graph)
    single, products, rest = list[Piece](), list[ProductOfEntries](), list[Piece]()
    for piece in pieces:
        if _is_of_one(piece):
            single.append(piece)
        elif (product := _product(piece, step, graph)) is not None:
            products.append(product)
        else:
            rest.append(piece)
    alone = replace(step.conditional, elements=False, pieces=tuple(single))
    parameters, entries = made.log_density(alone, step.statement.target, step.region)
    kept, rows = _by_sums(rest, step, graph)
    return EntryTerms(parameters, entries, tuple(products), kept, rows)


def _is_of_one(piece: Piece) -> bool:
    """Whether a piece is of single entries."""
    return len(piece.views) == 1 and None not in piece.views[0].indices and is_separable(piece)


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
    if not all(e.is_polynomial(own) and dims_of(e) <= set(dims) for e in (first, second)):
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
        found = {t: _kept(t, step, graph, kept) for t in _sums(piece.value, step.variables[0])}
        sums = {t: k for t, k in found.items() if k is not None}
        named = _with_sums(piece, tuple(sums.values()), step, graph) if sums else None
        if named is None:
            named = terms_of((piece,), step, graph)
            assert named is not None, f"{step.name}: values that have colours have terms"
        else:
            kept |= sums
        rows += named
    return tuple(kept.values()), tuple(rows)


def _sums(expr: Expr, array: str) -> list[Over]:
    """The largest sums in an expression that are linear in the elements of an array."""
    if isinstance(expr, Over) and is_linear(expr, (array,)):
        return [expr]
    return [t for a in expr.args for t in _sums(a, array)] if mentions(expr, (array,)) else []


def _kept(
    total: Over, step: DensityDraw, graph: Graph, known: dict[Expr, KeptSum]
) -> KeptSum | None:
    """The sum over all entries of one value as one that is kept; None for other sums."""
    if total in known:
        return known[total]
    leaves = list(leaves_of(total.body, step.variables))
    (r, *others) = ranges_of(total, graph.sizes)
    if len(leaves) != 1 or others or (r.start, len(r)) != (0, len(_last(step))):
        return None
    (leaf,) = leaves
    *rows, entry = leaf.indices
    dims = tuple(sorted(dims_of(total), key=str))
    if entry != r.dim or not all(isinstance(i, Dim) or i.is_Integer for i in rows):
        return None
    taken = {*graph.variables, *(str(d) for d in graph.sizes), *(k.name for k in known.values())}
    slope = total.body.xreplace({leaf: 1})
    return KeptSum(fresh(f"{leaf.array.name}_sum", taken), dims, total, slope, r.dim, tuple(rows))


def _with_sums(
    piece: Piece, sums: tuple[KeptSum, ...], step: DensityDraw, graph: Graph
) -> tuple[Contribution, ...] | None:
    """The terms of values that read sums by name; None if they read those of other values."""
    variables = {k.name: k.dims for k in sums}
    names = {k.total: k.leaf for k in sums}
    found = terms_of((piece,), step, graph, lambda e: e.xreplace(names), variables)
    axes = graph.variables[step.variables[0]].dims[: len(step.places)]
    if found is None:
        return None
    for c in found:
        for k in sums:
            own = {i: n for n, i in enumerate(k.dims)}
            for leaf in leaves_of(c.value, (k.name,)):
                at = [leaf.indices[own[i]] if isinstance(i, Dim) else i for i in k.rows]
                there = (a if isinstance(a, Dim) else p for a, p in zip(axes, c.place, strict=True))
                if any(a != b for a, b in zip(at, there, strict=True)):
                    return None
        if mentions(c.value, step.variables):
            return None
    return found
