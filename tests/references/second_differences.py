"""Normal densities by second differences of their logs, which are exact but for rounding."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Normal:
    """Mean, precision and covariance matrix; ``far`` and ``off`` bound what rounding makes wrong.

    ``far`` is that of the mean, and ``off`` that of each entry of the covariance matrix.
    """

    mean: np.ndarray
    precision: np.ndarray
    covariance: np.ndarray
    far: float
    off: float


def normal_of(log_density, start):
    """The normal density whose log, up to a constant, is a function of a vector.

    >>> found = normal_of(lambda x: -((x[0] - 1) ** 2) - x[1] ** 2 / 2, np.zeros(2))
    >>> found.mean.tolist(), found.covariance.tolist()
    ([1.0, 0.0], [[0.5, 0.0], [0.0, 1.0]])
    """
    n, unit = start.size, np.eye(start.size)
    origin = log_density(start)
    one, back = (np.array([log_density(start + s * e) for e in unit]) for s in (1, -1))
    two = np.array([[log_density(start + d + e) for d in unit] for e in unit])
    Q = -(two - one[:, None] - one[None, :] + origin)
    covariance = np.linalg.inv(Q)
    step = covariance @ (one - back) / 2
    # A sum over n elements loses n times the last digit; four of them make an entry of Q.
    lost = 4 * n * np.finfo(float).eps * max(np.abs(v).max() for v in (origin, one, back, two))
    widest = np.linalg.norm(covariance, 2)
    far = widest * lost * np.sqrt(n) * (1 + np.sqrt(n) * np.linalg.norm(step))
    return Normal(start + step, Q, covariance, far, n * lost * widest**2)
