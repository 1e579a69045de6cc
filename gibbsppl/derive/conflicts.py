"""Conflicts: pairs of elements of an array in one term of the log density, not drawn together.

Comes in: the pieces of a conditional. Goes out: for each term that sees two elements a `Meeting`,
its two views; whether these always differ by the same step along each axis (`offsets_of`), as on
a lattice; else the pairs of elements, read from the data (`pairs_of`).

A term that is multiplied by data sees nothing where the data is 0: two columns of a design meet
only in a row in which both have an entry.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import combinations
from math import prod

import numpy as np
import scipy
from numpy.typing import NDArray
from sympy import Mul

from gibbsppl.algebra.copies import copies_of
from gibbsppl.algebra.expressions import Array, Binder, Dim, Expr, Leaf, dims_of, substitute
from gibbsppl.algebra.ranges import Range, ranges_of
from gibbsppl.derive.contractions import IsData
from gibbsppl.model.evaluation import Floats, Values, evaluate
from gibbsppl.pieces.dependence import Place, touches
from gibbsppl.pieces.split import Piece, View

# More pairs than this are not counted out: as a graph they would take about a gigabyte.
MOST_PAIRS = 1 << 20
# Positions of a term that are looked at together.
MOST_POSITIONS = 1 << 25


@dataclass(frozen=True, slots=True)
class Seen:
    """An element in a term: its view and ranges, and data weights; a weight of 0 hides the element.

    ``inner`` are the ranges of sums within the term: all of their positions are read at once.
    """

    view: View
    ranges: tuple[Range, ...]
    weights: tuple[Expr, ...] = ()
    inner: tuple[Range, ...] = ()


@dataclass(frozen=True, slots=True)
class Meeting:
    """Two elements that one term sees."""

    factor: str
    first: Seen
    second: Seen


@dataclass(frozen=True, slots=True)
class TooMany:
    """More conflicts than are counted out: there may be more than this number."""

    number: int


Offset = tuple[int, ...]


def seen_in(
    piece: Piece, is_data: IsData, sizes: Mapping[Dim, int], events: int = 0
) -> tuple[Seen, ...]:
    """The elements of the target that a piece sees, each view once.

    Of values along the last ``events`` axes, the values: views have the axes before these.
    """
    targets = {v.array.name for v in piece.views}
    weights = tuple(f for f in Mul.make_args(piece.coefficient) if is_data(f) and dims_of(f))
    walk = _Walk(targets, is_data, sizes)
    found: dict[View, Seen] = {}
    for seen in walk.through(piece.statistic, Seen(piece.views[0], piece.over, weights)):
        known = found.get(seen.view)
        # (an element that is seen twice keeps the weights common to both)
        common = seen if known is None else replace(seen, weights=_shared(known, seen))
        found[seen.view] = common
    for view in piece.views:
        # A whole matrix in a function is no leaf with indices.
        found.setdefault(view, Seen(view, piece.over, weights))
    return _values_seen(found.values(), events) if events else tuple(found.values())


def _values_seen(entries: Iterable[Seen], events: int) -> tuple[Seen, ...]:
    """The values that entries are of, each once: without axes, and sums, of entries alone."""
    found: dict[View, Seen] = {}
    for seen in entries:
        indices = seen.view.indices[:-events]
        named = {d for i in indices if i is not None for d in dims_of(i)}
        apart = [r for r in seen.inner if r.dim not in named]
        # (where a weight of one entry is 0, others may be seen)
        own = {r.dim for r in apart}
        value = Seen(
            View(seen.view.array, indices),
            tuple(r for r in seen.ranges if r not in apart),
            tuple(w for w in seen.weights if not dims_of(w) & own),
            tuple(r for r in seen.inner if r not in apart),
        )
        known = found.get(value.view, value)
        found[value.view] = replace(value, weights=_shared(known, value))
    return tuple(found.values())


def _shared(a: Seen, b: Seen) -> tuple[Expr, ...]:
    return tuple(w for w in a.weights if w in b.weights)


@dataclass(frozen=True, slots=True)
class _Walk:
    """A walk through an expression, to the leaves of the targets."""

    targets: Collection[str]
    is_data: IsData
    sizes: Mapping[Dim, int]

    def through(self, expr: Expr, seen: Seen) -> Iterator[Seen]:
        """Yield each leaf of the targets; ``seen`` holds the ranges and the weights on the way."""
        if isinstance(expr, Leaf):
            if expr.array.name in self.targets:
                yield replace(seen, view=View(expr.array, expr.indices))
            for i in expr.indices:
                yield from self.through(i, seen)
            return
        if isinstance(expr, Binder):
            ranges = ranges_of(expr, self.sizes)
            inside = replace(seen, ranges=seen.ranges + ranges, inner=seen.inner + ranges)
            yield from self.through(expr.body, inside)
            for a in expr.args[1 + expr.binds :]:
                yield from self.through(a, seen)
            return
        if expr.is_Mul:
            own = tuple(a for a in expr.args if self.is_data(a) and dims_of(a))
            seen = replace(seen, weights=seen.weights + own)
        if not isinstance(expr, Array):
            for a in expr.args:
                yield from self.through(a, seen)


def meetings_of(
    pieces: Iterable[Piece],
    region: tuple[Place, ...],
    is_data: IsData,
    sizes: Mapping[Dim, int],
    events: int = 0,
) -> tuple[Meeting, ...]:
    """All pairs of views, of one term each, that may show two elements of a region.

    Or two values, which are along the last ``events`` axes; the region is without these.
    """
    found: dict[Meeting, None] = {}
    for piece in pieces:
        shown = seen_in(piece, is_data, sizes, events)
        every = [s for s in shown if touches(s.view, s.ranges, region)]
        for seen in every:
            if seen.inner or None in seen.view.indices:
                found[Meeting(piece.factor, seen, _apart(seen))] = None
        for first, second in combinations(every, 2):
            found[Meeting(piece.factor, first, _apart(second))] = None
    return tuple(found)


def _apart(seen: Seen) -> Seen:
    """The element with dims of inner sums renamed, at positions independent of the first one's."""
    names = copies_of((r.dim for r in seen.inner), (r.dim for r in seen.ranges))
    if not names:
        return seen

    def renamed(ranges: tuple[Range, ...]) -> tuple[Range, ...]:
        return tuple(replace(r, dim=names.get(r.dim, r.dim)) for r in ranges)

    indices = tuple(i if i is None else substitute(i, names) for i in seen.view.indices)
    weights = tuple(substitute(w, names) for w in seen.weights)
    view = View(seen.view.array, indices)
    return Seen(view, renamed(seen.ranges), weights, renamed(seen.inner))


def offsets_of(meetings: Iterable[Meeting], region: tuple[Place, ...]) -> frozenset[Offset] | None:
    """The steps between elements that meet, if constant over all positions of the term.

    Steps that lead out of the region are left out; None where a step depends on the position.
    """
    found = set()
    for meeting in meetings:
        offset = _offset(meeting)
        if offset is None:
            return None
        lengths = (1 if isinstance(p, int) else len(p) for p in region)
        if all(abs(o) < n for o, n in zip(offset, lengths, strict=True)) and any(offset):
            found.add(max(offset, tuple(-o for o in offset)))
    return frozenset(found)


def _offset(meeting: Meeting) -> Offset | None:
    pairs = zip(meeting.first.view.indices, meeting.second.view.indices, strict=True)
    steps = [_step(a, b) for a, b in pairs]
    return None if None in steps else tuple(s for s in steps if s is not None)


def _step(a: Expr | None, b: Expr | None) -> int | None:
    """The constant difference of two indices, if it is one."""
    if a is None or b is None or a.atoms(Array) or b.atoms(Array):
        return 0 if a is not None and a == b else None
    difference = b - a
    return int(difference) if difference.is_Integer else None


@dataclass(frozen=True, slots=True, eq=False)
class DrawnElements:
    """An array's shape, and the mask of the elements that are drawn (``free``, in flat order)."""

    shape: tuple[int, ...]
    free: NDArray[np.bool_] = field(repr=False)


def pairs_of(
    meetings: Iterable[Meeting],
    elements: DrawnElements,
    data: Values,
    sizes: Mapping[Dim, int],
) -> scipy.sparse.csr_array | TooMany:
    """The pairs of elements that meet, as a strictly upper triangular sparse boolean matrix."""
    total = scipy.sparse.csr_array((prod(elements.shape),) * 2, dtype=bool)
    for meeting in meetings:
        shared = _shared_dims(meeting)
        first, second = meeting.first, meeting.second
        a = _incidence(_sided(first, second), shared, elements, data, sizes)
        b = _incidence(_sided(second, first), shared, elements, data, sizes)
        if isinstance(a, TooMany) or isinstance(b, TooMany):
            return a if isinstance(a, TooMany) else b
        number = int(a.sum(axis=1, dtype=np.int64) @ b.sum(axis=1, dtype=np.int64))
        # (within a sum each pair is counted twice)
        if number > 2 * MOST_PAIRS:
            return TooMany(MOST_PAIRS)
        met = (a.T @ b).astype(bool)
        total = total + scipy.sparse.triu(met + met.T, 1, format="csr")
        if total.nnz > MOST_PAIRS:
            return TooMany(MOST_PAIRS)
    return total


def _sided(seen: Seen, other: Seen) -> Seen:
    """The element without weights over dims that index the other view alone."""
    foreign = _own_dims(other) - _own_dims(seen)
    return replace(seen, weights=tuple(w for w in seen.weights if not dims_of(w) & foreign))


def _own_dims(seen: Seen) -> set[Dim]:
    named = {d for i in seen.view.indices if i is not None for d in dims_of(i)}
    return named & {r.dim for r in seen.ranges}


def _all_dims(seen: Seen) -> set[Dim]:
    weighed = {d for w in seen.weights for d in dims_of(w)}
    return _own_dims(seen) | (weighed & {r.dim for r in seen.ranges})


def _shared_dims(meeting: Meeting) -> tuple[Range, ...]:
    """The ranges that both views depend on, at the same position."""
    first, second = meeting.first, meeting.second
    both = _all_dims(_sided(first, second)) & _all_dims(_sided(second, first))
    return tuple(r for r in first.ranges if r.dim in both)


def _incidence(
    seen: Seen,
    shared: tuple[Range, ...],
    elements: DrawnElements,
    data: Values,
    sizes: Mapping[Dim, int],
) -> scipy.sparse.csr_array | TooMany:
    """The sparse matrix of positions of the shared ranges (rows) by elements seen (columns)."""
    dims = _all_dims(seen)
    over = [r for r in seen.ranges if r.dim in dims]
    indices: list[Expr] = []
    for axis, index in enumerate(seen.view.indices):
        if index is None or not {a.name for a in index.atoms(Array)} <= set(data):
            # The element may be at any position of the axis.
            over.append(Range(Dim(f"any {axis}"), 0, elements.shape[axis]))
            indices.append(over[-1].dim)
        else:
            indices.append(index)
    lengths = tuple(map(len, over))
    if prod(lengths) > MOST_POSITIONS:
        return TooMany(MOST_PAIRS)
    every = {**sizes, **{r.dim: r.stop for r in over}}

    def at(expr: Expr) -> Floats:
        return np.broadcast_to(evaluate(expr, over, data, every), lengths)

    there = reduce(np.logical_and, (at(w) != 0 for w in seen.weights), np.ones(lengths, dtype=bool))
    places = tuple(at(i).astype(np.intp) for i in indices)
    element = np.ravel_multi_index(places, elements.shape)
    there = there & elements.free[element]
    rows: NDArray[np.intp] = np.zeros(lengths, dtype=np.intp)
    for r in shared:
        rows = rows * len(r) + (at(r.dim).astype(np.intp) - r.start)
    shape = (prod(map(len, shared)), prod(elements.shape))
    found = scipy.sparse.coo_array(
        (np.ones(int(there.sum()), dtype=np.int64), (rows[there], element[there])), shape=shape
    ).tocsr()
    found.data[:] = 1  # (an element that is seen twice there is seen)
    return found
