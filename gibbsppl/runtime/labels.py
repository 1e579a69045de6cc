"""Draws of labels from log weights, which may be tables read at an index.

The weight of label k for element n is often a product of table entries, ``theta[doc[n], k]`` times
``phi[k, word[n]]``: the logarithms and exponentials are then of the tables, not of every element,
and elements are drawn in pieces that stay in the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from gibbsppl.errors import RunError
from gibbsppl.runtime.types import Floats, Generator, Index, Integers, Ints, Numbers, Wholes

# Elements times labels worked on at once: about half a megabyte.
PIECE = 1 << 16
# Up to so many elements, and so many for each label, one call over a table of labels and elements
# takes less time than one call for each label.
FEW = 200
FEW_PER_LABEL = 20


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Log weights ``values[k, index[n]]``: labels along the first axis, read at an index."""

    values: Floats
    index: Integers


@dataclass(frozen=True, slots=True, eq=False)
class LogWeights:
    """Log weights as a sum: of an array (labels first, or 0) and of tables read at indices.

    >>> theta, doc = np.log([[0.2, 0.8], [0.5, 0.5]]), np.array([0, 1, 1])
    >>> np.exp(np.asarray(LogWeights((2, 3), 0.0, Table(theta.T, doc)))).round(2)
    array([[0.2, 0.5, 0.5],
           [0.8, 0.5, 0.5]])
    """

    shape: tuple[int, ...]
    dense: Numbers
    tables: tuple[Table, ...]

    def __init__(self, shape: tuple[int, ...], dense: Numbers, *tables: Table) -> None:
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "dense", dense)
        object.__setattr__(self, "tables", tables)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Floats:
        total = np.zeros(self.shape) + self.dense
        elements = self.shape[1:]
        for table in self.tables:
            total += np.asarray(table.values)[:, np.broadcast_to(table.index, elements)]
        return np.asarray(total, dtype=dtype or np.float64)

    def __getitem__(self, index: Index) -> Numbers:
        return np.asarray(self)[index]

    def __iter__(self) -> Iterator[Floats]:
        return iter(np.asarray(self))  # (made once, not once a label)


def labels(rng: Generator, log_weights: Floats | LogWeights) -> Wholes:
    """Labels drawn with the given log weights, labels along the first axis.

    >>> labels(np.random.default_rng(1), np.log([[1e-300, 1.0], [1.0, 1e-300]]))
    array([1, 0])
    """
    if isinstance(log_weights, LogWeights) and len(log_weights.shape) > 1 and log_weights.tables:
        return _by_table(rng, log_weights)
    log_weights = np.asarray(log_weights)
    shape = log_weights.shape[1:]
    uniform = rng.random(shape)
    if not shape:
        return _one(_scaled(log_weights), uniform)
    weights = _scaled(log_weights.reshape(len(log_weights), -1))
    return _passed(weights, np.reshape(uniform, -1)).astype(np.intp).reshape(shape)


def labels_at_once(rng: Generator, name: str, at_once: Floats | LogWeights) -> Wholes:
    """The labels of an array, all drawn at once with the given log weights, labels first.

    An approximation, where labels depend on one another. ``name`` is the array's, for checks.

    >>> labels_at_once(np.random.default_rng(1), "z", np.log([[1e-300, 1.0], [1.0, 1e-300]]))
    array([1, 0])
    """
    del name
    return labels(rng, at_once)


def _one(weights: Floats, uniform: Numbers) -> np.intp:
    """The label of one element."""
    running = weights.cumsum()
    return np.intp(running[:-1].searchsorted(uniform * running[-1], side="right"))


def _by_table(rng: Generator, log_weights: LogWeights) -> Ints:
    """Labels piece by piece, multiplying entries of the exponentiated tables."""
    count, *shape = log_weights.shape
    size = int(np.prod(shape))
    scaled = [_scaled(np.asarray(t.values)).T.copy() for t in log_weights.tables]
    indices = [np.reshape(np.broadcast_to(t.index, shape), -1) for t in log_weights.tables]
    dense = _flat(log_weights, count, size)
    uniform = rng.random(size)
    drawn = np.empty(size, dtype=np.intp)
    step = max(1, PIECE // count)
    for start in range(0, size, step):
        piece = slice(start, start + step)
        weights = _product([t.take(i[piece], axis=0) for t, i in zip(scaled, indices, strict=True)])
        if dense is not None:
            weights *= _scaled(dense[:, piece])
        drawn[piece] = _passed(
            weights, uniform[piece], lambda n, at=start: _exactly(log_weights, at + n)
        )
    return drawn.reshape(shape)


def _flat(log_weights: LogWeights, count: int, size: int) -> Floats | None:
    dense = log_weights.dense
    if np.ndim(dense) == 0:
        return None
    full = np.broadcast_to(dense, log_weights.shape)
    return full.reshape(count, size)


def _product(gathered: list[Floats]) -> Floats:
    """The product of rows gathered from tables, turned so that labels come first."""
    first, *others = gathered
    for other in others:
        first *= other
    return np.ascontiguousarray(first.T)


def _scaled(log_weights: Floats) -> Floats:
    """Weights whose largest, in each column, is one."""
    largest = log_weights.max(axis=0)
    if not np.isfinite(largest).all():
        raise RunError("labels: all labels have probability zero, or a weight is not a number.")
    return np.asarray(np.exp(log_weights - largest))


def _exactly(log_weights: LogWeights, columns: Ints) -> Floats:
    """Weights of some columns, summed as logarithms: where products have underflowed."""
    shape = log_weights.shape[1:]
    at: Any = np.unravel_index(columns, shape)
    dense = np.broadcast_to(log_weights.dense, log_weights.shape)[(slice(None), *at)]
    total = np.array(dense, dtype=np.float64)
    for table in log_weights.tables:
        total += np.asarray(table.values)[:, np.broadcast_to(table.index, shape)[at]]
    return _scaled(total)


def _passed(
    weights: Floats, uniform: Floats, exactly: Callable[..., Floats] | None = None
) -> Integers:
    """For each column, how many running sums a uniform share of the total has passed."""
    _accumulate(weights)
    if exactly is not None:
        # Below this total, weights of a relative size that matters may have underflowed.
        lost = np.flatnonzero(weights[-1] < np.finfo(float).tiny / np.finfo(float).eps)
        if lost.size:
            exact = exactly(lost)
            _accumulate(exact)
            weights[:, lost] = exact
    # (comparisons are counted as they are stored: whole numbers of one byte, where these hold them)
    is_passed = (weights[:-1] <= uniform * weights[-1]).view(np.int8)
    passed: Integers = is_passed.sum(axis=0, dtype=np.int8 if len(weights) <= 1 << 7 else np.int64)
    return passed


def _accumulate(weights: Floats) -> None:
    """Running sums down each column, in place."""
    if _few(weights):
        np.cumsum(weights, axis=0, out=weights)
        return
    for k in range(1, len(weights)):
        weights[k] += weights[k - 1]


def _few(weights: Floats) -> bool:
    """Whether there are few columns for so many rows."""
    count, elements = len(weights), len(weights[0])
    return elements <= min(FEW, FEW_PER_LABEL * count)
