"""Draws of the labels of one chain from log weights.

The chain is that of `gibbsppl.runtime.label_chains`: filtered forwards, drawn backwards. The filter
has weights whose largest is one; the logs are kept of those so small that products of them may
underflow. Exponentials of many positions are computed at once, by a polynomial.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gibbsppl.runtime.types import Flags, Floats, Generator, Integers

from . import kernel
from .exponentials import exp_not_above_1

# Underflow beside a number above this (the largest being near one) is less than its rounding error.
KEPT = 1e-290
# Where the largest product is above this, those below `KEPT` are next to nothing.
LARGE = 1e-140
# So many positions at once: their weights stay in the cache of a processor.
BLOCK = 128

APART: Mapping[str, str] = {
    "chain": "whole arrays of chains have their uniform numbers position by position, not chain by "
    "chain (those of one chain are in order)",
    "chain_by_step": "as for `chain`",
}


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
    size = len(log_transitions)
    one = np.empty((1, size, size))
    for k in range(size):
        for l in range(size):
            one[0, k, l] = log_transitions[k, l]
    chain_by_step(rng, log_weights, one, lower, now, known, out)


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
    """As `chain`; ``log_transitions[t, k, l]`` are those from position t to the next.

    Those of all positions, if there is one table of them alone.
    """
    count, size = log_weights.shape
    _know(log_weights, lower, now, known)
    uniform = _uniform(rng, count)
    filtered, transitions = np.empty((count, size)), np.empty(log_transitions.shape)
    top = np.empty(len(transitions))
    for m in range(len(transitions)):
        top[m] = _exponentials(log_transitions[m], transitions[m])
    _filter(log_weights, log_transitions, transitions, top, filtered)
    running, after = np.empty(size), 0
    for t in range(count - 1, -1, -1):
        m = t if len(transitions) > 1 else 0
        largest, total = 0.0, 0.0
        for k in range(size):
            weight = filtered[t, k] * (transitions[m, k, after] if t < count - 1 else 1.0)
            largest = weight if weight > largest else largest  # noqa: FURB136  # (vectorised)
            total += weight
            running[k] = total
        if not largest >= LARGE:
            total = _led_to(log_weights, filtered, log_transitions[m], t, after, running)
        threshold, label = uniform[t] * total, 0
        for k in range(size - 1):
            label += 1 if running[k] <= threshold else 0
        after = label
        out[t] = label + lower


@kernel
def chain_probabilities(
    log_weights: Floats,
    log_transitions: Floats,
    now: Floats,
    known: Flags,
    labels: Floats,
    pairs: Floats,
    entropy: Floats,
) -> None:
    """The probabilities of labels, and of pairs of neighbours at the later one; the entropy.

    ``log_weights[t, k]`` are overwritten; ``log_transitions`` are as in `chain_by_step`, or one
    table. Those ``known`` keep the likeliest label of ``now``.
    """
    count, size = log_weights.shape
    held = np.empty(count, dtype=np.int64)
    for t in range(count):
        held[t] = np.argmax(now[t])
    _know(log_weights, 0, held, known)
    by_step = log_transitions.reshape(log_transitions.size // size**2, size, size)
    filtered, transitions = np.empty((count, size)), np.empty(by_step.shape)
    top, running = np.empty(len(by_step)), np.empty(size)
    for m in range(len(by_step)):
        top[m] = _exponentials(by_step[m], transitions[m])
    _filter(log_weights, by_step, transitions, top, filtered)
    total = 0.0
    for k in range(size):
        total += filtered[count - 1, k]
    for k in range(size):
        labels[count - 1, k] = filtered[count - 1, k] / total
    entropy[0] = _entropy(labels[count - 1])
    pairs[0] = 0.0
    for t in range(count - 2, -1, -1):
        m = t if len(by_step) > 1 else 0
        labels[t] = 0.0
        for after in range(size):
            share = labels[t + 1, after]
            largest, total = 0.0, 0.0
            for k in range(size):
                running[k] = filtered[t, k] * transitions[m, k, after]
                largest = max(largest, running[k])
                total += running[k]
            if share > 0.0 and not largest >= LARGE:
                total = _weights_led_to(log_weights, filtered, by_step[m], t, after, running)
            scale = share / total if share > 0.0 else 0.0
            for k in range(size):
                pairs[t + 1, k, after] = running[k] * scale
                labels[t, k] += pairs[t + 1, k, after]
        entropy[0] += _entropy_before(pairs[t + 1], labels[t + 1])


@kernel
def _entropy_before(pairs: Floats, shares: Floats) -> float:
    """The entropy of a label given the one after it, which has ``shares``."""
    total = 0.0
    for after in range(len(shares)):
        for k in range(len(shares)):
            both = pairs[k, after]
            if both > 0.0:
                total -= both * np.log(both / shares[after])
    return total


@kernel
def _entropy(shares: Floats) -> float:
    """The entropy of the probabilities of labels."""
    total = 0.0
    for share in shares:
        if share > 0.0:
            total -= share * np.log(share)
    return total


@kernel
def likeliest_chain(
    log_weights: Floats,
    log_transitions: Floats,
    lower: int,
    now: Integers,
    known: Flags,
    out: Integers,
) -> None:
    """The likeliest labels of a chain, together, into ``out``; arguments as of `chain_by_step`.

    By dynamic programming (A. J. Viterbi, 1967, IEEE Transactions on Information Theory 13).
    """
    count, size = log_weights.shape
    _know(log_weights, lower, now, known)
    by_step = log_transitions.reshape(log_transitions.size // size**2, size, size)
    before = np.empty((count, size), dtype=np.int64)
    for t in range(1, count):
        m = t - 1 if len(by_step) > 1 else 0
        for k in range(size):
            best = 0
            for j in range(1, size):
                held = log_weights[t - 1, best] + by_step[m, best, k]
                if log_weights[t - 1, j] + by_step[m, j, k] > held:
                    best = j
            before[t, k] = best
            log_weights[t, k] += log_weights[t - 1, best] + by_step[m, best, k]
    label = 0
    for k in range(1, size):
        if log_weights[count - 1, k] > log_weights[count - 1, label]:
            label = k
    if not log_weights[count - 1, label] > -np.inf:
        raise ValueError("no labels are possible: every sequence of them has probability zero")
    for t in range(count - 1, -1, -1):
        out[t] = label + lower
        label = before[t, label] if t > 0 else label


@kernel
def _filter(
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
    largest, now, out = np.empty(BLOCK), np.empty(size), np.empty(size)
    for t in range(count):
        if t % BLOCK == 0:
            _weights(log_weights, t, largest, filtered)
        if t == 0:
            for k in range(size):
                log_weights[0, k] -= largest[0]
                now[k] = filtered[0, k]
            continue
        m = t - 1 if len(transitions) > 1 else 0
        before = now[0]
        for following in range(size):
            out[following] = before * transitions[m, 0, following]
        for k in range(1, size):
            before = now[k]
            for following in range(size):
                out[following] += before * transitions[m, k, following]
        most, least = 0.0, np.inf
        for k in range(size):
            weight = out[k] * filtered[t, k]
            out[k] = weight
            most = weight if weight > most else most  # noqa: FURB136  # (vectorised)
            least = weight if weight < least else least  # noqa: FURB136
        if most >= LARGE and least >= KEPT:
            scale = 1.0 / most
            for k in range(size):
                now[k] = out[k] * scale
                filtered[t, k] = now[k]
            continue
        if most >= LARGE:
            log_most = np.log(most) + largest[t % BLOCK] + top[m]
            _partly_in_logs(log_weights, filtered, log_transitions[m], out, log_most, t)
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
def _partly_in_logs(
    log_weights: Floats,
    filtered: Floats,
    log_transitions: Floats,
    weights: Floats,
    log_most: float,
    t: int,
) -> None:
    """The filter at a position from its weights; in logs where these are small."""
    logs, out, most = log_weights[t], filtered[t], np.max(weights)
    for k in range(len(logs)):
        if weights[k] < KEPT:
            logs[k] += _log_led(log_weights, filtered, log_transitions, t, k) - log_most
            out[k] = np.exp(logs[k])
        else:
            out[k] = weights[k] / most


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
    t: int,
    after: int,
    out: Floats,
) -> float:
    """The running sums of the weights of labels, given the label after, where all are small."""
    total = 0.0
    _weights_led_to(log_weights, filtered, log_transitions, t, after, out)
    for k in range(len(out)):
        total += out[k]
        out[k] = total
    return total


@kernel
def _weights_led_to(
    log_weights: Floats,
    filtered: Floats,
    log_transitions: Floats,
    t: int,
    after: int,
    out: Floats,
) -> float:
    """The weights of labels, given the label after, where all are small; the sum of them."""
    log_top, total = -np.inf, 0.0
    for k in range(len(out)):
        out[k] = _log_of(log_weights, filtered, t, k) + log_transitions[k, after]
        log_top = max(log_top, out[k])
    for k in range(len(out)):
        out[k] = np.exp(out[k] - log_top)
        total += out[k]
    return total


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
def _exponentials(logs: Floats, out: Floats) -> float:
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
