"""The functions that expressions are made of, on NumPy arrays, and sums by index.

The names are those in ``gibbsppl.algebra.functions.ROWS``. No legitimate finite input warns
or loses digits: ``log(0)`` is ``-inf``, and log probabilities are right where the probability
underflows.

>>> import numpy as np
>>> float(log(0.0))
-inf
>>> segment_sum(np.array([1.0, 2.0, 4.0]), np.array([2, 0, 2]), 3)
array([2., 0., 5.])
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
from numpy import (
    abs,  # noqa: A004  (the name that generated code calls)
    arctan,
    cos,
    exp,
    maximum,
    minimum,
    sin,
    sqrt,
    where,
)

from gibbsppl.runtime.by_scipy import (
    digamma,
    expit,
    loggamma,
    normal_cdf,
    normal_log_cdf,
    xlog1py,
    xlogy,
)
from gibbsppl.runtime.in_parts import InParts, in_parts
from gibbsppl.runtime.incomplete import (
    log_beta,
    log_beta_i,
    log_beta_i_1p,
    log_gamma_p,
    log_gamma_p_of_exp,
    log_gamma_q,
    log_gamma_u,
    log_rising,
)
from gibbsppl.runtime.log_chi import log_chi_ratio
from gibbsppl.runtime.near_zero import log1p, log_cloglog, log_one_minus_exp
from gibbsppl.runtime.normalisers import (
    log_bessel_i,
    log_bessel_k,
    log_bessel_k_by_order,
    log_fox_wright,
    log_fox_wright_by_shape,
)
from gibbsppl.runtime.passage import log_passage_p, log_passage_q
from gibbsppl.runtime.polya_gamma_density import log_polya_gamma
from gibbsppl.runtime.sparse_counts import Shares, sum_by_row
from gibbsppl.runtime.stirling import log_stirling
from gibbsppl.runtime.types import Array, Flags, Floats, Integers, Numbers, Values

__all__ = [
    "Groups",
    "abs",
    "arctan",
    "at_most",
    "below",
    "cos",
    "digamma",
    "equals",
    "exp",
    "expit",
    "inner",
    "inverse",
    "log",
    "log1p",
    "log_bessel_i",
    "log_bessel_k",
    "log_bessel_k_by_order",
    "log_beta",
    "log_beta_i",
    "log_beta_i_1p",
    "log_chi_ratio",
    "log_cloglog",
    "log_fox_wright",
    "log_fox_wright_by_shape",
    "log_gamma_p",
    "log_gamma_p_of_exp",
    "log_gamma_q",
    "log_gamma_u",
    "log_mass",
    "log_one_minus_exp",
    "log_passage_p",
    "log_passage_q",
    "log_polya_gamma",
    "log_rising",
    "log_stirling",
    "logdet",
    "loggamma",
    "maximum",
    "minimum",
    "normal_cdf",
    "normal_log_cdf",
    "reciprocal",
    "segment_max",
    "segment_min",
    "segment_sum",
    "sin",
    "softplus",
    "sqrt",
    "sum_of_squares",
    "sum_rows",
    "weighted",
    "where",
    "xlog1py",
    "xlogy",
]

TINY = float(np.finfo(float).tiny)
EPSILON = float(np.finfo(float).eps)

# Up to this many products, all outer products at once are faster than one matrix product a group.
OUTER_AT_ONCE = 20_000

_silent_log = np.errstate(divide="ignore", invalid="ignore")(np.log)


def log(x: Numbers) -> Numbers:
    """The natural logarithm; ``-inf`` at 0, without a warning, at the speed of ``numpy.log``."""
    if isinstance(x, float) and x > 0.0:
        return np.float64(math.log(x))
    return _silent_log(x)


def reciprocal(x: Numbers) -> Numbers:
    """``1 / x``; ``inf`` at 0, without a warning."""
    with np.errstate(divide="ignore"):
        return np.divide(1.0, x)


def sum_of_squares(x: Array) -> float:
    """The sum of the squares of all elements.

    >>> sum_of_squares(np.array([[1.0, 2.0], [3.0, 0.0]]))
    14.0
    """
    flat = x.reshape(-1)
    return float(flat.dot(flat))


def inner(x: Array, y: Array) -> float:
    """The sum of the products of the elements of two arrays of one shape.

    >>> inner(np.ones((2, 2)), np.eye(2))
    2.0
    """
    return float(x.reshape(-1).dot(y.reshape(-1)))


def log_add_exp(*x: Numbers) -> Numbers:
    """``log(exp(x_1) + exp(x_2) + ...)``, whatever their size.

    >>> float(log_add_exp(1000.0, 1000.0, -1000.0))
    1000.6931471805599
    """
    return reduce(np.logaddexp, x)


def log_sum_exp(x: Floats, axis: tuple[int, ...]) -> Numbers:
    """The log of the sum of ``exp(x)`` over axes, whatever their size.

    >>> float(log_sum_exp(np.array([1000.0, 1000.0]), (0,)))
    1000.6931471805599
    """
    highest = np.max(x, axis=axis, keepdims=True)
    highest = np.where(np.isfinite(highest), highest, 0.0)
    return np.log(np.exp(x - highest).sum(axis=axis)) + np.squeeze(highest, axis)


def softplus(x: Numbers) -> Numbers:
    """``log(1 + exp(x))``, finite for all finite x.

    >>> float(softplus(800.0))
    800.0
    """
    return np.logaddexp(0.0, x)


def at_most(a: Values, b: Values) -> Numbers:
    """1.0 where ``a <= b``, else 0.0."""
    return np.less_equal(a, b) * 1.0


def below(a: Values, b: Values) -> Numbers:
    """1.0 where ``a < b``, else 0.0."""
    return np.less(a, b) * 1.0


def equals(a: Values, b: Values) -> Numbers:
    """1.0 where ``a == b``, else 0.0."""
    return np.equal(a, b) * 1.0


def log_mass(
    log_cdf_l: Numbers,
    log_cdf_u: Numbers,
    log_sf_l: Numbers,
    log_sf_u: Numbers,
    of_narrow: Numbers | Callable[[], Numbers] = -math.inf,
) -> Numbers:
    """The log probability between two bounds, from the tail in which both are small.

    Rounding of the tails leaves few digits in a small difference. For differences up to the square
    root of the rounding error, the density times the width has more digits: ``of_narrow``, a value,
    or a function called where needed.

    >>> round(float(log_mass(-0.0, -0.0, -1000.0, -1001.0)), 6)
    -1000.458675
    >>> float(log_mass(-0.7, -0.7, -0.7, -0.7, lambda: -46.0))
    -46.0
    """
    lower_tail = np.less(log_cdf_u, log_sf_l)
    larger = np.where(lower_tail, log_cdf_u, log_sf_l)
    smaller = np.where(lower_tail, log_cdf_l, log_sf_u)
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = np.where(larger == smaller, 0.0, larger - smaller)
        log_share = np.where(gap < math.log(2), np.log(-np.expm1(-gap)), np.log1p(-np.exp(-gap)))
    found, is_narrow = larger + log_share, leaves_few_digits(larger, smaller)
    if is_narrow.any():
        instead = of_narrow() if callable(of_narrow) else of_narrow
        found = np.where(is_narrow & (instead > -math.inf), instead, found)
    return found[()]


def leaves_few_digits(larger: Floats, smaller: Floats) -> Flags:
    """Whether the difference of two logs is at most the square root of their rounding error.

    >>> leaves_few_digits(np.array([-1.0, -1.0]), np.array([-1.0 - 1e-9, -1.0 - 1e-7]))
    array([ True, False])
    """
    with np.errstate(invalid="ignore"):
        return (larger - smaller <= np.sqrt(EPSILON * (1 - larger))) & (larger > -math.inf)


def weighted(weight: Numbers, x: Numbers) -> Numbers:
    """``weight * x``, and 0 where the weight is 0, though x may be infinite or no number.

    >>> weighted(np.array([0.0, 2.0, 2.0]), np.array([np.inf, 3.0, -np.inf]))
    array([  0.,   6., -inf])
    """
    if isinstance(weight, float) and weight != 0.0:
        return weight * x
    return weight * where(np.equal(weight, 0.0), 0.0, x)


def logdet(matrices: Floats) -> Numbers:
    """The log determinants of positive definite matrices (over the last two axes).

    NaN where a matrix is not positive definite, in truth or by rounding.

    >>> logdet(np.array([[[4.0, 0.0], [0.0, 0.25]], [[1.0, 1.0], [1.0, 1.0]]]))
    array([ 0., nan])
    """
    try:
        diagonals = np.linalg.cholesky(matrices).diagonal(axis1=-2, axis2=-1)
    except np.linalg.LinAlgError:
        return _one_by_one(logdet, matrices, np.nan)
    return 2 * np.log(diagonals).sum(-1)


def inverse(matrices: Floats) -> Floats:
    """The inverses of matrices (over the last two axes); NaN for a singular matrix.

    >>> inverse(np.array([[[2.0, 0.0], [0.0, 4.0]], [[1.0, 1.0], [1.0, 1.0]]]))[:, 0, 0]
    array([0.5, nan])
    """
    try:
        return np.linalg.inv(matrices)
    except np.linalg.LinAlgError:
        return _one_by_one(inverse, matrices, np.full(matrices.shape[-2:], np.nan))


def _one_by_one(function: Callable[[Floats], Numbers], matrices: Floats, without: Numbers) -> Any:
    """The values of a function at each matrix; ``without`` for a matrix without a value."""
    return without if matrices.ndim == 2 else np.stack([function(m) for m in matrices])


def segment_sum(
    values: Values, index: Integers | tuple[Integers, ...], size: int | tuple[int, ...]
) -> Floats:
    """The sums of values by group: ``result[index[i]] += values[i]``; 0 for an empty group.

    The index is an array of positions, or a tuple of such arrays with a tuple of sizes. The values
    have the shape of the index, then any trailing axes; a number counts.

    >>> rows, columns = np.array([0, 1, 1]), np.array([0, 2, 2])
    >>> segment_sum(1.0, (rows, columns), (2, 3))
    array([[1., 0., 0.],
           [0., 0., 2.]])
    """
    sizes = size if isinstance(size, tuple) else (size,)
    flat = np.ravel_multi_index(index, sizes) if isinstance(index, tuple) else np.asarray(index)
    values, total = np.asarray(values), math.prod(sizes)
    if values.ndim == 0:
        return np.bincount(flat.ravel(), minlength=total).reshape(sizes) * float(values)
    trailing = values.shape[flat.ndim :]
    flat, values = flat.ravel(), values.reshape(flat.size, math.prod(trailing))
    return _column_sums(values, flat, total).reshape(sizes + trailing)


def _column_sums(values: Array, index: Integers, size: int) -> Floats:
    sums = np.empty((size, values.shape[1]))
    for column in range(values.shape[1]):
        sums[:, column] = np.bincount(index, values[:, column], size)
    return sums


def segment_max(values: Values, index: tuple[Integers, ...], size: tuple[int, ...]) -> Floats:
    """The largest value by group; ``-inf`` for an empty group.

    >>> segment_max(np.array([1.0, 2.0, 4.0]), (np.array([2, 0, 2]),), (3,))
    array([  2., -inf,   4.])
    """
    found = np.full(size, -math.inf)
    np.maximum.at(found, index, values)
    return found


def segment_min(values: Values, index: tuple[Integers, ...], size: tuple[int, ...]) -> Floats:
    """The smallest value by group; ``inf`` for an empty group."""
    found = np.full(size, math.inf)
    np.minimum.at(found, index, values)
    return found


class Groups:
    """An index that never changes: where each of n values belongs, built once in ``prepare``.

    >>> groups = Groups(np.array([2, 0, 2]), 3)
    >>> groups.count
    array([1., 0., 2.])
    >>> groups.sum(np.array([1.0, 2.0, 4.0]))
    array([2., 0., 5.])
    """

    __slots__ = ("_filled", "_firsts", "_order", "_starts", "count", "index", "size")

    def __init__(self, index: Integers, size: int) -> None:
        self.index = np.asarray(index)
        self.size = size
        self.count = np.bincount(self.index, minlength=size).astype(float)
        # Sorted by group, the values of a group are a slice.
        in_order = bool(np.all(self.index[1:] >= self.index[:-1]))
        self._order = None if in_order else np.argsort(self.index, kind="stable")
        self._starts = np.concatenate([[0], np.cumsum(self.count)]).astype(int).tolist()
        self._filled = np.flatnonzero(self.count)
        self._firsts = np.asarray(self._starts)[self._filled]

    def sum(self, values: Array | Shares) -> Floats:
        """The sums by group of values of shape (n,) + trailing: (size,) + trailing."""
        if isinstance(values, Shares):
            return values.sum_by(self.index, self.size)
        values = np.asarray(values)
        if values.ndim == 1:
            return np.bincount(self.index, values, self.size)  # type: ignore[return-value]  # floats
        sums = np.zeros((self.size, *values.shape[1:]))
        if len(self._filled):
            ordered = values if self._order is None else values.take(self._order, axis=0)
            sums[self._filled] = np.add.reduceat(ordered, self._firsts, axis=0)
        return sums

    def outer(self, left: Floats, right: Floats) -> Floats | InParts:
        """The sums by group of the outer products of rows: (n, K) and (n, L) to (size, K, L).

        >>> Groups(np.array([1, 0, 1]), 2).outer(np.ones((3, 1)), np.eye(3))
        array([[[0., 1., 0.]],
        <BLANKLINE>
               [[1., 0., 1.]]])
        """
        shape = self.size, left.shape[1], right.shape[1]
        if len(self.index) * shape[1] * shape[2] < OUTER_AT_ONCE:
            return self.sum(left[:, :, None] * right[:, None, :])

        def rows(first: int, stop: int) -> Floats:
            begin, end = self._starts[first], self._starts[stop]
            own = slice(begin, end) if self._order is None else self._order[begin:end]
            a, b = left[own], right[own]
            sums = np.empty((stop - first, *shape[1:]))
            for n in range(first, stop):
                here = slice(self._starts[n] - begin, self._starts[n + 1] - begin)
                np.dot(a[here].T, b[here], out=sums[n - first])
            return sums

        return in_parts(shape, rows)


def sum_rows(groups: Groups, values: Array | Shares) -> Floats:
    """The same as ``groups.sum(values)``: several times faster where there are many columns.

    >>> sum_rows(Groups(np.array([2, 0, 2]), 3), np.array([[1.0], [2.0], [4.0]]))
    array([[2.],
           [0.],
           [5.]])
    """
    if isinstance(values, Shares):
        return values.sum_by(groups.index, groups.size)
    values = np.asarray(values)
    table = values.reshape(len(values), math.prod(values.shape[1:]))
    return sum_by_row(groups.index, groups.size, table).reshape(groups.size, *values.shape[1:])
