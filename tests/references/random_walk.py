"""A random walk on a posterior density: many short chains side by side, in one array."""

import numpy as np


def run(rng, log_density, start, draws, *, warmup=4_000, thin=20):
    """Points (chain, draw, parameter); ``log_density`` takes points (chain, parameter).

    Steps are normal, with the covariance of the chains' points. It is learnt in the first half of
    the warm-up, when all chains move, and their length in all of it; then both are frozen.
    """
    point, (chains, size) = start.copy(), start.shape
    value = log_density(point)
    assert np.isfinite(value).all()
    root, log_length = np.eye(size) * start.std(axis=0), np.log(2.38 / np.sqrt(size))
    kept = np.empty((chains, draws, size))
    for step in range(-warmup, draws * thin):
        if step < -warmup // 2 and step % 50 == 0 and step > -warmup:
            root = np.linalg.cholesky(np.cov(point.T) + 1e-12 * np.eye(size)).T
        proposal = point + np.exp(log_length) * rng.standard_normal(point.shape) @ root
        proposed = log_density(proposal)
        accepted = np.log(rng.random(chains)) < proposed - value
        point[accepted], value[accepted] = proposal[accepted], proposed[accepted]
        if step < 0:
            log_length += (accepted.mean() - 0.234) / np.sqrt(warmup + step + 1)
        elif step % thin == 0:
            kept[:, step // thin] = point
    return kept
