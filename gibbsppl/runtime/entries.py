"""The positions that see each of the elements drawn in one call, for sums by element."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from gibbsppl.runtime.types import Array, Floats, Ints, Values, Wholes

# Calls of more entries are split: what they read and make stays in the cache.
MOST_ENTRIES = 1 << 15


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """The rows that see the elements of one call, grouped by element.

    Each row sees one element at most. ``counts`` are the numbers of rows by element, ``seen`` the
    elements with any (None: all); ``rows`` is a slice if contiguous. ``is_last``: no further colour
    is drawn afterwards.
    """

    rows: Ints | slice = field(repr=False)
    counts: Ints = field(repr=False)
    places: Ints = field(repr=False)
    seen: Ints | None = field(repr=False)
    starts: Ints = field(repr=False)
    is_last: bool = False

    def read(self, values: Array) -> Array:
        """Values of the rows, entry by entry (the values themselves, where these are a slice)."""
        return values[self.rows] if isinstance(self.rows, slice) else values.take(self.rows)

    def spread(self, values: Floats) -> Floats:
        """Values of the elements, entry by entry; of a single element it is one for all entries."""
        return values if len(values) == 1 else np.repeat(values, self.counts)

    def total(self, values: Floats) -> Floats:
        """The sum over the entries of each element, of which the values may be one for all."""
        if len(values) == 1 and len(self.counts) == 1:
            return values * self.counts
        if self.seen is None:
            return np.add.reduceat(values, self.starts)
        found = np.zeros(len(self.counts))
        if len(self.seen):
            found[self.seen] = np.add.reduceat(values, self.starts)
        return found

    def put(self, values: Floats, changed: Floats) -> None:
        """Write changed values of the entries back to the rows."""
        if not isinstance(self.rows, slice):  # (else these are the values themselves)
            values[self.rows] = changed

    def of(self, table: Values) -> Floats:
        """A table of all positions, entry by entry."""
        return np.ascontiguousarray(np.ravel(table)[self.places], dtype=np.float64)

    def others(self, table: Values, width: int) -> Array:
        """The values of a table at the other positions of each entry's row, entries last.

        ``width`` is the number of positions of a row.
        """
        row, own = self.places // width, self.places % width
        there = np.arange(width - 1)[:, None]
        there = there + (there >= own)
        return np.ascontiguousarray(np.reshape(table, (-1, width))[row, there])


def entries_of(
    element: Wholes,
    weights: Sequence[Values],
    lengths: tuple[Sequence[int], Sequence[int]],
    colours: Sequence[tuple[Ints, ...]],
    count: int,
    own: tuple[Sequence[int], Sequence[int]],
) -> tuple[list[Entries], list[tuple[Ints, ...]]]:
    """The entries of each call, where the element at a position is ``element``; and the calls.

    A position counts where no weight is 0. ``lengths`` are the shapes of the rows, and of the
    positions within a row. ``own`` are the axes along which elements are numbered, and the shape of
    these. Each further ``count`` colours differ from the first ``count`` along other axes alone:
    the entries are the same, and are given once. The calls are the colours, split where there are
    many entries.

    >>> col = np.array([[0, 2], [0, 3], [1, 2]])
    >>> colours = [(np.array([0, 1]),), (np.array([2, 3]),)]
    >>> for e in entries_of(col, [], ((3,), (2,)), colours, 2, ((0,), (4,)))[0]:
    ...     print(e.rows, e.counts)
    slice(0, 3, None) [2 1]
    [0 2 1] [2 1]
    """
    (rows, inner), (axes, shape) = lengths, own
    full = (*rows, *inner)
    number = np.broadcast_to(element, full).reshape(-1)
    there = np.ones(full, dtype=bool)
    for w in weights:
        there = there & (np.asarray(w) != 0)
    seen = np.flatnonzero(there)
    order = seen[np.argsort(number[seen], kind="stable")]
    ordered = number[order]
    found, parts = [], []
    for n, colour in enumerate(colours[:count]):
        elements = np.ravel_multi_index([np.asarray(colour[a]) for a in axes], shape)
        first = np.searchsorted(ordered, elements)
        counts = np.searchsorted(ordered, elements, side="right") - first
        pieces = _split(counts)
        parts.append(pieces)
        is_last = n + 1 == count
        found += [_entries(order, first[p], counts[p], prod(inner), is_last) for p in pieces]
    calls = [
        tuple(np.asarray(index)[p] for index in colour)
        for n, colour in enumerate(colours)
        for p in parts[n % count]
    ]
    return found, calls


def _split(counts: Ints) -> list[slice]:
    """Elements in parts of about so many entries, in their order."""
    part = np.cumsum(counts) // MOST_ENTRIES
    edges = np.flatnonzero(np.diff(part)) + 1
    return [slice(a, b) for a, b in pairwise([0, *edges.tolist(), len(counts)])]


def _entries(
    order: Ints,
    first: Ints,
    counts: Ints,
    width: int,
    is_last: bool,
) -> Entries:
    """The entries of elements, from each element's first place in an order of all entries."""
    starts = np.cumsum(counts) - counts
    places = order[np.repeat(first - starts, counts) + np.arange(counts.sum())]
    rows: Any = places // width
    if len(rows) and (np.diff(rows) == 1).all():
        rows = slice(int(rows[0]), int(rows[-1]) + 1)
    some = np.flatnonzero(counts)
    seen = some if len(some) < len(counts) else None
    return Entries(rows, counts, places, seen, starts[some], is_last)
