"""Draws of counts that share out a total, whose log weights may be rows of tables.

Most totals are small where data are sparse: each of their units is then a label, drawn by inverting
the running sums of the weights (L. Devroye 1986, "Non-uniform random variate generation", III.2).
A large total is shared out by a binomial draw for each label, given the earlier draws (XI.1.4).
Weights that are products of table entries, ``theta[user[n], k] * phi[item[n], k]``, are made in
pieces that stay in the cache; the logarithms and exponentials are of the tables alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import DTypeLike

from gibbsppl.runtime.draws import whole
from gibbsppl.runtime.sparse_counts import Shares
from gibbsppl.runtime.types import Floats, Generator, Index, Integers, Numbers, Size, Values

# Weights worked on at once: about half a megabyte.
PIECE = 1 << 16
# A unit costs a comparison for each label, a binomial draw about as much as this many.
SMALL_TOTAL = 24
# More counts than this are kept unit by unit.
MANY = 1 << 16
# Up to so many weights, NumPy's own draws take less time than what is gained.
FEW = 1000
# Below this sum, weights of a relative size that matters may have underflowed.
LEAST_SUM = float(np.finfo(float).tiny / np.finfo(float).eps)


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows of a table, ``values[index[n], :]``."""

    values: Floats
    index: Integers


class SumOfRows(NDArrayOperatorsMixin):
    """An array as a sum: of a term common to all rows, and of rows of tables.

    Converts to a plain array wherever one is needed.

    >>> theta, user = np.array([[0.0, 1.0], [2.0, 3.0]]), np.array([0, 1, 1])
    >>> 1.0 + SumOfRows((3, 2), 0.5, Rows(theta, user))
    array([[1.5, 2.5],
           [3.5, 4.5],
           [3.5, 4.5]])
    """

    __slots__ = ("rows", "same", "shape")

    def __init__(self, shape: tuple[int, ...], same: Numbers, *rows: Rows) -> None:
        self.shape, self.same, self.rows = shape, same, rows

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Floats:
        total = np.zeros(self.shape) + self.same
        for r in self.rows:
            total += np.asarray(r.values).take(r.index, axis=0)
        return np.asarray(total, dtype=dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **settings: Any) -> Any:
        arrays = (np.asarray(x) if isinstance(x, SumOfRows) else x for x in inputs)
        return getattr(ufunc, method)(*arrays, **settings)

    def __getitem__(self, index: Index) -> Numbers:
        return np.asarray(self)[index]


@dataclass(frozen=True, slots=True, eq=False)
class _Weights:
    """Weights of some rows, labels first: products that may underflow, and exactly, from logs."""

    fast: Callable[[Integers], Floats]
    exact: Callable[[Integers], Floats]


def multinomial(
    rng: Generator, eta_1: Numbers | SumOfRows, size: Size, n: Values
) -> Integers | Shares:
    """Draws of n counts with log weights ``eta_1`` along the last axis.

    ``n`` is a number, or broadcasts to the size with equal entries, or one, on the last axis.

    >>> eta = np.log([[1.0, 1e-300], [1e-300, 1.0]])
    >>> multinomial(np.random.default_rng(1), eta, (2, 2), n=np.array([[3], [1000]]))
    array([[   3,    0],
           [   0, 1000]])
    """
    totals, count = _totals(n, size), size[-1]
    if totals.size * count <= FEW:
        few = _scaled(np.moveaxis(np.broadcast_to(eta_1, size), -1, 0))
        sums = few.sum(axis=0)
        if sums.min(initial=1.0) > 0.0:
            counts = rng.multinomial(totals.reshape(size[:-1]), np.moveaxis(few / sums, 0, -1))
            return np.asarray(counts)
    weights = _products(eta_1, size) if isinstance(eta_1, SumOfRows) else _plain(eta_1, size)
    shares = _shares(rng, weights, totals, size)
    return shares if shares.size > MANY else np.asarray(shares)


def _totals(n: Values, size: tuple[int, ...]) -> Integers:
    """The total of each row."""
    totals = np.asarray(whole(n))
    if totals.ndim:
        first = totals[..., :1]
        if totals.shape[-1] != 1 and (totals != first).any():
            raise ValueError(
                "the totals of a draw of counts differ along the last axis: found "
                f"{totals.shape[-1]} of them, expected one for each row"
            )
        totals = first[..., 0]
    totals = np.broadcast_to(totals, size[:-1]).reshape(-1)
    if totals.size and totals.min() < 0:
        raise ValueError(f"a total of a draw of counts is negative: {totals.min()}")
    return totals


def _plain(eta_1: Numbers, size: tuple[int, ...]) -> _Weights:
    """Weights from an array of logs."""
    logs = np.broadcast_to(eta_1, size).reshape(-1, size[-1])

    def exact(at: Integers) -> Floats:
        return _scaled(logs.take(at, axis=0).T)

    return _Weights(exact, exact)


def _products(eta_1: SumOfRows, size: tuple[int, ...]) -> _Weights:
    """Weights from rows of tables."""
    indices = [np.broadcast_to(r.index, size[:-1]).reshape(-1) for r in eta_1.rows]
    logs = [np.asarray(r.values, dtype=np.float64) for r in eta_1.rows]
    # (what is the same for all rows goes with one of the tables)
    logs[0] = logs[0] + eta_1.same
    tables = [np.ascontiguousarray(_scaled(table.T).T) for table in logs]

    def fast(at: Integers) -> Floats:
        rows = (t.take(i.take(at), axis=0) for t, i in zip(tables, indices, strict=True))
        first, *others = rows
        for other in others:
            first *= other
        return np.ascontiguousarray(first.T)

    def exact(at: Integers) -> Floats:
        rows = (t.take(i.take(at), axis=0) for t, i in zip(logs, indices, strict=True))
        first, *others = rows
        for other in others:
            first += other
        return _scaled(first.T)

    return _Weights(fast, exact)


def _scaled(logs: Floats) -> Floats:
    """Weights whose largest, in each column, is one; all zero where all logs are ``-inf``."""
    largest = logs.max(axis=0)
    return np.asarray(np.exp(logs - np.where(largest == -math.inf, 0.0, largest)), order="C")


def _checked(sums: Floats) -> Floats:
    """Sums of weights, if all of them are positive."""
    if not ((sums > 0.0) & (sums < math.inf)).all():
        raise ValueError("all shares of a total have probability zero, or a weight is no number")
    return sums


def _shares(
    rng: Generator, weights: _Weights, totals: Integers, size: tuple[int, ...]
) -> Shares:
    """Shares of all totals: of small ones unit by unit, first the first unit of each."""
    is_large, count = totals > SMALL_TOTAL, size[-1]
    at, large = np.flatnonzero((totals > 0) & ~is_large), np.flatnonzero(is_large)
    more = _further(totals if len(at) == len(totals) else totals[at])
    kind: type[np.integer] = np.int8 if count < 1 << 7 else np.int64
    label = np.empty(len(at) + len(more), kind)
    first, further = label[: len(at)], label[len(at) :]
    cuts = [*range(0, len(at), max(1, PIECE // count)), len(at)]
    for (start, stop), units in zip(pairwise(cuts), _within(more, cuts), strict=True):
        running = _running(weights, at[start:stop])
        first[start:stop] = _labels(rng, running)
        if units.stop > units.start:
            further[units] = _labels(rng, running.take(more[units] - start, axis=1))
    counts = np.empty((len(large), count), np.int64)
    for start in range(0, len(large), max(1, PIECE // count)):
        piece = slice(start, start + max(1, PIECE // count))
        counts[piece] = _binomials(rng, weights.exact(large[piece]), totals[large[piece]])
    return Shares(size, np.concatenate((at, at[more])), label, large, counts)


def _further(totals: Integers) -> Integers:
    """For each unit but the first of a total, the number of its total."""
    several = np.flatnonzero(totals > 1)
    return np.repeat(several, totals[several] - 1)


def _within(ordered: Integers, cuts: Sequence[int]) -> list[slice]:
    """The slices of sorted numbers between consecutive cuts."""
    return [slice(*ends) for ends in pairwise(ordered.searchsorted(cuts).tolist())]


def _running(weights: _Weights, at: Integers) -> Floats:
    """Running sums of the weights of some rows."""
    running = weights.fast(at)
    _accumulate(running)
    lost = np.flatnonzero(~(running[-1] >= LEAST_SUM))
    if lost.size:
        exact = weights.exact(at[lost])
        _accumulate(exact)
        _checked(exact[-1])
        running[:, lost] = exact
    return running


def _labels(rng: Generator, running: Floats) -> Integers:
    """For each column, how many running sums a uniform share of the last has passed."""
    threshold = rng.random(running.shape[1]) * running[-1]
    passed = (running[:-1] <= threshold).view(np.int8)
    kind: type[np.integer] = np.int8 if len(running) < 1 << 7 else np.int64
    return np.asarray(passed.sum(axis=0, dtype=kind))


def _accumulate(weights: Floats) -> None:
    """Running sums down each column, in place: faster by rows than by ``cumsum``."""
    for k in range(1, len(weights)):
        weights[k] += weights[k - 1]


def _binomials(rng: Generator, weights: Floats, totals: Integers) -> Integers:
    """Shares of large totals, one row each: how many of those left have each label."""
    # Sums from the last label on, so that a label with nothing but zeros behind it takes all.
    behind = np.cumsum(weights[::-1], axis=0)[::-1]
    _checked(behind[0])
    shares = np.zeros((len(totals), len(weights)), np.int64)
    left = totals.copy()
    for k, (weight, total) in enumerate(zip(weights, behind, strict=True)):
        chance = np.divide(weight, total, out=np.zeros_like(total), where=total > 0.0)
        shares[:, k] = rng.binomial(left, chance)
        left -= shares[:, k]
    return shares
