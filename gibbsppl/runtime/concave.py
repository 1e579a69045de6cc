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
    APART,
    FARTHEST,
    IMPROPER,
    KNOWN,
    NONE_ACCEPTED,
    NOT_CONCAVE,
    PARABOLAS,
    ROUNDS,
    STEPS,
    Flags,
    Floats,
    Points,
    at,
    drawn_from,
    falling_tails,
    fullest_interval,
    hull_of,
    no_start,
    not_concave,
)
from gibbsppl.runtime.concave_one import Points as PointsOfOne
from gibbsppl.runtime.concave_one import candidate, log_concave_one
from gibbsppl.runtime.moves import LogDensity, _with

# So many first points are searched for without a look at the hull.
BLIND = 4

# While a search goes on without a look at the hull, its points may be as near as these.
BESIDE = 0.2

# Hulls are made for so many elements together: their arrays stay near the processor.
BLOCK = 2048

# So few elements are drawn on plain numbers.
FEW = 12


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
    if start.size == 1:
        return _only_one(rng, log_density, start, lower, upper)
    ends = [np.broadcast_to(b, start.shape).ravel() for b in (lower, upper)]
    return _log_concave_batch(rng, log_density, start, *ends)[()]


def _only_one(
    rng: np.random.Generator, log_density: LogDensity, start: Floats, lower: Any, upper: Any
) -> Any:
    """A draw of the only element of an array, which may have any shape."""
    shape = start.shape
    if shape:
        of_one = _of_one(lambda x: np.ravel(log_density(np.full(shape, x)))[0])
    else:
        of_one = _of_one(log_density)
    lower, upper = (b if isinstance(b, float) else np.asarray(b).item() for b in (lower, upper))
    x = log_concave_one(rng, of_one, start.item(), lower, upper)
    return np.full(shape, x) if shape else np.float64(x)


def _of_one(log_density: LogDensity) -> Callable[[float], float]:
    """A log density on plain numbers: -inf where it is not a number."""

    def evaluated(x: float) -> float:
        found = float(log_density(np.float64(x)))
        if found == np.inf:
            raise RunError(_infinite(x))
        return -np.inf if found != found else found  # noqa: PLR0124  (what is not a number)

    return evaluated


def _infinite(x: float) -> str:
    return f"the log density is infinite at {x:.6g}."


def _log_concave_batch(
    rng: np.random.Generator, log_density: LogDensity, start: Floats, lower: Floats, upper: Floats
) -> Floats:
    """One draw of every element, with their points side by side in columns."""
    new = start.ravel().copy()
    of_elements = _of_elements(new, start.shape, log_density)
    elements = np.arange(new.size)
    points = _first_point(of_elements(elements, new), new, lower, upper)
    done = 0
    while elements.size > FEW:
        if done == ROUNDS:
            raise RunError(NONE_ACCEPTED)
        x, height = _candidates(rng, points, done)
        found = of_elements(elements, x)
        accepted = found >= height - rng.standard_exponential(x.size)
        if accepted.any():
            above = np.flatnonzero(found > height)
            _require_concave(_taken_in(points.only(above), x[above], found[above]))
            new[elements[accepted]] = x[accepted]
            rest = np.flatnonzero(~accepted)
            elements, x, found = elements[rest], x[rest], found[rest]
            points = points.only(rest)
        points = _taken_in(points, x, found)
        done += 1
    _draw_the_last(rng, of_elements, new, dict(zip(elements, _columns(points), strict=True)), done)
    return new.reshape(start.shape)


def _draw_the_last(
    rng: np.random.Generator,
    log_density: Callable[[NDArray[np.intp], Floats], Floats],
    new: Floats,
    rest: dict[np.intp, PointsOfOne],
    done: int,
) -> None:
    """Put draws of a few elements into the array, after so many rounds."""
    for more in range(done, ROUNDS):
        if not rest:
            return
        tried = [candidate(rng, points, more) for points in rest.values()]
        found = log_density(np.array([*rest]), np.array([x for x, _ in tried]))
        for e, (x, height), f in zip([*rest], tried, found.tolist(), strict=True):
            level = height - rng.standard_exponential()
            if f < level or f > height:
                rest[e].take_in(x, f)
            if f >= level:
                new[e] = x
                del rest[e]
    raise RunError(NONE_ACCEPTED)


def _columns(points: Points) -> list[PointsOfOne]:
    """The points of each element, on plain numbers."""
    return [
        PointsOfOne(x[1 : n + 1].tolist(), f[1 : n + 1].tolist(), float(x[0]), float(x[-1]))
        for x, f, n in zip(points.x.T, points.log_density.T, points.number, strict=True)
    ]


def _of_elements(
    new: Floats, shape: tuple[int, ...], log_density: LogDensity
) -> Callable[[NDArray[np.intp], Floats], Floats]:
    """The log density of some elements; the others stay where they are."""

    def evaluated(elements: NDArray[np.intp], x: Floats) -> Floats:
        whole = new.copy()
        whole[elements] = x
        found = np.broadcast_to(log_density(whole.reshape(shape)), shape).ravel()[elements]
        found = np.where(np.isnan(found), -np.inf, found)
        if np.any(found == np.inf):
            raise RunError(_infinite(x[found == np.inf][0]))
        return found

    return evaluated


def _first_point(log_density: Floats, start: Floats, lower: Floats, upper: Floats) -> Points:
    """The start, between the ends of the support."""
    wrong = ~(log_density > -np.inf) | ~(lower <= start) | ~(start <= upper)
    if wrong.any():
        raise RunError(no_start(start[wrong][0]))
    none = np.full(start.shape, -np.inf)
    one = np.ones(start.shape, dtype=np.intp)
    return Points(np.stack([lower, start, upper]), np.stack([none, log_density, none]), one)


def _taken_in(points: Points, x: Floats, log_density: Floats) -> Points:
    """The points, and what was found at one more of each element."""
    outside = log_density == -np.inf
    if outside.any():
        points = _ended(points, x, outside)
    known = ((points.x == x) & (points.log_density > -np.inf)).any(0)
    return points.with_point(x, log_density, ~outside & ~known)


def _ended(points: Points, x: Floats, outside: Flags) -> Points:
    """The points, with the ends of the support at what was found to be outside of it."""
    first, last = points.outer()
    hole = outside & (first < x) & (x < last)
    if hole.any():
        raise RunError(not_concave(x[hole][0]))
    lower = np.where(outside & (x < first), x, -np.inf)
    upper = np.where(outside & (x > last), x, np.inf)
    return points.within(lower, upper)


def _require_concave(points: Points) -> None:
    """Raise an error if a point is below the chord of its neighbours."""
    x, f = points.x, points.log_density
    share = (x[2:] - x[1:-1]) / (x[2:] - x[:-2])
    left, right = f[:-2] * share, f[2:] * (1.0 - share)
    size = 1.0 + np.abs(f[1:-1]) + np.abs(left) + np.abs(right)
    below = left + right - f[1:-1] > NOT_CONCAVE * size
    if below.any():
        raise RunError(not_concave(x[1:-1][below][0]))


def _candidates(rng: np.random.Generator, points: Points, done: int) -> tuple[Floats, Floats]:
    """The next point of each element and the height of the hull there.

    It is a draw from the hull unless a search for better points has not ended: then the height is
    infinite.
    """
    if done < BLIND or points.number.max() < 3:
        choices = [_few(points)] if points.number.min() < 3 else []
        if points.number.max() > 2:
            choices.append(_apart(points, 4.0 ** (done + 1), BESIDE))
        x = _first(*choices, points.x[1])  # (known: nothing new is found there)
        return x, np.full(x.shape, np.inf)
    _require_concave(points)
    x, height = np.empty(points.number.shape), np.empty(points.number.shape)
    known = np.zeros(x.shape, dtype=bool)
    for block in points.blocks(BLOCK):
        x[block], height[block], known[block] = _drawn(rng, points.only(block))
    if not known.all():
        rest = np.flatnonzero(~known)
        sought = _sought(points.only(rest), done)
        x[rest] = _first(sought, x[rest])
        height[rest] = np.where(np.isnan(sought), height[rest], np.inf)
    return x, height


def _drawn(rng: np.random.Generator, points: Points) -> tuple[Floats, Floats, Flags]:
    """A draw from the hull, the hull's height there, and whether the hull is good."""
    hull = hull_of(points)
    x, height = drawn_from(rng, points, hull)
    height += points.log_density.max(0)
    return x, height, hull.chords > KNOWN * hull.mass.sum((0, 1))


def _sought(points: Points, done: int) -> Floats:
    """A point that makes the hull better, nan where a draw from it is as good as any."""
    growth = min(4.0 ** (done + 1), 1e100)
    if done < PARABOLAS or done % 3 == 0:
        refined = _apart(points, growth)
    else:
        refined = _split(points, leave_ends=done % 3 == 1)
    sought = _first(_few(points), _farther(points, growth), refined)
    if np.any(np.abs(sought) > FARTHEST):
        raise RunError(IMPROPER)
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


def _farther(points: Points, growth: float) -> Floats:
    """A point far out, for elements with a chord that does not fall towards an infinite end."""
    first, last = points.outer()
    mode, sd = _parabola(points)
    falls = falling_tails(points)
    least, most = ((last - first) * step for step in (max(1.0, growth / 4**5), growth))
    up = np.clip(_first(mode + sd, last), last + least, last + most)
    down = np.clip(_first(mode - sd, first), first - most, first - least)
    return np.where(~falls[1], up, np.where(~falls[0], down, np.nan))


def _around_highest(points: Points) -> tuple[Floats, ...]:
    """The highest point between two others, with these: where they are and how high."""
    x, f = points.x, points.log_density
    if len(x) == 5:
        return x[1], x[2], x[3], f[1], f[2], f[3]
    i = np.clip(f.argmax(0), 2, np.maximum(points.number - 1, 2))
    i = np.minimum(i, len(x) - 2)
    return tuple(at(rows, k) for rows in (x, f) for k in (i - 1, i, i + 1))


def _parabola(points: Points) -> tuple[Floats, Floats]:
    """Mode and standard deviation of the normal density through the points around the highest.

    Beyond a bound, the bound and the scale of the exponential density that falls from there.
    """
    x0, x1, x2, f0, f1, f2 = _around_highest(points)
    before, after = x1 - x0, x2 - x1
    rise, fall = (f1 - f0) / before, (f2 - f1) / after
    precision = np.fmax(2 * (rise - fall) / (before + after), 0)
    slope = (rise * after + fall * before) / (before + after)
    lower, upper = points.x[0], points.x[-1]
    mode = _first(np.minimum(np.maximum(x1 + slope / precision, lower), upper), x1)
    at_mode = slope - precision * (mode - x1)
    sd = np.fmin(1 / np.sqrt(precision), 1 / np.abs(at_mode))
    return mode, np.fmin(sd, (upper - lower) / 4)


def _apart(points: Points, growth: float, nearest: float = APART) -> Floats:
    """A point near the mode or a standard deviation from it, if all others are far from there."""
    first, last = points.outer()
    mode, sd = _parabola(points)
    span = growth * (last - first)
    low = first - np.minimum(_outwards(first - points.x[0], last - first), span)
    high = last + np.minimum(_outwards(points.x[-1] - last, last - first), span)
    sd = np.minimum(sd, span)
    known = np.where(points.log_density > -np.inf, points.x, np.inf)[1:-1]
    farthest, best = nearest * sd, np.full(sd.shape, np.nan)
    for step in STEPS:
        ideal = np.fmin(np.fmax(mode + step * sd, low), high)
        distance = np.abs(known - ideal).min(0)
        best = np.where(distance > farthest, ideal, best)
        farthest = np.fmax(distance, farthest)
    return best


def _split(points: Points, leave_ends: bool) -> Floats:
    """A point in the interval where the hull has most mass, nearer to its higher end.

    There is none beyond the points if ends are left, nor where the interval is infinite.
    """
    x, f, k = points.x, points.log_density, np.zeros(points.number.shape, dtype=np.intp)
    for block in points.blocks(BLOCK):
        k[block] = fullest_interval(hull_of(points.only(block)))
    a, b, left = at(x, k), at(x, k + 1), at(f, k) > at(f, k + 1)
    before, after = at(x, np.maximum(k - 1, 0)), at(x, np.minimum(k + 2, len(x) - 1))
    step = _outwards(b - a, np.where(left, a - before, after - b))
    possible = np.isfinite(b - a)
    if leave_ends:
        possible &= (k > 0) & (k < points.number)
    return np.where(possible, np.where(left, a + step, b - step), np.nan)


def _outwards(room: Floats, span: Floats) -> Floats:
    """How far to go from a point to the next: the half, or much less if it is very far."""
    far = (room > 4 * span) & (span > 0)
    return np.where(far, np.sqrt(room) * np.sqrt(span), room / 2) if far.any() else room / 2


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
