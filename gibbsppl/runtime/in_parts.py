"""Arrays that are computed some rows at a time, so that they take little memory.

A matrix for each of many groups is read once, by the draw of the vectors of these groups; all of
them at one time would take many times the memory of the data.

>>> many = InParts((4, 2), lambda first, stop: np.arange(2.0 * first, 2.0 * stop).reshape(-1, 2))
>>> more = 1 - 2 * many
>>> more.rows(1, 3)
array([[-3., -5.],
       [-7., -9.]])
>>> np.asarray(more).shape
(4, 2)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from gibbsppl.runtime.array_like import ArrayLike
from gibbsppl.runtime.types import Array, Floats

# The rows from the first of two numbers to before the second.
Rows = Callable[[int, int], Any]

# So many numbers are computed at a time (8 MB): what is done with them stays in the cache.
AT_ONCE = 1 << 20


class InParts(ArrayLike):
    """An array whose ``rows(first, stop)`` are computed when they are read.

    Arithmetic with numbers and arrays is done then, too; all else takes all rows at once.
    """

    __slots__ = ("rows", "shape")

    def __init__(self, shape: tuple[int, ...], rows: Rows) -> None:
        self.shape, self.rows = shape, rows

    @property
    def dtype(self) -> np.dtype[np.float64]:
        """The type of the entries."""
        return np.dtype(np.float64)

    def __setitem__(self, index: Any, values: Any) -> None:
        whole = np.asarray(self)
        whole[index] = values
        self.rows = lambda first, stop: whole[first:stop]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Array:
        found = np.empty(self.shape)
        for first, stop in self.parts():
            found[first:stop] = self.rows(first, stop)
        return np.asarray(found, dtype=dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **settings: Any) -> Any:
        in_place = isinstance(settings.get("out", (None,))[0], InParts)
        settings = {} if in_place else settings
        shape = np.broadcast_shapes(*map(np.shape, inputs))
        if method == "__call__" and not settings and shape == self.shape and ufunc.nout == 1:
            return self.mapped(ufunc, *(_rows(x, self.shape) for x in inputs))
        return super().__array_ufunc__(ufunc, method, *inputs, **settings)

    def mapped(self, function: Callable[..., Any], *inputs: Rows) -> InParts:
        """The array of the same shape whose rows are a function of rows."""
        return InParts(
            self.shape, lambda *at: np.asarray(function(*(rows(*at) for rows in inputs)))
        )

    def parts(self) -> Iterator[tuple[int, int]]:
        """The first and the stop of rows that are computed at a time."""
        width = max(1, AT_ONCE // max(1, math.prod(self.shape[1:])))
        for first in range(0, len(self), width):
            yield first, min(first + width, len(self))


def _rows(x: Any, shape: tuple[int, ...]) -> Rows:
    """The rows of what is broadcast to a shape."""
    if isinstance(x, InParts):
        return x.rows
    by_row = np.ndim(x) == len(shape) and len(x) == shape[0] > 1
    return lambda first, stop: x[first:stop] if by_row else x


def in_parts(shape: tuple[int, ...], rows: Rows) -> Floats | InParts:
    """An array by its rows: as a whole if it is small."""
    if math.prod(shape) <= AT_ONCE:
        return rows(0, shape[0])
    return InParts(shape, rows)
