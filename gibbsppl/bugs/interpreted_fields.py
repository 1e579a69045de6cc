"""The log densities of fields on maps, as GeoBUGS has them, by sums over sites.

>>> round(float(intrinsic([1.0, -1.0], [2, 1], [1, 1], [1, 1], 3.0)), 4)
-5.4507
"""

from __future__ import annotations

from math import log, pi
from typing import Any

import numpy as np


def _matrix(adj: Any, weights: Any, num: Any) -> np.ndarray:
    """What neighbours have of one another, as a matrix of sites."""
    found, at = np.zeros((len(num), len(num))), 0
    for site, count in enumerate(np.asarray(num, int)):
        for _ in range(count):
            found[site, int(np.asarray(adj)[at]) - 1] = np.asarray(weights)[at]
            at += 1
    return found


def _parts(tied: np.ndarray) -> int:
    """The number of maps that do not touch one another."""
    left, count = set(range(len(tied))), 0
    while left:
        waiting, count = [left.pop()], count + 1
        while waiting:
            near = {int(n) for n in np.flatnonzero(tied[waiting.pop()])} & left
            left -= near
            waiting += near
    return count


def is_centred(x: Any) -> bool:
    """Whether values sum to zero."""
    return bool(abs(np.sum(x)) <= 1e-8 * max(1.0, np.abs(x).sum()))


def intrinsic(x: Any, adj: Any, weights: Any, num: Any, tau: Any) -> Any:
    """Squared differences of neighbours, and the power of tau of values that sum to zero."""
    w, x = _matrix(adj, weights, num), np.asarray(x, float)
    squares = sum(w[i, j] * (x[i] - x[j]) ** 2 for i, j in np.argwhere(w) if i < j)
    return (len(x) - _parts(w)) / 2 * np.log(tau) - tau / 2 * squares


def proper(x: Any, mu: Any, c: Any, adj: Any, num: Any, m: Any, tau: Any, gamma: Any) -> Any:
    """A normal vector of precision ``tau (I - gamma C) / M``."""
    x, m = np.asarray(x, float), np.asarray(m, float)
    precision = tau * (np.eye(len(x)) - gamma * _matrix(adj, c, num)) / m[:, None]
    values = np.linalg.eigvalsh((precision + precision.T) / 2)
    if (values <= 0).any():
        return np.nan
    d = x - np.asarray(mu, float)
    return (np.log(values).sum() - len(x) * log(2 * pi) - d @ precision @ d) / 2
