"""Moves that leave a distribution invariant, for conditionals that no family owns.

Slice sampling after Neal (2003, Annals of Statistics 31, 705-767): stepping out, then shrinkage,
here for all conditionally independent elements at once, or for one element after the other, in
steps of random widths (section 4.1). A whole number is sampled as the floor of a real one whose
density is constant between whole numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gibbsppl.errors import RunError
from gibbsppl.runtime.selections import Move, by_colour, one_by_one
from gibbsppl.runtime.types import (
    Array,
    Flags,
    Floats,
    Generator,
    Index,
    Ints,
    LogDensity,
    Numbers,
    TunedState,
    Values,
)

# Neal's limit on the size of a slice, in widths; shared at random between the two sides.
STEPS_OUT = 64
# Integers of 64 bits are smaller.
NO_INTEGER = 2.0**63
# How many times the typical width a width may be.
WIDEST = 4


@dataclass(slots=True)
class Width:
    """The typical width of a slice, per element: adapted during warm-up, fixed afterwards."""

    value: Floats
    moves: int = 0
    adapting: bool = True

    def drawn(self, rng: Generator) -> Floats:
        """The typical widths times a random factor, which now and then finds more distant modes.

        Independently of the current value, the factor exceeds ``c`` with probability about
        ``1 / c``.
        """
        return self.value / rng.uniform(1 / WIDEST, 1, self.value.shape)

    def learn(self, distance: Floats) -> None:
        """Take in how far the last move went: the width is three times the mean distance."""
        if self.adapting:
            self.moves += 1
            mean = self.value / 3 + (distance - self.value / 3) / min(self.moves, 100)
            self.value = np.maximum(3 * mean, np.finfo(float).tiny)


# Sizes this large, or the inverse, are far from the scale of any data.
FAR = 2.0**45
# Rounding that would show in draws; and how many times that of the largest term may be in a sum.
TOLD, ROUNDED = 2.0**-7, 64.0


def with_digits(x: Numbers, *terms: Numbers) -> Numbers:
    """The sum of the terms of a log density; where it has no digits, less their size.

    Far out, huge terms may cancel, and leave nothing but rounding errors larger than all other
    terms: some of these values would seem the most probable of all.

    >>> with_digits(3.0, 1.0, -2.0), float(with_digits(1e20, 1e20, -40.0, -1e20))
    (-1.0, -2e+20)
    """
    total = sum(terms[1:], start=terms[0])
    if _is_near(x):
        return total
    size = sum(map(np.abs, terms))
    rounding = np.finfo(float).eps * size
    lost = (rounding > TOLD) & (np.abs(total) <= ROUNDED * rounding)
    if np.shape(lost) == np.shape(x):  # (one log density for each element)
        lost &= ~_are_near(np.abs(x))
    return np.where(lost, -size, total)[()]


def _is_near(x: Numbers) -> bool:
    """Whether no value is far out."""
    if np.ndim(x) == 0:
        return bool(_are_near(abs(x)))
    sizes = np.abs(x)
    return not sizes.size or bool(_are_near(sizes.min()) and _are_near(sizes.max()))


def _are_near(sizes: Any) -> Any:
    """The mask of sizes that are neither small nor large; 0 does not count as small."""
    return ((sizes > 1 / FAR) | (sizes == 0)) & (sizes < FAR)


def width_of(
    s: TunedState, name: str, shape: tuple[int, ...], first: float = 1.0
) -> Width:
    """The width of a step's slices, kept in the state under ``"~name"``; the ``first`` is given."""
    key = "~" + name
    if key not in s:
        s[key] = Width(np.full(shape, first, dtype=float), adapting="~" not in s)
    width: Width = s[key]
    return width


@dataclass(slots=True)
class Frozen:
    """In a state under ``"~"``: warm-up is over, and what has not been moved yet never adapts."""

    adapting: bool = False


def freeze(s: TunedState) -> None:
    """End the adaptation of all moves of a state: what warm-up does last."""
    s["~"] = Frozen()
    for name, value in s.items():
        if name.startswith("~"):
            value.adapting = False


@np.errstate(all="ignore")  # what is not a number, or overflows, is outside of the slice
def slice_batch(
    rng: Generator,
    x: Values,
    log_density: LogDensity,
    width: Width,
    lower: Values = -np.inf,
    upper: Values = np.inf,
) -> Values:
    """A slice move of every element at once; the elements are independent given the rest.

    ``log_density`` maps an array like ``x`` to one log density per element; a number to a number.
    Positive values are moved by their logs, which have no far tail.
    """
    if np.ndim(x) == 0:
        one, ends = float(x), (float(lower), float(upper))
        if ends != (0, np.inf) or one <= 0:
            return _slice_one(rng, one, log_density, width, *ends)
        start = math.log(one)
        moved = _slice_one(rng, start, _of_log(log_density), width, -np.inf, np.inf)
        return one if moved == start else math.exp(moved)
    x = np.asarray(x, dtype=float)
    if np.all(np.equal(lower, 0)) and np.all(np.equal(upper, np.inf)) and (x > 0).all():
        logs = np.log(x)
        new_logs = slice_batch(rng, logs, _of_logs(log_density), width)
        return np.where(new_logs == logs, x, np.exp(new_logs))
    log_density = _inside(log_density)
    level = log_density(x) - rng.standard_exponential(x.shape)
    if not np.all(level > -np.inf):
        raise RunError("slice: the current value has no finite log density.")
    tried = width.drawn(rng)
    left, right = _stepped_out(rng, x, log_density, level, tried, lower, upper)
    new, active = x.copy(), np.ones(x.shape, dtype=bool)
    while active.any():
        candidate = np.where(active, left + (right - left) * rng.random(x.shape), new)
        accepted = active & (log_density(candidate) >= level)
        new = np.where(accepted, candidate, new)
        active &= ~accepted
        left = np.where(active & (candidate < x), candidate, left)
        right = np.where(active & (candidate >= x), candidate, right)
        # An interval that has shrunk to nothing holds the current value alone.
        stuck = active & (right - left <= 4 * np.spacing(np.abs(x)))
        active &= ~stuck
    width.learn(np.abs(new - x))
    return new


def _inside(log_density: LogDensity) -> LogDensity:
    """The log density, -inf where it is infinite or not a number."""

    def inside(x: Values) -> Floats:
        found = np.asarray(log_density(x))
        return np.where(found < np.inf, found, -np.inf)

    return inside


def _of_logs(log_density: LogDensity) -> LogDensity:
    """The log density of the logs of positive values; -inf where the values over- or underflow."""

    def of_logs(logs: Values) -> Floats:
        x = np.exp(logs)
        return np.where((x > 0) & (x < np.inf), log_density(x) + logs, -np.inf)

    return of_logs


def _of_log(log_density: LogDensity) -> LogDensity:
    """The same of one number."""

    def of_log(log: Values) -> Numbers:
        x = math.exp(log) if type(log) is float else np.exp(log)
        return log_density(x) + log if 0 < x < np.inf else -np.inf

    return of_log


def _slice_one(
    rng: Generator,
    x: float,
    log_density: LogDensity,
    width: Width,
    lower: float,
    upper: float,
) -> float:
    """A slice move of one number: arrays of one element would cost several times as much."""

    def at(value: float) -> float:
        # (Python's own numbers raise where NumPy's overflow)
        try:
            found = float(log_density(value))
        except (ArithmeticError, TypeError):
            found = float(log_density(np.float64(value)))
        return found if found < np.inf else -np.inf

    level, size = at(x) - rng.standard_exponential(), float(width.drawn(rng))
    if not level > -np.inf:
        raise RunError("slice: the current value has no finite log density.")
    left = x - size * rng.random()
    right = left + size
    steps = int(STEPS_OUT * rng.random())
    for _ in range(steps):
        if not (left > lower and at(left) >= level):
            break
        left -= size
    for _ in range(STEPS_OUT - 1 - steps):
        if not (right < upper and at(right) >= level):
            break
        right += size
    left, right, new = max(left, lower), min(right, upper), x
    # An interval that has shrunk to nothing holds the current value alone.
    while right - left > 4 * np.spacing(abs(x)):
        candidate = left + (right - left) * rng.random()
        if at(candidate) >= level:
            new = candidate
            break
        left, right = (candidate, right) if candidate < x else (left, candidate)
    if width.adapting:
        width.learn(np.asarray(abs(new - x)))
    return new


def _stepped_out(
    rng: Generator,
    x: Array,
    log_density: LogDensity,
    level: Floats,
    width: Floats,
    lower: Values,
    upper: Values,
) -> tuple[Floats, Floats]:
    """An interval around x that reaches out of the slice on both sides, or to the bounds."""
    # Arrays even where x is a scalar: the edges are moved in place.
    left = np.asarray(x - width * rng.random(x.shape))
    right = np.asarray(left + width)
    steps_left = rng.integers(0, STEPS_OUT, x.shape)
    steps_right = STEPS_OUT - 1 - steps_left
    for edge, steps, direction, bound in (
        (left, steps_left, -1, lower),
        (right, steps_right, 1, upper),
    ):
        inside = _within(edge, bound, direction)
        growing = inside & (steps > 0)
        while growing.any():
            growing &= log_density(np.where(growing, edge, x)) >= level
            edge += direction * width * growing  # noqa: PLW2901  (in place, on purpose)
            steps -= growing  # noqa: PLW2901  (in place, on purpose)
            growing &= _within(edge, bound, direction) & (steps > 0)
    return np.maximum(left, lower), np.minimum(right, upper)


def _within(edge: Floats, bound: Values, direction: int) -> Flags:
    return np.asarray(edge > bound if direction < 0 else edge < bound)


def slice_integers(
    rng: Generator,
    x: Values,
    log_density: LogDensity,
    width: Width,
    lower: Values = -np.inf,
    upper: Values = np.inf,
) -> Ints:
    """A slice move of every whole number at once, as the floor of a real one."""
    now = np.asarray(x, dtype=float)
    real = now + rng.random(np.shape(x))
    real = np.where(np.floor(real) == now, real, now)  # (rounded up, it would be of the next one)
    # (labels are read as positions of other arrays)
    are_labels = np.isfinite(lower).all() and np.isfinite(upper).all()
    end = np.add(upper, 1.0)

    def of_real(v: Values) -> Numbers:
        outside = (v >= end) | (np.abs(v) >= NO_INTEGER)
        whole = np.where(outside, now, np.floor(v))
        found = log_density(whole.astype(np.intp) if are_labels else whole[()])
        return np.where(outside, -np.inf, found)[()]

    new = slice_batch(rng, real, of_real, width, lower, end)
    return np.asarray(np.floor(new)).astype(np.intp)[()]


def slice_part(  # noqa: PLR0913  (as generated code calls it)
    rng: Generator,
    x: Array,
    at: Index,
    log_density: LogDensity,
    width: Width,
    lower: Values = -np.inf,
    upper: Values = np.inf,
    *,
    whole: bool = False,
) -> Array:
    """A slice move of the elements at an index; ``log_density`` maps the whole array.

    ``whole``: these elements are whole numbers, whatever the rest of the array is.
    """

    def moved(_at: Index, own: Array, density: LogDensity, low: Array, high: Array) -> Values:
        return _move_of(whole)(rng, own, density, width, low, high)

    return by_colour(x, (at,), log_density, (lower, upper), moved)


def slice_elements(  # noqa: PLR0913  (as generated code calls it)
    rng: Generator,
    x: Array,
    log_density: LogDensity,
    width: Width,
    positions: Iterable[tuple[int, ...]],
    lower: Values = -np.inf,
    upper: Values = np.inf,
    *,
    whole: bool = False,
) -> Array:
    """Slice moves of the elements in turn; ``log_density`` maps an array to one number."""
    moved = with_widths_there(width, _moved_by(rng, whole))
    return one_by_one(x, positions, log_density, (lower, upper), moved)


def slice_colours(  # noqa: PLR0913  (as generated code calls it)
    rng: Generator,
    x: Array,
    log_density: LogDensity,
    width: Width,
    colours: Iterable[Index],
    lower: Values = -np.inf,
    upper: Values = np.inf,
    *,
    whole: bool = False,
) -> Array:
    """Slice moves of all elements of one colour after the other; ``log_density`` is of each."""
    moved = with_widths_there(width, _moved_by(rng, whole))
    return by_colour(x, colours, log_density, (lower, upper), moved)


def _move_of(whole: bool) -> Callable[..., Values]:
    return slice_integers if whole else slice_batch


def _moved_by(rng: Generator, whole: bool) -> Callable[..., Values]:
    """A slice move of values by their log density, both bounds and their widths."""

    def moved(own: Array, density: LogDensity, low: Array, high: Array, there: Width) -> Values:
        return _move_of(whole)(rng, own, density, there, low, high)

    return moved


def with_widths_there(width: Width, move: Callable[..., Values]) -> Move:
    """A move of the elements at each index in turn, with the widths there: for one sweep."""
    width.moves += width.adapting

    def moved(at: Index, own: Array, density: LogDensity, low: Array, high: Array) -> Values:
        there = Width(width.value[at], width.moves - width.adapting, width.adapting)
        new = move(own, density, low, high, there)
        width.value[at] = there.value
        return new

    return moved
