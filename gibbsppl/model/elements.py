"""Elements of an array at the positions of ranges: a part of it, or by indices that are checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gibbsppl.algebra.expressions import Dim, Leaf
from gibbsppl.algebra.ranges import Range
from gibbsppl.errors import ModelError

Floats = NDArray[np.float64]


def part_along(leaf: Leaf, array: NDArray[Any], ranges: Sequence[Range]) -> Floats | None:
    """A part of an array, if each axis is read along a range of its own, in order; else None.

    >>> from gibbsppl.algebra.expressions import Array
    >>> x, i, j = Array("x"), Dim("i"), Dim("j")
    >>> part_along(x[j], np.array([1, 2, 3]), (Range(i, 0, 2), Range(j, 1, 3)))
    array([[2., 3.]])
    """
    axes: dict[Dim, int] = {r.dim: n for n, r in enumerate(ranges)}  # (the innermost counts)
    last, slices, shape = -1, list[slice](), [1] * len(ranges)
    for index, size in zip(leaf.indices, array.shape, strict=True):
        axis = axes.get(index, -1) if isinstance(index, Dim) else -1
        if axis <= last:
            return None
        last, along = axis, ranges[axis]
        if along.start < 0 or along.stop > size:
            return None
        slices.append(slice(along.start, along.stop))
        shape[axis] = len(along)
    return np.asarray(array[tuple(slices)], dtype=np.float64).reshape(shape)


def checked(index: Floats, size: int, axis: int, leaf: Leaf) -> NDArray[np.int64]:
    """The index as integers; out of range is an error, since NumPy would wrap negative ones."""
    whole = index.astype(np.int64)  # (whatever that makes of other numbers, it is not equal)
    bad = (whole != index) | (whole < 0) | (whole >= size)
    if bad.any():
        raise ModelError(
            f"{leaf}: index {leaf.indices[axis]} is {index[bad][0]:g}, expected a whole number "
            f"from 0 to {size - 1}, the positions of axis {axis} of {leaf.array.name!r}."
        )
    return whole
