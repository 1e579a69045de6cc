"""The values of the arrays that stand for others in non-centred updates, and of the originals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gibbsppl.algebra.expressions import Expr
from gibbsppl.algebra.ranges import Range
from gibbsppl.model.evaluation import Sizes, Values, evaluate
from gibbsppl.rewrites.recentring import Recentred


def with_recentred(changes: Iterable[Recentred], values: Values, sizes: Sizes) -> dict[str, Any]:
    """The values of all arrays, with the recentred arrays computed from the originals."""
    found = dict(values)
    for r in changes:
        found[r.name] = at_dims(r, r.forward, found, sizes)
    return found


def with_originals(changes: Sequence[Recentred], values: Values, sizes: Sizes) -> dict[str, Any]:
    """The values of all arrays, with the originals computed from the recentred arrays."""
    found = dict(values)
    for r in reversed(changes):
        found[r.of] = at_dims(r, r.backward, found, sizes)
    return found


def at_dims(change: Recentred, value: Expr, values: Values, sizes: Sizes) -> Any:
    """The values of a function of the elements of a recentred array, at all positions."""
    over = tuple(Range(d, 0, sizes[d]) for d in change.dims)
    return np.broadcast_to(evaluate(value, over, values, sizes), tuple(map(len, over))).copy()
