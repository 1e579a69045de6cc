"""Tables of positions that loops read: made of data once, one array of indices for each axis.

>>> elements_in_order(None, ((0, 2), (1, 2)))
(array([0, 1]), array([1, 1]))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gibbsppl.runtime.places import (
    Bounds,
    chart_colours,
    element_positions,
    missing_positions,
    pattern_colours,
)
from gibbsppl.runtime.types import Array, Ints

__all__ = [
    "array_in_order",
    "as_computed",
    "as_given",
    "axis_last",
    "chart_in_order",
    "column_in_order",
    "elements_in_order",
    "members_by_group",
    "missing_positions",
    "others_in_order",
    "pattern_in_order",
    "pattern_strides",
    "rows_alike",
    "short",
]

# Of so many rows it is seen whether it is worth looking at all.
LOOKED_AT = 1024


def as_computed(make: Callable[[], tuple[Array, ...]]) -> tuple[Array, ...]:
    """The arrays that a function makes."""
    return make()


def as_given(*arrays: Array) -> tuple[Array, ...]:
    """The arrays, which are tables already."""
    return arrays


def axis_last(values: Array, axis: int) -> tuple[Array]:
    """An array with one of its axes as the last, so that elements along it are side by side.

    >>> axis_last(np.array([[1, 2], [3, 4]]), 0)
    (array([[1, 3],
           [2, 4]], dtype=int32),)
    """
    return (np.ascontiguousarray(np.moveaxis(short(np.asarray(values)), axis, -1)),)


def elements_in_order(known: Array | None, place: Bounds) -> tuple[Ints, ...]:
    """The positions of the elements in a place, without known elements."""
    found = np.array(element_positions(known, place), dtype=np.intp)
    return tuple(np.ascontiguousarray(found.reshape(len(found), len(place))[:, a])
                 for a in range(len(place)))


def pattern_in_order(
    place: Bounds, steps: Sequence[int], count: int, known: Array | None
) -> tuple[Ints, ...]:
    """The positions of the elements of a place, one colour after the other.

    >>> pattern_in_order(((0, 4),), (1,), 2, None)
    (array([0, 2, 1, 3]),)
    """
    return _joined(pattern_colours(place, steps, count, known))


def pattern_strides(place: Bounds, steps: Sequence[int], count: int) -> tuple[Ints, ...]:
    """Of each part of a colour that is strided, the first position and the number along each axis.

    >>> pattern_strides(((0, 5),), (1,), 2)
    (array([0, 1]), array([3, 2]))
    """
    calls = [[range(i.stop)[i] for i in at] for at in pattern_colours(place, steps, count)]
    axes = list(zip(*calls, strict=True))
    firsts = (np.array([r.start for r in axis]) for axis in axes)
    return (*firsts, *(np.array([len(r) for r in axis]) for axis in axes))


def chart_in_order(table: Array, count: int) -> tuple[Ints, ...]:
    """The positions of the elements of a table of colours, one colour after the other."""
    return _joined(chart_colours(table, count))


def column_in_order(table: Array, count: int, outer: Sequence[int]) -> tuple[Ints, ...]:
    """The positions of the elements of a table that are first along outer axes, without these.

    >>> column_in_order(np.array([[1, 3], [0, 2], [1, 3]]), 4, (1,))
    (array([1, 0, 2]),)
    """
    first = tuple(0 if a in outer else slice(None) for a in range(np.ndim(table)))
    return chart_in_order(np.asarray(table)[first], count)


def _joined(colours: Sequence[tuple[Any, ...]]) -> tuple[Ints, ...]:
    """The positions of indices, which are slices or arrays, one after the other."""
    parts = []
    for at in colours:
        axes = [
            np.arange(i.start, i.stop, i.step or 1) if isinstance(i, slice) else np.asarray(i)
            for i in at
        ]
        if any(isinstance(i, slice) for i in at):
            axes = [m.ravel() for m in np.meshgrid(*axes, indexing="ij")]
        parts.append(axes)
    return tuple(np.concatenate(axis).astype(np.intp) for axis in zip(*parts, strict=True))


def array_in_order(values: Array, *axes: Ints) -> tuple[Array]:
    """The elements of an array at positions, one after the other.

    >>> array_in_order(np.array([5.0, 6.0]), np.array([1, 0, 1]))
    (array([6., 5., 6.]),)
    """
    return (short(np.asarray(values))[axes],)


def others_in_order(values: Array, *axes: Ints) -> tuple[Array, ...]:
    """The elements of an array at each of the other positions along its last axis.

    >>> others_in_order(np.array([[5, 6, 7], [1, 2, 3]]), np.array([0, 1]), np.array([1, 0]))
    (array([5, 2], dtype=int32), array([7, 3], dtype=int32))
    """
    *rows, own = axes
    found = short(np.asarray(values))
    places = (n + (n >= own) for n in range(found.shape[-1] - 1))
    return tuple(found[(*rows, place)] for place in places)


def members_by_group(groups: Array, count: int) -> tuple[Array, ...]:
    """The positions of the elements of each group, and where each group starts among them.

    >>> members_by_group(np.array([1, 0, 1]), 2)
    (array([1, 0, 2], dtype=int32), array([0, 1, 3], dtype=int32))
    """
    flat = np.asarray(groups).ravel()
    order = np.argsort(flat, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(flat, minlength=count)[:count])])
    axes = (order,) if np.ndim(groups) == 1 else np.unravel_index(order, np.shape(groups))
    return (*map(short, axes), short(starts))


def rows_alike(axes: Sequence[Sequence[int]], *arrays: Array) -> tuple[Array, ...]:
    """How often each row of some arrays occurs, and the data of those that differ.

    Rows are positions along common dims; ``axes`` says of each array along which of these it is.

    >>> rows_alike(((0,), (0,)), np.array([5, 5, 7, 5]), np.array([1, 2, 1, 1]))
    (array([2., 1., 1.]), array([5, 5, 7], dtype=int32), array([1, 2, 1], dtype=int32))
    """
    rows = _rows(axes, arrays)
    _, first, times = np.unique(_codes(rows), axis=0, return_index=True, return_counts=True)
    return (times.astype(float), *(short(r[first]) for r in rows))


def number_that_differ(
    axes: Sequence[Sequence[int]], arrays: Sequence[Array], largest_share: float
) -> int | None:
    """How many rows of some arrays differ, of `rows_alike`; None where the share is larger.

    Where the share is larger among some of them, taken evenly, the others are not looked at.
    """
    rows = _rows(axes, arrays)
    step = max(rows[0].size // LOOKED_AT, 1)
    for every in (step, 1):
        some = [r[::every] for r in rows]
        count = len(np.unique(_codes(some), axis=0))
        if not 0 < count <= largest_share * some[0].size:
            return None
    return count


def _rows(axes: Sequence[Sequence[int]], arrays: Sequence[Array]) -> list[Array]:
    """The elements of arrays, row by row."""
    sizes = {a: n for own, x in zip(axes, arrays, strict=True)
             for a, n in zip(own, np.shape(x), strict=True)}  # fmt: skip
    shape = [sizes[a] for a in range(len(sizes))]
    found = []
    for own, x in zip(axes, arrays, strict=True):
        order = np.argsort(own)
        there = [sizes[a] if a in own else 1 for a in range(len(sizes))]
        whole = np.transpose(x, order).reshape(there)
        found.append(np.broadcast_to(whole, shape).ravel())
    return found


def _codes(rows: Sequence[Array]) -> Ints:
    """For each row whole numbers that are equal where its data are."""
    return np.stack([np.unique(r, return_inverse=True)[1].ravel() for r in rows], axis=1)


def short(values: Array) -> Array:
    """Whole numbers in four bytes each if these hold them; other arrays as they are."""
    limits = np.iinfo(np.int32)
    if values.dtype != np.int64 or not values.size:
        return np.asarray(values, order="C")  # (a number stays one)
    is_held = limits.min <= values.min() and values.max() <= limits.max
    return np.asarray(values, dtype=np.int32 if is_held else np.int64, order="C")
