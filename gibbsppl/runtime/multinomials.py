"""Draws of counts that share out a total, whose log weights may be rows of tables.

Most totals are small where data are sparse: each of their units is then a label, drawn by inverting
the running sums of the weights (L. Devroye 1986, "Non-uniform random variate generation", III.2).
A large total is shared out by one binomial draw for each label, given those before it (XI.1.4).
Weights that are products of table entries, ``theta[user[n], k] * phi[item[n], k]``, are made in
pieces that stay in the cache; the logarithms and exponentials are of the tables alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

# Weights worked on at once: about half a megabyte.
PIECE = 1 << 16
# A unit costs a comparison for each label, a binomial draw about as much as this many.
SMALL_TOTAL = 16
# Up to so many rows for each label, one call over the whole table takes less time than one for
# each label.
FEW_PER_LABEL = 20
# Below this total, weights of a relative size that matters may have underflowed.
LEAST_TOTAL = float(np.finfo(float).tiny / np.finfo(float).eps)

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Weights = Callable[[Any], Floats]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows of a table, ``values[index[n], :]``."""

    values: Any
    index: Any


class SumOfRows(NDArrayOperatorsMixin):
    """An array as a sum: of what is the same for all rows, and of rows of tables.

    Where it is read as an array, it is one.

    >>> theta, user = np.array([[0.0, 1.0], [2.0, 3.0]]), np.array([0, 1, 1])
    >>> 1.0 + SumOfRows((3, 2), 0.5, Rows(theta, user))
    array([[1.5, 2.5],
           [3.5, 4.5],
           [3.5, 4.5]])
    """

    __slots__ = ("rows", "same", "shape")

    def __init__(self, shape: tuple[int, ...], same: Any, *rows: Rows) -> None:
        self.shape, self.same, self.rows = shape, same, rows

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        total = np.zeros(self.shape) + self.same
        for r in self.rows:
            total += np.asarray(r.values).take(r.index, axis=0)
        return np.asarray(total, dtype=dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **settings: Any) -> Any:
        arrays = (np.asarray(x) if isinstance(x, SumOfRows) else x for x in inputs)
        return getattr(ufunc, method)(*arrays, **settings)

    def __getitem__(self, index: Any) -> Any:
        return np.asarray(self)[index]


def multinomial(rng: np.random.Generator, eta_1: Any, size: tuple[int, ...], n: Any) -> Any:
    """Draws of n counts with log weights ``eta_1`` along the last axis; n has one entry on it.

    >>> eta = np.log([[1.0, 1e-300], [1e-300, 1.0]])
    >>> multinomial(np.random.default_rng(1), eta, (2, 2), n=np.array([3, 1000]))
    array([[   3,    0],
           [   0, 1000]])
    """
    totals, count = _totals(n, size), size[-1]
    drawn = np.zeros((len(totals), count), np.int64)
    at = np.flatnonzero(totals)
    weights = _by_rows(eta_1, size) if isinstance(eta_1, SumOfRows) else _by_logs(eta_1, size)
    step = max(1, PIECE // max(count, 1))
    for start in range(0, len(at), step):
        piece = at[start : start + step]
        _share_out(rng, weights(piece), totals[piece], drawn, piece)
    return drawn.reshape(size)


def _totals(n: Any, size: tuple[int, ...]) -> Integers:
    """The total of each row."""
    totals = np.asarray(n, dtype=np.int64)
    totals = totals[..., 0] if totals.ndim == len(size) else totals
    totals = np.broadcast_to(totals, size[:-1]).reshape(-1)
    if totals.size and totals.min() < 0:
        raise ValueError(f"a total of a draw of counts is negative: {totals.min()}")
    return totals


def _by_logs(eta_1: Any, size: tuple[int, ...]) -> Weights:
    """The weights of some rows from an array of logs, labels first."""
    logs = np.broadcast_to(eta_1, size).reshape(-1, size[-1])
    return lambda at: _scaled(logs.take(at, axis=0).T)


def _by_rows(eta_1: SumOfRows, size: tuple[int, ...]) -> Weights:
    """The weights of some rows as products of table entries, labels first."""
    indices = [np.broadcast_to(r.index, size[:-1]).reshape(-1) for r in eta_1.rows]
    logs = [np.asarray(r.values, dtype=np.float64) for r in eta_1.rows]
    # (what is the same for all rows goes with the smallest table)
    least = min(range(len(logs)), key=lambda j: len(logs[j]))
    logs[least] = logs[least] + eta_1.same
    tables = [np.ascontiguousarray(_scaled(table.T).T) for table in logs]

    def weights(at: Any) -> Floats:
        first, *others = (t.take(i[at], axis=0) for t, i in zip(tables, indices, strict=True))
        for other in others:
            first *= other
        lost = np.flatnonzero(first.sum(axis=1) < LEAST_TOTAL)
        if lost.size:
            rows = at[lost]
            exact = [log.take(i[rows], axis=0) for log, i in zip(logs, indices, strict=True)]
            first[lost] = _scaled(np.add.reduce(exact).T).T
        return np.ascontiguousarray(first.T)

    return weights


def _scaled(logs: Floats) -> Floats:
    """Weights whose largest, in each column, is one; all zero where all logs are ``-inf``."""
    largest = logs.max(axis=0)
    return np.asarray(np.exp(logs - np.where(largest == -math.inf, 0.0, largest)), order="C")


def _share_out(
    rng: np.random.Generator, weights: Floats, totals: Integers, drawn: Integers, at: Integers
) -> None:
    """Put shares of totals above zero, with weights labels first, into some rows of ``drawn``."""
    large = np.flatnonzero(totals > SMALL_TOTAL)
    shares = _binomials(rng, weights[:, large], totals[large]) if large.size else None
    _accumulate(weights)
    if not (weights[-1] > 0.0).all() or not np.isfinite(weights[-1]).all():
        raise ValueError("all shares of a total have probability zero, or a weight is no number")
    flat, first = drawn.reshape(-1), at * drawn.shape[1]
    flat[first + _labels(rng, weights)] = 1
    more = np.repeat(np.arange(len(at)), np.where(totals > SMALL_TOTAL, 0, totals - 1))
    if more.size:
        np.add.at(flat, first[more] + _labels(rng, weights.take(more, axis=1)), 1)
    if shares is not None:
        drawn[at[large]] = shares


def _labels(rng: np.random.Generator, running: Floats) -> NDArray[Any]:
    """For each column, how many running sums a uniform share of the last has passed."""
    threshold = rng.random(running.shape[1]) * running[-1]
    kind: Any = np.int16 if len(running) < 1 << 15 else np.int64
    if _is_small(running):
        return np.asarray((running[:-1] <= threshold).sum(axis=0, dtype=kind))
    passed = np.zeros(len(threshold), kind)
    for row in running[:-1]:
        passed += row <= threshold
    return passed


def _accumulate(weights: Floats) -> None:
    """Running sums down each column, in place."""
    if _is_small(weights):
        np.cumsum(weights, axis=0, out=weights)
        return
    for k in range(1, len(weights)):
        weights[k] += weights[k - 1]


def _is_small(weights: Floats) -> bool:
    """Whether there are few columns for so many rows."""
    return weights.shape[1] <= FEW_PER_LABEL * len(weights)


def _binomials(rng: np.random.Generator, weights: Floats, totals: Integers) -> Integers:
    """Shares of large totals, one row each: how many of those left have each label."""
    # Sums from the last label on, so that a label with nothing but zeros behind it takes all.
    behind = np.cumsum(weights[::-1], axis=0)[::-1]
    shares = np.zeros((len(totals), len(weights)), np.int64)
    left = totals.copy()
    for k, (weight, total) in enumerate(zip(weights, behind, strict=True)):
        chance = np.divide(weight, total, out=np.zeros_like(total), where=total > 0.0)
        shares[:, k] = rng.binomial(left, chance)
        left -= shares[:, k]
    return shares
