"""Units of a scan and parts of a mixture, drawn with the random numbers that NumPy's program takes.

>>> import numpy as np
>>> rng, out = np.random.default_rng(1), np.zeros(3, dtype=np.int64)
>>> weighted_units(rng, np.array([0.0, 0.0, 1.0]), out)
>>> out
array([2, 2, 2])
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gibbsppl.runtime.types import Floats, Generator, Ints

from . import kernel

APART: Mapping[str, str] = {}


@kernel
def equal_units(rng: Generator, out: Ints) -> None:
    """As many units as there are, all being equally likely."""
    drawn = rng.integers(0, len(out), len(out))
    for k in range(len(out)):
        out[k] = drawn[k]


@kernel
def chosen_part(rng: Generator, ends: Floats) -> int:
    """One part of a mixture, with probabilities that add up to ``ends``."""
    return int(np.searchsorted(ends, rng.random(), side="right"))


@kernel
def weighted_units(rng: Generator, ends: Floats, out: Ints) -> None:
    """As many units as there are, with probabilities that add up to ``ends``."""
    for k in range(len(out)):
        out[k] = np.searchsorted(ends, rng.random(), side="right")
