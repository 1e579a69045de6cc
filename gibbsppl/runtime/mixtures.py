"""The part of a mixture of kernels that a sweep carries out.

>>> chosen_part(np.random.default_rng(1), (0.25, 0.75))
1
"""

from __future__ import annotations

import numpy as np

from gibbsppl.runtime.types import Generator


def chosen_part(rng: Generator, shares: tuple[float, ...]) -> int:
    """The number of a part, drawn by the shares of all parts."""
    ends = np.cumsum(shares)
    return int(np.searchsorted(ends / ends[-1], rng.random(), side="right"))
