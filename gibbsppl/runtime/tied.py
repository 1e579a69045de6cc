"""Moves of values whose entries are tied to one another, so that none can change alone.

A value moves along a line within the support: two shares of a simplex are shared out anew, two
counts exchange units, a direction turns, a matrix is sheared or stretched. Such a line is a group
of maps ``x -> g_t(x)``; a slice move of ``t`` by ``p(g_t(x)) |dg_t(x)/dx|``, or a random walk,
leaves ``p`` invariant (J. S. Liu and C. Sabatti, 2000, "Generalised Gibbs sampler and multigrid
Monte Carlo for Bayesian computation", Biometrika 87). Lines of all entries, one after another, lead
everywhere. Values that are independent given the rest move in one call, each along its own line.

>>> line = shared_out(np.array([[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]]), 0, 1)
>>> line.at(np.log([1.5, 1.0])).round(3)  # their ratios were 2/3 and 1
array([[0.25, 0.25, 0.5 ],
       [0.1 , 0.1 , 0.8 ]])
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from gibbsppl.runtime.moves import Width, slice_batch, slice_integers
from gibbsppl.runtime.types import Array, Flags, Generator, LogDensity, Numbers, Values
from gibbsppl.runtime.walks import Walk, walk_batch, walk_integers


@dataclass(frozen=True, slots=True)
class Line:
    """Lines through values, their points at 0; the ends, and whether points are whole numbers.

    ``log_slope`` is the log Jacobian of the map to a point, as a function of both; ``moves`` says
    which values move at all.
    """

    at: Callable[[Values], Array]
    log_slope: Callable[[Array, Values], Values] = lambda _new, _t: 0.0
    moves: Flags | bool = True
    lower: Values = -np.inf
    upper: Values = np.inf
    is_whole: bool = False


@np.errstate(divide="ignore", invalid="ignore")
def shared_out(w: Array, k: int, j: int) -> Line:
    """The sum of two shares, shared out by the log of their ratio; shares of zero stay so."""
    total, ratio = w[..., k] + w[..., j], np.log(w[..., k]) - np.log(w[..., j])
    return Line(
        lambda t: _with(w, k, j, *(total * scipy.special.expit(s * (ratio + t)) for s in (1, -1))),
        lambda new, _: np.log(new[..., k]) + np.log(new[..., j]),
        moves=(w[..., k] > 0) & (w[..., j] > 0),
    )


def exchanged(n: Array, k: int, j: int) -> Line:
    """Some of one count given to another."""
    return Line(
        lambda t: _with(n, k, j, n[..., k] + t, n[..., j] - t),
        lower=-n[..., k],
        upper=n[..., j],
        is_whole=True,
    )


def turned(v: Array, k: int, j: int) -> Line:
    """A direction turned by an angle in the plane of two axes."""
    return Line(
        lambda t: _with(
            v,
            k,
            j,
            np.cos(t) * v[..., k] - np.sin(t) * v[..., j],
            np.sin(t) * v[..., k] + np.cos(t) * v[..., j],
        )
    )


def sheared(m: Array, k: int, j: int) -> Line:
    """A matrix ``A m A'``, where ``A`` adds a multiple of row j to row k, or stretches row k.

    The Jacobian of such a map of the symmetric matrices of p rows is ``det(A)**(p + 1)``.
    """

    def at(t: Values) -> Array:
        new, by = np.array(m), np.asarray(t)[..., None]
        for rows in (new, np.swapaxes(new, -2, -1)):
            here = rows[..., k, :]
            rows[..., k, :] = here * np.exp(by) if k == j else here + by * rows[..., j, :]
        return new

    return Line(at, lambda _, t: (m.shape[-1] + 1) * t if k == j else 0.0)


# From the index of values and an entry, where lines start, the log density along them and the lines
# to how far values move.
Move = Callable[[tuple[Any, ...], Any, LogDensity, Line], Values]


def slice_tied(
    rng: Generator,
    x: Array,
    log_density: LogDensity,
    width: Width,
    colours: Iterable[tuple[Any, ...]],
    line: Callable[[Array, int, int], Line],
) -> Array:
    """Slice moves of each entry of vectors with another one, chosen at random.

    Vectors of one colour after the other; ``log_density`` is of each vector, or one number for all.
    """
    new = _by_two(rng, x, log_density, colours, line, _sliced(rng, width))
    width.moves += width.adapting
    return new


def slice_matrices(
    rng: Generator,
    x: Array,
    log_density: LogDensity,
    width: Width,
    colours: Iterable[tuple[Any, ...]],
    line: Callable[[Array, int, int], Line],
) -> Array:
    """Slice moves of positive definite matrices, along the line of each of their entries."""
    new = _by_entry(x, log_density, colours, line, _sliced(rng, width))
    width.moves += width.adapting
    return new


def walk_tied(
    rng: Generator,
    x: Array,
    log_density: LogDensity,
    walk: Walk,
    colours: Iterable[tuple[Any, ...]],
    line: Callable[[Array, int, int], Line],
) -> Array:
    """Random-walk steps of each entry of vectors with another one, chosen at random."""
    new = _by_two(rng, x, log_density, colours, line, _walked(rng, walk))
    walk.moves += walk.adapting
    return new


def walk_matrices(
    rng: Generator,
    x: Array,
    log_density: LogDensity,
    walk: Walk,
    colours: Iterable[tuple[Any, ...]],
    line: Callable[[Array, int, int], Line],
) -> Array:
    """Random-walk steps of positive definite matrices, along the line of each of their entries."""
    new = _by_entry(x, log_density, colours, line, _walked(rng, walk))
    walk.moves += walk.adapting
    return new


def _by_two(
    rng: Generator,
    x: Array,
    log_density: LogDensity,
    colours: Iterable[tuple[Any, ...]],
    line: Callable[[Array, int, int], Line],
    move: Move,
) -> Array:
    """Moves of each entry of vectors with another one."""
    x, every = np.array(x), list(colours)
    others = x.shape[-1] - 1
    for k in range(x.shape[-1] if others else 0):
        j = (k + 1 + int(rng.integers(others))) % x.shape[-1]
        for at in every:
            here, along = at, line(x[at], k, j)
            if not np.all(along.moves):
                if not np.any(along.moves):
                    continue
                here = _those(x, at, along.moves)
                along = line(x[here], k, j)
            x[here] = _moved(x, here, log_density, (k,), along, move)
    return x


def _by_entry(
    x: Array,
    log_density: LogDensity,
    colours: Iterable[tuple[Any, ...]],
    line: Callable[[Array, int, int], Line],
    move: Move,
) -> Array:
    """Moves of matrices along the line of each of their entries."""
    x, every = np.array(x), list(colours)
    for entry in np.ndindex(*x.shape[-2:]):
        for at in every:
            x[at] = _moved(x, at, log_density, entry, line(x[at], *entry), move)
    return x


def _those(x: Array, at: tuple[Any, ...], moves: Flags | bool) -> tuple[Any, ...]:
    """The index of those vectors at an index that move."""
    there = np.zeros(x.shape[:-1], dtype=bool)
    there[at] = moves
    return np.nonzero(there)


def _moved(
    x: Array,
    values: tuple[Any, ...],
    log_density: LogDensity,
    entry: tuple[int, ...],
    along: Line,
    move: Move,
) -> Array:
    """The values at an index of an array after a move along lines through an entry."""
    batch, there = x.shape[: x.ndim - len(entry)], x.copy()

    def density_at(t: Values) -> Numbers:
        new = along.at(t)
        there[values] = new
        return np.broadcast_to(log_density(there), batch)[values] + along.log_slope(new, t)

    shape = x[values].shape[: x[values].ndim - len(entry)]
    start = np.zeros(shape, dtype=int if along.is_whole else float)[()]
    every: tuple[Any, ...] = (..., *entry)
    return along.at(move((values, every), start, density_at, along))


def _sliced(rng: Generator, width: Width) -> Move:
    """Slice moves along lines, with the widths of the entries that are moved."""

    def move(at: tuple[Any, ...], start: Any, log_density: LogDensity, along: Line) -> Values:
        values, entry = at
        widths = width.value[entry]
        own = Width(np.asarray(widths[values]), width.moves, width.adapting)
        by = slice_integers if along.is_whole else slice_batch
        t = by(rng, start, log_density, own, along.lower, along.upper)
        widths[values] = own.value
        return t

    return move


def _walked(rng: Generator, walk: Walk) -> Move:
    """Random-walk steps along lines, with the scales of the entries that are moved."""

    def move(at: tuple[Any, ...], start: Any, log_density: LogDensity, along: Line) -> Values:
        values, entry = at
        scales = walk.log_scale[entry]
        own = Walk(np.array(scales[values]), walk.target, walk.adapting, walk.moves)
        by = walk_integers if along.is_whole else walk_batch
        t = by(rng, start, log_density, own, along.lower, along.upper)
        scales[values] = own.log_scale
        # (each value counts, whatever the call)
        walk.accepted += own.accepted * np.size(start)
        walk.proposed += np.size(start)
        return t

    return move


def _with(x: Array, k: int, j: int, at_k: Values, at_j: Values) -> Array:
    """Vectors with two new entries."""
    new = np.array(x)
    new[..., k], new[..., j] = at_k, at_j
    return new
