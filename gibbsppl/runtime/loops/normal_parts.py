"""Normal parts of log densities: their means, and draws less these, as `gibbsppl.runtime.joint`.

Arguments are those of the joint draws of `joint`; what is ``filled`` and ``linear`` is overwritten.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gibbsppl.runtime.types import Floats, Generator, Ints

from . import kernel
from .joint import arranged, definite, placed, solve_band, solve_blocks

APART: Mapping[str, str] = {}


@kernel
def joint_blocks_apart(  # noqa: PLR0913, PLR0917
    rng: Generator,
    filled: Floats,
    linear: Floats,
    counts: Ints,
    orders: Ints,
    border: int,
    order: Ints,
    mean: Floats,
    noise: Floats,
) -> None:
    """The mean of elements of which those inside the border are in blocks, and a draw less it."""
    x, z = arranged(rng, linear, order)
    away = np.zeros(len(order))
    definite(solve_blocks(filled.copy(), counts, orders, border, away, z.copy()))
    placed(away, order, noise)
    z[:] = 0.0
    solve_blocks(filled, counts, orders, border, x, z)
    placed(x, order, mean)


@kernel
def joint_band_apart(  # noqa: PLR0913, PLR0917
    rng: Generator,
    filled: Floats,
    linear: Floats,
    width: int,
    border: int,
    order: Ints,
    mean: Floats,
    noise: Floats,
) -> None:
    """The mean of elements of which those inside the border are in a band, and a draw less it."""
    x, z = arranged(rng, linear, order)
    away = np.zeros(len(order))
    definite(solve_band(filled.copy(), width, border, away, z.copy()))
    placed(away, order, noise)
    z[:] = 0.0
    solve_band(filled, width, border, x, z)
    placed(x, order, mean)
