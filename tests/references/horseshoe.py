"""The horseshoe by hand: a random walk on the logs of precision and scales, no weights at all.

Given the scales the weights are normal, and integrated out; so is the intercept, because the mean
of ``y`` and of each column of ``x`` is 0. The weights' conditional means replace them.
"""

import numpy as np

from references import random_walk


def run(rng, x, y, columns, draws, chains=200):
    """Precision, overall scale and weights: arrays over (chain, draw)."""
    size = x.shape[1]
    start = np.zeros((chains, size + 2)) + 0.5 * rng.standard_normal((chains, size + 2))
    start[:, 0] = 0.7 + 0.1 * start[:, 0]
    products = x.T @ x, x.T @ y, y @ y, len(y)
    points = random_walk.run(
        rng, lambda p: log_density_and_mean(p, products)[0], start, draws, thin=25
    )
    means = [log_density_and_mean(points[:, t], products)[1] for t in range(draws)]
    means = np.stack(means, axis=1)
    weights = {f"beta[{c}]": means[..., j] for j, c in enumerate(columns)}
    return {"tau": np.exp(points[..., 0]), "overall": np.exp(points[..., 1])} | weights


def log_density_and_mean(point, products, *, intercept_precision=1e-2, shape=1e-2, rate=1e-2):
    """The log posterior density of the logs, up to a constant, and the mean of the weights.

    In units of the noise the weights have prior precision ``scale ** -2``. With ``D`` the diagonal
    of the scales, ``I + D gram D`` and not ``gram + D ** -2`` is factored, which is sure to be
    well-conditioned where a scale is close to 0.
    """
    gram, cross, square, n = products
    log_tau, log_overall, log_local = point[:, 0], point[:, 1], point[:, 2:]
    tau, scale = np.exp(log_tau), np.exp(log_overall[:, None] + log_local)
    inner = np.eye(len(gram)) + scale[:, :, None] * gram * scale[:, None, :]
    scaled = scale * cross
    solved = np.linalg.solve(inner, scaled[..., None])[..., 0]
    residual = square - (scaled * solved).sum(axis=1)
    half_cauchy = point[:, 1:] - np.logaddexp(0, 2 * point[:, 1:])  # of the logs of the scales
    log_density = (
        (shape + n / 2) * log_tau
        - rate * tau
        - tau * residual / 2
        - np.log(intercept_precision + n * tau) / 2
        - np.linalg.slogdet(inner)[1] / 2
        + half_cauchy.sum(axis=1)
    )
    return log_density, scale * solved
