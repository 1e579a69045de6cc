"""Scans: labels drawn one after the other, what each adds to shared arrays kept up to date.

A scan is a function of plain loops that a back end writes. With Numba installed it is compiled,
else the same source is interpreted, over lists, which Python reads faster than arrays one at a
time. The random numbers are drawn before: both give the same draws.
"""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gibbsppl.runtime.draws import Generator

Scanner = Callable[..., None]


@functools.cache
def is_compiled() -> bool:
    """Whether scans are compiled: whether Numba is installed."""
    return importlib.util.find_spec("numba") is not None


@functools.cache
def _compiled(function: Scanner) -> Scanner:
    import numba  # noqa: PLC0415  (only where a scan runs)

    return numba.njit(nogil=True)(function)


def scan(
    rng: Generator, function: Scanner, z: Any, fixed: Sequence[Any], kept: Sequence[Any], size: int
) -> Any:
    """The labels after each of them has been drawn given all others.

    ``fixed`` are the arrays that the scan reads, ``kept`` those that it keeps up to date, ``size``
    the number of labels.
    """
    u, out = rng.random(np.shape(z)), np.empty((0,) * (np.ndim(z) + 1))
    labels, _ = _run(function, (out, np.empty(size), u, z), fixed, kept, draws=True)
    return labels


def weighed(function: Scanner, z: Any, fixed: Sequence[Any], kept: Sequence[Any], size: int) -> Any:
    """The log weights of the labels of each element given all others; labels are the first axis."""
    out, u = np.empty((size, *np.shape(z))), np.zeros(np.shape(z))
    _, weights = _run(function, (out, np.empty(size), u, z), fixed, kept, draws=False)
    return weights


def _run(
    function: Scanner,
    own: tuple[Any, Any, Any, Any],
    fixed: Sequence[Any],
    kept: Sequence[Any],
    *,
    draws: bool,
) -> tuple[Any, Any]:
    """The labels and the log weights that the loops leave."""
    out, weights, u, z = own
    labels = np.array(z, dtype=np.int64)
    shared = [np.array(k, dtype=np.float64) for k in kept]
    arrays = [out, weights, u, labels, *map(np.asarray, fixed), *shared]
    if is_compiled():
        _compiled(function)(draws, *arrays)
        return labels, out
    lists = [a.tolist() for a in arrays]
    function(draws, *lists)
    return np.array(lists[3], dtype=np.int64).reshape(labels.shape), np.array(lists[0])


def positions(indices: Any) -> Any:
    """Whole numbers that may be stored as others, as indices."""
    return np.asarray(indices).astype(np.int64, copy=False)


def full(eta: Any, shape: tuple[int, ...]) -> Any:
    """A natural parameter at full shape."""
    return np.broadcast_to(eta, shape)
