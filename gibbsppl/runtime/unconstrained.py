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

import numpy as np

from gibbsppl.runtime.joint import Joint
from gibbsppl.runtime.loops.unconstrained import COLUMNS, MATRIX, NUMBERS, SIMPLEX
from gibbsppl.runtime.types import Constants, Ints


class Unconstrained:
    """The elements drawn of several arrays with a table of their coordinates; made once.

    ``tied`` has the kinds of the arrays whose values are along the last axes: ``"simplex"`` along
    one, ``"spd"``, positive definite matrices, along two. ``size`` is the number of coordinates.
    """

    def __init__(self, joint: Joint, tied: Mapping[str, str]) -> None:
        self.joint = joint
        rows, at = list[tuple[int, ...]](), 0
        for name, shape, _, start, stop in joint.places:
            for kind, first, size in _values(shape, start, stop, tied.get(name)):
                rows.append((kind, first, at, size))
                at += _count(kind, size)
        self.table: Ints = np.array(rows, dtype=np.intp).reshape(-1, COLUMNS)
        self.size = at


def unconstrained_in(constants: Constants, arrays: tuple[str, ...]) -> Unconstrained:
    """The coordinates of some arrays, among what a program has computed once."""
    found = (c for c in constants.values() if isinstance(c, Unconstrained))
    return next(c for c in found if c.joint.arrays == arrays)


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
