"""Over-relaxed draws: to the other side of the mean, with the sd that keeps the distribution.

``x' = mu + alpha (x - mu) + sqrt(1 - alpha**2) sd z`` (S. L. Adler, 1981, "Over-relaxation method
for the Monte Carlo evaluation of the partition function for multiquadratic actions", Physical
Review D 23, 2901-2904). With x from ``N(mu, sd**2)`` the pair is normal with correlation alpha: the
same read in either direction, so that the move is reversible.

>>> round(over_relaxed_normal(np.random.default_rng(1), 2.0, -0.5, (), x=5.0, alpha=-1 + 1e-9), 1)
-1.0
"""

from __future__ import annotations

import math

import numpy as np

from gibbsppl.runtime.matrices import mvnormal_information, symmetric
from gibbsppl.runtime.types import Floats, Generator, Numbers, Size


def over_relaxed_normal(
    rng: Generator, eta_1: Numbers, eta_2: Numbers, size: Size, x: Numbers, alpha: float
) -> Numbers:
    """Moves of values with log density ``eta_1 x + eta_2 x**2``."""
    if not size and isinstance(eta_2, float) and eta_2 < 0:  # (Python's own arithmetic is faster)
        scale = math.sqrt((1 - alpha**2) * -0.5 / eta_2)
        return (1 - alpha) * float(-0.5 * eta_1 / eta_2) + alpha * x + scale * rng.standard_normal()
    variance = -0.5 / np.asarray(eta_2)
    if not np.all(variance > 0):  # (as an improper one would give a draw that is not a number)
        variance = np.where(variance > 0, variance, np.nan)
    mean = eta_1 * variance
    fresh = np.sqrt((1 - alpha**2) * variance) * rng.standard_normal(size or None)
    return mean + alpha * (x - mean) + fresh


def over_relaxed_mvnormal(
    rng: Generator, eta_1: Floats, eta_2: Floats, size: Size, x: Floats, alpha: float
) -> Floats:
    """The same of vectors, with ``sum of eta_1[k] x[k] + sum of eta_2[k, l] x[k] x[l]``."""
    h = np.broadcast_to(eta_1, size)
    Q = symmetric(-2.0 * np.asarray(eta_2))
    mean = np.linalg.solve(Q, h[..., None])[..., 0]
    noise = mvnormal_information(rng, np.zeros(size), Q)
    return mean + alpha * (x - mean) + np.sqrt(1 - alpha**2) * noise
