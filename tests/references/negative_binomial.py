"""The regression of counts by hand: a random walk on the coefficients and the log of the size."""

import numpy as np
from scipy.special import gammaln

from references import random_walk


def run(rng, x, y, terms, draws, form="mean", chains=100):
    """The size and the coefficients: arrays over (chain, draw)."""
    fitted = np.linalg.lstsq(x, np.log(y + 0.5), rcond=None)[0]
    fitted[0] -= np.log(10) * (form == "odds")
    start = np.append(fitted, np.log(10.0)) + 0.1 * rng.standard_normal((chains, len(fitted) + 1))
    points = random_walk.run(rng, lambda p: log_density(p, x, y, form), start, draws)
    coefficients = {term: points[..., j] for j, term in enumerate(terms)}
    return {"alpha": np.exp(points[..., -1])} | coefficients


def log_density(point, x, y, form, precision=0.1, shape=1.0, rate=0.1):
    """The log posterior density, up to a constant; the Jacobian of the log included."""
    beta, log_alpha = point[:, :-1], point[:, -1:]
    alpha = np.exp(log_alpha)
    log_odds = beta @ x.T - log_alpha * (form == "mean")  # mean / alpha
    counts = gammaln(alpha + y) - gammaln(alpha) + y * log_odds
    counts -= (alpha + y) * np.logaddexp(0, log_odds)
    prior = shape * log_alpha - rate * alpha
    return counts.sum(axis=1) + prior[:, 0] - precision * (beta**2).sum(axis=1) / 2
