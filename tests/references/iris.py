"""The mixture of vectors by hand: labels one by one, by the densities of multivariate t.

A flower given the others of a component, whose mean and covariance are integrated out, has a
multivariate t distribution; the flowers of a component leave a normal-inverse-Wishart behind (A.
Gelman and others, 2013, "Bayesian Data Analysis", section 3.6), from which means and covariances
are drawn after each sweep, for the likelihood. The weights are integrated out too.
"""

import numpy as np
from scipy.special import gammaln

CONCENTRATION, PRIOR_MEAN, STRENGTH, NU, SCALE = 10, np.array([6.0, 3, 4, 1]), 0.1, 10, 0.5


def run(rng, y, pairs, draws, components=3, warmup=200):
    """Whether pairs share a component, sorted means of the third column, the log likelihood."""
    z = rng.integers(components, size=len(y))
    kept = np.empty((len(pairs) + components + 1, draws))
    for step in range(-warmup, draws):
        z = _swept(rng, y, z, components)
        if step >= 0:
            weight, mu, cov = _components(rng, y, z, components)
            kept[: len(pairs), step] = [z[i] == z[j] for i, j in pairs]
            kept[len(pairs) : -1, step] = np.sort(mu[:, 2])
            kept[-1, step] = log_likelihood(y, weight, mu, cov)
    names = [f"{i} with {j}" for i, j in pairs]
    names += [f"petal length {k + 1}" for k in range(components)]
    return dict(zip((*names, "log likelihood"), kept, strict=True))


def _posterior(n, total, squares):
    """The normal-inverse-Wishart (strength, mean, nu, scale) of each component."""
    strength = STRENGTH + n
    mean = (STRENGTH * PRIOR_MEAN + total) / strength[:, None]
    outer = mean[:, :, None] * mean[:, None, :]
    prior = SCALE * np.eye(mean.shape[1]) + STRENGTH * np.outer(PRIOR_MEAN, PRIOR_MEAN)
    return strength, mean, NU + n, prior + squares - strength[:, None, None] * outer


def _sums(y, z, components):
    """The number of flowers of each component, their sum and the sum of their squares."""
    own = (z == np.arange(components)[:, None]).astype(float)
    return own.sum(axis=1), own @ y, np.einsum("ki,ip,iq->kpq", own, y, y)


def _swept(rng, y, z, components):
    """The labels after each flower has chosen."""
    z = z.copy()
    n, total, squares = _sums(y, z, components)
    for i, flower in enumerate(y):
        for sign, whole in ((-1, False), (1, True)):
            if whole:
                weight = np.log(n + CONCENTRATION) + _log_t(flower, *_posterior(n, total, squares))
                p = np.exp(weight - weight.max()).cumsum()
                z[i] = (p < rng.random() * p[-1]).sum()
            n[z[i]] += sign
            total[z[i]] += sign * flower
            squares[z[i]] += sign * np.outer(flower, flower)
    return z


def _log_t(x, strength, mean, nu, scale):
    """The log density of a further flower in each component, but for a constant."""
    p = x.size
    freedom = nu - p + 1
    spread = scale * ((strength + 1) / (strength * freedom))[:, None, None]
    gap = x - mean
    distance = (gap * np.linalg.solve(spread, gap[:, :, None])[:, :, 0]).sum(axis=1)
    constant = gammaln((freedom + p) / 2) - gammaln(freedom / 2) - p * np.log(freedom) / 2
    log_det = np.linalg.slogdet(spread)[1]
    return constant - log_det / 2 - (freedom + p) / 2 * np.log1p(distance / freedom)


def _components(rng, y, z, components):
    """Weights, means and covariances of the components drawn given their flowers."""
    sums = _sums(y, z, components)
    weight = rng.dirichlet(CONCENTRATION + sums[0])
    mu, cov = [], []
    for strength, mean, nu, scale in zip(*_posterior(*sums), strict=True):
        # A Wishart is a sum of squares of normal vectors where nu is a whole number.
        root = np.linalg.cholesky(np.linalg.inv(scale))
        vectors = rng.standard_normal((int(nu), mean.size)) @ root.T
        cov.append(np.linalg.inv(vectors.T @ vectors))
        mu.append(rng.multivariate_normal(mean, cov[-1] / strength))
    return weight, np.array(mu), np.array(cov)


def log_likelihood(y, weight, mu, cov):
    """The log density of the flowers, labels summed out."""
    gap = y[:, None] - mu
    distance = np.einsum("ikp,kpq,ikq->ik", gap, np.linalg.inv(cov), gap)
    log_det = np.linalg.slogdet(2 * np.pi * cov)[1]
    return np.log(np.exp(-(distance + log_det) / 2) @ weight).sum()
