"""Exact draws from log-concave densities, for all conditionally independent elements at once.

Adaptive rejection after Gilks and Wild (1992, Applied Statistics 41, 337-348), without derivatives
after Gilks (1992, Bayesian Statistics 4, 641-649): the chords of a concave function, continued
beyond their ends, are above it. A candidate is drawn from the density whose logarithm is this hull,
piece by piece linear; a rejected one becomes a point of the hull. The first points are searched
for: around the mode, as far from one another as the density is wide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from gibbsppl.errors import RunError
from gibbsppl.runtime.chords import (
    BLOCK,
    FLOATS,
    KNOWN,
    LOWEST,
    NONE_ACCEPTED,
    NOT_CONCAVE,
    ROUNDS,
    STEEPEST,
    Points,
    at,
    drawn_from,
    further_out,
    hull_of,
    no_start,
    not_concave,
    one_of,
    units,
)
from gibbsppl.runtime.concave_search import blindly_sought, first_of, sought
from gibbsppl.runtime.loops.concave import NO_START, concave_next, concave_start
from gibbsppl.runtime.loops.concave_points import ASKED, FOUND, NOT_CONCAVE_THERE, START
from gibbsppl.runtime.moves import Width, with_widths_there
from gibbsppl.runtime.selections import Move, by_colour, one_by_one
from gibbsppl.runtime.types import (
    Flags,
    Floats,
    Generator,
    Index,
    Ints,
    LogDensity,
    Numbers,
    Values,
)

# So many first points are searched for without a look at the hull.
BLIND = 4

# What kernels say, with the place that they cannot put into a message.
PLACES: Mapping[str, tuple[Callable[[float], str], int]] = {
    NO_START: (no_start, START),
    NOT_CONCAVE_THERE: (not_concave, ASKED),
}

# So few elements are drawn on plain numbers.
FEW = 12


@np.errstate(all="ignore")  # what is not a number, or overflows, is outside of the support
def log_concave(
    rng: Generator,
    log_density: LogDensity,
    start: Numbers,
    lower: Numbers = -np.inf,
    upper: Numbers = np.inf,
    width: Width | None = None,
) -> Numbers:
    """One draw of every element, exact and independent of the start.

    ``log_density`` maps an array like ``start`` to one log density per element, concave between
    the bounds; elements are independent. The start may be far in a tail, or beyond where the log
    density is finite: it overflows where the value was drawn for other parameters. What is learnt
    of how far draws are apart (``width``) tells where to look first, and nothing else.

    >>> rng = np.random.default_rng(1)
    >>> log_concave(rng, lambda x: -x, np.array([1.0, 1e6]), lower=0.0).shape
    (2,)
    """
    start = np.asarray(start, dtype=float)
    ends = (lower, upper, 0.0 if width is None else width.value)
    if start.size == 1:
        new = _only_one(rng, log_density, start, *ends)
    else:
        of_each = [np.broadcast_to(b, start.shape).ravel() for b in ends]
        new = _log_concave_batch(rng, log_density, start, *of_each)[()]
    if width is not None:
        width.learn(np.abs(new - start))
    return new


def _only_one(
    rng: Generator,
    log_density: LogDensity,
    start: Floats,
    lower: Numbers,
    upper: Numbers,
    width: Numbers,
) -> Numbers:
    """A draw of the only element of an array, which may have any shape."""
    shape = start.shape
    if shape:
        of_one = _of_one(lambda x: np.ravel(log_density(np.full(shape, x)))[0])
    else:
        of_one = _of_one(log_density)
    ends = (float(np.asarray(b).item()) for b in (lower, upper, width))
    x = log_concave_one(rng, of_one, start.item(), *ends)
    return np.full(shape, x) if shape else np.float64(x)


def log_concave_one(
    rng: Generator,
    log_density: Callable[[float], float],
    start: float,
    lower: float,
    upper: float,
    width: float = 0.0,
) -> float:
    """One draw between the bounds, by the kernels of loops; ``log_density`` is not infinite."""
    work: Any = {}
    concave_start(work, start, lower, upper, width)
    while _goes_on(rng, work):
        work[FOUND] = log_density(work[ASKED])
    return float(work[ASKED])


def _goes_on(rng: Generator, work: Any) -> bool:
    """Whether a log density is asked for; errors tell the place, too."""
    try:
        return concave_next(rng, work)
    except RunError as error:
        told, at = PLACES.get(str(error), (None, ASKED))
        raise RunError(str(error) if told is None else told(work[at])) from None


def _of_one(log_density: LogDensity) -> Callable[[float], float]:
    """A log density on plain numbers: -inf where it is not a number, or as good as -inf."""

    def evaluated(x: float) -> float:
        found = float(log_density(np.float64(x)))
        if found == np.inf:
            raise RunError(_infinite(x))
        return found if found > LOWEST else -np.inf

    return evaluated


def _infinite(x: float) -> str:
    return f"the log density is infinite at {x:.6g}."


def _log_concave_batch(
    rng: Generator,
    log_density: LogDensity,
    start: Floats,
    lower: Floats,
    upper: Floats,
    width: Floats,
) -> Floats:
    """One draw of every element, with their points side by side in columns."""
    new = start.ravel().copy()
    of_elements = _of_elements(new, start.shape, log_density)
    if new.size <= FEW:
        new[:] = _in_lockstep(rng, of_elements, new, lower, upper, width)
        return new.reshape(start.shape)
    elements = np.arange(new.size)
    points = _first_point(of_elements, new, lower, upper)
    size = np.abs(points.x[1])
    step = np.where(width / 3 > 64 * np.spacing(size), width / 3, np.fmax(1.0, size) / 2)
    for done in range(ROUNDS):
        x, height, unit = _candidates(rng, points, done, step[elements])
        found = of_elements(elements, x)
        accepted = found >= height - unit * rng.standard_exponential(x.size)
        if accepted.any():
            above = np.flatnonzero((found > height) & (height > -np.inf))
            _require_concave(_taken_in(points.only(above), x[above], found[above]))
            new[elements[accepted]] = x[accepted]
            rest = np.flatnonzero(~accepted)
            elements, x, found = elements[rest], x[rest], found[rest]
            points = points.only(rest)
            if not elements.size:
                return new.reshape(start.shape)
        points = _taken_in(points, x, found)
    raise RunError(NONE_ACCEPTED)


def _in_lockstep(
    rng: Generator,
    log_density: Callable[[Ints, Floats], Floats],
    start: Floats,
    lower: Floats,
    upper: Floats,
    width: Floats,
) -> list[float]:
    """One draw of each of a few elements, by the kernels of loops, all evaluated together."""
    works: list[Any] = [{} for _ in start]
    for work, *numbers in zip(
        works, *(a.tolist() for a in (start, lower, upper, width)), strict=True
    ):
        concave_start(work, *numbers)
    asked = [e for e, work in enumerate(works) if _goes_on(rng, work)]
    while asked:
        found = log_density(np.array(asked), np.array([works[e][ASKED] for e in asked]))
        for e, f in zip(asked, found.tolist(), strict=True):
            works[e][FOUND] = f
        asked = [e for e in asked if _goes_on(rng, works[e])]
    return [float(work[ASKED]) for work in works]


def _of_elements(
    new: Floats, shape: tuple[int, ...], log_density: LogDensity
) -> Callable[[Ints, Floats], Floats]:
    """The log density of some elements, the other elements fixed."""

    def evaluated(elements: Ints, x: Floats) -> Floats:
        whole = new.copy()
        whole[elements] = x
        found = np.broadcast_to(log_density(whole.reshape(shape)), shape).ravel()[elements]
        found = np.where(found > LOWEST, found, -np.inf)
        if np.any(found == np.inf):
            raise RunError(_infinite(x[found == np.inf][0]))
        return found

    return evaluated


def _first_point(
    log_density: Callable[[Ints, Floats], Floats],
    start: Floats,
    lower: Floats,
    upper: Floats,
) -> Points:
    """The start, or a point further out where the log density is finite, of each element."""
    height = log_density(np.arange(start.size), start)
    wrong, x = ~(lower <= start) | ~(start <= upper), start.copy()
    if (height == -np.inf).any() and not wrong.any():
        for further in further_out(start, lower, upper):
            rest = np.flatnonzero(height == -np.inf)
            if not rest.size:
                break
            x[rest], height[rest] = further[rest], log_density(rest, further[rest])
    wrong |= height == -np.inf
    if wrong.any():
        raise RunError(no_start(start[wrong][0]))
    none = np.full(start.shape, -np.inf)
    one = np.ones(start.shape, dtype=np.intp)
    return Points(np.stack([lower, x, upper]), np.stack([none, height, none]), one)


def _taken_in(points: Points, x: Floats, log_density: Floats) -> Points:
    """The points, with one more point and its log density for each element."""
    outside = (log_density == -np.inf) | _are_at_cliffs(points, x, log_density)
    if outside.any():
        points = _ended(points, x, outside)
    known = ((points.x == x) & (points.log_density > -np.inf)).any(0)
    return points.with_point(x, log_density, ~outside & ~known)


def _are_at_cliffs(points: Points, x: Floats, log_density: Floats) -> Flags:
    """The places beyond all points that are too far down for slopes."""
    (first, last), f = points.outer(), points.log_density
    falls = (f[1] - log_density, at(f, points.number) - log_density)
    before = (x < first) & (falls[0] > STEEPEST * (first - x))
    return before | ((x > last) & (falls[1] > STEEPEST * (x - last)))


def _ended(points: Points, x: Floats, outside: Flags) -> Points:
    """The points, with the ends of the support moved to places found to be outside."""
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
    span = x[2:] - x[:-2]
    left = f[:-2] * ((x[2:] - x[1:-1]) / span)
    right = f[2:] * ((x[1:-1] - x[:-2]) / span)
    size = 1.0 + np.abs(f[1:-1]) + np.abs(left) + np.abs(right)
    below = left + right - f[1:-1] > NOT_CONCAVE * size
    if below.any():
        below &= left + right - f[1:-1] > _of_rounded_places(x, f)
    if below.any():
        raise RunError(not_concave(x[1:-1][below][0]))


def _of_rounded_places(x: Floats, f: Floats) -> Floats:
    """How much heights between others change within a few floats."""
    slope = np.abs(np.diff(f, axis=0) / np.diff(x, axis=0))
    return np.asarray(FLOATS * np.spacing(np.abs(x[1:-1])) * np.fmax(slope[1:], slope[:-1]))


def _candidates(
    rng: Generator, points: Points, done: int, step: Floats
) -> tuple[Floats, Floats, Floats]:
    """The next point of each element, the height of the hull there, and the unit of heights.

    It is a draw from the hull unless a search for better points has not ended: then the height is
    infinite.
    """
    if done >= BLIND and points.number.max() > 2:
        _require_concave(points)
    unit = units(points, done)
    own = points.in_units(unit) if unit.max() > 1 else points
    x, height = _candidates_in(rng, own, done, step)
    return x, height * unit, unit


def _candidates_in(
    rng: Generator, points: Points, done: int, step: Floats
) -> tuple[Floats, Floats]:
    """The next point and the height of the hull there, with heights in units."""
    if done < BLIND:
        return blindly_sought(points, done, step), np.full(points.number.shape, np.inf)
    x, height = np.empty(points.number.shape), np.empty(points.number.shape)
    known = np.zeros(x.shape, dtype=bool)
    for block in points.blocks(BLOCK):
        x[block], height[block], known[block] = _drawn(rng, points.only(block))
    if not known.all():
        rest = np.flatnonzero(~known)
        found = sought(points.only(rest), done, step[rest])
        x[rest] = first_of(found, x[rest])
        height[rest] = np.where(np.isnan(found), height[rest], np.inf)
        few = rest[np.isnan(found) & (points.number[rest] < 3)]
        x[few], height[few] = one_of(rng, points.only(few)), -np.inf
    return x, height


def _drawn(rng: Generator, points: Points) -> tuple[Floats, Floats, Flags]:
    """A draw from the hull, the hull's height there, and whether the hull is good."""
    hull = hull_of(points)
    x, height = drawn_from(rng, points, hull)
    height += points.log_density.max(0)
    return x, height, hull.chords > KNOWN * hull.mass.sum((0, 1))


def log_concave_part(
    rng: Generator,
    x: Floats,
    at: Index,
    log_density: LogDensity,
    lower: Numbers = -np.inf,
    upper: Numbers = np.inf,
    width: Width | None = None,
) -> Floats:
    """The array with draws of the elements at an index; ``log_density`` maps the whole array.

    The ``width`` is of these elements.
    """

    def drawn(_at: Index, own: Floats, density: LogDensity, low: Floats, high: Floats) -> Values:
        return log_concave(rng, density, own, low, high, width)

    return np.asarray(by_colour(x, (at,), log_density, (lower, upper), drawn), dtype=float)


def log_concave_elements(
    rng: Generator,
    x: Floats,
    log_density: LogDensity,
    positions: Iterable[tuple[int, ...]],
    lower: Numbers = -np.inf,
    upper: Numbers = np.inf,
    width: Width | None = None,
) -> Floats:
    """The array with its elements drawn in turn; ``log_density`` maps an array to one number."""
    drawn = one_by_one(x, positions, log_density, (lower, upper), _drawn_by(rng, width))
    return np.asarray(drawn, dtype=float)


def log_concave_colours(
    rng: Generator,
    x: Floats,
    log_density: LogDensity,
    colours: Iterable[Index],
    lower: Numbers = -np.inf,
    upper: Numbers = np.inf,
    width: Width | None = None,
) -> Floats:
    """The array with the elements of one colour drawn after the other."""
    drawn = by_colour(x, colours, log_density, (lower, upper), _drawn_by(rng, width))
    return np.asarray(drawn, dtype=float)


def _drawn_by(rng: Generator, width: Width | None) -> Move:
    """The draw of the elements at an index, with the widths there."""

    def drawn(
        own: Floats, density: LogDensity, low: Floats, high: Floats, there: Width | None = None
    ) -> Values:
        return log_concave(rng, density, own, low, high, there)

    return with_widths_there(width, drawn) if width is not None else lambda _, *rest: drawn(*rest)
