"""Numbers along named dims, possibly unknown ones: the material of loops and data.

>>> i, j = Dim("i"), Dim("j")
>>> rows, columns = Grid.range(i, 1, 3), Grid.range(j, 1, 2)
>>> combined(np.add, rows, columns).values
array([[2, 3],
       [3, 4],
       [4, 5]])
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike, NDArray

from gibbsppl.algebra.expressions import Dim, Expr

# Numbers; of data, masked where entries are missing.
Array = NDArray[Any]
Data = Mapping[str, Array]

# Whether numbers are known, position by position; or all are.
Mask = NDArray[np.bool_] | Literal[True]


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """An array with one named axis per dim; ``known`` is of the same shape, or true of all."""

    dims: tuple[Dim, ...]
    values: Array
    known: Mask = True

    @classmethod
    def of(cls, number: float) -> Grid:
        """One number."""
        whole = float(number).is_integer() and abs(number) < 2**53
        return cls((), np.asarray(int(number) if whole else float(number)))

    @classmethod
    def range(cls, dim: Dim, first: int, count: int) -> Grid:
        """``first, first + 1, ...`` along a dim."""
        return cls((dim,), np.arange(first, first + count))

    @property
    def is_known(self) -> bool:
        """Whether all of it is known."""
        return bool(np.all(self.known))

    def along(self, dims: Sequence[Dim]) -> Array:
        """The values with an axis for each of some dims, of length one where nothing varies."""
        return _along(self.values, self.dims, dims)

    def known_along(self, dims: Sequence[Dim]) -> Mask:
        """The mask of known values, with an axis for each of some dims."""
        return self.known if self.known is True else _along(self.known, self.dims, dims)

    def renamed(self, names: dict[Dim, Dim]) -> Grid:
        """The same numbers along dims of other names."""
        return Grid(tuple(names.get(d, d) for d in self.dims), self.values, self.known)

    def reduced(self) -> Grid:
        """The grid without the dims along which nothing varies."""
        dims, values, known = self.dims, self.values, self.known
        for axis in reversed(range(values.ndim)):
            first = values.take(range(min(1, values.shape[axis])), axis=axis)
            if known is True and first.size and (values == first).all():
                values = first.squeeze(axis)
                dims = (*dims[:axis], *dims[axis + 1 :])
        return Grid(dims, values, known)


def combined(function: Callable[..., ArrayLike], *grids: Grid) -> Grid:
    """A function of numbers, position by position; known where all of its arguments are."""
    dims = dims_of_grids(grids)
    with np.errstate(all="ignore"):
        values = np.asarray(function(*(g.along(dims) for g in grids)))
    known: Mask = True
    for g in grids:
        mask = g.known_along(dims)
        known = known if mask is True else mask & known
    shape = np.broadcast_shapes(*(g.along(dims).shape for g in grids))
    return Grid(dims, np.broadcast_to(values, shape), _stretched(known, shape))


def dims_of_grids(grids: Iterable[Grid]) -> tuple[Dim, ...]:
    """The dims of all, in order of their first use."""
    return tuple(dict.fromkeys(d for g in grids for d in g.dims))


def position_of(grid: Grid, starts: dict[Dim, int]) -> Expr | None:
    """Whole numbers as a constant, or as a position of one dim plus a constant; None for others.

    ``starts`` are the positions at which the dims start.

    >>> t = Dim("t")
    >>> position_of(Grid.range(t, 4, 3), {t: 1})
    t + 3
    """
    plain = grid.reduced()
    if not plain.dims:
        return sp.Integer(int(plain.values))
    if len(plain.dims) > 1:
        return None
    (dim,) = plain.dims
    offset = int(plain.values[0]) - starts[dim]
    steps = np.arange(len(plain.values)) + int(plain.values[0])
    return dim + offset if (plain.values == steps).all() else None


def positions_within(
    grid: Grid, where: Grid, starts: Mapping[Dim, int], along: Dim
) -> Iterator[Expr]:
    """Index expressions equal to a grid's numbers where a mask is true, arbitrary elsewhere.

    Few numbers may be read in several ways: as positions of one dim first.

    >>> t, i = Dim("t"), Dim("i")
    >>> inside = Grid((i, t), np.array([[False, True, True], [False, False, True]]))
    >>> list(positions_within(Grid((i, t), np.array([[9, 0, 1], [9, 9, 1]])), inside, {}, t))
    [t - 1]
    >>> inside = Grid((i, t), np.array([[False, False, True], [False, False, False]]))
    >>> list(positions_within(Grid((i, t), np.full((2, 3), 1)), inside, {}, t))
    [t - 1, 1, i + 1]
    """
    grid = grid.reduced()
    if not where.dims or not set(grid.dims) <= set(where.dims):
        return
    values = np.broadcast_to(grid.along(where.dims), where.values.shape)[where.values]
    steps = {d: values - at for d, at in zip(where.dims, np.nonzero(where.values), strict=True)}
    found = {
        d: d + int(s[0]) - starts.get(d, 0) for d, s in steps.items() if (s == s[0]).all()
    }
    if along in found:
        yield found.pop(along)
    if (values == values[0]).all():
        yield sp.Integer(int(values[0]))
    yield from found.values()


def filled(values: Array, where: NDArray[np.bool_]) -> Array:
    """Values where a mask is true, and elsewhere those of the nearest such position.

    The nearest one along the last axis (before, or else after), if there is one, else along the
    axis before: what is the same along an axis wherever the mask is true stays so.

    >>> inside = np.array([[False, True, False], [False, False, False], [True, False, True]])
    >>> filled(np.array([[0, 5, 0], [0, 0, 0], [7, 0, 9]]), inside)
    array([[5, 5, 5],
           [5, 5, 5],
           [7, 7, 9]])
    """
    for axis in reversed(range(where.ndim)):
        if where.all():
            break
        last = where.shape[axis] - 1
        steps = np.arange(last + 1).reshape(-1, *(1,) * (where.ndim - axis - 1))
        before = np.maximum.accumulate(np.where(where, steps, -1), axis=axis)
        first = np.where(where, steps, last).min(axis, keepdims=True)
        values = np.take_along_axis(values, np.where(before >= 0, before, first), axis)
        where = np.broadcast_to(where.any(axis, keepdims=True), where.shape)
    return values


def _along(values: Array, own: Sequence[Dim], dims: Sequence[Dim]) -> Array:
    order = [own.index(d) for d in dims if d in own]
    shape = iter(np.transpose(values, order).shape)
    return np.transpose(values, order).reshape([next(shape) if d in own else 1 for d in dims])


def _stretched(known: Mask, shape: tuple[int, ...]) -> Mask:
    return True if known is True or known.all() else np.broadcast_to(known, shape)
