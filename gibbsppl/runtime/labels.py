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
from gibbsppl.runtime.types import Floats, Generator, Index, Integers, Ints, Numbers, Values, Wholes

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

    The log weight of each element's current label, ``now``, is larger by ``more``, if given.

    >>> theta, doc = np.log([[0.2, 0.8], [0.5, 0.5]]), np.array([0, 1, 1])
    >>> np.exp(np.asarray(LogWeights((2, 3), 0.0, Table(theta.T, doc)))).round(2)
    array([[0.2, 0.5, 0.5],
           [0.8, 0.5, 0.5]])
    """

    shape: tuple[int, ...]
    dense: Numbers
    tables: tuple[Table, ...]
    now: Values | None
    more: Numbers

    def __init__(
        self,
        shape: tuple[int, ...],
        dense: Numbers,
        *tables: Table,
        now: Values | None = None,
        more: Numbers = 0.0,
    ) -> None:
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "dense", dense)
        object.__setattr__(self, "tables", tables)
        object.__setattr__(self, "now", now)
        object.__setattr__(self, "more", more)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Floats:
        total = np.zeros(self.shape) + self.dense
        elements = self.shape[1:]
        for table in self.tables:
            total += np.asarray(table.values)[:, np.broadcast_to(table.index, elements)]
        if self.now is not None:
            at = np.broadcast_to(self.now, elements).astype(np.intp)[None]
            own = np.take_along_axis(total, at, axis=0)
            np.put_along_axis(total, at, own + self.more, axis=0)
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
    now, times = _own(log_weights, shape)
    uniform = rng.random(size)
    drawn = np.empty(size, dtype=np.intp)
    step = max(1, PIECE // count)
    for start in range(0, size, step):
        piece = slice(start, start + step)
        weights = _product([t.take(i[piece], axis=0) for t, i in zip(scaled, indices, strict=True)])
        if dense is not None:
            weights *= _scaled(dense[:, piece])
        if now is not None:
            weights[now[piece], np.arange(weights.shape[1])] *= times[piece]
        drawn[piece] = _passed(
            weights, uniform[piece], lambda n, at=start: _exactly(log_weights, at + n)
        )
    return drawn.reshape(shape)


def _own(log_weights: LogWeights, shape: list[int]) -> tuple[Ints | None, Any]:
    """The current label of each element, and the factor on its weight; None if not given."""
    if log_weights.now is None:
        return None, None
    now, more = (np.broadcast_to(a, shape).reshape(-1) for a in (log_weights.now, log_weights.more))
    return now.astype(np.intp), np.exp(more)


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
    if log_weights.now is not None:
        now, more = (np.broadcast_to(a, shape)[at] for a in (log_weights.now, log_weights.more))
        total[now.astype(np.intp), np.arange(len(columns))] += more
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
    threshold = uniform * weights[-1]
    kind: type[np.integer] = np.int16 if len(weights) < 1 << 15 else np.int64
    passed: Integers
    if _few(weights):
        passed = (weights[:-1] <= threshold).sum(axis=0, dtype=kind)
        return passed
    passed = np.zeros(len(threshold), kind)
    for row in weights[:-1]:
        passed += row <= threshold
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
