"""Ranges of whole numbers with lengths that differ among the positions of loops.

Such a range is as long as the longest, and goes on with its last number beyond its end. Functions
of vectors of different lengths are those of one length at a time.

>>> i, k = Dim("i"), Dim("k")
>>> given = Grid((i, k), np.array([[3.0, 2.0, 2.0], [1.0, 4.0, 6.0]]))
>>> lengths = {k: Grid((i,), np.array([2, 3]))}
>>> by_lengths(lambda v: v.sum(axis=-1), [(given, (k,))], lengths, lambda _: Dim("none"))[0].values
array([ 5., 11.])
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from gibbsppl.algebra.expressions import Dim
from gibbsppl.bugs.grids import Array, Grid, combined
from gibbsppl.bugs.rows import LARGEST_EXACT
from gibbsppl.bugs.values import Known, Lengths, length_mask


def whole(ends: Grid) -> Grid:
    """Numbers as integers, where all of them are whole.

    >>> whole(Grid((), np.array([2.0, 3.0]))).values
    array([2, 3])
    """
    near = np.rint(ends.values)
    is_whole = (near == ends.values) & (np.abs(near) < LARGEST_EXACT)
    return Grid(ends.dims, near.astype(np.int64)) if is_whole.all() else ends


def lengths_between(low: Grid, high: Grid) -> Grid:
    """How many whole numbers there are between two ends, both counted."""
    return combined(lambda a, b: np.maximum(b - a + 1, 0).astype(np.intp), low, high)


def varying(low: Grid, high: Grid, lengths: Grid, axis: Dim, count: int) -> Known:
    """Ranges whose ends differ, along an axis of that many positions."""
    steps = Grid((axis,), np.arange(count))
    every = combined(lambda a, b, k: np.minimum(a + k, np.maximum(a, b)), low, high, steps)
    dims = (*(d for d in every.dims if d != axis), axis)
    is_short = bool((lengths.values < count).any())
    grid = Grid(dims, every.along(dims))
    return Known(grid, (axis,), lengths={axis: lengths} if is_short else {})


def is_whole(index: Known, size: int) -> bool:
    """Whether a range is all positions of an axis, or goes from its first one up to any."""
    if len(index.axes) != 1 or index.axes[0] not in index.grid.dims:
        return False
    (axis,) = index.axes
    rows = index.grid.along((*(d for d in index.grid.dims if d != axis), axis))
    steps = np.arange(1, size + 1)
    if rows.shape[-1] != size or not rows.size:
        return False
    if not index.lengths:
        return index.grid.dims == index.axes and bool((rows == steps).all())
    ends = index.lengths[axis].along([d for d in index.grid.dims if d != axis])[..., None]
    return bool((rows == np.minimum(steps, ends)).all() and (rows.max(initial=1) == size))


def with_ends(vector: Known) -> Grid:
    """The numbers of a vector along its axis, moved last; unknown beyond the vector's end."""
    grid, (axis,) = vector.grid, vector.axes
    if not vector.lengths:
        return grid
    size = grid.values.shape[grid.dims.index(axis)]
    within = length_mask(vector.lengths, {axis: size})
    assert within is not None
    every = combined(lambda numbers, _within: numbers, grid, within)
    dims = (*(d for d in every.dims if d != axis), axis)
    values = every.along(dims)
    return Grid(dims, values, np.broadcast_to(within.along(dims).astype(bool), values.shape))


def number_of(lengths: Lengths, axes: Sequence[Dim], sizes: Sequence[int]) -> Grid:
    """The number of entries of vectors and matrices at each position, as a divisor."""
    counts = (lengths.get(a, Grid.of(n)) for a, n in zip(axes, sizes, strict=True))
    return combined(_product, *counts)


def _product(*numbers: Array) -> Array:
    return np.asarray(np.prod(np.broadcast_arrays(*numbers), axis=0, dtype=float))


def by_lengths(
    numeric: Callable[..., ArrayLike],
    given: Sequence[tuple[Grid, tuple[Dim, ...]]],
    lengths: Mapping[Dim, Grid],
    axis: Callable[[int], Dim],
) -> tuple[Grid, tuple[Dim, ...], dict[Dim, Grid]]:
    """A function applied to ragged arrays, length by length: the result, its axes and lengths.

    ``axis`` makes a dim of a size. A result that is shorter at some positions than at others goes
    on with its last entry.
    """
    own = {a for _, axes in given for a in axes}
    grids = [*(g for g, _ in given), *lengths.values()]
    dims = tuple(dict.fromkeys(d for g in grids for d in g.dims if d not in own))
    whole = [g.along((*dims, *axes)) for g, axes in given]
    shape = np.broadcast_shapes(
        *(v.shape[: len(dims)] for v in whole), *(g.along(dims).shape for g in lengths.values())
    )
    rows = [np.broadcast_to(v, shape + v.shape[len(dims) :]) for v in whole]
    rows = [v.reshape(-1, *v.shape[len(dims) :]) for v in rows]
    every = np.stack([np.broadcast_to(g.along(dims), shape).ravel() for g in lengths.values()])
    kinds, kind = np.unique(every, axis=1, return_inverse=True)
    found = []
    for n, counts in enumerate(kinds.T.tolist()):
        ends = dict(zip(lengths, counts, strict=True))
        here = kind.ravel() == n
        parts = [
            v[(here, *(slice(ends.get(a)) for a in axes))]
            for v, (_, axes) in zip(rows, given, strict=True)
        ]
        found.append((here, np.asarray(numeric(*parts))))
    return _put_together(found, dims, shape, axis)


def _put_together(
    found: Sequence[tuple[np.ndarray, np.ndarray]],
    dims: tuple[Dim, ...],
    shape: tuple[int, ...],
    axis: Callable[[int], Dim],
) -> tuple[Grid, tuple[Dim, ...], dict[Dim, Grid]]:
    """The values found for the rows of each length, as one array."""
    sizes = np.array([part.shape[1:] for _, part in found], dtype=int)
    longest = sizes.max(axis=0)
    total = len(found[0][0])
    values = np.zeros((total, *longest), dtype=np.result_type(*(part for _, part in found)))
    for here, part in found:
        missing = [(0, int(n)) for n in longest - part.shape[1:]]
        values[here] = np.pad(part, [(0, 0), *missing], mode="edge") if missing else part
    axes = tuple(axis(int(n)) for n in longest)
    lengths = {}
    for n, dim in enumerate(axes):
        if len(set(sizes[:, n])) > 1:
            ends = np.zeros(total, dtype=np.intp)
            for (here, _), size in zip(found, sizes[:, n], strict=True):
                ends[here] = size
            lengths[dim] = Grid(dims, ends.reshape(shape))
    return Grid((*dims, *axes), values.reshape(*shape, *longest)), axes, lengths
