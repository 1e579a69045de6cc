"""Draws of one label from log weights, and of the labels of one chain.

The chain is that of `gibbsppl.runtime.label_chains`: filtered forwards, drawn backwards. The filter
has weights whose largest is one; the logs are kept of those so small that products of them may
underflow.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gibbsppl.runtime.types import Flags, Floats, Generator, Integers

from . import inlined, kernel
from .copies import copied

# Underflow beside a number above this (the largest being near one) is less than its rounding error.
KEPT = 1e-290
# Where the largest product is above this, those below `KEPT` are next to nothing.
LARGE = 1e-140

APART: Mapping[str, str] = {
    "chain": "whole arrays of chains have their uniform numbers position by position, not chain by "
    "chain (those of one chain are in order)",
    "chain_by_step": "as for `chain`",
}


@kernel
def labels(rng: Generator, weights: Floats) -> int:
    """The label drawn, of 0, 1, ..., with the given log weights, which are overwritten."""
    largest = _largest(weights)
    total = 0.0
    for k in range(len(weights)):
        total += np.exp(weights[k] - largest)
        weights[k] = total
    return _passed(weights, rng.random())


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
def chain(
    rng: Generator,
    log_weights: Floats,
    log_transitions: Floats,
    lower: int,
    now: Integers,
    known: Flags,
    out: Integers,
) -> None:
    """The labels of a hidden Markov chain, drawn jointly, into ``out``.

    ``log_weights[t, k]`` are overwritten; ``log_transitions[k, l]`` are from label k to label l.
    Labels start at ``lower``; those ``known`` keep their values in ``now``.
    """
    count, size = log_weights.shape
    _know(log_weights, lower, now, known)
    uniform = _uniform(rng, count)
    filtered = np.empty((count, size))
    transitions = np.empty((size, size))
    _exponentials(log_transitions, transitions)
    for t in range(count):
        if t == 0:
            _started(log_weights[0], filtered[0])
        else:
            _advanced(log_weights, filtered, log_transitions, transitions, t)
    running = np.empty(size)
    after = 0
    for t in range(count - 1, -1, -1):
        if t == count - 1:
            copied(filtered[t], running)
        else:
            _led_to(log_weights, filtered, log_transitions, transitions, t, after, running)
        after = _picked(running, uniform[t])
        out[t] = after + lower


@kernel
def chain_by_step(
    rng: Generator,
    log_weights: Floats,
    log_transitions: Floats,
    lower: int,
    now: Integers,
    known: Flags,
    out: Integers,
) -> None:
    """As `chain`; ``log_transitions[t, k, l]`` are those from position t to the next."""
    count, size = log_weights.shape
    _know(log_weights, lower, now, known)
    uniform = _uniform(rng, count)
    filtered = np.empty((count, size))
    transitions = np.empty((max(count - 1, 0), size, size))
    for t in range(count):
        if t == 0:
            _started(log_weights[0], filtered[0])
        else:
            _exponentials(log_transitions[t - 1], transitions[t - 1])
            _advanced(log_weights, filtered, log_transitions[t - 1], transitions[t - 1], t)
    running = np.empty(size)
    after = 0
    for t in range(count - 1, -1, -1):
        if t == count - 1:
            copied(filtered[t], running)
        else:
            _led_to(log_weights, filtered, log_transitions[t], transitions[t], t, after, running)
        after = _picked(running, uniform[t])
        out[t] = after + lower


@kernel
def _largest(weights: Floats) -> float:
    """The largest log weight, which must be a number, as must all others."""
    largest = -np.inf
    for weight in weights:
        if np.isnan(weight):
            largest = np.inf
        elif weight > largest:
            largest = weight
    if not np.isfinite(largest):
        raise ValueError("all labels have probability zero, or a weight is not a number")
    return largest


@kernel
def _passed(running: Floats, uniform: float) -> int:
    """How many running sums a uniform share of the last has passed."""
    last = len(running) - 1
    threshold = uniform * running[last]
    k = 0
    while k < last and running[k] <= threshold:
        k += 1
    return k


@kernel
def _picked(weights: Floats, uniform: float) -> int:
    """The label drawn with some weights, which become their running sums."""
    for k in range(1, len(weights)):
        weights[k] += weights[k - 1]
    return _passed(weights, uniform)


@kernel
def _uniform(rng: Generator, count: int) -> Floats:
    """Uniform numbers."""
    found = np.empty(count)
    for t in range(count):
        found[t] = rng.random()
    return found


@kernel
def _know(log_weights: Floats, lower: int, now: Integers, known: Flags) -> None:
    """Log weights of -inf, in place, for labels other than the known."""
    for t in range(len(log_weights)):
        if known[t]:
            for k in range(log_weights.shape[1]):
                if now[t] != k + lower:
                    log_weights[t, k] = -np.inf


@kernel
def _exponentials(logs: Floats, out: Floats) -> None:
    """The transitions, the largest of which is one, into ``out``."""
    size = len(logs)
    top = _top(logs)
    for k in range(size):
        for following in range(size):
            out[k, following] = np.exp(logs[k, following] - top)


@kernel
def _top(logs: Floats) -> float:
    """The largest log transition; 0 where that is -inf."""
    top = -np.inf
    for row in logs:
        for x in row:
            if not x < np.inf:
                raise ValueError("a transition of labels is not a number")
            top = max(top, x)
    return 0.0 if top == -np.inf else top


@kernel
def _started(logs: Floats, out: Floats) -> None:
    """The filter at the first position, in logs in place of the weights, and as weights."""
    largest = _largest(logs)
    for k in range(len(logs)):
        logs[k] -= largest
        out[k] = np.exp(logs[k])


@kernel
def _advanced(
    log_weights: Floats, filtered: Floats, log_transitions: Floats, transitions: Floats, t: int
) -> None:
    """The filter at a position from the one before; its logs where it is small."""
    logs, out = log_weights[t], filtered[t]
    size = len(logs)
    largest = _largest(logs)
    out[:] = 0.0
    for k in range(size):
        before = filtered[t - 1, k]
        for following in range(size):
            out[following] += before * transitions[k, following]
    top = 0.0
    for k in range(size):
        out[k] *= np.exp(logs[k] - largest)
        top = max(top, out[k])
    if not top >= LARGE:
        _advanced_in_logs(log_weights, filtered, log_transitions, t)
        return
    log_top = np.log(top) + largest + _top(log_transitions)
    for k in range(size):
        if out[k] < KEPT:
            logs[k] += _log_led(log_weights, filtered, log_transitions, t, k) - log_top
            out[k] = np.exp(logs[k])
        else:
            out[k] /= top


@kernel
def _advanced_in_logs(
    log_weights: Floats, filtered: Floats, log_transitions: Floats, t: int
) -> None:
    """The same, where all products are small."""
    logs, out = log_weights[t], filtered[t]
    top = -np.inf
    for k in range(len(logs)):
        logs[k] += _log_led(log_weights, filtered, log_transitions, t, k)
        top = max(top, logs[k])
    if top == -np.inf:
        raise ValueError("no labels are possible: every sequence of them has probability zero")
    for k in range(len(logs)):
        logs[k] -= top
        out[k] = np.exp(logs[k])


@kernel
def _log_led(
    log_weights: Floats, filtered: Floats, log_transitions: Floats, t: int, label: int
) -> float:
    """The log of the filter led to a label, before the weight of that."""
    if log_weights[t, label] == -np.inf:
        return -np.inf
    top = -np.inf
    for k in range(len(log_transitions)):
        top = max(top, _log_of(log_weights, filtered, t - 1, k) + log_transitions[k, label])
    if top == -np.inf:
        return -np.inf
    total = 0.0
    for k in range(len(log_transitions)):
        log_weight = _log_of(log_weights, filtered, t - 1, k)
        total += np.exp(log_weight + log_transitions[k, label] - top)
    return top + np.log(total)


@kernel
def _log_of(log_weights: Floats, filtered: Floats, t: int, label: int) -> float:
    """The log of the filter, which is kept only where it is small."""
    weight = filtered[t, label]
    return log_weights[t, label] if weight < KEPT else np.log(weight)


@kernel
def _led_to(
    log_weights: Floats,
    filtered: Floats,
    log_transitions: Floats,
    transitions: Floats,
    t: int,
    after: int,
    out: Floats,
) -> None:
    """The weights of the labels at a position, given the label after it, into ``out``."""
    size = len(out)
    top = 0.0
    for k in range(size):
        out[k] = filtered[t, k] * transitions[k, after]
        top = max(top, out[k])
    if top >= LARGE:
        return
    log_top = -np.inf
    for k in range(size):
        out[k] = _log_of(log_weights, filtered, t, k) + log_transitions[k, after]
        log_top = max(log_top, out[k])
    for k in range(size):
        out[k] = np.exp(out[k] - log_top)
