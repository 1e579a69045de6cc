"""Random-walk Metropolis-Hastings: steps, adapted scales, and the acceptance ratio.

N. Metropolis, A. W. Rosenbluth, M. N. Rosenbluth, A. H. Teller and E. Teller (1953, Journal of
Chemical Physics 21). Between bounds a step is made on a line without bounds, and the ratio has the
slope of the map as a factor. Scales are learnt in warm-up by stochastic approximation, covariances
from the draws (C. Andrieu and J. Thoms, 2008, "A tutorial on adaptive MCMC", Statistics and
Computing 18).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import EllipsisType

import numpy as np

from gibbsppl.errors import RunError
from gibbsppl.runtime.selections import by_colour, one_by_one
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

# The shares of accepted steps at which a random walk moves on fastest, for one element and for
# many: Gelman, Roberts and Gilks (1996), "Efficient Metropolis jumping rules".
ONE, MANY = 0.44, 0.234
# Steps of a vector have the covariance of its distribution times this, divided by its length.
VECTOR = 2.38**2
# The n-th correction of a scale is n to this power: between 1/2 and 1 they add up to any distance,
# while their noise dies out.
POWER = -0.6


@dataclass(slots=True, kw_only=True)
class Counts:
    """Counts of the steps that were accepted, and proposed, since `taken_rate` was last called."""

    accepted: float = 0.0
    proposed: int = 0

    def taken_rate(self) -> float:
        """The share of steps accepted since this was last asked; not a number if there were none.

        >>> Walk(np.zeros(1), 0.44, accepted=3, proposed=4).taken_rate()
        0.75
        """
        rate = self.accepted / self.proposed if self.proposed else np.nan
        self.accepted, self.proposed = 0.0, 0
        return rate

    def taken(self) -> dict[str, float]:
        """The rates recorded with a draw, by field: the share of steps accepted."""
        return {"accepted": self.taken_rate()}


@dataclass(slots=True)
class Walk(Counts):
    """The adapted scales of a random walk, per element or per vector, and acceptance counts.

    ``factor`` times a standard normal vector is a step of unit scale (None where elements are
    moved alone); ``shaped`` is 1 where steps have a shape that was learnt. ``accepted`` and
    ``proposed`` count steps since `taken_rate` was last called.
    """

    log_scale: Floats
    target: float
    adapting: bool = True
    moves: int = 0
    mean: Floats | None = None
    covariance: Floats | None = None
    factor: Floats | None = None
    shaped: Floats | None = None

    def learn(self, at: Index | EllipsisType, probability: Numbers) -> None:
        """Move the scale towards the one at which the target is accepted."""
        if self.adapting:
            self.log_scale[at] += (self.moves + 1.0) ** POWER * (probability - self.target)

    def learn_shape(self, at: int, u: Floats) -> None:
        """Update the covariance of the draws of a vector, with more weight on recent draws.

        The covariance of few draws is mixed with its own diagonal, to be invertible.
        """
        if not self.adapting:
            return
        assert self.mean is not None
        assert self.covariance is not None
        assert self.factor is not None
        assert self.shaped is not None
        size, n = u.size, self.moves + 1
        every = max(1, size // 10)  # (a factor costs more than a move of a long vector)
        away = u - self.mean[at]
        weight = min(1.0, 2.0 / (n + 1))
        self.mean[at] += weight * away
        self.covariance[at] += weight * ((1 - weight) * np.outer(away, away) - self.covariance[at])
        if n % every or n < 2 * size:
            return
        variances = np.diag(self.covariance[at])
        if not (variances > 0).all() or not np.isfinite(self.covariance[at]).all():
            return
        shape = (n * self.covariance[at] + size * np.diag(variances)) / (n + size)
        self.factor[at] = np.sqrt(VECTOR / size) * np.linalg.cholesky(shape)
        if not self.shaped[at]:
            self.log_scale[at] = 0.0  # (the scale was for steps of another shape)
            self.shaped[at] = 1.0


def walk_of(
    s: TunedState,
    name: str,
    shape: Sequence[int],
    scale: float | None = None,
    target: float | None = None,
) -> Walk:
    """The tuning of a step's walk of single elements, kept in the state under ``"~name"``."""
    key = "~" + name
    if key not in s:
        adapting = (scale is None or target is not None) and "~" not in s
        first = np.full(tuple(shape), np.log(1.0 if scale is None else scale))
        s[key] = Walk(first, ONE if target is None else target, adapting)
    walk: Walk = s[key]
    return walk


def vector_walk_of(
    s: TunedState,
    name: str,
    count: int,
    size: int,
    scale: float | None = None,
    target: float | None = None,
) -> Walk:
    """The tuning of a walk of ``count`` vectors of one size."""
    key = "~" + name
    if key not in s:
        walk = walk_of(s, name, (count,), scale, target)
        walk.target = (ONE if size == 1 else MANY) if target is None else target
        walk.mean, walk.covariance = np.zeros((count, size)), np.zeros((count, size, size))
        walk.factor, walk.shaped = np.tile(np.eye(size), (count, 1, 1)), np.zeros(count)
        if scale is None:
            walk.log_scale -= np.log(size) / 2
    found: Walk = s[key]
    return found


# A line without bounds.


def to_line(x: Values, lower: Values, upper: Values) -> Floats:
    """Values on a line without bounds: the log of the distance from a bound, or the logit.

    >>> to_line(np.array([2.0, 3.0]), 1.0, np.inf).round(3)
    array([0.   , 0.693])
    """
    below, above = np.isfinite(lower), np.isfinite(upper)
    if not (np.any(below) or np.any(above)):
        return np.asarray(x, dtype=float)
    low = np.log(np.where(below, x - np.where(below, lower, 0.0), 1.0))
    high = np.log(np.where(above, np.where(above, upper, 0.0) - x, 1.0))
    return np.where(below | above, low - high, x)


def from_line(u: Floats, lower: Values, upper: Values) -> Floats:
    """The values at which `to_line` is ``u``.

    >>> from_line(np.array([0.0, 50.0]), -1.0, 1.0)
    array([0., 1.])
    """
    below, above = np.isfinite(lower), np.isfinite(upper)
    if not (np.any(below) or np.any(above)):
        return u
    low, high = np.where(below, lower, 0.0), np.where(above, upper, 0.0)
    share = np.where(u < 0, np.exp(np.minimum(u, 0)), 1.0) / (1.0 + np.exp(-np.abs(u)))
    rest = np.where(u < 0, 1.0, np.exp(-np.maximum(u, 0))) / (1.0 + np.exp(-np.abs(u)))
    between = np.where(u < 0, low + (high - low) * share, high - (high - low) * rest)
    one_sided = np.where(below, low + np.exp(u), np.where(above, high - np.exp(-u), u))
    return np.where(below & above, between, one_sided)


def log_slope(u: Floats, lower: Values, upper: Values) -> Floats:
    """``log |dx/du|`` at a point of the line.

    >>> log_slope(np.array([-1.0, 2.0]), 0.0, np.inf)
    array([-1.,  2.])
    """
    below, above = np.isfinite(lower), np.isfinite(upper)
    if not (np.any(below) or np.any(above)):
        return np.zeros(np.shape(u))
    length = np.where(below & above, np.where(above, upper, 0.0) - np.where(below, lower, 0.0), 1.0)
    between = np.log(length) - np.abs(u) - 2 * np.log1p(np.exp(-np.abs(u)))
    return np.where(below & above, between, np.where(below, u, np.where(above, -u, 0.0)))


# Moves


@np.errstate(all="ignore")  # what is not a number, or overflows, is not accepted
def walk_batch(
    rng: Generator,
    x: Values,
    log_density: LogDensity,
    walk: Walk,
    lower: Values = -np.inf,
    upper: Values = np.inf,
) -> Values:
    """A step of every element at once; the elements are independent given the rest.

    ``log_density`` maps an array like ``x`` to one log density per element.
    """
    x = np.asarray(x)
    now = _finite(np.broadcast_to(log_density(x), x.shape))  # (it may be one number, a constant)
    if np.issubdtype(x.dtype, np.integer):
        z = rng.standard_normal(x.shape)
        step = np.sign(z) * np.ceil(np.exp(walk.log_scale) * np.abs(z))
        new: Array = reflected(x + step, lower, upper).astype(np.intp)
        slope: Numbers = 0.0
    else:
        u = to_line(x, lower, upper)
        v = u + np.exp(walk.log_scale) * rng.standard_normal(x.shape)
        new = from_line(v, lower, upper)
        slope = log_slope(v, lower, upper) - log_slope(u, lower, upper)
    ratio = np.asarray(log_density(new)) - now + slope
    probability, accepted = is_accepted(rng, ratio)
    walk.learn(..., probability)
    walk.moves += walk.adapting
    walk.accepted += float(accepted.mean()) if accepted.size else 0.0
    walk.proposed += bool(accepted.size)
    return np.where(accepted, new, x)[()]


@np.errstate(all="ignore")
def walk_vectors(
    rng: Generator,
    x: Floats,
    log_density: LogDensity,
    walk: Walk,
    places: Sequence[Index],
    lower: Values = -np.inf,
    upper: Values = np.inf,
) -> Floats:
    """A step of each of several vectors in turn, the elements at an index of the array.

    ``log_density`` maps the whole array to one number.
    """
    assert walk.factor is not None
    x = np.array(x, dtype=float)
    bounds = [np.broadcast_to(b, x.shape) for b in (lower, upper)]
    now = _finite(log_density(x))
    for k, at in enumerate(places):
        own = [b[at] for b in bounds]
        u = to_line(x[at], *own)
        step = np.exp(walk.log_scale[k]) * (walk.factor[k] @ rng.standard_normal(u.size))
        v = u + step.reshape(u.shape)
        new = x.copy()
        new[at] = from_line(v, *own)
        then = np.asarray(log_density(new))
        slope = np.sum(log_slope(v, *own) - log_slope(u, *own))
        probability, accepted = is_accepted(rng, then - now + slope)
        if accepted:
            x, now, u = new, then, v
        walk.learn(k, probability)
        walk.learn_shape(k, u.ravel())
        walk.accepted += bool(accepted)
        walk.proposed += 1
    walk.moves += walk.adapting
    return x


def walk_integers(
    rng: Generator,
    x: Values,
    log_density: LogDensity,
    walk: Walk,
    lower: Values = -np.inf,
    upper: Values = np.inf,
) -> Ints:
    """A step of every whole number at once."""
    whole = np.asarray(x).astype(np.intp)
    return np.asarray(walk_batch(rng, whole, log_density, walk, lower, upper))[()]


def walk_elements(  # noqa: PLR0913  (as generated code calls it)
    rng: Generator,
    x: Array,
    log_density: LogDensity,
    walk: Walk,
    positions: Sequence[tuple[int, ...]],
    lower: Values = -np.inf,
    upper: Values = np.inf,
    *,
    whole: bool = False,
) -> Array:
    """Random-walk steps of the elements in turn; ``log_density`` maps an array to one number."""

    def moved(at: Index, own: Array, density: LogDensity, low: Array, high: Array) -> Values:
        there = Walk(np.array(walk.log_scale[at]), walk.target, walk.adapting, walk.moves)
        new = _move_of(whole)(rng, own, density, there, low, high)
        walk.log_scale[at] = there.log_scale
        walk.accepted += there.accepted
        walk.proposed += there.proposed
        return new

    new = one_by_one(x, positions, log_density, (lower, upper), moved)
    walk.moves += walk.adapting
    return new


def walk_part(  # noqa: PLR0913  (as generated code calls it)
    rng: Generator,
    x: Array,
    at: Index,
    log_density: LogDensity,
    walk: Walk,
    lower: Values = -np.inf,
    upper: Values = np.inf,
    *,
    whole: bool = False,
) -> Array:
    """A step of the elements at an index; ``log_density`` maps the whole array."""

    def moved(_at: Index, own: Array, density: LogDensity, low: Array, high: Array) -> Values:
        return _move_of(whole)(rng, own, density, walk, low, high)

    return by_colour(x, (at,), log_density, (lower, upper), moved)


def _move_of(whole: bool) -> Callable[..., Values]:
    return walk_integers if whole else walk_batch


def reflected(x: Values, lower: Values, upper: Values) -> Floats:
    """Whole numbers beyond a bound, reflected half a step outside of it: steps stay symmetric.

    >>> reflected(np.array([-1.0, -2.0, 3.0, 9.0]), 0, 3)
    array([0., 1., 3., 1.])
    """
    below, above = np.isfinite(lower), np.isfinite(upper)
    low, high = np.where(below, lower, 0.0), np.where(above, upper, 0.0)
    period = np.where(below & above, 2 * (high - low + 1), 1.0)
    turned = np.mod(x - low, period)
    both = low + np.minimum(turned, period - 1 - turned)
    one = np.where(below & (x < low), 2 * low - 1 - x, x)
    one = np.where(above & (x > high), 2 * high + 1 - one, one)
    return np.where(below & above, both, one)


def is_accepted(rng: Generator, log_ratio: Numbers) -> tuple[Floats, Flags]:
    """The probability that a step is accepted, and whether it is."""
    log_ratio = np.where(log_ratio < np.inf, log_ratio, -np.inf)  # (at a pole it would stay)
    accepted = -rng.standard_exponential(np.shape(log_ratio)) < log_ratio
    return np.exp(np.minimum(log_ratio, 0.0)), np.asarray(accepted)


def _finite(value: Numbers) -> Floats:
    value = np.asarray(value)
    if not np.all(value > -np.inf):
        raise RunError("random walk: the current value has no finite log density.")
    return value
