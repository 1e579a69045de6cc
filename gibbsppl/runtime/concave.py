"""Exact draws from log-concave densities, for all conditionally independent elements at once.

Adaptive rejection after Gilks and Wild (1992, Applied Statistics 41, 337-348), without derivatives
after Gilks (1992, Bayesian Statistics 4, 641-649): the chords of a concave function, continued
beyond their ends, are above it. A candidate is drawn from the density whose logarithm is this hull,
piece by piece linear; a rejected one becomes a point of the hull. The first points are searched
for: around the mode, as far from one another as the density is wide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gibbsppl.errors import RunError
from gibbsppl.runtime.chords import (
    Flags,
    Floats,
    Hull,
    Points,
    chord_at,
    drawn_from,
    hull_of,
    mass_of,
)
from gibbsppl.runtime.moves import LogDensity, _with

# What a log density may be wrong by, of its size, before it counts as not concave: half its digits.
NOT_CONCAVE = float(np.sqrt(np.finfo(float).eps))

# The chords below the log density are to have this share of the hull's mass: then a draw from the
# hull is worth more than a point that a search proposes.
KNOWN = 0.3

# Searches propose points this many standard deviations away from all others, or none; in the first
# rounds by a parabola through the highest points, later on by other ways as well.
APART = 0.5
PARABOLAS = 5

FARTHEST = 1e300
ROUNDS = 500


@np.errstate(all="ignore")  # what is not a number, or overflows, is outside of the support
def log_concave(
    rng: np.random.Generator,
    log_density: LogDensity,
    start: Any,
    lower: Any = -np.inf,
    upper: Any = np.inf,
) -> Any:
    """One draw of every element, exact and independent of the start.

    ``log_density`` maps an array like ``start`` to one log density per element, concave between
    the bounds; elements are independent. It is finite at the start, which may be far in a tail.

    >>> rng = np.random.default_rng(1)
    >>> log_concave(rng, lambda x: -x, np.array([1.0, 1e6]), lower=0.0).shape
    (2,)
    """
    start = np.asarray(start, dtype=float)
    new = start.ravel().copy()
    of_elements = _of_elements(new, start.shape, log_density)
    ends = [np.broadcast_to(b, start.shape).ravel() for b in (lower, upper)]
    elements = np.arange(new.size)
    points = _first_point(of_elements(elements, new), new, *ends)
    for done in range(ROUNDS):
        if not elements.size:
            return new.reshape(start.shape)[()]
        x, height, drawn = _candidates(rng, points, done)
        level = height - rng.standard_exponential(elements.size)
        accepted = drawn & (level <= chord_at(points, x))
        if not accepted.all():
            found = of_elements(elements, x)
            accepted |= drawn & (found >= level)
            points = _taken_in(points, x, found)
        new[elements[accepted]] = x[accepted]
        elements, points = elements[~accepted], points.only(~accepted)
    raise RunError(f"log-concave draw: none of {ROUNDS} candidates was accepted.")


def _of_elements(
    new: Floats, shape: tuple[int, ...], log_density: LogDensity
) -> Callable[[NDArray[np.intp], Floats], Floats]:
    """The log density of some elements; the others stay where they are."""

    def evaluated(elements: NDArray[np.intp], x: Floats) -> Floats:
        whole = new.copy()
        whole[elements] = x
        found = np.broadcast_to(log_density(whole.reshape(shape)[()]), shape).ravel()[elements]
        found = np.where(np.isnan(found), -np.inf, found)
        if np.any(found == np.inf):
            raise RunError(f"the log density is infinite at {x[found == np.inf][0]:.6g}.")
        return found

    return evaluated


def _first_point(log_density: Floats, start: Floats, lower: Floats, upper: Floats) -> Points:
    """The start, between the ends of the support."""
    wrong = ~(log_density > -np.inf) | ~(lower <= start) | ~(start <= upper)
    if wrong.any():
        raise RunError(f"no finite log density at the start, {start[wrong][0]:.6g}.")
    none = np.full(start.shape, -np.inf)
    one = np.ones(start.shape, dtype=np.intp)
    return Points(np.stack([lower, start, upper]), np.stack([none, log_density, none]), one)


def _taken_in(points: Points, x: Floats, log_density: Floats) -> Points:
    """The points, and what was found at one more of each element."""
    outside = log_density == -np.inf
    first, last = points.outer()
    hole = outside & (first < x) & (x < last)
    if hole.any():
        raise RunError(_not_concave(x[hole][0]))
    lower = np.where(outside & (x < first), x, -np.inf)
    upper = np.where(outside & (x > last), x, np.inf)
    known = ((points.x == x) & (points.log_density > -np.inf)).any(0)
    points = points.within(lower, upper).with_point(x, log_density, ~outside & ~known)
    _require_concave(points)
    return points


def _require_concave(points: Points) -> None:
    """Raise an error if a point is below the chord of its neighbours."""
    x, f = points.x, points.log_density
    left = f[:-2] * (x[2:] - x[1:-1]) / (x[2:] - x[:-2])
    right = f[2:] * (x[1:-1] - x[:-2]) / (x[2:] - x[:-2])
    size = 1.0 + np.abs(f[1:-1]) + np.abs(left) + np.abs(right)
    below = left + right - f[1:-1] > NOT_CONCAVE * size
    if below.any():
        raise RunError(_not_concave(x[1:-1][below][0]))


def _not_concave(x: float) -> str:
    return f"the log density is not concave at {x:.6g}: its chords are above it."


def _candidates(
    rng: np.random.Generator, points: Points, done: int
) -> tuple[Floats, Floats, Flags]:
    """The next point of each element, the hull's height there, and whether it is a draw.

    It is a draw from the hull unless a search for better points has not ended.
    """
    if points.number.max() < 3:
        x = _few(points)
        return x, x, np.zeros(x.shape, dtype=bool)
    hull = hull_of(points)
    x, height = drawn_from(rng, hull)
    x = np.clip(x, points.x[0], points.x[-1])
    sought = np.full(x.shape, np.nan)
    searching = ~_is_known(points, hull)
    if searching.any():
        sought[searching] = _sought(points.only(searching), hull.only(searching), done)
    drawn = np.isnan(sought)
    return np.where(drawn, x, sought), height + points.log_density.max(0), drawn


def _is_known(points: Points, hull: Hull) -> Flags:
    """Where the chords below the log density are near to the hull above it."""
    x, f = points.x, points.log_density - points.log_density.max(0)
    gap, higher = np.diff(x, axis=0), np.maximum(f[:-1], f[1:])
    below = mass_of(higher - hull.peak, np.abs(np.diff(f, axis=0)) / gap, gap)
    below = np.where(np.minimum(f[:-1], f[1:]) > -np.inf, below, 0)
    return np.asarray((points.number > 2) & (below.sum(0) > KNOWN * hull.mass.sum(0)))


def _sought(points: Points, hull: Hull, done: int) -> Floats:
    """A point that makes the hull better, nan where a draw from it is as good as any."""
    growth = min(4.0 ** (done + 1), 1e100)
    if done < PARABOLAS or done % 3 == 0:
        refined = _apart(points, growth)
    else:
        ends = _at_an_end(points, hull) if done % 3 == 1 else False
        refined = np.where(ends, np.nan, _split(points, hull))
    sought = _first(_few(points), _farther(points, hull, growth), refined)
    if np.any(np.abs(sought) > FARTHEST):
        raise RunError(
            "the log density does not fall in a tail: the conditional has no finite integral."
        )
    return sought


def _first(*choices: Floats) -> Floats:
    """The first of some choices that is a number."""
    found = choices[-1]
    for choice in choices[-2::-1]:
        found = np.where(np.isnan(choice), found, choice)
    return found


def _few(points: Points) -> Floats:
    """A point beside the others, for elements that have fewer than three."""
    (first, last), number = points.outer(), points.number
    room = np.stack([first - points.x[0], points.x[-1] - last])
    step = np.where(number > 1, last - first, np.maximum(1, np.abs(first)) / 2)
    step = np.where(step < room / 2, step, room / 8)
    possible = room > 64 * np.spacing(np.abs(np.stack([first, last])))
    right = possible[1] & ((number == 1) | ~possible[0])
    return np.where(number > 2, np.nan, np.where(right, last + step[1], first - step[0]))


def _farther(points: Points, hull: Hull, growth: float) -> Floats:
    """A point far out, for elements whose hull has no finite integral."""
    first, last = points.outer()
    mode, sd = _parabola(points)
    half = len(hull.mass) // 2
    left, right = (hull.mass[half:] == np.inf).any(0), (hull.mass[:half] == np.inf).any(0)
    least, most = ((last - first) * step for step in (max(1.0, growth / 4**5), growth))
    up = np.clip(_first(mode + sd, last), last + least, last + most)
    down = np.clip(_first(mode - sd, first), first - most, first - least)
    return np.where(right, up, np.where(left, down, np.nan))


def _middle(points: Points) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The index of the highest point, or of the one next to it where it is the first or last."""
    i = np.clip(points.log_density.argmax(0), 2, np.maximum(points.number - 1, 2))
    return np.minimum(i, len(points.x) - 2), np.arange(i.size)


def _parabola(points: Points) -> tuple[Floats, Floats]:
    """Mode and standard deviation of the normal density through the points around the highest.

    Beyond a bound, the bound and the scale of the exponential density that falls from there.
    """
    i, e = _middle(points)
    x, f = points.x, points.log_density
    before, after = x[i, e] - x[i - 1, e], x[i + 1, e] - x[i, e]
    rise, fall = (f[i, e] - f[i - 1, e]) / before, (f[i + 1, e] - f[i, e]) / after
    precision = np.maximum(2 * (rise - fall) / (before + after), 0)
    slope = (rise * after + fall * before) / (before + after)
    mode = _first(np.clip(x[i, e] + slope / precision, x[0], x[-1]), x[i, e])
    at_mode = slope - precision * (mode - x[i, e])
    sd = np.fmin(1 / np.sqrt(precision), 1 / np.abs(at_mode))
    return mode, np.fmin(sd, (x[-1] - x[0]) / 4)


def _apart(points: Points, growth: float) -> Floats:
    """A point near the mode or a standard deviation from it, if all others are far from there."""
    first, last = points.outer()
    mode, sd = _parabola(points)
    span = growth * (last - first)
    low = first - np.minimum(_outwards(first - points.x[0], last - first), span)
    high = last + np.minimum(_outwards(points.x[-1] - last, last - first), span)
    sd = np.minimum(sd, span)
    ideal = np.clip(mode + np.array([-1, 0, 1])[:, None] * sd, low, high)
    known = np.where(points.log_density > -np.inf, points.x, np.inf)
    distance = np.abs(ideal[:, None] - known).min(1)
    best = distance.argmax(0), np.arange(mode.size)
    return np.where(distance[best] > APART * sd, ideal[best], np.nan)


def _at_an_end(points: Points, hull: Hull) -> Flags:
    """Where the hull has most mass beyond the points."""
    first, last = points.outer()
    piece = hull.mass.argmax(0), np.arange(hull.mass.shape[1])
    right = piece[0] < len(hull.mass) // 2
    return np.asarray(np.where(right, hull.x[piece] == last, hull.x[piece] == first))


def _split(points: Points, hull: Hull) -> Floats:
    """A point in the interval where the hull has most mass, nearer to its higher end."""
    x, f = points.x, points.log_density
    e, k = np.arange(hull.mass.shape[1]), hull.mass.argmax(0) % (len(hull.mass) // 2)
    a, b, left = x[k, e], x[k + 1, e], f[k, e] > f[k + 1, e]
    after = x[np.minimum(k + 2, len(x) - 1), e]
    step = _outwards(b - a, np.where(left, a - x[k - 1, e], after - b))
    return np.where(np.isfinite(b - a), np.where(left, a + step, b - step), np.nan)


def _outwards(room: Floats, span: Floats) -> Floats:
    """How far to go from a point to the next: the half, or much less if it is very far."""
    return np.where((room > 4 * span) & (span > 0), np.sqrt(room) * np.sqrt(span), room / 2)


def log_concave_part(
    rng: np.random.Generator,
    x: NDArray[np.float64],
    at: Any,
    log_density: LogDensity,
    lower: Any = -np.inf,
    upper: Any = np.inf,
) -> NDArray[np.float64]:
    """The array with draws of the elements at an index; ``log_density`` maps the whole array."""
    bounds = [np.broadcast_to(b, x.shape)[at] for b in (lower, upper)]
    of_part = _with(x, at, lambda whole: np.asarray(log_density(whole))[at])
    x = x.copy()
    x[at] = log_concave(rng, of_part, x[at], *bounds)
    return x


def log_concave_elements(
    rng: np.random.Generator,
    x: NDArray[np.float64],
    log_density: LogDensity,
    positions: Iterable[tuple[int, ...]],
    lower: Any = -np.inf,
    upper: Any = np.inf,
) -> NDArray[np.float64]:
    """The array with one element drawn after the other; ``log_density`` maps it to one number."""
    x = x.copy()
    bounds = [np.broadcast_to(b, x.shape) for b in (lower, upper)]
    for at in positions:
        x[at] = log_concave(rng, _with(x, at, log_density), x[at], *(b[at] for b in bounds))
    return x
