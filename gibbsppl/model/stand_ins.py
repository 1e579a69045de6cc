"""Arrays that stand for elements of others while something is drawn, and the values of both.

A group in units of its scale stands for the group in a non-centred update; each category of an
array that is taken apart stands for a position on an axis. On entering, a stand-in is computed from
what it stands for, on leaving that from the stand-in.

>>> from gibbsppl.algebra.expressions import Array
>>> j, x, third = Dim("j"), Array("x"), Array("x_2")
>>> part = StandIn("x_2", x[j, 2], (j,), x[j, 2], third[j])
>>> values = {"x": np.arange(6.0).reshape(2, 3)}
>>> apart = with_stand_ins((part,), values, {j: 2})
>>> apart["x_2"]
array([2., 5.])
>>> with_originals((part,), {**apart, "x_2": apart["x_2"] + 10}, {j: 2})["x"]
array([[ 0.,  1., 12.],
       [ 3.,  4., 15.]])
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gibbsppl.algebra.expressions import Dim, Expr, Leaf
from gibbsppl.algebra.ranges import Range
from gibbsppl.model.evaluation import Sizes, Values, evaluate


@dataclass(frozen=True, slots=True)
class StandIn:
    """The array ``name``, which stands for the elements ``replaced`` of another array.

    At each position along ``dims``: ``forward`` is the element of ``name``, as a function of the
    other array's; ``backward`` is ``replaced``, as a function of that of ``name``.
    """

    name: str
    replaced: Leaf
    dims: tuple[Dim, ...]
    forward: Expr
    backward: Expr

    @property
    def of(self) -> str:
        """The name of the other array."""
        return self.replaced.array.name

    @property
    def at(self) -> tuple[int | slice, ...]:
        """The elements replaced, as an index of their array."""
        return tuple(slice(None) if i in self.dims else int(i) for i in self.replaced.indices)


def with_stand_ins(changes: Iterable[StandIn], values: Values, sizes: Sizes) -> dict[str, Any]:
    """The values of all arrays, with the stand-ins computed from what they stand for."""
    found = dict(values)
    for c in changes:
        found[c.name] = at_dims(c, c.forward, found, sizes)
    return found


def with_originals(changes: Sequence[StandIn], values: Values, sizes: Sizes) -> dict[str, Any]:
    """The values of all arrays, with what is stood for computed from the stand-ins."""
    found = dict(values)
    for c in reversed(changes):
        value = at_dims(c, c.backward, found, sizes)
        if all(i == slice(None) for i in c.at):
            found[c.of] = value
        else:
            found[c.of] = np.array(found[c.of])
            found[c.of][c.at] = value
    return found


def at_dims(change: StandIn, value: Expr, values: Values, sizes: Sizes) -> Any:
    """The values of a function of the elements of a stand-in, at all positions."""
    over = tuple(Range(d, 0, sizes[d]) for d in change.dims)
    return np.broadcast_to(evaluate(value, over, values, sizes), tuple(map(len, over))).copy()
