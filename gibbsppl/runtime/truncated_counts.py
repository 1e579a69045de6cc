"""Draws of counts between two bounds, both of them possible values.

>>> import numpy as np
>>> rng = np.random.default_rng(1)
>>> truncated_poisson(rng, np.log([1e-9, 1e-9, 1e9]), 1, [np.inf, np.inf, 3], (3,))
array([1., 1., 3.])
"""

from __future__ import annotations

import numpy as np
import scipy

from gibbsppl.runtime.draws import TINY
from gibbsppl.runtime.truncated import truncated_gamma
from gibbsppl.runtime.types import Floats, Generator, Numbers, Size, Values

# Candidates that are tried for each draw with an upper bound before all values are weighed.
TRIES = 8


def truncated_poisson(
    rng: Generator, eta_1: Numbers, lower: Values, upper: Values, size: Size
) -> Numbers:
    """Draws of Poisson counts with log mean ``eta_1`` from ``lower`` to ``upper``.

    The first ``lower`` events of a process of that rate come before time 1, at a time that is a
    truncated Gamma; what is left of the time has a Poisson number of further ones.
    """
    mean, low, high = (np.broadcast_to(a, size) for a in (np.exp(eta_1), lower, upper))
    low = np.maximum(low, 0.0)
    if (low > high).any():
        raise ValueError(f"bounds of a count: the lower one is above the upper one: {low}, {high}")
    found = _from(rng, mean, low, size)
    if not np.isfinite(high).any():
        return found
    for _ in range(TRIES):
        wrong = found > high
        if not wrong.any():
            return found
        found = np.where(wrong, _from(rng, mean, low, size), found)
    return _weighed(rng, np.ravel(eta_1 + np.zeros(size)), low, high, found)


def _from(rng: Generator, mean: Floats, low: Floats, size: Size) -> Floats:
    """Poisson counts truncated to ``low`` or more."""
    if not low.any():
        return rng.poisson(mean, size).astype(float)
    shape = np.maximum(low, 1.0)
    reached = truncated_gamma(rng, shape - 1.0, -1.0, 0.0, np.maximum(mean, TINY), size)
    rest = np.where(low > 0, np.maximum(mean - reached, 0.0), mean)
    return low + rng.poisson(rest, size)


def _weighed(
    rng: Generator, eta_1: Floats, low: Floats, high: Floats, found: Floats
) -> Numbers:
    """The draws, with draws above the bound redrawn from the weights of all possible values."""
    flat, low, high = (np.ravel(a).copy() for a in (found, low, high))
    for i in np.flatnonzero(flat > high):
        values = np.arange(low[i], high[i] + 1)
        logs = values * eta_1[i] - scipy.special.gammaln(values + 1)
        weights = np.exp(logs - logs.max()).cumsum()
        flat[i] = values[np.searchsorted(weights, rng.uniform() * weights[-1], side="right")]
    return flat.reshape(np.shape(found))[()]
