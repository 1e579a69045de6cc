"""Whether every element of every array is defined, and once."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gibbsppl.errors import ModelError
from gibbsppl.model.graph import Graph


def check_complete(graph: Graph, filled: Mapping[str, np.ndarray]) -> None:
    """Raise an error that names the first element without a statement, if there is one."""
    if not graph.statements:
        raise ModelError(
            f"{graph.name}: no distribution was declared; a model needs at least one, such as "
            'gp.Normal("x", 0, sigma=1).'
        )
    for name, mask in filled.items():
        if not mask.any():
            raise ModelError(
                f"{name}: a gp.Array that is never filled; assign a distribution to it, as in "
                f"`{name}[:] = gp.Normal(0, sigma=1)`, or remove it."
            )
        if not mask.all():
            raise ModelError(
                f"{name}: {int((~mask).sum())} of {mask.size} elements have no distribution, the "
                f"first at position {first(~mask)}; regions must fill the whole array: assign the "
                "rest."
            )


def first(mask: np.ndarray) -> tuple[int, ...]:
    """The position of the first true element.

    >>> first(np.array([[False, False], [True, True]]))
    (1, 0)
    """
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(mask)), mask.shape))
