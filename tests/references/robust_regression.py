"""The t regression by hand: a random walk on intercept, weights and the log precision."""

import numpy as np

from references import random_walk


def run(rng, x, y, columns, draws, chains=100):
    """Intercept, sd and weights: arrays over (chain, draw)."""
    design = np.column_stack([np.ones(len(y)), x])
    fitted = np.linalg.lstsq(design, y, rcond=None)[0]
    start = np.append(fitted, -2.0) + 0.1 * rng.standard_normal((chains, len(fitted) + 1))
    points = random_walk.run(rng, lambda p: log_density(p, design, y), start, draws)
    weights = {f"beta[{c}]": points[..., j + 1] for j, c in enumerate(columns)}
    return {"intercept": points[..., 0], "sigma": np.exp(-points[..., -1] / 2)} | weights


def log_density(point, design, y, nu=4.0, precision=1e-4, shape=1e-2, rate=1e-2):
    """The log posterior density, up to a constant; the Jacobian of the log included."""
    beta, log_tau = point[:, :-1], point[:, -1]
    tau = np.exp(log_tau)
    residual = y - beta @ design.T
    tails = np.log1p(tau[:, None] * residual**2 / nu).sum(axis=1)
    return (
        (shape + len(y) / 2) * log_tau
        - rate * tau
        - precision * (beta**2).sum(axis=1) / 2
        - (nu + 1) / 2 * tails
    )
