"""Pareto smoothed importance sampling: large weights are replaced by quantiles of a fitted tail.

Comes in: log weights of draws. Goes out: smoothed log weights, and the shape k of the tail, which
says whether they can be trusted. A. Vehtari, D. Simpson, A. Gelman, Y. Yao and J. Gabry (2024),
"Pareto smoothed importance sampling", Journal of Machine Learning Research 25(72); the fit of the
tail is that of J. Zhang and M. A. Stephens (2009), "A new and efficient estimation method for the
generalized Pareto distribution", Technometrics 51.

>>> weights = np.random.default_rng(1).exponential(size=2000)  # (a tail like any of k = 0)
>>> smoothed, k = pareto_smoothed(np.log(weights))
>>> bool(abs(k) < 0.2), round(float(np.exp(smoothed).sum()), 9)
(True, 1.0)
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import logsumexp

from gibbsppl.runtime.types import Floats

# Of the prior of k, in draws: it has the weight of so many draws at one half.
PRIOR_DRAWS, PRIOR_K = 10, 0.5
# A tail of fewer draws has no fit.
FEWEST = 5


def pareto_smoothed(log_weights: Floats, efficiency: float = 1.0) -> tuple[Floats, float]:
    """Smoothed log weights, which sum to one, and the shape k of their tail.

    ``efficiency`` is that of the draws, effective ones by draw: it says how long the tail is. k is
    infinite where the tail is too short for a fit, and minus infinity where the largest weights are
    alike, so that there is no tail.
    """
    order = np.argsort(log_weights, kind="stable")
    found = log_weights - log_weights[order[-1]]
    count = _length_of_tail(len(found), efficiency)
    tail = order[-count:]
    cutoff = max(found[order[-count - 1]], math.log(np.finfo(float).tiny))
    tail = tail[found[tail] > cutoff]
    k = -math.inf
    if len(tail):
        k = math.inf
    if len(tail) >= FEWEST:
        beyond = np.exp(found[tail]) - math.exp(cutoff)
        k, scale = fitted_tail(beyond)
        if math.isfinite(k):
            ranks = np.arange(0.5, len(tail)) / len(tail)
            smoothed = np.log(_quantile(ranks, k, scale) + math.exp(cutoff))
            found[tail] = np.minimum(smoothed, 0.0)
    return found - logsumexp(found), k


def highest_k(draws: int) -> float:
    """The largest shape at which so many draws are enough.

    >>> round(highest_k(100), 2), round(highest_k(4000), 2)
    (0.5, 0.7)
    """
    return min(1 - 1 / math.log10(draws), 0.7) if draws > 1 else -math.inf


def _length_of_tail(draws: int, efficiency: float) -> int:
    """How many of the largest weights are the tail."""
    if not efficiency > 0:  # (of equal draws, say)
        efficiency = 1.0
    return min(math.ceil(min(draws / 5, 3 * math.sqrt(draws / efficiency))), draws - 1)


def fitted_tail(beyond: Floats) -> tuple[float, float]:
    """The shape and the scale of a generalised Pareto distribution of positive sorted numbers.

    The posterior mean of the shape in a profile likelihood, with a weak prior.
    """
    count = len(beyond)
    grid = np.arange(1, 31 + int(math.sqrt(count))) - 0.5
    quartile = beyond[int(count / 4 + 0.5) - 1]
    theta = 1 / beyond[-1] + (1 - np.sqrt(len(grid) / grid)) / (3 * quartile)
    shapes = np.log1p(-theta[:, None] * beyond).mean(axis=1)
    log_likelihood = count * (np.log(-theta / shapes) - shapes - 1)
    weights = np.exp(log_likelihood - logsumexp(log_likelihood))
    mean = float(theta @ weights)
    shape = float(np.log1p(-mean * beyond).mean())
    return (count * shape + PRIOR_DRAWS * PRIOR_K) / (count + PRIOR_DRAWS), -shape / mean


def _quantile(ranks: Floats, k: float, scale: float) -> Floats:
    """The quantiles of a generalised Pareto distribution."""
    if abs(k) < np.finfo(float).eps:
        return -scale * np.log1p(-ranks)
    return scale * np.expm1(-k * np.log1p(-ranks)) / k
