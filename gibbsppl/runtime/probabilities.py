"""The probabilities of labels, from their log weights: what others read of averaged labels.

>>> p, entropy = probabilities(np.log([[1.0, 3.0], [1.0, 1.0]]), (2,))
>>> p.round(2).tolist(), entropy.round(3).tolist()
([[0.5, 0.5], [0.75, 0.25]], [0.693, 0.562])
"""

from __future__ import annotations

import numpy as np

from gibbsppl.errors import RunError
from gibbsppl.runtime.by_scipy import xlogy
from gibbsppl.runtime.labels import LogWeights
from gibbsppl.runtime.types import Floats, Ints


def likeliest(
    log_weights: Floats | LogWeights, shape: tuple[int, ...], lower: int = 0
) -> Ints:
    """The label of the largest weight, for each element of an array of a shape."""
    logs = np.asarray(log_weights, dtype=float)
    return np.asarray(np.broadcast_to(logs, (len(logs), *shape)).argmax(axis=0) + lower)


def probabilities(
    log_weights: Floats | LogWeights, shape: tuple[int, ...]
) -> tuple[Floats, Floats]:
    """The probability of each label of an array of a shape, labels last; the entropy of each.

    ``log_weights`` have the labels along the first axis.
    """
    logs = np.asarray(log_weights, dtype=float)
    logs = np.broadcast_to(logs, (len(logs), *shape))
    highest = logs.max(axis=0)
    if not np.isfinite(highest).all():
        raise RunError(
            "labels that are read by their means: no value has a probability, given those of the "
            "others, because q, which is factorised, has all values that these may take beside one "
            "another: read labels that exclude one another by draws or by their modes."
        )
    weights = np.exp(logs - highest)
    found = np.moveaxis(weights / weights.sum(axis=0), 0, -1)
    return found, -np.sum(xlogy(found, found), axis=-1)
