"""The positions that see each of the elements drawn in one call, for sums by element."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """The rows that see the elements of one call, those of an element together.

    Each row sees one element at most. ``counts`` are the numbers of rows by element; ``rows`` is
    None where these are all rows in their order.
    """

    rows: NDArray[np.intp] | None = field(repr=False)
    counts: NDArray[np.intp] = field(repr=False)
    places: NDArray[np.intp] = field(repr=False)
    seen: NDArray[np.intp] | None = field(repr=False)
    starts: NDArray[np.intp] = field(repr=False)

    def read(self, values: Any) -> Any:
        """Values of the rows, entry by entry (the values themselves, where these are all)."""
        return values if self.rows is None else values.take(self.rows)

    def spread(self, values: Floats) -> Floats:
        """Values of the elements, entry by entry."""
        return np.repeat(values, self.counts)

    def total(self, values: Floats) -> Floats:
        """The sum over the entries of each element."""
        if self.seen is None:
            return np.add.reduceat(values, self.starts)
        found = np.zeros(len(self.counts))
        if len(self.seen):
            found[self.seen] = np.add.reduceat(values, self.starts)
        return found

    def put(self, values: Floats, changed: Floats) -> None:
        """Values of the entries back to their rows (those that were read are there already)."""
        if self.rows is not None:
            np.put(values, self.rows, changed)
        elif changed is not values:
            values[...] = changed

    def of(self, table: Any) -> Floats:
        """A table of all positions, entry by entry."""
        return np.ascontiguousarray(np.ravel(table)[self.places], dtype=np.float64)


def entries_of(
    element: Any,
    weights: Sequence[Any],
    lengths: tuple[Sequence[int], Sequence[int]],
    calls: Sequence[tuple[Any, ...]],
    own: tuple[Sequence[int], Sequence[int]],
) -> list[Entries]:
    """The entries of each call, where the element at a position is ``element``.

    A position counts where no weight is 0. ``lengths`` are the shapes of the rows, and of the
    positions within a row. ``own`` are the axes along which elements are numbered, and the shape of
    these; calls that differ along other axes alone have the same entries, and are given once.

    >>> col = np.array([[0, 2], [0, 3], [1, 2]])
    >>> for e in entries_of(col, [], ((3,), (2,)), [([0, 1],), ([2, 3],)], ((0,), (4,))):
    ...     print(e.rows, e.counts)
    None [2 1]
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
    width, count, found = prod(inner), prod(rows), []
    for call in calls:
        elements = np.ravel_multi_index([np.asarray(call[a]) for a in axes], shape)
        first = np.searchsorted(ordered, elements)
        counts = np.searchsorted(ordered, elements, side="right") - first
        starts = np.cumsum(counts) - counts
        places = order[np.repeat(first - starts, counts) + np.arange(counts.sum())]
        row = places // width
        is_all = len(row) == count and bool((row == np.arange(count)).all())
        some = np.flatnonzero(counts)
        missing = len(some) < len(counts)
        kept = some if missing else None
        found.append(Entries(None if is_all else row, counts, places, kept, starts[some]))
    return found
