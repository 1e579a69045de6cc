"""The lasso by hand: a random walk on the weights and the logs of precision and penalty.

The mean of ``y`` and of each column of ``x`` is 0, so that the intercept is independent of the
weights given the precision, and integrated out.
"""

import numpy as np

from references import random_walk


def run(rng, x, y, columns, draws, chains=200):
    """Precision, lambda and weights: arrays over (chain, draw)."""
    fitted = np.linalg.lstsq(x, y, rcond=None)[0]
    start = np.concatenate([fitted, [0.7, -3.0]])
    spread = np.append(np.full(len(fitted), 0.5), [0.1, 0.5])
    start = start + spread * rng.standard_normal((chains, len(start)))
    products = x.T @ x, x.T @ y, y @ y, len(y)
    points = random_walk.run(rng, lambda p: log_density(p, products), start, draws, thin=40)
    weights = {f"beta[{c}]": points[..., j] for j, c in enumerate(columns)}
    return {"tau": np.exp(points[..., -2]), "lambda": np.exp(points[..., -1] / 2)} | weights


def log_density(
    point,
    products,
    *,
    penalty_shape=1.0,
    penalty_rate=1.78,
    intercept_precision=1e-2,
    shape=1e-2,
    rate=1e-2,
):
    """The log posterior density, up to a constant; the Jacobians of the logs included."""
    gram, cross, square, n = products
    beta, log_tau, log_penalty = point[:, :-2], point[:, -2], point[:, -1]
    tau, penalty = np.exp(log_tau), np.exp(log_penalty)
    residual = square - 2 * beta @ cross + np.einsum("ci,ij,cj->c", beta, gram, beta)
    return (
        (shape + n / 2) * log_tau
        - rate * tau
        - tau * residual / 2
        - np.log(intercept_precision + n * tau) / 2
        + penalty_shape * log_penalty
        - penalty_rate * penalty
        + beta.shape[1] * (log_tau + log_penalty) / 2
        - np.sqrt(tau * penalty) * np.abs(beta).sum(axis=1)
    )
