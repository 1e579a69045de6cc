"""The forward filter of labels along chains, as products or as logs.

For labels with log density ``sum_t a_t(z_t) + sum_t b_t(z_{t-1}, z_t)`` the filter is
``f_t(z) = exp(a_t(z)) * sum_k f_{t-1}(k) exp(b_t(k, z))``, at each position up to a factor. A long
chain is cut into blocks that are filtered side by side, from every label that each could come from
(the products of a parallel prefix sum: S. Sarkka and A. F. Garcia-Fernandez 2021, IEEE Transactions
on Automatic Control 66, 299-306).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gibbsppl.runtime.types import Flags, Floats

# Transitions whose logs differ by no more than this at one position are multiplied as they are.
MOST_APART = 100.0
# Products stay above the exponential of minus this, with room to the smallest number.
LARGEST_EXPONENT = 600.0
# A filter that is smaller is zero.
SMALLEST = float(np.finfo(float).tiny)
# A share of all probability that a number near one cannot show: below half its last digit.
NEGLIGIBLE = -math.log(np.finfo(float).eps / 4)
# Underflow beside a number above this (the largest being one) is less than its rounding error.
SMALLEST_KEPT = float(np.finfo(float).tiny / np.finfo(float).eps)
# Blocks multiply the work by the number of labels: above this they take longer than a loop.
MOST_IN_BLOCKS = 10_000
# Shorter chains than this are not cut into blocks.
SHORTEST_IN_BLOCKS = 64
# How much longer a step within blocks takes than one from block to block.
WITHIN_TO_BETWEEN = 2.0


@dataclass(frozen=True, slots=True, eq=False)
class Filter:
    """``weights[t, sequence, label]`` and ``transitions[(t, sequence,) before, label]``.

    The largest weight at each position is one. Weights are logs if ``logs``; if not, ``every`` is
    the number of steps allowed without dividing by the largest weight. ``possible`` is a mask of
    the weights above zero, if zeros are to be checked afterwards: each must be exact, and not due
    to rounding.
    """

    weights: Floats
    transitions: Floats
    logs: bool = True
    every: int = 1
    possible: Flags | None = None

    @property
    def is_same(self) -> bool:
        """Whether the transitions are the same at all positions."""
        return self.transitions.ndim == 2

    @property
    def empty(self) -> float:
        """The weight of a label without information: 1, or 0 in logs."""
        return 0.0 if self.logs else 1.0

    @property
    def in_blocks(self) -> bool:
        """Whether labels are few enough for all of them to be followed at once."""
        _, sequences, size = self.weights.shape
        return bool(sequences * size**3 <= MOST_IN_BLOCKS)

    def after(self, t: int | slice) -> Floats:
        """The transitions from a position to the next, or from several."""
        return self.transitions if self.is_same else self.transitions[t]

    def linear(self, rows: Floats) -> Floats:
        """Weights on the linear scale, up to a factor, from weights or their logs."""
        return np.asarray(np.exp(rows - top_of(rows))) if self.logs else rows

    def led_to(self, rows: Floats, transitions: Floats) -> Floats:
        """The weight of each label times its transition to the next label, on the linear scale."""
        return self.linear(rows + transitions) if self.logs else rows * transitions

    def pairs(self, rows: Floats, transitions: Floats) -> list[Floats]:
        """For each label, its weight times the transition to each next label (the last axis)."""
        size = rows.shape[-1]
        by_label = [(rows[..., k, None], transitions[..., k, :]) for k in range(size)]
        if not self.logs:
            return [own * to for own, to in by_label]
        logs = [own + to for own, to in by_label]
        top = np.maximum.reduce(logs)
        top[np.isneginf(top)] = 0.0
        return [np.exp(x - top) for x in logs]

    def led(self, rows: Floats, transitions: Floats) -> Floats:
        """The filter one step forwards, before the weights of the labels there: a prediction."""
        if self.logs:
            return _log_product(rows, transitions)
        if transitions.ndim == 2:
            flat = rows.reshape(-1, rows.shape[-1]) @ transitions
            return flat.reshape(rows.shape)
        if rows.ndim == transitions.ndim:
            return rows @ transitions
        return np.asarray((rows[..., None, :] @ transitions)[..., 0, :])

    def advanced(self, rows: Floats, transitions: Floats, weights: Floats) -> Floats:
        """One step forwards."""
        led = self.led(rows, transitions)
        if self.logs:
            led += weights
        else:
            led *= weights
        return led

    def scaled(self, rows: Floats) -> tuple[Floats, Floats]:
        """Rows divided by their largest entry (in logs: less the largest), and that entry."""
        if self.logs:
            top = top_of(rows)
            return rows - top, top
        top = np.maximum(rows.max(axis=-1, keepdims=True), SMALLEST)
        return rows / top, top

    def filtered(self) -> Floats | None:
        """The filter by time, sequence and label; None where rounding has made zeros."""
        count = len(self.weights)
        short = count < SHORTEST_IN_BLOCKS or not self.in_blocks
        blocks = 1 if short else round(math.sqrt(WITHIN_TO_BETWEEN * count))
        return _Blocks(self, blocks, -(-count // blocks)).filtered()


def products(logs: Filter) -> Filter | None:
    """The filter of the same labels, with products in place of logs; None if they may underflow.

    Where no transition is impossible, another label in a sequence changes the product of its
    transitions by a factor of ``exp(2 * apart)`` at most. A weight smaller than the largest at its
    position by more than this factor and `NEGLIGIBLE`, for each of all labels, is put to zero:
    together this changes probabilities by less than rounding does. Then nothing underflows.
    """
    with np.errstate(all="ignore"):
        weights = np.exp(logs.weights)
        most = logs.transitions.max(axis=(-2, -1), keepdims=True)
        lowered = logs.transitions - np.where(np.isneginf(most), 0.0, most)
    transitions = np.exp(lowered)
    apart = -float(lowered.min(initial=0.0, where=np.isfinite(lowered)))
    if not apart <= MOST_APART:
        return None
    if not np.isfinite(lowered).all():
        possible = ~np.isneginf(logs.weights)
        return Filter(weights, transitions, logs=False, possible=possible)
    margin = 2 * apart + NEGLIGIBLE + math.log(weights.size)
    weights[weights < math.exp(-margin)] = 0.0
    # From one division to the next, sums fall by `apart` for a step or rise by the labels.
    room = LARGEST_EXPONENT - margin - 2 * apart
    every = max(1, int(room / max(apart, math.log(weights.shape[-1]), 1.0)))
    return Filter(weights, transitions, logs=False, every=every)


def rounding(steps: int, labels: int) -> float:
    """The largest relative difference of two ways to the same products, of positive numbers.

    A step adds up as many products as there are labels, weighs the sum and may scale it: each
    operation rounds by half of an ``eps`` at most, in both ways.
    """
    return steps * (labels + 2) * float(np.finfo(float).eps)


@dataclass(frozen=True, slots=True, eq=False)
class _Blocks:
    """A chain cut into ``count`` blocks of ``length`` steps; those beyond its end are empty."""

    of: Filter
    count: int
    length: int

    def filtered(self) -> Floats | None:
        """The filter, all blocks at a time."""
        own = self.of
        weights, into = self._cut(own.weights), self._into()
        entering = self._entering(weights, into)
        rows, now = np.empty(weights.shape), entering
        tops = np.ones((*weights.shape[:-1], 1))
        for j in range(self.length):
            now = own.advanced(now, self._at(into, j), weights[j])
            if j == 0:
                now[0] = weights[0, 0]
            if (j + 1) % own.every == 0:
                now, tops[j] = own.scaled(now)
            rows[j] = now
        found = self._in_order(rows)
        if own.possible is None:
            return found
        # (of what is divided by a small number few digits may be left)
        before = self._in_order(rows * tops)
        lost = (before > 0) & (before < SMALLEST_KEPT)
        rounded = rounding(len(own.weights), weights.shape[-1])
        met = np.isclose(entering[1:], rows[-1, :-1], rtol=rounded, atol=0)
        if lost.any() or not met.all():
            return None
        return found if self._zeros_are_true(own.possible, found) else None

    def _in_order(self, rows: Floats) -> Floats:
        """Rows by step of a block, and block, by time."""
        joined = np.swapaxes(rows, 0, 1).reshape(self.count * self.length, *rows.shape[2:])
        return joined[: len(self.of.weights)]

    def _zeros_are_true(self, possible: Flags, found: Floats) -> bool:
        """Whether all zeros are exact: no possible path leads to these labels."""
        zero = found == 0
        if not zero.any():
            return True
        if zero.all(axis=-1).any():
            return False
        ways = (self.of.transitions > 0).astype(float)
        before = (~zero[:-1]).astype(float)
        led = before @ ways if self.of.is_same else (before[..., None, :] @ ways)[..., 0, :]
        reached = possible.copy()
        reached[1:] &= led > 0
        return not (zero & reached).any()

    def _entering(self, weights: Floats, into: Floats) -> Floats:
        """The filter just before each block; the first has none before it."""
        own = self.of
        entering = np.zeros(weights.shape[1:])
        if self.count == 1:
            return entering
        between = self._between(weights, into)
        entering[1] = between[0, :, 0]
        for b in range(1, self.count - 1):
            entering[b + 1], _ = own.scaled(own.led(entering[b], between[b]))
        return entering

    def _between(self, weights: Floats, into: Floats) -> Floats:
        """For each block, the filter after it from each label before it."""
        own, start = self.of, weights[0][..., None, :]
        first = self._at(into, 0)
        now = np.asarray(first + start if own.logs else first * start)
        now[0] = start[0]
        scale = np.zeros((*now.shape[:-1], 1))
        for j in range(1, self.length):
            now = own.advanced(now, self._at(into, j), weights[j][..., None, :])
            if (j + 1) % own.every == 0:
                now, top = own.scaled(now)
                scale += top if own.logs else np.log(top)
        now, top = own.scaled(now)
        if own.logs:
            scale += top
            return now + (scale - top_of(scale, -2))
        scale += np.log(top)
        scale[now.max(axis=-1, keepdims=True) == 0] = -np.inf
        return np.asarray(now * np.exp(scale - top_of(scale, -2)))

    def _cut(self, values: Floats) -> Floats:
        """Values by time as values by step of a block, and block."""
        full = np.full((self.count * self.length, *values.shape[1:]), self.of.empty)
        full[: len(values)] = values
        by_block = full.reshape(self.count, self.length, *values.shape[1:])
        return np.ascontiguousarray(np.swapaxes(by_block, 0, 1))

    def _into(self) -> Floats:
        """The transitions into each position, by step and block, if they are not all the same."""
        transitions = self.of.transitions
        if self.of.is_same:
            return transitions
        first = np.full((1, *transitions.shape[1:]), self.of.empty)
        return self._cut(np.concatenate([first, transitions]))

    def _at(self, into: Floats, j: int) -> Floats:
        return into if self.of.is_same else into[j]


def top_of(values: Floats, axis: int = -1) -> Floats:
    """The largest along an axis, 0 where that is minus infinity."""
    top = values.max(axis=axis, keepdims=True)
    return np.where(np.isneginf(top), 0.0, top)


def _log_product(rows: Floats, transitions: Floats) -> Floats:
    """The logs of rows times matrices."""
    if rows.ndim == transitions.ndim > 2:
        transitions = transitions[..., None, :, :]
    terms = rows[..., :, None] + transitions
    top = top_of(terms, -2)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(terms - top).sum(axis=-2)) + top[..., 0, :])
