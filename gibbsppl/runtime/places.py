"""The positions of the elements drawn by a step, and the assignment of values to places."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gibbsppl.runtime.in_parts import InParts
from gibbsppl.runtime.types import Array, AxisIndex, Floats, Ints, Values

Bounds = Sequence[tuple[int, int]]


def missing_positions(
    known: Array, place: Bounds, event: int = 0
) -> tuple[Ints, ...]:
    """Index arrays of the unknown elements in a place (start and stop per axis).

    The last ``event`` axes belong to one value, which is missing as a whole.

    >>> missing_positions(np.array([1.0, 0.0, 0.0]), [(0, 2)])
    (array([1]),)
    >>> missing_positions(np.array([[1.0, 1.0], [0.0, 0.0]]), [(0, 2), (0, 2)], event=1)
    (array([1]),)
    """
    corner = tuple(slice(a, b) for a, b in place)
    missing = np.asarray(known)[corner] == 0
    along = place[: len(place) - event]
    found = np.nonzero(missing.any(axis=tuple(range(len(along), missing.ndim))))
    return tuple(f + a for f, (a, _) in zip(found, along, strict=True))


def element_positions(known: Array | None, place: Bounds) -> list[tuple[int, ...]]:
    """The index tuples of the elements in a place, without known elements.

    Of an array with further axes, the index tuples of its values along these.

    >>> element_positions(None, [(1, 3), (0, 1)])
    [(1, 0), (2, 0)]
    """
    if known is None:
        known = np.zeros(tuple(b for _, b in place))
    if not place:
        return [()] if np.any(np.asarray(known) == 0) else []
    positions = missing_positions(known, place)
    return [tuple(int(i) for i in at) for at in zip(*positions, strict=True)]


def pattern_colours(
    place: Bounds, steps: Sequence[int], count: int, known: Array | None = None
) -> list[tuple[Any, ...]]:
    """The indices of the elements of each colour, ``sum(steps[k] * i[k], k) mod count``.

    Strided slices, in the order of colours; with ``known`` elements, index arrays of the unknown
    elements.

    >>> for at in pattern_colours([(0, 4), (0, 4)], (1, 1), 2):
    ...     print(at)
    (slice(0, 4, 2), slice(0, 4, 2))
    (slice(1, 4, 2), slice(1, 4, 2))
    (slice(0, 4, 2), slice(1, 4, 2))
    (slice(1, 4, 2), slice(0, 4, 2))
    """
    if known is not None:
        positions = missing_positions(known, place)
        found = np.asarray(sum(s * p for s, p in zip(steps, positions, strict=True))) % count
        colours = (tuple(p[found == colour] for p in positions) for colour in range(count))
        return [at for at in colours if at[0].size]
    # Along an axis on which the colour depends, each residue is a slice.
    residues = [range(count) if step else (0,) for step in steps]
    strides = [count if step else 1 for step in steps]
    starts = [
        (sum(s * r for s, r in zip(steps, corner, strict=True)) % count, corner)
        for corner in itertools.product(*residues)
    ]
    slices = []
    for _, corner in sorted(starts):
        offsets = [(r - a) % n for r, n, (a, _) in zip(corner, strides, place, strict=True)]
        if all(a + o < b for o, (a, b) in zip(offsets, place, strict=True)):
            ends = zip(offsets, strides, place, strict=True)
            slices.append(tuple(slice(a + o, b, n) for o, n, (a, b) in ends))
    return slices


def chart_colours(table: Array, count: int) -> list[tuple[Ints, ...]]:
    """The indices of each colour of a table.

    >>> chart_colours(np.array([0, 1, -1, 0]), 2)
    [(array([0, 3]),), (array([1]),)]
    """
    return [np.nonzero(np.asarray(table) == colour) for colour in range(count)]


def rows_of(shape: Sequence[int], joint: Sequence[int]) -> list[tuple[AxisIndex, ...]]:
    """The index of each row of an array: whole along the ``joint`` axes, else at one position.

    >>> rows_of((2, 3), (1,))
    [(0, slice(None, None, None)), (1, slice(None, None, None))]
    """
    counts = [1 if a in joint else n for a, n in enumerate(shape)]
    return [
        tuple(slice(None) if a in joint else int(i) for a, i in enumerate(at))
        for at in np.ndindex(*counts)
    ]


def placed(values: Values, place: Bounds, shape: Sequence[int]) -> Floats:
    """An array of zeros with values in one place.

    >>> placed(7.0, [(1, 3)], (4,))
    array([0., 7., 7., 0.])
    """
    full = np.zeros(shape)
    corner = tuple(slice(a, b) for a, b in place)
    there = full[corner]
    there[...] = np.reshape(values, there.shape) if np.size(values) == there.size else values
    return full


def plus_diagonal(
    pairs: Values | InParts, squares: Values, count: int, at: tuple[slice, ...] = ()
) -> Floats | InParts:
    """An array, with values added where its last ``count`` axes equal the ``count`` before them.

    ``at`` is the index of the part of the other axes to which values are added.

    >>> plus_diagonal(np.zeros((2, 2)), 1.0, 1)
    array([[1., 0.],
           [0., 1.]])
    >>> plus_diagonal(np.zeros((2, 2)), 1.0, 1, (slice(1, 2),))
    array([[0., 0.],
           [0., 1.]])
    """
    if isinstance(pairs, InParts):
        return _plus_diagonal_in_parts(pairs, squares, count, at)
    found = np.array(pairs, dtype=np.float64, order="C")  # (so that reshaping it is a view)
    dense = found.shape[found.ndim - count :]
    batch = found.shape[: found.ndim - 2 * count]
    entries = math.prod(dense)
    # Along one axis of all pairs of entries, the diagonal is every (entries + 1)-th.
    diagonal = found.reshape(*batch, entries * entries)[..., :: entries + 1]
    diagonal.reshape(*batch, *dense)[at] += squares
    return found


def _plus_diagonal_in_parts(
    pairs: InParts, squares: Values, count: int, at: tuple[slice, ...]
) -> InParts:
    """The same, of an array that is computed some rows at a time."""
    start, end, _ = (at[0] if at else slice(None)).indices(len(pairs))
    has_rows = np.ndim(squares) == pairs.ndim - count and len(np.asarray(squares)) > 1

    def rows(first: int, stop: int) -> Floats:
        low, high = max(first, start), max(min(stop, end), first, start)
        own = np.asarray(squares)[low - start : high - start] if has_rows else squares
        here = (slice(low - first, high - first), *at[1:])
        return np.asarray(plus_diagonal(pairs.rows(first, stop), own, count, here))

    return InParts(pairs.shape, rows)
