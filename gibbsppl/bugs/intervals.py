"""Observations of the interval that contains another variable.

>>> INTERVAL.bounds(np.array([0, 1, 2]), np.array([2.5, 4.0]))
(array([-inf,  2.5,  4. ]), array([2.5, 4. , inf]))
"""

from __future__ import annotations

import numpy as np

from gibbsppl.bugs.grids import Array
from gibbsppl.bugs.rows import Interval
from gibbsppl.errors import ModelError


def _ends(value: Array, count: int) -> tuple[Array, Array, Array, Array]:
    """The positions of the cut points below and above, each with whether it exists."""
    value = np.asarray(value)
    if (value != np.rint(value)).any() or (value < 0).any() or (value > count).any():
        raise ModelError(
            f"found values from {value.min():g} to {value.max():g}; expected whole numbers from 0 "
            f"to {count}, the number of cut points."
        )
    value = value.astype(np.intp)
    lower, upper = (value - 1).clip(min=0), value.clip(max=count - 1)
    return lower, value > 0, upper, value < count


def _between_cuts(value: Array, c: Array) -> tuple[Array, Array]:
    """The ends of the interval number ``value``; cut points are along the last axis of ``c``."""
    value, c = np.asarray(value), np.asarray(c, dtype=float)
    if (np.diff(c, axis=-1) < 0).any():
        raise ModelError(f"found the cut points {c}; expected them in increasing order.")
    shape = np.broadcast_shapes(value.shape, c.shape[:-1])
    cuts = np.broadcast_to(c, (*shape, c.shape[-1]))
    lower, has_lower, upper, has_upper = _ends(np.broadcast_to(value, shape), c.shape[-1])
    below, above = (
        np.take_along_axis(cuts, at[..., None], axis=-1)[..., 0] for at in (lower, upper)
    )
    return np.where(has_lower, below, -np.inf), np.where(has_upper, above, np.inf)


def _rounded_to(value: Array, digits: Array) -> tuple[Array, Array]:
    """The ends of the interval rounded to a value with some number of decimals."""
    half = 0.5 * 10.0 ** -np.asarray(digits, dtype=float)
    return np.asarray(value) - half, np.asarray(value) + half


INTERVAL = Interval(
    names=("dinterval",), parameters={"t": 0, "c": 1}, bounds=_between_cuts, ends=_ends
)
ROUNDED = Interval(names=("dround",), parameters={"t": 0, "digits": 0}, bounds=_rounded_to)
