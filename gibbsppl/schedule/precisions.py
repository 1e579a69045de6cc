"""The coefficients of a quadratic log density, and the layout of its precision matrix.

Comes in: a `Quadratic`. Goes out: its `Precision`, as long as the layout of the precision matrix
stays affordable (`gibbsppl.runtime.layouts`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
import sympy as sp

from gibbsppl.algebra.copies import copy_of
from gibbsppl.algebra.expressions import Dim, Expr, Leaf, dims_of, substitute
from gibbsppl.algebra.ranges import Range, size_of
from gibbsppl.derive.contractions import Known, data_only, pull_back
from gibbsppl.derive.quadratic import Quadratic
from gibbsppl.derive.row_forms import row_forms_of
from gibbsppl.errors import CompileError
from gibbsppl.model.evaluation import evaluate
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.model.memory import BYTES, memory_limit
from gibbsppl.pieces.dependence import count_of, region_of, shifted
from gibbsppl.pieces.split import Piece, View
from gibbsppl.runtime.joint import drawn
from gibbsppl.runtime.layouts import MOST_WORK
from gibbsppl.runtime.patterns import Pattern
from gibbsppl.runtime.types import Flags
from gibbsppl.schedule.blocks import MATRIX, ROWS, Blocks
from gibbsppl.schedule.fixed_matrices import FixedMatrices, fixed_matrices_of
from gibbsppl.schedule.parameters import NaturalParameter, Pair
from gibbsppl.schedule.row_forms import Rows, rows_of

# Tables of coefficients by both elements are made up to this many entries, or a few for each
# position that the factor has; larger ones have an entry for each position.
MOST_CELLS = 1_000_000
CELLS_A_POSITION = 4
# Blocks are diagonalised once from this many elements on: a Cholesky factor of fewer is as fast
# (compiled, microseconds by diagonals and by a factor: 0.30 and 0.17 for 2, 1.3 and 2.3 for 16).
LEAST_DIAGONALISED = 16
# Nor is a factor of more numbers than this made where it is asked for.
MOST_ASKED = 2e8
# Bytes of a number of which there are two: a coefficient has a place, an entry is filled and
# factorised.
BOTH = 2 * BYTES
# How many times the memory of coefficients in a draw is taken while a layout is looked for (62
# bytes for each of ten million).
LOOKED_AT = 4


@dataclass(frozen=True, slots=True)
class TooLarge:
    """Arrays that are not drawn jointly by default, and the limit that stands against it.

    ``how`` are other words for what is not done.
    """

    arrays: tuple[str, ...]
    told: str
    how: str = "drawn jointly"

    def __str__(self) -> str:
        return f"{', '.join(self.arrays)} not {self.how}, which would take {self.told}"


@dataclass(frozen=True, slots=True)
class Precision:
    """The coefficients of a quadratic log density: of elements, squares and products.

    ``layout`` says how the precision matrix is factorised; with a ``pencil`` it is diagonalised
    once instead; with ``rows`` there is a matrix of their order in its place.
    """

    linear: tuple[NaturalParameter, ...]
    squares: tuple[NaturalParameter, ...]
    pairs: tuple[Pair, ...]
    layout: str
    pencil: FixedMatrices | None
    rows: Rows | None = None


def precision_of(
    graph: Graph,
    block: Quadratic,
    data: Mapping[str, Any],
    asked: Blocks,
    last: Sequence[str] = (),
    *,
    by_rows: bool = False,
) -> Precision | TooLarge:
    """The precision of a block within the limits of work and memory; of memory alone if asked for.

    Arrays that come ``last`` are its border. A block with too many coefficients is left out before
    the places of these are computed. With ``by_rows`` few rows may take its place.
    """
    is_data = is_data_of(graph)
    pairs = _pairs(graph, block, is_data)
    cells = float(sum(prod(p.sizes) for p in pairs))
    is_asked = any(set(block.arrays) <= group for group in asked.together)
    if by_rows and (rows := _rows(graph, block, pairs, is_data, asked)) is not None:
        linear, squares = (_parameters(graph, block, degree, is_data) for degree in (1, 2))
        return Precision(linear, squares, pairs, rows.told, None, rows)
    limit = memory_limit(graph)
    most = max(MOST_ASKED, limit.bytes / BOTH) if is_asked else limit.bytes / BOTH
    if is_asked and cells > most:
        raise _too_large(block, f"{cells:.3g} coefficients of products", most)
    if not is_asked:
        least = _least_work(graph, block, pairs)
        numbers = max(cells + _least_entries(block, pairs), LOOKED_AT * cells)
        found = beyond(graph, numbers, least)
        if found is not None:
            return TooLarge(block.arrays, found)
    linear, squares = (_parameters(graph, block, degree, is_data) for degree in (1, 2))
    pattern = _pattern(graph, block, pairs, data)
    layout = pattern.layout(last=[block.arrays.index(name) for name in last])
    pencil = fixed_matrices_of(squares, pairs, is_data) if pattern.is_closed else None
    if pencil is not None:
        blocks = pattern.blocks()
        fits = blocks.is_regular and blocks.entries <= most and blocks.order >= LEAST_DIAGONALISED
        pays = fits and blocks.products <= layout.work
        layout, pencil = (blocks, pencil) if pays else (layout, None)
    if is_asked and layout.entries > most:
        what = f"a factor of {layout.entries:.3g} numbers ({layout.told})"
        raise _too_large(block, what, most)
    if not is_asked:
        found = beyond(graph, cells + layout.entries, layout.work)
        if found is not None:
            return TooLarge(block.arrays, found)
    return Precision(linear, squares, pairs, layout.told, pencil)


def beyond(graph: Graph, numbers: float, work: float = 0.0) -> str | None:
    """The limit that a draw would exceed, in words; None if it is within all.

    ``numbers`` are coefficients and entries of a factor.
    """
    if work > MOST_WORK:
        return f"{work:.2g} multiplications in each sweep; at most {MOST_WORK:.2g} are made"
    return memory_limit(graph).against(BOTH * numbers)


def is_fixed(graph: Graph, block: Quadratic) -> bool:
    """Whether a precision is made of few fixed matrices, each times a number of the state."""
    is_data = is_data_of(graph)
    pairs = _pairs(graph, block, is_data)
    if sum(prod(p.sizes) for p in pairs) > MOST_CELLS:
        return False
    return fixed_matrices_of(_parameters(graph, block, 2, is_data), pairs, is_data) is not None


def has_few_rows(graph: Graph, block: Quadratic, asked: Blocks) -> bool:
    """Whether a block is drawn by its rows, which are fewer than its elements, or asked for."""
    is_data = is_data_of(graph)
    return _rows(graph, block, _pairs(graph, block, is_data), is_data, asked) is not None


def may_have_rows(graph: Graph, block: Quadratic) -> bool:
    """Whether a block might be drawn by its rows, which are fewer than its elements."""
    found = row_forms_of(graph, block)
    return found is not None and found.count < found.size and found.is_affordable(graph)


def _rows(
    graph: Graph, block: Quadratic, pairs: Sequence[Pair], is_data: Known, asked: Blocks
) -> Rows | None:
    """The rows by which a block is drawn, where no other way takes less work, or asked for."""
    layout = asked.layout_of(block.arrays)
    if layout == MATRIX:
        return None

    def parameters(of: Quadratic, degree: int) -> tuple[NaturalParameter, ...]:
        return _parameters(graph, of, degree, is_data)

    found = row_forms_of(graph, block)
    if found is None or not found.is_affordable(graph):
        return None
    if layout == ROWS:
        return rows_of(graph, found, parameters)
    if not found.pays:
        return None
    once = 2.0 * found.size**2  # (a draw by fixed matrices, which take as long as a dense factor)
    if once <= found.work and found.size**3 <= MOST_WORK:
        squares = parameters(block, 2)
        if fixed_matrices_of(squares, pairs, is_data) is not None:
            return None
    return rows_of(graph, found, parameters)


def _too_large(block: Quadratic, what: str, most: float) -> CompileError:
    return CompileError(
        f"blocks: ({', '.join(block.arrays)}) drawn together would take {what}; the limit is "
        f"{most:.3g}. Leave the block out."
    )


def _least_work(graph: Graph, block: Quadratic, pairs: Sequence[Pair]) -> float:
    """The fewest multiplications that factorise a matrix with so many tied elements.

    The factor has the entries of the matrix and more; its columns' squares add up to the work.
    Pairs that data look up may coincide many times, and are left out.
    """
    plain = [p for p in pairs if _is_of_positions(p)]
    entries = sum(prod(p.sizes) for p in plain) / 2
    return float(entries**2 / max(sum(count_of(graph, s) for s in block.statements), 1))


def _least_entries(block: Quadratic, pairs: Sequence[Pair]) -> float:
    """The fewest entries of a factor, by the most elements of two arrays that one pair ties."""
    most: dict[frozenset[str], float] = {}
    if any(s.mask is not None for s in block.statements):
        return 0.0  # (elements that are known have no entries)
    for p in (p for p in pairs if _is_of_positions(p)):
        names = frozenset((p.first.array.name, p.second.array.name))
        most[names] = max(most.get(names, 0.0), prod(p.sizes) / (3 - len(names)))
    return sum(most.values())


def _is_of_positions(pair: Pair) -> bool:
    """Whether no data say which elements a pair ties."""
    return all(_is_plain(i) for e in (pair.first, pair.second) for i in e.indices)


def _is_plain(index: Expr) -> bool:
    """Whether an index is a number, or a dim plus one."""
    return bool(index.is_Integer) or isinstance(shifted(index)[0], Dim)


def _pattern(
    graph: Graph, block: Quadratic, pairs: Sequence[Pair], data: Mapping[str, Any]
) -> Pattern:
    """Where the precision matrix of the block has entries."""
    arrays = masks_of(graph, block, data)
    found = [(*_at(p.first, p, graph, data), *_at(p.second, p, graph, data)) for p in pairs]
    return Pattern.of(arrays, found, kept=2)


def masks_of(graph: Graph, block: Quadratic, data: Mapping[str, Any]) -> dict[str, Flags]:
    """The mask of the elements drawn of each array of a block."""
    found = {}
    for name in block.arrays:
        shape = tuple(graph.sizes[d] for d in graph.variables[name].dims)
        found[name] = np.zeros(shape, dtype=bool)
        for s in block.statements:
            if s.target.array.name == name:
                known = None if s.mask is None else np.asarray(data[s.mask])
                found[name] |= drawn(shape, [_bounds(graph, s)], known)
    return found


def _bounds(graph: Graph, statement: Statement) -> tuple[tuple[int, int], ...]:
    """Start and stop of the region of its array that a statement fills, axis by axis."""
    return tuple(
        (p, p + 1) if isinstance(p, int) else (p.start, p.stop) for p in region_of(graph, statement)
    )


def _at(
    leaf: Leaf, pair: Pair, graph: Graph, data: Mapping[str, Any]
) -> tuple[str, tuple[Any, ...]]:
    """The array of a leaf, and its indices at all positions of a pair."""
    index = tuple(evaluate(i, pair.place, data, graph.sizes) for i in leaf.indices)
    return leaf.array.name, index


def is_data_of(graph: Graph) -> Known:
    """The facts of a graph: all arrays but the random ones are data."""
    return data_only([v.name for v in graph.variables.values() if v.kind == "random"], graph)


def _parameters(
    graph: Graph, block: Quadratic, degree: int, is_data: Known
) -> tuple[NaturalParameter, ...]:
    """The coefficients of the elements (degree 1) or squares (degree 2) of each array."""
    return tuple(_parameter(graph, block, n, degree, is_data) for n in block.arrays)


def _parameter(
    graph: Graph, block: Quadratic, name: str, degree: int, is_data: Known
) -> NaturalParameter:
    """The coefficients of the elements (degree 1) or squares (degree 2) of an array."""
    axes = graph.variables[name].dims
    pieces = block.of(name, degree)
    found = tuple(pull_back(p, axes, _indices(p.views[0]), graph.sizes, is_data) for p in pieces)
    array = next(s.target.array for s in block.statements if s.target.array.name == name)
    return NaturalParameter(array[axes] ** degree, axes, found)


def _indices(view: View) -> tuple[Expr, ...]:
    return tuple(i for i in view.indices if i is not None)


def _pairs(graph: Graph, block: Quadratic, is_data: Known) -> tuple[Pair, ...]:
    """The coefficients of products, added up for the same two elements."""
    found: dict[tuple[Any, ...], Pair] = {}
    for piece in block.pairs:
        table = table_of(graph, piece, is_data)
        sizes = {**graph.sizes, **table.sizes}
        c = pull_back(piece, table.axes, table.indices, sizes, is_data)
        first, second = table.leaves
        place = tuple(p for p in c.place if isinstance(p, Range))
        key = (first, second, place)
        if key in found:
            known = found[key].parameter
            parameter = replace(known, contributions=(*known.contributions, c))
        else:
            parameter = NaturalParameter(sp.Mul(first, second), table.axes, (c,))
        sizes_of = tuple(sizes[a] for a in table.axes)
        found[key] = Pair(first, second, parameter, place, sizes_of)
    return tuple(found.values())


@dataclass(frozen=True, slots=True)
class Table:
    """A table of coefficients: its axes, the index of the piece on each, and the two elements."""

    axes: tuple[Dim, ...]
    indices: tuple[Expr, ...]
    leaves: tuple[Leaf, Leaf]
    sizes: Mapping[Dim, int]

    def place(self, over: Collection[Range]) -> tuple[Range, ...]:
        """The positions of the axes that a piece over some ranges has."""
        ranges = {r.dim: r for r in over}
        found = []
        for axis, index in zip(self.axes, self.indices, strict=True):
            dim, shift = shifted(index)
            r = None if dim is None else ranges.get(dim)
            whole = Range(axis, 0, self.sizes[axis])
            found.append(whole if r is None else Range(axis, r.start + shift, r.stop + shift))
        return tuple(found)

    @property
    def cells(self) -> int:
        """The number of coefficients."""
        return prod(self.sizes[a] for a in self.axes)


def table_of(graph: Graph, piece: Piece, is_data: Known) -> Table:
    """One axis for each way in which the two elements of a piece vary.

    Elements that data look up (``u[g[i]]``) have an axis of their own array, onto which the
    positions are summed; a table that would be too large or mostly empty (all pairs of districts,
    few of them neighbours) has one entry a position instead.
    """
    summed = _table(graph, piece, is_data, by_position=False)
    positions = prod(len(r) for r in piece.over)
    apart = _table(graph, piece, is_data, by_position=True)
    few = summed.cells <= max(MOST_CELLS, CELLS_A_POSITION * positions)
    return summed if few and summed.cells <= apart.cells else apart


def _table(graph: Graph, piece: Piece, is_data: Known, *, by_position: bool) -> Table:
    ranges = {r.dim: r for r in piece.over}
    taken = {*ranges, *graph.sizes}
    axes: list[Dim] = []
    indices: list[Expr] = []
    sizes: dict[Dim, int] = {}
    moved: dict[Expr, Expr] = {}

    def axis_of(own: Dim, index: Expr, size: int) -> Dim:
        free = own not in ranges or shifted(index)[0] == own
        axis = own if free and own not in axes else copy_of(own, {*taken, *axes})
        axes.append(axis)
        indices.append(index)
        sizes[axis] = size
        return axis

    every = list(_places(graph, piece))
    for own, index in every:
        dim, shift = shifted(index)
        if dim in ranges and dim not in moved:
            moved[dim] = axis_of(own, index, graph.sizes[own]) - shift
    gathers = [(own, i) for own, i in every if not _is_moved(i, ranges)]
    if by_position:
        for dim in sorted({d for _, i in gathers if is_data(i) for d in dims_of(i)}, key=str):
            if dim not in moved:
                moved[dim] = axis_of(dim, dim, size_of(dim, graph.sizes))
    for own, index in gathers:
        follows = is_data(index) and dims_of(index) <= set(moved)
        if index not in moved and not follows:
            moved[index] = axis_of(own, index, graph.sizes[own])
    views = (_leaf(v, moved) for v in piece.views)
    first, second = views
    return Table(tuple(axes), tuple(indices), (first, second), sizes)


def _places(graph: Graph, piece: Piece) -> Iterator[tuple[Dim, Expr]]:
    """The axis of its array, and the index on it, of both elements of a piece."""
    for view in piece.views:
        dims = graph.variables[view.array.name].dims
        yield from zip(dims, _indices(view), strict=True)


def _is_moved(index: Expr, ranges: Collection[Dim]) -> bool:
    """Whether an index is a position, or a dim of the piece plus a constant."""
    return bool(index.is_Integer) or shifted(index)[0] in ranges


def _leaf(view: View, moved: Mapping[Expr, Expr]) -> Leaf:
    """An element of a piece at the axes of a table."""
    indices = (moved[i] if i in moved else substitute(i, moved) for i in _indices(view))
    return Leaf(view.array, *indices)

