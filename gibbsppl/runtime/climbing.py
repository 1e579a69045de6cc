"""Where a log density is largest, for all independent elements at once: what is read by its mode.

The search needs no derivatives: a maximum is bracketed from the current value on, steps doubling,
narrowed by golden sections, and polished by Newton steps from differences. Values with bounds are
searched on a scale without, on which the largest value is the same. Of a density with several modes
it finds one near by, never lower than where it starts.

>>> climb(lambda x: -(x - 3.0) ** 2, np.zeros(2)).round(6)
array([3., 3.])
>>> climb(lambda x: 2 * np.log(x) - x, np.array([0.1]), lower=0.0).round(6)
array([2.])
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from gibbsppl.errors import RunError
from gibbsppl.runtime.by_scipy import expit, special
from gibbsppl.runtime.selections import by_colour, one_by_one
from gibbsppl.runtime.types import Floats, Index, LogDensity, Numbers, Values

Height = Callable[[Floats], Floats]

# Steps of a bracket double so often at most, from a hundredth of the size of the value on.
DOUBLINGS = 60
FIRST = 0.01
# Golden sections after which the difference of two log densities is rounding.
SECTIONS = 45
GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0
# The step of differences, in units of the bracket's middle: its error is that of rounding.
DIFFERENCE = 1e-4
POLISHINGS = 2


@np.errstate(all="ignore")  # what is not a number, or overflows, is outside of the support
def climb(
    log_density: LogDensity, now: Numbers, lower: Numbers = -np.inf, upper: Numbers = np.inf
) -> Floats:
    """The values of the largest log density, one number for each element."""
    to, back = _unbounded(lower, upper)
    start = np.asarray(to(np.asarray(now, dtype=float)), dtype=float)

    def height(t: Floats) -> Floats:
        found = np.broadcast_to(np.asarray(log_density(back(t)), dtype=float), t.shape)
        return np.where(np.isnan(found), -np.inf, found)

    low, high = _bracket(height, start)
    best = _narrowed(height, low, high)
    best = np.where(height(best) >= height(start), best, start)
    for _ in range(POLISHINGS):
        best = _polished(height, best)
    return np.asarray(back(best))


def climb_part(
    x: Floats, at: Index, log_density: LogDensity, lower: Numbers = -np.inf, upper: Numbers = np.inf
) -> Floats:
    """The array with the elements at an index where the log density is largest."""
    return climb_colours(x, log_density, (at,), lower, upper)


def climb_elements(
    x: Floats,
    log_density: LogDensity,
    positions: Iterable[tuple[int, ...]],
    lower: Numbers = -np.inf,
    upper: Numbers = np.inf,
) -> Floats:
    """The array with its elements put to their best in turn."""
    return np.asarray(one_by_one(x, positions, log_density, (lower, upper), _climbing))


def climb_colours(
    x: Floats,
    log_density: LogDensity,
    colours: Iterable[Index],
    lower: Numbers = -np.inf,
    upper: Numbers = np.inf,
) -> Floats:
    """The array with the elements of one colour put to their best after the other."""
    return np.asarray(by_colour(x, colours, log_density, (lower, upper), _climbing))


def inside(name: str, value: Floats, lower: float, upper: float) -> Floats:
    """A mode that is inside of the support; an error where the density is largest at an end."""
    found = np.asarray(value, dtype=float)
    if np.all((found > lower) & (found < upper)):
        return value
    wrong = found[~((found > lower) & (found < upper))].ravel()[0]
    raise RunError(
        f"{name}: the density is infinite, or largest, at an end of its support ({lower:g}, "
        f"{upper:g}): it has no mode inside (the formula gives {wrong:.4g}). Read it by its mean, "
        "or by the mode of its log, or give it a prior that is zero at the ends."
    )


def _climbing(
    _at: Index, own: Floats, density: LogDensity, low: Floats, high: Floats
) -> Values:
    return climb(density, own, low, high)


def _unbounded(
    lower: Numbers, upper: Numbers
) -> tuple[Callable[[Floats], Floats], Callable[[Floats], Floats]]:
    """The change to a scale without bounds, and back."""
    low, high = np.asarray(lower, dtype=float), np.asarray(upper, dtype=float)
    has_low, has_high = np.isfinite(low), np.isfinite(high)
    width = np.where(has_low & has_high, high - low, 1.0)
    low0, high0 = np.where(has_low, low, 0.0), np.where(has_high, high, 0.0)

    def to(x: Floats) -> Floats:
        both = special.logit((x - low0) / width)
        return np.where(
            has_low & has_high, both,
            np.where(has_low, np.log(x - low0), np.where(has_high, -np.log(high0 - x), x)),
        )  # fmt: skip

    def back(t: Floats) -> Floats:
        return np.where(
            has_low & has_high, low0 + width * expit(t),
            np.where(has_low, low0 + np.exp(t), np.where(has_high, high0 - np.exp(-t), t)),
        )  # fmt: skip

    return to, back


def _bracket(height: Height, start: Floats) -> tuple[Floats, Floats]:
    """Two points, between which there is one higher than both ends."""
    step = FIRST * np.maximum(1.0, np.abs(start))
    here, right = height(start), height(start + step)
    direction = np.where(right > here, 1.0, -1.0)
    before, middle = start, start
    ahead = start + direction * step
    now, next_ = here, height(ahead)
    grown = step
    for _ in range(DOUBLINGS):
        rising = next_ > now
        if not np.any(rising):
            break
        grown = np.where(rising, 2.0 * grown, grown)
        before = np.where(rising, middle, before)
        middle, now = np.where(rising, ahead, middle), np.where(rising, next_, now)
        ahead = np.where(rising, middle + direction * grown, ahead)
        next_ = np.where(rising, height(ahead), next_)
    back = np.where(before == middle, start - direction * step, before)
    return np.minimum(back, ahead), np.maximum(back, ahead)


def _narrowed(height: Height, low: Floats, high: Floats) -> Floats:
    """The middle of a bracket after golden sections (J. Kiefer 1953, Proceedings AMS 4)."""
    inner, outer = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    one, other = height(inner), height(outer)
    for _ in range(SECTIONS):
        left = one > other
        low, high = np.where(left, low, inner), np.where(left, outer, high)
        inner, outer = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        one, other = height(inner), height(outer)
    return (low + high) / 2.0


def _polished(height: Height, t: Floats) -> Floats:
    """A Newton step by differences, where it leads no lower."""
    step = DIFFERENCE * np.maximum(1.0, np.abs(t))
    below, here, above = height(t - step), height(t), height(t + step)
    slope, bend = (above - below) / (2 * step), (above - 2 * here + below) / step**2
    move = np.where(bend < 0, -slope / bend, 0.0)
    new = t + np.where(np.abs(move) < step, move, 0.0)
    return np.where(np.isfinite(new) & (height(new) >= here - 1e-12 * (1 + np.abs(here))), new, t)
