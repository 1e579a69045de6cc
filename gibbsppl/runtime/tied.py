"""Slice moves of values whose entries are tied to one another, so that none can change alone.

A value moves along a line within the support: two shares of a simplex are shared out anew, two
counts exchange units, a direction turns, a matrix is sheared or stretched. Such
a line is a group of maps ``x -> g_t(x)``; a slice move of ``t`` by ``p(g_t(x)) |dg_t(x)/dx|``
leaves ``p`` invariant (J. S. Liu and C. Sabatti, 2000, "Generalised Gibbs sampler and multigrid
Monte Carlo for Bayesian computation", Biometrika 87). Lines of all entries, one after another, lead
everywhere.

>>> line = shared_out(np.array([0.2, 0.3, 0.5]), 0, 1)
>>> line.at(np.log(1.5)).round(3)  # their ratio was 2/3
array([0.25, 0.25, 0.5 ])
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import scipy

from gibbsppl.runtime.moves import Width, slice_batch, slice_integers
from gibbsppl.runtime.types import Array, Generator, LogDensity, Numbers, Values


@dataclass(frozen=True, slots=True)
class Line:
    """A line through a value, its point at 0; the ends, and whether points are whole numbers.

    ``log_slope`` is the log Jacobian of the map to a point, as a function of both.
    """

    at: Callable[[Values], Array]
    log_slope: Callable[[Array, Values], Values] = lambda _new, _t: 0.0
    lower: float = -np.inf
    upper: float = np.inf
    is_whole: bool = False


def shared_out(w: Array, k: int, j: int) -> Line | None:
    """The sum of two shares, shared out by the log of their ratio; shares of zero stay so."""
    if not (w[k] > 0 and w[j] > 0):
        return None
    total, ratio = w[k] + w[j], np.log(w[k]) - np.log(w[j])
    return Line(
        lambda t: _with(w, k, j, *(total * scipy.special.expit(s * (ratio + t)) for s in (1, -1))),
        lambda new, _: np.log(new[k]) + np.log(new[j]),
    )


def exchanged(n: Array, k: int, j: int) -> Line:
    """Some of one count given to another."""
    return Line(
        lambda t: _with(n, k, j, n[k] + t, n[j] - t), lower=-n[k], upper=n[j], is_whole=True
    )


def turned(v: Array, k: int, j: int) -> Line:
    """A direction turned by an angle in the plane of two axes."""
    return Line(
        lambda t: _with(
            v, k, j, np.cos(t) * v[k] - np.sin(t) * v[j], np.sin(t) * v[k] + np.cos(t) * v[j]
        )
    )


def sheared(m: Array, k: int, j: int) -> Line:
    """A matrix ``A m A'``, where ``A`` adds a multiple of row j to row k, or stretches row k.

    The Jacobian of such a map of the symmetric matrices of p rows is ``det(A)**(p + 1)``.
    """

    def at(t: Values) -> Array:
        new = np.array(m)
        for rows in (new, new.T):
            rows[k] = rows[k] * np.exp(t) if k == j else rows[k] + t * rows[j]
        return new

    return Line(at, lambda _, t: (len(m) + 1) * t if k == j else 0.0)


def slice_tied(
    rng: Generator,
    x: Array,
    log_density: LogDensity,
    width: Width,
    positions: Iterable[tuple[int, ...]],
    line: Callable[[Array, int, int], Line | None],
) -> Array:
    """Slice moves of each entry of vectors with another one, chosen at random."""
    x = np.array(x)
    for at in positions:
        vector, k, others = at[:-1], at[-1], x.shape[-1] - 1
        j = (k + 1 + int(rng.integers(others))) % x.shape[-1] if others else k
        if j != k and (along := line(x[vector], k, j)) is not None:
            x[vector] = _moved(rng, x, vector, log_density, width, at, along)
    width.moves += width.adapting
    return x


def slice_matrices(
    rng: Generator,
    x: Array,
    log_density: LogDensity,
    width: Width,
    positions: Iterable[tuple[int, ...]],
    line: Callable[[Array, int, int], Line],
) -> Array:
    """Slice moves of positive definite matrices, along the line of each of their entries."""
    x = np.array(x)
    for at in positions:
        along = line(x[at[:-2]], at[-2], at[-1])
        x[at[:-2]] = _moved(rng, x, at[:-2], log_density, width, at, along)
    width.moves += width.adapting
    return x


def _moved(
    rng: Generator,
    x: Array,
    value: tuple[int, ...],
    log_density: LogDensity,
    width: Width,
    entry: tuple[int, ...],
    along: Line,
) -> Array:
    """The value at an index of an array after a move along a line; the width is the entry's."""

    def density_at(t: Values) -> Numbers:
        there, new = x.copy(), along.at(t)
        there[value] = new
        return log_density(there) + along.log_slope(new, t)

    own = Width(width.value[entry], width.moves, width.adapting)
    move = slice_integers if along.is_whole else slice_batch
    t = move(rng, 0, density_at, own, along.lower, along.upper)
    width.value[entry] = own.value
    return along.at(t)


def _with(x: Array, k: int, j: int, at_k: Values, at_j: Values) -> Array:
    """A vector with two new entries."""
    new = np.array(x)
    new[k], new[j] = at_k, at_j
    return new
