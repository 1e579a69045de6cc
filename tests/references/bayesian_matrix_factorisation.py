"""Factorisation with hyperpriors by hand: one factor after the other, in plain loops."""

import numpy as np

LEVEL, TAU, FACTORS, STRENGTH = 7.6, 10.0, 2, 2.0


def run(rng, ratings, shape, draws, warmup=300):
    """Draws of both sides' factors: arrays (draw, row, factor); rows may have no rating."""
    left, right, value = ratings
    sides = [rng.standard_normal((size, FACTORS)) for size in shape]
    rows = [
        [np.flatnonzero(labels == j) for j in range(size)]
        for labels, size in zip((left, right), shape, strict=True)
    ]
    kept = [np.empty((draws, size, FACTORS)) for size in shape]
    for sweep in range(-warmup, draws):
        for mine, other, own, other_of in ((0, 1, rows[0], right), (1, 0, rows[1], left)):
            mean, precision = _hyper(rng, sides[mine])
            for j, n in enumerate(own):
                known = sides[other][other_of[n]]
                _row(rng, sides[mine][j], known, value[n] - LEVEL, mean, precision)
        if sweep >= 0:
            for side, values in zip(kept, sides, strict=True):
                side[sweep] = values
    return kept


def _row(rng, row, known, value, mean, precision):
    for k in range(len(row)):
        others = np.arange(len(row)) != k
        residual = value - known[:, others] @ row[others]
        tau = precision[k, k] + TAU * (known[:, k] ** 2).sum()
        linear = precision[k, k] * mean[k] - precision[k, others] @ (row[others] - mean[others])
        linear += TAU * (known[:, k] * residual).sum()
        row[k] = linear / tau + rng.standard_normal() / np.sqrt(tau)


def _hyper(rng, rows):
    """Mean and precision given the rows, from their normal-Wishart distribution.

    K. P. Murphy (2007), "Conjugate Bayesian analysis of the Gaussian distribution", section 8.
    """
    n, average = len(rows), rows.mean(axis=0)
    strength, nu = STRENGTH + n, FACTORS + n
    scatter = (rows - average).T @ (rows - average)
    R = np.eye(FACTORS) + scatter + STRENGTH * n / strength * np.outer(average, average)
    vectors = rng.standard_normal((nu, FACTORS)) @ np.linalg.cholesky(np.linalg.inv(R)).T
    precision = vectors.T @ vectors
    spread = np.linalg.cholesky(np.linalg.inv(strength * precision))
    return n * average / strength + spread @ rng.standard_normal(FACTORS), precision
