"""Draws of the labels of one chain from log weights.

The chain is that of `gibbsppl.runtime.label_chains`, filtered forwards (`filters`), drawn back.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gibbsppl.runtime.types import Flags, Floats, Generator, Integers

from . import kernel
from .filters import LARGE, filter_chain, log_of, transitions_of

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
        top[m] = transitions_of(log_transitions[m], transitions[m])
    filter_chain(log_weights, log_transitions, transitions, top, filtered)
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
        top[m] = transitions_of(by_step[m], transitions[m])
    filter_chain(log_weights, by_step, transitions, top, filtered)
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
    for m in range(len(by_step)):
        if not _are_numbers(by_step[m]):
            raise ValueError("a transition of labels is not a number")
    if not _are_numbers(log_weights):
        raise ValueError("a weight of labels is not a number")
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
def _are_numbers(logs: Floats) -> bool:
    """Whether all logs are numbers, or -inf."""
    for row in logs:
        for x in row:
            if not x < np.inf:
                return False
    return True


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
        out[k] = log_of(log_weights, filtered, t, k) + log_transitions[k, after]
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
