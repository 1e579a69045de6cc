"""Joint draws of labels along chains: forward filtering, backward sampling.

Forwards the filter of `gibbsppl.runtime.filters`; backwards the last label has weights ``f_T``, and
label t, given the one after, ``f_t(k) exp(b_{t+1}(k, z_{t+1}))`` (S. Chib 1996, Journal of
Econometrics 75, 79-97; S. L. Scott 2002, Journal of the American Statistical Association 97,
337-351). Many sequences are one array.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from gibbsppl.errors import RunError
from gibbsppl.runtime.by_scipy import xlogy
from gibbsppl.runtime.filters import Filter, products, top_of
from gibbsppl.runtime.places import Bounds
from gibbsppl.runtime.types import Array, Flags, Floats, Generator, Integers, Ints, Values

Entry = TypeVar("Entry", bound=np.generic)

# Up to so many sequences are followed back one by one: reading a list is fast.
FEW = 8
# Numbers worked on at once on the way back.
PIECE = 1 << 17


def known_labels(shape: tuple[int, ...], *drawn: tuple[Bounds, Array | None]) -> Flags:
    """The mask of labels not drawn: all but places (start and stop per axis), each with a mask.

    >>> known_labels((4,), (((1, 4),), np.array([0, 0, 1, 0])))
    array([ True, False,  True, False])
    """
    known = np.ones(shape, dtype=bool)
    for place, mask in drawn:
        corner = tuple(slice(a, b) for a, b in place)
        known[corner] = False if mask is None else np.asarray(mask)[corner] != 0
    return known


def chain(  # noqa: PLR0913  (settings, all named at the call)
    rng: Generator,
    log_weights: Floats,
    log_transitions: Floats,
    *,
    name: str,
    axis: int = 0,
    lower: int = 0,
    now: Values | None = None,
    known: Flags | None = None,
) -> Ints:
    """A joint draw of the labels of hidden Markov chains along one axis.

    ``log_weights`` have the labels along the first axis, then the axes of the array;
    ``log_transitions`` the labels before, the labels, and, if they differ from place to place, the
    same axes, with one position less along the chain. Labels start at ``lower``. Labels ``known``
    (a mask) keep their values in ``now``.

    >>> log_weights = np.log([[0.9, 0.5, 0.5, 0.5], [0.1, 0.5, 0.5, 0.5]])
    >>> with np.errstate(divide="ignore"):
    ...     stay = np.log(np.eye(2))
    >>> chain(np.random.default_rng(2), log_weights, stay, name="z")
    array([0, 0, 0, 0])
    """
    fixed = None if known is None else (known, now, lower)
    own = _arranged(name, log_weights, log_transitions, axis, fixed)
    uniform = rng.random(own.logs.weights.shape[:2])
    labels = own.in_array(_backwards(*own.filtered(), uniform)) + lower
    return labels if known is None else np.where(known, now, labels).astype(np.intp)  # type: ignore[arg-type]  # now is given


def smoothed(
    log_weights: Floats,
    log_transitions: Floats,
    *,
    name: str,
    axis: int = 0,
    lower: int = 0,
    now: Values | None = None,
    known: Flags | None = None,
) -> Floats:
    """The smoothed probability of each label, given all weights: labels first, then array axes.

    >>> log_weights = np.log([[0.9, 0.5], [0.1, 0.5]])
    >>> smoothed(log_weights, np.log([[0.6, 0.4], [0.4, 0.6]]), name="z").round(2)
    array([[0.9 , 0.58],
           [0.1 , 0.42]])
    """
    fixed = None if known is None else (known, now, lower)
    own = _arranged(name, log_weights, log_transitions, axis, fixed)
    found = _smoothed(own)
    return np.stack([own.in_array(found[..., k]) for k in range(found.shape[-1])])


def chain_probabilities(
    log_weights: Floats,
    log_transitions: Floats,
    *,
    name: str,
    axis: int = 0,
    lower: int = 0,
    now: Values | None = None,
    known: Flags | None = None,
) -> tuple[Floats, Floats, np.floating]:
    """The probabilities of labels and of two neighbours, labels last; and the entropy of all.

    Those of neighbours stand at the later one.

    >>> log_weights = np.log([[0.9, 0.5], [0.1, 0.5]])
    >>> stay = np.log([[0.6, 0.4], [0.4, 0.6]])
    >>> labels, pairs, entropy = chain_probabilities(log_weights, stay, name="z")
    >>> labels.round(2).tolist(), pairs[1].round(2).tolist(), round(float(entropy), 3)
    ([[0.9, 0.1], [0.58, 0.42]], [[0.54, 0.36], [0.04, 0.06]], 0.998)
    """
    fixed = None if known is None else (known, now, lower)
    own = _arranged(name, log_weights, log_transitions, axis, fixed)
    count, sequences, size = own.logs.weights.shape
    pairs = np.zeros((count, sequences, size, size))
    labels = _smoothed(own, pairs)
    # (of labels that are in two pairs, once; a label alone is in none)
    times, inner = (1, labels[1:-1]) if count > 1 else (-1, labels)
    entropy = times * np.sum(xlogy(inner, inner)) - np.sum(xlogy(pairs, pairs))
    return own.in_array(labels), own.in_array(pairs), entropy


def likeliest_chain(
    log_weights: Floats,
    log_transitions: Floats,
    *,
    name: str,
    axis: int = 0,
    lower: int = 0,
    now: Values | None = None,
    known: Flags | None = None,
) -> Ints:
    """The labels that are together the likeliest (A. J. Viterbi 1967, IEEE Trans. Inf. Theory 13).

    >>> log_weights = np.log([[0.9, 0.4, 0.4], [0.1, 0.6, 0.6]])
    >>> stay = np.log([[0.9, 0.1], [0.1, 0.9]])
    >>> likeliest_chain(log_weights, stay, name="z")
    array([0, 0, 0])
    """
    fixed = None if known is None else (known, now, lower)
    own = _arranged(name, log_weights, log_transitions, axis, fixed)
    logs = own.logs
    count, sequences, size = logs.weights.shape
    before = np.zeros((count, sequences, size), dtype=np.intp)
    best = logs.weights[0]
    for t in range(1, count):
        led = best[:, :, None] + logs.after(t - 1)
        before[t] = led.argmax(axis=1)
        best = led.max(axis=1) + logs.weights[t]
        own.check_possible(best, t)
    found, every = np.empty((count, sequences), dtype=np.intp), np.arange(sequences)
    found[-1] = best.argmax(axis=-1)
    for t in range(count - 1, 0, -1):
        found[t - 1] = before[t, every, found[t]]
    labels = own.in_array(found) + lower
    return labels if known is None else np.where(known, now, labels).astype(np.intp)  # type: ignore[arg-type]  # now is given


def _smoothed(own: _Chain, joint: Floats | None = None) -> Floats:
    """Smoothed probabilities by time and sequence; those of neighbours are put into ``joint``."""
    steps, filtered = own.filtered()
    found: Floats = np.empty(filtered.shape)
    last = steps.linear(filtered[-1])
    found[-1] = last / last.sum(axis=-1, keepdims=True)
    for t in range(len(found) - 2, -1, -1):
        pairs = np.stack(steps.pairs(filtered[t], steps.after(t)))
        total = pairs.sum(axis=0)
        both = pairs * (found[t + 1] / np.where(total > 0, total, 1.0))
        found[t] = both.sum(axis=-1).T
        if joint is not None:
            joint[t + 1] = np.moveaxis(both, 0, 1)
    return found


def log_probabilities(
    labels: Values,
    log_weights: Floats,
    log_transitions: Floats,
    *,
    name: str,
    axis: int = 0,
    lower: int = 0,
) -> Floats:
    """The log probabilities of labels, each given the later ones of its sequence; they add up.

    >>> log_weights = np.log([[0.9, 0.5], [0.1, 0.5]])
    >>> found = log_probabilities(np.array([0, 1]), log_weights, np.log(np.eye(2) + 1), name="z")
    >>> np.exp(found.sum()).round(3)  # (0.9 * 1 of 0.9 * 3 + 0.1 * 3)
    np.float64(0.3)
    """
    own = _arranged(name, log_weights, log_transitions, axis, None)
    steps, filtered = own.logs, own.in_logs()
    at = np.moveaxis(np.rint(np.asarray(labels)).astype(int) - lower, axis, 0)
    at = at.reshape(len(filtered), -1)
    found = np.empty(at.shape)
    for t in range(len(filtered) - 1, -1, -1):
        weights = filtered[t]
        if t < len(filtered) - 1:
            weights = weights + _columns(steps.after(t), at[t + 1])
        own_weight = np.take_along_axis(weights, at[t][:, None], axis=-1)
        # (the largest counts as one; nothing at all leads to an impossible label)
        total = np.maximum(steps.linear(weights).sum(axis=-1, keepdims=True), 1.0)
        found[t] = (own_weight - top_of(weights) - np.log(total))[:, 0]
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Chain:
    """The labels of an array of a shape, the chain along an axis, by time and sequence."""

    name: str
    shape: tuple[int, ...]
    axis: int
    logs: Filter

    @property
    def rest(self) -> tuple[int, ...]:
        """The shape without the axis of the chain."""
        return (*self.shape[: self.axis], *self.shape[self.axis + 1 :])

    def in_array(self, values: NDArray[Entry]) -> NDArray[Entry]:
        """Values by time and sequence, in the axes of the array."""
        own = values.shape[2:]  # (each may have several numbers)
        return np.moveaxis(values.reshape(len(values), *self.rest, *own), 0, self.axis)

    def place(self, t: int, sequence: int) -> str:
        """The element at a position of a sequence."""
        at = [int(i) for i in np.unravel_index(sequence, self.rest)] if self.rest else []
        return f"{self.name}{[*at[: self.axis], t, *at[self.axis :]]}"

    def filtered(self) -> tuple[Filter, Floats]:
        """The filter, of products if no precision is lost, else of logs; the filtered labels."""
        fast = products(self.logs)
        found = None if fast is None else fast.filtered()
        if fast is not None and found is not None:
            return fast, found
        return self.logs, self.in_logs()

    def in_logs(self) -> Floats:
        """The filtered labels, as logs."""
        found = self.logs.filtered()
        assert found is not None
        lost = np.isneginf(found.max(axis=-1)).any(axis=-1)
        if lost.any():
            t = int(lost.argmax())
            self.check_possible(found[t], t)
        return found

    def check_possible(self, led: Floats, t: int) -> None:
        """Raise where no label has a log weight above -inf, of those led to at a position."""
        lost = np.isneginf(led.max(axis=-1))
        if lost.any():
            raise RunError(
                f"{self.name}: no labels are possible: up to {self.place(t, int(lost.argmax()))} "
                "every sequence of them has probability zero; look for transitions of probability "
                "zero, and for labels and data that are known and that nothing can have led to."
            )


def _arranged(
    name: str,
    log_weights: Floats,
    log_transitions: Floats,
    axis: int,
    fixed: tuple[Flags, Any, int] | None,
) -> _Chain:
    """The chain with log weights by time and sequence; -inf for labels other than the known."""
    log_weights = np.asarray(log_weights, dtype=np.float64)
    size, shape = len(log_weights), log_weights.shape[1:]
    if fixed is not None:
        known, now, lower = fixed
        every = np.arange(lower, lower + size).reshape(-1, *[1] * len(shape))
        log_weights = np.where(known & (every != np.rint(now)), -np.inf, log_weights)
    by_time = np.moveaxis(log_weights, axis + 1, 0).reshape(shape[axis], size, -1)
    highest = by_time.max(axis=1)
    with np.errstate(invalid="ignore"):
        # (anew: what is given may be held by others)
        weights = np.subtract(np.swapaxes(by_time, 1, 2), highest[..., None], order="C")
    transitions = _by_time(np.asarray(log_transitions, dtype=np.float64), axis, shape)
    found = _Chain(name, shape, axis, Filter(weights, transitions))
    if not np.isfinite(highest).all():
        t, sequence = (int(i[0]) for i in np.nonzero(~np.isfinite(highest)))
        raise RunError(
            f"{found.place(t, sequence)}: all labels have probability zero, or a weight is not a "
            "number; look at what is known of it, and at the arguments of what depends on it."
        )
    if transitions.size and not transitions.max() < np.inf:
        raise RunError(f"{name}: a transition is not a number; look at what it is computed from.")
    return found


def _by_time(log_transitions: Floats, axis: int, shape: tuple[int, ...]) -> Floats:
    """Log transitions by time and sequence, unless they are the same everywhere."""
    if log_transitions.ndim == 2:
        return log_transitions
    size, count = len(log_transitions), shape[axis] - 1
    by_time = np.moveaxis(log_transitions, axis + 2, 0)
    if max(by_time.shape[3:], default=1) > 1:
        rest = [n for a, n in enumerate(shape) if a != axis]
        by_time = np.broadcast_to(by_time, (len(by_time), size, size, *rest))
    sequences = math.prod(by_time.shape[3:])  # (of a single label nothing else would tell)
    by_time = np.moveaxis(by_time.reshape(len(by_time), size, size, sequences), -1, 1)
    return np.broadcast_to(by_time, (count, *by_time.shape[1:]))


def _backwards(steps: Filter, filtered: Floats, uniform: Floats) -> Ints:
    """Labels from the last to the first, each given the one after."""
    count, sequences, size = filtered.shape
    labels = np.empty((count, sequences), dtype=np.intp)
    last = np.moveaxis(steps.linear(filtered[-1]), -1, 0)
    labels[-1] = _picked(list(last), uniform[-1])
    if not steps.in_blocks:
        for t in range(count - 2, -1, -1):
            # (only the transitions to the label drawn at the next position)
            pairs = steps.led_to(filtered[t], _columns(steps.after(t), labels[t + 1]))
            running = pairs.cumsum(axis=-1)
            threshold = uniform[t, :, None] * running[:, -1:]
            labels[t] = (running[:, :-1] <= threshold).sum(axis=-1)
        return labels
    before = _before_each(steps, filtered, uniform)
    every = np.arange(sequences)
    if sequences > FEW:
        for t in range(count - 2, -1, -1):
            labels[t] = before[t, every, labels[t + 1]]
        return labels
    for sequence in range(sequences):
        flat, now = before[:, sequence].ravel().tolist(), int(labels[-1, sequence])
        found = [now]
        for row in range((count - 2) * size, -1, -size):
            now = flat[row + now]
            found.append(now)
        labels[:, sequence] = found[::-1]
    return labels


def _columns(transitions: Floats, labels: Ints) -> Floats:
    """For each sequence, the transitions to a label."""
    if transitions.ndim == 2:
        return transitions.T[labels]
    return transitions[np.arange(len(labels)) % len(transitions), :, labels]


def _before_each(steps: Filter, filtered: Floats, uniform: Floats) -> Integers:
    """The label drawn at each position, for each possible label at the next position."""
    count, sequences, size = filtered.shape
    kind: type[np.integer] = np.int8 if size < 1 << 7 else np.intp
    found = np.empty((count - 1, sequences, size), dtype=kind)
    length = max(1, PIECE // (sequences * size**2))
    for start in range(0, count - 1, length):
        part = slice(start, min(start + length, count - 1))
        pairs = steps.pairs(filtered[part], steps.after(part))
        found[part] = _picked(pairs, uniform[part, :, None], kind)
    return found


def _picked(weights: list[Floats], uniform: Floats, kind: type[np.integer] = np.intp) -> Integers:
    """The number of running sums of weights, label by label, below a uniform share of the total."""
    running = list(accumulate(weights))
    threshold = uniform * running[-1]
    passed = np.zeros(threshold.shape, dtype=kind)
    for total in running[:-1]:
        passed += total <= threshold
    return passed
