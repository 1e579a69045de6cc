"""Scans: labels drawn in turn, with shared arrays updated by the increments of each label.

A scan is a function of plain loops, written by a back end. With Numba installed it is compiled,
else the same source is interpreted, over lists, which Python reads faster than single entries of
arrays. The random numbers are drawn beforehand: both ways give the same draws.
"""

from __future__ import annotations

import functools
import importlib.util
import inspect
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from gibbsppl.runtime.kept_modules import imported
from gibbsppl.runtime.labels import labels
from gibbsppl.runtime.types import (
    Array,
    Constants,
    Floats,
    Generator,
    Integers,
    Numbers,
    State,
    Values,
    Wholes,
)

Scanner = Callable[..., None]


@functools.cache
def is_compiled() -> bool:
    """Whether scans are compiled: whether Numba is installed."""
    return importlib.util.find_spec("numba") is not None


@functools.cache
def _compiled(function: Any) -> Scanner:
    """The function compiled, as a module of its own: the next process finds what was compiled."""
    text = inspect.getsource(function)
    names = (n for n in function.__code__.co_names if n in function.__globals__)
    imports = [_import(n, function.__globals__[n]) for n in sorted(names)]
    head = ["from numba import njit", *imports, "", "", "@njit(nogil=True, cache=True)"]
    module = imported("\n".join([*head, text]), function.__name__)
    found: Scanner = getattr(module, function.__name__)
    return found


def _import(name: str, of: Any) -> str:
    """The line that imports what a function calls by a name."""
    if isinstance(of, ModuleType):
        return f"import {of.__name__} as {name}"
    if isinstance(of, np.ufunc):  # (before NumPy 2.2 these say no module)
        return f"from numpy import {of.__name__} as {name}"
    return f"from {of.__module__} import {of.__qualname__} as {name}"


def scan(
    rng: Generator,
    function: Scanner,
    z: Wholes,
    fixed: Sequence[Values],
    kept: Sequence[Array],
) -> Integers:
    """The labels, each drawn in turn given all other labels.

    ``fixed`` are the arrays read by the scan, ``kept`` the arrays updated in place.
    """
    levels, out = rng.random(np.shape(z)), np.empty((0,) * (np.ndim(z) + 1))
    labels_ = np.array(z, dtype=np.int64)
    _run(function, (out, levels, labels_), (fixed, kept), draws=True)
    if not np.isfinite(levels).all():  # (sums of weights, now)
        raise ValueError("all labels have probability zero, or a weight is not a number")
    return labels_


def weighed(
    function: Scanner,
    z: Wholes,
    fixed: Sequence[Values],
    kept: Sequence[Array],
    size: int,
) -> Floats:
    """The log weights of the labels of each element given all others; labels are the first axis.

    ``size`` is the number of labels.
    """
    out, levels = np.empty((size, *np.shape(z))), np.zeros(np.shape(z))
    _run(function, (out, levels, np.array(z, dtype=np.int64)), (fixed, kept), draws=False)
    return out


def _run(
    function: Scanner,
    own: tuple[Floats, Floats, Integers],
    given: tuple[Sequence[Values], Sequence[Array]],
    *,
    draws: bool,
) -> None:
    """Run the loops, which change labels, log weights and maintained arrays in place."""
    fixed, kept = given
    shared = [k.reshape(1) if k.ndim == 0 else k for k in kept]
    # (a scalar as a number: of an array without axes Numba has no logarithm)
    read = (np.asarray(f)[()] for f in fixed)
    arrays = [*own, *read, *shared]
    if is_compiled():
        _compiled(function)(draws, *arrays)
        return
    lists = [a.tolist() for a in arrays]
    function(draws, *lists)
    for array, values in zip(arrays, lists, strict=True):
        if any(array is a for a in (*own, *shared)):
            array[...] = np.reshape(values, array.shape)


def scan_recomputed(  # noqa: PLR0913, PLR0917  (arrays, all of them written by the back end)
    rng: Generator,
    log_density: Callable[[State, Constants], Numbers],
    s: State,
    c: Constants,
    name: str,
    positions: Sequence[tuple[int, ...]],
    lower: int,
    size: int,
) -> Integers:
    """The labels at positions after each has been drawn given all others.

    ``log_density`` is that of all labels, a function of the state; it is computed for each label.
    """
    z = np.array(s[name])
    for at in positions:
        weights = _weights_at(log_density, {**s, name: z}, c, z, at, lower, size)
        z[at] = lower + labels(rng, weights)
    return z[()]


def weighed_recomputed(
    log_density: Callable[[State, Constants], Numbers],
    s: State,
    c: Constants,
    name: str,
    positions: Sequence[tuple[int, ...]],
    lower: int,
    size: int,
) -> Floats:
    """The log weights of the labels of each element given all others; labels are the first axis."""
    z = np.array(s[name])
    out = np.zeros((size, *z.shape))
    for at in positions:
        before = z[at]
        weights = _weights_at(log_density, {**s, name: z}, c, z, at, lower, size)
        np.moveaxis(out, 0, -1)[at] = weights
        z[at] = before
    return out


def _weights_at(
    log_density: Callable[[State, Constants], Numbers],
    state: State,
    c: Constants,
    z: Integers,
    at: tuple[int, ...],
    lower: int,
    size: int,
) -> Floats:
    """The log density with each label in turn at one position of ``z``, an array of the state."""
    weights = np.empty(size)
    for label in range(size):
        z[at] = lower + label
        weights[label] = log_density(state, c)
    return weights


def owned(value: Values) -> Floats:
    """A copy of the value as an array that loops can change in place."""
    return np.array(value, dtype=np.float64, order="C")


def positions(indices: Array) -> Integers:
    """Whole numbers that may be stored as others, as indices."""
    return np.asarray(indices).astype(np.int64, copy=False)
