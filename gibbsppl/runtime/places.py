"""Which elements of an array a step draws, and putting values where they belong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bounds = Sequence[tuple[int, int]]


def missing_positions(known: NDArray[Any], place: Bounds) -> tuple[NDArray[np.intp], ...]:
    """Index arrays of the elements in a place (start and stop per axis) that are not known.

    >>> missing_positions(np.array([1.0, 0.0, 0.0]), [(0, 2)])
    (array([1]),)
    """
    corner = tuple(slice(a, b) for a, b in place)
    found = np.nonzero(np.asarray(known)[corner] == 0)
    return tuple(f + a for f, (a, _) in zip(found, place, strict=True))


def element_positions(known: NDArray[Any] | None, place: Bounds) -> list[tuple[int, ...]]:
    """The elements in a place, one index tuple each, those left out that are known.

    >>> element_positions(None, [(1, 3), (0, 1)])
    [(1, 0), (2, 0)]
    """
    if known is None:
        known = np.zeros(tuple(b for _, b in place))
    if not place:
        return [()] if known == 0 else []
    positions = missing_positions(known, place)
    return [tuple(int(i) for i in at) for at in zip(*positions, strict=True)]


def rows_of(shape: Sequence[int], joint: Sequence[int]) -> list[tuple[Any, ...]]:
    """The index of each part of an array that is whole along some axes, one position of the others.

    >>> rows_of((2, 3), (1,))
    [(0, slice(None, None, None)), (1, slice(None, None, None))]
    """
    counts = [1 if a in joint else n for a, n in enumerate(shape)]
    return [
        tuple(slice(None) if a in joint else int(i) for a, i in enumerate(at))
        for at in np.ndindex(*counts)
    ]


def placed(values: Any, place: Bounds, shape: Sequence[int]) -> NDArray[np.float64]:
    """An array of zeros with values in one place.

    >>> placed(7.0, [(1, 3)], (4,))
    array([0., 7., 7., 0.])
    """
    full = np.zeros(shape)
    corner = tuple(slice(a, b) for a, b in place)
    full[corner] = np.reshape(values, full[corner].shape) if np.size(values) > 1 else values
    return full


def plus_diagonal(pairs: Any, squares: Any, count: int) -> NDArray[np.float64]:
    """An array, with values added where its last ``count`` axes equal the ``count`` before them.

    >>> plus_diagonal(np.zeros((2, 2)), 1.0, 1)
    array([[1., 0.],
           [0., 1.]])
    """
    found = np.array(pairs, dtype=np.float64, order="C")  # (so that reshaping it is a view)
    dense = found.shape[found.ndim - count :]
    batch = found.shape[: found.ndim - 2 * count]
    entries = math.prod(dense)
    if count > 1 and np.ndim(squares):
        squares = np.broadcast_to(squares, (*batch, *dense)).reshape(*batch, entries)
    # Along one axis of all pairs of entries, the diagonal is every (entries + 1)-th.
    found.reshape(*batch, entries * entries)[..., :: entries + 1] += squares
    return found
