"""The filter of one chain of labels, from log weights: forwards, position by position.

Its weights have one for the largest; the logs are kept of those so small that products of them may
underflow. Exponentials of many positions are computed at once, by a polynomial.
"""

from __future__ import annotations

import numpy as np

from gibbsppl.runtime.types import Floats

from . import kernel
from .exponentials import exp_not_above_1

# Underflow beside a number above this (the largest being near one) is less than its rounding error.
KEPT = 1e-290
# Where the largest product is above this, those below `KEPT` are next to nothing.
LARGE = 1e-140
# What is kept in logs alone is below this; `KEPT`, divided by as many as there are labels, is not.
IN_LOGS = 1e-300
# So many positions at once: their weights stay in the cache of a processor.
BLOCK = 128


@kernel
def filter_chain(
    log_weights: Floats,
    log_transitions: Floats,
    transitions: Floats,
    top: Floats,
    filtered: Floats,
) -> None:
    """The filter, position by position, from the largest log transitions and from exponentials.

    Log weights are overwritten by the logs of the filter where it is small.
    """
    count, size = log_weights.shape
    largest, now, led = np.empty(BLOCK), np.empty(size), np.empty(size)
    for t in range(count):
        if t % BLOCK == 0:
            _weights(log_weights, t, largest, filtered)
        if t == 0:
            for k in range(size):
                log_weights[0, k] -= largest[0]
                now[k] = filtered[0, k]
            continue
        m = t - 1 if len(transitions) > 1 else 0
        lead(now, transitions[m], led)
        most, least = 0.0, np.inf
        for k in range(size):
            weight = led[k] * filtered[t, k]
            now[k] = weight
            most = weight if weight > most else most  # noqa: FURB136  # (vectorised)
            least = weight if weight < least else least  # noqa: FURB136
        if most >= LARGE and least >= KEPT:
            scale = 1.0 / most
            for k in range(size):
                now[k] *= scale
                filtered[t, k] = now[k]
            continue
        if most >= LARGE:
            tops = top[m], np.log(most) + largest[t % BLOCK]
            _partly_in_logs(log_weights, filtered, log_transitions[m], led, now, tops, t)
        else:
            _in_logs(log_weights, filtered, log_transitions[m], t)
        for k in range(size):
            now[k] = filtered[t, k]


@kernel
def _weights(log_weights: Floats, first: int, largest: Floats, out: Floats) -> None:
    """The weights of a block of positions, the largest of each being one, and the logs of these."""
    count, size = log_weights.shape
    stop = min(count, first + BLOCK)
    # (of slices positions are plainly not negative: a processor takes several at once)
    logs, gaps = log_weights[first:stop], out[first:stop]
    for t in range(len(logs)):
        top = logs[t, 0]
        for k in range(1, size):
            weight = logs[t, k]
            top = weight if weight > top or weight != weight else top  # noqa: PLR0124  # NaN
        if not -np.inf < top < np.inf:
            raise ValueError("all labels have probability zero, or a weight is not a number")
        largest[t] = top
        for k in range(size):
            gaps[t, k] = logs[t, k] - top
    flat = out.reshape(count * size)[first * size : stop * size]
    for n in range(len(flat)):
        flat[n] = exp_not_above_1(flat[n])


@kernel
def lead(now: Floats, transitions: Floats, out: Floats) -> None:
    """The filter led to each label, ``now @ transitions``; four rows at once where there are."""
    size = len(now)
    before = now[0]
    for k in range(size):
        out[k] = before * transitions[0, k]
    fours = (size - 1) // 4
    for four in range(fours):
        j = 1 + 4 * four
        a, b, c, d = now[j], now[j + 1], now[j + 2], now[j + 3]
        for k in range(size):
            left = a * transitions[j, k] + b * transitions[j + 1, k]
            out[k] += left + (c * transitions[j + 2, k] + d * transitions[j + 3, k])
    for j in range(1 + 4 * fours, size):
        before = now[j]
        for k in range(size):
            out[k] += before * transitions[j, k]


@kernel
def _partly_in_logs(
    log_weights: Floats,
    filtered: Floats,
    log_transitions: Floats,
    led: Floats,
    weights: Floats,
    tops: tuple[float, float],
    t: int,
) -> None:
    """The filter at a position from its weights; in logs where these are small.

    ``led`` is the filter before weights; ``tops`` are logs, of the largest transition and weight.
    """
    logs, out, most = log_weights[t], filtered[t], np.max(weights)
    log_transition, log_most = tops
    for k in range(len(logs)):
        if weights[k] >= KEPT:
            out[k] = weights[k] / most
            continue
        if led[k] >= KEPT:
            logs[k] += np.log(led[k]) - log_most
        else:
            log_led = _log_led(log_weights, filtered, log_transitions, t, k)
            logs[k] += log_led - log_transition - log_most
        out[k] = np.exp(logs[k])


@kernel
def _in_logs(
    log_weights: Floats, filtered: Floats, log_transitions: Floats, t: int
) -> None:
    """The filter at a position, where all weights are small."""
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
        top = max(top, log_of(log_weights, filtered, t - 1, k) + log_transitions[k, label])
    if top == -np.inf:
        return -np.inf
    total = 0.0
    for k in range(len(log_transitions)):
        log_weight = log_of(log_weights, filtered, t - 1, k)
        total += np.exp(log_weight + log_transitions[k, label] - top)
    return top + np.log(total)


@kernel
def log_of(log_weights: Floats, filtered: Floats, t: int, label: int) -> float:
    """The log of the filter, which is kept only where it is small."""
    weight = filtered[t, label]
    return log_weights[t, label] if weight < IN_LOGS else np.log(weight)


@kernel
def transitions_of(logs: Floats, out: Floats) -> float:
    """The transitions, the largest of which is one, into ``out``; the log of the largest."""
    top = _top(logs)
    for k in range(len(logs)):
        for following in range(len(logs)):
            out[k, following] = exp_not_above_1(logs[k, following] - top)
    return top


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
