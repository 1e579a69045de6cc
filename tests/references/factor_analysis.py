"""Factor analysis by a random walk on loadings and log precisions, all else integrated out."""

import numpy as np

from references import random_walk


def run(rng, y, factors, draws, *, chains=60, triangular=False, **settings):
    """Loadings (chain, draw, measurement, factor) and precisions (chain, draw, measurement)."""
    mean_precision, shape, rate = 1, 3, 1
    n, size = y.shape
    average = y.mean(axis=0)
    scatter = (y - average).T @ (y - average)

    def log_density(points):
        loading = points[:, : size * factors].reshape(-1, size, factors)
        log_tau = points[:, size * factors :]
        used = np.tril(loading) if triangular else loading
        sigma = used @ used.transpose(0, 2, 1)
        sigma = sigma + np.exp(-log_tau)[:, :, None] * np.eye(size)
        about = sigma / n + np.eye(size) / mean_precision
        return (
            -(n - 1) / 2 * np.linalg.slogdet(sigma)[1]
            - np.trace(np.linalg.solve(sigma, scatter), axis1=1, axis2=2) / 2
            - np.linalg.slogdet(about)[1] / 2
            - (np.linalg.solve(about, average) * average).sum(axis=1) / 2
            - (loading**2).sum(axis=(1, 2)) / 2
            + (shape * log_tau - rate * np.exp(log_tau)).sum(axis=1)
        )

    start = np.concatenate(
        [rng.standard_normal((chains, size * factors)) / 2, rng.uniform(0, 1, (chains, size))], 1
    )
    points = random_walk.run(rng, log_density, start, draws, **settings)
    loading = points[..., : size * factors].reshape(*points.shape[:2], size, factors)
    loading = np.tril(loading) if triangular else loading
    return {"loading": loading, "tau": np.exp(points[..., size * factors :])}
