"""Draws of one vector or matrix, into the last argument."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gibbsppl.runtime.draws import SMALL_SHAPE, TINY
from gibbsppl.runtime.multinomials import SMALL_TOTAL
from gibbsppl.runtime.types import Floats, Generator, Integers

from . import kernel
from .copies import copied
from .labels import largest_log
from .matrices import backward, backward_rows, cholesky, forward, forward_rows

APART: Mapping[str, str] = {
    "dirichlet": "whole arrays have the Gamma numbers of all rows before the exponential numbers, "
    "where a row's shapes sum to less than 1 or one is 0 (those of one row are in order)",
    "multinomial": "small totals are shared out unit by unit, large ones label by label, whatever "
    "the size of the array",
    "wishart": "whole arrays have the normal numbers of all matrices before the Gamma numbers "
    "(those of one matrix are in order)",
    "inverse_wishart": "as for `wishart`",
    "von_mises_fisher": "whole arrays reject in rounds (the numbers of one vector are in order)",
}


@kernel
def dirichlet(rng: Generator, eta_1: Floats, out: Floats) -> None:
    """Shares with log density ``sum of eta_1[k] log(x[k])``; 0 where the shape is exactly 0."""
    total, least = 0.0, np.inf
    for eta in eta_1:
        if not eta + 1.0 >= 0.0:
            raise ValueError("a shape, rate or scale is not positive")
        total += eta + 1.0
        least = min(least, eta + 1.0)
    if not total > 0.0:
        raise ValueError("all shapes of a draw of shares are zero")
    if total >= 1.0 and least > 0.0:
        for k in range(len(out)):
            out[k] = rng.standard_gamma(eta_1[k] + 1.0)
    else:
        _from_logs(rng, eta_1, out)
    total = 0.0
    for x in out:
        total += x
    for k in range(len(out)):
        out[k] = max(out[k] / total, TINY) if eta_1[k] > -1.0 else 0.0


@kernel
def _from_logs(rng: Generator, eta_1: Floats, out: Floats) -> None:
    """Gamma numbers in proportion, the largest of which is 1: ``G(a) = G(a + 1) U**(1 / a)``."""
    for k in range(len(out)):
        shape = eta_1[k] + 1.0 if eta_1[k] > -1.0 else 1.0
        out[k] = np.log(rng.standard_gamma(shape + 1.0))
    largest = -np.inf
    for k in range(len(out)):
        exponential = rng.standard_exponential()
        shape = eta_1[k] + 1.0
        out[k] = out[k] - exponential / shape if shape > 0.0 else -np.inf
        largest = max(largest, out[k])
    for k in range(len(out)):
        # (where none is above -inf, the shapes are too small for numbers)
        out[k] = np.exp(out[k] - largest) if largest > -np.inf else np.nan


@kernel
def multinomial(rng: Generator, eta_1: Floats, n: int, out: Integers) -> None:
    """Counts that share out n, with log weights ``eta_1``, which are overwritten."""
    if n < 0:
        raise ValueError("a total of a draw of counts is negative")
    if n != np.floor(n):
        raise ValueError("a count or a bound of a draw is not a whole number")
    left = int(n)
    out[:] = 0
    if left == 0:
        return
    _exponentials(eta_1)
    if left <= SMALL_TOTAL:
        _by_unit(rng, eta_1, left, out)
    else:
        _by_label(rng, eta_1, left, out)


@kernel
def _exponentials(logs: Floats) -> None:
    """Weights, the largest of which is 1, in place of their logs."""
    largest = largest_log(logs)
    if np.isnan(largest):
        raise ValueError("all shares of a total have probability zero, or a weight is no number")
    for k in range(len(logs)):
        logs[k] = np.exp(logs[k] - largest)


@kernel
def _by_unit(rng: Generator, weights: Floats, left: int, out: Integers) -> None:
    """A total shared out, each unit a label; the weights become their running sums."""
    last = len(weights) - 1
    for k in range(last):
        weights[k + 1] += weights[k]
    for _ in range(left):
        threshold = rng.random() * weights[last]
        k = 0
        while k < last and weights[k] <= threshold:
            k += 1
        out[k] += 1


@kernel
def _by_label(rng: Generator, weights: Floats, left: int, out: Integers) -> None:
    """A total shared out label by label, each given what is left for it and those behind it."""
    behind = np.empty(len(weights))
    total = 0.0
    for k in range(len(weights) - 1, -1, -1):
        total += weights[k]
        behind[k] = total
    for k in range(len(weights)):
        # (a label with nothing but zeros behind it takes all)
        out[k] = rng.binomial(left, weights[k] / behind[k])
        left -= out[k]
        if left == 0:
            return


@kernel
def mvnormal(rng: Generator, eta_1: Floats, eta_2: Floats, out: Floats) -> None:
    """A vector with log density ``sum of eta_1[k] x[k] + sum of eta_2[k, l] x[k] x[l]``."""
    precision_factor(eta_2)
    copied(eta_1, out)
    forward(eta_2, out)
    for k in range(len(out)):
        out[k] += rng.standard_normal()
    backward(eta_2, out)


@kernel
def precision_factor(eta_2: Floats) -> None:
    """The lower Cholesky factor of ``-2 eta_2``, of its symmetric part, in place of it."""
    for i in range(len(eta_2)):
        for j in range(i + 1):
            eta_2[i, j] = -(eta_2[i, j] + eta_2[j, i])
    cholesky(eta_2)


@kernel
def wishart(rng: Generator, eta_1: float, eta_2: Floats, out: Floats) -> None:
    """A matrix with log density ``eta_1 log|X| + sum of eta_2[k, l] X[k, l]``."""
    precision_factor(eta_2)
    size = len(out)
    factor = np.empty((size, size))
    _bartlett(rng, 2.0 * eta_1 + size + 1.0, factor)
    backward_rows(eta_2, factor)
    for i in range(size):
        for j in range(i + 1):
            total = 0.0
            for k in range(size):
                total += factor[i, k] * factor[j, k]
            out[i, j] = total
            out[j, i] = total


@kernel
def inverse_wishart(rng: Generator, eta_1: float, eta_2: Floats, out: Floats) -> None:
    """A matrix with log density ``eta_1 log|X| + sum of eta_2[k, l] (X^-1)[k, l]``."""
    precision_factor(eta_2)
    size = len(out)
    factor = np.empty((size, size))
    _bartlett(rng, -2.0 * eta_1 - size - 1.0, factor)
    rows = np.zeros((size, size))
    for i in range(size):
        for j in range(i + 1):
            rows[j, i] = eta_2[i, j]
    forward_rows(factor, rows)
    out[:] = 0.0
    for k in range(size):
        for i in range(size):
            for j in range(i + 1):
                out[i, j] += rows[k, i] * rows[k, j]
    for i in range(size):
        for j in range(i):
            out[j, i] = out[i, j]


@kernel
def _bartlett(rng: Generator, nu: float, out: Floats) -> None:
    """Lower triangular A with ``A A' ~ Wishart(nu, 1)``: chi on the diagonal, normal below it."""
    size = len(out)
    for i in range(size):
        for j in range(size):
            # (those above the diagonal are drawn as well, as for whole arrays)
            z = rng.standard_normal()
            out[i, j] = z if j < i else 0.0
    least = (nu - (size - 1)) / 2
    if not least > 0.0:
        raise ValueError("a shape, rate or scale is not positive")
    for k in range(size):
        shape = (nu - k) / 2
        if least < SMALL_SHAPE:
            out[k, k] = np.log(rng.standard_gamma(shape + 1.0))
        else:
            out[k, k] = np.sqrt(max(2.0 * rng.standard_gamma(shape), TINY))
    if least < SMALL_SHAPE:
        for k in range(size):
            log = out[k, k] - rng.standard_exponential() / ((nu - k) / 2) + np.log(2.0)
            out[k, k] = np.sqrt(max(np.exp(log), TINY))


@kernel
def von_mises_fisher(rng: Generator, eta_1: Floats, out: Floats) -> None:
    """A vector with log density ``eta_1 . x`` on the unit sphere."""
    size = len(out)
    largest = 0.0
    for x in eta_1:
        if not np.isfinite(x):
            raise ValueError("a draw needs a finite vector")
        largest = max(largest, abs(x))
    if largest > 0.0:
        for k in range(size):
            eta_1[k] /= largest
    else:
        eta_1[0] = 1.0
    length = _length(eta_1)
    for k in range(size):
        eta_1[k] /= length
    y = _half_chord(rng, largest * length, size - 1.0)
    along = 0.0
    for k in range(size):
        out[k] = rng.standard_normal()
        along += out[k] * eta_1[k]
    for k in range(size):
        out[k] -= along * eta_1[k]
    across = 2.0 * np.sqrt(y * (1.0 - y)) / _length(out)
    for k in range(size):
        out[k] = (1.0 - 2.0 * y) * eta_1[k] + across * out[k]
    length = _length(out)
    for k in range(size):
        out[k] /= length


@kernel
def _length(x: Floats) -> float:
    """The length of a vector; the smallest number if that is 0."""
    total = 0.0
    for entry in x:
        total += entry * entry
    return max(np.sqrt(total), TINY)


@kernel
def _half_chord(rng: Generator, concentration: float, m: float) -> float:
    """``(1 - w) / 2``, w the cosine of the angle to the mean (Wood 1994)."""
    if not m > 0.0:
        raise ValueError("a draw from the unit sphere needs at least two entries")
    b = m / (2.0 * concentration + np.hypot(2.0 * concentration, m))
    while True:
        z = rng.beta(m / 2, m / 2)
        over_b = z / (1.0 - (1.0 - b) * z)
        log_ratio = 2.0 * (concentration * b) * (1.0 / (1.0 + b) - over_b)
        log_ratio += m * np.log((1.0 + (1.0 - b) * over_b) * (1.0 + b) / 2.0)
        if log_ratio >= -rng.standard_exponential():
            return b * over_b
