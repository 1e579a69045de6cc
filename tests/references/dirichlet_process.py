"""The Dirichlet process mixture by hand: the process itself, without sticks and without an end.

Labels by algorithm 8 of R. M. Neal (2000), "Markov chain sampling methods for Dirichlet process
mixture models", Journal of Computational and Graphical Statistics 9, 249-265: a galaxy joins one of
the clusters of the others, or one of ``NEW`` empty ones with parameters drawn from their prior. The
concentration by a random walk on its log, given how many clusters there are.
"""

from math import lgamma, log

import numpy as np

NEW = 3


def run(rng, y, draws, pairs, warmup=200):
    """The number of clusters, the concentration, and for pairs whether they share a cluster."""
    y = np.asarray(y, dtype=float)
    z, concentration = np.zeros(y.size, dtype=int), 0.5
    values = _of_clusters(rng, y, z)
    kept = np.empty((2 + len(pairs), draws))
    for step in range(-warmup, draws):
        for g in range(y.size):
            z, values = _moved(rng, y, z, values, g, concentration)
        z = np.unique(z, return_inverse=True)[1]
        values = _of_clusters(rng, y, z, values)
        concentration = _concentration(rng, concentration, values.shape[1], y.size)
        if step >= 0:
            kept[:2, step] = values.shape[1], concentration
            kept[2:, step] = [z[i] == z[j] for i, j in pairs]
    names = ("clusters", "concentration", *(f"{i} with {j}" for i, j in pairs))
    return dict(zip(names, kept, strict=True))


def _moved(rng, y, z, values, g, concentration):
    """The labels and parameters after galaxy ``g`` has chosen; no cluster is empty."""
    own, rest = z[g], np.delete(z, g)
    count = np.bincount(rest, minlength=values.shape[1]).astype(float)
    fresh = np.array([rng.normal(20, 10, NEW), rng.gamma(3, 1 / 20, NEW)])
    if count[own] == 0:  # a galaxy alone leaves its cluster as one of the empty ones
        fresh[:, 0] = values[:, own]
    mu, tau = np.concatenate([values, fresh], axis=1)
    weight = np.concatenate([count, np.full(NEW, concentration / NEW)])
    p = weight * np.sqrt(tau) * np.exp(-tau * (y[g] - mu) ** 2 / 2)
    chosen = int((p.cumsum() < rng.random() * p.sum()).sum())
    z = z.copy()
    z[g] = min(chosen, count.size)
    values = np.stack([mu, tau])[:, [*range(count.size), max(chosen, count.size)]]
    used, z = np.unique(z, return_inverse=True)
    return z, values[:, used]


def _of_clusters(rng, y, z, values=None):
    """Means and precisions of the clusters drawn given their galaxies, one after the other."""
    size = np.bincount(z).astype(float)
    tau = np.full(size.size, 0.2) if values is None else values[1]
    precision = 0.01 + tau * size
    mean = (0.2 + tau * np.bincount(z, weights=y)) / precision
    mu = rng.normal(mean, 1 / np.sqrt(precision))
    squares = np.bincount(z, weights=(y - mu[z]) ** 2)
    return np.stack([mu, rng.gamma(3 + size / 2, 1 / (20 + squares / 2))])


def _concentration(rng, value, clusters, galaxies, shape=2.0, rate=4.0):
    """The concentration after ten steps; C. E. Antoniak (1974), Annals of Statistics 2, 1152."""

    def log_density(a):
        partition = clusters * log(a) + lgamma(a) - lgamma(a + galaxies)
        return partition + shape * log(a) - rate * a  # the Jacobian of the log included

    for _ in range(10):
        proposal = value * np.exp(rng.normal())
        if log(rng.random()) < log_density(proposal) - log_density(value):
            value = proposal
    return value
