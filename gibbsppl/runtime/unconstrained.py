"""The values of several arrays that move together, as coordinates without bounds.

Comes in: the elements drawn, and the arrays of simplexes and of positive definite matrices. Goes
out: the table that `gibbsppl.runtime.loops.unconstrained` maps values by.

>>> from gibbsppl.runtime.joint import drawn
>>> joint = Joint({"x": drawn((2,), [((0, 2),)]), "p": drawn((1, 3), [((0, 1), (0, 3))])}, [])
>>> space = Unconstrained(joint, {"p": "simplex"})
>>> space.size, space.table
(4, array([[0, 0, 0, 2],
       [1, 2, 2, 3]]))
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from gibbsppl.runtime.joint import Joint
from gibbsppl.runtime.loops.unconstrained import (
    COLUMNS,
    MATRIX,
    NUMBERS,
    SIMPLEX,
    from_coordinates,
    slopes_by_coordinates,
    to_coordinates,
)
from gibbsppl.runtime.types import Constants, Floats, Ints, Numbers

# The bounds of arrays, lower and upper, by name; arrays without bounds are left out.
Bounds = Mapping[str, tuple[Numbers, Numbers]]


class Unconstrained:
    """The elements drawn of several arrays with a table of their coordinates; made once.

    ``tied`` has the kinds of the arrays whose values are along the last axes: ``"simplex"`` along
    one, ``"spd"``, positive definite matrices, along two. ``size`` is the number of coordinates.
    """

    def __init__(self, joint: Joint, tied: Mapping[str, str]) -> None:
        self.joint = joint
        self.has_tied = bool(tied)
        rows, at = list[tuple[int, ...]](), 0
        for name, shape, _, start, stop in joint.places:
            for kind, first, size in _values(shape, start, stop, tied.get(name)):
                rows.append((kind, first, at, size))
                at += _count(kind, size)
        self.table: Ints = np.array(rows, dtype=np.intp).reshape(-1, COLUMNS)
        self.size = at

    def between(self, bounds: Bounds | None) -> Coordinates | None:
        """The coordinates of elements between bounds; None where they are the elements."""
        if not (bounds or self.has_tied):
            return None
        every: Bounds = dict.fromkeys(self.joint.arrays, (-np.inf, np.inf)) | dict(bounds or {})
        lower, upper = (self.joint.flat({n: e[k] for n, e in every.items()}) for k in (0, 1))
        return Coordinates(self, lower, upper)


@dataclass(frozen=True, slots=True, eq=False)
class Coordinates:
    """The coordinates of elements between lower and upper bounds, each one vector."""

    space: Unconstrained
    lower: Floats
    upper: Floats

    def of(self, x: Floats) -> Floats:
        """The coordinates of values."""
        found = np.empty(self.space.size)
        to_coordinates(self.space.table, x, self.lower, self.upper, found)
        return found

    def values(self, u: Floats) -> Floats:
        """The values at coordinates."""
        found = np.empty(self.space.joint.size)
        from_coordinates(self.space.table, u, self.lower, self.upper, found)
        return found

    def put_slopes(self, u: Floats, x: Floats, gradient: Floats, slopes: Floats) -> float:
        """Put the slopes by coordinates into an array; the log of the Jacobian."""
        grown = np.zeros(1)
        bounds = self.lower, self.upper
        slopes_by_coordinates(self.space.table, u, x, *bounds, gradient, slopes, grown)
        return float(grown[0])


def unconstrained_in(constants: Constants, step: str) -> Unconstrained:
    """The coordinates of what a step moves, by its name, among what a program computed once."""
    found = (c for c in constants.values() if isinstance(c, Unconstrained))
    return next(c for c in found if c.joint.called == step)


def _values(
    shape: tuple[int, ...], start: int, stop: int, kind: str | None
) -> Iterator[tuple[int, int, int]]:
    """The values of an array: the kind of each, its first element among all drawn, its size."""
    if kind is None:
        yield NUMBERS, start, stop - start
        return
    size = shape[-1]
    for first in range(start, stop, size if kind == "simplex" else size * size):
        yield SIMPLEX if kind == "simplex" else MATRIX, first, size


def _count(kind: int, size: int) -> int:
    """The number of coordinates of a value."""
    return {NUMBERS: size, SIMPLEX: size - 1, MATRIX: size * (size + 1) // 2}[kind]
