"""Matrix factorisation by hand: every single factor drawn from its own normal, in plain loops."""

import numpy as np

LEVEL, TAU, FACTORS = 7.6, 10.0, 2


def run(rng, ratings, shape, pairs, draws, warmup=200):
    """The means of the ratings ``pairs`` in the model: an array (pair, draw)."""
    left, right, value = ratings
    U, V = (rng.standard_normal((size, FACTORS)) for size in shape)
    of_left = [np.flatnonzero(left == j) for j in range(shape[0])]
    of_right = [np.flatnonzero(right == q) for q in range(shape[1])]
    kept = np.empty((len(pairs), draws))
    for sweep in range(-warmup, draws):
        _side(rng, U, V, right, of_left, value - LEVEL)
        _side(rng, V, U, left, of_right, value - LEVEL)
        kept[:, sweep] = [LEVEL + U[j] @ V[q] for j, q in pairs]
    return kept


def _side(rng, mine, other, other_of, rows_of, value):
    for j, rows in enumerate(rows_of):
        known = other[other_of[rows]]
        for k in range(mine.shape[1]):
            residual = value[rows] - known @ mine[j] + known[:, k] * mine[j, k]
            precision = 1 + TAU * (known[:, k] ** 2).sum()
            mean = TAU * (known[:, k] * residual).sum() / precision
            mine[j, k] = mean + rng.standard_normal() / np.sqrt(precision)
