"""The elements of an array that a call moves or draws: a part, or those of each call in turn.

A move of all elements at once is a function of values, their log density and their bounds. Here it
is made one of a part of the array, of one colour after the other, or of the elements one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from gibbsppl.runtime.types import Array, Index, LogDensity, Numbers, Values

# From an index, the values there, their log density and both bounds to new values.
Move = Callable[[Index, Any, LogDensity, Any, Any], Values]


def by_colour(
    x: Array,
    colours: Iterable[Index],
    log_density: LogDensity,
    ends: tuple[Values, Values],
    move: Move,
) -> Array:
    """The array with the elements of one colour moved after the other, each given those before.

    ``log_density`` maps the whole array to one number for each element.
    """
    return _in_turn(x, colours, partial(of_those, log_density=log_density), ends, move)


def one_by_one(
    x: Array,
    positions: Iterable[tuple[int, ...]],
    log_density: LogDensity,
    ends: tuple[Values, Values],
    move: Move,
) -> Array:
    """The array with its elements moved in turn; ``log_density`` maps the array to one number."""
    return _in_turn(x, positions, partial(at_index, log_density=log_density), ends, move)


def _in_turn(
    x: Array,
    indices: Iterable[Index],
    density_at: Callable[[Array, Index], LogDensity],
    ends: tuple[Values, Values],
    move: Move,
) -> Array:
    new = np.array(x)
    lower, upper = (np.broadcast_to(b, new.shape) for b in ends)
    for at in indices:
        new[at] = move(at, new[at], density_at(new, at), lower[at], upper[at])
    return new


def of_those(x: Array, at: Index, log_density: LogDensity) -> LogDensity:
    """The log densities of the elements at an index, as a function of these alone."""
    return at_index(x, at, lambda whole: np.broadcast_to(log_density(whole), x.shape)[at])


def at_index(x: Array, at: Index, log_density: LogDensity) -> LogDensity:
    """The log density as a function of the elements at an index."""

    def of_element(value: Values) -> Numbers:
        changed = x.copy()
        changed[at] = value
        return log_density(changed)

    return of_element
