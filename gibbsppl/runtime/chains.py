"""Joint draws of labels along chains: forward filtering, backward sampling.

For labels with log density ``sum_t a_t(z_t) + sum_t b_t(z_{t-1}, z_t)``, forwards
``f_t(z) = exp(a_t(z)) * sum_k f_{t-1}(k) exp(b_t(k, z))``; backwards the last label has weights
``f_T``, and label t, given the one after, ``f_t(k) exp(b_{t+1}(k, z_{t+1}))`` (S. Chib 1996, Journal
of Econometrics 75, 79-97; S. L. Scott 2002, Journal of the American Statistical Association 97,
337-351). Many sequences are one array. A long one is cut into blocks that are filtered side by side,
from every label that each could come from (the products of a parallel prefix sum: S. Sarkka and
A. F. Garcia-Fernandez 2021, IEEE Transactions on Automatic Control 66, 299-306).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gibbsppl.errors import RunError

Floats = NDArray[np.float64]

# Log transitions that differ by no more than this at one position are multiplied as they are. What
# `_scaled` says of the sizes of products leaves room for it between the smallest and largest number.
MOST_APART = 100.0
LARGEST_EXPONENT = 600.0
# A share of all probability that a number near one cannot show: below half its last digit.
NEGLIGIBLE = -math.log(np.finfo(float).eps / 4)
# Blocks multiply the work by the number of labels: above this they take longer than a loop.
MOST_IN_BLOCKS = 10_000
# Shorter chains than this are not cut into blocks.
SHORTEST_IN_BLOCKS = 64
# How much longer a step within blocks takes than one from block to block.
WITHIN_TO_BETWEEN = 3.5
# Up to so many sequences are followed back one by one: reading a list is fast.
FEW = 8
# Numbers worked on at once on the way back.
PIECE = 1 << 17


def known_labels(shape: tuple[int, ...], *drawn: tuple[Any, Any]) -> NDArray[np.bool_]:
    """Where labels are not drawn: all but places (start and stop per axis), each with what is known.

    >>> known_labels((4,), (((1, 4),), np.array([0, 0, 1, 0])))
    array([ True, False,  True, False])
    """
    known = np.ones(shape, dtype=bool)
    for place, mask in drawn:
        corner = tuple(slice(a, b) for a, b in place)
        known[corner] = False if mask is None else np.asarray(mask)[corner] != 0
    return known


def chain(
    rng: np.random.Generator,
    log_weights: Any,
    log_transitions: Any,
    *,
    name: str,
    axis: int = 0,
    lower: int = 0,
    now: Any = None,
    known: Any = None,
) -> NDArray[np.intp]:
    """Labels drawn together, tied to their neighbours along one axis.

    ``log_weights`` have the labels along the first axis, then the axes of the array;
    ``log_transitions`` the labels before, the labels, and, if they differ from place to place, the
    same axes, with one position less along the chain. Labels start at ``lower``. Those that are
    ``known`` are what they are ``now``.

    >>> log_weights = np.log([[0.9, 0.5, 0.5, 0.5], [0.1, 0.5, 0.5, 0.5]])
    >>> with np.errstate(divide="ignore"):
    ...     stay = np.log(np.eye(2))
    >>> chain(np.random.default_rng(1), log_weights, stay, name="z")
    array([0, 0, 0, 0])
    """
    own = _arranged(name, log_weights, log_transitions, axis, _fixed(now, known, lower))
    uniform = rng.random(own.weights.shape[:2])
    labels = _backwards(own, own.filtered(), uniform)
    if known is None:
        return own.in_array(labels) + lower
    return np.where(known, now, own.in_array(labels) + lower).astype(np.intp)


def smoothed(
    log_weights: Any,
    log_transitions: Any,
    *,
    name: str,
    axis: int = 0,
    lower: int = 0,
    now: Any = None,
    known: Any = None,
) -> Floats:
    """The probability of each label, given all log weights: labels first, then the array's axes."""
    own = _arranged(name, log_weights, log_transitions, axis, _fixed(now, known, lower))
    filtered = own.filtered()
    found = np.empty(filtered.shape)
    found[-1] = _shares(own.linear(filtered[-1]), -1)
    for t in range(len(found) - 2, -1, -1):
        pairs = _shares(own.pairs(filtered[t], own.after(t)), -2)
        found[t] = (pairs @ found[t + 1][..., None])[..., 0]
    return np.stack([own.in_array(found[..., k]) for k in range(found.shape[-1])])


def _fixed(now: Any, known: Any, lower: int) -> tuple[Any, Any] | None:
    """Where labels are known, and which they are, counted from 0."""
    return None if known is None else (known, np.rint(now).astype(np.intp) - lower)


def _shares(weights: Floats, axis: int) -> Floats:
    """Weights divided by their sum along an axis; nothing where all are zero."""
    total = weights.sum(axis=axis, keepdims=True)
    return np.asarray(weights / np.where(total > 0, total, 1.0))


@dataclass(frozen=True, slots=True, eq=False)
class _Chain:
    """``weights[t, sequence, label]`` and ``transitions[(t, sequence,) before, label]``.

    They are logs if ``logs``; if not, their size is such that ``every`` so many steps without
    dividing by the largest lose nothing. ``shape`` is that of the array, the chain along ``axis``.
    """

    name: str
    weights: Floats
    transitions: Floats
    logs: bool
    every: int
    shape: tuple[int, ...]
    axis: int

    def in_array(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values by time and sequence, in the axes of the array."""
        rest = (*self.shape[: self.axis], *self.shape[self.axis + 1 :])
        return np.moveaxis(values.reshape(len(values), *rest), 0, self.axis)

    def after(self, t: Any) -> Floats:
        """The transitions from position t to the next."""
        return self.transitions if self.transitions.ndim == 2 else self.transitions[t]

    def linear(self, rows: Floats) -> Floats:
        """Weights that are logs as such, the largest of the last axis being one."""
        if not self.logs:
            return rows
        return np.asarray(np.exp(rows - _top(rows, -1)))

    def pairs(self, rows: Floats, transitions: Floats) -> Floats:
        """What each label and the one after weigh together, the label in the last axis but one."""
        if not self.logs:
            return rows[..., :, None] * transitions
        pairs = rows[..., :, None] + transitions
        return np.asarray(np.exp(pairs - _top(pairs, -2)))

    def advanced(self, rows: Floats, transitions: Floats, weights: Floats) -> Floats:
        """One step of the filter."""
        if self.logs:
            return _log_product(rows, transitions) + weights
        if transitions.ndim == 2:
            flat = rows.reshape(-1, rows.shape[-1]) @ transitions
            return np.asarray(flat.reshape(rows.shape) * weights)
        if rows.ndim == transitions.ndim:
            return np.asarray((rows @ transitions) * weights)
        return np.asarray((rows[..., None, :] @ transitions)[..., 0, :] * weights)

    def scaled(self, rows: Floats, axes: tuple[int, ...] = (-1,)) -> Floats:
        """Rows of filters with the largest entry one, or its log zero."""
        if self.logs:
            return np.asarray(rows - _top(rows, axes))
        return np.asarray(rows / rows.max(axis=axes, keepdims=True))

    def filtered(self) -> Floats:
        """The forward filter, each position up to a factor."""
        count, sequences, size = self.weights.shape
        short = count < SHORTEST_IN_BLOCKS or sequences * size**3 > MOST_IN_BLOCKS
        blocks = 1 if short else round(math.sqrt(WITHIN_TO_BETWEEN * count))
        cut = _Blocks(self, blocks, -(-count // blocks))
        found = cut.filtered()
        if self.logs:
            self._check_possible(found)
        return found

    def _check_possible(self, filtered: Floats) -> None:
        lost = np.isneginf(filtered.max(axis=-1))
        if lost.any():
            t, sequence = (int(i[0]) for i in np.nonzero(lost))
            raise RunError(
                f"{self.name}: no labels are possible: up to {self.place(t, sequence)} every "
                "sequence of them has probability zero; look for transitions of probability zero, "
                "and for labels and data that are known and that nothing can have led to."
            )

    def place(self, t: int, sequence: int) -> str:
        """The element at a position of a sequence."""
        rest = (*self.shape[: self.axis], *self.shape[self.axis + 1 :])
        at = [int(i) for i in np.unravel_index(sequence, rest)] if rest else []
        return f"{self.name}{[*at[: self.axis], t, *at[self.axis :]]}"


@dataclass(frozen=True, slots=True, eq=False)
class _Blocks:
    """A chain cut into ``count`` blocks of ``length`` steps; what the last has too many is empty."""

    chain: _Chain
    count: int
    length: int

    @property
    def empty(self) -> float:
        """The weight of a label at a step that says nothing."""
        return 0.0 if self.chain.logs else 1.0

    def filtered(self) -> Floats:
        """The filter, all blocks at a time."""
        own = self.chain
        weights = self._cut(own.weights)
        into = self._into()
        rows = np.empty((self.length, *weights.shape[1:]))
        now = self._entering(weights, into)
        for j in range(self.length):
            now = own.advanced(now, self._at(into, j), weights[j])
            if j == 0:
                now[0] = weights[0, 0]
            if (j + 1) % own.every == 0:
                now = own.scaled(now)
            rows[j] = now
        joined = np.swapaxes(rows, 0, 1).reshape(self.count * self.length, *rows.shape[2:])
        return joined[: len(own.weights)]

    def _entering(self, weights: Floats, into: Floats) -> Floats:
        """The filter just before each block; the first has none before it."""
        own = self.chain
        entering = np.zeros(weights.shape[1:])
        if self.count == 1:
            return entering
        products = self._products(weights, into)
        entering[1] = products[0, :, 0]
        for b in range(1, self.count - 1):
            entering[b + 1] = own.scaled(own.advanced(entering[b], products[b], self.empty))
        return entering

    def _products(self, weights: Floats, into: Floats) -> Floats:
        """For each block, the filter after it from each label before it."""
        own = self.chain
        first = self._at(into, 0)
        start = weights[0][..., None, :]
        now = np.asarray(first + start if own.logs else first * start)
        now[0] = start[0]
        for j in range(1, self.length):
            transitions = self._at(into, j)
            now = own.advanced(now, transitions, weights[j][..., None, :])
            if (j + 1) % own.every == 0:
                now = own.scaled(now, (-2, -1))
        return own.scaled(now, (-2, -1))

    def _cut(self, values: Floats) -> Floats:
        """Values by time as values by step of a block, and block."""
        full = np.full((self.count * self.length, *values.shape[1:]), self.empty)
        full[: len(values)] = values
        by_block = full.reshape(self.count, self.length, *values.shape[1:])
        return np.ascontiguousarray(np.swapaxes(by_block, 0, 1))

    def _into(self) -> Floats:
        """The transitions into each position, by step and block, if they are not all the same."""
        transitions = self.chain.transitions
        if transitions.ndim == 2:
            return transitions
        first = np.full((1, *transitions.shape[1:]), self.empty)
        return self._cut(np.concatenate([first, transitions]))

    def _at(self, into: Floats, j: int) -> Floats:
        return into if self.chain.transitions.ndim == 2 else into[j]


def _top(values: Floats, axis: int | tuple[int, ...]) -> Floats:
    """The largest along an axis, 0 where that is minus infinity."""
    top = values.max(axis=axis, keepdims=True)
    return np.where(np.isneginf(top), 0.0, top)


def _log_product(rows: Floats, transitions: Floats) -> Floats:
    """The logs of rows times matrices."""
    if rows.ndim == transitions.ndim > 2:
        transitions = transitions[..., None, :, :]
    terms = rows[..., :, None] + transitions
    top = _top(terms, -2)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(terms - top).sum(axis=-2)) + top[..., 0, :])


def _arranged(
    name: str, log_weights: Any, log_transitions: Any, axis: int, fixed: tuple[Any, Any] | None
) -> _Chain:
    """The weights by time and sequence, multiplied out if that loses nothing, as logs otherwise."""
    log_weights = np.asarray(log_weights, dtype=np.float64)
    size, *shape = log_weights.shape
    count = shape[axis]
    if fixed is not None:
        known, labels = fixed
        others = np.arange(size).reshape(-1, *[1] * len(shape)) != labels
        log_weights = np.where(known & others, -np.inf, log_weights)
    by_time = np.moveaxis(log_weights, axis + 1, 0).reshape(count, size, -1)
    weights = np.ascontiguousarray(np.swapaxes(by_time, 1, 2))
    transitions = _by_time(np.asarray(log_transitions, dtype=np.float64), axis, shape)
    with np.errstate(all="ignore"):
        highest = weights.max(axis=-1, keepdims=True)
        most = transitions.max(axis=(-2, -1), keepdims=True)
        apart = float((most - transitions.min(axis=(-2, -1), keepdims=True)).max(initial=0.0))
    found = _Chain(name, weights, transitions, True, 1, tuple(shape), axis)  # noqa: FBT003
    if not np.isfinite(highest).all():
        t, sequence = (int(i[0]) for i in np.nonzero(~np.isfinite(highest[..., 0])))
        raise RunError(
            f"{found.place(t, sequence)}: all labels have probability zero, or a weight is not a "
            "number; look at what is known of it, and at the arguments of what depends on it."
        )
    if np.isnan(most).any() or np.isposinf(most).any():
        raise RunError(f"{name}: a transition is not a number; look at what it is computed from.")
    if not apart <= MOST_APART:
        return found
    return _multiplied(found, highest, most, apart)


def _multiplied(logs: _Chain, highest: Floats, most: Floats, apart: float) -> _Chain:
    """A chain whose weights are no logs, without labels that next to nothing speaks for.

    In any sequence, a label in the place of another changes what transitions say by a factor of
    ``exp(2 * apart)`` at most. Where a weight is smaller than the largest at its position by more
    than that and `NEGLIGIBLE`, for each of all labels, the label is left out: together this
    changes probabilities by less than rounding does. What is left cannot underflow.
    """
    weights = np.exp(logs.weights - highest)
    margin = 2 * apart + NEGLIGIBLE + math.log(weights.size)
    weights[weights < math.exp(-margin)] = 0.0
    # From one division to the next, sums fall by `apart` for a step or rise by the labels.
    room = LARGEST_EXPONENT - margin - 2 * apart
    every = max(1, int(room / max(apart, math.log(weights.shape[-1]), 1.0)))
    return _Chain(
        logs.name,
        weights,
        np.exp(logs.transitions - most),
        False,  # noqa: FBT003
        every,
        logs.shape,
        logs.axis,
    )


def _by_time(log_transitions: Floats, axis: int, shape: list[int]) -> Floats:
    """Log transitions by time and sequence, unless they are the same everywhere."""
    if log_transitions.ndim == 2:
        return log_transitions
    size, count = len(log_transitions), shape[axis] - 1
    by_time = np.moveaxis(log_transitions, axis + 2, 0)
    rest = [n for a, n in enumerate(shape) if a != axis]
    if max(by_time.shape[3:], default=1) > 1:
        by_time = np.broadcast_to(by_time, (len(by_time), size, size, *rest))
    by_time = by_time.reshape(len(by_time), size, size, -1)
    by_time = np.moveaxis(by_time, -1, 1)
    return np.broadcast_to(by_time, (count, *by_time.shape[1:]))


def _backwards(own: _Chain, filtered: Floats, uniform: Floats) -> NDArray[np.intp]:
    """Labels from the last to the first, each given the one after."""
    count, sequences, size = filtered.shape
    labels = np.empty((count, sequences), dtype=np.intp)
    labels[-1] = _picked(own.linear(filtered[-1]), uniform[-1])
    every = np.arange(sequences)
    if sequences * size**3 > MOST_IN_BLOCKS:
        for t in range(count - 2, -1, -1):
            # (of the transitions only those to the label that is there)
            to = own.after(t)
            chosen = to[:, labels[t + 1]].T if to.ndim == 2 else _columns(to, labels[t + 1])
            pairs = own.pairs(filtered[t], chosen[..., None])[..., 0]
            labels[t] = _picked(pairs, uniform[t])
        return labels
    before = _before_each(own, filtered, uniform)
    if sequences > FEW:
        for t in range(count - 2, -1, -1):
            labels[t] = before[t, every, labels[t + 1]]
        return labels
    for sequence in range(sequences):
        now = int(labels[-1, sequence])
        found = [now]
        for row in reversed(before[:, sequence].tolist()):
            now = row[now]
            found.append(now)
        labels[:, sequence] = found[::-1]
    return labels


def _columns(transitions: Floats, labels: NDArray[np.intp]) -> Floats:
    """For each sequence, the transitions to a label."""
    every = np.arange(len(labels)) if len(transitions) > 1 else np.zeros(len(labels), dtype=np.intp)
    return transitions[every, :, labels]


def _before_each(own: _Chain, filtered: Floats, uniform: Floats) -> NDArray[np.intp]:
    """For each position and each label that could be after it, the label that is drawn there."""
    count, sequences, size = filtered.shape
    found = np.empty((count - 1, sequences, size), dtype=np.intp)
    step = max(1, PIECE // (sequences * size**2))
    for start in range(0, count - 1, step):
        part = slice(start, min(start + step, count - 1))
        pairs = own.pairs(filtered[part], own.after(part))
        running = np.cumsum(pairs, axis=-2)
        threshold = uniform[part, :, None, None] * running[..., -1:, :]
        found[part] = (running[..., :-1, :] <= threshold).sum(axis=-2)
    return found


def _picked(weights: Floats, uniform: Floats) -> NDArray[np.intp]:
    """For each row of weights, how many running sums a uniform share of the total has passed."""
    running = weights.cumsum(axis=-1)
    threshold = np.asarray(uniform)[..., None] * running[..., -1:]
    return np.asarray((running[..., :-1] <= threshold).sum(axis=-1), dtype=np.intp)
