"""The mixture by hand, without labels: a random walk on weights, means and precisions.

Only the likelihood with the labels summed out is ever computed, so that nothing is shared with a
sampler that draws labels. The weights are Gamma variables, normalised, which makes them Dirichlet.
"""

import numpy as np


def run(rng, y, draws, components=3, warmup=5_000, thin=10, strength=None):
    """The sorted means (component, draw) and the log likelihood (draw) of one chain."""
    point = _start(rng, y, components)
    width = np.full(point.size, 0.3)
    value = log_density(point, y, strength=strength)
    kept, means = np.empty(draws), np.empty((components, draws))
    for step in range(-warmup, draws * thin):
        for i in range(point.size):
            point, value, accepted = _move(rng, point, value, y, i, width[i], strength)
            if step < 0:
                width[i] *= np.exp((accepted - 0.44) / (warmup + step + 1) ** 0.6)
        if step >= 0 and step % thin == 0:
            kept[step // thin] = log_likelihood(point, y)
            means[:, step // thin] = np.sort(point.reshape(3, -1)[1])
    return means, kept


def _start(rng, y, components):
    means = np.quantile(y, (np.arange(components) + 0.5) / components)
    return np.concatenate(
        [np.zeros(components), means + rng.normal(size=components), np.zeros(components)]
    )


def _move(rng, point, value, y, i, width, strength):
    proposal = point.copy()
    proposal[i] += width * rng.standard_normal()
    proposed = log_density(proposal, y, strength=strength)
    accepted = np.log(rng.random()) < proposed - value
    return (proposal, proposed, True) if accepted else (point, value, False)


def log_likelihood(point, y):
    """The log density of the data given (log gammas, means, log precisions)."""
    log_gamma, mu, log_tau = point.reshape(3, -1)
    weight = np.exp(log_gamma - log_gamma.max())
    weight = weight / weight.sum()
    tau = np.exp(log_tau)
    density = np.sqrt(tau / (2 * np.pi)) * np.exp(-tau * (y[:, None] - mu) ** 2 / 2)
    return np.log(density @ weight).sum()


def log_density(
    point, y, prior_mean=20.0, prior_precision=0.01, shape=3.0, rate=20.0, strength=None
):
    """The log posterior density, up to a constant, Jacobians of the logs included.

    With a ``strength`` the prior precision of a mean is that many times its component's.
    """
    log_gamma, mu, log_tau = point.reshape(3, -1)
    precision = (
        np.full(mu.size, prior_precision) if strength is None else strength * np.exp(log_tau)
    )
    prior = (
        (log_gamma - np.exp(log_gamma)).sum()  # Gamma(1, 1): normalised, Dirichlet(1, 1, 1)
        + (np.log(precision) - precision * (mu - prior_mean) ** 2).sum() / 2
        + (shape * log_tau - rate * np.exp(log_tau)).sum()
    )
    return prior + log_likelihood(point, y)
