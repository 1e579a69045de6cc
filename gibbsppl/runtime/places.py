"""Which elements of an array a step draws, and putting values where they belong."""

from __future__ import annotations

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
    positions = missing_positions(known, place)
    return [tuple(int(i) for i in at) for at in zip(*positions, strict=True)]


def placed(values: Any, place: Bounds, shape: Sequence[int]) -> NDArray[np.float64]:
    """An array of zeros with values in one place.

    >>> placed(7.0, [(1, 3)], (4,))
    array([0., 7., 7., 0.])
    """
    full = np.zeros(shape)
    corner = tuple(slice(a, b) for a, b in place)
    full[corner] = np.reshape(values, full[corner].shape) if np.size(values) > 1 else values
    return full


def add_to_diagonal(pairs: NDArray[np.float64], squares: Any, count: int) -> None:
    """Add values to the elements of an array whose last ``count`` axes equal the ``count`` before.

    >>> pairs = np.zeros((2, 2)); add_to_diagonal(pairs, 1.0, 1); pairs
    array([[1., 0.],
           [0., 1.]])
    """
    dense = pairs.shape[pairs.ndim - count :]
    entries = int(np.prod(dense))
    batch = pairs.shape[: pairs.ndim - 2 * count]
    flat = pairs.reshape(*batch, entries, entries)
    squares = np.broadcast_to(squares, (*batch, *dense)).reshape(*batch, entries)
    diagonal = np.arange(entries)
    flat[..., diagonal, diagonal] += squares
