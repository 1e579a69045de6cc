"""Facts of the data about a linear form: which elements each of its positions sees.

Comes in: a `LinearForm`, its graph, the data. Goes out: the elements that are seen together as a
table, whether one is seen twice (it would be squared), and colours: elements of one colour are
never seen together.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import reduce
from math import prod

import numpy as np
import scipy
from numpy.typing import NDArray

from gibbsppl.algebra.expressions import Expr, mentions
from gibbsppl.algebra.ranges import Range
from gibbsppl.derive.multilinear_forms import Entry, LinearForm, NotMultilinear
from gibbsppl.model.evaluation import Floats, Sizes, Values, evaluate
from gibbsppl.model.graph import Graph
from gibbsppl.model.memory import BYTES, memory_limit

# Bytes for each position of a form that is looked at: the number of the element that it sees, of
# which there are copies, and what its index and its weights are.
A_POSITION = 4 * BYTES


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """Which elements a form sees: a row for each of its positions, -1 where a weight is 0.

    Elements are numbered along ``axes``; the table is the same at each position of the other axes.
    """

    axes: tuple[int, ...]
    shape: tuple[int, ...]
    table: NDArray[np.intp] = field(repr=False)


def shown_by(form: LinearForm, graph: Graph, data: Values) -> Shown | NotMultilinear:
    """The elements that each position of a form sees, if known from data and distinct."""
    array = form.entries[0].view.array
    free = free_axes(form.entries)
    dims = graph.variables[array.name].dims
    kept = tuple(a for a in range(len(dims)) if a not in free)
    shape = tuple(graph.sizes[dims[a]] for a in kept)
    indices = (e.view.read[a] for e in form.entries for a in kept)
    if any(mentions(i, graph.random) for i in indices):
        return NotMultilinear(
            f"{form.factor}: which element of {array} it reads depends on a variable"
        )
    rows = prod(map(len, form.over))
    columns = []
    for entry in form.entries:
        dropped = {entry.view.indices[a] for a in free}
        over = (*form.over, *(r for r in entry.ranges if r.dim not in dropped))
        lengths = tuple(map(len, over))
        if too_large := memory_limit(graph).against(A_POSITION * float(prod(lengths))):
            return NotMultilinear(f"{form.factor}: which elements it reads would take {too_large}")
        every = {**graph.sizes, **{r.dim: r.stop for r in over}}

        def at(
            expr: Expr,
            over: tuple[Range, ...] = over,
            every: Sizes = every,
            lengths: tuple[int, ...] = lengths,
        ) -> Floats:
            return np.broadcast_to(evaluate(expr, over, data, every), lengths)

        nowhere_0 = (at(w) != 0 for w in entry.weights)
        there = reduce(np.logical_and, nowhere_0, np.ones(lengths, dtype=bool))
        number = np.zeros(lengths, dtype=np.intp)
        for a, length in zip(kept, shape, strict=True):
            number = number * length + at(entry.view.read[a]).astype(np.intp)
        columns.append(np.where(there, number, -1).reshape(rows, -1))
    found = Shown(kept, shape, np.concatenate(columns, axis=1))
    return _twice(form, found) or found


def free_axes(entries: Iterable[Entry]) -> frozenset[int]:
    """The axes all of whose positions are seen at once, by each of the entries."""
    return frozenset.intersection(*(frozenset(e.free) for e in entries))


def _twice(form: LinearForm, shown: Shown) -> NotMultilinear | None:
    """The reason for refusal if a position of a form sees an element twice; else None."""
    ordered = np.sort(shown.table, axis=1)
    again = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
    if not again.any():
        return None
    row, column = (int(i[0]) for i in np.nonzero(again))
    element = np.unravel_index(ordered[row, column], shown.shape)
    at = ", ".join(f"axis {a} at {i}" for a, i in zip(shown.axes, element, strict=True))
    place = np.unravel_index(row, tuple(map(len, form.over))) if form.over else ()
    where = ", ".join(
        f"{r.dim} {i + r.start}" for r, i in zip(form.over, map(int, place), strict=True)
    )
    array = form.entries[0].view.array
    return NotMultilinear(f"{form.factor}: at {where} it sees an element of {array} twice ({at})")


def charted(
    shown: Iterable[Shown], shape: tuple[int, ...], free: NDArray[np.bool_]
) -> tuple[NDArray[np.intp], int]:
    """The colour of each element, -1 where it is not ``free``; the number of colours.

    Along axes that are free of all forms each position has colours of its own.
    """
    forms = tuple(shown)
    axes = tuple(sorted(set().union(*(s.axes for s in forms))))
    own = tuple(shape[a] for a in axes)
    colour = _coloured([_numbered(s, axes, own) for s in forms], prod(own)).reshape(own)
    count = int(colour.max(initial=0)) + 1
    others = [a for a in range(len(shape)) if a not in axes]
    table = np.zeros(shape, dtype=np.intp)
    for a in others:
        place = np.arange(shape[a]).reshape([-1 if n == a else 1 for n in range(len(shape))])
        table = table * shape[a] + place
    spread = colour.reshape([shape[a] if a in axes else 1 for a in range(len(shape))])
    table = np.where(free, table * count + spread, -1)
    found, numbers = np.unique(table[free], return_inverse=True)
    table[free] = numbers
    return table, len(found)


def _numbered(shown: Shown, axes: tuple[int, ...], shape: tuple[int, ...]) -> NDArray[np.intp]:
    """The table with elements numbered along more axes, all positions of the added ones seen."""
    if shown.axes == axes:
        return shown.table
    number = np.arange(prod(shape)).reshape(shape)
    order = [axes.index(a) for a in shown.axes]
    rest = [n for n in range(len(axes)) if n not in order]
    by_own = number.transpose(*order, *rest).reshape(prod(shown.shape), -1)
    full = np.where((shown.table >= 0)[..., None], by_own[shown.table], -1)
    return full.reshape(len(shown.table), -1)


def _coloured(tables: list[NDArray[np.intp]], count: int) -> NDArray[np.intp]:
    """The colour of each element: its column, if each element has only one; else greedy."""
    if len(tables) == 1:
        by_column = _by_column(tables[0], count)
        if by_column is not None:
            return by_column
    return _greedy(tables, count)


def _by_column(table: NDArray[np.intp], count: int) -> NDArray[np.intp] | None:
    """The column of each element, as its colour; None if an element is in several columns.

    (The elements of a row are in different columns.)
    """
    colour = np.full(count, -1, dtype=np.intp)
    number = 0
    for column in table.T:
        seen = np.unique(column[column >= 0])
        if (colour[seen] >= 0).any():
            return None
        colour[seen] = number
        number += bool(seen.size)
    return np.maximum(colour, 0)


def _greedy(tables: list[NDArray[np.intp]], count: int) -> NDArray[np.intp]:
    """A greedy colouring: each element takes the smallest free colour, the most seen element first.

    Elements that are seen together have different colours.
    (D. J. A. Welsh and M. B. Powell, 1967, The Computer Journal 10, 85-86.)
    """
    where = []
    for table in tables:
        row, column = np.nonzero(table >= 0)
        places = (table[row, column], row)
        ones = np.ones(len(row), dtype=bool)
        where.append(scipy.sparse.csr_array((ones, places), shape=(count, len(table))))
    times = np.sum([w.indptr[1:] - w.indptr[:-1] for w in where], axis=0)
    colour = np.full(count + 1, -1, dtype=np.intp)  # (the last one stands for no element)
    for element in np.argsort(-times, kind="stable"):
        taken = [
            colour[table[w.indices[w.indptr[element] : w.indptr[element + 1]]]].ravel()
            for table, w in zip(tables, where, strict=True)
        ]
        used = np.unique(np.concatenate(taken))
        used = used[used >= 0]
        gaps = np.flatnonzero(used != np.arange(len(used)))
        colour[element] = gaps[0] if gaps.size else len(used)
    return colour[:count]
