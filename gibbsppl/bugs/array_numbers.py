"""The functions of vectors and matrices of numbers.

The last axes of each array, as many as ``axes`` says, are its own; the others are positions.
"""

# All functions of numbers are told the axes, needed or not.
# ruff: noqa: ARG001

# The results of NumPy's and SciPy's functions are untyped.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce

import numpy as np

from gibbsppl.bugs.grids import Array
from gibbsppl.bugs.syntax import MOST_POSITIONS

Axes = tuple[int, ...]


def flat(values: Array, axes: int) -> Array:
    """The array with its last ``axes`` axes flattened into one, column by column (as in JAGS)."""
    values = np.asarray(values)
    own = range(values.ndim - axes, values.ndim)
    outer = values.shape[: values.ndim - axes]
    columns = values.transpose((*range(values.ndim - axes), *reversed(own)))
    return np.asarray(columns.reshape((*outer, math.prod(values.shape[values.ndim - axes :]))))


def over_all(
    one: Callable[..., Array], two: Callable[[Array, Array], Array]
) -> Callable[..., Array]:
    """A reduction over several arrays: ``one`` reduces each array, ``two`` joins the results."""

    def numeric(*values: Array, axes: Axes) -> Array:
        return reduce(two, (one(flat(v, n), axis=-1) for v, n in zip(values, axes, strict=True)))

    return numeric


def mean(x: Array, *, axes: Axes) -> Array:
    """The mean of all entries."""
    return flat(x, *axes).mean(axis=-1)


def sd(x: Array, *, axes: Axes) -> Array:
    """The standard deviation, divided by one less than there are."""
    return flat(x, *axes).std(axis=-1, ddof=1)


def geometric_mean(x: Array, *, axes: Axes) -> Array:
    """The geometric mean of all entries."""
    return np.exp(np.log(flat(x, *axes)).mean(axis=-1))


def inner(x: Array, y: Array, *, axes: Axes) -> Array:
    """The sum of products, entry by entry."""
    return times(flat(x, axes[0]), flat(y, axes[1])).sum(axis=-1)


def times(a: Array, b: Array) -> Array:
    """A product, which is zero where a factor is, as in JAGS: ``0 * log(0)`` is 0.

    Zero is the limit of ``x * log(x)``, as deviances of counts need. Zero times NaN is NaN.

    >>> times(np.array([0, 2, 0]), np.array([-np.inf, -np.inf, np.nan]))
    array([  0., -inf,  nan])
    """
    with np.errstate(invalid="ignore"):
        found = np.multiply(a, b)
    limit = np.isnan(found) & ~np.isnan(a) & ~np.isnan(b)
    return np.where(limit, 0.0, found) if limit.any() else found


def interpolated(e: Array, x: Array, y: Array, *, axes: Axes) -> Array:
    """The line through the nearest two points; beyond the ends the value there."""
    e, x, y = np.asarray(e, float), np.asarray(x, float), np.asarray(y, float)
    lengths = np.diff(x, axis=-1)
    passed = np.clip(e[..., None] - x[..., :-1], 0, lengths)
    return y[..., 0] + (passed / lengths * np.diff(y, axis=-1)).sum(axis=-1)


def product(a: Array, b: Array, *, axes: Axes) -> Array:
    """A matrix product; a vector is a row on the left, a column on the right."""
    a, b = np.asarray(a), np.asarray(b)
    left = a[..., None, :] if axes[0] == 1 else a
    right = b[..., :, None] if axes[1] == 1 else b
    if left.shape[-1] != right.shape[-2]:
        raise ValueError(f"{left.shape[-1]} columns and {right.shape[-2]} rows")
    gone = [-2] * (axes[0] == 1) + [-1] * (axes[1] == 1)
    return np.squeeze(left @ right, axis=tuple(gone))


def transposed(x: Array, *, axes: Axes) -> Array:
    """The transpose; a vector is a row."""
    return np.asarray(x)[..., None, :] if axes == (1,) else np.swapaxes(x, -1, -2)


def log_determinant(m: Array, *, axes: Axes) -> Array:
    """The log determinant of a matrix that is positive definite."""
    diagonal = np.diagonal(np.linalg.cholesky(np.asarray(m, float)), axis1=-2, axis2=-1)
    return 2 * np.log(diagonal).sum(axis=-1)


def inverse(m: Array, *, axes: Axes) -> Array:
    """The inverse of a matrix."""
    return np.linalg.inv(np.asarray(m, float))


def determinant(m: Array, *, axes: Axes) -> Array:
    """The determinant."""
    return np.linalg.det(np.asarray(m, float))


def exponential(m: Array, *, axes: Axes) -> Array:
    """The exponential of a matrix."""
    from scipy.linalg import expm  # noqa: PLC0415  (it takes long to import)

    return expm(np.asarray(m, float))


def in_order(v: Array, *, axes: Axes) -> Array:
    """The entries in increasing order."""
    _check_vector(axes)
    return np.sort(v, axis=-1)


def order(v: Array, *, axes: Axes) -> Array:
    """The positions, from 1, that put the entries in order."""
    _check_vector(axes)
    return np.argsort(v, axis=-1, kind="stable") + 1


def rank(v: Array, *s: Array, axes: Axes) -> Array:
    """The rank of each entry; of the entry number ``s`` how many are not above it (OpenBUGS)."""
    _check_vector(axes)
    if not s:
        return np.argsort(np.argsort(v, axis=-1, kind="stable"), axis=-1, kind="stable") + 1
    return (np.asarray(v) <= at(v, s[0])[..., None]).sum(axis=-1)


def ranked(v: Array, s: Array, *, axes: Axes) -> Array:
    """The entry of a rank."""
    _check_vector(axes)
    return at(np.sort(v, axis=-1), s)


def _check_vector(axes: Axes) -> None:
    """Only a vector has an order: the other axes of a number are positions of loops."""
    if axes[0] != 1:
        raise ValueError("expected a vector")


def at(v: Array, s: Array) -> Array:
    """The entry number ``s``, counted from 1."""
    v, s = np.asarray(v), np.asarray(s)
    shape = np.broadcast_shapes(v.shape[:-1], s.shape)
    at = np.broadcast_to(s - 1, shape)[..., None].astype(np.intp)
    return np.take_along_axis(np.broadcast_to(v, (*shape, v.shape[-1])), at, axis=-1)[..., 0]


def size(x: Array, *, axes: Axes) -> Array:
    """The number of entries."""
    outer = np.ndim(x) - axes[0]
    return np.full(np.shape(x)[:outer], math.prod(np.shape(x)[outer:]))


def sizes(x: Array, *, axes: Axes) -> Array:
    """The size along each axis."""
    outer = np.ndim(x) - axes[0]
    sizes = np.shape(x)[outer:] or (1,)
    return np.broadcast_to(sizes, (*np.shape(x)[:outer], len(sizes)))


def combined(*values: Array, axes: Axes) -> Array:
    """The entries of all arrays, concatenated."""
    parts = [flat(v, n) for v, n in zip(values, axes, strict=True)]
    outer = np.broadcast_shapes(*(p.shape[:-1] for p in parts))
    return np.concatenate([np.broadcast_to(p, (*outer, p.shape[-1])) for p in parts], axis=-1)


def repeated(v: Array, times: Array, *, axes: Axes) -> Array:
    """The entries again and again: all so many times, or each its own number of times."""
    v, times = flat(v, axes[0]), np.asarray(times)
    if (total := float(np.sum(times)) * (1 if axes[1] else v.shape[-1])) > MOST_POSITIONS:
        raise ValueError(f"{total:g} entries are more than a program may have")
    times = times.astype(np.intp)
    if axes[1]:
        return np.repeat(v, times, axis=-1)
    if (times != times.flat[0]).any():
        raise ValueError("the number of times differs among the positions of loops")
    return np.concatenate([v] * int(times.flat[0]), axis=-1)


def passed(t: Array, c: Array, *, axes: Axes) -> Array:
    """How many cut points are below a number."""
    cuts = np.asarray(c) if axes[1] else np.asarray(c)[..., None]
    return (cuts < np.asarray(t)[..., None]).sum(axis=-1)


def decimals(t: Array, digits: Array, *, axes: Axes) -> Array:
    """A number rounded to so many decimals."""
    scale = 10.0 ** np.asarray(digits)
    return np.rint(np.asarray(t) * scale) / scale
