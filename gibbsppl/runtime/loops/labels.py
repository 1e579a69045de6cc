"""Draws of one label from log weights, its probabilities, and the likeliest one."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gibbsppl.runtime.types import Floats, Generator

from . import inlined, kernel
from .exponentials import exp_not_above_1

APART: Mapping[str, str] = {}


@kernel
def labels(rng: Generator, weights: Floats) -> int:
    """The label drawn, of 0, 1, ..., with the given log weights, which are overwritten."""
    weights_of_logs(weights)
    total = 0.0
    for k in range(len(weights)):
        total += weights[k]
        weights[k] = total
    return _passed(weights, rng.random())


@kernel
def probabilities(weights: Floats, out: Floats, entropy: Floats) -> None:
    """The probability of each label, from log weights, and the entropy, into ``entropy[0]``.

    The log weights are overwritten. With gaps ``g`` from the largest, and shares ``p``, it is
    ``log(sum(exp(g))) - sum(p * g)``.
    """
    largest = largest_log(weights)
    if np.isnan(largest):
        raise ValueError("no label has a probability, or a weight is not a number")
    # (loops of which each does little: processors take several numbers at once)
    for k in range(len(weights)):
        weights[k] -= largest
        out[k] = exp_not_above_1(weights[k])
    total, away = 0.0, 0.0
    for k in range(len(weights)):
        total += out[k]
        away += out[k] * weights[k] if out[k] > 0.0 else 0.0
    for k in range(len(weights)):
        out[k] /= total
    entropy[0] = np.log(total) - away / total


@kernel
def likeliest(weights: Floats) -> int:
    """The first label with the largest log weight."""
    best = 0
    for k in range(1, len(weights)):
        if weights[k] > weights[best]:
            best = k
    return best


@inlined
def label_of_weights(rng: Generator, weights: Floats) -> int:
    """The label drawn, of 0, 1, ..., with the given weights, which are overwritten.

    Weights are added up four at once: in a sum of one after the other each waits for the last. The
    label is counted, not searched for: no processor could guess where a search ends.
    """
    uniform = rng.random()
    size = len(weights)
    whole = size - size % 4
    total = 0.0
    for k in range(0, whole, 4):
        total += (weights[k] + weights[k + 1]) + (weights[k + 2] + weights[k + 3])
        weights[k + 3] = total
    for k in range(whole, size):
        total += weights[k]
        weights[k] = total
    if not 0.0 < total < np.inf:
        raise ValueError("all labels have probability zero, or a weight is not a number")
    threshold = uniform * total
    label = 0
    for k in range(3, whole, 4):
        label += 4 if weights[k] <= threshold else 0
    if label == whole:
        while label < size - 1 and weights[label] <= threshold:
            label += 1
        return min(label, size - 1)
    first = weights[label] + (weights[label - 1] if label > 0 else 0.0)
    second = first + weights[label + 1]
    third = second + weights[label + 2]
    label += 1 if first <= threshold else 0
    label += 1 if second <= threshold else 0
    return label + (1 if third <= threshold else 0)


@kernel
def largest_log(weights: Floats) -> float:
    """The largest log weight; NaN if one is not a number, or none is above minus infinity."""
    largest = -np.inf
    for weight in weights:
        if np.isnan(weight):
            largest = np.inf
        elif weight > largest:
            largest = weight
    return largest if np.isfinite(largest) else np.nan


@kernel
def weights_of_logs(logs: Floats) -> None:
    """Weights in place of their logs, the largest of which is 1."""
    largest = largest_log(logs)
    if np.isnan(largest):
        raise ValueError("all labels have probability zero, or a weight is not a number")
    for k in range(len(logs)):
        logs[k] = np.exp(logs[k] - largest)


@kernel
def _passed(running: Floats, uniform: float) -> int:
    """How many running sums a uniform share of the last has passed."""
    last = len(running) - 1
    threshold = uniform * running[last]
    k = 0
    while k < last and running[k] <= threshold:
        k += 1
    return k
