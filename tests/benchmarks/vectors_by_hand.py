"""A mixture of normal vectors, the sweep written by hand as loops that Numba compiles.

The model of ``models/iris.py`` with means about 0, for vectors of any size. Labels are drawn in
blocks of points, along which all loops go: by component the gaps to its mean times the factor of
its precision, squared. Comes in: a generator of NumPy and arrays, which are changed in place. Goes
out: nothing.
"""

from math import inf, log, sqrt

import numpy as np
from loops_by_hand import BLOCK, draw_labels, draw_shares, loops


@loops
def mixture_of_vectors(rng, y, by_size, prior, state, z, sweeps):
    """Sweeps of the mixture of the rows of ``y``; ``by_size`` has them as columns.

    ``prior``: concentration, the mean's strength, degrees of freedom, scale. ``state``: weights,
    means and precisions.
    """
    concentration, strength, nu, scale = prior
    weight, mu, tau = state
    labels, size = mu.shape
    weights, top, total = np.empty((labels, BLOCK)), np.empty(BLOCK), np.empty(BLOCK)
    label, line, gap = np.empty(BLOCK, np.int64), np.empty(BLOCK), np.empty(size)
    count, sums = np.empty(labels), np.empty((labels, size))
    squares, factors = np.empty((labels, size, size)), np.empty((labels, size, size))
    for k in range(labels):
        factors[k] = np.linalg.cholesky(tau[k])
    for _ in range(sweeps):
        count[:] = 0.0
        sums[:] = 0.0
        squares[:] = 0.0
        for first in range(0, len(z), BLOCK):
            points = min(BLOCK, len(z) - first)
            top[:] = -inf
            for k in range(labels):
                part = weight[k], mu[k], factors[k]
                _log_weights(by_size, first, points, part, line, weights[k])
                for b in range(points):
                    top[b] = max(top[b], weights[k, b])
            draw_labels(rng, weights, points, top, total, label)
            for b in range(points):
                k = label[b]
                z[first + b] = k
                count[k] += 1.0
                for j in range(size):
                    sums[k, j] += y[first + b, j]
                    gap[j] = y[first + b, j] - mu[k, j]
                for i in range(size):
                    for j in range(size):
                        squares[k, i, j] += gap[i] * gap[j]
        draw_shares(rng, concentration + count, weight)
        for k in range(labels):
            squares[k] += strength * np.outer(mu[k], mu[k]) + scale * np.eye(size)
            _draw_precision(rng, nu + 1 + count[k], squares[k], tau[k])
            factors[k] = np.linalg.cholesky(tau[k])
            strong = strength + count[k]
            noise = np.empty(size)
            for j in range(size):
                noise[j] = rng.standard_normal()
            away = np.linalg.solve(factors[k].T, noise) / sqrt(strong)
            for j in range(size):
                mu[k, j] = sums[k, j] / strong + away[j]


@loops
def _log_weights(columns, first, count, part, line, out):
    """Of ``count`` columns from the first the log weight of a component, into ``out``."""
    weight, mu, factor = part
    size = len(columns)
    constant = log(weight)
    for i in range(size):
        constant += log(factor[i, i])
    out[:count] = constant
    for i in range(size):
        start = 0.0
        for j in range(i, size):
            start -= factor[j, i] * mu[j]
        line[:count] = start
        for j in range(i, size):
            times, values = factor[j, i], columns[j, first : first + count]
            for b in range(count):
                line[b] += times * values[b]
        for b in range(count):
            out[b] -= line[b] * line[b] / 2


@loops
def _draw_precision(rng, degrees, scale, out):
    """A Wishart matrix of an inverse scale (M. S. Bartlett 1933, by the factor of the draw)."""
    size = len(scale)
    half = np.zeros((size, size))
    for i in range(size):
        half[i, i] = sqrt(2 * rng.standard_gamma((degrees - i) / 2))
        for j in range(i):
            half[i, j] = rng.standard_normal()
    root = np.linalg.solve(np.linalg.cholesky(scale).T, half)
    out[:] = root @ root.T
